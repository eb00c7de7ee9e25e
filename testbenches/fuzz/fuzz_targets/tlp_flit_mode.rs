//! Any bytes as a TLP of flit mode and as TLP regions of flits: nothing panics, nothing is lost.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| scalepool_testbenches::fuzzing::tlp_flit_mode(bytes));
