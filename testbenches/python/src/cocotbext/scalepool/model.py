"""The model itself: whole systems from a scenario, and single ends of a link that stand beside your RTL."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from ctypes import byref, c_uint64
from typing import Literal

from . import _library as lib
from . import hooks
from .errors import ComparisonError, InputError
from .flit import Dir, direction
from .message import Violation

Port = Literal["rx", "tx"]
"""`rx`: what comes to an end. `tx`: what it sends."""


def port_number(port: str) -> int:
    """The number of a port in the C ABI."""
    if port not in ("rx", "tx"):
        raise InputError(f"port: found `{port}`, expected `rx` or `tx`")
    return lib.CONSTANTS["SP_RX" if port == "rx" else "SP_TX"]


class Hooked(lib.Handle):
    """A handle with hooks: functions of yours that the library calls inside its calls."""

    def __init__(self, make: str, *arguments: object) -> None:
        # Functions live as long as the library may call them; what they raised waits here.
        self._hooks: dict[tuple, object] = {}
        self._raised: list[BaseException] = []
        super().__init__(make, *arguments)

    def _attach(self, call: str, where: tuple, point: str, function: hooks.Hook, way: str) -> int:
        number, called = c_uint64(), hooks.wrap(function, self._raised)
        lib.call(call, self._handle, *where, *lib.text(point), port_number(way), called, None, byref(number))
        self._hooks[where, number.value] = called
        return number.value

    def _fault(self, call: str, where: tuple, point: str, fault: str, way: str) -> int:
        number = c_uint64()
        lib.call(call, self._handle, *where, *lib.text(point), port_number(way), *lib.text(fault), byref(number))
        return number.value

    def _detach(self, call: str, where: tuple, hook: int) -> None:
        lib.call(call, self._handle, *where, hook)
        self._hooks.pop((where, hook), None)

    def _raise(self) -> None:
        """Raises what a hook has raised."""
        if self._raised:
            error = self._raised[0]
            self._raised.clear()
            raise error


@dataclass(frozen=True)
class Sample:
    """A unit that passed a wire, and when."""

    time_fs: int
    unit: bytes


class Model(Hooked):
    """A simulated system, made from a scenario in TOML.

        >>> model = Model('scenario = "cxl68-expander"\\nhost.accesses = 50')
        >>> model.run()
        True
        >>> model.metrics()["violations"]
        []

    The same text and seed give the same bytes, in steps as in one run. Other settings or another seed are for the next run,
    which begins at the start. Its ports are the ends of its links, by name: what passes them can be sampled, compared and
    disturbed.

        >>> model = Model('scenario = "cxl68-expander"')
        >>> model.ports()
        ['host.cxl', 'device.cxl']
        >>> model.watch("host.cxl", "tx")
        >>> model.step(100)
        True
        >>> len(model.sample("host.cxl", "tx").unit)
        68

    With `external = "device.cxl"` in the text the end that stands there is yours: drive its units, sample what comes to it.
    For ends of a link without a system around them there is `Model.link`.
    """

    _destroy = "sp_sim_destroy"

    def __init__(self, scenario: str) -> None:
        super().__init__("sp_sim_new", *lib.text(scenario))

    @staticmethod
    def link(protocol: str, dir: Dir = "down", *, passive: bool = False, **config: int | str | bool) -> "LinkEnd":
        """An end of a link to drive, sample, step and compare: `LinkEnd(protocol, dir, passive=.., ..)`."""
        return LinkEnd(protocol, dir, passive=passive, **config)

    def set(self, setting: str) -> None:
        """Changes a setting of the scenario for the next run, with which the next step begins at the start:
        `link.ber=1e-5`."""
        lib.call("sp_sim_set", self._handle, *lib.text(setting))

    def seed(self, seed: int) -> None:
        """Changes the seed for the next run, with which the next step begins at the start."""
        lib.call("sp_sim_seed", self._handle, seed)

    def wave(self, path: str = "") -> None:
        """Waves: a VCD file at this path, GTKWave files beside it; an empty path switches them off and completes the file.
        In a run that is under way they show what happens from here on, else they are of the next runs."""
        lib.call("sp_sim_wave", self._handle, *lib.text(str(path)))

    def trace(self, path: str = "") -> None:
        """Transaction trace, JSON lines at this path; an empty path switches it off. As for `wave`."""
        lib.call("sp_sim_trace", self._handle, *lib.text(str(path)))

    def step(self, cycles: int = 1) -> bool:
        """Goes on for so many cycles of the reference clock. False if nothing was left to do. What a hook raised comes out
        here."""
        status = lib.call("sp_sim_step", self._handle, cycles)
        self._raise()
        return status != lib.SP_EMPTY

    def run(self, cycles: int = 0) -> bool:
        """Goes on to a cycle of the reference clock, or until the work is done; 0 takes `cycles` of the text. A cycle that is
        past begins at the start. False if a rule was broken: `metrics()["violations"]` has it."""
        status = lib.call("sp_sim_run", self._handle, cycles)
        self._raise()
        return status == lib.SP_OK

    def metrics(self) -> dict:
        """Figures of the run so far; empty before the first step."""
        status, text = lib.fill("sp_sim_metrics", self._handle)
        return {} if status == lib.SP_EMPTY else json.loads(text)

    def state(self) -> dict:
        """Where the run stands (`cycle`, `over`), and its `ports` with what waits there; scalepool.h lists the keys."""
        return json.loads(lib.fill("sp_sim_state", self._handle)[1])

    def ports(self) -> list[str]:
        """Names of the ports: the ends of its links."""
        return [port["name"] for port in self.state()["ports"]]

    def watch(self, port: str, way: Port = "rx", on: bool = True) -> None:
        """Keeps the units that pass a wire of a port from here on, for `sample` and `expect`: `rx` is what comes to the end,
        `tx` what it sends."""
        lib.call("sp_sim_watch", self._handle, *lib.text(port), port_number(way), int(on))

    def sample(self, port: str, way: Port = "rx") -> Sample | None:
        """The oldest unit that passed a watched wire, with its time; None if none waits."""
        time_fs = c_uint64()
        status, unit = lib.fill("sp_sim_sample", self._handle, *lib.text(port), port_number(way), byref(time_fs))
        return None if status == lib.SP_EMPTY else Sample(time_fs.value, unit)

    def expect(self, port: str, unit: bytes, way: Port = "rx", mask: bytes | None = None) -> None:
        """Compares a unit with the oldest that passed a watched wire. `mask` has a 1 for each bit that counts. Raises
        `ComparisonError` when they differ or none waits."""
        unit = lib.octets(unit)
        status = lib.call("sp_sim_expect", self._handle, *lib.text(port), port_number(way), unit, _mask(unit, mask), len(unit))
        if status != lib.SP_OK:
            raise ComparisonError(lib.last_error(), "sp_sim_expect", status)

    def drive(self, port: str, unit: bytes) -> None:
        """A unit of an external port leaves in the next flit clock that has not another one before it."""
        unit = lib.octets(unit)
        lib.call("sp_sim_drive", self._handle, *lib.text(port), unit, len(unit))

    def attach(self, port: str, point: str, function: hooks.Hook, way: Port = "tx") -> int:
        """Attaches a function to a point (`hooks.POINTS`) of a port; the number of the hook, for `detach`. It is called inside
        `step` and `run`; what it raises comes out of those."""
        return self._attach("sp_sim_hook_attach", lib.text(port), point, function, way)

    def fault(self, port: str, point: str, fault: str, way: Port = "tx") -> int:
        """Attaches a fault to a point of a port, as `LinkEnd.fault` does; the number of the hook."""
        return self._fault("sp_sim_hook_fault", lib.text(port), point, fault, way)

    def detach(self, port: str, hook: int) -> None:
        """Takes a hook off a port again."""
        self._detach("sp_sim_hook_detach", lib.text(port), hook)

    def reset(self) -> None:
        """As it was made: settings, seed and outputs of the text. Hooks and watches stay."""
        lib.call("sp_sim_reset", self._handle)


def _mask(unit: bytes, mask: bytes | None) -> bytes | None:
    """The mask of a comparison, which is as long as the unit."""
    if mask is not None and len(mask) != len(unit):
        raise InputError(f"mask: found {len(mask)} bytes, expected {len(unit)}")
    return mask


@dataclass(frozen=True)
class Event:
    """Something that an end of a link noticed: at which unit of which port (`rx`, `tx`), how severe, which rule.

    `by` is who has broken the rule: `peer` by what it sent to this end, `end` the end that a passive one watches, `line` where a
    unit was damaged or lost under way, on purpose or not, which the link repairs.
    """

    unit: int
    port: str
    severity: str
    violation: Violation
    by: str


class LinkEnd(Hooked):
    """One end of a link, with its credits, retry and packing, stepped by flit clocks.

        >>> host = LinkEnd("cxl-68b", "down")
        >>> host.send({"layout": "cxl68.m2s_req", "fields": {"opcode": "MemRd", "tag": 9}})
        >>> host.step()
        >>> len(host.sample())
        68

    `dir` is the direction in which the end sends: `down` for a host or accelerator. An active end takes what comes to it
    (`drive`) and sends (`sample`, `expect`). A passive one never sends: it takes both directions (`drive`, port `rx` and
    `tx`) and says which rules are broken (`events`). `config` has the keys that scalepool.h lists at `sp_link_new`, such
    as `buffers=8`.
    """

    _destroy = "sp_link_destroy"

    def __init__(self, protocol: str, dir: Dir = "down", *, passive: bool = False, **config: int | str | bool) -> None:
        mode = lib.CONSTANTS["SP_PASSIVE" if passive else "SP_ACTIVE"]
        self.passive = passive
        super().__init__("sp_link_new", *lib.text(protocol), direction(dir), *lib.text(json.dumps(config)), mode)

    def reset(self) -> None:
        """As it was made: all that waits is gone."""
        lib.call("sp_link_reset", self._handle)

    def drive(self, unit: bytes, port: Port = "rx") -> None:
        """A unit arrives at a port, in the next step that has not another one before it: `rx` is what comes to the end;
        a passive end takes what the watched one sends at `tx`. A unit is a flit; of ualink also one byte of control."""
        unit = lib.octets(unit)
        lib.call("sp_link_drive", self._handle, port_number(port), unit, len(unit))

    def step(self, flit_clocks: int = 1) -> None:
        """Flit clocks: in each one driven unit of each port arrives, and an active end sends at most one."""
        lib.call("sp_link_step", self._handle, flit_clocks)
        self._raise()

    def sample(self) -> bytes | None:
        """The oldest unit that the end has sent, None if none waits."""
        status, unit = lib.fill("sp_link_sample", self._handle)
        return None if status == lib.SP_EMPTY else unit

    def expect(self, unit: bytes, mask: bytes | None = None) -> None:
        """Compares a unit with the oldest that the end has sent, as the twin of what sent `unit`. `mask` has a 1 for each
        bit that counts. Raises `ComparisonError` when they differ or none waits."""
        unit = lib.octets(unit)
        status = lib.call("sp_link_expect", self._handle, unit, _mask(unit, mask), len(unit))
        if status != lib.SP_OK:
            raise ComparisonError(lib.last_error(), "sp_link_expect", status)

    def send(self, message: Mapping) -> None:
        """Queues a message to be sent; its form is described in scalepool.h at `sp_link_send`."""
        lib.call("sp_link_send", self._handle, *lib.text(json.dumps(message)))
        self._raise()

    def take(self) -> dict | None:
        """The oldest message that has come, None if none waits; its credit goes back."""
        status, text = lib.fill("sp_link_take", self._handle)
        return None if status == lib.SP_EMPTY else json.loads(text)

    def events(self) -> list[Event]:
        """What the end noticed since the last call."""
        found = []
        while True:
            status, text = lib.fill("sp_link_event", self._handle)
            if status == lib.SP_EMPTY:
                return found
            form = json.loads(text)
            found.append(Event(form["unit"], form["port"], form["severity"], Violation.of(form), form["by"]))

    def state(self) -> dict:
        """State and counters: flit clocks, what waits, what was compared; `halted`, the rule that has stopped the link, or None;
        of an active end whether it is `up`, which a link that has stopped is not."""
        return json.loads(lib.fill("sp_link_state", self._handle)[1])

    def train(self, up: bool) -> None:
        """The physical layer begins to train (False) or is up again (True)."""
        lib.call("sp_link_train", self._handle, int(up))

    def attach(self, point: str, function: hooks.Hook, way: Port = "tx") -> int:
        """Attaches a function to a point (`hooks.POINTS`); the number of the hook, for `detach`. It is called inside `step`
        and `send`; what it raises comes out of those."""
        return self._attach("sp_hook_attach", (), point, function, way)

    def fault(self, point: str, fault: str, way: Port = "tx") -> int:
        """Attaches a fault to a point: `flip:N:BIT`, `noise:N`, `drop:N`, `dup:N` or `vanish:N`, for item N of the point, from
        0; the number of the hook."""
        return self._fault("sp_hook_fault", (), point, fault, way)

    def detach(self, hook: int) -> None:
        """Takes a hook off again."""
        self._detach("sp_hook_detach", (), hook)
