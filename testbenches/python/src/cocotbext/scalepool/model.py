"""The model itself: a whole system from a description, or a single end of a link that runs beside your RTL."""

import ctypes
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ctypes import byref, c_size_t, c_uint32, c_uint64
from typing import Any, Literal

from . import _library as lib
from . import hooks, placement
from .errors import ComparisonError, InputError
from .flit import Dir, direction
from .message import Violation, decode

Port = Literal["rx", "tx"]
"""`rx` is what arrives at an end, `tx` what it sends."""


#: Number of the layout of a message that has none, SP_NO_LAYOUT.
NO_LAYOUT = 0xFFFF
NVLINK_HEADER = "nvlink.header"


def port_number(port: str) -> int:
    """Returns the number of a port in the C ABI."""
    if port not in ("rx", "tx"):
        raise InputError(f"port: found `{port}`, expected `rx` or `tx`")
    return lib.CONSTANTS["SP_RX" if port == "rx" else "SP_TX"]


class Hooked(lib.Handle):
    """A handle with hooks: your functions, which the library calls while one of its own calls runs."""

    def __init__(self, make: str, *arguments: object) -> None:
        # Keeps functions alive as long as the library may call them, and what they raised until it is raised again.
        self._hooks: dict[tuple[object, ...], object] = {}
        self._raised: list[BaseException] = []
        super().__init__(make, *arguments)

    def _attach(self, call: str, where: tuple[object, ...], point: str, function: hooks.Hook, way: str) -> int:
        number, called = c_uint64(), hooks.wrap(function, self._raised)
        lib.call(call, self._handle, *where, *lib.text(point), port_number(way), called, None, byref(number))
        self._hooks[where, number.value] = called
        return number.value

    def _fault(self, call: str, where: tuple[object, ...], point: str, fault: str, way: str) -> int:
        number = c_uint64()
        lib.call(call, self._handle, *where, *lib.text(point), port_number(way), *lib.text(fault), byref(number))
        return number.value

    def _detach(self, call: str, where: tuple[object, ...], hook: int) -> None:
        lib.call(call, self._handle, *where, hook)
        self._hooks.pop((where, hook), None)

    def _raise(self) -> None:
        """Raises the first exception of a hook, if there was one."""
        if self._raised:
            error = self._raised[0]
            self._raised.clear()
            raise error


@dataclass(frozen=True)
class Sample:
    """A unit that passed a port, and the time at which it did."""

    time_fs: int
    unit: bytes


def _inline(value: object) -> str:
    """Spells a value of a description in TOML."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str() | os.PathLike():
            return json.dumps(os.fspath(value), ensure_ascii=False)
        case Mapping():
            return "{" + ", ".join(f"{json.dumps(str(key))} = {_inline(inner)}" for key, inner in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_inline, value)) + "]"
        case _:
            raise TypeError(f"found {value!r}, expected a number, a string, a list or a dict")


def _setting(component: str, key: str) -> str:
    """Returns the path of a key of a component, which may lie in parts: `pod[1].accel[0]`."""
    *parts, name = component.split(".")
    return ".".join([*(f"part.{part}" for part in parts), f"component.{name}.{key}"])


class System(Hooked):
    """A simulated system: components and the links between them, from a description.

    The description is the name of a scenario, the file of a description, its text, or a dict with the same keys.

        >>> system = System("cxl68-expander", set=["host.accesses=50"])
        >>> system.run()
        True
        >>> system.metrics()["violations"]
        []
        >>> pair = System({
        ...     "format": 1,
        ...     "clock": {"core": {"period": "500 ps"}},
        ...     "component": {"host": {"kind": "cxl.host", "stimulus": {"accesses": 50}}, "memory": {"kind": "cxl.memory"}},
        ...     "link": {"cxl": {"kind": "cxl-68b", "between": ["host.cxl", "memory.cxl"]}},
        ... })
        >>> pair.run()
        True

    The same description and seed give the same bytes, whether the system is stepped or run at once. A changed setting or seed
    holds for the next run, which starts at cycle 0. The ports of a system are the ends of its links, by name: units that pass
    them can be sampled, compared and disturbed.

        >>> system = System("cxl68-expander")
        >>> system.ports()
        ['host.cxl', 'device.cxl']
        >>> system.watch("host.cxl", "tx")
        >>> system.step(100)
        True
        >>> len(system.sample("host.cxl", "tx").unit)
        68

    With `external={"device": "flits"}` you stand for that component: drive the units that its link ends send, and sample those
    that arrive. With `external={"device": "messages"}` the model keeps its link ends, and each class of messages is a port:
    sample those that arrive, and drive those that the component sends. `sp_sim_drive` in scalepool.h has the form of a message.

        >>> system = System("cxl68-expander", set=["host.accesses=3"], external={"device": "messages"})
        >>> system.ports()[1:]
        ['device.cxl', 'device.cxl.m2s_req', 'device.cxl.m2s_rwd', 'device.cxl.s2m_ndr', 'device.cxl.s2m_drs']
        >>> system.step(400)
        True
        >>> from cocotbext.scalepool import decode, encode
        >>> request = decode("cxl68.m2s_req", system.sample("device.cxl.m2s_req").unit)
        >>> answer = encode("cxl68.s2m_drs", opcode="MemData", meta_field="NoOp", tag=request.fields["tag"])
        >>> system.drive("device.cxl.s2m_drs", answer + bytes(64) + bytes([0xFF] * 8) + bytes(4))
        True

    `System.link` makes a link end without a system around it.
    """

    _destroy = "sp_sim_destroy"

    def __init__(
        self,
        description: str | os.PathLike[str] | Mapping[str, object],
        *,
        set: Iterable[str] = (),
        external: Mapping[str, str] | None = None,
        seed: int | None = None,
    ) -> None:
        match description:
            case Mapping():
                text = "".join(f"{json.dumps(key)} = {_inline(value)}\n" for key, value in description.items())
            case str() if "\n" in description or "=" in description:
                text = description
            case str() | os.PathLike():
                text = f"scenario = {_inline(description)}"
            case _:
                raise TypeError(f"found {description!r}, expected a name, a file, a text or a dict")
        super().__init__("sp_sim_new", *lib.text(text))
        for setting in set:
            self.set(setting)
        for component, how in (external or {}).items():
            self.set(f"{_setting(component, 'external')}={how}")
        if seed is not None:
            self.seed(seed)

    @staticmethod
    def link(protocol: str, dir: Dir = "down", *, passive: bool = False, **config: int | str | bool) -> "LinkEnd":
        """Makes an end of a link: `LinkEnd(protocol, dir, passive=.., ..)`."""
        return LinkEnd(protocol, dir, passive=passive, **config)

    def set(self, setting: str) -> None:
        """Changes a setting of the description, such as `link.ber=1e-5`. The next step restarts the simulation with it."""
        lib.call("sp_sim_set", self._handle, *lib.text(setting))

    def seed(self, seed: int) -> None:
        """Changes the seed. The next step restarts the simulation with it."""
        lib.call("sp_sim_seed", self._handle, seed)

    def wave(self, path: str = "") -> None:
        """Writes waves: a VCD file at this path, and GTKWave files beside it. An empty path switches them off and completes the
        file. If a run has begun, the wave shows it from here on; otherwise the setting is for the next runs."""
        lib.call("sp_sim_wave", self._handle, *lib.text(str(path)))

    def trace(self, path: str = "") -> None:
        """Writes the transaction trace as JSON lines at this path. An empty path switches it off. If a run has begun, the same
        holds as for `wave`."""
        lib.call("sp_sim_trace", self._handle, *lib.text(str(path)))

    def step(self, cycles: int = 1) -> bool:
        """Advances by this number of cycles of the reference clock. Returns False if nothing was left to do. Raises what a hook
        has raised."""
        status = lib.call("sp_sim_step", self._handle, cycles)
        self._raise()
        return status != lib.SP_EMPTY

    def run(self, cycles: int = 0) -> bool:
        """Advances to a cycle of the reference clock, or until the work is done; 0 stands for the `cycles` of the text. If the
        system is past that cycle, it restarts. Returns False if a rule was broken; `metrics()["violations"]` lists it."""
        status = lib.call("sp_sim_run", self._handle, cycles)
        self._raise()
        return status == lib.SP_OK

    def metrics(self) -> dict[str, Any]:
        """Returns the metrics of the run so far, which are empty before the first step."""
        status, text = lib.fill("sp_sim_metrics", self._handle)
        return {} if status == lib.SP_EMPTY else json.loads(text)

    def state(self) -> dict[str, Any]:
        """Returns the state of the run (`cycle`, `over`) and of its `ports`; scalepool.h lists the keys at `sp_sim_state`."""
        state: dict[str, Any] = json.loads(lib.fill("sp_sim_state", self._handle)[1])
        return state

    def ports(self) -> list[str]:
        """Returns the names of the ports: the ends of the links, and the channels of components that stand outside by their
        messages."""
        return [port["name"] for port in self.state()["ports"]]

    def watch(self, port: str, way: Port = "rx", on: bool = True) -> None:
        """Keeps the units that pass a port from here on, for `sample` and `expect`: `rx` is what arrives at the end, `tx` what it
        sends."""
        lib.call("sp_sim_watch", self._handle, *lib.text(port), port_number(way), int(on))

    def sample(self, port: str, way: Port = "rx") -> Sample | None:
        """Takes the oldest unit that passed a watched port, or the oldest message that arrived, with its time. Returns None if
        none waits."""
        time_fs = c_uint64()
        status, unit = lib.fill("sp_sim_sample", self._handle, *lib.text(port), port_number(way), byref(time_fs))
        return None if status == lib.SP_EMPTY else Sample(time_fs.value, unit)

    def expect(self, port: str, unit: bytes, way: Port = "rx", mask: bytes | None = None) -> None:
        """Takes the oldest unit that passed a watched port and compares `unit` with it. `mask` has a 1 for each bit that is
        compared. Raises `ComparisonError` if they differ or none waits."""
        unit = lib.octets(unit)
        status = lib.call("sp_sim_expect", self._handle, *lib.text(port), port_number(way), unit, _mask(unit, mask), len(unit))
        if status != lib.SP_OK:
            raise ComparisonError(lib.last_error(), "sp_sim_expect", status)

    def drive(self, port: str, unit: bytes) -> bool:
        """Queues a unit or a message to be sent from an external port. Units leave in order, one in each flit clock, and messages
        one in each cycle of the component's clock. Returns False if a channel of messages has no room: the message was not
        taken, drive it again after a step."""
        unit = lib.octets(unit)
        return lib.call("sp_sim_drive", self._handle, *lib.text(port), unit, len(unit)) != lib.SP_FULL

    def attach(self, port: str, point: str, function: hooks.Hook, way: Port = "tx") -> int:
        """Attaches a function to a hook point (`hooks.POINTS`) of a port, and returns the number of the hook for `detach`. The
        function is called inside `step` and `run`, which raise what it raises."""
        return self._attach("sp_sim_hook_attach", lib.text(port), point, function, way)

    def fault(self, port: str, point: str, fault: str, way: Port = "tx") -> int:
        """Attaches a fault to a hook point of a port, as `LinkEnd.fault` does, and returns the number of the hook."""
        return self._fault("sp_sim_hook_fault", lib.text(port), point, fault, way)

    def detach(self, port: str, hook: int) -> None:
        """Detaches a hook from a port."""
        self._detach("sp_sim_hook_detach", lib.text(port), hook)

    def placement(self, component: str, function: placement.Placement | None) -> None:
        """Lets a function decide where the pages of an accelerator lie whose `policy` is "caller", by its path, such as `accel[0]`;
        None ends that. The function is called inside `step` and `run`, which raise what it raises, and stays for later runs."""
        called = placement.wrap(function, self._raised)
        lib.call("sp_sim_placement", self._handle, *lib.text(component), called, None)
        self._hooks[("placement",), component] = called

    def reset(self) -> None:
        """Puts the system back to where it began, with settings, seed and outputs of the text. Hooks and watches stay."""
        lib.call("sp_sim_reset", self._handle)


def _nvlink_fields(bits: bytes) -> dict[str, int | str]:
    """The fields of a header with those of its address extension."""
    header, extension = decode(NVLINK_HEADER, bits[:16]).fields, decode("nvlink.ae", bits[16:]).fields
    address = int(header["address"]) | int(extension["address"])
    return {**header, "address": address, "attr": extension["attr"], "route": extension["route"]}


def _mask(unit: bytes, mask: bytes | None) -> bytes | None:
    """Checks that the mask of a comparison is as long as the unit."""
    if mask is not None and len(mask) != len(unit):
        raise InputError(f"mask: found {len(mask)} bytes, expected {len(unit)} as in the unit")
    return mask


@dataclass(frozen=True)
class Event:
    """A broken rule that an end of a link noticed: at which unit of which port (`rx`, `tx`), and how severe it is.

    `by` says who broke the rule: `peer`, the other end of the link, by what it sent to this end; `end`, the end that a passive one
    watches; or `line`, if a unit was damaged or lost on the wire, on purpose or not, which the link repairs. `tag` is that of the
    request concerned, for rules of transactions.
    """

    unit: int
    port: str
    severity: str
    violation: Violation
    by: str
    tag: int | None = None


@dataclass(frozen=True)
class SeenMessage:
    """A message that a passive end has seen: on which port of the end that it watches (`tx` is what that end has sent), in which
    unit of this direction it ended, counted from 0, and what it says. `fields` has a code by its name if it has one; of NVLink `address` is
    the whole one, and `attr` and `route` are those of the address extension. `data` is empty where the message has none; bit n of
    `enables` is set if byte n is enabled, None: it has no byte enables. Of a TLP of CXL.io `layout` is empty, and `data` has its bytes."""

    port: Port
    unit: int
    layout: str
    fields: dict[str, int | str]
    data: bytes = b""
    enables: int | None = None


class LinkEnd(Hooked):
    """One end of a link, with its credits, retry and packing, stepped by flit clocks.

        >>> host = LinkEnd("cxl-68b", "down")
        >>> host.send({"layout": "cxl68.m2s_req", "fields": {"opcode": "MemRd", "tag": 9}})
        >>> host.step()
        >>> len(host.sample())
        68

    `dir` is the direction in which the end sends: `down` for a host or accelerator. An active end receives units (`drive`) and
    sends units (`sample`, `expect`). A passive end never sends: it is given the units of both directions (`drive`, port `rx`
    and `tx`) and reports broken rules (`events`). `config` has the keys that scalepool.h lists at `sp_link_new`, such as
    `buffers=8`.
    """

    _destroy = "sp_link_destroy"

    def __init__(self, protocol: str, dir: Dir = "down", *, passive: bool = False, **config: int | str | bool) -> None:
        mode = lib.CONSTANTS["SP_PASSIVE" if passive else "SP_ACTIVE"]
        self.passive = passive
        super().__init__("sp_link_new", *lib.text(protocol), direction(dir), *lib.text(json.dumps(config)), mode)

    def reset(self) -> None:
        """Puts the end back to where it began; everything that was queued is gone. Hooks stay."""
        lib.call("sp_link_reset", self._handle)

    def drive(self, unit: bytes, port: Port = "rx") -> None:
        """Queues a unit that arrives: one unit of each port does in a flit clock. `rx` is what arrives at the end; for a passive
        end `tx` is what the watched end sends. A unit is a flit, or for ualink also a single byte for control flits."""
        unit = lib.octets(unit)
        lib.call("sp_link_drive", self._handle, port_number(port), unit, len(unit))

    def step(self, flit_clocks: int = 1) -> None:
        """Advances by this number of flit clocks. In each of them one queued unit of each port arrives, and an active end sends
        at most one. Raises what a hook has raised."""
        lib.call("sp_link_step", self._handle, flit_clocks)
        self._raise()

    def sample(self) -> bytes | None:
        """Takes the oldest unit that the end has sent. Returns None if none waits."""
        status, unit = lib.fill("sp_link_sample", self._handle)
        return None if status == lib.SP_EMPTY else unit

    def expect(self, unit: bytes, mask: bytes | None = None) -> None:
        """Takes the oldest unit that the end has sent and compares `unit` with it; the end is the reference for the design that
        sent `unit`. `mask` has a 1 for each bit that is compared. Raises `ComparisonError` if they differ or none waits."""
        unit = lib.octets(unit)
        status = lib.call("sp_link_expect", self._handle, unit, _mask(unit, mask), len(unit))
        if status != lib.SP_OK:
            raise ComparisonError(lib.last_error(), "sp_link_expect", status)

    def send(self, message: Mapping[str, object]) -> None:
        """Queues a message to be sent; scalepool.h describes its form at `sp_link_send`."""
        lib.call("sp_link_send", self._handle, *lib.text(json.dumps(message)))
        self._raise()

    def take(self) -> dict[str, Any] | None:
        """Takes the oldest message that has arrived and returns its credit to the peer. Returns None if none waits."""
        status, text = lib.fill("sp_link_take", self._handle)
        return None if status == lib.SP_EMPTY else json.loads(text)

    def take_seen(self) -> SeenMessage | None:
        """Takes the oldest message that a passive end, made with `messages=True`, has seen in either direction; one that was sent
        again is seen once. Returns None if none waits."""
        # Bits of a layout have at most 32 bytes, data is longest in a TLP, and byte enables are those of a block of UALink.
        parts = [ctypes.create_string_buffer(size) for size in (32, 4352, 32)]
        lengths = [c_size_t() for _ in parts]
        port, unit, layout, extra = c_uint32(), c_uint64(), c_uint32(), c_uint64()
        places = [place for part, length in zip(parts, lengths) for place in (part, len(part), byref(length))]
        if lib.call("sp_link_seen_bits", self._handle, byref(port), byref(unit), byref(layout), *places, byref(extra)) == lib.SP_EMPTY:
            return None
        bits, data, enables = (part.raw[: length.value] for part, length in zip(parts, lengths))
        way: Port = "tx" if port.value == port_number("tx") else "rx"
        mask = int.from_bytes(enables, "little") if enables else None
        if layout.value == NO_LAYOUT:
            return SeenMessage(way, unit.value, "", {}, data)
        name = lib.fill("sp_layout_name", layout.value)[1].decode()
        fields = decode(name, bits).fields if name != NVLINK_HEADER else _nvlink_fields(bits)
        return SeenMessage(way, unit.value, name, fields, data, mask)

    def events(self) -> list[Event]:
        """Takes the events since the last call."""
        found: list[Event] = []
        while True:
            status, text = lib.fill("sp_link_event", self._handle)
            if status == lib.SP_EMPTY:
                return found
            form = json.loads(text)
            found.append(Event(form["unit"], form["port"], form["severity"], Violation.of(form), form["by"], form.get("tag")))

    def state(self) -> dict[str, Any]:
        """Returns state and counters, such as `halted`, the id of the rule that stopped the link, or None, and for an active end
        whether it is `up`. `health` has the figures of the end. scalepool.h lists the keys at `sp_link_state`."""
        state: dict[str, Any] = json.loads(lib.fill("sp_link_state", self._handle)[1])
        return state

    def coverage(self) -> dict[str, Any]:
        """Returns which codes of the protocol have passed and how often, of an end with `coverage=True`: the content of a file that
        `scalepool coverage` reads."""
        covered = self.state().get("coverage")
        if covered is None:
            raise InputError("link end: found no coverage, expected one that was made with coverage=True")
        return dict(covered)

    def finish(self) -> bool:
        """Tells an end with `transactions` that the run is over and all is at rest. Each request that is still owed an answer
        becomes an event, once; returns whether none is."""
        return lib.call("sp_link_finish", self._handle) == lib.SP_OK

    def train(self, up: bool) -> None:
        """Tells the end that its physical layer begins to train (False) or is up again (True)."""
        lib.call("sp_link_train", self._handle, int(up))

    def attach(self, point: str, function: hooks.Hook, way: Port = "tx") -> int:
        """Attaches a function to a hook point (`hooks.POINTS`), and returns the number of the hook for `detach`. The function is
        called inside `step` and `send`, which raise what it raises."""
        return self._attach("sp_hook_attach", (), point, function, way)

    def fault(self, point: str, fault: str, way: Port = "tx") -> int:
        """Attaches a fault to a hook point, and returns the number of the hook: `flip:N:BIT`, `noise:N`, `drop:N`, `dup:N` or
        `vanish:N`, where N counts the items of the point from 0."""
        return self._fault("sp_hook_fault", (), point, fault, way)

    def detach(self, hook: int) -> None:
        """Detaches a hook."""
        self._detach("sp_hook_detach", (), hook)
