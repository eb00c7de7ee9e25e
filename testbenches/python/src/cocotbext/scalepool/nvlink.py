"""Both ends of transactions of the NVLink model as calls: `NvlRequester` reads and writes the memory of a GPU, `NvlCompleter` is that memory.

They stand on an active end of a link: an `NvlLinkPartner` beside a design in cocotb, or an end of a `LinkPair` without a simulator. An end
may have both. The end judges what passes (`transactions="nvlink"`), so a tag that nobody gave, a doubled response, one of the wrong kind or
size, or other data than was written is an exception at the flit that brings it.

    >>> import asyncio
    >>> from cocotbext.scalepool import LineMemory, LinkPair
    >>> async def main():
    ...     async with LinkPair("nvlink", transactions="nvlink", all_writers_seen=True) as pair:
    ...         requester, completer = NvlRequester(pair.host, requester=1), NvlCompleter(pair.device, LineMemory(), latency=5)
    ...         await requester.write(0x10F8, bytes(range(16)), posted=True)
    ...         await requester.flush()
    ...         return await requester.read(0x10FE, 4), completer.served
    >>> asyncio.run(main())
    (b'\\x06\\x07\\x08\\t', 5)

Modelled: READ, WRITE_NONPOSTED, WRITE_POSTED and FLUSH of profile NVL-M1 (`nvlink` §6.1), a request for each 256 bytes that a range
touches, rounded outwards to 16 bytes, or for each 128 where bytes are left out. Left out: atomics, reductions and multicast, of which a
completer answers those that have an answer with an error.
"""

from collections import deque
from collections.abc import Mapping

from .errors import InputError, NoMemoryError, PoisonError, TransactionError
from .lines import LINE_BYTES, LineMemory, MemoryLines, check_mask, check_range, pieces
from .model import Event
from .stepped import SteppedLink, Waitable
from .verbs import Completer, Form, OpenRequest, Requester, Wanted, number_of

_FAMILIES = {"nvlink": "nvlink"}
_HIGHEST_ADDRESS = 1 << 64
_TAGS = 1 << 10
# The number above is that of the link itself.
_REQUESTERS = (1 << 9) - 1
# Bits of an address below those that choose its target, and of the count of posted requests that FLUSH states from bit 4 on (`bridge` §6).
_LOCAL_BITS = 36
_COUNT_MASK = (1 << 32) - 1
UNIT_BYTES = 16
"""Bytes in which sizes of NVLink are counted: a flit of data."""
MOST_BYTES = 256
"""Bytes of data of a packet, at most (`nvlink` §1)."""
MOST_ENABLED_BYTES = 128
"""Bytes of data of a packet with byte enables, at most (`nvlink` §1)."""
# Codes of RSP_ERROR (`bridge` §8.1).
_ABORTED, _NO_MEMORY = 2, 3
# Broken by a request; the others are broken by responses.
_OF_REQUESTS = ("TXN-TAG-01",)


def _units(first: int, end: int) -> tuple[int, int]:
    """Returns the units around some bytes: where the first one begins, and where the last one ends."""
    return first - first % UNIT_BYTES, end + -end % UNIT_BYTES


class _Flat:
    """Messages of NVLink have no fields beside their operation: all stands in one object."""

    def _form(self, layout: str, fields: Mapping[str, int | str], **more: object) -> Form:
        return {"op": layout, **fields, **more}

    def _layout_of(self, form: Form) -> str:
        op: str = form["op"]
        return op

    def _fields_of(self, form: Form) -> Form:
        return form


class NvlRequester(_Flat, Requester):
    """A requester of NVLink on one end of a link: `await requester.read(address, 64)`.

    `requester` is its number. `outstanding` is the highest number of requests that are open at a time; each has its own tag, from 0
    on. An answer that breaks a rule raises `TransactionError` in the call whose request it concerns, or, where no request does, in all that
    wait and in the task that steps the link. An answer that does not come raises `AnswerTimeoutError` behind `answer_flits` flit clocks, if
    the end was made with that key. RSP_ERROR raises `NoMemoryError` where no memory is, and else `TransactionError` without a rule.
    """

    _families = _FAMILIES
    _protocols = "NVLink"
    _transactions = "nvlink"
    _layouts_taken = ("RSP_DATA", "RSP_DONE", "RSP_ERROR")

    def __init__(self, link: SteppedLink, *, requester: int, outstanding: int = 64) -> None:
        if not 0 <= requester < _REQUESTERS:
            raise InputError(f"requester: found {requester}, expected 0 to {_REQUESTERS - 1}")
        self.requester = requester
        # Posted writes since the link was asked how many messages wait, at least; the calls that wait for it.
        self._posted = 0
        self._most_posted = outstanding
        self._posting: deque[Waitable] = deque()
        # Posted writes by target: all, and those that the last FLUSH covers.
        self._posted_to: dict[int, int] = {}
        self._flushed_to: dict[int, int] = {}
        super().__init__(link, outstanding, _TAGS)

    async def read(self, address: int, size: int = LINE_BYTES) -> bytes:
        """Reads bytes from an address on. Raises `PoisonError` if a response is poisoned."""
        check_range(address, size, _HIGHEST_ADDRESS)
        parts = list(pieces(address, size, MOST_BYTES))
        wanted = []
        for block, first, end in parts:
            begin, behind = _units(first, end)
            fields = {"address": block + begin, "size": (behind - begin) // UNIT_BYTES - 1}
            wanted.append(Wanted(block + first, "READ", fields))
        found = []
        for (_, first, end), data in zip(parts, await self._all(wanted), strict=True):
            begin = first % UNIT_BYTES
            found.append((data or b"")[begin : begin + end - first])
        return b"".join(found)

    async def write(
        self, address: int, data: bytes, mask: bytes | None = None, *, poison: bool = False, posted: bool = False
    ) -> None:
        """Writes bytes from an address on, and returns when all of them are visible, or with `posted` when they are queued, of which
        at most `outstanding` wait for the link: `flush` waits for them. `mask` has a byte for each byte of `data`: 0 leaves the byte in memory as it is. With `poison` the packets are known to be
        wrong."""
        data = bytes(data)
        check_range(address, len(data), _HIGHEST_ADDRESS)
        chosen = check_mask(data, mask)
        begin, behind = _units(address, address + len(data))
        padded = bytes(address - begin) + data + bytes(behind - address - len(data))
        enables = bytes(address - begin) + bytes(map(bool, chosen)) + bytes(behind - address - len(data))
        ranges: list[tuple[int, int]] = []
        for block, first, end in pieces(begin, behind - begin, MOST_BYTES):
            whole = all(enables[block + first - begin : block + end - begin])
            unit = MOST_BYTES if whole else MOST_ENABLED_BYTES
            ranges += [(part + low, part + high) for part, low, high in pieces(block + first, end - first, unit)]
        wanted = []
        for low, high in ranges:
            of_part = enables[low - begin : high - begin]
            if not any(of_part):
                continue
            more: Form = {"data": padded[low - begin : high - begin].hex()}
            if not all(of_part):
                more["be"] = hex(sum(byte << n for n, byte in enumerate(of_part)))
            fields = {"address": low, "ep": int(poison)}
            wanted.append(Wanted(low, "WRITE_POSTED" if posted else "WRITE_NONPOSTED", fields, more))
        if not posted:
            await self._all(wanted)
            return
        for one in wanted:
            await self._room_to_post()
            target = one.address >> _LOCAL_BITS
            tag = self._posted_to.get(target, 0)
            self._posted_to[target] = tag + 1
            self._send(self._form(one.layout, {**one.fields, **self._own_fields(), "tag": tag % _TAGS}, **one.more))

    async def _room_to_post(self) -> None:
        """Waits while as many posted writes as may be outstanding wait to be sent. The link is asked behind as many of them only."""
        while self._posted >= self._most_posted and self._failed is None:
            self._posted = sum(self.link.end.state()["health"]["messages_waiting"].values())
            if self._posted >= self._most_posted:
                turn = self.link.event()
                self._posting.append(turn)
                await turn.wait()
        if self._failed is not None:
            raise self._failed
        self._posted += 1

    def _on_step(self) -> None:
        super()._on_step()
        self._wake_posting()

    def _fail(self, error: BaseException) -> None:
        super()._fail(error)
        self._posted = 0
        self._posted_to.clear()
        self._flushed_to.clear()
        self._wake_posting()

    def _wake_posting(self) -> None:
        while self._posting:
            self._posting.popleft().set()

    async def flush(self) -> None:
        """Waits until the posted writes of this requester are visible. FLUSH says how many there were, since it may overtake those that
        wait in their own channel."""
        due = [(target, count) for target, count in self._posted_to.items() if self._flushed_to.get(target) != count]
        self._flushed_to.update(due)
        addresses = [target << _LOCAL_BITS | (count & _COUNT_MASK) << 4 for target, count in due]
        await self._all([Wanted(address, "FLUSH", {"address": address}) for address in addresses])

    def _own_fields(self) -> Mapping[str, int | str]:
        return {"rid": self.requester}

    def concerns(self, event: Event) -> bool:
        """Whether a broken rule is about responses, which a requester takes."""
        return event.violation.rule not in _OF_REQUESTS

    def _answer(self, request: OpenRequest, form: Form) -> None:
        self._close(request)
        where, flit = self._where(request), self.link.received - 1
        if form["op"] == "RSP_ERROR" and form["size"] == _NO_MEMORY:
            text = f"{where}: found RSP_ERROR with code {_NO_MEMORY}, expected memory at this address"
            request.finish(error=NoMemoryError(text, request.tag, request.address, flit))
        elif form["op"] == "RSP_ERROR":
            text = f"{where}: found RSP_ERROR with code {form['size']}, expected no error"
            request.finish(error=TransactionError(text, request.tag, request.address, flit))
        elif form["ep"]:
            text = f"{where}: found poisoned data, expected good data"
            request.finish(error=PoisonError(text, request.tag, request.address, flit))
        else:
            request.finish(bytes.fromhex(form["data"]))


class NvlCompleter(_Flat, Completer):
    """The memory of a GPU on one end of a link. It answers requests in their order, `latency` flit clocks behind each.

    `memory` is a `LineMemory`, or anything of yours with `read` and `write` of a line. `served` counts requests. A request that breaks a rule
    raises `TransactionError` in the task that steps the link. For a completer that is wrong on purpose, override `answers`.
    """

    _families = _FAMILIES
    _protocols = "NVLink"
    _transactions = "nvlink"
    _layouts_taken = (
        "READ", "WRITE_POSTED", "WRITE_NONPOSTED", "ATOMIC_RETURN", "ATOMIC_POSTED", "FLUSH", "MULTICAST_WRITE", "REDUCE_READ"
    )

    def __init__(self, link: SteppedLink, memory: MemoryLines | None = None, *, latency: int = 0) -> None:
        super().__init__(link, latency)
        self.memory: MemoryLines = LineMemory() if memory is None else memory
        # Posted requests by requester, and each FLUSH that waits for some.
        self._came_from: dict[int, int] = {}
        self._flushes: list[Form] = []

    def answers(self, request: Form) -> list[Form]:
        """Carries out a request and returns the messages that answer it, and a FLUSH that has waited for it."""
        found = self._answers_of(request)
        if request["op"] in ("WRITE_POSTED", "ATOMIC_POSTED"):
            self._came_from[request["rid"]] = self._came_from.get(request["rid"], 0) + 1
        elif request["op"] == "FLUSH":
            self._flushes.append(request)
        due = [one for one in self._flushes if self._came_from.get(one["rid"], 0) >= number_of(one["address"]) >> 4 & _COUNT_MASK]
        self._flushes = [one for one in self._flushes if one not in due]
        return found + [self._response(one, "RSP_DONE") for one in due]

    def _forget(self) -> None:
        self._came_from.clear()
        self._flushes.clear()

    def _lose(self) -> None:
        super()._lose()
        self._forget()

    def _fail(self, error: BaseException) -> None:
        super()._fail(error)
        self._forget()

    def _answers_of(self, request: Form) -> list[Form]:
        op, address = request["op"], number_of(request["address"])
        if op == "READ":
            return [self._read(request, address, UNIT_BYTES * (request["size"] + 1))]
        if op in ("WRITE_POSTED", "WRITE_NONPOSTED"):
            data = bytes.fromhex(request["data"])
            parts = list(pieces(address, len(data), LINE_BYTES))
            if any(self.memory.read(line) is None for line, _, _ in parts):
                return [] if op == "WRITE_POSTED" else [self._response(request, "RSP_ERROR", size=_NO_MEMORY)]
            enabled = number_of(request.get("be", (1 << len(data)) - 1))
            for line, first, end in parts:
                at = line + first - address
                enables = (enabled >> at & (1 << end - first) - 1) << first
                part = bytes(first) + data[at : at + end - first] + bytes(LINE_BYTES - end)
                self.memory.write(line, part, enables, bool(request["ep"]))
        if op == "WRITE_NONPOSTED":
            return [self._response(request, "RSP_DONE")]
        return [self._response(request, "RSP_ERROR", size=_ABORTED)] if op in ("ATOMIC_RETURN", "REDUCE_READ") else []

    def _read(self, request: Form, address: int, size: int) -> Form:
        found, poison = b"", False
        for line, first, end in pieces(address, size, LINE_BYTES):
            of_line = self.memory.read(line)
            if of_line is None:
                return self._response(request, "RSP_ERROR", size=_NO_MEMORY)
            found += of_line[0][first:end]
            poison |= of_line[1]
        return {**self._response(request, "RSP_DATA", ep=int(poison)), "data": found.hex()}

    def _response(self, request: Form, op: str, **more: int) -> Form:
        return self._form(op, {"tag": request["tag"], "rid": request["rid"], **more})

    def concerns(self, event: Event) -> bool:
        """Whether a broken rule is about requests, which a completer takes."""
        return event.violation.rule in _OF_REQUESTS
