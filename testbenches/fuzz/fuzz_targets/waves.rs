//! Any bytes as a value change dump: nothing panics but what its reader catches.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| scalepool_testbenches::fuzzing::waves(bytes));
