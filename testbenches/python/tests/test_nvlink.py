"""Transactions of the NVLink model as calls, without a simulator: two ends back to back, held against plain bytes; wrong completers, each
noticed at the flit."""

import asyncio
import logging
import random
import unittest

import cocotbext.scalepool as sp

CONFIG = {"transactions": "nvlink", "all_writers_seen": True, "answer_flits": 500}
LINE, MOST = 64, 256
A, B = 1, 2

# The loop of these tests tells how long each step takes, which is a matter of the machine.
logging.getLogger("asyncio").setLevel(logging.ERROR)


class Pairs(unittest.IsolatedAsyncioTestCase):
    """What is read is what plain bytes hold."""

    async def test_ranges_are_those_of_plain_bytes(self):
        draw, plain = random.Random(1), bytearray(2048)
        async with sp.LinkPair("nvlink", timeout_flits=60, **{**CONFIG, "answer_flits": 5000}) as pair:
            requester = sp.NvlRequester(pair.host, requester=A, outstanding=5)
            completer = sp.NvlCompleter(pair.device, latency=7)
            # Flits that are damaged on their way are sent again.
            for end in (pair.host.end, pair.device.end):
                for number in range(60, 6000, 97):
                    end.fault("wire", f"noise:{number}", "rx")
            for _ in range(80):
                begin = draw.randrange(len(plain))
                size = draw.randrange(1, 1 + min(draw.choice([8, 600]), len(plain) - begin))
                if draw.random() < 0.5:
                    data, posted = draw.randbytes(size), draw.random() < 0.3
                    mask = draw.choice([None, bytes(draw.randrange(2) for _ in range(size))])
                    await requester.write(0x4000 + begin, data, mask, posted=posted)
                    if posted:
                        await requester.flush()
                    for n in range(size):
                        if mask is None or mask[n]:
                            plain[begin + n] = data[n]
                else:
                    self.assertEqual(await requester.read(0x4000 + begin, size), plain[begin : begin + size])
            self.assertEqual(await requester.read(0x4000, len(plain)), plain)
            self.assertTrue(pair.host.end.finish() and pair.device.end.finish())
            self.assertGreater(completer.served, 80)
            # What a replay has mended breaks no rule.
            self.assertEqual(pair.host.events + pair.device.events, [])
            self.assertGreater(pair.host.end.state()["health"]["crc_errors"], 0)

    async def test_posted_writes_wait_for_the_link(self):
        async with sp.LinkPair("nvlink", **CONFIG) as pair:
            requester, most = sp.NvlRequester(pair.host, requester=A, outstanding=4), []
            completer = sp.NvlCompleter(pair.device)
            pair.host.on_step.append(lambda: most.append(pair.host.end.state()["health"]["messages_waiting"]["creq1"]))
            data = bytes(range(256)) * 40
            await requester.write(0x10000, data, posted=True)
            await requester.flush()
            self.assertEqual(await requester.read(0x10000, len(data)), data)
            self.assertIn(max(most), range(1, 6))
            self.assertGreater(completer.served, 40)

    async def test_both_ends_ask_with_the_same_tags(self):
        async with sp.LinkPair("nvlink", **CONFIG) as pair:
            ends, numbers = (pair.host, pair.device), (A, B)
            requesters = [sp.NvlRequester(end, requester=number) for end, number in zip(ends, numbers)]
            completers = [sp.NvlCompleter(end, latency=n) for n, end in enumerate(ends)]
            data = [bytes([n]) * 700 for n in (1, 2)]
            await asyncio.gather(requesters[0].write(0x20, data[0]), requesters[1].write(0x20, data[1]))
            found = await asyncio.gather(requesters[0].read(0x20, 700), requesters[1].read(0x20, 700))
            self.assertEqual(found, data)
            self.assertEqual([completer.served for completer in completers], [4 + 3, 4 + 3])
            self.assertEqual(pair.host.events + pair.device.events, [])

    async def test_no_more_requests_are_open_than_allowed_and_many_calls_share_them(self):
        for outstanding in (1, 3, 64):
            async with sp.LinkPair("nvlink", **CONFIG) as pair:
                requester, most, tags = sp.NvlRequester(pair.host, requester=A, outstanding=outstanding), [0], set()

                class Watched(sp.NvlCompleter):
                    def answers(self, request):
                        most[0] = max(most[0], requester.outstanding())
                        tags.add(request["tag"])
                        return super().answers(request)

                completer = Watched(pair.device, latency=40)
                await asyncio.gather(*(requester.write(0x1000 * n, bytes([n]) * 288) for n in range(20)))
                found = await asyncio.gather(*(requester.read(0x1000 * n + 287, 1) for n in range(20)))
                self.assertEqual(found, [bytes([n]) for n in range(20)])
                # 40 requests to write are made at once, and 20 to read; tags are used in turn.
                self.assertEqual((most[0], tags), (min(outstanding, 40), set(range(min(outstanding, 60)))))
                self.assertEqual((completer.served, requester.outstanding()), (20 * 2 + 20, 0))
                self.assertEqual(pair.host.events, [])

    async def test_poison_and_missing_memory_are_told(self):
        async with sp.LinkPair("nvlink", **CONFIG) as pair:
            requester = sp.NvlRequester(pair.host, requester=A)
            sp.NvlCompleter(pair.device, sp.LineMemory(0x1000))
            await requester.write(0x40, bytes(LINE), poison=True)
            with self.assertRaises(sp.PoisonError) as caught:
                await requester.read(0x44, 8)
            self.assertEqual((caught.exception.address, caught.exception.rule), (0x44, None))
            await requester.write(0x40, b"\1" * LINE)
            self.assertEqual(await requester.read(0x7F, 2), b"\1\0")
            for call in (requester.read(0xFFF, 2), requester.write(0x1000, b"a")):
                with self.assertRaises(sp.NoMemoryError) as caught:
                    await call
                self.assertIn("found RSP_ERROR with code 3", str(caught.exception))
            # A posted write is lost without a word, and nothing is known of its bytes.
            await requester.write(0x1000, b"a", posted=True)
            await requester.flush()


def doubled(completer, request, answers):
    return answers + answers


def unknown(completer, request, answers):
    return [{**answers[0], "tag": 0x377}, *answers]


def wrong_kind(completer, request, answers):
    return [completer._response(request, "RSP_DONE"), *answers]


def too_short(completer, request, answers):
    return [{**answers[0], "data": answers[0]["data"][:32]}, *answers]


def other_data(completer, request, answers):
    return [{**answers[0], "data": "ab" * 2 * LINE}]


def none(completer, request, answers):
    return []


class WrongCompleters(unittest.IsolatedAsyncioTestCase):
    """What a completer does wrong with the third read is an exception that says where."""

    async def run_with(self, wrong):
        """Three times two lines are written and read; from what the completer does to the third read, the exceptions. The flit that
        they name is that in which the wrong answer came."""
        reads, caught = [], []

        class Wrong(sp.NvlCompleter):
            def answers(self, request):
                answers = super().answers(request)
                if request["op"] != "READ":
                    return answers
                reads.append(request)
                return wrong(self, request, answers) if len(reads) == 3 else answers

        try:
            async with sp.LinkPair("nvlink", **CONFIG) as pair:
                requester = sp.NvlRequester(pair.host, requester=A)
                Wrong(pair.device, latency=3)
                await requester.write(0x2000, bytes(6 * LINE))
                for n in range(3):
                    try:
                        await requester.read(0x2000 + 2 * LINE * n, 2 * LINE)
                    except sp.TransactionError as error:
                        caught.append(error)
                # A requester goes on, where it can.
                try:
                    for _ in range(200):
                        await asyncio.sleep(0)
                    self.assertEqual(await requester.read(0x2000), bytes(LINE))
                    await requester.write(0x2000, b"\2" * LINE)
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
        for wrong, rule in (
            (wrong_kind, "TXN-ANS-02"),
            (too_short, "TXN-ANS-01"),
            (other_data, "TXN-DAT-01"),
            (none, "TXN-END-02"),
        ):
            (error,), tag = await self.run_with(wrong)
            self.assertEqual((error.rule, error.tag, error.address), (rule, tag, 0x2100))
            self.assertEqual(isinstance(error, TimeoutError), rule == "TXN-END-02")

    async def test_an_answer_to_no_request_stops_the_link(self):
        for wrong, rule, tags in ((doubled, "TXN-TAG-03", None), (unknown, "TXN-TAG-02", 0x377)):
            caught, tag = await self.run_with(wrong)
            self.assertEqual({error.rule for error in caught}, {rule})
            self.assertEqual({error.tag for error in caught}, {tag if tags is None else tags})
            self.assertGreaterEqual(len(caught), 1)

    async def test_a_wrong_requester_is_noticed_by_the_completer(self):
        with self.assertRaises(sp.TransactionError) as caught:
            async with sp.LinkPair("nvlink", **CONFIG) as pair:
                sp.NvlCompleter(pair.device, latency=300)
                for _ in range(2):
                    pair.host.end.send({"op": "READ", "tag": 9, "rid": A, "address": 0x1000, "size": 3})
                for _ in range(400):
                    await asyncio.sleep(0)
        error = caught.exception
        self.assertEqual((error.rule, error.tag, error.address), ("TXN-TAG-01", 9, 0x1000))


class Refusals(unittest.TestCase):
    """What cannot be done says what was found and what was expected."""

    def test_links_that_carry_no_transactions(self):
        for protocol, config, words in (
            ("nvlink", {}, "found transactions=None"),
            ("cxl-68b", {"transactions": "hdm-h"}, "found an active end of cxl-68b"),
        ):
            for agent in (lambda end: sp.NvlRequester(end, requester=A), sp.NvlCompleter):
                with self.assertRaises(sp.KindError) as caught:
                    agent(sp.PairedEnd(protocol, "down", **config))
                self.assertIn(words, str(caught.exception))
        self.assertRaises(sp.InputError, sp.PairedEnd, "nvlink", "down", transactions="ualink")

    def test_values_out_of_range(self):
        def requester(**config):
            return sp.NvlRequester(sp.PairedEnd("nvlink", "down", **CONFIG), **{"requester": A, **config})

        for config in ({"outstanding": 0}, {"outstanding": 1025}, {"requester": 511}, {"requester": -1}):
            self.assertRaises(sp.InputError, requester, **config)
        requester(outstanding=1024, requester=510)
        self.assertRaises(sp.InputError, sp.NvlCompleter, sp.PairedEnd("nvlink", "up", **CONFIG), latency=-1)
        for call in (lambda r: r.read(0, 0), lambda r: r.read(-1), lambda r: r.read((1 << 64) - 63), lambda r: r.write(0, b""),
                     lambda r: r.write(0, b"ab", b"a")):
            self.assertRaises(sp.InputError, asyncio.run, call(requester()))
        self.assertRaises(TypeError, asyncio.run, requester().read("0"))


if __name__ == "__main__":
    unittest.main()
