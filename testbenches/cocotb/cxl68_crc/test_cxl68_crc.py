"""cxl68_crc16 beside the model: random payloads, the payloads of golden flits, and single bits."""

import cocotb
import common
from cocotb.triggers import Timer
from cocotbext.scalepool import Crc, crc_many


@common.test()
async def crcs_are_those_of_the_model(dut):
    draw = common.draw()
    payloads = [draw.randbytes(64) for _ in range(common.size(200))]
    payloads += [bytes(64), b"\xff" * 64] + [(1 << bit).to_bytes(64, "little") for bit in range(0, 512, 7)]
    payloads += [flit[2:66] for flit in common.golden("cxl68", "flit_cxl-68b_down")[:80]]
    expected = crc_many(Crc.CXL68, b"".join(payloads), 64)
    for payload, crc in zip(payloads, expected, strict=True):
        dut.slots_i.value = int.from_bytes(payload, "little")
        await Timer(1, "ns")
        common.same(dut.crc_o, crc, payload.hex())
