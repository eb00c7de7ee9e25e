"""nvl_packetizer beside the model: random transactions, a source of data and a receiver that wait at random. Every packet is
what the model encodes for the same transaction, and the monitor finds no broken rule."""

import cocotb
import common
from cocotb.triggers import FallingEdge, ReadOnly
from cocotbext.scalepool import Encoder, NvlFlitBus, NvlFlitMonitor, NvlFlitScoreboard, NvlFlitSink, random_pauses

DATA_OPS = (0x02, 0x03, 0x04, 0x05, 0x07, 0x10)
OPS = (*DATA_OPS, 0x01, 0x06, 0x08, 0x11, 0x12)


def channel(op: int) -> int:
    """Channel of an operation (nvlink §6.1)."""
    return 6 if op in (0x02, 0x05, 0x07) else 5 if op in (0x10, 0x11, 0x12) else 0


def transactions(draw, count: int, link: dict) -> list[tuple[dict, list[int], dict]]:
    """Inputs of the device, data flits, and the form that the model encodes, one a packet."""
    last, found = {}, []
    for _ in range(count):
        op = draw.choice(OPS)
        # Few regions, so that some addresses need no extension; the all-zero one is the state after reset.
        address = draw.randrange(3) << 38 | draw.randrange(1 << 34) << 4
        attr, route = draw.choice(((0, 0), (0, 0), (draw.randrange(64), draw.randrange(1 << 32))))
        size = draw.randrange(16)
        be = op in DATA_OPS and size < 8 and draw.randrange(3) == 0
        enables = draw.getrandbits(128) if be else 0
        data = [draw.getrandbits(128) for _ in range(size + 1 if op in DATA_OPS else 0)]
        common_fields = {"tag": draw.randrange(1024), "rid": draw.randrange(512), "ep": draw.randrange(2),
                         "atag": draw.randrange(4)}
        form = {"header": {"op": op, "vc": channel(op), "size": size, "address": address & (1 << 38) - 1,
                           **common_fields, **link}}
        if last.get(channel(op), (0, 0, 0)) != (address >> 38, attr, route):
            last[channel(op)] = (address >> 38, attr, route)
            form["ae"] = {"address": address >> 38 << 38, "attr": attr, "route": route}
        if be:
            form["be"] = enables.to_bytes(16, "little").hex()
        form["data"] = b"".join(value.to_bytes(16, "little") for value in data).hex()
        inputs = {"op": op, "size": size, "address": address >> 4, "attr": attr, "route": route, "be": int(be),
                  "enables": enables, **common_fields}
        found.append((inputs, data, {"packet": form}))
    return found


async def feed_data(dut, draw, data: list[int]) -> None:
    """Offers data flits, with gaps; what is offered stays until it is taken."""
    for value in data:
        while draw.random() < 0.3:
            await FallingEdge(dut.clk_i)
        dut.data_valid_i.value, dut.data_i.value = 1, value
        taken = False
        while not taken:
            await ReadOnly()
            taken = dut.data_ready_o.value == 1
            await FallingEdge(dut.clk_i)
        dut.data_valid_i.value = 0


@common.test()
@cocotb.parametrize(busy=[True, False])
async def packets_are_those_of_the_model(dut, busy):
    """`busy`: transactions without a gap; otherwise each waits until the device has closed the one before with an IDLE."""
    draw = common.draw()
    link = {"crvc": draw.randrange(8), "crh": draw.randrange(16), "crd": draw.randrange(32), "ackv": 1,
            "ackid": draw.randrange(4096)}
    for name, value in link.items():
        getattr(dut, f"{name}_i").value = value
    dut.txn_valid_i.value, dut.data_valid_i.value = 0, 0
    bus = NvlFlitBus(dut, valid="flit_valid_o", ready="flit_ready_i", data="flit_o")
    sink = NvlFlitSink(bus, dut.clk_i, dut.rst_ni, reset_active_level=False)
    sink.set_pause_generator(random_pauses(0.3, seed=draw.randrange(1 << 32)))
    # Credits go into a header as they stand, so one that waits may change.
    monitor = NvlFlitMonitor(bus, dut.clk_i, dut.rst_ni, reset_active_level=False, stable=False)
    board = NvlFlitScoreboard(monitor)
    await common.start(dut)

    todo, encoder = transactions(draw, common.size(60 if busy else 20), link), Encoder("nvlink")
    idle = {"packet": {"header": {"op": 0, **link}}}

    def expect(form):
        packet = encoder.feed(form)[0].data
        for at in range(0, len(packet), 16):
            board.expect(packet[at : at + 16])

    feeder = cocotb.start_soon(feed_data(dut, draw, [value for _, data, _ in todo for value in data]))
    for n, (inputs, _, form) in enumerate(todo):
        expect(form)
        if not busy and ("ae" in form["packet"] or form["packet"].get("data") or "be" in form["packet"]):
            # Nothing waits behind it, so the CRC of its payload goes with an IDLE.
            expect(idle)
        for name, value in inputs.items():
            getattr(dut, f"{name}_i").value = value
        dut.txn_valid_i.value = 1
        taken = False
        while not taken:
            await ReadOnly()
            taken = dut.txn_ready_o.value == 1
            await FallingEdge(dut.clk_i)
        dut.txn_valid_i.value = 0
        while not busy and board.waiting():
            await FallingEdge(dut.clk_i)
    if busy and (form["packet"].get("data") or "ae" in form["packet"]):
        expect(idle)
    await feeder
    while board.waiting():
        await FallingEdge(dut.clk_i)
    for _ in range(10):
        await FallingEdge(dut.clk_i)
    board.check()
    monitor.check()
