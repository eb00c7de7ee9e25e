//! Conformance of the CXL 256-byte link layer over time: numbers, replay, credits, initialisation. For every rule a test
//! that obeys it (`<rule>_p`) and one that breaks it (`<rule>_n`); then noise, and the goodput of the packer.

mod c14;
mod credits;
mod goodput;
mod halves;
mod idle;
mod io;
mod monitor;
mod numbers;
mod replay;
pub mod rig;
mod soak;
mod viral;
