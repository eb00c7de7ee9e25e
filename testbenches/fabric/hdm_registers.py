"""HDM decoder registers of the CXL fabric, spelled from its sheet (`fabric` 2.1 to 2.4, HDM-1, 2, 4, 10, and c9 of its conformance list).

Modelled: what software reads after what it wrote, which commits are refused, and where an address goes behind the commits. Left out:
time (the result of a commit is there at once), UIO routing, coherency, poison and isolation; their bits are held and have no effect.
Nothing here was taken from the model. What the sheet leaves open is a choice, marked [D].

A decoder is what its registers say at the moment of its commit. `HdmDecoders` keeps those values apart from the registers, and it can
leave out one of its checks or steps, so that the cases can be held against every such mutant.
"""

import collections

#: 2.1: the number of decoders by its code; devices have at most 10.
COUNTS = [1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32]
COUNT_CODES = {"device": range(6), "bridge": range(13)}
#: 2.1: the numbers of targets that a capability may name.
TARGETS = (1, 2, 4, 8)
#: 2.1: the codes of ways; those of 16, 3, 6 and 12 are for devices only.
THIRDS, SIXTEEN = (8, 9, 0xA), 4
WAY_CODES = {"device": (0, 1, 2, 3, SIXTEEN, *THIRDS), "bridge": (0, 1, 2, 3)}
GRANULARITY_CODES = range(7)

#: 2.1: registers of decoder n lie at 10h + 20h n; these are the offsets from there.
FIRST, STRIDE = 0x10, 0x20
BASE, SIZE, CONTROL, TARGETS_OR_SKIP = 0x0, 0x8, 0x10, 0x14
GLOBAL = 0x4
LOCK, COMMIT, COMMITTED, ERROR = 1 << 8, 1 << 9, 1 << 10, 1 << 11
ENABLE = 1 << 1
#: What software can write: base, size and skip in units of 256 MB, all but reserved bits and the two results in the control register.
WHOLE, HIGH_BITS = 0xFFFF_FFFF, 0xF000_0000
WRITABLE = {BASE: HIGH_BITS, BASE + 4: WHOLE, SIZE: HIGH_BITS, SIZE + 4: WHOLE, CONTROL: 0x0FFF_73FF}
WRITABLE_OF = {
    "device": {**WRITABLE, TARGETS_OR_SKIP: HIGH_BITS, TARGETS_OR_SKIP + 4: WHOLE},
    "bridge": {**WRITABLE, TARGETS_OR_SKIP: WHOLE, TARGETS_OR_SKIP + 4: WHOLE},
}

#: What a mutant leaves out. HDM-2: the checks of a commit with lock.
CHECKS = ["order", "wrap", "size of thirds", "distinct targets", "previous committed"]
#: HDM-4 and the codes: the checks of every commit.
CHECKS += ["overlap", "ways above targets", "3/6/12 ways", "16 ways", "low group", "high group", "IG code", "IW code", "bridge IW code"]
#: Steps: a locked decoder takes no writes, values in use are latched, skips, enable of a device, commit 1 -> 1, commit 1 -> 0.
CHECKS += ["lock", "latch", "skip", "enable", "edge", "clear"]

#: The values of one decoder. `last` is the 64-bit pair behind the control register: a list of ports, or a skip.
Fields = collections.namedtuple("Fields", "base size ig iw ways lock last")


def ways_of(iw):
    """2.1: powers of two, from code 8 on with a factor of three. Codes that do not exist go on in the same way, for mutants."""
    return 1 << iw if iw < 8 else 3 << (iw - 8)


def port_of(fields, way):
    """2.1: the byte of a way in the target list."""
    return (fields.last >> (8 * way)) & 0xFF


def device_offset(offset, fields):
    """2.3: the offset without the interleave, by the codes of the registers."""
    ig, iw = fields.ig, fields.iw
    low = offset & ((1 << (8 + ig)) - 1)
    chunk = offset >> (8 + ig + iw) if iw < 8 else (offset >> (ig + iw)) // 3
    return chunk << (8 + ig) | low


class HdmDecoders:
    """The decoders of a device, or of a bridge (switch, host bridge). `without` is one of CHECKS, which is left out."""

    def __init__(self, owner, capability, without=None):
        self.owner, self.capability, self.without = owner, capability, without
        self.count = COUNTS[capability & 0xF]
        self.registers = {}
        #: Numbers of committed decoders with the values of their commits, and of those that were refused.
        self.committed, self.failed = {}, set()

    def place(self, offset):
        """The number of the decoder and the register in it; None, None outside the decoders."""
        number, register = divmod(offset - FIRST, STRIDE)
        return (number, register) if 0 <= number < self.count else (None, None)

    def write(self, offset, value):
        """Software writes a register; what cannot be written stays as it is."""
        number, register = self.place(offset)
        if number is None:
            if offset == GLOBAL:
                self.registers[offset] = value & 3
            return
        if number in self.committed and self.in_use(number).lock and self.without != "lock":
            return
        before = self.registers.get(offset, 0)
        self.registers[offset] = value & WRITABLE_OF[self.owner].get(register, 0)
        if register != CONTROL:
            return
        if not value & COMMIT:
            if self.without != "clear":
                self.forget(number)
        elif not before & COMMIT or self.without == "edge":
            self.commit(number)

    def read(self, offset):
        """What software reads: registers as they were written, and the results of commits."""
        if offset == 0:
            return self.capability
        number, register = self.place(offset)
        value = self.registers.get(offset, 0)
        if register == CONTROL:
            value |= COMMITTED * (number in self.committed) | ERROR * (number in self.failed)
        return value

    def look_up(self, address):
        """The decoder that an address hits, its port behind a bridge, its address in a device."""
        if self.owner == "device" and not self.registers.get(GLOBAL, 0) & ENABLE and self.without != "enable":
            return None, None, None
        for number in sorted(self.committed):
            fields = self.in_use(number)
            # HDM-1
            if fields.base <= address < fields.base + fields.size:
                if self.owner == "bridge":
                    # 2.2
                    return number, port_of(fields, (address >> (8 + fields.ig)) & (fields.ways - 1)), None
                return number, None, self.device_base(number) + device_offset(address - fields.base, fields)
        return None, None, None

    def device_base(self, number):
        """2.3, dpa_base: the own skip behind the skips and shares of lower decoders. [D]: of the committed ones."""
        skip = lambda fields: 0 if self.without == "skip" else fields.last
        lower = [self.in_use(n) for n in self.committed if n < number]
        return sum(skip(fields) + fields.size // fields.ways for fields in lower) + skip(self.in_use(number))

    def fields(self, number):
        """The values that the registers of a decoder hold now."""
        half = lambda register: self.registers.get(FIRST + STRIDE * number + register, 0)
        pair = lambda register: half(register) | half(register + 4) << 32
        control = half(CONTROL)
        ig, iw = control & 0xF, (control >> 4) & 0xF
        return Fields(pair(BASE), pair(SIZE), ig, iw, ways_of(iw), bool(control & LOCK), pair(TARGETS_OR_SKIP))

    def in_use(self, number):
        """The values of a committed decoder: those of its commit."""
        return self.fields(number) if self.without == "latch" else self.committed[number]

    def forget(self, number):
        self.committed.pop(number, None)
        self.failed.discard(number)

    def commit(self, number):
        """Commit 0 -> 1: committed with the values of this moment, or refused."""
        refused = any(name != self.without for name in self.broken(number))
        self.forget(number)
        if refused:
            self.failed.add(number)
        else:
            self.committed[number] = self.fields(number)

    def broken(self, number):
        """The names of all checks that the registers of a decoder do not meet."""
        new, bridge = self.fields(number), self.owner == "bridge"
        if new.lock:
            yield from self.broken_with_lock(number, new)
        for other in (self.in_use(n) for n in self.committed if n != number):
            # [D]: size 0 never overlaps.
            if new.size and other.size and new.base < other.base + other.size and other.base < new.base + new.size:
                yield "overlap"
        has = lambda bit: self.capability >> bit & 1
        if bridge and new.ways > (self.capability >> 4) & 0xF:
            yield "ways above targets"
        if bridge and new.iw in (SIXTEEN, *THIRDS):
            yield "bridge IW code"
        if not bridge and new.iw in THIRDS and not has(11):
            yield "3/6/12 ways"
        if not bridge and new.iw == SIXTEEN and not has(12):
            yield "16 ways"
        if new.iw not in WAY_CODES["device"]:
            yield "IW code"
        if new.ig not in GRANULARITY_CODES:
            yield "IG code"
        # HDM-4, HDM-10, c9: bit 8+IG of the address is A11..A8 or A14..A12. [D]: without ways it selects nothing.
        if new.ways > 1 and new.ig <= 3 and not has(8):
            yield "low group"
        if new.ways > 1 and 4 <= new.ig <= 6 and not has(9):
            yield "high group"

    def broken_with_lock(self, number, new):
        """HDM-2."""
        if number and number - 1 not in self.committed:
            yield "previous committed"
        elif number and new.base < self.in_use(number - 1).base + self.in_use(number - 1).size:
            yield "order"
        if new.base + new.size > 1 << 64:
            yield "wrap"
        if new.iw >= 8 and new.size % (3 << 28):
            yield "size of thirds"
        if self.owner == "bridge" and len({port_of(new, way) for way in range(new.ways)}) < new.ways:
            yield "distinct targets"


def judge_commits(case, without=None):
    """Differences of a case of decoder_commits, from the sheet or from a mutant of it."""
    owner, capability = case["owner"], int(case["capability"], 16)
    if owner not in COUNT_CODES or capability & 0xF not in COUNT_CODES[owner]:
        yield f"{case['shows']}: no decoders of a {owner} with capability {case['capability']}"
        return
    if owner == "bridge" and (capability >> 4) & 0xF not in TARGETS:
        yield f"{case['shows']}: a bridge with {(capability >> 4) & 0xF} targets"
    if not answers(case):
        yield f"{case['shows']}: no answers"
    decoders = HdmDecoders(owner, capability, without)
    for step in case["steps"]:
        if "write" in step:
            decoders.write(int(step["write"], 16), int(step["value"], 16))
        elif "read" in step:
            expected = decoders.read(int(step["read"], 16))
            if int(step["value"], 16) != expected:
                yield f"{case['shows']}: {step}: {expected:#x}"
        elif "address" in step:
            expected = decoders.look_up(int(step["address"], 16))
            inside = step.get("device_address")
            if (step.get("decoder", "not there"), step.get("port"), None if inside is None else int(inside, 16)) != expected:
                decoder, port, inside = expected
                wanted = None if inside is None else hex(inside)
                yield f"{case['shows']}: {step}: decoder {decoder}, port {port}, device address {wanted}"
        else:
            yield f"{case['shows']}: {step}: neither a write nor a read nor an address"


def answers(case):
    """The steps of a case that say what came out."""
    return [step for step in case["steps"] if "read" in step or "address" in step]


def unseen_mutants(cases):
    """The names of CHECKS that no case contradicts."""
    return [name for name in CHECKS if not any(text for case in cases for text in judge_commits(case, name))]


def missing_commits(cases):
    """What the cases have to walk and do not. A code counts where an answer shows the decoder committed, a refusal where one shows Error."""
    wanted, found = set(), set()
    for owner, codes in COUNT_CODES.items():
        wanted |= {(owner,), (owner, "refusal")}
        wanted |= {(owner, "decoder count code", code) for code in codes}
        wanted |= {(owner, "IW code", code) for code in WAY_CODES[owner]} | {(owner, "IG code", code) for code in GRANULARITY_CODES}
    for case in cases:
        owner, capability = case["owner"], int(case["capability"], 16)
        if owner not in COUNT_CODES or capability & 0xF not in COUNT_CODES[owner]:
            continue
        found |= {(owner,), (owner, "decoder count code", capability & 0xF)}
        decoders = HdmDecoders(owner, capability)
        for step in case["steps"]:
            shown = step.get("decoder")
            if "write" in step:
                decoders.write(int(step["write"], 16), int(step["value"], 16))
            elif "read" in step:
                number, register = decoders.place(int(step["read"], 16))
                value = int(step["value"], 16) if register == CONTROL else 0
                shown = number if value & COMMITTED else None
                if value & ERROR and number in decoders.failed:
                    found.add((owner, "refusal"))
            if shown in decoders.committed:
                fields = decoders.committed[shown]
                found |= {(owner, "IW code", fields.iw), (owner, "IG code", fields.ig)}
    return sorted(wanted - found)


def spoil_commit(case, n):
    """Changes one answer of a case in place: a bit that was read, a decoder, a port, a device address."""
    steps = answers(case)
    if not steps:
        return
    step, n = steps[n % len(steps)], n // len(steps)
    if "read" in step:
        # In a control register one of the two results, elsewhere any bit.
        is_control = int(step["read"], 16) >= FIRST and (int(step["read"], 16) - FIRST) % STRIDE == CONTROL
        step["value"] = hex(int(step["value"], 16) ^ ((COMMITTED, ERROR)[n % 2] if is_control else 1 << n % 32))
    elif step.get("decoder") is None:
        step["decoder"] = n % 2
    elif n % 3 == 0:
        step["decoder"] = None if n % 2 else step["decoder"] + 1
    elif "port" in step:
        step["port"] ^= 1 << n % 8
    else:
        step["device_address"] = hex(int(step["device_address"], 16) ^ 1 << n % 40)
