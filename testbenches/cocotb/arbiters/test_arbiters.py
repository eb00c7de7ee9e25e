"""The arbiters beside the decision traces of the model and beside their definitions, written out here: the C ABI has no
arbiters."""

import pathlib
import re

import cocotb
import common
from cocotb.triggers import FallingEdge, ReadOnly

TRACES = pathlib.Path(__file__).resolve().parents[2] / "tests/arbiters/snapshots"
WEIGHTS = (5, 1, 1, 2)


class RoundRobin:
    """The first requester at or behind a pointer; the pointer moves behind the one that is served."""

    def __init__(self):
        self.pointer = 0

    def grant(self, asks):
        order = [(self.pointer + i) % 4 for i in range(4)]
        return next((i for i in order if asks[i]), None)

    def serve(self, asks, granted):
        self.pointer = (granted + 1) % 4


class Matrix:
    """The requester that was served longest ago."""

    def __init__(self):
        self.order = [0, 1, 2, 3]

    def grant(self, asks):
        return next((i for i in self.order if asks[i]), None)

    def serve(self, asks, granted):
        self.order.remove(granted)
        self.order.append(granted)


class Weighted:
    """The requester that is owed most: each that asks earns its weight, the one that is served pays all that was earned."""

    def __init__(self):
        self.owed = [0, 0, 0, 0]

    def earned(self, asks):
        return [owed + weight * ask for owed, weight, ask in zip(self.owed, WEIGHTS, asks)]

    def grant(self, asks):
        earned = self.earned(asks)
        return max((i for i in range(4) if asks[i]), key=lambda i: (earned[i], -i), default=None)

    def serve(self, asks, granted):
        paid = sum(weight * ask for weight, ask in zip(WEIGHTS, asks))
        self.owed = self.earned(asks)
        self.owed[granted] -= paid


KINDS = {"round_robin_o": RoundRobin, "matrix_o": Matrix, "weighted_o": Weighted}


async def slot(dut, asks: int, used: bool) -> dict[str, int]:
    """One cycle: who asks, whether the grant is used; the grants of the three."""
    dut.request_i.value, dut.used_i.value = asks, int(used)
    await ReadOnly()
    grants = {name: getattr(dut, name).value.to_unsigned() for name in KINDS}
    await FallingEdge(dut.clk_i)
    return grants


async def begin(dut) -> None:
    dut.request_i.value, dut.used_i.value = 0, 0
    await common.start(dut)


@common.test()
@cocotb.parametrize(kind=[("round_robin_o", "round_robin"), ("matrix_o", "matrix"), ("weighted_o", "weighted_5_1_1_2")])
async def decisions_are_those_of_the_model(dut, kind):
    output, name = kind
    text = (TRACES / f"arbiters__arbiters__traces__{name}.snap").read_text(encoding="ascii")
    trace = re.findall(r"^ *\d+ ([01]{4}) ([0-3-])( not used)?$", text, re.MULTILINE)
    assert len(trace) > 20, f"{name}: found {len(trace)} slots in the trace"
    await begin(dut)
    for n, (asks, grant, unused) in enumerate(trace):
        grants = await slot(dut, int(asks, 2), not unused)
        expected = 0 if grant == "-" else 1 << int(grant)
        assert grants[output] == expected, f"slot {n}: {asks}: found {grants[output]:04b}, expected {expected:04b}"


@common.test()
async def decisions_are_those_of_the_definition(dut):
    draw = common.draw()
    await begin(dut)
    references = {name: kind() for name, kind in KINDS.items()}
    for n in range(common.size(500)):
        asks, used = draw.randrange(16), draw.random() < 0.7
        bits = [asks >> i & 1 for i in range(4)]
        grants = await slot(dut, asks, used)
        for name, reference in references.items():
            granted = reference.grant(bits)
            expected = 0 if granted is None else 1 << granted
            assert grants[name] == expected, f"slot {n}: {name}: {asks:04b}: {grants[name]:04b}, expected {expected:04b}"
            if used and granted is not None:
                reference.serve(bits, granted)
