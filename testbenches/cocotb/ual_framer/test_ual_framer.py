"""ual_framer beside the model: random message words and TL flits at every place, flits without payload between them, and a
line that waits at random. The model reads every flit: CRC, headers, words and TL flits are those that were taken."""

import re

import common
from cocotb.triggers import FallingEdge, ReadOnly
from cocotbext.scalepool import Decoder, encode


@common.test()
async def what_is_framed_is_read_by_the_model(dut):
    draw = common.draw()
    for name in ("step", "header", "word_valid", "word", "tl_valid", "tl0", "tl1", "message0", "message1"):
        getattr(dut, f"{name}_i").value = 0
    await common.start(dut)
    taken, words, flits, headers, number = [], [], [], [], 0
    count = common.size(40)
    for n in range(count):
        # The last flit takes nothing more, so that nothing is carried over behind it.
        offered, payload = n < count - 1, n == count - 1 or draw.random() < 0.85
        number = number % 511 + 1 if payload else number
        header = {"seq": number, "payload": int(payload)}
        headers.append(header)
        dut.header_i.value = int.from_bytes(encode("ualink.fh_explicit", header), "little")
        for segment in range(5):
            while draw.random() < 0.2:
                dut.step_i.value = 0
                await FallingEdge(dut.clk_i)
            tl = [(draw.getrandbits(512), draw.randrange(4)) for _ in range(2)]
            valid = draw.choice((0, 1, 2, 3, 3)) if offered else 0
            word, word_valid = draw.getrandbits(32), offered and draw.random() < 0.3
            dut.step_i.value = 1
            dut.word_valid_i.value, dut.word_i.value = int(word_valid), word
            dut.tl_valid_i.value = valid
            dut.tl0_i.value, dut.message0_i.value = tl[0]
            dut.tl1_i.value, dut.message1_i.value = tl[1]
            await ReadOnly()
            took = dut.taken_o.value.to_unsigned()
            assert took & ~valid == 0 and (payload or took == 0), f"flit {n}: taken {took:02b} of {valid:02b}"
            # At once means at once: only one at the second half may have to wait.
            assert not payload or took & 1 == valid & 1, f"flit {n}: taken {took:02b} of {valid:02b}"
            assert (dut.word_taken_o.value == 1) == (payload and word_valid), f"flit {n}: the message word"
            taken += [tl[i] for i in range(2) if took >> i & 1]
            words += [(n, segment, word)] if payload and word_valid else []
            await FallingEdge(dut.clk_i)
        dut.step_i.value = 0
        await ReadOnly()
        assert dut.valid_o.value == 1, f"flit {n} does not come"
        flits.append(dut.flit_o.value.to_unsigned().to_bytes(640, "little"))
        await FallingEdge(dut.clk_i)

    decoder = Decoder("ualink", "down")
    answers = [answer for flit in flits for answer in decoder.feed(flit)] + decoder.finish()
    assert len(answers) == len(flits), f"{len(answers)} answers to {len(flits)} flits"
    read, read_words = [], []
    for n, (answer, header) in enumerate(zip(answers, headers)):
        # What the random words and halves mean is not the framer's business.
        broken = [v for v in answer.violations if re.match("UAL-(FLH|SEG|CRC)", v.rule)]
        assert not broken, f"flit {n}: {broken[0]}"
        found = {name: answer.form["header"][name] for name in header}
        assert found == header, f"flit {n}: header {found}, expected {header}"
        for segment in answer.form["segments"]:
            if segment["header"]["alt"]:
                read_words.append((n, segment["segment"], int.from_bytes(bytes.fromhex(segment["data"][:8]), "little")))
        for form in answer.form["tl_flits"]:
            halves = [int.from_bytes(bytes.fromhex(form[half]["hex"]), "little") for half in ("lower", "upper")]
            marks = [form[half]["kind"] in ("message", "poison") for half in ("lower", "upper")]
            read.append((halves[0] | halves[1] << 256, marks[0] | marks[1] << 1))
    assert read_words == words, f"{len(read_words)} words, expected {len(words)}, or another one"
    assert len(read) == len(taken), f"{len(read)} TL flits, expected {len(taken)}"
    for n, (found, expected) in enumerate(zip(read, taken)):
        assert found == expected, f"TL flit {n}: found {found[0]:#x} {found[1]}, expected {expected[0]:#x} {expected[1]}"
