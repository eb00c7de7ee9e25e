"""What a transaction agent needs of the link below it: an end that somebody steps, and a way to wait.

Two kinds of links have it. `LinkPartner` steps its end by a clock of the simulator. `LinkPair` needs no simulator: it has two ends
back to back and steps both in a task of asyncio.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from .flit import Dir
from .model import Event, LinkEnd

__all__ = ["LinkPair", "PairedEnd", "SteppedLink", "Waitable"]


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


class LinkPair:
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
    wait for the link get the exception, and so does the block.
    """

    def __init__(self, protocol: str = "cxl-68b", **config: int | str | bool) -> None:
        self.host = PairedEnd(protocol, "down", **config)
        self.device = PairedEnd(protocol, "up", **config)
        self.flit_clocks = 0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "LinkPair":
        self._task = asyncio.get_running_loop().create_task(self._run())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        task = self._task
        if task is None:
            return
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return
        except Exception:
            # The block's own exception says more.
            if kind is None:
                raise

    async def _run(self) -> None:
        down: bytes | None = None
        up: bytes | None = None
        try:
            while True:
                # Both hear what was sent in the flit clock before.
                down, up = self.host._step(up), self.device._step(down)
                self.flit_clocks += 1
                await asyncio.sleep(0)
        except Exception as error:
            for fail in self.host.on_error + self.device.on_error:
                fail(error)
            raise
