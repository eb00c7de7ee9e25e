"""Both ends of CXL.mem as calls: `CxlMemHost` reads and writes memory through a link, `CxlMemDevice` is the memory.

They stand on an active end of a link with credits and retry: a `LinkPartner` beside a design in cocotb, or an end of a `LinkPair`
without a simulator. The end judges what passes (`transactions="hdm-h"`), so a tag that nobody gave, a doubled answer, an answer of
the wrong kind or other data than was written is an exception at the flit that brings it, with tag, address and flit.

    >>> import asyncio
    >>> from cocotbext.scalepool import LinkPair
    >>> async def main():
    ...     async with LinkPair("cxl-256b", transactions="hdm-h", all_writers_seen=True) as pair:
    ...         host, device = CxlMemHost(pair.host, outstanding=8), CxlMemDevice(pair.device, LineMemory(0x10000), latency=20)
    ...         await host.write(0x1000, bytes(range(256)))
    ...         return await host.read(0x10FC, 4), device.served
    >>> asyncio.run(main())
    (b'\\xfc\\xfd\\xfe\\xff', 5)

Modelled: memory of the kind HDM-H, which the host alone caches. A request is a line of 64 bytes; longer ranges are many requests,
as many at a time as the host may have outstanding. Left out: caches of the host, snoops, metadata.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from .errors import AnswerTimeoutError, InputError, KindError, NoMemoryError, PoisonError, TransactionError
from .model import Event
from .stepped import SteppedLink, Waitable

LINE_BYTES = 64
"""Bytes of a line: one request of CXL.mem."""

_FAMILIES = {"cxl-68b": "cxl68", "cxl-256b": "cxl256", "cxl-256b-lopt": "cxl256", "cxl-256b-pbr": "cxlpbr"}
_WHOLE_LINE = (1 << LINE_BYTES) - 1
_LATE = "TXN-END-02"
# Broken by an answer that ends its request.
_ANSWERED = ("TXN-DAT-01", "TXN-DAT-02", "TXN-ANS-03")
_HIGHEST_ADDRESS = 1 << 52

Form = dict[str, Any]
"""A message of a link end, as `LinkEnd.send` takes it and `LinkEnd.take` returns it."""


def _family(link: SteppedLink) -> str:
    """Returns the family of the layouts of a link. Raises `KindError` for an end that cannot carry transactions."""
    state = link.end.state()
    family = _FAMILIES.get(state["protocol"])
    if family is None or state["passive"]:
        found = f"{'a passive' if state['passive'] else 'an active'} end of {state['protocol']}"
        raise KindError(f"link: found {found}, expected an active end of CXL")
    if state["transactions"] != "hdm-h":
        raise KindError(f"link: found transactions={state['transactions']!r}, expected an end made with transactions=\"hdm-h\"")
    return family


@dataclass
class _Request:
    """A request that is open."""

    tag: int
    address: int
    done: Waitable
    data: bytes | None = None
    half: bytes | None = None
    error: BaseException | None = None
    is_done: bool = False

    def finish(self, data: bytes | None = None, error: BaseException | None = None) -> None:
        self.data, self.error, self.is_done = data, error, True
        self.done.set()


class _Agent:
    """What host and device have in common: messages are taken behind each flit clock, and each is judged by itself."""

    _layouts_taken: tuple[str, ...] = ()

    def __init__(self, link: SteppedLink) -> None:
        self.link = link
        self._layouts = _family(link)
        self._seen = len(link.events)
        link.on_step.append(self._on_step)
        link.on_error.append(self._fail)

    def _form(self, layout: str, fields: Mapping[str, int | str], **more: object) -> Form:
        return {"layout": f"{self._layouts}.{layout}", "fields": dict(fields), **more}

    def _fresh(self, by: str = "peer") -> list[Event]:
        """Returns the transactions that the other end, or this one, has broken since the last call."""
        self.link.collect()
        fresh = self.link.events[self._seen :]
        self._seen = len(self.link.events)
        return [event for event in fresh if event.by == by and event.violation.rule.startswith("TXN-")]

    def _on_step(self) -> None:
        for event in self._fresh():
            self._broken(event)
        while (form := self.link.end.take()) is not None:
            broken = self._fresh()
            if broken:
                self._broken(broken[0])
                continue
            layout = form["layout"].split(".")[1]
            if layout not in self._layouts_taken:
                raise KindError(f"flit {self.link.received - 1}: found {form['layout']}, expected one of {self._layouts_taken}")
            self._message(form)

    def _send(self, form: Form) -> None:
        """Queues a message; what is wrong with it is an exception here."""
        self.link.end.send(form)
        for event in self._fresh("end"):
            raise _error(event)

    def _broken(self, event: Event) -> None:
        raise _error(event)

    def _message(self, form: Form) -> None:
        raise NotImplementedError

    def _fail(self, error: BaseException) -> None:
        """The link cannot go on."""


def _error(event: Event) -> TransactionError:
    """Returns the exception of a broken rule."""
    at = event.violation.at
    address = int(at.removeprefix("line "), 0) if at.startswith("line ") else None
    kind = AnswerTimeoutError if event.violation.rule == _LATE else TransactionError
    return kind(str(event.violation), event.tag, address, event.unit, event.violation)


def _number(value: int | str) -> int:
    """Returns a number of a form: one above 2^53 is spelled in hex."""
    return value if isinstance(value, int) else int(value, 0)


def _check_range(address: int, size: int) -> None:
    if not isinstance(address, int) or not isinstance(size, int):
        raise TypeError(f"found address {address!r} and size {size!r}, expected two numbers")
    if size < 1 or address < 0 or address + size > _HIGHEST_ADDRESS:
        raise InputError(f"found {size} bytes at {address:#x}, expected at least 1 byte below {_HIGHEST_ADDRESS:#x}")


def _lines(address: int, size: int) -> Iterable[tuple[int, int, int]]:
    """Yields the lines of a range: the address of the line, and the first byte in it and the one behind the last."""
    end = address + size
    for line in range(address - address % LINE_BYTES, end, LINE_BYTES):
        yield line, max(address - line, 0), min(end - line, LINE_BYTES)


class CxlMemHost(_Agent):
    """A host of CXL.mem on one end of a link: `await host.read(address, 64)`.

    `outstanding` is the highest number of requests that are open at a time; each has its own tag, from 0 on. `ld_id` is the
    logical device that all of them go to. Several calls may wait at a time. An answer that breaks a rule raises
    `TransactionError` in the call whose request it concerns, or, where no request does, in all that wait and in the task that
    steps the link. An answer that does not come raises `AnswerTimeoutError` behind `answer_flits` flit clocks, if the end was
    made with that key. The tag of a request that has failed is used again once its answer has come after all.
    """

    _layouts_taken = ("s2m_ndr", "s2m_drs")

    def __init__(self, link: SteppedLink, *, outstanding: int = 64, ld_id: int = 0) -> None:
        if not 1 <= outstanding <= 1 << 16:
            raise InputError(f"outstanding: found {outstanding}, expected 1 to 65536")
        if not 0 <= ld_id <= 15:
            raise InputError(f"ld_id: found {ld_id}, expected 0 to 15")
        super().__init__(link)
        self.ld_id = ld_id
        self._free = deque(range(outstanding))
        self._open: dict[int, _Request] = {}
        self._lost: set[int] = set()
        self._waiting: deque[Waitable] = deque()
        self._failed: BaseException | None = None

    def outstanding(self) -> int:
        """Returns the number of requests that are open."""
        return len(self._open)

    async def read(self, address: int, size: int = LINE_BYTES) -> bytes:
        """Reads bytes from an address on. Raises `PoisonError` if a line is poisoned, and `NoMemoryError` if the device
        says that no memory is there."""
        _check_range(address, size)
        fields = {"opcode": "MemRd", "meta_field": "NoOp"}
        parts = list(_lines(address, size))
        lines = await self._all([(line, "m2s_req", fields, {}) for line, _, _ in parts])
        return b"".join((data or b"")[first:end] for (_, first, end), data in zip(parts, lines, strict=True))

    async def write(self, address: int, data: bytes, mask: bytes | None = None, *, poison: bool = False) -> None:
        """Writes bytes from an address on, and returns when all of them are visible. `mask` has a byte for each byte of `data`:
        0 leaves the byte in memory as it is. With `poison` the lines are written as known to be wrong."""
        data = bytes(data)
        _check_range(address, len(data))
        if mask is not None and len(mask) != len(data):
            raise InputError(f"mask: found {len(mask)} bytes, expected {len(data)} as in the data")
        requests: list[tuple[int, str, dict[str, int | str], Form]] = []
        for line, first, end in _lines(address, len(data)):
            begin = line + first - address
            part = data[begin : begin + end - first]
            chosen = bytes([1]) * len(part) if mask is None else mask[begin : begin + end - first]
            enables = sum(1 << first + n for n, byte in enumerate(chosen) if byte)
            if enables == 0:
                continue
            whole = enables == _WHOLE_LINE
            fields: dict[str, int | str] = {"opcode": "MemWr" if whole else "MemWrPtl", "meta_value": "Any"}
            fields["poison"] = int(poison)
            more: Form = {"data": (bytes(first) + part + bytes(LINE_BYTES - end)).hex()}
            if not whole:
                more["be"] = enables
                if self._layouts != "cxl68":
                    # A trailer with the byte enables follows the data.
                    fields["trp"] = 1
            requests.append((line, "m2s_rwd", fields, more))
        await self._all(requests)

    async def invalidate(self, address: int, size: int = LINE_BYTES) -> None:
        """Asks the device for each line of a range, without its data (MemInv)."""
        _check_range(address, size)
        fields = {"opcode": "MemInv", "meta_field": "NoOp"}
        await self._all([(line, "m2s_req", fields, {}) for line, _, _ in _lines(address, size)])

    async def _all(self, requests: Iterable[tuple[int, str, Mapping[str, int | str], Form]]) -> list[bytes | None]:
        """Makes requests, as many at a time as may be outstanding, and returns their data."""
        begun: list[_Request] = []
        for line, layout, fields, more in requests:
            begun.append(await self._begin(line, layout, fields, more))
        for request in begun:
            while not request.is_done:
                await request.done.wait()
        for request in begun:
            if request.error is not None:
                raise request.error
        return [request.data for request in begun]

    async def _begin(self, address: int, layout: str, fields: Mapping[str, int | str], more: Form) -> _Request:
        while not self._free and self._failed is None:
            if not self._open:
                self._wake()
                lost = ", ".join(f"{tag:#x}" for tag in sorted(self._lost))
                raise TransactionError(f"tags {lost}: found no answer to any, expected a free one", None, address, None)
            turn = self.link.event()
            self._waiting.append(turn)
            await turn.wait()
        if self._failed is not None:
            raise self._failed
        tag = self._free.popleft()
        request = _Request(tag, address, self.link.event())
        more_fields = {"address": address, "tag": tag}
        if self._layouts != "cxlpbr":
            more_fields["ld_id"] = self.ld_id
        self._open[tag] = request
        try:
            self._send(self._form(layout, {**fields, **more_fields}, **more))
        except BaseException:
            self._close(request)
            raise
        return request

    def _wake(self) -> None:
        if self._waiting:
            self._waiting.popleft().set()

    def _close(self, request: _Request, *, answered: bool = True) -> None:
        self._open.pop(request.tag, None)
        if answered:
            self._free.append(request.tag)
        else:
            self._lost.add(request.tag)
        self._wake()

    def _on_step(self) -> None:
        # A link that was reset goes on.
        self._failed = None
        super()._on_step()

    def _message(self, form: Form) -> None:
        fields = form["fields"]
        tag, flit = fields["tag"], self.link.received - 1
        request = self._open.get(tag)
        if request is None:
            # The end has judged it: it answers a request that has failed here.
            self._lost.discard(tag)
            self._free.append(tag)
            self._wake()
            return
        data = bytes.fromhex(form["data"]) if "data" in form else None
        if "half" in form and data is not None:
            # The first half is the one that the address names, here always the lower one.
            data = data[: LINE_BYTES // 2] if form["half"] == "lower" else data[LINE_BYTES // 2 :]
            if request.half is None:
                request.half = data
                return
            data = request.half + data
        self._close(request)
        where = f"line {request.address:#x}, tag {tag:#x}, flit {flit}"
        if fields.get("opcode") == "MemDataNXM":
            text = f"{where}: found MemDataNXM, expected memory at this address"
            request.finish(error=NoMemoryError(text, tag, request.address, flit))
        elif fields.get("poison"):
            text = f"{where}: found poisoned data, expected good data"
            request.finish(error=PoisonError(text, tag, request.address, flit))
        else:
            request.finish(data)

    def _broken(self, event: Event) -> None:
        error = _error(event)
        request = self._open.get(error.tag) if error.tag is not None else None
        if request is None:
            raise error
        # Other data than was written ends the request all the same.
        self._close(request, answered=error.rule in _ANSWERED)
        request.finish(error=error)

    def _fail(self, error: BaseException) -> None:
        self._failed = error
        for request in list(self._open.values()):
            self._close(request)
            request.finish(error=error)
        self._free.extend(self._lost)
        self._lost.clear()
        while self._waiting:
            self._wake()


class CxlMemory(Protocol):
    """The bytes behind a `CxlMemDevice`, line by line."""

    def read(self, address: int) -> tuple[bytes, bool] | None:
        """Returns the 64 bytes of a line and whether they are poisoned, or None where no memory is."""

    def write(self, address: int, data: bytes, enables: int, poison: bool) -> None:
        """Writes the bytes of a line for which `enables` has a 1, bit n for byte n."""


@dataclass
class LineMemory:
    """Memory of `size` bytes (None: everywhere), 0 until it is written. A line is poisoned by a poisoned write, until all of it is
    written anew."""

    size: int | None = None
    lines: dict[int, bytes] = field(default_factory=dict)
    poisoned: set[int] = field(default_factory=set)

    def read(self, address: int) -> tuple[bytes, bool] | None:
        """Returns the 64 bytes of a line and whether they are poisoned, or None where no memory is."""
        if self.size is not None and address >= self.size:
            return None
        return self.lines.get(address, bytes(LINE_BYTES)), address in self.poisoned

    def write(self, address: int, data: bytes, enables: int, poison: bool) -> None:
        """Writes the bytes of a line for which `enables` has a 1, bit n for byte n; nothing where no memory is."""
        if self.size is not None and address >= self.size:
            return
        line = bytearray(self.lines.get(address, bytes(LINE_BYTES)))
        for n in range(LINE_BYTES):
            if enables >> n & 1:
                line[n] = data[n]
        self.lines[address] = bytes(line)
        if poison:
            self.poisoned.add(address)
        elif enables == _WHOLE_LINE:
            self.poisoned.discard(address)


class CxlMemDevice(_Agent):
    """A memory of CXL.mem on one end of a link. It answers requests in their order, `latency` flit clocks behind each.

    `memory` is a `LineMemory`, or anything of yours with `read` and `write` of a line. `served` counts requests. A request that breaks a
    rule raises `TransactionError` in the task that steps the link. For a device that is wrong on purpose, override `answers`.
    """

    _layouts_taken = ("m2s_req", "m2s_rwd")

    def __init__(self, link: SteppedLink, memory: CxlMemory | None = None, *, latency: int = 0) -> None:
        if latency < 0:
            raise InputError(f"latency: found {latency}, expected 0 or more flit clocks")
        super().__init__(link)
        self.memory: CxlMemory = LineMemory() if memory is None else memory
        self.latency = latency
        self.served = 0
        self._clock = 0
        self._answers: deque[tuple[int, Form]] = deque()

    def answers(self, request: Form) -> list[Form]:
        """Carries out a request and returns the messages that answer it."""
        fields = request["fields"]
        opcode, address, tag = fields["opcode"], fields["address"] & -LINE_BYTES, fields["tag"]
        common: dict[str, int | str] = {"tag": tag, "meta_field": "NoOp"}
        if "ld_id" in fields:
            common["ld_id"] = fields["ld_id"]
        if "spid" in fields:
            common["dpid"] = fields["spid"]
        if opcode in ("MemRd", "MemRdData", "MemRdFill"):
            found = self.memory.read(address)
            # Where no memory is, the bytes are ones; 68B flits have no code of their own for it, so there they are poisoned.
            has_code = self._layouts != "cxl68"
            data, poison = found if found is not None else (b"\xff" * LINE_BYTES, not has_code)
            kind = "MemDataNXM" if found is None and has_code else "MemData"
            return [self._form("s2m_drs", {**common, "opcode": kind, "poison": int(poison)}, data=data.hex())]
        if opcode in ("MemWr", "MemWrPtl"):
            enables = _number(request.get("be", _WHOLE_LINE)) if opcode == "MemWrPtl" else _WHOLE_LINE
            self.memory.write(address, bytes.fromhex(request["data"]), enables, bool(fields["poison"]))
        if opcode in ("MemWr", "MemWrPtl", "MemInv", "MemInvNT"):
            return [self._form("s2m_ndr", {**common, "opcode": "Cmp"})]
        return []

    def _on_step(self) -> None:
        self._clock += 1
        super()._on_step()
        while self._answers and self._answers[0][0] <= self._clock:
            self.link.end.send(self._answers.popleft()[1])

    def _message(self, form: Form) -> None:
        self.served += 1
        self._answers.extend((self._clock + self.latency, answer) for answer in self.answers(form))
