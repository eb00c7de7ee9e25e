//! Routing policies: shortest ways, and ways over an intermediate place.
//!
//! Modelled: a router knows only the backlog at its own outputs. Detail: which ways there are, on which classes of virtual
//! channels; the choice between them is made where a packet enters its first router
//! ([`RouteTable`](super::super::vc_router::RouteTable)). Left out: congestion further away, and choices on the way.
//!
//! | policy | way |
//! | --- | --- |
//! | `minimal` | a shortest way; among ports that are equally good any one, at random |
//! | `adaptive` | a shortest way; among ports that are equally good the one with the smallest backlog |
//! | `valiant` | over a random intermediate place, whatever the traffic |
//! | `ugal` | the shortest way, or one over a random place if backlog times channels is less there, by more than a threshold (UGAL-L); ports as `adaptive` |
//!
//! The backlog of an output counts the flits whose credits have not come back, and one for each packet that has chosen the output and
//! is not through: packets that come together would all take the same output without these.
//!
//! A walk through one packet of `valiant`: at the first router an intermediate place is drawn, a router of a grid or a group of
//! a dragonfly. The first leg of the way leads there on a shortest way, the second one to the destination. The legs have
//! virtual channels of their own, so a packet that waits on the second leg never waits for one on the first, and neither leg
//! has a circle by itself (`fabric` §6.4):
//!
//! | shape | classes of one leg | with two legs |
//! | --- | --- | --- |
//! | mesh | one | a half for each leg |
//! | torus | two, by the dateline | a quarter for each |
//! | dragonfly | local before and after the global channel | three of local channels, two of global ones (`fabric` §6.5) |
//!
//! In a dragonfly the channel after the first global one and that before the second one are the same class: a packet takes one
//! local channel in the intermediate group. A packet on the shortest way is on the second leg from its start. In a fat tree every
//! way leads up by any port, which is the random intermediate place already. The policies are our own choice (`fabric` §7 row 8).

use super::{RouteChoice, Shape, Topology, VcClass};

/// A routing policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoutePolicy {
    /// Shortest ways, at random.
    Minimal,
    /// Shortest ways, by congestion.
    Adaptive,
    /// Over a random intermediate place.
    Valiant,
    /// Over a random intermediate place where that is better.
    Ugal {
        /// By how much backlog times channels has to be less there \[flits times channels\].
        threshold: u64,
    },
}

/// Names of the policies, as descriptions choose them.
pub const ROUTING_NAMES: &[&str] = &["minimal", "adaptive", "valiant", "ugal"];

impl RoutePolicy {
    /// The policy of a name, with a threshold of 0.
    pub fn by_name(name: &str) -> Option<RoutePolicy> {
        let at = ROUTING_NAMES.iter().position(|known| *known == name)?;
        use RoutePolicy::{Adaptive, Minimal, Ugal, Valiant};
        [Minimal, Adaptive, Valiant, Ugal { threshold: 0 }].get(at).copied()
    }

    /// The policy with a threshold of its own; one without thresholds as it is.
    pub fn with_threshold(self, threshold: u64) -> RoutePolicy {
        match self {
            RoutePolicy::Ugal { .. } => RoutePolicy::Ugal { threshold },
            other => other,
        }
    }

    /// Whether ways have two legs.
    pub const fn has_legs(self) -> bool {
        matches!(self, RoutePolicy::Valiant | RoutePolicy::Ugal { .. })
    }

    /// Why a topology has no use for a policy; `None` if it has.
    pub fn refusal(self, topology: &Topology) -> Option<String> {
        match (self, &topology.0) {
            (RoutePolicy::Valiant | RoutePolicy::Ugal { .. }, Shape::FatTree(_)) => {
                Some("a fat tree has no other ways than up by any port, expected minimal or adaptive".to_owned())
            }
            (RoutePolicy::Adaptive, Shape::FatTree(tree)) if tree.has_one_way() => {
                Some(format!("{topology} has one way to each router, expected minimal"))
            }
            (RoutePolicy::Adaptive, Shape::Mesh(grid) | Shape::Torus(grid)) if !grid.has_equal_ports() => {
                Some(format!(
                    "routes in {topology} follow dimension order, one port each, expected minimal, valiant or ugal, or a torus \
                 with a ring of an even number of routers"
                ))
            }
            (RoutePolicy::Adaptive, Shape::Dragonfly(_)) => {
                Some(format!("routes in {topology} have one port each, expected minimal, valiant or ugal"))
            }
            (RoutePolicy::Valiant | RoutePolicy::Ugal { .. }, Shape::Graph(_)) => {
                Some(format!("{topology} has no intermediate places, expected minimal or adaptive"))
            }
            (RoutePolicy::Adaptive, Shape::Graph(graph)) if !graph.has_equal_ports() => {
                Some(format!("{topology} has one way to each router, expected minimal"))
            }
            _ => None,
        }
    }
}

/// Where a packet is on its way to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteGoal {
    /// The first leg: an intermediate place.
    Intermediate(usize),
    /// The second leg, or the only one: a node.
    Node(usize),
}

impl Topology {
    /// Number of intermediate places of ways with two legs: routers of a grid, groups of a dragonfly, none of a fat tree or a graph.
    pub fn intermediates(&self) -> usize {
        match &self.0 {
            Shape::Mesh(_) | Shape::Torus(_) => self.routers(),
            Shape::FatTree(_) | Shape::Graph(_) => 0,
            Shape::Dragonfly(dragonfly) => dragonfly.group_of(0).0,
        }
    }

    /// The intermediate place that a router is, or is in.
    pub fn intermediate_of(&self, router: usize) -> usize {
        match &self.0 {
            Shape::Dragonfly(dragonfly) => dragonfly.group_of(router).1,
            _ => router,
        }
    }

    /// The router at which packets that start at a router end the first leg to an intermediate place.
    pub fn entry(&self, router: usize, intermediate: usize) -> usize {
        match &self.0 {
            Shape::Dragonfly(dragonfly) => dragonfly.entry(dragonfly.group_of(router).1, intermediate),
            _ => intermediate,
        }
    }

    /// Channels between two routers on the way that packets take; `None` in a fat tree or a graph, whose ways a router need not compare.
    pub fn distance(&self, from: usize, to: usize) -> Option<usize> {
        match &self.0 {
            Shape::Mesh(grid) | Shape::Torus(grid) => Some(grid.distance(from, to)),
            Shape::FatTree(_) | Shape::Graph(_) => None,
            Shape::Dragonfly(dragonfly) => Some(dragonfly.distance(from, to)),
        }
    }

    /// The ports of a router that lead towards a goal, with the classes of a policy. The router is in no intermediate place
    /// that is the goal.
    pub fn route_to(&self, router: usize, goal: RouteGoal, routing: RoutePolicy) -> RouteChoice {
        if !routing.has_legs()
            && let RouteGoal::Node(node) = goal
        {
            return match (&self.0, routing) {
                (Shape::Graph(graph), RoutePolicy::Adaptive) => graph.all_ways(router, node),
                _ => self.route(router, node),
            };
        }
        let choice = match (goal, &self.0) {
            (RouteGoal::Intermediate(place), Shape::Dragonfly(dragonfly)) => dragonfly.toward(router, place),
            // Node n of a grid is at router n.
            (RouteGoal::Intermediate(node) | RouteGoal::Node(node), _) => self.route(router, node),
        };
        let leads_out = matches!(goal, RouteGoal::Node(node) if self.is_at(router, node));
        let classes = choice.classes.map(|class| if leads_out { class } else { self.leg_class(goal, class, routing) });
        RouteChoice { classes, ..choice }
    }

    /// Whether a node is at a router.
    fn is_at(&self, router: usize, node: usize) -> bool {
        matches!(self.peer(router, self.route(router, node).port(0)), super::PortPeer::Node(_))
    }

    /// The class of a leg for the class of a way with one leg.
    pub fn leg_class(&self, goal: RouteGoal, class: VcClass, routing: RoutePolicy) -> VcClass {
        if !routing.has_legs() {
            return class;
        }
        let leg = u8::from(matches!(goal, RouteGoal::Node(_)));
        match (&self.0, class) {
            (Shape::Dragonfly(_), VcClass::ALL) => VcClass::share(leg, 2),
            (Shape::Dragonfly(_), VcClass::LOWER) => VcClass::share(leg, 3),
            (Shape::Dragonfly(_), _) => VcClass::share(2, 3),
            (_, VcClass::LOWER) => VcClass::share(2 * leg, 4),
            (_, VcClass::UPPER) => VcClass::share(2 * leg + 1, 4),
            _ => VcClass::share(leg, 2),
        }
    }

    /// Classes that packets to a goal, from any source, can have on the channel at a port of a router. The list is empty if no
    /// packet to that goal takes the channel.
    pub fn classes_on(&self, router: usize, port: usize, goal: RouteGoal, routing: RoutePolicy) -> Vec<VcClass> {
        match (&self.0, goal) {
            (Shape::Torus(grid), RouteGoal::Intermediate(node) | RouteGoal::Node(node)) => {
                let classes = grid.classes_on(router, port, node).into_iter();
                classes.map(|class| self.leg_class(goal, class, routing)).collect()
            }
            (_, RouteGoal::Intermediate(place)) if place == self.intermediate_of(router) => Vec::new(),
            _ => {
                let ways = self.route_to(router, goal, routing).ways();
                ways.filter(|(way, _)| *way == port).map(|(_, class)| class).collect()
            }
        }
    }
}
