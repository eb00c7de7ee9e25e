//! Minimal routes between the switches of a fabric.
//!
//! Modelled: switches and the inter-switch links between them, any connected graph; for each switch and DPID one next hop on
//! a shortest way. Of several the DPID selects one, so that destinations are dealt over them: our choice, which the sheet
//! leaves free (`fabric` RGT-7, policy `minimal`). Left out: routes that depend on load.
//!
//! A walk through one route: distances to the switch of the destination are counted in breadth from there. The candidates of
//! a switch are its links to switches that are one closer, in the order of its ports.

use std::collections::VecDeque;

/// Switches and their links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PbrGraph {
    /// By switch: own port and switch at the other end.
    links: Vec<Vec<(usize, usize)>>,
}

impl PbrGraph {
    /// Switches without links.
    pub fn new(switches: usize) -> PbrGraph {
        PbrGraph { links: vec![Vec::new(); switches] }
    }

    /// Joins a port of a switch to another switch, in one direction.
    pub fn join(&mut self, switch: usize, port: usize, other: usize) {
        self.links[switch].push((port, other));
        self.links[switch].sort_unstable();
    }

    /// Links that lie between each switch and one of them; `None`: there is no way.
    pub fn distances(&self, to: usize) -> Vec<Option<usize>> {
        // Links go both ways.
        let mut distances = vec![None; self.links.len()];
        distances[to] = Some(0);
        let mut queue = VecDeque::from([(to, 0)]);
        while let Some((switch, distance)) = queue.pop_front() {
            for &(_, other) in &self.links[switch] {
                if distances[other].is_none() {
                    distances[other] = Some(distance + 1);
                    queue.push_back((other, distance + 1));
                }
            }
        }
        distances
    }

    /// Ports of a switch that lead one link closer, with distances from [`distances`](PbrGraph::distances).
    pub fn candidates(&self, from: usize, distances: &[Option<usize>]) -> Vec<usize> {
        let closer = |&&(_, other): &&(usize, usize)| {
            distances[from].is_some_and(|here| distances[other].is_some_and(|there| there + 1 == here))
        };
        self.links[from].iter().filter(closer).map(|(port, _)| *port).collect()
    }
}
