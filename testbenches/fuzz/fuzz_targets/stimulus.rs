//! Any bytes as a memory trace: nothing panics, every access is sound.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| scalepool_testbenches::fuzzing::stimulus(bytes));
