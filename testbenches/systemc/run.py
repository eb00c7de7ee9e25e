#!/usr/bin/env python3
"""Builds and runs the benches of scalepool_tlm.h in SystemC: pair.cpp, host and device back to back, in all flit modes of CXL; and
rtl.cpp, with RTL between them as Verilator's `--sc` writes it, on the RTL as it is and on its last seeded bug (mutant), with --full on
each of them; it has to notice them. The output is a line for each case; the exit status is 1 if one fails or a mutant survives.

What is built and what came out is kept below target/systemc by a hash of all that goes into it.

usage: run.py [--program PROGRAM] [--full] [--fresh]
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the folder of a source stays as it is

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.extend([str(HERE.parent / "verilator"), str(HERE.parent / "cocotb")])

import runtime  # noqa: E402
import seeded  # noqa: E402
from contents import hash_of  # noqa: E402

OUT = ROOT / "target" / "systemc"
VERILATOR = ROOT / ".venv-cosim" / "bin" / "verilator"
RTL = HERE.parent / "cocotb" / "example"
DEVICE = "flit_register"
# The version of C++ that Debian's SystemC was built with: another one does not link.
STANDARD = "-std=c++17"
CXX = ["g++", STANDARD, "-O0", "-Wall", "-Wextra", "-Werror", f"-I{HERE}", f"-I{HERE.parent / 'c'}"]

# Cases of pair.cpp, by protocol. What does not touch the bytes of a flit needs no other protocol.
PROTOCOLS = {
    "cxl-68b": ["traffic", "noise", "reset", "refused", "unanswered", "stopped", "poison", "halves", "wrong", "halted", "invalid"],
    "cxl-256b": ["traffic", "noise", "reset", "refused", "unanswered", "poison"],
    "cxl-256b-lopt": ["traffic"],
    "cxl-256b-pbr": ["traffic", "refused"],
}


def run(command, seconds=900, **options):
    """The output of a command. Raises RuntimeError with it where the command fails or does not end."""
    try:
        result = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                timeout=seconds, **options)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{command[0]} does not end") from None
    if result.returncode:
        raise RuntimeError(result.stdout)
    return result.stdout


def kept(name, key, make):
    """The folder of what `make` has written into it, now or before."""
    folder = OUT / "builds" / name / hash_of(key)
    if not (folder / "built").is_file():
        # What was built before of other sources is of no use.
        shutil.rmtree(folder.parent, ignore_errors=True)
        folder.mkdir(parents=True)
        make(folder)
        (folder / "built").touch()
    return folder


def compiled(source, *more, of=""):
    """The object file of a source; `of` stands for files outside of this folder that it includes."""
    headers = [HERE / "scalepool_tlm.h", HERE / "bench.h", HERE.parent / "c" / "scalepool.h"]
    key = hash_of(HERE / source, *headers, " ".join(CXX), of)
    return kept(source, key, lambda folder: run([*CXX, *more, "-c", HERE / source, "-o", folder / "object.o"])) / "object.o"


def verilated(name, rtl):
    """The folder of a device as SystemC."""
    system = pathlib.Path(run(["g++", "-print-file-name=libsystemc.so"]).strip())
    environment = {**runtime.environment(), "SYSTEMC_INCLUDE": "/usr/include", "SYSTEMC_LIBDIR": str(system.resolve().parent)}
    command = [VERILATOR, "--sc", "--build", "--quiet", "-Wno-fatal", "-O1", *runtime.IN_ONE_PART, "-CFLAGS", f"{STANDARD} -O0"]

    def make(folder):
        run([*command, "--Mdir", folder, rtl / f"{DEVICE}.sv"], env=environment)

    return kept(name, hash_of(rtl / f"{DEVICE}.sv", " ".join(map(str, command))), make)


def linked(name, library, *parts):
    key = hash_of(*parts, library)
    command = ["g++", "-o", "program", *parts, library, f"-Wl,-rpath,{library.parent}", "-lsystemc"]
    return kept(name, key, lambda folder: run(command, cwd=folder)) / "program"


def verdict(program, *arguments):
    """What a run has said, from PASS or FAIL on. One that was seen before is not done again."""
    file = program.parent / f"verdict{''.join(f'-{argument}' for argument in arguments)}.json"
    if not file.is_file():
        environment = {**os.environ, "SYSTEMC_DISABLE_COPYRIGHT_MESSAGE": "1"}
        try:
            result = subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                    timeout=300, env=environment)
            lines = [line for line in result.stdout.splitlines() if line.strip()]
            said = [line for line in lines if line.startswith(("PASS ", "FAIL "))]
            said = said[-1] if said else f"FAIL status {result.returncode}: {' '.join(lines[-6:])}"
        except subprocess.TimeoutExpired:
            said = "FAIL does not end"
        file.write_text(json.dumps(said), encoding="utf-8")
    return json.loads(file.read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("usage:")[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    default = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "scalepool"
    parser.add_argument("--program", default=default, help="the scalepool program, whose folder has the library")
    parser.add_argument("--full", action="store_true", help="every seeded bug")
    parser.add_argument("--fresh", action="store_true", help="forget what was built before, and what came out")
    options = parser.parse_args()
    begin = time.monotonic()
    beside = pathlib.Path(options.program).resolve().parent / "libscalepool.so"
    library = pathlib.Path(os.environ.get("SCALEPOOL_LIB") or beside).resolve()
    if not library.is_file() or not VERILATOR.is_file():
        missing = VERILATOR if library.is_file() else library
        print(f"missing: {missing}\nto build: cargo build, bash testbenches/setup/simulators.sh", file=sys.stderr)
        return 2
    if options.fresh:
        shutil.rmtree(OUT, ignore_errors=True)

    # The bugs of the design in VHDL are GHDL's.
    verilog = [mutant for mutant in seeded.read(RTL / "mutants.txt") if mutant[0] == "flit_register"]
    mutants = verilog[0 if options.full else -1:]
    rows = []

    def pair():
        program = linked("pair", library, compiled("pair.cpp"))
        for protocol, cases in PROTOCOLS.items():
            for case in cases:
                said = verdict(program, case, protocol)
                rows.append((f"pair {protocol} {case}", said, said.startswith("PASS")))

    def rtl():
        model = verilated(DEVICE, RTL)
        include = next(VERILATOR.parents[1].glob("lib/python3*/site-packages/verilator/include"))
        paths = [f"-I{model}", "-isystem", include, "-isystem", include / "vltstd"]
        program = compiled("rtl.cpp", *paths, of=(model / f"V{DEVICE}.h").read_text(encoding="utf-8"))

        def said_of(name, folder):
            return verdict(linked(name, library, program, folder / f"libV{DEVICE}.a", folder / "libverilated.a"))

        said = said_of("rtl", model)
        rows.append((f"rtl {DEVICE}", said, said.startswith("PASS")))
        for mutant in mutants:
            changed = seeded.mutate(*mutant, [RTL], OUT / "mutants" / mutant[1])
            said = said_of(f"rtl-{mutant[1]}", verilated(f"{DEVICE}-{mutant[1]}", changed))
            rows.append((f"rtl {DEVICE} {mutant[1]}", said, said.startswith("FAIL")))

    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for job in [pool.submit(rtl), pool.submit(pair)]:
                job.result()
    except RuntimeError as error:
        print(f"a bench does not build:\n{error}")
        return 1
    wrong = 0
    for name, said, holds in sorted(rows):
        wrong += not holds
        print(f"{name:<42} {'ok' if holds else 'WRONG'}  {said}")
    print(f"\n{len(rows)} cases, {'all as expected' if not wrong else f'{wrong} failures'}, {time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
