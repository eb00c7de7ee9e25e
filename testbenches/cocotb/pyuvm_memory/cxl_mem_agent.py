"""A UVM agent for a CXL.mem memory, in pyuvm, on the classes of cocotbext.scalepool.

`CxlMemAgent` stands where the host is. Its driver turns items into calls of `CxlMemHost`, so that tags, credits, retry and packing are
those of the model. Its monitor is a passive end beside the design: on `messages` it writes each message of either direction once, however
often its flit was sent, and on `events` each broken rule. Scoreboards subscribe to `messages`, so that they see what passes at the
pins and nothing of what the driver means. With `is_active` of the config database at UVM_PASSIVE, only the monitor is made.

The config database has what the agent needs: `interface` (`MemoryInterface`), and `rules`, the keys of the two link ends.
"""

from dataclasses import dataclass

import cocotb
from cocotb.triggers import Event
from cocotbext.scalepool import CxlFlitBus, CxlLinkPartner, CxlMemHost, ScalepoolError, SeenMessage
from pyuvm import uvm_agent, uvm_analysis_port, uvm_driver, uvm_monitor, uvm_scoreboard, uvm_sequence_item, uvm_sequencer

LINE_BYTES = 64


@dataclass
class MemoryInterface:
    """Signals of the design: flits that come to it, flits that it sends, clock, and reset, which is active low."""

    to_design: CxlFlitBus
    from_design: CxlFlitBus
    clock: object
    reset: object

    def ends(self, passive: bool) -> tuple:
        """What receives and what sends at the host, or at the design, whose end is watched."""
        buses = (self.from_design, self.to_design)
        return (*(reversed(buses) if passive else buses), self.clock, self.reset)


class MemoryItem(uvm_sequence_item):
    """A read of `size` bytes, or a write of `data`. Once the driver is drained, `data` has the bytes of a read, and `error` says why
    an access has failed."""

    def __init__(self, name, address: int, size: int, data: bytes | None = None):
        super().__init__(name)
        self.address, self.size, self.data = address, size, data
        self.is_write = data is not None
        self.error: ScalepoolError | None = None


class CxlMemDriver(uvm_driver):
    """Carries out items, each in its own task: as many requests are open as `outstanding` of the host allows."""

    def build_phase(self):
        self.link = CxlLinkPartner(
            *self.cdb_get("interface").ends(passive=False), dir="down", reset_active_level=False, **self.cdb_get("rules"))
        self.host = CxlMemHost(self.link, outstanding=16)
        self.open, self.rested = 0, Event()

    async def run_phase(self):
        while True:
            item = await self.seq_item_port.get_next_item()
            self.open += 1
            self.rested.clear()
            cocotb.start_soon(self._carry_out(item))
            self.seq_item_port.item_done()

    async def _carry_out(self, item: MemoryItem):
        try:
            if item.is_write:
                await self.host.write(item.address, item.data)
            else:
                item.data = await self.host.read(item.address, item.size)
        except ScalepoolError as error:
            item.error = error
        self.open -= 1
        if self.open == 0:
            self.rested.set()

    async def drain(self):
        """Waits until no item is open."""
        if self.open:
            await self.rested.wait()


class CxlMemMonitor(uvm_monitor):
    """Watches the design's end of the link."""

    def build_phase(self):
        self.messages = uvm_analysis_port("messages", self)
        self.events = uvm_analysis_port("events", self)
        self.told = 0
        self.link = CxlLinkPartner(
            *self.cdb_get("interface").ends(passive=True), dir="up", passive=True, messages=True, reset_active_level=False,
            **self.cdb_get("rules"))
        self.link.on_step.append(self._look)

    def _look(self):
        while (message := self.link.end.take_seen()) is not None:
            self.messages.write(message)
        for event in self.link.events[self.told:]:
            self.events.write(event)
        self.told = len(self.link.events)

    def extract_phase(self):
        self.link.finish()
        self._look()


class CxlMemAgent(uvm_agent):
    """Sequencer, driver and monitor."""

    def build_phase(self):
        super().build_phase()
        self.monitor = CxlMemMonitor.create("monitor", self)
        if self.active():
            self.sequencer = uvm_sequencer("sequencer", self)
            self.driver = CxlMemDriver.create("driver", self)

    def connect_phase(self):
        if self.active():
            self.driver.seq_item_port.connect(self.sequencer.seq_item_export)


class MemoryScoreboard(uvm_scoreboard):
    """Keeps the bytes of memory from what passes at the pins, and compares every read with them.

    A write counts from its Cmp on, and until then a read of its line may bring either; a host that waits for its answers, line by
    line, never asks for that. A byte that was never written is not compared.
    """

    def build_phase(self):
        self.open: dict[int, SeenMessage] = {}
        self.memory: dict[int, int] = {}
        self.wrong: list[str] = []
        self.reads = self.writes = 0

    def message(self, seen: SeenMessage):
        """Takes a message of the monitor."""
        if seen.port == "rx":
            self.open[seen.fields["tag"]] = seen
            return
        request = self.open.pop(seen.fields["tag"], None)
        if request is None:
            self.wrong.append(f"unit {seen.unit}: {seen.layout} with tag {seen.fields['tag']:#x}, which is not open")
        elif request.layout.endswith("m2s_rwd"):
            self.writes += 1
            for byte in range(LINE_BYTES):
                if request.enables is None or request.enables >> byte & 1:
                    self.memory[request.fields["address"] + byte] = request.data[byte]
        else:
            self.reads += 1
            self._compare(request.fields["address"], seen)

    def _compare(self, line: int, seen: SeenMessage):
        for byte, found in enumerate(seen.data):
            expected = self.memory.get(line + byte, found)
            if found != expected:
                self.wrong.append(f"unit {seen.unit}: address {line + byte:#x}: found {found:#04x}, expected {expected:#04x}")
                return

    def check_phase(self):
        if self.open:
            self.wrong.append(f"found {len(self.open)} requests without an answer, expected none")
