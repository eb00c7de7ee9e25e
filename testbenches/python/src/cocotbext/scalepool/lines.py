"""Memory by lines of 64 bytes, which is what devices of CXL.mem and completers of UALink read and write."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from .errors import InputError

LINE_BYTES = 64
"""Bytes of a line: one request of CXL.mem, one beat of UALink."""

WHOLE_LINE = (1 << LINE_BYTES) - 1
"""Byte enables of a whole line."""


class MemoryLines(Protocol):
    """The bytes behind a `CxlMemDevice` or a `UalCompleter`, line by line."""

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
        elif enables == WHOLE_LINE:
            self.poisoned.discard(address)


def check_range(address: int, size: int, highest: int) -> None:
    """Raises `InputError` for a range that is empty or does not end below `highest`."""
    if not isinstance(address, int) or not isinstance(size, int):
        raise TypeError(f"found address {address!r} and size {size!r}, expected two numbers")
    if size < 1 or address < 0 or address + size > highest:
        raise InputError(f"found {size} bytes at {address:#x}, expected at least 1 byte below {highest:#x}")


def check_mask(data: bytes, mask: bytes | None) -> bytes:
    """Returns the mask of a write, a byte for each of its bytes; without one all are written."""
    if mask is not None and len(mask) != len(data):
        raise InputError(f"mask: found {len(mask)} bytes, expected {len(data)} as in the data")
    return bytes([1]) * len(data) if mask is None else mask


def pieces(address: int, size: int, unit: int) -> Iterable[tuple[int, int, int]]:
    """Yields the parts of a range in each aligned unit of bytes: the address of the unit, and the first byte in it and the one behind
    the last."""
    end = address + size
    for begin in range(address - address % unit, end, unit):
        yield begin, max(address - begin, 0), min(end - begin, unit)
