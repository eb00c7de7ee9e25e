//! What the conformance suite shares: the independent oracles, random legal traffic, what a fuzzer calls, a watcher
//! beside an end.
#![forbid(unsafe_code)]

pub mod beside;
pub mod fuzzing;
pub mod legal;
pub mod oracle;
