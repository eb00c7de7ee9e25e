//! Any two texts as traces to compare: nothing panics, a trace is equal to itself.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| scalepool_testbenches::fuzzing::traces(bytes));
