"""The package without a simulator: `python3 -m unittest discover testbenches/python/tests`, where it is installed.

Held against golden vectors, against checksums written out here in Python alone, and against the C header.
"""

import ctypes
import doctest
import importlib.util
import inspect
import json
import os
import pathlib
import random
import re
import tempfile
import threading
import unittest
from types import SimpleNamespace
from unittest import mock

import cocotbext.scalepool as sp
from cocotbext.scalepool import (
    _library, agents, arbiter, bridge, bus, check, cxl_mem, errors, flit, hooks, lines, message, model, monitor, nvlink, partner, stepped, ualink,
    verbs
)

TESTBENCHES = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = TESTBENCHES.parent / "golden"


def golden(family, name):
    with open(GOLDEN / family / f"{name}.jsonl", encoding="ascii") as lines:
        return [json.loads(line) for line in lines]


def crc16_cxl68(payload):
    """cxl-68b §1.6: 1F053h, start 0, bit 511 of the payload first."""
    remainder = int.from_bytes(payload, "little") << 16
    for bit in range(527, 15, -1):
        if remainder >> bit & 1:
            remainder ^= 0x1F053 << bit - 16
    return remainder


def crc32_ualink(data):
    """ualink §5: IEEE 802.3, bit 0 of byte 0 first, the last four bytes count as 00; x^0 to x^7 in the first byte."""
    register = 0xFFFFFFFF
    for byte in data[:636] + bytes(4):
        for bit in range(8):
            out = register >> 31 ^ byte >> bit & 1
            register = register << 1 & 0xFFFFFFFF ^ (0x04C11DB7 if out else 0)
    return register ^ 0xFFFFFFFF


def times(a, b, polynomial):
    """Product in GF(2^8)."""
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = a << 1 ^ (polynomial if a & 0x80 else 0)
        b >>= 1
    return product


def crc8_cxl256(data):
    """cxl-256b §7: remainder over GF(2^8) with 12Bh, generator with the roots alpha^1 to alpha^8, byte 0 highest."""
    generator, root = [1], 1
    for _ in range(8):
        root = times(root, 2, 0x12B)
        generator = [a ^ times(b, root, 0x12B) for a, b in zip([0, *generator], [*generator, 0])]
    remainder = [0] * 8
    for byte in data:
        leaving = byte ^ remainder[7]
        remainder = [r ^ times(leaving, g, 0x12B) for r, g in zip([0, *remainder[:7]], generator)]
    return int.from_bytes(bytes(remainder), "little")


class Header(unittest.TestCase):
    """The declarations of the package are those of the header."""

    header = (TESTBENCHES / "c" / "scalepool.h").read_text(encoding="utf-8")

    def test_the_header_of_the_package_is_that_of_the_c_programs(self):
        self.assertEqual(_library.HEADER.read_text(encoding="utf-8"), self.header)

    def test_every_function_is_declared_as_the_header_says(self):
        # Comments and directives are no declarations.
        code = re.sub(r"//[^\n]*|/\*.*?\*/|^#[^\n]*", " ", self.header, flags=re.DOTALL | re.MULTILINE)
        names = set(re.findall(r"\b(sp_\w+)\s*\(", code))
        self.assertGreater(len(names), 40)
        self.assertEqual(set(_library.PROTOTYPES), names)
        for name, (returns, arguments) in _library.PROTOTYPES.items():
            function = getattr(_library.LIBRARY, name)
            self.assertEqual((function.restype, list(function.argtypes)), (returns, arguments), name)
            # The same twice is allowed in C.
            (declared,) = set(re.findall(rf"(\w+)\s+{name}\s*\(([^;]*)\)\s*;", code))
            texts = [text for text in declared[1].split(",") if text.strip() != "void"]
            self.assertEqual(returns, _library.SCALARS[declared[0]], name)
            self.assertEqual(len(arguments), len(texts), name)
            for kind, text in zip(arguments, texts):
                scalar = re.fullmatch(r"\s*(u?int(?:32|64)_t|size_t)\s+\w+\s*", text)
                self.assertEqual(kind, _library.SCALARS[scalar[1]] if scalar else ctypes.c_void_p, f"{name}: {text}")

    def test_the_structures_are_those_of_the_header(self):
        kinds = {"uint32_t": ctypes.c_uint32, "uint64_t": ctypes.c_uint64, "sp_number": _library.Number}
        for name, mirror in (("sp_number", _library.Number), ("sp_layout", _library.Size), ("sp_field", _library.Place)):
            (body,) = re.findall(rf"typedef struct \{{([^}}]*)\}} {name};", self.header)
            fields = re.findall(r"^\s+(\w+) (\w+);", body, re.MULTILINE)
            self.assertEqual([(field, kinds[kind]) for kind, field in fields], mirror._fields_, name)
        # Events and states come as JSON here; their structures are for C and DPI.
        names = set(re.findall(r"^\} (sp_\w+);", self.header, re.MULTILINE))
        self.assertEqual(names, {"sp_number", "sp_layout", "sp_field", "sp_event", "sp_link_status"})

    def test_every_status_is_known(self):
        for name in re.findall(r"#define (SP_ERR_\w+)", self.header):
            self.assertLess(_library.CONSTANTS[name], 0, name)


class Messages(unittest.TestCase):
    def test_golden_messages_decode_and_encode(self):
        count = 0
        for family, layouts in (("cxl68", "m2s_req m2s_rwd d2h_req s2m_drs"), ("cxl256", "m2s_req s2m_ndr"),
                                ("ualink", "tl_req upli_req"), ("nvlink", "header")):
            for name in layouts.split():
                for record in golden(family, name)[:40]:
                    data = bytes.fromhex(record["hex"])
                    found = sp.decode(record["layout"], data)
                    self.assertEqual(found.fields, record["fields"])
                    self.assertEqual(bool(found.violations), record["result"] != "valid", record)
                    if found.violations:
                        self.assertEqual(found.violations[0].rule, record["rule"])
                    self.assertEqual(sp.encode(record["layout"], record["fields"]), data)
                    count += 1
        self.assertGreater(count, 200)

    def test_many_are_as_one(self):
        records = [r for r in golden("cxl68", "m2s_req") if r["result"] == "valid"]
        data = b"".join(bytes.fromhex(r["hex"]) for r in records)
        rows = sp.decode_many("cxl68.m2s_req", data)
        self.assertEqual(sp.encode_many("cxl68.m2s_req", rows), data)
        self.assertEqual([row["tag"] for row in rows], [r["fields"]["tag"] for r in records])
        self.assertEqual(sp.encode_many("cxl68.m2s_req", [{"tag": 3}]), sp.encode("cxl68.m2s_req", tag=3))
        self.assertEqual(sp.encode_many("cxl68.m2s_req", []), b"")

    def test_layouts_are_described(self):
        self.assertIn("cxl68.m2s_req", sp.layouts())
        for name in sp.layouts():
            layout = sp.layout(name)
            self.assertEqual([field.name for field in layout.fields], [f["name"] for f in sp.describe(name)["fields"]])
            self.assertEqual(sum(field.width for field in layout.fields), layout.bits, name)


class Flits(unittest.TestCase):
    def test_golden_flits_decode_as_a_stream(self):
        for family, protocol, count in (("cxl68", "cxl-68b", 200), ("cxl256", "cxl-256b", 30),
                                        ("cxl256", "cxl-256b-lopt", 30), ("cxlpbr", "cxl-256b-pbr", 30),
                                        ("ualink", "ualink", 30), ("nvlink", "nvlink", 60)):
            for dir in ("down", "up"):
                records = golden(family, f"flit_{protocol}_{dir}")[:count]
                with flit.Decoder(protocol, dir) as decoder:
                    answers = [a for r in records for a in decoder.feed(bytes.fromhex(r["hex"]))]
                    # The answer of the last may wait for the next flit.
                    for answer, record in zip(answers, records):
                        self.assertEqual(answer.form, record)
                        self.assertEqual([v.rule for v in answer.violations], [v["rule"] for v in record["violations"]])
                    self.assertGreaterEqual(len(answers), len(records) - 1)

    def test_what_is_encoded_decodes(self):
        slots = [{"slot": 0, "format": "H5",
                  "messages": [{"layout": "cxl68.m2s_req", "fields": {"opcode": "MemRd", "tag": 7}}]}]
        data = flit.encode("cxl-68b", {"kind": "protocol", "slots": slots})
        found = flit.decode("cxl-68b", data)
        self.assertEqual((found.kind, found.violations, found.data), ("protocol", (), data))
        self.assertEqual([m["fields"]["tag"] for m in found.messages], [7])
        wrong = bytearray(data)
        wrong[10] ^= 1
        self.assertEqual([v.rule for v in flit.decode("cxl-68b", wrong).violations], ["CXL68-CRC-01"])

    def test_many_are_as_one(self):
        data = [bytes.fromhex(r["hex"]) for r in golden("cxl68", "flit_cxl-68b_up")[:50]]
        with flit.Decoder("cxl-68b", "up") as one, flit.Decoder("cxl-68b", "up") as many:
            self.assertEqual(many.feed_many(b"".join(data), 68), [a for d in data for a in one.feed(d)])


class Checks(unittest.TestCase):
    """Beside references in Python alone."""

    draw = random.Random(1)

    def test_crcs(self):
        for kind, size, reference in ((sp.Crc.CXL68, 64, crc16_cxl68), (sp.Crc.CXL256, 242, crc8_cxl256),
                                      (sp.Crc.UALINK, 640, crc32_ualink)):
            items = [bytes(size), b"\xff" * size] + [self.draw.randbytes(size) for _ in range(10)]
            expected = [reference(item) for item in items]
            self.assertEqual([sp.crc(kind, item) for item in items], expected, kind)
            self.assertEqual(sp.crc_many(kind, b"".join(items), size).tolist(), expected, kind)
            self.assertEqual(len(sp.crc_many(kind, b"", size)), 0)

    def test_crcs_of_golden_flits(self):
        for record in golden("cxl68", "flit_cxl-68b_down")[:100]:
            if "crc" in record:
                data = bytes.fromhex(record["hex"])
                self.assertEqual(sp.crc(sp.Crc.CXL68, data[2:66]), int(record["crc"]["expected"], 16))

    def test_fec_repairs_a_byte_in_each_group(self):
        for kind in sp.Fec:
            good = sp.fec_encode(self.draw.randbytes(256 * 4), kind)
            wrong = bytearray(good)
            for at in (0, 256 + 10, 256 + 11, 512 + 255, 768 + 3, 768 + 6):
                wrong[at] ^= 0x5A
            fixed, corrected = sp.fec_correct(bytes(wrong), kind)
            self.assertEqual(corrected[:3], [1, 2, 1])
            self.assertEqual(fixed[:768], good[:768])


class Arbiters(unittest.TestCase):
    def test_grants_go_around(self):
        with sp.Arbiter(sp.ArbiterKind.ROUND_ROBIN, 4) as round_robin:
            self.assertEqual([round_robin.grant(0b1011) for _ in range(5)], [0, 1, 3, 0, 1])
            self.assertEqual([round_robin.grant(0b1011, used=False) for _ in range(2)], [3, 3])
            self.assertIsNone(round_robin.grant(0))
        with self.assertRaises(sp.HandleError):
            round_robin.grant(1)
        matrix = sp.Arbiter(sp.ArbiterKind.MATRIX, 3)
        self.assertEqual([matrix.grant(asks) for asks in (0b010, 0b111, 0b111, 0b110, 0b111)], [1, 0, 2, 1, 0])
        weighted = sp.Arbiter(sp.ArbiterKind.WEIGHTED, weights=[5, 1, 1, 2])
        granted = [weighted.grant(0b1111) for _ in range(900)]
        self.assertEqual([granted.count(i) for i in range(4)], [500, 100, 100, 200])

    def test_what_cannot_be_is_refused(self):
        for requesters, weights in ((0, ()), (65, ()), (2, (1, 2)), (-1, ())):
            with self.assertRaises(sp.RangeError):
                sp.Arbiter(sp.ArbiterKind.MATRIX, requesters, weights)
        for weights in ((), (1, 65536), (-1,)):
            with self.assertRaises(sp.RangeError):
                sp.Arbiter(sp.ArbiterKind.WEIGHTED, weights=weights)


class Systems(unittest.TestCase):
    def test_a_scenario_runs_the_same_twice(self):
        with sp.System('scenario = "cxl68-expander"\nhost.accesses = 30') as simulation:
            self.assertEqual(simulation.metrics(), {})
            self.assertTrue(simulation.run())
            first = simulation.metrics()
            self.assertEqual(first["violations"], [])
            self.assertTrue(simulation.run())
            self.assertEqual(simulation.metrics(), first)
            simulation.set("host.accesses=40")
            simulation.seed(3)
            self.assertTrue(simulation.run())
            self.assertNotEqual(simulation.metrics(), first)
            simulation.reset()
            self.assertTrue(simulation.run())
            self.assertEqual(simulation.metrics(), first)

    def test_a_description_is_a_name_a_file_a_text_or_a_dict(self):
        description = {
            "format": 1,
            "system": {"name": "pair"},
            "clock": {"core": {"period": "500 ps"}},
            "component": {
                "host": {"kind": "cxl.host", "count": 2, "outstanding": 8, "stimulus": {"pattern": "mix", "accesses": 30}},
                "memory": {"kind": "cxl.memory", "count": 2, "size": "1 GiB"},
            },
            "link": {"cxl": {"kind": "cxl-68b", "ber": 1e-6, "skip_ordered_sets": True, "between": ["host[i].cxl", "memory[i].cxl"]}},
        }
        text = """format = 1
            system.name = "pair"
            clock.core.period = "500 ps"
            component.host = { kind = "cxl.host", count = 2, outstanding = 8, stimulus = { pattern = "mix", accesses = 30 } }
            component.memory = { kind = "cxl.memory", count = 2, size = "1 GiB" }
            link.cxl = { kind = "cxl-68b", ber = 1e-6, skip_ordered_sets = true, between = ["host[i].cxl", "memory[i].cxl"] }"""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "pair.toml"
            file.write_text(text, encoding="utf-8")
            metrics = []
            for form in (description, text, file, str(file)):
                system = sp.System(form, seed=3)
                self.assertTrue(system.run())
                metrics.append(system.metrics())
        self.assertEqual(metrics[0]["components"]["host[1]"]["line accesses"], 30)
        self.assertEqual(metrics[1:], metrics[:-1])
        self.assertTrue(sp.System("cxl68-expander", set=["host.accesses=20"]).run())
        with self.assertRaisesRegex(errors.InputError, "kind of component `cxl.hots`"):
            sp.System({**description, "component": {"host": {"kind": "cxl.hots"}}})
        with self.assertRaisesRegex(errors.InputError, "host.accesses"):
            sp.System("cxl68-expander", set=["host.acesses=20"])
        with self.assertRaisesRegex(errors.InputError, "found `signals`, expected one of what `cxl.memory` offers: flits, messages"):
            sp.System("cxl68-expander", external={"device": "signals"}).run()

    def test_steps_are_the_same_as_one_run(self):
        text = 'scenario = "cxl256-expander"\nhost.accesses = 30'
        whole, stepped = sp.System(text), sp.System(text)
        self.assertEqual(stepped.state()["cycle"], 0)
        self.assertTrue(whole.run())
        self.assertTrue(stepped.step())
        self.assertNotEqual(stepped.metrics(), whole.metrics())
        while stepped.step(17):
            pass
        self.assertEqual(stepped.metrics(), whole.metrics())
        self.assertTrue(stepped.state()["over"])

    def test_a_driven_device_serves_the_host(self):
        text, port = 'scenario = "cxl68-expander"\nhost.accesses = 30', "device.cxl"
        model, external = sp.System(text), sp.System(text, external={"device": "flits"})
        model.watch(port, "tx")
        external.watch(port, "tx")
        self.assertTrue(model.step(1500))
        cycle, sent = 0, []
        while (sample := model.sample(port, "tx")) is not None:
            external.step(sample.time_fs // 500_000 - cycle)
            cycle = sample.time_fs // 500_000
            external.drive(port, sample.unit)
            sent.append(sample)
        external.step(1500 - cycle)
        self.assertEqual(external.sample(port, "tx"), sent[0])
        external.expect(port, sent[1].unit, "tx")
        with self.assertRaisesRegex(errors.ComparisonError, "byte 67"):
            external.expect(port, sent[2].unit[:67] + bytes([sent[2].unit[67] ^ 1]), "tx")
        with self.assertRaises(errors.InputError):
            external.expect(port, sent[3].unit, "tx", mask=b"")
        latencies = [simulation.metrics()["latency_cycles"] for simulation in (model, external)]
        self.assertEqual(*latencies)
        with self.assertRaises(errors.KindError):
            model.drive(port, sent[0].unit)
        with self.assertRaises(errors.KindError):
            model.sample(port, "rx")
        with self.assertRaisesRegex(errors.InputError, "host.cxl, device.cxl"):
            model.watch("nowhere")

    def test_messages_of_two_systems_pass_between_them(self):
        text = 'scenario = "cxl256-expander"\nhost.accesses = 40\nhost.pattern = "mix"'
        asks, answers = sp.System(text, external={"device": "messages"}), sp.System(text, external={"host": "messages"})
        classes = ["m2s_req", "m2s_rwd", "s2m_ndr", "s2m_drs"]
        self.assertEqual(asks.ports(), ["host.cxl", "device.cxl", *(f"device.cxl.{name}" for name in classes)])
        for _ in range(200):
            asks.step(20)
            answers.step(20)
            for name in classes:
                ways = [(asks, "device", answers, "host"), (answers, "host", asks, "device")]
                source, own, sink, other = ways[name.startswith("s2m")]
                while (message := source.sample(f"{own}.cxl.{name}")) is not None:
                    self.assertTrue(sink.drive(f"{other}.cxl.{name}", message.unit))
        counts = asks.metrics()["components"]
        self.assertEqual((counts["host"]["bytes"], counts["device"]["messages sent"]), (40 * 64, 40))
        self.assertEqual([system.metrics()["violations"] for system in (asks, answers)], [[], []])
        write = sp.encode("cxl256.m2s_rwd", opcode="MemWr", meta_field="Meta0State") + bytes(64) + b"\xff" * 8 + bytes(4)
        self.assertEqual([answers.drive("host.cxl.m2s_rwd", write) for _ in range(17)], [True] * 16 + [False])
        with self.assertRaisesRegex(errors.InputError, "cxl256.m2s_rwd: found 88 bytes, expected 89: 13 of the header"):
            answers.drive("host.cxl.m2s_rwd", write[:-1])
        with self.assertRaisesRegex(errors.KindError, "which arrive for the component, expected those of host.cxl that it sends"):
            answers.drive("host.cxl.s2m_drs", write)
        with self.assertRaisesRegex(errors.KindError, "a channel of messages, expected the end of a link"):
            answers.watch("host.cxl.s2m_drs")

    def test_hooks_at_ports(self):
        model, seen = sp.System('scenario = "cxl68-expander"\nhost.accesses = 50'), []
        watch = model.attach("host.cxl", "packer_in", seen.append)
        model.fault("device.cxl", "wire", "drop:9", way="rx")
        self.assertTrue(model.run())
        self.assertEqual((len(seen), seen[0].name), (50, "cxl68.m2s_req"))
        self.assertGreater(model.metrics()["retries"], 0)
        model.detach("host.cxl", watch)
        with self.assertRaises(errors.RangeError):
            model.detach("host.cxl", watch)
        model.reset()
        model.attach("host.cxl", "packer_out", lambda item: 1 // 0, way="rx")
        with self.assertRaises(ZeroDivisionError):
            model.run()
        self.assertEqual(len(seen), 50)

    def test_two_ends_talk_and_a_third_watches(self):
        host, device = sp.System.link("cxl-68b", "down", buffers=8), sp.LinkEnd("cxl-68b", "up")
        watcher, twin = sp.LinkEnd("cxl-68b", "down", passive=True), sp.LinkEnd("cxl-68b", "down", buffers=8)
        for end in (host, twin):
            end.send({"layout": "cxl68.m2s_req", "fields": {"tag": 9}})
        taken = []
        for _ in range(60):
            for end in (host, device, twin):
                end.step()
            down, up = host.sample(), device.sample()
            if down is not None:
                twin.expect(down)
                device.drive(down)
                watcher.drive(down, "tx")
            if up is not None:
                for end in (host, twin, watcher):
                    end.drive(up)
            watcher.step()
            message = device.take()
            taken += [message] if message else []
        self.assertEqual([m["fields"]["tag"] for m in taken], [9])
        self.assertEqual((host.events(), watcher.events()), ([], []))
        self.assertTrue(host.state()["up"])
        twin.step()
        with self.assertRaises(errors.ComparisonError):
            twin.expect(b"\xff" * 68)
        with self.assertRaises(errors.KindError):
            watcher.send({"layout": "cxl68.m2s_req", "fields": {}})
        watcher.drive(b"\x01" * 68, "tx")
        watcher.step()
        self.assertTrue(all(event.port == "tx" and event.violation.rule for event in watcher.events()))
        host.reset()
        self.assertFalse(host.state()["up"])

    def test_ends_count_what_has_passed(self):
        host, device = (sp.LinkEnd("cxl-68b", dir, coverage=True) for dir in ("down", "up"))
        watch = sp.LinkEnd("cxl-68b", "up", passive=True, coverage=True)
        reads = 5
        for tag in range(reads):
            host.send({"layout": "cxl68.m2s_req", "fields": {"opcode": "MemRd", "meta_field": "NoOp", "tag": tag, "address": 64 * tag}})
        for _ in range(100):
            for end, peer, way in ((host, device, "rx"), (device, host, "tx")):
                unit = end.sample()
                if unit is not None:
                    peer.drive(unit, "rx")
                    watch.drive(unit, way)
            for end in (host, device, watch):
                end.step()
        hits = lambda end: next(g["bins"] for g in end.coverage()["groups"] if g["group"] == "opcode x channel")["cxl68.m2s_req MemRd"]
        # What has come to the device, and what a watcher has seen go either way; nobody has asked the host.
        self.assertEqual([hits(end) for end in (host, device, watch)], [0, reads, reads])
        watch.reset()
        self.assertEqual(hits(watch), reads, "a reset keeps what was covered")
        with self.assertRaises(errors.InputError):
            sp.LinkEnd("cxl-68b", "up").coverage()

    def test_a_second_init_stops_an_end_and_its_watcher(self):
        host, device = sp.LinkEnd("cxl-68b", "down"), sp.LinkEnd("cxl-68b", "up")
        watcher, came = sp.LinkEnd("cxl-68b", "down", passive=True), []
        for _ in range(60):
            for end in (host, device):
                end.step()
            down, up = host.sample(), device.sample()
            if down is not None:
                device.drive(down)
                watcher.drive(down, "tx")
            if up is not None:
                came.append(up)
                host.drive(up)
                watcher.drive(up)
            watcher.step()
        self.assertEqual((host.state()["up"], host.state()["halted"], watcher.state()["halted"]), (True, None, None))
        names = [sp.flit.decode("cxl-68b", unit, "up").form.get("control", {}).get("name") for unit in came]
        for end in (host, watcher):
            end.drive(came[names.index("INIT.Param")])
            end.step()
            self.assertEqual([(event.by, event.violation.rule) for event in end.events()], [("peer", "CXL68-INI-02")])
            self.assertEqual(end.state()["halted"], "CXL68-INI-02")
        self.assertFalse(host.state()["up"])

    def test_a_watcher_sees_each_message_once(self):
        write = {"layout": "cxl68.m2s_rwd", "fields": {"opcode": "MemWrPtl", "tag": 7, "address": 0x1240}, "data": "5a" * 64, "be": 0x8001}
        answer = {"layout": "cxl68.s2m_ndr", "fields": {"opcode": "Cmp", "tag": 7}}
        host, device = sp.LinkEnd("cxl-68b", "down"), sp.LinkEnd("cxl-68b", "up")
        watcher, deaf = (sp.LinkEnd("cxl-68b", "up", passive=True, messages=messages) for messages in (True, False))
        host.send(write)
        seen, carriers = [], 0
        for _ in range(200):
            for end in (host, device):
                end.step()
            down, up = host.sample(), device.sample()
            if down is not None and sp.flit.decode("cxl-68b", down, "down").messages:
                carriers += 1
                if carriers == 1:
                    # It comes damaged, and is sent again.
                    down = down[:20] + bytes([down[20] ^ 1]) + down[21:]
            for unit, end, way in ((down, device, "rx"), (up, host, "tx")):
                if unit is not None:
                    end.drive(unit)
                    watcher.drive(unit, way)
                    deaf.drive(unit, way)
            watcher.step()
            deaf.step()
            if device.take() is not None:
                device.send(answer)
            while (message := watcher.take_seen()) is not None:
                seen.append(message)
        self.assertEqual(carriers, 2)
        self.assertEqual([(message.port, message.layout) for message in seen], [("rx", "cxl68.m2s_rwd"), ("tx", "cxl68.s2m_ndr")])
        self.assertEqual([message.fields["tag"] for message in seen], [7, 7])
        self.assertEqual((seen[0].fields["opcode"], seen[0].fields["address"]), ("MemWrPtl", 0x1240))
        self.assertEqual((seen[0].data, seen[0].enables, seen[1].data, seen[1].enables), (b"\x5a" * 64, 0x8001, b"", None))
        self.assertIsNone(deaf.take_seen())

    def test_the_wheel_has_every_file_of_the_list_of_the_uvm_agent(self):
        """`sources.f` names files relative to its folder, which lie in the wheel as in the repository below `testbenches`."""
        benches = pathlib.Path(__file__).resolve().parents[2]
        spec = importlib.util.spec_from_file_location("wheel_backend", benches / "python" / "wheel_backend.py")
        backend = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(backend)
        held = {path.resolve(): folder for folder, patterns in backend.SHARED.items() for pattern in patterns for path in backend.ROOT.glob(pattern)}
        lines = [line for line in (benches / "uvm" / "sources.f").read_text(encoding="utf-8").splitlines() if not line.startswith(("//", "+"))]
        self.assertGreater(len(lines), 8)
        for line in lines:
            source = (benches / "uvm" / line).resolve()
            self.assertEqual(held.get(source), str(source.parent.relative_to(benches)), line)

    def test_a_watcher_sees_messages_of_every_protocol(self):
        """A request with an address extension of NVLink, a write of UALink and a TLP, each as it was sent."""
        nvlink = {"op": "WRITE_NONPOSTED", "vc": "CREQ0", "tag": 5, "rid": 3, "address": 0x1_2345_6780_0040, "attr": 9, "route": 77,
                  "data": "a5" * 64}
        ualink = {"layout": "ualink.tl_req", "fields": {"cmd": "WriteFull", "src": 1, "dst": 2, "tag": 9, "len": 15, "address": 0x4000},
                  "data": "3c" * 64}
        tlp = bytes.fromhex("03000001" "00080007" "00001000")
        for protocol, config, form in (
            ("nvlink", {}, nvlink), ("ualink", {"layer": "tl"}, ualink), ("cxl-io", {}, {"tlp": tlp.hex()}),
            # It travels compressed.
            ("ualink", {"layer": "tl"}, {"layout": "ualink.tl_rsp", "fields": {"src": 0, "dst": 1, "tag": 9, "rdwr": "Read", "last": 1}, "data": "77" * 64}),
        ):
            with self.subTest(protocol):
                ends = sp.LinkEnd(protocol, "down", **config), sp.LinkEnd(protocol, "up", **config)
                watcher = sp.LinkEnd(protocol, "down", passive=True, messages=True)
                seen, sent = [], False
                for clock in range(4000):
                    for end in ends:
                        end.step()
                    if not sent and all(end.state().get("up", True) for end in ends) and clock > 20:
                        ends[0].send(form)
                        sent = True
                    for end, peer, way in ((ends[0], ends[1], "tx"), (ends[1], ends[0], "rx")):
                        while (unit := end.sample()) is not None:
                            peer.drive(unit)
                            watcher.drive(unit, way)
                    watcher.step()
                    if (message := watcher.take_seen()) is not None:
                        seen.append(message)
                        break
                (message,) = seen
                self.assertEqual(message.port, "tx")
                if protocol == "cxl-io":
                    self.assertEqual((message.layout, message.fields, message.data), ("", {}, tlp))
                    continue
                wanted = {key: value for key, value in form.get("fields", form).items() if key != "data"}
                self.assertEqual({key: message.fields[key] for key in wanted}, wanted)
                self.assertEqual(message.data, bytes.fromhex(form["data"]))

    def test_one_direction_of_a_link_that_retries_is_not_blamed(self):
        read = {"layout": "cxl256.m2s_req", "fields": {"opcode": "MemRd"}}
        write = {"layout": "cxl256.m2s_rwd", "fields": {"opcode": "MemWr"}, "data": "5a" * 64}
        for protocol, form, damaged in (
            ("cxl-256b", read, 97), ("cxl-256b", write, 97), ("cxl-256b-lopt", write, 97), ("cxl-256b-pbr", None, 97),
            ("cxl-68b", {"layout": "cxl68.m2s_req", "fields": {}}, 97), ("ualink", None, 97), ("nvlink", None, 397),
        ):
            ends = sp.LinkEnd(protocol, "down"), sp.LinkEnd(protocol, "up")
            decoder, behind = sp.Decoder(protocol, "down"), sp.Decoder(protocol, "down")
            rules, came = set(), 0
            # `make cosim FULL=1` sets SCALEPOOL_SOAK.
            clocks = 3000 if os.environ.get("SCALEPOOL_SOAK") else 1300
            for clock in range(clocks):
                if form and clock % 5 == 0 and clock < clocks - 500:
                    ends[0].send(form)
                for end in ends:
                    end.step()
                for end, other in (ends, ends[::-1]):
                    unit = end.sample()
                    if unit is None:
                        continue
                    if end is ends[0] and protocol != "nvlink" and len(unit) == flit.FLIT_BYTES[protocol]:
                        for found in decoder.feed(unit):
                            self.assertEqual(found.violations, (), f"{protocol}, flit clock {clock}")
                        if clock > 200 and clock % damaged == 0:
                            unit = bytes(byte ^ (0xFF if 60 <= at < 66 else 0) for at, byte in enumerate(unit))
                        for found in behind.feed(unit):
                            rules |= {violation.rule.rsplit("-", 1)[0] for violation in found.violations}
                    other.drive(unit)
                while ends[1].take() is not None:
                    came += 1
            self.assertEqual(came, (clocks - 500) // 5 if form else 0, protocol)
            self.assertLessEqual(rules, {"CXL68-CRC", "CXL256-CRC", "CXL256-FEC", "UAL-CRC"}, protocol)

    def test_a_design_that_hangs_fills_no_log(self):
        host, device = sp.LinkEnd("cxl-68b", "down"), sp.LinkEnd("cxl-68b", "up")
        watcher, last, events = sp.LinkEnd("cxl-68b", "down", passive=True), None, []
        decoder, news, told = sp.Decoder("cxl-68b", "up"), monitor.News(), []
        slot = {"slot": 0, "format": "H1", "messages": [{"layout": "cxl68.d2h_data", "fields": {"valid": 1}}]}
        stuck = flit.encode("cxl-68b", {"kind": "protocol", "slots": [slot]}, "up")
        for clock in range(4000):
            for end in (host, device):
                end.step()
            down, up = host.sample(), stuck if clock > 200 else device.sample()
            if down is not None:
                device.drive(down)
                watcher.drive(down, "tx")
            if up is not None:
                host.drive(up)
                watcher.drive(up)
                for found in decoder.feed(up):
                    told += news.of(found)
            watcher.step()
            events += watcher.events()
        self.assertEqual(watcher.state()["halted"], None)
        for lines in (told, events):
            self.assertLessEqual(len(lines), 12, lines)
        self.assertTrue(events)

    # There is no log without a simulator.
    @mock.patch("cocotb.log", create=True)
    def test_waivers_have_known_rules_and_a_last_day(self, _):
        partner = sp.LinkPartner.__new__(sp.LinkPartner)
        partner.events, partner._waivers, partner._severities, partner.expired_waivers = [], {}, {}, {}
        with self.assertRaisesRegex(sp.ScalepoolError, "found `TXN-TAG-2`, .* TXN-TAG-02"):
            partner.waive("TXN-TAG-2", "a mistyped id")
        with self.assertRaisesRegex(sp.ScalepoolError, "nearest are CXL68-CRC-01"):
            partner.set_severity("CXL68-CRC-O1", "warning")
        event = SimpleNamespace(unit=7, by="peer", violation=SimpleNamespace(rule="TXN-TAG-02"))
        for today, holds in (("2027-03-30", True), ("2027-03-31", True), ("2027-04-01", False)):
            for way in ("argument", "environment"):
                partner._waivers.clear()
                partner.expired_waivers.clear()
                with mock.patch.dict(os.environ, {"SCALEPOOL_TODAY": "2000-01-01" if way == "argument" else today}):
                    more = {"today": today} if way == "argument" else {}
                    partner.waive("TXN-TAG-02", "a known bug", until_day="2027-03-31", **more)
                self.assertEqual(partner.is_error(event), not holds, (today, way))
                self.assertEqual(list(partner.expired_waivers), [] if holds else ["TXN-TAG-02"])
        partner.waive("TXN-TAG-02", "both ends", 7, until_day="2027-03-31", today="2027-01-01")
        self.assertTrue(partner.is_error(event), "unit 7 is behind its end")
        with mock.patch.dict(os.environ, clear=True):
            with self.assertRaisesRegex(sp.ScalepoolError, "no day to compare it with"):
                partner.waive("TXN-TAG-02", "no day", until_day="2027-03-31")
            with self.assertRaisesRegex(sp.ScalepoolError, "last_day: found `2027-02-29`"):
                partner.waive("TXN-TAG-02", "no such day", until_day="2027-02-29", today="2027-01-01")

    def test_rules_are_told_apart_by_who_has_broken_them(self):
        host, device = sp.LinkEnd("cxl-68b", "down"), sp.LinkEnd("cxl-68b", "up")
        watcher, came = sp.LinkEnd("cxl-68b", "down", passive=True), []
        # The properties look at nothing but the events and what is waived; the buses of a partner need a simulator.
        found = sp.LinkPartner.__new__(sp.LinkPartner)
        found.events, found._waivers, found._severities = [], {}, {}
        self.assertEqual((found.rules, found.rules_by), ([], {"peer": [], "end": [], "line": []}))

        def clock(damages=False):
            for end in (host, device):
                end.step()
            down, up = host.sample(), device.sample()
            if down is not None:
                device.drive(down)
                watcher.drive(down, "tx")
            if up is not None:
                came.append(up)
                if damages:
                    up = bytes([*up[:20], up[20] ^ 1, *up[21:]])
                host.drive(up)
                watcher.drive(up)
            watcher.step()
            found.events += watcher.events()
            return up is not None

        broken = flit.encode("cxl-68b", {"kind": "protocol", "slots": [{"slot": 0, "format": "RSVD", "hex": "e0" + "00" * 15}]})
        for _ in range(60):
            clock()
        self.assertEqual(found.rules_by, {"peer": [], "end": [], "line": []})
        # An error that a test injects is one of the line, and no rule of a design.
        device.send({"layout": "cxl68.s2m_ndr", "fields": {}})
        while not clock(damages=True):
            pass
        self.assertEqual((found.rules, found.rules_by), ([], {"peer": [], "end": [], "line": ["CXL68-CRC-01"]}))
        for _ in range(200):
            clock()
        self.assertEqual((found.rules, found.rules_by["line"]), ([], ["CXL68-CRC-01"]))
        # The watched end sends what no end may.
        watcher.drive(broken, "tx")
        watcher.step()
        found.events += watcher.events()
        by_end = found.rules_by["end"]
        self.assertTrue(by_end)
        self.assertEqual((found.rules, found.rules_by["peer"]), (by_end, []))
        # Its peer begins anew, which stops the link.
        names = [flit.decode("cxl-68b", unit, "up").form.get("control", {}).get("name") for unit in came]
        watcher.drive(came[names.index("INIT.Param")])
        watcher.step()
        found.events += watcher.events()
        self.assertEqual(found.rules_by, {"peer": ["CXL68-INI-02"], "end": by_end, "line": ["CXL68-CRC-01"]})
        self.assertEqual(found.rules, [*by_end, "CXL68-INI-02"])


class Hooks(unittest.TestCase):
    def test_a_function_sees_changes_drops_and_raises(self):
        host, seen = sp.LinkEnd("cxl-68b", "down"), []
        watch = host.attach("wire", seen.append)
        host.step(2)
        self.assertEqual([(item.point, item.way, item.number, len(item.data)) for item in seen],
                         [("wire", "tx", 0, 68), ("wire", "tx", 1, 68)])
        self.assertEqual([host.sample(), host.sample()], [item.data for item in seen])
        host.detach(watch)
        change = host.attach("wire", lambda item: bytes(len(item.data)))
        host.step()
        self.assertEqual((len(seen), host.sample()), (2, bytes(68)))
        host.detach(change)
        host.attach("packer_in", lambda item: hooks.Answer.DROP if item.name == "cxl68.m2s_req" else None)
        host.send({"layout": "cxl68.m2s_req", "fields": {}})
        host.attach("wire", lambda item: item.data[1:])
        with self.assertRaisesRegex(ValueError, "found 67 bytes, expected 68"):
            host.step()
        with self.assertRaises(errors.RangeError):
            host.detach(change)
        with self.assertRaises(errors.InputError):
            host.attach("nowhere", seen.append)

    def test_a_fault_damages_one_unit(self):
        host, twin = sp.LinkEnd("cxl-68b", "down"), sp.LinkEnd("cxl-68b", "down")
        host.fault("wire", "flip:1:100")
        differ = []
        for _ in range(3):
            host.step()
            twin.step()
            differ.append(host.sample() != twin.sample())
        self.assertEqual(differ, [False, True, False])


class Errors(unittest.TestCase):
    def test_each_kind_of_refusal_has_its_class(self):
        closed = flit.Decoder("cxl-68b")
        closed.close()
        closed.close()
        for kind, function in (
            (errors.InputError, lambda: sp.encode("cxl68.m2s_req", tag=1 << 16)),
            (errors.InputError, lambda: sp.encode("cxl68.m2s_req", nothing=1)),
            (errors.InputError, lambda: sp.layout("cxl68.nothing")),
            (errors.InputError, lambda: sp.decode("cxl68.m2s_req", b"1")),
            (errors.InputError, lambda: sp.encode_many("cxl68.m2s_req", [{"nothing": 1}])),
            (errors.RangeError, lambda: sp.encode_many("cxl68.m2s_req", [{"tag": -1}])),
            (errors.RangeError, lambda: sp.decode_many("cxl68.m2s_req", bytes(12))),
            (errors.RangeError, lambda: sp.crc(sp.Crc.CXL68, bytes(63))),
            (errors.RangeError, lambda: sp.crc(99, bytes(64))),
            (errors.RangeError, lambda: sp.crc_many(sp.Crc.CXL68, bytes(65), 64)),
            (errors.RangeError, lambda: sp.crc_many(sp.Crc.CXL68, bytes(64), 0)),
            (errors.RangeError, lambda: sp.fec_correct(bytes(255))),
            (errors.InputError, lambda: flit.decode("cxl-69b", bytes(68))),
            (errors.InputError, lambda: flit.decode("cxl-68b", bytes(67))),
            (errors.InputError, lambda: flit.decode("cxl-68b", bytes(68), "sideways")),
            (errors.HandleError, lambda: closed.feed(bytes(68))),
            (errors.InputError, lambda: sp.System("scenario = 'nothing'")),
            (errors.InputError, lambda: sp.LinkEnd("cxl-68b", buffers="many")),
        ):
            with self.assertRaises(kind) as caught:
                function()
            self.assertTrue(str(caught.exception), kind)
            self.assertIsInstance(caught.exception, sp.ScalepoolError)

    def test_a_number_is_no_bytes_and_wraps_into_no_other(self):
        link = sp.LinkEnd("cxl-68b")
        for function in (
            lambda: sp.decode("cxl68.m2s_req", 11),
            lambda: sp.decode("cxl68.m2s_req", "abc"),
            lambda: sp.decode_many("cxl68.m2s_req", 22),
            lambda: sp.crc(sp.Crc.CXL68, [0] * 64),
            lambda: sp.crc_many(sp.Crc.CXL68, 128, 64),
            lambda: sp.crc("cxl68", bytes(64)),
            lambda: sp.fec_encode(256),
            lambda: flit.decode("cxl-68b", 68),
            lambda: link.drive(68),
            lambda: sp.System(object()),
        ):
            with self.assertRaises(TypeError) as caught:
                function()
            self.assertRegex(str(caught.exception), "^found .*, expected ")
        self.assertEqual(sp.decode("cxl68.m2s_req", bytearray(11)), sp.decode("cxl68.m2s_req", bytes(11)))
        with self.assertRaisesRegex(sp.RangeError, "found -1, expected a number from 0"):
            link.step(-1)
        link.attach("wire", lambda item: 5)
        with self.assertRaisesRegex(TypeError, "found int, expected bytes"):
            link.step()

    def test_a_hook_cannot_end_its_own_link(self):
        link = sp.LinkEnd("cxl-68b")
        link.attach("wire", lambda item: link.close())
        link.train(True)
        with self.assertRaises(sp.BusyError):
            link.step()
        link.close()
        with self.assertRaises(sp.HandleError):
            link.step()

    def test_the_text_is_that_of_the_library(self):
        with self.assertRaises(sp.InputError) as caught:
            sp.encode("cxl68.m2s_req", tag=1 << 16)
        self.assertIn("`tag` at bits 27:12: found 0x10000, expected at most 0xffff", str(caught.exception))
        self.assertEqual(caught.exception.function, "sp_encode_json")
        self.assertEqual(caught.exception.status, _library.CONSTANTS["SP_ERR_INPUT"])

    def test_threads_have_errors_of_their_own(self):
        wrong = []

        def work(tag):
            for _ in range(50):
                try:
                    sp.encode("cxl68.m2s_req", tag=tag)
                except sp.InputError as error:
                    if hex(tag) not in str(error):
                        wrong.append(str(error))

        threads = [threading.Thread(target=work, args=(0x10000 + n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Documentation(unittest.TestCase):
    def test_examples_in_the_docs_are_true(self):
        for module in (message, check, arbiter, bridge, flit, model, hooks, cxl_mem, nvlink, ualink, stepped):
            found = doctest.testmod(module)
            self.assertEqual(found.failed, 0, module.__name__)
            self.assertGreater(found.attempted, 0, module.__name__)

    def test_examples_in_the_readme_run(self):
        page = (TESTBENCHES.parent / "docs" / "guide" / "cocotb.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        # Those for cocotb are run by testbenches/cocotb/run.py.
        alone = [block for block in blocks if "@cocotb.test" not in block]
        self.assertGreaterEqual(len(alone), 2)
        for block in alone:
            exec(compile(block, "cocotb.md", "exec"), {"__name__": "readme"})  # noqa: S102: the page's own examples

    def test_everything_public_is_documented_and_typed(self):
        missing = []
        for module in (message, check, arbiter, bridge, flit, model, hooks, cxl_mem, nvlink, ualink, verbs, lines, stepped, agents, bus, monitor, partner,
                       errors):
            missing += [module.__name__] if not module.__doc__ else []
            for name, thing in vars(module).items():
                if name.startswith("_") or getattr(thing, "__module__", None) != module.__name__:
                    continue
                members = [(name, thing)]
                if inspect.isclass(thing):
                    members += [(f"{name}.{n}", m) for n, m in vars(thing).items() if n[0] != "_"]
                for path, member in members:
                    function = getattr(member, "fget", None) or getattr(member, "__func__", member)
                    if inspect.isfunction(function):
                        parameters = list(inspect.signature(function).parameters.values())
                        typed = inspect.signature(function).return_annotation is not inspect.Signature.empty
                        typed &= all(p.annotation is not p.empty for p in parameters if p.name not in ("self", "cls"))
                        if not function.__doc__ or not typed:
                            missing.append(f"{module.__name__}.{path}")
                    elif inspect.isclass(member) and not member.__doc__:
                        missing.append(f"{module.__name__}.{path}")
        self.assertEqual(missing, [])

    def test_every_name_of_the_package_has_help(self):
        modules = {name for name, thing in vars(sp).items() if inspect.ismodule(thing) and name[0] != "_"}
        self.assertEqual({name for name in vars(sp) if name[0] != "_"} - set(sp.__all__), modules - {"flit", "hooks"})
        for name in vars(sp):
            if not name.startswith("_"):
                self.assertTrue(getattr(sp, name).__doc__, name)


if __name__ == "__main__":
    unittest.main()
