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

# (exploration, its options, whether agents that are alike count once). rumur's `exhaustive` finds one form of each state, as
# `explore` does; its `heuristic` does not, so nothing is compared under that.
FEW = [
    ("cxl-cache-2", (), False),
    ("cxl-cache-2-memory", (), True),
    ("hdm-db-2", (), False),
    ("hdm-db-2", (), True),
    ("hdm-d", (), False),
]
MORE = [
    ("cxl-cache-2", (), True),
    ("cxl-cache-2", ("clean_evict=pull", "silent_drop_e=true", "silent_drop_s=false"), False),
    ("cxl-cache-2-core", (), False),
    ("cxl-cache-2-core", (), True),
    ("cxl-cache-2-memory", (), False),
    ("cxl-cache-2-memory", ("clean_evict=pull", "silent_drop_e=true", "silent_drop_s=false"), True),
    ("cxl-cache-3", (), False),
    ("cxl-cache-3", (), True),
    ("hdm-db-3", (), False),
    ("hdm-db-3", (), True),
    ("hdm-d", ("mem.flush_keeps_shared=true",), False),
]
# A rule of each kind: one that invariants see, one that a transition sees, one that ends in a deadlock.
FEW_MUTANTS = {
    "cxl-cache-2": ("SnoopPassesGo", "OldBytesKept", "SnoopWaitsForRequest"),
    "cxl-cache-2-memory": ("StoreNotAwaited", "CurrentDataCleansOwner"),
    "hdm-db-2": ("AckPassesCmp", "AnswerBeforeWriteDone", "BisnpBlocksRwd", "HostOldBytes"),
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


def model(program, folder, name, options=(), mutant=None):
    path = folder / "model.m"
    broken = ["--mutant", mutant] if mutant else []
    must([program, "export", "murphi", name, *settings(options), *broken, "--out", path])
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


def compare(program, name, options, merged):
    with tempfile.TemporaryDirectory() as folder:
        path = model(program, Path(folder), name, options)
        *found, wrong = verify(path, name.endswith("3"), "exhaustive" if merged else "off")
    if wrong:
        raise Failure(f"{name}: rumur reports {wrong.strip()}")
    names = [] if merged else ["--no-symmetry"]
    report = json.loads(must([program, "explore", name, "--json", "--no-liveness", *names, *settings(options)]))
    expected = [report["states"], report["transitions"]]
    label = " ".join([name, *options, *(["without names"] if merged else [])])
    if found != expected:
        raise Failure(f"{label}: rumur counts {found[0]} states and {found[1]} moves, explore {expected[0]} and {expected[1]}")
    return f"{label}: {found[0]} states, {found[1]} moves"


def kill(program, name, mutant):
    with tempfile.TemporaryDirectory() as folder:
        path = model(program, Path(folder), name, NEEDS.get(mutant, ()), mutant)
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
        jobs = [pool.submit(compare, program, *case) for case in FEW + (MORE if given.full else [])]
        jobs += [pool.submit(kill, program, name, mutant) for name, names in killed.items() for mutant in names]
        failed = 0
        for job in jobs:
            try:
                print(job.result())
            except Failure as failure:
                print(failure, file=sys.stderr)
                failed += 1
    sys.exit(f"{failed} of {len(jobs)} comparisons failed" if failed else 0)


main()
