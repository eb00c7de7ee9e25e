//! Pure codecs: what every byte on a modelled link means.
//!
//! Modelled: bit layouts of messages, slots and flits, their codes, checksums, and the rules a sender has to obey.
//! Detail: bit-exact. Left out: time, I/O, state machines that react to a peer (they live in `scalepool::link`).
//!
//! Invariants: every bit pattern decodes and encodes back to itself; encoding refuses what does not fit; no codec
//! allocates; `unsafe` stands in `check/simd.rs` alone.
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod check;
pub mod cxl;
pub mod nvlink;
pub mod registry;
pub mod rules;
pub mod ualink;
pub mod wire;
