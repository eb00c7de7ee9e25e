#!/usr/bin/env python3
r"""Litmus files by another hand: the outcomes of a `.litmus` file, from axioms.

    python3 testbenches/litmus/axioms.py FILE         the outcomes, in herd's form
    python3 testbenches/litmus/axioms.py --published  holds the axioms against published.txt, and each mistake too

`scalepool litmus` finds outcomes by running a machine through all its states. This file runs nothing. It draws candidate
executions and accepts those that two axioms admit. Left out: the machine's caches and messages, and so every rule about
them; a candidate knows only accesses and relations between them.

A candidate gives every load the store whose value it returns (reads-from, `rf`; None is the initial value) and every
location a total order of its stores (coherence order, `co`). From these, `fr` leads from a load to the store that is next
in `co` behind the one it read, and so by `co` to all later ones. An `e` at the end (`rfe`) means between threads, an `i`
(`rfi`) within one. The value of a store is a term over loads, built when the file is read, and is computed once `rf` is
known.

Internal coherence. Of each location: program order, rf, co and fr have no cycle. This says what every order of the contract
grants: a load of a location sees a po-earlier store of its thread or something later in co, and never a po-later store; two
loads and two stores of one location do not swap.

Global order. The preserved program order of each thread, rfe, co and fr have no cycle, so that all accesses can be lined up,
each at the point where it takes effect. The contract's sentences become these edges:

* "Takes effect at one point of a global order" is what multi-copy atomic means: one order for all threads, so rfe, co and
  fr of all threads stand in one graph, and a store is seen by all others at the same point.
* "Only after every po-earlier access that it is ordered behind": an edge between each such pair, the tables SC, TSO and ARM
  below; a rule has a name there, so that a check can leave it out.
* "Returns the value of the last such store" (forwarding): rfi is *not* an edge, since the load may stand before or behind
  the store that it read. It need not be told apart which. When the load stands before its own store, no other thread's store
  can lie between in co (fr puts later ones behind the load, and internal coherence lets the load not skip its own store), so
  the value is the one that forwarding gives. fr and co of such a load and store are edges like all others: what overwrites
  the store does so behind the load. Where a load has to be behind its own store, a rule of the table says so: SC, a full
  fence between, or an acquire load ("an acquire load does not forward").
* "It may forward as soon as the store's value and address are known": a load that read its own store stands behind the loads
  on which that store's value or address depends; `forwarded` below, the one rule that needs rf. When the load did not
  forward, it stands behind the store and hence behind these loads all the same. A control dependency is not in this: a store
  behind a branch cannot take effect early, but a later load may take its value early.
* "Is known from the forwarding on": a load takes effect, forwarded or not, at a point of its own. A dependency through a
  forwarded load therefore begins at that point, and not where the store that it read takes effect; with `forwarded` the
  order goes on to what that store's value depended on.
* "A read-modify-write takes effect at one point": it is a load and a store, two events that `rmw` joins. Atomicity, the axiom
  that all published models have: no store of its location stands in co between the store that its load read and its own.
  On x86 it is a fence besides (every access before it is before it, and it before every access behind it). The contract's
  own choice, where Armv8 is weaker: what is ordered behind its load is ordered behind its store too, so that nothing of its
  thread comes between, and a later load does not take its value early. An order in which its load stands right before its
  store then always exists, since nothing else holds the load back.
* "A store exclusive": each may have failed, so every choice is a test of its own, in which a failed one is no access. One that
  has stored is joined to its load exclusive by atomicity alone: accesses of its thread and loads of others may stand between
  the two. The contract's own choice: a later load of its thread does not take its value early.
* "No out-of-thin-air": each data dependency is an edge, and rfe and `forwarded` carry it on, so a value that would need
  itself closes a cycle. An accepted candidate can always be computed.

Threads of different orders stand in one graph; only the tables differ.

Meant for small programs: all permutations of a location's stores are tried, so about eight stores of one location are the
end of what is quick.
"""

import re
import sys
from collections import namedtuple
from itertools import permutations, product
from pathlib import Path

HERE = Path(__file__).resolve().parent
ORDERS = ("SC", "TSO", "ARM")
PROTOCOLS = ("cxl-cache", "hdm-db", "hdm-d", "bridge")


class Refused(ValueError):
    """The file is not one of the contract's."""


# An access. `at`: its place among its thread's accesses; `address`, `data`, `control`: numbers of the loads it depends on;
# `value`: of a store, a term: a number, ("load", event), ("eor", term, term), ("add", term, term), or ("failed", event): whether
# a store exclusive is no access; `index`: the term of the index register, which has to be 0. `kind`: R, W, or N of a store
# exclusive that has failed. `rmw`: of the two events of a read-modify-write, the number of the other one; `exclusive`: of a
# load exclusive and its store the same.
Event = namedtuple("Event", "number thread at kind location acquire release address data control value index rmw exclusive", defaults=[None, None])
# `fences`: of each thread, (kind, accesses before it). `registers`: of each thread, the terms at its end.
Test = namedtuple("Test", "name arch doc protocol orders locations events fences registers named quantifier condition text")


# ----------------------------------------------------------------------------------------------- preserved program order

def between(test, a, b, kind):
    """A fence of this kind stands between two accesses of a thread."""
    return any(k == kind and a.at < at <= b.at for k, at in test.fences[a.thread])


def feeds_address_between(test, a, b):
    """A load feeds the address of an access that stands before a later one."""
    return any(a.number in c.address and c.thread == a.thread and a.at < c.at < b.at and c.kind != "N" for c in test.events)


def full(test, a, b):
    return between(test, a, b, "full")


# Each rule says of a pair of accesses, `a` before `b` in the program order of one thread, that `b` is behind `a`.
SC = {"sc": lambda t, a, b: True}
TSO = {
    "tso": lambda t, a, b: not (a.kind == "W" and b.kind == "R"),
    "tso fence": full,
    "tso locked": lambda t, a, b: a.rmw is not None or b.rmw is not None,
}
ARM = {
    "same location, then a store": lambda t, a, b: a.location == b.location and b.kind == "W",
    "two loads of a location": lambda t, a, b: a.location == b.location and a.kind == b.kind == "R",
    "full fence": full,
    "load fence": lambda t, a, b: a.kind == "R" and between(t, a, b, "ld"),
    "store fence": lambda t, a, b: a.kind == b.kind == "W" and between(t, a, b, "st"),
    "acquire": lambda t, a, b: a.acquire,
    "release": lambda t, a, b: b.release,
    "release to acquire": lambda t, a, b: a.release and b.acquire,
    "acquire of an own store": lambda t, a, b: a.kind == "W" and a.location == b.location and b.acquire,
    "address": lambda t, a, b: a.number in b.address,
    "data": lambda t, a, b: a.number in b.data,
    "control": lambda t, a, b: a.number in b.control and b.kind == "W",
    "address, then a store": lambda t, a, b: b.kind == "W" and feeds_address_between(t, a, b),
    "own store exclusive": lambda t, a, b: a.kind == "W" and a.exclusive is not None and a.location == b.location,
    "update in one": lambda t, a, b: a.kind == "W" and a.rmw is not None and any(
        rule(t, t.events[a.rmw], b) for name, rule in ARM.items() if name != "update in one"),
}
RULES = {"SC": SC, "TSO": TSO, "ARM": ARM}
# What is not of a pair: the parts of the two axioms.
PARTS = ("internal", "rfe", "co", "fr", "forwarded", "atomicity")
# Edges that the contract does not have; a check adds them.
WRONG = {
    "tso store to load": ("TSO", lambda t, a, b: True),
    "arm store to load of the same location": ("ARM", lambda t, a, b: a.location == b.location),
    "control to a load": ("ARM", lambda t, a, b: a.number in b.control),
    "load fence for stores": ("ARM", lambda t, a, b: between(t, a, b, "ld")),
    "store fence for loads": ("ARM", lambda t, a, b: between(t, a, b, "st")),
    "release to what follows": ("ARM", lambda t, a, b: a.release),
    "acquire of what precedes": ("ARM", lambda t, a, b: b.acquire),
    "control through a forwarded load": None,  # needs rf, see `communication`
}
# Rules that are the contract's own choice: what is published is weaker, so no published line can notice that one is missing.
# Of each, a shape that it alone forbids.
OWN = {
    "acquire of an own store": "lisa/SB+arm-rfi-acquire+arm-full.litmus",
    "two loads of a location": "lisa/LB+arm-full+arm-fri-rfi-data.litmus",
    "update in one": "lisa/SB+arm-rmw-acquires.litmus",
    "own store exclusive": "exclusive/SB+ex-rfi-addr+dmb.sy.litmus",
}
# A sentence of the contract that the communication edges repeat: co holds two stores of a thread, and fr a load and a store.
REPEATED = ("same location, then a store",)
MISTAKES = [f"without {name}" for rules in (TSO, ARM) for name in rules if name not in (*OWN, *REPEATED)]
MISTAKES += [f"without {name}" for name in PARTS] + [f"with {name}" for name in WRONG]


def preserved(test, mistake):
    """The edges of program order that stay, of all threads."""
    edges = []
    for a in test.events:
        order = test.orders[a.thread]
        rules = [rule for name, rule in RULES[order].items() if mistake != f"without {name}"]
        if mistake.startswith("with ") and WRONG[mistake[5:]] and WRONG[mistake[5:]][0] == order:
            rules.append(WRONG[mistake[5:]][1])
        for b in test.events:
            if a.thread == b.thread and a.at < b.at and "N" not in (a.kind, b.kind) and any(rule(test, a, b) for rule in rules):
                edges.append((a.number, b.number))
    # The store of a read-modify-write is computed from its load, or comes behind it all the same.
    return edges + [(e.number, e.rmw) for e in test.events if e.kind == "R" and e.rmw is not None]


# ------------------------------------------------------------------------------------------------------------- the axioms

def extended(reach, edges):
    """A relation without cycles, as the set of what each event reaches (bits), with more edges; None when a cycle closes."""
    reach = list(reach)
    for a, b in edges:
        if a == b or reach[b] >> a & 1:
            return None
        gained = reach[b] | 1 << b
        if reach[a] & gained != gained:
            for i, bits in enumerate(reach):
                if i == a or bits >> a & 1:
                    reach[i] |= gained
    return reach


def from_read(co, source, load):
    """fr of a load: the edge to the store behind its source; co leads on."""
    later = co[co.index(source) + 1:] if source is not None else co
    return [(load, later[0])] if later else []


def is_atomic(test, rf, co):
    """No store comes between the source of a read-modify-write, or of a load exclusive, and the store that belongs to it."""
    place = {store: i for i, store in enumerate(co)}
    belongs = ((test.events[load], source) for load, source in rf.items())
    belongs = ((load.exclusive if load.rmw is None else load.rmw, source) for load, source in belongs)
    return all(place[store] == (0 if source is None else place[source] + 1) for store, source in belongs if store is not None)


def of_location(test, location, internal):
    """All (rf, co) of a location that are coherent within it."""
    events = [e for e in test.events if e.location == location]
    loads = [e.number for e in events if e.kind == "R"]
    stores = [e.number for e in events if e.kind == "W"]
    po = [(a.number, b.number) for a in events for b in events if a.thread == b.thread and a.at < b.at] if internal else []

    def read(reach, co, rf, left):
        if not left:
            yield rf, co
            return
        load = left[0]
        for source in (None, *stores):
            edges = from_read(co, source, load) + ([(source, load)] if source is not None else [])
            more = extended(reach, edges) if internal else reach
            if more is not None:
                yield from read(more, co, {**rf, load: source}, left[1:])

    for co in permutations(stores):
        reach = extended([0] * len(test.events), po + list(zip(co, co[1:])))
        if reach is not None:
            yield from read(reach, co, {}, loads)


def communication(test, rf, co, mistake):
    """The edges of one location in the global order."""
    edges = list(zip(co, co[1:])) if mistake != "without co" else []
    for load, source in rf.items():
        if mistake != "without fr":
            edges += from_read(co, source, load)
        if source is None:
            continue
        store = test.events[source]
        if store.thread != test.events[load].thread:
            edges += [(source, load)] if mistake != "without rfe" else []
        elif mistake != "without forwarded":
            edges += [(known, load) for known in store.address | store.data]
            if mistake == "with control through a forwarded load":
                edges += [(known, load) for known in store.control]
    return edges


def executions(test, mistake=""):
    """All accepted candidates, as (rf, {location: co})."""
    def pairs_of(place):
        pairs = of_location(test, place, mistake != "without internal")
        return [(rf, co) for rf, co in pairs if mistake == "without atomicity" or is_atomic(test, rf, co)]

    choices = [(place, pairs_of(place)) for place in test.locations]

    def choose(reach, rf, co, left):
        if not left:
            yield rf, co
            return
        place, pairs = left[0]
        for more_rf, stores in pairs:
            more = extended(reach, communication(test, more_rf, stores, mistake))
            if more is not None:
                yield from choose(more, {**rf, **more_rf}, {**co, place: stores}, left[1:])

    # Program order alone has no cycle.
    yield from choose(extended([0] * len(test.events), preserved(test, mistake)), {}, {}, choices)


def computed(test, rf, term):
    """The value of a term once rf is known."""
    if isinstance(term, int):
        return term
    word, first = term[0], term[1]
    if word == "load":
        source = rf[first]
        place = test.events[first].location
        return test.locations[place] if source is None else computed(test, rf, test.events[source].value)
    if word == "failed":
        return int(test.events[first].kind == "N")
    if word == "eor":
        return computed(test, rf, first) ^ computed(test, rf, term[2])
    return computed(test, rf, first) + computed(test, rf, term[2])


def chosen(test):
    """The test with every choice of store exclusives that have failed."""
    stores = [e.number for e in test.events if e.kind == "W" and e.exclusive is not None]
    for choice in product((False, True), repeat=len(stores)):
        events = list(test.events)
        for store in (store for store, has_failed in zip(stores, choice) if has_failed):
            load = events[store].exclusive
            events[store] = events[store]._replace(kind="N", exclusive=None)
            events[load] = events[load]._replace(exclusive=None)
        yield test._replace(events=events)


def outcomes(test, mistake=""):
    """The outcomes, each a sorted tuple of (name, value), and how many executions were accepted."""
    found, count = set(), 0
    for choice in chosen(test):
        more, accepted = outcomes_of(choice, mistake)
        found, count = found | more, count + accepted
    return found, count


def outcomes_of(test, mistake):
    """The same of one choice of failures."""
    found, count = set(), 0
    for rf, co in executions(test, mistake):
        count += 1
        try:
            values = {e.number: computed(test, rf, e.value) for e in test.events if e.kind == "W"}
            if not mistake:
                for e in test.events:
                    if computed(test, rf, e.index) != 0:
                        raise Refused(f"{test.name}: an index register of thread {e.thread} is not 0 in every execution")
                if any(value > 255 for value in values.values()):
                    raise Refused(f"{test.name}: a store of more than 255")
            outcome = []
            for name in test.named:
                if isinstance(name, tuple):
                    outcome.append((name, computed(test, rf, test.registers[name[0]].get(name[1], 0))))
                else:
                    outcome.append((name, values[co[name][-1]] if co[name] else test.locations[name]))
        except RecursionError:
            if not mistake:
                raise
            continue  # a mistaken axiom lets a value need itself
        found.add(tuple(outcome))
    return found, count


# --------------------------------------------------------------------------------------------------------- reading a file

X86 = {f"{wide}{letters}": letters for letters in ("AX", "BX", "CX", "DX", "SI", "DI") for wide in "ER"}
NAME = r"[A-Za-z_]\w*"


def register(arch, word):
    """The register that a word names, or None."""
    if arch == "X86":
        return X86.get(word)
    if arch == "AArch64":
        match = re.fullmatch(r"[WX](\d|[12]\d|30)", word)
        return f"X{match[1]}" if match else None
    return word if re.fullmatch(r"r\d+", word) else None


class Thread:
    """A column while it is read: the term, the dependencies and the address of each register."""

    def __init__(self, arch, number, initial):
        self.arch, self.number = arch, number
        self.terms, self.loads, self.pointers, self.spelled = {}, {}, {}, {}
        # The load exclusive that a store exclusive may follow.
        self.reserves = None
        for name, value in initial.items():
            (self.terms if isinstance(value, int) else self.pointers)[name] = value
        self.control, self.events, self.fences = frozenset(), [], []

    def name(self, word, where):
        """The register that a word names; remembers how it is written."""
        name = register(self.arch, word)
        if name is None:
            raise Refused(f"{where}: found {word}, expected a register")
        self.spelled.setdefault(name, word)
        return name

    def used(self, name, where):
        """The term of a register and the loads it depends on."""
        if name in self.pointers:
            raise Refused(f"{where}: {name} holds an address, expected a number")
        if isinstance(self.terms.get(name), tuple) and self.terms[name][0] == "failed" and where != "outcome":
            raise Refused(f"{where}: {name} holds the status of a store exclusive, expected a number")
        return self.terms.get(name, 0), self.loads.get(name, frozenset())

    def set(self, name, term, loads):
        self.pointers.pop(name, None)
        self.terms[name], self.loads[name] = term, loads


def small(word, where):
    value = int(word, 0)
    if value > 255:
        raise Refused(f"{where}: found {value}, expected 0 to 255")
    return value


NUMBER = r"(0x[0-9a-fA-F]+|\d+)"
FORMS = {
    "X86": [
        ("store", rf"MOV\s+\[(?P<at>{NAME})\]\s*,\s*\$(?P<number>{NUMBER})"),
        ("store", rf"MOV\s+\[(?P<at>{NAME})\]\s*,\s*(?P<from>\w+)"),
        ("load", rf"MOV\s+(?P<to>\w+)\s*,\s*\[(?P<at>{NAME})\]"),
        ("set", rf"MOV\s+(?P<to>\w+)\s*,\s*\$(?P<number>{NUMBER})"),
        ("full", r"MFENCE"),
        ("swap", rf"XCHG\s+\[(?P<at>{NAME})\]\s*,\s*(?P<from>\w+)"),
        ("swap", rf"XCHG\s+(?P<from>\w+)\s*,\s*\[(?P<at>{NAME})\]"),
        ("fetch", rf"LOCK\s+XADD\s+\[(?P<at>{NAME})\]\s*,\s*(?P<from>\w+)"),
        ("fetch", rf"LOCK\s+INC\s+\[(?P<at>{NAME})\]"),
    ],
    "AArch64": [
        ("set", rf"MOV\s+(?P<to>\w+)\s*,\s*#(?P<number>{NUMBER})"),
        ("load", r"(?P<how>LDR|LDAR)\s+(?P<to>\w+)\s*,\s*\[\s*(?P<pointer>X\d+)\s*\]"),
        ("store", r"(?P<how>STR|STLR)\s+(?P<from>\w+)\s*,\s*\[\s*(?P<pointer>X\d+)\s*\]"),
        ("load", r"LDR\s+(?P<to>\w+)\s*,\s*\[\s*(?P<pointer>X\d+)\s*,\s*(?P<index>W\d+)\s*,\s*SXTW\s*\]"),
        ("store", r"STR\s+(?P<from>\w+)\s*,\s*\[\s*(?P<pointer>X\d+)\s*,\s*(?P<index>W\d+)\s*,\s*SXTW\s*\]"),
        ("eor", r"EOR\s+(?P<to>\w+)\s*,\s*(?P<from>\w+)\s*,\s*(?P<other>\w+)"),
        ("add", rf"ADD\s+(?P<to>\w+)\s*,\s*(?P<from>\w+)\s*,\s*#(?P<number>{NUMBER})"),
        ("swap", r"SWP(?P<how>A|L|AL|)\s+(?P<from>\w+)\s*,\s*(?P<to>\w+)\s*,\s*\[\s*(?P<pointer>X\d+)\s*\]"),
        ("fetch", r"LDADD(?P<how>A|L|AL|)\s+(?P<from>\w+)\s*,\s*(?P<to>\w+)\s*,\s*\[\s*(?P<pointer>X\d+)\s*\]"),
        ("load exclusive", r"(?P<how>LDXR|LDAXR)\s+(?P<to>\w+)\s*,\s*\[\s*(?P<pointer>X\d+)\s*\]"),
        ("store exclusive", r"(?P<how>STXR|STLXR)\s+(?P<to>\w+)\s*,\s*(?P<from>\w+)\s*,\s*\[\s*(?P<pointer>X\d+)\s*\]"),
        ("full", r"DMB\s+SY"),
        ("ld", r"DMB\s+LD"),
        ("st", r"DMB\s+ST"),
        ("branch", rf"CBN?Z\s+(?P<from>\w+)\s*,\s*(?P<label>{NAME})"),
    ],
    "LISA": [
        ("load", rf"r\[(?P<how>|acquire)\]\s+(?P<to>r\d+)\s+(?P<at>{NAME})"),
        ("store", rf"w\[(?P<how>|release)\]\s+(?P<at>{NAME})\s+(?P<number>{NUMBER})"),
        ("store", rf"w\[(?P<how>|release)\]\s+(?P<at>{NAME})\s+(?P<from>r\d+)"),
        ("swap", rf"rmw\[(?P<how>|acquire|release|acquire,release)\]\s+(?P<to>r\d+)\s+\(mov\s+(?P<number>{NUMBER})\)\s+(?P<at>{NAME})"),
        ("swap", rf"rmw\[(?P<how>|acquire|release|acquire,release)\]\s+(?P<to>r\d+)\s+\(mov\s+(?P<from>r\d+)\)\s+(?P<at>{NAME})"),
        ("fetch", rf"rmw\[(?P<how>|acquire|release|acquire,release)\]\s+(?P<to>r\d+)\s+\(add\s+(?P=to)\s+(?P<number>{NUMBER})\)\s+(?P<at>{NAME})"),
        ("full", r"f\[full\]"),
        ("ld", r"f\[ld\]"),
        ("st", r"f\[st\]"),
    ],
}


def instruction(thread, cell, where, first):
    """Reads one cell into a thread; answers the label that has to come next, of a branch."""
    for kind, form in FORMS[thread.arch]:
        match = re.fullmatch(form, cell)
        if match:
            break
    else:
        raise Refused(f"{where}: found {cell}, expected an instruction of {thread.arch}")
    part = match.groupdict().get
    if kind in ("full", "ld", "st"):
        thread.fences.append((kind, len(thread.events)))
        return None
    term, loads = (small(part("number"), where), frozenset()) if part("number") else (0, frozenset())
    if part("from"):
        used, loads = thread.used(thread.name(part("from"), where), where)
        term = ("add", used, term) if kind == "add" else used
    if kind == "branch":
        thread.control |= loads
        return part("label")
    if kind == "eor":
        other, more = thread.used(thread.name(part("other"), where), where)
        # The same term twice is 0 whatever it is; the dependency stays.
        term, loads = 0 if term == other else ("eor", term, other), loads | more
    if kind in ("load", "store", "swap", "fetch", "load exclusive", "store exclusive"):
        place = part("at")
        if place is None:
            place = thread.pointers.get(thread.name(part("pointer"), where))
            if place is None:
                raise Refused(f"{where}: {part('pointer')} holds no location")
        elif register(thread.arch, place):
            raise Refused(f"{where}: found register {place}, expected a location")
        index, address = 0, frozenset()
        if part("index"):
            index, address = thread.used(thread.name(part("index"), where), where)
        number = first + len(thread.events)
        if kind in ("swap", "fetch"):
            how, at = part("how") or "", len(thread.events)
            if kind == "fetch":
                # LOCK INC names no register: it adds 1.
                term = ("add", ("load", number), term if part("from") or part("number") else 1)
            acquire, release = "acquire" in how or how in ("A", "AL"), "release" in how or how in ("L", "AL")
            thread.events.append(Event(number, thread.number, at, "R", place, acquire, False, frozenset(), frozenset(),
                                       thread.control, None, 0, number + 1))
            thread.events.append(Event(number + 1, thread.number, at + 1, "W", place, False, release, frozenset(), loads,
                                       thread.control, term, 0, number))
        else:
            stores = kind.startswith("store")
            load = None
            if kind == "store exclusive":
                load = thread.reserves
                if load is None or thread.events[load].location != place:
                    raise Refused(f"{where}: expected a load exclusive of {place} before it, and no other store to it between")
                thread.events[load] = thread.events[load]._replace(exclusive=number)
                load += first
            thread.events.append(Event(
                number, thread.number, len(thread.events), "W" if stores else "R", place,
                part("how") in ("LDAR", "LDAXR", "acquire"), part("how") in ("STLR", "STLXR", "release"), address,
                loads if stores else frozenset(), thread.control, term if stores else None, index, None, load))
        if kind == "load exclusive":
            thread.reserves = number - first
        elif kind != "load" and thread.reserves is not None and thread.events[thread.reserves].location == place:
            thread.reserves = None
        if sum(e.kind == "R" or e.rmw is None for e in thread.events) > 8:
            raise Refused(f"{where}: more than 8 accesses in a thread")
        term, loads = ("failed" if kind == "store exclusive" else "load", number), frozenset((number,))
    # XCHG and XADD give the old value to the register that they store from; LOCK INC to none.
    to = part("to") or (part("from") if kind in ("swap", "fetch") else None)
    if kind != "store" and to:  # that of a store exclusive is its status
        thread.set(thread.name(to, where), term, loads)
    return None


def column(arch, number, initial, cells, first):
    """Reads a column; `cells` are (cell, where)."""
    thread, label = Thread(arch, number, initial), None
    for cell, where in cells:
        match = re.match(rf"({NAME})\s*:\s*", cell) if arch == "AArch64" else None
        if match and match[1] == label:
            label, cell = None, cell[match.end():]
        if label is not None:
            raise Refused(f"{where}: found {cell}, expected {label}:")
        if cell:
            label = instruction(thread, cell, where, first)
    if label is not None:
        raise Refused(f"thread {number} ends before {label}:")
    return thread


def initial_values(text):
    """`{ x=0; 0:X1=x; uint64_t x; }`: values of locations, and of registers of each thread by the words they are written in."""
    locations, registers = {}, {}
    for item in filter(None, (item.strip() for item in text.split(";"))):
        match = re.fullmatch(rf"(?:{NAME}\s+)?(?:(\d+)\s*:\s*({NAME})|\[?({NAME})\]?)(?:\s*=\s*&?\[?(\w+)\]?)?", item)
        if not match:
            raise Refused(f"found {item}, expected an initial value")
        thread, name, place, value = match.groups()
        number = None if value is None else small(value, item) if value[0].isdigit() else value
        if place is not None:
            if isinstance(number, str):
                raise Refused(f"found {item}, expected a number")
            locations[place] = number or 0
        elif number is not None:
            registers.setdefault(int(thread), {})[name] = number
    return locations, registers


def condition(text, named):
    """A proposition as a function of an outcome (a dictionary). `named` answers the key of an atom's name."""
    token = re.compile(rf"\s*(?:(/\\|\\/|~|\(|\))|((?:\d+\s*:\s*{NAME})|\[{NAME}\]|{NAME})(?:\s*=\s*{NUMBER})?)")
    tokens, at = [], 0
    text = text.strip()
    while at < len(text):
        match = token.match(text, at)
        if not match:
            raise Refused(f"found {text[at:]}, expected a condition")
        tokens.append(match.groups())
        at = match.end()
    tokens.append(("end", None, None))

    def word():
        return tokens[0][0] or tokens[0][1]

    def some():
        parts = [every()]
        while word() == "\\/":
            tokens.pop(0)
            parts.append(every())
        return lambda o: any(part(o) for part in parts)

    def every():
        parts = [one()]
        while word() == "/\\":
            tokens.pop(0)
            parts.append(one())
        return lambda o: all(part(o) for part in parts)

    def one():
        sign, name, number = tokens.pop(0)
        if sign == "~" or (name == "not" and number is None):
            part = one()
            return lambda o: not part(o)
        if sign == "(":
            part = some()
            if tokens.pop(0)[0] != ")":
                raise Refused("expected ) in the condition")
            return part
        if number is None and name in ("true", "false"):
            return lambda o: name == "true"
        if sign or number is None:
            raise Refused(f"found {sign or name}, expected an atom of a condition")
        key, value = named(name), int(number, 0)
        return lambda o: o[key] == value

    whole = some()
    if word() != "end":
        raise Refused(f"found {word()}, expected the end of the condition")
    return whole


def read(text):
    """A test from the text of a file."""
    # Comments go, lines stay, so that a line number holds.
    text = re.sub(r"\(\*.*?\*\)", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.S)
    match = re.match(r'\s*(X86|AArch64|LISA)[ \t]+(\S+)[ \t]*\n(.*?)\{(.*?)\}(.*)\Z', text, re.S)
    if not match:
        raise Refused("expected `ARCH NAME`, keys and { initial values }")
    arch, title, head, initial, rest = match.groups()
    doc, keys = "", {}
    for line in filter(None, (line.strip() for line in head.splitlines())):
        pair = re.fullmatch(r"(\w+)\s*=\s*(.*)", line)
        if line[0] == '"':
            doc = line.strip('"')
        elif pair:
            keys[pair[1]] = pair[2].strip()
        else:
            raise Refused(f"found {line}, expected Key=Value")
    protocol = keys.get("Protocol", "cxl-cache")
    if protocol not in PROTOCOLS:
        raise Refused(f"found Protocol={protocol}, expected one of {', '.join(PROTOCOLS)}")
    locations, initial_registers = initial_values(initial)
    rows, last = [], 0
    start = text.count("\n", 0, match.start(5)) + 1
    lines = rest.splitlines()
    for i, line in enumerate(lines):
        if line.strip() and not re.match(r"\s*(locations|~?\s*exists|forall)\b", line):
            if not line.rstrip().endswith(";"):
                raise Refused(f"line {start + i}: found {line.strip()}, expected a row that ends with ;")
            rows.append((start + i, [cell.strip() for cell in line.rstrip()[:-1].split("|")]))
        elif line.strip():
            last = i
            break
    else:
        raise Refused("expected a condition")
    if not rows or rows[0][1] != [f"P{i}" for i in range(len(rows[0][1]))] or not 2 <= len(rows[0][1]) <= 4:
        raise Refused("expected a row P0 | P1 ; of 2 to 4 threads")
    count = len(rows[0][1])
    if any(len(cells) != count for _, cells in rows):
        raise Refused(f"expected {count} cells in each row")
    orders = {"X86": ["TSO"], "AArch64": ["ARM"], "LISA": ["SC"]}[arch] * count
    if "Orders" in keys:
        orders = [order.strip() for order in keys["Orders"].split(",")]
        if arch != "LISA" or len(orders) != count or any(order not in ORDERS for order in orders):
            raise Refused(f"found Orders={keys['Orders']}, expected a word for each thread of a LISA file")
    threads, events = [], []
    for i in range(count):
        words = {}
        for word, value in initial_registers.get(i, {}).items():
            # LISA's registers are also written in capitals among the initial values.
            name = register(arch, word.lower() if arch == "LISA" else word)
            if name is None:
                raise Refused(f"found {i}:{word}, expected a register of {arch}")
            words[name] = value
        cells = [(cells[i], f"line {line}") for line, cells in rows[1:]]
        threads.append(column(arch, i, words, cells, len(events)))
        events += threads[-1].events
    if any(i >= count for i in initial_registers):
        raise Refused("an initial value of a thread that is not there")
    for place in [v for t in initial_registers.values() for v in t.values() if isinstance(v, str)] + [e.location for e in events]:
        locations.setdefault(place, 0)
    if not 1 <= len(locations) <= 4:
        raise Refused(f"found {len(locations)} locations, expected 1 to 4")

    named = {}

    def key(word):
        """The key of a register or location in an outcome; remembers that it is named."""
        if ":" in word:
            thread, spelled = (part.strip() for part in word.split(":"))
            name = register(arch, spelled)
            if name is None or int(thread) >= count:
                raise Refused(f"found {word}, expected a register of a thread")
            threads[int(thread)].used(name, "outcome")
            threads[int(thread)].spelled.setdefault(name, spelled)
            found = int(thread), name
        else:
            found = word.strip("[]")
            if found not in locations:
                raise Refused(f"found {word}, expected a location")
        named[found] = True
        return found

    tail = "\n".join(lines[last:])
    match = re.match(r"\s*locations\s*\[(.*?)\]\s*(?=~|exists|forall)", tail, re.S)
    if match:
        for word in filter(None, (word.strip() for word in match[1].split(";"))):
            key(word)
        tail = tail[match.end():]
    match = re.match(r"\s*(~\s*exists|exists|forall)\b(.*)\Z", tail, re.S)
    if not match:
        raise Refused(f"found {tail.strip()}, expected exists, ~exists or forall")
    holds = condition(match[2], key)

    # As it is printed: registers by thread and name, then locations.
    order = sorted(named, key=lambda k: (0, k[0], printed(threads, k)) if isinstance(k, tuple) else (1, 0, k))
    spelled = [{name: (name if arch == "AArch64" else word) for name, word in t.spelled.items()} for t in threads]
    test = Test(title, arch, doc, protocol, orders, locations, events, [t.fences for t in threads], [t.terms for t in threads], order,
                match[1].replace(" ", ""), holds, " ".join(match[2].split()))
    return test, spelled


def printed(threads, key):
    return threads[key[0]].spelled[key[1]]


class Answer:
    """What a file allows. `outcomes`: a set of sorted tuples of (name, value), names as `scalepool litmus --json` has them."""

    def __init__(self, text, mistake=""):
        self.test, spelled = read(text)
        found, self.executions = outcomes(self.test, mistake)
        held = [self.test.condition(dict(outcome)) for outcome in found]
        self.positive, self.negative = held.count(True), held.count(False)
        self.observation = "Never" if not self.positive else "Sometimes" if self.negative else "Always"
        self.ok = {"exists": self.positive > 0, "~exists": self.positive == 0, "forall": self.negative == 0}[self.test.quantifier]
        self.listed = sorted(tuple((f"{k[0]}:{spelled[k[0]][k[1]]}" if isinstance(k, tuple) else k, v) for k, v in o) for o in found)
        self.outcomes = {tuple(sorted(outcome)) for outcome in self.listed}

    def herd(self):
        """In herd's form; the last line is this file's own."""
        test = self.test
        word = {"exists": "Allowed", "~exists": "Forbidden", "forall": "Required"}[test.quantifier]
        lines = [f"Test {test.name} {word}", f"States {len(self.listed)}"]
        lines += [" ".join(f"{k if ':' in k else f'[{k}]'}={v};" for k, v in outcome) for outcome in self.listed]
        lines += ["Ok" if self.ok else "No", "Witnesses", f"Positive: {self.positive} Negative: {self.negative}",
                  f"Condition {test.quantifier} {test.text}",
                  f"Observation {test.name} {self.observation} {self.positive} {self.negative}", f"Executions {self.executions}"]
        return "\n".join(lines)


# ------------------------------------------------------------------------------------------------------ the second witness

def published():
    """The lines of published.txt: {name of a file below shapes/: Allowed or Forbidden}."""
    lines = (line.split("#")[0].split() for line in (HERE / "published.txt").read_text().splitlines())
    return {name: verdict for name, verdict in filter(None, lines)}


def disagreements(mistake="", first=False):
    """Files on which the axioms, with a mistake or without, do not say what is published."""
    found = []
    for name, verdict in published().items():
        answer = Answer((HERE / "shapes" / name).read_text(), mistake)
        if answer.test.quantifier != "exists" or verdict not in ("Allowed", "Forbidden"):
            raise Refused(f"{name}: published.txt speaks of an exists")
        if (verdict == "Allowed") != (answer.positive > 0):
            found.append(name)
            if first:
                break
    return found


def check_published(report=print):
    """Holds the axioms against published.txt, and shows that the file notices each mistake of MISTAKES; True when all is well."""
    own = ("lisa", "exclusive", "bridge")
    shapes = {str(p.relative_to(HERE / "shapes")) for p in (HERE / "shapes").rglob("*.litmus") if p.parts[-2] not in own}
    lines = published()
    well = True
    for name in sorted(shapes ^ set(lines)):
        report(f"{name}: only in {'shapes/' if name in shapes else 'published.txt'}")
        well = False
    for name in disagreements():
        report(f"{name}: published {lines[name]}, axioms.py says otherwise")
        well = False
    unnoticed = [m for m in MISTAKES if not disagreements(m, True)]
    for mistake in unnoticed:
        report(f"published.txt does not notice: {mistake}")
        well = False
    for rule, name in OWN.items():
        text = (HERE / "shapes" / name).read_text()
        if Answer(text).positive or not Answer(text, f"without {rule}").positive:
            report(f"{name} is not what the rule forbids: {rule}")
            well = False
    allowed = list(lines.values()).count("Allowed")
    noticed = f"{len(MISTAKES) - len(unnoticed)} of {len(MISTAKES)} mistakes noticed"
    report(f"published: {allowed} Allowed, {len(lines) - allowed} Forbidden, {noticed}")
    return well


def main():
    if len(sys.argv) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    if sys.argv[1] == "--published":
        return 0 if check_published() else 1
    try:
        answer = Answer(Path(sys.argv[1]).read_text())
    except (OSError, Refused) as error:
        print(f"{sys.argv[1]}: {error}", file=sys.stderr)
        return 2
    print(answer.herd())
    return 1 if answer.test.quantifier != "exists" and not answer.ok else 0


if __name__ == "__main__":
    sys.exit(main())
