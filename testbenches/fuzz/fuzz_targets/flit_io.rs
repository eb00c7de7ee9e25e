//! Any bytes as a stream of 256-byte flits with CXL.io: nothing panics, nothing is lost.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| scalepool_testbenches::fuzzing::flit_io(bytes));
