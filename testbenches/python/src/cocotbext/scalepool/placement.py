"""Placement: your function that decides where the pages of an accelerator with tiers lie.

    >>> from cocotbext.scalepool import System
    >>> from cocotbext.scalepool.placement import Question, Tier
    >>> def hottest(question: Question) -> tuple[int, Tier] | None:
    ...     '''Moves the page of tier 2 up that was accessed most, as long as HBM has a free frame.'''
    ...     far = [n for n, page in enumerate(question.pages) if page.tier is Tier.TIER_2]
    ...     if question.first is not None or not far or not question.free[Tier.HBM]:
    ...         return None
    ...     return max(far, key=lambda n: question.pages[n].accesses), Tier.HBM

`System.placement` gives it to an accelerator whose `policy` is "caller".
"""

import ctypes
from collections.abc import Callable
from ctypes import POINTER, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from enum import IntEnum

from . import _library as lib


class Tier(IntEnum):
    """Where a page lies, the fastest first: HBM of its accelerator, HBM of the next one, or tier 2 behind a bridge."""

    HBM = 0
    PEER_HBM = 1
    TIER_2 = 2


@dataclass(frozen=True)
class Page:
    """A page of the accelerator: where it lies, or None if nobody has accessed it, its accesses in the last interval, and the
    interval of the last one, from 1, or 0."""

    tier: Tier | None
    accesses: int
    used: int


@dataclass(frozen=True)
class Question:
    """What is asked: where the page `first` goes, which is accessed for the first time; or, if that is None, which page moves
    next. `free` has the free frames by tier, `interval` counts the intervals that are over."""

    first: int | None
    pages: list[Page]
    free: tuple[int, int, int]
    interval: int


Placement = Callable[[Question], "Tier | tuple[int, Tier] | None"]
"""A function that decides: a tier for a first page, a page and its tier for a move, or None. Without a word a first page takes
the fastest free frame, and nothing moves."""

# uint32_t (void *user, uint32_t first, uint32_t pages, const uint32_t *tiers, const uint64_t *accesses, const uint64_t *used,
#           const uint32_t *free, uint64_t interval, uint32_t *page, uint32_t *tier)
_PLACEMENT = ctypes.CFUNCTYPE(
    c_uint32,
    c_void_p,
    c_uint32,
    c_uint32,
    POINTER(c_uint32),
    POINTER(c_uint64),
    POINTER(c_uint64),
    POINTER(c_uint32),
    c_uint64,
    POINTER(c_uint32),
    POINTER(c_uint32),
)


def wrap(function: Placement | None, raised: list[BaseException]) -> object:
    """Wraps a function for C. No exception may leave it: what it raises is put into `raised`, and nothing is decided."""
    if function is None:
        return _PLACEMENT(0)
    no_page, no_tier = lib.CONSTANTS["SP_NO_PAGE"], lib.CONSTANTS["SP_TIER_NONE"]

    def called(
        _user: int,
        first: int,
        count: int,
        tiers: "ctypes._Pointer[c_uint32]",
        accesses: "ctypes._Pointer[c_uint64]",
        used: "ctypes._Pointer[c_uint64]",
        free: "ctypes._Pointer[c_uint32]",
        interval: int,
        page: "ctypes._Pointer[c_uint32]",
        tier: "ctypes._Pointer[c_uint32]",
    ) -> int:
        try:
            lies = [None if tiers[n] == no_tier else Tier(tiers[n]) for n in range(count)]
            pages = [Page(lies[n], accesses[n], used[n]) for n in range(count)]
            asked = None if first == no_page else first
            answer = function(Question(asked, pages, (free[0], free[1], free[2]), interval))
            if answer is None:
                return 0
            if isinstance(answer, tuple):
                page[0], tier[0] = answer[0], int(answer[1])
            elif asked is None:
                raise TypeError(f"placement: found {answer!r}, expected a page and its tier, or None")
            else:
                tier[0] = int(answer)
            return 1
        except BaseException as error:  # all of them: none may propagate into C
            raised.append(error)
            return 0

    return _PLACEMENT(called)
