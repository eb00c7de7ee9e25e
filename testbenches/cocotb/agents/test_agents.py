"""The Python classes against each other, over wires, for every protocol: a flit takes one beat or more."""

import common
from cocotb.triggers import ClockCycles
from cocotbext.scalepool import CxlMemDevice, CxlMemHost, NvlCompleter, NvlRequester, TransactionError, UalCompleter, UalRequester
from cocotbext.scalepool import FlitBus, FlitMonitor, FlitScoreboard, FlitSink, FlitSource, LineMemory, LinkPartner
from cocotbext.scalepool import bit_flips, random_pauses
from cocotbext.scalepool.flit import FLIT_BYTES

# By width of the data: protocols, of which a flit takes 1, 2, 4 and 1 beats.
PROTOCOLS = {544: ("cxl-68b",), 1024: ("cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"), 1280: ("ualink",), 128: ("nvlink",)}
GOLDEN = {"cxl-68b": "cxl68", "cxl-256b": "cxl256", "cxl-256b-lopt": "cxl256", "cxl-256b-pbr": "cxlpbr", "ualink": "ualink",
          "nvlink": "nvlink"}


def protocols(dut) -> tuple[str, ...]:
    return PROTOCOLS[len(dut.host_tx_data)]


def burst(data: bytes) -> bytes:
    """A fault: twelve wrong bytes, more than any FEC here repairs."""
    return data[:20] + bytes(byte ^ 0x5A for byte in data[20:32]) + data[32:]


class Place:
    """An interface, with the clock and the reset of the wires."""

    def __init__(self, dut, protocol: str):
        self.dut, self.options = dut, {"reset_active_level": False, "protocol": protocol}

    def make(self, kind, *prefixes: str, **more):
        buses = [FlitBus.from_prefix(self.dut, prefix) for prefix in prefixes]
        return kind(*buses, self.dut.clk_i, self.dut.rst_ni, **self.options, **more)


def message(draw, protocol: str, number: int) -> dict:
    """A message that a host may send."""
    if protocol == "ualink":
        return {"lower": draw.randbytes(32).hex(), "upper": draw.randbytes(32).hex(), "indicators": 0}
    if protocol == "nvlink":
        return {"op": "READ", "vc": 0, "tag": number, "size": 3, "address": 64 * number}
    return {"layout": f"{GOLDEN[protocol]}.m2s_req", "fields": {"opcode": "MemRd", "tag": number}}


def same_message(sent: dict, come: dict) -> bool:
    return all(come[key] == value or key in ("op", "vc", "fields") for key, value in sent.items()) and (
        come.get("fields", {}).get("tag") == sent.get("fields", {}).get("tag")
    )


@common.test()
async def flits_pass_with_pauses_at_both_ends(dut):
    for protocol in protocols(dut):
        draw, place = common.draw(), Place(dut, protocol)
        source = place.make(FlitSource, "host_tx")
        sink = place.make(FlitSink, "device_rx")
        monitor = place.make(FlitMonitor, "device_rx", dir="down")
        board = FlitScoreboard(monitor)
        source.set_pause_generator(random_pauses(0.4, seed=1))
        sink.set_pause_generator(random_pauses(0.4, seed=2))
        await common.start(dut)
        flits = [flit for flit in common.golden(GOLDEN[protocol], f"flit_{protocol}_down")[:30]
                 if len(flit) == FLIT_BYTES[protocol]]
        source.queue_occupancy_limit = 4
        for flit in flits:
            board.expect(flit)
            await source.send(flit)
            assert source.count() <= 4
        await source.wait()
        await ClockCycles(dut.clk_i, 2)
        assert list(sink.queue) == flits and source.idle() and source.sent == len(flits)
        board.check()
        # A hold by hand, and no more pauses.
        source.clear_pause_generator()
        sink.clear_pause_generator()
        sink.clear()
        sink.pause = True
        board.expect(flits[0])
        source.send_nowait(flits[0])
        await ClockCycles(dut.clk_i, 20)
        assert sink.empty() and not source.idle()
        sink.pause = False
        await sink.wait(1, "us")
        assert await sink.recv() == flits[0]
        assert not [finding for finding in monitor.findings if finding.violation.rule == "HANDSHAKE"]
        for part in (source, sink, monitor):
            part.stop()


@common.test()
async def a_reset_ends_the_flit_under_way(dut):
    for protocol in protocols(dut):
        place = Place(dut, protocol)
        source, sink = place.make(FlitSource, "host_tx"), place.make(FlitSink, "device_rx")
        monitor = place.make(FlitMonitor, "device_rx")
        flits = [bytes([n]) * FLIT_BYTES[protocol] for n in range(3)]
        await common.start(dut)
        sink.pause = True
        for flit in flits:
            source.send_nowait(flit)
        await ClockCycles(dut.clk_i, 4)
        dut.rst_ni.value = 0
        await ClockCycles(dut.clk_i, 3)
        assert dut.host_tx_valid.value == 0 and dut.device_rx_ready.value == 0
        sink.pause = False
        dut.rst_ni.value = 1
        await source.wait()
        await ClockCycles(dut.clk_i, 2)
        assert list(sink.queue) == flits[1:], "the first is lost, the others wait"
        assert "HANDSHAKE" not in monitor.rules
        for part in (source, sink, monitor):
            part.stop()


@common.test()
async def a_monitor_finds_what_is_broken_and_drives_nothing(dut):
    for protocol in protocols(dut):
        place = Place(dut, protocol)
        monitor = place.make(FlitMonitor, "device_rx")
        await common.start(dut)
        for signal in (monitor.bus.valid, monitor.bus.ready, monitor.bus.data):
            try:
                signal.value = 1
            except AttributeError:
                continue
            raise AssertionError("a monitor can write to a signal")
        dut.device_rx_ready.value = 0
        dut.host_tx_data.value = 1
        dut.host_tx_valid.value = 1
        await ClockCycles(dut.clk_i, 2)
        dut.host_tx_data.value = 2
        await ClockCycles(dut.clk_i, 2)
        dut.host_tx_valid.value = 0
        await ClockCycles(dut.clk_i, 2)
        assert [finding.violation.at for finding in monitor.findings] == ["data", "valid"]
        dut.device_rx_ready.value = 1
        source = place.make(FlitSource, "host_tx")
        # FEC repairs a wrong bit of the 256-byte flits.
        source.set_fault(burst if protocol.startswith("cxl-256b") else bit_flips(1, seed=3))
        for record in [r for r in common.records(GOLDEN[protocol], f"flit_{protocol}_down") if not r["violations"]][1:6]:
            flit = bytes.fromhex(record["hex"])
            for at in range(0, len(flit), FLIT_BYTES[protocol]):
                source.send_nowait(flit[at : at + FLIT_BYTES[protocol]])
        await source.wait()
        await ClockCycles(dut.clk_i, 2)
        monitor.finish()
        rules = [rule for rule in monitor.rules if rule != "HANDSHAKE"]
        assert rules, "damaged flits break no rule"
        try:
            monitor.check()
        except AssertionError as error:
            assert rules[0] in str(error) or len(monitor.findings) > 10
        else:
            raise AssertionError("check does not raise")
        for part in (source, monitor):
            part.stop()


@common.test()
async def partners_talk_and_one_watches(dut):
    """Two ends of the model; behind clean ones a pair whose flits come damaged: all arrives, once and in order."""
    for protocol in protocols(dut):
        for rate in (0, 0.02):
            draw, place = common.draw(), Place(dut, protocol)
            host = place.make(LinkPartner, "host_rx", "host_tx", dir="down")
            device = place.make(LinkPartner, "device_rx", "device_tx", dir="up")
            watcher = place.make(LinkPartner, "host_rx", "host_tx", dir="down", passive=True)
            await common.start(dut)
            if rate:
                host.tx.set_fault(bit_flips(rate, seed=5))
            sent = [message(draw, protocol, n) for n in range(20)]
            for form in sent:
                host.end.send(form)
            come = []
            for _ in range(common.size(600)):
                await ClockCycles(dut.clk_i, 10)
                while (form := device.end.take()) is not None:
                    come.append(form)
                if len(come) == len(sent):
                    break
            assert len(come) == len(sent), f"{protocol}: {len(come)} messages of {len(sent)} have come"
            assert all(map(same_message, sent, come)), f"{protocol}: sent {sent}, come {come}"
            if not rate:
                found = host.events + device.events + watcher.events
                assert protocol == "ualink" or not found, f"{protocol}: {found[0]}"
            # Time of the watcher is that of flits, whatever their beats; a phase that drifts may cost a flit clock.
            before = watcher.end.state()["flit_clocks"]
            await ClockCycles(dut.clk_i, 40 * watcher.rx.beats)
            passed = watcher.end.state()["flit_clocks"] - before
            assert passed in (40, 41), f"{protocol}: {passed} flit clocks"
            for part in (host, device, watcher):
                part.stop()
            dut.rst_ni.value = 0
            await ClockCycles(dut.clk_i, 2)


class Forgetful(CxlMemDevice):
    """A memory that writes 0 where it should write 255."""

    def answers(self, request):
        if "data" in request:
            request = {**request, "data": bytes.fromhex(request["data"]).replace(b"\xff", b"\0").hex()}
        return super().answers(request)


@common.test()
async def a_host_reads_and_writes_a_memory(dut):
    """Calls of both ends of CXL.mem over links with pauses, watched; a wrong memory is an exception of the read."""
    transactions = {"transactions": "hdm-h", "all_writers_seen": True, "answer_flits": 2000}
    for protocol in [protocol for protocol in protocols(dut) if protocol.startswith("cxl")]:
        for kind in (CxlMemDevice, Forgetful) if protocol == protocols(dut)[0] else (CxlMemDevice,):
            draw, place = common.draw(), Place(dut, protocol)
            ends = [place.make(LinkPartner, "host_rx", "host_tx", dir="down", **transactions),
                    place.make(LinkPartner, "device_rx", "device_tx", dir="up", **transactions),
                    place.make(LinkPartner, "host_rx", "host_tx", dir="down", passive=True, **transactions)]
            for end in ends[:2]:
                end.rx.set_pause_generator(random_pauses(0.3, seed=1))
            await common.start(dut)
            host, device = CxlMemHost(ends[0], outstanding=8), kind(ends[1], latency=10)
            plain = draw.randbytes(common.size(200)).replace(b"\xff", b"\xfe")
            await host.write(0x1010, plain)
            assert await host.read(0x1010, len(plain)) == plain, protocol
            assert device.served == 2 * ((0x10 + len(plain) + 63) // 64), device.served
            if kind is Forgetful:
                await host.write(0x1040, b"\xff" * 64)
                try:
                    await host.read(0x1050, 4)
                except TransactionError as error:
                    assert (error.rule, error.address) == ("TXN-DAT-01", 0x1040), error
                    # The watcher goes on flit by flit, so it may be two flits behind.
                    await ClockCycles(dut.clk_i, 2 * ends[2].rx.beats)
                    seen = [(event.violation.rule, event.unit) for event in ends[2].events]
                    assert seen == [("TXN-DAT-01", error.flit)], f"{seen}, {error}"
                else:
                    raise AssertionError("a read of other data is no error")
            else:
                assert all(end.finish() and not end.rules for end in ends), [end.events for end in ends]
            for end in ends:
                end.stop()
            dut.rst_ni.value = 0
            await ClockCycles(dut.clk_i, 2)


class Stale(UalCompleter):
    """A memory that forgets what is written behind its second line."""

    def answers(self, request):
        if request["fields"]["cmd"] == "WriteFull" and request["fields"]["address"] >= 0x2080:
            return [self._response(request, "Write", "OKAY")]
        return super().answers(request)


@common.test()
async def accelerators_read_and_write_each_other(dut):
    """Calls of both ends of UALink over links with pauses, watched, each end a requester and a completer; a wrong one is an exception of
    the read, and of a watcher that raises."""
    if protocols(dut) != ("ualink",):
        return
    transactions = {"transactions": "ualink", "all_writers_seen": True, "answer_flits": 3000}
    for kind in (UalCompleter, Stale):
        draw, place = common.draw(), Place(dut, "ualink")
        ends = [place.make(LinkPartner, "host_rx", "host_tx", dir="down", layer="tl", **transactions),
                place.make(LinkPartner, "device_rx", "device_tx", dir="up", layer="tl", **transactions)]
        watcher = place.make(LinkPartner, "host_rx", "host_tx", dir="down", passive=True, **transactions)
        for end in ends:
            end.rx.set_pause_generator(random_pauses(0.3, seed=1))
        await common.start(dut)
        requesters = [UalRequester(end, accelerator=n, outstanding=8) for n, end in enumerate(ends)]
        completers = [kind(end, accelerator=n, latency=10) for n, end in enumerate(ends)]
        plain = draw.randbytes(common.size(700))
        for n in (0, 1):
            await requesters[n].write(1 - n, 0x1010, plain)
            assert await requesters[n].read(1 - n, 0x1010, len(plain)) == plain
            assert completers[1 - n].served == 2 * ((0x10 + len(plain) + 255) // 256)
        if kind is Stale:
            await requesters[0].write(1, 0x2080, b"\xff" * 64)
            try:
                await requesters[0].read(1, 0x2080, 4)
            except TransactionError as error:
                await ClockCycles(dut.clk_i, 2 * watcher.rx.beats)
                seen = [(event.violation.rule, event.unit) for event in watcher.events if event.by != "line"]
                assert (error.rule, error.address) == ("TXN-DAT-01", 0x2080), error
                assert seen == [("TXN-DAT-01", error.flit)], f"{seen}, {error}"
            else:
                assert False, "a read of other data is no error"
        else:
            assert all(end.finish() and not end.rules for end in (*ends, watcher)), [end.events for end in (*ends, watcher)]
        for end in (*ends, watcher):
            end.stop()
        dut.rst_ni.value = 0
        await ClockCycles(dut.clk_i, 2)


@common.test()
async def gpus_read_and_write_each_other(dut):
    """The same of NVLink, posted writes among it; the requester raises what a wrong completer breaks, and the watcher
    lists it."""
    if protocols(dut) != ("nvlink",):
        return

    class Deaf(NvlCompleter):
        """A memory that counts what is posted, for FLUSH, and writes it nowhere."""

        def answers(self, request):
            memory = self.memory
            if request["op"] == "WRITE_POSTED":
                self.memory = LineMemory()
            found = super().answers(request)
            self.memory = memory
            return found

    transactions = {"transactions": "nvlink", "all_writers_seen": True, "answer_flits": 3000}
    for kind in (NvlCompleter, Deaf):
        draw, place = common.draw(), Place(dut, "nvlink")
        ends = [place.make(LinkPartner, "host_rx", "host_tx", dir="down", **transactions),
                place.make(LinkPartner, "device_rx", "device_tx", dir="up", **transactions)]
        watcher = place.make(LinkPartner, "host_rx", "host_tx", dir="down", passive=True, **transactions)
        for end in ends:
            end.rx.set_pause_generator(random_pauses(0.3, seed=1))
        await common.start(dut)
        requesters = [NvlRequester(end, requester=n, outstanding=8) for n, end in enumerate(ends)]
        for end in ends:
            kind(end, latency=10)
        plain = draw.randbytes(common.size(700))
        for requester in requesters:
            await requester.write(0x1018, plain)
            assert await requester.read(0x1018, len(plain)) == plain
            await requester.write(0x1020, plain[:64], posted=True)
            await requester.flush()
            try:
                assert await requester.read(0x1020, 64) == plain[:64]
            except TransactionError as error:
                assert kind is Deaf and (error.rule, error.address) == ("TXN-DAT-01", 0x1000), error
                await ClockCycles(dut.clk_i, 4)
                seen = {event.violation.rule for event in watcher.events if event.by != "line"}
                assert seen == {"TXN-DAT-01"}, watcher.events
                break
            else:
                assert kind is NvlCompleter, "a read of other data is no error"
        if kind is NvlCompleter:
            assert all(end.finish() and not end.rules for end in (*ends, watcher)), [end.events for end in (*ends, watcher)]
        for end in (*ends, watcher):
            end.stop()
        dut.rst_ni.value = 0
        await ClockCycles(dut.clk_i, 2)
