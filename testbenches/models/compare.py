#!/usr/bin/env python3
"""Runs the Murphi models of this folder in rumur and holds their counts against `scalepool explore`.

    python3 testbenches/models/compare.py --program target/debug/scalepool [--full]

The models state the rules of the fact sheet a second time, in the scopes of the explorations and with their idea of a state, so
equal numbers of states and moves are two texts that agree on every rule of those scopes. Each broken rule has to end in an error. Without --full: the explorations of two agents and a
few broken rules. Exit status 1 when a count differs or a broken rule is not seen.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

class Case(NamedTuple):
    exploration: str
    options: tuple = ()
    merged: bool = False  # agents that are alike count once
    agents: int = None  # another number than that of the exploration


# rumur's `exhaustive` finds one form of each state, as `explore` does; its `heuristic` does not, so nothing is compared under that.
FEW = [
    Case("cxl-cache-2"),
    Case("cxl-cache-2-memory", merged=True),
    Case("hdm-db-2"),
    Case("hdm-db-2", merged=True),
    Case("hdm-db-two-levels", agents=1),
    Case("hdm-d"),
]
CLEAN_COPIES = ("clean_evict=pull", "silent_drop_e=true", "silent_drop_s=false")
MORE = [
    Case("cxl-cache-2", merged=True),
    Case("cxl-cache-2", CLEAN_COPIES),
    Case("cxl-cache-2-core"),
    Case("cxl-cache-2-core", merged=True),
    Case("cxl-cache-2-memory"),
    Case("cxl-cache-2-memory", CLEAN_COPIES, merged=True),
    Case("cxl-cache-3"),
    Case("cxl-cache-3", merged=True),
    Case("hdm-db-3"),
    Case("hdm-db-3", merged=True),
    Case("hdm-db-two-levels"),
    Case("hdm-db-two-levels", merged=True),
    Case("hdm-d", ("mem.flush_keeps_shared=true",)),
]
# With so many states the verifier takes longer than its translation.
LARGE = ("cxl-cache-3", "hdm-db-3", "hdm-db-two-levels")
# A rule of each kind: one that invariants see, one that a transition sees, one that ends in a deadlock.
FEW_MUTANTS = {
    "cxl-cache-2": ("SnoopPassesGo", "OldBytesKept", "SnoopWaitsForRequest"),
    "cxl-cache-2-memory": ("StoreNotAwaited",),
    "hdm-db-2": ("AckPassesCmp", "AnswerBeforeWriteDone", "BisnpBlocksRwd", "HostOldBytes"),
    "hdm-db-two-levels": ("AnswerBeforeWriteDone",),
    "hdm-d": ("ReqPassesFwd", "BackFlipUnsnooped", "ReqWaitsForOwnRequest"),
}
# What a broken rule needs to do harm.
NEEDS = {"FlushFlips": ("mem.flush_keeps_shared=true",)}


class Failure(Exception):
    pass


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def must(command):
    status, out, err = run(command)
    if status:
        raise Failure(f"{' '.join(map(str, command))}: exit status {status}\n{out}{err}")
    return out


def settings(options):
    return [word for option in options for word in ("--set", option)]


def scope(case):
    """What both sides are asked for."""
    agents = ["--agents", case.agents] if case.agents else []
    return [case.exploration, *agents, *settings(case.options)]


def model(program, folder, case, mutant=None):
    path = folder / "model.m"
    broken = ["--mutant", mutant] if mutant else []
    must([program, "export", "murphi", *scope(case), *broken, "--out", path])
    return path


def verify(path, optimised, symmetry="off"):
    """Checks a model; gives states, moves, and what is wrong."""
    code, verifier = path.with_suffix(".c"), path.with_suffix("")
    must(["rumur", "--symmetry-reduction", symmetry, "--deadlock-detection", "stuck", "--threads", "1", "--colour", "off", path,
          "--output", code])
    # Translating takes longer than two agents take to run.
    machine = ["-march=native", "-mcx16"] if platform.machine() == "x86_64" else []
    must(["cc", "-w", "-O2" if optimised else "-O0", *machine, "-o", verifier, code, "-lpthread"])
    status, out, err = run([verifier])
    counts = re.search(r"(\d+) states, (\d+) rules fired", out)
    if not counts or (status == 0) != ("No error found" in out):
        raise Failure(f"{path}: exit status {status}, expected a summary\n{out}{err}")
    wrong = None if status == 0 else out.split("following is the error trace for the error:")[-1].strip().splitlines()[0]
    return int(counts[1]), int(counts[2]), wrong


def compare(program, case):
    label = " ".join([*map(str, scope(case)), *(["without names"] if case.merged else [])])
    with tempfile.TemporaryDirectory() as folder:
        path = model(program, Path(folder), case)
        is_large = case.exploration in LARGE and not case.agents
        *found, wrong = verify(path, is_large, "exhaustive" if case.merged else "off")
    if wrong:
        raise Failure(f"{label}: rumur reports {wrong.strip()}")
    names = [] if case.merged else ["--no-symmetry"]
    report = json.loads(must([program, "explore", *scope(case), "--json", "--no-liveness", *names]))
    expected = [report["states"], report["transitions"]]
    if found != expected:
        raise Failure(f"{label}: rumur counts {found[0]} states and {found[1]} moves, explore {expected[0]} and {expected[1]}")
    return f"{label}: {found[0]} states, {found[1]} moves"


def kill(program, name, mutant):
    with tempfile.TemporaryDirectory() as folder:
        path = model(program, Path(folder), Case(name, NEEDS.get(mutant, ())), mutant)
        *_, wrong = verify(path, False)
    if not wrong:
        raise Failure(f"{name}: {mutant} is not seen")
    return f"{name} {mutant}: {wrong.strip()}"


def mutants(program, name):
    """All broken rules of a model: the refusal of one that is none lists them."""
    status, _, err = run([program, "export", "murphi", name, "--mutant", "none"])
    listed = re.search(r"expected one of (.*)", err)
    if status != 2 or not listed:
        raise Failure(f"{name}: found {err!r}, expected a list of mutants")
    return listed[1].split(", ")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--program", required=True, type=Path)
    arguments.add_argument("--full", action="store_true", help="three agents, options, every broken rule")
    given = arguments.parse_args()
    if not shutil.which("rumur"):
        sys.exit("missing: rumur\nto install: bash testbenches/setup/tools.sh")
    program = given.program.resolve()
    killed = {name: mutants(program, name) if given.full else few for name, few in FEW_MUTANTS.items()}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(compare, program, case) for case in FEW + (MORE if given.full else [])]
        jobs += [pool.submit(kill, program, name, mutant) for name, names in killed.items() for mutant in names]
        failed = 0
        for job in jobs:
            try:
                print(job.result())
            except Failure as failure:
                print(failure, file=sys.stderr)
                failed += 1
    sys.exit(f"{failed} of {len(jobs)} comparisons failed" if failed else 0)


if __name__ == "__main__":
    main()
