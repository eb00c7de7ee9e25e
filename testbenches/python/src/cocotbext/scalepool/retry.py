"""Violations that count when a single direction of a link is watched and flits may be replayed.

A replayed flit, or one that the receiver discards until the replay begins, continues the stream at another place, which a single
direction does not show. From the first such flit on, only the rules of a flit by itself are checked.
"""

from .flit import Flit
from .message import Violation

_NUMBERS = {"cxl-256b": 1023, "cxl-256b-lopt": 1023, "cxl-256b-pbr": 1023, "ualink": 511}
"""Highest sequence number of a payload flit, by protocol; 1 follows it. The decoder of cxl-68b follows a retry by itself."""

_OF_ONE_FLIT = {
    "cxl-256b": ("CXL256-CRC", "CXL256-FEC"),
    "cxl-256b-lopt": ("CXL256-CRC", "CXL256-FEC"),
    "cxl-256b-pbr": ("CXL256-CRC", "CXL256-FEC"),
    "ualink": ("UAL-CRC", "UAL-FLH"),
    "nvlink": (),
}


class Retries:
    """Follows the sequence numbers of one direction, and selects the violations of a flit that count."""

    def __init__(self, protocol: str) -> None:
        self.protocol = protocol
        self.adrift = False
        """Whether the stream has continued at another place."""
        self._next: int | None = None

    def violations(self, flit: Flit) -> tuple[Violation, ...]:
        """Returns the violations of the next flit that count."""
        if self.protocol not in _OF_ONE_FLIT:
            return flit.violations
        damaged = any("-CRC-" in violation.rule for violation in flit.violations)
        moved = not damaged and self._moves(flit.form.get("header", {}))
        told = self.adrift or moved
        # The first damaged flit is reported in full: nothing else may show it.
        self.adrift |= moved or damaged
        if not told:
            return flit.violations
        return tuple(violation for violation in flit.violations if violation.rule.startswith(_OF_ONE_FLIT[self.protocol]))

    def _moves(self, header: dict) -> bool:
        """Returns whether the sequence number of a flit is not the next one."""
        highest = _NUMBERS.get(self.protocol)
        if highest is None:
            return False
        payload = header.get("payload", 1) != 0 and header.get("flit_type") not in ("NOP", "Nop")
        if not payload:
            return False
        stated = header.get("command", "Explicit") == "Explicit" and header.get("op") in (None, "Original", "Replayed")
        number = header.get("seq") if stated else None
        moves = number is not None and self._next is not None and number != self._next
        current = number if number is not None else self._next
        self._next = None if current is None else current % highest + 1
        return moves or header.get("op") == "Replayed"
