//! Any bytes as a message of any layout: nothing panics, nothing is lost.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| scalepool_testbenches::fuzzing::message(bytes));
