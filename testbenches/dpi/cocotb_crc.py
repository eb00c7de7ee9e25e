"""The device of `cxl68_crc_bench_tb.sv` by cocotb: random flits through cxl68_crc16 and, by ctypes, the model. Run by
bench.py, which names the library, the number of flits and the file for the rate: SCALEPOOL_LIBRARY, _COUNT, _RESULT."""

import ctypes
import os
import random
import time

import cocotb
from cocotb.triggers import Timer

VERSION = 1 << 16
CRC_CXL68 = 1


def crc_of(library):
    """The model's CRC of a payload of 64 bytes."""
    sp_crc = library.sp_crc
    sp_crc.argtypes = [ctypes.c_uint32, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.POINTER(ctypes.c_uint64)]
    result = ctypes.c_uint64()

    def crc(payload):
        status = sp_crc(CRC_CXL68, payload, 64, 1, ctypes.byref(result))
        assert status == 0, status
        return result.value

    return crc


@cocotb.test()
async def random_flits(dut):
    library = ctypes.CDLL(os.environ["SCALEPOOL_LIBRARY"])
    assert library.sp_open(VERSION) == 0
    crc = crc_of(library)
    count = int(os.environ["SCALEPOOL_COUNT"])
    draw = random.Random(1)
    settle = Timer(1, "ns")
    started = time.process_time()
    for _ in range(count):
        payload = draw.randbytes(64)
        dut.slots_i.value = int.from_bytes(payload, "little")
        await settle
        assert int(dut.crc_o.value) == crc(payload)
    seconds = time.process_time() - started
    with open(os.environ["SCALEPOOL_RESULT"], "w", encoding="ascii") as file:
        file.write(f"{count / seconds:.0f}\n")
