"""The host's side of CXL.cache: `CxlHome` answers the requests of caching devices, each on a link of its own, and snoops them on request.

`CxlHome` stands on active ends of links with credits and retry, made with `transactions="cxl-cache"`. What a device does wrong is an
exception at the flit that brings it, in all calls that wait and in the task that steps the link.

    >>> import asyncio
    >>> from cocotbext.scalepool import CxlCacheDevice, LinkPair
    >>> async def main():
    ...     config = {"transactions": "cxl-cache"}
    ...     async with LinkPair("cxl-68b", **config) as left, LinkPair("cxl-256b", **config) as right:
    ...         home = CxlHome(left.host, right.host)
    ...         a, b = CxlCacheDevice(left.device), CxlCacheDevice(right.device)
    ...         await a.write(0x40, b"first")
    ...         return await b.read(0x40, 5), home.holders(0x40)
    >>> asyncio.run(main())
    (b'first', {0: 'S', 1: 'S'})

Modelled: a home with one transaction for each line at a time, who was granted what, and the memory behind it (`coherence` §2.7, §2.8). The host's
own core reads and writes without a copy of its own. Left out: several devices behind one link, a snoop filter that is full, CXL.mem.

A walk through one request: RdOwn comes, and no transaction is open on its line. Everybody else who was granted a copy is snooped with SnpInv; a
line that comes with an answer goes to memory. Behind the last answer GO-E and the data are queued, and the line is free for the next request.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from .cxl_cache import CACHE_RULES, GO_STATES
from .cxl_mem import FAMILIES, HIGHEST_ADDRESS
from .errors import InputError, NoMemoryError, PoisonError
from .lines import LINE_BYTES, WHOLE_LINE, LineMemory, MemoryLines, check_mask, check_range, pieces
from .stepped import SteppedLink, Waitable
from .verbs import Form, TransactionAgent, number_of

_UQIDS = 1 << 12
_GO = {state: number for number, state in GO_STATES.items()}

# Requests by what they are answered with once the snoops are over.
_READS = ("RdCurr", "RdShared", "RdAny", "RdOwn")
_EVICTS = ("CleanEvict", "DirtyEvict", "CleanEvictNoData")
_PULL_OF = {
    "ItoMWr": "GO_WritePull",
    "WrCur": "GO_WritePull",
    "WrInv": "WritePull",
    "WOWrInv": "Fast_GO_WritePull",
    "WOWrInvF": "Fast_GO_WritePull",
    "DirtyEvict": "GO_WritePull",
    "CleanEvict": "GO_WritePull",
}

# What a holder keeps behind an answer; None: what it had. Which answers bring a line, and whether it is that of memory from then on.
_KEPT = {"RspIHitI": "I", "RspIHitSE": "I", "RspSHitSE": "S", "RspVHitV": None, "RspSFwdM": "S", "RspIFwdM": "I", "RspVFwdV": None}
_FORWARDS = {"RspSFwdM": True, "RspIFwdM": True, "RspVFwdV": False}


@dataclass
class _Snoop:
    """A snoop of one port: its answer, and the line that belongs to it."""

    answer: str = ""
    data: bytes = b""
    poison: bool = False

    def is_over(self) -> bool:
        return bool(self.answer) and (self.answer not in _FORWARDS or len(self.data) == LINE_BYTES)


@dataclass
class _Deal:
    """A transaction of a line: a request of a port, or an access of the host's own core."""

    line: int
    opcode: str
    port: int | None = None
    cqid: int = 0
    # Ports that are snooped whatever they hold; None: those that the request asks for.
    to: list[int] | None = None
    snoops: dict[int, _Snoop] = field(default_factory=dict)
    # A line that came with RspVFwdV goes to the requester alone.
    passed_on: tuple[bytes, bool] | None = None
    done: Waitable | None = None
    is_done: bool = False
    error: BaseException | None = None
    act: Callable[[], None] | None = None


class _HomePort(TransactionAgent):
    """The end of one link."""

    _families = FAMILIES
    _protocols = "CXL"
    _transactions = "cxl-cache"
    _layouts_taken = ("d2h_req", "d2h_rsp", "d2h_data")
    rules_judged = CACHE_RULES

    def __init__(self, link: SteppedLink, home: "CxlHome", number: int, latency: int) -> None:
        self.home, self.number, self.latency = home, number, latency
        self.peer: Form = {}
        self.entries: dict[int, tuple[_Deal, _Snoop | None]] = {}
        self._free = deque(range(_UQIDS))
        self._clock = 0
        self._leaving: deque[tuple[int, Form]] = deque()
        super().__init__(link)

    def say(self, layout: str, fields: Form, **more: object) -> None:
        """Queues a message, behind those that were queued before and the latency of the home."""
        form = self._form(layout, {**fields, **self.peer}, **more)
        self._leaving.append((self._clock + self.latency, form))

    def go(self, cqid: int, state: str) -> None:
        self.say("h2d_rsp", {"opcode": "GO", "rsp_data": _GO[state], "cqid": cqid})

    def entry(self, deal: _Deal, snoop: _Snoop | None) -> int:
        """Returns the UQID of a snoop, or of a pull (None)."""
        uqid = self._free.popleft()
        self.entries[uqid] = deal, snoop
        return uqid

    def _on_step(self) -> None:
        self._clock += 1
        super()._on_step()
        while self._leaving and self._leaving[0][0] <= self._clock:
            self._send(self._leaving.popleft()[1])

    def _message(self, form: Form) -> None:
        layout, fields = self._layout_of(form), self._fields_of(form)
        if layout == "d2h_req":
            self.peer = {"cache_id": fields["cache_id"]} if "cache_id" in fields else {"dpid": fields["spid"]} if "spid" in fields else {}
            line = number_of(fields["address"]) & -LINE_BYTES
            self.home._begin(_Deal(line, str(fields["opcode"]), self.number, fields["cqid"]))
            return
        uqid = fields["uqid"]
        deal, snoop = self.entries[uqid]
        if layout == "d2h_rsp" and snoop is not None:
            snoop.answer = str(fields["opcode"])
        elif "half" in form:
            half, low = LINE_BYTES // 2, form["half"] == "lower"
            part = bytes.fromhex(form["data"])[: half] if low else bytes.fromhex(form["data"])[half:]
            into = snoop if snoop is not None else deal.snoops.setdefault(-1, _Snoop())
            into.data = into.data + part if not low or not into.data else part + into.data
            if len(into.data) < LINE_BYTES:
                return
            form = {**form, "data": into.data.hex()}
        if layout == "d2h_data" and snoop is not None:
            snoop.data, snoop.poison = bytes.fromhex(form["data"]), bool(fields["poison"])
        if snoop is None or snoop.is_over():
            del self.entries[uqid]
            self._free.append(uqid)
        if snoop is None:
            enables = number_of(form.get("be", WHOLE_LINE))
            self.home._written(deal, bytes.fromhex(form["data"]), enables, bool(fields["poison"]), bool(fields["bogus"]))
        elif snoop.is_over():
            self.home._snooped(deal, self.number, snoop)

    def _fail(self, error: BaseException) -> None:
        self.entries.clear()
        self._free = deque(range(_UQIDS))
        self._leaving.clear()
        self.home._fail(error)


class CxlHome:
    """The home of the lines that caching devices share, one device on each of the links: `await home.snoop_invalidate(address)`.

    `memory` is a `LineMemory`, or anything of yours with `read` and `write` of a line. `latency` is the number of flit clocks before a message
    leaves. With `pulls_clean` the data of CleanEvict is asked for, else it is dropped. `served` counts requests. Ports are numbered as the
    links are given. For a home that is wrong on purpose, override `grant`.

    `read` and `write` are accesses of the host's own core. Several calls may wait at a time; those for one line take turns with each other
    and with the requests of devices.
    """

    def __init__(
        self, *links: SteppedLink, memory: MemoryLines | None = None, latency: int = 0, pulls_clean: bool = False
    ) -> None:
        if not links:
            raise InputError("links: found none, expected at least one")
        if latency < 0:
            raise InputError(f"latency: found {latency}, expected 0 or more flit clocks")
        self.memory: MemoryLines = LineMemory() if memory is None else memory
        self.pulls_clean = pulls_clean
        self.served = 0
        self._event = links[0].event
        self._held: dict[int, dict[int, str]] = {}
        self._deals: dict[int, deque[_Deal]] = {}
        self._ports = [_HomePort(link, self, number, latency) for number, link in enumerate(links)]

    def holders(self, address: int) -> dict[int, str]:
        """Returns what was granted of the line of an address, by port: `S`, `E` or `M` at most."""
        return dict(sorted(self._held.get(address & -LINE_BYTES, {}).items()))

    def grant(self, opcode: str, others: dict[int, str]) -> str:
        """Returns the state that a read is granted, where these other ports hold copies behind the snoops."""
        if opcode == "RdOwn" or opcode == "RdAny" and not others:
            return "E"
        return "S"

    async def snoop_data(self, address: int, port: int | None = None) -> dict[int, str]:
        """Leaves S at most with those who hold the line (SnpData), or snoops one port whatever it holds; returns the answers by port."""
        return await self._snoop(address, "SnpData", port)

    async def snoop_invalidate(self, address: int, port: int | None = None) -> dict[int, str]:
        """Takes the line from those who hold it (SnpInv), or snoops one port whatever it holds; returns the answers by port."""
        return await self._snoop(address, "SnpInv", port)

    async def snoop_current(self, address: int, port: int | None = None) -> dict[int, str]:
        """Asks those who hold the line for its value (SnpCur), or one port whatever it holds; returns the answers by port."""
        return await self._snoop(address, "SnpCur", port)

    async def read(self, address: int, size: int = LINE_BYTES) -> bytes:
        """Reads bytes from an address on as they are now, wherever they are; who holds a copy keeps it."""
        check_range(address, size, HIGHEST_ADDRESS)
        found = b""
        for line, first, end in pieces(address, size, LINE_BYTES):
            value: list[tuple[bytes, bool] | None] = []
            deal = _Deal(line, "core read")
            deal.act = lambda of=deal, into=value: into.append(of.passed_on or self.memory.read(of.line))
            await self._wait(deal)
            if value[0] is None:
                raise NoMemoryError(f"line {line:#x}: found no memory, expected some at this address", None, line, None)
            if value[0][1]:
                raise PoisonError(f"line {line:#x}: found poisoned data, expected good data", None, line, None)
            found += value[0][0][first:end]
        return found

    async def write(self, address: int, data: bytes, mask: bytes | None = None) -> None:
        """Writes bytes from an address on to memory, taking the lines from those who hold them first. `mask` has a byte for each byte of
        `data`: 0 leaves the byte as it is."""
        data = bytes(data)
        check_range(address, len(data), HIGHEST_ADDRESS)
        chosen = check_mask(data, mask)
        for line, first, end in pieces(address, len(data), LINE_BYTES):
            at = line - address
            enables = sum(1 << n for n in range(first, end) if chosen[at + n])
            part = bytes(first) + data[at + first : at + end] + bytes(LINE_BYTES - end)
            deal = _Deal(line, "core write")
            deal.act = lambda of=deal, part=part, enables=enables: self.memory.write(of.line, part, enables, False)
            await self._wait(deal)

    async def _snoop(self, address: int, snoop: str, port: int | None) -> dict[int, str]:
        check_range(address, 1, HIGHEST_ADDRESS)
        if port is not None and not 0 <= port < len(self._ports):
            raise InputError(f"port: found {port}, expected 0 to {len(self._ports) - 1}")
        deal = _Deal(address & -LINE_BYTES, snoop, to=None if port is None else [port])
        await self._wait(deal)
        return {number: of.answer for number, of in sorted(deal.snoops.items())}

    async def _wait(self, deal: _Deal) -> None:
        deal.done = self._event()
        self._begin(deal)
        while not deal.is_done:
            await deal.done.wait()
        if deal.error is not None:
            raise deal.error

    def _begin(self, deal: _Deal) -> None:
        """Carries out a transaction when its line is free."""
        self.served += deal.port is not None
        waiting = self._deals.setdefault(deal.line, deque())
        waiting.append(deal)
        if len(waiting) == 1:
            self._start(deal)

    def _start(self, deal: _Deal) -> None:
        held = self._held.get(deal.line, {})
        others = [port for port in sorted(held) if port != deal.port]
        owners = [port for port in others if held[port] in ("E", "M")]
        opcode = deal.opcode
        if opcode in ("SnpData", "SnpInv", "SnpCur"):
            snoop, to = opcode, others
        elif opcode in ("RdCurr", "core read"):
            snoop, to = "SnpCur", owners
        elif opcode in ("RdShared", "RdAny"):
            snoop, to = "SnpData", owners
        elif opcode in _EVICTS or opcode == "CacheFlushed":
            snoop, to = "", []
        else:
            snoop, to = "SnpInv", others
        for number in to if deal.to is None else deal.to:
            deal.snoops[number] = _Snoop()
        for number, of in deal.snoops.items():
            port = self._ports[number]
            port.say("h2d_req", {"opcode": snoop, "address": deal.line, "uqid": port.entry(deal, of)})
        if not deal.snoops:
            self._answer(deal)

    def _keep(self, line: int, port: int, state: str) -> None:
        """A port holds this of a line from now on."""
        held = self._held.setdefault(line, {})
        held.pop(port, None)
        if state != "I":
            held[port] = state
        if not held:
            del self._held[line]

    def _snooped(self, deal: _Deal, port: int, snoop: _Snoop) -> None:
        """A snoop has been answered in full."""
        kept = _KEPT[snoop.answer]
        if kept is not None:
            self._keep(deal.line, port, kept)
        if snoop.answer in _FORWARDS:
            if _FORWARDS[snoop.answer]:
                self.memory.write(deal.line, snoop.data, WHOLE_LINE, snoop.poison)
            deal.passed_on = snoop.data, snoop.poison
        if all(of.is_over() for of in deal.snoops.values()):
            self._answer(deal)

    def _answer(self, deal: _Deal) -> None:
        """Nobody is asked any more: the requester gets its answer."""
        opcode = deal.opcode
        if deal.act is not None:
            deal.act()
        if deal.port is None:
            self._end(deal)
            return
        port = self._ports[deal.port]
        held = self._held.get(deal.line, {})
        exists = self.memory.read(deal.line) is not None
        if opcode in _READS:
            self._answer_read(deal, port, exists)
        elif opcode == "RdOwnNoData":
            port.go(deal.cqid, "E" if exists else "Err")
            self._keep(deal.line, deal.port, "E" if exists else "I")
            self._end(deal)
        elif opcode == "CacheFlushed":
            for line in [line for line, of in self._held.items() if deal.port in of]:
                self._keep(line, deal.port, "I")
            port.go(deal.cqid, "I")
            self._end(deal)
        elif opcode in ("CleanEvictNoData", "CLFlush"):
            self._keep(deal.line, deal.port, "I")
            port.go(deal.cqid, "I")
            self._end(deal)
        elif opcode == "CleanEvict" and not (self.pulls_clean and held.get(deal.port) in ("E", "M")):
            self._keep(deal.line, deal.port, "I")
            port.say("h2d_rsp", {"opcode": "GO_WritePull_Drop", "cqid": deal.cqid})
            self._end(deal)
        else:
            pull = _PULL_OF[opcode] if exists or opcode == "WrInv" else "GO_ERR_WritePull"
            port.say("h2d_rsp", {"opcode": pull, "cqid": deal.cqid, "rsp_data": port.entry(deal, None)})

    def _answer_read(self, deal: _Deal, port: _HomePort, exists: bool) -> None:
        found = deal.passed_on if deal.passed_on is not None else self.memory.read(deal.line)
        data, poison = found if found is not None else (b"\xff" * LINE_BYTES, False)
        if deal.opcode != "RdCurr":
            others = {number: state for number, state in self.holders(deal.line).items() if number != port.number}
            state = self.grant(deal.opcode, others) if exists else "Err"
            port.go(deal.cqid, state)
            self._keep(deal.line, port.number, state if exists else "I")
        fields: Form = {"cqid": deal.cqid, "poison": int(poison), "go_err": int(not exists and deal.opcode == "RdCurr")}
        port.say("h2d_data", fields, data=data.hex())
        self._end(deal)

    def _written(self, deal: _Deal, data: bytes, enables: int, poison: bool, bogus: bool) -> None:
        """The data of a pull has come."""
        if deal.port is None:
            return
        port, exists = self._ports[deal.port], self.memory.read(deal.line) is not None
        if not bogus and deal.opcode != "CleanEvict":
            self.memory.write(deal.line, data, enables, poison)
        if deal.opcode in _EVICTS:
            self._keep(deal.line, deal.port, "I")
        elif deal.opcode == "WrInv":
            port.go(deal.cqid, "I" if exists else "Err")
        elif deal.opcode in ("WOWrInv", "WOWrInvF"):
            port.say("h2d_rsp", {"opcode": "ExtCmp", "cqid": deal.cqid})
        self._end(deal)

    def _end(self, deal: _Deal) -> None:
        """The line is free for the next transaction."""
        deal.is_done = True
        if deal.done is not None:
            deal.done.set()
        waiting = self._deals.get(deal.line)
        if not waiting:
            return
        waiting.popleft()
        if waiting:
            self._start(waiting[0])
        else:
            del self._deals[deal.line]

    def _fail(self, error: BaseException) -> None:
        """A link cannot go on: nobody holds a copy, and every transaction is lost."""
        for waiting in list(self._deals.values()):
            for deal in waiting:
                deal.error, deal.is_done = error, True
                if deal.done is not None:
                    deal.done.set()
        self._deals.clear()
        self._held.clear()
