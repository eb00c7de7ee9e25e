"""Hooks: your functions at the hook points of a link end. They watch, change, drop or hold back what passes there.

    >>> from cocotbext.scalepool import LinkEnd
    >>> host, seen = LinkEnd("cxl-68b", "down"), []
    >>> number = host.attach("wire", lambda item: seen.append(item.data), way="tx")
    >>> host.step(3)
    >>> len(seen)
    3

The ports of a `System` have the same points; see `System.attach`. scalepool.h lists the points at `sp_hook_attach`, with the
answers that each one allows.
"""

import ctypes
from collections.abc import Callable
from ctypes import c_char_p, c_size_t, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from enum import Enum

from . import _library as lib

POINTS: tuple[str, ...] = ("packer_in", "packer_out", "credit", "replay_in", "replay_out", "wire")
"""The hook points of a link end, in the order of their numbers in the C ABI."""


class Answer(Enum):
    """What happens to an item: it passes, it is dropped, or it is held back and offered again in the next flit clock."""

    KEEP = "SP_HOOK_KEEP"
    DROP = "SP_HOOK_DROP"
    HOLD = "SP_HOOK_HOLD"


@dataclass(frozen=True)
class Item:
    """An item that passes a hook point. `way` is `rx` or `tx`, `number` counts the items of the point from 0, `name` is a
    layout, a protocol or `credit`, and `data` are its bytes."""

    point: str
    way: str
    flit_clock: int
    number: int
    name: str
    data: bytes


Hook = Callable[[Item], "Answer | bytes | None"]
"""A function at a hook point. It returns an `Answer`, bytes of the same length to replace the item with, or None to let the
item pass."""

# uint32_t (void *user, uint32_t point, uint32_t way, uint64_t flit_clock, uint64_t number, const char *name,
#           const uint8_t *bytes, uint8_t *other, size_t length)
_HOOK = ctypes.CFUNCTYPE(c_uint32, c_void_p, c_uint32, c_uint32, c_uint64, c_uint64, c_char_p, c_void_p, c_void_p, c_size_t)


def wrap(function: Hook, raised: list[BaseException]) -> object:
    """Wraps a function for C. No exception may leave it: what it raises is put into `raised`, and the item passes."""
    rx, replace = lib.CONSTANTS["SP_RX"], lib.CONSTANTS["SP_HOOK_REPLACE"]

    def called(
        _user: int, point: int, way: int, flit_clock: int, number: int, name: bytes, data: int, other: int, length: int
    ) -> int:
        try:
            way_name = "rx" if way == rx else "tx"
            item = Item(POINTS[point], way_name, flit_clock, number, name.decode(), ctypes.string_at(data, length))
            answer = function(item)
            # Functions such as list.append return nothing.
            if answer is None:
                answer = Answer.KEEP
            if isinstance(answer, Answer):
                return lib.CONSTANTS[answer.value]
            answer = lib.octets(answer)
            if len(answer) != length:
                raise ValueError(f"hook at {item.point}: found {len(answer)} bytes, expected {length}")
            ctypes.memmove(other, answer, length)
            return replace
        except BaseException as error:  # all of them: none may propagate into C
            raised.append(error)
            return lib.CONSTANTS["SP_HOOK_KEEP"]

    return _HOOK(called)
