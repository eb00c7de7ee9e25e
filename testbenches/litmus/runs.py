#!/usr/bin/env python3
"""Runs the classic shapes on clocked cores over links and holds every outcome against axioms.py.

    python3 testbenches/litmus/runs.py --program target/debug/scalepool [--runs N] [--protocol NAME] [--order NAME] [--noise RATE] [--seed S]

Ten shapes in four orders (sequential, TSO, weak, and a TSO host with weak devices) over each protocol: `scalepool litmus
--runs N` with the set of axioms.py as `--allowed`. Then the other way round: outcomes of weak cores, held against the set of
sequential ones, have to be found outside, and the seed and number that are named have to repeat the run. Printed is a table of
runs and of how many of the allowed outcomes were reached. Exit status 1 if an outcome is outside, a rule is broken, or what
should have been found is not.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from axioms import PROTOCOLS, Answer

# Cores behind a bridge are explored, and have no clocks.
CLOCKED = tuple(protocol for protocol in PROTOCOLS if protocol != "bridge")

# Each thread: accesses of LISA. Registers are numbered per thread.
SHAPES = {
    "MP": ("Wx1 Wy1", "Ry Rx"),
    "SB": ("Wx1 Ry", "Wy1 Rx"),
    "LB": ("Rx Wy1", "Ry Wx1"),
    "S": ("Wx2 Wy1", "Ry Wx1"),
    "R": ("Wx1 Wy1", "Wy2 Rx"),
    "2+2W": ("Wx1 Wy2", "Wy1 Wx2"),
    "WRC": ("Wx1", "Rx Wy1", "Ry Rx"),
    "RWC": ("Wx1", "Rx Ry", "Wy1 Rx"),
    "ISA2": ("Wx1 Wy1", "Ry Wz1", "Rz Rx"),
    "IRIW": ("Wx1", "Rx Ry", "Wy1", "Ry Rx"),
    # Read-modify-writes: an exchange in the place of the stores, and increments.
    "SB+rmw": ("Ux1 Ry", "Uy1 Rx"),
    "ADD": ("Ax Ay", "Ay Ax"),
}
ORDERS = {
    "SC": lambda n: ["SC"] * n,
    "TSO": lambda n: ["TSO"] * n,
    "ARM": lambda n: ["ARM"] * n,
    "TSO+ARM": lambda n: ["TSO"] + ["ARM"] * (n - 1),
}


def file_of(name, threads, protocol, orders):
    """A shape as the text of a file that names every register and location."""
    columns, named = [], []
    for i, thread in enumerate(threads):
        rows, loads = [], 0
        for kind, place, value in ((word[0], word[1], word[2:]) for word in thread.split()):
            forms = {"W": f"w[] {place} {value}", "R": f"r[] r{loads} {place}", "U": f"rmw[] r{loads} (mov {value}) {place}",
                     "A": f"rmw[] r{loads} (add r{loads} 1) {place}"}
            rows.append(forms[kind])
            if kind != "W":
                named.append(f"{i}:r{loads}")
                loads += 1
        columns.append([f"P{i}", *rows])
    lines = [f"LISA {name}", f"Protocol={protocol}", "Orders=" + ",".join(orders)]
    places = [place for place in "xyz" if any(place in thread for thread in threads)]
    lines.append("{ " + " ".join(f"{place}=0;" for place in places) + " }")
    for i in range(max(map(len, columns))):
        lines.append(" " + " | ".join(column[i] if i < len(column) else "" for column in columns) + " ;")
    lines.append("locations [" + " ".join(f"{name};" for name in named + places) + "]")
    return "\n".join([*lines, "exists (true)"]) + "\n"


def run(given, folder, name, text, allowed, more=()):
    """Runs a file against a set; exit status and what it printed."""
    path = folder / f"{name}.litmus"
    log = folder / f"{name}.log"
    path.write_text(text)
    log.write_text(Answer(allowed).herd())
    command = [given.program, "litmus", str(path), "--json", "--runs", str(given.runs), "--seed", str(given.seed), "--allowed", str(log)]
    if given.noise:
        command += ["--set", f"link.ber={given.noise}"]
    ran = subprocess.run([*command, *more], capture_output=True, text=True)
    try:
        return ran.returncode, json.loads(ran.stdout)
    except json.JSONDecodeError:
        return ran.returncode, {"error": ran.stderr.strip() or ran.stdout}


def judged(given, folder, job):
    """Runs of one shape: its line of the table, and what is wrong."""
    name, threads, protocol, order = job
    text = file_of(name, threads, protocol, ORDERS[order](len(threads)))
    label = f"{name}-{protocol}-{order}"
    status, found = run(given, folder, label, text, text)
    if "error" in found:
        return label, None, [found["error"]]
    wrong = [f"not allowed: {seen['outcome']}, first with {seen['first']}" for seen in found["histogram"] if not seen["allowed"]]
    wrong += [f"broken: {violation}" for violation in found["violations"]]
    runs = sum(seen["runs"] for seen in found["histogram"])
    if runs != given.runs:
        wrong.append(f"found {runs} runs, expected {given.runs}")
    if status != (1 if wrong else 0):
        wrong.append(f"exit {status}")
    return label, (found["reached"], found["allowed"]), wrong


def is_found(given, folder, name):
    """Weak cores leave the set of sequential ones; what is named repeats it."""
    texts = {order: file_of(name, SHAPES[name], "cxl-cache", ORDERS[order](len(SHAPES[name]))) for order in ("SC", "ARM")}
    status, found = run(given, folder, f"{name}-outside", texts["ARM"], texts["SC"])
    outside = [seen for seen in found.get("histogram", []) if not seen["allowed"]]
    if status != 1 or not outside:
        return [f"{name}: weak cores stay inside the set of sequential ones: exit {status}, {found}"]
    first = outside[0]["first"]
    again = ["--seed", str(first["seed"]), "--runs", str(first["run"])]
    command = [given.program, "litmus", str(folder / f"{name}-outside.litmus"), "--json", *again, "--allowed", str(folder / f"{name}-outside.log")]
    if given.noise:
        command += ["--set", f"link.ber={given.noise}"]
    repeated = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    seen = [other for other in repeated["histogram"] if other["outcome"] == outside[0]["outcome"]]
    if not seen or seen[0]["first"] != first:
        return [f"{name}: {again} does not repeat {outside[0]}"]
    return []


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--runs", type=int, default=200)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--protocol", choices=CLOCKED)
    arguments.add_argument("--order", choices=ORDERS, help="one order of the cores instead of all")
    arguments.add_argument("--noise", help="bit error rate of all links")
    given = arguments.parse_args()
    jobs = []
    for name, threads in SHAPES.items():
        for protocol in (given.protocol,) if given.protocol else CLOCKED:
            # A device and its host are two cores.
            if protocol != "hdm-d" or len(threads) == 2:
                orders = (given.order,) if given.order else ORDERS
                jobs += [(name, threads, protocol, order) for order in orders]
    well, reached, allowed = True, 0, 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        for label, counts, wrong in pool.map(lambda job: judged(given, Path(folder), job), jobs):
            well = well and not wrong
            for line in wrong:
                print(f"{label}: {line}")
            if counts:
                reached, allowed = reached + counts[0], allowed + counts[1]
                if given.runs >= 10_000:
                    print(f"{label}: {counts[0]} of {counts[1]} allowed outcomes in {given.runs} runs", flush=True)
        for name in ("MP", "SB"):
            for line in is_found(given, Path(folder), name):
                well = False
                print(line)
    print(f"{len(jobs)} shapes, {given.runs} runs of each, seed {given.seed}: {reached} of {allowed} allowed outcomes reached")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
