"""cxl68_retry_rx beside a receiver written out here from the sheet (cxl-68b §7), cycle by cycle; the flits are those that the
model encodes. In some episodes the peer answers, in others never, or with the answer to another question; flits come
damaged, and the link trains."""

import common
from cocotb.triggers import FallingEdge, ReadOnly
from cocotbext.scalepool import Crc, crc, encode

MAX_NUM_RETRY, MAX_NUM_PHY_REINIT, TIMEOUT = 3, 2, 8
OUTPUTS = ("accept_o", "good_o", "freed_o", "num_ack_o", "req_o", "eseq_o", "num_retry_o", "num_reinit_o", "ack_o", "retrain_o",
           "failed_o", "unexpected_o")


class Receiver:
    """State, what is said in a cycle, and the step to the next."""

    def __init__(self):
        self.state, self.asked = "normal", False
        self.eseq = self.num_ack = self.num_retry = self.num_reinit = self.echo = self.sent = self.frames = 0
        self.answer = None  # Eseq and NUM_RETRY of the Ack that has to be sent

    def cycle(self, d: dict) -> dict:
        control = d["kind"] != "data" and not (d["all_data"] and self.state == "normal")
        # Only what is read as a control flit can have wrong static bits.
        good = d["valid"] and not d["damaged"] and not (control and d["wrong_static"])
        retry = control and d["kind"] in ("frame", "req", "ack", "idle")
        closes = good and retry and self.frames >= 5
        accepted = good and not retry and self.state == "normal" and not d["training"]
        freed = 0
        if accepted and not d["all_data"]:
            freed = 8 * d["ak"] if d["kind"] == "data" else d["full_ack"] if d["kind"] == "llcrd" else 0
        waits = self.state == "llrreq" and self.num_retry < MAX_NUM_RETRY
        out = {
            "accept_o": accepted, "good_o": good, "freed_o": freed, "num_ack_o": self.num_ack, "req_o": waits,
            "eseq_o": self.eseq, "num_retry_o": self.num_retry, "num_reinit_o": self.num_reinit,
            "ack_o": self.answer is not None, "retrain_o": self.state == "reinit" and self.asked,
            "failed_o": self.state == "abort",
            "unexpected_o": closes and d["kind"] == "ack" and self.state == "normal",
        }
        if self.answer is not None:
            out["ack_eseq_o"], out["ack_num_retry_o"] = self.answer
        self.step(d, good, closes, retry, accepted)
        return out

    def step(self, d, good, closes, retry, accepted):
        if d["training"] or self.state in ("reinit", "abort"):
            self.answer = None
        elif closes and d["kind"] == "req":
            self.answer = (d["eseq"], d["num_retry"])
        elif d["ack_begun"]:
            self.answer = None
        if d["valid"]:
            self.frames = self.frames + 1 if good and retry and d["kind"] == "frame" else 0
        self.num_ack += accepted - d["returned"]
        if self.state == "normal":
            if d["training"]:
                self.state = "reinit"
            elif d["valid"] and not good:
                self.state = "llrreq"
            if accepted:
                self.eseq = 0 if self.eseq == d["wrap"] else self.eseq + 1
                self.num_retry = self.num_reinit = 0
        elif self.state == "llrreq":
            if d["training"]:
                self.state = "reinit"
            elif self.num_retry >= MAX_NUM_RETRY:
                if self.num_reinit >= MAX_NUM_PHY_REINIT:
                    self.state = "abort"
                else:
                    self.state, self.asked = "reinit", True
                    self.num_reinit += 1
            elif d["req_sent"]:
                self.state, self.echo, self.sent = "idle", self.num_retry, 0
                self.num_retry += 1
        elif self.state == "idle":
            late = self.sent >= TIMEOUT
            self.sent += d["sent"]
            if d["training"]:
                self.state = "reinit"
            elif late:
                self.state = "llrreq"
            elif closes and d["kind"] == "ack" and d["num_retry"] == self.echo:
                self.state = "normal"
                if d["empty"]:
                    self.num_retry = self.num_reinit = 0
        elif self.state == "reinit":
            if d["training"]:
                self.asked = False
            elif not self.asked:
                self.state, self.num_retry = "llrreq", 0


def flit(draw, kind: str, echo: int) -> dict:
    """A flit of a kind as the receiver gets it, and what is in it."""
    d = {"kind": kind, "ak": 0, "full_ack": 0, "eseq": 0, "num_retry": 0, "empty": 0, "all_data": 0}
    rest = draw.randbytes(48)
    if kind == "data":
        d["ak"] = draw.randrange(2)
        slot = bytes([d["ak"] << 2, *draw.randbytes(15)])
    elif kind == "llcrd":
        # Bit 3 of what is acknowledged stands in Ak.
        d["full_ack"] = full = draw.randrange(256)
        slot = encode("cxl68.llcrd", ack_low=full & 7, ak=full >> 3 & 1, ack_high=full >> 4)
        rest = bytes(48)
    elif kind in ("frame", "idle"):
        slot, rest = encode("cxl68.retry", sub_type=3 * (kind == "frame")), bytes(48)
    elif kind == "req":
        d["eseq"], d["num_retry"] = draw.randrange(256), draw.randrange(32)
        slot = encode("cxl68.retry_req", eseq=d["eseq"], num_retry=d["num_retry"], num_phy_reinit=draw.randrange(32))
        rest = bytes(48)
    else:
        d["num_retry"], d["empty"] = echo if draw.random() < 0.7 else draw.randrange(32), draw.randrange(2)
        slot = encode("cxl68.retry_ack", num_retry=d["num_retry"], empty=d["empty"], wr_ptr=draw.randrange(256))
        rest = bytes(48)
    slots = bytearray(slot + rest)
    d["wrong_static"] = kind != "data" and draw.random() < 0.02
    if d["wrong_static"]:
        slots[draw.choice((5, 6, 7))] ^= 1 << draw.randrange(8)
    d["damaged"] = draw.random() < 0.02
    d["flit"] = bytes(slots) + (crc(Crc.CXL68, bytes(slots)) ^ d["damaged"] << draw.randrange(16)).to_bytes(2, "little")
    # The unpacker says so of the next flit in a run of data, whatever the flit looks like.
    d["all_data"] = int(draw.random() < (0.1 if kind != "data" else 0.3))
    return d


def kinds(draw, peer: str):
    """Kinds of flits as a peer sends them: traffic, with whole and cut sequences between."""
    while True:
        chance = draw.random()
        if chance < 0.7:
            yield draw.choice(("data", "data", "data", "llcrd", "idle"))
            continue
        frames = draw.choice((5, 5, 5, 5, 4, 6))
        yield from ["frame"] * frames
        answers = {"answers": ("ack", "ack", "req"), "silent": ("req", "idle"), "busy": ("ack", "req", "data")}[peer]
        yield draw.choice(answers)


@common.test()
async def every_cycle_is_that_of_the_sheet(dut):
    draw, states, accepted = common.draw(), set(), 0
    inputs = ("training", "valid", "bad", "flit", "all_data", "wrap", "returned", "sent", "req_sent", "ack_begun")
    for name in inputs:
        getattr(dut, f"{name}_i").value = 0
    await common.start(dut)
    for episode in range(common.size(9)):
        peer = ("answers", "silent", "busy")[episode % 3]
        dut.rst_ni.value = 0
        dut.valid_i.value = 0
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        reference, source, wrap = Receiver(), kinds(draw, peer), draw.choice((9, 21, 127))
        training = 0
        for cycle in range(240):
            d = flit(draw, next(source), reference.echo)
            training = training - 1 if training else 4 * (draw.random() < (0.3 if reference.asked else 0.004))
            d |= {"training": int(training > 0), "valid": int(draw.random() < 0.9 and not training), "wrap": wrap}
            d["bad"] = int(draw.random() < 0.01)
            d["damaged"] = bool(d["damaged"] or d["bad"])
            d["returned"] = draw.randint(0, min(reference.num_ack, 255)) if draw.random() < 0.1 else 0
            d["sent"] = int(draw.random() < 0.8)
            asks = reference.state == "llrreq" and reference.num_retry < MAX_NUM_RETRY
            d["req_sent"] = int(asks and draw.random() < 0.3)
            d["ack_begun"] = int(reference.answer is not None and draw.random() < 0.3)
            for name in inputs:
                value = d[name]
                getattr(dut, f"{name}_i").value = int.from_bytes(value, "little") if name == "flit" else int(value)
            states.add(reference.state)
            await ReadOnly()
            at = f"in cycle {cycle} of episode {episode}, {reference.state}"
            out = reference.cycle(d)
            accepted += out["accept_o"]
            for name, value in out.items():
                common.same(getattr(dut, name), int(value), at)
            await FallingEdge(dut.clk_i)
    assert states == {"normal", "llrreq", "idle", "reinit", "abort"} and accepted > 100, f"{states}, {accepted} accepted"
