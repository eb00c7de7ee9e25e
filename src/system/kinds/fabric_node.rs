//! `fabric.node`: a node that sends and takes packets of no protocol, see [`scalepool_nodes::fabric::traffic_node`].
//!
//! Modelled: one node with one port. A walk: the mean number of measured packets and the load give the time that is measured, so
//! runs at all loads measure about as many packets. Of a program or a collective all packets are measured; the program is made
//! once for all nodes.

use crate::channels::ChannelWait;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, DomainMember, NodeError, NodeLedger,
    PortDecl, PortRole, Site, SitePort, component,
};
use crate::measured::{ComponentMeasured, PacketTraffic};
use crate::metric::metrics;
use crate::quantity::Unit;
use scalepool_fabric::topology::{RouterDefaults, Topology};
use scalepool_fabric::vc_router::MOST_LINES;
use scalepool_kernel::Clock;
use scalepool_nodes::PlacedViolation;
use scalepool_nodes::fabric::collectives::{COLLECTIVE_NAMES, collective};
use scalepool_nodes::fabric::packet_program::PacketProgram;
use scalepool_nodes::fabric::pattern::{PATTERN_NAMES, TrafficPattern, permutation};
use scalepool_nodes::fabric::program_file::read_program;
use scalepool_nodes::fabric::random_traffic::{RandomTraffic, RandomTrafficConfig};
use scalepool_nodes::fabric::traffic_node::{self, PacketSource, TrafficNode, TrafficNodeConfig, TrafficNodeResult};
use scalepool_protocols::wire::Violation;
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "fabric.node",
    about: "source and sink of packets of no protocol; its port is `port`",
    fields: FabricNode::fields,
    read: component::<FabricNode>,
    external: &[],
    metrics: &[METRICS],
};

metrics! {
    /// What a node counts.
    static METRICS {
        MADE = "packets made" ["packets"] Sum, "packets that nodes have made and sent";
        TAKEN = "packets taken" ["packets"] Sum, "packets that have come";
        MEASURED = "packets measured" ["packets"] Sum, "packets behind the figures of latency";
        QUEUED = "most packets queued" ["packets"] Largest, "the longest queue of a node";
        LAST = "last packet" ["cycles"] Largest, "cycle in which the last packet came: the time of a program or a collective";
    }
}

/// The pattern whose packets come from a file.
const PROGRAM: &str = "program";

/// The pattern whose packets go so many nodes on.
const SHIFT: &str = "shift";

/// What packets that come at random have where nothing is given; other traffic has no use for anything else.
const DEFAULT_LOAD: f64 = 0.1;
const DEFAULT_PACKETS: u64 = 1000;
const DEFAULT_WARM_UP: u64 = 3000;

/// What a node can send: patterns, collectives, and a program.
const TRAFFIC_NAMES: &[&str] = &{
    let mut names = [PROGRAM; PATTERN_NAMES.len() + COLLECTIVE_NAMES.len() + 1];
    let mut n = 0;
    while n < PATTERN_NAMES.len() + COLLECTIVE_NAMES.len() {
        names[n] = if n < PATTERN_NAMES.len() { PATTERN_NAMES[n] } else { COLLECTIVE_NAMES[n - PATTERN_NAMES.len()] };
        n += 1;
    }
    names
};

config! {
    /// What a node sends. Numbers are of the model (basis: model).
    pub struct FabricTraffic {
        pattern: String = "uniform" [Unit::Of("-")] in FieldRange::Words(TRAFFIC_NAMES), "where packets go: any node, the node itself too (uniform); node 0 more often (hot-spot); one node for each, at random (permutation), row and column exchanged (transpose), counted from the other end (complement), the next one (neighbour) or the one traffic.shift numbers on (shift); collectives: each to every other one (all-to-all), all-reduce along a ring or a binary tree; or what the file of traffic.program says";
        load: f64 = "0.1" [Unit::Of("flits per cycle")] in FieldRange::Real(0.0, 1.0), "flits that each node makes a cycle, as packets that come at random (Bernoulli); not of collectives and programs";
        packet_flits: u32 = "1" [Unit::Of("flits")] in FieldRange::Int(1, 1024), "flits of each packet; not of programs";
        burst: u32 = "1" [Unit::Of("packets")] in FieldRange::Int(1, 1024), "packets that a node makes at once each time that it makes any; the load stays the same";
        outstanding: Option<u32> = "" [Unit::Of("packets")] in FieldRange::Int(1, 1 << 16), "closed loop: every packet is answered by its target, and so many of a node at most are without an answer; latencies are round trips; not given = open loop";
        answer_flits: u32 = "1" [Unit::Of("flits")] in FieldRange::Int(1, 1024), "flits of each answer in a closed loop";
        rounds: u32 = "1" [Unit::Of("rounds")] in FieldRange::Int(1, 1 << 20), "how often a collective is done; a node begins the next round when its part of the one before is over";
        program: String = "" [Unit::Of("-")] in FieldRange::Text("path of a program of packets, relative to the description"), "packets that wait for one another, a JSON object a line: id, source, target, bytes, and as one likes time_ns, kind and after, the ids of packets that have to come to the source, or leave it, before";
        flit_bytes: u32 = "16" [Unit::Bytes] in FieldRange::Int(1, 1024), "bytes of a flit, by which a program's packets are cut";
        packets: u64 = "1000" [Unit::Of("packets")] in FieldRange::Int(1, 1 << 24), "packets of each node that are measured, on average; fewer where a closed loop does not reach the load";
        warm_up: u64 = "3000" [Unit::Of("cycles")] in FieldRange::Int(0, 1 << 30), "time before packets are measured";
        shift: Option<u16> = "" [Unit::Of("nodes")] in FieldRange::Int(0, u16::MAX as u64), "numbers from a node to its destination with pattern = \"shift\"; all nodes of a group of a dragonfly to the next group, or half around each ring, is what shortest ways are worst at; not given = 1";
        hot_percent: u8 = "10" [Unit::Of("percent")] in FieldRange::Int(0, 100), "packets that hot-spot sends to node 0; the others go to any";
    }
}

config! {
    /// A node.
    pub struct FabricNode {
        topology: String = "mesh:2x1" [Unit::Of("-")] in FieldRange::Text("a topology"), "topology that it is part of; a generator sets it";
        vcs: Option<usize> = "" [Unit::Of("virtual channels")] in FieldRange::Int(1, MOST_LINES as u64), "virtual channels of its channel; not given = those of a router of the topology";
        buffer_flits: Option<u32> = "" [Unit::Of("flits")] in FieldRange::Int(1, 1024), "buffer of each virtual channel at its router, which is the credit of the node; not given = as the router has, and another number is refused";
        traffic: FabricTraffic = "" [Unit::Of("-")] in FieldRange::Table(FabricTraffic::fields), "packets that it sends";
    }
}

impl FabricTraffic {
    fn is_file(&self) -> bool {
        self.pattern == PROGRAM
    }

    fn is_random(&self) -> bool {
        PATTERN_NAMES.contains(&self.pattern.as_str())
    }

    /// Settings of one kind of traffic that are given with another kind.
    fn check(&self) -> Option<ConfigFinding> {
        if self.is_file() == self.program.is_empty() {
            let text = if self.is_file() {
                "found no file with pattern = \"program\", expected the path of a program of packets".to_owned()
            } else {
                format!("found a file with pattern = \"{}\", expected pattern = \"program\"", self.pattern)
            };
            return Some(("traffic.program", text));
        }
        let only =
            |name, of: &str| Some((name, format!("found it with pattern = \"{}\", expected {of}", self.pattern)));
        match self {
            _ if self.outstanding.is_some() && !self.is_random() => {
                only("traffic.outstanding", "packets that come at random: those of a program wait for one another")
            }
            _ if self.outstanding.is_none() && self.answer_flits > 1 => Some((
                "traffic.answer_flits",
                format!(
                    "found {} in an open loop, expected traffic.outstanding beside it: without it nothing is answered",
                    self.answer_flits
                ),
            )),
            _ if self.burst > 1 && !self.is_random() => only("traffic.burst", "packets that come at random"),
            _ if self.load != DEFAULT_LOAD && !self.is_random() => only(
                "traffic.load",
                "packets that come at random: those of a program or a collective come when they can",
            ),
            _ if self.packets != DEFAULT_PACKETS && !self.is_random() => {
                only("traffic.packets", "packets that come at random: of a program or a collective all are measured")
            }
            _ if self.warm_up != DEFAULT_WARM_UP && !self.is_random() => only(
                "traffic.warm_up",
                "packets that come at random: a program or a collective is measured from its start",
            ),
            _ if self.shift.is_some() && self.pattern != SHIFT => only("traffic.shift", "pattern = \"shift\""),
            _ if self.rounds > 1 && (self.is_random() || self.is_file()) => only("traffic.rounds", "a collective"),
            _ => None,
        }
    }

    /// Cycles in which a node makes as many packets as are measured, on average.
    fn measured_cycles(&self) -> u64 {
        // Products and quotients are rounded the same way on every machine. Without load there is nothing to wait for.
        if self.load <= 0.0 {
            0
        } else {
            (self.packets as f64 * f64::from(self.packet_flits) / self.load).ceil() as u64
        }
    }
}

impl FabricNode {
    fn defaults(&self) -> Option<RouterDefaults> {
        Some(Topology::parse(&self.topology).ok()?.defaults())
    }

    fn vcs(&self) -> Option<usize> {
        Some(self.vcs.unwrap_or(self.defaults()?.vcs))
    }

    /// Its credits: what the buffer of the router holds. Where a node is its neighbour, which takes whatever comes, its own number.
    fn credits(&self, ports: &[SitePort]) -> Option<u32> {
        let of_peer = ports.first().and_then(|port| port.peer.buffer_flits);
        of_peer.or(self.buffer_flits).or_else(|| Some(self.defaults()?.buffer_flits))
    }

    /// A buffer that the router behind the channel does not have.
    fn other_buffer(&self, ports: &[SitePort]) -> Option<ConfigFinding> {
        let (given, port) = (self.buffer_flits?, ports.first()?);
        let held = port.peer.buffer_flits.filter(|held| *held != given)?;
        let text = format!("found {given} flits at {}, expected {held} as the router there has", port.path);
        Some(("buffer_flits", text))
    }

    fn pattern(&self, member: DomainMember, shared: impl FnOnce() -> Arc<Vec<u16>>) -> Result<TrafficPattern, String> {
        let FabricTraffic { pattern, hot_percent, shift, .. } = &self.traffic;
        TrafficPattern::of(pattern, member.own, member.nodes, *hot_percent, shift.unwrap_or(1), shared)
    }

    /// What the nodes do together; `None` if each makes packets at random.
    fn program(&self, site: &Site<'_>) -> Option<Arc<Result<PacketProgram, String>>> {
        let FabricTraffic { pattern, packet_flits, rounds, program, flit_bytes, .. } = &self.traffic;
        let nodes = site.member.nodes;
        if self.traffic.is_file() {
            let path = site.folder.join(program);
            let name = format!("packets of {flit_bytes} bytes a flit in {}", path.display());
            let read = || read_program(&path, nodes, *flit_bytes).map_err(|error| error.to_string());
            return Some(site.shared.get(&name, read));
        }
        let name = format!("{rounds} times {pattern} of {packet_flits} flits");
        let make = || collective(pattern, nodes, *rounds, *packet_flits).map(|made| made.map_err(|e| e.to_string()));
        COLLECTIVE_NAMES.contains(&pattern.as_str()).then(|| {
            site.shared.get(&name, || make().unwrap_or_else(|| unreachable!("it is one of the names of collectives")))
        })
    }
}

impl Component for FabricNode {
    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "port", len: None, links: &["fabric"], role: PortRole::Terminal }]
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let of_topology = Topology::parse(&self.topology).err().map(|error| ("topology", error.to_string()));
        of_topology.into_iter().chain(self.traffic.check()).collect()
    }

    fn check_joined(&self, clock: Clock, member: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let of_channel = self.vcs().and_then(|vcs| super::fabric_router::mismatch(ports, vcs, clock));
        let pattern = self.pattern(member, Arc::default).err().map(|text| ("traffic.pattern", text));
        let apart = member.is_apart.then(|| {
            let found = self.joint_traffic().unwrap_or_else(|| format!("packets at random ({})", self.traffic.pattern));
            let text = format!(
                "found {found}, expected what the first node of the fabric does: each waits for the packets of others"
            );
            ("traffic.pattern", text)
        });
        of_channel.into_iter().chain(self.other_buffer(ports)).chain(pattern).chain(apart).collect()
    }

    /// Packets of a collective or a program wait for those of other nodes.
    fn joint_traffic(&self) -> Option<String> {
        let FabricTraffic { pattern, packet_flits, rounds, program, flit_bytes, .. } = &self.traffic;
        match self.traffic.is_file() {
            _ if self.traffic.is_random() => None,
            true => Some(format!("the program {program} with {flit_bytes} bytes a flit")),
            false => Some(format!("{rounds} times {pattern} with {packet_flits} flits a packet")),
        }
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        // Whatever comes is taken.
        Some(Vec::new())
    }

    /// Gaps between packets that are 64 times as long as the mean are rarer than one in 10^27.
    fn own_wait_fs(&self, clock: Clock) -> u64 {
        let gap = f64::from(self.traffic.packet_flits) / self.traffic.load.max(1e-12);
        clock.periods_fs(self.traffic.warm_up.saturating_add((64.0 * gap) as u64))
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let refused = |text: String| NodeError::Joined { path: site.path.to_owned(), text };
        let shared = || site.shared.get("permutation", || permutation(site.seed, site.member.nodes));
        let pattern = self.pattern(site.member, shared).map_err(refused)?;
        let program = self.program(site);
        let program = program.as_deref().map(Result::as_ref).transpose().map_err(|text| refused(text.clone()))?;
        let of_node = program.map(|program| program.of_node(site.member.own, site.clock.periods_fs(1)));
        // The program of all is named once.
        let named = program.filter(|_| site.is_recorded && site.member.own == 0 && self.traffic.is_file());
        let digest = named.map_or_else(Vec::new, |program| program.digest().to_vec());
        let known = self.vcs().zip(self.credits(site.ports));
        let (vcs, buffer_flits) = known.ok_or_else(|| refused("found no topology".to_owned()))?;
        let FabricTraffic { load, packet_flits, burst, outstanding, answer_flits, warm_up, .. } = self.traffic;
        let window = if of_node.is_some() { (0, u64::MAX) } else { (warm_up, self.traffic.measured_cycles()) };
        let config = TrafficNodeConfig {
            node: site.member.own,
            packet_flits,
            answer_flits,
            warm_up_cycles: window.0,
            measured_cycles: window.1,
            vcs,
            buffer_flits,
        };
        let random = RandomTrafficConfig {
            pattern,
            nodes: site.member.nodes,
            load,
            packet_flits,
            burst_packets: burst,
            end_cycle: window.0.saturating_add(window.1),
            outstanding,
        };
        let result: Arc<Mutex<TrafficNodeResult>> = Arc::default();
        let (seen, name, path) = (result.clone(), format!("{}.traffic", site.path), site.path.to_owned());
        let tap = hub.tap(&name, traffic_node::SHOWS);
        let ledger = NodeLedger::Packets(result.clone());
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                p.module(&name, clock, |bind| {
                    let mut ports = plugs.into_iter().map(ComponentPlug::flits);
                    let Some(port) = ports.next() else { unreachable!("a node has one port") };
                    let (port, rng) = (port.attach(bind), bind.rng());
                    let source = match of_node {
                        Some(program) => PacketSource::Program(program),
                        None => PacketSource::Random(RandomTraffic::new(random, rng)),
                    };
                    TrafficNode::new(config, port, source, tap, result)
                })
            }),
            measure: Box::new(move || measured(&path, &super::published(&seen), window)),
            digest,
            ledger: Some(ledger),
        })
    }
}

fn measured(path: &str, result: &TrafficNodeResult, (from_cycle, cycles): (u64, u64)) -> ComponentMeasured {
    let astray = result.astray.iter().map(|found| PlacedViolation {
        place: path.to_owned(),
        violation: Violation::at_byte("SIM-E2E-03", 0, found, "packets for this node", "a packet went astray"),
    });
    let measured = result.latencies.len();
    ComponentMeasured {
        counts: vec![
            (&MADE, result.made),
            (&TAKEN, result.taken),
            (&MEASURED, measured),
            (&QUEUED, result.most_queued),
            (&LAST, result.last_cycle),
        ],
        latencies: result.latencies.clone(),
        broken: astray.collect(),
        packets: Some(PacketTraffic {
            nodes: 1,
            from_cycle,
            cycles,
            offered_flits: result.offered_flits,
            accepted_flits: result.accepted_flits,
            packets: measured,
            hops: result.hops,
        }),
        ..ComponentMeasured::default()
    }
}
