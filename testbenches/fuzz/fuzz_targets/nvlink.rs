//! Any bytes as NVLink packets, and as flits into one end: nothing panics, nothing is lost.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| scalepool_testbenches::fuzzing::nvlink(bytes));
