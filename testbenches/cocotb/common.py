"""What the tests of all devices use: seeds, sizes, golden flits, clocks and comparisons."""

import json
import os
import pathlib
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "golden"
# As in the other tests: so many times the usual work.
SOAK = int(os.environ.get("SCALEPOOL_SOAK") or 1)


def test(**options):
    """As `cocotb.test`, with an end: no test here takes 20 us of simulated time, but one whose device hangs."""
    return cocotb.test(timeout_time=20 * SOAK, timeout_unit="us", **options)


def draw() -> random.Random:
    """Random numbers, the same in each run; another `COCOTB_RANDOM_SEED` gives others."""
    return random.Random(cocotb.RANDOM_SEED)


def size(usual: int) -> int:
    """How many of something: `usual`, or SCALEPOOL_SOAK times as many."""
    return usual * SOAK


def records(family: str, name: str) -> list[dict]:
    """The objects of a golden set, one a case."""
    with open(GOLDEN / family / f"{name}.jsonl", encoding="ascii") as lines:
        return [json.loads(line) for line in lines]


def golden(family: str, name: str) -> list[bytes]:
    """The bytes of a golden set, one a case."""
    return [bytes.fromhex(record["hex"]) for record in records(family, name)]


def same(signal, expected: int, of: object = "") -> None:
    """Compares a signal; raises `AssertionError` with both values."""
    value = signal.value
    if not value.is_resolvable:
        raise AssertionError(f"{signal._name}: found {value}, expected {expected:#x} {of}")
    if value.to_unsigned() != expected:
        raise AssertionError(f"{signal._name}: found {value.to_unsigned():#x}, expected {expected:#x} {of}")


async def start(dut, period_ns: int = 2) -> None:
    """Clock and reset of the devices of testbenches/rtl; returns behind a falling edge, out of reset."""
    dut.rst_ni.value = 0
    Clock(dut.clk_i, period_ns, "ns").start()
    await ClockCycles(dut.clk_i, 2)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)
