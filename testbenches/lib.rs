//! What the conformance suite shares: the independent oracles, random legal traffic, what a fuzzer calls.
#![forbid(unsafe_code)]

pub mod fuzzing;
pub mod legal;
pub mod oracle;
