//! Any text as a map of an inspection: nothing panics, what is wrong is said.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| scalepool_testbenches::fuzzing::maps(bytes));
