#!/usr/bin/env python3
"""The judgement of oracle.py fires when it should."""
import unittest

import oracle

GOOD = "cxl68: 18 layouts, 9,000 messages, 1,000 flits, 0 differences\n"
DIFFERENCE = "cxl68.m2s_req  tag  [27:12]  found 1, expected 2"
BAD = f"cxl68: 18 layouts, 9,000 messages, 1,000 flits, 1 difference\n    {DIFFERENCE}\n"


class Judge(unittest.TestCase):
    def test_agreement_passes(self):
        self.assertEqual(oracle.judge(GOOD, 0, []), [])

    def test_a_difference_fails(self):
        self.assertEqual(oracle.judge(BAD, 1, []), [f"difference: {DIFFERENCE}"])

    def test_a_waived_difference_passes(self):
        self.assertEqual(oracle.judge(BAD, 1, [("cxl68.m2s_req  tag", "the sheet says 1")]), [])

    def test_a_stale_waiver_fails(self):
        self.assertEqual(oracle.judge(GOOD, 0, [("x", "y")]), ["waiver that matches nothing: x"])

    def test_a_family_that_is_gone_fails(self):
        self.assertEqual(len(oracle.judge("cxl68: not built yet (asked for)\n", 1, [])), 1)

    def test_flits_that_are_gone_fail_though_the_status_is_0(self):
        self.assertEqual(len(oracle.judge(GOOD.strip() + "; flits of cxl-68b not built yet\n", 0, [])), 1)

    def test_hidden_differences_fail_though_the_shown_are_waived(self):
        output = BAD + "    .. and 3 more kinds\n"
        self.assertEqual(len(oracle.judge(output, 1, [("cxl68.m2s_req", "r")])), 1)

    def test_a_finding_that_is_not_shown_fails(self):
        self.assertEqual(len(oracle.judge(GOOD, 1, [])), 1)

    def test_an_oracle_that_does_not_run_fails(self):
        self.assertEqual(len(oracle.judge("", 2, [])), 1)


class Lists(unittest.TestCase):
    def test_comments_and_empty_lines_are_no_rows(self):
        self.assertEqual(oracle.rows("# a\n\ncxl68\n"), ["cxl68"])

    def test_a_waiver_needs_a_reason(self):
        self.assertEqual(oracle.waivers("a | b\n"), [("a", "b")])
        self.assertRaises(ValueError, oracle.waivers, "a |\n")
        self.assertRaises(ValueError, oracle.waivers, "a\n")


if __name__ == "__main__":
    unittest.main()
