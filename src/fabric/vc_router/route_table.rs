//! The ways from one router to all nodes: what its topology says, once, so that a look takes no division.

use super::super::topology::{PortPeer, RouteChoice, Topology};

/// The ways from a router.
#[derive(Debug, Clone)]
pub struct RouteTable {
    choices: Vec<RouteChoice>,
    /// By port where a packet came: the port on which it keeps its class; [`NO_PORT`]: there is none.
    straight: Vec<u8>,
    /// Virtual channels of each class, by [`VcClass`](super::super::topology::VcClass).
    masks: [u64; 3],
}

/// No port.
const NO_PORT: u8 = u8::MAX;

/// A way through a router: the port and virtual channels where a packet comes in, those where it leaves.
pub type WayThrough = ((usize, u64), (usize, u64));

impl RouteTable {
    /// Of a router of a topology whose channels have so many virtual channels.
    pub fn new(topology: &Topology, router: usize, vcs: usize) -> RouteTable {
        use super::super::topology::VcClass::{All, Lower, Upper};
        RouteTable {
            straight: (0..topology.ports(router))
                .map(|port| topology.straight(router, port).map_or(NO_PORT, |port| port as u8))
                .collect(),
            choices: (0..topology.nodes()).map(|node| topology.route(router, node)).collect(),
            masks: [All, Lower, Upper].map(|class| class.mask(vcs)),
        }
    }

    /// The ways to a node.
    #[inline]
    pub fn to(&self, node: u16) -> RouteChoice {
        self.choices[usize::from(node)]
    }

    /// Virtual channels of a way, by its place among those of a choice, for a packet that came on a virtual channel of a port.
    #[inline]
    pub fn vcs(&self, choice: RouteChoice, way: usize, (port, vc): (u8, usize)) -> u64 {
        if usize::from(self.straight[usize::from(port)]) == usize::from(choice.first) + way {
            let is_upper = self.masks[2] >> vc & 1 == 1;
            return self.masks[if is_upper { 2 } else { 1 }];
        }
        self.masks[choice.classes[way.min(1)] as usize]
    }
}

/// All ways on which packets can pass a router: for each port the packets that the router or node there may send on it, whatever
/// their source, and where they go on to.
pub fn ways_through(topology: &Topology, router: usize, vcs: usize) -> Vec<WayThrough> {
    let mut ways = Vec::new();
    let onward = |node: usize| topology.route(router, node).ways();
    for port in 0..topology.ports(router) {
        for node in 0..topology.nodes() {
            match topology.peer(router, port) {
                PortPeer::Node(_) => {
                    let all = super::super::topology::VcClass::All.mask(vcs);
                    ways.extend(onward(node).map(|(to, class)| ((port, all), (to, class.mask(vcs)))));
                }
                PortPeer::Router(before, back) => {
                    let straight = topology.straight(router, port);
                    for came in topology.classes_on(before, back, node) {
                        let kept = |to, class| if straight == Some(to) { came } else { class };
                        let out = onward(node).map(|(to, class)| (to, kept(to, class).mask(vcs)));
                        ways.extend(out.map(|out| ((port, came.mask(vcs)), out)));
                    }
                }
            }
        }
        // A port leads on to few others, whatever the number of nodes.
        ways.sort_unstable();
        ways.dedup();
    }
    ways
}
