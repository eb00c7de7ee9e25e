"""Watchers of a flit interface: `FlitMonitor` decodes and checks, `FlitScoreboard` compares. Neither drives a signal."""

import json
from collections import deque
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from dataclasses import dataclass

from cocotb.triggers import Event, RisingEdge
from cocotb.utils import get_sim_time

from ._library import octets
from .agents import Agent
from .bus import FlitBus, Signal, WatchedBus
from .flit import Decoder, Dir, Flit
from .errors import ScalepoolError
from .message import Violation, decode, layout
from .model import LinkEnd


@dataclass(frozen=True)
class Finding:
    """A broken rule: the time at which it was seen, the flit of the interface, counted from 0, and the rule."""

    time_ns: float
    flit: int
    violation: Violation

    def __str__(self) -> str:
        return f"{self.time_ns} ns, flit {self.flit}: {self.violation}"


MOST_OF_A_RULE = 4
"""Places of one flit at which one rule is told to be broken; garbage breaks some at hundreds."""


class News:
    """What is new of the rules that flits break.

    Of flits that are the same bit by bit, one behind the other, each rule is told once: a design that hangs sends nothing else.
    """

    def __init__(self) -> None:
        self._data: bytes | None = None
        self._told: set[str] = set()

    def of(self, flit: Flit) -> list[Violation]:
        """The violations of the next flit that are told."""
        if flit.data != self._data:
            self._data, self._told = flit.data, set()
        fresh = [violation for violation in flit.violations if violation.rule not in self._told]
        self._told |= {violation.rule for violation in fresh}
        found: list[Violation] = []
        for violation in fresh:
            if sum(other.rule == violation.rule for other in found) < MOST_OF_A_RULE:
                found.append(violation)
        return found


class FlitMonitor(Agent):
    """Watches an interface: decodes every flit and reports broken rules.

    `recv` returns the decoded flits in order, `findings` lists the broken rules so far, and `check` raises if there is one. Each
    finding is logged as an error. `on_flit` and `on_finding` are lists of functions that are called with each flit or finding.

    The handshake is checked, too (rule `HANDSHAKE`): outside reset `valid` is 0 or 1, and with `valid` high so is `data`; both
    stay as they are until `ready` is high. On a bus with credits a beat has one, and on a bus with states data stand in Active alone. `stable=False` allows designs that withdraw or change a flit. After a reset the stream
    of flits starts anew.

    A monitor sees one direction. It follows a retry of a stream that begins as a link does: behind a damaged flit it checks what
    a flit shows by itself, ID or header and CRC, until the stream continues (`Decoder` says more). Credits, and whether a retry
    is due, can be judged from both directions only: see `LinkPartner`. Of bit-identical flits in a row each broken rule is
    reported once. With `judges=False` flits are decoded, and only the handshake is checked.

    With `coverage=True` it counts which codes of its protocol pass, for `write_coverage`. One direction does not show all of what a
    receiver throws away: of CXL a flit that is sent again counts again. A passive `LinkPartner` knows.
    """

    def __init__(
        self,
        bus: FlitBus,
        clock: Signal,
        reset: Signal | None = None,
        *,
        reset_active_level: bool = True,
        protocol: str = "",
        dir: Dir = "down",
        stable: bool = True,
        judges: bool = True,
        coverage: bool = False,
    ) -> None:
        self.dir = dir
        self.stable = stable
        self.judges = judges
        self.findings: list[Finding] = []
        self.on_flit: list[Callable[[Flit], None]] = []
        self.on_data: list[Callable[[bytes], None]] = []
        self.on_finding: list[Callable[[Finding], None]] = []
        self.queue: deque[Flit] = deque()
        self.flits = 0
        self._came = Event()
        self._decoder = Decoder(protocol or self.default_protocol, dir)
        self._news = News()
        self._packet = b""
        super().__init__(WatchedBus(bus), clock, reset, reset_active_level, protocol)
        self._covered: LinkEnd | None = None
        if coverage:
            # Nobody looks at what it finds: with one direction it would miss the other one.
            config: dict[str, int | str | bool] = {"plain_flits": True} if self.protocol.startswith("cxl-") else {"liveness_flits": 0}
            self._covered = LinkEnd(self.protocol, dir, passive=True, coverage=True, **config)

    @property
    def rules(self) -> list[str]:
        """Ids of the rules that were broken so far, each once, in the order of their first finding."""
        return list(dict.fromkeys(finding.violation.rule for finding in self.findings))

    def write_coverage(self, path: str | PathLike[str]) -> None:
        """Writes what a monitor with `coverage=True` has seen, with the rules that it has reported, as a file that `scalepool coverage` reads
        and merges."""
        if self._covered is None:
            raise ScalepoolError("monitor: found no coverage, expected one that was made with coverage=True")
        rules = [finding.violation.rule for finding in self.findings]
        # What is no rule, as HANDSHAKE, has no row in a plan.
        broken = {rule: rules.count(rule) for rule in sorted(set(rules)) if "-" in rule}
        form = self._covered.coverage() | {"sources": [f"monitor of {self.bus.name}, {self.protocol} {self.dir}"], "broken": broken}
        Path(path).write_text(json.dumps(form) + "\n", encoding="utf-8")

    def count(self) -> int:
        """Returns the number of decoded flits in the queue."""
        return len(self.queue)

    def recv_nowait(self) -> Flit:
        """Takes the oldest decoded flit. Raises `IndexError` if there is none."""
        return self.queue.popleft()

    async def recv(self) -> Flit:
        """Waits for a decoded flit and takes the oldest one."""
        while not self.queue:
            self._came.clear()
            await self._came.wait()
        return self.queue.popleft()

    def finish(self) -> None:
        """Tells the monitor that no more flits follow, so that it decodes one that waits for the next (ualink, nvlink)."""
        self._answer(self._decoder.finish())

    def check(self, at_least: int = 1) -> None:
        """Raises `AssertionError` if a rule was broken or fewer flits than `at_least` were seen."""
        self.finish()
        if self.findings:
            shown = "\n".join(map(str, self.findings[:10]))
            more = len(self.findings) - 10
            shown += f"\nand {more} more" if more > 0 else ""
            raise AssertionError(f"{self.bus.name}: found {len(self.findings)} broken rules, expected none:\n{shown}")
        if self.flits < at_least:
            raise AssertionError(f"{self.bus.name}: found {self.flits} flits, expected at least {at_least}")

    def _find(self, violation: Violation, flit: int) -> None:
        finding = Finding(get_sim_time("ns"), flit, violation)
        self.log.error("%s", finding)
        self.findings.append(finding)
        for function in self.on_finding:
            function(finding)

    def _handshake(self, at: str, found: str, expected: str) -> None:
        self._find(Violation("HANDSHAKE", at, found, expected, "the handshake of the interface is violated"), self.flits)

    def _answer(self, answers: list[Flit]) -> None:
        for flit in answers:
            number = flit.form.get("index", self.flits)
            if flit.unreadable and self.judges:
                self._find(Violation("UNREADABLE", "flit", "", "", flit.unreadable), self.flits)
            for violation in self._news.of(flit) if self.judges else ():
                self._find(violation, number)
            for function in self.on_flit:
                function(flit)
            self.queue.append(flit)
            self._came.set()

    def _flit(self, data: bytes) -> None:
        for function in self.on_data:
            function(data)
        if self._covered is not None:
            self._covered.drive(data, "tx")
            self._covered.step()
            self._covered.events()
        if self.protocol == "nvlink":
            # A header says how many flits follow it.
            self._packet += data
            header = decode("nvlink.header", self._packet[: layout("nvlink.header").bytes]).fields
            if len(self._packet) < self.flit_bytes * (1 + min(int(header["len"]), 17)):
                self.flits += 1
                return
            data, self._packet = self._packet, b""
        self._answer(self._decoder.feed(data))
        self.flits += 1

    async def _run(self) -> None:
        bus, edge = self.bus, RisingEdge(self.clock)
        beats: list[int] = []
        offered, fresh, judge = None, True, bus.rights()
        while True:
            await edge
            if self._in_reset():
                if not fresh:
                    self._decoder.close()
                    self._decoder = Decoder(self.protocol, self.dir)
                    if self._covered is not None:
                        self._covered.reset()
                    beats.clear()
                    self._packet = b""
                offered, fresh, judge = None, True, bus.rights()
                continue
            fresh = False
            valid, ready = bus.valid.value, 1 if bus.ready is None else bus.ready.value
            if not valid.is_resolvable:
                self._handshake("valid", str(valid), "0 or 1")
                judge(False)
                continue
            withheld = "valid" if valid == 0 else bus.withheld_by()
            mistake = judge(withheld is None)
            if mistake is not None:
                self._handshake(*mistake)
            if withheld is not None:
                if offered is not None and self.stable:
                    self._handshake(withheld, "0", "1 until ready is high")
                offered = None
                continue
            word = bus.data.value
            if not word.is_resolvable:
                self._handshake("data", "X or Z", "0 or 1 in each bit while valid is high")
                continue
            word = word.to_unsigned()
            if offered is not None and word != offered and self.stable:
                self._handshake("data", f"{word:#x}", f"{offered:#x} until ready is high")
            if ready == 1:
                offered = None
                beats.append(word)
                mistake = bus.mistake(len(beats) - 1, self._beat_count)
                if mistake is not None:
                    self._handshake(*mistake)
                if len(beats) == self._beat_count:
                    data = b"".join(beat.to_bytes(self._beat_bytes, "little") for beat in beats)[: self.flit_bytes]
                    beats.clear()
                    self._flit(data)
            else:
                offered = word


class FlitScoreboard:
    """Compares the flits that a monitor sees, in order, with those that are expected.

    A difference raises `AssertionError` at once in the monitor, which fails the test. Call `check` at the end of a test: it
    raises if an expected flit is missing.
    """

    def __init__(self, monitor: FlitMonitor) -> None:
        self.monitor = monitor
        self.compared = 0
        self._expected: deque[tuple[bytes, bytes | None]] = deque()
        monitor.on_data.append(self._compare)

    def expect(self, data: bytes, mask: bytes | None = None) -> None:
        """Expects one more flit. `mask` has a 1 for each bit that is compared; None compares all."""
        self._expected.append((octets(data), mask))

    def waiting(self) -> int:
        """Returns the number of expected flits that have not come yet."""
        return len(self._expected)

    def _compare(self, found: bytes) -> None:
        number, name = self.compared, self.monitor.bus.name
        if not self._expected:
            raise AssertionError(f"{name}, flit {number}: found {found.hex()}, expected none")
        expected, mask = self._expected.popleft()
        self.compared += 1
        for at, (f, e) in enumerate(zip(found, expected, strict=True)):
            if (f ^ e) & (0xFF if mask is None else mask[at]):
                whole = f"found    {found.hex()}\nexpected {expected.hex()}"
                raise AssertionError(f"{name}, flit {number}, byte {at}: found {f:#04x}, expected {e:#04x}\n{whole}")

    def check(self) -> None:
        """Raises `AssertionError` if an expected flit has not come, or if none was compared at all."""
        if self._expected or not self.compared:
            raise AssertionError(
                f"{self.monitor.bus.name}: compared {self.compared} flits, {len(self._expected)} expected ones have not come"
            )
