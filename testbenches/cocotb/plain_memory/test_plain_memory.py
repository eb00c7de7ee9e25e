"""A memory in RTL whose interface has protocol flits and no link layer, with the calls of the package on it: reads and writes of ranges against
plain bytes, and a passive end that judges what passes. Seeded bugs of the device are named by the first rule that is about them."""

import random

import cocotb
import common
from cocotb.triggers import ClockCycles
from cocotbext.scalepool import CxlFlitBus, CxlLinkPartner, CxlMemHost, ScalepoolError, random_pauses

SIZE = 64 * 64
RULES = {"plain_flits": True, "transactions": "hdm-h", "all_writers_seen": True, "answer_flits": 400}


def partners(dut):
    to_dut, from_dut = CxlFlitBus.from_prefix(dut, "s_flit"), CxlFlitBus.from_prefix(dut, "m_flit")
    signals = {"clock": dut.clk_i, "reset": dut.rst_ni, "reset_active_level": False, **RULES}
    link = CxlLinkPartner(from_dut, to_dut, dir="down", raises=True, **signals)
    watcher = CxlLinkPartner(to_dut, from_dut, dir="up", passive=True, messages=True, **signals)
    return link, watcher


@common.test()
async def a_memory_without_a_link_layer_keeps_what_is_written(dut):
    link, watcher = partners(dut)
    link.rx.set_pause_generator(random_pauses(0.3, seed=1))
    host, draw, plain = CxlMemHost(link, outstanding=12), common.draw(), bytearray(SIZE)
    await common.start(dut)
    for _ in range(common.size(60)):
        address = draw.randrange(SIZE - 200)
        size = draw.randint(1, 200)
        if draw.random() < 0.5:
            data = draw.randbytes(size)
            await host.write(address, data)
            plain[address : address + size] = data
        else:
            assert await host.read(address, size) == plain[address : address + size]
    await host.invalidate(0, 256)
    assert await host.read(0, SIZE) == plain
    await ClockCycles(dut.clk_i, 20)
    assert link.finish() and watcher.finish()
    assert (link.rules, watcher.rules) == ([], []), (link.events[:1], watcher.events[:1])
    # Both directions were watched, with every request and answer.
    assert watcher.end.state()["health"]["received_flits"] > 100


# The first rule, by number of the seeded bug.
NAMED = {1: "TXN-TAG-02", 2: "TXN-DAT-01", 3: "TXN-END-02", 4: "CXL68-CRC-01", 5: "TXN-DAT-01"}


async def writes_and_reads(dut, link):
    """Messages without the calls of a host, which a wrong answer would end."""
    link.raises = False
    link.on_step.append(lambda: [None for _ in iter(link.end.take, None)])
    await common.start(dut)
    draw = random.Random(1)
    # The reads begin once all writes are visible, so that each has one right answer.
    for tag in range(16):
        fields = {"opcode": "MemWr", "meta_value": "Any", "address": 64 * tag, "tag": tag}
        link.end.send({"layout": "cxl68.m2s_rwd", "fields": fields, "data": draw.randbytes(64).hex()})
    await ClockCycles(dut.clk_i, 150)
    for tag in range(16, 32):
        fields = {"opcode": "MemRd", "meta_field": "NoOp", "address": 64 * (tag - 16), "tag": tag}
        link.end.send({"layout": "cxl68.m2s_req", "fields": fields})
    await ClockCycles(dut.clk_i, 500)


@common.test()
@cocotb.parametrize(bug=list(NAMED))
async def each_bug_is_named(dut, bug):
    dut.bug.value = bug
    link, watcher = partners(dut)
    await writes_and_reads(dut, link)
    dut.bug.value = 0
    # The end itself and who watches the device say the same.
    assert link.rules[:1] == watcher.rules[:1] == [NAMED[bug]], (link.events[:1], watcher.events[:1])


@common.test()
async def a_known_mistake_is_waived_until_a_flit(dut):
    """The wrong tag of bug 1 is waived in one watcher, no longer in another one, and a warning in the end: what it brings with it counts."""
    dut.bug.value = 1
    link, watcher = partners(dut)
    to_dut, from_dut = CxlFlitBus.from_prefix(dut, "s_flit"), CxlFlitBus.from_prefix(dut, "m_flit")
    late = CxlLinkPartner(to_dut, from_dut, dut.clk_i, dut.rst_ni, reset_active_level=False, dir="up", passive=True, **RULES)
    watcher.waive("TXN-TAG-02", "a known bug of the device")
    watcher.waive("CXL68-CRC-01", "nothing has a wrong CRC")
    late.waive("TXN-TAG-02", "a known bug of the device", until_unit=1)
    link.set_severity("TXN-TAG-02", "warning")
    await writes_and_reads(dut, link)
    dut.bug.value = 0
    assert watcher.rules == link.rules == ["TXN-END-02"], (watcher.rules, link.rules)
    assert late.rules == ["TXN-TAG-02", "TXN-END-02"], late.rules
    assert {(event.violation.rule, reason) for event, reason in watcher.waived} == {("TXN-TAG-02", "a known bug of the device")}
    assert (late.waived, link.waived) == ([], [])
    assert (watcher.unused_waivers, late.unused_waivers) == (["CXL68-CRC-01"], ["TXN-TAG-02"])
    for call, wrong in ((watcher.waive, ("a rule", "why")), (watcher.waive, ("TXN-TAG-02", " ")), (link.set_severity, ("TXN-TAG-02", "loud"))):
        try:
            call(*wrong)
        except ScalepoolError as error:
            assert "found" in str(error) and "expected" in str(error), error
        else:
            raise AssertionError(f"{wrong} is taken")
