#!/usr/bin/env python3
"""Compares the program with the fact sheets: python3 oracle.py FOLDER_OF_THE_ORACLE PROGRAM

Which families must be there stands in ../oracle_families.txt, which differences are settled in ../oracle_waivers.txt.
Exit 0: every family agrees, waived differences apart; 1: one does not; 2: the oracle cannot be run.
"""
import os
import subprocess
import sys
from pathlib import Path

TESTBENCHES = Path(__file__).resolve().parent.parent
INDENT = "    "  # of a line that shows a difference
MORE = ".. and "  # beginning of the line that says how many were not shown


def rows(text):
    """The lines of a list, without comments and empty ones."""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def waivers(text):
    """[(beginning of a difference, reason)]"""
    found = [tuple(part.strip() for part in row.partition("|")[::2]) for row in rows(text)]
    for beginning, reason in found:
        if not beginning or not reason:
            raise ValueError(f"waiver: found `{beginning} | {reason}`, expected `beginning of a difference | reason`")
    return found


def judge(output, status, waived):
    """What is wrong about a comparison that printed `output` and ended with `status`; nothing when it passes."""
    if status not in (0, 1):
        return [f"the oracle ended with status {status}, expected 0 or 1"]
    lines = output.splitlines()
    shown = [line[len(INDENT):].strip() for line in lines if line.startswith(INDENT)]
    open_ = [line for line in lines if "not built yet" in line]
    real = [d for d in shown if not any(d.startswith(beginning) for beginning, _ in waived)]
    stale = [beginning for beginning, _ in waived if not any(d.startswith(beginning) for d in shown)]
    wrong = [f"not built: {line}" for line in open_]
    # A line with more kinds of difference than are shown may hide one that is not waived.
    wrong += [("more differences than are shown: " if d.startswith(MORE) else "difference: ") + d for d in real]
    wrong += [f"waiver that matches nothing: {beginning}" for beginning in stale]
    if status == 1 and not shown and not open_:
        wrong.append("the oracle found something and did not show it")
    return wrong


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, program = map(Path, sys.argv[1:])
    compare = folder / "compare.py"
    if not compare.is_file():
        print(f"oracle: found no `{compare}`, expected the folder of the oracle in ORACLE", file=sys.stderr)
        return 2
    families = rows((TESTBENCHES / "oracle_families.txt").read_text(encoding="utf-8"))
    waived = waivers((TESTBENCHES / "oracle_waivers.txt").read_text(encoding="utf-8"))
    if not families:
        print("oracle: found no family in oracle_families.txt, expected one or more", file=sys.stderr)
        return 2
    command = [sys.executable, str(compare), "--bin", str(program.resolve())]
    command += [word for family in families for word in ("--family", family)]
    # The folder is not ours: nothing may be written into it.
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    print(run.stdout, end="")
    wrong = judge(run.stdout, run.returncode, waived)
    for line in wrong:
        print(f"oracle: {line}", file=sys.stderr)
    return 2 if run.returncode not in (0, 1) else 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
