"""The model's end of a link on the two flit interfaces of a design: a link partner, or a watcher of both directions."""

import ctypes
import json
import os
from collections import deque
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

from cocotb.triggers import Event as CocotbEvent
from cocotb.triggers import RisingEdge

import cocotb

from . import _library as lib
from .agents import FlitSink, FlitSource
from .bus import FlitBus, Signal
from .errors import RuleError, ScalepoolError
from .flit import Dir
from .model import Event, LinkEnd, Port
from .monitor import FlitMonitor

#: How the events of a rule are taken.
Severity = Literal["error", "warning", "ignore"]


class LinkPartner:
    """One end of a link beside a design, with credits, retry and packing. One clock of the design is one flit clock of an
    active end. That of a passive one takes as many clocks as a flit has beats, on the wider interface where they differ, so that its
    limits are in flits.

    `rx` is the interface on which flits arrive at this end, `tx` the one on which it sends, and `dir` the direction in which it
    sends. With `passive=True` it drives nothing: it watches the design's own end, which sends on `tx` and receives on `rx`, and
    reports the rules that this end breaks. This flag is all that a test has to change to run with either.

    `end` is the `LinkEnd` itself: `end.send(..)` queues messages, `end.take()` returns those that have arrived. `events` lists
    all broken rules, `rules` those that a design has broken, and `rules_by` all of them by who broke them: errors that a test
    injects count for the `line`. An active end pauses while `tx` is not ready.

    With `raises=True` the first rule that a design breaks is a `RuleError`, at the flit that shows it: it fails the test. Where calls such
    as `CxlMemHost` stand on the partner, the rules of transactions that concern them are the exceptions of those calls instead.

    A passive partner judges both directions together, in the order in which flits end, so its `rx` and `tx` only pass them on; it
    may be two flits behind the design. `FlitMonitor` watches a single direction. `CxlMemHost` and `CxlMemDevice` stand on an
    active partner: their functions in `on_step` are called behind each flit clock of the end, those in `on_error` when it is
    reset; `received` counts the flits that have arrived. PASSIVE.md beside the package says what to tell a passive partner of the
    design in `config`.
    """

    default_protocol = "cxl-68b"

    def __init__(
        self,
        rx: FlitBus,
        tx: FlitBus,
        clock: Signal,
        reset: Signal | None = None,
        *,
        reset_active_level: bool = True,
        protocol: str = "",
        dir: Dir = "down",
        passive: bool = False,
        raises: bool = False,
        **config: int | str | bool,
    ) -> None:
        protocol = protocol or self.default_protocol
        self.end = LinkEnd(protocol, dir, passive=passive, **config)
        self.events: list[Event] = []
        self.on_step: list[Callable[[], None]] = []
        self.on_error: list[Callable[[BaseException], None]] = []
        self.received = 0
        self.takers: dict[str, Any] = {}
        self.passive = passive
        self.raises = raises
        self._waivers: dict[str, tuple[str, int | None]] = {}
        # Waivers that had expired when they were set: their rules, and what is to be said of them.
        self.expired_waivers: dict[str, str] = {}
        self._severities: dict[str, Severity] = {}
        # What a passive end has not been shown yet, with the clock in which each flit ended.
        self._seen: deque[tuple[int, Port, bytes]] = deque()
        self._clocks = 0
        self._flit_clocks = 1
        self.rx: FlitMonitor | FlitSink
        self.tx: FlitMonitor | FlitSource
        if passive:
            ways: tuple[Dir, Dir] = ("up", "down") if dir == "down" else ("down", "up")
            self.rx, self.tx = (
                FlitMonitor(bus, clock, reset, reset_active_level=reset_active_level, protocol=protocol, dir=way, judges=False)
                for bus, way in zip((rx, tx), ways)
            )
            self.rx.on_data.append(lambda data: self._seen.append((self._clocks, "rx", data)))
            self.tx.on_data.append(lambda data: self._seen.append((self._clocks, "tx", data)))
            self._flit_clocks = min(part.beats for part in (self.rx, self.tx))
        else:
            self.rx = FlitSink(rx, clock, reset, reset_active_level=reset_active_level, protocol=protocol)
            self.tx = FlitSource(tx, clock, reset, reset_active_level=reset_active_level, protocol=protocol)
        self._clock, self._reset, self._level = clock, reset, int(reset_active_level)
        self._task = cocotb.start_soon(self._run())

    @property
    def rules(self) -> list[str]:
        """Ids of the rules that a design has broken so far, each once: as the peer, or as the end that is watched. Waived events and
        warnings are left out."""
        return list(dict.fromkeys(event.violation.rule for event in self.events if event.by != "line" and self.is_error(event)))

    def waive(
        self, rule: str, reason: str, until_unit: int | None = None, *, until_day: str | None = None, today: str | None = None
    ) -> None:
        """Waives the events of a rule before the unit of this number, or all of them: they are in `events` and `waived`, and neither
        raise nor count in `rules`. `until_day` (`YYYY-MM-DD`) is the last day on which the waiver holds. It is compared with `today`, or,
        without it, with the environment variable SCALEPOOL_TODAY; no clock is asked, so that a run is the same on every day. A waiver
        that has expired waives nothing, is in `expired_waivers`, and is logged as a warning."""
        self._known(rule)
        if not reason.strip():
            raise ScalepoolError(f"waiver of {rule}: found no reason, expected why the rule may be broken")
        if until_day is not None:
            today = os.environ.get("SCALEPOOL_TODAY", "") if today is None else today
            if not today:
                raise ScalepoolError(f"waiver of {rule}: found the last day {until_day} and no day to compare it with, expected `today` or SCALEPOOL_TODAY")
            holds = ctypes.c_uint32()
            lib.call("sp_waiver_holds", *lib.text(until_day), *lib.text(today), ctypes.byref(holds))
            if not holds.value:
                self.expired_waivers[rule] = f"the waiver of {rule} has expired on {until_day}: {reason}"
                cocotb.log.warning(self.expired_waivers[rule])
                return
        self._waivers[rule] = (reason, until_unit)

    def set_severity(self, rule: str, severity: Severity) -> None:
        """Says how the events of a rule are taken: an `error` raises and counts in `rules`, a `warning` is logged, `ignore` neither."""
        self._known(rule)
        if severity not in get_args(Severity):
            raise ScalepoolError(f"severity of {rule}: found {severity!r}, expected one of {', '.join(get_args(Severity))}")
        self._severities[rule] = severity

    def is_error(self, event: Event) -> bool:
        """Returns whether an event is neither waived nor of a rule with a lower severity."""
        return self._reason(event) is None and self._severities.get(event.violation.rule, "error") == "error"

    @property
    def waived(self) -> list[tuple[Event, str]]:
        """Events that are waived, with the reason."""
        found = ((event, self._reason(event)) for event in self.events)
        return [(event, reason) for event, reason in found if reason is not None]

    @property
    def unused_waivers(self) -> list[str]:
        """Rules of waivers that no event has matched so far: the mistake is mended, the waiver has expired, or the id is not that of the rule."""
        used = {event.violation.rule for event, _ in self.waived}
        return [rule for rule in self._waivers if rule not in used]

    def _reason(self, event: Event) -> str | None:
        reason, until_unit = self._waivers.get(event.violation.rule, (None, None))
        return reason if until_unit is None or event.unit < until_unit else None

    @staticmethod
    def _known(rule: str) -> None:
        """Raises `InputError`, with the nearest ids, for a rule that there is not."""
        lib.call("sp_rule_known", *lib.text(rule))

    def write_coverage(self, path: str | PathLike[str]) -> None:
        """Writes what has passed at an end with `coverage=True`, as a file that `scalepool coverage` reads and merges."""
        Path(path).write_text(json.dumps(self.end.coverage()) + "\n", encoding="utf-8")

    @property
    def rules_by(self) -> dict[str, list[str]]:
        """Ids of all rules that were broken so far, each once, by who broke them: `peer`, `end` or `line`; see `Event`."""
        found: dict[str, list[str]] = {"peer": [], "end": [], "line": []}
        for event in self.events:
            if event.violation.rule not in found[event.by]:
                found[event.by].append(event.violation.rule)
        return found

    def collect(self) -> list[Event]:
        """Moves what the end has noticed since the last call to `events`, and returns it."""
        fresh = self.end.events()
        self.events += fresh
        for event in fresh:
            if self._reason(event) is None and self._severities.get(event.violation.rule) == "warning":
                cocotb.log.warning("flit %d on %s: %s", event.unit, event.port, event.violation.rule)
        return fresh

    def event(self) -> CocotbEvent:
        """Returns an event of cocotb to wait for."""
        return CocotbEvent()

    def finish(self) -> bool:
        """Tells the end that the run is over and all is at rest: with `transactions`, each request that is still owed an answer
        becomes an event. Returns whether none is. A waiver that nothing has matched is logged as a warning."""
        while self._seen:
            self._show()
        is_over = self.end.finish()
        self.collect()
        for rule in self.unused_waivers:
            cocotb.log.warning("the waiver of %s matches nothing: %s", rule, self._waivers[rule][0])
        return is_over

    def stop(self) -> None:
        """Stops the partner: it neither drives nor watches from then on, and calls that wait for it raise `ScalepoolError`."""
        for part in (self.rx, self.tx):
            part.stop()
        self._task.cancel()
        self._fail("the link partner was stopped")

    def _fail(self, text: str) -> None:
        for fail in self.on_error:
            fail(ScalepoolError(text))

    def _show(self) -> None:
        """Lets a flit clock of a passive end pass, with the oldest flit of each direction. What is sent and what ends behind it do
        not change places: an end shows what has come before."""
        if self._seen:
            clock, way, data = self._seen.popleft()
            self.end.drive(data, way)
            if self._seen:
                next_clock, next_way, next_data = self._seen[0]
                if next_way != way and (way == "rx" or next_clock == clock):
                    self._seen.popleft()
                    self.end.drive(next_data, next_way)
        self.end.step()

    def _raise(self, events: list[Event]) -> None:
        """Raises the first rule that a design has broken, if it is not an exception of a call."""
        for event in events:
            if event.by != "line" and self.is_error(event) and not self._is_told(event):
                raise RuleError(event)

    def _is_told(self, event: Event) -> bool:
        """Whether calls on this partner raise what breaks a rule of transactions: as what has come to one of them, or as what it sends."""
        agents = [agent for agent in self.takers.values() if event.violation.rule.startswith(agent.rules_judged)]
        return bool(agents) and (event.by == "end" or any(agent.concerns(event) for agent in agents))

    async def _run(self) -> None:
        edge = RisingEdge(self._clock)
        while True:
            await edge
            if self._reset is not None and self._reset.value == self._level:
                self._seen.clear()
                self._clocks = 0
                if self.end.state()["flit_clocks"]:
                    self.end.reset()
                    self.received = 0
                    self._fail("the link was reset")
                continue
            if isinstance(self.tx, FlitSource) and not self.tx.empty():
                continue
            if isinstance(self.rx, FlitSink) and not self.rx.empty():
                self.end.drive(self.rx.recv_nowait())
                self.received += 1
            self._clocks += 1
            if self.passive:
                if self._clocks % self._flit_clocks:
                    continue
                self._show()
                # Where the phases of the directions drift, nothing waits for longer than this.
                while self._seen and self._seen[0][0] + 2 * self._flit_clocks <= self._clocks:
                    self._show()
            else:
                self.end.step()
            behind = len(self.events)
            self.collect()
            for function in self.on_step:
                function()
            if self.raises:
                self._raise(self.events[behind:])
            if isinstance(self.tx, FlitSource):
                unit = self.end.sample()
                if unit is not None and len(unit) == self.tx.flit_bytes:
                    self.tx.send_nowait(unit)
