"""Memory of accelerators that the bridge keeps coherent, spelled a second time from the sheet (`bridge` 1.3, 4.4, 5.1, 6.4, 8.2, 8.3): class
DB from CXL, and the hairpin (class HP) from accelerators of the own cluster.

Modelled: the record of a line, who is asked to give it back, what the accelerator is asked, and which answers follow. Left out: the
filter, conflicts, time-outs. Nothing here was taken from the model.

A walk: `Home.holder` puts a request in the row of its line; `Home.begin` snoops the others; with the last answer `Home.recalled` asks the
accelerator; with its answer `Home.end` says what the request is answered with, and who has the line from then on.
"""

import spelling
from spelling import ANY, ONES, STATUS, Windows, bits, number, octets

#: 5.1: requests by opcode, MetaValue and SnpType: who is snooped and how, whether the line is read, the completion, and the record behind it.
ROWS = {
    ("MemRd", "Any", "SnpInv"): ("BISnpInv", True, "CmpE", "owner"),
    ("MemRd", "Shared", "SnpData"): ("BISnpData", True, "CmpS", "sharer"),
    ("MemRd", "Invalid", "SnpCur"): ("BISnpCur", True, "Cmp", "removed"),
    ("MemRd", "NoOp", "SnpCur"): ("BISnpCur", True, "Cmp", "unchanged"),
    ("MemRd", "Invalid", "SnpInv"): ("BISnpInv", True, "Cmp", "removed"),
    ("MemRd", "NoOp", "SnpInv"): ("BISnpInv", True, "Cmp", "unchanged"),
    ("MemRd", "NoOp", "NoOp"): (None, True, "Cmp", "unchanged"),
    ("MemClnEvct", "Invalid", "NoOp"): (None, False, "Cmp", "removed"),
}
for _opcode in ("MemInv", "MemInvNT"):
    ROWS |= {
        (_opcode, "Any", "SnpInv"): ("BISnpInv", False, "CmpE", "owner"),
        (_opcode, "Shared", "SnpData"): ("BISnpData", False, "CmpS", "sharer"),
        (_opcode, "Invalid", "SnpInv"): ("BISnpInv", False, "Cmp", "removed"),
        (_opcode, "NoOp", "SnpInv"): ("BISnpInv", False, "Cmp", "unchanged"),
    }
#: What the owner, or who writes, has behind a write.
WRITTEN = {"Any": "A", "Shared": "S", "Invalid": None}
READS = {"MemRd", "MemRdData", "MemRdFill"}


class Access:
    """What an accelerator is asked for a line, and who waits for the end."""

    def __init__(self, words, then):
        self.words, self.then = words, then


class Task:
    """Something that has a line for itself from its snoops to its end."""

    def __init__(self, place, requester, snoop, then):
        self.place, self.requester, self.snoop, self.then = place, requester, snoop, then
        self.pending = set()


class Home:
    """The half that keeps memory of accelerators coherent, with the hairpin if there is one."""

    def __init__(self, config):
        self.nvlink, self.own = config["protocol"] == "nvlink", config["own"]
        self.windows = Windows(config, 1 << (36 if self.nvlink else 57))
        self.sources = config.get("home", {}).get("holders", [0])
        self.wanted, self.records, self.rows, self.lost = [], {}, {}, set()
        self.asked, self.by_tag, self.snoops = [], {}, {}
        self.hairpin = Hairpin(config, self) if "hairpin" in config else None

    # What comes.

    def request(self, event):
        layout = event["message"]["layout"]
        if layout == "cxl256.m2s_birsp":
            self.snooped(event["port"], event["message"]["fields"])
        elif layout.startswith("cxl256."):
            self.holder(event["port"], event["message"])
        else:
            self.hairpin.request(event)

    def holder(self, port, message):
        fields = message["fields"]
        opcode, place, tag = fields["opcode"], number(fields["address"]), fields["tag"]
        is_rwd = message["layout"] == "cxl256.m2s_rwd"
        value = "NoOp" if fields["meta_field"] == "NoOp" else fields["meta_value"]
        # Beside extended metadata it says that nothing is said of copies (`coherence` 1).
        if not is_rwd and (fields["meta_field"], value) == ("EMS", "ExplicitNoOp"):
            value = "NoOp"
        if is_rwd and opcode == "BIConflict":
            return self.say("NDR", port, "BIConflictAck", tag)
        reads = opcode in READS
        if isinstance(self.windows.route(self.sources[port], place, "w" if is_rwd else "r"), int):
            # 8.2: no window, and no NDR behind the word for it.
            if opcode == "MemSpecRd":
                return None
            return self.say("DRS", port, "MemDataNXM", tag, ONES, False) if reads else self.say("NDR", port, "Cmp", tag)
        # An extended state has a MetaValue too (`coherence` 3.2).
        meta_is_legal = fields["meta_field"] in ("Meta0State", "EMS", "NoOp")
        if not is_rwd and opcode == "MemSpecRd":
            return None
        row = ROWS.get((opcode, value, fields["snp_type"])) if meta_is_legal and not is_rwd else None
        if not is_rwd and opcode == "MemRdData" and fields["snp_type"] == "SnpData":
            row = ("BISnpData", True, "data", "data")
        if row is not None:
            return self.queue(Task(place, port, row[0], lambda task: self.read(task, row, tag)))
        if is_rwd and opcode in ("MemWr", "MemWrPtl") and fields["meta_field"] == "Meta0State" and value in WRITTEN:
            held = self.records.get(place, {}).get(port)
            single = fields["snp_type"] == "SnpInv" and value == "Invalid" and len(self.sources) == 1
            if single or fields["snp_type"] == "NoOp" and held == "A":
                return self.write(port, message, place, value)
        if reads:
            self.say("DRS", port, "MemData", tag, ONES, True)
        return self.say("NDR", port, "Cmp", tag)

    def say(self, kind, port, word, tag, data=None, poison=False):
        self.wanted.append((kind, port, word, tag, data, poison))

    def write(self, port, message, place, value):
        """A holder writes what it owns, at once."""
        fields = message["fields"]
        enables = bits(message["enables"]) if fields["opcode"] == "MemWrPtl" else None
        kept = WRITTEN[value]

        def then(_status, _data, _poison):
            record = self.records.setdefault(place, {})
            record.pop(port, None)
            if kept:
                record[port] = kept
            self.say("NDR", port, "Cmp", fields["tag"])

        self.store(place, octets(message["data"]), enables, bool(fields["poison"]), then)

    # What an accelerator is asked.

    def ask(self, place, kind, then, data=None, enables=None, poison=False, channel=0, attr=ANY):
        route = self.windows.route(self.sources[0], place, "")
        _, target, out = route
        # NVLink has no channel for a traffic class.
        words = ("access", target, out, ANY if self.nvlink else channel, kind, data, enables, attr, poison)
        self.asked.append(Access(words, then))
        self.wanted.append(words)

    def load(self, place, then):
        """8.2: what was lost is poison, and nobody is asked."""
        if place in self.lost:
            return then(2, None, False)
        return self.ask(place, "read", then)

    def store(self, place, data, enables, poison, then):
        def ended(status, _data, _poison):
            if status not in (0, 3, 6):
                self.lost.add(place)
            elif status == 0 and enables is None:
                self.lost.discard(place)
            then(status, None, False)

        shown = data if enables is None else [byte if on else ANY for byte, on in zip(data, enables)]
        self.ask(place, "full" if enables is None else "part", ended, shown, enables, poison)

    def answer(self, event):
        message, fields = event["message"], event["message"]["fields"]
        then = self.by_tag.pop(fields["tag"]).then
        if self.nvlink:
            status = fields["size"] if fields["op"] == "RSP_ERROR" else 0
            data, poison = octets(message["data"]) if "data" in message else None, bool(fields["ep"])
        else:
            status = number(fields["status"], STATUS)
            data = octets(message["data"][0]) if "data" in message else None
            poison = bool(message.get("poison"))
        then(status, data, poison)

    # The row of a line.

    def queue(self, task):
        row = self.rows.setdefault(task.place, [])
        row.append(task)
        if len(row) == 1:
            self.begin(task)

    def begin(self, task):
        record = self.records.get(task.place, {})
        others = {port for port in record if port != task.requester}
        if task.snoop in ("BISnpData", "BISnpCur"):
            others = {port for port in others if record[port] == "A"}
        task.pending = others if task.snoop else set()
        for port in sorted(task.pending):
            self.wanted.append(("BISnp", port, task.snoop, task.place))
        if not task.pending:
            task.then(task)

    def snooped(self, port, fields):
        place = self.snoops.pop((port, fields["bi_tag"]))
        if fields["low_addr"] != place // 64 % 4:
            raise ValueError("LowAddr of the answer to a snoop")
        task, record = self.rows[place][0], self.records[place]
        kept = {"BIRspI": None, "BIRspS": "S", "BIRspE": "A"}[fields["opcode"]]
        record.pop(port, None)
        if kept:
            record[port] = kept
        task.pending.discard(port)
        if not task.pending:
            task.then(task)

    def end(self, task):
        row = self.rows[task.place]
        row.pop(0)
        if row:
            self.begin(row[0])

    def read(self, task, row, tag):
        _, reads, word, behind = row
        port = task.requester
        if word == "data":
            # 5.1: Cmp-E if nobody else has the line, behind the snoop.
            alone = not {holder for holder in self.records.get(task.place, {}) if holder != port}
            word, behind = ("CmpE", "owner") if alone else ("CmpS", "sharer")

        def then(status, data, poison):
            record = self.records.setdefault(task.place, {})
            if reads and status == 3:
                # 8.2: there is no NDR, so nothing is granted.
                self.say("DRS", port, "MemDataNXM", tag, ONES, False)
                return self.end(task)
            if behind in ("owner", "sharer"):
                record[port] = "A" if behind == "owner" else "S"
            elif behind == "removed":
                record.pop(port, None)
            if reads:
                self.say("DRS", port, "MemData", tag, ONES if status else data, bool(status) or poison)
            self.say("NDR", port, word, tag)
            return self.end(task)

        return self.load(task.place, then) if reads else then(0, None, False)

    # What leaves.

    def access(self, event):
        message, fields = event["message"], event["message"]["fields"]
        if self.nvlink:
            whole = number(fields["address"]) | number(message.get("ae", {}).get("address", 0))
            target, address, channel = whole >> 36, whole % (1 << 36), ANY
            kind = {"READ": "read", "WRITE_NONPOSTED": "part" if "be" in message else "full", "ATOMIC_RETURN": "AtomicR"}[fields["op"]]
            data = octets(message["data"]) if "data" in message else None
            enables = bits(message["be"])[:64] if "be" in message else None
            attr = message.get("ae", {}).get("attr", 0) if kind == "AtomicR" else ANY
            poison = bool(fields["ep"])
            if fields["rid"] != self.own or fields["size"] != 3 or "be" in message and any(bits(message["be"])[64:]):
                raise ValueError(f"rid, size or enables of an access: {fields}")
        else:
            target, address, channel = fields["dst"], number(fields["address"]), fields["vchan"]
            kind = {"Read": "read", "WriteFull": "full", "Write": "part", "AtomicR": "AtomicR", "AtomicNR": "AtomicNR"}[fields["cmd"]]
            data = octets(message["data"][0]) if "data" in message else None
            enables = None
            if "enables" in message:
                block = bits(message["enables"])
                enables = block[address % 256:address % 256 + 64]
                if any(block[:address % 256]) or any(block[address % 256 + 64:]):
                    raise ValueError("enables outside of the line")
            attr = fields["attr"] if kind.startswith("Atomic") else ANY
            poison = bool(message.get("poison"))
            if fields["src"] != self.own or fields["len"] != 15 or fields["numbeats"]:
                raise ValueError(f"source and size of an access: {fields}")
        found = ("access", target, address, channel, kind, data, enables, attr, poison)
        place = next((n for n, access in enumerate(self.asked) if spelling.fits(found, access.words)), None)
        if place is not None:
            self.by_tag[fields["tag"]] = self.asked.pop(place)
        return found

    def response(self, event):
        message, fields, port = event["message"], event["message"]["fields"], event["port"]
        layout = message["layout"]
        if layout == "ualink.tl_rsp":
            return spelling.upli_response(event)
        if layout == "nvlink.header":
            return spelling.nvlink_response(event)
        if layout == "cxl256.s2m_bisnp":
            place = number(fields["address"])
            if (port, fields["bi_tag"]) in self.snoops:
                raise ValueError(f"BITag {fields['bi_tag']} a second time")
            self.snoops[port, fields["bi_tag"]] = place
            return ("BISnp", port, fields["opcode"], place)
        if fields["meta_field"] != "NoOp" or fields["ld_id"]:
            raise ValueError("MetaField or LD-ID of an answer")
        if layout == "cxl256.s2m_ndr":
            return ("NDR", port, fields["opcode"], fields["tag"], None, False)
        return ("DRS", port, fields["opcode"], fields["tag"], octets(message["data"]), bool(fields["poison"]))


class Hairpin(spelling.Outbound):
    """Accelerators of the own cluster: requests, order and responses are those of the half to CXL, lines are the home's."""

    def __init__(self, config, home):
        super().__init__(dict(config["hairpin"], protocol=config["protocol"]))
        # One list of what has to leave.
        self.home, self.wanted = home, home.wanted

    def launch(self, line):
        # 5.1: reads look, all others take the line back; nobody is recorded.
        snoop = "BISnpCur" if line.op == "read" else "BISnpInv"
        self.home.queue(Task(line.out, None, snoop, lambda task: self.held(task, line)))

    def held(self, task, line):
        home = self.home

        def then(status, data, poison):
            if line.op == "read":
                # 8.2 and then 8.1: nowhere is nowhere, all else poison.
                line.read, line.read_poison = ONES if status else data, bool(status) or poison
                status = 3 if status == 3 else 0
            elif line.op == "atomic":
                line.read, line.read_poison = data, poison
                # 8.2: neither 15 nor a reserved one is ever told.
                status = status if status in spelling.RANK else 2
            else:
                # CXL.mem says Cmp whatever has become of a write.
                status = 0
            home.end(task)
            self.finish(line, status)

        if line.op == "read":
            return home.load(task.place, then)
        enabled = [k in line.enabled for k in range(64)]
        if line.op != "atomic":
            return home.store(task.place, line.data, None if line.op == "full" else enabled, line.poison, then)
        if task.place in home.lost:
            # BRG-ATM-06: poison, and nobody is asked.
            return then(0, ONES, True)
        atomic, request = line.atomic, line.request
        size = {4: 0, 8: 1, 2: 2, 1: 3}[atomic.count]
        attr = atomic.op | size << 4 if self.nvlink else (atomic.op & 15) << 4 | size << 2 | atomic.op >> 4
        data = [line.data[k] if on else ANY for k, on in enumerate(enabled)]
        if atomic.op == 2:
            # 4.4: both operands stand at the beginning.
            data = line.data[:2 * size_of(size)] + [ANY] * (64 - 2 * size_of(size))
        kind = "AtomicR" if self.nvlink or request.reply[1] == "Read" else "AtomicNR"
        return home.ask(task.place, kind, then, data, enabled, line.poison, request.tc & 3, attr)


def size_of(code):
    return (4, 8, 2, 1)[code]


def missing(config):
    """What the walk has to have."""
    ends = {f"told {status}" for status in spelling.STATUS} if config["protocol"] == "ualink" else {
        f"told RSP_ERROR {status}" for status in range(1, 16)}
    if len(config["home"]["holders"]) == 1:
        return {"MemWr ended Cmp", "MemRd ended CmpE"}
    if "hairpin" not in config:
        words = {f"asked {opcode}" for opcode in ("MemRd", "MemRdData", "MemInv", "MemInvNT", "MemClnEvct", "MemSpecRd")}
        words |= {f"MemRd ended {end}" for end in ("Cmp", "CmpS", "CmpE", "MemData", "MemDataNXM")}
        return ends | words | {f"MemRd ended {snoop}" for snoop in ("BISnpInv", "BISnpData", "BISnpCur")}
    asked = {"nvlink": ("READ", "WRITE_NONPOSTED", "WRITE_POSTED", "ATOMIC_RETURN", "ATOMIC_POSTED"),
             "ualink": ("Read", "Write", "WriteFull", "AtomicR", "AtomicNR")}[config["protocol"]]
    refused = {"nvlink": {f"{op} ended error {code}" for op in asked[:2] + asked[3:4] for code in (3, 6)},
               "ualink": {f"{op} ended {end}" for op in ("Read", "WriteFull", "AtomicR") for end in ("DecodeError", "ProtectionViolation")}}
    return ends | refused[config["protocol"]] | {f"asked {name}" for name in asked}
