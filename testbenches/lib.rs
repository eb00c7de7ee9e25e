//! What the conformance suite shares: random legal traffic, what a fuzzer calls, a watcher beside an end, sizes of `make soak`.
#![forbid(unsafe_code)]

pub mod beside;
pub mod fuzzing;
pub mod legal;
pub mod soak;
