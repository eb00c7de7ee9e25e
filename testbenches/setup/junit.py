#!/usr/bin/env python3
"""Writes what `cargo test` has printed as JUnit XML, for continuous integration: a suite for each test program, a case for each test, of a
failed one what it has said, and the command that runs it again.

A test of a rule is named after it: `cxl68_crc_01_n` breaks CXL68-CRC-01, `cxl68_crc_01_p` obeys it. Tests take their random numbers from
seeds of their own, the same in each run; where PROPTEST_RNG_SEED, PROPTEST_CASES or SCALEPOOL_SOAK are set, these are properties, and
stand in the commands.

usage: junit.py LOG FILE
"""

import os
import re
import shlex
import sys
import xml.etree.ElementTree as etree

SETTINGS = ("PROPTEST_RNG_SEED", "PROPTEST_CASES", "SCALEPOOL_SOAK")
RUNNING = re.compile(r"^\s*Running (?:unittests )?(\S+) \((?:.*/)?(.+)-[0-9a-f]+\)$")
DOC_TESTS = re.compile(r"^\s*Doc-tests (\S+)$")
TEST = re.compile(r"^test (.+?) \.\.\. (ok|FAILED|ignored)\b")
SAID = re.compile(r"^---- (.+) stdout ----$")
# What cargo writes behind the name of a test of a special kind; it is no part of the name.
KIND = re.compile(r" - (?:should panic|compile fail|compile)$")
# What stands behind the last text of a failed test.
NO_MORE = re.compile(r"^(failures:|test result: )")

# Of a program that has died, so many of its last lines are shown.
LAST_LINES = 40


def selection(source, program):
    """Arguments of cargo that choose a test program, by its source and name as cargo shows them."""
    if re.match(r"(?:.*/)?tests/", source):
        return f"--workspace --test {program}"
    package = program.replace("_", "-")
    return f"-p {package} --bins" if source.endswith("main.rs") else f"-p {package} --lib"


def read(lines):
    """[(name of the suite, arguments of cargo, [(test, verdict)], {test: text}, last lines where it has no result, or None)] of a log."""
    suites, failed, ended, last = [], None, [], []
    for line in (re.sub(r"\033\[[0-9;]*m", "", line.rstrip("\n")) for line in lines):
        if (found := RUNNING.match(line)) or (doc := DOC_TESTS.match(line)):
            name, chosen = (found[2], selection(found[1], found[2])) if found else (doc[1], f"-p {doc[1].replace('_', '-')} --doc")
            suites.append((name if found else f"{name} (documentation)", chosen, [], {}))
            ended.append(False)
            last.append([])
            failed = None
            continue
        if suites and not ended[-1]:
            last[-1] = [*last[-1][1 - LAST_LINES:], line]
            ended[-1] = line.startswith("test result: ")
        if suites and (found := TEST.match(line)):
            suites[-1][2].append((KIND.sub("", found[1]), found[2]))
        elif suites and (found := SAID.match(line)):
            failed = KIND.sub("", found[1])
            suites[-1][3][failed] = []
        elif NO_MORE.match(line):
            failed = None
        elif failed is not None:
            suites[-1][3][failed].append(line)
    return [(*suite, None if end else lines) for suite, end, lines in zip(suites, ended, last)]


def printable(text):
    """The text without characters that XML 1.0 has no place for."""
    return re.sub(r"[^\t\n\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]", "?", text)


def junit(suites, settings):
    """The file, as an element."""
    root = etree.Element("testsuites")
    before = "".join(f"{key}={shlex.quote(value)} " for key, value in settings.items())
    for name, chosen, tests, said, died in suites:
        failures = sum(verdict == "FAILED" for _, verdict in tests)
        skipped = sum(verdict == "ignored" for _, verdict in tests)
        errors = int(died is not None)
        suite = etree.SubElement(root, "testsuite", name=name, tests=str(len(tests) + errors), failures=str(failures), errors=str(errors),
                                 skipped=str(skipped))
        properties = etree.SubElement(suite, "properties")
        for key, value in [*settings.items(), ("rerun", f"{before}cargo test {chosen}")]:
            etree.SubElement(properties, "property", name=key, value=value)
        for test, verdict in tests:
            module = "::".join([name, *test.split("::")[:-1]])
            case = etree.SubElement(suite, "testcase", classname=module, name=test.split("::")[-1])
            if verdict == "FAILED":
                text = printable("\n".join(said.get(test, [])).strip())
                again = f"{before}cargo test {chosen} -- --exact {shlex.quote(test)}"
                # What a test says begins with the line that names the place.
                message = next((line for line in text.splitlines()[1:] if line.strip()), "failed")
                etree.SubElement(case, "failure", type="test", message=message).text = f"{text}\nto run it again: {again}"
            elif verdict == "ignored":
                etree.SubElement(case, "skipped")
        if died is not None:
            case = etree.SubElement(suite, "testcase", classname=name, name="the test program")
            text = printable("\n".join(died).strip())
            error = etree.SubElement(case, "error", type="program", message="the program ended without a result of its tests")
            error.text = f"{text}\nto run it again: {before}cargo test {chosen}"
    for key in ("tests", "failures", "errors"):
        root.set(key, str(sum(int(suite.get(key)) for suite in root)))
    etree.indent(root)
    return root


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
        suites = read(log)
    settings = {key: os.environ[key] for key in SETTINGS if os.environ.get(key)}
    etree.ElementTree(junit(suites, settings)).write(sys.argv[2], encoding="UTF-8", xml_declaration=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
