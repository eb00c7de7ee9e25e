"""Port slices as the switch between the hosts and the memory of a running system, and what no system does to them."""

import functools
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer
from cocotbext.scalepool import System, decode, encode

PORTS, CLASSES, WIDTH = 3, 4, 16
NAMES = ("m2s_req", "m2s_rwd", "s2m_ndr", "s2m_drs")
# Entries of a queue, and egress credits of a class: the parameters of the slice.
DEPTH, CREDITS = 4, 3
# Cycles for which a message with data holds its output.
DATA_BEATS = 5
HOSTS = 2
DEVICE = HOSTS
ACCESSES = 40
# Cycles after the last message in which nothing more may come.
QUIET = 100


async def start(dut):
    for signal in (dut.push_i, dut.push_class_i, dut.push_data_i, dut.credit_i):
        signal.value = 0
    dut.enable_i.value = (1 << PORTS) - 1
    dut.rst_ni.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 1, unit="ns").start(start_high=False))
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


@functools.cache
def header_bytes(layout):
    return len(encode(layout))


def with_ld(layout, unit, ld):
    """A message with another LD-ID; the data behind the header stay."""
    size = header_bytes(layout)
    return encode(layout, **{**decode(layout, unit[:size]).fields, "ld_id": ld}) + unit[size:]


class Slices:
    """The switch around the RTL: routes at the inputs, credits on both sides, and messages by number."""

    def __init__(self, dut, system):
        self.dut, self.system = dut, system
        self.ports = [f"switch.usp[{n}]" for n in range(HOSTS)] + ["switch.dsp[0]"]
        self.messages = []
        # A message that came and has not been pushed, by input and class: its number and its output.
        self.first = {}
        self.left = {(o, i, c): DEPTH for o in range(PORTS) for i in range(PORTS) for c in range(CLASSES)}
        self.behind = {(o, c): deque() for o in range(PORTS) for c in range(CLASSES)}
        self.last = {}
        # First cycle in which an output may send again.
        self.free_from = [0] * PORTS
        self.passed = 0

    def route(self, port, name):
        """Takes a message, if one has come: requests get the LD-ID of their host, answers go to the host that it names."""
        sample = self.system.sample(f"{self.ports[port]}.{name}")
        if sample is None:
            return None
        layout = f"cxl256.{name}"
        ld = decode(layout, sample.unit[:header_bytes(layout)]).fields["ld_id"]
        output, ld = (DEVICE, port) if port != DEVICE else (ld, 0)
        self.messages.append(with_ld(layout, sample.unit, ld))
        return len(self.messages) - 1, output

    def enter(self):
        """Pushes at most one message of each input, its classes in turn."""
        push, classes, words = 0, 0, 0
        for port in range(PORTS):
            for n in range(CLASSES):
                c = (self.last.get(port, 0) + 1 + n) % CLASSES
                if (c < 2) == (port == DEVICE):
                    continue
                if (port, c) not in self.first:
                    found = self.route(port, NAMES[c])
                    if found is None:
                        continue
                    self.first[port, c] = found
                number, output = self.first[port, c]
                if self.left[output, port, c] > 0:
                    del self.first[port, c]
                    self.left[output, port, c] -= 1
                    self.last[port] = c
                    push |= 1 << (PORTS * output + port)
                    classes |= 1 << (CLASSES * port + c)
                    words |= number << (WIDTH * port)
                    break
        self.dut.push_i.value, self.dut.push_class_i.value, self.dut.push_data_i.value = push, classes, words

    def leave(self, cycle):
        """What the slices send goes to its link, which takes none for 48 of 64 cycles, so that all credits of the
        slice are spent, and then one of a class in each cycle."""
        offers = int(self.dut.offer_o.value)
        for o in range(PORTS):
            can = any(
                self.left[o, i, c] < DEPTH and len(self.behind[o, c]) < CREDITS for i in range(PORTS) for c in range(CLASSES)
            )
            is_offered = offers >> (PORTS * o) & (1 << PORTS) - 1 != 0
            assert is_offered == (can and cycle >= self.free_from[o]), f"cycle {cycle}, output {o}: offer {is_offered}"
        # A credit comes back in a later cycle than the one that spent it.
        credit = 0
        for (o, c), waiting in self.behind.items():
            takes = waiting and cycle % 64 >= 48
            if takes and self.system.drive(f"{self.ports[o]}.{NAMES[c]}", self.messages[waiting[0]]):
                waiting.popleft()
                self.passed += 1
                credit |= 1 << (CLASSES * o + c)
        self.dut.credit_i.value = credit
        sent, classes, words = (int(signal.value) for signal in (self.dut.sent_o, self.dut.class_o, self.dut.data_o))
        returned = int(self.dut.returned_o.value)
        for o in range(PORTS):
            if sent >> o & 1:
                (c,) = [c for c in range(CLASSES) if classes >> (CLASSES * o + c) & 1]
                self.behind[o, c].append(words >> (WIDTH * o) & (1 << WIDTH) - 1)
                assert len(self.behind[o, c]) <= CREDITS, f"output {o}, {NAMES[c]}: no credit"
                assert cycle >= self.free_from[o], f"output {o} sends while a line passes"
                self.free_from[o] = cycle + (DATA_BEATS if c % 2 else 1)
        for key in self.left:
            o, i, c = key
            if returned >> (PORTS * CLASSES * o + CLASSES * i + c) & 1:
                self.left[key] += 1
                assert self.left[key] <= DEPTH, f"output {o}, input {i}, {NAMES[c]}: a credit too many"
        assert int(self.dut.error_o.value) == 0


def system(**more):
    return System("pooled-pair", set=[f"host.accesses={ACCESSES}", "host.region_lines=16", "host.cache_bytes=1024"], **more)


@cocotb.test()
async def in_a_running_system(dut):
    """Two hosts reach their logical devices through the slices: all data are right, as much moves as through the model's switch, and every
    credit comes back."""
    await start(dut)
    model = system()
    assert model.run()
    expected = model.metrics()
    # Each message travels on two links.
    moved = sum(expected["messages_by_class"].values()) // 2
    running = system(external={"switch": "messages"})
    slices = Slices(dut, running)
    quiet = 0
    for cycle in range(6000):
        await FallingEdge(dut.clk_i)
        # What is sent follows from the state behind the last edge; what enters is in a queue from the next one on.
        await Timer(1, unit="ps")
        slices.leave(cycle)
        slices.enter()
        # Two cycles of the hosts are one of the switch.
        running.step(2)
        quiet = quiet + 1 if slices.passed == moved else 0
        if quiet == QUIET:
            break
    assert quiet == QUIET, f"cycle {cycle}: {slices.passed} of {moved} messages have passed"
    found = running.metrics()
    assert found["violations"] == [], found["violations"]
    for name in ("line accesses", "reads", "writes"):
        assert found["counts"][name] == expected["counts"][name], name
    assert found["messages_by_class"] == expected["messages_by_class"]
    assert all(left == DEPTH for left in slices.left.values()), "credits of the inputs"
    assert not slices.first and not any(slices.behind.values())


@cocotb.test()
async def offers_and_errors(dut):
    """Nothing moves until the offered input takes part; a push and a credit for which there is no room are errors."""
    await start(dut)
    dut.enable_i.value = 0
    for c in range(CLASSES):
        dut.push_i.value = (1 << PORTS) - 1
        dut.push_class_i.value = sum(1 << (CLASSES * i + c) for i in range(PORTS))
        await FallingEdge(dut.clk_i)
    dut.push_i.value = 0
    for _ in range(3):
        await FallingEdge(dut.clk_i)
        assert (int(dut.offer_o.value), int(dut.class_o.value), int(dut.returned_o.value)) == (1, 1, 0)
    assert int(dut.error_o.value) == 0
    # One entry of input 0, class 0, is in use.
    dut.push_i.value, dut.push_class_i.value = 1, 1
    for n in range(DEPTH):
        dut.push_data_i.value = n + 1
        await FallingEdge(dut.clk_i)
        assert int(dut.error_o.value) == (n == DEPTH - 1), n
    dut.push_i.value = 0
    words, cycles = [], 0
    dut.enable_i.value = (1 << PORTS) - 1
    while len(words) < DEPTH and cycles < 100:
        await Timer(1, unit="ps")
        sent = int(dut.class_o.value) if int(dut.sent_o.value) else 0
        if sent == 1 and int(dut.offer_o.value) == 1:
            words.append(int(dut.data_o.value))
        cycles += 1
        await FallingEdge(dut.clk_i)
        dut.credit_i.value = sent
    assert words == list(range(DEPTH)), words
    await start_again(dut)
    dut.credit_i.value = 1 << CLASSES
    await FallingEdge(dut.clk_i)
    assert int(dut.error_o.value) == 2


async def start_again(dut):
    """Through a reset: every credit is at home."""
    dut.credit_i.value = 0
    dut.rst_ni.value = 0
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
