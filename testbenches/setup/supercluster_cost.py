"""What a transaction costs in the superclusters: instructions, transactions and simulated time a second, on one thread and on two.

Modelled: a transaction is what an accelerator, a GPU or the host asks for, over both bridges where it leads there, with everything that goes
with it. Costs are marginal, the difference of two runs of different length; instructions are those that callgrind sees, speeds are of the
time on the wall, the fastest of three. Left out: a verdict. The aim stands beside the last figure; the machine and what else runs on it
decide about speeds.

usage: supercluster_cost.py --program PROGRAM [--only TEXT]
"""

import argparse
from dataclasses import dataclass

from fabric_cost import Timed, timed
from flit_cost import counted

RACK = "supercluster-rack"
#: Cycles of the reference clock of 640 ps in 10 us, and the aim for them in seconds on the wall.
TEN_US_CYCLES, TEN_US_SECONDS = 15_625, 120


@dataclass
class Row:
    """A system, how many ask by each setting, and lengths: two for callgrind, two for the clock."""

    name: str
    system: str
    askers: dict
    counted: tuple
    timed: tuple

    def arguments(self, length):
        """Arguments of a run in which everyone asks so often."""
        settings = (f"{setting}={length}" for setting in self.askers)
        return [self.system, *(part for setting in settings for part in ("--set", setting))]

    def more(self, lengths):
        """Transactions by which the second run is longer."""
        return (lengths[1] - lengths[0]) * sum(self.askers.values())


ROWS = [
    Row(
        "supercluster-small",
        "supercluster-small",
        {"traffic.operations": 4, "gpu.requests": 4, "host.accesses": 1},
        (50, 250),
        (1000, 6000),
    ),
    Row("supercluster-rack", RACK, {"traffic.operations": 72, "gpu.requests": 64}, (4, 12), (40, 240)),
]


def instructions(program, row):
    """Instructions a transaction, marginal."""
    short, long = (counted(program, row.arguments(length))[0] for length in row.counted)
    return round((long - short) / row.more(row.counted))


def speed(program, row, threads):
    """Transactions and simulated ns a second, marginal."""
    seconds, simulated = [], 0.0
    for _ in range(3):
        short, long = (timed(program, row.arguments(length), threads) for length in row.timed)
        seconds.append(max(1e-3, long.wall - short.wall))
        simulated = (long.simulated_fs - short.simulated_fs) / 1e6
    return row.more(row.timed) / min(seconds), simulated / min(seconds)


def ten_us(program, threads) -> Timed:
    """The rack for 10 us, all to all in blocks of 256 bytes at load 0.5, with more to ask for than fits in."""
    given = ("traffic.operations=100000", "gpu.requests=100000", "gpu.pattern=writes")
    settings = [part for setting in given for part in ("--set", setting)]
    return timed(program, [RACK, "--cycles", str(TEN_US_CYCLES), *settings], threads)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--program", required=True)
    options.add_argument("--only", default="", help="systems whose names hold this text, and nothing else")
    arguments = options.parse_args()
    program = arguments.program
    print(f"{'system':22} {'threads':>7} {'transactions/s':>15} {'simulated ns/s':>15} {'instructions a transaction':>27}")
    for row in (row for row in ROWS if arguments.only in row.name):
        cost = instructions(program, row)
        for threads in (1, 2):
            transactions, simulated = speed(program, row, threads)
            print(f"{row.name:22} {threads:7} {transactions:15.0f} {simulated:15.0f} {cost:27}", flush=True)
    if not arguments.only:
        for threads in (1, 2):
            seconds = ten_us(program, threads).wall
            print(f"supercluster-rack, 10 us, {threads} threads [s]: {seconds:.1f}, aim {TEN_US_SECONDS}")


if __name__ == "__main__":
    main()
