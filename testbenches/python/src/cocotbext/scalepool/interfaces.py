"""Interfaces that cores have, as buses for `FlitSource`, `FlitSink`, `FlitMonitor` and `LinkPartner`.

| class | signals | like |
| --- | --- | --- |
| `FlitBus` | valid, ready, data | the interface of the other pages |
| `AxiStreamBus` | tvalid, tready, tdata; tkeep, tlast, tuser where they are there | AXI-Stream: a packet is a flit |
| `CreditedFlitBus` | valid, data, crdgnt; last where it is there | CXS: a beat costs a credit, which the receiver grants one at a time |
| `StateFlitBus` | irdy, valid, trdy, data, state_req, state_sts | LPIF and FDI: data only in the state Active, which is asked for first |
| `Flit68Bus` | valid, ready, data of 512 bits; pid and crc where they are there | a 68B core that keeps protocol ID and CRC beside the slots |

What is called *like* a public interface has its handshake and no more: signals for errors, parity, power and retraining are left out.

Each takes the signals of an entity by prefix, `AxiStreamBus.from_prefix(dut, "s_axis")`, and other names for single ones. `order` puts the bytes
of a beat in another place: byte n of the interface is byte `order[n]` of the beat; `striped` makes such an order for lanes.

A walk through one flit of 68 bytes on an AXI-Stream of 32 bytes: three beats, of which the last one keeps 4 bytes and has tlast.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from cocotb.handle import SimHandleBase

from ._library import fill
from .bus import FlitBus, Mistake, Signal
from .check import Crc, crc
from .errors import InputError

__all__ = ["AxiStreamBus", "CreditedFlitBus", "Flit68Bus", "JoinedSignal", "ReorderedSignal", "StateFlitBus", "striped"]

PID_CACHEMEM = 0x5555
"""Protocol ID of a flit of CXL.cachemem, both bytes (`cxl-68b` §1.2)."""

# The signals of each interface, by its key: one table for Python, SystemVerilog and `inspect`, in the library.
_INTERFACES: dict[str, list[dict[str, Any]]] = {each["key"]: each["signals"] for each in json.loads(fill("sp_interfaces")[1])}


def _named(key: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The signals that an interface needs, and those that may be missing."""
    signals = _INTERFACES[key]
    is_optional = [signal["need"] == "optional" for signal in signals]
    names = [signal["name"] for signal in signals]
    return (
        tuple(name for name, optional in zip(names, is_optional) if not optional),
        tuple(name for name, optional in zip(names, is_optional) if optional),
    )


def _width(key: str, name: str) -> int:
    """The bits of a signal of an interface that has them in every design."""
    return next(int(signal["width"]) for signal in _INTERFACES[key] if signal["name"] == name)


_SLOT_BITS, _SIDE_BITS = _width("slots68", "data"), _width("slots68", "crc")


class _Value:
    """A value that was read, of several signals; as values of cocotb are."""

    def __init__(self, number: int | None, text: str) -> None:
        self._number, self._text = number, text

    @property
    def is_resolvable(self) -> bool:
        return self._number is not None

    def to_unsigned(self) -> int:
        if self._number is None:
            raise ValueError(f"found {self._text}, expected 0 or 1 in each bit")
        return self._number

    def __int__(self) -> int:
        return self.to_unsigned()

    def __eq__(self, other: object) -> bool:
        return self._number is not None and self._number == other

    def __str__(self) -> str:
        return self._text


def _at_least_1(name: str, number: int) -> int:
    if number < 1:
        raise InputError(f"{name}: found {number}, expected 1 or more")
    return number


def _number(value: Any) -> int | None:
    """A value of cocotb as a number, None with X or Z in it."""
    return int(value) if value.is_resolvable else None


class JoinedSignal:
    """Signals one behind the other as one signal, the first one lowest."""

    def __init__(self, *parts: Signal) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    @property
    def value(self) -> Any:
        values = [part.value for part in self._parts]
        numbers = [_number(value) for value in values]
        text = "".join(str(value) for value in reversed(values))
        whole, at = 0, 0
        for part, number in zip(self._parts, numbers):
            if number is None:
                return _Value(None, text)
            whole |= number << at
            at += len(part)
        return _Value(whole, text)

    @value.setter
    def value(self, number: int) -> None:
        for part in self._parts:
            part.value = number & (1 << len(part)) - 1
            number >>= len(part)


class ReorderedSignal:
    """A signal whose bytes stand in another order: byte n of the signal is byte `order[n]` of what is read and driven."""

    def __init__(self, signal: Signal, order: Sequence[int]) -> None:
        if len(signal) % 8 or sorted(order) != list(range(len(signal) // 8)):
            raise InputError(f"order: found {list(order)}, expected each of 0 to {len(signal) // 8 - 1} once")
        self._signal, self.order = signal, list(order)

    def __len__(self) -> int:
        return len(self._signal)

    @property
    def value(self) -> Any:
        value = self._signal.value
        number = _number(value)
        if number is None:
            return _Value(None, str(value))
        found = bytearray(len(self.order))
        for at, byte in enumerate(number.to_bytes(len(self.order), "little")):
            found[self.order[at]] = byte
        return _Value(int.from_bytes(found, "little"), str(value))

    @value.setter
    def value(self, number: int) -> None:
        given = number.to_bytes(len(self.order), "little")
        self._signal.value = int.from_bytes(bytes(given[at] for at in self.order), "little")


def striped(size: int, lanes: int, order: Sequence[int] | None = None) -> list[int]:
    """Returns the order of a beat of `size` bytes on `lanes` lanes that stand one behind the other, each with every so many bytes as
    there are lanes: byte n goes to lane n modulo `lanes`. `order` says which lane stands at each place."""
    if lanes < 1 or size % lanes:
        raise InputError(f"lanes: found {lanes}, expected a divisor of {size}")
    chosen = range(lanes) if order is None else order
    if sorted(chosen) != list(range(lanes)):
        raise InputError(f"order: found {list(chosen)}, expected each of 0 to {lanes - 1} once")
    return [lane + lanes * row for lane in chosen for row in range(size // lanes)]


def _find(entity: SimHandleBase, name: str, optional: bool = False) -> Signal:
    found = getattr(entity, name, None)
    if found is None and not optional:
        raise AttributeError(f"{entity._path}: found no signal `{name}`, expected one for the flit interface")
    return found


class _Named(FlitBus):
    """A bus whose signals have names of their own: those that it needs, and those that may be missing."""

    needed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    def __init__(self, entity: SimHandleBase, prefix: str, order: Sequence[int] | None = None, **names: str) -> None:
        unknown = set(names) - {*self.needed, *self.optional}
        if unknown:
            raise TypeError(f"found signal `{min(unknown)}`, expected one of {', '.join((*self.needed, *self.optional))}")
        found = {key: _find(entity, names.get(key, f"{prefix}_{key}")) for key in self.needed}
        for key in self.optional:
            # A signal whose name was given has to be there.
            found[key] = _find(entity, names.get(key, f"{prefix}_{key}"), optional=key not in names)
        self.name = prefix
        self.signals: dict[str, Signal] = found
        self.ready: Signal = None
        self._take(found)
        if order is not None:
            self.data = ReorderedSignal(self.data, order)

    @classmethod
    def from_prefix(  # type: ignore[override]  # no signal is called order
        cls, entity: SimHandleBase, prefix: str, order: Sequence[int] | None = None, **signals: str
    ) -> Any:
        """The bus of `<prefix>_<signal>`; `signals` gives other names, and `order` the places of the bytes of a beat."""
        return cls(entity, prefix, order, **signals)

    def _take(self, signals: dict[str, Signal]) -> None:
        self.valid, self.data = signals["valid"], signals["data"]


class AxiStreamBus(_Named):
    """An AXI-Stream whose packets are flits. The width of tdata need not divide a flit where there is tkeep: the last beat keeps what
    is left. `user` says what tuser is beside a flit; `users` has what came with each beat that a monitor or a sink has seen."""

    needed, optional = _named("axi-stream")
    user: Callable[[bytes], int] | int = 0

    def _take(self, signals: dict[str, Signal]) -> None:
        self.valid, self.data, self.ready = signals["tvalid"], signals["tdata"], signals["tready"]
        self._flit_bytes = 0

    def beats(self, flit_bytes: int) -> int:
        """Number of beats of a flit."""
        self._flit_bytes = flit_bytes
        size = len(self.data) // 8
        if len(self.data) % 8 or not size:
            raise ValueError(f"{self.name}: found {len(self.data)} bits of tdata, expected whole bytes")
        if flit_bytes % size and self.signals["tkeep"] is None:
            raise ValueError(f"{self.name}: found {size} bytes of tdata and no tkeep, expected a divisor of {flit_bytes}")
        return -(-flit_bytes // size)

    def _kept(self, number: int, count: int) -> int:
        """tkeep of a beat."""
        size = len(self.data) // 8
        kept = (1 << (self._flit_bytes - size * (count - 1) if number == count - 1 else size)) - 1
        order = self.data.order if isinstance(self.data, ReorderedSignal) else range(size)
        return sum((kept >> byte & 1) << at for at, byte in enumerate(order))

    def offer(self, word: int, number: int, count: int, flit: bytes) -> None:
        """Drives a beat."""
        super().offer(word, number, count, flit)
        sides = {"tkeep": self._kept(number, count), "tlast": int(number == count - 1)}
        sides["tuser"] = self.user(flit) if callable(self.user) else self.user
        for key, value in sides.items():
            if self.signals[key] is not None:
                self.signals[key].value = value

    def mistake(self, number: int, count: int) -> Mistake | None:
        """What is wrong with tlast or tkeep."""
        for key, expected in (("tlast", int(number == count - 1)), ("tkeep", self._kept(number, count))):
            signal = self.signals[key]
            if signal is not None and not _number(signal.value) == expected:
                return key, str(signal.value), f"{expected:#x} in beat {number} of {count}"
        return None


class CreditedFlitBus(_Named):
    """An interface like CXS: a beat that is valid is transferred at every edge, and costs a credit. The receiver grants a credit for each clock
    in which crdgnt is high, at most `credits` more than have come back as beats. A beat needs a credit of an edge before its own."""

    needed, optional = _named("credited")

    def _take(self, signals: dict[str, Signal]) -> None:
        super()._take(signals)
        self._credits = 8
        # Of a source: what it may send. Of a sink: what it has granted and not got back, and what of that stood on the wires at an edge.
        self._may_send, self._granted, self._seen, self._grants = 0, 0, 0, False

    @property
    def credits(self) -> int:
        """Credits that a sink grants, at least 1."""
        return self._credits

    @credits.setter
    def credits(self, count: int) -> None:
        self._credits = _at_least_1(f"{self.name}: credits", count)

    def source_in_reset(self) -> None:
        """A source has no credit behind a reset."""
        self.valid.value = 0
        self._may_send = 0

    def clock_source(self) -> None:
        """Takes a credit."""
        self._may_send += self.signals["crdgnt"].value == 1

    def may_offer(self) -> bool:
        """Whether there is a credit."""
        return self._may_send > 0

    def offer(self, word: int, number: int, count: int, flit: bytes) -> None:
        """Drives a beat and spends its credit."""
        super().offer(word, number, count, flit)
        self._may_send -= 1
        if self.signals["last"] is not None:
            self.signals["last"].value = int(number == count - 1)

    def is_accepted(self) -> bool:
        """A beat always is."""
        return True

    def sink_in_reset(self) -> None:
        """A sink has granted nothing behind a reset."""
        self.signals["crdgnt"].value = 0
        self._granted, self._seen, self._grants = 0, 0, False

    def arrives(self, was_ready: bool) -> bool:
        """Whether a beat comes. Raises `AssertionError` for one without a credit."""
        comes = bool(self.valid.value == 1)
        if comes and self._seen == 0:
            raise AssertionError(f"{self.name}: found a beat without a credit, expected none until crdgnt has been high")
        self._granted -= comes
        self._seen += self._grants - comes
        return comes

    def drive_ready(self, ready: bool) -> bool:
        """Grants a credit, or pauses."""
        grants = ready and self._granted < self.credits
        self.signals["crdgnt"].value = int(grants)
        self._granted += grants
        self._grants = grants
        return True

    def rights(self) -> Callable[[bool], Mistake | None]:
        """A beat needs a credit that was granted at an edge before."""
        balance = 0

        def judge(offers: bool) -> Mistake | None:
            nonlocal balance
            is_wrong = offers and balance == 0
            balance += int(self.signals["crdgnt"].value == 1) - int(offers and not is_wrong)
            return ("valid", "a beat without a credit", "none until crdgnt has been high") if is_wrong else None

        return judge

    def mistake(self, number: int, count: int) -> Mistake | None:
        """What is wrong with last."""
        signal, expected = self.signals["last"], int(number == count - 1)
        if signal is None or signal.value == expected:
            return None
        return "last", str(signal.value), f"{expected} in beat {number} of {count}"


class StateFlitBus(_Named):
    """An interface like LPIF and FDI: whoever sends asks for the state Active on state_req, and may offer data once state_sts says it; a beat
    is transferred where irdy, valid and trdy are high. A sink follows the request behind `bring_up` clocks."""

    RESET, ACTIVE = 0, 1
    needed, optional = _named("state")

    def _take(self, signals: dict[str, Signal]) -> None:
        super()._take(signals)
        self.ready = signals["trdy"]
        self._bring_up, self._clocks = 4, 0

    @property
    def bring_up(self) -> int:
        """Clocks behind which a sink follows the request, at least 1."""
        return self._bring_up

    @bring_up.setter
    def bring_up(self, clocks: int) -> None:
        self._bring_up = _at_least_1(f"{self.name}: bring_up", clocks)

    def withheld_by(self) -> str | None:
        """irdy is needed beside valid."""
        return None if self.signals["irdy"].value == 1 else "irdy"

    def rights(self) -> Callable[[bool], Mistake | None]:
        """Data need the state Active; what stays outside of it is told once."""
        was_outside = False

        def judge(offers: bool) -> Mistake | None:
            nonlocal was_outside
            state = self.signals["state_sts"].value
            is_outside = offers and not state == self.ACTIVE
            is_news, was_outside = is_outside and not was_outside, is_outside
            return ("state_sts", f"data in state {state}", f"{self.ACTIVE}, Active") if is_news else None

        return judge

    def source_in_reset(self) -> None:
        """A source asks for nothing in reset."""
        self.valid.value = 0
        self.signals["irdy"].value = 0
        self.signals["state_req"].value = self.RESET

    def clock_source(self) -> None:
        """Asks for Active."""
        self.signals["state_req"].value = self.ACTIVE

    def may_offer(self) -> bool:
        """Whether the state is Active."""
        return bool(self.signals["state_sts"].value == self.ACTIVE)

    def drive_valid(self, valid: bool) -> None:
        """A beat is offered, or none."""
        super().drive_valid(valid)
        self.signals["irdy"].value = int(valid)

    def sink_in_reset(self) -> None:
        """A sink is in Reset."""
        super().sink_in_reset()
        self.signals["state_sts"].value = self.RESET
        self._clocks = 0

    def arrives(self, was_ready: bool) -> bool:
        """Whether a beat is transferred. Raises `AssertionError` for one outside Active."""
        offers = bool(self.valid.value == 1 and self.signals["irdy"].value == 1)
        if offers and self._clocks < self.bring_up:
            raise AssertionError(f"{self.name}: found data in the state Reset, expected it in Active alone")
        return offers and was_ready

    def drive_ready(self, ready: bool) -> bool:
        """Follows the state, and is ready in Active."""
        asks = self.signals["state_req"].value == self.ACTIVE
        self._clocks = min(self._clocks + 1, self.bring_up) if asks else 0
        is_active = self._clocks == self.bring_up
        self.signals["state_sts"].value = self.ACTIVE if is_active else self.RESET
        return super().drive_ready(ready and is_active)


class _WithoutSide:
    """The signal of a 68B unit where protocol ID or CRC have no signal: they are what a good flit has."""

    def __init__(self, pid: Signal, data: Signal, check: Signal) -> None:
        self._pid, self._data, self._check = pid, data, check

    def __len__(self) -> int:
        return _SIDE_BITS + _SLOT_BITS + _SIDE_BITS

    @property
    def value(self) -> Any:
        slots = _number(self._data.value)
        pid = PID_CACHEMEM if self._pid is None else _number(self._pid.value)
        if slots is None or pid is None:
            return _Value(None, str(self._data.value))
        check = _number(self._check.value) if self._check is not None else crc(Crc.CXL68, slots.to_bytes(_SLOT_BITS // 8, "little"))
        if check is None:
            return _Value(None, str(self._check.value))
        return _Value(pid | slots << _SIDE_BITS | check << _SIDE_BITS + _SLOT_BITS, str(self._data.value))

    @value.setter
    def value(self, number: int) -> None:
        mask = (1 << _SIDE_BITS) - 1
        self._data.value = number >> _SIDE_BITS & (1 << _SLOT_BITS) - 1
        for signal, lsb in ((self._pid, 0), (self._check, _SIDE_BITS + _SLOT_BITS)):
            if signal is not None:
                signal.value = number >> lsb & mask


class Flit68Bus(_Named):
    """The interface of a 68B core whose data are the 512 bits of the slots, with the protocol ID and the CRC beside them, or without. What is not
    there is what a good flit of CXL.cachemem has: a core without crc on its input gets flits whose CRC was good."""

    needed, optional = _named("slots68")

    def _take(self, signals: dict[str, Signal]) -> None:
        self.valid, self.ready = signals["valid"], signals["ready"]
        for key, bits in (("data", _SLOT_BITS), ("pid", _SIDE_BITS), ("crc", _SIDE_BITS)):
            signal = signals[key]
            if signal is not None and len(signal) != bits:
                raise ValueError(f"{self.name}: found {len(signal)} bits of {key}, expected {bits}")
        self.data = _WithoutSide(signals["pid"], signals["data"], signals["crc"])
