//! The ways from one router to all nodes: what its topology says, once, so that a look takes no division.

use super::super::topology::{PortPeer, RouteChoice, Topology};

/// The ways from a router.
#[derive(Debug, Clone)]
pub struct RouteTable {
    choices: Vec<RouteChoice>,
    /// Virtual channels of each class, by [`VcClass`](super::super::topology::VcClass).
    masks: [u64; 3],
}

/// A way through a router: the port and virtual channels where a packet comes in, those where it leaves.
pub type WayThrough = ((usize, u64), (usize, u64));

impl RouteTable {
    /// Of a router of a topology whose channels have so many virtual channels.
    pub fn new(topology: &Topology, router: usize, vcs: usize) -> RouteTable {
        use super::super::topology::VcClass::{All, Lower, Upper};
        RouteTable {
            choices: (0..topology.nodes()).map(|node| topology.route(router, node)).collect(),
            masks: [All, Lower, Upper].map(|class| class.mask(vcs)),
        }
    }

    /// The ways to a node.
    #[inline]
    pub fn to(&self, node: u16) -> RouteChoice {
        self.choices[usize::from(node)]
    }

    /// Virtual channels of a way, by its place among those of a choice.
    #[inline]
    pub fn vcs(&self, choice: RouteChoice, way: usize) -> u64 {
        self.masks[choice.classes[way.min(1)] as usize]
    }
}

/// All ways on which packets can pass a router: for each port the packets that the router or node there may send on it, whatever
/// their source, and where they go on to.
pub fn ways_through(topology: &Topology, router: usize, vcs: usize) -> Vec<WayThrough> {
    let mut ways = Vec::new();
    let onward = |node: usize| topology.route(router, node).ways().map(|(port, class)| (port, class.mask(vcs)));
    for port in 0..topology.ports(router) {
        for node in 0..topology.nodes() {
            match topology.peer(router, port) {
                PortPeer::Node(_) => {
                    let all = super::super::topology::VcClass::All.mask(vcs);
                    ways.extend(onward(node).map(|out| ((port, all), out)));
                }
                PortPeer::Router(before, back) => {
                    let coming = topology.route(before, node).ways().filter(|(to, _)| *to == back);
                    ways.extend(
                        coming.flat_map(|(_, class)| onward(node).map(move |out| ((port, class.mask(vcs)), out))),
                    );
                }
            }
        }
        // A port leads on to few others, whatever the number of nodes.
        ways.sort_unstable();
        ways.dedup();
    }
    ways
}
