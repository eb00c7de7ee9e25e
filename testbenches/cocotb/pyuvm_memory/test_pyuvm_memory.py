"""pyuvm beside RTL: the memory of the guide with sequences, an agent, a scoreboard and the judgement of the model; and that the
scoreboard and the model each notice what is wrong.

The classes stand in cxl_mem_agent.py; this file has an environment, a sequence and tests.
"""

import cocotb
import common
import pyuvm
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from cocotbext.scalepool import CxlFlitBus, SeenMessage, bit_flips
from cxl_mem_agent import LINE_BYTES, CxlMemAgent, CxlMemDriver, MemoryInterface, MemoryItem, MemoryScoreboard
from pyuvm import ConfigDB, uvm_active_passive_enum, uvm_env, uvm_sequence, uvm_subscriber, uvm_test

RULES = {"transactions": "hdm-h", "all_writers_seen": True, "answer_flits": 200, "liveness_flits": 1000}
LINES = 16


class RandomAccesses(uvm_sequence):
    """Writes every line, then reads and writes parts of random lines, one access of a line at a time. `failed` has the items that
    ended with an error."""

    def __init__(self, name: str, driver: CxlMemDriver, accesses: int):
        super().__init__(name)
        self.driver, self.accesses = driver, accesses
        self.items: list[MemoryItem] = []

    @property
    def failed(self) -> list[MemoryItem]:
        return [item for item in self.items if item.error]

    async def body(self):
        draw = common.draw()
        for line in range(LINES):
            await self._do(MemoryItem("fill", LINE_BYTES * line, LINE_BYTES, draw.randbytes(LINE_BYTES)))
        await self.driver.drain()
        for _ in range(self.accesses):
            # Different lines, so that no two accesses of one line are open.
            for line in draw.sample(range(LINES), 4):
                first, size = draw.randrange(32), draw.randint(1, 32)
                data = draw.randbytes(size) if draw.random() < 0.5 else None
                await self._do(MemoryItem("access", LINE_BYTES * line + first, size, data))
            await self.driver.drain()

    async def _do(self, item: MemoryItem):
        self.items.append(item)
        await self.start_item(item)
        await self.finish_item(item)


class MessageSubscriber(uvm_subscriber):
    """Hands the messages of a monitor to the scoreboard of its environment."""

    def write(self, seen: SeenMessage):
        self.parent.scoreboard.message(seen)


class EventSubscriber(uvm_subscriber):
    """Keeps the rules that the design has broken. What happens to flits on the wire is repaired by the link."""

    def build_phase(self):
        self.broken = []

    def write(self, event):
        if event.by != "line":
            self.broken.append(event.violation.rule)


class MemoryEnv(uvm_env):
    """An agent, a scoreboard, and what the model thinks of the design."""

    def build_phase(self):
        self.agent = CxlMemAgent.create("agent", self)
        self.scoreboard = MemoryScoreboard.create("scoreboard", self)
        self.messages = MessageSubscriber("messages", self)
        self.events = EventSubscriber("events", self)

    def connect_phase(self):
        self.agent.monitor.messages.connect(self.messages.analysis_export)
        self.agent.monitor.events.connect(self.events.analysis_export)


class MemoryTest(uvm_test):
    """What all tests share: the interface, the environment, and random accesses."""

    damage = 0.0
    bug = 0
    rounds = 2
    rules = RULES

    def build_phase(self):
        dut = cocotb.top
        interface = MemoryInterface(CxlFlitBus.from_prefix(dut, "rx"), CxlFlitBus.from_prefix(dut, "tx"), dut.clk_i, dut.rst_ni)
        ConfigDB().set(None, "*", "interface", interface)
        ConfigDB().set(None, "*", "rules", self.rules)
        self.env = MemoryEnv("env", self)

    async def run_phase(self):
        self.raise_objection()
        dut, driver = cocotb.top, self.env.agent.driver
        Clock(dut.clk_i, 1, "ns").start()
        dut.rst_ni.value, dut.bug_i.value = 0, self.bug
        await ClockCycles(dut.clk_i, 4)
        dut.rst_ni.value = 1
        if self.damage:
            driver.link.tx.set_fault(bit_flips(self.damage, seed=1))
            driver.link.rx.set_fault(bit_flips(self.damage, seed=2))
        self.sequence = RandomAccesses("accesses", driver, common.size(self.rounds))
        await self.sequence.start(self.env.agent.sequencer)
        # Answers, acknowledgements and credits on their way.
        await ClockCycles(dut.clk_i, 200)
        self.drop_objection()

    def check_phase(self):
        scoreboard = self.env.scoreboard
        assert scoreboard.wrong == [] and self.env.events.broken == [], (scoreboard.wrong, self.env.events.broken)
        assert self.sequence.failed == [], [str(item.error) for item in self.sequence.failed]
        # Each access lies in one line, so it is one request.
        assert scoreboard.writes + scoreboard.reads == len(self.sequence.items) and scoreboard.reads, (scoreboard.writes, scoreboard.reads)


@pyuvm.test(timeout_time=20 * common.SOAK, timeout_unit="us")
class MemoryKeepsWhatIsWritten(MemoryTest):
    """A healthy link, with a second agent, which is passive, and a scoreboard of its own."""

    rounds = 5

    def build_phase(self):
        super().build_phase()
        ConfigDB().set(self, "watcher", "is_active", uvm_active_passive_enum.UVM_PASSIVE)
        self.watcher = CxlMemAgent.create("watcher", self)
        self.scoreboard = MemoryScoreboard.create("scoreboard", self)
        self.messages = MessageSubscriber("messages", self)

    def connect_phase(self):
        self.watcher.monitor.messages.connect(self.messages.analysis_export)

    def check_phase(self):
        super().check_phase()
        found, expected = self.scoreboard, self.env.scoreboard
        assert (found.writes, found.reads, found.memory) == (expected.writes, expected.reads, expected.memory) and found.wrong == []
        assert not hasattr(self.watcher, "driver")


@pyuvm.test(timeout_time=20 * common.SOAK, timeout_unit="us")
class DamageIsRepaired(MemoryTest):
    """One flit in fifty is damaged each way, and nothing of it is seen above the link."""

    damage = 0.02
    rounds = 5
    # An end whose RETRY.Req or RETRY.Ack is lost asks again after 4,096 flits, and everybody waits until then, several times in a row.
    rules = {**RULES, "answer_flits": 50_000, "liveness_flits": 50_000}

    def check_phase(self):
        super().check_phase()
        damaged = [event for event in self.env.agent.monitor.link.events if event.by == "line"]
        assert damaged, "found no damaged flit, expected some"


@pyuvm.test(timeout_time=20 * common.SOAK, timeout_unit="us")
class WrongDataIsNoticed(MemoryTest):
    """Two chunks of a line change places: the scoreboard, the model beside the design and the call of the host each say so."""

    bug = 3

    def check_phase(self):
        scoreboard, broken = self.env.scoreboard, self.env.events.broken
        assert scoreboard.wrong and "expected 0x" in scoreboard.wrong[0], scoreboard.wrong
        assert broken and set(broken) == {"TXN-DAT-01"}, broken
        assert self.sequence.failed and "TXN-DAT-01" in str(self.sequence.failed[0].error)
        scoreboard.message(SeenMessage("tx", 0, "cxl68.s2m_ndr", {"tag": 0xFFFF}))
        assert "which is not open" in scoreboard.wrong[-1], scoreboard.wrong


@pyuvm.test(timeout_time=20 * common.SOAK, timeout_unit="us")
class LostAnswerIsNoticed(MemoryTest):
    """Every 8th write has no Cmp."""

    bug = 6

    def check_phase(self):
        scoreboard, broken = self.env.scoreboard, self.env.events.broken
        assert scoreboard.wrong and "without an answer" in scoreboard.wrong[-1], scoreboard.wrong
        # The watcher tells it when it has waited for too long, or when the test is over; the host as soon as it has waited for too long.
        assert broken and set(broken) <= {"TXN-END-01", "TXN-END-02"}, broken
        assert "TXN-END-02" in str(self.sequence.failed[0].error)
