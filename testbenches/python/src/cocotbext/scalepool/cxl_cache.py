"""A caching device of CXL.cache as calls: `await dev.read_own(address)`. The host's side stands in `cxl_home`.

`CxlCacheDevice` stands on an active end of a link with credits and retry, as `CxlMemHost` does. The end judges what passes
(`transactions="cxl-cache"`): identifiers, kinds of answers, who may hold a copy, which bytes a read may bring, order. What the host does
wrong is an exception at the flit that brings it.

    >>> import asyncio
    >>> from cocotbext.scalepool import CxlHome, LineMemory, LinkPair
    >>> async def main():
    ...     async with LinkPair("cxl-256b", transactions="cxl-cache") as pair:
    ...         dev, home = CxlCacheDevice(pair.device), CxlHome(pair.host, memory=LineMemory(0x10000))
    ...         await dev.write(0x1004, b"abcd")
    ...         before = dev.state(0x1000), home.holders(0x1000)
    ...         await home.snoop_data(0x1000)
    ...         return before, dev.state(0x1000), await home.read(0x1004, 4)
    >>> asyncio.run(main())
    (('M', {0: 'E'}), 'S', b'abcd')

Modelled: the states I, S, E and M of a line, and what lies between them; all requests of CXL.cache but those for memory of the device
itself; every snoop, answered at once as the table of the sheet says (`coherence` §2.3, §2.4). At most one request of a line is open. Left
out: replacement: a line stays until it is evicted, flushed or snooped.

A walk through one write: `write` finds the line in I and asks RdOwn. GO-E comes: the line is E, its bytes are not there. The data comes: the
bytes of the write go into it before anybody else looks, and the line is M. A snoop that comes between GO and data takes the line away, and the
write asks again.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .cxl_mem import FAMILIES, HIGHEST_ADDRESS
from .errors import InputError, PoisonError, TransactionError
from .lines import LINE_BYTES, WHOLE_LINE, check_mask, check_range, pieces
from .model import Event
from .stepped import SteppedLink, Waitable
from .verbs import Form, OpenRequest, Requester, Wanted, error_of, number_of

CACHE_RULES = ("TXN-", "COH-")
"""Rules that an end with `transactions="cxl-cache"` judges."""

GO_STATES = {1: "S", 2: "E", 3: "I", 4: "Err", 6: "M"}
"""States in RspData of a GO (`coherence` §1)."""

PULLS = ("WritePull", "GO_WritePull", "Fast_GO_WritePull", "GO_ERR_WritePull")
"""Answers that ask for the data of a write; RspData of them is a UQID."""

WRITES = ("WrInv", "WOWrInv", "WOWrInvF", "ItoMWr", "WrCur")
"""Requests that bring bytes to the host and leave no copy."""

# Where a write takes its last answer from: the others end with the pull.
_ENDS_BEHIND_DATA = {"WrInv": "GO", "WOWrInv": "ExtCmp", "WOWrInvF": "ExtCmp"}
_WHOLE_WRITES = ("WOWrInvF", "ItoMWr", "WrCur")
_CQIDS = 1 << 12

# By state and snoop: the answer, the state behind it, and whether the line goes with it (`coherence` §2.3, the default of each cell).
_SNOOPED = {
    ("I", "SnpData"): ("RspIHitI", "I", False),
    ("I", "SnpInv"): ("RspIHitI", "I", False),
    ("I", "SnpCur"): ("RspIHitI", "I", False),
    ("S", "SnpData"): ("RspSHitSE", "S", False),
    ("S", "SnpInv"): ("RspIHitSE", "I", False),
    ("S", "SnpCur"): ("RspVHitV", "S", False),
    ("E", "SnpData"): ("RspSHitSE", "S", False),
    ("E", "SnpInv"): ("RspIHitSE", "I", False),
    ("E", "SnpCur"): ("RspVHitV", "E", False),
    ("M", "SnpData"): ("RspSFwdM", "S", True),
    ("M", "SnpInv"): ("RspIFwdM", "I", True),
    ("M", "SnpCur"): ("RspVFwdV", "M", True),
}

# States from which a request may be made, but for those that begin in I (`coherence` §2.2).
_STARTS = {"RdOwnNoData": "S", "CleanEvict": "E", "CleanEvictNoData": "SE", "DirtyEvict": "M"}

_Store = Callable[[bytes], bytes]


def _store_of(new: Mapping[int, int]) -> _Store:
    """Writes bytes of a line by their places in it."""
    return lambda old: bytes(new.get(n, byte) for n, byte in enumerate(old))


@dataclass
class _Line:
    """A line of the cache. Between a GO and its data it has the state that was granted and no bytes."""

    state: str = "I"
    data: bytes | None = None
    poison: bool = False
    request: OpenRequest | None = None
    opcode: str = ""
    has_go: bool = False
    # What a read brings, before the GO says what may be done with it.
    early: tuple[bytes, bool] | None = None
    # UQIDs of snoops whose line goes when it is there.
    owed: list[int] = field(default_factory=list)
    # What a write brings to the host, with its byte enables.
    written: tuple[bytes, int, bool] | None = None
    # Bytes that go into the line before anybody else sees it.
    store: _Store | None = None
    waiting: deque[Waitable] = field(default_factory=deque)


class CxlCacheDevice(Requester):
    """A caching device of CXL.cache on one end of a link: `await dev.read_own(address)`.

    `outstanding` is the highest number of requests that are open at a time; each has its own CQID, from 0 on. `cache_id` is what a switch
    would fill in. Several calls may wait at a time; those for one line take turns. What the host does wrong raises `TransactionError`
    in the call that it concerns, or, where it concerns none, in all that wait and in the task that steps the link. An answer that does not
    come raises `AnswerTimeoutError` behind `answer_flits` flit clocks, if the end was made with that key.

    Snoops are answered by themselves; `snooped` counts them. For a device that is wrong on purpose, override `answer_snoop`.
    """

    _families = FAMILIES
    _protocols = "CXL"
    _transactions = "cxl-cache"
    _layouts_taken = ("h2d_req", "h2d_rsp", "h2d_data")
    _tag = "cqid"
    rules_judged = CACHE_RULES

    def __init__(self, link: SteppedLink, *, outstanding: int = 64, cache_id: int = 0) -> None:
        if not 0 <= cache_id <= 15:
            raise InputError(f"cache_id: found {cache_id}, expected 0 to 15")
        self.cache_id = cache_id
        self.snooped = 0
        self._lines: dict[int, _Line] = {}
        super().__init__(link, outstanding, _CQIDS)

    def state(self, address: int) -> str:
        """Returns the state of the line of an address: `I`, `S`, `E` or `M`."""
        line = self._lines.get(address & -LINE_BYTES)
        return "I" if line is None else line.state

    def cached(self) -> dict[int, str]:
        """Returns the address and state of every line that is held."""
        return {address: line.state for address, line in sorted(self._lines.items()) if line.state != "I"}

    async def read_shared(self, address: int) -> bytes:
        """Returns the line of an address, and keeps a copy in S if it had none (RdShared)."""
        return await self._copy(address, "RdShared")

    async def read_any(self, address: int) -> bytes:
        """Returns the line of an address, and keeps a copy in the state that the host grants if it had none (RdAny)."""
        return await self._copy(address, "RdAny")

    async def read_current(self, address: int) -> bytes:
        """Returns the line of an address, and keeps no copy of it (RdCurr)."""
        return await self._copy(address, "RdCurr")

    async def read_own(self, address: int) -> bytes:
        """Returns the line of an address, and holds it in E or M: RdOwn, or RdOwnNoData where there is a copy in S. A snoop may take the
        line away before the caller goes on."""
        return await self._own(address, None)

    async def read(self, address: int, size: int = LINE_BYTES) -> bytes:
        """Reads bytes from an address on, each line as `read_shared` does."""
        check_range(address, size, HIGHEST_ADDRESS)
        found = b""
        for line, first, end in pieces(address, size, LINE_BYTES):
            found += (await self.read_shared(line))[first:end]
        return found

    async def write(self, address: int, data: bytes, mask: bytes | None = None) -> None:
        """Writes bytes from an address on into the cache: each line is M behind it. `mask` has a byte for each byte of `data`: 0
        leaves the byte as it is."""
        data = bytes(data)
        check_range(address, len(data), HIGHEST_ADDRESS)
        chosen = check_mask(data, mask)
        for line, first, end in pieces(address, len(data), LINE_BYTES):
            at = line - address
            await self._own(line, _store_of({n: data[at + n] for n in range(first, end) if chosen[at + n]}))

    async def write_through(
        self, address: int, data: bytes, mask: bytes | None = None, *, opcode: str = "WrInv", poison: bool = False
    ) -> None:
        """Writes bytes from an address on to the host, and keeps no copy: WrInv, WOWrInv, WOWrInvF, ItoMWr or WrCur. Those of whole lines
        refuse a range or a mask that leaves bytes out. Returns when the last answer has come and the data is queued."""
        data = bytes(data)
        check_range(address, len(data), HIGHEST_ADDRESS)
        if opcode not in WRITES:
            raise InputError(f"opcode: found {opcode!r}, expected one of {', '.join(WRITES)}")
        chosen = check_mask(data, mask)
        requests: list[tuple[int, bytes, int]] = []
        for line, first, end in pieces(address, len(data), LINE_BYTES):
            at = line - address
            enables = sum(1 << n for n in range(first, end) if chosen[at + n])
            if opcode in _WHOLE_WRITES and enables != WHOLE_LINE:
                raise InputError(f"line {line:#x}: found byte enables {enables:#x}, expected a whole line for {opcode}")
            if opcode == "WOWrInv" and enables == WHOLE_LINE:
                raise InputError(f"line {line:#x}: found a whole line, expected a part of one for WOWrInv")
            requests.append((line, bytes(first) + data[at + first : at + end] + bytes(LINE_BYTES - end), enables))
        for line, of_line, enables in requests:
            await self._in_turn(line)
            try:
                await self._give_up(line, False)
                self._lines[line].written = of_line, enables, poison
                await self._ask(line, opcode)
            finally:
                self._next(line)

    async def evict(self, address: int, *, with_data: bool = True) -> None:
        """Gives up the copy of the line of an address, if there is one: DirtyEvict for M, CleanEvict for E, CleanEvictNoData for S, and
        for E without `with_data`."""
        line = self._line_of(address)
        await self._in_turn(line)
        try:
            await self._give_up(line, with_data)
        finally:
            self._next(line)

    async def flush(self, address: int) -> None:
        """Has the host write the line of an address back and take it from everybody (CLFlush); this device's own copy is evicted first."""
        line = self._line_of(address)
        await self._in_turn(line)
        try:
            await self._give_up(line, True)
            await self._ask(line, "CLFlush")
        finally:
            self._next(line)

    async def flush_all(self) -> None:
        """Evicts every line, and tells the host that nothing is cached any more (CacheFlushed). Raises `InputError` while another
        call is open."""
        if self._open:
            raise InputError(f"flush_all: found {len(self._open)} open requests, expected none")
        for line in self.cached():
            await self.evict(line)
        await self._in_turn(0)
        try:
            await self._ask(0, "CacheFlushed")
        finally:
            self._next(0)

    def answer_snoop(self, snoop: str, state: str) -> tuple[str, str, bool]:
        """Returns what answers a snoop in a state: the D2H Rsp, the state behind it, and whether the line goes with it."""
        return _SNOOPED[state, snoop]

    def _line_of(self, address: int) -> int:
        check_range(address, 1, HIGHEST_ADDRESS)
        return address & -LINE_BYTES

    async def _in_turn(self, line: int) -> None:
        """Waits until no other call uses the line."""
        of = self._lines.get(line)
        if of is None:
            self._lines[line] = _Line(waiting=deque([self.link.event()]))
            return
        turn = self.link.event()
        of.waiting.append(turn)
        try:
            if of.waiting[0] is not turn:
                await turn.wait()
            # A call that was called off leaves its request open.
            while of.request is not None and not of.request.is_done:
                await of.request.done.wait()
        except BaseException:
            if of.waiting[0] is turn:
                self._next(line)
            else:
                of.waiting.remove(turn)
            raise
        of.request = None

    def _next(self, line: int) -> None:
        """The line is free for the next call."""
        of = self._lines[line]
        of.waiting.popleft()
        if of.waiting:
            of.waiting[0].set()
        elif of.state == "I" and (of.request is None or of.request.is_done):
            del self._lines[line]

    async def _copy(self, address: int, opcode: str) -> bytes:
        line = self._line_of(address)
        await self._in_turn(line)
        try:
            of = self._lines[line]
            if of.state != "I" and of.data is not None:
                return self._good(line, of.data, of.poison)
            return await self._ask(line, opcode)
        finally:
            self._next(line)

    async def _own(self, address: int, store: _Store | None) -> bytes:
        """Holds a line in E or M; the bytes of a store go in at the moment at which it does."""
        line = self._line_of(address)
        await self._in_turn(line)
        of = self._lines[line]
        try:
            done: list[bytes] = []

            def stored(old: bytes) -> bytes:
                done.append(old)
                return old if store is None else store(old)

            of.store = stored
            while not done:
                if of.state in ("E", "M"):
                    self._put(of)
                elif of.state == "S":
                    await self._ask(line, "RdOwnNoData")
                    if of.state == "E" and of.data is None:
                        # The copy was lost meanwhile: ownership without bytes is no use.
                        await self._ask(line, "CleanEvictNoData")
                else:
                    await self._ask(line, "RdOwn")
            return done[0]
        finally:
            of.store = None
            self._next(line)

    def _put(self, of: _Line) -> None:
        """Carries out the store that waits for a line in E or M."""
        if of.store is None or of.data is None:
            return
        data = of.store(of.data)
        of.store = None
        if data != of.data:
            of.state = "M"
        of.data = data

    async def _give_up(self, line: int, with_data: bool) -> None:
        of = self._lines[line]
        while of.state != "I":
            if of.state == "M":
                await self._ask(line, "DirtyEvict")
                continue
            await self._ask(line, "CleanEvict" if of.state == "E" and with_data else "CleanEvictNoData")

    def _good(self, line: int, data: bytes, poison: bool, tag: int | None = None) -> bytes:
        if poison:
            raise PoisonError(f"line {line:#x}: found poisoned data, expected good data", tag, line, self.link.received - 1)
        return data

    async def _ask(self, line: int, opcode: str) -> bytes:
        """Makes a request, if the line still is in a state for it, and waits for its end; returns the data of a read."""
        of = self._lines[line]
        await self._room(line)
        if of.state not in _STARTS.get(opcode, "I"):
            # A snoop was faster; the caller looks again.
            return b""
        of.opcode, of.has_go, of.early = opcode, False, None
        request = await self._begin(Wanted(line, "d2h_req", {"opcode": opcode, "address": line}))
        of.request = None if request.is_done else request
        while not request.is_done:
            await request.done.wait()
        of.request = None
        if request.error is not None:
            raise request.error
        return self._good(line, request.data or b"", request.poison, request.tag)

    def _own_fields(self) -> Mapping[str, int | str]:
        return {"cache_id": self.cache_id} if self._layouts == "cxl256" else {}

    def _message(self, form: Form) -> None:
        if self._layout_of(form) == "h2d_req":
            fields = self._fields_of(form)
            self._snoop(number_of(fields["address"]) & -LINE_BYTES, str(fields["opcode"]), fields["uqid"])
        else:
            super()._message(form)

    def _snoop(self, line: int, snoop: str, uqid: int) -> None:
        self.snooped += 1
        of = self._lines.get(line, _Line())
        answer, behind, forwards = self.answer_snoop(snoop, of.state)
        of.state = behind
        self._send(self._form("d2h_rsp", {"opcode": answer, "uqid": uqid}))
        if forwards and of.data is None and of.request is not None:
            of.owed.append(uqid)
        elif forwards:
            self._bring(uqid, of.data or bytes(LINE_BYTES), poison=of.poison)
        if of.state == "I" and of.request is None and not of.waiting:
            self._lines.pop(line, None)

    def _bring(self, uqid: int, data: bytes, enables: int = WHOLE_LINE, *, bogus: bool = False, poison: bool = False) -> None:
        """Queues D2H Data."""
        fields: dict[str, int | str] = {"uqid": uqid, "bogus": int(bogus), "poison": int(poison)}
        more: Form = {"data": data.hex()}
        if enables != WHOLE_LINE:
            more["be"] = enables
            if self._layouts != "cxl68":
                # A trailer with the byte enables follows the data.
                fields["bep"] = 1
        self._send(self._form("d2h_data", fields, **more))

    def _answer(self, request: OpenRequest, form: Form) -> None:
        of, fields = self._lines[request.address], self._fields_of(form)
        if self._layout_of(form) == "h2d_data":
            self._data(request, of, form)
        elif fields["opcode"] in PULLS:
            self._pulled(request, of, str(fields["opcode"]), fields["rsp_data"])
        else:
            state = GO_STATES.get(fields["rsp_data"] & 15, "I") if fields["opcode"] == "GO" else "I"
            self._granted(request, of, str(fields["opcode"]), state)

    def _data(self, request: OpenRequest, of: _Line, form: Form) -> None:
        """H2D Data of a read, whole or a half of it."""
        data, fields = bytes.fromhex(form["data"]), self._fields_of(form)
        if "half" in form:
            half = LINE_BYTES // 2
            low = form["half"] == "lower"
            request.parts[0 if low else 1] = data[:half] if low else data[half:]
            if len(request.parts) < 2:
                return
            data = request.parts[0] + request.parts[1]
        if fields["go_err"] and of.opcode == "RdCurr":
            self._end(request, error=self._refusal(request, "go_err in H2D Data"))
            return
        of.early = data, bool(fields["poison"])
        self._fill(request, of)

    def _granted(self, request: OpenRequest, of: _Line, opcode: str, state: str) -> None:
        """A GO without a pull, ExtCmp, or GO_WritePull_Drop."""
        if of.opcode in _ENDS_BEHIND_DATA:
            of.has_go = True
            if state == "Err":
                self._end(request, error=self._refusal(request, "GO-Err"))
            elif of.written is None:
                self._end(request)
            return
        if of.opcode == "RdOwnNoData":
            # A copy that was lost meanwhile has no bytes.
            if of.state != "S":
                of.data = None
            of.state = "E" if state == "E" else "I"
            self._put(of)
        elif of.opcode in ("RdShared", "RdAny", "RdOwn"):
            of.has_go = True
            of.data = None
            of.state = state if state in ("S", "E", "M") else "I"
            request.error = self._refusal(request, f"GO-{state}") if state in ("I", "Err") else None
            self._fill(request, of)
            return
        else:
            of.state = "I"
        self._end(request, error=self._refusal(request, "GO-Err") if state == "Err" else None)

    def _fill(self, request: OpenRequest, of: _Line) -> None:
        """Ends a read that has its data and, but for RdCurr, its GO."""
        if of.early is None or not (of.has_go or of.opcode == "RdCurr"):
            return
        data, poison = of.early
        # A snoop may have taken the copy since its GO: the data is used once.
        if of.state != "I":
            of.data, of.poison = data, poison
            if of.state != "S":
                self._put(of)
        for uqid in of.owed:
            self._bring(uqid, of.data if of.state != "I" and of.data is not None else data, poison=poison)
        of.owed.clear()
        request.poison = poison
        self._end(request, data, request.error)

    def _pulled(self, request: OpenRequest, of: _Line, opcode: str, uqid: int) -> None:
        error = self._refusal(request, opcode) if opcode == "GO_ERR_WritePull" else None
        if of.opcode in ("DirtyEvict", "CleanEvict"):
            # A snoop that has taken the right of the copy away makes its bytes worthless.
            bogus = of.state != ("M" if of.opcode == "DirtyEvict" else "E")
            self._bring(uqid, of.data or bytes(LINE_BYTES), bogus=bogus, poison=of.poison)
            of.state, of.data = "I", None
            self._end(request, error=error)
            return
        data, enables, poison = of.written or (bytes(LINE_BYTES), WHOLE_LINE, False)
        self._bring(uqid, data, enables, poison=poison)
        of.written = None
        if of.opcode not in _ENDS_BEHIND_DATA or of.has_go:
            self._end(request, error=error)
        else:
            request.error = error

    def _end(self, request: OpenRequest, data: bytes | None = None, error: BaseException | None = None) -> None:
        self._close(request)
        request.finish(data, error if error is not None else request.error)

    def _refusal(self, request: OpenRequest, found: str) -> TransactionError:
        text = f"{self._where(request)}: found {found}, expected no error"
        return TransactionError(text, request.tag, request.address, self.link.received - 1)

    def _is_last(self, form: Form) -> bool:
        # A request has several answers; the CQID of one that has failed here is not used again.
        return False

    def _broken(self, event: Event, form: Form | None = None) -> None:
        rule, at = event.violation.rule, event.violation.at
        if rule.startswith("COH-") and at.startswith("line "):
            of = self._lines.get(int(at.removeprefix("line "), 0))
            if of is not None and of.request is not None:
                request = of.request
                of.request = None
                # Whether more answers come, nobody knows.
                self._close(request, answered=False)
                request.finish(error=error_of(event))
                return
        super()._broken(event, form)

    def _fail(self, error: BaseException) -> None:
        super()._fail(error)
        # Behind a reset nobody holds a copy.
        for line, of in list(self._lines.items()):
            of.state, of.data, of.request = "I", None, None
            of.owed.clear()
            if not of.waiting:
                del self._lines[line]
