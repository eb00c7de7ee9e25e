//! Who is where in a system: what each component finds at the other ends of its links.
//!
//! Modelled: nodes that links join, directly or over switches, are one fabric; they are numbered in the order of the
//! description, first those that ask each other, then bridges that may be asked, then bridges that ask alone. Left out: what a fabric carries.

use super::design::System;
use super::hierarchies;
use super::kind::{DomainMember, NodePart, Offer, PortRole, SitePort};
use super::memory_map::only_target;
use scalepool_ordered::OrderedMap;

/// A component among its neighbours.
#[derive(Debug)]
pub struct Neighbourhood {
    /// Its fabric, a number of its own; `None`: it is neither a node nor a switch.
    pub fabric: Option<usize>,
    /// Its place in it.
    pub member: DomainMember,
    /// Its ports with what is at their other ends.
    pub ports: Vec<SitePort>,
}

/// Of all components of a system, in their order.
pub fn of(system: &System) -> Vec<Neighbourhood> {
    let (fabrics, members) = members(system);
    let viral = hierarchies::viral(system);
    let offers: Vec<Offer> = system.components.iter().map(|c| c.config.offer()).collect();
    let site_port = |port: &super::design::JoinedPort| {
        let link = &system.links[port.link];
        let (peer, peer_port) = link.ports[1 - port.end];
        SitePort {
            path: port.path.clone(),
            number: port.link as u32,
            link: link.config.facts(),
            peer: offer_at(system, &offers, (peer, peer_port)),
            peer_clock: system.clocks[system.components[peer].clock].1,
            peer_member: members[peer],
            peer_port,
            peer_role: system.components[peer].ports[peer_port].decl.role,
            is_cascade: hierarchies::is_cascade(system, link),
            goes_viral: viral.contains(&link.ports[port.end].0),
            coherence: hierarchies::coherence(system, (peer, peer_port)),
            seat: None,
        }
    };
    let all = system.components.iter().zip(fabrics).zip(&members);
    all.map(|((component, fabric), &member)| Neighbourhood {
        fabric,
        member,
        ports: component.ports.iter().map(site_port).collect(),
    })
    .collect()
}

/// What is offered at a port; a switch passes on what is bound there, if that is one memory.
fn offer_at(system: &System, offers: &[Offer], (component, port): (usize, usize)) -> Offer {
    match only_target(system, component, port) {
        Some(target) => Offer { memory_bytes: offers[target.component].memory_bytes, ..offers[component] },
        None => system.components[component].config.offer_at(port),
    }
}

/// The fabric of each component, and its place in it.
fn members(system: &System) -> (Vec<Option<usize>>, Vec<DomainMember>) {
    let mut root: Vec<usize> = (0..system.components.len()).collect();
    fn top(root: &mut [usize], mut n: usize) -> usize {
        while root[n] != n {
            root[n] = root[root[n]];
            n = root[n];
        }
        n
    }
    let role = |n: usize| system.components[n].ports.first().map(|port| port.decl.role);
    // A bridge stands in the fabric of its first port; its links to others join nothing.
    let is_of_fabric =
        |role: PortRole| matches!(role, PortRole::Node | PortRole::Terminal | PortRole::Switch | PortRole::Router);
    let is_node = |n: usize| matches!(role(n), Some(PortRole::Node | PortRole::Terminal));
    let is_joined = |n: usize| role(n).is_some_and(is_of_fabric);
    for link in &system.links {
        let [a, b] = link.ports.map(|(component, _)| component);
        if system.roles_of(link).into_iter().all(is_of_fabric) {
            let (a, b) = (top(&mut root, a), top(&mut root, b));
            root[a.max(b)] = a.min(b);
        }
    }
    let mut counts = vec![0u16; root.len()];
    let mut all = vec![DomainMember::default(); root.len()];
    let tops: Vec<usize> = (0..root.len()).map(|n| top(&mut root, n)).collect();
    let mut behind: Vec<Vec<u16>> = Vec::new();
    for part in [NodePart::Peer, NodePart::Memory, NodePart::Requester] {
        let is_counted = |&n: &usize| is_node(n) && system.components[n].config.node_part() == part;
        for n in (0..root.len()).filter(is_counted) {
            all[n].own = counts[tops[n]];
            counts[tops[n]] = counts[tops[n]].saturating_add(1);
        }
        behind.push(counts.clone());
    }
    let mut refuses_atomics = vec![false; root.len()];
    for n in (0..root.len()).filter(|&n| is_node(n) && system.components[n].config.refuses_atomics()) {
        refuses_atomics[tops[n]] = true;
    }
    let mut gives_up: Vec<Option<u64>> = vec![None; root.len()];
    for n in (0..root.len()).filter(|&n| is_node(n)) {
        let times = [gives_up[tops[n]], system.components[n].config.gives_up_after_fs()];
        gives_up[tops[n]] = times.into_iter().flatten().min();
    }
    let joint = |n: usize| system.components[n].config.joint_traffic();
    let mut first: OrderedMap<usize, Option<String>> = OrderedMap::new();
    let is_peer = |n: usize| is_node(n) && system.components[n].config.node_part() == NodePart::Peer;
    for n in (0..root.len()).filter(|&n| is_peer(n)) {
        let own = joint(n);
        all[n].is_apart = *first.entry(tops[n]).or_insert_with(|| own.clone()) != own;
    }
    for n in 0..root.len() {
        all[n].refuses_atomics = refuses_atomics[tops[n]];
        all[n].gives_up_after_fs = gives_up[tops[n]];
        all[n].nodes = counts[tops[n]];
        (all[n].peers, all[n].asked) = (behind[0][tops[n]], behind[1][tops[n]]);
        all[n].fabric = tops[n] as u32;
    }
    for n in (0..root.len()).filter(|&n| is_peer(n)) {
        let Some(bridge) = system.components[n].config.tier2_bridge() else { continue };
        let number = all[n].peers.saturating_add(bridge);
        let is_meant = |&other: &usize| is_node(other) && tops[other] == tops[n] && all[other].own == number;
        if let Some(bridge) = (0..root.len()).find(is_meant) {
            all[n].tier2_cache = system.components[bridge].config.bridge_cache();
        }
    }
    let fabrics = (0..root.len()).map(|n| is_joined(n).then_some(tops[n])).collect();
    (fabrics, all)
}
