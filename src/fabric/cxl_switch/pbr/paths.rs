//! Routes between the switches of a fabric.
//!
//! Modelled: switches and the inter-switch links between them, any connected graph; for each switch and DPID one next hop. Three
//! policies: `minimal` takes a shortest way; `lowest-port` of several shortest ways always that over the lowest port, which is
//! dimension order in a mesh whose ports are numbered by dimension; `up-down` takes links towards the first switch before links
//! away from it and never one of the former behind one of the latter, so that links cannot wait for each other in a circle, in any
//! graph. Of several next hops the DPID selects one, so that destinations are dealt over them, or a policy does message by message
//! ([`crate::spread`]): our choice, which the sheet leaves free (`fabric` RGT-7). Longer ways are those of `up-down` over other
//! links up, which close no circle either. Left out: what is known of load further away.
//!
//! Of a graph without links that are lost, `up-down` keeps the directions of the links that are left, where these lead everywhere.
//! Otherwise they are found anew, and messages from before and after can wait for each other; the check of the system sees that.
//!
//! A walk through one route: distances to the switch of the destination are counted in breadth from there; for `up-down` over
//! links that lead away from the first switch alone, and a switch without such a way goes up. The candidates of a switch are
//! its links to switches that are one closer, in the order of its ports.

use super::super::violation;
use crate::spread::SpreadPort;
use scalepool_protocols::wire::Violation;
use std::collections::VecDeque;

/// How the next hop is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PbrRouting {
    /// On a shortest way.
    Minimal,
    /// On the shortest way over the lowest port of each switch.
    LowestPort,
    /// Up, and then down.
    UpDown,
}

impl PbrRouting {
    /// Their names in descriptions.
    pub const NAMES: &[&str] = &["minimal", "lowest-port", "up-down"];

    /// That of a name.
    pub fn of_name(name: &str) -> Option<PbrRouting> {
        match name {
            "minimal" => Some(PbrRouting::Minimal),
            "lowest-port" => Some(PbrRouting::LowestPort),
            "up-down" => Some(PbrRouting::UpDown),
            _ => None,
        }
    }

    /// Whether it has ways beside the shortest ones.
    pub fn has_longer_ways(self) -> bool {
        self == PbrRouting::UpDown
    }
}

/// Ports of a switch that lead to another one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PbrCandidates {
    /// Those of the shortest ways that the routing has.
    pub primary: Vec<SpreadPort>,
    /// Those of longer ways.
    pub secondary: Vec<SpreadPort>,
}

/// Switches and their links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PbrGraph {
    /// By switch: own port and switch at the other end.
    links: Vec<Vec<(usize, usize)>>,
    /// Ranks by which links lead up or down, of the graph before links of it were lost.
    before: Option<Vec<usize>>,
}

/// Judges the containment of the downstream port of an inter-switch link: it is required, but where the link is the only way to the
/// fabric manager (`fabric` ISL-4).
pub fn judge_containment(is_only_way: bool, is_contained: bool) -> Option<Violation> {
    let (found, expected) = match (is_only_way, is_contained) {
        (true, true) => ("a contained link, the only way to the fabric manager", "one that stays up"),
        (false, false) => ("a link that stays up, one of several ways to the fabric manager", "a contained one"),
        _ => return None,
    };
    Some(violation("FAB-ISL-04", found, expected, "an inter-switch link after an uncorrectable error"))
}

impl PbrGraph {
    /// Switches without links.
    pub fn new(switches: usize) -> PbrGraph {
        PbrGraph { links: vec![Vec::new(); switches], before: None }
    }

    /// Says what the graph was before links of it were lost. Its links keep their directions up and down where every switch is still
    /// reached, so messages on new ways and those on ways from before do not wait for each other in a circle either.
    pub fn after(mut self, whole: &PbrGraph) -> PbrGraph {
        self.before = Some(whole.places());
        let is_reached = |to: usize| {
            let any = self.distances(to, &|_, _| true);
            let ways = self.up_down(to);
            (0..self.links.len()).all(|from| from == to || any[from].is_none() || !ways[from].primary.is_empty())
        };
        if !(0..self.links.len()).all(is_reached) {
            self.before = None;
        }
        self
    }

    /// Joins a port of a switch to another switch, in one direction.
    pub fn join(&mut self, switch: usize, port: usize, other: usize) {
        self.links[switch].push((port, other));
        scalepool_ordered::sort(&mut self.links[switch]);
    }

    /// For each switch, the ports at which a message to a switch may leave it; none at that switch itself, and none where
    /// there is no way.
    pub fn next(&self, routing: PbrRouting, to: usize) -> Vec<PbrCandidates> {
        match routing {
            PbrRouting::Minimal | PbrRouting::LowestPort => {
                let most = if routing == PbrRouting::Minimal { usize::MAX } else { 1 };
                let distances = self.distances(to, &|_, _| true);
                let primary = |from| {
                    let mut ports = self.closer(from, &distances, &|_| true);
                    ports.truncate(most);
                    ports
                };
                let all = (0..self.links.len()).map(primary);
                all.map(|primary| PbrCandidates { primary, secondary: Vec::new() }).collect()
            }
            PbrRouting::UpDown => self.up_down(to),
        }
    }

    /// Links that lie between each switch and one of them, on a shortest way over the links that `may` go from one switch to
    /// another; `None`: there is no way.
    fn distances(&self, to: usize, may: &dyn Fn(usize, usize) -> bool) -> Vec<Option<usize>> {
        // Links go both ways.
        let mut distances = vec![None; self.links.len()];
        distances[to] = Some(0);
        let mut queue = VecDeque::from([(to, 0)]);
        while let Some((switch, distance)) = queue.pop_front() {
            for &(_, other) in &self.links[switch] {
                if distances[other].is_none() && may(other, switch) {
                    distances[other] = Some(distance + 1);
                    queue.push_back((other, distance + 1));
                }
            }
        }
        distances
    }

    /// Whether a link, which is at this port of a switch and this one of another, is the only way between its ends.
    pub fn is_only_way(&self, [own, far]: [(usize, usize); 2]) -> bool {
        let mut without = self.clone();
        for (switch, port) in [own, far] {
            without.links[switch].retain(|(other, _)| *other != port);
        }
        without.distances(far.0, &|_, _| true)[own.0].is_none()
    }

    /// Ports of a switch to those `among` its neighbours that are one link closer.
    fn closer(&self, from: usize, distances: &[Option<usize>], among: &dyn Fn(usize) -> bool) -> Vec<SpreadPort> {
        let Some(links) = distances[from] else { return Vec::new() };
        let is_closer = |other: usize| distances[other].is_some_and(|there| there + 1 == links);
        let chosen = self.links[from].iter().filter(|(_, other)| among(*other) && is_closer(*other));
        chosen.map(|(port, _)| SpreadPort { port: *port, links }).collect()
    }

    /// Place of each switch in breadth from the first one; a link leads up if it leads to an earlier place.
    fn places(&self) -> Vec<usize> {
        if let Some(before) = &self.before {
            return before.clone();
        }
        let mut places = vec![usize::MAX; self.links.len()];
        let mut reached = 0;
        for first in 0..self.links.len() {
            let mut queue = VecDeque::from([first]);
            while let Some(switch) = queue.pop_front() {
                if places[switch] == usize::MAX {
                    places[switch] = reached;
                    reached += 1;
                    queue.extend(self.links[switch].iter().map(|(_, other)| *other));
                }
            }
        }
        places
    }

    fn up_down(&self, to: usize) -> Vec<PbrCandidates> {
        let places = self.places();
        let down = self.distances(to, &|from, to| places[from] < places[to]);
        let mut order: Vec<usize> = (0..self.links.len()).collect();
        scalepool_ordered::sort_by_key(&mut order, |switch| places[*switch]);
        let mut cost = down.clone();
        let mut candidates = vec![PbrCandidates::default(); self.links.len()];
        for from in order {
            let is_up = |other: usize| places[other] < places[from];
            if down[from].is_some() {
                candidates[from].primary = self.closer(from, &down, &|other| !is_up(other));
                continue;
            }
            let above: Vec<SpreadPort> = self.links[from]
                .iter()
                .filter(|(_, other)| is_up(*other))
                .filter_map(|(port, other)| Some(SpreadPort { port: *port, links: cost[*other]? + 1 }))
                .collect();
            cost[from] = above.iter().map(|port| port.links).min();
            let (primary, secondary) = above.into_iter().partition(|port| Some(port.links) == cost[from]);
            candidates[from] = PbrCandidates { primary, secondary };
        }
        candidates
    }
}
