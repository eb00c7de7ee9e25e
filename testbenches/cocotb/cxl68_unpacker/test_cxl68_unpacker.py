"""cxl68_unpacker beside the model, in the direction of its parameter: flits that two ends of the model send each other, and the
golden ones, which have every slot format. Between them stand broken flits that are not said to be valid."""

import common
from cocotb.triggers import FallingEdge, ReadOnly
from cocotbext.scalepool import Decoder, Flit, encode, layout

CLASSES = {"h2d_req": 1, "d2h_req": 1, "h2d_rsp": 2, "d2h_rsp": 2, "h2d_data": 3, "d2h_data": 3, "m2s_req": 4,
           "s2m_ndr": 4, "m2s_rwd": 5, "s2m_drs": 5}
KINDS = ("protocol", "all-data", "control")
BITS = 87  # of a place for a message


def messages(draw, dir: str, count: int) -> list[dict]:
    """Messages that an end may send, with data where the layout has some."""
    found = []
    for _ in range(count):
        name = draw.choice([name for name in CLASSES if name.startswith(("h2d", "m2s")) == (dir == "down")])
        fields = {"tag": draw.randrange(1 << 16)} if name[0] in "ms" else {}
        for field in layout(f"cxl68.{name}").fields:
            if field.name in ("cqid", "uqid"):
                fields[field.name] = draw.randrange(1 << field.width)
            elif field.name == "address":
                fields[field.name] = draw.randrange(1 << 40) << 6
        message = {"layout": f"cxl68.{name}", "fields": fields}
        if name.endswith(("data", "rwd", "drs")):
            message["data"] = draw.randbytes(64).hex()
        if name == "m2s_rwd":
            partial = draw.random() < 0.4
            fields["opcode"] = "MemWrPtl" if partial else "MemWr"
            message |= {"be": draw.getrandbits(64)} if partial else {}
        found.append(message)
    return found


def expected(decoded: Flit) -> dict[str, int]:
    """What the outputs are for a flit that the model has decoded."""
    found = {"class_o": 0, "message_o": 0, "chunk_o": 0, "all_data_o": int(decoded.kind == "all-data"),
             "control_o": int(decoded.kind == "control"), "error_o": 0}
    for slot in decoded.form.get("slots", ()):
        for place, message in enumerate(slot.get("messages", ())):
            if message["fields"]["valid"]:
                at = 5 * slot["slot"] + place
                bits = int.from_bytes(encode(message["layout"], message["fields"]), "little")
                found["message_o"] |= bits << BITS * at
                found["class_o"] |= CLASSES[message["layout"].split(".")[1]] << 3 * at
        # A head slot with `data` holds a MAC, which is no chunk.
        if "data" in slot and not slot.get("format", "").startswith("H"):
            found["chunk_o"] |= 1 << slot["slot"]
    return found


async def run(dut, draw, units: list[bytes], dir: str) -> None:
    dut.valid_i.value, dut.slots_i.value = 0, 0
    await common.start(dut)
    seen = 0
    with Decoder("cxl-68b", dir) as decoder:
        for unit in units:
            while draw.random() < 0.2:
                # Not valid, so nothing of it counts.
                dut.slots_i.value = int.from_bytes(common.flip(draw, unit)[2:66], "little")
                await FallingEdge(dut.clk_i)
            decoded = decoder.feed(unit)[0]
            if decoded.kind not in KINDS:
                continue
            seen += 1
            dut.valid_i.value, dut.slots_i.value = 1, int.from_bytes(unit[2:66], "little")
            await ReadOnly()
            for name, value in expected(decoded).items():
                common.same(getattr(dut, name), value, f"of flit {seen}: {unit.hex()}")
            await FallingEdge(dut.clk_i)
            dut.valid_i.value = 0
    assert seen > 10, f"found {seen} flits for the device"


def direction(dut) -> str:
    return "up" if dut.UP.value == 1 else "down"


@common.test()
async def traffic_is_read_as_the_model_reads_it(dut):
    draw, dir = common.draw(), direction(dut)
    both = {dir: messages(draw, dir, common.size(60)) for dir in ("down", "up")}
    await run(dut, draw, common.traffic("cxl-68b", draw, both, common.size(1000))[dir], dir)


@common.test()
async def golden_flits_are_read_as_the_model_reads_them(dut):
    draw, dir = common.draw(), direction(dut)
    records = common.records("cxl68", f"flit_cxl-68b_{dir}")
    broken = next(n for n, record in enumerate(records) if record["violations"])
    await run(dut, draw, [bytes.fromhex(record["hex"]) for record in records[:broken]], dir)
