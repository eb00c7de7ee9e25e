"""Requests of accelerators to lines of a host, windows of class CC, spelled a second time from the sheets (`bridge` 4.1, 8.1, 8.3, 9.4 to 9.6;
`coherence` 2.2 to 2.5).

Modelled: what is asked by CXL.cache for each line, what each answer of the host ends, which data leave under which UQID, and what a snoop
is answered in each moment, with and without a cache of lines. Left out: time, reads that join one that a snoop has hit. Nothing here was
taken from the model.

A walk: an atomic wants RdOwn; GO-E comes, so the line is held as E and a store waits; SnpInv wants RspIFwdM at once; the data come, and now
the line behind the atomic is wanted under the UQID of the snoop, and the response, and nothing else.
"""

from spelling import ANY, Cxl, Outbound, bits, fits, number, octets

#: 4.1: what is asked first, without a cache.
ALONE = {"read": "RdCurr", "full": "WrCur", "part": "WrInv", "atomic": "RdOwn"}
#: 9.4: what is asked for a sector in a state; nothing: it is a hit.
KEPT = {
    ("read", "I"): "RdShared", ("full", "I"): "RdOwnNoData", ("part", "I"): "RdOwn", ("atomic", "I"): "RdOwn",
    ("full", "S"): "RdOwnNoData", ("part", "S"): "RdOwnNoData", ("atomic", "S"): "RdOwnNoData",
}
#: 9.4: what leaves with a sector.
LEAVES = {"S": "CleanEvictNoData", "E": "CleanEvictNoData", "M": "DirtyEvict"}
#: 9.5: the answer to a snoop in a state, whether the line goes with it, and the state behind.
SNOOPED = {
    ("SnpInv", "I"): ("RspIHitI", False, "I"), ("SnpInv", "S"): ("RspIHitSE", False, "I"),
    ("SnpInv", "E"): ("RspIHitSE", False, "I"), ("SnpInv", "M"): ("RspIFwdM", True, "I"),
    ("SnpData", "I"): ("RspIHitI", False, "I"), ("SnpData", "S"): ("RspSHitSE", False, "S"),
    ("SnpData", "E"): ("RspSHitSE", False, "S"), ("SnpData", "M"): ("RspSFwdM", True, "S"),
    ("SnpCur", "I"): ("RspIHitI", False, "I"), ("SnpCur", "S"): ("RspVHitV", False, "S"),
    ("SnpCur", "E"): ("RspVHitV", False, "E"), ("SnpCur", "M"): ("RspVFwdV", True, "M"),
}
#: `coherence` 1: the state of a GO.
GO = {1: "S", 2: "E", 3: "I", 4: "Err", 6: "M"}
#: Requests whose line comes.
READS = ("RdCurr", "RdShared", "RdOwn")


class Cache(Cxl):
    """A message of CXL.cache that leaves: a request with its line, or an answer or data under a UQID of the host."""

    def __init__(self, port, words, line=None, uqid=None, bogus=False, data=None, enables=None, poison=False):
        super().__init__(port, words, line, 0, data, enables, poison)
        self.uqid, self.bogus, self.line_of = uqid, bogus, None

    def differs(self, found):
        if not isinstance(found, Cache):
            return f"a message {found}, the sheet says one of CXL.cache"
        for name in ("port", "words", "line", "uqid", "bogus"):
            if getattr(self, name) != getattr(found, name):
                return f"{name}: {getattr(found, name)}, the sheet says {getattr(self, name)}"
        if self.bogus:
            return None  # its bytes mean nothing (`coherence` 2.5)
        if (self.enables, self.poison) != (found.enables, found.poison):
            return f"enables and poison: {found.enables}, {found.poison}, the sheet says {self.enables}, {self.poison}"
        same = self.atomic.same(found.data, self.data) if self.atomic else fits(found.data, self.data)
        return None if same else f"data {bytes(found.data or []).hex()}, the sheet says {self.data}"

    def __repr__(self):
        return f"{self.words} {self.line or 0:#x} uqid {self.uqid} at port {self.port}"


def message(event):
    """A message of a file that leaves for a host."""
    layout, fields = event["message"]["layout"], event["message"]["fields"]
    if layout == "cxl256.d2h_req":
        if fields["nt"] or fields["cache_id"]:
            raise ValueError("a hint or a CacheID that nobody gave")
        return Cache(event["port"], fields["opcode"], number(fields["address"]))
    if layout == "cxl256.d2h_rsp":
        return Cache(event["port"], fields["opcode"], uqid=fields["uqid"])
    if bool(fields["bep"]) != ("enables" in event["message"]):
        raise ValueError("BEP says that enables follow, and they do not, or the other way round")
    enables = bits(event["message"]["enables"]) if "enables" in event["message"] else [True] * 64
    return Cache(event["port"], "D2H Data", None, fields["uqid"], bool(fields["bogus"]), octets(event["message"]["data"]),
                 enables, bool(fields["poison"]))


class Held:
    """A line for which a message is open: what was asked, and the copy by which a snoop is answered meanwhile."""

    def __init__(self, port, out, words, copy, line=None, data=None, poison=False, then=None):
        self.port, self.out, self.words, self.copy, self.line = port, out, words, copy, line
        self.data, self.poison, self.then = data, poison, then
        self.atomic = line.atomic if line is not None else None
        self.go = self.came = self.pulled = self.owed = self.current = None

    def stores(self):
        return self.line is not None and self.line.op != "read"


class HostLines(Outbound):
    """The half from accelerators to hosts."""

    def __init__(self, config):
        super().__init__(config)
        self.held = {}

    def launch(self, line):
        if line.kind != "CC":
            return super().launch(line)
        if self.caches(line):
            return self.look_up(line)
        return self.ask(line, ALONE[line.op])

    def ask(self, line, words, copy="I"):
        self.hold(Held(line.port, line.out, words, copy, line))

    def hold(self, held):
        self.held[held.port, held.out] = held
        request = Cache(held.port, held.words, held.out)
        request.line_of = held
        self.wanted.append(request)

    def ends(self, held, status):
        del self.held[held.port, held.out]
        self.finish(held.line, status)

    def brings(self, held, uqid, data, poison, bogus=False, enables=None, atomic=None):
        """Data leave."""
        made = Cache(held.port, "D2H Data", None, uqid, bogus, data, enables or [True] * 64, poison)
        made.atomic = atomic
        self.wanted.append(made)

    # What comes from the host.

    def answer(self, event):
        layout, fields = event["message"]["layout"], event["message"]["fields"]
        if layout == "cxl256.h2d_req":
            return self.snooped(event["port"], number(fields["address"]), fields["opcode"], fields["uqid"])
        held = self.by_tag[event["port"], fields["cqid"]]
        if layout == "cxl256.h2d_data":
            held.came = octets(event["message"]["data"]), bool(fields["poison"]), bool(fields["go_err"])
        elif fields["opcode"] == "GO":
            held.go = GO[fields["rsp_data"] % 16]
            if held.words in READS:
                held.copy = held.go if held.go in ("S", "E", "M") else "I"
        else:
            held.pulled = fields["opcode"]
            return self.pull(held, fields["rsp_data"])
        if held.words in READS:
            if held.came and (held.go or held.words == "RdCurr"):
                self.fills(held)
            return None
        return {"WrInv": self.written, "RdOwnNoData": self.owned, "CleanEvictNoData": self.dropped}[held.words](held)

    def pull(self, held, uqid):
        """Data are pulled; but for WrInv that is the end too."""
        status = 2 if held.pulled == "GO_ERR_WritePull" else 0
        line = held.line
        if held.words == "DirtyEvict":
            self.brings(held, uqid, held.data, held.poison, held.copy != "M", atomic=held.atomic)
            return self.dropped(held) if line is None else self.ends(held, status)
        enables = [k in line.enabled for k in range(64)]
        data = [line.data[k] if enables[k] else ANY for k in range(64)]
        self.brings(held, uqid, data, line.poison, enables=enables)
        return None if held.words == "WrInv" else self.ends(held, status)

    def written(self, held):
        self.ends(held, 0 if held.go == "I" else 2)

    def fills(self, held):
        """The line is there, and the right to it."""
        line = held.line
        came, poison, is_error = held.came
        if is_error or held.go in ("I", "Err"):
            return self.ends(held, 2)
        line.read, line.read_poison = came, poison
        if held.current is not None:
            self.brings(held, held.current, came, poison)
        new, new_poison = line.merged(came, poison) if held.stores() else (came, poison)
        if held.owed is not None:
            # R7: it leaves with what was stored, and nothing is left to give back.
            self.brings(held, held.owed, new, new_poison, atomic=line.atomic)
            return self.ends(held, 0)
        if line.caches and held.copy != "I" and held.stores():
            return self.stored(held, new, new_poison)
        if line.caches:
            if held.copy != "I":
                self.keep(held, held.copy, new, new_poison)
            return self.ends(held, 0)
        if held.words == "RdCurr":
            return self.ends(held, 0)
        self.hold(Held(line.port, line.out, "DirtyEvict", "M", line, new, new_poison))
        return None

    def owned(self, held):
        """Ownership without bytes (9.4)."""
        line = held.line
        if held.go == "Err":
            self.forget(held)
            return self.ends(held, 2)
        if line.op == "full":
            return self.stored(held, line.data, line.poison)
        if held.copy == "S":
            _, line.read, line.read_poison = self.sector(held)
            return self.stored(held, *line.merged(line.read, line.read_poison))
        return self.ask(line, "CleanEvictNoData", "E")

    def stored(self, held, data, poison):
        """A store is done in its sector."""
        self.keep(held, "M", data, poison)
        self.ends(held, 0)
        self.goes_on(held.line)

    def goes_on(self, line):
        """9.4, write-through: behind the store, which is answered when it is in the sector, the line leaves."""
        if not self.through:
            return
        sectors = self.cache[line.out // 256 % self.sets][1]
        _, data, poison = sectors.pop(line.out)
        leaving = Held(line.port, line.out, "DirtyEvict", "M", None, data, poison, lambda: None)
        leaving.atomic = line.atomic
        self.hold(leaving)

    def dropped(self, held):
        """A line was given up: for its way, or to be asked for again."""
        if held.line is not None:
            return self.ask(held.line, "RdOwn")
        del self.held[held.port, held.out]
        return held.then()

    # The cache (9.3, 9.4). A set has one way here.

    def blocks(self, held):
        return held.out // 256 % self.sets

    def sector(self, held):
        block, sectors = self.cache.get(self.blocks(held), (None, {}))
        return sectors.get(held.out, ("I", None, False)) if block == held.out // 256 else ("I", None, False)

    def keep(self, held, state, data, poison):
        self.cache[self.blocks(held)][1][held.out] = state, data, poison

    def forget(self, held):
        self.cache[self.blocks(held)][1].pop(held.out, None)

    def look_up(self, line):
        block, at = line.out // 256, line.out // 256 % self.sets
        if at in self.cache and self.cache[at][0] != block:
            return self.evict(line, at)
        state, data, poison = self.cache.setdefault(at, (block, {}))[1].get(line.out, ("I", None, False))
        words = KEPT.get((line.op, state))
        if words:
            return self.ask(line, words, state)
        line.read, line.read_poison = data, poison
        if line.op != "read":
            self.cache[at][1][line.out] = "M", *line.merged(data, poison)
            self.finish(line, 0)
            return self.goes_on(line)
        return self.finish(line, 0)

    def evict(self, line, at):
        """9.3: the block that leaves is emptied before the miss is sent."""
        leaving = self.cache[at][1]
        open_ = set(leaving)

        def gone(out=None):
            open_.discard(out)
            if not open_:
                del self.cache[at]
                self.look_up(line)

        if not open_:
            return gone()
        for out, (state, data, poison) in list(leaving.items()):
            del leaving[out]
            self.hold(Held(line.port, out, LEAVES[state], state, None, data, poison, lambda out=out: gone(out)))
        return None

    # Snoops (9.5, 9.6).

    def snooped(self, port, out, snoop, uqid):
        held = self.held.get((port, out))
        asked = held is not None and held.words in READS
        at_rest = held is None
        if at_rest:
            held = Held(port, out, None, "I")
            if self.cache is not None:
                held.copy, held.data, held.poison = self.sector(held)
        said, goes, after = SNOOPED[snoop, held.copy]
        if asked and held.copy in ("E", "M") and held.stores() and snoop != "SnpCur":
            # R7: the answer says M although the data are not here, and the line follows.
            said, goes, after, held.owed = "RspIFwdM", False, "I", uqid
        elif asked and goes:
            held.current, goes = uqid, False
        self.wanted.append(Cache(port, said, uqid=uqid))
        if goes:
            self.brings(held, uqid, held.data, held.poison, atomic=held.atomic)
        held.copy = after
        if self.cache is not None and (at_rest or held.words == "RdOwnNoData") and self.sector(held)[0] != "I":
            if after == "I":
                self.forget(held)
            else:
                self.keep(held, after, *self.sector(held)[1:])


def missing(config, words):
    """What the walk of class CC has to have and has not: every request, every answer, every snoop with each of its answers."""
    heard = {word.split(" sent ", 1)[1] for word in words if " sent " in word}
    answers = {"GO-S", "GO-E", "GO-M", "GO-I", "GO-Err", "GO_WritePull", "GO_ERR_WritePull"}
    snoops = {"SnpInv", "SnpData", "SnpCur"}
    if "cache" in config:
        sent = set(KEPT.values()) | set(LEAVES.values()) | {said for said, _, _ in SNOOPED.values()}
    else:
        # Without a cache nothing is shared, and no clean line is held.
        sent = set(ALONE.values()) | {"DirtyEvict", "RspIHitI", "RspIFwdM", "RspSFwdM", "RspVHitV", "RspVFwdV"}
        answers = answers - {"GO-S"} | {"WritePull", "H2D Data error"}
    sent |= {"D2H Data", "D2H Data Bogus"}
    return sorted(sent - heard) + sorted({f"told {what}" for what in answers | snoops} - words)
