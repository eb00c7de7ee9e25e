//! Graphs: routers, nodes and channels of any form, as a list has them.
//!
//! Modelled: which port of a router leads where, and the ports of each router on the ways to each node that are equally good. Detail:
//! ways are computed once, for every pair of routers. The lowest of the ports is that of minimal routing, so of several channels
//! between two routers one carries packets; adaptive routing has all of them. Left out: ways over an intermediate place.
//!
//! | routing | way | circles of channels |
//! | --- | --- | --- |
//! | `shortest` | the shortest, by the lowest port | possible: the check for deadlock judges each system |
//! | `up-down` | towards router 0 until a way leads down to the destination, then down | none, whatever the graph (`fabric` §6.3) |
//!
//! A walk through `up-down`: routers are ranked in breadth from router 0, those of one distance by number. A channel to a lower
//! rank leads up. A router from which channels that lead down alone reach the destination sends the packet down, on the shortest
//! of these ways, and so does the next one; any other router sends it up, to where the whole way is shortest. No packet goes up
//! after it went down, so no channel that leads up waits for one that leads down.

use super::{MOST_ROUTERS, PortPeer, RouteChoice, VcClass};
use std::collections::VecDeque;
use std::fmt::Write;

/// Most routers of a graph: their ways are kept for each pair.
pub const MOST_GRAPH_ROUTERS: usize = 1024;
/// Names of the ways through a graph.
pub const GRAPH_ROUTING_NAMES: &[&str] = &["shortest", "up-down"];
/// Most ports of a router.
pub const MOST_PORTS: usize = 64;
/// No way, or no distance.
const NONE: u32 = u32::MAX;

/// A graph with its ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Graph {
    /// Where the ports of each router lead.
    ports: Vec<Vec<PortPeer>>,
    /// Router and port of each node.
    homes: Vec<(usize, u8)>,
    is_up_down: bool,
    /// By router and router of the destination, a bit for each port that leads towards it on a way as short as any of the routing; not
    /// used where they are the same.
    ways: Vec<u64>,
    /// Column and row of each router in drawings.
    places: Vec<(usize, usize)>,
}

impl Graph {
    /// Whether packets go up, then down.
    pub(super) fn is_up_down(&self) -> bool {
        self.is_up_down
    }

    /// A graph of these ports, with ways of a name of [`GRAPH_ROUTING_NAMES`].
    pub(super) fn new(ports: Vec<Vec<PortPeer>>, routing: &str) -> Result<Graph, String> {
        let is_up_down = match GRAPH_ROUTING_NAMES.iter().position(|known| *known == routing) {
            Some(at) => at == 1,
            None => return Err(format!("found routing `{routing}`, expected {}", GRAPH_ROUTING_NAMES.join(", "))),
        };
        if !(2..=MOST_GRAPH_ROUTERS).contains(&ports.len()) {
            return Err(format!("found {} routers, expected 2 to {MOST_GRAPH_ROUTERS}", ports.len()));
        }
        let homes = homes(&ports)?;
        let levels = levels(&ports);
        if let Some(router) = levels.iter().position(|level| *level == NONE) {
            return Err(format!(
                "found no way from router[0] to router[{router}], expected channels that join all routers"
            ));
        }
        let ways = (0..ports.len()).map(|target| match is_up_down {
            true => up_down(&ports, &levels, target),
            false => shortest(&ports, target),
        });
        let (mut by_router, all) = (vec![0; ports.len() * ports.len()], ports.len());
        for (target, column) in ways.enumerate() {
            column.into_iter().enumerate().for_each(|(router, ports)| by_router[router * all + target] = ports);
        }
        let places = places(&levels);
        Ok(Graph { ports, homes, is_up_down, ways: by_router, places })
    }

    /// All of it as text: for each router its ports, with `;` between routers.
    pub(super) fn text(&self) -> String {
        let mut text = GRAPH_ROUTING_NAMES[usize::from(self.is_up_down)].to_owned();
        for (router, ports) in self.ports.iter().enumerate() {
            for (port, peer) in ports.iter().enumerate() {
                text.push(match (router, port) {
                    (0, 0) => ':',
                    (_, 0) => ';',
                    _ => ',',
                });
                let _ = match peer {
                    PortPeer::Node(node) => write!(text, "n{node}"),
                    PortPeer::Router(router, port) => write!(text, "r{router}.{port}"),
                };
            }
        }
        text
    }

    pub(super) fn routers(&self) -> usize {
        self.ports.len()
    }

    pub(super) fn nodes(&self) -> usize {
        self.homes.len()
    }

    pub(super) fn router_of(&self, node: usize) -> usize {
        self.homes[node].0
    }

    pub(super) fn ports(&self, router: usize) -> usize {
        self.ports[router].len()
    }

    pub(super) fn peer(&self, router: usize, port: usize) -> PortPeer {
        self.ports[router][port]
    }

    pub(super) fn route(&self, router: usize, node: usize) -> RouteChoice {
        RouteChoice::one(self.all_ways(router, node).port(0), VcClass::ALL)
    }

    /// All ports that are equally good.
    pub(super) fn all_ways(&self, router: usize, node: usize) -> RouteChoice {
        let (target, port) = self.homes[node];
        if router == target {
            return RouteChoice::one(usize::from(port), VcClass::ALL);
        }
        RouteChoice::of_ports(self.ways[router * self.ports.len() + target])
    }

    /// Whether a router has several ports towards another one.
    pub(super) fn has_equal_ports(&self) -> bool {
        self.ways.iter().any(|ports| ports.count_ones() > 1)
    }

    pub(super) fn place(&self, router: usize) -> (usize, usize) {
        self.places[router]
    }
}

/// Router and port of each node. Every node has one port, and every channel leads back.
fn homes(ports: &[Vec<PortPeer>]) -> Result<Vec<(usize, u8)>, String> {
    let nodes = ports.iter().flatten().filter(|peer| matches!(peer, PortPeer::Node(_))).count();
    if !(2..=MOST_ROUTERS).contains(&nodes) {
        return Err(format!("found {nodes} nodes at routers, expected 2 to {MOST_ROUTERS}"));
    }
    let mut homes = vec![None; nodes];
    for (router, of_router) in ports.iter().enumerate() {
        if of_router.len() > MOST_PORTS {
            return Err(format!("found {} ports of router[{router}], expected at most {MOST_PORTS}", of_router.len()));
        }
        for (port, peer) in of_router.iter().enumerate() {
            let here = format!("router[{router}].port[{port}]");
            match *peer {
                PortPeer::Node(node) => match homes.get_mut(node) {
                    Some(home @ None) => *home = Some((router, port as u8)),
                    Some(_) => {
                        return Err(format!("found node[{node}] at {here} too, expected one port for each node"));
                    }
                    None => {
                        return Err(format!(
                            "found node[{node}] at {here}, but {nodes} nodes in all, expected node[0] to node[{}]",
                            nodes - 1
                        ));
                    }
                },
                PortPeer::Router(other, _) if other == router => {
                    return Err(format!(
                        "found a channel from router[{router}] to itself, expected one to another router"
                    ));
                }
                PortPeer::Router(other, back) => {
                    let returned = ports.get(other).and_then(|ports| ports.get(back));
                    if returned != Some(&PortPeer::Router(router, port)) {
                        return Err(format!("found {here} at router[{other}].port[{back}], which does not lead back"));
                    }
                }
            }
        }
    }
    // As many places as nodes, none of them twice: all are filled.
    Ok(homes.into_iter().flatten().collect())
}

/// Routers behind the ports of a router.
fn neighbours(ports: &[PortPeer]) -> impl Iterator<Item = (usize, usize)> + '_ {
    ports.iter().enumerate().filter_map(|(port, peer)| match peer {
        PortPeer::Router(router, _) => Some((port, *router)),
        PortPeer::Node(_) => None,
    })
}

/// Channels from each router to one, over those channels that `goes(from, to)` allows; [`NONE`] where there is no way.
fn distances(ports: &[Vec<PortPeer>], to: usize, goes: impl Fn(usize, usize) -> bool) -> Vec<u32> {
    let (mut found, mut queue) = (vec![NONE; ports.len()], VecDeque::from([to]));
    found[to] = 0;
    while let Some(here) = queue.pop_front() {
        for (_, before) in neighbours(&ports[here]) {
            if found[before] == NONE && goes(before, here) {
                found[before] = found[here] + 1;
                queue.push_back(before);
            }
        }
    }
    found
}

/// Distances from router 0.
fn levels(ports: &[Vec<PortPeer>]) -> Vec<u32> {
    distances(ports, 0, |_, _| true)
}

/// The ports of a router that lead to routers of which `is_next` says so, a bit for each.
fn leading(ports: &[PortPeer], is_next: impl Fn(usize) -> bool) -> u64 {
    neighbours(ports).filter(|(_, peer)| is_next(*peer)).fold(0, |all, (port, _)| all | 1 << port)
}

/// The ports of each router on the shortest ways to one.
fn shortest(ports: &[Vec<PortPeer>], target: usize) -> Vec<u64> {
    let far = distances(ports, target, |_, _| true);
    (0..ports.len()).map(|router| leading(&ports[router], |peer| far[peer] + 1 == far[router])).collect()
}

/// The ports of each router on its ways up, then down, to one.
fn up_down(ports: &[Vec<PortPeer>], levels: &[u32], target: usize) -> Vec<u64> {
    let rank = |router: usize| (levels[router], router);
    let down = distances(ports, target, |from, to| rank(from) < rank(to));
    let mut by_rank: Vec<usize> = (0..ports.len()).collect();
    scalepool_ordered::sort_by_key(&mut by_rank, |router| rank(*router));
    // From router 0 on every router is reached downwards, so each has its way when those above it have theirs.
    let mut whole = down.clone();
    for &router in by_rank.iter().filter(|router| down[**router] == NONE) {
        let above = neighbours(&ports[router]).filter(|(_, peer)| rank(*peer) < rank(router));
        whole[router] = above.map(|(_, peer)| whole[peer]).min().map_or(NONE, |least| least.saturating_add(1));
    }
    let port = |router: usize| {
        let is_next = |peer: usize| match down[router] {
            NONE => rank(peer) < rank(router) && whole[peer].checked_add(1) == Some(whole[router]),
            far => rank(peer) > rank(router) && down[peer].checked_add(1) == Some(far),
        };
        leading(&ports[router], is_next)
    };
    (0..ports.len()).map(port).collect()
}

/// Rows are distances from router 0; in each row routers stand by number.
fn places(levels: &[u32]) -> Vec<(usize, usize)> {
    let deepest = levels.iter().copied().max().unwrap_or(0) as usize;
    let mut filled = vec![0; deepest + 1];
    let place = |level: &u32| {
        let row = *level as usize;
        filled[row] += 1;
        (filled[row] - 1, row)
    };
    levels.iter().map(place).collect()
}
