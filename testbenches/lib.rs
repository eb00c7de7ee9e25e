//! What the conformance suite shares: the independent oracles, random legal traffic, coverage.
#![forbid(unsafe_code)]

pub mod coverage;
pub mod legal;
pub mod oracle;
