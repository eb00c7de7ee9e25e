//! A [`Pair`](crate::pair::Pair) of NVLink ends. Both are alike; the host is the first one, which sends down.

use super::config::{Buffers, LinkConfig};
use super::end::NvlEnd;
use crate::pair::Pair as AnyPair;

/// A link.
pub type Pair = AnyPair<NvlEnd>;

impl Pair {
    /// A link between two ends of the same choices and buffers, whose wires take `latency_flits` (at least 1).
    pub fn new(config: LinkConfig, buffers: Buffers, latency_flits: u64) -> Pair {
        // Nothing trains here.
        Pair::of(NvlEnd::new(config, buffers), NvlEnd::new(config, buffers), latency_flits, 0)
    }
}
