"""User instructions that a flit costs in a run, everything counted: components, links, checks, coverage, report.

Modelled: the marginal cost, the difference of two runs of different length over the difference of their flits, so what a
program does once does not count. Instructions are those that callgrind sees. It emulates a CPU of its own, without GFNI and
AVX-512, so the paths of the codecs for these never run under it; times of real runs are `make bench`.

The numbers of a compiler, a build profile and the features of a CPU are their own. So a baseline names all three. Where they
are those of this machine, a cost of more than a tenth above the baseline fails; elsewhere the costs are printed only.

usage: flit_cost.py --program PROGRAM --profile NAME [--bless]
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BASELINE = Path(__file__).with_name("flit_cost.json")

# Share above the baseline that fails.
TOLERANCE = 0.10

# Features of a CPU that valgrind hands on to the program and that the codecs ask for.
FEATURES = ("avx2", "bmi2", "pclmulqdq", "ssse3")

MIX = ("--set", "host.pattern=mix")

# Nobody looks at the flits of these runs, so their links have no bytes unless that is asked for.
BYTES = ("--set", "link.bits=always")

# A system: its arguments, the setting that makes it longer, its two lengths.
SYSTEMS = {
    "cxl68-expander mix": (["cxl68-expander", *MIX], "host.accesses", (500, 2500)),
    "cxl68-expander mix, bytes": (["cxl68-expander", *MIX, *BYTES], "host.accesses", (500, 2500)),
    "cxl256-expander mix": (["cxl256-expander", *MIX], "host.accesses", (500, 2500)),
    "cxl256-expander mix, bytes": (["cxl256-expander", *MIX, *BYTES], "host.accesses", (500, 2500)),
    "ualink-pod of 16": (["ualink-pod", "--set", "pod.accelerators=16"], "traffic.operations", (10, 30)),
    "nvlink-pair": (["nvlink-pair"], "traffic.requests", (200, 800)),
}


def machine(profile):
    """What the numbers depend on: compiler, build profile, features of the CPU."""
    compiler = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    flags = set()
    for line in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("flags"):
            flags = set(line.split(":", 1)[1].split())
            break
    return {"compiler": compiler, "profile": profile, "features": [name for name in FEATURES if name in flags]}


def counted(program, arguments):
    """Instructions and report of one run."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.path.join(folder, 'out')}"]
        run = subprocess.run(
            command + [program, "run", *arguments, "--seed", "1", "--json"], capture_output=True, text=True
        )
    collected = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or collected is None:
        sys.exit(f"flit cost: {' '.join(arguments)} ended with {run.returncode}:\n{run.stderr}")
    return int(collected[1]), json.loads(run.stdout)


def cost(program, system):
    """Instructions a flit, marginal."""
    arguments, setting, lengths = SYSTEMS[system]
    (short, long) = (counted(program, [*arguments, "--set", f"{setting}={length}"]) for length in lengths)
    return round((long[0] - short[0]) / (long[1]["flits"] - short[1]["flits"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--profile", required=True)
    parser.add_argument("--bless", action="store_true", help="writes the costs of this machine as the baseline of the profile")
    arguments = parser.parse_args()

    here = machine(arguments.profile)
    baselines = json.loads(BASELINE.read_text(encoding="utf-8"))
    baseline = next((b for b in baselines if all(b[key] == here[key] for key in here)), None)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        costs = dict(zip(SYSTEMS, pool.map(lambda system: cost(arguments.program, system), SYSTEMS)))

    if arguments.bless:
        kept = [b for b in baselines if b["profile"] != arguments.profile]
        BASELINE.write_text(json.dumps([*kept, {**here, "instructions": costs}], indent=2) + "\n", encoding="utf-8")
        return

    worse = []
    print(f"{'instructions a flit, marginal':32} {'now':>8} {'baseline':>9}")
    for system, now in costs.items():
        limit = baseline and baseline["instructions"].get(system)
        print(f"{system:32} {now:8} {limit or '-':>9}")
        if limit and now > limit * (1 + TOLERANCE):
            worse.append(f"flit cost: {system}: found {now} instructions a flit, expected at most {limit} and a tenth")
    if baseline is None:
        print(f"not judged: no baseline for {here['compiler']}, profile {here['profile']}, features {here['features']}")
    print("callgrind has no GFNI and no AVX-512, so codec paths that use them are not in these numbers")
    if worse:
        sys.exit("\n".join(worse))


if __name__ == "__main__":
    main()
