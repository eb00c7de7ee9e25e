"""What the model costs on fabrics of many switches: user instructions a flit-hop, speed, memory, threads, and the largest system.

Modelled: a flit-hop is one flit that is not idle over one link, with everything that goes with it: nodes, switches, checks,
counters. Costs are marginal, the difference of two runs of different length, so what a program does once does not count;
instructions are those that callgrind sees, speeds are of the user time of one thread, and of the time on the wall where threads
are compared. Left out: a verdict. Aims stand beside the figures; the machine and what else runs on it decide about speeds.

usage: fabric_cost.py --program PROGRAM [--only TEXT]
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from flit_cost import counted

RACK_4096 = Path(__file__).parents[2] / "src" / "system" / "builtin" / "pbr-4096.toml"
#: Setting that makes a run longer, for routers and for systems of CXL.
PACKETS, ACCESSES = "traffic.packets", "host.accesses"
#: Aims in instructions a flit-hop; 1,200 are about 6 million flit-hops a second and core.
MATCHED, LARGE, WATCHED, ALWAYS = 1200, 2400, 2500, 7000
#: Two threads against one.
THREADS = 1.6
MIB = 1 << 20


@dataclass
class Row:
    """A system with what makes it longer, two lengths for callgrind and two for the clock, and its aim."""

    name: str
    arguments: list
    setting: str
    counted: tuple
    timed: tuple
    aim: int


def routers(shape, load, nodes, aim, *more):
    """A fabric of routers; the packets of a node are so many that all fabrics have about as many."""
    arguments = ["fabric-vc-router"]
    for text in (f"topology={shape}", f"traffic.load={load}", "traffic.warm_up_cycles=200", *more):
        arguments += ["--set", text]
    lengths = [max(2, packets // nodes) for packets in (3_000, 9_000, 20_000, 120_000)]
    name = " ".join((shape, *more)) + f", load {load}"
    return Row(name, arguments, PACKETS, tuple(lengths[:2]), tuple(lengths[2:]), aim)


def rack(bits, aim):
    """64 hosts over three switches and four links of CXL to 64 memories. Hosts with few requests would measure idle flits: those
    of CXL are made and checked too, and with 64 requests each four in five are idle; here it is one in three."""
    arguments = ["pbr-rack", "--set", "host.outstanding=1024", "--set", f"link.bits={bits}"]
    return Row(f"pbr-rack, bits {bits}", arguments, ACCESSES, (400, 1200), (400, 1200), aim)


SMALL = [("mesh:8x8", 64), ("torus:8x8", 64), ("fat-tree:4x3", 64), ("dragonfly:2,4,2", 72)]
#: About 1,000 endpoints at switches of 15 and of 64 ports; a router has 64 virtual channels in all.
DRAGONFLY = ("dragonfly:4,8,4", 1056)
TREE = ("fat-tree:32x2", 1024)

ROWS = [routers(shape, load, nodes, MATCHED) for shape, nodes in SMALL for load in (0.1, 0.2, 0.3)]
ROWS += [
    routers(DRAGONFLY[0], 0.3, DRAGONFLY[1], LARGE),
    routers(TREE[0], 0.3, TREE[1], LARGE, "router.vcs=1"),
    rack("watched", WATCHED),
    rack("always", ALWAYS),
]


def hops(report):
    """Flits over links that are not idle."""
    return report["flits"] - sum(link.get("NOP flits", 0) for link in report["links"].values())


@dataclass
class Timed:
    """One run: flit-hops, seconds of the user and on the wall, largest memory in bytes, simulated time."""

    hops: int
    user: float
    wall: float
    memory: int
    simulated_fs: int


def timed(program, arguments, threads=1):
    """Runs the program once."""
    start = time.monotonic()
    command = [program, "run", *arguments, "--seed", "1", "--threads", str(threads), "--json"]
    with tempfile.TemporaryFile("w+") as errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as run:
        out = run.stdout.read()
        # Its own figures, not those of the largest of all processes so far.
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        if run.returncode != 0:
            sys.exit(f"fabric cost: {' '.join(arguments)} ended with {run.returncode}:\n{errors.read()}")
    report, wall = json.loads(out), time.monotonic() - start
    return Timed(hops(report), used.ru_utime, wall, used.ru_maxrss * 1024, report["time_fs"])


def instructions(program, row):
    """Instructions a flit-hop, marginal."""
    short, long = (counted(program, [*row.arguments, "--set", f"{row.setting}={length}"]) for length in row.counted)
    return round((long[0] - short[0]) / (hops(long[1]) - hops(short[1])))


def speed(program, row, threads=1):
    """Flit-hops a second in millions, marginal, of the user's time and on the wall: the fastest of three."""
    best = (0.0, 0.0)
    for _ in range(3):
        short, long = (timed(program, [*row.arguments, "--set", f"{row.setting}={length}"], threads) for length in row.timed)
        more = (long.hops - short.hops) / 1e6
        best = tuple(max(old, more / max(1e-3, new)) for old, new in zip(best, (long.user - short.user, long.wall - short.wall)))
    return best


def memory_per_endpoint(program):
    """Bytes of memory for each node of the dragonfly, over that of a small one."""
    sizes = []
    for shape, nodes in (SMALL[3], DRAGONFLY):
        row = routers(shape, 0.3, nodes, LARGE)
        sizes.append((nodes, timed(program, [*row.arguments, "--set", f"{PACKETS}={row.counted[0]}"]).memory))
    return (sizes[1][1] - sizes[0][1]) / (sizes[1][0] - sizes[0][0])


def largest(program):
    """pbr-4096: seconds to resolve and check, and 10 us at load 0.3: flit-hops, seconds, memory."""
    start = time.monotonic()
    subprocess.run([program, "check", str(RACK_4096)], check=True, stdout=subprocess.DEVNULL)
    checked = time.monotonic() - start
    return checked, timed(program, [str(RACK_4096), "--cycles", "20000"])


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--program", required=True)
    options.add_argument("--only", default="", help="rows of instructions whose names hold this text, and nothing else")
    arguments = options.parse_args()
    program, rows = arguments.program, [row for row in ROWS if arguments.only in row.name]
    each = 0 if arguments.only else memory_per_endpoint(program)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        costs = list(pool.map(lambda row: instructions(program, row), rows))
    print(f"{'user instructions a flit-hop':44} {'found':>7} {'aim':>6} {'M/s a core':>11}")
    for row, cost in zip(rows, costs):
        print(f"{row.name:44} {cost:7} {row.aim:6} {speed(program, row)[0]:11.2f}", flush=True)
    if arguments.only:
        return
    print(f"{'memory of an endpoint, ' + DRAGONFLY[0]:44} {each / 1024:7.0f} KiB")
    row = routers(DRAGONFLY[0], 0.3, DRAGONFLY[1], LARGE)
    one, two = (speed(program, row, threads)[1] for threads in (1, 2))
    found = f"{one:.2f} and {two:.2f} M/s on the wall"
    print(f"{'two threads against one, ' + DRAGONFLY[0]:44} {two / one:7.2f} {THREADS:6} {found}")
    checked, run = largest(program)
    print(f"{'pbr-4096, resolved and checked [s]':44} {checked:7.1f} {3:6}")
    found = f"{run.hops / run.user / 1e6:11.2f}, {run.user:.1f} s of the user"
    print(f"{'pbr-4096, 10 us at load 0.3 [s]':44} {run.wall:7.1f} {120:6} {found}")
    print(f"{'pbr-4096, largest memory [MiB]':44} {run.memory / MIB:7.0f} {1024:6}")


if __name__ == "__main__":
    main()
