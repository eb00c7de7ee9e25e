//! What stands at the ends of links: hosts, root complexes, devices, accelerators, GPUs, and the traffic that they make.
//!
//! Modelled: nodes that exchange messages or packets with their link ends, with real bytes, and check end to end what comes
//! back. Left out: flits, which are the business of the links, and how nodes are joined, which is that of a system
//! description. A walk through one request: a node takes the next access of its stimulus, gives it a tag and hands the
//! request to the channel of its port; the answer comes back by the same port, its bytes are checked, and the tag is free.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cxl;
pub mod io;
pub mod latencies;
pub mod nvlink;
pub mod row_log;
pub mod stimulus;
pub mod ualink;

use scalepool_protocols::wire::Violation;

/// A broken rule, and where it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Module.
    pub place: String,
    /// Rule, byte, found, expected.
    pub violation: Violation,
}
