//! What the conformance suite shares: the independent oracles, random legal traffic.
#![forbid(unsafe_code)]

pub mod legal;
pub mod oracle;
