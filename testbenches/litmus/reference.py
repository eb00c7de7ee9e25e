"""Coherence by another hand: all outcomes of one litmus case, from the fact sheet alone.

One line, written from `coherence.md` and not from the engine: two or three devices under CXL.cache below a blocking home
(2.2 to 2.8), two or three hosts that share HDM-DB (3.2, 3.4, 3.5), or a device with HDM-D and its host (3.3). Every order of deliveries that 2.6 and 3.6 leave open
is tried. Left out: error answers, blocks, the capacity of a snoop filter, several lines.

A value is a number that grows with every store, so the newest is the largest. Its poison is settled with its store, for
good: the store's own, or what a store of a part of the line leaves there (memory 6.3). So a value that arrives anywhere
brings its poison, and a state says which numbers are poisoned. A state is a tuple and nothing in it is changed in place; a
move is a function from one state to the next.
"""

from collections import namedtuple

READS = ("RdCurr", "RdShared", "RdAny", "RdOwn", "RdOwnNoData", "CLFlush")
WRITES = ("ItoMWr", "WrCur", "WrInv", "WOWrInv", "WOWrInvF")
PARTS = ("WrInv", "WOWrInv")
EVICTS = ("CleanEvict", "CleanEvictNoData", "DirtyEvict")
START = {"RdOwnNoData": "IS", "CleanEvict": "E", "CleanEvictNoData": "ES", "DirtyEvict": "M"}


class Case:
    """`kind`, `start` (a letter an agent), `programs` (a list of operations an agent) and `poison` (agents whose stores and
    writes are poisoned; an M copy of the start is a store)."""

    def __init__(self, kind, start, programs, poison=()):
        self.kind, self.start, self.programs, self.poison = kind, start, programs, frozenset(poison)


# ---------------------------------------------------------------------------------------------------------- CXL.cache

# A device. state: what it may use; request: the operation under way; go: what was granted; data: what was read (None: not
# here yet); hit: a snoop changed the state under an evict (2.5); asked: ownership was requested and not given up, so that a
# store that lost it asks again; store: a store waits with the request; owed: a snoop waits for the line, with this answer;
# loads: of each load whether it got poison (P) or not (c).
Device = namedtuple("Device", "state value at request go data hit asked store owed loads", defaults=("",))
# The home. busy: (request, device, snoop answers awaited, lines awaited, phase); passed: a line for the requester alone.
Home = namedtuple("Home", "memory owner sharers busy passed")
# All: messages are sorted tuples (channel, device, what, ...); `newest` is the ghost value, `poison` who poisons and which
# values are poisoned.
World = namedtuple("World", "devices home messages newest poison")


def cache_start(case):
    newest, devices = 1, []
    holders = [i for i, letter in enumerate(case.start) if letter in "EM"]
    for letter in case.start:
        devices.append(Device(letter, None if letter == "I" else 0, 0, None, None, None, False, False, False, None))
    memory = 0
    for i, letter in enumerate(case.start):
        if letter == "M":
            devices[i] = devices[i]._replace(value=newest)
            break
    else:
        newest = 0
    home = Home(memory, holders[0] if holders else None,
                frozenset(i for i, letter in enumerate(case.start) if letter == "S"), None, None)
    return World(tuple(devices), home, (), newest, poison_at_start(case))


def poison_at_start(case):
    """Who poisons, and the value of their M copy."""
    return case.poison, frozenset({1} if any(case.start[i] == "M" for i in case.poison) else ())


def stored(world, i, whole):
    """A store or write of agent `i` has its place: the next value."""
    poisoners, bad = world.poison
    newest = world.newest + 1
    if i in poisoners or (not whole and world.newest in bad):
        bad = bad | {newest}
    return world._replace(newest=newest, poison=(poisoners, bad))


def loaded(world, i):
    """A load of agent `i` is done."""
    device, (poisoners, bad) = world.devices[i], world.poison
    letter = "" if not poisoners else "P" if device.value in bad else "c"
    return with_device(world, i, at=device.at + 1, loads=device.loads + letter)


def put(world, *messages):
    return world._replace(messages=tuple(sorted(world.messages + messages, key=repr)))


def drop(world, message):
    rest = list(world.messages)
    rest.remove(message)
    return world._replace(messages=tuple(rest))


def with_device(world, i, **changes):
    devices = list(world.devices)
    devices[i] = devices[i]._replace(**changes)
    return world._replace(devices=tuple(devices))


def with_home(world, **changes):
    return world._replace(home=world.home._replace(**changes))


def waiting_store(case, device, i):
    """The operation behind the one under way is a Store."""
    program = case.programs[i]
    return device.at < len(program) and program[device.at] == "Store"


def has_to_wait(device, op):
    """An operation waits for the request before it. A load does not wait for an upgrade: RdOwnNoData keeps the S copy, which
    may be read until a snoop takes it (2.1, 2.2, 2.4)."""
    reads_on = op == "Load" and device.request == "RdOwnNoData" and device.state == "S"
    return device.request is not None and not reads_on


def cache_cores(case, world):
    """What the cores can do next."""
    for i, device in enumerate(world.devices):
        program = case.programs[i]
        if device.at >= len(program) or has_to_wait(device, program[device.at]):
            continue
        op = program[device.at]
        if op == "Load":
            if device.state in "SEM" and device.value is not None:
                yield f"{i} Load", loaded(world, i)
        elif op == "Store":
            if device.state in "EM":
                # A store of CXL.cache writes a part of the line.
                done = stored(world, i, False)
                yield f"{i} Store", with_device(done, i, state="M", value=done.newest, at=device.at + 1)
            elif device.asked:
                again = "RdOwn" if device.state == "I" else "RdOwnNoData"
                yield f"{i} asks again", put(with_device(world, i, request=again, store=True), ("D2HReq", i, again))
        elif device.state in START.get(op, "I"):
            asked = True if op in ("RdOwn", "RdOwnNoData") else False if op in EVICTS else device.asked
            changed = with_device(world, i, request=op, at=device.at + 1, asked=asked)
            yield f"{i} {op}", put(changed, ("D2HReq", i, op))


def accept(world, i, op):
    """2.8: the home takes a request, and snoops whom it has to."""
    home = world.home
    others = {j for j in home.sharers | ({home.owner} - {None}) if j != i}
    if op == "RdCurr":
        snoop, targets = "SnpCur", {home.owner} - {None, i}
    elif op in ("RdShared", "RdAny"):
        snoop, targets = "SnpData", {home.owner} - {None, i}
    elif op in EVICTS:
        snoop, targets = None, set()
    else:
        snoop, targets = "SnpInv", others
    world = with_home(world, busy=(op, i, frozenset(targets), frozenset(), "snoop"))
    world = put(world, *(("H2DReq", j, snoop) for j in targets))
    return world if targets else answer(world)


def answer(world):
    """All snoop answers and their lines are in: GO, data or pull."""
    home = world.home
    op, i = home.busy[:2]
    free = dict(busy=None, passed=None)
    if op == "RdCurr":
        line = home.memory if home.passed is None else home.passed
        return put(with_home(world, **free), ("H2DData", i, line))
    if op in ("RdShared", "RdAny", "RdOwn", "RdOwnNoData"):
        alone = not (home.sharers - {i}) and home.owner in (None, i)
        state = "S" if op == "RdShared" or (op == "RdAny" and not alone) else "E"
        if state == "E":
            world = with_home(world, owner=i, sharers=frozenset(), **free)
        else:
            world = with_home(world, owner=None if home.owner == i else home.owner, sharers=home.sharers | {i}, **free)
        world = put(world, ("H2DRsp", i, "GO", state))
        return world if op == "RdOwnNoData" else put(world, ("H2DData", i, home.memory))
    if op == "CLFlush":
        return put(with_home(world, **free), ("H2DRsp", i, "GO", "I"))
    if op in EVICTS:
        owned = home.owner == i
        world = with_home(world, owner=None if owned else home.owner, sharers=home.sharers - {i})
        if op == "CleanEvictNoData":
            return put(with_home(world, **free), ("H2DRsp", i, "GO", "I"))
        if op == "CleanEvict":
            return put(with_home(world, **free), ("H2DRsp", i, "GO_WritePull_Drop", "I"))
        return put(with_home(world, busy=(op, i, frozenset(), frozenset({i}), "pull")), ("H2DRsp", i, "GO_WritePull", "I"))
    pull = {"WrInv": "WritePull", "WOWrInv": "Fast_GO_WritePull", "WOWrInvF": "Fast_GO_WritePull"}.get(op, "GO_WritePull")
    return put(with_home(world, busy=(op, i, frozenset(), frozenset({i}), "pull")), ("H2DRsp", i, pull, "I"))


def snoop_answered(world, i, what):
    home = world.home
    op, requester, awaited, lines, phase = home.busy
    assert i in awaited and phase == "snoop", "a snoop answer that nobody asked for"
    owner, sharers = home.owner, home.sharers
    if what.startswith("RspI"):
        owner, sharers = (None if owner == i else owner), sharers - {i}
    elif what.startswith("RspS"):
        owner, sharers = (None if owner == i else owner), sharers | {i}
    if "Fwd" in what:
        lines = lines ^ {i}
    world = with_home(world, owner=owner, sharers=sharers, busy=(op, requester, awaited - {i}, lines, phase))
    return finish_snoops(world)


def finish_snoops(world):
    awaited, lines = world.home.busy[2:4]
    return world if awaited or lines else answer(world)


def device_data(world, i, line, bogus, kind):
    """A line comes to the home: forwarded by a snoop or pulled. It may come in front of its response (2.3)."""
    home = world.home
    op, requester, awaited, lines, phase = home.busy
    if phase == "snoop":
        if kind == "V":
            world = with_home(world, passed=line)
        else:
            world = with_home(world, memory=line)
        return finish_snoops(with_home(world, busy=(op, requester, awaited, lines ^ {i}, phase)))
    if op in EVICTS:
        if not bogus:
            world = with_home(world, memory=line)
    else:
        # The line of a write becomes the newest value where the home takes it.
        world = stored(world, i, op not in PARTS)
        world = with_home(world, memory=world.newest)
        if op == "WrInv":
            world = put(world, ("H2DRsp", i, "GO", "I"))
        elif op.startswith("WOWrInv"):
            world = put(world, ("H2DRsp", i, "ExtCmp", "I"))
    return with_home(world, busy=None, passed=None)


def snooped(world, i, snoop):
    """2.3 and 2.4: a device answers at once."""
    device = world.devices[i]
    request, state = device.request, device.state
    if device.go is not None and request in ("RdShared", "RdAny", "RdOwn") and device.data is None:
        # GO seen, data not: ownership has moved.
        if device.go == "E" and device.store and snoop != "SnpCur":
            # The store happens when the line comes; until then the line is owed.
            after, response = {"SnpInv": ("I", "RspIFwdM"), "SnpData": ("S", "RspSFwdM")}[snoop]
            return put(with_device(world, i, owed=after), ("D2HRsp", i, response))
        if snoop == "SnpCur":
            return put(world, ("D2HRsp", i, "RspVHitV"))
        if snoop == "SnpInv":
            return put(with_device(world, i, go="I"), ("D2HRsp", i, "RspIHitSE"))
        return put(with_device(world, i, go="S"), ("D2HRsp", i, "RspSHitSE"))
    evicting = request in EVICTS
    if state == "I":
        return put(world, ("D2HRsp", i, "RspIHitI"))
    if state == "E" and device.value is None and snoop == "SnpData":
        # No bytes to share: the E is given up.
        return put(with_device(world, i, state="I", hit=evicting), ("D2HRsp", i, "RspIHitI"))
    if snoop == "SnpCur":
        if state == "M":
            return put(world, ("D2HRsp", i, "RspVFwdV"), ("D2HData", i, device.value, False, "V"))
        return put(world, ("D2HRsp", i, "RspVHitV"))
    after = "I" if snoop == "SnpInv" else "S"
    changed = with_device(world, i, state=after, value=device.value if after == "S" else None,
                          hit=device.hit or (evicting and after != state))
    if state == "M":
        response = "RspIFwdM" if after == "I" else "RspSFwdM"
        return put(changed, ("D2HRsp", i, response), ("D2HData", i, device.value, False, after))
    return put(changed, ("D2HRsp", i, "RspIHitSE" if after == "I" else "RspSHitSE"))


def fill(world, i):
    """A read with its GO and, where it has one, its line is complete."""
    device = world.devices[i]
    request = device.request
    if request == "RdCurr":
        return with_device(world, i, request=None, data=None) if device.data is not None else world
    if device.go is None or (request != "RdOwnNoData" and device.data is None):
        return world
    free = dict(request=None, go=None, data=None, store=False, owed=None)
    if device.owed is not None:
        # 2.4: fill, store, then the line that is owed.
        world, after = stored(world, i, False), device.owed
        newest = world.newest
        world = with_device(world, i, state=after, value=None if after == "I" else newest, at=device.at + 1, **free)
        return put(world, ("D2HData", i, newest, False, after))
    if request == "RdOwnNoData" and device.value is None:
        # 2.4, 5 point 3: ownership without bytes is given up, and the line is read.
        return put(with_device(world, i, **{**free, "request": "RdOwn", "store": device.store}), ("D2HReq", i, "RdOwn"))
    if request == "RdOwnNoData":
        return with_device(world, i, state="E", **free)
    if device.go == "I":
        # A snoop took it meanwhile: used once and gone.
        return with_device(world, i, state="I", value=None, **free)
    return with_device(world, i, state=device.go, value=device.data, **free)


def to_device(world, message):
    channel, i = message[:2]
    world = drop(world, message)
    device = world.devices[i]
    if channel == "H2DReq":
        return snooped(world, i, message[2])
    if channel == "H2DData":
        return fill(with_device(world, i, data=message[2]), i)
    what, state = message[2:]
    free = dict(request=None, go=None, hit=False)
    if what == "GO":
        if device.request in ("RdShared", "RdAny", "RdOwn", "RdOwnNoData"):
            return fill(with_device(world, i, go=state), i)
        return with_device(world, i, state="I", value=None, **free)
    if what == "GO_WritePull_Drop":
        return with_device(world, i, state="I", value=None, **free)
    if what == "ExtCmp":
        return with_device(world, i, state="I", value=None, **free)
    line = ("D2HData", i, device.value, device.hit, "P")
    if what in ("WritePull", "Fast_GO_WritePull"):
        return put(world, line)
    return put(with_device(world, i, state="I", value=None, **free), line)


def cache_moves(case, world):
    yield from cache_cores(case, world)
    for i, device in enumerate(world.devices):
        # A store that comes next may wait with the read or be late for it (2.4 has both); which one is a choice, like the
        # message that arrives next, and no matter but for a snoop between GO and data.
        if device.go == "E" and device.data is None and device.request != "RdOwnNoData" and not device.store \
                and waiting_store(case, device, i):
            yield f"({i} has a store waiting)", with_device(world, i, store=True)
    for message in dict.fromkeys(world.messages):
        channel, i = message[:2]
        if channel == "D2HReq":
            if world.home.busy is None:
                yield repr(message), accept(drop(world, message), i, message[2])
        elif channel == "D2HRsp":
            yield repr(message), snoop_answered(drop(world, message), i, message[2])
        elif channel == "D2HData":
            yield repr(message), device_data(drop(world, message), i, *message[2:])
        elif channel == "H2DReq":
            # O1: a snoop never passes a GO.
            if not any(m[0] == "H2DRsp" and m[1] == i and "GO" in m[2] for m in world.messages):
                yield repr(message), to_device(world, message)
        elif channel == "H2DRsp" and message[2] == "GO" and ("H2DRsp", i, "WritePull", "I") in world.messages:
            continue
        else:
            yield repr(message), to_device(world, message)


def cache_outcome(world):
    """Letters and whether memory is fresh; where somebody poisons also whether it is poisoned, and what the loads got."""
    plain = "".join(d.state for d in world.devices), world.home.memory == world.newest
    poisoners, bad = world.poison
    return plain + (world.home.memory in bad, tuple(d.loads for d in world.devices)) if poisoners else plain


# ------------------------------------------------------------------------------------------------------------- HDM-DB

# A host. request: M2S Req under way; cmp: the state of its Cmp; data; write: the MetaValue of a MemWr under way;
# snoop: a BISnp that has to be answered and how far that is: "open", "conflict" (Ack awaited), "write" (Cmp awaited).
Host = namedtuple("Host", "state value at request cmp data write snoop stage asked loads", defaults=("",))
# The device. holders: None, ("S", set) or ("A", host). busy: (request, host, answers awaited).
Dcoh = namedtuple("Dcoh", "memory holders busy")
Shared = namedtuple("Shared", "devices home messages newest poison")
REQ_START = {"MemRdS": "SI", "MemRdA": "MESI", "MemInv": "MESI", "MemClnEvct": "ES", "MemWr": "M"}


def shared_start(case):
    owner = next((i for i, letter in enumerate(case.start) if letter in "EM"), None)
    newest = 1 if "M" in case.start else 0
    hosts = tuple(Host(letter, {"I": None, "M": newest}.get(letter, 0), 0, None, None, None, None, None, None, False)
                  for letter in case.start)
    sharers = frozenset(i for i, letter in enumerate(case.start) if letter == "S")
    holders = ("A", frozenset({owner})) if owner is not None else ("S", sharers) if sharers else ("I", frozenset())
    return Shared(hosts, Dcoh(0, holders, None), (), newest, poison_at_start(case))


def shared_cores(case, world, first=0):
    for i, host in list(enumerate(world.devices))[first:]:
        program = case.programs[i]
        if host.request or host.write or host.at >= len(program):
            continue
        op = program[host.at]
        # A snoop that is being answered has the line; nothing new is issued before its answer.
        if host.stage not in (None, "open"):
            continue
        if op == "Load":
            if host.state in "SEM" and host.value is not None:
                yield f"{i} Load", loaded(world, i)
        elif op == "Store":
            if host.state in "EM":
                # A store of CXL.mem writes the whole line.
                done = stored(world, i, True)
                yield f"{i} Store", with_device(done, i, state="M", value=done.newest, at=host.at + 1)
            elif host.asked:
                yield f"{i} asks again", put(with_device(world, i, request="MemRdA"), ("Req", i, "MemRdA"))
        elif host.state in REQ_START[op]:
            if op == "MemWr":
                line = host.value
                changed = with_device(world, i, at=host.at + 1, write="Invalid", state="I", value=None, asked=False)
                yield f"{i} MemWr", put(changed, ("RwD", i, "Invalid", line))
            else:
                asked = True if op in ("MemRdA", "MemInv") else False if op == "MemClnEvct" else host.asked
                changed = with_device(world, i, at=host.at + 1, request=op, asked=asked)
                if op == "MemClnEvct":
                    changed = with_device(changed, i, state="I", value=None)
                yield f"{i} {op}", put(changed, ("Req", i, op))


def shared_accept(world, i, op):
    kind, holders = world.home.holders
    others = holders - {i}
    if op == "MemClnEvct":
        rest = holders - {i}
        world = with_home(world, holders=(kind, rest) if rest else ("I", frozenset()))
        return put(world, ("NDR", i, "Cmp"))
    if op == "MemRdS":
        snoop, targets = "BISnpData", others if kind == "A" else frozenset()
    else:
        snoop, targets = "BISnpInv", others
    world = with_home(world, busy=(op, i, targets))
    world = put(world, *(("BISnp", j, snoop) for j in targets))
    return world if targets else shared_answer(world)


def shared_answer(world):
    op, i, _ = world.home.busy
    kind, holders = world.home.holders
    if op == "MemRdS":
        world = with_home(world, busy=None, holders=("S", holders | {i}))
        return put(world, ("NDR", i, "Cmp-S"), ("DRS", i, world.home.memory))
    world = with_home(world, busy=None, holders=("A", frozenset({i})))
    world = put(world, ("NDR", i, "Cmp-E"))
    return put(world, ("DRS", i, world.home.memory)) if op == "MemRdA" else world


def shared_birsp(world, i, what):
    op, requester, awaited = world.home.busy
    kind, holders = world.home.holders
    if what == "BIRspI":
        holders = holders - {i}
    kind = "S" if holders else "I"
    world = with_home(world, holders=(kind, holders), busy=(op, requester, awaited - {i}))
    return world if awaited - {i} else shared_answer(world)


def shared_rwd(world, i, keep, line):
    kind, holders = world.home.holders
    rest = holders - {i}
    if keep == "Invalid":
        holders = (kind, rest) if rest else ("I", frozenset())
    else:
        holders = ("S", holders | {i})
    return put(with_home(world, memory=line, holders=holders), ("NDR", i, "Cmp"))


def bi_answer(world, i):
    """3.4: from the state that the host has now, with nothing of its own in the way."""
    host = world.devices[i]
    inv = host.snoop == "BISnpInv"
    if host.state == "M":
        keep = "Invalid" if inv else "Shared"
        changed = with_device(world, i, state="I" if inv else "S", value=None if inv else host.value, write=keep, stage="write")
        return put(changed, ("RwD", i, keep, host.value))
    if host.state == "I" or inv or host.value is None:
        return put(with_device(world, i, state="I", value=None, snoop=None, stage=None), ("BIRsp", i, "BIRspI"))
    return put(with_device(world, i, state="S", snoop=None, stage=None), ("BIRsp", i, "BIRspS"))


def shared_fill(case, world, i):
    host = world.devices[i]
    if host.cmp is None or (host.request != "MemInv" and host.request != "MemClnEvct" and host.data is None):
        return world
    free = dict(request=None, cmp=None, data=None)
    if host.request == "MemClnEvct":
        changed = with_device(world, i, **free)
    elif host.state == "M":
        changed = with_device(world, i, **free)
    elif host.request == "MemInv" and host.value is None and not waiting_store(case, host, i):
        # 3.4, 5 point 3: ownership without bytes is given up, and the line is read, unless a store of the whole line
        # waits for it. A snoop that lost the race finds I.
        changed = with_device(world, i, **free)
        if host.stage == "won":
            changed = bi_answer(changed, i)
        return put(with_device(changed, i, request="MemRdA"), ("Req", i, "MemRdA"))
    else:
        value = host.value if host.request == "MemInv" else host.data
        changed = with_device(world, i, state=host.cmp, value=value, **free)
    host = changed.devices[i]
    if host.stage == "won":
        # 3.5: at least one waiting access before the line goes.
        program = case.programs[i]
        if host.at < len(program) and program[host.at] == "Store" and host.state in "EM":
            changed = stored(changed, i, True)
            changed = with_device(changed, i, state="M", value=changed.newest, at=host.at + 1)
        elif host.at < len(program) and program[host.at] == "Load" and host.value is not None:
            changed = loaded(changed, i)
        changed = bi_answer(changed, i)
    return changed


def shared_ndr(case, world, i, what):
    host = world.devices[i]
    if what == "Ack":
        if host.request is None and host.stage == "conflict":
            return bi_answer(world, i)
        if host.request == "MemClnEvct":
            return bi_answer(world, i)
        if host.cmp is not None:
            return shared_fill(case, with_device(world, i, stage="won"), i)
        return bi_answer(world, i)
    if host.write is not None and what == "Cmp" and host.request is None:
        changed = with_device(world, i, write=None)
        return bi_answer(changed, i) if host.snoop and host.stage in ("write", "open") else changed
    if host.write is not None and what == "Cmp":
        # A write back under an early conflict: the request waits at the device, so this Cmp is the write's.
        return bi_answer(with_device(world, i, write=None), i)
    changed = with_device(world, i, cmp={"Cmp-S": "S", "Cmp-E": "E", "Cmp": "I"}[what])
    if host.stage == "conflict":
        if host.request == "MemClnEvct":
            return with_device(changed, i, request=None, cmp=None)
        return changed  # the fill waits for the Ack, which tells that the request won
    return shared_fill(case, changed, i)


def shared_moves(case, world):
    yield from shared_cores(case, world)
    for i, host in enumerate(world.devices):
        if host.snoop and host.stage == "open" and not host.write:
            if host.request:
                yield f"{i} BIConflict", put(with_device(world, i, stage="conflict"), ("Conflict", i))
            else:
                yield f"{i} answers", bi_answer(world, i)
    for message in dict.fromkeys(world.messages):
        channel, i = message[:2]
        rest = drop(world, message)
        if channel == "Req":
            if world.home.busy is None:
                yield repr(message), shared_accept(rest, i, message[2])
        elif channel == "RwD":
            yield repr(message), shared_rwd(rest, i, *message[2:])
        elif channel == "Conflict":
            yield repr(message), put(rest, ("NDR", i, "Ack"))
        elif channel == "BIRsp":
            yield repr(message), shared_birsp(rest, i, message[2])
        elif channel == "BISnp":
            yield repr(message), with_device(rest, i, snoop=message[2], stage="open")
        elif channel == "DRS":
            changed = with_device(rest, i, data=message[2])
            ready = world.devices[i].stage != "conflict"
            yield repr(message), shared_fill(case, changed, i) if ready else changed
        elif message[2] == "Ack" and any(m[0] == "NDR" and m[1] == i and m[2] != "Ack" for m in world.messages):
            continue
        else:
            yield repr(message), shared_ndr(case, rest, i, message[2])


# -------------------------------------------------------------------------------------------------------------- HDM-D

# The device with its memory is agent 0, the host agent 1. `holders` of the memory is the bias: "device" or "host".
LOCAL = {"RdShared": "S", "RdAny": "E", "RdOwn": "E", "RdOwnNoData": "E", "RdCurr": "I", "CLFlush": "I"}


def bias_start(case):
    newest = 1 if "M" in case.start else 0
    letter = case.start[0]
    device = Device(letter, {"I": None, "M": newest}.get(letter, 0), 0, None, None, None, False, False, False, None)
    letter = case.start[1]
    host = Host(letter, {"I": None, "M": newest}.get(letter, 0), 0, None, None, None, None, None, None, False)
    bias = "device" if case.start[0] in "EM" else "host"
    return Shared((device, host), Dcoh(0, bias, None), (), newest, poison_at_start(case))


def bias_device_core(case, world):
    device, program = world.devices[0], case.programs[0]
    if device.at >= len(program) or has_to_wait(device, program[device.at]):
        return
    op = program[device.at]
    on = dict(at=device.at + 1)
    if op == "Load":
        if device.state in "SEM":
            yield "0 Load", loaded(world, 0)
    elif op == "Store":
        if device.state in "EM":
            done = stored(world, 0, True)
            yield "0 Store", with_device(done, 0, state="M", value=done.newest, **on)
        elif device.asked:
            again = "RdOwn" if device.state == "I" else "RdOwnNoData"
            if world.home.holders == "device":
                yield "0 takes again", with_device(world, 0, state="E", value=world.home.memory)
            else:
                yield "0 asks again", put(with_device(world, 0, request=again), ("D2HReq", 0, again))
    elif device.state not in START.get(op, "I"):
        return
    elif op in EVICTS:
        # They stay inside the device.
        if op == "DirtyEvict":
            world = with_home(world, memory=device.value)
        yield f"0 {op}", with_device(world, 0, state="I", value=None, asked=False, **on)
    elif world.home.holders == "device" and op not in ("ItoMWr", "WrCur", "WrInv"):
        if op in WRITES:
            done = stored(world, 0, op not in PARTS)
            yield f"0 {op}", with_device(with_home(done, memory=done.newest), 0, **on)
        else:
            state = LOCAL[op]
            asked = device.asked or op in ("RdOwn", "RdOwnNoData")
            value = None if state == "I" else world.home.memory
            yield f"0 {op}", with_device(world, 0, state=state, value=value, asked=asked, **on)
    else:
        asked = device.asked or op in ("RdOwn", "RdOwnNoData")
        yield f"0 {op}", put(with_device(world, 0, request=op, asked=asked, **on), ("D2HReq", 0, op))


def bias_clean(world):
    """The host gives up what the flip under way asks for; a modified line is written back and its Cmp awaited."""
    host, op = world.devices[1], world.devices[0].request
    after = {"RdCurr": {"M": "E"}, "RdShared": {"M": "S", "E": "S"}, "RdAny": {"M": "S", "E": "S"}}.get(op)
    after = "I" if after is None else after.get(host.state, host.state)
    if host.state == "M":
        keep = {"E": "Any", "S": "Shared", "I": "Invalid"}[after]
        changed = with_device(world, 1, state=after, value=None if after == "I" else host.value, write=keep, stage="flip")
        return put(changed, ("RwD", 1, keep, host.value))
    return bias_forward(with_device(world, 1, state=after, value=None if after == "I" else host.value))


def bias_forward(world):
    host, op = world.devices[1], world.devices[0].request
    if op in ("ItoMWr", "WrCur", "WrInv"):
        return put(with_device(world, 1, stage="pull", write=None), ("H2DRsp", 0, "pull"))
    return put(with_device(world, 1, stage=None, write=None), ("Fwd", 0, host.state))


def bias_moves(case, world):
    yield from bias_device_core(case, world)
    yield from shared_cores(case, world, first=1)
    device, host = world.devices
    for message in dict.fromkeys(world.messages):
        channel = message[0]
        rest = drop(world, message)
        if channel == "D2HReq":
            if not (host.request or host.write or host.stage):
                yield repr(message), bias_clean(rest)
        elif channel == "Fwd":
            yield repr(message), bias_forwarded(rest, message[2])
        elif channel == "Req":
            # 3.3: no request passes an earlier Mem*Fwd of the line.
            if not any(m[0] == "Fwd" for m in world.messages):
                yield repr(message), bias_request(rest, message[2])
        elif channel == "RwD":
            changed = with_home(rest, memory=message[3])
            if message[2] == "Snooped":
                changed = with_device(changed, 0, state="I", value=None)
            yield repr(message), put(changed, ("NDR", 1, "Cmp"))
        elif channel == "H2DRsp":
            yield repr(message), put(rest, ("D2HData", 0)) if message[2] == "pull" else with_device(rest, 0, request=None)
        elif channel == "D2HData":
            changed = stored(with_device(rest, 1, write="Snooped", stage="written"), 0, device.request not in PARTS)
            yield repr(message), put(changed, ("RwD", 1, "Snooped", changed.newest))
        elif channel == "DRS":
            yield repr(message), shared_fill(case, with_device(rest, 1, data=message[2]), 1)
        elif message[2] == "Cmp" and host.stage == "flip":
            yield repr(message), bias_forward(rest)
        elif message[2] == "Cmp" and host.stage == "written":
            yield repr(message), put(with_device(rest, 1, write=None, stage=None), ("H2DRsp", 0, "GO"))
        elif message[2] == "Cmp":
            yield repr(message), with_device(rest, 1, write=None)
        else:
            yield repr(message), shared_fill(case, with_device(rest, 1, cmp=message[2][-1]), 1)


def bias_forwarded(world, meta):
    op = world.devices[0].request
    if op.startswith("WOWrInv"):
        world = stored(world, 0, op not in PARTS)
        return with_device(with_home(world, memory=world.newest), 0, request=None)
    state = "E" if op in ("RdOwn", "RdOwnNoData") or (op == "RdAny" and meta == "I") else \
        "S" if op in ("RdShared", "RdAny") else "I"
    if state == "E":
        world = with_home(world, holders="device")
    return with_device(world, 0, state=state, value=None if state == "I" else world.home.memory, request=None)


def bias_request(world, op):
    device = world.devices[0]
    if device.state == "M":
        world = with_home(world, memory=device.value)
    world = with_home(world, holders="host")
    if op == "MemRdS":
        if device.state in "EM":
            world = with_device(world, 0, state="S")
        return put(world, ("NDR", 1, "Cmp-S"), ("DRS", 1, world.home.memory))
    world = put(with_device(world, 0, state="I", value=None), ("NDR", 1, "Cmp-E"))
    return put(world, ("DRS", 1, world.home.memory)) if op == "MemRdA" else world


KINDS = {"cxl-cache": (cache_start, cache_moves), "hdm-db": (shared_start, shared_moves), "hdm-d": (bias_start, bias_moves)}


def check(world):
    """A copy in E or M is alone, and every copy that a core may use is the newest value (4, V1 and V2)."""
    usable = [d for d in world.devices if d.state in "SEM" and d.value is not None and d.request not in EVICTS]
    assert len(usable) < 2 or all(d.state == "S" for d in usable), f"not alone: {world}"
    assert all(d.value == world.newest for d in usable), f"old bytes: {world}"


def settled(case, moves, world):
    """Cores do at once what they can: an operation is issued as soon as its start state holds. Each touches its own agent
    only, so their order is of no matter. What is left to choose is the message that arrives next."""
    while True:
        own = next((after for label, after in moves(case, world) if not label.startswith("(")), None)
        if own is None:
            return world
        check(own)
        world = own


def outcomes(case, limit=400_000):
    """(states, set of outcomes as `cache_outcome` has them). Raises where a copy is not alone or not the newest value."""
    start, moves = KINDS[case.kind]
    first = settled(case, moves, start(case))
    seen, todo, found = {first}, [first], set()
    while todo:
        world = todo.pop()
        check(world)
        quiet = True
        for _, after in moves(case, world):
            quiet = False
            after = settled(case, moves, after)
            if after not in seen:
                if len(seen) >= limit:
                    raise RuntimeError(f"more than {limit} states")
                seen.add(after)
                todo.append(after)
        if quiet:
            assert not world.messages and world.home.busy is None, f"stuck: {world}"
            found.add(cache_outcome(world))
    return len(seen), found
