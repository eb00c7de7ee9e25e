"""Arbiters of the model, as a reference for the arbiters of your RTL.

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
    """Kind of an arbiter, which says which requester wins.

    * ROUND_ROBIN: the first requester at or after a pointer wins, and the pointer moves to the one after the winner
    * MATRIX: the requester that was granted least recently wins; at the start the lower number wins
    * WEIGHTED: weighted round robin. In each slot every requester gains its weight, and the one with the highest balance wins
      and pays the weights of all that requested
    """

    ROUND_ROBIN = lib.CONSTANTS["SP_ARBITER_ROUND_ROBIN"]
    MATRIX = lib.CONSTANTS["SP_ARBITER_MATRIX"]
    WEIGHTED = lib.CONSTANTS["SP_ARBITER_WEIGHTED"]


class Arbiter(lib.Handle):
    """An arbiter of 1 to 64 requesters that has granted nothing yet; usable with `with`."""

    _destroy = "sp_arbiter_destroy"

    def __init__(self, kind: ArbiterKind, requesters: int | None = None, weights: Sequence[int] = ()) -> None:
        """WEIGHTED takes one weight for each requester, 0 to 65535, and `requesters` may be left out then; the other kinds take
        no weights. Raises `RangeError` for a number out of range."""
        requesters = len(weights) if requesters is None else requesters
        if not 0 <= requesters <= 64 or any(not 0 <= weight < 1 << 16 for weight in weights):
            found, expected = f"{requesters} requesters with weights {list(weights)}", "1 to 64 with weights from 0 to 65535"
            raise RangeError(f"arbiter: found {found}, expected {expected}", "sp_arbiter_new")
        numbers = array("I", weights)
        super().__init__("sp_arbiter_new", kind, requesters, numbers.buffer_info()[0], len(numbers))

    def grant(self, requests: int, used: bool = True) -> int | None:
        """Arbitrates one slot and returns the winner, or None if nobody requests. Bit i of `requests` is 1 if requester i
        requests. A grant that is not used changes nothing."""
        granted = c_uint64()
        lib.call("sp_arbiter_grant", self._handle, requests, used, byref(granted))
        return granted.value.bit_length() - 1 if granted.value else None
