"""A root complex of CXL.io as calls: `CxlIoRoot` enumerates, reads and writes configuration space, and uses the memory behind BARs.

It stands on an active end of `cxl-io`, CXL.io alone in 256B flits with credits and retry: a `LinkPartner` beside a design, an end of a
`LinkPair`, or the place of a `cxl.root` in a system.

    >>> import asyncio
    >>> from cocotbext.scalepool import System, SystemLink
    >>> async def main():
    ...     system = System("cxlio-enumerate", set=["link.cachemem=off", "link.mode=cxl-256b"], external={"host": "flits"})
    ...     async with SystemLink(system, "host.link", "cxl-io", "down") as link:
    ...         root = CxlIoRoot(link)
    ...         (device,) = await root.enumerate()
    ...         region = device.regions[0]
    ...         await region.write(0x10, b"abcd")
    ...         return device.is_cxl(), await region.read(0x10, 4)
    >>> asyncio.run(main())
    (True, b'abcd')

Modelled: TLPs of flit mode for configuration and memory, completions in several parts, tags, BARs of 32 and 64 bits, capabilities and
DVSECs (`cxl-io` §3, §4). A completion that answers no request, comes twice, is too long, out of order or for somebody else is an exception at
the flit that brings it. With `transactions="cxl-io"` the end judges the same of both directions, and compares registers and memory with
what was read and written before; so does a passive end, where the root is a design. Left out: messages, which are counted and dropped, I/O space, atomics, bridges: the functions are those of one device
on the bus below the root port.

A walk through one read: MRd32 with a free tag is queued. The device answers in two completions; the first one says in Byte Count how much is still
to come, the second one ends the request. The bytes that were asked for are cut out of the double words.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import AnswerTimeoutError, InputError, NoMemoryError, PoisonError, TransactionError
from .lines import check_range, pieces
from .message import decode, encode
from .model import Event
from .stepped import SteppedLink, Waitable
from .verbs import Form, OpenRequest, Requester, Wanted

DW = 4
"""Bytes of a double word."""

PAGE = 4096
"""A request does not cross a boundary of this many bytes."""

CXL_VENDOR = 0x1E98
"""Vendor ID of the DVSECs of CXL (`cxl-io` §4)."""

_TAGS = 1 << 14
_HIGHEST_ADDRESS = 1 << 64
_MOST_READ = 512
_CONFIG_BYTES = 4096
_BARS = 6
_FUNCTIONS = 8
_STATUS = {1: "UR, unsupported request", 2: "CRS, request retry status", 4: "CA, completer abort"}
_CPL, _CPLD = ("Cpl", "CplLk"), ("CplD", "CplDLk")
# Header base of a TLP in bytes by its first one, where it is not 12 (`cxl-io` §3.3).
_LONG = (0x20, 0x21, 0x22, 0x60, 0x61, 0x6C, 0x6D, 0x6E, 0x7B)


def _enables(first: int, size: int) -> tuple[int, int, int, int]:
    """Returns the address of the first double word, how many a range touches, and the byte enables of the first and the last one."""
    begin, end = first & -DW, first + size
    words = (end - begin + DW - 1) // DW
    low = 0xF << first % DW & 0xF
    high = 0xF >> (DW * words - (end - begin)) & 0xF
    return begin, words, low & high if words == 1 else low, 0 if words == 1 else high


def _bytes_of(head: Mapping[str, int | str]) -> int:
    """The bytes that a completion brings, whole double words."""
    return DW * (int(head["length"]) or 1024) if head["tlp_type"] in _CPLD else 0


@dataclass
class IoRegion:
    """The memory behind a BAR: `await region.read(0x10, 4)`. `address` is where the root has put it."""

    root: "CxlIoRoot"
    bar: int
    address: int
    size: int
    is_64_bit: bool
    is_prefetchable: bool

    async def read(self, offset: int, size: int = DW) -> bytes:
        """Reads bytes of the region. Raises `InputError` for a range that does not lie in it."""
        check_range(offset, size, self.size)
        return await self.root.read(self.address + offset, size)

    async def write(self, offset: int, data: bytes) -> None:
        """Writes bytes of the region, and returns when they are queued: a write is posted, and a read behind it brings it."""
        check_range(offset, len(data), self.size)
        await self.root.write(self.address + offset, data)


@dataclass
class IoDvsec:
    """A designated vendor-specific capability: its vendor, id, revision, where it lies in configuration space, and its bytes."""

    vendor: int
    id: int
    revision: int
    offset: int
    size: int


@dataclass
class IoFunction:
    """A function that `CxlIoRoot.enumerate` has found. `id` is bus, device and function as TLPs have it; `regions` are by BAR."""

    root: "CxlIoRoot"
    id: int
    vendor: int
    device: int
    class_code: int
    regions: dict[int, IoRegion] = field(default_factory=dict)
    dvsecs: list[IoDvsec] = field(default_factory=list)

    def is_cxl(self) -> bool:
        """Whether it has a DVSEC of CXL."""
        return any(dvsec.vendor == CXL_VENDOR for dvsec in self.dvsecs)

    def dvsec(self, id: int, vendor: int = CXL_VENDOR) -> IoDvsec:
        """Returns the DVSEC with an id. Raises `InputError` if there is none."""
        for dvsec in self.dvsecs:
            if (dvsec.vendor, dvsec.id) == (vendor, id):
                return dvsec
        raise InputError(f"function {self.id:#06x}: found no DVSEC {id} of vendor {vendor:#x}, expected one")

    async def config_read(self, register: int, size: int = DW) -> int:
        """Reads a register of configuration space, see `CxlIoRoot.config_read`."""
        return await self.root.config_read(self.id, register, size)

    async def config_write(self, register: int, value: int, size: int = DW) -> None:
        """Writes a register of configuration space, see `CxlIoRoot.config_write`."""
        await self.root.config_write(self.id, register, value, size)


@dataclass
class _Awaited:
    """What a request expects: bytes of its completions, as double words; 0: one without data. Of memory, the address of the next byte
    that was asked for, and how many of them are still to come."""

    size: int
    next: int = 0
    missing: int = 0
    came: bytes = b""


class CxlIoRoot(Requester):
    """A root complex of CXL.io on one end of a link: `await root.enumerate()`, `await root.read(address, 4)`.

    `outstanding` is the highest number of requests that wait for completions; each has its own tag, from 0 on. `requester` is the id of the
    root port, `bus` the number of the bus below it, and `mmio` the address from which on BARs are placed. A completion with an error raises
    `NoMemoryError` (UR) or `TransactionError`; one that answers no request raises `TransactionError` in all that wait and in the task that
    steps the link. A completion that does not come raises `AnswerTimeoutError` behind `timeout` flit clocks, 0 for no limit.
    """

    _families = {"cxl-io": "cxlio"}
    _protocols = "CXL.io"
    _transactions = "cxl-io"
    _judges_itself = True
    _layouts_taken = ("tlp",)

    def __init__(
        self,
        link: SteppedLink,
        *,
        outstanding: int = 32,
        requester: int = 0,
        bus: int = 1,
        mmio: int = 0x8000_0000,
        timeout: int = 100_000,
    ) -> None:
        if not 0 <= requester < 1 << 16:
            raise InputError(f"requester: found {requester}, expected 0 to 65535")
        if not 0 <= bus <= 255:
            raise InputError(f"bus: found {bus}, expected 0 to 255")
        if timeout < 0:
            raise InputError(f"timeout: found {timeout}, expected 0 or more flit clocks")
        self.requester, self.bus, self.timeout = requester, bus, timeout
        self.messages = 0
        self._next_region = mmio
        self._clock = 0
        # TLPs for which the end has had no room, oldest first, and the calls that wait for it.
        self._unsent: deque[bytes] = deque()
        self._posting: deque[Waitable] = deque()
        self._awaited: dict[int, _Awaited] = {}
        self._began: dict[int, int] = {}
        # Bytes that completions still have to bring, by tag; a request that has failed here keeps its tag until then.
        self._left: dict[int, int] = {}
        super().__init__(link, outstanding, _TAGS)

    async def config_read(self, function: int, register: int, size: int = DW) -> int:
        """Reads 1, 2 or 4 bytes of the configuration space of a function (CfgRd0), low byte first. Raises `NoMemoryError` if no
        function is there."""
        first = self._register(register, size)
        tlp = self._config("CfgRd0", function, register, (1 << size) - 1 << first)
        (data,) = await self._ask([(_Awaited(DW), tlp)])
        return int.from_bytes(data[first : first + size], "little")

    async def config_write(self, function: int, register: int, value: int, size: int = DW) -> None:
        """Writes 1, 2 or 4 bytes of the configuration space of a function (CfgWr0), and returns when they are written."""
        first = self._register(register, size)
        if not 0 <= value < 1 << 8 * size:
            raise InputError(f"value: found {value:#x}, expected a number of {size} bytes")
        tlp = self._config("CfgWr0", function, register, (1 << size) - 1 << first)
        payload = (value << 8 * first).to_bytes(DW, "little")
        await self._ask([(_Awaited(0), (*tlp, payload))])

    async def read(self, address: int, size: int = DW) -> bytes:
        """Reads bytes of memory from an address on (MRd). Raises `PoisonError` if they are poisoned."""
        check_range(address, size, _HIGHEST_ADDRESS)
        wanted = []
        for block, first, end in pieces(address, size, _MOST_READ):
            begin, words, low, high = _enables(block + first, end - first)
            awaited = _Awaited(DW * words, block + first, end - first)
            wanted.append((awaited, self._memory("MRd", begin, words, low, high)))
        parts = await self._ask(wanted)
        found = b""
        for (block, first, end), data in zip(pieces(address, size, _MOST_READ), parts, strict=True):
            skip = (block + first) % DW
            found += data[skip : skip + end - first]
        return found

    async def write(self, address: int, data: bytes) -> None:
        """Writes bytes of memory from an address on (MWr), and returns when they are queued: writes are posted."""
        data = bytes(data)
        check_range(address, len(data), _HIGHEST_ADDRESS)
        for block, first, end in pieces(address, len(data), 128):
            begin, words, low, high = _enables(block + first, end - first)
            part = data[block + first - address : block + end - address]
            payload = bytes(block + first - begin) + part
            payload += bytes(DW * words - len(payload))
            name, layout, fields, ohc = self._memory("MWr", begin, words, low, high)
            self._post(self._bytes(name, layout, {**fields, "tag": 0}, ohc) + payload)
            while self._unsent and self._failed is None:
                turn = self.link.event()
                self._posting.append(turn)
                await turn.wait()
            if self._failed is not None:
                raise self._failed

    async def enumerate(self) -> list[IoFunction]:
        """Finds the functions of the device below the root port, gives their BARs addresses, reads their capabilities, and lets them use
        memory. Returns them by number."""
        found = []
        for number in range(_FUNCTIONS):
            id = self.bus << 8 | number
            try:
                vendor = await self._present(id)
            except NoMemoryError:
                vendor = 0xFFFF_FFFF
            if vendor & 0xFFFF == 0xFFFF:
                if number == 0:
                    return []
                continue
            # The kind of header comes first: it says what the other registers are.
            is_one_of_many = await self.config_read(id, 0x0E, 1) & 0x80
            function = IoFunction(self, id, vendor & 0xFFFF, vendor >> 16, await self.config_read(id, 0x08) >> 8)
            await self._place(function)
            function.dvsecs = await self._dvsecs(id)
            # Memory space and bus master (PCI command register).
            await self.config_write(id, 0x04, await self.config_read(id, 0x04, 2) | 6, 2)
            found.append(function)
            if number == 0 and not is_one_of_many:
                break
        return found

    async def _present(self, id: int) -> int:
        """Vendor and device of a function that may say for a while that it is not ready."""
        for _ in range(1000):
            try:
                return await self.config_read(id, 0x00)
            except TransactionError as error:
                if _STATUS[2] not in str(error):
                    raise
        raise AnswerTimeoutError(f"function {id:#06x}: found CRS 1000 times, expected a function that becomes ready", None, 0, None)

    async def _place(self, function: IoFunction) -> None:
        """Sizes the BARs of a function and gives them addresses."""
        bar = 0
        while bar < _BARS:
            register, number = 0x10 + DW * bar, bar
            await function.config_write(register, 0xFFFF_FFFF)
            low = await function.config_read(register)
            is_64 = low & 7 == 4
            high = 0xFFFF_FFFF
            if is_64:
                await function.config_write(register + DW, 0xFFFF_FFFF)
                high = await function.config_read(register + DW)
            bar += 2 if is_64 else 1
            # Bit 0 says I/O space, which is left out; a BAR of zeros is none.
            if low & 1 or low & -16 == 0 and (not is_64 or high == 0):
                continue
            size = (1 << 64) - (high << 32 | low & 0xFFFF_FFF0)
            address = (self._next_region + size - 1) & -size
            self._next_region = address + size
            await function.config_write(register, address & 0xFFFF_FFFF)
            if is_64:
                await function.config_write(register + DW, address >> 32)
            elif address + size > 1 << 32:
                raise InputError(f"BAR {number}: found no room below 4 GiB for {size} bytes, expected a lower `mmio`")
            function.regions[number] = IoRegion(self, number, address, size, is_64, bool(low & 8))

    async def _dvsecs(self, id: int) -> list[IoDvsec]:
        """Walks the extended capabilities (`cxl-io` §4)."""
        found: list[IoDvsec] = []
        at, seen = 0x100, set()
        while at >= 0x100 and at not in seen:
            seen.add(at)
            head = await self.config_read(id, at)
            if head in (0, 0xFFFF_FFFF):
                break
            if head & 0xFFFF == 0x0023:
                first, second = await self.config_read(id, at + 4), await self.config_read(id, at + 8)
                found.append(IoDvsec(first & 0xFFFF, second & 0xFFFF, first >> 16 & 0xF, at, first >> 20))
            at = head >> 20
        return found

    def _register(self, register: int, size: int) -> int:
        """Returns the first byte of a register in its double word."""
        if size not in (1, 2, 4) or register % size or not 0 <= register <= _CONFIG_BYTES - size:
            found = f"{size} bytes at {register:#x}"
            raise InputError(f"register: found {found}, expected 1, 2 or 4 bytes, aligned, below {_CONFIG_BYTES:#x}")
        return register % DW

    def _config(self, name: str, function: int, register: int, enables: int) -> tuple[str, str, Form, bytes]:
        if not 0 <= function < 1 << 16:
            raise InputError(f"function: found {function}, expected 0 to 65535")
        fields: Form = {"completer": function, "reg_dw": register // DW, "length": 1}
        return name, "fm_cfg", fields, encode("cxlio.ohc_a3", first_be=enables)

    def _memory(self, name: str, address: int, words: int, low: int, high: int) -> tuple[str, str, Form, bytes]:
        is_short = address + DW * words <= 1 << 32
        fields: Form = {"address": address, "length": words & 0x3FF}
        whole = (low, high) == (0xF, 0 if words == 1 else 0xF)
        ohc = b"" if whole else encode("cxlio.ohc_a1", first_be=low, last_be=high)
        return name + ("32" if is_short else "64"), "fm_mem32" if is_short else "fm_mem64", fields, ohc

    def _bytes(self, name: str, layout: str, fields: Form, ohc: bytes) -> bytes:
        head = {"tlp_type": name, "requester": self.requester, "ohc": int(bool(ohc)), **fields}
        return encode(f"cxlio.{layout}", head) + ohc

    async def _ask(self, wanted: Iterable[tuple[_Awaited, tuple[Any, ...]]]) -> list[bytes]:
        """Makes requests, each with what its completions have to bring, and returns their bytes."""
        requests = [Wanted(self._address_of(tlp), "tlp", {}, {"awaited": awaited, "tlp": tlp}) for awaited, tlp in wanted]
        return [data or b"" for data in await self._all(requests)]

    def _send(self, form: Form) -> None:
        """Queues the TLP of a request with its tag."""
        tag = form["fields"][self._tag]
        name, layout, fields, ohc, *payload = form["tlp"]
        self._awaited[tag], self._began[tag] = form["awaited"], self._clock
        self._left[tag] = form["awaited"].size
        self._post(self._bytes(name, layout, {**fields, "tag": tag}, ohc) + b"".join(payload))

    def _post(self, tlp: bytes) -> None:
        """Queues a TLP behind those that wait for room."""
        self._unsent.append(tlp)
        self._drain()

    def _drain(self) -> None:
        """Moves TLPs to the end, as many as it has room for."""
        while self._unsent:
            try:
                self.link.end.send({"tlp": self._unsent[0].hex()})
            except ValueError as error:
                if "the queue is full" not in str(error):
                    raise
                return
            self._unsent.popleft()

    def _address_of(self, tlp: tuple[Any, ...]) -> int:
        """The address of memory, or the register."""
        fields: Form = tlp[2]
        address: int = fields.get("address", fields.get("reg_dw", 0) * DW)
        return address

    def _own_fields(self) -> Form:
        return {}

    def _layout_of(self, form: Form) -> str:
        return "tlp"

    def _on_step(self) -> None:
        self._clock += 1
        super()._on_step()
        # Posted writes wait for room, which no answer announces.
        self._drain()
        self._wake_posting()
        for tag, began in list(self._began.items()):
            request = self._open.get(tag)
            if self.timeout and self._clock - began > self.timeout and request is not None:
                text = f"{self._where(request)}: found no completion within {self.timeout} flit clocks, expected one"
                self._close(request, answered=False)
                request.finish(error=AnswerTimeoutError(text, tag, request.address, self.link.received - 1))

    def _close(self, request: OpenRequest, *, answered: bool = True) -> None:
        self._awaited.pop(request.tag, None)
        self._began.pop(request.tag, None)
        super()._close(request, answered=answered)

    def _message(self, form: Form) -> None:
        tlp = bytes.fromhex(form["tlp"])
        if tlp[0] & 0x7F in (*range(0x30, 0x36), *range(0x70, 0x76)):
            self.messages += 1
            return
        flit = self.link.received - 1
        if tlp[0] not in (0x0A, 0x0B, 0x4A, 0x4B):
            raise TransactionError(f"flit {flit}: found a TLP of type {tlp[0]:#04x}, expected a completion or a message", None, None, flit)
        head = decode("cxlio.fm_cpl", tlp[:12]).fields
        tag = int(head["tag"])
        request = self._open.get(tag)
        if request is None and tag in self._lost:
            # Of a request that has failed here.
            if self._ends(head):
                self._found(tag)
            return
        if request is None or int(head["requester"]) != self.requester:
            found = f"{head['tlp_type']} with tag {tag:#x} for {int(head['requester']):#06x}"
            expected = f"the tag of an open request of {self.requester:#06x}"
            raise TransactionError(f"flit {flit}: found {found}, expected {expected}", tag, None, flit)
        self._ends(head)
        self._completed(request, head, tlp)

    def _ends(self, head: Mapping[str, int | str]) -> bool:
        """Counts the bytes of a completion: whether its request gets no other one. One without data is the only one."""
        tag = int(head["tag"])
        self._left[tag] = self._left.get(tag, 0) - _bytes_of(head)
        return head["tlp_type"] in _CPL or self._left[tag] <= 0

    def _broken(self, event: Event, form: Form | None = None) -> None:
        head = None
        if form is not None:
            tlp = bytes.fromhex(form["tlp"])
            head = decode("cxlio.fm_cpl", tlp[:12]).fields if tlp[0] in (0x0A, 0x0B, 0x4A, 0x4B) else None
        super()._broken(event, form)
        # An answer of the wrong kind or size ends its request, too.
        if head is not None and int(head["tag"]) in self._lost and (self._ends(head) or event.violation.rule == "TXN-ANS-01"):
            self._found(int(head["tag"]))

    def _completed(self, request: OpenRequest, head: dict[str, int | str], tlp: bytes) -> None:
        """A completion of an open request."""
        ohc = 1 if int(head["ohc"]) & 1 else 0
        none: dict[str, int | str] = {"status": "SC", "lower_addr": 0}
        extra = dict(decode("cxlio.ohc_a5", tlp[12:16]).fields) if ohc else none
        status, awaited, where = extra["status"], self._awaited[request.tag], self._where(request)
        number = {"SC": 0, "UR": 1, "CRS": 2, "CA": 4}.get(str(status), status)
        flit = self.link.received - 1

        def end(data: bytes | None = None, error: BaseException | None = None) -> None:
            self._close(request)
            request.finish(data, error)

        def wrong(found: str, expected: str) -> None:
            end(error=TransactionError(f"{where}: found {found}, expected {expected}", request.tag, request.address, flit))

        if number == 1:
            text = f"{where}: found a completion with {_STATUS[1]}, expected something at this address"
            return end(error=NoMemoryError(text, request.tag, request.address, flit))
        if number != 0:
            return wrong(f"a completion with {_STATUS.get(int(number), f'status {status}')}", "a successful one")
        has_data = head["tlp_type"] in _CPLD
        if has_data != (awaited.size > 0):
            return wrong(str(head["tlp_type"]), "CplD" if awaited.size else "Cpl")
        if not has_data:
            return end(b"")
        length = DW * (int(head["length"]) or 1024)
        data = tlp[12 + DW * ohc :][:length]
        left = awaited.size - len(awaited.came)
        if len(data) < length or length > left:
            return wrong(f"{length} bytes in a header, {len(data)} behind it", f"at most {left}")
        if awaited.missing:
            # Both begin with the first byte that was asked for and has not come.
            count, low = int(head["byte_count"]) or PAGE, int(head["lower_addr"]) << 2 | int(head["lower_addr_6"]) << 6
            low |= int(extra["lower_addr"])
            if (count, low) != (awaited.missing, awaited.next & 0x7F):
                return wrong(f"Byte Count {count}, Lower Address {low:#x}", f"{awaited.missing}, {awaited.next & 0x7F:#x}")
            behind = (awaited.next & -DW) + length
            awaited.missing -= min(behind - awaited.next, awaited.missing)
            awaited.next = behind
        awaited.came += data
        request.poison |= bool(head["ep"])
        if len(awaited.came) < awaited.size:
            return
        if request.poison:
            return end(error=PoisonError(f"{where}: found poisoned data, expected good data", request.tag, request.address, flit))
        end(awaited.came)

    def _fail(self, error: BaseException) -> None:
        super()._fail(error)
        self._awaited.clear()
        self._began.clear()
        self._unsent.clear()
        self._wake_posting()

    def _wake_posting(self) -> None:
        while self._posting:
            self._posting.popleft().set()
