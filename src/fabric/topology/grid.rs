//! Meshes and tori: routers at the points of a grid, with one node each.
//!
//! Modelled: channels to both neighbours in each dimension, in a torus also the wrap-around channel; dimension-order
//! routing, lowest dimension first. In a ring a packet takes the shorter direction, or either one if both are equally
//! long. Each ring has a dateline between its last router and its first. A packet that will cross the dateline uses the
//! upper half of the virtual channels in this ring, and a packet that will not cross it uses the lower half. No path is
//! longer than half a ring, so the lower half is never used across the dateline and the upper half is never used on the
//! opposite side of the ring. The channels of a ring therefore have no cyclic dependency (in `fabric` §6.4 a packet
//! changes halves at the dateline instead, which leaves the lower half busier).
//!
//! Ports of a router: for each dimension the port up (to the next coordinate) and the port down, where there is a
//! neighbour; then the port of the node.

use super::{PortPeer, RouteChoice, VcClass};
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grid {
    /// Routers in each dimension.
    sizes: Vec<usize>,
    wraps: bool,
}

/// A direction in a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Up,
    Down,
}

impl Grid {
    pub(super) fn new(sizes: Vec<usize>, wraps: bool) -> Grid {
        Grid { sizes, wraps }
    }

    pub(super) fn routers(&self) -> usize {
        self.sizes.iter().fold(1, |all, &k| all.saturating_mul(k))
    }

    /// Difference of router numbers between neighbours in a dimension, and the router's coordinate in that dimension.
    fn coordinate(&self, router: usize, dimension: usize) -> (usize, usize) {
        let step: usize = self.sizes[..dimension].iter().product();
        (step, router / step % self.sizes[dimension])
    }

    fn has(&self, router: usize, dimension: usize, side: Side) -> bool {
        let (_, at) = self.coordinate(router, dimension);
        let last = self.sizes[dimension] - 1;
        self.wraps || at != if side == Side::Up { last } else { 0 }
    }

    /// Directions of a router in the order of its ports.
    fn directions(&self, router: usize) -> impl Iterator<Item = (usize, Side)> + '_ {
        let all = (0..self.sizes.len()).flat_map(|dimension| [(dimension, Side::Up), (dimension, Side::Down)]);
        all.filter(move |&(dimension, side)| self.has(router, dimension, side))
    }

    fn port(&self, router: usize, dimension: usize, side: Side) -> usize {
        let is_before =
            |&(d, s): &(usize, Side)| d < dimension || (d == dimension && s == Side::Up && side == Side::Down);
        self.directions(router).filter(is_before).count()
    }

    pub(super) fn ports(&self, router: usize) -> usize {
        self.directions(router).count() + 1
    }

    pub(super) fn peer(&self, router: usize, port: usize) -> PortPeer {
        let Some((dimension, side)) = self.directions(router).nth(port) else { return PortPeer::Node(router) };
        let (step, at) = self.coordinate(router, dimension);
        let k = self.sizes[dimension];
        let (to, back) = match side {
            Side::Up => ((at + 1) % k, Side::Down),
            Side::Down => ((at + k - 1) % k, Side::Up),
        };
        let peer = router - at * step + to * step;
        PortPeer::Router(peer, self.port(peer, dimension, back))
    }

    pub(super) fn route(&self, router: usize, node: usize) -> RouteChoice {
        for (dimension, &k) in self.sizes.iter().enumerate() {
            let ((_, at), (_, to)) = (self.coordinate(router, dimension), self.coordinate(node, dimension));
            if at == to {
                continue;
            }
            let port = |side| self.port(router, dimension, side);
            if !self.wraps {
                return RouteChoice::one(port(if to > at { Side::Up } else { Side::Down }), VcClass::ALL);
            }
            let up = (to + k - at) % k;
            // The packet will cross the dateline where the destination lies on the far side of the wrap-around.
            let class = |side| match (side, to > at) {
                (Side::Up, true) | (Side::Down, false) => VcClass::LOWER,
                (Side::Up, false) | (Side::Down, true) => VcClass::UPPER,
            };
            return match (2 * up).cmp(&k) {
                std::cmp::Ordering::Less => RouteChoice::one(port(Side::Up), class(Side::Up)),
                std::cmp::Ordering::Greater => RouteChoice::one(port(Side::Down), class(Side::Down)),
                std::cmp::Ordering::Equal => {
                    RouteChoice::consecutive(port(Side::Up), 2, [class(Side::Up), class(Side::Down)])
                }
            };
        }
        RouteChoice::one(self.ports(router) - 1, VcClass::ALL)
    }

    /// The port on which a packet that entered at `port` continues in its ring.
    pub(super) fn straight(&self, router: usize, port: usize) -> Option<usize> {
        let (dimension, side) = self.directions(router).nth(port).filter(|_| self.wraps)?;
        let onward = if side == Side::Up { Side::Down } else { Side::Up };
        Some(self.port(router, dimension, onward))
    }

    /// Whether two ports are equally good for any way: half around a ring of an even number of routers, either direction is.
    pub(super) fn has_equal_ports(&self) -> bool {
        self.wraps && self.sizes.iter().any(|k| k % 2 == 0)
    }

    /// Channels between two routers on a shortest way.
    pub(super) fn distance(&self, from: usize, to: usize) -> usize {
        let of = |(dimension, &k): (usize, &usize)| {
            let apart = self.coordinate(from, dimension).1.abs_diff(self.coordinate(to, dimension).1);
            if self.wraps { apart.min(k - apart) } else { apart }
        };
        self.sizes.iter().enumerate().map(of).sum()
    }

    /// Classes that packets to a node can have on a channel of a ring, collected over all upstream routers of the ring
    /// whose packets use this channel.
    pub(super) fn classes_on(&self, router: usize, port: usize, node: usize) -> Vec<VcClass> {
        let mut found = Vec::new();
        let (mut from, mut out) = (router, port);
        loop {
            let Some((_, class)) = self.route(from, node).ways().find(|(way, _)| *way == out) else { break };
            found.push(class);
            // Step one router upstream.
            let Some(back) = self.straight(from, out) else { break };
            let PortPeer::Router(before, to_here) = self.peer(from, back) else { break };
            (from, out) = (before, to_here);
        }
        scalepool_ordered::sort(&mut found);
        found.dedup();
        found
    }

    /// Where a router is drawn. Planes of a third dimension are drawn side by side.
    pub(super) fn place(&self, router: usize) -> (usize, usize) {
        let at = |dimension: usize| if dimension < self.sizes.len() { self.coordinate(router, dimension).1 } else { 0 };
        (at(0) + at(2) * (self.sizes[0] + 1), at(1))
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sizes.iter().map(usize::to_string).collect::<Vec<_>>().join("x"))
    }
}
