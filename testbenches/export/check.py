#!/usr/bin/env python3
"""Holds the exported SystemVerilog of this folder against the golden vectors, in real simulators.

Packages (sv/), in Icarus and Verilator: of every layout `$bits`, each member of the struct read back from every golden
vector, and the same through the constants for position and width.

Assertions (sva/), in Verilator: every vector and flit goes past its module. A property that fires must be a rule that the
program finds broken there, so good ones pass in silence; a reserved code, a set reserved bit and a bad CRC must fire, and
every property by some vector.
Behind the golden flits come seeded ones that break what those do not.

usage: check.py [--program PROGRAM] [--only FAMILY]
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(HERE.parent / "verilator"))

import runtime  # noqa: E402

VERILATOR = ROOT / ".venv-cosim" / "bin" / "verilator"
FAMILIES = ("cxl68", "cxl256", "cxlpbr", "cxlio", "ualink", "nvlink")
# Bits of a field in a row of expected values; no field is wider.
ROOM = 128
# By family: flit modules with the golden sets that go past them, bits of `unit_i`, and the one input more.
FLITS = {
    "cxl68": ([(f"flit_{d}", "cxl-68b", d, f"{s}_cxl-68b_{d}") for d in ("down", "up") for s in ("flit", "control")], 544, "all_data_i"),
    "cxl256": ([(m, p, d, f"flit_{p}_{d}") for m, p in (("flit", "cxl-256b"), ("flit_lopt", "cxl-256b-lopt")) for d in ("down", "up")],
               2048, None),
    "cxlpbr": ([("flit", "cxl-256b-pbr", d, f"flit_cxl-256b-pbr_{d}") for d in ("down", "up")], 2048, None),
    "cxlio": ([], 0, None),
    "ualink": ([("flit", "ualink", d, f"flit_ualink_{d}") for d in ("down", "up")], 5120, None),
    "nvlink": ([("flit", "nvlink", d, f"flit_nvlink_{d}") for d in ("down", "up")], 128, "fresh_i"),
}
# Rules of flits that a property must see wherever the program does.
MUST = {
    "CXL68-CRC-01", "CXL68-SLT-01", "CXL68-PID-02", "CXL68-PID-03", "CXL68-PID-04", "CXL68-NUL-01", "CXL68-FRM-02",
    "CXL68-ALM-01", "CXL68-CTL-02", "CXL68-CTL-05", "CXL256-CRC-01", "CXL256-CRC-04", "CXL256-HDR-03", "UAL-CRC-01",
    "NVL-CRC-01", "NVL-OPC-02",
}


def run(command, **options):
    result = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            timeout=500, **options)
    if result.returncode:
        raise RuntimeError(f"{command[0]} ends with {result.returncode}:\n{result.stdout[-3000:]}")
    return result.stdout


def ask(program, arguments, text=None):
    """Lines of JSON of the program; exit status 1 means that rules are broken, which is what is asked."""
    result = subprocess.run([program, *arguments], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            timeout=300)
    if result.returncode not in (0, 1):
        raise RuntimeError(f"scalepool {' '.join(arguments)}: {result.stderr}")
    return [json.loads(line) for line in result.stdout.splitlines()]


class Layout:
    """A layout, its golden vectors as numbers, and what the program says of each."""

    def __init__(self, program, name):
        self.name = name
        self.family, self.short = name.split(".", 1)
        form = ask(program, ["describe", name, "--json"])[0]
        self.bits, self.fields = form["bits"], form["fields"]
        path = ROOT / "golden" / self.family / f"{self.short}.hex"
        lines = path.read_text(encoding="ascii").splitlines() if path.exists() else []
        self.values = [int(line, 16) for line in lines if line and not line.startswith("//")]
        if not self.values:
            # Registers have no golden set: walking ones decide a layout.
            self.values = [0, (1 << self.bits) - 1] + [1 << bit for bit in range(self.bits)]
        # Which byte is the lowest: the number 1, lowest byte first, is 1 in the lowest field.
        first = self.decode(program, [1], "little")[0]["fields"][self.fields[0]["name"]]
        order = "little" if number(self.fields[0], first) == 1 else "big"
        self.answers = self.decode(program, self.values, order)

    def decode(self, program, values, order):
        size = (self.bits + 7) // 8
        lines = (json.dumps({"layout": self.name, "hex": value.to_bytes(size, order).hex()}) for value in values)
        return ask(program, ["decode", "--jsonl"], "\n".join(lines) + "\n")


def number(field, value):
    """The bits that travel of a value as the program prints it."""
    if isinstance(value, str):
        codes = field.get("codes") or {}
        value = codes[value] if value in codes else int(value, 16)
    return int(value) >> field.get("address_lsb", 0)


def write_rows(path, rows):
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"{row:x}\n" for row in rows)


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def build(simulator, top, sources, folder):
    """Builds a bench; the command that runs it."""
    if simulator == "icarus":
        run(["iverilog", "-g2012", "-s", top, "-o", folder / "tb.vvp", *sources])
        return ["vvp", "-n", folder / "tb.vvp"]
    obj = fresh(folder / "obj")
    run([VERILATOR, "--binary", "--timing", "--assert", "--quiet", "-Wno-fatal", "-Wno-lint", "-Wno-style",
         "--unroll-count", "2", "-O1", "-CFLAGS", "-O0", *runtime.IN_ONE_PART, "--Mdir", obj,
         "--top-module", top, "-o", "tb", *sources], env=runtime.environment())
    return [obj / "tb", "+verilator+error+limit+100000000"]


def read_back_bench(family, layouts, folder):
    """A bench that reads every member of every struct of a family; the number of comparisons it has to make."""
    package = f"scalepool_{family}_pkg"
    # Icarus 11 ends with an internal error at `package::type variable`; an import is fine.
    text, total = [f"module {family}_tb #(parameter FINISH = 1);", f"  import {package}::*;", "  int done = 0;"], 0
    for layout in layouts:
        name, n, prefix = layout.short, len(layout.values), layout.short.upper()
        write_rows(folder / f"{name}.hex", layout.values)
        write_rows(folder / f"{name}.fields.hex", (
            sum(number(f, answer["fields"][f["name"]]) << ROOM * k for k, f in enumerate(layout.fields))
            for answer in layout.answers))
        total += n * len(layout.fields)
        text += [
            f"  logic [{layout.bits - 1}:0] {name}_m [0:{n - 1}];",
            f"  logic [{ROOM * len(layout.fields) - 1}:0] {name}_f [0:{n - 1}];",
            f"  logic [{layout.bits - 1}:0] {name}_v;",
            f"  {name}_t {name}_s;",
            "  initial begin",
            f'    $readmemh("{name}.hex", {name}_m);',
            f'    $readmemh("{name}.fields.hex", {name}_f);',
            f"    if ($bits({name}_s) != {layout.bits} || {prefix}_BITS != {layout.bits})",
            f'      $fatal(1, "{layout.name}: $bits is %0d, expected {layout.bits}", $bits({name}_s));',
            f"    for (int i = 0; i < {n}; i++) begin",
            f"      {name}_v = {name}_m[i];",
            f"      {name}_s = {name}_v;",
        ]
        for k, field in enumerate(layout.fields):
            width, of = field["width"], f"{prefix}_{field['name'].upper()}"
            member, expected = f"{name}_s.{field['name']}", f"{name}_f[i][{ROOM * k} +: {width}]"
            text += [
                f"      if ({member} !== {expected} || {name}_v[{of}_LSB +: {width}] !== {expected} || {of}_WIDTH != {width})",
                f'        $fatal(1, "{layout.name}.{field["name"]}: vector %0d: %h, expected %h", i, {member}, {expected});',
                "      done++;",
            ]
        text += ["    end", "  end"]
    text += ["  initial begin", "    #1;", '    $display("PASS %0d", done);', "    if (FINISH) $finish;", "  end", "endmodule"]
    (folder / f"{family}_tb.sv").write_text("\n".join(text) + "\n", encoding="ascii")
    return total


def check_packages(family, layouts, out):
    """The package in Icarus; Verilator has it in the bench of the assertions."""
    folder = fresh(out / f"{family}-icarus")
    total = read_back_bench(family, layouts, folder)
    sources = [HERE / "sv" / f"scalepool_{family}_pkg.sv", folder / f"{family}_tb.sv"]
    output = run(build("icarus", f"{family}_tb", sources, folder), cwd=folder)
    return read_back(family, "icarus", layouts, total, output)


def read_back(family, simulator, layouts, total, output):
    if f"PASS {total}\n" not in output:
        raise RuntimeError(f"package of {family} in {simulator}: expected {total} comparisons\n{output[-2000:]}")
    return f"{family:8} {simulator:10} {len(layouts):4} structs {total:9} members read back"


class Checked:
    """A module of assertions and what goes past it: values, rules that the program finds broken, those that must fire."""

    def __init__(self, module, port, width, extra=None):
        self.module, self.port, self.width, self.extra = module, port, width, extra
        self.values, self.found, self.must, self.extras = [], [], [], []

    def add(self, value, found, must, extra=0):
        self.values.append(value)
        self.found.append(found)
        self.must.append(must)
        self.extras.append(extra)


def rules(violations):
    return {violation["rule"] for violation in violations}


def messages(family, layouts, modules):
    """The modules of layouts with their vectors."""
    for layout in layouts:
        checked = Checked(f"scalepool_{family}_{layout.short}_sva", "message_i", layout.bits)
        if checked.module not in modules:
            continue
        for value, answer in zip(layout.values, layout.answers, strict=True):
            tables = [v for v in answer["violations"] if "reserved field" in v["text"] or "holds a reserved code" in v["text"]]
            checked.add(value, rules(answer["violations"]), rules(tables))
        yield checked


def flits(family):
    """The modules of flits with the flits of the golden sets, and what the sets say of each: digits alone would not tell where
    a packet ends whose header states another length."""
    sets, width, extra = FLITS[family]
    found = {}
    for module, _, _, golden in sets:
        name = f"scalepool_{family}_{module}_sva"
        checked = found.setdefault(name, Checked(name, "unit_i", width, extra))
        text = (ROOT / "golden" / family / f"{golden}.jsonl").read_text(encoding="utf-8")
        payload = 0
        for answer in map(json.loads, text.splitlines()):
            raw, broken = bytes.fromhex(answer["hex"]), rules(answer["violations"])
            before = payload
            # A packet with a bad CRC leaves the stream as it was.
            if (answer.get("crc") or {}).get("ok", True):
                payload = len(raw) - width // 8
            # Messages where data is owed: which slots those are is not in the flit.
            if "CXL68-PCK-06" in broken:
                continue
            # A flit that the FEC repairs has a bad CRC on the wire, and a good one where the program judges it.
            if (answer.get("fec") or {}).get("corrected"):
                continue
            value = int.from_bytes(raw[:width // 8], "little")
            extra_value = int(answer["kind"] == "all-data") if extra == "all_data_i" else int(before == 0)
            checked.add(value, broken, broken & MUST, extra_value)
    return found.values()


def seeded(program, family, checks):
    """Flits that the program makes of random slots 0 and headers, CRC and all: what no golden set breaks at these places."""
    rng = random.Random(1)
    for module, protocol, direction, _ in FLITS[family][0]:
        checked = next(c for c in checks if c.module == f"scalepool_{family}_{module}_sva")
        if family in ("cxl256", "cxlpbr"):
            # The format code in the low four bits, then the valid bit of the first message.
            slots = [(rng.getrandbits(104) << 8 | rng.getrandbits(4) << 4 | 0x10 | n % 16).to_bytes(14, "little").hex() for n in range(192)]
            forms = [{"dir": direction, "kind": "protocol", "slots": [{"slot": 0, "hex": slot}]} for slot in slots]
        elif family == "nvlink":
            forms = [{"dir": direction, "packet": {"header": {"op": "READ", "vc": "CREQ0", "len": n}}} for n in range(32)]
        else:
            return
        lines = "".join(json.dumps(form) + "\n" for form in forms)
        for answer in ask(program, ["flit", "encode", protocol, "--dir", direction], lines):
            broken = rules(answer["violations"])
            value = int.from_bytes(bytes.fromhex(answer["hex"])[:checked.width // 8], "little")
            checked.add(value, broken, broken & (MUST | {"NVL-PKT-01", "CXL256-SLT-02", "CXLPBR-SLT-01"}), 1)


def assertion_bench(family, checks, folder):
    text = [f"module {family}_sva_tb;", "  logic clk = 0;", "  int i = -1;", f"  {family}_tb #(.FINISH(0)) members ();"]
    for n, c in enumerate(checks):
        write_rows(folder / f"{n}.hex", c.values)
        last = len(c.values) - 1
        text += [f"  logic [{c.width - 1}:0] m{n} [0:{last}];", f'  initial $readmemh("{n}.hex", m{n});']
        ports = [".clk_i(clk)", ".rst_ni(1'b1)", f".valid_i(i >= 0 && i <= {last})", f".{c.port}(m{n}[i])"]
        if c.extra:
            write_rows(folder / f"{n}.extra.hex", c.extras)
            text += [f"  logic e{n} [0:{last}];", f'  initial $readmemh("{n}.extra.hex", e{n});']
            ports.append(f".{c.extra}(e{n}[i])")
        text.append(f"  {c.module} u{n} ({', '.join(ports)});")
    most = max(len(c.values) for c in checks)
    text += [
        "  initial begin", "    #1;", f"    for (i = 0; i < {most}; i++) begin", "      #1 clk = 1;",
        '      #1 $display("DONE %0d", i);', "      clk = 0;", "    end",
        '    $display("END");', "    $finish;", "  end", "endmodule",
    ]
    (folder / f"{family}_sva_tb.sv").write_text("\n".join(text) + "\n", encoding="ascii")


def fired_rules(output, checks):
    """By check and vector, the rules whose properties fired."""
    fired, at = collections.defaultdict(set), 0
    for line in output.splitlines():
        if match := re.match(r"DONE (\d+)$", line):
            at = int(match[1]) + 1
        elif "Assertion failed" in line:
            match = re.search(r"_sva_tb\.u(\d+)\.\w+: ([A-Z0-9]+-[A-Z]+-\d+) ", line)
            if not match:
                raise RuntimeError(f"not understood: {line}")
            fired[int(match[1]), at].add(match[2])
    return fired


def check_assertions(program, family, layouts, out):
    folder = fresh(out / f"{family}-verilator")
    total = read_back_bench(family, layouts, folder)
    source = HERE / "sva" / f"scalepool_{family}_sva.sv"
    found = re.finditer(r"^module (\w+)$(.*?)^endmodule", source.read_text(encoding="ascii"), re.MULTILINE | re.DOTALL)
    modules = {m[1]: {p.replace("_", "-") for p in re.findall(r"^  (\w+): assert property", m[2], re.MULTILINE)} for m in found}
    checks = [*messages(family, layouts, modules), *flits(family)]
    seeded(program, family, checks)
    if missing := modules.keys() - {c.module for c in checks}:
        raise RuntimeError(f"modules without vectors: {sorted(missing)}")
    assertion_bench(family, checks, folder)
    package, benches = HERE / "sv" / f"scalepool_{family}_pkg.sv", [folder / f"{family}_tb.sv", folder / f"{family}_sva_tb.sv"]
    output = run(build("verilator", f"{family}_sva_tb", [package, source, *benches], folder), cwd=folder)
    members = read_back(family, "verilator", layouts, total, output)
    if "END\n" not in output:
        raise RuntimeError(f"assertions of {family}: the bench does not end\n{output[-2000:]}")
    fired = fired_rules(output, checks)
    problems, seen = [], set()
    for n, c in enumerate(checks):
        for k, value in enumerate(c.values):
            got = fired[n, k]
            seen |= {(c.module, rule) for rule in got}
            if wrong := got - c.found[k]:
                problems.append(f"{c.module}: {value:x}: fires for {sorted(wrong)}, the program finds {sorted(c.found[k])}")
            if silent := (c.must[k] & modules[c.module]) - got:
                problems.append(f"{c.module}: {value:x}: silent about {sorted(silent)}")
    every = {(module, rule) for module, of_module in modules.items() for rule in of_module}
    problems += [f"{module}: {rule} is not broken by any vector" for module, rule in sorted(every - seen)]
    if problems:
        raise RuntimeError(f"assertions of {family}: {len(problems)} problems\n" + "\n".join(p[:400] for p in problems[:12]))
    vectors = sum(len(c.values) for c in checks)
    line = f"{family:8} assertions {len(modules):4} modules {len(every):4} properties {len(seen):4} fired {vectors:6} vectors"
    return f"{members}\n{line}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("usage:")[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
    parser.add_argument("--program", default=target / "debug" / "scalepool", help="the scalepool program")
    parser.add_argument("--only", choices=FAMILIES, help="one family")
    options = parser.parse_args()
    program, begin = str(options.program), time.monotonic()
    for needed, name in ((VERILATOR, "Verilator"), (program, "the program"), (shutil.which("iverilog"), "Icarus")):
        if not needed or not pathlib.Path(needed).exists():
            sys.exit(f"missing: {name}\nto install: cargo build, bash testbenches/setup/cosim.sh")
    out = target / "cosim" / "export"
    names = [row["layout"] for row in ask(program, ["list", "layouts", "--json"])[0]]
    jobs, failed = [], False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for family in [options.only] if options.only else FAMILIES:
            layouts = [Layout(program, name) for name in names if name.startswith(family + ".")]
            jobs.append(pool.submit(check_packages, family, layouts, out))
            jobs.append(pool.submit(check_assertions, program, family, layouts, out))
        for job in jobs:
            try:
                print(job.result(), flush=True)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"FAILED {error}", flush=True)
                failed = True
    print(f"{time.monotonic() - begin:.0f} s")
    sys.exit(failed)


if __name__ == "__main__":
    main()
