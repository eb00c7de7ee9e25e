"""The buses of the Python package for interfaces that cores have, each through a loop in RTL, with pauses at both ends."""

import json
import pathlib
import tempfile

import common
from cocotb.triggers import ClockCycles
from cocotbext.scalepool import AxiStreamBus, CreditedFlitBus, Flit68Bus, FlitMonitor, FlitSink, FlitSource, StateFlitBus, random_pauses
from cocotbext.scalepool import InputError, striped

OPTIONS = {"reset_active_level": False, "protocol": "cxl-68b"}


def flits(draw) -> list[bytes]:
    return [draw.choice(common.golden("cxl68", "flit_cxl-68b_down")[:80]) for _ in range(common.size(24))]


async def through(dut, source_bus, sink_bus, sent: list[bytes], monitored: bool = True):
    """Sends flits through a loop and returns what has come, and the monitor of what the source drives."""
    source = FlitSource(source_bus, dut.clk_i, dut.rst_ni, **OPTIONS)
    sink = FlitSink(sink_bus, dut.clk_i, dut.rst_ni, **OPTIONS)
    monitor = FlitMonitor(source_bus, dut.clk_i, dut.rst_ni, judges=False, **OPTIONS) if monitored else None
    source.set_pause_generator(random_pauses(0.3, seed=1))
    sink.set_pause_generator(random_pauses(0.3, seed=2))
    await common.start(dut)
    for flit in sent:
        source.send_nowait(flit)
    await source.wait()
    await ClockCycles(dut.clk_i, 60)
    source.stop()
    sink.stop()
    if monitor is not None:
        assert monitor.findings == [] and monitor.flits == len(sent), (monitor.findings, monitor.flits)
        monitor.stop()
    found = [sink.recv_nowait() for _ in range(sink.count())]
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 2)
    return found


@common.test()
async def an_axi_stream_keeps_the_rest_of_a_flit(dut):
    draw = common.draw()
    sent, users = flits(draw), []
    source, sink = AxiStreamBus.from_prefix(dut, "s_axis"), AxiStreamBus.from_prefix(dut, "m_axis")
    source.user = lambda flit: flit[0]
    # 68 bytes are three beats of 32, the last one with 4.
    assert source.beats(68) == 3
    arrives = sink.arrives

    def watched(was_ready):
        found = arrives(was_ready)
        if found:
            users.append((int(dut.m_axis_tkeep.value), int(dut.m_axis_tlast.value), int(dut.m_axis_tuser.value)))
        return found

    sink.arrives = watched
    assert await through(dut, source, sink, sent) == sent
    whole = (1 << 32) - 1
    assert users == [beat for flit in sent for beat in ((whole, 0, flit[0]), (whole, 0, flit[0]), (0xF, 1, flit[0]))]


@common.test()
async def a_monitor_counts_what_passes(dut):
    sent = flits(common.draw())
    source, sink = AxiStreamBus.from_prefix(dut, "s_axis"), AxiStreamBus.from_prefix(dut, "m_axis")
    monitor = FlitMonitor(sink, dut.clk_i, dut.rst_ni, coverage=True, **OPTIONS)
    assert await through(dut, source, sink, sent) == sent
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "coverage.json"
        monitor.write_coverage(path)
        covered = json.loads(path.read_text())
    opcodes = next(group["bins"] for group in covered["groups"] if group["group"] == "opcode x channel")
    expected = dict.fromkeys(opcodes, 0)
    while monitor.count():
        for message in monitor.recv_nowait().messages:
            name = f"{message['layout']} {message['fields'].get('opcode')}"
            if name in expected:
                expected[name] += 1
    assert opcodes == expected and sum(opcodes.values()) > 0, opcodes
    assert covered["broken"] == {rule: sum(found.violation.rule == rule for found in monitor.findings) for rule in monitor.rules}


@common.test()
async def a_monitor_hears_a_wrong_tlast(dut):
    class Early(AxiStreamBus):
        def offer(self, word, number, count, flit):
            super().offer(word, number, count, flit)
            self.signals["tlast"].value = int(number == 1)

    source = FlitSource(Early.from_prefix(dut, "s_axis"), dut.clk_i, dut.rst_ni, **OPTIONS)
    sink = FlitSink(AxiStreamBus.from_prefix(dut, "m_axis"), dut.clk_i, dut.rst_ni, **OPTIONS)
    monitor = FlitMonitor(AxiStreamBus.from_prefix(dut, "m_axis"), dut.clk_i, dut.rst_ni, judges=False, **OPTIONS)
    await common.start(dut)
    source.send_nowait(flits(common.draw())[0])
    await source.wait()
    await ClockCycles(dut.clk_i, 10)
    told = [(finding.violation.at, finding.violation.found, finding.violation.expected) for finding in monitor.findings]
    assert told == [("tlast", "1", "0x0 in beat 1 of 3"), ("tlast", "0", "0x1 in beat 2 of 3")], told
    for agent in (source, sink, monitor):
        agent.stop()
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 2)


@common.test()
async def beats_with_credits_pass_and_none_without(dut):
    sent = flits(common.draw())
    source, sink = CreditedFlitBus.from_prefix(dut, "s_cxs"), CreditedFlitBus.from_prefix(dut, "m_cxs")
    for credits in (1, 8):
        sink.credits = credits
        assert await through(dut, source, sink, sent) == sent, credits


class Unasked(CreditedFlitBus):
    """A source that does not wait for credits."""

    def may_offer(self):
        return True


class EarlyState(StateFlitBus):
    """A source that does not wait for Active."""

    def may_offer(self):
        return True


async def told_of(dut, bus):
    """What a monitor tells of a source that breaks the interface from the first edge behind reset on."""
    source = FlitSource(bus, dut.clk_i, dut.rst_ni, **OPTIONS)
    monitor = FlitMonitor(bus, dut.clk_i, dut.rst_ni, judges=False, **OPTIONS)
    source.send_nowait(flits(common.draw())[0])
    await common.start(dut)
    await ClockCycles(dut.clk_i, 12)
    told = [(finding.violation.rule, finding.violation.at, finding.violation.found) for finding in monitor.findings]
    source.stop()
    monitor.stop()
    bus.source_in_reset()
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 2)
    return told


@common.test()
async def a_monitor_hears_a_beat_without_a_credit(dut):
    told = await told_of(dut, Unasked.from_prefix(dut, "s_cxs"))
    assert told == [("HANDSHAKE", "valid", "a beat without a credit")], told


@common.test()
async def a_monitor_hears_data_outside_active_once(dut):
    told = await told_of(dut, EarlyState.from_prefix(dut, "s_fdi"))
    assert [(rule, at) for rule, at, _ in told] == [("HANDSHAKE", "state_sts")], told


@common.test()
async def a_credit_can_be_spent_from_the_edge_behind_its_grant_on(dut):
    await common.start(dut)
    for edges_before, is_good in ((0, False), (1, True)):
        sink = CreditedFlitBus.from_prefix(dut, "m_cxs")
        sink.sink_in_reset()
        sink.drive_ready(True)
        sink.valid = Level(0)
        for _ in range(edges_before):
            assert not sink.arrives(True)
        sink.valid = Level(1)
        try:
            found = sink.arrives(True)
        except AssertionError as error:
            assert not is_good and "found a beat without a credit" in str(error), error
        else:
            assert is_good and found, edges_before
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 2)


class Level:
    """A signal that stays."""

    def __init__(self, value):
        self.value = value


@common.test()
async def a_sink_that_never_lets_anything_pass_is_refused(dut):
    await common.start(dut)
    for bus, name in ((CreditedFlitBus.from_prefix(dut, "m_cxs"), "credits"), (StateFlitBus.from_prefix(dut, "m_fdi"), "bring_up")):
        try:
            setattr(bus, name, 0)
        except InputError as error:
            assert f"{name}: found 0, expected 1 or more" in str(error), error
        else:
            raise AssertionError(f"{name} of 0 is no error")
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 2)


@common.test()
async def data_pass_in_the_state_active_alone(dut):
    sent = flits(common.draw())
    source, sink = StateFlitBus.from_prefix(dut, "s_fdi"), StateFlitBus.from_prefix(dut, "m_fdi")
    assert await through(dut, source, sink, sent) == sent
    # Nothing is offered before the other side has followed.
    dut.m_fdi_irdy.value  # it is there
    sink.sink_in_reset()
    assert int(dut.m_fdi_state_sts.value) in (0, 1) and not source.may_offer()


@common.test()
async def slots_of_68b_flits_have_their_sides_beside_them(dut):
    draw = common.draw()
    sent = flits(draw)
    source, sink = Flit68Bus.from_prefix(dut, "s_f68"), Flit68Bus.from_prefix(dut, "m_f68")
    # The core on the way drops what has a wrong CRC and replaces the protocol ID.
    wrong = [common.flip(draw, flit) for flit in sent[:6]]
    wrong = [bytes(2) + flit[2:] for flit in wrong if flit[2:66] != b"" and flit[:2] == b"\x55\x55"]
    good = [flit for flit in sent if flit[:2] == b"\x55\x55"]
    assert good and wrong
    found = await through(dut, source, sink, [*good, *wrong], monitored=False)
    assert found == good, (len(found), len(good))


@common.test()
async def bytes_stand_in_the_order_of_lanes(dut):
    order = striped(32, 4, [2, 0, 3, 1])
    sent = flits(common.draw())
    source = AxiStreamBus.from_prefix(dut, "s_axis", order=order)
    seen = []
    plain = AxiStreamBus.from_prefix(dut, "m_axis")
    arrives = plain.arrives

    def watched(was_ready):
        found = arrives(was_ready)
        if found:
            seen.append(int(dut.m_axis_tdata.value).to_bytes(32, "little"))
        return found

    plain.arrives = watched
    await through(dut, source, plain, sent)
    first = seen[0]
    # Lane 2 comes first: bytes 2, 6, 10 and so on of the beat, then lanes 0, 3 and 1.
    assert first == bytes(sent[0][lane + 4 * row] for lane in (2, 0, 3, 1) for row in range(8))
    sink = AxiStreamBus.from_prefix(dut, "m_axis", order=order)
    assert await through(dut, source, sink, sent) == sent
