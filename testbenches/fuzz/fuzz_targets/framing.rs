//! Any bytes as the io stream of a 68-byte link: nothing panics, no frame is cut wrong.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| scalepool_testbenches::fuzzing::framing(bytes));
