//! Any text as lines of `flit encode`: nothing panics, what is printed makes the same flit.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| scalepool_testbenches::fuzzing::flit_object(bytes));
