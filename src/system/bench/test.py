"""Runs the system `@SYSTEM@` around `@PATH@`, which stands in `@MODULE@.sv`; the model checks everything beside it.

While that module is the stub, a second system answers in its place: the same one, in which all others are external.
SCALEPOOL_CLOCKS=N runs for N clocks of units (@CLOCKS@).
"""

import os

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from cocotbext.scalepool import System

SYSTEM = @SOURCE@
SETTINGS = @SETTINGS@
# The component that stands in RTL, and those around it.
OWN = @OWN@
OTHERS = @OTHERS@
# Ports: name of its signals, name in the system, the port at the other end of its link, bytes of a unit.
PORTS = @TABLE@
# The clock of units and the reference clock of the system, in femtoseconds.
UNIT_FS = @UNIT_FS@
CYCLE_FS = @CYCLE_FS@
# Whether links damage units, so that some are repaired or asked for again. Otherwise nobody has a reason to.
NOISE = @NOISE@
REPAIRS = ("Nak flits", "FEC repairs", "bad flits")


def system(external):
    """The system with these components outside, and its ports watched that are theirs."""
    return System(SYSTEM, set=SETTINGS, external={name: "flits" for name in external})


class Side:
    """A system and those of its ports whose units are ours to send and to take."""

    def __init__(self, external, ports):
        self.system, self.ports = system(external), ports
        self.units = [0, 0]
        for port in ports.values():
            self.system.watch(port, "rx")

    def advance(self, clocks):
        """Runs to the end of so many clocks of units."""
        cycles = clocks * UNIT_FS // CYCLE_FS - self.system.state()["cycle"]
        if cycles > 0:
            self.system.step(cycles)

    def take(self, name):
        """The oldest unit that arrived for a port, or None."""
        sample = self.system.sample(self.ports[name], "rx")
        self.units[0] += sample is not None
        return sample and sample.unit

    def send(self, name, unit):
        """Sends a unit in place of what stands outside."""
        self.system.drive(self.ports[name], unit)
        self.units[1] += 1


def put(valid, signal, unit):
    """Shows a unit on a pair of signals, or none."""
    valid.value = unit is not None
    if unit is not None:
        signal.value = int.from_bytes(unit, "little")


@cocotb.test()
async def the_system_around_it_runs_clean(bench):
    around = Side([OWN], {name: own for name, own, _, _ in PORTS})
    is_stub = hasattr(bench.dut, f"model_{PORTS[0][0]}_tx_valid")
    inside = Side(OTHERS, {name: peer for name, _, peer, _ in PORTS}) if is_stub else None
    signal = lambda name, what: getattr(bench, f"{name}_{what}")  # noqa: E731
    bench.rst_n.value = 0
    for name, *_ in PORTS:
        signal(name, "rx_valid").value = 0
    Clock(bench.clk, 2, "ns").start()
    for _ in range(4):
        await FallingEdge(bench.clk)
    bench.rst_n.value = 1
    for clock in range(1, 1 + int(os.environ.get("SCALEPOOL_CLOCKS", @CLOCKS@))):
        await FallingEdge(bench.clk)
        around.advance(clock)
        if inside:
            inside.advance(clock)
        for name, _, _, size in PORTS:
            if signal(name, "tx_valid").value == 1:
                around.send(name, int(signal(name, "tx_unit").value).to_bytes(size, "little"))
            arrived = around.take(name)
            put(signal(name, "rx_valid"), signal(name, "rx_unit"), arrived)
            if inside:
                if arrived is not None:
                    inside.send(name, arrived)
                model = (getattr(bench.dut, f"model_{name}_tx_{what}") for what in ("valid", "unit"))
                put(*model, inside.take(name))
    metrics = around.system.metrics()
    repairs = {name: metrics["counts"].get(name, 0) for name in REPAIRS} | {"retries": metrics["retries"]}
    bench._log.info(f"@PATH@ took {around.units[0]} units and sent {around.units[1]}; repairs: {repairs}")
    bench._log.info(f"around it: {metrics['counts']}")
    for side, place in ((around, "around @PATH@"), (inside, "in its place")):
        broken = side.system.metrics()["violations"] if side else []
        assert not broken, f"rules broken {place}: {broken}"
    assert NOISE or not any(repairs.values()), f"@PATH@ lost or damaged units, since no link does: {repairs}"
    assert min(around.units) > 0, f"units taken and sent: {around.units}; expected some both ways"
