"""Calls on links of which somebody lets go: cancelled calls, resets in mid run, limits at both ends, answers that come in parts."""

import asyncio
import logging
import unittest

import cocotbext.scalepool as sp

LINE = 64
CONFIG = {"transactions": "hdm-h", "all_writers_seen": True}

# The loop of these tests tells how long each step takes, which is a matter of the machine.
logging.getLogger("asyncio").setLevel(logging.ERROR)


async def steps(count):
    for _ in range(count):
        await asyncio.sleep(0)


async def soon(*calls):
    """What calls return; a test that hangs fails."""
    return await asyncio.wait_for(asyncio.gather(*calls), 20)


class Cancelled(unittest.IsolatedAsyncioTestCase):
    """A call that is cancelled leaves nothing behind for which another one would wait for ever."""

    async def test_a_call_that_waits_for_a_tag_passes_its_turn_on(self):
        for behind in (0, 1, 7, 30, 60):
            async with sp.LinkPair(**CONFIG) as pair:
                host = sp.CxlMemHost(pair.host, outstanding=1)
                sp.CxlMemDevice(pair.device, latency=5)
                calls = [asyncio.create_task(host.read(LINE * n)) for n in range(6)]
                await steps(behind)
                for n in (1, 2, 4):
                    calls[n].cancel()
                found = await soon(*(calls[n] for n in (0, 3, 5)), host.read(0))
                self.assertEqual(found, 4 * [bytes(LINE)])
                self.assertEqual(host.outstanding(), 0)
                self.assertTrue(pair.host.end.finish())

    async def test_a_line_of_a_cache_is_free_for_the_next_call(self):
        for behind in range(0, 40, 8):
            async with sp.LinkPair("cxl-256b", transactions="cxl-cache") as pair:
                dev, home = sp.CxlCacheDevice(pair.device, outstanding=2), sp.CxlHome(pair.host, latency=4)
                calls = [asyncio.create_task(dev.write(0x40, bytes([n]))) for n in range(1, 5)]
                calls.append(asyncio.create_task(dev.write_through(0x40, b"\x55", opcode="WrInv")))
                await steps(behind)
                for n in (0, 2, 4):
                    calls[n].cancel()
                await soon(calls[1], calls[3])
                await soon(dev.write(0x41, b"\xaa"))
                line = await soon(home.read(0x40, 2))
                self.assertIn(line, ([b"\x04\xaa"], [b"\x55\xaa"]))
                await soon(dev.flush_all())
                self.assertEqual((dev.outstanding(), dev.cached()), (0, {}))
                self.assertEqual(pair.host.events + pair.device.events, [])

    async def test_a_link_that_nobody_steps_any_more_ends_its_calls(self):
        async with sp.LinkPair(**CONFIG) as pair:
            host = sp.CxlMemHost(pair.host)
            call = asyncio.create_task(host.read(0))
            await steps(3)
        with self.assertRaises(sp.ScalepoolError):
            await soon(call)
        with self.assertRaises(sp.ScalepoolError):
            await soon(host.read(0))


class Resets(unittest.IsolatedAsyncioTestCase):
    """What was open before a reset has no answer behind it."""

    async def test_a_completer_forgets_its_answers(self):
        for protocol, config, agents in (
            ("cxl-68b", CONFIG, lambda pair: (sp.CxlMemHost(pair.host), sp.CxlMemDevice(pair.device, latency=50))),
            (
                "nvlink",
                {"transactions": "nvlink"},
                lambda pair: (sp.NvlRequester(pair.host, requester=1), sp.NvlCompleter(pair.device, latency=50)),
            ),
        ):
            async with sp.LinkPair(protocol, **config) as pair:
                requester, completer = agents(pair)
                call = asyncio.create_task(requester.read(0x100, 300))
                await steps(40)
                self.assertGreaterEqual(completer.served, 2, protocol)
                error = sp.ScalepoolError("the link was reset")
                for end in (pair.host, pair.device):
                    end.end.reset()
                    for fail in end.on_error:
                        fail(error)
                pair._on_the_way = (None, None)
                with self.assertRaises(sp.ScalepoolError) as caught:
                    await soon(call)
                self.assertIs(caught.exception, error)
                self.assertEqual(await soon(requester.read(0x100, 300)), [bytes(300)], protocol)
                await steps(100)
                self.assertEqual((pair.host.events + pair.device.events, requester.outstanding()), ([], 0), protocol)


class Limits(unittest.IsolatedAsyncioTestCase):
    """As many requests are open as an end may have, and one alone."""

    async def test_the_highest_number_of_requests_needs_no_help(self):
        for outstanding in (1, 1 << 14):
            async with sp.LinkPair("cxl-io") as pair:
                root = sp.CxlIoRoot(pair.host, outstanding=outstanding)
                memory = IoMemory(pair.device)
                writes = [root.write(0x1000 + 4 * n, n.to_bytes(4, "little")) for n in range(100)]
                await soon(*writes)
                found = await soon(*(root.read(0x1000 + 4 * n) for n in range(100)))
                self.assertEqual(found, [n.to_bytes(4, "little") for n in range(100)])
                self.assertEqual((memory.reads, root.outstanding()), (100, 0))
        for protocol, most, config in (("cxl-68b", 1 << 16, CONFIG), ("nvlink", 1 << 10, {"transactions": "nvlink"})):
            async with sp.LinkPair(protocol, **config) as pair:
                if protocol == "nvlink":
                    host, _ = sp.NvlRequester(pair.host, requester=0, outstanding=most), sp.NvlCompleter(pair.device)
                else:
                    host, _ = sp.CxlMemHost(pair.host, outstanding=most), sp.CxlMemDevice(pair.device)
                self.assertEqual(await soon(host.read(0, 256 * 80)), [bytes(256 * 80)])

    async def test_links_of_one_run_do_not_hear_of_each_other(self):
        async def run(pair):
            async with pair:
                host, _ = sp.CxlMemHost(pair.host, outstanding=3), sp.CxlMemDevice(pair.device, latency=3)
                await host.write(0x10, bytes(range(200)))
                return await host.read(0x10, 200), pair.flit_clocks

        alone = await run(sp.LinkPair(**CONFIG))
        self.assertEqual(await soon(run(sp.LinkPair(**CONFIG)), run(sp.LinkPair(**CONFIG))), [alone, alone])
        self.assertEqual(alone[0], bytes(range(200)))


class IoMemory:
    """A memory behind CXL.io that answers reads of four bytes, as many parts as a test says."""

    def __init__(self, link, answers=None):
        self.link, self.answers, self.reads, self.memory = link, answers, 0, {}
        self.waiting = []
        link.on_step.append(self.step)

    def step(self):
        while (form := self.link.end.take()) is not None:
            tlp = bytes.fromhex(form["tlp"])
            head = sp.decode("cxlio.fm_mem32", tlp[:12]).fields
            address, size = head["address"], 4 * head["length"]
            if head["tlp_type"] == "MWr32":
                self.memory[address] = tlp[12 : 12 + size]
                continue
            self.reads += 1
            data = self.memory.get(address, bytes(size))
            one = {"tag": head["tag"], "requester": head["requester"], "byte_count": size, "lower_addr": address // 4 & 15,
                   "lower_addr_6": address >> 6 & 1}
            self.waiting += [completion(one, data)] if self.answers is None else self.answers(one, data)
        while self.waiting:
            try:
                self.link.end.send({"tlp": self.waiting[0].hex()})
            except ValueError:
                return
            self.waiting.pop(0)


def completion(fields, data):
    return sp.encode("cxlio.fm_cpl", {"tlp_type": "CplD", "length": len(data) // 4, **fields}) + data


class Parts(unittest.IsolatedAsyncioTestCase):
    """Answers of several parts, of which one is bad or late."""

    @staticmethod
    def halves(fields, data, **first):
        return [completion({**fields, **first}, data[:16]), completion({**fields, "byte_count": 16, "lower_addr": 4}, data[16:])]

    async def test_poison_of_the_first_completion_waits_for_the_second(self):
        async with sp.LinkPair("cxl-io") as pair:
            root, bad = sp.CxlIoRoot(pair.host, outstanding=1), [{"ep": 1}, {}]
            IoMemory(pair.device, lambda fields, data: self.halves(fields, data, **bad.pop(0)))
            with self.assertRaises(sp.PoisonError):
                await soon(root.read(0x1000, 32))
            self.assertEqual(await soon(root.read(0x1000, 32)), [bytes(32)])

    async def test_a_tag_that_was_late_is_used_again_behind_its_last_completion(self):
        async with sp.LinkPair("cxl-io") as pair:
            root, late = sp.CxlIoRoot(pair.host, outstanding=1, timeout=20), []

            def answers(fields, data):
                late.append(self.halves(fields, data))
                return late.pop() if len(late) > 1 else []

            IoMemory(pair.device, answers)
            with self.assertRaises(sp.AnswerTimeoutError):
                await soon(root.read(0x1000, 32))
            first, second = late[0]
            for part, can_go_on in ((first, False), (second, True)):
                pair.device.end.send({"tlp": part.hex()})
                await steps(20)
                if not can_go_on:
                    with self.assertRaises(sp.TransactionError):
                        await soon(root.read(0x1000, 32))
            self.assertEqual(await soon(root.read(0x1000, 32)), [bytes(32)])

    async def test_halves_of_a_line_keep_their_places_and_their_poison(self):
        class Halving(sp.CxlMemDevice):
            poison = 2

            def answers(self, request):
                (whole,) = super().answers(request)
                data = bytes(range(LINE))
                # S2M DRS has no bit for the half: both travel as the lower one, in the order of their addresses.
                return [
                    {**whole, "half": "lower", "data": (part + bytes(32)).hex(), "fields": {**whole["fields"], "poison": int(n == self.poison)}}
                    for n, part in enumerate((data[:32], data[32:]))
                ]

        for poison in (0, 1, 2):
            async with sp.LinkPair("cxl-68b", transactions="hdm-h") as pair:
                host, device = sp.CxlMemHost(pair.host), Halving(pair.device)
                device.poison = poison
                if poison == 2:
                    self.assertEqual(await soon(host.read(0)), [bytes(range(LINE))])
                else:
                    with self.assertRaises(sp.PoisonError):
                        await soon(host.read(0))


if __name__ == "__main__":
    unittest.main()
