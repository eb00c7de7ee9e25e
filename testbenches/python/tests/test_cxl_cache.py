"""CXL.cache as calls, without a simulator: devices and a home back to back, held against plain bytes; wrong ones, noticed at the flit."""

import asyncio
import logging
import os
import random
import unittest

import cocotbext.scalepool as sp

PROTOCOLS = ("cxl-68b", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr")
CONFIG = {"transactions": "cxl-cache", "answer_flits": 2000}
LINE = 64
# Accesses of a run; SCALEPOOL_SOAK makes it longer.
SIZE = 24 * int(os.environ.get("SCALEPOOL_SOAK", "1"))

# The loop of these tests tells how long each step takes, which is a matter of the machine.
logging.getLogger("asyncio").setLevel(logging.ERROR)


def pair(protocol="cxl-68b", **config):
    return sp.LinkPair(protocol, **{**CONFIG, **config})


async def rest(clocks=100):
    for _ in range(clocks):
        await asyncio.sleep(0)


class Pairs(unittest.IsolatedAsyncioTestCase):
    """What is read is what plain bytes hold, whoever reads."""

    async def test_one_device_and_the_hosts_core_share_lines(self):
        for protocol in PROTOCOLS:
            draw, plain = random.Random(protocol), bytearray(4 * LINE)
            async with pair(protocol, timeout_flits=100) as link:
                home = sp.CxlHome(link.host, latency=3, pulls_clean=protocol == "cxl-256b")
                dev = sp.CxlCacheDevice(link.device, outstanding=3)
                for end in (link.host.end, link.device.end):
                    for number in range(10, 2000, 37):
                        end.fault("wire", f"noise:{number}", "rx")
                for _ in range(SIZE):
                    begin = draw.randrange(len(plain))
                    size = draw.randrange(1, 1 + min(100, len(plain) - begin))
                    at, data = 0x4000 + begin, draw.randbytes(size)
                    what = draw.randrange(9)
                    if what in (0, 1):
                        await dev.write(at, data)
                    elif what == 2:
                        await dev.write_through(at, data)
                    elif what == 3:
                        await home.write(at, data)
                    if what < 4:
                        plain[begin : begin + size] = data
                    elif what == 4:
                        self.assertEqual(await dev.read(at, size), plain[begin : begin + size], protocol)
                    elif what == 5:
                        self.assertEqual(await home.read(at, size), plain[begin : begin + size], protocol)
                    elif what == 6:
                        await dev.evict(at, with_data=draw.random() < 0.5)
                        self.assertEqual(dev.state(at), "I")
                    elif what == 7:
                        line = begin // LINE * LINE
                        read = draw.choice([dev.read_shared, dev.read_any, dev.read_own, dev.read_current])
                        self.assertEqual(await read(at), plain[line : line + LINE], protocol)
                    else:
                        await draw.choice([home.snoop_data, home.snoop_invalidate, home.snoop_current])(at)
                await dev.flush_all()
                self.assertEqual((dev.cached(), home.holders(0x4000)), ({}, {}))
                self.assertEqual(await home.read(0x4000, len(plain)), plain)
                await rest()
                self.assertTrue(link.host.end.finish() and link.device.end.finish())
                told = {event.by for event in link.host.events + link.device.events}
                self.assertEqual(told, {"line"}, protocol)

    async def test_devices_that_race_for_lines_lose_no_write(self):
        """Three devices write bytes of their own in the same lines; a lost write is an old byte."""
        async with pair("cxl-68b") as a, pair("cxl-256b") as b, pair("cxl-256b-lopt") as c:
            home = sp.CxlHome(a.host, b.host, c.host)
            devices = [sp.CxlCacheDevice(link.device) for link in (a, b, c)]
            draw = random.Random(1)

            async def user(dev, number):
                for turn in range(SIZE // 2):
                    line = 0x40 * draw.randrange(2)
                    # Bytes of its own in lines that all of them write.
                    await dev.write(line + number, bytes([turn + 1]))
                    if draw.random() < 0.3:
                        await dev.evict(line)
                    self.assertLessEqual((await dev.read(line + number, 1))[0], turn + 1)

            await asyncio.gather(*(user(dev, n) for n, dev in enumerate(devices)))
            for line in (0, 0x40):
                states = [dev.state(line) for dev in devices]
                self.assertLessEqual(sum(state in "EM" for state in states), 1, states)
                self.assertFalse(any(state in "EM" for state in states) and "S" in states, states)
            lines = [await home.read(line, 3) for line in (0, 0x40)]
            self.assertEqual(list(map(max, zip(*lines))), 3 * [SIZE // 2])
            for link in (a, b, c):
                await rest(20)
                self.assertTrue(link.host.end.finish() and link.device.end.finish())
                self.assertEqual(link.host.events + link.device.events, [])

    async def test_states_are_those_of_the_sheet(self):
        async with pair("cxl-256b") as link:
            home, dev = sp.CxlHome(link.host), sp.CxlCacheDevice(link.device)
            for read, state in ((dev.read_shared, "S"), (dev.read_any, "E"), (dev.read_own, "E"), (dev.read_current, "I")):
                await read(0x1000)
                self.assertEqual((dev.state(0x1000), home.holders(0x1000).get(0, "I")), (state, state))
                await dev.evict(0x1000)
                self.assertEqual((dev.state(0x1000), home.holders(0x1000)), ("I", {}))
            expected = {
                "S": {"snoop_data": ("RspSHitSE", "S"), "snoop_invalidate": ("RspIHitSE", "I"), "snoop_current": ("RspVHitV", "S")},
                "E": {"snoop_data": ("RspSHitSE", "S"), "snoop_invalidate": ("RspIHitSE", "I"), "snoop_current": ("RspVHitV", "E")},
                "M": {"snoop_data": ("RspSFwdM", "S"), "snoop_invalidate": ("RspIFwdM", "I"), "snoop_current": ("RspVFwdV", "M")},
            }
            for state, answers in expected.items():
                for snoop, (answer, behind) in answers.items():
                    await (dev.read_shared(0x1000) if state == "S" else dev.read_own(0x1000))
                    if state == "M":
                        await dev.write(0x1008, snoop.encode())
                    self.assertEqual(dev.state(0x1000), state)
                    self.assertEqual(await getattr(home, snoop)(0x1000), {0: answer})
                    self.assertEqual(dev.state(0x1000), behind, (state, snoop))
                    await dev.evict(0x1000)
            for snoop in (home.snoop_data, home.snoop_invalidate, home.snoop_current):
                self.assertEqual(await snoop(0x1000), {})
                self.assertEqual(await snoop(0x1000, port=0), {0: "RspIHitI"})
            # An upgrade keeps the bytes and brings none.
            await home.write(0x2000, b"kept")
            await dev.read_shared(0x2000)
            self.assertEqual((await dev.read_own(0x2000))[:4], b"kept")
            self.assertEqual(dev.state(0x2000), "E")
            await dev.write_through(0x2000, bytes(LINE), opcode="ItoMWr")
            self.assertEqual((dev.state(0x2000), await home.read(0x2000, 4)), ("I", bytes(4)))
            for opcode, size in (("WrCur", LINE), ("WOWrInvF", LINE), ("WOWrInv", 5), ("WrInv", 7)):
                await dev.write_through(0x2000, opcode.encode().ljust(size)[:size], opcode=opcode)
                await rest(30)
                self.assertEqual(await home.read(0x2000, 4), opcode.encode()[:4])
            await dev.write(0x2000, b"dirty")
            await dev.flush(0x2000)
            self.assertEqual((dev.state(0x2000), await home.read(0x2000, 5)), ("I", b"dirty"))
            self.assertEqual(link.host.events + link.device.events, [])

    async def test_poison_and_missing_memory_are_told(self):
        async with pair("cxl-68b") as link:
            memory = sp.LineMemory(0x1000)
            sp.CxlHome(link.host, memory=memory)
            dev = sp.CxlCacheDevice(link.device)
            await dev.write_through(0x40, bytes(LINE), poison=True)
            await rest(30)
            with self.assertRaises(sp.PoisonError) as caught:
                await dev.read_current(0x40)
            self.assertEqual(caught.exception.address, 0x40)
            for call in (dev.read_shared, dev.read_own, dev.read_any, dev.read_current):
                with self.assertRaises(sp.TransactionError) as caught:
                    await call(0x1000)
                self.assertEqual((caught.exception.address, caught.exception.rule, dev.state(0x1000)), (0x1000, None, "I"))
            for opcode in ("WrInv", "ItoMWr", "WOWrInvF"):
                with self.assertRaises(sp.TransactionError):
                    await dev.write_through(0x1000, bytes(LINE), opcode=opcode)
            self.assertEqual(link.host.events + link.device.events, [])


class Order(unittest.TestCase):
    """A snoop never passes an answer that was queued before it, at any distance and however they are packed."""

    def test_snoops_stay_behind_answers(self):
        for protocol in PROTOCOLS:
            family = {"cxl-68b": "cxl68", "cxl-256b-pbr": "cxlpbr"}.get(protocol, "cxl256")
            host, device = sp.LinkEnd(protocol, "down"), sp.LinkEnd(protocol, "up")
            draw, sent, answers, taken, on_the_way = random.Random(protocol), 0, [], [], [None, None]
            for clock in range(600):
                if clock > 100 and sent < 200:
                    for _ in range(draw.randrange(6)):
                        kind = draw.choice(("h2d_rsp", "h2d_req"))
                        fields = {"opcode": "GO", "rsp_data": 1, "cqid": sent} if kind == "h2d_rsp" else {"opcode": "SnpInv", "uqid": sent}
                        host.send({"layout": f"{family}.{kind}", "fields": fields})
                        answers += [sent] if kind == "h2d_rsp" else []
                        sent += 1
                for end, unit in zip((host, device), reversed(on_the_way)):
                    if unit is not None:
                        end.drive(unit)
                    end.step()
                on_the_way = [host.sample(), device.sample()]
                while (form := device.take()) is not None:
                    taken.append(form["fields"].get("cqid", form["fields"].get("uqid")))
                    if form["layout"].endswith("h2d_req"):
                        self.assertTrue({n for n in answers if n < taken[-1]} <= set(taken), (protocol, taken[-1]))
            self.assertEqual(sorted(taken), list(range(sent)), protocol)


class WrongHomes(unittest.IsolatedAsyncioTestCase):
    """What a home does wrong with the second request is an exception of the device, at the flit."""

    async def caught(self, use, wrong, **config):
        """`wrong` changes what the home says from the second request on; returns the first exception, and the events of the device."""

        class Wrong(sp.CxlHome):
            def _answer(self, deal):
                if deal.port is not None and self.served >= 2:
                    wrong(self, deal, lambda: super(Wrong, self)._answer(deal))
                else:
                    super()._answer(deal)

        found = []
        try:
            async with pair(**config) as link:
                Wrong(link.host)
                # The home's own end notices it as well: here nobody asks it.
                link.host.end.events = lambda: []
                dev = sp.CxlCacheDevice(link.device)
                try:
                    await dev.read_own(0x1000)
                    await use(dev)
                    await rest()
                except sp.TransactionError as error:
                    found.append(error)
        except sp.TransactionError as error:
            found.append(error)
        flits = {event.unit for event in link.device.events}
        self.assertIn(found[0].flit, flits)
        return found[0]

    async def test_each_is_named(self):
        def other_cqid(home, deal, answer):
            deal.cqid += 100
            answer()

        def twice(home, deal, answer):
            answer()
            home._ports[0].say("h2d_data", {"cqid": deal.cqid}, data=bytes(LINE).hex())

        def wrong_state(home, deal, answer):
            home.grant = lambda opcode, others: "E"
            answer()

        def spare_data(home, deal, answer):
            home._ports[0].say("h2d_data", {"cqid": deal.cqid}, data=bytes(LINE).hex())
            answer()

        def silent(home, deal, answer):
            pass

        def early(home, deal, answer):
            home._ports[0].go(deal.cqid, "I")

        def read(dev):
            return dev.read_shared(0x2000)

        for use, wrong, rule in (
            (read, other_cqid, "TXN-TAG-02"),
            (read, twice, "TXN-TAG-03"),
            (read, wrong_state, "TXN-ANS-03"),
            (lambda dev: dev.evict(0x1000, with_data=False), spare_data, "TXN-ANS-01"),
            (read, silent, "TXN-END-02"),
            (lambda dev: dev.write_through(0x2000, b"a"), early, "TXN-ORD-03"),
        ):
            error = await self.caught(use, wrong)
            self.assertEqual(error.rule, rule, str(error))
            self.assertEqual(isinstance(error, TimeoutError), rule == "TXN-END-02")

    async def test_stale_data_is_a_broken_rule(self):
        async def use(dev):
            await dev.write(0x1000, b"new")
            await dev.evict(0x1000)
            await dev.read_own(0x1000)

        def stale(home, deal, answer):
            if deal.opcode == "RdOwn":
                home.memory.write(0x1000, bytes(LINE), (1 << LINE) - 1, False)
            answer()

        error = await self.caught(use, stale, all_writers_seen=True)
        self.assertEqual((error.rule, error.address), ("COH-INV-02", 0x1000))


class WrongDevices(unittest.IsolatedAsyncioTestCase):
    """What a device does wrong with a snoop is an exception of the home."""

    async def caught(self, answer):
        class Wrong(sp.CxlCacheDevice):
            def answer_snoop(self, snoop, state):
                return answer(snoop, state)

            def _send(self, form):
                # Its own end notices it as well: here nobody asks it.
                self.link.end.send(form)

        with self.assertRaises(sp.TransactionError) as caught:
            async with pair() as link:
                home, dev = sp.CxlHome(link.host), Wrong(link.device)
                link.device.end.events = lambda: []
                await dev.write(0x1000, b"dirty")
                await home.snoop_invalidate(0x1000)
                await rest()
        return caught.exception

    async def test_each_is_named(self):
        for answer, rule in (
            (("RspIHitSE", "I", True), "TXN-ANS-01"),
            (("RspSFwdM", "S", True), "COH-SNP-07"),
            (("RspIFwdM", "I", False), "TXN-END-02"),
        ):
            error = await self.caught(lambda snoop, state, answer=answer: answer)
            self.assertEqual(error.rule, rule, str(error))
            self.assertEqual(error.address, 0x1000)


class Refusals(unittest.TestCase):
    """What cannot be done says what was found and what was expected."""

    def test_links_and_values(self):
        for config in ({}, {"transactions": "hdm-h"}):
            for agent in (sp.CxlCacheDevice, sp.CxlHome):
                with self.assertRaises(sp.KindError) as caught:
                    agent(sp.PairedEnd("cxl-68b", "down", **config))
                self.assertIn("cxl-cache", str(caught.exception))
        for config in ({"classes": "mem"}, {"unique_tags": True}):
            self.assertRaises(sp.InputError, sp.PairedEnd, "cxl-68b", "down", transactions="cxl-cache", **config)
        end = sp.PairedEnd("cxl-68b", "down", transactions="cxl-cache")
        self.assertRaises(sp.InputError, sp.CxlCacheDevice, end, cache_id=16)
        self.assertRaises(sp.InputError, sp.CxlCacheDevice, end, outstanding=4097)
        self.assertRaises(sp.InputError, sp.CxlHome)
        self.assertRaises(sp.InputError, sp.CxlHome, end, latency=-1)
        dev = sp.CxlCacheDevice(sp.PairedEnd("cxl-68b", "up", transactions="cxl-cache"))
        home = sp.CxlHome(end)
        for call in (dev.read(0, 0), dev.read_own(1 << 52), dev.write(0, b""), dev.write(0, b"ab", b"a"),
                     dev.write_through(0, b"a", opcode="ItoMWr"), dev.write_through(0, bytes(LINE), opcode="WOWrInv"),
                     dev.write_through(0, b"a", opcode="MemWr"), home.read(-1), home.snoop_data(0, port=1), home.write(0, b"")):
            self.assertRaises(sp.InputError, asyncio.run, call)


if __name__ == "__main__":
    unittest.main()
