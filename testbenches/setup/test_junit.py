#!/usr/bin/env python3
"""What junit.py makes of a log with passed, failed and ignored tests of all kinds of test programs."""

import unittest

import junit

LOG = """\
   Compiling scalepool-link v0.1.0
     Running unittests lib.rs (target/debug/deps/scalepool_link-0123456789abcdef)

running 2 tests
test port::tests::holds ... ok
test long ... ignored, takes a day

test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/link.rs (target/debug/deps/link-fedcba9876543210)

running 2 tests
test cxl68::cxl68_crc_01_n ... FAILED
test cxl68::cxl68_crc_01_p ... ok

failures:

---- cxl68::cxl68_crc_01_n stdout ----

thread 'cxl68::cxl68_crc_01_n' panicked at testbenches/tests/cxl68.rs:1:1:
found <1> & \033[31m\x01\033[0m

failures:
    cxl68::cxl68_crc_01_n

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests scalepool_link

running 1 test
test src/link/port.rs - port::Port (line 5) - compile fail ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
""".splitlines(keepends=True)

# A program that dies in a test, and one whose test of a panic fails.
DIED = """\
     Running tests/link.rs (target/debug/deps/link-fedcba9876543210)

running 2 tests
test cxl68::cxl68_crc_01_p ... ok
error: test failed, to rerun pass `-p scalepool-testbenches --test link`

Caused by:
  process didn't exit successfully: `link-fedcba9876543210` (signal: 6, SIGABRT: process abort signal)
     Running tests/codec.rs (target/debug/deps/codec-fedcba9876543210)

running 1 test
test refuses - should panic ... FAILED

failures:

---- refuses stdout ----
note: test did not panic as expected at testbenches/tests/codec.rs:1:1

failures:
    refuses

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
""".splitlines(keepends=True)


class OfALog(unittest.TestCase):
    def test_every_case_stands_in_its_suite(self):
        root = junit.junit(junit.read(LOG), {"PROPTEST_CASES": "9"})
        self.assertEqual([root.get(key) for key in ("tests", "failures", "errors")], ["5", "1", "0"])
        self.assertEqual([suite.get("name") for suite in root], ["scalepool_link", "link", "scalepool_link (documentation)"])
        again = [suite.find("properties/property[@name='rerun']").get("value") for suite in root]
        self.assertEqual(again, [f"PROPTEST_CASES=9 cargo test {chosen}" for chosen in
                                 ("-p scalepool-link --lib", "--workspace --test link", "-p scalepool-link --doc")])
        cases = [(case.get("classname"), case.get("name")) for case in root[1].iter("testcase")]
        self.assertEqual(cases, [("link::cxl68", "cxl68_crc_01_n"), ("link::cxl68", "cxl68_crc_01_p")])
        self.assertEqual(len(root[0].findall("testcase/skipped")), 1)

    def test_a_failure_says_what_and_how_to_run_it_again(self):
        [failure] = junit.junit(junit.read(LOG), {}).iter("failure")
        self.assertEqual(failure.get("message"), "found <1> & ?")
        self.assertIn("panicked at testbenches/tests/cxl68.rs:1:1", failure.text)
        self.assertTrue(failure.text.endswith("cargo test --workspace --test link -- --exact cxl68::cxl68_crc_01_n"), failure.text)
        self.assertNotIn("failures:", failure.text)

    def test_a_program_that_dies_is_an_error(self):
        root = junit.junit(junit.read(DIED), {})
        self.assertEqual([root.get(key) for key in ("tests", "failures", "errors")], ["3", "1", "1"])
        [error] = root[0].findall("testcase/error")
        self.assertIn("SIGABRT", error.text)
        self.assertTrue(error.text.endswith("cargo test --workspace --test link"), error.text)
        self.assertEqual(root[1].findall("testcase/error"), [])

    def test_the_kind_of_a_test_is_no_part_of_its_name(self):
        [case] = junit.junit(junit.read(DIED), {})[1].iter("testcase")
        self.assertEqual(case.get("name"), "refuses")
        failure = case.find("failure")
        self.assertIn("did not panic as expected", failure.text)
        self.assertTrue(failure.text.endswith("--exact refuses"), failure.text)
        [case] = junit.junit(junit.read(LOG), {})[2].iter("testcase")
        self.assertEqual(case.get("name"), "Port (line 5)")


if __name__ == "__main__":
    unittest.main()
