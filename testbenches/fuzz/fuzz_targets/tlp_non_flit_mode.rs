//! Any bytes as a TLP of non-flit mode, in and out of its frame: nothing panics, nothing is lost.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| scalepool_testbenches::fuzzing::tlp_non_flit_mode(bytes));
