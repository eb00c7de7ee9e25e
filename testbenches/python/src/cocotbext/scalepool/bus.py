"""The signals of a flit interface: `valid`, `data` and, where there is back-pressure, `ready`.

A flit is transferred at a rising edge of the clock with `valid` and `ready` high. `data` is as wide as a flit, with byte 0 in
bits 7:0, or narrower by a whole factor: then a flit takes several beats, and the first one has byte 0.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from cocotb.handle import SimHandleBase

Signal: TypeAlias = Any
"""A signal of a design: a handle of cocotb. They are found by name while a test runs, so a type checker cannot know their kind."""

Mistake: TypeAlias = tuple[str, str, str]
"""What breaks an interface: the signal, what was found, what was expected."""


class FlitBus:
    """The signals of one interface. `signals` gives their names where they are not `valid`, `ready` and `data`."""

    def __init__(self, entity: SimHandleBase, **signals: str) -> None:
        unknown = set(signals) - {"valid", "ready", "data"}
        if unknown:
            raise TypeError(f"found signal `{min(unknown)}`, expected `valid`, `ready` or `data`")
        self.name = signals.get("data", "data")
        self.valid = self._find(entity, signals.get("valid", "valid"))
        self.data = self._find(entity, signals.get("data", "data"))
        ready = signals.get("ready", "ready")
        # None stands for an interface without back-pressure. A signal whose name was given has to be there.
        self.ready = self._find(entity, ready) if "ready" in signals or hasattr(entity, ready) else None

    @staticmethod
    def _find(entity: SimHandleBase, name: str) -> Signal:
        try:
            return getattr(entity, name)
        except AttributeError:
            raise AttributeError(f"{entity._path}: found no signal `{name}`, expected one for the flit interface") from None

    @classmethod
    def from_prefix(cls, entity: SimHandleBase, prefix: str, **signals: str) -> "FlitBus":
        """The bus of `<prefix>_valid`, `<prefix>_data` and, if it exists, `<prefix>_ready`; `signals` gives other names."""
        names = {"valid": f"{prefix}_valid", "data": f"{prefix}_data", **signals}
        if "ready" not in signals and hasattr(entity, f"{prefix}_ready"):
            names["ready"] = f"{prefix}_ready"
        bus = cls(entity, **names)
        bus.name = prefix
        return bus

    def beats(self, flit_bytes: int) -> int:
        """Number of beats of a flit. Raises `ValueError` if the width of `data` does not divide that of a flit."""
        bits = len(self.data)
        if bits == 0 or 8 * flit_bytes % bits or bits % 8:
            raise ValueError(f"{self.name}: found {bits} bits of data, expected {8 * flit_bytes} or a divisor of it in whole bytes")
        return 8 * flit_bytes // bits

    # What a source and a sink do at each edge of the clock. Other interfaces than this one override it (`interfaces`).

    def source_in_reset(self) -> None:
        """A source is in reset, or begins."""
        self.valid.value = 0

    def clock_source(self) -> None:
        """An edge passes outside reset, before anything else of the source."""

    def may_offer(self) -> bool:
        """Whether a source may drive a new beat behind this edge."""
        return True

    def offer(self, word: int, number: int, count: int, flit: bytes) -> None:
        """Drives beat `number` of the `count` beats of a flit."""
        self.data.value = word

    def is_accepted(self) -> bool:
        """Whether the beat that is offered is transferred at this edge."""
        return self.ready is None or bool(self.ready.value == 1)

    def drive_valid(self, valid: bool) -> None:
        """A beat is offered, or none."""
        self.valid.value = int(valid)

    def sink_in_reset(self) -> None:
        """A sink is in reset, or begins."""
        if self.ready is not None:
            self.ready.value = 0

    def arrives(self, was_ready: bool) -> bool:
        """Whether a beat is transferred at this edge, where `was_ready` says what the sink has driven before it."""
        return (was_ready or self.ready is None) and bool(self.valid.value == 1)

    def drive_ready(self, ready: bool) -> bool:
        """A sink has room, or pauses; returns whether a beat may arrive at the next edge."""
        if self.ready is not None:
            self.ready.value = int(ready)
        return ready

    def mistake(self, number: int, count: int) -> Mistake | None:
        """What is wrong beside the data with beat `number` of a flit of `count`."""
        return None

    # What a monitor does.

    def withheld_by(self) -> str | None:
        """The signal beside valid that keeps a beat from being offered, if one does."""
        return None

    def rights(self) -> Callable[[bool], Mistake | None]:
        """Returns a function that a monitor calls at each edge outside of reset with whether a beat is offered, and that says whether
        the sender may not. Each reset asks for a new one."""
        return lambda offers: None


class _ReadOnly:
    """A signal that can be read and not written."""

    def __init__(self, handle: Signal) -> None:
        self._handle = handle

    @property
    def value(self) -> Any:
        return self._handle.value

    def __len__(self) -> int:
        return len(self._handle)


class WatchedBus(FlitBus):
    """The same signals for an agent that only watches: assigning to one raises `AttributeError`."""

    def __init__(self, bus: FlitBus) -> None:
        self.name = bus.name
        self.beats, self.mistake = bus.beats, bus.mistake  # type: ignore[method-assign]
        self.withheld_by, self.rights = bus.withheld_by, bus.rights  # type: ignore[method-assign]
        self.valid, self.data = _ReadOnly(bus.valid), _ReadOnly(bus.data)
        self.ready = None if bus.ready is None else _ReadOnly(bus.ready)
