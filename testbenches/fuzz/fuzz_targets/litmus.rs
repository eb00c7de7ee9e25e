//! Any text as a litmus case: nothing panics, what is wrong has its line.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| scalepool_testbenches::fuzzing::litmus(bytes));
