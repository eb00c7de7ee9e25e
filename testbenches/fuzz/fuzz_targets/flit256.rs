//! Any bytes as a stream of 256-byte flits of one of three modes: nothing panics, nothing is lost.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| scalepool_testbenches::fuzzing::flit256(bytes));
