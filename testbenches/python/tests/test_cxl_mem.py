"""CXL.mem as calls, without a simulator: two ends back to back, held against plain bytes; wrong devices, each noticed at the flit."""

import asyncio
import logging
import random
import unittest

import cocotbext.scalepool as sp

PROTOCOLS = ("cxl-68b", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr")
CONFIG = {"transactions": "hdm-h", "all_writers_seen": True, "answer_flits": 500}
LINE = 64

# The loop of these tests tells how long each step takes, which is a matter of the machine.
logging.getLogger("asyncio").setLevel(logging.ERROR)


class Pairs(unittest.IsolatedAsyncioTestCase):
    """What is read is what plain bytes hold."""

    async def test_ranges_are_those_of_plain_bytes(self):
        for protocol in PROTOCOLS:
            draw, plain = random.Random(protocol), bytearray(1024)
            async with sp.LinkPair(protocol, timeout_flits=100, **CONFIG) as pair:
                host, device = sp.CxlMemHost(pair.host, outstanding=5), sp.CxlMemDevice(pair.device, latency=7)
                # Flits that are damaged on their way are sent again.
                for end in (pair.host.end, pair.device.end):
                    for number in range(10, 2000, 37):
                        end.fault("wire", f"noise:{number}", "rx")
                for _ in range(60):
                    begin = draw.randrange(len(plain))
                    size = draw.randrange(1, 1 + min(200, len(plain) - begin))
                    if draw.random() < 0.5:
                        data = draw.randbytes(size)
                        mask = draw.choice([None, bytes(draw.randrange(2) for _ in range(size))])
                        await host.write(0x4000 + begin, data, mask)
                        for n in range(size):
                            if mask is None or mask[n]:
                                plain[begin + n] = data[n]
                    else:
                        self.assertEqual(await host.read(0x4000 + begin, size), plain[begin : begin + size], protocol)
                await host.invalidate(0x4000, len(plain))
                self.assertEqual(await host.read(0x4000, len(plain)), plain)
                self.assertTrue(pair.host.end.finish() and pair.device.end.finish())
                self.assertGreater(device.served, 100)
                # What a replay or the FEC has mended is told of the line, and of nobody else.
                told = {event.by for event in pair.host.events + pair.device.events}
                self.assertEqual(told, {"line"}, protocol)

    async def test_no_more_requests_are_open_than_allowed_and_many_calls_share_them(self):
        for outstanding in (1, 3, 64):
            async with sp.LinkPair("cxl-256b", unique_tags=True, **CONFIG) as pair:
                host, most, tags = sp.CxlMemHost(pair.host, outstanding=outstanding), [0], set()

                class Watched(sp.CxlMemDevice):
                    def answers(self, request):
                        most[0] = max(most[0], host.outstanding())
                        tags.add(request["fields"]["tag"])
                        return super().answers(request)

                device = Watched(pair.device, latency=40)
                calls = [host.write(0x1000 * n, bytes([n]) * 300) for n in range(20)]
                await asyncio.gather(*calls)
                found = await asyncio.gather(*(host.read(0x1000 * n + 299, 1) for n in range(20)))
                self.assertEqual(found, [bytes([n]) for n in range(20)])
                self.assertEqual((most[0], tags), (outstanding, set(range(outstanding))))
                self.assertEqual((device.served, host.outstanding()), (20 * 5 + 20, 0))
                self.assertEqual(pair.host.events, [])

    async def test_the_same_run_is_the_same_flits(self):
        clocks = []
        for _ in range(2):
            async with sp.LinkPair(**CONFIG) as pair:
                host = sp.CxlMemHost(pair.host)
                sp.CxlMemDevice(pair.device)
                await asyncio.gather(*(host.write(LINE * n, bytes(LINE)) for n in range(50)))
                clocks.append((pair.flit_clocks, pair.device.received))
        self.assertEqual(clocks[0], clocks[1])

    async def test_poison_and_missing_memory_are_told(self):
        for protocol in PROTOCOLS:
            async with sp.LinkPair(protocol, **CONFIG) as pair:
                host = sp.CxlMemHost(pair.host)
                sp.CxlMemDevice(pair.device, sp.LineMemory(0x1000))
                await host.write(0x40, bytes(LINE), poison=True)
                with self.assertRaises(sp.PoisonError) as caught:
                    await host.read(0x44, 8)
                self.assertEqual((caught.exception.address, caught.exception.rule), (0x40, None))
                await host.write(0x40, b"\1" * LINE)
                self.assertEqual(await host.read(0x7F, 2), b"\1\0")
                # 68B flits have no code of their own for it.
                wanted = sp.PoisonError if protocol == "cxl-68b" else sp.NoMemoryError
                with self.assertRaises(wanted) as caught:
                    await host.read(0xFFF, 2)
                self.assertEqual(caught.exception.address, 0x1000)
                self.assertIn("line 0x1000, tag ", str(caught.exception))


def doubled(device, request, answers):
    return answers + answers


def unknown(device, request, answers):
    fields = {**answers[0]["fields"], "tag": 0x777}
    return [{**answers[0], "fields": fields}, *answers]


def wrong_kind(device, request, answers):
    return [device._form("s2m_ndr", {"opcode": "Cmp", "tag": request["fields"]["tag"], "meta_field": "NoOp"}), *answers]


def other_data(device, request, answers):
    return [{**answers[0], "data": "ab" * LINE}]


def none(device, request, answers):
    return []


class WrongDevices(unittest.IsolatedAsyncioTestCase):
    """What a device does wrong with the third read is an exception that says where."""

    async def run_with(self, wrong, **config):
        """Three lines are written and read; from what the device does to the third read, the exception of the read, and that of
        the link if it cannot go on. The flit that it has to name is that in which the wrong answer came."""
        reads, caught = [], []

        class Wrong(sp.CxlMemDevice):
            def answers(self, request):
                answers = super().answers(request)
                if request["fields"]["opcode"] != "MemRd":
                    return answers
                reads.append(request["fields"])
                return wrong(self, request, answers) if len(reads) == 3 else answers

        try:
            async with sp.LinkPair("cxl-68b", **{**CONFIG, **config}) as pair:
                host = sp.CxlMemHost(pair.host)
                Wrong(pair.device, latency=3)
                await host.write(0x2000, bytes(3 * LINE))
                for n in range(3):
                    try:
                        await host.read(0x2000 + LINE * n)
                    except sp.TransactionError as error:
                        caught.append(error)
                # A host goes on, where it can.
                try:
                    for _ in range(100):
                        await asyncio.sleep(0)
                    self.assertEqual(await host.read(0x2000), bytes(LINE))
                    await host.write(0x2000, b"\2" * LINE)
                except sp.TransactionError as error:
                    caught.append(error)
        except sp.TransactionError as error:
            caught.append(error)
        flits = {event.unit for event in pair.host.events if event.violation.rule.startswith("TXN-")}
        for error in caught:
            self.assertIn(error.flit, flits, str(error))
            self.assertIn(f"flit {error.flit}: {error.rule}: ", str(error))
        return caught, reads[2]["tag"]

    async def test_an_answer_to_a_request_that_is_open_is_the_error_of_its_call(self):
        for wrong, rule in ((wrong_kind, "TXN-ANS-02"), (other_data, "TXN-DAT-01"), (none, "TXN-END-02")):
            (error,), tag = await self.run_with(wrong)
            self.assertEqual((error.rule, error.tag, error.address), (rule, tag, 0x2080))
            self.assertEqual(isinstance(error, TimeoutError), rule == "TXN-END-02")

    async def test_an_answer_to_no_request_stops_the_link(self):
        for wrong, rule, tags in ((doubled, "TXN-TAG-03", None), (unknown, "TXN-TAG-02", 0x777)):
            caught, tag = await self.run_with(wrong)
            self.assertEqual({error.rule for error in caught}, {rule})
            self.assertEqual({error.tag for error in caught}, {tag if tags is None else tags})
            # The call that waits gets it, or the next one, and so does the block.
            self.assertGreaterEqual(len(caught), 1)

    async def test_without_a_limit_nothing_else_changes(self):
        (error,), _ = await self.run_with(other_data, answer_flits=5000)
        self.assertEqual(error.rule, "TXN-DAT-01")

    async def test_a_host_whose_tags_are_all_lost_says_so(self):
        async with sp.LinkPair(**CONFIG) as pair:
            host = sp.CxlMemHost(pair.host, outstanding=2)

            class Deaf(sp.CxlMemDevice):
                def answers(self, request):
                    return []

            Deaf(pair.device)
            found = await asyncio.gather(*(host.read(LINE * n) for n in range(4)), return_exceptions=True)
            self.assertEqual([type(error) for error in found], 2 * [sp.AnswerTimeoutError] + 2 * [sp.TransactionError])
            self.assertIn("tags 0x0, 0x1: found no answer to any", str(found[3]))

    async def test_a_wrong_host_is_noticed_by_the_device(self):
        with self.assertRaises(sp.TransactionError) as caught:
            async with sp.LinkPair("cxl-256b", **CONFIG) as pair:
                sp.CxlMemDevice(pair.device)
                fields = {"opcode": "MemRd", "snp_type": "SnpInv", "tag": 9, "address": 0x1000, "meta_field": "NoOp"}
                pair.host.end.send({"layout": "cxl256.m2s_req", "fields": fields})
                for _ in range(100):
                    await asyncio.sleep(0)
        error = caught.exception
        self.assertEqual((error.rule, error.tag, error.address), ("TXN-REQ-01", 9, 0x1000))


class OwnAddress(sp.LineMemory):
    """Memory as a system has it at its beginning: each 8 bytes hold their own address."""

    def read(self, address):
        words = b"".join((address + at).to_bytes(8, "little") for at in range(0, LINE, 8))
        return super().read(address) if address in self.lines else (words, False)


class Systems(unittest.IsolatedAsyncioTestCase):
    """An agent that stands for a component of a system, by its flits."""

    async def test_a_device_serves_the_host_of_a_system(self):
        for protocol in ("cxl-68b", "cxl-256b"):
            settings = ["host.accesses=200", "host.cache_bytes=0", f"link.mode={protocol}"]
            system = sp.System("cxl68-expander", set=settings, external={"device": "flits"})
            link = sp.SystemLink(system, "device.cxl", protocol, "up", classes="mem", **CONFIG)
            device = sp.CxlMemDevice(link, OwnAddress(), latency=20)
            clocks = sum(1 for _ in iter(lambda: link.step() and device.served < 200, False))
            self.assertEqual((device.served, system.metrics()["violations"], link.events), (200, [], []), protocol)
            self.assertLess(clocks, 20_000)

    async def test_a_host_uses_the_memory_of_a_system(self):
        system = sp.System("cxl68-expander", external={"host": "flits"})
        async with sp.SystemLink(system, "host.cxl", "cxl-68b", "down", **{**CONFIG, "answer_flits": 5000}) as link:
            host, data = sp.CxlMemHost(link, outstanding=4), bytes(range(200))
            await host.write(0x1010, data)
            self.assertEqual(await host.read(0x1010, len(data)), data)
        self.assertEqual((system.metrics()["violations"], link.events), ([], []))

    async def test_the_host_of_a_system_notices_a_wrong_device(self):
        class Doubling(sp.CxlMemDevice):
            def answers(self, request):
                return 2 * super().answers(request)

        system = sp.System("cxl68-expander", set=["host.accesses=20"], external={"device": "flits"})
        link = sp.SystemLink(system, "device.cxl", "cxl-68b", "up", **CONFIG)
        Doubling(link)
        for _ in range(2000):
            if not link.step() or system.metrics()["violations"]:
                break
        self.assertTrue(system.metrics()["violations"])
        # The end has seen what it was given to send, too.
        self.assertEqual({(event.violation.rule, event.by) for event in link.events}, {("TXN-TAG-03", "end")})


class Refusals(unittest.TestCase):
    """What cannot be done says what was found and what was expected."""

    def test_links_that_carry_no_transactions(self):
        for protocol, config, words in (
            ("cxl-68b", {}, "found transactions=None"),
            ("cxl-256b", {"transactions": "hdm-db"}, "found transactions='hdm-db'"),
            ("nvlink", {}, "found an active end of nvlink"),
        ):
            for agent in (sp.CxlMemHost, sp.CxlMemDevice):
                with self.assertRaises(sp.KindError) as caught:
                    agent(sp.PairedEnd(protocol, "down", **config))
                self.assertIn(words, str(caught.exception))

    def test_values_out_of_range(self):
        def host(**config):
            return sp.CxlMemHost(sp.PairedEnd("cxl-68b", "down", transactions="hdm-h"), **config)

        for config in ({"outstanding": 0}, {"outstanding": 65537}, {"ld_id": 16}, {"ld_id": -1}):
            self.assertRaises(sp.InputError, host, **config)
        self.assertRaises(sp.InputError, sp.CxlMemDevice, sp.PairedEnd("cxl-68b", "up", transactions="hdm-h"), latency=-1)
        for call in (lambda h: h.read(0, 0), lambda h: h.read(-1), lambda h: h.read((1 << 52) - 63), lambda h: h.write(0, b""),
                     lambda h: h.write(0, b"ab", b"a"), lambda h: h.invalidate(1 << 52)):
            self.assertRaises(sp.InputError, asyncio.run, call(host()))
        self.assertRaises(TypeError, asyncio.run, host().read("0"))



class PlainFlits(unittest.IsolatedAsyncioTestCase):
    """An interface of protocol flits without a link layer: the same calls, and the same judges."""

    async def test_reads_and_writes_are_those_of_plain_bytes_in_every_flit_mode(self):
        for protocol in ("cxl-68b", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"):
            draw, plain = random.Random(3), bytearray(2048)
            async with sp.LinkPair(protocol, transactions="hdm-h", all_writers_seen=True, plain_flits=True) as pair:
                host, device = sp.CxlMemHost(pair.host, outstanding=16), sp.CxlMemDevice(pair.device, latency=3)
                await host.write(0, plain)
                for _ in range(40):
                    begin = draw.randrange(1800)
                    data = draw.randbytes(draw.randint(1, 200))
                    await host.write(begin, data)
                    plain[begin : begin + len(data)] = data
                    self.assertEqual(await host.read(begin, 200), plain[begin : begin + 200])
                self.assertEqual(await host.read(0, 2048), plain)
                self.assertTrue(pair.host.end.finish() and pair.device.end.finish())
                self.assertEqual((pair.host.events, pair.device.events), ([], []))
                self.assertEqual(pair.host.end.state()["health"], {"received_flits": pair.host.received, "crc_errors": 0})
                self.assertGreater(device.served, 40)

    async def test_a_home_and_a_caching_device_speak_over_them(self):
        async with sp.LinkPair("cxl-68b", transactions="cxl-cache", plain_flits=True) as pair:
            device, home = sp.CxlCacheDevice(pair.device), sp.CxlHome(pair.host)
            await device.write(0x40, b"abcd")
            await home.write(0x80, b"efgh")
            self.assertEqual((await home.read(0x40, 4), await device.read(0x80, 4)), (b"abcd", b"efgh"))
            self.assertEqual(pair.host.events + pair.device.events, [])

    async def test_what_comes_damaged_or_wrong_is_the_peers(self):
        async with sp.LinkPair("cxl-256b", transactions="hdm-h", plain_flits=True, answer_flits=50) as pair:
            host = sp.CxlMemHost(pair.host)
            sp.CxlMemDevice(pair.device)
            # Nothing sends a damaged flit again: two bytes of one group are more than the FEC repairs.
            pair.host.end.fault("wire", "noise:0", "rx")
            with self.assertRaises(sp.AnswerTimeoutError):
                await host.read(0)
            self.assertIn(("CXL256-CRC-01", "peer"), {(event.violation.rule, event.by) for event in pair.host.events})
            self.assertEqual(pair.host.end.state()["health"]["crc_errors"], 1)

    def test_what_has_no_link_layer_has_no_knobs_of_one(self):
        for protocol, config in (("cxl-68b", {"retry_entries": 32}), ("cxl-68b", {"liveness_flits": 9}), ("cxl-256b", {"buffers": 4})):
            self.assertRaises(sp.InputError, sp.LinkEnd, protocol, "down", plain_flits=True, **config)
        for protocol in ("ualink", "nvlink", "cxl-io"):
            self.assertRaises(sp.InputError, sp.LinkEnd, protocol, "down", plain_flits=True)
        self.assertRaises(sp.KindError, sp.LinkEnd("cxl-68b", "up", plain_flits=True).train, False)
        self.assertRaises(sp.KindError, sp.LinkEnd("cxl-68b", "up", passive=True, plain_flits=True).train, False)


if __name__ == "__main__":
    unittest.main()
