"""Both ends of CXL.mem as calls: `CxlMemHost` reads and writes memory through a link, `CxlMemDevice` is the memory.

They stand on an active end of a link with credits and retry: a `LinkPartner` beside a design in cocotb, or an end of a `LinkPair`
without a simulator. The end judges what passes (`transactions="hdm-h"`), so a tag that nobody gave, a doubled answer, an answer of
the wrong kind or other data than was written is an exception at the flit that brings it, with tag, address and flit.

    >>> import asyncio
    >>> from cocotbext.scalepool import LineMemory, LinkPair
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

from collections.abc import Mapping

from .errors import InputError, NoMemoryError, PoisonError
from .lines import LINE_BYTES, WHOLE_LINE, LineMemory, MemoryLines, check_mask, check_range, pieces
from .stepped import SteppedLink
from .verbs import Completer, Form, OpenRequest, Requester, Wanted, number_of

FAMILIES = {"cxl-68b": "cxl68", "cxl-256b": "cxl256", "cxl-256b-lopt": "cxl256", "cxl-256b-pbr": "cxlpbr"}
"""Family of the layouts of each protocol of CXL."""

HIGHEST_ADDRESS = 1 << 52
"""Addresses of CXL lie below this one."""

_TAGS = 1 << 16


class CxlMemHost(Requester):
    """A host of CXL.mem on one end of a link: `await host.read(address, 64)`.

    `outstanding` is the highest number of requests that are open at a time; each has its own tag, from 0 on. `ld_id` is the
    logical device that all of them go to. Several calls may wait at a time. An answer that breaks a rule raises
    `TransactionError` in the call whose request it concerns, or, where no request does, in all that wait and in the task that
    steps the link. An answer that does not come raises `AnswerTimeoutError` behind `answer_flits` flit clocks, if the end was
    made with that key. The tag of a request that has failed is used again once its answer has come after all.
    """

    _families = FAMILIES
    _protocols = "CXL"
    _transactions = "hdm-h"
    _layouts_taken = ("s2m_ndr", "s2m_drs")

    def __init__(self, link: SteppedLink, *, outstanding: int = 64, ld_id: int = 0) -> None:
        if not 0 <= ld_id <= 15:
            raise InputError(f"ld_id: found {ld_id}, expected 0 to 15")
        self.ld_id = ld_id
        super().__init__(link, outstanding, _TAGS)

    async def read(self, address: int, size: int = LINE_BYTES) -> bytes:
        """Reads bytes from an address on. Raises `PoisonError` if a line is poisoned, and `NoMemoryError` if the device
        says that no memory is there."""
        check_range(address, size, HIGHEST_ADDRESS)
        parts = list(pieces(address, size, LINE_BYTES))
        fields = {"opcode": "MemRd", "meta_field": "NoOp"}
        lines = await self._all([Wanted(line, "m2s_req", {**fields, "address": line}) for line, _, _ in parts])
        return b"".join((data or b"")[first:end] for (_, first, end), data in zip(parts, lines, strict=True))

    async def write(self, address: int, data: bytes, mask: bytes | None = None, *, poison: bool = False) -> None:
        """Writes bytes from an address on, and returns when all of them are visible. `mask` has a byte for each byte of `data`:
        0 leaves the byte in memory as it is. With `poison` the lines are written as known to be wrong."""
        data = bytes(data)
        check_range(address, len(data), HIGHEST_ADDRESS)
        chosen = check_mask(data, mask)
        requests: list[Wanted] = []
        for line, first, end in pieces(address, len(data), LINE_BYTES):
            begin = line + first - address
            part = data[begin : begin + end - first]
            enables = sum(1 << first + n for n, byte in enumerate(chosen[begin : begin + end - first]) if byte)
            if enables == 0:
                continue
            whole = enables == WHOLE_LINE
            fields: dict[str, int | str] = {"opcode": "MemWr" if whole else "MemWrPtl", "meta_value": "Any", "address": line}
            fields["poison"] = int(poison)
            more: Form = {"data": (bytes(first) + part + bytes(LINE_BYTES - end)).hex()}
            if not whole:
                more["be"] = enables
                if self._layouts != "cxl68":
                    # A trailer with the byte enables follows the data.
                    fields["trp"] = 1
            requests.append(Wanted(line, "m2s_rwd", fields, more))
        await self._all(requests)

    async def invalidate(self, address: int, size: int = LINE_BYTES) -> None:
        """Asks the device for each line of a range, without its data (MemInv)."""
        check_range(address, size, HIGHEST_ADDRESS)
        fields = {"opcode": "MemInv", "meta_field": "NoOp"}
        lines = pieces(address, size, LINE_BYTES)
        await self._all([Wanted(line, "m2s_req", {**fields, "address": line}) for line, _, _ in lines])

    def _own_fields(self) -> Mapping[str, int | str]:
        return {} if self._layouts == "cxlpbr" else {"ld_id": self.ld_id}

    def _answer(self, request: OpenRequest, form: Form) -> None:
        fields = form["fields"]
        request.poison |= bool(fields.get("poison"))
        data = bytes.fromhex(form["data"]) if "data" in form else None
        if "half" in form and data is not None:
            # The first half is the one that the address names, here always the lower one.
            data = data[: LINE_BYTES // 2] if form["half"] == "lower" else data[LINE_BYTES // 2 :]
            if not request.parts:
                request.parts[0] = data
                return
            data = request.parts[0] + data
        self._close(request)
        where, flit = self._where(request), self.link.received - 1
        if fields.get("opcode") == "MemDataNXM":
            text = f"{where}: found MemDataNXM, expected memory at this address"
            request.finish(error=NoMemoryError(text, request.tag, request.address, flit))
        elif request.poison:
            text = f"{where}: found poisoned data, expected good data"
            request.finish(error=PoisonError(text, request.tag, request.address, flit))
        else:
            request.finish(data)


class CxlMemDevice(Completer):
    """A memory of CXL.mem on one end of a link. It answers requests in their order, `latency` flit clocks behind each.

    `memory` is a `LineMemory`, or anything of yours with `read` and `write` of a line. `served` counts requests. A request that breaks a
    rule raises `TransactionError` in the task that steps the link. For a device that is wrong on purpose, override `answers`.
    """

    _families = FAMILIES
    _protocols = "CXL"
    _transactions = "hdm-h"
    _layouts_taken = ("m2s_req", "m2s_rwd")

    def __init__(self, link: SteppedLink, memory: MemoryLines | None = None, *, latency: int = 0) -> None:
        super().__init__(link, latency)
        self.memory: MemoryLines = LineMemory() if memory is None else memory

    def answers(self, request: Form) -> list[Form]:
        """Carries out a request and returns the messages that answer it."""
        fields = request["fields"]
        opcode, address, tag = fields["opcode"], number_of(fields["address"]) & -LINE_BYTES, fields["tag"]
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
            enables = number_of(request.get("be", WHOLE_LINE)) if opcode == "MemWrPtl" else WHOLE_LINE
            self.memory.write(address, bytes.fromhex(request["data"]), enables, bool(fields["poison"]))
        if opcode in ("MemWr", "MemWrPtl", "MemInv", "MemInvNT"):
            return [self._form("s2m_ndr", {**common, "opcode": "Cmp"})]
        return []
