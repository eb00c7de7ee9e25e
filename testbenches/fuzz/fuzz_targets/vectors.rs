//! Any text as a `.hex` and a `.rsp` file: nothing panics, errors have a place.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| scalepool_testbenches::fuzzing::vectors(bytes));
