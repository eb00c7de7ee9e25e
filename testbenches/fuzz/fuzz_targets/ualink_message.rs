//! Any bytes as DL messages of UALink: nothing panics, nothing is lost.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| scalepool_testbenches::fuzzing::ualink_message(bytes));
