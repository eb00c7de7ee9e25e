"""Messages from fields to bytes and back, one or many, for every layout of the library.

    >>> encode("cxl68.m2s_req", opcode="MemRd", address=0x1000, tag=7).hex()
    '0370000008000000000000'
    >>> decode("cxl68.m2s_req", bytes.fromhex("0370000008000000000000")).fields["tag"]
    7

Bytes are in wire order, byte 0 first. `layouts()` lists the names, `describe(name)` explains the fields.
"""

import ctypes
import functools
import json
from collections.abc import Iterable, Mapping
from ctypes import byref, c_size_t, c_uint32
from dataclasses import dataclass
from typing import Any

from . import _library as lib
from .errors import InputError, RangeError


@dataclass(frozen=True)
class Violation:
    """A broken rule: its id (`scalepool list rules`), where it is broken, what was found and what was expected."""

    rule: str
    at: str
    found: str
    expected: str
    text: str

    @classmethod
    def of(cls, form: Mapping[str, object]) -> "Violation":
        """Makes a violation of the JSON form of the library."""
        return cls(*(str(form.get(key, "")) for key in ("rule", "at", "found", "expected", "text")))

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}: {self.at}: found {self.found}, expected {self.expected}"


@dataclass(frozen=True)
class Field:
    """A field of a layout: its lowest bit, its width in bits, and its value when it is left out.

    For a byte address, `address_lsb` is the lowest bit that is transmitted. Values are always whole byte addresses.
    """

    name: str
    lsb: int
    width: int
    default: int
    address_lsb: int
    reserved: bool


@dataclass(frozen=True)
class Layout:
    """A layout: its name, its size in bits and in bytes on the wire, and its fields in order."""

    name: str
    bits: int
    bytes: int
    fields: tuple[Field, ...]
    _id: int


@dataclass(frozen=True)
class Message:
    """A decoded message. `fields` has a code by its name if it has one; `violations` are the rules that the message breaks."""

    layout: str
    fields: dict[str, int | str]
    violations: tuple[Violation, ...]


@functools.cache
def layout(name: str) -> Layout:
    """Returns size and fields of a layout. Raises `InputError` for an unknown name, and lists similar ones."""
    number, size, place = c_uint32(), lib.Size(), lib.Place()
    lib.call("sp_layout_find", *lib.text(name), byref(number))
    lib.call("sp_layout_size", number, byref(size))
    fields = []
    for n in range(size.fields):
        _, field_name = lib.fill("sp_field_name", number, n)
        lib.call("sp_field_place", number, n, byref(place))
        default = place.default_value.hi << 64 | place.default_value.lo
        fields.append(
            Field(field_name.decode(), place.lsb, place.width, default, place.address_lsb, bool(place.reserved))
        )
    return Layout(name, size.bits, size.bytes, tuple(fields), number.value)


def layouts() -> list[str]:
    """Returns the names of all layouts."""
    count = c_uint32()
    lib.call("sp_layout_count", byref(count))
    return [lib.fill("sp_layout_name", n)[1].decode() for n in range(count.value)]


def describe(name: str) -> dict[str, Any]:
    """Returns the field table of a layout: positions, codes by name, meaning and source."""
    described: dict[str, Any] = json.loads(lib.fill("sp_layout_describe", layout(name)._id)[1])
    return described


def encode(name: str, fields: Mapping[str, int | str] | None = None, /, **more: int | str) -> bytes:
    """Encodes a message. Its fields are given as a mapping, as keywords, or both.

    A code is given by name or number, an address is a byte address, and a field that is left out has its default value. Raises
    `InputError` for an unknown name or a value that does not fit. Rules are not checked: a reserved code is encoded as it is.
    """
    form = {"layout": name, "fields": {**(fields or {}), **more}}
    return lib.fill("sp_encode_json", *lib.text(json.dumps(form)))[1]


def decode(name: str, data: bytes) -> Message:
    """Decodes a message of a layout. Raises `InputError` if the number of bytes is not that of the layout."""
    data = lib.octets(data)
    _, text = lib.fill("sp_decode_json", layout(name)._id, data, len(data))
    form = json.loads(text)
    return Message(name, form["fields"], tuple(map(Violation.of, form["violations"])))


def encode_many(name: str, messages: Iterable[Mapping[str, int]]) -> bytes:
    """Encodes messages of one layout in one call and returns their bytes one after the other. All values are numbers here."""
    fields = layout(name).fields
    names = {field.name for field in fields}
    values: list[int] = []
    for n, message in enumerate(messages):
        unknown = set(message) - names
        if unknown:
            known = ", ".join(field.name for field in fields)
            raise InputError(f"message {n}: {name}: found field `{min(unknown)}`, expected one of: {known}", "sp_encode")
        values += (message.get(field.name, field.default) for field in fields)
    if any(not 0 <= value < 1 << 128 for value in values):
        raise RangeError(f"{name}: found a value outside 128 bits, expected 0 to 2^128 - 1", "sp_encode")
    numbers = (lib.Number * len(values))(*(lib.Number(value & (1 << 64) - 1, value >> 64) for value in values))
    count = len(values) // len(fields)
    length, size = c_size_t(), layout(name).bytes * count
    data = ctypes.create_string_buffer(size)
    lib.call("sp_encode", layout(name)._id, numbers, len(values), count, data, size, byref(length))
    return data.raw[: length.value]


def decode_many(name: str, data: bytes) -> list[dict[str, int]]:
    """Decodes messages of one layout, which stand one after the other in `data`, in one call. All values are numbers. Rules
    are not checked; `decode` does that."""
    kind, data = layout(name), lib.octets(data)
    count, rest = divmod(len(data), kind.bytes)
    if rest:
        raise RangeError(f"{name}: found {len(data)} bytes, expected a multiple of {kind.bytes}", "sp_decode")
    names = [field.name for field in kind.fields]
    numbers, length = (lib.Number * (count * len(names)))(), c_size_t()
    lib.call("sp_decode", kind._id, data, len(data), count, numbers, len(numbers), byref(length))
    values = [number.hi << 64 | number.lo for number in numbers]
    return [dict(zip(names, values[n : n + len(names)])) for n in range(0, len(values), len(names))]
