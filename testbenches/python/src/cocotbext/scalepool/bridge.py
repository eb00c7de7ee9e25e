"""The bridge between UALink or NVLink and CXL: a reference model that converts, and a scoreboard for a bridge in RTL.

Messages are dicts, as the files of `scalepool export conversions` have them: `layout` and `fields`, and where the message has them `data`,
`enables`, `poison`, `ae` and `be`.

    >>> config = {"protocol": "ualink", "direction": "outbound", "windows": [
    ...     {"class": "MN", "base": 0, "size": 2 << 20, "out_base": 1 << 32}]}
    >>> bridge = Bridge(config)
    >>> read = {"layout": "ualink.tl_req", "fields": {"cmd": "Read", "address": 0x40, "len": 15}}
    >>> [sent] = bridge.request(read)
    >>> sent.point.name, sent.message["fields"]["opcode"], hex(sent.message["fields"]["address"])
    ('SENT', 'MemRd', '0x100000040')
"""

import enum
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctypes import byref, c_uint32

from . import _library as lib


class BridgePoint(enum.IntEnum):
    """Where a message passes, seen from a transaction.

    * REQUEST: the bridge accepts a request, behind the lookup of its line: the model looks it up at once; or one who holds a line of
      memory that the bridge keeps coherent (class DB) answers a snoop
    * SENT: what it was converted to leaves on the other side, with a tag of the bridge; or its answer to a snoop of a host, or data that a host pulls
      (class CC), both under the UQID of the host
    * ANSWER: an answer to that comes, or a snoop
    * RESPONSE: the response to the request leaves, or a snoop of those that hold lines of class DB
    """

    REQUEST = lib.CONSTANTS["SP_BRIDGE_REQUEST"]
    SENT = lib.CONSTANTS["SP_BRIDGE_SENT"]
    ANSWER = lib.CONSTANTS["SP_BRIDGE_ANSWER"]
    RESPONSE = lib.CONSTANTS["SP_BRIDGE_RESPONSE"]


@dataclass(frozen=True)
class BridgeEvent:
    """A message that leaves the model."""

    point: BridgePoint
    port: int
    message: dict[str, Any]


@dataclass(frozen=True)
class BridgeFinding:
    """Something that breaks a rule; `message` counts the messages that have passed, from 0."""

    rule: str
    message: int
    found: str
    expected: str


class _BridgeHandle(lib.Handle):
    _destroy = "sp_bridge_destroy"

    def __init__(self, config: Mapping[str, Any], watches: int) -> None:
        super().__init__("sp_bridge_new", *lib.text(json.dumps(config)), watches)

    def _pass(self, point: BridgePoint, message: Mapping[str, Any], port: int) -> int:
        return lib.call("sp_bridge_pass", self._handle, point, port, *lib.text(json.dumps(message)))

    def commit(self, windows: Sequence[Mapping[str, Any]], groups: Mapping[str, int] | None = None) -> bool:
        """Commits new windows and groups of sources to a half from accelerators to CXL and returns whether they are valid now. If not, the
        requests under way have to be answered first, and no other one is taken meanwhile: a scoreboard waits for the responses that are passed
        to it. Raises `InputError` for windows that cannot be, and with a cache for those that lead an address of class MN by another port."""
        commit = {"windows": list(windows), "groups": dict(groups or {})}
        return lib.call("sp_bridge_commit", self._handle, *lib.text(json.dumps(commit))) == lib.SP_OK

    def findings(self) -> list[BridgeFinding]:
        """Takes what has been found since the last call."""
        found: list[BridgeFinding] = []
        while True:
            status, text = lib.fill("sp_bridge_finding", self._handle)
            if status == lib.SP_EMPTY:
                return found
            found.append(BridgeFinding(**json.loads(text)))


class Bridge(_BridgeHandle):
    """One half of a bridge with nothing under way; usable with `with`. `config` has `protocol`, `direction`, `windows` and what
    scalepool.h lists at `sp_bridge_new`. Raises `InputError` for a configuration that cannot be."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config, 0)

    def request(self, message: Mapping[str, Any], port: int = 0) -> list[BridgeEvent] | None:
        """Gives it a request and returns what follows at once; None if its table has no entry for it."""
        if self._pass(BridgePoint.REQUEST, message, port) == lib.SP_FULL:
            return None
        return self._made()

    def answer(self, message: Mapping[str, Any], port: int = 0) -> list[BridgeEvent]:
        """Gives it an answer to what it has sent, or a snoop, and returns what follows at once."""
        self._pass(BridgePoint.ANSWER, message, port)
        return self._made()

    def _made(self) -> list[BridgeEvent]:
        made: list[BridgeEvent] = []
        while True:
            point, port = c_uint32(), c_uint32()
            status, text = lib.fill("sp_bridge_next", self._handle, byref(point), byref(port))
            if status == lib.SP_EMPTY:
                return made
            made.append(BridgeEvent(BridgePoint(point.value), port.value, json.loads(text)))


class BridgeScoreboard(_BridgeHandle):
    """Compares one half of a bridge with the model: what leaves follows from what has come, in an order that is allowed, once, with the
    bytes that the tables say. Tags are the bridge's own choice. Usable with `with`; `findings` tells what it did otherwise."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config, 1)

    def passes(self, point: BridgePoint, message: Mapping[str, Any], port: int = 0) -> bool:
        """Takes a message at one of the four points and returns whether all is well so far. Raises `InputError` for what is no
        message that passes there. A request for which the model has no free entry is a finding."""
        return self._pass(point, message, port) == lib.SP_OK

    def credit(self, point: BridgePoint, credit_class: str, count: int = 1, port: int = 0, vchan: int | None = None) -> bool:
        """Takes credits that the receiver of the messages at a point gives, and returns whether all is well so far. `credits` of the
        configuration names the pools, as scalepool.h says at `sp_bridge_new`. Raises `InputError` for credits of no such pool."""
        credit: dict[str, Any] = {"point": point.name.lower(), "class": credit_class, "port": port, "count": count}
        if vchan is not None:
            credit["vchan"] = vchan
        return lib.call("sp_bridge_credit", self._handle, *lib.text(json.dumps(credit))) == lib.SP_OK

    def finish(self) -> bool:
        """Ends the run: what has not left and what is open are findings now. Returns whether all is well."""
        return lib.call("sp_bridge_finish", self._handle) == lib.SP_OK
