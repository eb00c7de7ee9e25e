"""CRCs, and the FEC of 256-byte flits, for one item or many.

    >>> crc(Crc.CXL68, bytes(64))
    0
    >>> fec_correct(fec_encode(bytes(256)))[1]
    [0]

`crc_many` and the FEC functions process a whole batch in one call: use them where speed matters.
"""

import ctypes
import enum
from array import array
from ctypes import byref, c_int32, c_uint64

from . import _library as lib
from .errors import RangeError


class Crc(enum.IntEnum):
    """What a CRC covers.

    * CXL68: the 64 bytes of the slots of a 68B flit (16 bits)
    * CXL256: bytes 0 to 241 of a standard or PBR flit (64 bits)
    * LOPT_EVEN, LOPT_ODD: bytes 0 to 121, or 128 to 243, of a latency-optimised flit (48 bits)
    * UALINK: all 640 bytes of a DL flit; the bytes of the CRC itself do not count (32 bits)
    * NVLINK: 16 bytes for each flit that is covered, the header last; its CRC field does not count (25 bits)
    * DLLP: the 4 bytes of a DLLP (16 bits)
    * LCRC: 2 bytes of sequence number, high byte first, then the TLP (32 bits)
    * ECRC: a TLP without its local prefixes and without the digest (32 bits)
    """

    CXL68 = lib.CONSTANTS["SP_CRC_CXL68"]
    CXL256 = lib.CONSTANTS["SP_CRC_CXL256"]
    LOPT_EVEN = lib.CONSTANTS["SP_CRC_LOPT_EVEN"]
    LOPT_ODD = lib.CONSTANTS["SP_CRC_LOPT_ODD"]
    UALINK = lib.CONSTANTS["SP_CRC_UALINK"]
    NVLINK = lib.CONSTANTS["SP_CRC_NVLINK"]
    DLLP = lib.CONSTANTS["SP_CRC_DLLP"]
    LCRC = lib.CONSTANTS["SP_CRC_LCRC"]
    ECRC = lib.CONSTANTS["SP_CRC_ECRC"]


class Fec(enum.IntEnum):
    """Kind of 256-byte flit: STANDARD, which PBR flits are too, or LOPT, the latency-optimised one."""

    STANDARD = lib.CONSTANTS["SP_FEC_STANDARD"]
    LOPT = lib.CONSTANTS["SP_FEC_LOPT"]


FLIT_BYTES = 256
_sp_crc = lib.LIBRARY.sp_crc


def crc(kind: Crc, data: bytes) -> int:
    """Returns the CRC of one item, as a number whose little-endian bytes are the CRC in wire order. Raises `RangeError` for a
    wrong length."""
    found = c_uint64()
    data = data if isinstance(data, bytes) else lib.octets(data)
    try:
        status = _sp_crc(kind, data, len(data), 1, byref(found))
    except ctypes.ArgumentError:
        raise TypeError(f"found {kind!r}, expected a `Crc`") from None
    if status:
        lib.refuse("sp_crc", status)
    return found.value


def crc_many(kind: Crc, data: bytes, item_bytes: int) -> "array[int]":
    """Returns the CRCs of items of `item_bytes` each, which stand one after the other in `data`, as an array of 64-bit
    numbers."""
    data = lib.octets(data)
    count, rest = divmod(len(data), item_bytes) if item_bytes > 0 else (0, 1)
    if rest:
        raise RangeError(f"data: found {len(data)} bytes, expected a multiple of item_bytes, {item_bytes}", "sp_crc")
    found = array("Q", bytes(8 * count))
    status = _sp_crc(kind, data, item_bytes, count, found.buffer_info()[0])
    if status:
        lib.refuse("sp_crc", status)
    return found


def _flits(flits: bytes) -> tuple[ctypes.Array[ctypes.c_char], int]:
    flits = lib.octets(flits)
    count, rest = divmod(len(flits), FLIT_BYTES)
    if rest:
        raise RangeError(f"flits: found {len(flits)} bytes, expected a multiple of {FLIT_BYTES}", "sp_fec")
    return ctypes.create_string_buffer(flits, len(flits)), count


def fec_encode(flits: bytes, kind: Fec = Fec.STANDARD) -> bytes:
    """Returns the 256-byte flits with their six FEC bytes filled in. The CRCs must be there already."""
    buffer, count = _flits(flits)
    lib.call("sp_fec_encode", kind, buffer, count)
    return buffer.raw


def fec_correct(flits: bytes, kind: Fec = Fec.STANDARD) -> tuple[bytes, list[int]]:
    """Returns the corrected flits, and for each one the number of corrected bytes, or -1 if it cannot be corrected and is
    returned as it was.

    The FEC corrects at most three bytes, one in each group. More errors can look like fewer, so check the CRC afterwards.
    """
    buffer, count = _flits(flits)
    corrected = (c_int32 * count)()
    lib.call("sp_fec_correct", kind, buffer, count, corrected)
    return buffer.raw, corrected[:]
