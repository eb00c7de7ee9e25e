//! `nvlink.gpu`: a GPU of model profile NVL-M1 with the program that it runs, see [`scalepool_nodes::nvlink::gpu`].
//!
//! Modelled: two GPUs face each other, or GPUs stand around switches; each runs traffic, a litmus test of order, or its part
//! of an all-reduce. A walk: the work of the GPU is made a program; the GPU stands on the clock of flits of its links.

use crate::channels::ChannelWait;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Carried, Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, DomainMember, NodeError,
    NodeLedger, PortDecl, PortRole, Site, SitePort, component,
};
use crate::kinds::nvlink_link::{REQUEST, RESPONSE};
use crate::kinds::{bridge, memory_behind};
use crate::measured::{ComponentMeasured, NodeTraffic, Offered};
use crate::metric::metrics;
use crate::metric::{Metric, MetricValue};
use crate::quantity::Unit;
use scalepool_fabric::nvlink_switch::reduction::NumberType;
use scalepool_kernel::{Clock, Rng};
use scalepool_link::coverage::Met;
use scalepool_memory::limit;
use scalepool_nodes::nvlink::collective::{Algorithm, AllReduce, Vectors};
use scalepool_nodes::nvlink::completer::NVLINK_ANSWERS;
use scalepool_nodes::nvlink::gpu::{self, Gpu, GpuConfig, GpuResult, LinkEnds};
use scalepool_nodes::nvlink::ledger::NvlLedger;
use scalepool_nodes::nvlink::link_group::BLOCK_BYTES;
use scalepool_nodes::nvlink::litmus::Litmus;
use scalepool_nodes::nvlink::program::GpuProgram;
use scalepool_nodes::nvlink::traffic::{Aim, Mix, Traffic, TrafficConfig};
use scalepool_protocols::nvlink::{FLIT_BYTES, Op, efficiency};
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "nvlink.gpu",
    about: "model NVL-M1: GPU that uses the memory of other GPUs over a group of links and runs on their flit clock; its ports are `link[n]`",
    fields: NvGpu::fields,
    read: component::<NvGpu>,
    external: &["flits"],
    metrics: &[METRICS],
};

metrics! {
    /// What a GPU counts.
    static METRICS {
        READ = "READ" ["requests"] Sum, "reads sent";
        WRITE_POSTED = "WRITE_POSTED" ["requests"] Sum, "posted writes sent";
        WRITE_NONPOSTED = "WRITE_NONPOSTED" ["requests"] Sum, "writes with an answer sent";
        ATOMIC_RETURN = "ATOMIC_RETURN" ["requests"] Sum, "atomic operations that return the old value sent";
        ATOMIC_POSTED = "ATOMIC_POSTED" ["requests"] Sum, "posted atomic operations sent";
        FLUSH = "FLUSH" ["requests"] Sum, "flushes sent";
        MULTICAST_WRITE = "MULTICAST_WRITE" ["requests"] Sum, "writes to a group sent";
        REDUCE_READ = "REDUCE_READ" ["requests"] Sum, "reads of a sum over a group sent";
        ANSWERS = "answers" ["packets"] Sum, "answers received";
        PAYLOAD = "payload [bytes]" ["bytes"] Sum, "payload of finished reads and writes";
        WORK = "cycles of work" ["flit clocks"] Largest, "the flit clock of the last answer";
        VECTOR = "vector [bytes]" ["bytes"] Largest, "the vector of an all-reduce";
        BUS = "bus bandwidth [MB/s]" ["MB/s"] Smallest, "what each GPU would need on a bus for an all-reduce in that time: 2 (n - 1) / n of the vector over the time";
        FULL_BUS = "bus bandwidth of full packets [MB/s]" ["MB/s"] Largest, "the same if all its links carried packets of 256 bytes all the time";
    }
}

/// Operations of the transaction layer, the coverage points, with their names in reports.
static OPERATIONS: [(Op, &Metric); 8] = [
    (Op::READ, &READ),
    (Op::WRITE_POSTED, &WRITE_POSTED),
    (Op::WRITE_NONPOSTED, &WRITE_NONPOSTED),
    (Op::ATOMIC_RETURN, &ATOMIC_RETURN),
    (Op::ATOMIC_POSTED, &ATOMIC_POSTED),
    (Op::FLUSH, &FLUSH),
    (Op::MULTICAST_WRITE, &MULTICAST_WRITE),
    (Op::REDUCE_READ, &REDUCE_READ),
];

config! {
    /// What a GPU asks others for.
    pub struct NvTraffic {
        pattern: String = "mix" [Unit::Of("-")] in FieldRange::Words(&["mix", "accesses", "reads", "writes", "stream", "litmus"]), "mix = all operations and sizes; accesses = the same without atomics, which memory behind a bridge may refuse; reads, writes = reads or posted writes of `bytes`; stream = writes to blocks in order; litmus = litmus tests of ordering between two GPUs";
        requests: u64 = "1000" [Unit::Of("requests")] in FieldRange::Int(0, 1 << 24), "number of requests of each GPU; with litmus, of rounds of the test";
        load: f64 = "0" [Unit::Of("flits per GPU and cycle")] in FieldRange::Real(0.0, 18.0), "offered load; 0 = unthrottled";
        bytes: usize = "256" [Unit::Bytes] in FieldRange::Int(16, 256), "payload of a request; a multiple of 16";
        region: u64 = "64 KiB" [Unit::Bytes] in FieldRange::Int(256, 1 << 24), "memory that a GPU uses in each other GPU; a multiple of 256";
        verify: bool = "on" [Unit::Of("-")] in FieldRange::Switch, "read all written memory back at the end";
        shared: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(&["on", "off"]), "on = other components, such as hosts behind a bridge, store to the same bytes, so that what is read is not compared with what was written here; coherent copies are judged all the same; left out, off";
    }
}

impl NvTraffic {
    fn shares(&self) -> bool {
        self.shared.as_deref() == Some("on")
    }
}

config! {
    /// An all-reduce.
    pub struct NvCollective {
        gpus: u16 = "0" [Unit::Of("GPUs")] in FieldRange::Int(0, 72), "number of GPUs that take part, the first ones; 0 = all";
        bytes: u64 = "64 KiB" [Unit::Bytes] in FieldRange::Int(512, 1 << 28), "size of each GPU's vector, rounded up to 256 bytes per GPU";
        number: String = "f32" [Unit::Of("-")] in FieldRange::Words(&["int32", "f32", "bf16"]), "number type of the vector";
    }
}

config! {
    /// A GPU. Numbers without another source are of the model (basis: model).
    pub struct NvGpu {
        links: usize = "4" [Unit::Of("links")] in FieldRange::Int(1, 18), "number of links of the GPU (nvlink §4: up to 18)";
        memory_cycles: u64 = "100" [Unit::Of("flit clocks")] in FieldRange::Int(1, 1 << 20), "latency from request to response in a GPU";
        outstanding: usize = "256" [Unit::Of("requests")] in FieldRange::Int(1, 1000), "requests that each GPU can have outstanding; tags have 10 bits";
        work: String = "all-to-all" [Unit::Of("-")] in FieldRange::Words(&["all-to-all", "hot-spot", "random", "ring", "direct", "switch"]), "all-to-all, hot-spot (to GPU 0), random: traffic; ring, direct (by reads), switch: all-reduce";
        traffic: NvTraffic = "" [Unit::Of("-")] in FieldRange::Table(NvTraffic::fields), "what it asks for";
        collective: NvCollective = "" [Unit::Of("-")] in FieldRange::Table(NvCollective::fields), "the all-reduce in which it takes part";
    }
}

impl NvCollective {
    /// GPUs that take part, of so many.
    fn members(&self, nodes: u16) -> u16 {
        if self.gpus == 0 { nodes } else { self.gpus }
    }

    /// Blocks of a chunk of the vector.
    fn blocks(&self, members: u16) -> u64 {
        self.bytes.div_ceil(u64::from(members) * BLOCK_BYTES)
    }

    /// The vectors of all GPUs, the same for each of them.
    fn vectors(&self, algorithm: Algorithm, members: u16, site: &Site<'_>) -> Arc<Vectors> {
        let number = match self.number.as_str() {
            "int32" => NumberType::Int32,
            "bf16" => NumberType::Bf16,
            _ => NumberType::F32,
        };
        let blocks = self.blocks(members);
        let name = format!("vectors of {members} GPUs: {blocks} blocks of {number:?}, {algorithm:?}");
        site.shared.get(&name, || Vectors::new(site.seed, members.into(), blocks, number, algorithm))
    }
}

/// What a GPU runs, and the bytes of its vector in an all-reduce.
type GpuWork = (Box<dyn GpuProgram>, Option<u64>);

impl NvGpu {
    /// Its algorithm of an all-reduce; `None`: traffic.
    fn algorithm(&self) -> Option<Algorithm> {
        match self.work.as_str() {
            "ring" => Some(Algorithm::Ring),
            "direct" => Some(Algorithm::Direct),
            "switch" => Some(Algorithm::Switch),
            _ => None,
        }
    }

    fn mix(&self) -> Option<Mix> {
        match self.traffic.pattern.as_str() {
            "reads" => Some(Mix::Reads),
            "writes" => Some(Mix::Writes),
            "stream" => Some(Mix::Stream),
            "accesses" => Some(Mix::Accesses),
            "mix" => Some(Mix::All),
            _ => None,
        }
    }

    fn work(&self, site: &Site<'_>) -> GpuWork {
        let DomainMember { own, nodes, asked, peers, .. } = site.member;
        let members = self.collective.members(peers);
        let mut requests = self.traffic.requests;
        if let Some(algorithm) = self.algorithm() {
            if own < members {
                let vectors = self.collective.vectors(algorithm, members, site);
                let bytes = vectors.bytes();
                // Windows of addresses are those of all GPUs, and behind them that of the group.
                return (Box::new(AllReduce::new(algorithm, own, nodes, vectors)), Some(bytes));
            }
            requests = 0;
        }
        let Some(mix) = self.mix() else {
            return (Box::new(Litmus::new(1 - own, 2 * self.links as u64, requests)), None);
        };
        let traffic = TrafficConfig {
            id: own,
            gpus: asked,
            mix,
            aim: match self.work.as_str() {
                "hot-spot" => Aim::HotSpot(0),
                "random" => Aim::Random,
                _ => Aim::AllToAll,
            },
            requests,
            bytes: self.traffic.bytes,
            region_bytes: self.traffic.region,
            load: self.traffic.load,
            verify: self.traffic.verify,
            shares: self.traffic.shares(),
            behind: memory_behind(site),
        };
        (Box::new(Traffic::new(traffic, Rng::for_name(site.seed, &format!("{}.traffic", site.path)))), None)
    }
}

impl Component for NvGpu {
    fn own_wait_fs(&self, clock: Clock) -> u64 {
        clock.periods_fs(self.memory_cycles)
    }

    fn why_no_window(&self) -> &'static str {
        "whose memory other GPUs address by its number"
    }

    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "link", len: Some(self.links), links: &["nvlink"], role: PortRole::Node }]
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let sizes = [
            ("traffic.bytes", self.traffic.bytes as u64, FLIT_BYTES as u64),
            ("traffic.region", self.traffic.region, BLOCK_BYTES),
        ];
        let wrong = sizes.into_iter().filter(|(_, found, unit)| !found.is_multiple_of(*unit));
        wrong.map(|(key, found, unit)| (key, format!("found {found}, expected a multiple of {unit} bytes"))).collect()
    }

    fn check_joined(&self, _: Clock, member: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let nodes = member.peers;
        let mut wrong = Vec::new();
        if member.is_apart {
            let text = "found it beside accelerators of another kind, with pages or buffers of their own, expected GPUs of one kind";
            wrong.push(("traffic", text.to_owned()));
        }
        if self.traffic.pattern == "litmus" && nodes != 2 {
            wrong.push(("traffic.pattern", format!("found litmus tests of {nodes} GPUs, expected two GPUs")));
        }
        wrong.extend(links_lead_wrong(ports).map(|text| ("links", text)));
        if self.traffic.shares() && (self.mix().is_none() || self.algorithm().is_some()) {
            let text = "found it with a program that knows its values, expected requests whose bytes others may change";
            wrong.push(("traffic.shared", text.to_owned()));
        }
        let asks_bridge = matches!(self.work.as_str(), "all-to-all" | "random") && self.traffic.requests > 0;
        if self.traffic.pattern == "mix" && member.refuses_atomics && asks_bridge {
            wrong.push(("traffic.pattern", bridge::without_atomics("mix", "accesses, reads, writes or stream")));
        }
        let gpus = self.collective.gpus;
        if nodes < 2 && self.algorithm().is_some() {
            wrong.push(("work", "found an all-reduce of one GPU, expected two GPUs or more".to_owned()));
            return wrong;
        }
        if gpus == 1 || gpus > nodes {
            wrong.push(("collective.gpus", format!("found {gpus}, expected 0 or 2 to {nodes}")));
            return wrong;
        }
        if self.algorithm().is_some() {
            let members = self.collective.members(nodes);
            // A vector each, and their sum.
            let bytes = u128::from(self.collective.blocks(members) * u64::from(members) * BLOCK_BYTES);
            let above = limit::above(
                &format!("the vectors of {members} GPUs and their sum"),
                bytes * (u128::from(members) + 1),
            );
            wrong.extend(above.map(|text| ("collective.bytes", text)));
        }
        if self.algorithm() == Some(Algorithm::Switch)
            && let Some(port) = ports.iter().find(|port| !port.peer.multicast)
        {
            let found = if port.peer_role == PortRole::Switch { "a switch" } else { "a GPU" };
            let text = format!(
                "found {found} at {}, which neither copies nor reduces, expected a switch of generation 3 or 4",
                port.path
            );
            wrong.push(("work", text));
        }
        wrong
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        Some(vec![ChannelWait::answered(REQUEST, RESPONSE)])
    }

    fn asks(&self) -> bool {
        true
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let DomainMember { own, nodes, peers, .. } = site.member;
        let is_switched = site.ports.iter().all(|port| port.peer_role == PortRole::Switch);
        if !is_switched && (nodes != 2 || site.ports.iter().any(|port| port.peer_role == PortRole::Switch)) {
            let text = format!(
                "found {nodes} GPUs that links join, expected all links of a GPU at one other GPU, or all at switches"
            );
            return Err(NodeError::Joined { path: site.path.to_owned(), text });
        }
        let Carried::Nvlink { flit_clock, link_mbps } = site.one_kind_of_link()? else {
            unreachable!("a port takes the links that it declares")
        };
        let (program, vector_bytes) = self.work(site);
        let members = self.collective.members(peers);
        let config = GpuConfig {
            id: own,
            fabric: site.member.fabric,
            memory_cycles: self.memory_cycles,
            outstanding: self.outstanding,
            answer_queue: NVLINK_ANSWERS,
            group: if is_switched { members } else { 0 },
            program,
        };
        let is_throttled = self.traffic.load > 0.0 && self.algorithm().is_none();
        let figures = Figures {
            flit_clock,
            vector: vector_bytes.map(|bytes| Vector { bytes, members, wire_mbps: link_mbps * self.links as u64 }),
            load: is_throttled.then_some(self.traffic.load),
        };
        let name = format!("{}.core", site.path);
        let tap = hub.tap(&name, gpu::SHOWS);
        let result: Arc<Mutex<GpuResult>> = Arc::default();
        let (shared, seen, ledger): (_, _, Arc<Mutex<NvlLedger>>) = (result.clone(), result, Arc::default());
        let left = ledger.clone();
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                let (of_ports, clocks): (Vec<_>, Vec<_>) = plugs.into_iter().map(ComponentPlug::nvlink).unzip();
                let flit = clocks.first().copied().unwrap_or(clock);
                p.module(&name, flit, |bind| {
                    let ends = of_ports.into_iter().map(|plug| LinkEnds {
                        tx: plug.tx.map(|end| bind.attach(end)),
                        rx: plug.rx.map(|end| bind.attach(end)),
                    });
                    let ends = ends.collect();
                    Gpu::new(config, ends, tap, (shared, left))
                })
            }),
            measure: Box::new(move || figures.of(&super::published(&seen))),
            digest: Vec::new(),
            ledger: Some(NodeLedger::Nvlink(ledger)),
        })
    }
}

/// What is wrong with links that lead to another GPU without a switch, if something is.
pub(super) fn links_lead_wrong(ports: &[SitePort]) -> Option<String> {
    let is_wrong = |(n, port): &(usize, &SitePort)| port.peer_role == PortRole::Node && port.peer_port != *n;
    let (n, port) = ports.iter().enumerate().find(is_wrong)?;
    let (found, path) = (port.peer_port, &port.path);
    Some(format!(
        "found link {found} of the other GPU at {path}, expected link {n}: a block takes the link of its number at both GPUs"
    ))
}

/// The vector of an all-reduce.
struct Vector {
    bytes: u64,
    members: u16,
    /// Nominal rate of all links of the GPU in one direction \[MB/s\].
    wire_mbps: u64,
}

impl Vector {
    /// What a GPU says of it, after so many seconds.
    fn figures(&self, seconds: f64) -> [MetricValue; 3] {
        // n - 1 of n chunks go in and out of each GPU twice; headers take 1 flit of 17.
        let n = f64::from(self.members);
        let bus = 2.0 * (n - 1.0) / n * self.bytes as f64 / seconds.max(f64::MIN_POSITIVE);
        let full = self.wire_mbps as f64 * efficiency(256, 0);
        [(&VECTOR, self.bytes), (&BUS, (bus / 1e6) as u64), (&FULL_BUS, full as u64)]
    }
}

/// What its figures are made of, beside its result.
struct Figures {
    flit_clock: Clock,
    vector: Option<Vector>,
    /// Flits a cycle that it offers, if its settings say so.
    load: Option<f64>,
}

impl Figures {
    fn of(&self, result: &GpuResult) -> ComponentMeasured {
        let sent = |op: Op| result.sent.get(&op.0).copied().unwrap_or(0);
        let mut counts: Vec<MetricValue> = OPERATIONS.iter().map(|&(op, metric)| (metric, sent(op))).collect();
        counts.extend([(&ANSWERS, result.answers), (&PAYLOAD, result.bytes), (&WORK, result.last_cycle)]);
        let last = self.flit_clock.edge(result.last_cycle).as_fs();
        counts.extend(self.vector.iter().flat_map(|vector| vector.figures(last as f64 / 1e15)));
        ComponentMeasured {
            counts,
            bytes: result.bytes,
            latencies: result.latencies.clone(),
            broken: result.broken.clone(),
            to_fs: (result.last_cycle > 0).then_some(last),
            traffic: Some(NodeTraffic {
                offered: self.load.map_or(Offered::Flits(result.flits), Offered::PerCycle),
                accepted_flits: result.received_flits,
            }),
            rows: vec![Met {
                protocol: "nvlink",
                group: "operation",
                bins: OPERATIONS.iter().map(|&(op, metric)| (metric.name.to_owned(), sent(op))).collect(),
            }],
            ..ComponentMeasured::default()
        }
    }
}
