//! Virtual hierarchies over several switches: who stands at their ends, and the numbers by which messages find them.
//!
//! Modelled: what is bound to one host, over any number of switches with virtual hierarchies; bus numbers as configuration software
//! gives them, depth first; CacheIDs in the order of the devices. Left out: switches with port based routing. A hierarchy below an
//! edge of theirs has numbers of its own, as PIDs take their place in the fabric (`fabric` §3.4).
//!
//! A walk through one hierarchy: from a port its links and bindings are followed, down to the devices or up to the host, and each
//! vPPB on the way is remembered. The bus inside a switch comes first, then for each vPPB the bus behind it, and all buses of the
//! switch that stands there, if one does. So the bus numbers below a vPPB are a range, which tells its switch what leads there.

use super::design::{LinkInstance, System};
use super::kind::{CoherenceProtocol, PortRole};
use scalepool_fabric::cxl_switch::VppbBinding;
use scalepool_fabric::cxl_switch::back_invalidate::FIRST_VPPB_BUS;
use scalepool_ordered::{OrderedMap, OrderedSet};

/// A vPPB: the component of its switch, its hierarchy, and its number.
pub(super) type VppbPlace = (usize, usize, usize);

/// Who stands at the end of a way over switches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WayEnd {
    /// Component, and port of it.
    pub end: (usize, usize),
    /// The logical device to which the lowest vPPB is bound, if it is bound to one.
    pub ld: Option<u8>,
    /// vPPBs on the way, from the host on.
    pub vppbs: Vec<VppbPlace>,
}

/// What a switch knows of one of its hierarchies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HierarchyNumbers {
    /// First and last bus below each vPPB that is bound; `None`: there are no numbers left.
    pub buses: OrderedMap<usize, Option<[u8; 2]>>,
    /// CacheIDs of the caching devices below each vPPB.
    pub cache_ids: OrderedMap<usize, Vec<u8>>,
    /// vPPBs that are bound to a port where a further switch is.
    pub is_switch: OrderedSet<usize>,
}

/// What is bound in a hierarchy of a switch, each with the port of the switch.
fn bound(system: &System, switch: usize, vcs: usize) -> Vec<(usize, VppbBinding)> {
    let Some((hosts, bindings)) = system.components[switch].config.hierarchies() else { return Vec::new() };
    let own = bindings.into_iter().filter(|binding| binding.vcs == vcs);
    own.map(|binding| (hosts + binding.port, binding)).collect()
}

fn has_hierarchies(system: &System, component: usize) -> bool {
    system.components[component].config.hierarchies().is_some()
}

/// The devices of the hierarchy at an upstream port, in the order of vPPBs.
pub(super) fn devices(system: &System, switch: usize, vcs: usize) -> Vec<WayEnd> {
    devices_within(system, (switch, vcs), system.components.len())
}

/// The same over at most so many switches: more of them are a circle.
fn devices_within(system: &System, (switch, vcs): (usize, usize), most: usize) -> Vec<WayEnd> {
    let Some(most) = most.checked_sub(1) else { return Vec::new() };
    let below = |(port, VppbBinding { vppb, ld, .. }): (usize, VppbBinding)| {
        let (own, end) = ((switch, vcs, vppb), system.far(switch, port));
        if !has_hierarchies(system, end.0) {
            return vec![WayEnd { end, ld, vppbs: vec![own] }];
        }
        let mut further = devices_within(system, end, most);
        further.iter_mut().for_each(|one| one.vppbs.insert(0, own));
        further
    };
    bound(system, switch, vcs).into_iter().flat_map(below).collect()
}

/// The hosts that have what is at a downstream port: one, or one for each logical device, in the order of their hierarchies.
pub(super) fn hosts(system: &System, switch: usize, port: usize) -> Vec<WayEnd> {
    hosts_within(system, (switch, port), system.components.len())
}

fn hosts_within(system: &System, (switch, port): (usize, usize), most: usize) -> Vec<WayEnd> {
    let Some(most) = most.checked_sub(1) else { return Vec::new() };
    let Some((first, bindings)) = system.components[switch].config.hierarchies() else { return Vec::new() };
    let own = bindings.into_iter().filter(|binding| first + binding.port == port);
    let above = |VppbBinding { vcs, vppb, ld, .. }: VppbBinding| {
        let (own, end) = ((switch, vcs, vppb), system.far(switch, vcs));
        if !has_hierarchies(system, end.0) {
            return vec![WayEnd { end, ld, vppbs: vec![own] }];
        }
        let mut further = hosts_within(system, end, most);
        for one in &mut further {
            one.ld = ld;
            one.vppbs.push(own);
        }
        further
    };
    own.flat_map(above).collect()
}

/// Who stands at the ends of the ways that begin at a port of a switch with hierarchies: devices or hosts.
pub(super) fn ends(system: &System, (switch, port): (usize, usize)) -> Option<Vec<WayEnd>> {
    let (hosts_of_switch, _) = system.components[switch].config.hierarchies()?;
    Some(if port < hosts_of_switch { devices(system, switch, port) } else { hosts(system, switch, port) })
}

/// The role at the end of a way; at an edge port of a fabric with port based routing, that of the host which has what is there.
fn role(system: &System, end: (usize, usize)) -> PortRole {
    let (component, port) = match system.pbr.owner(end.0, end.1) {
        None => end,
        Some((switch, port)) => system.far(switch, port),
    };
    system.components[component].ports[port].decl.role
}

/// What keeps lines coherent at a port, or behind it, where it is one of a switch with hierarchies.
pub(super) fn coherence(system: &System, end: (usize, usize)) -> Option<CoherenceProtocol> {
    let ends = ends(system, end).unwrap_or_else(|| vec![WayEnd { end, ld: None, vppbs: Vec::new() }]);
    ends.into_iter().find_map(|one| role(system, one.end).coherence())
}

/// The caching devices below an upstream port of a switch with hierarchies, in the order of their CacheIDs; `None`: it is none.
pub(super) fn caching(system: &System, (switch, vcs): (usize, usize)) -> Option<Vec<WayEnd>> {
    has_hierarchies(system, switch).then(|| {
        let is_caching = |way: &WayEnd| role(system, way.end).coherence() == Some(CoherenceProtocol::Cache);
        devices(system, switch, vcs).into_iter().filter(is_caching).collect()
    })
}

/// The bus of the first device below an upstream port of a switch with hierarchies; `None`: it is none, or there is no device.
pub(super) fn bus_below(system: &System, (switch, vcs): (usize, usize)) -> Option<u8> {
    devices(system, switch, vcs).first().and_then(|way| bus(system, way))
}

/// The role of a downstream port on the link to another switch: that of the host above it, for which it stands.
pub(super) fn role_above(system: &System, (switch, port): (usize, usize)) -> Option<PortRole> {
    let end = match has_hierarchies(system, switch) {
        true => hosts(system, switch, port).into_iter().next()?.end,
        false => (switch, port),
    };
    Some(role(system, end))
}

/// The uppermost switch above a hierarchy, and its hierarchy there.
fn top(system: &System, switch: usize, vcs: usize) -> (usize, usize) {
    let mut own = (switch, vcs);
    for _ in 0..system.components.len() {
        let (far, port) = system.far(own.0, own.1);
        let Some((hosts, bindings)) = system.components[far].config.hierarchies() else { break };
        let Some(binding) = bindings.into_iter().find(|binding| hosts + binding.port == port) else { break };
        own = (far, binding.vcs);
    }
    own
}

/// First and last bus below each vPPB of the hierarchy at an upstream port below no switch, those of switches below it included.
fn buses(system: &System, (switch, vcs): (usize, usize)) -> OrderedMap<VppbPlace, Option<[u8; 2]>> {
    let (mut all, mut next) = (OrderedMap::new(), FIRST_VPPB_BUS);
    number(system, (switch, vcs), (&mut next, &mut all), system.components.len());
    all
}

/// Numbers what is below an upstream port; `next` is the first number behind the bus inside its switch.
fn number(
    system: &System,
    (switch, vcs): (usize, usize),
    (next, all): (&mut usize, &mut OrderedMap<VppbPlace, Option<[u8; 2]>>),
    most: usize,
) {
    let Some(most) = most.checked_sub(1) else { return };
    let bound = bound(system, switch, vcs);
    let vppbs = bound.iter().map(|(_, binding)| binding.vppb + 1).max().unwrap_or(0);
    for vppb in 0..vppbs {
        // A vPPB that is not bound has a bus too.
        let secondary = *next;
        *next += 1;
        let Some((port, _)) = bound.iter().find(|(_, binding)| binding.vppb == vppb) else { continue };
        let end = system.far(switch, *port);
        if has_hierarchies(system, end.0) {
            // The upstream port stands on the bus behind the vPPB, its own vPPBs on the next one.
            *next += 1;
            number(system, end, (next, all), most);
        }
        let range = [secondary, *next - 1].map(|bus| u8::try_from(bus).ok());
        all.insert((switch, vcs, vppb), range[0].zip(range[1]).map(Into::into));
    }
}

/// The bus of the device at the end of a way; `None`: there are no numbers left.
pub(super) fn bus(system: &System, way: &WayEnd) -> Option<u8> {
    let (first, last) = (way.vppbs.first()?, way.vppbs.last()?);
    buses(system, (first.0, first.1)).get(last).copied().flatten().map(|[secondary, _]| secondary)
}

/// What a switch knows of each of its hierarchies; nothing of a component that has none.
pub fn numbers(system: &System, switch: usize) -> Vec<HierarchyNumbers> {
    let Some((hosts, _)) = system.components[switch].config.hierarchies() else { return Vec::new() };
    let of_vcs = |vcs: usize| {
        let top = top(system, switch, vcs);
        let is_own = |(of, at, _): &VppbPlace| (*of, *at) == (switch, vcs);
        let mut all = HierarchyNumbers::default();
        let own = buses(system, top).into_iter().filter(|(place, _)| is_own(place));
        all.buses = own.map(|((.., vppb), range)| (vppb, range)).collect();
        let own = bound(system, switch, vcs).into_iter();
        let above_switch = own.filter(|(port, _)| has_hierarchies(system, system.far(switch, *port).0));
        all.is_switch = above_switch.map(|(_, binding)| binding.vppb).collect();
        let caching = caching(system, top).into_iter().flatten();
        // More of them than CacheIDs are refused where the table is made.
        for (id, way) in (0..=u8::MAX).zip(caching) {
            for (.., vppb) in way.vppbs.iter().filter(|place| is_own(place)) {
                all.cache_ids.entry(*vppb).or_default().push(id);
            }
        }
        all
    };
    (0..hosts).map(of_vcs).collect()
}

/// Whether a link joins two switches with virtual hierarchies.
pub(super) fn is_cascade(system: &System, link: &LinkInstance) -> bool {
    let is_port = |(component, port): (usize, usize)| {
        let role = system.components[component].ports[port].decl.role;
        matches!(role, PortRole::SwitchUpstream | PortRole::SwitchDownstream) && has_hierarchies(system, component)
    };
    link.ports.into_iter().all(is_port)
}

/// Whether a link joins switches of which one has port based routing and passes CXL.mem and CXL.cache.
fn is_of_fabric(system: &System, link: &LinkInstance) -> bool {
    let is_pbr = |component: usize| system.components[component].config.pbr().is_some_and(|decl| !decl.is_io);
    let [one, other] = link.ports.map(|(component, _)| component);
    let is_switch = |component| is_pbr(component) || has_hierarchies(system, component);
    (is_pbr(one) || is_pbr(other)) && is_switch(one) && is_switch(other)
}

/// Switches that may go viral: those where something declares it, and all that links join to them, through fabrics with port based
/// routing too.
pub(super) fn viral(system: &System) -> OrderedSet<usize> {
    let declares = |n: &usize| system.components[*n].config.offer().declares_viral;
    let mut all: OrderedSet<usize> = (0..system.components.len()).filter(declares).collect();
    let mut queue: Vec<usize> = all.iter().copied().collect();
    while let Some(switch) = queue.pop() {
        for port in &system.components[switch].ports {
            let link = &system.links[port.link];
            let (far, _) = link.ports[1 - port.end];
            if (is_cascade(system, link) || is_of_fabric(system, link)) && all.insert(far) {
                queue.push(far);
            }
        }
    }
    all
}
