//! Any text as a line of `encode --jsonl`: nothing panics, what is read is printed as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| scalepool_testbenches::fuzzing::message_object(bytes));
