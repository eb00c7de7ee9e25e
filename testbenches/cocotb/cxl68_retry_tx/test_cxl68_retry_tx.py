"""cxl68_retry_tx beside a transmitter written out here from the sheet (cxl-68b §7), cycle by cycle; the flits of the sequences
are those that the model encodes. Random flits and runs of data, requests for sequences, acknowledgements, trainings, and a
line that waits."""

import common
from cocotb.triggers import FallingEdge, ReadOnly
from cocotbext.scalepool import Crc, crc, encode

ENTRIES = 22
FRAMES = 5


def sealed(slots: bytes) -> int:
    """A flit from the bytes of its first slot or of all, with its CRC, as a number."""
    slots = slots.ljust(64, b"\0")
    return int.from_bytes(slots + crc(Crc.CXL68, slots).to_bytes(2, "little"), "little")


class Transmitter:
    """What leaves in a cycle, and what is kept for the next."""

    def __init__(self):
        self.kept = {}  # slots and all-data of the flits by number, as long as they are not freed
        self.numbers = 0  # flits that were sent, modulo nothing
        self.again = 0  # number of the next flit to be resent; none is due when it is that of the next new one
        self.freed = 0
        self.sequence = None  # [flits that still leave, kind, its numbers]

    @property
    def free(self):
        return ENTRIES - (self.numbers - self.freed)

    def cycle(self, d: dict) -> dict:
        """The outputs for the inputs of a cycle, and the step to the next one."""
        out = {"sent_o": d["step"] and not d["training"], "taken_o": False, "ack_begun_o": False, "req_sent_o": False,
               "free_o": self.free, "flit_o": None}
        resends = self.again < self.numbers
        in_run = self.kept[self.again][1] if resends else d["valid"] and d["all_data"]
        if self.sequence is None and not in_run and (d["ack"] or d["req"]):
            kind = "ack" if d["ack"] else "req"
            starts = [FRAMES + 1, kind, (d["ack_eseq"], d["ack_num_retry"])]
        else:
            starts = None
        sequence = self.sequence or starts
        new = None
        if sequence:
            left, kind, (eseq, num_retry) = sequence
            if left > 1:
                slots = encode("cxl68.retry", sub_type=3)
            elif kind == "ack":
                at = self.numbers % ENTRIES
                slots = encode("cxl68.retry_ack", empty=int(eseq == at), viral=d["viral"], num_retry=num_retry, wr_ptr=at,
                               eseq=eseq, num_free_buf=self.free, viral_ld_id=d["viral_ld"])
            else:
                slots = encode("cxl68.retry_req", eseq=d["eseq"], num_retry=d["num_retry"], num_phy_reinit=d["num_reinit"])
        elif resends:
            slots = self.kept[self.again][0]
        elif d["valid"] and (self.free >= 3 + d["run"] or (self.free == 2 and d["returns"] and d["run"] == 0)):
            slots = new = d["slots"]
        else:
            slots = encode("cxl68.retry")
        if out["sent_o"]:
            out["flit_o"] = sealed(slots)
            out["taken_o"] = new is not None
            out["ack_begun_o"] = starts is not None and starts[1] == "ack"
            out["req_sent_o"] = bool(sequence) and sequence[:2] == [1, "req"]
            if sequence:
                self.sequence = [sequence[0] - 1, *sequence[1:]] if sequence[0] > 1 else None
                if sequence[:2] == [1, "ack"]:
                    self.rewind(eseq)
            elif resends:
                self.again += 1
            elif new is not None:
                self.kept[self.numbers] = (new, d["all_data"])
                self.numbers += 1
                self.again = self.numbers
        if d["training"]:
            # The Ack is dropped; what was asked for is resent all the same.
            if d["ack"]:
                self.rewind(d["ack_eseq"])
            elif self.sequence and self.sequence[1] == "ack":
                self.rewind(self.sequence[2][0])
            self.sequence = None
        self.freed += d["freed"]
        return out

    def rewind(self, eseq: int) -> None:
        """The number that is asked for is one of those that are kept, or the next."""
        self.again = self.numbers - (self.numbers - eseq) % ENTRIES


@common.test()
async def every_cycle_is_that_of_the_sheet(dut):
    draw, reference = common.draw(), Transmitter()
    names = ("training", "step", "valid", "slots", "all_data", "run", "returns", "freed", "req", "eseq", "num_retry", "num_reinit",
             "ack", "ack_eseq", "ack_num_retry", "viral", "viral_ld")
    d = dict.fromkeys(names, 0)
    for name in names:
        getattr(dut, f"{name}_i").value = 0
    await common.start(dut)
    run = 0  # all-data flits that still belong to the run
    seen = {"ack_begun_o": 0, "req_sent_o": 0, "taken_o": 0}
    for cycle in range(common.size(1500)):
        # Now and then the peer frees nothing for a while, and the buffer fills.
        generous = cycle // 100 % 3
        if not d["valid"] and (run > 0 or draw.random() < 0.8):
            d |= {"valid": 1, "slots": draw.randbytes(64), "all_data": int(run > 0)}
            # A run that has begun goes on. While the buffer fills none begins, so that the last entries are asked for.
            run = run - 1 if run else draw.choice((0, 0, 0, 1, 2, 4)) if generous else 0
            d["run"] = run
        # It may have acknowledgements to return since it waits.
        d["returns"] = draw.randrange(2)
        outstanding = reference.numbers - reference.freed
        # A flit that is to be resent is not acknowledged.
        most = min(reference.again - reference.freed, outstanding) if reference.sequence is None else 0
        d["freed"] = draw.randint(0, min(most, 8)) if draw.random() < 0.3 * generous and not d["ack"] else 0
        if not d["req"] and draw.random() < 0.02:
            d["req"] = 1
        d["eseq"], d["num_retry"], d["num_reinit"] = draw.randrange(256), draw.randrange(32), draw.randrange(32)
        if not d["ack"] and draw.random() < 0.03 and d["freed"] == 0:
            d["ack"], d["ack_num_retry"] = 1, draw.randrange(32)
            d["ack_eseq"] = (reference.numbers - draw.choice((0, draw.randint(0, outstanding)))) % ENTRIES
        d["viral"], d["viral_ld"] = draw.randrange(2), draw.randrange(1 << 16)
        # A training breaks sequences off, and Acks that have not begun.
        d["step"] = int(draw.random() < 0.9)
        d["training"] = int(draw.random() < (0.03 if reference.sequence or d["ack"] else 0.005))
        for name, value in d.items():
            getattr(dut, f"{name}_i").value = int.from_bytes(value, "little") if name == "slots" else int(value)
        await ReadOnly()
        out = reference.cycle(d)
        for name, value in out.items():
            if value is not None:
                common.same(getattr(dut, name), int(value), f"in cycle {cycle}")
        await FallingEdge(dut.clk_i)
        for name in seen:
            seen[name] += bool(out[name])
        d["valid"] = d["valid"] and not out["taken_o"]
        d["ack"] = int(d["ack"] and not out["ack_begun_o"])
        d["req"] = int(d["req"] and not out["req_sent_o"])
    assert min(seen.values()) > 10, f"too little happened: {seen}"
