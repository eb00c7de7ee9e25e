//! What the conformance suite shares: the independent oracles.
#![forbid(unsafe_code)]

pub mod oracle;
