#!/usr/bin/env python3
"""Holds `scalepool litmus` against reference.py: random programs, equal sets of outcomes.

    python3 testbenches/litmus/compare.py --program target/debug/scalepool [--cases N] [--seed S] [--kind KIND]

Exit status 1 when a set differs; the case is printed as a file that `scalepool litmus` takes.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from reference import EVICTS, READS, REQ_START, START, WRITES, Case, outcomes

CACHE = READS + WRITES + EVICTS + ("Load", "Store")
HOST = ("MemRdS", "MemRdA", "MemInv", "MemWr", "MemClnEvct", "Load", "Store")
STARTS = {2: ("II", "SI", "SS", "EI", "MI", "IE", "IM", "IS"), 3: ("III", "SSI", "SSS", "EII", "IMI", "ISI", "IIM")}


# What an agent holds when nobody disturbs it; a program that follows it seldom ends at once.
AFTER = {"RdShared": "S", "RdAny": "E", "RdOwn": "E", "RdOwnNoData": "E", "MemRdS": "S", "MemRdA": "E", "MemInv": "E",
         "Store": "M", "MemWr": "I", "MemClnEvct": "I", "CleanEvict": "I", "CleanEvictNoData": "I", "DirtyEvict": "I"}


def startable(op, state):
    if op in ("Load", "Store"):
        return state in {"Load": "SEM", "Store": "EM"}[op]
    return state in REQ_START.get(op, START.get(op, "I"))


def random_case(random_numbers, kind):
    agents = 2 if kind == "hdm-d" else random_numbers.choice((2, 2, 2, 3))
    start = random_numbers.choice(STARTS[agents])
    programs = []
    for i, state in enumerate(start):
        words = HOST if kind == "hdm-db" or (kind == "hdm-d" and i == 1) else CACHE
        if kind == "hdm-d":  # 3.2: MemClnEvct is a message of HDM-DB alone
            words = [op for op in words if op != "MemClnEvct"]
        program = []
        for _ in range(random_numbers.randint(0, 4 if agents == 2 else 3)):
            fitting = [op for op in words if startable(op, state)]
            op = random_numbers.choice(fitting if random_numbers.random() < 0.85 else words)
            program.append(op)
            if op in AFTER and not (op == "MemRdA" and state == "M"):
                state = AFTER[op]
        programs.append(program)
    # In one case of two somebody stores poison.
    poison = [i for i in range(agents) if random_numbers.random() < 0.4] if random_numbers.random() < 0.6 else []
    return Case(kind, start, programs, poison)


def toml(case):
    lines = [f"kind = {json.dumps(case.kind)}", f"start = {json.dumps(case.start)}", f"programs = {json.dumps(case.programs)}"]
    if case.poison:
        lines.append(f"poison = {sorted(case.poison)}")
    return "\n".join(lines) + "\n"


def outcome(answer):
    """An outcome of the program as the reference names it."""
    plain = answer["final"], answer["fresh"]
    return plain + (answer["poisoned"], tuple(answer["loads"])) if "loads" in answer else plain


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--cases", type=int, default=300, help="of each kind")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--kind", choices=("cxl-cache", "hdm-db", "hdm-d"), action="append")
    given = arguments.parse_args()
    differences = 0
    for kind in given.kind or ("cxl-cache", "hdm-db", "hdm-d"):
        random_numbers = random.Random(f"{kind} {given.seed}")
        states = 0
        with tempfile.TemporaryDirectory() as folder:
            for number in range(given.cases):
                case = random_case(random_numbers, kind)
                count, expected = outcomes(case)
                states += count
                path = Path(folder) / f"{kind}-{number}.toml"
                path.write_text(toml(case))
                ran = subprocess.run([given.program, "litmus", str(path), "--json"], capture_output=True, text=True, timeout=120)
                answer = json.loads(ran.stdout) if ran.returncode == 0 else {"outcomes": []}
                found = {outcome(o) for o in answer["outcomes"]}
                if ran.returncode != 0 or answer["violations"] or found != expected:
                    differences += 1
                    print(f"{toml(case)}# expected {sorted(expected)}\n# found    {sorted(found)}, exit {ran.returncode}")
                    print("".join(f"# {line}\n" for line in ran.stderr.splitlines()))
        print(f"{kind}: {given.cases} cases, {states} states of the reference, seed {given.seed}")
    print(f"{differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
