#!/usr/bin/env python3
"""Follows docs/guide/your-dut-in-30-minutes.md literally: writes the files that it shows, runs its commands in their order, and compares
what they print with the page.

A block behind a line that ends with a name and a colon is a file of that name, in the folder in which the reader is by then. In a block
marked `console`, a line that begins with `$ ` is a command, and the lines up to the next are its output; a command without
output needs only to succeed. `...` in a line stands for any text, a line of `...` alone for any lines, and how many spaces stand between
two words is not compared. As for a reader, a command finds what the ones before it have left, settings of the shell included.

A page that has passed is not followed again until it, the design, the package or the program changes (target/cocotb/guide).

usage: guide.py --program PROGRAM [--fresh]
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "guide" / "your-dut-in-30-minutes.md"
OUT = ROOT / "target" / "cocotb" / "guide"
sys.path.insert(0, str(HERE.parent / "verilator"))

import runtime  # noqa: E402
from contents import hash_of  # noqa: E402

SECONDS = 600
BEHIND = "@@ step"


def steps(page):
    """[(line of the page, "file", name, text) or (line, "command", command, output)] in the order of the page."""
    found, fence, said, begin = [], None, "", 0
    lines = []
    for number, line in enumerate(page.splitlines(), 1):
        if fence is None and line.startswith("```"):
            fence, begin, lines = line.removeprefix("```"), number, []
        elif fence is not None and line == "```":
            name = re.search(r"`([\w.-]+)`:$", said)
            if fence == "console":
                found += commands(begin, lines)
            elif name:
                found.append((begin, "file", name[1], "".join(f"{line}\n" for line in lines)))
            fence, said = None, ""
        elif fence is not None:
            lines.append(line)
        elif line.strip():
            said = line
    return found


def commands(begin, lines):
    """The commands of a block, each with its output."""
    found = []
    for number, line in enumerate(lines, begin + 1):
        if line.startswith("$ "):
            found.append((number, "command", line.removeprefix("$ "), []))
        elif found:
            found[-1][3].append(line)
        else:
            raise SystemExit(f"{PAGE.name}:{number}: found output, expected a line with `$ ` first")
    return found


def script(of_page):
    """One session of a shell that does all steps and tells where each ends."""
    parts = []
    for number, (_, kind, what, text) in enumerate(of_page):
        if kind == "file":
            parts.append(f"cat >{what} <<'@@ end of {what}'\n{text}@@ end of {what}\n")
        else:
            parts.append(f"{what}\n")
        parts.append(f"printf '\\n{BEHIND} %d %d\\n' {number} $?\n")
    return "".join(parts)


def even(text):
    """Lines with single spaces, without empty ones at the end."""
    return [" ".join(line.split()) for line in text.rstrip().splitlines()]


def fits(shown, found):
    """Whether output is what the page shows."""
    pattern = ""
    for line in even("\n".join(shown)):
        pattern += r"(?:.*\n)*?" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + r"\n"
    return not shown or re.fullmatch(pattern, "".join(f"{line}\n" for line in even(found))) is not None


def follow(of_page, program):
    """What is wrong with the page, a text for each step that does not do what it says."""
    shutil.rmtree(ROOT / "target" / "guide", ignore_errors=True)
    environment = runtime.environment()
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        environment.pop(name, None)
    environment["PATH"] = f"{program.parent}{os.pathsep}{environment['PATH']}"
    log = OUT / "messages.log"
    with open(log, "w", encoding="utf-8") as messages:
        done = subprocess.run(["bash", "-c", script(of_page)], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=messages,
                              text=True, timeout=SECONDS)
    (OUT / "output.log").write_text(done.stdout, encoding="utf-8")
    wrong, rest = [], done.stdout
    for number, (line, kind, what, shown) in enumerate(of_page):
        end = re.search(rf"^{BEHIND} {number} (\d+)$\n?", rest, re.MULTILINE)
        if end is None:
            wrong.append(f"{PAGE.name}:{line}: `{what}` ended the session")
            break
        output, rest = rest[: end.start()], rest[end.end() :]
        if end[1] != "0":
            wrong.append(f"{PAGE.name}:{line}: `{what}` ended with status {end[1]}\n{output}")
        elif kind == "command" and not fits(shown, output):
            wrong.append(f"{PAGE.name}:{line}: `{what}` printed\n{output}\nexpected\n" + "\n".join(shown))
    return [f"{text}\nmessages: {log}" for text in wrong]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("usage:")[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True, help="the built program `scalepool`")
    parser.add_argument("--fresh", action="store_true", help="follow the page even if nothing has changed")
    options = parser.parse_args()
    begin, program = time.monotonic(), options.program.resolve()
    OUT.mkdir(parents=True, exist_ok=True)
    package = next((ROOT / ".venv-cosim").glob("lib/python3*/site-packages/cocotbext/scalepool"))
    key, passed = hash_of(PAGE, HERE / "guide.py", HERE.parent / "rtl" / "guide", package, program), OUT / "passed"
    of_page = steps(PAGE.read_text(encoding="utf-8"))
    count = sum(kind == "command" for _, kind, _, _ in of_page)
    if options.fresh or not passed.is_file() or passed.read_text(encoding="ascii") != key:
        passed.unlink(missing_ok=True)
        wrong = follow(of_page, program)
        if wrong:
            print("\n\n".join(wrong))
            return 1
        passed.write_text(key, encoding="ascii")
    print(f"{PAGE.name}: {count} commands do what the page says, {time.monotonic() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
