#!/usr/bin/env python3
"""Holds `scalepool litmus` against axioms.py: equal sets of outcomes, nothing outside and nothing missing.

    python3 testbenches/litmus/herd.py --program target/debug/scalepool [--full] [--random N] [--seed S]

First axioms.py is held against published.txt. Then the program runs on the files of shapes/ and on N random files of each
dialect (X86, AArch64, LISA in one order, LISA in mixed orders), which are written to a temporary folder. Without --full the
shapes of LARGE are left out. Random files that turn out to be too large are counted and left. Compared are the
outcomes, whether the condition holds, and that the program finished its search without a broken rule. Exit status 1 on any
difference; the file's text is printed with it.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from axioms import HERE, ORDERS, Answer, Refused, check_published

DIALECTS = ("X86", "AArch64", "LISA", "mixed")
PATIENCE = 1800  # seconds for one file
# Most states of a shape, and of a random file with --full and without.
FULL, MIDDLE, QUICK = 40_000_000, 2_000_000, 30_000
# Shapes of more than 40,000 states; IRIW, ISA2 and RWC of x86 stay in the quick run.
LARGE = frozenset("""
    bridge/SB+bridge bridge/MP+bridge+weak aarch64/IRIW aarch64/IRIW+addr+po aarch64/IRIW+addrs aarch64/IRIW+dmb.sys aarch64/IRIW+poaps aarch64/ISA2
    aarch64/ISA2+dmb.sy+addr+addr aarch64/ISA2+dmb.sy+data+addr aarch64/ISA2+popl+poap+poap lisa/ISA2+tso+arm-data+tso
    aarch64/ISA2+dmb.sy+po+addr aarch64/LB+addr-pos aarch64/LB+data-rfi-datas aarch64/RWC aarch64/RWC+addr+po
    aarch64/SB+po-swp-pos aarch64/SB+po-swpal-pos aarch64/WRC aarch64/WRC+po+addr lisa/RWC+arm+arm-acquire+tso lisa/WRC+arm+tso+arm x86/RWC+mfence+po
    lisa/IRIW+arm+tso+arm+tso lisa/IRIW+tso+arm+tso+tso x86/3.SB x86/IRIW+mfences x86/iwp2.8.a x86/W+RWC x86/n1
""".split())
KEYS = ("test", "arch", "protocol", "outcomes", "condition", "quantifier", "ok", "positive", "negative", "observation", "states",
        "transitions", "complete", "violations")


# ----------------------------------------------------------------------------------------------------------- random files

class Column:
    """A random thread of one dialect: its rows, the registers it loads into, and which of them hold a value."""

    def __init__(self, numbers, dialect, places):
        self.numbers, self.dialect, self.places = numbers, dialect, places
        self.rows, self.loaded, self.count, self.labels = [], [], 0, 0
        # Registers with the status of a store exclusive, which nothing may depend on.
        self.statuses = []

    def fresh(self):
        if self.dialect == "X86":
            name = ("EAX", "EBX", "ECX", "EDX", "ESI", "EDI")[self.count]
        else:
            name = f"{'W' if self.dialect == 'AArch64' else 'r'}{self.count}"
        self.count += 1
        return name

    def target(self):
        """The register of a load: mostly a new one, sometimes one that is in use."""
        if self.loaded and self.numbers.random() < 0.1:
            return self.numbers.choice(self.loaded)
        return self.fresh()

    def fence(self, full):
        fences = {"X86": ("MFENCE",), "AArch64": ("DMB SY", "DMB LD", "DMB ST"), "LISA": ("f[full]", "f[ld]", "f[st]")}
        self.rows.append(fences[self.dialect][0] if full else self.numbers.choice(fences[self.dialect]))

    def access(self, place, value, kind):
        """A load (R), or a store (W) of `value` or of something that was loaded; `?` leaves it open, also to a read-modify-write."""
        chance = self.numbers.random
        if kind == "?" and chance() < 0.15:
            self.update(place, value, chance() < 0.5)
            return
        load = kind == "R" or (kind == "?" and chance() < 0.5)
        getattr(self, {"X86": "x86", "AArch64": "arm", "LISA": "lisa"}[self.dialect])(place, load, value, chance)

    def seen(self):
        """A register that was loaded, mostly the last one."""
        return self.loaded[-1] if self.numbers.random() < 0.6 else self.numbers.choice(self.loaded)

    def load(self, form):
        register = self.target()
        self.rows.append(form.format(register))
        if register not in self.loaded:
            self.loaded.append(register)

    def update(self, place, value, adds):
        """An exchange or an addition at one point."""
        numbers, register = self.numbers, self.fresh()
        if self.dialect == "AArch64" and numbers.random() < 0.4:
            self.exclusive(place, value, adds, register)
            return
        if self.dialect == "X86":
            if adds and numbers.random() < 0.3:
                self.rows.append(f"LOCK INC [{place}]")
                return
            form = "LOCK XADD [{}],{}" if adds else numbers.choice(("XCHG [{}],{}", "XCHG {1},[{0}]"))
            self.rows += [f"MOV {register},${value}", form.format(place, register)]
        elif self.dialect == "AArch64":
            if self.loaded and numbers.random() < 0.4:
                source = self.seen()
            else:
                source = self.fresh()
                self.rows.append(f"MOV {source},#{value}")
            name = ("LDADD" if adds else "SWP") + numbers.choice(("", "A", "L", "AL"))
            self.rows.append(f"{name} {source},{register},[X{20 + self.places.index(place)}]")
        else:
            source = self.seen() if self.loaded and numbers.random() < 0.4 else value
            what = f"(add {register} {value})" if adds else f"(mov {source})"
            how = numbers.choice(("", "acquire", "release", "acquire,release"))
            self.rows.append(f"rmw[{how}] {register} {what} {place}")
        self.loaded.append(register)

    def exclusive(self, place, value, adds, register):
        """A load exclusive and its store, which writes a number or one more than was loaded."""
        numbers, status = self.numbers, self.fresh()
        pointer = f"X{20 + self.places.index(place)}"
        self.rows.append(f"{numbers.choice(('LDXR', 'LDAXR'))} {register},[{pointer}]")
        source = self.fresh()
        self.rows.append(f"ADD {source},{register},#1" if adds else f"MOV {source},#{value}")
        self.rows.append(f"{numbers.choice(('STXR', 'STLXR'))} {status},{source},[{pointer}]")
        self.loaded.append(register)
        self.statuses.append(status)

    def x86(self, place, load, value, chance):
        if load:
            self.load(f"MOV {{}},[{place}]")
        elif self.loaded and chance() < 0.25:
            self.rows.append(f"MOV [{place}],{self.seen()}")
        elif self.count < 3 and chance() < 0.1:
            register = self.fresh()
            self.rows += [f"MOV {register},${value}", f"MOV [{place}],{register}"]
        else:
            self.rows.append(f"MOV [{place}],${value}")

    def lisa(self, place, load, value, chance):
        if load:
            self.load(f"r[{'acquire' if chance() < 0.3 else ''}] {{}} {place}")
        else:
            what = self.seen() if self.loaded and chance() < 0.4 else value
            self.rows.append(f"w[{'release' if chance() < 0.3 else ''}] {place} {what}")

    def zero(self):
        """A register that is 0 and depends on a load."""
        used, register = self.seen(), self.fresh()
        self.rows.append(f"EOR {register},{used},{used}")
        return register

    def arm(self, place, load, value, chance):
        pointer = f"X{20 + self.places.index(place)}"
        if self.loaded and chance() < 0.25:
            label = f"L{self.labels}"
            self.labels += 1
            self.rows += [f"{self.numbers.choice(('CBZ', 'CBNZ'))} {self.seen()},{label}", f"{label}:"]
        index = f",{self.zero()},SXTW" if self.loaded and chance() < 0.45 else ""
        ordered = not index and chance() < 0.3
        if load:
            self.load(f"{'LDAR' if ordered else 'LDR'} {{}},[{pointer}{index}]")
            return
        what = chance()
        if self.loaded and what < 0.2:
            register = self.seen()
        elif self.loaded and what < 0.45:
            register = self.zero()
            self.rows.append(f"ADD {register},{register},#{value}")
        elif self.loaded and what < 0.55:
            used, register = self.seen(), self.fresh()
            self.rows.append(f"ADD {register},{used},#1")
        elif self.loaded and what < 0.6:
            one, other, register = self.seen(), self.seen(), self.fresh()
            self.rows.append(f"EOR {register},{one},{other}")
        else:
            register = self.fresh()
            self.rows.append(f"MOV {register},#{value}")
        self.rows.append(f"{'STLR' if ordered else 'STR'} {register},[{pointer}{index}]")


def scattered(numbers, places):
    """The places that a thread accesses: 1 to 3, anywhere."""
    return [numbers.choice(places) for _ in range(numbers.choice((1, 2, 2, 3, 3)))]


def in_ring(numbers, thread, threads):
    """The places of a thread in a ring: it ends where the next one begins, as in the classic shapes. What lies between stays at
    the first place or goes to a place of the thread's own, mostly twice, so that it can forward."""
    first, last = "xyz"[thread], "xyz"[(thread + 1) % threads]
    aside = numbers.choice((first, first, last, "z"))
    return [first] + [aside] * numbers.choice((0, 0, 1, 1, 2, 2) if threads == 2 else (0, 0, 1)) + [last]


def random_file(numbers, dialect, name):
    """The text of a file: 2 or 3 threads, 1 to 3 locations, 1 to 3 accesses a thread; in a ring of two, up to 4."""
    arch = "LISA" if dialect == "mixed" else dialect
    threads, ring = numbers.choice((2, 2, 3)), numbers.random() < 0.6
    places = ["x", "y", "z"][:3 if ring else numbers.choice((1, 2, 2, 2, 3))]
    columns, value = [], 0
    for thread in range(threads):
        column = Column(numbers, arch, places)
        # A ring says something of one thread when the others are strict, so some are.
        strict = ring and numbers.random() < 0.45
        way = in_ring(numbers, thread, threads) if ring else scattered(numbers, places)
        kinds = "????"
        if ring and threads == 2 and not strict and numbers.random() < 0.4:
            # A store and a load of a location of its own forward in the middle.
            way, kinds = [way[0], "z", "z", way[-1]], "RWR?"
        for i, (place, kind) in enumerate(zip(way, kinds)):
            if i and (strict or numbers.random() < 0.2):
                column.fence(strict)
            value += 1
            column.access(place, value, kind)
        columns.append(column)
    lines = [f"{arch} {name}"]
    # A device and its host are two threads.
    protocol = numbers.choice(("cxl-cache", "hdm-db", "hdm-d") if threads == 2 else ("cxl-cache", "hdm-db"))
    if any(column.statuses for column in columns):
        protocol = "cxl-cache"
    lines.append(f"Protocol={protocol}")
    if dialect == "mixed":
        lines.append("Orders=" + ",".join(numbers.choice(ORDERS) for _ in columns))
    elif dialect == "LISA":
        lines.append("Orders=" + ",".join([numbers.choice(ORDERS)] * threads))
    initial = [f"{place}={numbers.choice((0, 0, 0, 9))};" for place in places]
    if arch == "AArch64":
        initial += [f"{i}:X{20 + at}={place};" for i in range(threads) for at, place in enumerate(places)]
    lines.append("{ " + " ".join(initial) + " }")
    table = [[f"P{i}", *column.rows] for i, column in enumerate(columns)]
    widths = [max(map(len, rows)) for rows in table]
    for i in range(max(map(len, table))):
        cells = [(rows[i] if i < len(rows) else "").ljust(width) for rows, width in zip(table, widths)]
        lines.append(f" {' | '.join(cells)} ;")
    registers = [f"{i}:{r.replace('W', 'X')}" for i, column in enumerate(columns) for r in column.loaded + column.statuses]
    lines.append("locations [" + " ".join(f"{n};" for n in registers + places) + "]")
    atoms = [f"{n}={numbers.randint(0, value)}" for n in numbers.sample(registers + places, min(2, len(registers + places)))]
    word = numbers.choice(("exists", "exists", "exists", "~exists", "forall"))
    joint = numbers.choice((" /\\ ", " \\/ ", " /\\ ~ "))
    lines.append(f"{word} ({joint.join(atoms)})")
    return "\n".join(lines) + "\n"


# -------------------------------------------------------------------------------------------------------------- comparing

def compared(program, limit, may_give_up, path):
    """One file: how many outcomes the axioms give, and a list of what differs; None: it is too large for this run."""
    try:
        answer = Answer(path.read_text())
    except Refused as error:
        return 0, [f"axioms.py refuses the file: {error}"]
    command = [program, "litmus", str(path), "--json", "--max-states", str(limit)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        found = json.loads(ran.stdout)
    except subprocess.TimeoutExpired:
        return len(answer.outcomes), [f"no answer in {PATIENCE} seconds"]
    except json.JSONDecodeError:
        return len(answer.outcomes), [f"exit {ran.returncode}, no JSON", *ran.stderr.splitlines()]
    absent = [key for key in KEYS if key not in found]
    if absent:
        return len(answer.outcomes), [f"exit {ran.returncode}, the JSON lacks {', '.join(absent)}", *ran.stderr.splitlines()]
    if may_give_up and not found["complete"]:
        return 0, None
    differences = []
    sets = [tuple(sorted(outcome.items())) for outcome in found["outcomes"]]
    if len(sets) != len(set(sets)):
        differences.append("an outcome is listed twice")
    for outcome in sorted(set(sets) - answer.outcomes):
        differences.append(f"outside the axioms: {shown(outcome)}")
    for outcome in sorted(answer.outcomes - set(sets)):
        differences.append(f"missing: {shown(outcome)}")
    if found["violations"]:
        differences.append(f"violations: {found['violations']}")
    if not found["complete"]:
        differences.append("the search was given up")
    test = answer.test
    expected = {"ok": answer.ok, "quantifier": test.quantifier, "test": test.name, "arch": test.arch, "protocol": test.protocol}
    # Which of its two numbers is positive for ~exists, the contract leaves to herd.
    if answer.test.quantifier != "~exists":
        expected |= {"positive": answer.positive, "negative": answer.negative, "observation": answer.observation}
    for key, value in expected.items():
        if found[key] != value:
            differences.append(f"{key}: found {found[key]}, expected {value}")
    status = 1 if answer.test.quantifier != "exists" and not answer.ok else 0
    if ran.returncode != status:
        differences.append(f"exit {ran.returncode}, expected {status}")
    return len(answer.outcomes), differences


def shown(outcome):
    return " ".join(f"{name}={value};" for name, value in outcome)


def dialect_of(path):
    """The dialect of a shape by its folder; those of a bridge are of all dialects."""
    folders = {"x86": "X86", "aarch64": "AArch64", "exclusive": "AArch64", "lisa": "mixed", "bridge": "bridge"}
    return folders[path.parent.name]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--random", type=int, default=0, help="random files of each dialect")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--full", action="store_true", help="large shapes and large random files too")
    given = arguments.parse_args()
    well = check_published()
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as folder:
        shapes = sorted((HERE / "shapes").rglob("*.litmus"))
        shapes = [path for path in shapes if given.full or f"{path.parent.name}/{path.stem}" not in LARGE]
        files = [(f"shapes, {dialect_of(path)}", path) for path in shapes]
        for dialect in DIALECTS if given.random else ():
            numbers = random.Random(f"{dialect} {given.seed}")
            for i in range(given.random):
                path = Path(folder) / f"{dialect}-{i}.litmus"
                path.write_text(random_file(numbers, dialect, f"{dialect}-{given.seed}-{i}"))
                files.append((f"random, {dialect}", path))
        # Most of the time goes to the program, so as many of it at once as there are processors.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            def judged(file):
                is_random = file[0].startswith("random")
                limit = (MIDDLE if given.full else QUICK) if is_random else FULL
                return compared(given.program, limit, is_random, file[1])

            results = list(pool.map(judged, files))
        totals = {}
        for (group, path), (count, differences) in zip(files, results):
            total = totals.setdefault(group, [0, 0, 0, 0])
            for i, more in enumerate((differences is not None, count, bool(differences), differences is None)):
                total[i] += more
            if differences:
                print(f"--- {path.name}\n{path.read_text()}" + "\n".join(f"# {line}" for line in differences))
        for group, (count, outcomes, different, left) in totals.items():
            large = f", {left} too large for this run" if left else ""
            print(f"{group}: {count} files, {outcomes} outcomes compared, {different} differ{large}")
            well = well and not different
    if given.random:
        print(f"seed {given.seed}")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
