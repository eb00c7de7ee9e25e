"""cxl68_retry_tx and cxl68_retry_rx on a link with an end of the model, a device; above them stands an end of the model too, a
host that never sees an error. Random messages of all classes go both ways, over a line with bit errors, gaps and trainings,
to sides that take them slowly; all arrive once and in order, and a passive end that watches the host finds no broken rule.

A walk through one flit clock: the flit of the device goes into the receiver, and what is accepted to the host; the
transmitter is offered what the host has sent; what leaves goes to the device.
"""

from collections import deque

import cocotb
import common
from cocotb.triggers import FallingEdge, ReadOnly
from cocotbext.scalepool import Decoder, LinkEnd, encode

ENTRIES, TIMEOUT = 22, 200  # as in the top module
IDLE = encode("cxl68.retry")
INIT_PARAM, REQ = 0x8C, 0x11  # LLCTRL and SubType
# More than the flits of the longest run, so that none stops in its midst.
AHEAD = 8
CLASSES = {"down": ("h2d_req", "h2d_rsp", "h2d_data", "m2s_req", "m2s_rwd"),
           "up": ("d2h_req", "d2h_rsp", "d2h_data", "s2m_ndr", "s2m_drs")}


def messages(draw, dir: str, count: int) -> deque:
    """Valid messages of the golden sets of a direction, with data where they have some."""
    sets = {}
    for name in CLASSES[dir]:
        found = common.records("cxl68", name)
        sets[name] = [r["fields"] for r in found if r["result"] == "valid" and r["fields"]["valid"]]
        # No end sends this one (CXL68-ENC-06).
        sets[name] = [fields for fields in sets[name] if fields.get("opcode") != "MemDataNXM"]
        for fields in sets[name]:
            if "address" in fields:
                # Bit 5 does not travel with every opcode.
                fields["address"] &= -64
    drawn = deque()
    for _ in range(count):
        name = draw.choice(CLASSES[dir])
        message = {"layout": f"cxl68.{name}", "fields": draw.choice(sets[name])}
        if name.endswith(("data", "rwd", "drs")):
            message["data"] = draw.randbytes(64).hex()
        if message["fields"].get("opcode") == "MemWrPtl":
            message["be"] = draw.getrandbits(64)
        drawn.append(message)
    return drawn


class Host:
    """The model above the devices: what it has sent and waits to leave, with the acknowledgements in it."""

    def __init__(self):
        self.end = LinkEnd("cxl-68b", "down", retry_entries=ENTRIES)
        self.decoder = Decoder("cxl-68b", "down")
        self.waiting = deque()  # unit, acknowledgements, whether it continues a run

    def step(self) -> None:
        """Sends until nothing comes, or enough waits. RETRY.Idle is what the transmitter makes itself."""
        while len(self.waiting) < AHEAD:
            self.end.step()
            unit = self.end.sample()
            if unit is None:
                return
            flit = self.decoder.feed(unit)[0]
            all_data = flit.kind == "all-data"
            if not all_data and unit[2:].startswith(IDLE):
                return
            acks = 8 * flit.form["header"]["ak"] if flit.kind == "protocol" else 0
            if flit.kind == "control":
                acks = flit.form["control"]["fields"].get("full_ack", 0)
            self.waiting.append((unit, acks, all_data))


class Traffic:
    """Messages one way: those that wait, those that were sent and those that came, by layout."""

    def __init__(self, draw, dir: str, count: int):
        self.draw = draw
        self.waiting = messages(draw, dir, count)
        self.sent, self.come, self.missing = {}, {}, count

    def send(self, end: LinkEnd) -> None:
        while self.waiting and self.draw.random() < 0.3:
            message = self.waiting.popleft()
            end.send(message)
            self.sent.setdefault(message["layout"], []).append(message)

    def take(self, end: LinkEnd) -> None:
        while self.draw.random() < 0.4 and (message := end.take()) is not None:
            found = self.come.setdefault(message["layout"], [])
            found.append(message)
            self.missing -= 1
            if "be" in message:
                message["be"] = int(message["be"], 0)
            expected = self.sent[message["layout"]][len(found) - 1]
            assert message == expected, f"message {len(found)}: found {message}, expected {expected}"


@common.test()
@cocotb.parametrize(errors=[0.0, 0.02, 0.06])
async def every_message_arrives_once(dut, errors):
    draw = common.draw()
    host, device = Host(), LinkEnd("cxl-68b", "up", retry_entries=30, timeout_flits=TIMEOUT)
    watcher = LinkEnd(
        "cxl-68b", "down", passive=True, retry_entries=ENTRIES, timeout_flits=TIMEOUT, reaction_flits=2,
        max_num_retry=10, max_num_phy_reinit=10, flush_flits=32,
    )
    down, up = Traffic(draw, "down", common.size(60)), Traffic(draw, "up", common.size(60))
    for name in ("training", "step", "valid", "slots", "acks", "rx_valid", "rx_flit"):
        getattr(dut, f"{name}_i").value = 0
    dut.wrap_i.value = 9
    await common.start(dut)
    hits = training = num_ack = 0
    wrap = None  # of the device's INIT.Param
    spent = common.size(3000)

    def damaged(unit: bytes) -> bytes:
        nonlocal hits
        if draw.random() >= errors:
            return unit
        hits += 1
        # The protocol ID is not what the devices look at.
        return unit[:2] + common.flip(draw, common.flip(draw, unit[2:]))

    for clock in range(spent):
        if down.missing == 0 and up.missing == 0:
            break
        at = f"in flit clock {clock}"
        down.send(host.end)
        up.send(device)
        # The device, with gaps in what it sends; what it sends while the line trains is lost.
        unit = None
        if draw.random() < 0.9 or training:
            device.step()
            unit = device.sample()
        if training or unit is None:
            unit = None
            dut.rx_valid_i.value = 0
        else:
            unit = damaged(unit)
            watcher.drive(unit, "rx")
            dut.rx_valid_i.value, dut.rx_flit_i.value = 1, int.from_bytes(unit[2:], "little")
        # A training is likelier where it breaks off the answer to a Req.
        asked = unit is not None and unit[2] & 1 and unit[6] == REQ
        # The host. A run of data that has begun goes on.
        host.step()
        offered = bool(host.waiting) and (host.waiting[0][2] or draw.random() < 0.9)
        dut.valid_i.value = int(offered)
        if offered:
            sent, acks, _ = host.waiting[0]
            dut.slots_i.value, dut.acks_i.value = int.from_bytes(sent[2:66], "little"), acks
        dut.step_i.value, dut.training_i.value = int(draw.random() < 0.9), int(training > 0)
        await ReadOnly()
        for name in ("failed_o", "retrain_o", "unexpected_o"):
            common.same(getattr(dut, name), 0, at)
        common.same(dut.num_ack_o, num_ack, at)
        if unit is not None and dut.accept_o.value == 1:
            host.end.drive(unit)
            num_ack += 1
            if wrap is None and unit[2] & 1 and unit[6] == INIT_PARAM:
                wrap = unit[13]
        elif unit is not None and dut.good_o.value == 1 and wrap is None:
            # It waits for any good flit before it begins. Later it gets what is accepted, nothing between.
            host.end.drive(unit)
        if offered and dut.taken_o.value == 1:
            host.waiting.popleft()
            num_ack -= acks
        if dut.sent_o.value == 1:
            unit = b"\x55\x55" + dut.flit_o.value.to_unsigned().to_bytes(66, "little")
            watcher.drive(unit, "tx")
            device.drive(damaged(unit))
        watcher.step()
        down.take(device)
        up.take(host.end)
        broken = [event for event in watcher.events() if event.port == "tx"]
        assert not broken, f"{at}: the host breaks a rule: {broken[0]}"
        await FallingEdge(dut.clk_i)
        dut.wrap_i.value = 9 if wrap is None else wrap
        if training:
            training -= 1
            if training == 0:
                device.train(True)
                watcher.train(True)
        elif errors and draw.random() < (0.2 if asked else 0.003):
            training = draw.randint(4, 20)
            device.train(False)
            watcher.train(False)
    assert (down.missing, up.missing) == (0, 0), f"{down.missing} down and {up.missing} up have not come after {spent} flit clocks"
    assert (hits > 3) == (errors > 0), f"{hits} flits were hit"
