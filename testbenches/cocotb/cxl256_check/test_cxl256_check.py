"""The CRCs, the FEC encoder and the corrector of 256-byte flits beside the model: random flits, golden ones, and flits with
wrong bytes in one, two or three groups."""

import cocotb
import common
from cocotb.triggers import Timer
from cocotbext.scalepool import Crc, Fec, crc_many, fec_correct, fec_encode


async def put(dut, flit: bytes) -> None:
    dut.flit_i.value = int.from_bytes(flit, "little")
    await Timer(1, "ns")


def flits() -> list[bytes]:
    """Flits with anything in them."""
    draw = common.draw()
    found = [bytes(256), b"\xff" * 256] + [draw.randbytes(256) for _ in range(common.size(8))]
    return found + common.golden("cxl256", "flit_cxl-256b-lopt_down")[1:60:20]


@common.test()
async def crcs_are_those_of_the_model(dut):
    for flit in flits():
        await put(dut, flit)
        common.same(dut.crc8_o, crc_many(Crc.CXL256, flit[:242], 242)[0])
        common.same(dut.even_o, crc_many(Crc.LOPT_EVEN, flit[:122], 122)[0])
        common.same(dut.odd_o, crc_many(Crc.LOPT_ODD, flit[128:244], 116)[0])


@common.test()
async def fec_bytes_are_those_of_the_model(dut):
    for flit in flits():
        await put(dut, flit)
        common.same(dut.fec_standard_o, int.from_bytes(fec_encode(flit)[250:], "little"))
        common.same(dut.fec_lopt_o, int.from_bytes(fec_encode(flit, Fec.LOPT)[244:250], "little"))


def broken(draw, flit: bytes, bytes_wrong: list[int]) -> bytes:
    wrong = bytearray(flit)
    for at in bytes_wrong:
        wrong[at] ^= draw.randrange(1, 256)
    return bytes(wrong)


@common.test()
async def repairs_are_those_of_the_model(dut):
    """One wrong byte in up to three groups is repaired; more in one group is repaired wrongly or found, as in the model."""
    draw = common.draw()
    cases = []
    for n in range(common.size(16)):
        flit = fec_encode(draw.randbytes(256))
        # The first and the last rows of the groups, FEC bytes, and anything between.
        places = [n % 6, 240 + n % 16, draw.randrange(256), draw.randrange(256)]
        cases.append(broken(draw, flit, places[: 1 + n % 4]))
    cases += [broken(draw, fec_encode(draw.randbytes(256)), [at]) for at in (249, 250, 252, 255)]
    # A difference that names the last row, in which groups 1 and 2 have no byte: check byte and parity byte changed alike.
    for check_at, parity_at in ((250, 253), (251, 254)):
        flit = bytearray(fec_encode(draw.randbytes(256)))
        # 2 is 1 times alpha.
        flit[parity_at] ^= 1
        flit[check_at] ^= 2
        cases.append(bytes(flit))
    # Two wrong bytes in one group: many of them name a row that there is not.
    for _ in range(common.size(10)):
        group = draw.randrange(3)
        cases.append(broken(draw, fec_encode(draw.randbytes(256)), draw.sample(range(group, 250, 3), 2)))
    for flit in cases:
        fixed, corrected = fec_correct(flit)
        await put(dut, flit)
        bad = dut.bad_o.value.to_unsigned()
        assert (bad != 0) == (corrected[0] < 0), f"{flit.hex()}: bad {bad:03b}, model {corrected[0]}"
        if corrected[0] >= 0:
            common.same(dut.fixed_o, int.from_bytes(fixed, "little"))
            changed = dut.changed_o.value.to_unsigned()
            assert changed.bit_count() == corrected[0], f"{flit.hex()}: changed {changed:03b}, model {corrected[0]}"
