#!/usr/bin/env python3
"""Builds and runs the benches of this folder in Icarus and Verilator, and those of ../dpi, which call the model, in
Verilator: on the RTL as it is, and on mutated copies of it.

A bench passes when it ends with status 0 and says how many vectors it has seen, and that is how many there are. A mutant
is killed when a bench of its device does not pass. Exit status 1 when a bench fails on the RTL or a mutant survives.

What is built and what came out is kept below target/cosim by a hash of all that goes into it: what has not changed is not
done again.

usage: run.py [--program PROGRAM] [--only WORD] [--no-mutants] [--full] [--fresh] | run.py --build-only
"""

import argparse
import concurrent.futures
import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the folder of a source stays as it is

import runtime  # noqa: E402
import vectors as v  # noqa: E402
from contents import hash_of  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RTL = HERE.parent / "rtl"
DPI = HERE.parent / "dpi"
EXPORT = HERE.parent / "export" / "sv"
# Loops of the interfaces that cores have.
LOOPS = (HERE.parent / "cocotb" / "interfaces" / "interfaces_top.sv", DPI / "interface_loop.sv")
OUT = ROOT / "target" / "cosim"
# The package of classes and those that it needs.
CLASSES = ("cxl68_pkg", "cxl256_pkg", "cxlpbr_pkg", "cxlio_pkg", "nvlink_pkg", "ualink_pkg", "pkg")
VERILATOR = ROOT / ".venv-cosim" / "bin" / "verilator"
SIMULATORS = ("icarus", "verilator")
# Arguments of Verilator, quick to compile; those of benches with many vectors, and of what bench.py holds beside them.
QUICK = ["--unroll-count", "2", "-O1", "-CFLAGS", "-Og", *runtime.IN_ONE_PART]
FAST = ["--unroll-count", "2", "-O3", "-CFLAGS", "-O2", *runtime.IN_ONE_PART]
# The mutants that go against the model too: one of each of these devices, since a build takes longer than a run; with --full all of them
# and one of a link. The others are for the vectors.
DPI_MUTANTS = {"arb_round_robin": "pointer_at_granted", "arb_matrix": "stays_in_front", "arb_weighted": "ties"}
DPI_MUTANT_OF_LINK = ("cxl68_retry_tx", "resends_one_less")


@dataclasses.dataclass
class Case:
    """One run of a bench: what it is fed, and which vector set that is."""

    vectors: str
    prepare: object  # of Vectors: plusargs and how many vectors the bench has to report
    check: object = None  # of the bench's output: what is wrong with it, or None
    first_for: tuple = ()  # devices whose mutants this case is the first to notice: they need not run the cases before it


@dataclasses.dataclass
class Bench:
    """A module `<name>_tb` in `<name>_tb.sv`, and the RTL files it stands for."""

    name: str
    devices: list
    cases: list
    dpi: bool = False  # it stands in ../dpi and calls the model
    classes: bool = False  # with the classes of scalepool_pkg, in one program with all other such benches
    beside: tuple = ()  # files that it needs beside the RTL and the classes
    fast: bool = False  # it runs for longer than a compiler that optimises
    slow_in_icarus: bool = False  # of its cases Icarus runs the first alone, all of them with --full
    slow_to_build: bool = False  # its build in Verilator takes longer than all that Icarus runs: with --full alone


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
                 part(v.cxl256_check, family=family, name=f"{name}_{d}", lopt="lopt" in name),
                 first_for=("cxl256_crc6b",) * ("lopt" in name))
            for family, name in (
                ("cxl256", "flit_cxl-256b"), ("cxl256", "flit_cxl-256b-lopt"), ("cxlpbr", "flit_cxl-256b-pbr"),
                ("cxlio", "flit_cxl-io"),
            )
            for d in ("down", "up")
        ], slow_in_icarus=True),  # 0.06 s a flit
        Bench("arbiter", ["arb_round_robin", "arb_matrix", "arb_weighted"], [
            Case(f"arbiters/{name}", part(v.arbiter, kind=kind, name=name))
            for kind, name in (("round_robin", "round_robin"), ("matrix", "matrix"), ("weighted", "weighted_5_1_1_2"))
        ]),
        Bench("switch_slice", ["switch_port_slice", "arb_round_robin"], [Case("fab_hbr/switch_port_slice", v.switch_slice)]),
        Bench("nvl_crc", ["nvl_crc25"], [
            Case(f"nvlink/flit_nvlink_{d}", part(v.nvl_crc, name=f"flit_nvlink_{d}")) for d in ("down", "up")
        ]),
        Bench("nvl_packetizer", ["nvl_packetizer", "nvl_crc25"], [
            Case(f"nvlink, of the program, seed {seed}", part(v.nvl_packetizer, seed=seed)) for seed in (1, 2)
        ]),
        Bench("ual_frames", ["ual_framer", "ual_deframer", "ual_offsets"], [
            Case("ualink, of the program", part(v.ual_made, seed=1))
        ] + [
            Case(f"ualink/flit_ualink_{d}", part(v.ual_frames, name=f"flit_ualink_{d}")) for d in ("down", "up")
        ], slow_in_icarus=True),  # 0.16 s a flit, Verilator 2 ms
        Bench("brg_upli_mem", ["brg_upli_mem"], [
            Case(f"conversions, one in {every}", part(v.bridge_slice, every=every)) for every in (3, 1)
        ], slow_in_icarus=True, slow_to_build=True),
        Bench("ual_crc", ["ual_crc32"], [
            Case(f"ualink/flit_ualink_{d}", part(v.ual_crc, name=f"flit_ualink_{d}")) for d in ("down", "up")
        ]),
    ]


def dpi_table(full):
    """The benches that call the model: how many random flits, normally and with --full."""
    def bench(name, devices, usual, many, *more, classes=False, beside=()):
        count = many if full else usual
        return Bench(f"{name}_dpi", devices, [
            # A program of several benches runs the one that it is told.
            Case("model, random", lambda _: ([f"+count={count}", *[f"+{name}"] * classes, *more], count))
        ], dpi=True, classes=classes, fast=full, beside=beside)

    crc256 = ["cxl256_crc8b", "cxl256_crc6b", "gf_remainder", "cxl256_fec_encode", "cxl256_fec_correct"]
    link = ["cxl68_packer", "cxl68_unpacker", "cxl68_places", "cxl68_retry_tx", "cxl68_retry_rx", "cxl68_crc16"]
    return [
        # A CRC is linear, and an arbiter of seven has few states: so many random ones find what a million do.
        bench("cxl68_crc", ["cxl68_crc16"], 100_000, 1_000_000),
        bench("cxl256_check", crc256, 5_000, 1_000_000),
        bench("ual_crc", ["ual_crc32"], 20_000, 1_000_000),
        bench("nvl_crc", ["nvl_crc25"], 100_000, 1_000_000),
        bench("cxl68_link", link, 2000, 50_000, "+errors=100", classes=True),
        bench("ual_frames", ["ual_framer", "ual_deframer", "ual_offsets", "ual_crc32"], 1000, 20_000, classes=True),
        bench("nvl_packetizer", ["nvl_packetizer", "nvl_crc25"], 2000, 50_000, classes=True),
        bench("cxl_mem", [], 500, 20_000, classes=True),
        bench("arbiter", ["arb_round_robin", "arb_matrix", "arb_weighted"], 100_000, 1_000_000),
        bench("cxl_cache", [], 2000, 2000, classes=True),
        bench("cxl_io", [], 400, 20_000, classes=True),
        bench("ualink_tl", [], 200, 10_000, classes=True),
        bench("requests", [], 100, 2_000, classes=True),
        bench("brg", [], 200, 20_000, classes=True),
        bench("interfaces", [], 400, 20_000, classes=True, beside=(EXPORT / "scalepool_interfaces.sv", *LOOPS)),
    ]


def run(command, seconds=300, **options):
    return subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds, **options
    )


@functools.cache
def hash_of_once(path):
    """Of the program or the library, which are large and do not change meanwhile."""
    return hash_of(path)


def programs(benches):
    """The benches by the program that they are built into: those with classes in one, since the classes take longer to compile than all
    that the benches add."""
    shared = [bench for bench in benches if bench.classes]
    return [[bench] for bench in benches if not bench.classes] + [shared] * bool(shared)


def sources(benches):
    """SystemVerilog files of the benches of a program, the benches last."""
    files = [(DPI if bench.dpi else HERE) / f"{bench.name}_tb.sv" for bench in benches]
    if not benches[0].dpi:
        return files
    classes = [EXPORT / f"scalepool_{name}.sv" for name in CLASSES] if benches[0].classes else []
    beside = [file for bench in benches for file in bench.beside]
    return [DPI / "scalepool_dpi_pkg.sv", DPI / "scalepool_flat_pkg.sv", *classes, *beside, *files]


@functools.cache
def shim():
    """Objects of the C side of DPI."""
    include = next((ROOT / ".venv-cosim").glob("lib/python3*/site-packages/verilator/include/vltstd"))
    objects = []
    (OUT / "shim").mkdir(parents=True, exist_ok=True)
    for name in ("scalepool_dpi", "scalepool_flat"):
        file = OUT / "shim" / f"{name}.o"
        result = run(["cc", "-std=c11", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{include}", "-c", "-o", file,
                      DPI / f"{name}.c"])
        if result.returncode:
            raise RuntimeError(result.stdout)
        objects.append(file)
    return objects


def command_of(benches, simulator, rtl, folder, library, fast):
    if simulator == "icarus":
        top = f"{benches[0].name}_tb"
        return ["iverilog", "-g2012", "-I", rtl, "-y", rtl, "-Y", ".sv", "-s", top, "-o", folder / "tb", *sources(benches)]
    # Loops stay loops: it compiles in seconds.
    command = [VERILATOR, "--binary", "--timing", "--quiet", "-Wno-fatal", "-Wno-WIDTH", "-Wno-MULTITOP",
               *(FAST if fast else QUICK), "--Mdir", folder, f"-I{rtl}", "-y", rtl, "--prefix", "Vtb", "-o", "tb"]
    if benches[0].dpi:
        command += [f"-I{DPI}", "-LDFLAGS", f"{library} -Wl,-rpath,{library.parent}", *shim()]
    return command + sources(benches)


def build(benches, simulator, rtl, library, kind="rtl"):
    """Builds a program of one bench or several with the RTL of a folder, if that has not been done; the folder with the program `tb`."""
    with_dpi = [DPI, hash_of_once(library)] if benches[0].dpi else []
    name = benches[0].name if len(benches) == 1 else "classes"
    # A mutant is noticed by one of the first vectors.
    fast = kind == "rtl" and any(bench.fast for bench in benches)
    command = command_of(benches, simulator, pathlib.Path("RTL"), pathlib.Path("FOLDER"), library, fast)
    key = hash_of(rtl, *sources(benches), *with_dpi, " ".join(map(str, command)))
    folder = OUT / "builds" / f"{name}-{simulator}-{kind}" / key
    if (folder / "built").is_file():
        return folder
    # What was built before of other sources is of no use.
    shutil.rmtree(folder.parent, ignore_errors=True)
    folder.mkdir(parents=True)
    result = run(command_of(benches, simulator, rtl, folder, library, fast), seconds=900, env=runtime.environment())
    if result.returncode:
        raise RuntimeError(f"{name} does not build in {simulator}:\n{result.stdout}")
    (folder / "built").touch()
    return folder


def passes(simulator, arguments, count, check, folder, program):
    """None, or why the run did not pass. What came out of the same run before is believed."""
    files = [pathlib.Path(argument.split("=", 1)[1]) for argument in arguments if "=" in argument]
    key = hash_of(*arguments, *(file for file in files if file.is_file()), count, hash_of_once(program) if check else "")
    kept = folder / f"verdict-{key}.json"
    if kept.is_file():
        return json.loads(kept.read_text(encoding="utf-8"))
    verdict = passes_now(simulator, arguments, count, check, folder)
    kept.write_text(json.dumps(verdict), encoding="utf-8")
    return verdict


def passes_now(simulator, arguments, count, check, folder):
    start = ["vvp", "-n", folder / "tb"] if simulator == "icarus" else [folder / "tb"]
    try:
        result = run(start + arguments, cwd=folder, seconds=900)
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


def mutate(device, name, old, new, simulator):
    """A copy of the RTL with the change, which must fit exactly one place. Each simulator has its own: both may run now."""
    folder = OUT / "mutants" / f"{device}-{name}-{simulator}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(RTL, folder)
    file = next(folder.glob(f"{device}.sv*"))
    text = file.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise ValueError(f"mutants.txt: {device}: {name}: `{old}` stands {text.count(old)} times in the file")
    file.write_text(text.replace(old, new), encoding="utf-8")
    return folder


def lint(file):
    """A device through Verilator with all its warnings: these, or nothing."""
    result = run([VERILATOR, "--lint-only", "-Wall", "--quiet", f"-I{RTL}", "-y", RTL, "--top-module", file.stem, file])
    return result.stdout if result.returncode or "%Warning" in result.stdout else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("usage:")[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    default = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "scalepool"
    parser.add_argument("--program", default=default, help="the scalepool program")
    parser.add_argument("--only", default="", help="only benches with this word in their name")
    parser.add_argument("--no-mutants", action="store_true", help="the RTL as it is, no mutants")
    parser.add_argument("--full", action="store_true", help="a million random flits for each CRC, and more for the others")
    parser.add_argument("--fresh", action="store_true", help="forget what was built before, and what came out")
    parser.add_argument("--build-only", action="store_true",
                        help="build what goes without the program, the benches in Verilator that do not call the model")
    options = parser.parse_args()
    begin = time.monotonic()
    program = pathlib.Path(options.program).resolve()
    library = pathlib.Path(os.environ.get("SCALEPOOL_LIB") or program.parent / "libscalepool.so").resolve()
    if options.build_only:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            benches = [bench for bench in table(program) if options.full or not bench.slow_to_build]
            built = list(pool.map(lambda bench: build([bench], "verilator", RTL, library), benches))
        print(f"{len(built)} benches, {time.monotonic() - begin:.0f} s")
        return 0
    if not program.is_file() or not library.is_file():
        print(f"missing: {program} and the library beside it\nto build: cargo build", file=sys.stderr)
        return 2
    if options.fresh:
        shutil.rmtree(OUT, ignore_errors=True)
    benches = [bench for bench in table(program) + dpi_table(options.full) if options.only in bench.name]
    sets = v.Vectors(program, OUT / "vectors")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        linted = pool.map(lint, sorted(RTL.glob("*.sv")))
        # Not in the pool: vectors of one case are used by the next.
        prepared = {(b.name, c.vectors): c.prepare(sets) for b in benches for c in b.cases}
    wrong = [text for text in linted if text]
    for text in wrong:
        print(text)

    def on_rtl(job):
        of_program, simulator = job
        try:
            folder = build(of_program, simulator, RTL, library)
        except RuntimeError as error:
            return [(bench, simulator, "-", 0, str(error), 0) for bench in of_program]
        rows = []
        for bench in of_program:
            first_alone = simulator == "icarus" and bench.slow_in_icarus and not options.full
            for case in bench.cases[:1] if first_alone else bench.cases:
                arguments, count = prepared[bench.name, case.vectors]
                started = time.monotonic()
                why = passes(simulator, arguments, count, case.check, folder, program)
                rows.append((bench, simulator, case.vectors, count, why, time.monotonic() - started))
        return rows

    def on_mutant(job):
        mutant, simulator, tried = job
        device, name = mutant[:2]
        rtl = mutate(*mutant, simulator)
        for bench in tried:
            try:
                folder = build([bench], simulator, rtl, library, f"{device}-{name}")
            except RuntimeError as error:
                return device, name, simulator, None, f"cannot be judged: {error}"
            for case in sorted(bench.cases, key=lambda case: device not in case.first_for):
                arguments, count = prepared[bench.name, case.vectors]
                why = passes(simulator, arguments, count, case.check, folder, program)
                if why:
                    return device, name, simulator, f"{bench.name}_tb", why
        return device, name, simulator, None, "survives"

    def is_run(bench, simulator):
        return not bench.dpi if simulator == "icarus" else options.full or not bench.slow_to_build

    jobs = [(p, s) for s in reversed(SIMULATORS) for p in programs([bench for bench in benches if is_run(bench, s)])]
    # The longest first.
    jobs.sort(key=lambda job: -len(job[0]))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = [row for rows in pool.map(on_rtl, jobs) for row in rows]
    print(f"{'device':<44} {'simulator':<10} {'vectors':<34} {'count':>8} {'s':>5}  verdict")
    for bench, simulator, name, count, why, seconds in sorted(rows, key=lambda row: (row[0].name, row[2], row[1])):
        print(f"{' '.join(bench.devices)[:44]:<44} {simulator:<10} {name:<34} {count:>8} {seconds:>5.1f}  {why or 'pass'}")
        wrong += [why] if why else []

    if not options.no_mutants:
        # All in Icarus, which builds at once, on the vectors; some of them in Verilator against the model.
        mutants = [mutant for mutant in read_mutants() if any(mutant[0] in b.devices for b in benches)]
        jobs = []
        for mutant in mutants:
            of_vectors = [bench for bench in benches if mutant[0] in bench.devices and not bench.dpi]
            # The bench of the device alone first.
            of_vectors.sort(key=lambda bench: bench.devices.index(mutant[0]))
            if of_vectors:
                jobs.append((mutant, "icarus", of_vectors))
            of_model = [bench for bench in benches if bench.dpi and mutant[0] in bench.devices]
            device, name = mutant[:2]
            if of_model and (DPI_MUTANTS.get(device) == name or
                             options.full and (device in DPI_MUTANTS or (device, name) == DPI_MUTANT_OF_LINK)):
                jobs.insert(0, (mutant, "verilator", of_model))
        for device in sorted({d for bench in benches for d in bench.devices} - {mutant[0] for mutant in mutants}):
            wrong.append(f"{device} has no mutant")
            print(wrong[-1])
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = sorted(pool.map(on_mutant, jobs))
        print(f"\n{'mutant':<44} {'simulator':<10} killed by")
        for device, name, simulator, killer, why in results:
            print(f"{device + ': ' + name:<44} {simulator:<10} {f'{killer}: {why}' if killer else why}")
            wrong += [] if killer else [why]

    print(f"\n{len(rows)} runs, {'all as expected' if not wrong else f'{len(wrong)} failures'}, "
          f"{time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
