//! Fabrics of switches with port based routing: who is in them, what is bound, PIDs and routes (`fabric` §3).
//!
//! Modelled: switches that inter-switch links join are one fabric. Its host ports, devices and bindings are numbered in the
//! order of the description, PIDs are allocated in that order, and routes are minimal, by the lowest port, or go up and then down
//! ([`scalepool_fabric::cxl_switch::pbr::paths`]), one for each PID, or several where segment tables name it and the switch deals
//! messages over them; and again without links that are lost, from when the fabric manager leads messages around them. Left out:
//! hot-add, and bindings that change while the system runs.
//!
//! A walk through one fabric: its switches are collected and their fabric ports joined. Bindings that the description gives
//! are looked up; without any, devices and logical devices go to the hosts in turn, and a device with port based routing to all
//! hosts of its protocol. Every switch gets a routing table, which
//! leads to each host and each binding, and its edge ports get what they translate by. The ways on which messages pass each
//! switch follow from the routes of the bindings; the graph of channels is made of them.

mod bindings;
mod gfds;
mod plans;

use super::channels::RoutedWays;
use super::coherence::HolderWay;
use super::design::System;
use super::field::{FieldRange, config};
use super::hierarchies;
use super::kind::{CoherenceProtocol, PortRole};
use super::kinds::gfd::PbrRequesters;
use super::memory_map::{self, MapView, MemoryTarget};
use super::problem::{Problems, TextPlace};
use super::quantity::Unit;
use super::resolve::OwnTable;
use plans::RoutePlan;
use scalepool_fabric::cxl_switch::binding::LOGICAL_DEVICES;
use scalepool_fabric::cxl_switch::pbr::rgt::Rgt;
use scalepool_fabric::cxl_switch::pbr::segments::SEGMENT_BYTES;
use scalepool_fabric::cxl_switch::pbr::{
    AccessVector, PbrChange, PbrClaim, PbrDevicePort, PbrHostPort, PbrOwner, PbrPid, PbrPort, PbrRoutes, PbrRouting,
    PbrSharedPort, PbrViral, PidCounts, PidHolder, PidPlan, SegmentTable, judge_pids,
};
use scalepool_fabric::spread::SpreadPolicy;
use scalepool_memory::bridge::{BridgeDecoder, BridgeDecoders};
use scalepool_ordered::{OrderedMap, OrderedSet};
use std::collections::VecDeque;

config! {
    /// A device, or a logical device, and the host that has it.
    pub struct PbrBindingConfig {
        port: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 254), "edge port towards the device";
        ld: Option<u8> = "" [Unit::Of("-")] in FieldRange::Int(0, LOGICAL_DEVICES as u64 - 1), "logical device behind the port; not given = the port as a whole";
        usp: String = "" [Unit::Of("-")] in FieldRange::Text("the edge port of a host, such as `front.usp[0]`"), "edge port of the host that has it, at any switch of the fabric";
    }
}

config! {
    /// An inter-switch link that goes down for good.
    pub struct PbrLostLink {
        isl: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 254), "fabric port of the link";
        at: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 50), "when it goes down; what is queued for it or on the wire is lost";
        rerouted_after: Option<u64> = "" [Unit::Time] in FieldRange::Int(0, 1 << 50), "time from then on after which the fabric manager has written tables that lead around it; not given = never: what the tables send there is dropped (fabric DRT-2)";
    }
}

/// What a switch has to know of its fabric.
#[derive(Debug, Clone)]
pub struct PbrSite {
    /// Routing state when it starts.
    pub routes: PbrRoutes,
    /// Changes by time \[fs\].
    pub changes: Vec<(u64, PbrChange)>,
    /// Virtual links that the fabric manager takes down because a link on their way is lost: when \[fs\], the PID at this switch, and
    /// that at the other end.
    pub unbound: Vec<(u64, [PbrPid; 2])>,
    /// Uncorrectable errors of inter-switch links that this switch declares: when \[fs\], and whether the link is contained.
    pub errors: Vec<(u64, bool)>,
    /// Links of the fabric are lost while it runs, at whatever switch.
    pub may_lose: bool,
    /// Fabric ports whose links make a tree over all switches.
    pub tree: OrderedSet<usize>,
    /// PID of the switch.
    pub own: PbrPid,
}

/// What a switch with port based routing declares.
pub struct PbrDecl<'a> {
    /// Edge ports towards hosts, which are its first ports.
    pub hosts: usize,
    /// Edge ports towards devices, which follow; behind them are fabric ports.
    pub devices: usize,
    /// How routes of its fabric are found.
    pub routing: PbrRouting,
    /// Which of several ways a message takes that need not stay behind others, and the mix of its routing groups.
    pub spread: (SpreadPolicy, u8),
    /// Whether its hosts decode by a segment table, and not by HDM decoders.
    pub has_segments: bool,
    /// Whether that table is the LDST, which leads to devices of at most 16 hosts (`fabric` GFD-1).
    pub is_ldst: bool,
    /// Bindings of its devices, each with its place.
    pub bindings: &'a [(PbrBindingConfig, TextPlace)],
    /// Inter-switch links that are lost while the system runs.
    pub lost: &'a [(PbrLostLink, TextPlace)],
    /// Whether it passes CXL.io, whose addresses are those that root complexes give away, and no memory map's.
    pub is_io: bool,
    /// Uncorrectable errors of inter-switch links.
    pub errors: &'a [(PbrLostLink, TextPlace)],
    /// Most devices that one of its hosts can have.
    pub most_of_host: usize,
}

/// A device or logical device that a host has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// The vPPB of the host.
    pub vppb: usize,
    /// The memory.
    pub target: MemoryTarget,
}

/// A port of a fabric: its switch, counted in the fabric, and the port of that.
type FabricPort = (usize, usize);

#[derive(Debug, Clone, Copy)]
struct Binding {
    host: usize,
    vppb: usize,
    device: FabricPort,
    ld: Option<u8>,
    target: MemoryTarget,
    /// CacheID of the caching device below a switch with hierarchy based routing at the port, 0 of any other device.
    cache_id: u8,
    /// Its number among those that have a PID of their own: a segment table names the device port instead.
    own_pid: Option<usize>,
}

/// A holder of the lines of a device: component and port of the host, and how it and the device find each other.
pub(super) type BoundHolder = ((usize, usize), HolderWay);

/// Ways through a switch: from one of its ports to another.
type Ways = OrderedSet<(usize, usize)>;

/// A fabric.
#[derive(Debug, Clone)]
struct PbrFabric {
    /// Its switches, as components.
    switches: Vec<usize>,
    hosts: Vec<FabricPort>,
    /// Edge ports towards devices.
    devices: Vec<FabricPort>,
    bindings: Vec<Binding>,
    routing: PbrRouting,
    pids: PidPlan,
    /// Links that are lost: both ends, and when.
    lost: Vec<([FabricPort; 2], u64)>,
    /// Uncorrectable errors: the switch that declares it, when, and whether its link is contained.
    errors: Vec<(usize, u64, bool)>,
    /// Routes from the start on, and each time when the fabric manager leads them around lost links.
    plans: Vec<RoutePlan>,
    /// Whether devices cache lines of its hosts.
    has_cache: bool,
    /// By switch: ways of requests, of answers, and of answers of the switch itself.
    ways: Vec<[Ways; 3]>,
}

/// The fabrics of a system.
#[derive(Debug, Clone, Default)]
pub struct PbrFabrics {
    fabrics: Vec<PbrFabric>,
    /// Fabric, and switch of that, by component.
    of_component: OrderedMap<usize, (usize, usize)>,
}

impl PbrFabrics {
    /// The fabrics of a system whose ports are joined. What is wrong is said of the tables of its components.
    pub(super) fn of(system: &System, tables: &[OwnTable], problems: &mut Problems) -> PbrFabrics {
        let mut all = PbrFabrics::default();
        for component in 0..system.components.len() {
            if system.components[component].config.pbr().is_none() || all.of_component.contains_key(&component) {
                continue;
            }
            let switches = joined(system, component);
            let fabric = all.fabrics.len();
            all.of_component.extend(switches.iter().enumerate().map(|(n, switch)| (*switch, (fabric, n))));
            all.fabrics.extend(PbrFabric::of(system, switches, tables, problems));
            if all.fabrics.len() == fabric {
                // Nothing else is said of a system with a wrong fabric.
                return PbrFabrics::default();
            }
        }
        all
    }

    fn find(&self, component: usize) -> Option<(&PbrFabric, usize)> {
        let (fabric, switch) = self.of_component.get(&component)?;
        Some((&self.fabrics[*fabric], *switch))
    }

    /// Whether a switch is in a fabric with caching devices.
    pub(super) fn has_cache(&self, component: usize) -> bool {
        self.find(component).is_some_and(|(fabric, _)| fabric.has_cache)
    }

    /// What is bound to the host at a port of a switch, each with the port of the component there; `None`: the port leads to no
    /// host.
    pub fn bound(&self, system: &System, component: usize, port: usize) -> Option<Vec<(usize, Bound)>> {
        let (fabric, switch) = self.find(component)?;
        let host = fabric.hosts.iter().position(|host| *host == (switch, port))?;
        let own = fabric.bindings.iter().filter(|binding| binding.host == host);
        let below = |binding: &Binding| {
            let (switch, port) = binding.device;
            let (_, port) = system.far(fabric.switches[switch], port);
            (port, Bound { vppb: binding.vppb, target: binding.target })
        };
        Some(own.map(below).collect())
    }

    /// The edge port of the host that has what is at an edge port towards a device: its switch, and the port. The first of several.
    pub(super) fn owner(&self, component: usize, port: usize) -> Option<(usize, usize)> {
        let (fabric, switch) = self.find(component)?;
        let binding = fabric.bindings.iter().find(|binding| binding.device == (switch, port))?;
        let (switch, port) = fabric.hosts[binding.host];
        Some((fabric.switches[switch], port))
    }

    /// The hosts that hold lines of the device at a port of a switch, or the devices that hold lines of the host there, in the order
    /// of their bindings; `None`: the port leads to neither.
    pub(super) fn holders(&self, system: &System, component: usize, port: usize) -> Option<Vec<BoundHolder>> {
        let (fabric, switch) = self.find(component)?;
        if let Some(host) = fabric.hosts.iter().position(|host| *host == (switch, port)) {
            let own = fabric.bindings.iter().filter(|binding| binding.host == host);
            // A caching device has neither LD-ID nor BI-ID; its number is its CacheID.
            let way = HolderWay { ld_id: 0, bi_id: 0, pids: None };
            let end = |binding: &Binding| {
                let (switch, port) = binding.device;
                let end = system.far(fabric.switches[switch], port);
                let below = hierarchies::caching(system, end);
                below.map_or(end, |ways| ways.get(usize::from(binding.cache_id)).map_or(end, |way| way.end))
            };
            return Some(own.map(|binding| (end(binding), way)).collect());
        }
        let device = fabric.devices.iter().position(|device| *device == (switch, port))?;
        let is_shared = fabric.is_shared(system, (switch, port));
        let own = fabric.bindings.iter().enumerate().filter(|(_, one)| one.device == (switch, port));
        let way = |(n, binding): (usize, &Binding)| {
            let (switch, port) = fabric.hosts[binding.host];
            let (host, pid) = (fabric.pids.of_host(binding.host)?, fabric.request_pid(n)?);
            let pids = [fabric.pids.of_device(device)?.number(), host.number()];
            let way =
                HolderWay { ld_id: binding.ld.unwrap_or(0), bi_id: pid.number(), pids: is_shared.then_some(pids) };
            Some((system.far(fabric.switches[switch], port), way))
        };
        Some(own.filter_map(way).collect())
    }

    /// Ways on which messages pass a switch, from port to port.
    pub fn ways(&self, component: usize, of: RoutedWays) -> OrderedSet<(usize, usize)> {
        self.find(component).map_or_else(OrderedSet::new, |(fabric, switch)| fabric.ways[switch][of as usize].clone())
    }

    /// Judges what follows from the memory map: windows of hosts with segment tables. `tables` are those of the components.
    pub(super) fn check(&self, system: &System, tables: &[OwnTable], problems: &mut Problems) {
        let all = self.fabrics.iter().flat_map(|fabric| (0..fabric.hosts.len()).map(move |host| (fabric, host)));
        let mut hosts = all.filter(|(fabric, host)| fabric.has_segments(system, *host)).peekable();
        self.fabrics.iter().for_each(|fabric| {
            fabric.judge_gfds(system, tables, problems);
            fabric.judge_requesters(system, tables, problems);
        });
        if hosts.peek().is_none() {
            return;
        }
        let views = memory_map::views(system);
        for (fabric, host) in hosts {
            if let Err(text) = fabric.segments(system, &fabric.decoders(&views, host), host) {
                tables[fabric.switches[fabric.hosts[host].0]].judge(vec![("decode", text)], problems);
            }
        }
    }

    /// Who asks the devices with port based routing, by component.
    pub(super) fn requesters(&self, system: &System) -> OrderedMap<usize, PbrRequesters> {
        self.fabrics.iter().flat_map(|fabric| fabric.requesters(system)).collect()
    }

    /// Routing state of all switches, by component; `views` are what components know of the memory map.
    pub fn routes(&self, system: &System, views: &[MapView]) -> Vec<Option<PbrSite>> {
        let of = |component| self.find(component).map(|(fabric, switch)| fabric.routes(system, views, switch));
        (0..system.components.len()).map(of).collect()
    }
}

/// The switches that inter-switch links join to one of them, in the order of the description.
fn joined(system: &System, first: usize) -> Vec<usize> {
    let (mut known, mut queue) = (OrderedSet::from([first]), VecDeque::from([first]));
    while let Some(switch) = queue.pop_front() {
        for (port, _) in fabric_ports(system, switch) {
            let (far, _) = system.far(switch, port);
            if known.insert(far) {
                queue.push_back(far);
            }
        }
    }
    known.into_iter().collect()
}

/// What a switch with port based routing declares; `None`: it is none.
fn decl_of(system: &System, switch: usize) -> Option<PbrDecl<'_>> {
    system.components[switch].config.pbr()
}

/// Fabric ports of a switch.
fn fabric_ports(system: &System, switch: usize) -> impl Iterator<Item = (usize, &str)> {
    let ports = system.components[switch].ports.iter().enumerate();
    ports.filter(|(_, port)| port.decl.role == PortRole::SwitchFabric).map(|(n, port)| (n, port.path.as_str()))
}

impl PbrFabric {
    /// The fabric of these switches; `None`: something is wrong, which has been said.
    fn of(system: &System, switches: Vec<usize>, tables: &[OwnTable], problems: &mut Problems) -> Option<PbrFabric> {
        let decl = |switch: usize| {
            let decl = system.components[switches[switch]].config.pbr();
            decl.unwrap_or_else(|| unreachable!("inter-switch links join such switches alone"))
        };
        let all = 0..switches.len();
        let hosts: Vec<FabricPort> = all.clone().flat_map(|n| (0..decl(n).hosts).map(move |port| (n, port))).collect();
        let devices = all.clone().flat_map(|n| {
            let PbrDecl { hosts, devices, .. } = decl(n);
            (hosts..hosts + devices).map(move |port| (n, port))
        });
        let devices: Vec<FabricPort> = devices.collect();
        let is_given = all.clone().any(|n| !decl(n).bindings.is_empty());
        let routing = decl(0).routing;
        let other = all.clone().find(|n| decl(*n).routing != routing);
        let mut fabric = PbrFabric {
            hosts,
            devices,
            bindings: Vec::new(),
            routing,
            pids: PidPlan::new(PidCounts::default()).ok()?,
            lost: Vec::new(),
            errors: Vec::new(),
            plans: Vec::new(),
            has_cache: false,
            ways: vec![Default::default(); switches.len()],
            switches,
        };
        let before = problems.list.len();
        let first = fabric.switches[0];
        if let Some(other) = other {
            let path = &system.components[first].path;
            let text = format!("found another policy than that of `{path}`, expected one for all switches of a fabric");
            tables[fabric.switches[other]].judge(vec![("routing", text)], problems);
        }
        for switch in all {
            let decl = system.components[fabric.switches[switch]].config.pbr()?;
            let ports = decl.hosts..decl.hosts + decl.devices;
            if is_given {
                let own = &tables[fabric.switches[switch]];
                for (given, place) in decl.bindings {
                    if let Err(text) = fabric.bind_given(system, switch, &ports, given) {
                        problems.add(*place, own.key("bindings"), text);
                    }
                }
            } else {
                ports.for_each(|port| fabric.bind_in_turn(system, (switch, port)));
            }
        }
        if problems.list.len() == before {
            for (host, (switch, port)) in fabric.hosts.iter().enumerate() {
                let count = fabric.bindings.iter().filter(|binding| binding.host == host).count();
                let most = decl_of(system, fabric.switches[*switch])?.most_of_host;
                if count > most {
                    let component = fabric.switches[*switch];
                    let path = &system.components[component].ports[*port].path;
                    let text = format!(
                        "found {count} devices for `{path}`, expected at most {most}: there are 256 bus numbers"
                    );
                    tables[component].judge(vec![("bindings", text)], problems);
                }
                if count == 0 {
                    let component = fabric.switches[*switch];
                    let path = &system.components[component].ports[*port].path;
                    let text = format!("found no device for `{path}`, expected one at least for every host");
                    tables[component].judge(vec![("bindings", text)], problems);
                }
            }
            for &(switch, port) in &fabric.devices {
                let is_bound = fabric.bindings.iter().any(|binding| binding.device == (switch, port));
                if !is_bound && fabric.coherence(system, (switch, port)).is_some() {
                    let component = fabric.switches[switch];
                    let path = &system.components[component].ports[port].path;
                    let role = fabric.role(system, (switch, port)).name();
                    let text = format!("found no host for the {role} at `{path}`, expected one of its protocol");
                    tables[component].judge(vec![("bindings", text)], problems);
                }
            }
        }
        fabric.has_cache = fabric.devices.iter().any(|device| fabric.is_caching(system, *device));
        fabric.judge_cache_ids(system, tables, problems);
        let counts = PidCounts {
            switches: fabric.switches.len(),
            hosts: fabric.hosts.len(),
            bindings: fabric.bindings.iter().filter(|binding| binding.own_pid.is_some()).count(),
            devices: fabric.devices.len(),
        };
        match PidPlan::new(counts) {
            Ok(pids) => {
                fabric.pids = pids;
                let switches = (0..fabric.switches.len()).map(PidHolder::Switch);
                let bindings = (0..counts.bindings).map(PidHolder::Binding);
                let needed: Vec<PidHolder> =
                    std::iter::once(PidHolder::Manager).chain(switches).chain(bindings).collect();
                if let Err(error) = judge_pids(&needed, &pids.given()) {
                    tables[first].judge(vec![("bindings", error.to_string())], problems);
                }
            }
            Err(error) => tables[first].judge(vec![("bindings", error.to_string())], problems),
        }
        fabric.plan(system, tables, problems);
        for n in 0..fabric.switches.len() {
            let policy = decl_of(system, fabric.switches[n])?.spread.0;
            if policy.needs_longer_ways() && !routing.has_longer_ways() {
                let text = "found a policy for longer ways with routes that have none, expected routing = \"up-down\" (fabric RGT-7)";
                tables[fabric.switches[n]].judge(vec![("spread", text.to_owned())], problems);
            }
        }
        if problems.list.len() > before {
            return None;
        }
        fabric.find_routes(system);
        for plan in &fabric.plans {
            for (switch, groups) in fabric.switches.iter().zip(&plan.groups) {
                if let Err(error) = Rgt::new(groups.clone()) {
                    tables[*switch].judge(vec![("spread", error.to_string())], problems);
                }
            }
        }
        fabric.find_ways(system);
        (problems.list.len() == before).then_some(fabric)
    }

    /// PIDs of hosts, bindings and device ports, each with the port where its messages end.
    fn ends(&self) -> impl Iterator<Item = (PbrPid, FabricPort)> + '_ {
        let hosts = self.hosts.iter().enumerate().filter_map(|(n, port)| Some((self.pids.of_host(n)?, *port)));
        let bindings = self.bindings.iter();
        let bindings = bindings.filter_map(|binding| Some((self.pids.of_binding(binding.own_pid?)?, binding.device)));
        let devices = self.devices.iter().enumerate();
        hosts.chain(bindings).chain(devices.filter_map(|(n, port)| Some((self.pids.of_device(n)?, *port))))
    }

    /// Whether a host decodes by a segment table because its switch says so.
    fn has_segments(&self, system: &System, host: usize) -> bool {
        let (switch, _) = self.hosts[host];
        system.components[self.switches[switch]].config.pbr().is_some_and(|decl| decl.has_segments)
    }

    /// The PID of the edge port of a binding.
    fn device_pid(&self, binding: &Binding) -> Option<PbrPid> {
        let device = self.devices.iter().position(|port| *port == binding.device)?;
        self.pids.of_device(device)
    }

    /// The PID to which a host sends requests for what a binding gives it.
    fn request_pid(&self, n: usize) -> Option<PbrPid> {
        let binding = &self.bindings[n];
        binding.own_pid.map_or_else(|| self.device_pid(binding), |own| self.pids.of_binding(own))
    }

    /// The segment table of a host, from its decoders; one that keeps lines coherent numbers those of its device from 0.
    ///
    /// # Errors
    /// What a segment table cannot say.
    fn segments(&self, system: &System, decoders: &BridgeDecoders, host: usize) -> Result<SegmentTable, String> {
        let is_coherent = self.coherence(system, self.hosts[host]).is_some();
        let own: Vec<&Binding> = self.bindings.iter().filter(|binding| binding.host == host).collect();
        if let (true, Some(pid)) = (is_coherent, own.first().and_then(|binding| self.device_pid(binding))) {
            return Ok(SegmentTable::of_all(pid));
        }
        for (n, binding) in own.iter().enumerate() {
            if own[..n].iter().any(|other| other.device == binding.device) {
                return Err(
                    "found two logical devices of one device for a host with a segment table, expected one: its edge port finds it by the host alone (fabric §3.4)"
                        .to_owned(),
                );
            }
        }
        let list = decoders.list();
        let span = |decoder: &BridgeDecoder| {
            let first = decoder.base / SEGMENT_BYTES;
            (first, first + decoder.size.div_ceil(SEGMENT_BYTES))
        };
        if let Some(decoder) = list.iter().find(|decoder| !decoder.base.is_multiple_of(SEGMENT_BYTES)) {
            let base = decoder.base;
            return Err(format!(
                "found a window at {base:#x} for a host with a segment table, expected a multiple of 64 GiB (fabric EDG-3)"
            ));
        }
        let ends = (list.first().map(span), list.last().map(span));
        let (first, end) = match ends {
            (Some((first, _)), Some((_, end))) => (first, end),
            _ => (0, 0),
        };
        let depth = (end - first).max(1).next_power_of_two() as usize;
        let table = SegmentTable::new(first * SEGMENT_BYTES, end * SEGMENT_BYTES, 0, depth);
        let mut table = table.map_err(|error| error.to_string())?;
        let mut access = AccessVector::default();
        own.iter().filter_map(|binding| self.device_pid(binding)).for_each(|pid| access.set(pid, true));
        for decoder in list {
            let pid = |vppb: &usize| own.iter().find(|one| one.vppb == *vppb).and_then(|one| self.device_pid(one));
            let dpids: Vec<PbrPid> = decoder.targets.iter().filter_map(pid).collect();
            let (first, end) = span(decoder);
            for segment in first..end {
                let entry = table.index(segment * SEGMENT_BYTES).unwrap_or(0);
                table.set(entry, decoder.granularity, &dpids, &access).map_err(|error| error.to_string())?;
            }
        }
        Ok(table)
    }

    /// Routing state of a switch.
    fn routes(&self, system: &System, views: &[MapView], switch: usize) -> PbrSite {
        let component = &system.components[self.switches[switch]];
        let count = component.ports.len();
        let tables = self.tables(&self.plans[0], switch, count);
        let mut ports: Vec<PbrPort> = vec![PbrPort::Fabric; count];
        let has_snoops = |port: FabricPort| self.coherence(system, port) == Some(CoherenceProtocol::HdmDb);
        let has_cache = |port: FabricPort| self.is_caching(system, port);
        for (n, (_, port)) in self.hosts.iter().enumerate().filter(|(_, host)| host.0 == switch) {
            let Some(pid) = self.pids.of_host(n) else { continue };
            let own: Vec<&Binding> = self.bindings.iter().filter(|binding| binding.host == n).collect();
            let link = &system.links[component.ports[*port].link];
            let mut decoders = self.decoders(views, n);
            let is_by_segments = own.iter().any(|binding| binding.own_pid.is_none());
            let segments = is_by_segments.then(|| {
                // What a table refuses was found when the system was judged.
                let table = self.segments(system, &std::mem::take(&mut decoders), n);
                table.unwrap_or_else(|error| unreachable!("{error}"))
            });
            let bindings: Vec<PbrPid> =
                own.iter().filter_map(|binding| self.pids.of_binding(binding.own_pid?)).collect();
            ports[*port] = PbrPort::Host(PbrHostPort {
                pid,
                segments: segments.into_iter().collect(),
                decoders,
                form: link.config.facts().message_form(),
                has_cache: has_cache((switch, *port)),
                bindings,
                has_snoops: has_snoops((switch, *port)),
            });
        }
        for (n, (_, port)) in self.devices.iter().enumerate().filter(|(_, device)| device.0 == switch) {
            let Some(pid) = self.pids.of_device(n) else { continue };
            ports[*port] = if self.is_shared(system, (switch, *port)) {
                PbrPort::Shared(PbrSharedPort {
                    pid,
                    hosts: OrderedSet::new(),
                    is_gfd: self.is_gfd(system, (switch, *port)),
                })
            } else {
                let (has_snoops, has_cache) = (has_snoops((switch, *port)), has_cache((switch, *port)));
                let bus =
                    hierarchies::bus_below(system, system.far(self.switches[switch], *port)).filter(|_| has_snoops);
                PbrPort::Device(PbrDevicePort { pid, owners: OrderedMap::new(), bus, has_snoops, has_cache })
            };
        }
        let mut claims = OrderedMap::new();
        let own = self.bindings.iter().enumerate().filter(|(_, binding)| binding.device.0 == switch);
        for (n, binding) in own {
            let (Some(host), Some(pid)) = (self.pids.of_host(binding.host), self.request_pid(n)) else { continue };
            let (port, ld_id) = (binding.device.1, binding.ld.unwrap_or(0));
            match &mut ports[port] {
                PbrPort::Device(device) => {
                    let number = binding.ld.unwrap_or(binding.cache_id);
                    device.owners.insert(number, PbrOwner { host, own: pid });
                }
                PbrPort::Shared(device) => drop(device.hosts.insert(host)),
                PbrPort::Host(_) | PbrPort::Fabric => (),
            }
            if binding.own_pid.is_none() {
                continue;
            }
            let decoders = claimed(&self.decoders(views, binding.host), binding.vppb);
            claims.insert((host.number(), pid.number()), PbrClaim { port, ld_id, decoders });
        }
        let has_snoops = self.devices.iter().any(|device| has_snoops(*device));
        let routes = PbrRoutes {
            ports,
            tables,
            claims,
            poison_on_decode_error: false,
            has_snoops,
            has_cache: self.has_cache,
            seed: 0,
            lost: OrderedSet::new(),
            is_cut: false,
            viral: PbrViral::default(),
            changes: Vec::new(),
        };
        PbrSite {
            routes,
            changes: self.changes(switch, count),
            unbound: self.unbound(system, switch),
            errors: self.errors.iter().filter(|(at, ..)| *at == switch).map(|(_, at, is)| (*at, *is)).collect(),
            may_lose: !self.lost.is_empty(),
            tree: self.tree(system, switch),
            own: self.pids.of_switch(switch).unwrap_or(PidPlan::MANAGER),
        }
    }

    /// Decoders of a host; their targets are vPPBs.
    fn decoders(&self, views: &[MapView], host: usize) -> BridgeDecoders {
        let (switch, port) = self.hosts[host];
        views[self.switches[switch]].bridges.get(port).cloned().unwrap_or_default()
    }
}

/// The decoders at the far end of the virtual link of a vPPB: those that lead to it, whose only target is what is there.
fn claimed(decoders: &BridgeDecoders, vppb: usize) -> BridgeDecoders {
    let mut own = BridgeDecoders::default();
    for decoder in decoders.list().iter().filter(|decoder| decoder.targets.contains(&vppb)) {
        let decoder = BridgeDecoder { targets: vec![0], ..decoder.clone() };
        own.commit(decoder).unwrap_or_else(|error| unreachable!("some of those that are committed: {error}"));
    }
    own
}
