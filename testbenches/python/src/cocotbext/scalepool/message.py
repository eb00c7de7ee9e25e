"""Messages: fields to bytes and back, one or many, for every layout of the library.

    >>> encode("cxl68.m2s_req", opcode="MemRd", address=0x1000, tag=7).hex()
    '0370000008000000000000'
    >>> decode("cxl68.m2s_req", bytes.fromhex("0370000008000000000000")).fields["tag"]
    7

Bytes are in the order of the wire, byte 0 first. `layouts()` lists the names, `describe(name)` says what a field is.
"""

import ctypes
import functools
import json
from collections.abc import Iterable, Mapping
from ctypes import byref, c_size_t, c_uint32
from dataclasses import dataclass

from . import _library as lib
from .errors import InputError, RangeError


@dataclass(frozen=True)
class Violation:
    """A rule that is broken: its id (`scalepool list rules`), where, what was found and what was expected."""

    rule: str
    at: str
    found: str
    expected: str
    text: str

    @classmethod
    def of(cls, form: Mapping) -> "Violation":
        """From the JSON form of the library."""
        return cls(*(str(form.get(key, "")) for key in ("rule", "at", "found", "expected", "text")))

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}: {self.at}: found {self.found}, expected {self.expected}"


@dataclass(frozen=True)
class Field:
    """A field of a layout: its lowest bit, its width in bits, the value that it has when it is left out.

    A byte address with `address_lsb` above 0 travels without its lower bits; values are whole byte addresses.
    """

    name: str
    lsb: int
    width: int
    default: int
    address_lsb: int
    reserved: bool


@dataclass(frozen=True)
class Layout:
    """A layout: its name, its size in bits and in bytes on the wire, its fields in order."""

    name: str
    bits: int
    bytes: int
    fields: tuple[Field, ...]
    _id: int


@dataclass(frozen=True)
class Message:
    """A decoded message. `fields` has codes by name where they have one; `violations` are the rules it breaks."""

    layout: str
    fields: dict[str, int | str]
    violations: tuple[Violation, ...]


@functools.cache
def layout(name: str) -> Layout:
    """Size and fields of a layout. Raises `InputError` for a name that there is not, with similar ones."""
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
    """Names of all layouts."""
    count = c_uint32()
    lib.call("sp_layout_count", byref(count))
    return [lib.fill("sp_layout_name", n)[1].decode() for n in range(count.value)]


def describe(name: str) -> dict:
    """The whole field table of a layout: places, codes by name, meaning, source."""
    return json.loads(lib.fill("sp_layout_describe", layout(name)._id)[1])


def encode(name: str, fields: Mapping[str, int | str] | None = None, /, **more: int | str) -> bytes:
    """Encodes a message; fields from a mapping, by keyword, or both.

    Codes go by name or number, addresses are byte addresses; fields left out have their default. Raises `InputError` for
    a name or value that does not fit. Rules of the layout are not judged: a reserved code is encoded as it is.
    """
    form = {"layout": name, "fields": {**(fields or {}), **more}}
    return lib.fill("sp_encode_json", *lib.text(json.dumps(form)))[1]


def decode(name: str, data: bytes) -> Message:
    """Decodes a message of a layout. Raises `InputError` unless there are exactly as many bytes as the layout has."""
    data = lib.octets(data)
    _, text = lib.fill("sp_decode_json", layout(name)._id, data, len(data))
    form = json.loads(text)
    return Message(name, form["fields"], tuple(map(Violation.of, form["violations"])))


def encode_many(name: str, messages: Iterable[Mapping[str, int]]) -> bytes:
    """Encodes messages of one layout in one call; their bytes stand one behind the other. Values are numbers here."""
    fields = layout(name).fields
    names = {field.name for field in fields}
    values: list[int] = []
    for n, message in enumerate(messages):
        unknown = set(message) - names
        if unknown:
            raise InputError(f"message {n}: {name}: found no field `{min(unknown)}`", "sp_encode")
        values += (message.get(field.name, field.default) for field in fields)
    if any(not 0 <= value < 1 << 128 for value in values):
        raise RangeError(f"{name}: found a value below 0 or above 128 bits", "sp_encode")
    numbers = (lib.Number * len(values))(*((value & (1 << 64) - 1, value >> 64) for value in values))
    count = len(values) // len(fields)
    length, size = c_size_t(), layout(name).bytes * count
    data = ctypes.create_string_buffer(size)
    lib.call("sp_encode", layout(name)._id, numbers, len(values), count, data, size, byref(length))
    return data.raw[: length.value]


def decode_many(name: str, data: bytes) -> list[dict[str, int]]:
    """Decodes messages of one layout that stand one behind the other, in one call. Values are numbers; rules are not told:
    `decode` does that."""
    kind, data = layout(name), lib.octets(data)
    count, rest = divmod(len(data), kind.bytes)
    if rest:
        raise RangeError(f"{name}: found {len(data)} bytes, expected a multiple of {kind.bytes}", "sp_decode")
    names = [field.name for field in kind.fields]
    numbers, length = (lib.Number * (count * len(names)))(), c_size_t()
    lib.call("sp_decode", kind._id, data, len(data), count, numbers, len(numbers), byref(length))
    values = [number.hi << 64 | number.lo for number in numbers]
    return [dict(zip(names, values[n : n + len(names)])) for n in range(0, len(values), len(names))]
