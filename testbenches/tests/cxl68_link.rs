//! Conformance of the CXL 68-byte link layer over time: initialisation, credits, protocol IDs, viral, poison, and what
//! travels in between. For every rule a test that obeys it (`<rule>_p`) and one that breaks it (`<rule>_n`). Retry has a
//! suite of its own, and so has the codec.

mod control;
mod credits;
mod ids;
mod init;
mod messages;
pub mod rig;
pub mod units;
mod viral;
