"""Whole flits from bytes to JSON forms and back, one flit or a stream.

    >>> found = decode("cxl-68b", bytes(68))
    >>> found.kind, [violation.rule for violation in found.violations]
    ('dropped', ['CXL68-PID-03'])

A form is the object that `scalepool flit decode` prints: header, slots with messages, CRC, FEC. `decode` and `encode` take
one flit on its own. If a flit depends on those before it (rollover of data, carry-over, the CRC of NVLink), use a
`Decoder` or an `Encoder`, which keep that state.
"""

import ctypes
import json
from collections.abc import Mapping
from ctypes import byref, c_size_t
from dataclasses import dataclass
from typing import Any, Literal

from . import _library as lib
from .errors import InputError, RangeError
from .message import Violation

Dir = Literal["down", "up"]
"""`down`: host to device, H2D, M2S. `up`: device to host, D2H, S2M."""

FLIT_BYTES: dict[str, int] = {
    "cxl-68b": 68,
    "cxl-256b": 256,
    "cxl-256b-lopt": 256,
    "cxl-256b-pbr": 256,
    "cxl-io": 256,
    "ualink": 640,
    "nvlink": 16,
}
"""Bytes of a flit on the wire, by protocol. `nvlink` is decoded in packets: one header flit and up to 17 more."""

_EMPTY = lib.CONSTANTS["SP_EMPTY"]
_UNREADABLE = lib.CONSTANTS["SP_UNREADABLE"]


def direction(dir: str) -> int:
    """Returns the number of a direction in the C ABI."""
    if dir not in ("down", "up"):
        raise InputError(f"dir: found `{dir}`, expected `down` or `up`")
    return lib.CONSTANTS["SP_DOWN" if dir == "down" else "SP_UP"]


@dataclass(frozen=True)
class Flit:
    """A flit as bytes and as a JSON form. `violations` are the rules that it breaks; `unreadable` says why there is no form."""

    data: bytes
    form: dict[str, Any]
    violations: tuple[Violation, ...]
    unreadable: str = ""

    @property
    def kind(self) -> str:
        """Kind of the flit: `protocol`, `control`, `idle` and so on; empty if the flit cannot be read."""
        return str(self.form.get("kind", ""))

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages in the slots of a CXL flit whose valid bit is set, each `{"layout":.., "fields":{..}}`."""
        found = (message for slot in self.form.get("slots", ()) for message in slot.get("messages", ()))
        return [message for message in found if message["fields"].get("valid", 1)]


class _Stream(lib.Handle):
    _destroy = "sp_stream_destroy"

    def __init__(self, make: str, protocol: str, dir: Dir) -> None:
        super().__init__(make, *lib.text(protocol), direction(dir))
        self._json = ctypes.create_string_buffer(16384)
        self._flit = ctypes.create_string_buffer(1024)

    def _take(self) -> list[Flit]:
        """Takes all answers that are queued."""
        found: list[Flit] = []
        json_length, flit_length = c_size_t(), c_size_t()
        while True:
            status = lib.LIBRARY.sp_stream_take(
                self._handle, self._json, len(self._json), byref(json_length), self._flit, len(self._flit),
                byref(flit_length),
            )
            if status == lib.SP_ERR_SHORT:
                self._json = ctypes.create_string_buffer(max(len(self._json), json_length.value + 1))
                self._flit = ctypes.create_string_buffer(max(len(self._flit), flit_length.value))
            elif status == _EMPTY:
                return found
            elif status == _UNREADABLE:
                found.append(Flit(b"", {}, (), lib.last_error()))
            elif status < 0:
                lib.refuse("sp_stream_take", status)
            else:
                form = json.loads(ctypes.string_at(self._json, json_length.value))
                broken = tuple(map(Violation.of, form.get("violations", ())))
                found.append(Flit(ctypes.string_at(self._flit, flit_length.value), form, broken))

    def finish(self) -> list[Flit]:
        """Tells the stream that no more flits follow, and returns the answers that waited for the next one."""
        lib.call("sp_stream_finish", self._handle)
        return self._take()


class Decoder(_Stream):
    """Decodes the flits of one direction of a link, in order.

    It follows a retry: a stream that goes on at an older flit is read as it is meant, and of a flit that is thrown away until
    then only what it shows by itself is judged. A stream that does not begin as a link does is taken as it stands: without
    INIT.Param of cxl-68b, NOPs of the last sequence number of the 256B modes and ualink, CREDIT_INIT of nvlink.
    """

    def __init__(self, protocol: str, dir: Dir = "down") -> None:
        super().__init__("sp_decoder_new", protocol, dir)

    def feed(self, data: bytes) -> list[Flit]:
        """Decodes one flit (nvlink: one packet) and returns the answers that are ready: one as a rule; the answer of a ualink
        flit, and of an nvlink packet beside a link, may wait for the next."""
        data = lib.octets(data)
        lib.call("sp_stream_decode", self._handle, data, len(data), 1)
        return self._take()

    def feed_many(self, data: bytes, flit_bytes: int) -> list[Flit]:
        """Decodes flits of `flit_bytes` each, which stand one after the other in `data`, in one call."""
        data = lib.octets(data)
        if flit_bytes <= 0 or len(data) % flit_bytes:
            raise RangeError(f"data: found {len(data)} bytes, expected a multiple of flit_bytes, {flit_bytes}")
        lib.call("sp_stream_decode", self._handle, data, flit_bytes, len(data) // flit_bytes)
        return self._take()


class Encoder(_Stream):
    """Encodes forms into the flits of one direction of a link, in order."""

    def __init__(self, protocol: str, dir: Dir = "down") -> None:
        super().__init__("sp_encoder_new", protocol, dir)

    def feed(self, form: Mapping[str, object]) -> list[Flit]:
        """Encodes one form. Keys that are left out have their default value; CRC and FEC are computed."""
        lib.call("sp_stream_encode", self._handle, *lib.text(json.dumps(form)))
        return self._take()


def _only(stream: _Stream, fed: list[Flit]) -> Flit:
    found = fed + stream.finish()
    if found and found[0].unreadable:
        raise InputError(found[0].unreadable)
    return found[0]


def decode(protocol: str, data: bytes, dir: Dir = "down") -> Flit:
    """Decodes one flit (nvlink: one packet) on its own, as the first of a stream."""
    with Decoder(protocol, dir) as stream:
        return _only(stream, stream.feed(data))


def encode(protocol: str, form: Mapping[str, object], dir: Dir = "down") -> bytes:
    """Encodes one form on its own, as the first of a stream; CRC and FEC included."""
    with Encoder(protocol, dir) as stream:
        return _only(stream, stream.feed(form)).data
