#!/usr/bin/env python3
"""Reads waves of Icarus and Verilator, VCD and FST, with `scalepool inspect` and the maps of this folder.

Streams: golden flits go over the bus of stream_tb.sv, cut into beats, with waits. Read back, every flit and every broken rule
has to be what `scalepool flit decode` says of the same flits; good ones end with status 0, the whole set, which holds
broken ones, with status 1. Traces of two simulators are equal for `scalepool diff`, times apart.

Links: what two ends of the model send goes over the two buses of pair_tb.sv, with replays in it. Read back, the watched end
breaks nothing; with a unit lost or repeated, with units that it never got, or with fewer credits, the rule of that is found.

Benches: those of testbenches/verilator/ dump themselves; what their maps find has to be there in number, and to break rules
only where the vectors of the bench do.

Two streams, two links and one bench, these streams and links in Verilator with one format each, unless --full asks for all of them or
--only for some. A bench that has not changed since it was last built is not built again (target/cosim/maps).

usage: check.py [--program PROGRAM] [--only WORD] [--full]
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BENCHES = HERE.parent / "verilator"
sys.path.insert(0, str(BENCHES))

import links  # noqa: E402
import run as benches  # noqa: E402
import runtime  # noqa: E402
import vectors as v  # noqa: E402

# Map, golden set, bits of the bus.
STREAMS = [
    ("cxl68", "cxl68/flit_cxl-68b_down", 544),
    ("cxl68_beats", "cxl68/flit_cxl-68b_up", 64),
    ("cxl256", "cxl256/flit_cxl-256b_down", 512),
    ("cxl256_lopt", "cxl256/flit_cxl-256b-lopt_up", 1024),
    ("cxlpbr", "cxlpbr/flit_cxl-256b-pbr_down", 512),
    ("cxlio", "cxlio/flit_cxl-io_up", 512),
    ("ualink", "ualink/flit_ualink_down", 512),
    ("nvlink", "nvlink/flit_nvlink_up", 128),
]
# Map, protocol, bits of a unit; what is done to its rows and the rule that it breaks.
OF_256 = {"lost": (100, "CXL256-RTY-01"), "repeated": (100, "CXL256-RTY-16"), "unheard": (100, "CXL256-RTY-04"),
          "poor": (None, "CXL256-CRD-06")}
LINKS = [
    ("cxl68", "cxl-68b", 544, {"lost": (100, "CXL68-LLR-14"), "repeated": (100, "CXL68-LLR-14"),
                               "unheard": (100, "CXL68-LLR-09"), "poor": (None, "CXL68-CRD-04")}),
    ("cxl256", "cxl-256b", 2048, OF_256),
    ("cxl256_lopt", "cxl-256b-lopt", 2048, OF_256),
    ("cxlpbr", "cxl-256b-pbr", 2048, OF_256),
    # What it loses is the first of three REPLAY_INIT.
    ("nvlink", "nvlink", 128, {"lost": ("REPLAY_INIT", "NVL-RPL-03"), "unheard": (100, "NVL-ACK-01"),
                               "poor": (None, "NVL-CRD-04")}),
    ("ualink", "ualink", 5120, {"lost": (100, "UAL-SEQ-01"), "repeated": (104, "UAL-RXR-04"),
                                "unheard": (100, "UAL-RXR-06")}),
]
# What runs without --full: flits in several beats, of two protocols; two links; a bench. Verilator, whose builds take longer than all else,
# dumps a stream and a link in each format.
USUAL = ("stream_cxl68_beats", "stream_cxl256", "link_cxl68", "link_nvlink", "bench_cxl68_pack")
USUAL_OF_VERILATOR = (("stream_cxl68_beats", "vcd"), ("stream_cxl256", "fst"), ("link_cxl68", "fst"), ("link_nvlink", "vcd"))
# Simulator and ending of its dump.
DUMPS = (("icarus", "vcd"), ("verilator", "vcd"), ("icarus", "fst"), ("verilator", "fst"))


def scalepool(program, *arguments, text=None):
    result = subprocess.run([program, *map(str, arguments)], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, timeout=300)
    if result.returncode == 2:
        raise RuntimeError(f"scalepool {' '.join(map(str, arguments))}: {result.stderr}")
    return result.returncode, [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]


def build(simulator, ending, top, sources, folder, parameters=(), include=()):
    """Builds a bench that dumps; the command that runs it."""
    paths = [word for path in include for word in (f"-I{path}", "-y", path)]
    if simulator == "icarus":
        command = ["iverilog", "-g2012", "-s", top, *(f"-P{top}.{p}" for p in parameters), *paths]
        command += ["-Y", ".sv"] if include else []
        command += ["-o", folder / "tb.vvp", *sources]
        start = ["vvp", "-n", folder / "tb.vvp", *(["-fst"] if ending == "fst" else [])]
    else:
        command = [benches.VERILATOR, "--binary", "--timing", f"--trace-{ending}", "--trace-max-width", "8192", "--quiet", "-Wno-fatal",
                   "-Wno-lint", "-Wno-style", "-O1", "-CFLAGS", "-O0", "--unroll-count", "2", *runtime.IN_ONE_PART, "--Mdir", folder,
                   *(f"-G{p}" for p in parameters), *paths, "--top-module", top, "-o", "tb", *sources]
        start = [folder / "tb"]
    read = [*sources, *(path for place in include for path in sorted(pathlib.Path(place).glob("*.sv*"))), benches.VERILATOR]
    key = hashlib.sha256(repr([list(map(str, command)), *(pathlib.Path(path).read_bytes() for path in read)]).encode()).hexdigest()
    stamp = folder / "built"
    if stamp.exists() and stamp.read_text() == key:
        return start
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    result = benches.run(command, env=runtime.environment())
    if result.returncode:
        raise RuntimeError(f"{top} does not build in {simulator}:\n{result.stdout[-3000:]}")
    stamp.write_text(key)
    return start


def cases(golden):
    """The flits of a golden set by case: [(flits in hex, whether the case is broken)]."""
    found = []
    for block in (ROOT / "golden" / f"{golden}.rsp").read_text(encoding="ascii").split("\nCount = ")[1:]:
        flits = re.findall(r"^Flit = ([0-9a-f]+)$", block, re.MULTILINE)
        found.append((flits, "RESULT = invalid" in block))
    return found


def write_beats(path, flits, bits):
    """The flits in beats, highest bit the first of a unit; the number of beats."""
    rows = []
    for flit in flits:
        raw = bytes.fromhex(flit)
        step = bits // 8
        for at in range(0, len(raw), step):
            rows.append(int(at == 0) << bits | int.from_bytes(raw[at:at + step], "little"))
    path.write_text("".join(f"{row:x}\n" for row in rows), encoding="ascii")
    return len(rows)


def judged(flit):
    """What has to be the same of a flit: bytes and findings."""
    return flit["hex"], [(b["rule"], b["at"], b["found"], b["expected"]) for b in flit["violations"]]


def is_cut_short(flit):
    """Whether a packet of NVLink has fewer flits than its header says (`len`, bits 19:15, `nvlink` §6.1)."""
    raw = bytes.fromhex(flit)
    return len(raw) < 16 * (1 + (int.from_bytes(raw[:16], "little") >> 15 & 0x1f))


def expected_of(program, protocol, direction, flits):
    """What `flit decode` says of each flit. On the bus `first` ends a packet that is cut short; digits would be joined with
    those of the next line. So the text ends there, and of the packet behind it, which begins a text, only bytes are compared."""
    parts = [[]]
    for flit in flits:
        parts[-1].append(flit)
        if protocol == "nvlink" and is_cut_short(flit):
            parts.append([])
    answers = []
    for n, part in enumerate(parts):
        _, found = scalepool(program, "flit", "decode", protocol, "--dir", direction, text="\n".join(part) + "\n")
        answers += [judged(flit) for flit in found[:1]] if n == 0 else [(flit["hex"], None) for flit in found[:1]]
        answers += [judged(flit) for flit in found[1:]]
    return answers


def build_top(top, bits, simulator, ending, out):
    folder = out / f"{top}-{bits}-{simulator}-{ending}"
    return build(simulator, ending, top, [HERE / f"{top}.sv"], folder, [f"BITS={bits}"])


def check_stream(program, name, golden, bits, simulator, ending, built, out):
    start = built.result()
    folder = out / f"{name}-{simulator}-{ending}"
    folder.mkdir(parents=True, exist_ok=True)
    protocol, direction = re.match(r".*/flit_(.*)_(down|up)$", golden).groups()
    found = cases(golden)
    lines = []
    for which, flits in (("good", [f for flits, bad in found if not bad for f in flits]),
                         ("all", [f for flits, _ in found for f in flits])):
        count = write_beats(folder / f"{which}.hex", flits, bits)
        wave, trace = folder / f"{which}.{ending}", out / f"{name}-{which}-{simulator}-{ending}.jsonl"
        said = benches.run([*start, f"+beats={folder / which}.hex", f"+count={count}", f"+dump={wave}"], cwd=folder)
        if f"PASS {count}\n" not in said.stdout:
            raise RuntimeError(f"stream_tb of {name} in {simulator}:\n{said.stdout[-2000:]}")
        expected = expected_of(program, protocol, direction, flits)
        status, answers = scalepool(program, "inspect", wave, "--map", HERE / f"stream_{name}.toml", "--json", "--all",
                                    "--trace", trace)
        read = [a["flit"] for a in answers if "flit" in a]
        for n, (is_, should) in enumerate(zip(read, expected)):
            if is_["hex"] != should[0] or should[1] not in (None, judged(is_)[1]):
                raise RuntimeError(f"{wave}: flit {n} is {judged(is_)}, expected {should}")
        broken = sum(len(a["violations"]) for a in answers if "flit" in a)
        if len(read) != len(expected) or status != int(broken > 0) or (which == "good") != (broken == 0):
            raise RuntimeError(f"{wave}: {len(read)} flits of {len(expected)}, {broken} broken rules, status {status}")
        lines.append(f"{which} {len(read)} flits {broken} broken")
    return f"stream_{name:12} {simulator:10} {ending}  {', '.join(lines)}"


def same_traces(program, name, dumps, out):
    """The traces of the simulators, times apart."""
    names = [out / f"{name}-all-{simulator}-{ending}.jsonl" for simulator, ending in dumps]
    for other in names[1:]:
        status, _ = scalepool(program, "diff", "--mask", "t_fs,cycle", names[0], other)
        if status:
            raise RuntimeError(f"{names[0]} and {other} differ")


def link_cases(protocol, mutations):
    """Rows of a link, good and broken, with the rule that is broken."""
    good = links.run(protocol)
    yield "good", good, None
    for name, (at, rule) in mutations.items():
        if name == "poor":
            at = links.run(protocol, traffic=False, buffers=2)
        elif at == "REPLAY_INIT":
            # Operation 0x3e in bits 102:97 of a header; a flit of data that looks like it is not in this run.
            at = next(n for n, (sent, _) in enumerate(good) if int.from_bytes(sent, "little") >> 97 & 0x3f == 0x3e)
        yield name, getattr(links, name)(good, at), rule


def check_link(program, name, protocol, bits, mutations, simulator, ending, built, out):
    start = built.result()
    folder = out / f"link_{name}-{simulator}-{ending}"
    folder.mkdir(parents=True, exist_ok=True)
    told = []
    for case, rows, rule in link_cases(protocol, mutations):
        # As the simulator reads them: valid and unit that come, valid and unit that were sent, highest bits first.
        number = [[0 if unit is None else 1 << bits | int.from_bytes(unit, "little") for unit in row] for row in rows]
        text = "".join(f"{comes << bits + 1 | sent:x}\n" for sent, comes in number)
        (folder / f"{case}.hex").write_text(text, encoding="ascii")
        wave = folder / f"{case}.{ending}"
        said = benches.run([*start, f"+rows={folder / case}.hex", f"+count={len(rows)}", f"+dump={wave}"], cwd=folder)
        if f"PASS {len(rows)}\n" not in said.stdout:
            raise RuntimeError(f"pair_tb of {name} in {simulator}:\n{said.stdout[-2000:]}")
        status, answers = scalepool(program, "inspect", wave, "--map", HERE / f"link_{name}.toml", "--json")
        broken = [b for answer in answers if "violations" in answer for b in answer["violations"]]
        rules = [b["rule"] for b in broken]
        flits = sum(part["flits"] for part in answers[-1]["summary"])
        if status != int(rule is not None) or (rule not in rules if rule else rules) or flits < 200:
            raise RuntimeError(f"{wave}: status {status}, {flits} flits, {rule or 'nothing'} expected, found {broken[:3]}")
        if any(b["t_fs"] == 0 or not b["signal"].startswith("pair_tb.") for b in broken):
            raise RuntimeError(f"{wave}: a finding without time or signal: {broken[:3]}")
        told.append(f"{case} {rule or 'nothing'}")
    return f"link_{name:14} {simulator:10} {ending}  {', '.join(told)}"


def check_bench(program, name, case, flits, wanted, simulator, ending, out):
    """A bench of testbenches/verilator/ under a top that dumps it; what its map finds."""
    folder = out / f"bench_{name}-{simulator}-{ending}"
    folder.mkdir(parents=True, exist_ok=True)
    arguments, _ = case(v.Vectors(program, out / f"vectors-{name}-{simulator}-{ending}"))
    top = folder.parent / f"top_{name}.sv"
    top.write_text(f"module top;\n  {name}_tb {name}_tb ();\n  string path;\n  initial begin\n"
                   '    if ($value$plusargs("dump=%s", path)) $dumpfile(path);\n    $dumpvars(0, top);\n  end\nendmodule\n',
                   encoding="ascii")
    start = build(simulator, ending, "top", [top, BENCHES / f"{name}_tb.sv"], folder, include=[benches.RTL])
    wave = folder / f"wave.{ending}"
    said = benches.run([*start, *arguments, f"+dump={wave}"], cwd=folder)
    if "PASS " not in said.stdout:
        raise RuntimeError(f"{name}_tb in {simulator}:\n{said.stdout[-2000:]}")
    status, answers = scalepool(program, "inspect", wave, "--map", HERE / f"bench_{name}.toml", "--json")
    summary = answers[-1]["summary"]
    read, broken = sum(s["flits"] for s in summary), sum(s["violations"] for s in summary)
    if read < flits or status != wanted or status != int(broken > 0):
        raise RuntimeError(f"{wave}: {read} flits, at least {flits} expected, {broken} broken rules: {answers[:1]}")
    return f"bench_{name:13} {simulator:10} {ending}  {read} flits {broken} broken"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("usage:")[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
    parser.add_argument("--program", default=target / "debug" / "scalepool", help="the scalepool program")
    parser.add_argument("--only", default="", help="only streams and benches with this word in their name")
    parser.add_argument("--full", action="store_true", help="all streams and benches")
    options = parser.parse_args()
    program, begin = str(pathlib.Path(options.program).resolve()), time.monotonic()
    for needed, name in ((benches.VERILATOR, "Verilator"), (program, "the program"), (shutil.which("iverilog"), "Icarus")):
        if not needed or not pathlib.Path(needed).exists():
            sys.exit(f"missing: {name}\nto install: cargo build, bash testbenches/setup/cosim.sh")
    out = target / "cosim" / "maps"
    out.mkdir(parents=True, exist_ok=True)
    table = [
        ("cxl68_pack", lambda vectors: v.cxl68_pack(vectors, count=60), 60, 0),
        ("nvl_packetizer", lambda vectors: v.nvl_packetizer(vectors, seed=1), 60, 0),
        ("cxl68_unpack", lambda vectors: v.cxl68_unpack(vectors, name="flit_cxl-68b_down"), 100, 0),
        # This set has flits with a bad CRC in it.
        ("ual_frames", lambda vectors: v.ual_frames(vectors, name="flit_ualink_down"), 60, 1),
    ]
    failed = False

    def asked(name):
        return options.only in name and (options.full or bool(options.only) or name in USUAL)

    def dumps_of(name):
        everywhere = options.full or bool(options.only)
        return [(simulator, ending) for simulator, ending in DUMPS
                if everywhere or simulator != "verilator" or (name, ending) in USUAL_OF_VERILATOR]

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        streams = [(s, *dump) for s in STREAMS if asked(f"stream_{s[0]}") for dump in dumps_of(f"stream_{s[0]}")]
        pairs = [(l, *dump) for l in LINKS if asked(f"link_{l[0]}") for dump in dumps_of(f"link_{l[0]}")]
        # One build for all of a width; those who wait for it are behind it in the queue.
        built = {("stream_tb", s[2], *dump): None for s, *dump in streams} | {("pair_tb", l[2], *dump): None for l, *dump in pairs}
        built = {key: pool.submit(build_top, *key, out) for key in built}
        jobs = [(f"stream_{s[0]}", pool.submit(check_stream, program, *s, *dump, built["stream_tb", s[2], *dump], out))
                for s, *dump in streams]
        jobs += [(f"link_{l[0]}", pool.submit(check_link, program, *l, *dump, built["pair_tb", l[2], *dump], out))
                 for l, *dump in pairs]
        # The format makes no difference to a bench.
        jobs += [(f"bench_{b[0]}", pool.submit(check_bench, program, *b, *dump, out)) for b in table for dump in DUMPS[:2]
                 if asked(f"bench_{b[0]}")]
        bad = set()
        for name, job in jobs:
            try:
                print(job.result(), flush=True)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"FAILED {error}", flush=True)
                failed = True
                bad.add(name)
    for name, *_ in STREAMS:
        if asked(f"stream_{name}") and f"stream_{name}" not in bad:
            try:
                same_traces(program, name, dumps_of(f"stream_{name}"), out)
            except RuntimeError as error:
                print(f"FAILED {error}")
                failed = True
    print(f"{time.monotonic() - begin:.0f} s")
    sys.exit(failed)


if __name__ == "__main__":
    main()
