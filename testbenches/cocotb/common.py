"""Common parts of the tests: seeds, sizes, golden flits, clocks and comparisons."""

import json
import os
import pathlib
import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge
from cocotbext.scalepool import LinkEnd

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
    if int(value) != expected:
        raise AssertionError(f"{signal._name}: found {int(value):#x}, expected {expected:#x} {of}")


async def start(dut, period_ns: int = 2) -> None:
    """Clock and reset of the devices of testbenches/rtl; returns behind a falling edge, out of reset."""
    dut.rst_ni.value = 0
    Clock(dut.clk_i, period_ns, "ns").start()
    await ClockCycles(dut.clk_i, 2)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)


def flip(draw: random.Random, data: bytes) -> bytes:
    """A copy with one wrong bit."""
    wrong = bytearray(data)
    bit = draw.randrange(8 * len(data))
    wrong[bit // 8] ^= 1 << bit % 8
    return bytes(wrong)


def traffic(protocol: str, draw: random.Random, messages: dict[str, list[dict]], most_clocks: int) -> dict[str, list[bytes]]:
    """What two ends of the model send each other, by direction, when they have these messages to send at random times."""
    ends = {dir: LinkEnd(protocol, dir) for dir in ("down", "up")}
    flits, left = {"down": [], "up": []}, {dir: deque(messages[dir]) for dir in ends}
    missing = sum(map(len, left.values()))
    for _ in range(most_clocks):
        for dir, other in (("down", "up"), ("up", "down")):
            while left[dir] and draw.random() < 0.5:
                ends[dir].send(left[dir].popleft())
            ends[dir].step()
            unit = ends[dir].sample()
            if unit is not None:
                flits[dir].append(unit)
                ends[other].drive(unit)
            while ends[dir].take() is not None:
                missing -= 1
        if missing == 0:
            return flits
    raise AssertionError(f"{protocol}: {missing} messages have not arrived after {most_clocks} flit clocks")
