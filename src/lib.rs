//! `scalepool`: a bit-accurate, cycle-approximate model of CXL-over-XLink fabrics for RTL co-verification.
//!
//! The layers, lowest first (a layer uses only those above it in this list):
//! `scalepool_protocols` (codecs), [`kernel`], [`forms`], [`trace`], [`link`], [`inspect`], [`memory`], [`endpoint`], [`coherence`],
//! [`fabric`], [`nodes`], [`system`], [`scenario`], [`golden`], [`export`], [`cli`].
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cli;
pub mod coherence;
pub mod endpoint;
pub mod export;
pub mod fabric;
pub mod forms;
pub mod golden;
pub mod inspect;
pub mod kernel;
pub mod link;
pub mod memory;
pub mod nodes;
pub mod scenario;
pub mod system;
pub mod trace;
