#!/usr/bin/env python3
"""Prints how many CRCs a second Python gets, one call for each and in batches, beside native Rust and beside Python alone.

The CRC-16 of 64 bytes, all ways over the same payloads, which are first shown to give the same. The ways take turns, round
after round, and the best turn of each counts. Rust is the row of `cargo bench --bench ratios -- --crc16` for the way that the
library takes; it runs directly before and directly after, and the better of the two counts.

usage: bench.py [--no-rust] [--quick]

Needs the installed package, with a library of the release profile: `pip install ./testbenches/python`. Exit status 1 if a
batch of 1,000 is not within twice the time of Rust.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import time

from cocotbext.scalepool import Crc, crc, crc_many

ROOT = pathlib.Path(__file__).resolve().parents[2]
BATCH = 1000
# How far behind Rust a batch may be.
MOST = 2.0


def python_alone(payload):
    """The definition: 1F053h, start 0, bit 511 first (cxl-68b §1.6)."""
    register, data = 0, int.from_bytes(payload, "little")
    for bit in range(511, -1, -1):
        out = register >> 15 ^ data >> bit & 1
        register = register << 1 & 0xFFFF ^ (0xF053 if out else 0)
    return register


def rust(quick):
    """Million payloads a second of the library's way in Rust itself."""
    command = ["cargo", "bench", "--quiet", "-p", "scalepool-testbenches", "--bench", "ratios", "--", "--crc16"]
    table = subprocess.run(command + ["--quick"] * quick, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return float(re.search(r"^crc16 (?:SIMD|best.*?)\s+M payload/s\s+([\d.]+)", table, re.MULTILINE)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("usage:")[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-rust", action="store_true", help="leave the rows of Rust out")
    parser.add_argument("--quick", action="store_true", help="turns too short to mean anything")
    options = parser.parse_args()
    draw = random.Random(16)
    payloads = [draw.randbytes(64) for _ in range(BATCH)]
    together = b"".join(payloads)
    expected = [python_alone(payload) for payload in payloads[:50]]
    assert [crc(Crc.CXL68, payload) for payload in payloads[:50]] == expected, "one call each"
    assert crc_many(Crc.CXL68, together, 64).tolist()[:50] == expected, "a batch"

    def one_call_each():
        for payload in payloads:
            crc(Crc.CXL68, payload)

    def a_few_in_python():
        for payload in payloads[:20]:
            python_alone(payload)

    ways = [  # name, calls of a turn, CRCs of a call, what a turn does
        ("ctypes, one a call", BATCH, 1, one_call_each),
        (f"ctypes, {BATCH} a call", 20, BATCH, lambda: [crc_many(Crc.CXL68, together, 64) for _ in range(20)]),
        ("Python alone, bit by bit", 20, 1, a_few_in_python),
    ]
    native = [] if options.no_rust else [rust(options.quick)]
    best = [float("inf")] * len(ways)
    for _ in range(3 if options.quick else 200):
        for n, (_, _, _, turn) in enumerate(ways):
            begin = time.perf_counter()
            turn()
            best[n] = min(best[n], time.perf_counter() - begin)
    native += [] if options.no_rust else [rust(options.quick)]

    rows = [(name, calls / seconds, calls * crcs / seconds) for (name, calls, crcs, _), seconds in zip(ways, best)]
    if native:
        rows.append(("Rust, one a call", 1e6 * max(native), 1e6 * max(native)))
    print(f"{'CRC-16 of 64 bytes':<26} {'calls/s':>13} {'CRCs/s':>13}")
    for name, calls, crcs in rows:
        print(f"{name:<26} {calls:>13,.0f} {crcs:>13,.0f}")
    if not native:
        return 0
    ratio = 1e6 * max(native) / rows[1][2]
    print(f"a batch takes {ratio:.2f} times as long as Rust, aim at most {MOST:g}: {'met' if ratio <= MOST else 'MISSED'}")
    return 0 if ratio <= MOST or options.quick else 1


if __name__ == "__main__":
    sys.exit(main())
