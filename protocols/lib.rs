//! Pure codecs, which define the meaning of every byte on a modelled link.
//!
//! Modelled: bit layouts of messages, slots and flits, their codes and checksums, and the rules that a sender has to obey.
//! Detail: bit-exact. Left out: time, I/O, and state machines that react to a peer (they are in `scalepool::link`).
//!
//! Invariants: every bit pattern decodes, and encodes back to itself; the encoder refuses a value that does not fit its
//! field; no codec allocates memory; `unsafe` code exists in `check/simd.rs` only.
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod bridge;
pub mod check;
pub mod cxl;
pub mod interfaces;
pub mod nvlink;
pub mod registers;
pub mod registry;
pub mod rules;
pub mod ualink;
pub mod wire;
