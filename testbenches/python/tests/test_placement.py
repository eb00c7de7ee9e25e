"""A function in Python that decides where pages of accelerators lie."""

import pathlib
import unittest

import cocotbext.scalepool as sp
from cocotbext.scalepool.placement import Question, Tier

TIERS = pathlib.Path(__file__).parents[2] / "systems/tiers.toml"


def by_heat(question: Question) -> tuple[int, Tier] | None:
    """Policy `temperature` in Python: the hottest page below a tier takes a free frame of it, or the place of one that is at most half as hot,
    which moves down first."""
    if question.first is not None:
        return None
    pages = list(enumerate(question.pages))
    for upper in (Tier.HBM, Tier.PEER_HBM):
        below = [(page.accesses, -n) for n, page in pages if page.tier is not None and page.tier > upper and page.accesses]
        if not below:
            continue
        heat, hot = max(below)
        if question.free[upper]:
            return -hot, upper
        there = [(page.accesses, n) for n, page in pages if page.tier is upper]
        lower = next((tier for tier in Tier if tier > upper and question.free[tier]), None)
        if there and lower is not None and heat >= 2 * min(there)[0]:
            return min(there)[1], lower
    return None


class Placement(unittest.TestCase):
    def system(self, policy: str, operations: int = 300) -> sp.System:
        return sp.System(TIERS, set=[f"policy={policy}", f"operations={operations}"])

    def test_the_same_decisions_are_the_same_run(self) -> None:
        own, ours = self.system("temperature"), self.system("caller")
        for n in range(2):
            ours.placement(f"accel[{n}]", by_heat)
        self.assertTrue(own.run() and ours.run())
        self.assertEqual(own.metrics(), ours.metrics())
        self.assertGreater(own.metrics()["components"]["accel[0]"]["pages moved"], 2)

    def test_first_pages_go_where_they_are_told(self) -> None:
        system, asked = self.system("caller", 60), []

        def far(question: Question) -> Tier | None:
            asked.append(question)
            return None if question.first is None else Tier.TIER_2

        system.placement("accel[0]", far)
        self.assertTrue(system.run())
        of = system.metrics()["components"]["accel[0]"]
        # Tier 2 has frames for three of four pages; a fourth one that is sent there takes the fastest frame.
        self.assertEqual((of["pages placed"], of["decisions refused"]), (4, 1))
        self.assertEqual([question.first is None for question in asked].count(False), 4)
        self.assertEqual((asked[0].free, asked[0].pages[0].tier), ((1, 1, 3), None))

    def test_what_a_function_raises_is_raised(self) -> None:
        system = self.system("caller", 60)

        def fails(_question: Question) -> None:
            raise ValueError("no idea")

        system.placement("accel[0]", fails)
        with self.assertRaisesRegex(ValueError, "no idea"):
            system.run()
        system = self.system("caller", 60)
        system.placement("accel[0]", lambda question: None if question.first is not None else Tier.HBM)
        with self.assertRaisesRegex(TypeError, "expected a page and its tier"):
            system.run()
        system = self.system("caller", 60)
        system.placement("accel[0]", fails)
        system.placement("accel[0]", None)
        self.assertTrue(system.run())
        with self.assertRaisesRegex(sp.InputError, "expected one of: accel\\[0\\], accel\\[1\\]"):
            system.placement("host", None)


if __name__ == "__main__":
    unittest.main()
