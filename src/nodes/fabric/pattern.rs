//! Who sends to whom.
//!
//! Modelled: the patterns of network theory by the numbers of nodes, each packet drawn on its own or one destination for each source.
//! Destinations that change with time are a [program](super::packet_program).

use scalepool_kernel::Rng;
use std::sync::Arc;

/// Names of the patterns, as descriptions choose them.
pub const PATTERN_NAMES: &[&str] =
    &["uniform", "hot-spot", "permutation", "transpose", "complement", "neighbour", "shift"];

/// Where the packets of a node go.
#[derive(Debug, Clone)]
pub enum TrafficPattern {
    /// Any node, itself too, all as often.
    Uniform,
    /// So many percent to node 0, the others to any.
    HotSpot(u8),
    /// Always to this one.
    Fixed(u16),
}

impl TrafficPattern {
    /// The pattern of a name for a node among `nodes`. `shift` is added to the node's number, modulo the number of nodes.
    /// `permutation` makes the random permutation that all nodes share.
    ///
    /// # Errors
    /// What was found and what was expected, where the pattern is none of so many nodes.
    pub fn of(
        name: &str,
        node: u16,
        nodes: u16,
        hot_percent: u8,
        shift: u16,
        permutation: impl FnOnce() -> Arc<Vec<u16>>,
    ) -> Result<TrafficPattern, String> {
        let last = nodes.saturating_sub(1);
        Ok(match name {
            "hot-spot" => TrafficPattern::HotSpot(hot_percent),
            "permutation" => TrafficPattern::Fixed(permutation().get(usize::from(node)).copied().unwrap_or(node)),
            "transpose" => {
                let side = nodes.isqrt();
                if side * side != nodes {
                    return Err(format!("found transpose among {nodes} nodes, expected a square number of nodes"));
                }
                TrafficPattern::Fixed(node % side * side + node / side)
            }
            "complement" => TrafficPattern::Fixed(last - node.min(last)),
            "neighbour" => TrafficPattern::Fixed(if node >= last { 0 } else { node + 1 }),
            "shift" => TrafficPattern::Fixed(((u32::from(node) + u32::from(shift)) % u32::from(nodes.max(1))) as u16),
            _ => TrafficPattern::Uniform,
        })
    }

    /// The destination of the next packet, among so many nodes.
    #[inline]
    pub fn draw(&self, rng: &mut Rng, nodes: u16) -> u16 {
        match self {
            TrafficPattern::Fixed(node) => *node,
            TrafficPattern::HotSpot(percent) if rng.ratio(u64::from(*percent), 100) => 0,
            TrafficPattern::Uniform | TrafficPattern::HotSpot(_) => rng.below(u64::from(nodes)) as u16,
        }
    }
}

/// The permutation that the nodes of a run share.
pub fn permutation(seed: u64, nodes: u16) -> Vec<u16> {
    let mut all: Vec<u16> = (0..nodes).collect();
    Rng::for_name(seed, "permutation").shuffle(&mut all);
    all
}
