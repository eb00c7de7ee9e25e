"""ual_deframer beside the model: flits that an end of the model sends, and the golden ones, with gaps, each now and then
behind a broken copy of itself, which has to be dropped. What comes out is what the model decodes, and of the model's own
traffic what was sent."""

import re

import cocotb
import common
from cocotb.triggers import FallingEdge, RisingEdge
from cocotbext.scalepool import Decoder, Encoder, UalFlitBus, UalFlitSource, random_pauses
from vectors import ual_forms


def word_and_starts(segment: dict) -> tuple[int | None, int]:
    """The message word of a segment, if any, and its start bits."""
    header = segment["header"]
    word = int.from_bytes(bytes.fromhex(segment["data"][:8]), "little") if header["alt"] else None
    return word, header["start0"] | header["start1"] << 1


def tl_flit(form: dict) -> tuple[int, int]:
    """Bits and message indicators of a TL flit that the model has decoded."""
    halves = [int.from_bytes(bytes.fromhex(form[half]["hex"]), "little") for half in ("lower", "upper")]
    marks = [form[half]["kind"] in ("message", "poison") for half in ("lower", "upper")]
    return halves[0] | halves[1] << 256, marks[0] | marks[1] << 1


async def run(dut, draw, flits: list[bytes]) -> list[tuple[int, int]]:
    """Sends the flits through the device; the TL flits that came out, which are those that the model found."""
    bus = UalFlitBus(dut, valid="valid_i", ready="ready_o", data="flit_i")
    source = UalFlitSource(bus, dut.clk_i, dut.rst_ni, reset_active_level=False)
    source.set_pause_generator(random_pauses(0.3, seed=draw.randrange(1 << 32)))
    segments, tl_flits, dropped, bad = [], [], 0, 0

    async def collect():
        nonlocal dropped, bad
        while True:
            await RisingEdge(dut.clk_i)
            dropped += dut.dropped_o.value == 1
            bad += dut.dropped_o.value == 1 and dut.crc_bad_o.value == 1
            if dut.segment_valid_o.value == 1:
                assert dut.error_o.value == 0, f"segment {len(segments)}: error"
                word = dut.word_o.value.to_unsigned() if dut.word_valid_o.value == 1 else None
                segments.append((word, dut.start_o.value.to_unsigned()))
                for n, (tl, marks) in enumerate(((dut.tl0_o, dut.message0_o), (dut.tl1_o, dut.message1_o))):
                    if dut.tl_valid_o.value.to_unsigned() >> n & 1:
                        tl_flits.append((tl.value.to_unsigned(), marks.value.to_unsigned()))

    await common.start(dut)
    collector = cocotb.start_soon(collect())
    expected_segments, expected_tl, expected_bad, expected_dropped = [], [], 0, 0
    decoder = Decoder("ualink", "down")
    answers = []
    for flit in flits:
        if draw.random() < 0.25:
            await source.send(common.flip(draw, flit))
            expected_bad += 1
        await source.send(flit)
        answers += decoder.feed(flit)
    answers += decoder.finish()
    for answer in answers:
        payload = answer.form["header"]["payload"]
        expected_dropped += not payload
        expected_segments += [word_and_starts(segment) for segment in answer.form["segments"]] if payload else []
        expected_tl += [tl_flit(form) for form in answer.form["tl_flits"]]
    await source.wait()
    for _ in range(8):
        await FallingEdge(dut.clk_i)
    collector.cancel()
    source.stop()
    # The model leaves segments with nothing in them out.
    found = [segment for segment in segments if segment != (None, 0)]
    wanted = [segment for segment in expected_segments if segment != (None, 0)]
    assert found == wanted, f"segments: found {found}, expected {wanted}"
    assert tl_flits == expected_tl, f"{len(tl_flits)} TL flits, expected {len(expected_tl)}, or another one"
    assert bad == expected_bad, f"{bad} flits with a bad CRC, expected {expected_bad}"
    assert dropped - bad == expected_dropped, f"{dropped - bad} flits without payload, expected {expected_dropped}"
    return tl_flits


@common.test()
async def traffic_of_the_model_arrives(dut):
    draw = common.draw()
    sent = [{"lower": draw.randbytes(32).hex(), "upper": draw.randbytes(32).hex(), "indicators": draw.randrange(4)}
            for _ in range(common.size(40))]
    flits = common.traffic("ualink", draw, {"down": sent, "up": []}, common.size(400))["down"]
    arrived = await run(dut, draw, [flit for flit in flits if len(flit) == 640])
    bits = [int.from_bytes(bytes.fromhex(tl["lower"] + tl["upper"]), "little") for tl in sent]
    assert arrived == [(value, tl["indicators"]) for value, tl in zip(bits, sent)], "other TL flits than were sent"


@common.test()
async def tl_flits_that_start_anywhere_arrive(dut):
    draw = common.draw()
    forms, tl = ual_forms(draw)
    with Encoder("ualink", "down") as encoder:
        flits = [flit.data for form in forms for flit in encoder.feed(form)] + [flit.data for flit in encoder.finish()]
    arrived = await run(dut, draw, flits)
    assert [value for value, _ in arrived] == [flit & (1 << 512) - 1 for flit in tl], "other TL flits than were put in"


@common.test()
async def golden_flits_are_read_as_the_model_reads_them(dut):
    kept = [
        bytes.fromhex(record["hex"]) for record in common.records("ualink", "flit_ualink_down")
        if record["crc"]["ok"] and not any(re.match("UAL-(FLH|SEG)", broken["rule"]) for broken in record["violations"])
    ]
    await run(dut, common.draw(), kept[: common.size(60)])
