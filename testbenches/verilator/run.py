#!/usr/bin/env python3
"""Builds and runs every bench of this folder in Icarus and Verilator, on the RTL as it is and on mutated copies of it.

A bench passes when it ends with status 0 and says how many vectors it has seen, and that is how many there are. A mutant
is killed when a bench of its device does not pass. Exit status 1 when a bench fails on the RTL or a mutant survives.

usage: run.py [--program PROGRAM] [--only WORD] [--no-mutants]
"""

import argparse
import concurrent.futures
import dataclasses
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import vectors as v

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RTL = HERE.parent / "rtl"
OUT = ROOT / "target" / "cosim"
VERILATOR = ROOT / ".venv-cosim" / "bin" / "verilator"
SIMULATORS = ("icarus", "verilator")


@dataclasses.dataclass
class Case:
    """One run of a bench: what it is fed, and which vector set that is."""

    vectors: str
    prepare: object  # of Vectors: plusargs and how many vectors the bench has to report
    check: object = None  # of the bench's output: what is wrong with it, or None


@dataclasses.dataclass
class Bench:
    """A module `<name>_tb` in `<name>_tb.sv`, and the RTL files it stands for."""

    name: str
    devices: list
    cases: list


def table(program):
    part = functools.partial
    return [
        Bench("cxl68_crc", ["cxl68_crc16"], [
            Case(f"cxl68/flit_cxl-68b_{d}", part(v.cxl68_crc, name=f"flit_cxl-68b_{d}")) for d in ("down", "up")
        ]),
        Bench("cxl68_unpack", ["cxl68_unpacker", "cxl68_places"], [
            Case(f"cxl68/flit_cxl-68b_{d}", part(v.cxl68_unpack, name=f"flit_cxl-68b_{d}")) for d in ("down", "up")
        ]),
        Bench("cxl68_pack", ["cxl68_packer", "cxl68_unpacker", "cxl68_crc16"], [
            Case("cxl68/h2d_* m2s_*", part(v.cxl68_pack, count=400),
                 part(v.no_rule_is_broken, program=program, protocol="cxl-68b"))
        ]),
        Bench("cxl68_retry", ["cxl68_retry_tx", "cxl68_retry_rx", "cxl68_crc16"], [
            Case(f"cxl68/{name}_cxl-68b_{d}", part(prepare, name=f"{name}_cxl-68b_{d}"))
            for name, prepare in (("retry", v.cxl68_retry), ("control", v.cxl68_control)) for d in ("down", "up")
        ]),
        Bench("cxl256_check", ["cxl256_crc8b", "cxl256_crc6b", "gf_remainder", "cxl256_fec_encode", "cxl256_fec_correct"], [
            Case(f"{family}/{name}_{d}",
                 part(v.cxl256_check, family=family, name=f"{name}_{d}", lopt="lopt" in name))
            for family, name in (
                ("cxl256", "flit_cxl-256b"), ("cxl256", "flit_cxl-256b-lopt"), ("cxlpbr", "flit_cxl-256b-pbr"),
                ("cxlio", "flit_cxl-io"),
            )
            for d in ("down", "up")
        ]),
        Bench("arbiter", ["arb_round_robin", "arb_matrix", "arb_weighted"], [
            Case(f"arbiters/{name}", part(v.arbiter, kind=kind, name=name))
            for kind, name in (("round_robin", "round_robin"), ("matrix", "matrix"), ("weighted", "weighted_5_1_1_2"))
        ]),
        Bench("nvl_packetizer", ["nvl_packetizer", "nvl_crc25"], [
            Case(f"nvlink, of the program, seed {seed}", part(v.nvl_packetizer, seed=seed)) for seed in (1, 2)
        ]),
        Bench("ual_frames", ["ual_framer", "ual_deframer", "ual_offsets"], [
            Case(f"ualink/flit_ualink_{d}", part(v.ual_frames, name=f"flit_ualink_{d}")) for d in ("down", "up")
        ]),
        Bench("ual_crc", ["ual_crc32"], [
            Case(f"ualink/flit_ualink_{d}", part(v.ual_crc, name=f"flit_ualink_{d}")) for d in ("down", "up")
        ]),
    ]


def run(command, seconds=300, **options):
    return subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds, **options
    )


def build(bench, simulator, rtl, folder):
    """Builds a bench with the RTL of a folder; the command that runs it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    top, source = f"{bench.name}_tb", HERE / f"{bench.name}_tb.sv"
    if simulator == "icarus":
        program = folder / f"{top}.vvp"
        command = ["iverilog", "-g2012", "-I", rtl, "-y", rtl, "-Y", ".sv", "-s", top, "-o", program, source]
        start = ["vvp", "-n", program]
    else:
        # The objects of the simulator's own sources are the same in every build; make takes those it finds.
        for name in (OUT / "runtime").glob("verilated*.[od]"):
            shutil.copy2(name, folder)
        # Loops stay loops and the code one file: it compiles in seconds and runs no slower here.
        command = [VERILATOR, "--binary", "--timing", "--quiet", "-Wno-fatal", "-Wno-WIDTH", "--unroll-count", "2",
                   "--output-split", "0", "-O1", "-CFLAGS", "-O1", "--Mdir", folder, f"-I{rtl}", "-y", rtl,
                   "--top-module", top, "-o", "tb", source]
        start = [folder / "tb"]
    result = run(command)
    if result.returncode:
        raise RuntimeError(f"{bench.name} does not build in {simulator}:\n{result.stdout}")
    if simulator == "verilator" and not (OUT / "runtime").is_dir():
        (OUT / "runtime").mkdir(parents=True)
        for name in folder.glob("verilated*.[od]"):
            shutil.copy2(name, OUT / "runtime")
    return start


def passes(start, arguments, count, check, folder):
    """None, or why the run did not pass."""
    try:
        result = run(start + arguments, cwd=folder, seconds=120)
    except subprocess.TimeoutExpired:
        return "does not end"
    said = re.search(r"^PASS (\d+)$", result.stdout, re.MULTILINE)
    if result.returncode or not said:
        lines = [line for line in result.stdout.splitlines() if line.strip()]
        why = [line for line in lines if "FATAL" in line or "%Fatal" in line] or lines or ["nothing printed"]
        return re.sub(r"^.*?(\.sv:\d+:|Assertion failed in [^:]*:) *", "", why[0])[:120]
    if int(said[1]) != count:
        return f"{said[1]} vectors seen, {count} expected"
    return check(folder) if check else None


def read_mutants():
    """[(file, name, old, new)] of mutants.txt."""
    found = []
    for line in (HERE / "mutants.txt").read_text(encoding="ascii").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        device, name, change = (part.strip() for part in line.split(":", 2))
        old, new = (part.strip() for part in change.split(" => "))
        found.append((device, name, old, new))
    return found


def mutate(device, name, old, new):
    """A copy of the RTL with the change, which must fit exactly one place."""
    folder = OUT / "mutants" / f"{device}-{name}" / "rtl"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(RTL, folder)
    file = next(folder.glob(f"{device}.sv*"))
    text = file.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise ValueError(f"mutants.txt: {device}: {name}: `{old}` stands {text.count(old)} times in the file")
    file.write_text(text.replace(old, new), encoding="utf-8")
    return folder


def lint():
    """Every device through Verilator with all its warnings."""
    bad = []
    for file in sorted(RTL.glob("*.sv")):
        result = run([VERILATOR, "--lint-only", "-Wall", "--quiet", f"-I{RTL}", "-y", RTL, "--top-module", file.stem, file])
        if result.returncode or "%Warning" in result.stdout:
            bad.append(result.stdout)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("usage:")[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    default = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "scalepool"
    parser.add_argument("--program", default=default, help="the scalepool program")
    parser.add_argument("--only", default="", help="only benches with this word in their name")
    parser.add_argument("--no-mutants", action="store_true", help="the RTL as it is, no mutants")
    options = parser.parse_args()
    begin = time.monotonic()
    benches = [bench for bench in table(options.program) if options.only in bench.name]
    sets = v.Vectors(options.program, OUT / "vectors")
    wrong = lint()
    for text in wrong:
        print(text)

    prepared = {(b.name, c.vectors): c.prepare(sets) for b in benches for c in b.cases}

    def on_rtl(job):
        bench, simulator = job
        folder = OUT / simulator / bench.name
        try:
            start = build(bench, simulator, RTL, folder)
        except RuntimeError as error:
            return [(bench, simulator, "-", 0, str(error))]
        rows = []
        for case in bench.cases:
            arguments, count = prepared[bench.name, case.vectors]
            rows.append((bench, simulator, case.vectors, count, passes(start, arguments, count, case.check, folder)))
        return rows

    def on_mutant(job):
        mutant, simulator = job
        device, name = mutant[:2]
        tried = [bench for bench in benches if device in bench.devices]
        rtl = mutate(*mutant)
        for bench in tried:
            folder = rtl.parent / simulator / bench.name
            try:
                start = build(bench, simulator, rtl, folder)
            except RuntimeError as error:
                return device, name, simulator, None, f"is no mutant: {error}"
            for case in bench.cases:
                arguments, count = prepared[bench.name, case.vectors]
                why = passes(start, arguments, count, case.check, folder)
                if why:
                    return device, name, simulator, f"{bench.name}_tb", why
        return device, name, simulator, None, "survives"

    if (OUT / "runtime").is_dir():
        shutil.rmtree(OUT / "runtime")
    jobs = [(bench, simulator) for simulator in reversed(SIMULATORS) for bench in benches]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        # The first build in Verilator leaves the objects that the others take.
        first = list(map(on_rtl, jobs[:1]))
        rows = [row for rows in first + list(pool.map(on_rtl, jobs[1:])) for row in rows]
    print(f"{'device':<44} {'simulator':<10} {'vectors':<34} {'count':>6}  verdict")
    for bench, simulator, name, count, why in sorted(rows, key=lambda row: (row[0].name, row[2], row[1])):
        print(f"{' '.join(bench.devices)[:44]:<44} {simulator:<10} {name:<34} {count:>6}  {why or 'pass'}")
        wrong += [why] if why else []

    if not options.no_mutants:
        mutants = [mutant for mutant in read_mutants() if any(mutant[0] in b.devices for b in benches)]
        # All in Icarus, which builds at once; in Verilator the first of each device.
        firsts = {mutant[0]: mutant for mutant in reversed(mutants)}
        jobs = [(m, "verilator") for m in firsts.values()] + [(m, "icarus") for m in mutants]
        for device in sorted({d for bench in benches for d in bench.devices} - set(firsts)):
            wrong.append(f"{device} has no mutant")
            print(wrong[-1])
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = sorted(pool.map(on_mutant, jobs))
        print(f"\n{'mutant':<44} {'simulator':<10} killed by")
        for device, name, simulator, killer, why in results:
            print(f"{device + ': ' + name:<44} {simulator:<10} {f'{killer}: {why}' if killer else why}")
            wrong += [] if killer else [why]

    print(f"\n{len(rows)} runs, {'all as expected' if not wrong else f'{len(wrong)} surprises'}, "
          f"{time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
