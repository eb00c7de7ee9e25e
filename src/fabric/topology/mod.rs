//! Topologies: which routers there are, which of their ports are joined, and the way of a packet from one to the next.
//!
//! Modelled: k-ary meshes and tori of one to three dimensions, K-ary N-trees and dragonflies, from a few numbers
//! ([`Topology::parse`]), with routing that is free of deadlock on its own ([`Topology::route`]). Left out: adaptive routing,
//! routing over a random intermediate node.
//!
//! | shape | routers, nodes | routing | classes of virtual channels |
//! | --- | --- | --- | --- |
//! | `mesh:8x8` | one node at each router | dimension order | one |
//! | `torus:8x8`, `torus:4x4x4` | the same, rings in each dimension | dimension order, the shorter way round | two, by the dateline |
//! | `fat-tree:4x3` | K^N nodes, N levels of K^(N-1) routers | up by any port to a common ancestor, then down | one |
//! | `dragonfly:2,4,2` | (p, a, h): groups of a routers, p nodes and h global channels each, a h + 1 groups | local, global, local | two of local channels |
//!
//! A walk through one packet: at each router [`Topology::route`] tells the ports that lead on to the destination, of which
//! the router takes one at random, and for each of them the virtual channels that it may use. Ports of a router are numbered
//! without gaps, so a router at the edge of a mesh has fewer of them.
//!
//! # Invariants
//!
//! Each port leads to a node or to a port of another router that leads back; every destination is reached from every router
//! over as many channels as the shape's minimal way has. Sources: `fabric` §6.3 to §6.5.

mod dragonfly;
mod fat_tree;
mod grid;

use dragonfly::Dragonfly;
use fat_tree::FatTree;
use grid::Grid;
use std::fmt;
use thiserror::Error;

/// Most routers and most nodes of a topology: as many components as a description may have.
pub const MOST_ROUTERS: usize = 1 << 15;

/// What is at the other end of a port of a router.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortPeer {
    /// A node.
    Node(usize),
    /// A router, and its port that leads back.
    Router(usize, usize),
}

/// Virtual channels that a packet may use on a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum VcClass {
    /// All of them.
    All,
    /// The lower half.
    Lower,
    /// The upper half.
    Upper,
}

impl VcClass {
    /// The virtual channels of this class, of so many (1 to 64): bit v stands for channel v. With a single one both halves are that
    /// one, which the check for deadlock then judges.
    pub fn mask(self, vcs: usize) -> u64 {
        let below = |n: usize| if n >= 64 { u64::MAX } else { (1u64 << n) - 1 };
        match self {
            VcClass::Lower if vcs > 1 => below(vcs / 2),
            VcClass::Upper if vcs > 1 => below(vcs) & !below(vcs / 2),
            _ => below(vcs),
        }
    }
}

/// Ports that lead on to a destination: `count` of them from `first` on, each as good as the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteChoice {
    /// The first port.
    pub first: u8,
    /// Number of ports.
    pub count: u8,
    /// Virtual channels of the first port, and of all others.
    pub classes: [VcClass; 2],
}

impl RouteChoice {
    /// The only way.
    fn one(port: usize, class: VcClass) -> RouteChoice {
        RouteChoice { first: port as u8, count: 1, classes: [class, class] }
    }

    /// Its ports with their classes.
    pub fn ways(self) -> impl Iterator<Item = (usize, VcClass)> {
        (0..usize::from(self.count)).map(move |n| (usize::from(self.first) + n, self.classes[n.min(1)]))
    }
}

/// What routers of a topology are set to where a description says nothing: the published simulations of each topology
/// (our own choice, `fabric` §7 row 8).
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
    /// Cycles that a router takes to find the way.
    pub routing_delay_cycles: u64,
    /// Cycles that a flit is on a channel between routers.
    pub channel_latency_cycles: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    Mesh(Grid),
    Torus(Grid),
    FatTree(FatTree),
    Dragonfly(Dragonfly),
}

/// A topology.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology(Shape);

/// Why a text is no topology.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// Not the name of a shape, or not its numbers.
    #[error("found `{found}`, expected {EXPECTED}")]
    Form {
        /// What was given.
        found: String,
    },
    /// A number that does not fit.
    #[error("found `{found}`, expected {expected}")]
    Size {
        /// What was given.
        found: String,
        /// What fits.
        expected: String,
    },
}

/// Forms of topologies.
pub const EXPECTED: &str = "mesh:8x8, torus:8x8, torus:4x4x4, fat-tree:4x3 (K x N, a K-ary N-tree), dragonfly:2,4,2 (p, a, h), or others of their forms";

impl Topology {
    /// Reads one, such as `mesh:8x8`.
    ///
    /// # Errors
    /// Another form, or numbers that make no topology of 2 to [`MOST_ROUTERS`] routers and nodes.
    pub fn parse(text: &str) -> Result<Topology, TopologyError> {
        let form = || TopologyError::Form { found: text.to_owned() };
        let size = |expected: String| TopologyError::Size { found: text.to_owned(), expected };
        let (shape, numbers) = text.split_once(':').ok_or_else(form)?;
        let separator = if shape == "dragonfly" { ',' } else { 'x' };
        let numbers: Option<Vec<usize>> = numbers.split(separator).map(|n| n.trim().parse().ok()).collect();
        let numbers = numbers.ok_or_else(form)?;
        if numbers.iter().any(|&n| n == 0 || n > MOST_ROUTERS) {
            return Err(size(format!("numbers of 1 to {MOST_ROUTERS}")));
        }
        let shape = match (shape, &numbers[..]) {
            ("mesh", [_] | [_, _] | [_, _, _]) => Shape::Mesh(Grid::new(numbers, false)),
            ("torus", [_] | [_, _] | [_, _, _]) => {
                // Two routers with a channel for each way between them would be no ring but two channels side by side.
                if numbers.iter().any(|&k| k < 3) {
                    return Err(size("3 or more routers in each ring".to_owned()));
                }
                Shape::Torus(Grid::new(numbers, true))
            }
            ("fat-tree", &[k, n]) => {
                if !(2..=32).contains(&k) || !(2..=15).contains(&n) {
                    return Err(size("2 to 32 ports down and 2 to 15 levels".to_owned()));
                }
                Shape::FatTree(FatTree::new(k, n))
            }
            ("dragonfly", &[p, a, h]) => Shape::Dragonfly(Dragonfly::new(p, a, h)),
            _ => return Err(form()),
        };
        let topology = Topology(shape);
        let (routers, nodes) = (topology.routers(), topology.nodes());
        if !(2..=MOST_ROUTERS).contains(&routers) || !(2..=MOST_ROUTERS).contains(&nodes) {
            return Err(size(format!("2 to {MOST_ROUTERS} routers and nodes, and not {routers} and {nodes}")));
        }
        let most = (0..routers).map(|router| topology.ports(router)).max().unwrap_or(0);
        if most > 64 {
            return Err(size(format!("routers with at most 64 ports, and not {most}")));
        }
        Ok(topology)
    }

    /// Number of routers.
    pub fn routers(&self) -> usize {
        match &self.0 {
            Shape::Mesh(grid) | Shape::Torus(grid) => grid.routers(),
            Shape::FatTree(tree) => tree.routers(),
            Shape::Dragonfly(dragonfly) => dragonfly.routers(),
        }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        match &self.0 {
            Shape::Mesh(grid) | Shape::Torus(grid) => grid.routers(),
            Shape::FatTree(tree) => tree.nodes(),
            Shape::Dragonfly(dragonfly) => dragonfly.nodes(),
        }
    }

    /// Number of ports of a router.
    pub fn ports(&self, router: usize) -> usize {
        match &self.0 {
            Shape::Mesh(grid) | Shape::Torus(grid) => grid.ports(router),
            Shape::FatTree(tree) => tree.ports(router),
            Shape::Dragonfly(dragonfly) => dragonfly.ports(),
        }
    }

    /// What is at a port of a router.
    pub fn peer(&self, router: usize, port: usize) -> PortPeer {
        match &self.0 {
            Shape::Mesh(grid) | Shape::Torus(grid) => grid.peer(router, port),
            Shape::FatTree(tree) => tree.peer(router, port),
            Shape::Dragonfly(dragonfly) => dragonfly.peer(router, port),
        }
    }

    /// Ports of a router that lead on to a node.
    pub fn route(&self, router: usize, node: usize) -> RouteChoice {
        match &self.0 {
            Shape::Mesh(grid) | Shape::Torus(grid) => grid.route(router, node),
            Shape::FatTree(tree) => tree.route(router, node),
            Shape::Dragonfly(dragonfly) => dragonfly.route(router, node),
        }
    }

    /// The port on which a packet that came at a port goes on without a change of its class of virtual channels, whatever
    /// [`Topology::route`] says of that: the other side of a ring.
    pub fn straight(&self, router: usize, port: usize) -> Option<usize> {
        match &self.0 {
            Shape::Torus(grid) => grid.straight(router, port),
            _ => None,
        }
    }

    /// Classes that packets to a node can have on the channel at a port of a router, whatever their source; none: they do not
    /// take it.
    pub fn classes_on(&self, router: usize, port: usize, node: usize) -> Vec<VcClass> {
        match &self.0 {
            Shape::Torus(grid) => grid.classes_on(router, port, node),
            _ => self.route(router, node).ways().filter(|(way, _)| *way == port).map(|(_, class)| class).collect(),
        }
    }

    /// What its routers are set to where a description says nothing.
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
            Shape::Mesh(_) | Shape::Dragonfly(_) => of_grids,
            // A ring is folded so that no channel is longer than the others, and each passes one router.
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
        }
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Shape::Mesh(grid) => write!(f, "mesh:{grid}"),
            Shape::Torus(grid) => write!(f, "torus:{grid}"),
            Shape::FatTree(tree) => write!(f, "fat-tree:{tree}"),
            Shape::Dragonfly(dragonfly) => write!(f, "dragonfly:{dragonfly}"),
        }
    }
}
