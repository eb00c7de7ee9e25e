"""A caching device in RTL beside the calls and the checker of CXL.cache: what it caches, what snoops take, and ten seeded bugs, each named."""

import random

import cocotb
import common
from cocotb.triggers import ClockCycles, RisingEdge, SimTimeoutError, with_timeout
from cocotbext.scalepool import CxlHome, CxlLinkPartner, FlitBus, random_pauses

LOAD, STORE, EVICT, CURRENT = 1, 2, 3, 4
LINE = 64
STATES = "ISEM"
RULES = {"transactions": "cxl-cache", "answer_flits": 200, "all_writers_seen": True}

# What the first rule that is told is about, by bug.
BUGS = {
    1: ("TXN-TAG-04", "COH-ORD-10"),
    2: ("TXN-TAG-02",),
    3: ("TXN-ANS-01",),
    4: ("TXN-END-02",),
    5: ("TXN-TAG-03",),
    6: ("COH-SNP-06",),
    7: ("COH-SNP-06",),
    8: ("TXN-END-02",),
    9: ("COH-BOG-01",),
    10: ("COH-INV-02",),
}


class Bench:
    """The device with a home on its link and a watcher beside it."""

    def __init__(self, dut, **more):
        self.dut = dut
        place = (FlitBus.from_prefix(dut, "tx"), FlitBus.from_prefix(dut, "rx"), dut.clk_i, dut.rst_ni)
        options = {"reset_active_level": False, **RULES, **more}
        self.partner = CxlLinkPartner(*place, dir="down", **options)
        # It watches the end of the device, whose transmitter is what the partner receives.
        self.watcher = CxlLinkPartner(place[1], place[0], *place[2:], dir="up", passive=True, **options)
        self.home = CxlHome(self.partner)

    async def start(self, bug: int = 0):
        self.dut.op_valid_i.value = 0
        self.dut.bug_i.value = bug
        await common.start(self.dut)

    async def op(self, what: int, address: int, line: bytes = bytes(LINE)) -> bytes:
        dut = self.dut
        dut.op_i.value, dut.op_address_i.value, dut.op_line_i.value = what, address, int.from_bytes(line, "little")
        dut.op_valid_i.value = 1
        while True:
            await RisingEdge(dut.clk_i)
            if dut.done_o.value == 1:
                break
        dut.op_valid_i.value = 0
        await ClockCycles(dut.clk_i, 1)
        return int(dut.line_o.value).to_bytes(LINE, "little")

    def state(self, address: int) -> str:
        return STATES[int(self.dut.states_o.value) >> 2 * (address // LINE % 4) & 3]

    async def stop(self):
        self.partner.stop()
        self.watcher.stop()
        self.dut.rst_ni.value = 0
        await ClockCycles(self.dut.clk_i, 2)


def patient(home: CxlHome) -> None:
    """Makes a home go on whatever a device does, so that the watcher alone judges it."""
    for port in home._ports:

        def take(form, port=port):
            port._news()
            try:
                port._message(form)
            except KeyError:
                pass  # under an identifier that nobody gave

        port._take, port._look, port._send = take, port._news, port.link.end.send


@common.test()
async def its_lines_are_those_of_plain_bytes(dut):
    draw = common.draw()
    bench, plain = Bench(dut), {}
    bench.partner.rx.set_pause_generator(random_pauses(0.2, seed=1))
    await bench.start()
    for _ in range(common.size(40)):
        # Three lines share a place, so that they push each other out.
        line = LINE * draw.choice([0, 1, 4, 8, 5])
        what, data = draw.randrange(7), draw.randbytes(LINE)
        was = plain.get(line, bytes(LINE))
        if what == 0:
            await bench.op(STORE, line, data)
            plain[line] = data
            assert bench.state(line) == "M"
        elif what in (1, 2):
            found = await bench.op((LOAD, CURRENT)[what - 1], line)
            assert found == was, (hex(line), what)
        elif what == 3:
            await bench.op(EVICT, line)
        elif what == 4:
            assert await bench.home.read(line) == was
        elif what == 5:
            await bench.home.snoop_invalidate(line)
        else:
            await bench.home.snoop_data(line)
    for line, data in plain.items():
        assert await bench.home.read(line) == data
    await ClockCycles(dut.clk_i, 100)
    assert bench.partner.finish() and bench.watcher.finish()
    assert bench.partner.rules == [] and bench.watcher.rules == [], bench.watcher.events
    assert dut.stopped_o.value == 0 and bench.home.served > 10
    await bench.stop()


@common.test()
async def snoops_race_with_what_the_core_does(dut):
    draw = common.draw()
    bench = Bench(dut)
    await bench.start()

    async def core():
        for _ in range(common.size(20)):
            await bench.op(draw.choice([LOAD, STORE, EVICT]), LINE * draw.randrange(3), draw.randbytes(LINE))

    task = cocotb.start_soon(core())
    chooser, answers = random.Random(2), set()
    while not task.done():
        snoop = chooser.choice([bench.home.snoop_data, bench.home.snoop_invalidate, bench.home.snoop_current])
        answers |= set((await snoop(LINE * chooser.randrange(3), port=0)).values())
        await ClockCycles(dut.clk_i, chooser.randrange(20))
    await ClockCycles(dut.clk_i, 100)
    assert bench.watcher.finish() and bench.watcher.rules == [] and bench.partner.rules == [], bench.watcher.events
    assert len(answers) >= 4 and any("Fwd" in answer for answer in answers), answers
    await bench.stop()


@common.test()
async def data_of_an_evict_that_a_snoop_hits_are_bogus(dut):
    bench = Bench(dut)
    await bench.start()
    for snoop in (bench.home.snoop_data, bench.home.snoop_invalidate):
        await bench.op(STORE, 0x0, b"\2" * LINE)
        # It arrives while the evict is on its way to the home.
        cocotb.start_soon(snoop(0x0))
        await bench.op(EVICT, 0x0)
        assert await bench.home.read(0x0) == b"\2" * LINE
    await ClockCycles(dut.clk_i, 100)
    assert bench.watcher.finish() and bench.watcher.rules == [] and bench.partner.rules == [], bench.watcher.events
    await bench.stop()


@common.test()
async def each_seeded_bug_is_named(dut):
    for bug, rules in BUGS.items():
        bench, errors = Bench(dut), []
        patient(bench.home)
        await bench.start()

        async def use():
            await bench.op(LOAD, 0x200)
            await bench.op(STORE, 0x0, b"\1" * LINE)
            await bench.op(STORE, 0x0, b"\2" * LINE)
            await bench.home.read(0x0)
            dut.bug_i.value = bug
            if bug == 1:
                await bench.op(LOAD, 0x1040)
            elif bug in (8, 9):
                if bug == 9:
                    # It arrives while the evict is on its way to the home.
                    cocotb.start_soon(bench.home.snoop_data(0x0))
                await bench.op(EVICT, 0x0)
            elif bug in (6, 7):
                await bench.op(LOAD, 0x40)
                if bug == 6:
                    await bench.op(STORE, 0x40, b"\3" * LINE)
                await bench.home.snoop_invalidate(0x40)
            elif bug == 10:
                await bench.op(EVICT, 0x0)
                await bench.op(LOAD, 0x0)
            else:
                await bench.home.snoop_invalidate(0x0)
                await bench.op(LOAD, 0x0)
            await ClockCycles(dut.clk_i, 260 if bug in (4, 8) else 60)

        try:
            await with_timeout(use(), 3, "us")
        except SimTimeoutError as error:
            errors.append(error)  # a device that hangs
        found = [event.violation.rule for event in bench.watcher.events if event.by != "line"]
        dut._log.info("bug %s: %s", bug, found)
        assert found and found[0] in rules, (bug, found, errors, bench.watcher.events[:1])
        await bench.stop()
