//! Topologies: the routers, the connections between their ports, and the path of a packet from one router to the next.
//!
//! Modelled: k-ary meshes and tori of one to three dimensions, K-ary N-trees, Clos networks of any number of levels and dragonflies, built from a few numbers
//! ([`Topology::parse`]), with routing that is free of deadlock by itself ([`Topology::route`]); and graphs of any form, from a
//! list of their ports ([`Topology::of_ports`]). Ways over an intermediate place and choices by congestion are made of these
//! routes ([`routing`]). Left out: adaptive routing on longer ways than those.
//!
//! | shape | routers, nodes | routing | classes of virtual channels |
//! | --- | --- | --- | --- |
//! | `mesh:8x8` | one node at each router | dimension order | one |
//! | `torus:8x8`, `torus:4x4x4` | the same, with rings in each dimension | dimension order, in the shorter direction | two, by the dateline |
//! | `fat-tree:4x3` | K^N nodes, N levels of K^(N-1) routers | up by any port to a common ancestor, then down | one |
//! | `clos:4/2,8` | a folded Clos network: ports down / up of the routers of each level, from the nodes on, those of the top down | the same | one |
//! | `dragonfly:2,4,2` | (p, a, h): groups of a routers, p nodes and h global channels each, a h + 1 groups | local, global, local | two of local channels |
//! | `full:2,4` | (p, a): a routers with p nodes each, every router joined to every other one (`fabric` §6.5, groups) | the one channel | one |
//! | `graph:DIGEST` | as a file lists them ([`Topology::of_ports`]) | shortest by the lowest port, or up, then down | one |
//!
//! A walk through one packet: at each router [`Topology::route`] returns the ports that lead towards the destination, and
//! for each of them the virtual channels that the packet may use. The router selects one of the ports at random. Ports of
//! a router are numbered without gaps, so a router at the edge of a mesh has fewer ports.
//!
//! # Invariants
//!
//! Each port leads to a node, or to a port of another router that leads back. Every destination is reached from every
//! router in the minimal number of channels that the shape allows. Sources: `fabric` §6.3 to §6.5.

mod dragonfly;
mod fat_tree;
mod graph;
mod grid;
pub mod routing;

use dragonfly::Dragonfly;
use fat_tree::{FatTree, TreeLevel};
use graph::Graph;
pub use graph::{GRAPH_ROUTING_NAMES, MOST_GRAPH_ROUTERS, MOST_PORTS};
use grid::Grid;
use scalepool_ordered::OrderedMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thiserror::Error;

/// Maximum number of routers, and of nodes, of a topology: the maximum number of components in a system description.
pub const MOST_ROUTERS: usize = 1 << 15;

/// The component at the other end of a router port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortPeer {
    /// A node.
    Node(usize),
    /// A router, and the port of that router that leads back.
    Router(usize, usize),
}

/// The virtual channels that a packet may use on a channel: one of up to [`VcClass::MOST_SHARES`] equal shares of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct VcClass(u8);

impl VcClass {
    /// Most shares into which the virtual channels of a channel are divided.
    pub const MOST_SHARES: u8 = 4;
    /// Number of different classes.
    pub const COUNT: usize = Self::share(0, Self::MOST_SHARES + 1).0 as usize;
    /// All virtual channels.
    pub const ALL: VcClass = VcClass::share(0, 1);
    /// The lower half.
    pub const LOWER: VcClass = VcClass::share(0, 2);
    /// The upper half.
    pub const UPPER: VcClass = VcClass::share(1, 2);

    /// One of `of` equal shares, counted from the lowest.
    pub const fn share(share: u8, of: u8) -> VcClass {
        // Those of one share first, then those of two, and so on.
        VcClass(of * (of - 1) / 2 + share)
    }

    /// Its number, below [`VcClass::COUNT`].
    pub const fn number(self) -> usize {
        self.0 as usize
    }

    /// All classes by number.
    pub fn all() -> [VcClass; VcClass::COUNT] {
        std::array::from_fn(|number| VcClass(number as u8))
    }

    /// The share, and the number of shares.
    fn parts(self) -> (usize, usize) {
        let of = (1..=Self::MOST_SHARES).rev().find(|of| VcClass::share(0, *of) <= self).unwrap_or(1);
        (usize::from(self.0 - VcClass::share(0, of).0), usize::from(of))
    }

    /// Bit mask of the virtual channels of this class out of `vcs` (1 to 64): bit v stands for virtual channel v. With
    /// fewer virtual channels than shares several classes have the same one; the deadlock check then judges the result.
    pub fn mask(self, vcs: usize) -> u64 {
        let below = |n: usize| if n >= 64 { u64::MAX } else { (1u64 << n) - 1 };
        let (share, of) = self.parts();
        let (first, end) = (share * vcs / of, (share + 1) * vcs / of);
        below(end.max(first + 1)) & !below(first)
    }
}

/// Ports that lead towards a destination, all equally good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteChoice {
    /// The first port.
    pub(crate) first: u8,
    /// Number of ports.
    pub(crate) count: u8,
    /// Virtual channels of the first port, and of all others.
    pub classes: [VcClass; 2],
    /// A bit for each port, by its number, where these are not consecutive; else 0.
    pub(crate) gapped: u64,
}

impl RouteChoice {
    /// A choice of no port.
    pub const NONE: RouteChoice = RouteChoice::consecutive(0, 0, [VcClass::ALL; 2]);

    /// A choice of one port.
    fn one(port: usize, class: VcClass) -> RouteChoice {
        RouteChoice::consecutive(port, 1, [class, class])
    }

    /// A choice of consecutive ports.
    const fn consecutive(first: usize, count: usize, classes: [VcClass; 2]) -> RouteChoice {
        RouteChoice { first: first as u8, count: count as u8, classes, gapped: 0 }
    }

    /// A choice of at least one port, a bit for each by its number.
    fn of_ports(ports: u64) -> RouteChoice {
        let (first, count) = (ports.trailing_zeros(), ports.count_ones());
        let is_run = (ports >> first).trailing_ones() == count;
        let gapped = if is_run { 0 } else { ports };
        RouteChoice { gapped, ..RouteChoice::consecutive(first as usize, count as usize, [VcClass::ALL; 2]) }
    }

    /// Number of ports.
    #[inline]
    pub fn count(self) -> usize {
        self.count.into()
    }

    /// The n-th of them, counted from 0 in the order of their numbers.
    #[inline]
    pub fn port(self, n: usize) -> usize {
        match self.gapped {
            0 => usize::from(self.first) + n,
            ports => (0..n).fold(ports, |left, _| left & left.wrapping_sub(1)).trailing_zeros() as usize,
        }
    }

    /// The ports of the choice with their virtual channel classes.
    pub fn ways(self) -> impl Iterator<Item = (usize, VcClass)> {
        (0..self.count()).map(move |n| (self.port(n), self.classes[n.min(1)]))
    }
}

/// Default router settings of a topology, for settings that a system description omits. The values follow published
/// simulations of each topology (our own choice, `fabric` §7 row 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouterDefaults {
    /// Virtual channels of each channel.
    pub vcs: usize,
    /// Flits that the buffer of a virtual channel holds.
    pub buffer_flits: u32,
    /// Name of the allocator.
    pub allocator: &'static str,
    /// Cycles from the arrival of a credit to its use.
    pub credit_delay_cycles: u64,
    /// Cycles of route computation.
    pub routing_delay_cycles: u64,
    /// Latency of a channel between routers \[cycles\].
    pub channel_latency_cycles: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    Mesh(Grid),
    Torus(Grid),
    FatTree(FatTree),
    Dragonfly(Dragonfly),
    Graph(Arc<Graph>),
}

/// A topology.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology(Shape);

/// Why a topology cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// The name of the shape is unknown, or its numbers are malformed.
    #[error("found `{found}`, expected {EXPECTED}")]
    Form {
        /// The value that was given.
        found: String,
    },
    /// A number is out of range.
    #[error("found `{found}`, expected {expected}")]
    Size {
        /// The value that was given.
        found: String,
        /// The values that are allowed.
        expected: String,
    },
    /// The ports of a graph do not fit together.
    #[error("{text}")]
    Graph {
        /// What was found, and what was expected.
        text: String,
    },
}

/// Graphs by their names: components of a system have the name, since the text of a graph is long. A graph is kept while the process
/// runs, as any system that was made of it may still ask for it; one of the same name and text takes no more room.
static GRAPHS: Mutex<OrderedMap<String, Arc<Graph>>> = Mutex::new(OrderedMap::new());

fn graphs() -> MutexGuard<'static, OrderedMap<String, Arc<Graph>>> {
    GRAPHS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The notation of topologies, for error messages.
pub const EXPECTED: &str = "mesh:8x8, torus:8x8, torus:4x4x4, fat-tree:4x3 (K x N, a K-ary N-tree), clos:4/2,8 (ports down/up of each level, from the nodes on; the top has ports down), dragonfly:2,4,2 (p, a, h), full:2,4 (p, a), or the same with other numbers; file:PATH where a generator makes the fabric";

impl Topology {
    /// Parses a topology, such as `mesh:8x8`.
    ///
    /// # Errors
    /// The notation is not known, or the numbers do not give a topology of 2 to [`MOST_ROUTERS`] routers and nodes.
    pub fn parse(text: &str) -> Result<Topology, TopologyError> {
        let form = || TopologyError::Form { found: text.to_owned() };
        let size = |expected: String| TopologyError::Size { found: text.to_owned(), expected };
        let (shape, numbers) = text.split_once(':').ok_or_else(form)?;
        if shape == "graph" {
            let found = graphs().get(text).cloned();
            let text = || format!("found `{text}`, expected the name of a graph that a generator has read from a file");
            return found
                .map(|graph| Topology(Shape::Graph(graph)))
                .ok_or_else(|| TopologyError::Graph { text: text() });
        }
        if shape == "clos" {
            return sized(Shape::FatTree(FatTree::new(clos_levels(numbers).ok_or_else(form)?)), text);
        }
        let separator = if matches!(shape, "dragonfly" | "full") { ',' } else { 'x' };
        let numbers: Option<Vec<usize>> = numbers.split(separator).map(|n| n.trim().parse().ok()).collect();
        let numbers = numbers.ok_or_else(form)?;
        if numbers.iter().any(|&n| n == 0 || n > MOST_ROUTERS) {
            return Err(size(format!("numbers of 1 to {MOST_ROUTERS}")));
        }
        let shape = match (shape, &numbers[..]) {
            ("mesh", [_] | [_, _] | [_, _, _]) => Shape::Mesh(Grid::new(numbers, false)),
            ("torus", [_] | [_, _] | [_, _, _]) => {
                // With two routers, both directions of a ring would lead to the same neighbour, so the ring would be
                // two parallel channels.
                if numbers.iter().any(|&k| k < 3) {
                    return Err(size("3 or more routers in each ring".to_owned()));
                }
                Shape::Torus(Grid::new(numbers, true))
            }
            ("fat-tree", &[k, n]) => {
                if !(2..=32).contains(&k) || !(2..=15).contains(&n) {
                    return Err(size("2 to 32 ports down and 2 to 15 levels".to_owned()));
                }
                Shape::FatTree(FatTree::k_ary(k, n))
            }
            ("dragonfly", &[p, a, h]) => Shape::Dragonfly(Dragonfly::new(p, a, h)),
            ("full", &[p, a]) => {
                if !(2..=MOST_PORTS).contains(&a) || p + a - 1 > MOST_PORTS {
                    return Err(size(format!("2 to {MOST_PORTS} routers, each with at most {MOST_PORTS} ports")));
                }
                return Topology::of_ports(fully_connected(p, a), GRAPH_ROUTING_NAMES[0]);
            }
            _ => return Err(form()),
        };
        sized(shape, text)
    }

    /// Makes a topology of any form: where the ports of each router lead, and the way of [`GRAPH_ROUTING_NAMES`] that packets take.
    ///
    /// # Errors
    /// The numbers of routers, nodes or ports are out of range, a port does not lead back, a node has no port or several, or
    /// channels do not join all routers.
    pub fn of_ports(ports: Vec<Vec<PortPeer>>, routing: &str) -> Result<Topology, TopologyError> {
        let graph = Graph::new(ports, routing).map_err(|text| TopologyError::Graph { text })?;
        Ok(Topology(Shape::Graph(Arc::new(graph))))
    }

    /// All of a graph as text: its routing, then for each router where its ports lead; `None` for other topologies.
    pub fn graph_text(&self) -> Option<String> {
        match &self.0 {
            Shape::Graph(graph) => Some(graph.text()),
            _ => None,
        }
    }

    /// Whether it is a graph with the routing `shortest`, which may have circles of channels that `up-down` has not (`fabric` §6.3).
    pub fn is_shortest_graph(&self) -> bool {
        matches!(&self.0, Shape::Graph(graph) if !graph.is_up_down())
    }

    /// Gives a graph a name by which [`Topology::parse`] finds it, `graph:` and a digest of its [text](Topology::graph_text), for
    /// as long as the process runs. Other topologies have names anyway.
    pub fn name_graph(&self, name: &str) {
        let Shape::Graph(graph) = &self.0 else { return };
        graphs().insert(name.to_owned(), graph.clone());
    }

    /// Number of routers.
    pub fn routers(&self) -> usize {
        match &self.0 {
            Shape::Mesh(grid) | Shape::Torus(grid) => grid.routers(),
            Shape::FatTree(tree) => tree.routers(),
            Shape::Dragonfly(dragonfly) => dragonfly.routers(),
            Shape::Graph(graph) => graph.routers(),
        }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        match &self.0 {
            Shape::Mesh(grid) | Shape::Torus(grid) => grid.routers(),
            Shape::FatTree(tree) => tree.nodes(),
            Shape::Dragonfly(dragonfly) => dragonfly.nodes(),
            Shape::Graph(graph) => graph.nodes(),
        }
    }

    /// The router of a node.
    pub fn router_of(&self, node: usize) -> usize {
        match &self.0 {
            Shape::Mesh(_) | Shape::Torus(_) => node,
            Shape::FatTree(tree) => tree.router_of(node),
            Shape::Dragonfly(dragonfly) => dragonfly.router_of(node),
            Shape::Graph(graph) => graph.router_of(node),
        }
    }

    /// Number of ports of a router.
    pub fn ports(&self, router: usize) -> usize {
        match &self.0 {
            Shape::Mesh(grid) | Shape::Torus(grid) => grid.ports(router),
            Shape::FatTree(tree) => tree.ports(router),
            Shape::Dragonfly(dragonfly) => dragonfly.ports(),
            Shape::Graph(graph) => graph.ports(router),
        }
    }

    /// The component at the other end of a port of a router.
    pub fn peer(&self, router: usize, port: usize) -> PortPeer {
        match &self.0 {
            Shape::Mesh(grid) | Shape::Torus(grid) => grid.peer(router, port),
            Shape::FatTree(tree) => tree.peer(router, port),
            Shape::Dragonfly(dragonfly) => dragonfly.peer(router, port),
            Shape::Graph(graph) => graph.peer(router, port),
        }
    }

    /// The ports of a router that lead towards a node.
    pub fn route(&self, router: usize, node: usize) -> RouteChoice {
        match &self.0 {
            Shape::Mesh(grid) | Shape::Torus(grid) => grid.route(router, node),
            Shape::FatTree(tree) => tree.route(router, node),
            Shape::Dragonfly(dragonfly) => dragonfly.route(router, node),
            Shape::Graph(graph) => graph.route(router, node),
        }
    }

    /// The port on the other side of a ring, on which a packet that entered at `port` continues with the same class of
    /// virtual channels, even if [`Topology::route`] returns another class.
    pub fn straight(&self, router: usize, port: usize) -> Option<usize> {
        match &self.0 {
            Shape::Torus(grid) => grid.straight(router, port),
            _ => None,
        }
    }

    /// The default router settings of this topology.
    pub fn defaults(&self) -> RouterDefaults {
        let of_grids = RouterDefaults {
            vcs: 4,
            buffer_flits: 8,
            allocator: "islip",
            credit_delay_cycles: 0,
            routing_delay_cycles: 1,
            channel_latency_cycles: 1,
        };
        match &self.0 {
            Shape::Mesh(_) | Shape::Dragonfly(_) | Shape::Graph(_) => of_grids,
            // A ring is laid out folded, so that all channels are equally long and each passes over one router.
            Shape::Torus(_) => RouterDefaults { channel_latency_cycles: 2, ..of_grids },
            Shape::FatTree(_) => RouterDefaults {
                buffer_flits: 16,
                allocator: "separable-input-first",
                credit_delay_cycles: 2,
                routing_delay_cycles: 0,
                ..of_grids
            },
        }
    }

    /// Where a router is drawn: column and row.
    pub fn place(&self, router: usize) -> (usize, usize) {
        match &self.0 {
            Shape::Mesh(grid) | Shape::Torus(grid) => grid.place(router),
            Shape::FatTree(tree) => tree.place(router),
            Shape::Dragonfly(dragonfly) => dragonfly.place(router),
            Shape::Graph(graph) => graph.place(router),
        }
    }
}

/// A topology of a shape that was written so, unless it is too large or too small.
fn sized(shape: Shape, text: &str) -> Result<Topology, TopologyError> {
    let size = |expected: String| TopologyError::Size { found: text.to_owned(), expected };
    let topology = Topology(shape);
    let (routers, nodes) = (topology.routers(), topology.nodes());
    if !(2..=MOST_ROUTERS).contains(&routers) || !(2..=MOST_ROUTERS).contains(&nodes) {
        return Err(size(format!(
            "2 to {MOST_ROUTERS} routers and 2 to {MOST_ROUTERS} nodes, and not {routers} and {nodes}"
        )));
    }
    let most = (0..routers).map(|router| topology.ports(router)).max().unwrap_or(0);
    if most > MOST_PORTS {
        return Err(size(format!("routers with at most {MOST_PORTS} ports, and not {most}")));
    }
    Ok(topology)
}

/// The levels of a Clos network, from the top on, of `down/up,down/up,..,down`, which begins at the nodes; `None`: it is not so written.
fn clos_levels(text: &str) -> Option<Vec<TreeLevel>> {
    let number = |text: &str| text.trim().parse().ok().filter(|n| (1..=MOST_PORTS).contains(n));
    let (below, top) = text.rsplit_once(',')?;
    let level = |text: &str| {
        let (down, up) = text.split_once('/')?;
        Some(TreeLevel { down: number(down)?, up: number(up)? })
    };
    let mut levels: Vec<TreeLevel> = below.split(',').map(level).collect::<Option<_>>()?;
    levels.push(TreeLevel { down: number(top)?, up: 0 });
    levels.reverse();
    Some(levels)
}

/// The ports of `a` routers with `p` nodes each, of which every one leads to every other: nodes first, then routers in their order.
fn fully_connected(p: usize, a: usize) -> Vec<Vec<PortPeer>> {
    let ports = |own: usize| {
        let nodes = (0..p).map(move |n| PortPeer::Node(own * p + n));
        // A router leaves itself out, so those behind it have the port before.
        let others = (0..a).filter(move |other| *other != own);
        nodes.chain(others.map(move |other| PortPeer::Router(other, p + own - usize::from(own > other)))).collect()
    };
    (0..a).map(ports).collect()
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Shape::Mesh(grid) => write!(f, "mesh:{grid}"),
            Shape::Torus(grid) => write!(f, "torus:{grid}"),
            Shape::FatTree(tree) => write!(f, "{tree}"),
            Shape::Dragonfly(dragonfly) => write!(f, "dragonfly:{dragonfly}"),
            Shape::Graph(graph) => write!(f, "a graph of {} routers and {} nodes", graph.routers(), graph.nodes()),
        }
    }
}
