"""Agents that drive a flit interface: `FlitSource` sends flits, `FlitSink` accepts them.

Both sample the interface at each rising edge of the clock, before the design under test changes it, and drive it after the
edge. In reset `valid` and `ready` are low; a flit that has been sent in part is lost, and those in a queue stay.
"""

import logging
import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeAlias

import cocotb
from cocotb.triggers import Event, RisingEdge, SimTimeoutError, with_timeout

from ._library import octets
from .bus import FlitBus, Signal
from .flit import FLIT_BYTES

TimeUnit: TypeAlias = Literal["step", "fs", "ps", "ns", "us", "ms", "sec"]
"""The units of time of cocotb."""


def random_pauses(share: float, seed: int) -> Iterator[bool]:
    """Pause generator that yields True in this share of the clocks, at random. The same seed gives the same pauses."""
    draw = random.Random(seed)
    while True:
        yield draw.random() < share


def bit_flips(rate: float, seed: int) -> Callable[[bytes], bytes]:
    """Returns a fault for `FlitSource.set_fault` that flips one random bit in this share of the flits."""
    draw = random.Random(seed)

    def flip(data: bytes) -> bytes:
        if draw.random() >= rate:
            return data
        wrong = bytearray(data)
        bit = draw.randrange(8 * len(data))
        wrong[bit // 8] ^= 1 << bit % 8
        return bytes(wrong)

    return flip


class Agent:
    """Base of all agents of an interface: bus, clock, reset, protocol and log.

    `protocol` is a key of `flit.FLIT_BYTES`. If it is left out, it is the `default_protocol` of the class.
    """

    default_protocol = "cxl-68b"

    def __init__(
        self, bus: FlitBus, clock: Signal, reset: Signal | None, reset_active_level: bool, protocol: str
    ) -> None:
        self.bus = bus
        self.clock = clock
        self.reset = reset
        self.protocol = protocol or self.default_protocol
        self.flit_bytes = FLIT_BYTES[self.protocol]
        self.log = logging.getLogger(f"cocotb.{bus.name}")
        self._active_level = int(reset_active_level)
        self._beat_count = bus.beats(self.flit_bytes)
        self._beat_bytes = len(bus.data) // 8
        self._task = cocotb.start_soon(self._run())

    @property
    def beats(self) -> int:
        """Beats of a flit on this interface."""
        return self._beat_count

    def _in_reset(self) -> bool:
        return self.reset is not None and self.reset.value == self._active_level

    async def _run(self) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        """Stops the agent: it neither drives nor watches from then on."""
        self._task.cancel()


class _Pausing(Agent):
    """Base of the agents that have a queue, may pause and may damage flits."""

    def __init__(
        self, bus: FlitBus, clock: Signal, reset: Signal | None, reset_active_level: bool, protocol: str
    ) -> None:
        self.queue: deque[bytes] = deque()
        self.pause = False
        self._pauses: Iterator[bool] | None = None
        self._fault: Callable[[bytes], bytes] | None = None
        super().__init__(bus, clock, reset, reset_active_level, protocol)

    def set_pause_generator(self, generator: Iterable[bool]) -> None:
        """Pauses in each clock for which the generator yields True. After its end there are no pauses."""
        self._pauses = iter(generator)

    def clear_pause_generator(self) -> None:
        """Removes the pause generator. The agent then pauses only while `pause` is True."""
        self._pauses = None

    def _paused(self) -> bool:
        generated = next(self._pauses, False) if self._pauses is not None else False
        return bool(self.pause or generated)

    def set_fault(self, fault: Callable[[bytes], bytes] | None) -> None:
        """Sets a function that gets each flit and returns what a source drives, or a sink queues, instead, such as
        `bit_flips(1e-2, seed)`; None for no fault."""
        self._fault = fault

    def _damaged(self, data: bytes) -> bytes:
        return data if self._fault is None else self._fault(data)

    def count(self) -> int:
        """Returns the number of flits in the queue."""
        return len(self.queue)

    def empty(self) -> bool:
        """Returns whether the queue is empty."""
        return not self.queue

    def clear(self) -> None:
        """Removes all flits from the queue."""
        self.queue.clear()


def _joined(beats: list[int], size: int) -> bytes:
    """The bytes of some beats of so many bytes, the first one first."""
    return b"".join(beat.to_bytes(size, "little") for beat in beats)


class FlitSource(_Pausing):
    """Sends flits: drives `valid` and `data`, and waits for `ready` if the interface has it.

    `send` and `send_nowait` queue flits as bytes. A pause keeps `valid` low between two beats; a beat that is offered stays until
    it is accepted.
    """

    def __init__(
        self,
        bus: FlitBus,
        clock: Signal,
        reset: Signal | None = None,
        *,
        reset_active_level: bool = True,
        protocol: str = "",
    ) -> None:
        self.queue_occupancy_limit = 0
        self.sent = 0
        self._beats: deque[int] = deque()
        self._flit = b""
        self._done = Event()
        self._done.set()
        self._room = Event()
        super().__init__(bus, clock, reset, reset_active_level, protocol)

    def full(self) -> bool:
        """Returns whether the queue has reached `queue_occupancy_limit`; a limit of 0 is none."""
        return 0 < self.queue_occupancy_limit <= len(self.queue)

    def send_nowait(self, data: bytes) -> None:
        """Queues a flit. Raises `ValueError` if its length is wrong."""
        data = octets(data)
        if len(data) != self.flit_bytes:
            raise ValueError(f"{self.bus.name}: found {len(data)} bytes, expected a flit of {self.flit_bytes}")
        self.queue.append(data)
        self._done.clear()

    async def send(self, data: bytes) -> None:
        """Waits until the queue has room, and queues a flit."""
        while self.full():
            self._room.clear()
            await self._room.wait()
        self.send_nowait(data)

    def idle(self) -> bool:
        """Returns whether all flits have been accepted."""
        return not self.queue and not self._beats

    async def wait(self) -> None:
        """Waits until all flits have been accepted."""
        await self._done.wait()

    def _load(self) -> None:
        """Prepares the beats of the next flit."""
        data = self._damaged(self.queue.popleft())
        self._room.set()
        self._flit = data
        size = self._beat_bytes
        self._beats.extend(int.from_bytes(data[n : n + size], "little") for n in range(0, len(data), size))

    async def _run(self) -> None:
        bus, edge, offered = self.bus, RisingEdge(self.clock), False
        bus.source_in_reset()
        bus.data.value = 0
        while True:
            await edge
            paused = self._paused()
            if self._in_reset():
                self._beats.clear()
                offered = False
                bus.source_in_reset()
            else:
                bus.clock_source()
                if offered:
                    if not bus.is_accepted():
                        continue
                    self._beats.popleft()
                    self.sent += not self._beats
                may_offer = not paused and bus.may_offer()
                if not self._beats and self.queue and may_offer:
                    self._load()
                offered = bool(self._beats) and may_offer
                if offered:
                    bus.offer(self._beats[0], self._beat_count - len(self._beats), self._beat_count, self._flit)
                bus.drive_valid(offered)
            if self.idle():
                self._done.set()


class FlitSink(_Pausing):
    """Accepts flits: drives `ready`, if the interface has it, low in a pause, and queues the flits as bytes. A monitor beside it
    sees the flits as they were before `set_fault`."""

    def __init__(
        self,
        bus: FlitBus,
        clock: Signal,
        reset: Signal | None = None,
        *,
        reset_active_level: bool = True,
        protocol: str = "",
    ) -> None:
        self._came = Event()
        super().__init__(bus, clock, reset, reset_active_level, protocol)

    def recv_nowait(self) -> bytes:
        """Takes the oldest flit. Raises `IndexError` if there is none."""
        return self.queue.popleft()

    async def recv(self) -> bytes:
        """Waits for a flit and takes the oldest one."""
        while not self.queue:
            self._came.clear()
            await self._came.wait()
        return self.queue.popleft()

    async def wait(self, timeout: float = 0, timeout_unit: TimeUnit = "ns") -> None:
        """Waits until a flit is in the queue, at most for `timeout`; 0 waits without limit."""
        if self.queue:
            return
        self._came.clear()
        if not timeout:
            await self._came.wait()
            return
        try:
            await with_timeout(self._came.wait(), timeout, timeout_unit)
        except SimTimeoutError:
            return

    async def _run(self) -> None:
        bus, edge = self.bus, RisingEdge(self.clock)
        ready = False
        beats: list[int] = []
        bus.sink_in_reset()
        while True:
            await edge
            paused = self._paused()
            if self._in_reset():
                beats.clear()
                ready = False
                bus.sink_in_reset()
                continue
            if bus.arrives(ready):
                beats.append(bus.data.value.to_unsigned())
                if len(beats) == self._beat_count:
                    self.queue.append(self._damaged(_joined(beats, self._beat_bytes)[: self.flit_bytes]))
                    beats.clear()
                    self._came.set()
            ready = bus.drive_ready(not paused)
