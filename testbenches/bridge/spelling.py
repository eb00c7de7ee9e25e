"""The conversions of the bridge SoC, spelled a second time from its sheet (`bridge`, profile BRG-M1), in words and byte by byte.

Modelled: windows, rights, the cut into lines, the flow of each line by class with and without a cache, atomics, status and poison both
ways, memory of accelerators seen from CXL. Left out: snoops, time-outs, time. Nothing here was taken from the model: the tables are the
sheet's rows, messages are the words that the sheet prints, bytes are lists.

A walk: `Outbound.request` finds the window of a write and its lines; `Outbound.step` says what is sent for each; `Outbound.answer` takes what
memory answers, and behind the last one the response is made.
"""

import struct

ONES = [0xFF] * 64
ANY = object()
#: 8.1: which status is told first.
RANK = [6, 3, 2, 8, 0]
#: Codes of Status in the files.
STATUS = {"OKAY": 0, "TargetAbort": 2, "DecodeError": 3, "ProtectionViolation": 6, "CompletionTimeout": 8, "ISOLATE": 15}
#: Command codes in the files (`ualink` 10).
COMMAND = {"Read": 0x03, "Write": 0x28, "WriteFull": 0x29, "WriteMessage": 0x2A, "AtomicR": 0x30, "AtomicNR": 0x32}
COMMAND |= {f"VendorRead{n}": 0x08 + n for n in range(8)} | {f"VendorWrite{n}": 0x2C + n for n in range(4)}
COMMAND |= {f"VendorAtomic{n}": 0x3C + n for n in range(4)}


def number(value, names=None):
    """A number of a file: itself, hexadecimal, or the name of a code."""
    if isinstance(value, int):
        return value
    if names and value in names:
        return names[value]
    return int(value, 16)


def octets(text):
    return list(bytes.fromhex(text))


def bits(text):
    return [byte >> k & 1 == 1 for byte in bytes.fromhex(text) for k in range(8)]


def fits(found, wanted):
    """Equal, where nothing in `wanted` stands for any value."""
    if isinstance(wanted, (list, tuple)):
        return isinstance(found, (list, tuple)) and len(found) == len(wanted) and all(map(fits, found, wanted))
    return wanted is ANY or found == wanted


# Windows and rights (2).


class Windows:
    def __init__(self, config, out_end):
        self.windows, self.out_end = [], out_end
        for window in config["windows"]:
            self.windows.append((
                window["class"], number(window["base"]), number(window["size"]), number(window["out_base"]),
                window.get("targets", [0]), window.get("granule", 256), window.get("rights", {})))
        self.groups = config.get("groups", {})

    def route(self, source, address, wanted):
        """(class, target, address there), or the status: outside 3, beyond the other side 3, rights 6."""
        for kind, base, size, out_base, targets, granule, rights in self.windows:
            if base <= address < base + size:
                out = address - base + out_base
                if out >= self.out_end:
                    return 3
                allowed = rights.get(str(self.groups.get(str(source), 0)), "rwa")
                if any(letter not in allowed for letter in wanted):
                    return 6
                return kind, targets[(address - base) // granule % len(targets)], out
        return 3


# Atomics (4.4).

SIGNED = {1: "b", 2: "h", 4: "i", 8: "q"}
FLOAT = {2: "e", 4: "f", 8: "d"}


def element_bytes(op, size):
    """Bytes of an element, or nothing where the operation has no such size."""
    count = [4, 8, 2, 1][size]
    if op <= 9 or op == 10 and count >= 2 or op in (11, 12) and count >= 4:
        return count
    return None


def rounded(form, value):
    """A number in a format; beyond its largest one infinity, as rounding to nearest says."""
    try:
        return struct.pack("<" + form, value)
    except OverflowError:
        return struct.pack("<" + form, float("inf") if value > 0 else float("-inf"))


def computed(op, old, operand, swap=None):
    """The new bytes of an element; operand bytes, for compare and swap the compared ones, with the new ones in `swap`."""
    count, limit = len(old), 1 << 8 * len(old)
    a, b = int.from_bytes(old, "little"), int.from_bytes(operand, "little")
    if op == 10:
        x, y = (struct.unpack("<" + FLOAT[count], bytes(part))[0] for part in (old, operand))
        return list(rounded(FLOAT[count], x + y))
    if op == 2:
        return list(swap) if a == b else list(old)
    signed = [struct.unpack("<" + SIGNED[count], bytes(part))[0] for part in (old, operand)]
    new = {
        0: lambda: (a + b) % limit, 1: lambda: b, 3: lambda: a & b, 4: lambda: a | b, 5: lambda: a ^ b,
        6: lambda: min(signed) % limit, 7: lambda: max(signed) % limit, 8: lambda: min(a, b), 9: lambda: max(a, b),
        11: lambda: 0 if a >= b else a + 1, 12: lambda: b if a == 0 or a > b else a - 1,
    }[op]()
    return list(new.to_bytes(count, "little"))


def is_nan(part):
    value = struct.unpack("<" + FLOAT[len(part)], bytes(part))[0]
    return value != value


class Atomic:
    """An operation on the enabled elements of one line; `count` is nothing if it cannot be done."""

    def __init__(self, op, size, covered, enabled):
        self.op, self.enabled, self.count = op, enabled, element_bytes(op, size)
        if self.count is None:
            return
        self.elements = sorted({byte // self.count for byte in enabled})
        whole = all(self.count * e + k in enabled for e in self.elements for k in range(self.count))
        one = op != 2 or len(self.elements) == 1
        # Two operands of compare and swap lie in what is covered, whose elements are whole.
        if not whole or not one or len(covered) % self.count:
            self.count = None

    def new(self, old, data):
        line = list(old)
        for element in self.elements:
            place = slice(self.count * element, self.count * (element + 1))
            operand, swap = data[place], None
            if self.op == 2:
                operand, swap = data[:self.count], data[self.count:2 * self.count]
            line[place] = computed(self.op, old[place], operand, swap)
        return line

    def same(self, found, wanted):
        """Equal bytes; of a number that is none any one will do."""
        for element in range(64 // self.count):
            place = slice(self.count * element, self.count * (element + 1))
            if found[place] != wanted[place] and not (self.op == 10 and is_nan(found[place]) and is_nan(wanted[place])):
                return False
        return True


# Messages of CXL.mem, as words with what else matters.


class Cxl:
    """`words` as in the tables: opcode, MetaValue or NoOp, SnpType."""

    def __init__(self, port, words, line, tc=0, data=None, enables=None, poison=False):
        self.port, self.words, self.line, self.tc = port, words, line, tc
        self.data, self.enables, self.poison, self.atomic = data, enables, poison, None

    def differs(self, found):
        for name in ("port", "words", "line", "tc", "enables", "poison"):
            if getattr(self, name) != getattr(found, name):
                return f"{name}: {getattr(found, name)}, the sheet says {getattr(self, name)}"
        same = self.atomic.same if self.atomic and self.data else lambda a, b: a == b
        return None if same(found.data, self.data) else f"data {bytes(found.data or []).hex()}, " \
            f"the sheet says {bytes(self.data or []).hex()}"

    def __repr__(self):
        return f"{self.words} {self.line:#x} at port {self.port}"


def cxl_request(event):
    message, fields = event["message"], event["message"]["fields"]
    value = "NoOp" if fields["meta_field"] == "NoOp" else fields["meta_value"]
    words = f"{fields['opcode']} {value}/{fields['snp_type']}"
    data = octets(message["data"]) if "data" in message else None
    enables = None
    if data is not None:
        enables = bits(message["enables"]) if "enables" in message else [True] * 64
        if fields["trp"] != ("enables" in message):
            raise ValueError("TRP says that enables follow, and they do not, or the other way round")
    return Cxl(event["port"], words, number(fields["address"]), fields["tc"], data, enables, bool(fields.get("poison", 0)))


def tag_of(event):
    """The tag of a message, which in TLPs stands in three fields and in CXL.cache is the CQID."""
    fields = event["message"]["fields"]
    if "cqid" in fields:
        return fields["cqid"]
    return fields["tag"] + (fields.get("tag_8", 0) << 8) + (fields.get("tag_9", 0) << 9)


# TLPs of CXL.io (3.6, 4.1, 4.3, 4.4; `cxl-io` 1).


class Tlp:
    """`words`: MRd, MWr, FetchAdd, Swap or CAS. `data` are bytes, of which those that are not enabled stand for any."""

    def __init__(self, port, words, address, dw, first, last, data=None, poison=False):
        self.port, self.words, self.line, self.dw = port, words, address, dw
        self.first, self.last, self.data, self.poison = first, last, data, poison
        # 6.2, O4: one traffic class, no relaxed ordering.
        self.tc, self.attr = 0, 0

    def differs(self, found):
        if not isinstance(found, Tlp):
            return f"a message {found}, the sheet says a TLP"
        for name in ("port", "words", "line", "dw", "first", "last", "poison", "tc", "attr"):
            if getattr(self, name) != getattr(found, name):
                return f"{name}: {getattr(found, name)}, the sheet says {getattr(self, name)}"
        return None if fits(found.data, self.data) else f"data {bytes(found.data or []).hex()}, the sheet says {self.data}"

    def __repr__(self):
        return f"{self.words} {self.line:#x} of {self.dw} DW at port {self.port}"


#: `cxl-io` 1.2: Fmt[1:0] says data and the length of the address, Type what it is.
TLP_NAMES = {(0, 0): "MRd", (1, 0): "MWr", (1, 12): "FetchAdd", (1, 13): "Swap", (1, 14): "CAS"}


def tlp(event):
    """A TLP of a file, whose fields are those of non-flit mode."""
    message, fields = event["message"], event["message"]["fields"]
    has_data = fields["fmt"] >> 1 & 1
    words = TLP_NAMES[has_data, fields["tlp_type"]]
    address = number(fields["address"])
    if (fields["fmt"] & 1 == 1) != (address >= 1 << 32):
        raise ValueError("a header of four DWs is for addresses from 4 GiB on, and for no others (cxl-io 1.1)")
    dw = fields["length"] or 1024
    data = octets(message["data"]) if "data" in message else None
    if (data is not None) != (has_data == 1) or data is not None and len(data) != 4 * dw:
        raise ValueError("the length does not say what the data are")
    found = Tlp(event["port"], words, address, dw, fields["first_be"], fields["last_be"], data, bool(fields["ep"]))
    found.tc, found.attr = fields["tc"], fields["attr"]
    return found


def io_writes(enabled):
    """3.6, DW by DW: a run goes on while its first DW reaches byte 3 without a gap, inner DWs are whole, the next begins at byte 0."""
    all_runs, run = [], []
    for n in range(len(enabled) // 4):
        code = sum(enabled[4 * n + k] << k for k in range(4))
        grows = run and code in (0xF, 0x7, 0x3, 0x1) and run[-1][0] == n - 1 and (
            run[-1][1] == 0xF or len(run) == 1 and run[0][1] in (0xE, 0xC, 0x8))
        if grows:
            run.append((n, code))
            continue
        if run:
            all_runs.append(run)
        run = [(n, code)] if code else []
    return all_runs + ([run] if run else [])


#: 4.4: what a completer is asked.
IO_ATOMICS = {0: "FetchAdd", 1: "Swap", 2: "CAS"}
#: 8.1: completions.
COMPLETION = {"SC": 0, "UR": 3, "CA": 2, "CRS": 2}


# From accelerators to CXL (3, 4, 6, 8, 9).

#: 4.1: messages of a line by class and operation, each with the answers that end it.
FLOWS = {
    ("MC", "read"): [("MemRd Invalid/SnpCur", {"Cmp", "DRS"})],
    ("MC", "full"): [("MemInv Any/SnpInv", {"CmpE"}), ("MemWr Invalid/NoOp", {"Cmp"})],
    ("MC", "part"): [("MemRd Any/SnpInv", {"CmpE", "DRS"}), ("MemWr Invalid/NoOp", {"Cmp"})],
    ("MC", "atomic"): [("MemRd Any/SnpInv", {"CmpE", "DRS"}), ("MemWr Invalid/NoOp", {"Cmp"})],
    ("MN", "read"): [("MemRd NoOp/NoOp", {"DRS"})],
    ("MN", "full"): [("MemWr Any/NoOp", {"Cmp"})],
    ("MN", "part"): [("MemWrPtl Any/NoOp", {"Cmp"})],
}

#: 9.4: what is sent for a line in a state; the state behind it stands in `Outbound.filled`. Nothing: it is a hit.
FILLS = {
    ("MC", "read", "I"): ("MemRd Shared/SnpData", {"Cmp?", "DRS"}),
    ("MC", "full", "S"): ("MemInv Any/SnpInv", {"CmpE"}),
    ("MC", "full", "I"): ("MemInv Any/SnpInv", {"CmpE"}),
    ("MC", "part", "S"): ("MemRd Any/SnpInv", {"CmpE", "DRS"}),
    ("MC", "part", "I"): ("MemRd Any/SnpInv", {"CmpE", "DRS"}),
    ("MC", "atomic", "S"): ("MemRd Any/SnpInv", {"CmpE", "DRS"}),
    ("MC", "atomic", "I"): ("MemRd Any/SnpInv", {"CmpE", "DRS"}),
    ("MN", "read", "I"): ("MemRd NoOp/NoOp", {"DRS"}),
    ("MN", "part", "I"): ("MemRd NoOp/NoOp", {"DRS"}),
}
#: 9.4: what leaves with a sector.
EVICTS = {"S": "MemClnEvct Invalid/NoOp", "E": "MemClnEvct Invalid/NoOp", "M": "MemWr Invalid/NoOp", "D": "MemWr Any/NoOp"}


class Request:
    """A request, whatever its protocol: what it does to which bytes of which lines, and what it is answered with."""

    def __init__(self, key, op, rights, lines, legal, reply):
        self.key, self.op, self.rights, self.lines = key, op, rights, lines
        self.legal, self.reply, self.status = legal, reply, 0
        self.source = self.address = self.tc = 0
        self.done, self.told = False, []
        self.posted = self.flush = None


class Line:
    """A line of a request."""

    def __init__(self, place, covered, enabled, data, poison):
        self.place, self.covered, self.enabled = place, covered, enabled
        self.data, self.poison, self.op, self.atomic = data, poison, None, None
        self.steps, self.read, self.read_poison, self.waits, self.request = [], None, False, set(), None
        self.caches = False

    def shown(self):
        """What a response says of the line: of an atomic the elements, each in its own lane (4.4)."""
        if self.op == "atomic":
            return [self.read[k] if k in self.enabled else ANY for k in range(64)]
        return self.read

    def merged(self, old, old_poison):
        """The line behind the write or the computation, and its poison (8.3)."""
        if self.op == "atomic":
            if old_poison:
                return old, True
            return self.atomic.new(old, self.data), self.poison
        whole = len(self.enabled) == 64
        new = [self.data[k] if k in self.enabled else old[k] for k in range(64)]
        return new, self.poison or old_poison and not whole


class Outbound:
    """The half from accelerators to CXL."""

    def __init__(self, config):
        self.nvlink = config["protocol"] == "nvlink"
        self.windows = Windows(config, 1 << 52)
        self.queues, self.behind = {}, {}
        self.single_beat = config.get("single_beat", False)
        self.by_tag, self.posted, self.sticky, self.flushes = {}, [], {}, []
        self.cache = {} if "cache" in config else None
        self.sets = config["cache"]["capacity_bytes"] // 256 // config["cache"]["ways"] if self.cache is not None else 0
        self.through = self.cache is not None and config["cache"].get("stores") == "through"
        self.stream_blocks = config["cache"].get("stream_blocks", 0) if self.cache is not None else 0
        self.rows = {}
        self.wanted = []  # what has to leave before anything else comes

    # Requests of both protocols.

    def upli(self, message):
        fields = message["fields"]
        cmd, metadata = number(fields["cmd"], COMMAND), fields["metadata"]
        address, count, attr = number(fields["address"]), 4 * (fields["len"] + 1), fields["attr"]
        first, block = address % 256, address - address % 256
        enables = bits(message["enables"]) if "enables" in message and cmd != 0x29 else [True] * 256
        data = [octets(beat) for beat in message.get("data", [])]
        lines = []
        for n in range(first // 64, min(first + count - 1, 255) // 64 + 1):
            covered = [k for k in range(64) if first <= 64 * n + k < first + count]
            beat = data[len(lines)] if len(lines) < len(data) else None
            enabled = [k for k in covered if enables[64 * n + k]]
            lines.append(Line(block + 64 * n, covered, enabled, beat, len(lines) in message.get("poison", [])))
        op = {0x03: "read", 0x28: "write", 0x29: "write", 0x30: "atomic", 0x32: "atomic"}.get(cmd, "refused")
        # 4.2: the class of a command that is not known is in its bits 5:4.
        rights = {"read": "r", "write": "w", "atomic": "rwa"}.get(op) or {0: "r", 3: "rwa"}.get(cmd >> 4, "w")
        if cmd == 0x2A and metadata <= 3:
            op = "ended"
        channel = "Read" if cmd >> 4 == 0 or cmd == 0x30 or (cmd, metadata) == (0x2A, 2) else "Write"
        legal = first + count <= 256
        if op == "atomic" and len(lines) == 1:
            lines[0].atomic = Atomic(attr >> 4 | (attr & 1) << 4, attr >> 2 & 3, lines[0].covered, lines[0].enabled)
        request = Request((fields["src"], fields["vchan"], block), op, rights, lines, legal,
                          ("upli", channel, fields["src"], fields["tag"], fields["vchan"]))
        request.source, request.address, request.tc = fields["src"], address, fields["vchan"]
        # ReqAttr of reads: byte enables of the first and of the last DW (`ualink` 12).
        request.count, request.enables = count, (attr & 15, attr >> 4)
        return request

    def nvl(self, message):
        fields, extension = message["fields"], message.get("ae", {})
        op, source = fields["op"], fields["rid"]
        # `nvlink` 5: bits 46:36 select the GPU; what is below is its own.
        address = (number(fields["address"]) | number(extension.get("address", 0))) % (1 << 36)
        posted = op in ("WRITE_POSTED", "ATOMIC_POSTED")
        reply = ("nvlink", {"READ": "RSP_DATA", "ATOMIC_RETURN": "RSP_DATA", "WRITE_NONPOSTED": "RSP_DONE",
                            "FLUSH": "RSP_DONE", "REDUCE_READ": "RSP_ERROR"}.get(op), source, fields["tag"])
        if op not in ("READ", "WRITE_POSTED", "WRITE_NONPOSTED", "ATOMIC_RETURN", "ATOMIC_POSTED", "FLUSH", "REDUCE_READ"):
            return None  # dropped
        data = octets(message["data"]) if "data" in message else []
        count = len(data) or 16 * (fields["size"] + 1)
        enables = bits(message["be"]) if "be" in message and op != "READ" else None
        kind = {"READ": "read", "FLUSH": "flush", "REDUCE_READ": "refused"}.get(op, "atomic" if "ATOMIC" in op else "write")
        lines, first, block = [], address % 256, address - address % 256
        for n in range(first // 64, min(first + count - 1, 255) // 64 + 1):
            covered = [k for k in range(64) if first <= 64 * n + k < first + count]
            at = {k: 64 * n + k - first for k in covered}
            enabled = [k for k in covered if enables is None or at[k] < len(enables) and enables[at[k]]]
            line = [data[at[k]] if k in at and at[k] < len(data) else 0 for k in range(64)] if data else None
            lines.append(Line(block + 64 * n, covered, enabled, line, bool(fields["ep"])))
        legal = first + count <= 256
        if kind == "atomic":
            attr = extension.get("attr", 0)
            legal = legal and enables is not None
            if len(lines) == 1:
                lines[0].atomic = Atomic(attr & 15, attr >> 4 & 3, lines[0].covered, lines[0].enabled)
                if attr & 15 == 2:
                    # The operands of compare and swap begin with the payload.
                    lines[0].data = (data + [0] * 64)[:64]
        rights = {"read": "r", "write": "w", "atomic": "rwa"}.get(kind, "r")
        request = Request((source, int(posted), block), kind, rights, lines, legal, reply)
        request.source, request.address, request.count, request.first = source, address, count, first % 64
        request.enables = (15, 15)
        if posted:
            request.posted = len([r for r in self.posted if r.source == source])
            request.performed = False
            self.posted.append(request)
        if kind == "flush":
            request.flush = address >> 4
        return request

    def request(self, event):
        message = event["message"]
        request = self.nvl(message) if self.nvlink else self.upli(message)
        if request is None:
            return
        if request.op == "flush":
            self.flushes.append(request)
            return self.flush()
        if request.op != "ended":
            request.status = self.place(request)
        queue = self.queues.setdefault(request.key, [])
        queue.append(request)
        if len(queue) == 1:
            self.activate(request)

    def place(self, request):
        """Window, rights, legality, in this order; then each line knows its operation."""
        route = self.windows.route(request.source, request.address, request.rights)
        if isinstance(route, int):
            return route
        kind, port, out = route
        atomic = request.op == "atomic"
        if request.op == "refused" or not request.legal or atomic and (kind == "MN" or len(request.lines) != 1):
            return 2
        if atomic and request.lines[0].atomic.count is None:
            return 2
        if kind == "IO" and not self.fits_io(request):
            return 2
        for line in request.lines:
            line.kind, line.port, line.request = kind, port, request
            line.out = out - request.address + line.place
            full = len(line.enabled) == 64
            line.op = request.op if request.op != "write" else "full" if full else "part"
        return 0

    def activate(self, request):
        """6.2: the first of its source, channel and block."""
        request.todo = [] if request.status or request.op == "ended" else \
            [line for line in request.lines if line.op == "read" or line.enabled]
        for line in list(request.todo):
            where = (line.port, line.out)
            holders = self.behind.setdefault(where, [])
            holders.append(line)
            if len(holders) == 1:
                self.launch(line)
            # Others wait, but reads that may share: they get what the active read gets, see `finish`.
        self.check(request)

    def fits_io(self, request):
        """4.1, 4.4: one element of 32 or 64 bits; a read of several DWs has bytes of the first and of the last one."""
        if request.op == "read":
            return request.count == 4 or 0 not in request.enables
        if request.op == "atomic":
            atomic = request.lines[0].atomic
            fits_tlp = atomic.op in IO_ATOMICS and len(atomic.elements) == 1 and atomic.count in (4, 8)
            return not atomic.enabled or fits_tlp
        return True

    def launch_io(self, request):
        """All lines are there: the TLPs of the request leave, and the last one that is answered ends it."""
        first, lines = request.lines[0], request.lines
        out = first.out - first.place
        if request.op == "read":
            low, high = request.enables
            last = Tlp(first.port, "MRd", request.address + out, request.count // 4, low, 0 if request.count == 4 else high)
        elif request.op == "atomic":
            atomic = first.atomic
            element, size = atomic.count * atomic.elements[0], atomic.count
            operands = first.data[:2 * size] if atomic.op == 2 else first.data[element:element + size]
            dw = len(operands) // 4
            last = Tlp(first.port, IO_ATOMICS[atomic.op], first.out + element, dw, 15, 0 if dw == 1 else 15, operands, first.poison)
        else:
            last = self.io_write(request, out)
        last.line_of = lambda event: self.completed(request, last, event)
        request.came, request.marks = [], []
        self.wanted.append(last)

    def io_write(self, request, out):
        """The writes; the read of no byte behind them (4.3)."""
        block = request.lines[0].place // 256 * 256 + out
        port = request.lines[0].port
        spans = []
        for line in request.lines:
            # A write marks all of its bytes or none, so a mark ends at its line (8.3).
            if spans and spans[-1][-1].poison == line.poison:
                spans[-1].append(line)
            else:
                spans.append([line])
        end = None
        for lines in spans:
            enabled, data = [False] * 256, [ANY] * 256
            for line in lines:
                for k in line.enabled:
                    at = line.place % 256 + k
                    enabled[at], data[at] = True, line.data[k]
            for run in io_writes(enabled):
                at, dw = run[0][0], len(run)
                last = run[-1][1] if dw > 1 else 0
                self.wanted.append(Tlp(port, "MWr", block + 4 * at, dw, run[0][1], last, data[4 * at:4 * (at + dw)], lines[0].poison))
                self.wanted[-1].line_of = None
                end = block + 4 * (at + dw - 1)
        return Tlp(port, "MRd", end, 1, 0, 0)

    def completed(self, request, asked, event):
        """A completion (`cxl-io` 1.1): its bytes come in order, and the one whose count is its own bytes is the last."""
        message, fields = event["message"], event["message"]["fields"]
        status = COMPLETION[fields["status"]]
        if not status:
            skip = fields["lower_addr"] % 4 if asked.words == "MRd" else 0
            data = octets(message["data"])[skip:][:fields["byte_count"] or 4096]
            request.came += data
            request.marks += [bool(fields["ep"])] * len(data)
            if len(data) < fields["byte_count"]:
                return None
            self.io_result(request, asked)
        for line in list(request.todo):
            self.finish(line, status)
        return None

    def io_result(self, request, asked):
        if request.op == "write":
            return
        at = request.address
        if request.op == "read":
            mask = [asked.first >> k & 1 for k in range(4)]
            at += mask.index(1) if 1 in mask else 0
        else:
            at = request.lines[0].place + asked.line % 64
        for line in request.lines:
            line.read, line.read_poison = [ANY] * 64, False
            for n, byte in enumerate(request.came):
                if line.place <= at + n < line.place + 64:
                    line.read[at + n - line.place] = byte
                    line.read_poison = line.read_poison or request.marks[n]

    def launch(self, line):
        if line.kind == "IO":
            line.held = True
            request = line.request
            if all(getattr(other, "held", False) for other in request.todo):
                self.launch_io(request)
            return None
        if self.caches(line):
            return self.look_up(line)
        line.steps = list(FLOWS[line.kind, line.op])
        self.step(line)

    def caches(self, line):
        """9.2: a line that is there is served by the cache; another one enters it, unless it goes on a row of blocks of its source, longer
        than so many, that no hit and no gap has ended. Atomics always enter."""
        if self.cache is None:
            return False
        block, source = line.out // 256, line.request.source
        kept, sectors = self.cache.get(block % self.sets, (None, {}))
        if kept == block and line.out in sectors:
            self.rows.pop(source, None)
            line.caches = True
            return True
        before, count = self.rows.get(source, (None, 0))
        if before is None or block not in (before, before + 1):
            count = 1
        elif block == before + 1:
            count += 1
        self.rows[source] = block, count
        line.caches = not self.stream_blocks or count <= self.stream_blocks or line.op == "atomic"
        return line.caches

    def step(self, line):
        words, line.waits = line.steps.pop(0)
        line.waits = set(line.waits)
        message = Cxl(line.port, words, line.out, line.request.tc)
        if words.startswith("MemWr"):
            if line.kind == "MC" and line.op != "full":
                message.data, message.poison = line.merged(line.read, line.read_poison)
                message.enables, message.atomic = [True] * 64, line.atomic
            else:
                message.data, message.poison = line.data, line.poison
                message.enables = [k in line.enabled for k in range(64)]
        message.line_of = line
        self.wanted.append(message)

    def answer(self, event):
        """What memory says, by the tag under which it was asked."""
        message, fields = event["message"], event["message"]["fields"]
        asked = self.by_tag[event["port"], tag_of(event)]
        if message["layout"] == "cxlio.nfm_cpl":
            return asked(event)
        if not isinstance(asked, Line):
            return asked()
        line = asked
        if message["layout"] == "cxl256.s2m_drs":
            line.waits.discard("DRS")
            if fields["opcode"] == "MemDataNXM":
                return self.finish(line, 3)
            line.read, line.read_poison = octets(message["data"]), bool(fields["poison"])
        elif "CmpE" in line.waits and fields["opcode"] == "Cmp" and line.op == "full":
            return self.finish(line, 3)  # 8.1: no ownership
        else:
            line.waits = {what for what in line.waits if what not in (fields["opcode"], "Cmp?")}
            line.granted = {"CmpS": "S", "CmpE": "E"}.get(fields["opcode"], "V")
        if line.waits:
            return None
        if line.caches:
            return self.filled(line)
        return self.step(line) if line.steps else self.finish(line, 0)

    def finish(self, line, status):
        where = (line.port, line.out)
        holders = self.behind[where]
        done = [line]
        # 3.4, "no order conflict": what a coherent line that nobody keeps brings may be from before a store that a later read has to see.
        if line.op == "read" and (line.kind == "MN" or line.caches):
            for other in holders[1:]:
                if other.op != "read":
                    break
                other.read, other.read_poison = line.read, line.read_poison
                done.append(other)
        del holders[:len(done)]
        for each in done:
            each.request.todo.remove(each)
            each.request.status = min(each.request.status, status, key=RANK.index)
            if self.single_beat and each.op == "read" and each.request.todo:
                each.request.told.append(each)
                self.upli_answer(each.request, [each], False)
        if holders:
            self.launch(holders[0])
        for each in done:
            self.check(each.request)

    def check(self, request):
        if request.todo or request.done:
            return
        request.done = True
        self.respond(request)
        queue = self.queues[request.key]
        queue.pop(0)
        if queue:
            self.activate(queue[0])
        if request.posted is not None:
            request.performed = True
            if request.status:
                self.sticky.setdefault(request.source, request.status)
            self.flush()

    def flush(self):
        """6.3: those that it counts are performed; it tells of the first error, once."""
        for request in list(self.flushes):
            before = [r for r in self.posted if r.source == request.source][:request.flush]
            if len(before) == request.flush and all(r.performed for r in before):
                self.flushes.remove(request)
                request.status = self.sticky.pop(request.source, 0)
                self.respond(request)

    def upli_answer(self, request, lines, last):
        _, channel, source, tag, vchan = request.reply
        beats, poison = [], []
        if channel == "Read":
            for n, line in enumerate(lines):
                value = ONES if request.status else [0] * 64 if request.op == "ended" else line.shown()
                beats.append(value)
                if not request.status and line.read_poison:
                    poison.append(n)
        offset = request.lines.index(lines[0]) if request.told else 0
        self.wanted.append(("upli", channel, source, tag, vchan, request.status, beats, poison, offset, last))

    def respond(self, request):
        if request.reply[1] is None:
            return
        if request.reply[0] == "upli":
            lines = request.lines
            if request.told:
                # 3.3: the final beat of a read that is answered beat by beat.
                lines = [line for line in lines if line not in request.told]
            self.upli_answer(request, lines, request.reply[1] == "Read")
            return
        _, op, source, tag = request.reply
        if request.status:
            self.wanted.append(("nvlink", "RSP_ERROR", source, tag, request.status, None, False))
        elif op == "RSP_DATA":
            data = [byte for line in request.lines for byte in line.shown()][request.first:][:request.count]
            poison = any(line.read_poison for line in request.lines)
            self.wanted.append(("nvlink", op, source, tag, None, data, poison))
        else:
            self.wanted.append(("nvlink", op, source, tag, None, None, False))

    # With a cache (9.3, 9.4). A set has one way here.

    def look_up(self, line):
        block, at = line.out // 256, line.out // 256 % self.sets
        if at in self.cache and self.cache[at][0] != block:
            return self.evict(line, at)
        sectors = self.cache.setdefault(at, (block, {}))[1]
        state = sectors.get(line.out, ("I",))[0]
        words, waits = FILLS.get((line.kind, line.op, state), (None, set()))
        if words is None:
            return self.filled(line)
        line.waits = set(waits)
        message = Cxl(line.port, words, line.out, line.request.tc)
        message.line_of = line
        self.wanted.append(message)
        return None

    def evict(self, line, at):
        """9.3: the block that leaves is emptied before the miss is sent."""
        leaving = {place: sector for place, sector in self.cache[at][1].items() if sector[0] in EVICTS}
        open_ = set(leaving)

        def gone(place):
            open_.discard(place)
            if not open_:
                del self.cache[at]
                self.look_up(line)

        if not open_:
            return gone(None)
        for place, (state, data, poison) in leaving.items():
            message = Cxl(line.port, EVICTS[state], place)
            if state in "MD":
                message.data, message.poison, message.enables = data, poison, [True] * 64
            message.line_of = lambda place=place: gone(place)
            self.wanted.append(message)
        return None

    def filled(self, line):
        """The line is there: it is read, or the store is done in it."""
        sectors = self.cache[line.out // 256 % self.sets][1]
        state, data, poison = sectors.get(line.out, ("I", None, False))
        if line.read is not None:
            data, poison = line.read, line.read_poison
        if line.op == "read":
            if state == "I":
                state = "V" if line.kind == "MN" else line.granted
        else:
            state = "D" if line.kind == "MN" else "M"
        line.read, line.read_poison = data, poison
        if line.op != "read":
            data, poison = line.merged(data or [0] * 64, poison)
        sectors[line.out] = (state, data, poison)
        self.finish(line, 0)
        if line.op == "read" or not self.through:
            return

        def written():
            sectors[line.out] = ("V" if line.kind == "MN" else "E", data, poison)

        # 9.4, write-through: behind the store, which is answered when it is in the sector, the line goes to memory.
        message = Cxl(line.port, "MemWr Any/NoOp", line.out, 0, data, [True] * 64, poison)
        message.atomic, message.line_of = line.atomic, written
        self.wanted.append(message)


def upli_response(event):
    message, fields = event["message"], event["message"]["fields"]
    beats = [octets(beat) for beat in message.get("data", [])]
    read = fields["rdwr"] == "Read"
    if fields["len"] != (len(beats) - 1 if read else 0):
        raise ValueError(f"len of a response: {fields}")
    return ("upli", fields["rdwr"], fields["dst"], fields["tag"], fields["vchan"], number(fields["status"], STATUS),
            beats, message.get("poison", []), fields["offset"], bool(fields["last"]))


def nvlink_response(event):
    message, fields = event["message"], event["message"]["fields"]
    error = fields["size"] if fields["op"] == "RSP_ERROR" else None
    data = octets(message["data"]) if "data" in message else None
    return ("nvlink", fields["op"], fields["rid"], fields["tag"], error, data, bool(fields["ep"]))


# From CXL to accelerators (5.2, 5.4, 8.2).

#: `coherence` 3.2, HDM-H: MetaFields that a message may have; SnpType is NoOp with all.
LEGAL = {
    "MemRd": ("Meta0State", "NoOp"), "MemInv": ("Meta0State", "NoOp"), "MemInvNT": ("Meta0State", "NoOp"),
    # The field of MemSpecRd is reserved.
    "MemSpecRd": ("Meta0State", "EMS", 2, "NoOp"), "MemRdData": ("NoOp",),
    "MemWr": ("Meta0State",), "MemWrPtl": ("Meta0State",), "MemRdFill": ("NoOp",),
}
READS = {"MemRd", "MemRdData", "MemRdFill"}


class Inbound:
    """The half from CXL to accelerators, one request after the other."""

    def __init__(self, config):
        self.nvlink, self.own = config["protocol"] == "nvlink", config["own"]
        self.windows = Windows(config, 1 << (36 if self.nvlink else 57))
        self.wanted, self.by_tag, self.lost = [], {}, set()

    def request(self, event):
        message, fields = event["message"], event["message"]["fields"]
        opcode, address = fields["opcode"], number(fields["address"])
        read, write = opcode in READS, opcode in ("MemWr", "MemWrPtl")
        self.reply = "DRS" if read else None if opcode == "MemSpecRd" else "NDR"
        self.fields, self.line = fields, None
        route = self.windows.route(fields["ld_id"], address, "w" if write else "r")
        if isinstance(route, int):
            return self.finish(route, None, False)
        legal = fields["meta_field"] in LEGAL.get(opcode, ()) and fields["snp_type"] == "NoOp"
        if not legal:
            return self.finish(2, None, False)
        _, target, out = route
        if not read and not write:
            return self.finish(0, None, False)
        enables = None
        if opcode == "MemWrPtl":
            enables = bits(message["enables"])
            if not any(enables):
                return self.finish(0, None, False)
        self.place, self.writes = (target, out), write
        if read and self.place in self.lost:
            return self.finish(2, None, False)
        data = octets(message["data"]) if write else None
        poison = write and bool(fields["poison"])
        tc = fields["tc"]
        self.ask("read" if read else "part" if enables else "full", data, enables, poison, tc)
        return None

    def ask(self, kind, data, enables, poison, tc):
        """The request goes to its accelerator."""
        self.wanted.append(("access", *self.place, tc, kind, data, enables, poison))
        self.line = True

    def answer(self, event):
        message, fields = event["message"], event["message"]["fields"]
        if self.nvlink:
            status = fields["size"] if fields["op"] == "RSP_ERROR" else 0
            data, poison = octets(message["data"]) if "data" in message else None, bool(fields["ep"])
        else:
            status = number(fields["status"], STATUS)
            data = octets(message["data"][0]) if "data" in message else None
            poison = bool(message.get("poison"))
        if self.writes:
            full = "part" not in self.kind
            if status not in (0, 3, 6):
                self.lost.add(self.place)
            elif status == 0 and full:
                self.lost.discard(self.place)
        self.finish(status, data, poison)

    def finish(self, status, data, poison):
        """8.2."""
        tag, ld = self.fields["tag"], self.fields["ld_id"]
        if self.reply == "NDR":
            self.wanted.append(("NDR", "Cmp", tag, ld, None, False))
        elif self.reply == "DRS" and status == 3:
            self.wanted.append(("DRS", "MemDataNXM", tag, ld, ONES, False))
        elif self.reply == "DRS" and status:
            self.wanted.append(("DRS", "MemData", tag, ld, ONES, True))
        elif self.reply == "DRS":
            self.wanted.append(("DRS", "MemData", tag, ld, data, poison))

    def access(self, event):
        """What an accelerator is asked, in words."""
        message, fields = event["message"], event["message"]["fields"]
        if self.nvlink:
            address = number(fields["address"]) | number(message.get("ae", {}).get("address", 0))
            kind = {"READ": "read", "WRITE_NONPOSTED": "part" if "be" in message else "full"}[fields["op"]]
            enables = bits(message["be"])[:64] if "be" in message else None
            if fields["rid"] != self.own or fields["size"] != 3:
                raise ValueError(f"rid and size of an access: {fields}")
            self.kind, data = kind, octets(message["data"]) if "data" in message else None
            # NVLink has no channel for a traffic class.
            return ("access", address >> 36, address % (1 << 36), self.fields["tc"], kind, data, enables, bool(fields["ep"]))
        address = number(fields["address"])
        kind = {"Read": "read", "WriteFull": "full", "Write": "part"}[fields["cmd"]]
        enables = None
        if "enables" in message:
            block = bits(message["enables"])
            enables = block[address % 256:address % 256 + 64]
            if any(block[:address % 256]) or any(block[address % 256 + 64:]):
                raise ValueError("enables outside of the line")
        if fields["src"] != self.own or fields["len"] != 15 or fields["numbeats"]:
            raise ValueError(f"source and size of an access: {fields}")
        data = octets(message["data"][0]) if "data" in message else None
        self.kind = kind
        return ("access", fields["dst"], address, fields["vchan"], kind, data, enables, bool(message.get("poison")))

    @staticmethod
    def response(event):
        message, fields = event["message"], event["message"]["fields"]
        if fields["meta_field"] != "NoOp":
            raise ValueError("a MetaField that memory without meta values does not have")
        if message["layout"] == "cxl256.s2m_ndr":
            return ("NDR", fields["opcode"], fields["tag"], fields["ld_id"], None, False)
        return ("DRS", fields["opcode"], fields["tag"], fields["ld_id"], octets(message["data"]), bool(fields["poison"]))


class CachedInbound(Inbound):
    """The same with a cache in front of the accelerators (9.4, the rows of MN): written back, a set has one block."""

    def __init__(self, config):
        super().__init__(config)
        self.sets = config["cache"]["capacity_bytes"] // 256 // config["cache"]["ways"]
        self.blocks, self.open, self.asked = {}, [], {}

    def ask(self, kind, data, enables, poison, tc):
        target, out = self.place
        block, at = (target, out // 256), out // 256 % self.sets
        held = self.blocks.get(at)
        if held and held[0] != block:
            return self.evict(at, lambda: self.ask(kind, data, enables, poison, tc))
        sectors = self.blocks.setdefault(at, (block, {}))[1]
        if kind == "full":
            sectors[out] = ("D", data, poison)
            return self.finish(0, None, False)

        def there():
            state, old, old_poison = sectors[out]
            if kind == "read":
                return self.finish(0, old, old_poison)
            new = [byte if on else before for byte, on, before in zip(data, enables, old)]
            # 8.3: a part that is written does not heal the line.
            sectors[out] = ("D", new, poison or old_poison)
            return self.finish(0, None, False)

        if out in sectors:
            return there()

        def filled(came, came_poison):
            sectors[out] = ("V", came, came_poison)
            there()

        return self.send(("access", target, out, tc, "read", None, None, False), filled)

    def evict(self, at, then):
        """9.3: the block that leaves is emptied before anything else is sent, line by line: they have the one entry of the miss."""
        (target, _), sectors = self.blocks[at]
        dirty = sorted(out for out, sector in sectors.items() if sector[0] == "D")
        if not dirty:
            del self.blocks[at]
            return then()
        _, data, poison = sectors[dirty[0]]

        def gone(_data, _poison):
            del sectors[dirty[0]]
            self.evict(at, then)

        return self.send(("access", target, dirty[0], self.fields["tc"], "full", data, None, poison), gone)

    def send(self, words, then):
        self.open.append((words, then))
        self.wanted.append(words)

    def access(self, event):
        found = super().access(event)
        place = next((n for n, (words, _) in enumerate(self.open) if words == found), None)
        if place is not None:
            self.asked[event["message"]["fields"]["tag"]] = self.open.pop(place)[1]
        return found

    def answer(self, event):
        message, fields = event["message"], event["message"]["fields"]
        data = message.get("data")
        data = octets(data[0] if isinstance(data, list) else data) if data else None
        poison = bool(fields["ep"]) if self.nvlink else bool(message.get("poison"))
        self.asked.pop(fields["tag"])(data, poison)
