//! Where messages leave each switch of a fabric: next hops, routing groups, the ways that follow, and all of it again when links
//! are lost.
//!
//! Modelled: a plan holds from a time on, the first from the start; each later one avoids the links that were lost and that the
//! fabric manager leads around by then. Detail: tables are written at one time in all switches. Left out: the commands that write
//! them.
//!
//! A walk through one plan: candidates are found for each destination over the links that are left; the PID turns them, so that
//! its first one is that of static routing; where a policy deals messages, all of them become a routing group. The ways of the
//! bindings are followed over every port of each hop.

use super::{FabricPort, OwnTable, PbrDecl, PbrFabric, PbrLostLink, Ways, decl_of, fabric_ports};
use crate::channels::RoutedWays;
use crate::design::System;
use crate::problem::Problems;
use scalepool_fabric::cxl_switch::pbr::drt::Drts;
use scalepool_fabric::cxl_switch::pbr::rgt::{MOST_GROUP_PORTS, Rgt};
use scalepool_fabric::cxl_switch::pbr::{DrtEntry, PbrCandidates, PbrChange, PbrGraph, PbrPid, judge_containment};
use scalepool_fabric::spread::{OVERFLOW_MIX, SpreadGroup, SpreadPolicy, SpreadPort};
use scalepool_ordered::{OrderedMap, OrderedSet};
use std::collections::VecDeque;

/// Where messages to a PID leave a switch.
#[derive(Debug, Clone)]
pub(super) struct NextHop {
    /// The ports, that of static routing first.
    ports: Vec<usize>,
    /// The routing group, if there are several.
    group: Option<usize>,
}

/// Routes of a fabric from a time on.
#[derive(Debug, Clone)]
pub(super) struct RoutePlan {
    /// When they hold \[fs\].
    pub(super) from_fs: u64,
    /// Ends of links that they do not use.
    pub(super) avoids: OrderedSet<FabricPort>,
    /// By switch and number of the PID: where messages to it leave.
    pub(super) next: Vec<OrderedMap<u16, NextHop>>,
    /// By switch: routing groups.
    pub(super) groups: Vec<Vec<SpreadGroup>>,
}

impl RoutePlan {
    /// Where a group of ports of a switch leads messages; one with several ports is an entry of its routing group table.
    fn hop(&mut self, switch: usize, group: SpreadGroup) -> NextHop {
        let ports: Vec<usize> = group.ports().collect();
        let groups = &mut self.groups[switch];
        let index = (ports.len() > 1).then(|| {
            groups.iter().position(|known| *known == group).unwrap_or_else(|| {
                groups.push(group);
                groups.len() - 1
            })
        });
        NextHop { ports, group: index }
    }
}

impl PbrFabric {
    /// Collects links that are lost, and the times from which routes lead around them.
    pub(super) fn plan(&mut self, system: &System, tables: &[OwnTable], problems: &mut Problems) {
        let mut times: OrderedMap<u64, OrderedSet<FabricPort>> = OrderedMap::from([(0, OrderedSet::new())]);
        // What is lost is known first: an error may leave one way.
        let declared = [false, true]
            .into_iter()
            .flat_map(|is_error| self.switches.iter().enumerate().map(move |(n, switch)| (is_error, n, *switch)));
        let declared: Vec<(bool, usize, usize)> = declared.collect();
        for (is_error, n, switch) in &declared {
            let (is_error, n) = (*is_error, *n);
            let Some(PbrDecl { hosts, devices, lost, errors, .. }) = decl_of(system, *switch) else { continue };
            let first = hosts + devices;
            let (list, key) = if is_error { (errors, "errors") } else { (lost, "lost") };
            for (PbrLostLink { isl, at, rerouted_after }, place) in list {
                let own = (n, first + isl);
                let count = system.components[*switch].ports.len() - first;
                if *isl >= count {
                    let text = format!("found isl = {isl}, expected one of the {count} fabric ports");
                    problems.add(*place, tables[*switch].key(key), text);
                    continue;
                }
                let (far, far_port) = system.far(*switch, own.1);
                let Ok(far) = self.switches.binary_search(&far) else { continue };
                let ends = [own, (far, far_port)];
                if is_error {
                    let before = self.lost.iter().filter(|(_, since)| since <= at).flat_map(|(ends, _)| *ends);
                    let before: OrderedSet<FabricPort> = before.collect();
                    let is_only_way = self.graph(system, &before).is_only_way(ends);
                    let is_contained = !is_only_way;
                    if let Some(wrong) = judge_containment(is_only_way, is_contained) {
                        problems.add(*place, tables[*switch].key(key), wrong.to_string());
                    }
                    self.errors.push((n, *at, is_contained));
                    if !is_contained {
                        continue;
                    }
                }
                if self.lost.iter().any(|(known, _)| known.contains(&own)) {
                    let path = &system.components[*switch].ports[own.1].path;
                    let text = format!("found the link at `{path}` twice, expected it once, at one of its ends");
                    problems.add(*place, tables[*switch].key(key), text);
                    continue;
                }
                self.lost.push((ends, *at));
                if let Some(after) = rerouted_after {
                    times.entry(at + after).or_default().extend(ends);
                }
            }
        }
        let mut avoids = OrderedSet::new();
        for (from_fs, ends) in times {
            avoids.extend(ends);
            let count = self.switches.len();
            self.plans.push(RoutePlan {
                from_fs,
                avoids: avoids.clone(),
                next: vec![OrderedMap::new(); count],
                groups: vec![Vec::new(); count],
            });
        }
    }

    pub(super) fn find_routes(&mut self, system: &System) {
        let ends: Vec<(PbrPid, FabricPort)> = self.ends().collect();
        let spread: OrderedSet<u16> = self.spread_pids().map(PbrPid::number).collect();
        let decls: Vec<(SpreadPolicy, u8)> = self
            .switches
            .iter()
            .map(|switch| decl_of(system, *switch).map_or((SpreadPolicy::Static, OVERFLOW_MIX), |decl| decl.spread))
            .collect();
        let mut plans = std::mem::take(&mut self.plans);
        for plan in &mut plans {
            let next = self.candidates(system, &plan.avoids);
            for &(pid, (to, last)) in &ends {
                for (from, candidates) in next[to].iter().enumerate() {
                    let pid = pid.number();
                    let hop = if from == to {
                        Some(NextHop { ports: vec![last], group: None })
                    } else {
                        let (policy, mix) = decls[from];
                        let policy = if spread.contains(&pid) { policy } else { SpreadPolicy::Static };
                        dealt(candidates, pid.into(), (policy, mix)).map(|group| plan.hop(from, group))
                    };
                    if let Some(hop) = hop {
                        plan.next[from].insert(pid, hop);
                    }
                }
            }
        }
        self.plans = plans;
    }

    /// By destination and switch, the fabric ports that lead there over links that are left.
    pub(super) fn candidates(&self, system: &System, avoids: &OrderedSet<FabricPort>) -> Vec<Vec<PbrCandidates>> {
        let graph = match avoids.is_empty() {
            true => self.graph(system, avoids),
            false => self.graph(system, avoids).after(&self.graph(system, &OrderedSet::new())),
        };
        (0..self.switches.len()).map(|to| graph.next(self.routing, to)).collect()
    }

    /// Its switches and the links between them that are left.
    fn graph(&self, system: &System, avoids: &OrderedSet<FabricPort>) -> PbrGraph {
        let mut graph = PbrGraph::new(self.switches.len());
        for (n, switch) in self.switches.iter().enumerate() {
            for (port, _) in fabric_ports(system, *switch).filter(|(port, _)| !avoids.contains(&(n, *port))) {
                if let Ok(far) = self.switches.binary_search(&system.far(*switch, port).0) {
                    graph.join(n, port, far);
                }
            }
        }
        graph
    }

    /// PIDs to which messages may take several ways: those that segment tables name, and those of hosts that have such a table.
    /// Traffic of virtual links is always routed statically (`fabric` PID-5).
    pub(super) fn spread_pids(&self) -> impl Iterator<Item = PbrPid> + '_ {
        let by_table = self.bindings.iter().filter(|binding| binding.own_pid.is_none());
        by_table.flat_map(|binding| self.pids.of_host(binding.host).into_iter().chain(self.device_pid(binding)))
    }

    /// The ways of messages to a PID through the switches, from a port of a fabric on: switch, port in, port out. The first one is
    /// at that port; the last one leaves the fabric.
    pub(super) fn way(
        &self,
        system: &System,
        plan: &RoutePlan,
        from: FabricPort,
        pid: PbrPid,
    ) -> Vec<(usize, usize, usize)> {
        let (mut known, mut queue) = (OrderedSet::from([from]), VecDeque::from([from]));
        let (mut steps, mut last) = (Vec::new(), Vec::new());
        while let Some(at) = queue.pop_front() {
            let Some(hop) = plan.next[at.0].get(&pid.number()) else { continue };
            for &out in &hop.ports {
                let (component, port) = system.far(self.switches[at.0], out);
                let Ok(next) = self.switches.binary_search(&component) else {
                    last.push((at.0, at.1, out));
                    continue;
                };
                steps.push((at.0, at.1, out));
                if known.insert((next, port)) {
                    queue.push_back((next, port));
                }
            }
        }
        steps.into_iter().chain(last).collect()
    }

    /// Ways of all plans together: messages of one may be under way when the next one holds.
    pub(super) fn find_ways(&mut self, system: &System) {
        let mut ways: Vec<[Ways; 3]> = vec![Default::default(); self.switches.len()];
        for plan in &self.plans {
            for (n, binding) in self.bindings.iter().enumerate() {
                let host = self.hosts[binding.host];
                let (Some(host_pid), Some(pid)) = (self.pids.of_host(binding.host), self.request_pid(n)) else {
                    continue;
                };
                let down = self.way(system, plan, host, pid);
                let up = self.way(system, plan, binding.device, host_pid);
                // What the decoder at the device refuses is answered from there; what that at the host refuses, at its port.
                if let (Some(last), Some(first), Some(_)) = (down.last(), up.first(), binding.own_pid) {
                    ways[last.0][RoutedWays::OwnAnswers as usize].insert((last.1, first.2));
                }
                ways[host.0][RoutedWays::OwnAnswers as usize].insert((host.1, host.1));
                for (steps, of) in [(down, RoutedWays::Requests), (up, RoutedWays::Answers)] {
                    for (switch, from, to) in steps {
                        ways[switch][of as usize].insert((from, to));
                    }
                }
            }
        }
        self.ways = ways;
    }

    /// The routing tables of a switch in a plan.
    pub(super) fn tables(&self, plan: &RoutePlan, switch: usize, ports: usize) -> Drts {
        // What a table cannot hold was found when the system was judged.
        let groups = Rgt::new(plan.groups[switch].clone()).unwrap_or_else(|error| unreachable!("{error}"));
        let mut tables = Drts::new(1, ports, groups);
        for (pid, NextHop { ports, group }) in &plan.next[switch] {
            // A switch has no more ports, and no more groups, than an entry can name.
            let entry = [group.map_or(DrtEntry::Port(ports[0] as u8), |group| DrtEntry::Group(group as u8))];
            if let Ok(table) = tables.table(0) {
                table.set(usize::from(*pid), &entry).unwrap_or_else(|error| unreachable!("a PID and a port: {error}"));
            }
        }
        tables
    }

    /// Virtual links with an end at a switch that are taken down, because their way from the start on passes a link that the fabric
    /// manager later leads around (`fabric` ISL-7).
    pub(super) fn unbound(&self, system: &System, switch: usize) -> Vec<(u64, [PbrPid; 2])> {
        let mut all = Vec::new();
        for (n, binding) in self.bindings.iter().enumerate() {
            let host = self.hosts[binding.host];
            let (Some(host_pid), Some(pid)) = (self.pids.of_host(binding.host), self.request_pid(n)) else { continue };
            let ways = [(host, pid), (binding.device, host_pid)];
            let steps: Vec<FabricPort> = ways
                .into_iter()
                .flat_map(|(from, to)| self.way(system, &self.plans[0], from, to))
                .map(|(switch, _, out)| (switch, out))
                .collect();
            let cut = self.plans[1..].iter().find(|plan| steps.iter().any(|step| plan.avoids.contains(step)));
            let Some(plan) = cut else { continue };
            for (place, pids) in [(host.0, [host_pid, pid]), (binding.device.0, [pid, host_pid])] {
                if place == switch {
                    all.push((plan.from_fs, pids));
                }
            }
        }
        all
    }

    /// Fabric ports of a switch whose links make a tree over all switches, found in breadth from the first one.
    pub(super) fn tree(&self, system: &System, switch: usize) -> OrderedSet<usize> {
        let (mut known, mut queue) = (OrderedSet::from([0]), VecDeque::from([0]));
        let mut own = OrderedSet::new();
        while let Some(from) = queue.pop_front() {
            for (port, _) in fabric_ports(system, self.switches[from]) {
                let (far, far_port) = system.far(self.switches[from], port);
                let Ok(far) = self.switches.binary_search(&far) else { continue };
                if known.insert(far) {
                    queue.push_back(far);
                    own.extend(
                        [(from, port), (far, far_port)].into_iter().filter(|end| end.0 == switch).map(|end| end.1),
                    );
                }
            }
        }
        own
    }

    /// What becomes of a switch while it runs, by time.
    pub(super) fn changes(&self, switch: usize, ports: usize) -> Vec<(u64, PbrChange)> {
        let own = |(ends, at_fs): &([FabricPort; 2], u64)| {
            ends.iter().filter(|end| end.0 == switch).map(|end| (*at_fs, PbrChange::Lost(end.1))).collect::<Vec<_>>()
        };
        let rerouted = self.plans[1..]
            .iter()
            .map(|plan| (plan.from_fs, PbrChange::Rerouted(Box::new(self.tables(plan, switch, ports)))));
        let mut all: Vec<(u64, PbrChange)> = self.lost.iter().flat_map(own).chain(rerouted).collect();
        scalepool_ordered::sort_by_key(&mut all, |(at_fs, _)| *at_fs);
        all
    }
}

/// The ports of a switch towards a PID as its routing group, so that the PID says which one is the first; `None`: there is no way.
fn dealt(candidates: &PbrCandidates, pid: usize, (policy, mix): (SpreadPolicy, u8)) -> Option<SpreadGroup> {
    let turned = |ports: &[SpreadPort], most: usize| {
        let mut ports = ports.to_vec();
        let first = pid.checked_rem(ports.len()).unwrap_or(0);
        ports.rotate_left(first);
        ports.truncate(most);
        ports
    };
    let primary = turned(&candidates.primary, MOST_GROUP_PORTS);
    let secondary = turned(&candidates.secondary, MOST_GROUP_PORTS - primary.len());
    (!primary.is_empty()).then_some(SpreadGroup { primary, secondary, policy, mix })
}
