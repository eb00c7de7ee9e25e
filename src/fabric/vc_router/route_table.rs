//! The routes from one router, computed once from the topology, so that a lookup needs no division.
//!
//! Modelled: the ports and virtual channels of the next channel of a packet, and, where a packet enters its first router, the
//! choice between ways ([`routing`](super::super::topology::routing)). Detail: one decision, without time. Left out: what other
//! routers know of congestion.
//!
//! A walk through one head flit ([`RouteTable::next`]): if it comes from a node and ways have two legs, an intermediate place is
//! drawn; `ugal` compares the backlog at the first ports of both ways, each times the channels of the way, and a tie, or a gain
//! within the threshold, is for the shorter one. If the flit has come to its intermediate place, the second leg begins. The port
//! is selected among those that are equally good: `adaptive` and `ugal` take the one with the smallest backlog, which is the one
//! that `ugal` has compared, and the others draw one. In a ring a packet keeps its class of virtual channels until it leaves the ring or its leg ends.

use super::super::topology::routing::{RouteGoal, RoutePolicy};
use super::super::topology::{PortPeer, RouteChoice, Topology, VcClass};
use super::flit::{NO_VIA, VcFlit};
use scalepool_kernel::Rng;

/// The routes from one router.
#[derive(Debug, Clone)]
pub struct RouteTable {
    routing: RoutePolicy,
    topology: Topology,
    router: usize,
    /// To each node.
    choices: Vec<KeptChoice>,
    /// Their ports that are not consecutive, as [`RouteChoice`] has them; empty if those of all choices are.
    gapped: Vec<u64>,
    /// To each intermediate place; empty if ways have one leg. Their ports are consecutive.
    firsts: Vec<KeptChoice>,
    /// The intermediate place of this router.
    own: u16,
    /// By input port, the output port on which a packet keeps its virtual channel class; [`NO_PORT`] if there is none.
    straight: Vec<u8>,
    /// Whether a node is at a port.
    is_terminal: Vec<bool>,
    /// By leg, the classes below and above the dateline of a ring.
    halves: [[VcClass; 2]; 2],
    /// Virtual channels of each class, by its number.
    masks: [u64; VcClass::COUNT],
}

/// A choice as the table keeps it: there are many, and few have ports with gaps between.
#[derive(Debug, Clone, Copy)]
struct KeptChoice {
    first: u8,
    count: u8,
    classes: [VcClass; 2],
}

impl KeptChoice {
    fn of(RouteChoice { first, count, classes, .. }: RouteChoice) -> KeptChoice {
        KeptChoice { first, count, classes }
    }

    #[inline]
    fn with(self, gapped: u64) -> RouteChoice {
        let KeptChoice { first, count, classes } = self;
        RouteChoice { first, count, classes, gapped }
    }
}

/// No port.
const NO_PORT: u8 = u8::MAX;

/// A path through a router: the port and virtual channels on which a packet enters, and those on which it leaves.
pub type WayThrough = ((usize, u64), (usize, u64));

impl RouteTable {
    /// Makes the table of a router of a topology whose channels have `vcs` virtual channels.
    pub fn new(topology: &Topology, routing: RoutePolicy, router: usize, vcs: usize) -> RouteTable {
        let (own, intermediates) = (topology.intermediate_of(router), topology.intermediates());
        let goals = (0..topology.nodes()).map(RouteGoal::Node);
        let choices: Vec<RouteChoice> = goals.map(|goal| topology.route_to(router, goal, routing)).collect();
        let has_gaps = choices.iter().any(|choice| choice.gapped != 0);
        let firsts = (0..intermediates).filter(|_| routing.has_legs()).map(|place| match place {
            // Nothing is on its way from here to here.
            place if place == own => RouteChoice::NONE,
            place => topology.route_to(router, RouteGoal::Intermediate(place), routing),
        });
        let ports = 0..topology.ports(router);
        let half = |goal| [VcClass::LOWER, VcClass::UPPER].map(|class| topology.leg_class(goal, class, routing));
        RouteTable {
            routing,
            router,
            gapped: choices.iter().filter(|_| has_gaps).map(|choice| choice.gapped).collect(),
            choices: choices.into_iter().map(KeptChoice::of).collect(),
            firsts: firsts.map(KeptChoice::of).collect(),
            own: own as u16,
            straight: ports
                .clone()
                .map(|port| topology.straight(router, port).map_or(NO_PORT, |port| port as u8))
                .collect(),
            is_terminal: ports.map(|port| matches!(topology.peer(router, port), PortPeer::Node(_))).collect(),
            halves: [half(RouteGoal::Intermediate(0)), half(RouteGoal::Node(0))],
            masks: VcClass::all().map(|class| class.mask(vcs)),
            topology: topology.clone(),
        }
    }

    /// The output port of a head flit that entered on a port and virtual channel, and the virtual channels that it may use there.
    /// `backlog` is what is ahead at an output port: flits, and packets that have chosen the port and are not through. All tables
    /// of a topology have to have the same policy. The intermediate place of the flit is set and taken away.
    #[inline]
    pub fn next(
        &self,
        flit: &mut VcFlit,
        (from, vc): (u8, usize),
        rng: &mut Rng,
        backlog: impl Fn(usize) -> u64,
    ) -> (usize, u64) {
        let mut begins = false;
        if self.routing.has_legs() {
            if self.is_terminal[usize::from(from)] {
                flit.via = self.intermediate(flit, rng, &backlog);
            } else if flit.via == self.own {
                (flit.via, begins) = (NO_VIA, true);
            }
        }
        let choice = self.choice(flit);
        let way = match choice.count() {
            1 => 0,
            _ if matches!(self.routing, RoutePolicy::Adaptive | RoutePolicy::Ugal { .. }) => {
                least(choice, rng, &backlog)
            }
            count => rng.below(count as u64) as usize,
        };
        let port = choice.port(way);
        let is_straight = usize::from(self.straight[usize::from(from)]) == port && !begins;
        let class = if is_straight {
            let halves = self.halves[usize::from(flit.via == NO_VIA)];
            halves[(self.masks[halves[1].number()] >> vc & 1) as usize]
        } else {
            choice.classes[way.min(1)]
        };
        (port, self.masks[class.number()])
    }

    #[inline]
    fn choice(&self, flit: &VcFlit) -> RouteChoice {
        match flit.via {
            NO_VIA => self.to_node(flit.target),
            via => self.firsts[usize::from(via)].with(0),
        }
    }

    #[inline]
    fn to_node(&self, node: u16) -> RouteChoice {
        let gapped = self.gapped.get(usize::from(node)).copied().unwrap_or(0);
        self.choices[usize::from(node)].with(gapped)
    }

    /// The intermediate place of a packet that enters its first router; [`NO_VIA`] for a packet that takes the shortest way.
    fn intermediate(&self, flit: &VcFlit, rng: &mut Rng, backlog: impl Fn(usize) -> u64) -> u16 {
        let via = rng.below(self.firsts.len() as u64) as u16;
        if via == self.own {
            return NO_VIA;
        }
        let RoutePolicy::Ugal { threshold } = self.routing else { return via };
        let target = self.topology.router_of(usize::from(flit.target));
        let entry = self.topology.entry(self.router, usize::from(via));
        // The topologies that have intermediate places have distances too.
        let channels = |from: usize, to: usize| self.topology.distance(from, to).unwrap_or(0) as u64;
        let shortest = channels(self.router, target);
        let longer = channels(self.router, entry) + channels(entry, target);
        // Of ports that are equally good, the packet takes the one with the least ahead.
        let ahead = |choice: RouteChoice| choice.ways().map(|(port, _)| backlog(port)).min().unwrap_or(0);
        let [minimal, valiant] = [self.to_node(flit.target), self.firsts[usize::from(via)].with(0)].map(ahead);
        if minimal * shortest <= valiant * longer + threshold { NO_VIA } else { via }
    }
}

/// Which of the ports of a choice has the smallest backlog, at random among equals.
fn least(choice: RouteChoice, rng: &mut Rng, backlog: impl Fn(usize) -> u64) -> usize {
    let count = choice.count();
    let start = rng.below(count as u64) as usize;
    let around = (0..count).map(|n| (start + n) % count);
    around.min_by_key(|way| backlog(choice.port(*way))).unwrap_or(0)
}

/// All paths on which packets can pass a router: for each input port, the packets that the router or node at its other
/// end may send, from any source, and the output ports on which they continue.
pub fn ways_through(topology: &Topology, routing: RoutePolicy, router: usize, vcs: usize) -> Vec<WayThrough> {
    let mut ways = Vec::new();
    let own = topology.intermediate_of(router);
    let nodes = || (0..topology.nodes()).map(RouteGoal::Node);
    let firsts = || (0..topology.intermediates()).filter(|_| routing.has_legs()).map(RouteGoal::Intermediate);
    let others = || firsts().filter(|goal| *goal != RouteGoal::Intermediate(own));
    let onward = |goal| topology.route_to(router, goal, routing).ways();
    for port in 0..topology.ports(router) {
        match topology.peer(router, port) {
            PortPeer::Node(_) => {
                let all = VcClass::ALL.mask(vcs);
                for goal in nodes().chain(others()) {
                    ways.extend(onward(goal).map(|(to, class)| ((port, all), (to, class.mask(vcs)))));
                }
            }
            PortPeer::Router(before, back) => {
                let straight = topology.straight(router, port);
                for goal in nodes().chain(others()) {
                    for came in topology.classes_on(before, back, goal, routing) {
                        let kept = |to, class| if straight == Some(to) { came } else { class };
                        let out = onward(goal).map(|(to, class)| (to, kept(to, class).mask(vcs)));
                        ways.extend(out.map(|out| ((port, came.mask(vcs)), out)));
                    }
                }
                // The second leg begins here.
                for goal in firsts().filter(|goal| *goal == RouteGoal::Intermediate(own)) {
                    for came in topology.classes_on(before, back, goal, routing) {
                        let out = nodes().flat_map(onward).map(|(to, class)| (to, class.mask(vcs)));
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
