"""The shared library over ctypes.

The C header is the only declaration of the ABI: its prototypes and constants are read when this module is imported, so they
cannot differ from it. All pointers are `c_void_p` here, which accepts `bytes`, arrays and `byref(..)`; only the modules beside
this one use them.

The environment variable `SCALEPOOL_LIB` names another library than the one in the wheel.
"""

import ctypes
import os
import pathlib
import re
import sys
import threading
from ctypes import byref, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, TypeVar

from . import errors

HERE = pathlib.Path(__file__).resolve().parent
# In the wheel it lies beside the sources for DPI-C, as in a clone.
HEADER = next(p for p in (HERE / "c" / "scalepool.h", HERE.parents[3] / "c" / "scalepool.h") if p.is_file())

SCALARS = {"int32_t": c_int32, "uint32_t": c_uint32, "uint64_t": c_uint64, "size_t": c_size_t}


def read_constants(header: str) -> dict[str, int]:
    """Returns every `#define` of a number: `-5`, `1000`, `(1 << 16)`."""
    found = {}
    for name, value in re.findall(r"^#define (\w+) (.+)$", header, re.MULTILINE):
        shift = re.fullmatch(r"\((\d+) << (\d+)\)", value)
        if re.fullmatch(r"-?\d+", value):
            found[name] = int(value)
        elif shift:
            found[name] = int(shift[1]) << int(shift[2])
    return found


def read_prototypes(header: str) -> dict[str, tuple[type[Any], list[type[Any]]]]:
    """Returns the result type and the argument types of every function."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", header, flags=re.DOTALL)
    found: dict[str, tuple[type[Any], list[type[Any]]]] = {}
    for returns, name, arguments in re.findall(r"^(\w+) (sp_\w+)\(([^;]*)\);", code, re.MULTILINE):
        kinds: list[type[Any]] = []
        for argument in re.sub(r"\s+", " ", arguments).split(","):
            words = argument.replace("*", " * ").split()
            if words == ["void"]:
                continue
            scalar = SCALARS.get(words[0])
            # A type of another name without a star is that of a function: a pointer as well.
            kinds.append(c_void_p if "*" in words or scalar is None else scalar)
        found[name] = (SCALARS[returns], kinds)
    return found


_HEADER_TEXT = HEADER.read_text(encoding="utf-8")
CONSTANTS = read_constants(_HEADER_TEXT)
PROTOTYPES = read_prototypes(_HEADER_TEXT)

SP_OK, SP_FINDING, SP_EMPTY, SP_FULL = (CONSTANTS[f"SP_{n}"] for n in ("OK", "FINDING", "EMPTY", "FULL"))
SP_ERR_SHORT = CONSTANTS["SP_ERR_SHORT"]

_CLASSES = {
    "SP_ERR_INPUT": errors.InputError,
    "SP_ERR_RANGE": errors.RangeError,
    "SP_ERR_HANDLE": errors.HandleError,
    "SP_ERR_BUSY": errors.BusyError,
    "SP_ERR_KIND": errors.KindError,
    "SP_ERR_VERSION": errors.LibraryError,
    "SP_UNREADABLE": errors.InputError,
}
_CLASS_OF = {CONSTANTS[name]: kind for name, kind in _CLASSES.items()}


_OWN = HERE / ("libscalepool.dylib" if sys.platform == "darwin" else "libscalepool.so")
PATH = os.environ.get("SCALEPOOL_LIB") or str(_OWN)


def _open() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(PATH)
        for name, (returns, arguments) in PROTOTYPES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = returns, arguments
    except (OSError, AttributeError) as error:
        wanted = "expected the shared library of scalepool: run `pip install ./testbenches/python`, or name it in SCALEPOOL_LIB"
        raise errors.LibraryError(f"{error}; {wanted}") from None
    major, minor, patch = (CONSTANTS[f"SP_ABI_{part}"] for part in ("MAJOR", "MINOR", "PATCH"))
    status = library.sp_open(major << 16 | minor << 8 | patch)
    if status != SP_OK:
        raise errors.LibraryError(_last_error(library), "sp_open", status)
    return library


_buffers = threading.local()


def _buffer(capacity: int) -> "ctypes.Array[ctypes.c_char]":
    """Returns a buffer of this thread with room for this number of bytes; one call at a time uses it."""
    buffer = getattr(_buffers, "buffer", None)
    if buffer is None or len(buffer) < capacity:
        buffer = _buffers.buffer = ctypes.create_string_buffer(max(capacity, 16384))
    return buffer


def _last_error(library: ctypes.CDLL) -> str:
    length = c_size_t()
    buffer = ctypes.create_string_buffer(4096)
    if library.sp_last_error(buffer, len(buffer), byref(length)) == SP_ERR_SHORT:
        buffer = ctypes.create_string_buffer(length.value + 1)
        library.sp_last_error(buffer, len(buffer), byref(length))
    return buffer.value.decode("utf-8", "replace")


LIBRARY = _open()


def last_error() -> str:
    """Returns the text of the last call of this thread that did not return SP_OK."""
    return _last_error(LIBRARY)


def refuse(name: str, status: int) -> None:
    """Raises the exception of a status, with the text of the library."""
    raise _CLASS_OF.get(status, errors.InternalError)(last_error(), name, status)


def _check(name: str, arguments: tuple[object, ...]) -> None:
    """Raises for a number that does not fit, which ctypes would truncate without an error."""
    for argument, kind in zip(arguments, PROTOTYPES[name][1]):
        if isinstance(argument, int) and isinstance(kind, type) and issubclass(kind, _NUMBERS):
            highest = (1 << 8 * ctypes.sizeof(kind)) - 1
            if not 0 <= argument <= highest:
                raise errors.RangeError(f"{name}: found {argument}, expected a number from 0 to {highest}", name)


_NUMBERS = (c_uint32, c_uint64, c_size_t)


def call(name: str, *arguments: object) -> int:
    """Calls a function and returns its status, SP_OK or an outcome. Raises for an error."""
    _check(name, arguments)
    status = int(getattr(LIBRARY, name)(*arguments))
    if status < 0:
        refuse(name, status)
    return status


def fill(name: str, *arguments: object) -> tuple[int, bytes]:
    """Calls a function whose last arguments are (buffer, capacity, length). Returns its status and the contents of the buffer."""
    function, length, buffer = getattr(LIBRARY, name), c_size_t(), _buffer(0)
    status = function(*arguments, buffer, len(buffer), byref(length))
    if status == SP_ERR_SHORT:
        buffer = _buffer(length.value + 1)
        status = function(*arguments, buffer, len(buffer), byref(length))
    if status < 0:
        refuse(name, status)
    return status, ctypes.string_at(buffer, length.value)


def octets(value: bytes) -> bytes:
    """Returns the bytes of an input that holds bytes. Raises `TypeError` for anything else, such as a number or a list."""
    try:
        return value if isinstance(value, bytes) else bytes(memoryview(value))
    except TypeError:
        raise TypeError(f"found {type(value).__name__}, expected bytes") from None


def text(value: str) -> tuple[bytes, int]:
    """Returns the two arguments of an input text."""
    if not isinstance(value, str):
        raise TypeError(f"found {type(value).__name__}, expected str")
    data = value.encode("utf-8")
    return data, len(data)


class Number(ctypes.Structure):
    """`sp_number`: a number of up to 128 bits."""

    _fields_ = [("lo", c_uint64), ("hi", c_uint64)]


class Size(ctypes.Structure):
    """`sp_layout`: size of a layout."""

    _fields_ = [("bits", c_uint32), ("bytes", c_uint32), ("fields", c_uint32)]


class Place(ctypes.Structure):
    """`sp_field`: place of a field in its message."""

    _fields_ = [
        ("default_value", Number), ("lsb", c_uint32), ("width", c_uint32), ("address_lsb", c_uint32),
        ("reserved", c_uint32),
    ]


_H = TypeVar("_H", bound="Handle")


class Handle:
    """An object of the library. It is closed by `close`, at the end of a `with` block, or when it is garbage-collected.
    """

    _destroy = ""

    def __init__(self, make: str, *arguments: object) -> None:
        self._handle = 0
        handle = c_uint64()
        call(make, *arguments, byref(handle))
        self._handle = handle.value

    def close(self) -> None:
        """Closes the object; every later call raises `HandleError`. Closing twice does nothing. Closing it inside one of its own
        calls, from a hook, raises `BusyError`."""
        if handle := getattr(self, "_handle", 0):
            call(self._destroy, handle)
            self._handle = 0

    def __enter__(self: _H) -> _H:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()
