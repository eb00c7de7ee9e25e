//! The routes from one router to all nodes, computed once from the topology, so that a lookup needs no division.

use super::super::topology::{PortPeer, RouteChoice, Topology};

/// The routes from one router.
#[derive(Debug, Clone)]
pub struct RouteTable {
    choices: Vec<RouteChoice>,
    /// By input port, the output port on which a packet keeps its virtual channel class; [`NO_PORT`] if there is none.
    straight: Vec<u8>,
    /// Virtual channels of each class, by [`VcClass`](super::super::topology::VcClass).
    masks: [u64; 3],
}

/// No port.
const NO_PORT: u8 = u8::MAX;

/// A path through a router: the port and virtual channels on which a packet enters, and those on which it leaves.
pub type WayThrough = ((usize, u64), (usize, u64));

impl RouteTable {
    /// Makes the table of a router of a topology whose channels have `vcs` virtual channels.
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

    /// The routes to a node.
    #[inline]
    pub fn to(&self, node: u16) -> RouteChoice {
        self.choices[usize::from(node)]
    }

    /// Virtual channels that a packet may use on one port of a choice, given the port and virtual channel on which it
    /// entered. `way` is the index of the port in the choice.
    #[inline]
    pub fn vcs(&self, choice: RouteChoice, way: usize, (port, vc): (u8, usize)) -> u64 {
        if usize::from(self.straight[usize::from(port)]) == usize::from(choice.first) + way {
            let is_upper = self.masks[2] >> vc & 1 == 1;
            return self.masks[if is_upper { 2 } else { 1 }];
        }
        self.masks[choice.classes[way.min(1)] as usize]
    }
}

/// All paths on which packets can pass a router: for each input port, the packets that the router or node at its other
/// end may send, from any source, and the output ports on which they continue.
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
        // The packets of a port continue on few other ports, however many nodes there are.
        scalepool_ordered::sort(&mut ways);
        ways.dedup();
    }
    ways
}
