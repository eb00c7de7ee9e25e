"""Both ends of UALink transactions as calls: `UalRequester` reads and writes the memory of an accelerator, `UalCompleter` is that memory.

They stand on an active end of a link with a transaction layer, made with `layer="tl"`: a `UalLinkPartner` beside a design in cocotb, or an
end of a `LinkPair` without a simulator. An end may have both. The end judges what passes (`transactions="ualink"`), so a tag that nobody
gave, a beat that comes twice, a Last that is early or missing, or other data than was written is an exception at the flit that brings it.

    >>> import asyncio
    >>> from cocotbext.scalepool import LineMemory, LinkPair
    >>> async def main():
    ...     async with LinkPair("ualink", layer="tl", transactions="ualink", all_writers_seen=True) as pair:
    ...         requester = UalRequester(pair.host, accelerator=1)
    ...         completer = UalCompleter(pair.device, LineMemory(), accelerator=2, latency=5)
    ...         await requester.write(2, 0x10F0, bytes(range(32)))
    ...         return await requester.read(2, 0x10FE, 4), completer.served
    >>> asyncio.run(main())
    (b'\\x0e\\x0f\\x10\\x11', 4)

Modelled: Read, Write and WriteFull, a request for each 256 bytes that a range touches, with byte enables where it does not begin and end at
DWords (`ualink` §10, §12); read responses of all beats or of one each. Left out: atomics, messages and commands of vendors, which a
completer answers with a target abort; authentication.
"""

from collections.abc import Mapping

from .errors import InputError, NoMemoryError, PoisonError, TransactionError
from .lines import LINE_BYTES, LineMemory, MemoryLines, check_mask, check_range, pieces
from .model import Event
from .stepped import SteppedLink
from .verbs import Completer, Form, OpenRequest, Requester, Wanted, number_of

_FAMILIES = {"ualink": "ualink"}
_HIGHEST_ADDRESS = 1 << 57
_TAGS = 1 << 11
_ACCELERATORS = 1 << 10
_VIRTUAL_CHANNELS = 4
REGION_BYTES = 256
"""Bytes of an aligned block that no request leaves (`ualink` §12)."""
_DWORD_BYTES = 4
# Broken by a request; the others are broken by responses.
_OF_REQUESTS = ("TXN-TAG-01",)


def _check_number(name: str, value: int, count: int) -> None:
    if not 0 <= value < count:
        raise InputError(f"{name}: found {value}, expected 0 to {count - 1}")


def _dwords(first: int, end: int) -> tuple[int, int]:
    """Returns the DWords around the bytes of a block: the byte in which the first one begins, and the one behind the last."""
    return first - first % _DWORD_BYTES, end + -end % _DWORD_BYTES


def _beats(first: int, end: int) -> range:
    """Returns where the beats around the bytes of a block begin."""
    return range(first - first % LINE_BYTES, end, LINE_BYTES)


class UalRequester(Requester):
    """An accelerator that reads and writes memory of others over one end of a link: `await requester.read(2, address, 64)`.

    `accelerator` is its own number, and `vchan` the virtual channel of its requests. `outstanding` is the highest number of requests that
    are open at a time; each has its own tag, from 0 on. An answer that breaks a rule raises `TransactionError` in the call whose
    request it concerns, or, where no request does, in all that wait and in the task that steps the link. An answer that does not
    come raises `AnswerTimeoutError` behind `answer_flits` flit clocks, if the end was made with that key. A status that is not OKAY raises
    `NoMemoryError` for a decode error, and else `TransactionError` without a rule. When the link goes down, what is open is lost: all who
    wait get a `ScalepoolError`, and later calls wait until it is up.
    """

    _families = _FAMILIES
    _protocols = "UALink"
    _transactions = "ualink"
    _is_lost_with_the_link = True
    _layouts_taken = ("tl_rsp",)

    def __init__(self, link: SteppedLink, *, accelerator: int, outstanding: int = 64, vchan: int = 0) -> None:
        _check_number("accelerator", accelerator, _ACCELERATORS)
        _check_number("vchan", vchan, _VIRTUAL_CHANNELS)
        self.accelerator = accelerator
        self.vchan = vchan
        super().__init__(link, outstanding, _TAGS)

    async def read(self, destination: int, address: int, size: int = LINE_BYTES) -> bytes:
        """Reads bytes of an accelerator from an address on. Raises `PoisonError` if a beat is poisoned."""
        _check_number("destination", destination, _ACCELERATORS)
        check_range(address, size, _HIGHEST_ADDRESS)
        parts = list(pieces(address, size, REGION_BYTES))
        blocks = await self._all([self._read(destination, *part) for part in parts])
        found = []
        for (_, first, end), data in zip(parts, blocks, strict=True):
            begin = first % LINE_BYTES
            found.append((data or b"")[begin : begin + end - first])
        return b"".join(found)

    async def write(
        self, destination: int, address: int, data: bytes, mask: bytes | None = None, *, poison: bool = False
    ) -> None:
        """Writes bytes of an accelerator from an address on, and returns when all of them are visible. `mask` has a byte for each
        byte of `data`: 0 leaves the byte in memory as it is. With `poison` the beats are written as known to be wrong."""
        data = bytes(data)
        _check_number("destination", destination, _ACCELERATORS)
        check_range(address, len(data), _HIGHEST_ADDRESS)
        chosen = check_mask(data, mask)
        requests = []
        for block, first, end in pieces(address, len(data), REGION_BYTES):
            begin = block + first - address
            part, part_mask = data[begin : begin + end - first], chosen[begin : begin + end - first]
            if any(part_mask):
                requests.append(self._write(destination, block, first, part, part_mask, poison))
        await self._all(requests)

    def _request(self, command: str, destination: int, address: int, end: int) -> dict[str, int | str]:
        """Fields of a request for the bytes of a block, up to `end`, both at DWords."""
        return {"cmd": command, "dst": destination, "address": address, "len": (end - address) // _DWORD_BYTES - 1}

    def _read(self, destination: int, block: int, first: int, end: int) -> Wanted:
        begin, behind = _dwords(first, end)
        fields = self._request("Read", destination, block + begin, block + behind)
        # Bytes of the first and of the last DWord that are wanted.
        head = 0xF << first - begin & 0xF
        tail = 0xF >> behind - end
        fields["attr"] = tail << 4 | head if behind - begin > _DWORD_BYTES else 0xF0 | head & tail
        return Wanted(block + first, "tl_req", fields)

    def _write(self, destination: int, block: int, first: int, data: bytes, mask: bytes, poison: bool) -> Wanted:
        end = first + len(data)
        begin, behind = _dwords(first, end)
        whole = (begin, behind) == (first, end) and all(mask)
        fields = self._request("WriteFull" if whole else "Write", destination, block + begin, block + behind)
        beats = _beats(first, end)
        fields["numbeats"] = len(beats) - 1
        padded = bytes(first - beats[0]) + data + bytes(-end % LINE_BYTES)
        more: Form = {"data": padded.hex()}
        if not whole:
            enables = sum(1 << first + n for n, byte in enumerate(mask) if byte)
            more["be"] = enables.to_bytes(REGION_BYTES // 8, "little").hex()
        if poison:
            more["poisoned"] = (1 << len(beats)) - 1
        return Wanted(block + first, "tl_req", fields, more)

    def _own_fields(self) -> Mapping[str, int | str]:
        return {"src": self.accelerator, "vchan": self.vchan}

    def concerns(self, event: Event) -> bool:
        """Whether a broken rule is about responses, which a requester takes."""
        return event.violation.rule not in _OF_REQUESTS

    def _is_last(self, form: Form) -> bool:
        fields = form["fields"]
        return bool(fields["rdwr"] == "Write" or fields["last"])

    def _answer(self, request: OpenRequest, form: Form) -> None:
        fields = form["fields"]
        request.poison |= bool(form.get("poisoned"))
        if fields["rdwr"] == "Read":
            data = bytes.fromhex(form["data"])
            first = fields["offset"] if fields["len"] == 0 else 0
            for n in range(len(data) // LINE_BYTES):
                request.parts[first + n] = data[LINE_BYTES * n : LINE_BYTES * (n + 1)]
        if not self._is_last(form):
            return
        self._close(request)
        where, flit = self._where(request), self.link.received - 1
        if fields["status"] == "DecodeError":
            text = f"{where}: found status DecodeError, expected memory at this address"
            request.finish(error=NoMemoryError(text, request.tag, request.address, flit))
        elif fields["status"] != "OKAY":
            text = f"{where}: found status {fields['status']}, expected OKAY"
            request.finish(error=TransactionError(text, request.tag, request.address, flit))
        elif request.poison:
            text = f"{where}: found poisoned data, expected good data"
            request.finish(error=PoisonError(text, request.tag, request.address, flit))
        else:
            request.finish(b"".join(data for _, data in sorted(request.parts.items())))


class UalCompleter(Completer):
    """The memory of an accelerator on one end of a link. It answers requests in their order, `latency` flit clocks behind each.

    `accelerator` is its number; requests to others are answered with a decode error, as are those where no memory is. `memory` is a
    `LineMemory`, or anything of yours with `read` and `write` of a line. With `single_beats` each beat of a read comes in a response of
    its own. `served` counts requests. A request that breaks a rule raises `TransactionError` in the task that steps the link. For a
    completer that is wrong on purpose, override `answers`.
    """

    _families = _FAMILIES
    _protocols = "UALink"
    _transactions = "ualink"
    _is_lost_with_the_link = True
    _layouts_taken = ("tl_req",)

    def __init__(
        self,
        link: SteppedLink,
        memory: MemoryLines | None = None,
        *,
        accelerator: int,
        latency: int = 0,
        single_beats: bool = False,
    ) -> None:
        _check_number("accelerator", accelerator, _ACCELERATORS)
        super().__init__(link, latency)
        self.accelerator = accelerator
        self.memory: MemoryLines = LineMemory() if memory is None else memory
        self.single_beats = single_beats

    def answers(self, request: Form) -> list[Form]:
        """Carries out a request and returns the messages that answer it."""
        fields = request["fields"]
        command, address = fields["cmd"], number_of(fields["address"])
        end = address + _DWORD_BYTES * (fields["len"] + 1)
        lines = _beats(address, end)
        missing = fields["dst"] != self.accelerator or any(self.memory.read(line) is None for line in lines)
        if command == "Read":
            found = [(self.memory.read(line) if not missing else None) or (bytes(LINE_BYTES), False) for line in lines]
            return self._beats_of(request, found, "DecodeError" if missing else "OKAY")
        if command in ("Write", "WriteFull"):
            if not missing:
                self._write(request, address, end)
            return [self._response(request, "Write", "DecodeError" if missing else "OKAY")]
        if command == "AtomicR":
            return self._beats_of(request, [(bytes(LINE_BYTES), False)], "TargetAbort")
        return [self._response(request, "Write", "TargetAbort")]

    def _write(self, request: Form, address: int, end: int) -> None:
        block = address - address % REGION_BYTES
        inside = (1 << end - block) - (1 << address - block)
        if "be" in request:
            inside &= int.from_bytes(bytes.fromhex(request["be"]), "little")
        data, poisoned = bytes.fromhex(request["data"]), request.get("poisoned", 0)
        for n, line in enumerate(_beats(address, end)):
            enables = inside >> line - block & (1 << LINE_BYTES) - 1
            self.memory.write(line, data[LINE_BYTES * n : LINE_BYTES * (n + 1)], enables, bool(poisoned >> n & 1))

    def _response(self, request: Form, kind: str, status: str, **more: int) -> Form:
        fields = request["fields"]
        own: dict[str, int | str] = {"tag": fields["tag"], "dst": fields["src"], "src": fields["dst"], "vchan": fields["vchan"]}
        return self._form("tl_rsp", {**own, "rdwr": kind, "status": status, **more})

    def _beats_of(self, request: Form, beats: list[tuple[bytes, bool]], status: str) -> list[Form]:
        """The responses of a read with these beats, each with its poison."""
        if not self.single_beats:
            whole = self._response(request, "Read", status, len=len(beats) - 1, last=1)
            whole["data"] = b"".join(data for data, _ in beats).hex()
            whole["poisoned"] = sum(poison << n for n, (_, poison) in enumerate(beats))
            return [whole]
        found = []
        for n, (data, poison) in enumerate(beats):
            one = self._response(request, "Read", status, offset=n, last=int(n == len(beats) - 1))
            found.append({**one, "data": data.hex(), "poisoned": int(poison)})
        return found

    def concerns(self, event: Event) -> bool:
        """Whether a broken rule is about requests, which a completer takes."""
        return event.violation.rule in _OF_REQUESTS
