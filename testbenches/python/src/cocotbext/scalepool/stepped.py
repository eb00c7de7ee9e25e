"""What a transaction agent needs of the link below it: an end that somebody steps, and a way to wait.

Three kinds of links have it. `LinkPartner` steps its end by a clock of the simulator. `LinkPair` and `SystemLink` need no simulator: the
one has two ends back to back, the other the end of a component that stands outside of a `System`; a task of asyncio steps them.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from .errors import ScalepoolError
from .flit import Dir
from .model import Event, LinkEnd, System

__all__ = ["LinkPair", "PairedEnd", "SteppedLink", "SystemLink", "Waitable"]


class Waitable(Protocol):
    """Something to wait for: an event of asyncio or of cocotb."""

    def set(self) -> None:
        """Wakes everybody who waits."""

    def wait(self) -> Any:
        """Returns what is awaited."""


class SteppedLink(Protocol):
    """One end of a link that is stepped: `LinkPartner`, or an end of a `LinkPair`.

    `on_step` are called behind each flit clock of the end, `on_error` when the link cannot go on. `received` counts the flits
    that have arrived, `events` has every broken rule so far, and `takers` the agents by the layouts that they take.
    """

    end: LinkEnd
    on_step: list[Callable[[], None]]
    on_error: list[Callable[[BaseException], None]]
    events: list[Event]
    received: int
    takers: dict[str, Any]

    def collect(self) -> list[Event]:
        """Moves what the end has noticed since the last call to `events`, and returns it."""

    def event(self) -> Waitable:
        """Returns an event to wait for."""


class PairedEnd:
    """One end of a `LinkPair`."""

    def __init__(self, protocol: str, dir: Dir, **config: int | str | bool) -> None:
        self.end = LinkEnd(protocol, dir, passive=False, **config)
        self.on_step: list[Callable[[], None]] = []
        self.on_error: list[Callable[[BaseException], None]] = []
        self.events: list[Event] = []
        self.received = 0
        self.takers: dict[str, Any] = {}

    def collect(self) -> list[Event]:
        """Moves what the end has noticed since the last call to `events`, and returns it."""
        fresh = self.end.events()
        self.events += fresh
        return fresh

    def event(self) -> asyncio.Event:
        """Returns an event of asyncio."""
        return asyncio.Event()

    def _step(self, arriving: bytes | None) -> bytes | None:
        """One flit clock: what is sent in it."""
        if arriving is not None:
            self.end.drive(arriving)
            self.received += 1
        self.end.step()
        self.collect()
        for function in self.on_step:
            function()
        return self.end.sample()


class _Stepped:
    """Ends that a task of asyncio steps as long as the block of `async with` runs, whenever everybody else waits."""

    def __init__(self, *ends: PairedEnd) -> None:
        self._ends = ends
        self._task: asyncio.Task[None] | None = None

    def _start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        task = self._task
        if task is None:
            return
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            self._fail(ScalepoolError("the link is stepped no more: its block has ended"))
            return
        except Exception:
            # The block's own exception says more.
            if kind is None:
                raise

    def _step_all(self) -> None:
        """One flit clock of all ends."""
        raise NotImplementedError

    async def _run(self) -> None:
        try:
            while True:
                self._step_all()
                await asyncio.sleep(0)
        except Exception as error:
            self._fail(error)
            raise

    def _fail(self, error: BaseException) -> None:
        """The ends are not stepped any more."""
        for end in self._ends:
            for fail in end.on_error:
                fail(error)


class LinkPair(_Stepped):
    """Two ends of a link back to back, a host and a device, which need no simulator: a flit that one of them sends arrives at the
    other in the next flit clock. They are stepped as long as the block of `async with` runs, whenever everybody else waits.

        >>> async def main():
        ...     async with LinkPair("cxl-68b", transactions="hdm-h") as pair:
        ...         host, device = CxlMemHost(pair.host), CxlMemDevice(pair.device)
        ...         await host.write(0x1000, bytes(range(64)))
        ...         return await host.read(0x1010, 4)
        >>> from cocotbext.scalepool import CxlMemDevice, CxlMemHost
        >>> asyncio.run(main()).hex()
        '10111213'

    `config` is that of both ends, see `LinkEnd`. If an agent or an end raises an exception, nothing is stepped any more, all who
    wait for the link get the exception, and so does the block. Behind the block nothing is stepped either, and a call raises `ScalepoolError`.
    """

    def __init__(self, protocol: str = "cxl-68b", **config: int | str | bool) -> None:
        self.host = PairedEnd(protocol, "down", **config)
        self.device = PairedEnd(protocol, "up", **config)
        self.flit_clocks = 0
        self._on_the_way: tuple[bytes | None, bytes | None] = (None, None)
        super().__init__(self.host, self.device)

    async def __aenter__(self) -> "LinkPair":
        self._start()
        return self

    def _step_all(self) -> None:
        # Both hear what was sent in the flit clock before.
        down, up = self._on_the_way
        self._on_the_way = self.host._step(up), self.device._step(down)
        self.flit_clocks += 1


class SystemLink(PairedEnd, _Stepped):
    """The link end of a component of a `System` that stands outside by its flits, for agents such as `CxlMemDevice`: what it sends is
    driven at the port, and what comes there arrives. System and end are stepped as long as the block of `async with` runs.

        >>> async def main():
        ...     system = System("cxl68-expander", external={"host": "flits"})
        ...     async with SystemLink(system, "host.cxl", "cxl-68b", "down", transactions="hdm-h") as link:
        ...         host = CxlMemHost(link)
        ...         await host.write(0x1000, bytes(range(64)))
        ...         return await host.read(0x1010, 4), system.metrics()["violations"]
        >>> from cocotbext.scalepool import CxlMemHost, System
        >>> asyncio.run(main())
        (b'\\x10\\x11\\x12\\x13', [])

    `protocol` and `dir` are those of the port; `config` is that of the end. A flit clock of the end passes in a cycle of the reference
    clock in which the system has room for what it sends, and with each flit that arrives.
    """

    def __init__(self, system: System, port: str, protocol: str, dir: Dir, **config: int | str | bool) -> None:
        PairedEnd.__init__(self, protocol, dir, **config)
        _Stepped.__init__(self, self)
        self.system = system
        self.port = port
        self._arrived: deque[bytes] = deque()
        # Units that were driven and that the system has not begun to send.
        self._driven = 0
        system.watch(port)
        system.watch(port, "tx")

    async def __aenter__(self) -> "SystemLink":
        self._start()
        return self

    def step(self) -> bool:
        """Advances by one cycle of the reference clock, for those who step by themselves. Returns False if nothing was left to do in
        the system."""
        is_going_on = self.system.step()
        while (sample := self.system.sample(self.port)) is not None:
            self._arrived.append(sample.unit)
        while self.system.sample(self.port, "tx") is not None:
            self._driven -= 1
        # A unit leaves in each flit clock of the system; one waits for the next.
        while self._driven < 2:
            unit = self._step(self._arrived.popleft() if self._arrived else None)
            if unit is not None:
                self.system.drive(self.port, unit)
                self._driven += 1
            if not self._arrived:
                break
        return is_going_on

    def _step_all(self) -> None:
        self.step()
