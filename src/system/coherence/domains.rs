//! Finds the domains of a system: follows the ports of every home to the holders of its lines.
//!
//! A walk through one domain: at the other end of each port of the home stands a holder, or, at its only one, a switch whose other
//! ports lead to holders, or to which holders are bound, also over more switches of its fabric; they are numbered in this order. What is joined in another way is
//! refused.

use super::{Between, Coherent, Domain, Holder, HolderWay, LineOwner, Seat};
use crate::design::System;
use crate::hierarchies::{self, WayEnd};
use crate::kind::{CoherenceProtocol, CxlSide, NodeError, PortRole};
use scalepool_coherence::clocked::sequence::{Extent, Sequence};
use scalepool_coherence::clocked::watcher::Watcher;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_ordered::OrderedMap;
use std::sync::{Arc, Mutex};

/// All domains of a system.
#[derive(Default)]
pub(crate) struct Domains {
    /// Seats of ports, by component and port.
    pub seats: OrderedMap<(usize, usize), Seat>,
    /// The domain of a component, if it has one: of several joined ones the first.
    pub of_component: Vec<Option<usize>>,
    /// Messages as they pass, if there is a chart to draw.
    pub chart: Option<Arc<Mutex<Sequence>>>,
}

/// A home with the holders of its lines, as they are joined.
pub struct Joined {
    /// Component of the home.
    pub component: usize,
    /// The home.
    pub home: LineOwner,
    /// Component, port and name of each holder, in the order of their numbers.
    pub holders: Vec<(usize, usize, String)>,
    /// Components of the switches between them.
    pub switches: Vec<usize>,
}

/// Every home of a system with its holders.
///
/// # Errors
/// Agents that are not joined as the coherence engine needs it.
pub fn joined(system: &System) -> Result<Vec<Joined>, NodeError> {
    let all = found(system)?.into_iter().map(|OpenDomain { component, home, holders, switches, .. }| {
        let holders = holders.into_iter().map(|(component, port, holder, _)| (component, port, holder.name)).collect();
        Joined { component, home, holders, switches }
    });
    Ok(all.collect())
}

/// A domain before its agents know of it.
struct OpenDomain {
    component: usize,
    home: LineOwner,
    /// Component, port and name of each holder, and the port of the home behind which it stands.
    holders: Vec<(usize, usize, Holder, usize)>,
    /// Components of the switches between, that at the home first; of a fabric with port based routing that one alone.
    switches: Vec<usize>,
    /// How the switch reaches each holder, if it has virtual hierarchies.
    ways: Vec<HolderWay>,
    /// Ends of the links above upstream ports of switches with virtual hierarchies.
    passed: Vec<(usize, usize)>,
}

impl OpenDomain {
    /// Notes the switches with virtual hierarchies on a way.
    fn passes(&mut self, system: &System, way: &WayEnd) {
        for &(switch, vcs, _) in &way.vppbs {
            if !self.switches.contains(&switch) {
                self.switches.push(switch);
            }
            self.passed.extend([(switch, vcs), system.far(switch, vcs)]);
        }
    }
}

/// Finds the domains of a system; `amend` is given the choices of each, `extent` is what a chart shows.
///
/// # Errors
/// Agents that are not joined as the coherence engine needs it.
pub(crate) fn domains(
    system: &System,
    extent: Option<Extent>,
    amend: &dyn Fn(&mut CoherenceConfig),
) -> Result<Domains, NodeError> {
    let open = found(system)?;
    let count = system.components.len();
    let columns = if extent.is_some() { columns(&open) } else { Vec::new() };
    let chart = extent.map(|extent| Sequence::new(columns.clone(), extent));
    let acting: Vec<bool> = open.iter().map(|o| o.home.acts || o.holders.iter().any(|h| h.2.acts)).collect();
    let dealt = acting.iter().filter(|acts| **acts).count() as u64;
    let mut all = Domains { of_component: vec![None; count], chart: chart.clone(), ..Domains::default() };
    let mut links_before = 0;
    for (number, one) in open.into_iter().enumerate() {
        let OpenDomain { component, mut home, holders, switches, ways, passed } = one;
        amend(&mut home.config);
        let names: Vec<String> = std::iter::once(&home.name)
            .chain(holders.iter().map(|h| &h.2.name))
            .chain(&home.requester)
            .cloned()
            .collect();
        let column = |name: &String| columns.iter().position(|column| column == name).unwrap_or_default();
        let columns = names.iter().map(column).collect();
        let seated: Vec<(usize, usize, usize)> = holders.iter().map(|h| (h.0, h.1, h.3)).collect();
        // What a caller's agent holds is not known, so nobody can watch its lines.
        let mut members = seated.iter().map(|s| s.0).chain([component]).chain(switches.iter().copied());
        let has_caller = members.any(|member| system.components[member].external.is_some());
        let domain = Arc::new(Domain {
            dealt: acting[number].then(|| (acting[..number].iter().filter(|acts| **acts).count(), dealt)),
            number,
            watcher: (home.watch && !has_caller).then(|| Watcher::new(home.config.clone(), names)),
            home,
            holders: holders.into_iter().map(|h| h.2).collect(),
            between: match (switches.is_empty(), ways.is_empty()) {
                (true, _) => Between::Links,
                (false, true) => Between::Fabric,
                (false, false) => Between::Hierarchies(ways),
            },
            links_before,
            chart: chart.clone(),
            columns,
            waiting: Mutex::default(),
        });
        links_before += seated.len();
        all.seat(system, &domain, component, (&switches, &passed), &seated);
    }
    Ok(all)
}

/// Every home with what its ports lead to.
fn found(system: &System) -> Result<Vec<OpenDomain>, NodeError> {
    let parts: Vec<Option<Coherent>> = system.components.iter().map(|c| c.config.coherent(&c.path)).collect();
    let is_home = |part: &Option<Coherent>| matches!(part, Some(Coherent::Home(_) | Coherent::Both(..)));
    let homes = parts.iter().enumerate().filter(|(_, part)| is_home(part));
    let open = homes.map(|(component, _)| followed(system, &parts, component)).collect::<Result<Vec<_>, _>>()?;
    check_joined(system, &parts, &open)?;
    Ok(open)
}

impl Domains {
    /// Gives all ports of a domain their seats. `seated`: component and port of each holder, and the home's port to it.
    fn seat(
        &mut self,
        system: &System,
        domain: &Arc<Domain>,
        home: usize,
        (switches, passed): (&[usize], &[(usize, usize)]),
        seated: &[(usize, usize, usize)],
    ) {
        let seat = |holders| Seat { domain: domain.clone(), holders };
        let own = |n: usize| if !switches.is_empty() { 0..seated.len() } else { n..n + 1 };
        for (n, &(component, port, of_home)) in seated.iter().enumerate() {
            self.seats.insert((component, port), seat(n..n + 1));
            self.seats.insert((home, of_home), seat(own(n)));
        }
        let of_fabric = switches.first().copied().filter(|_| matches!(domain.between, Between::Fabric));
        if let Some(switch) = of_fabric {
            for port in 0..system.components[switch].ports.len() {
                // Its first port leads to the home, the others to the holders in order.
                let holders = port.checked_sub(1).map_or(0..seated.len(), |n| n..n + 1);
                self.seats.insert((switch, port), seat(holders));
            }
        } else if !switches.is_empty() {
            for &(component, port, of_home) in seated {
                for end in [(component, port), (home, of_home)] {
                    let own = self.seats[&end].clone();
                    self.seats.insert(system.far(end.0, end.1), own);
                }
            }
            // Links between the switches carry what all holders and the home say.
            for end in passed {
                self.seats.entry(*end).or_insert_with(|| seat(0..seated.len()));
            }
        }
        // A switch with virtual hierarchies has other traffic too, and nobody watches it: it stands by itself.
        let members: Vec<usize> = seated.iter().map(|s| s.0).chain([home]).chain(of_fabric).collect();
        let joined: Vec<usize> = members.iter().filter_map(|n| self.of_component[*n]).collect();
        let first = joined.iter().copied().min().unwrap_or(domain.number);
        members.into_iter().for_each(|n| self.of_component[n] = Some(first));
        for of in self.of_component.iter_mut().flatten().filter(|of| joined.contains(of)) {
            *of = first;
        }
    }
}

/// Names of all agents: the homes, then the holders.
fn columns(open: &[OpenDomain]) -> Vec<String> {
    let mut names: Vec<String> = open.iter().map(|one| one.home.name.clone()).collect();
    for (.., holder, _) in open.iter().flat_map(|one| &one.holders) {
        if !names.contains(&holder.name) {
            names.push(holder.name.clone());
        }
    }
    names.extend(open.iter().filter_map(|one| one.home.requester.clone()));
    names
}

/// The home of a component with the holders that its ports lead to.
fn followed(system: &System, parts: &[Option<Coherent>], component: usize) -> Result<OpenDomain, NodeError> {
    let instance = &system.components[component];
    let refused = |text: String| NodeError::Joined { path: instance.path.clone(), text };
    let Some(home) = instance.config.coherent(&instance.path).and_then(Coherent::home) else {
        unreachable!("it was a home before")
    };
    let mut open =
        OpenDomain { component, home, holders: Vec::new(), switches: Vec::new(), ways: Vec::new(), passed: Vec::new() };
    // The home of CXL.cache is the host, that of CXL.mem the device.
    let to_holders = |port: &usize| match instance.ports[*port].decl.role {
        PortRole::Coherent(CoherenceProtocol::Cache, side) => side == CxlSide::Host,
        PortRole::Coherent(_, side) => side == CxlSide::Device,
        _ => false,
    };
    let ports: Vec<usize> = (0..instance.ports.len()).filter(to_holders).collect();
    for &port in &ports {
        let (far, far_port) = system.far(component, port);
        if let Some(ends) = hierarchies::ends(system, (far, far_port)) {
            if ports.len() > 1 {
                let found = &system.components[far].path;
                return Err(refused(format!(
                    "found the switch {found} beside other ports, expected it at the only one"
                )));
            }
            open.switches.push(far);
            for way in ends {
                open.passes(system, &way);
                let (end, last) = (way.end, way.vppbs.last().copied());
                if let Some(hosts) = system.pbr.holders(system, end.0, end.1) {
                    // A hierarchy below an edge of a fabric, whose PIDs take the place of bus numbers.
                    for (end, above) in hosts {
                        let holder = held(parts, end).ok_or_else(|| refused(behind(system, component, port)))?;
                        open.holders.push(holder.behind(port));
                        open.ways.push(HolderWay { ld_id: way.ld.unwrap_or(0), ..above });
                    }
                    continue;
                }
                let holder = held(parts, end).ok_or_else(|| {
                    let (at, at_port) = system.far(end.0, end.1);
                    refused(behind(system, at, at_port))
                })?;
                open.holders.push(holder.behind(port));
                let bus = hierarchies::bus(system, &way).ok_or_else(|| {
                    let (switch, vcs, vppb) = last.unwrap_or_default();
                    let path = &system.components[switch].path;
                    refused(format!(
                        "found vPPB {vppb} of VCS {vcs} of {path} without a bus, expected one: a hierarchy has 256, of which a vPPB takes one and a switch below it one more (fabric BIR-1)"
                    ))
                })?;
                open.ways.push(HolderWay { ld_id: way.ld.unwrap_or(0), bi_id: bus.into(), pids: None });
            }
        } else if let Some(holders) = system.pbr.holders(system, far, far_port) {
            if ports.len() > 1 {
                let found = &system.components[far].path;
                return Err(refused(format!(
                    "found the switch {found} beside other ports, expected it at the only one"
                )));
            }
            open.switches.push(far);
            for (end, way) in holders {
                // Below an edge port may be a switch with virtual hierarchies, whose own way leads up to that port.
                let (switch, dsp) = system.far(end.0, end.1);
                for way in hierarchies::ends(system, (switch, dsp)).into_iter().flatten() {
                    open.passes(system, &way);
                }
                open.holders
                    .push(held(parts, end).ok_or_else(|| refused(behind(system, component, port)))?.behind(port));
                open.ways.push(way);
            }
        } else if let Some(Coherent::Switch) = parts[far] {
            if ports.len() > 1 || far_port != 0 {
                let found = &system.components[far].path;
                return Err(refused(format!(
                    "found the switch {found} beside other ports, or joined by a port that is not its first, expected \
                     holders at all ports, or one switch by its first port at the only one"
                )));
            }
            open.switches.push(far);
            for n in 1..system.components[far].ports.len() {
                let holder = held(parts, system.far(far, n));
                open.holders.push(holder.ok_or_else(|| refused(behind(system, far, n)))?.behind(port));
            }
        } else {
            let holder = held(parts, (far, far_port));
            open.holders.push(holder.ok_or_else(|| refused(behind(system, component, port)))?.behind(port));
        }
    }
    let (found, most) = (open.holders.len(), open.home.most_holders);
    if (1..=most).contains(&found) {
        return Ok(open);
    }
    Err(refused(format!("found {found} holders of its lines, expected 1 to {most} in all")))
}

fn behind(system: &System, component: usize, port: usize) -> String {
    let port = &system.components[component].ports[port].path;
    format!("found no holder of lines behind {port}, expected one")
}

/// A holder that was found.
struct FoundHolder(usize, usize, Holder);

impl FoundHolder {
    fn behind(self, port: usize) -> (usize, usize, Holder, usize) {
        (self.0, self.1, self.2, port)
    }
}

fn held(parts: &[Option<Coherent>], (component, port): (usize, usize)) -> Option<FoundHolder> {
    let names = parts[component].as_ref()?.holders()?;
    let name = names[port].clone();
    let acts = !names[..port].contains(&name);
    Some(FoundHolder(component, port, Holder { name, acts }))
}

/// Every switch has a home, and an agent with several ports has one number at all its homes.
fn check_joined(system: &System, parts: &[Option<Coherent>], open: &[OpenDomain]) -> Result<(), NodeError> {
    for (n, part) in parts.iter().enumerate() {
        let path = || system.components[n].path.clone();
        if matches!(part, Some(Coherent::Switch)) && !open.iter().any(|one| one.switches.contains(&n)) {
            let text = "found no home of lines at its first port, expected one: switches are not joined to each other";
            return Err(NodeError::Joined { path: path(), text: text.to_owned() });
        }
        let Some(names) = part.as_ref().and_then(Coherent::holders) else { continue };
        for (port, name) in names.iter().enumerate() {
            let number = |port| open.iter().find_map(|one| one.holders.iter().position(|h| (h.0, h.1) == (n, port)));
            let first = names.iter().position(|other| other == name).unwrap_or(port);
            if number(first) != number(port) {
                let text = format!(
                    "found {name} as holder {} of one home and {} of another, expected the same place at both",
                    number(first).unwrap_or_default(),
                    number(port).unwrap_or_default()
                );
                return Err(NodeError::Joined { path: path(), text });
            }
        }
    }
    Ok(())
}
