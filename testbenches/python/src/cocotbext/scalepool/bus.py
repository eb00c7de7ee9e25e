"""The signals of a flit interface: `valid`, `data` and, where there is back-pressure, `ready`.

A flit is transferred at a rising edge of the clock with `valid` and `ready` high. `data` is as wide as a flit, with byte 0 in
bits 7:0, or narrower by a whole factor: then a flit takes several beats, and the first one has byte 0.
"""

from typing import Any, TypeAlias

from cocotb.handle import SimHandleBase

Signal: TypeAlias = Any
"""A signal of a design: a handle of cocotb. They are found by name while a test runs, so a type checker cannot know their kind."""


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
        self.valid, self.data = _ReadOnly(bus.valid), _ReadOnly(bus.data)
        self.ready = None if bus.ready is None else _ReadOnly(bus.ready)
