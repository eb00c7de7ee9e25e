"""UALink transactions as calls, without a simulator: two ends back to back, held against plain bytes; wrong completers, each noticed
at the flit."""

import asyncio
import contextlib
import logging
import random
import unittest
from types import SimpleNamespace

import cocotbext.scalepool as sp

CONFIG = {"layer": "tl", "transactions": "ualink", "all_writers_seen": True, "answer_flits": 500}
LINE, REGION = 64, 256
A, B = 1, 2

# The loop of these tests tells how long each step takes, which is a matter of the machine.
logging.getLogger("asyncio").setLevel(logging.ERROR)


class Pairs(unittest.IsolatedAsyncioTestCase):
    """What is read is what plain bytes hold."""

    async def test_ranges_are_those_of_plain_bytes(self):
        for single_beats in (False, True):
            draw, plain = random.Random(single_beats), bytearray(2048)
            async with sp.LinkPair("ualink", **CONFIG) as pair:
                requester = sp.UalRequester(pair.host, accelerator=A, outstanding=5)
                completer = sp.UalCompleter(pair.device, accelerator=B, latency=7, single_beats=single_beats)
                # Flits that are damaged on their way are sent again.
                for end in (pair.host.end, pair.device.end):
                    for number in range(60, 2000, 37):
                        end.fault("wire", f"noise:{number}", "rx")
                for _ in range(80):
                    begin = draw.randrange(len(plain))
                    size = draw.randrange(1, 1 + min(draw.choice([8, 600]), len(plain) - begin))
                    if draw.random() < 0.5:
                        data = draw.randbytes(size)
                        mask = draw.choice([None, bytes(draw.randrange(2) for _ in range(size))])
                        await requester.write(B, 0x4000 + begin, data, mask)
                        for n in range(size):
                            if mask is None or mask[n]:
                                plain[begin + n] = data[n]
                    else:
                        self.assertEqual(await requester.read(B, 0x4000 + begin, size), plain[begin : begin + size])
                self.assertEqual(await requester.read(B, 0x4000, len(plain)), plain)
                self.assertTrue(pair.host.end.finish() and pair.device.end.finish())
                self.assertGreater(completer.served, 80)
                # What a replay has mended is told of the line, and of nobody else.
                told = {event.by for event in pair.host.events + pair.device.events}
                self.assertEqual(told, {"line"})

    async def test_both_ends_ask_with_the_same_tags(self):
        async with sp.LinkPair("ualink", **CONFIG) as pair:
            ends, numbers = (pair.host, pair.device), (A, B)
            requesters = [sp.UalRequester(end, accelerator=number) for end, number in zip(ends, numbers)]
            completers = [sp.UalCompleter(end, accelerator=number, latency=n) for n, (end, number) in enumerate(zip(ends, numbers))]
            data = [bytes([n]) * 700 for n in (1, 2)]
            await asyncio.gather(requesters[0].write(B, 0x20, data[0]), requesters[1].write(A, 0x20, data[1]))
            found = await asyncio.gather(requesters[0].read(B, 0x20, 700), requesters[1].read(A, 0x20, 700))
            self.assertEqual(found, data)
            self.assertEqual([completer.served for completer in completers], [6, 6])
            self.assertEqual(pair.host.events + pair.device.events, [])

    async def test_no_more_requests_are_open_than_allowed_and_many_calls_share_them(self):
        for outstanding in (1, 3, 64):
            async with sp.LinkPair("ualink", buffers=4, **CONFIG) as pair:
                requester, most, tags = sp.UalRequester(pair.host, accelerator=A, outstanding=outstanding), [0], set()

                class Watched(sp.UalCompleter):
                    def answers(self, request):
                        most[0] = max(most[0], requester.outstanding())
                        tags.add(request["fields"]["tag"])
                        return super().answers(request)

                completer = Watched(pair.device, accelerator=B, latency=40)
                await asyncio.gather(*(requester.write(B, 0x1000 * n, bytes([n]) * 300) for n in range(20)))
                found = await asyncio.gather(*(requester.read(B, 0x1000 * n + 299, 1) for n in range(20)))
                self.assertEqual(found, [bytes([n]) for n in range(20)])
                # 40 requests to write are made at once, and 20 to read; tags are used in turn.
                self.assertEqual((most[0], tags), (min(outstanding, 40), set(range(min(outstanding, 60)))))
                self.assertEqual((completer.served, requester.outstanding()), (20 * 2 + 20, 0))
                self.assertEqual(pair.host.events, [])

    async def test_the_same_run_is_the_same_flits(self):
        clocks = []
        for _ in range(2):
            async with sp.LinkPair("ualink", **CONFIG) as pair:
                requester = sp.UalRequester(pair.host, accelerator=A)
                sp.UalCompleter(pair.device, accelerator=B)
                await asyncio.gather(*(requester.write(B, REGION * n, bytes(REGION)) for n in range(50)))
                clocks.append((pair.flit_clocks, pair.device.received))
        self.assertEqual(clocks[0], clocks[1])

    async def test_what_is_open_is_lost_when_the_link_goes_down(self):
        async with sp.LinkPair("ualink", **CONFIG) as pair:
            requester = sp.UalRequester(pair.host, accelerator=A, outstanding=1)
            sp.UalCompleter(pair.device, accelerator=B, latency=50)
            await requester.write(B, 0, b"\1" * LINE)
            reads = [asyncio.create_task(requester.read(B, 0)) for _ in range(2)]
            for clocks, up in ((30, None), (5, False), (0, True)):
                for end in (pair.host.end, pair.device.end) if up is not None else ():
                    end.train(up)
                for _ in range(clocks):
                    await asyncio.sleep(0)
            found = await asyncio.gather(*reads, return_exceptions=True)
            self.assertEqual([type(error) for error in found], 2 * [sp.ScalepoolError])
            self.assertIn("the link has gone down", str(found[0]))
            self.assertEqual(await requester.read(B, 0), b"\1" * LINE)
            told = {event.violation.rule for event in pair.host.events + pair.device.events if event.by != "line"}
            self.assertEqual((told, requester.outstanding()), (set(), 0))

    async def test_poison_missing_memory_and_other_accelerators_are_told(self):
        async with sp.LinkPair("ualink", **CONFIG) as pair:
            requester = sp.UalRequester(pair.host, accelerator=A)
            sp.UalCompleter(pair.device, sp.LineMemory(0x1000), accelerator=B)
            await requester.write(B, 0x40, bytes(LINE), poison=True)
            with self.assertRaises(sp.PoisonError) as caught:
                await requester.read(B, 0x44, 8)
            self.assertEqual((caught.exception.address, caught.exception.rule), (0x44, None))
            await requester.write(B, 0x40, b"\1" * LINE)
            self.assertEqual(await requester.read(B, 0x7F, 2), b"\1\0")
            for destination, address in ((B, 0xFFF), (3, 0x40)):
                with self.assertRaises(sp.NoMemoryError) as caught:
                    await requester.read(destination, address, 2)
                self.assertIn("found status DecodeError", str(caught.exception))
            with self.assertRaises(sp.NoMemoryError):
                await requester.write(B, 0x1000, b"a")


def doubled(completer, request, answers):
    return answers + answers


def unknown(completer, request, answers):
    fields = {**answers[0]["fields"], "tag": 0x777}
    return [{**answers[0], "fields": fields}, *answers]


def wrong_kind(completer, request, answers):
    return [completer._response(request, "Write", "OKAY"), *answers]


def other_data(completer, request, answers):
    return [{**answers[0], "data": "ab" * 2 * LINE}]


def early_last(completer, request, answers):
    one = {**answers[0], "data": answers[0]["data"][: 2 * LINE]}
    return [{**one, "fields": {**one["fields"], "len": 0, "offset": n, "last": 1}} for n in (0, 1)]


def none(completer, request, answers):
    return []


class WrongCompleters(unittest.IsolatedAsyncioTestCase):
    """What a completer does wrong with the third read is an exception that says where."""

    async def run_with(self, wrong):
        """Three times two lines are written and read; from what the completer does to the third read, the exceptions. The flit that
        they name is that in which the wrong answer came."""
        reads, caught = [], []

        class Wrong(sp.UalCompleter):
            def answers(self, request):
                answers = super().answers(request)
                if request["fields"]["cmd"] != "Read":
                    return answers
                reads.append(request["fields"])
                return wrong(self, request, answers) if len(reads) == 3 else answers

        try:
            async with sp.LinkPair("ualink", **CONFIG) as pair:
                requester = sp.UalRequester(pair.host, accelerator=A)
                Wrong(pair.device, accelerator=B, latency=3)
                await requester.write(B, 0x2000, bytes(6 * LINE))
                for n in range(3):
                    try:
                        await requester.read(B, 0x2000 + 2 * LINE * n, 2 * LINE)
                    except sp.TransactionError as error:
                        caught.append(error)
                # A requester goes on, where it can.
                try:
                    for _ in range(100):
                        await asyncio.sleep(0)
                    self.assertEqual(await requester.read(B, 0x2000), bytes(LINE))
                    await requester.write(B, 0x2000, b"\2" * LINE)
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
            (other_data, "TXN-DAT-01"),
            (early_last, "TXN-ANS-05"),
            (none, "TXN-END-02"),
        ):
            (error,), tag = await self.run_with(wrong)
            self.assertEqual((error.rule, error.tag, error.address), (rule, tag, 0x2100))
            self.assertEqual(isinstance(error, TimeoutError), rule == "TXN-END-02")

    async def test_an_answer_to_no_request_stops_the_link(self):
        for wrong, rule, tags in ((doubled, "TXN-TAG-03", None), (unknown, "TXN-TAG-02", 0x777)):
            caught, tag = await self.run_with(wrong)
            self.assertEqual({error.rule for error in caught}, {rule})
            self.assertEqual({error.tag for error in caught}, {tag if tags is None else tags})
            self.assertGreaterEqual(len(caught), 1)

    async def test_a_response_that_nobody_asked_for_is_named_where_only_a_completer_stands(self):
        with self.assertRaises(sp.TransactionError) as caught:
            async with sp.LinkPair("ualink", **CONFIG) as pair:
                sp.UalCompleter(pair.device, accelerator=B)
                fields = {"rdwr": "Write", "tag": 9, "dst": B, "src": A}
                pair.host.end.send({"layout": "ualink.tl_rsp", "fields": fields})
                for _ in range(500):
                    await asyncio.sleep(0)
        self.assertEqual(caught.exception.rule, "TXN-TAG-02")

    def test_a_partner_raises_what_no_call_raises(self):
        violation = SimpleNamespace(rule="TXN-TAG-02")
        for by, agents, raises in (
            ("peer", (), True),
            ("line", (), False),
            ("peer", (sp.UalRequester,), False),
            ("peer", (sp.UalCompleter,), True),
            ("peer", (sp.UalRequester, sp.UalCompleter), False),
            ("end", (sp.UalCompleter,), False),
            ("end", (), True),
        ):
            partner, end = sp.LinkPartner.__new__(sp.LinkPartner), sp.PairedEnd("ualink", "down", **CONFIG)
            partner._waivers, partner._severities = {}, {}
            for agent in agents:
                agent(end, accelerator=A)
            # A function of a test is no call that raises.
            partner.on_step, partner.takers = [*end.on_step, lambda: None], end.takers
            event = SimpleNamespace(by=by, violation=violation, unit=0, port="rx")
            with self.assertRaises(sp.RuleError) if raises else contextlib.nullcontext():
                partner._raise([event])

    async def test_a_wrong_requester_is_noticed_by_the_completer(self):
        with self.assertRaises(sp.TransactionError) as caught:
            async with sp.LinkPair("ualink", **CONFIG) as pair:
                sp.UalCompleter(pair.device, accelerator=B, latency=300)
                fields = {"cmd": "Read", "tag": 9, "src": A, "dst": B, "address": 0x1000, "len": 15, "attr": 0xFF}
                for _ in range(2):
                    pair.host.end.send({"layout": "ualink.tl_req", "fields": fields})
                for _ in range(400):
                    await asyncio.sleep(0)
        error = caught.exception
        self.assertEqual((error.rule, error.tag, error.address), ("TXN-TAG-01", 9, 0x1000))


class Refusals(unittest.TestCase):
    """What cannot be done says what was found and what was expected."""

    def test_links_that_carry_no_transactions(self):
        for protocol, config, words in (
            ("ualink", {}, "found transactions=None"),
            ("cxl-68b", {"transactions": "hdm-h"}, "found an active end of cxl-68b"),
        ):
            for agent in (sp.UalRequester, sp.UalCompleter):
                with self.assertRaises(sp.KindError) as caught:
                    agent(sp.PairedEnd(protocol, "down", **config), accelerator=A)
                self.assertIn(words, str(caught.exception))
        with self.assertRaises(sp.InputError) as caught:
            sp.PairedEnd("ualink", "down", transactions="ualink")
        self.assertIn("expected `layer` = `tl` beside it", str(caught.exception))
        for config in ({"layer": "tx"}, {"layer": 1}, {"buffers": 4}, {"layer": "tl", "buffers": 0}):
            self.assertRaises(sp.InputError, sp.PairedEnd, "ualink", "down", **config)
        end = sp.PairedEnd("ualink", "down", **CONFIG)
        sp.UalRequester(end, accelerator=A)
        self.assertRaises(sp.KindError, sp.UalRequester, end, accelerator=A)

    def test_messages_that_are_none(self):
        end = sp.LinkEnd("ualink", "down", **CONFIG)
        read = {"cmd": "Read", "len": 15}
        for form, words in (
            ({"layout": "ualink.tl_creq", "fields": {}}, "ualink.tl_req"),
            ({"layout": "ualink.tl_req", "fields": read, "data": "00" * 63}, "found 63 bytes, expected 64 bytes for each beat"),
            ({"layout": "ualink.tl_req", "fields": read, "data": "00" * 64}, "2"),
            ({"layout": "ualink.tl_req", "fields": {"cmd": "Write", "len": 15}, "data": "00" * 64}, "byte enables"),
            ({"lower": "00" * 32}, "found a TL flit, expected a request or a response"),
        ):
            with self.assertRaises(sp.InputError) as caught:
                end.send(form)
            self.assertIn(words, str(caught.exception))

    def test_values_out_of_range(self):
        def requester(**config):
            return sp.UalRequester(sp.PairedEnd("ualink", "down", **CONFIG), **{"accelerator": A, **config})

        for config in ({"outstanding": 0}, {"outstanding": 2049}, {"accelerator": 1024}, {"accelerator": -1}, {"vchan": 4}):
            self.assertRaises(sp.InputError, requester, **config)
        requester(outstanding=2048, accelerator=1023, vchan=3)
        self.assertRaises(sp.InputError, sp.UalCompleter, sp.PairedEnd("ualink", "up", **CONFIG), accelerator=B, latency=-1)
        for call in (lambda r: r.read(B, 0, 0), lambda r: r.read(B, -1), lambda r: r.read(B, (1 << 57) - 63),
                     lambda r: r.read(1024, 0), lambda r: r.write(B, 0, b""), lambda r: r.write(B, 0, b"ab", b"a")):
            self.assertRaises(sp.InputError, asyncio.run, call(requester()))
        self.assertRaises(TypeError, asyncio.run, requester().read(B, "0"))


if __name__ == "__main__":
    unittest.main()
