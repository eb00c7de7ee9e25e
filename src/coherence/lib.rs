//! The coherence engine: device caches and home agent of CXL.cache, and the coherent part of CXL.mem.
//!
//! Modelled: states, transient states, messages and their order for lines of 64 bytes, as `coherence` gives them. Detail:
//! every agent is a pure state machine, message in, messages out; it knows no time and no flit. The same code runs in
//! simulations, with 64 real bytes a line, and under the exhaustive search of `scalepool_proof`, with tokens for values. Left
//! out: the trusted-execution opcodes, which are answered as reserved; what a host does inside its own caches.
//!
//! * Agents: [`cache`] (CXL.cache), [`mem`] (HDM-DB and HDM-H), [`bias`] (HDM-D). Each transition is a row of a table; what
//!   no row allows is an [`event::Event`].
//! * [`config::CoherenceConfig`]: every choice that the sheet leaves open.
//! * [`ids`]: ports and sets of them. [`lines`]: what an agent keeps of each line, in a search and in a run.
//! * [`order`]: which messages may pass which. [`monitor`]: the invariants V1 to V14. [`chart`]: message sequence charts.
//! * [`clocked`]: agents as modules of the kernel.
//!
//! Invariants: an agent never panics on a message; a wrong message changes nothing and is reported; equal inputs give
//! equal outputs.
//!
//! One request: a core asks its device cache for ownership; the device sends RdOwn and remembers it. The home takes the
//! request when no transaction is open on the line, sends SnpInv to every other holder and waits. Each holder answers at
//! once, with data when its copy is dirty. When the last answer is in, memory is current; the home sends GO-E and the
//! data in any order, records the owner and frees the line. The device has the line when both have arrived.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod agent;
pub mod bias;
pub mod cache;
pub mod chart;
pub mod clocked;
pub mod config;
pub mod content;
pub mod event;
pub mod ids;
pub mod lines;
pub mod mem;
pub mod message;
pub mod monitor;
pub mod mutant;
pub mod names;
pub mod order;
pub mod passing;
