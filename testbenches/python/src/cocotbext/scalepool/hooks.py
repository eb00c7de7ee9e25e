"""Hooks: functions of yours at the points of a link end, to watch, to change, to drop or to hold back what passes there.

    >>> from cocotbext.scalepool import LinkEnd
    >>> host, seen = LinkEnd("cxl-68b", "down"), []
    >>> number = host.attach("wire", lambda item: seen.append(item.data), way="tx")
    >>> host.step(3)
    >>> len(seen)
    3

The ports of a whole `Model` have the same points: `Model.attach`. The points, and what a function may answer at each, are
listed in scalepool.h at `sp_hook_attach`.
"""

import ctypes
from collections.abc import Callable
from ctypes import c_char_p, c_size_t, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from enum import Enum

from . import _library as lib

POINTS: tuple[str, ...] = ("packer_in", "packer_out", "credit", "replay_in", "replay_out", "wire")
"""The points of a link end, in the order in which the C ABI counts them."""


class Answer(Enum):
    """What becomes of an item: it goes on, it is gone, or it is asked for again in the next flit clock."""

    KEEP = "SP_HOOK_KEEP"
    DROP = "SP_HOOK_DROP"
    HOLD = "SP_HOOK_HOLD"


@dataclass(frozen=True)
class Item:
    """What passes a point: `number` counts the items of the point from 0, `name` is a layout, a protocol or `credit`, `data`
    its bytes."""

    point: str
    way: str
    flit_clock: int
    number: int
    name: str
    data: bytes


Hook = Callable[[Item], "Answer | bytes | None"]
"""A function at a point. It answers with an `Answer`, with bytes of the same length to go on in the place of the item, or with
nothing to let it pass."""

# uint32_t (void *user, uint32_t point, uint32_t way, uint64_t flit_clock, uint64_t number, const char *name,
#           const uint8_t *bytes, uint8_t *other, size_t length)
_HOOK = ctypes.CFUNCTYPE(c_uint32, c_void_p, c_uint32, c_uint32, c_uint64, c_uint64, c_char_p, c_void_p, c_void_p, c_size_t)


def wrap(function: Hook, raised: list[BaseException]) -> ctypes._CFuncPtr:
    """The function as C calls it. No exception may leave it: one that does is put into `raised`, and the item passes."""
    rx, replace = lib.CONSTANTS["SP_RX"], lib.CONSTANTS["SP_HOOK_REPLACE"]

    def called(_user, point, way, flit_clock, number, name, data, other, length):
        try:
            way_name = "rx" if way == rx else "tx"
            item = Item(POINTS[point], way_name, flit_clock, number, name.decode(), ctypes.string_at(data, length))
            answer = function(item)
            # Functions such as list.append say nothing.
            if answer is None:
                answer = Answer.KEEP
            if isinstance(answer, Answer):
                return lib.CONSTANTS[answer.value]
            answer = lib.octets(answer)
            if len(answer) != length:
                raise ValueError(f"hook at {item.point}: found {len(answer)} bytes, expected {length}")
            ctypes.memmove(other, answer, length)
            return replace
        except BaseException as error:  # every one: none may go up into C
            raised.append(error)
            return lib.CONSTANTS["SP_HOOK_KEEP"]

    return _HOOK(called)
