"""cxl68_packer beside the model: random messages of the five classes at random times, a receiver that waits at random. The
model reads what was packed: no rule is broken, and all messages, lines and byte enables are there, in order."""

import cocotb
import common
from cocotb.triggers import FallingEdge, ReadOnly
from cocotbext.scalepool import Crc, Decoder, crc, encode

# Class by bit of valid_i and taken_o.
CLASSES = ("h2d_req", "h2d_rsp", "h2d_data", "m2s_req", "m2s_rwd")
DATA, MEM_DATA = 2, 4


def golden_messages(name: str) -> list[bytes]:
    """Valid messages of a golden set."""
    found = common.records("cxl68", name)
    return [bytes.fromhex(r["hex"]) for r in found if r["result"] == "valid" and r["fields"]["valid"]]


def chunks(line: int, enables: int | None) -> list[int]:
    """The chunks of 16 bytes of a line and of its byte enables."""
    parts = [line >> 128 * n & (1 << 128) - 1 for n in range(4)]
    return parts if enables is None else [*parts, enables]


@common.test()
@cocotb.parametrize(busy=[0.9, 0.3])
async def what_is_packed_is_read_by_the_model(dut, busy):
    draw = common.draw()
    sets = [golden_messages(name) for name in CLASSES]
    waiting, inputs = [None] * 5, [dut.h2d_req_i, dut.h2d_rsp_i, dut.h2d_data_i, dut.m2s_req_i, dut.m2s_rwd_i]
    sent, owed = [[] for _ in CLASSES], []
    read, lines = [[] for _ in CLASSES], []
    decoder = Decoder("cxl-68b", "down")
    for signal in (*inputs, dut.valid_i, dut.ready_i, dut.data_line_i, dut.rwd_line_i, dut.rwd_partial_i,
                   dut.rwd_enables_i, dut.ak_i, dut.credits_i):
        signal.value = 0
    await common.start(dut)
    # Behind the last message, what is owed has to come out.
    flits, count = 0, common.size(250)
    for cycle in range(count + 60):
        for n, messages in enumerate(sets):
            if waiting[n] is None and cycle < count and draw.random() < busy:
                waiting[n] = draw.choice(messages)
                inputs[n].value = int.from_bytes(waiting[n], "little")
                if n == DATA:
                    data_line = draw.getrandbits(512)
                    dut.data_line_i.value = data_line
                elif n == MEM_DATA:
                    rwd_line = draw.getrandbits(512)
                    enables = draw.getrandbits(64) if waiting[n][0] >> 1 & 15 == 2 else None  # MemWrPtl
                    dut.rwd_line_i.value = rwd_line
                    dut.rwd_partial_i.value = int(enables is not None)
                    dut.rwd_enables_i.value = enables or 0
        valid = sum(1 << n for n in range(5) if waiting[n] is not None)
        ready, ak, credits = draw.random() < 0.7, draw.randrange(2), draw.getrandbits(12) & 0x777
        dut.valid_i.value, dut.ready_i.value = valid, int(ready)
        dut.ak_i.value, dut.credits_i.value = ak, credits
        await ReadOnly()
        taken = dut.taken_o.value.to_unsigned()
        assert taken & ~valid == 0 and (ready or taken == 0), f"cycle {cycle}: taken {taken:05b} of {valid:05b}"
        if dut.valid_o.value == 1 and ready:
            slots = dut.slots_o.value.to_unsigned().to_bytes(64, "little")
            decoded = decoder.feed(b"\x55\x55" + slots + crc(Crc.CXL68, slots).to_bytes(2, "little"))[0]
            assert not decoded.violations, f"flit {flits}: {decoded.violations[0]}"
            flits += 1
            if decoded.kind == "protocol":
                header = decoded.form["header"]
                found = header["data_crd"] << 8 | header["req_crd"] << 4 | header["rsp_crd"]
                assert (header["ak"], found) == (ak, credits), f"flit {flits}: ak {header['ak']}, credits {found:#x}"
            for message in decoded.messages:
                bits = encode(message["layout"], message["fields"])
                read[CLASSES.index(message["layout"].split(".")[1])].append(bits)
            lines += [int.from_bytes(bytes.fromhex(s["data"]), "little") for s in decoded.form["slots"] if "data" in s]
        else:
            assert taken == 0, f"cycle {cycle}: taken {taken:05b} without a flit"
        for n in range(5):
            if taken >> n & 1:
                sent[n].append(waiting[n])
                waiting[n] = None
        # One data header at most goes into a flit.
        assert taken >> DATA & taken >> MEM_DATA & 1 == 0, f"cycle {cycle}: two data headers are taken"
        if taken >> DATA & 1:
            owed += chunks(data_line, None)
        if taken >> MEM_DATA & 1:
            owed += chunks(rwd_line, enables)
        await FallingEdge(dut.clk_i)
    assert dut.valid_o.value == 0 and waiting == [None] * 5, "something waits for ever"
    assert lines == owed, f"{len(lines)} chunks of {len(owed)}, or another one"
    for name, found, expected in zip(CLASSES, read, sent):
        assert found == expected and found, f"{name}: {len(found)} messages of {len(expected)}, or another one"
