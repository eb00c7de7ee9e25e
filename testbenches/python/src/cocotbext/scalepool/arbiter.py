"""Arbiters: who gets a resource in a slot, beside the arbiters of your RTL.

    >>> arbiter = Arbiter(ArbiterKind.WEIGHTED, weights=[3, 1])
    >>> [arbiter.grant(0b11) for _ in range(4)]
    [0, 0, 1, 0]
"""

import enum
from array import array
from collections.abc import Sequence
from ctypes import byref, c_uint64

from . import _library as lib
from .errors import RangeError


class ArbiterKind(enum.IntEnum):
    """Whom an arbiter chooses.

    * ROUND_ROBIN: the first at or behind a pointer, which moves behind the winner
    * MATRIX: the one whose last grant is longest ago, the lower number at the start
    * WEIGHTED: the one that is owed most; each that asks earns its weight, the winner pays those of all that asked
    """

    ROUND_ROBIN = lib.CONSTANTS["SP_ARBITER_ROUND_ROBIN"]
    MATRIX = lib.CONSTANTS["SP_ARBITER_MATRIX"]
    WEIGHTED = lib.CONSTANTS["SP_ARBITER_WEIGHTED"]


class Arbiter(lib.Handle):
    """An arbiter of 1 to 64 requesters that has granted nothing yet; usable with `with`."""

    _destroy = "sp_arbiter_destroy"

    def __init__(self, kind: ArbiterKind, requesters: int | None = None, weights: Sequence[int] = ()) -> None:
        """`weights`, 0 to 65535, for WEIGHTED alone: one for each requester, so that `requesters` may be left out. Raises
        `RangeError`."""
        requesters = len(weights) if requesters is None else requesters
        if not 0 <= requesters <= 64 or any(not 0 <= weight < 1 << 16 for weight in weights):
            raise RangeError(f"arbiter: found {requesters} requesters, weights {list(weights)}", "sp_arbiter_new")
        numbers = array("I", weights)
        super().__init__("sp_arbiter_new", kind, requesters, numbers.buffer_info()[0], len(numbers))

    def grant(self, requests: int, used: bool = True) -> int | None:
        """One slot: the winner, None when nobody asks. Bit i of `requests` says that requester i asks. A grant that is not
        used changes nothing."""
        granted = c_uint64()
        lib.call("sp_arbiter_grant", self._handle, requests, used, byref(granted))
        return granted.value.bit_length() - 1 if granted.value else None
