"""ual_crc32 beside the model."""

import cocotb
import common
from cocotb.triggers import Timer
from cocotbext.scalepool import Crc, crc_many


@common.test()
async def crcs_are_those_of_the_model(dut):
    draw = common.draw()
    flits = [bytes(640), b"\xff" * 640] + [draw.randbytes(640) for _ in range(common.size(20))]
    flits += common.golden("ualink", "flit_ualink_down")[:20]
    for flit, crc in zip(flits, crc_many(Crc.UALINK, b"".join(flits), 640), strict=True):
        dut.body_i.value = int.from_bytes(flit[:636], "little")
        await Timer(1, "ns")
        common.same(dut.crc_o, crc)
