"""CXL.io as calls, without a simulator: the device of a system, and wrong ones, noticed at the flit."""

import asyncio
import logging
import unittest

import cocotbext.scalepool as sp

# The loop of these tests tells how long each step takes, which is a matter of the machine.
logging.getLogger("asyncio").setLevel(logging.ERROR)


class Systems(unittest.IsolatedAsyncioTestCase):
    """A root in the place of that of a system, whose device is the model's own."""

    async def test_a_device_is_found_and_its_memory_is_that_of_plain_bytes(self):
        settings = ["link.cachemem=off", "link.mode=cxl-256b", "device.bar0_bytes=64 KiB"]
        system = sp.System("cxlio-enumerate", set=settings, external={"host": "flits"})
        async with sp.SystemLink(system, "host.link", "cxl-io", "down", timeout_flits=200) as link:
            for number in range(50, 4000, 97):
                link.end.fault("wire", f"noise:{number}", "rx")
            root = sp.CxlIoRoot(link, outstanding=4, mmio=0xFFF8_0000)
            (device,) = await root.enumerate()
            # What the sheet says of a Type 3 device (`cxl-io` §4): class 05 02 10, and the DVSEC of CXL devices, which is 3Ch long.
            self.assertEqual((device.class_code, device.is_cxl()), (0x050210, True))
            self.assertEqual((device.dvsec(0).size, device.dvsec(0).vendor), (0x3C, 0x1E98))
            self.assertRaises(sp.InputError, device.dvsec, 99)
            # Capabilities of the DVSEC: bit 2 says CXL.mem.
            self.assertTrue(await device.config_read(device.dvsec(0).offset + 0xA, 2) & 4)
            self.assertEqual(await device.config_read(0x04, 2) & 6, 6)
            # Each BAR begins at a multiple of its size, and none overlaps another, above 4 GiB too.
            ends = 0
            for region in device.regions.values():
                self.assertEqual((region.address % region.size, region.address >= ends), (0, True))
                ends = region.address + region.size
            self.assertGreater(ends, 1 << 32)
            region, plain = device.regions[0], bytearray(1024)
            for begin, size in ((0, 4), (1, 1), (3, 2), (5, 7), (64, 513), (1, 1000), (1020, 4)):
                data = bytes((begin + 7 * n) % 251 for n in range(size))
                await region.write(begin, data)
                plain[begin : begin + size] = data
                self.assertEqual(await region.read(begin, size), plain[begin : begin + size], (begin, size))
            found = await asyncio.gather(*(region.read(64 * n, 64) for n in range(16)))
            self.assertEqual(b"".join(found), plain)
            with self.assertRaises(sp.InputError):
                await region.read(0xFFFE, 4)
            with self.assertRaises(sp.NoMemoryError) as caught:
                await root.read(0x10, 4)
            self.assertIn("UR, unsupported request", str(caught.exception))
            self.assertEqual((root.outstanding(), system.metrics()["violations"]), (0, []))
            self.assertEqual({event.by for event in link.events}, {"line"})


class Device:
    """A device that keeps what is written by its address, and answers as a test says."""

    def __init__(self, link, wrong):
        self.link, self.wrong, self.memory = link, wrong, {}
        link.on_step.append(self.step)

    def step(self):
        while (form := self.link.end.take()) is not None:
            tlp = bytes.fromhex(form["tlp"])
            head = sp.decode("cxlio.fm_mem32", tlp[:12]).fields
            if head["tlp_type"] == "MWr32":
                self.memory[head["address"]] = tlp[12 : 12 + 4 * head["length"]]
                continue
            size = 4 * head["length"]
            data = self.memory.get(head["address"], bytes(size))
            fields = {"tag": head["tag"], "requester": head["requester"], "byte_count": size}
            for answer in self.wrong(fields, data):
                self.link.end.send({"tlp": answer.hex()})


def completion(fields, data=b"", status=0):
    ohc = sp.encode("cxlio.ohc_a5", status=status) if status else b""
    head = {"tlp_type": "CplD" if data else "Cpl", "length": len(data) // 4, "ohc": int(bool(ohc)), **fields}
    return sp.encode("cxlio.fm_cpl", head) + ohc + data


class WrongDevices(unittest.IsolatedAsyncioTestCase):
    """What is wrong with a completion is an exception that says where."""

    async def caught(self, wrong, **config):
        with self.assertRaises(sp.ScalepoolError) as caught:
            async with sp.LinkPair("cxl-io") as pair:
                root = sp.CxlIoRoot(pair.host, **config)
                Device(pair.device, wrong)
                await root.write(0x1000, bytes(range(64)))
                await root.read(0x1000, 64)
                for _ in range(100):
                    await asyncio.sleep(0)
        return caught.exception

    async def test_a_right_one_is_silent_in_one_part_or_in_four(self):
        for cut in (64, 16):
            async with sp.LinkPair("cxl-io") as pair:
                root = sp.CxlIoRoot(pair.host)
                Device(pair.device, lambda fields, data, cut=cut: [
                    completion({**fields, "byte_count": 64 - at, "lower_addr": at // 4}, data[at : at + cut])
                    for at in range(0, 64, cut)])
                await root.write(0x1000, bytes(range(64)))
                self.assertEqual(await root.read(0x1000, 64), bytes(range(64)))
                self.assertEqual(pair.host.events + pair.device.events, [])

    async def test_each_fault_is_named(self):
        for wrong, words in (
            (lambda fields, data: [completion({**fields, "tag": 77}, data)], "tag 0x4d for 0x0000, expected the tag of an open request"),
            (lambda fields, data: [completion({**fields, "requester": 9}, data)], "for 0x0009, expected the tag of an open request of 0x0000"),
            (lambda fields, data: 2 * [completion(fields, data)], "with tag 0x0 for 0x0000, expected the tag of an open request"),
            (lambda fields, data: [completion(fields)], "found Cpl, expected CplD"),
            (lambda fields, data: [completion(fields, data + bytes(4))], "found 68 bytes in a header, 68 behind it, expected at most 64"),
            (lambda fields, data: [completion(fields, status=4)], "completer abort, expected a successful one"),
            (lambda fields, data: [completion(fields, status=1)], "unsupported request, expected something at this address"),
            (lambda fields, data: [completion({**fields, "ep": 1}, data)], "found poisoned data"),
            (lambda fields, data: [completion({**fields, "byte_count": 8}, data[:32]), completion(fields, data[32:])],
             "found Byte Count 8, Lower Address 0x0, expected 64, 0x0"),
            (lambda fields, data: [completion({**fields, "lower_addr": 1}, data)], "Lower Address 0x4, expected 64, 0x0"),
            (lambda fields, data: [], "found no completion within 300 flit clocks"),
        ):
            error = await self.caught(wrong, timeout=300)
            self.assertIn(words, str(error))
            self.assertIn("flit ", str(error))
            self.assertEqual(isinstance(error, TimeoutError), "no completion" in words)


class WatchedPair(sp.LinkPair):
    """A pair with a passive end beside the host."""

    def __init__(self, **config):
        super().__init__("cxl-io", **config)
        self.watch = sp.LinkEnd("cxl-io", "down", passive=True, transactions="cxl-io", all_writers_seen=True, answer_flits=300,
                                liveness_flits=200)
        self.seen = []

    def _step_all(self):
        _, up = self._on_the_way
        try:
            super()._step_all()
            sent, _ = self._on_the_way
        except sp.ScalepoolError:
            # The flit that has brought it has passed all the same.
            sent = None
            raise
        finally:
            for unit, way in ((up, "rx"), (sent, "tx")):
                if unit is not None:
                    self.watch.drive(unit, way)
            self.watch.step()
            self.seen += self.watch.events()


class Judged(unittest.IsolatedAsyncioTestCase):
    """What an end judges, active or passive, names the same rule in the same flit."""

    async def test_a_right_device_is_silent_with_damaged_flits(self):
        async with WatchedPair(transactions="cxl-io", all_writers_seen=True, timeout_flits=100) as pair:
            for number in range(10, 2000, 37):
                pair.host.end.fault("wire", f"noise:{number}", "rx")
            root = sp.CxlIoRoot(pair.host, outstanding=4)
            Device(pair.device, lambda fields, data: [
                completion({**fields, "byte_count": len(data) - at, "lower_addr": at // 4 & 15}, data[at : at + 16])
                for at in range(0, len(data), 16)])
            for n in range(20):
                await root.write(0x1000, bytes([n]) * 64)
                self.assertEqual(await root.read(0x1000, 64), bytes([n]) * 64)
            self.assertTrue(pair.host.end.finish() and pair.watch.finish())
            found = {event.by for event in pair.host.events + pair.seen + pair.watch.events()}
            self.assertLessEqual(found, {"line"})
            # Longer than anybody may wait.
            for _ in range(400):
                await asyncio.sleep(0)
            self.assertGreater(pair.flit_clocks, 400)
            self.assertEqual({event.by for event in pair.seen} - {"line"}, set())
            self.assertGreater(pair.host.end.state()["health"]["crc_errors"], 0)
            self.assertEqual(pair.watch.state()["health"]["link_state"], "up")
            self.assertNotIn("credits", pair.watch.state()["health"])

    async def test_a_request_that_has_failed_gives_its_tag_back_behind_its_last_completion(self):
        def turned(fields, data):
            return [completion({**fields, "byte_count": 32, "lower_addr": 8}, data[32:]), completion(fields, data[:32])]

        async def fails(root):
            return await root.read(0x1000, 64)

        async def writes(root):
            return await root.config_write(0x100, 4, 0)

        for ask, wrong, rule in (
            (fails, turned, "TXN-ORD-04"),
            (writes, lambda fields, data: [completion({**fields, "byte_count": 4}, bytes(4))], "TXN-ANS-01"),
        ):
            async with sp.LinkPair("cxl-io", transactions="cxl-io") as pair:
                root = sp.CxlIoRoot(pair.host, outstanding=1)
                device = Device(pair.device, wrong)
                with self.assertRaises(sp.TransactionError) as caught:
                    await ask(root)
                self.assertEqual(caught.exception.rule, rule)
                device.wrong = lambda fields, data: [completion(fields, data)]
                self.assertEqual(await root.read(0x2000, 64), bytes(64))

    async def test_wrong_completions_are_named(self):
        def parts(fields, data):
            return [completion(fields, data[:32]), completion({**fields, "byte_count": 32, "lower_addr": 8}, data[32:])]

        for wrong, rule in (
            (lambda fields, data: [completion({**fields, "tag": 77}, data)], "TXN-TAG-02"),
            (lambda fields, data: 2 * [completion(fields, data)], "TXN-TAG-03"),
            (lambda fields, data: [completion(fields)], "TXN-ANS-03"),
            (lambda fields, data: [completion(fields, data + bytes(4))], "TXN-ANS-01"),
            (lambda fields, data: [completion({**fields, "byte_count": 8}, data[:32]), parts(fields, data)[1]], "TXN-ANS-07"),
            (lambda fields, data: parts(fields, data)[::-1], "TXN-ORD-04"),
            (lambda fields, data: [completion(fields, bytes(64))], "TXN-DAT-01"),
            (lambda fields, data: [], "TXN-END-02"),
        ):
            with self.assertRaises(sp.TransactionError) as caught:
                async with WatchedPair(transactions="cxl-io", all_writers_seen=True, answer_flits=300) as pair:
                    root = sp.CxlIoRoot(pair.host)
                    Device(pair.device, wrong)
                    await root.write(0x1000, bytes(range(64)))
                    await root.read(0x1000, 64)
                    for _ in range(100):
                        await asyncio.sleep(0)
            # A request counts from its flit on where it is watched, and from its queue at the end.
            pair.watch.step(20)
            told = [event for event in pair.seen + pair.watch.events() if event.by != "line"]
            self.assertEqual((caught.exception.rule, told[0].violation.rule), (rule, rule))
            self.assertEqual((caught.exception.flit, caught.exception.tag), (told[0].unit, told[0].tag), rule)


class Refusals(unittest.TestCase):
    """What cannot be done says what was found and what was expected."""

    def test_links_and_values(self):
        self.assertRaises(sp.KindError, sp.CxlIoRoot, sp.PairedEnd("cxl-68b", "down"))
        self.assertRaises(sp.InputError, sp.LinkEnd, "cxl-io", "down", passive=True, coherence="hdm-h")
        self.assertRaises(sp.InputError, sp.LinkEnd, "cxl-io", "down", transactions="hdm-h")
        self.assertRaises(sp.InputError, sp.LinkEnd, "cxl-io", "down", buffers=4)
        end = sp.PairedEnd("cxl-io", "down")
        for config in ({"requester": 1 << 16}, {"bus": 256}, {"timeout": -1}, {"outstanding": 0}):
            self.assertRaises(sp.InputError, sp.CxlIoRoot, end, **config)
        for form in ({"tlp": "00"}, {"tlp": "0g"}, {}, {"tlp": "", "x": 1}):
            self.assertRaises(sp.InputError, end.end.send, form)
        root = sp.CxlIoRoot(end)
        for call in (root.config_read(0x100, 2), root.config_read(0x100, 0x1000), root.config_write(0x100, 0, 256, 1),
                     root.config_read(1 << 16, 0), root.read(0, 0), root.write(-1, b"a")):
            self.assertRaises(sp.InputError, asyncio.run, call)


if __name__ == "__main__":
    unittest.main()
