//! Nodes at the ends of links: hosts, root complexes, devices, accelerators and GPUs, and the traffic that they generate.
//!
//! Modelled: nodes that exchange messages or packets of real bytes with their link ends, and check every response end to
//! end. Left out: flits, which the link layers handle, and the topology, which the system description defines.
//!
//! A walk through one request: a node takes the next access of its stimulus, gives it a tag and sends the request into the
//! channel of its port. The response arrives at the same port, the node checks its bytes, and the tag is free again.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod blocks;
pub mod cxl;
pub mod fabric;
pub mod first_lines;
pub mod handover;
pub mod io;
mod item_places;
pub mod latencies;
pub mod nvlink;
pub mod outside;
pub mod row_log;
pub mod stimulus;
pub mod tiers;
pub mod ualink;
pub mod value_counts;

use scalepool_protocols::wire::Violation;

/// A broken rule, and the module that detected it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedViolation {
    /// Name of the module that saw it.
    pub place: String,
    /// The rule, the byte, the value found and the value expected.
    pub violation: Violation,
}
