#!/usr/bin/env python3
"""How fast the model is called from Verilator: DPI-C calls a second, vectors a second of a CRC device through DPI-C, and
of the same device by cocotb. Best of three runs each, in processor time, so it matters little what else the machine does:
a run is one process with one thread. Device, its file and the arguments of Verilator are the same in both.

The aim is 12 times the cocotb route for DPI-C (vectors a second). Exit status 1 when a run fails, not when one is slow.

usage: bench.py [--program PROGRAM] [--count N]
"""

import argparse
import os
import pathlib
import resource
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.dont_write_bytecode = True  # the folder of a source stays as it is
sys.path.insert(0, str(HERE.parent / "verilator"))

import run as runner  # noqa: E402 (its folder is known by now)

RUNS = 3


def dpi(folder, count, *arguments):
    """Vectors a second, without what the program needs to start."""
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def seconds(count):
        before = spent()
        result = runner.run([folder / "tb", f"+count={count}", *arguments], cwd=folder)
        if f"PASS {count}" not in result.stdout:
            raise RuntimeError(result.stdout)
        return spent() - before

    return max(count / max(seconds(count) - seconds(1), 1e-9) for _ in range(RUNS))


def cocotb(library, count):
    """Vectors a second, as the test itself says."""
    folder = runner.OUT / "bench_cocotb"
    folder.mkdir(parents=True, exist_ok=True)
    script = (
        "from cocotb_tools.runner import get_runner\n"
        "r = get_runner('verilator')\n"
        f"r.build(sources=[{str(runner.RTL / 'cxl68_crc16.sv')!r}], hdl_toplevel='cxl68_crc16', build_dir={str(folder)!r},"
        f" build_args={[*runner.FAST, '-y', str(runner.RTL)]!r}, timescale=('1ns', '1ps'), always=True)\n"
        f"r.test(hdl_toplevel='cxl68_crc16', test_module='cocotb_crc', build_dir={str(folder)!r})\n"
    )
    rates = []
    venv = ROOT / ".venv-cosim" / "bin"
    environment = dict(os.environ, SCALEPOOL_LIBRARY=str(library), SCALEPOOL_COUNT=str(count), PYTHONPATH=str(HERE),
                       PYTHONDONTWRITEBYTECODE="1",
                       SCALEPOOL_RESULT=str(folder / "rate"), PATH=f"{venv}{os.pathsep}{os.environ['PATH']}")
    for _ in range(RUNS):
        result = runner.run([venv / "python3", "-c", script], cwd=folder, env=environment)
        if result.returncode:
            raise RuntimeError(result.stdout)
        rates.append(float((folder / "rate").read_text(encoding="ascii")))
    return max(rates)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("usage:")[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    default = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "scalepool"
    parser.add_argument("--program", default=default, help="the scalepool program; the library lies beside it, or is named by SCALEPOOL_LIB")
    parser.add_argument("--count", type=int, default=1_000_000, help="vectors of a run through DPI-C, a twentieth by cocotb")
    options = parser.parse_args()
    library = pathlib.Path(os.environ.get("SCALEPOOL_LIB") or pathlib.Path(options.program).parent / "libscalepool.so").resolve()
    if not library.is_file():
        print(f"missing: {library}\nto build: cargo build --release", file=sys.stderr)
        return 2
    try:
        bench = runner.Bench("cxl68_crc_bench", ["cxl68_crc16"], [], dpi=True, fast=True)
        folder = runner.build([bench], "verilator", runner.RTL, library)
        calls = dpi(folder, 4 * options.count, "+calls")
        vectors = dpi(folder, options.count)
        by_cocotb = cocotb(library, max(options.count // 20, 1))
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{'CXL 68B CRC in Verilator':<44} {'a CPU second':>12}")
    print(f"{'DPI-C, calls alone':<44} {calls:>12,.0f}")
    print(f"{'DPI-C, device and model':<44} {vectors:>12,.0f}")
    print(f"{'cocotb and ctypes, device and model':<44} {by_cocotb:>12,.0f}")
    print(f"{'DPI-C against cocotb (aim: 12)':<44} {vectors / by_cocotb:>12.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
