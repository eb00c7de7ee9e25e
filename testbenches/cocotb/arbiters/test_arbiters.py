"""The arbiters beside the model's: random requests, grants that are not used, resets."""

import cocotb
import common
from cocotb.triggers import FallingEdge, ReadOnly
from cocotbext.scalepool import Arbiter, ArbiterKind

N = 4
MODELS = {
    "round_robin_o": lambda: Arbiter(ArbiterKind.ROUND_ROBIN, N),
    "matrix_o": lambda: Arbiter(ArbiterKind.MATRIX, N),
    "weighted_o": lambda: Arbiter(ArbiterKind.WEIGHTED, weights=(5, 1, 1, 2)),
}


async def slot(dut, models: dict[str, Arbiter], asks: int, used: bool, of: object) -> None:
    """One cycle: who asks, whether the grant is used; the grants are those of the model."""
    dut.request_i.value, dut.used_i.value = asks, int(used)
    await ReadOnly()
    for name, model in models.items():
        granted = model.grant(asks, used)
        common.same(getattr(dut, name), 0 if granted is None else 1 << granted, f"{of}: {asks:04b}")
    await FallingEdge(dut.clk_i)


async def begin(dut) -> dict[str, Arbiter]:
    dut.request_i.value, dut.used_i.value = 0, 0
    await common.start(dut)
    return {name: model() for name, model in MODELS.items()}


@common.test()
@cocotb.parametrize(used=[0.0, 0.7, 1.0])
async def grants_are_those_of_the_model(dut, used):
    draw = common.draw()
    models = await begin(dut)
    for n in range(common.size(400)):
        # A set of requests stays for a while, as it does where they are served one by one.
        if n % 8 == 0:
            asks = draw.randrange(1 << N)
        elif draw.random() < 0.5:
            asks = draw.choice((draw.randrange(1 << N), (1 << N) - 1, asks ^ 1 << draw.randrange(N)))
        await slot(dut, models, asks, draw.random() < used, f"slot {n}")


@common.test()
async def a_reset_starts_anew(dut):
    draw = common.draw()
    models = await begin(dut)
    for n in range(common.size(60)):
        await slot(dut, models, draw.randrange(1 << N), True, f"slot {n}")
        if draw.random() < 0.1:
            # The clock runs on and nobody is served while the reset lasts.
            dut.rst_ni.value, dut.used_i.value = 0, 0
            await FallingEdge(dut.clk_i)
            dut.rst_ni.value = 1
            models = {name: model() for name, model in MODELS.items()}
