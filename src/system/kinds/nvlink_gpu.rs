//! `nvlink.gpu`: a GPU of model profile NVL-M1 with the traffic that it makes, see [`scalepool_nodes::nvlink::gpu`].

use crate::field::{Config, Range, config};
use crate::kind::{
    Carried, Component, ComponentKind, Finding, Ledger, Measured, Node, NodeError, Plug, PortDecl, Role, Site,
    component,
};
use crate::quantity::Unit;
use scalepool_kernel::Rng;
use scalepool_nodes::nvlink::gang::BLOCK_BYTES;
use scalepool_nodes::nvlink::gpu::{self, Gpu, GpuConfig, GpuResult, LinkEnds, Mutant};
use scalepool_nodes::nvlink::traffic::{Aim, Mix, Traffic, TrafficConfig};
use scalepool_protocols::nvlink::FLIT_BYTES;
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "nvlink.gpu",
    about: "model NVL-M1: GPU that uses the memory of its peer over ganged links, on their flit clock; its ports are `link[n]`",
    fields: NvGpu::fields,
    read: component::<NvGpu>,
    external: &[],
};

/// Answers that wait in a GPU for each link, before it takes requests no more.
const ANSWER_QUEUE: usize = 256;

config! {
    /// What a GPU asks its peer for.
    pub struct NvTraffic {
        pattern: String = "mix" [Unit::Of("-")] in Range::Words(&["mix", "reads", "writes", "stream"]), "all operations and sizes; reads or posted writes of `bytes`; writes to blocks in order";
        requests: u64 = "1000" [Unit::Of("requests")] in Range::Int(0, 1 << 24), "requests of the GPU";
        bytes: usize = "256" [Unit::Bytes] in Range::Int(16, 256), "payload of a request; a multiple of 16";
        region: u64 = "64 KiB" [Unit::Bytes] in Range::Int(256, 1 << 24), "memory that it uses in its peer; a multiple of 256";
        verify: bool = "on" [Unit::Of("-")] in Range::Switch, "read all written memory back at the end";
    }
}

config! {
    /// A GPU. Numbers without another source are of the model (basis: model).
    pub struct NvGpu {
        links: usize = "4" [Unit::Of("links")] in Range::Int(1, 18), "ganged links to its peer (nvlink §4: up to 18)";
        memory_cycles: u64 = "100" [Unit::Of("flit clocks")] in Range::Int(1, 1 << 20), "latency from request to answer in the GPU";
        outstanding: usize = "256" [Unit::Of("requests")] in Range::Int(1, 1000), "open requests; tags have 10 bits";
        traffic: NvTraffic = "" [Unit::Of("-")] in Range::Table(NvTraffic::fields), "what it asks for";
    }
}

impl Component for NvGpu {
    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "link", len: Some(self.links), links: &["nvlink"], role: Role::Node }]
    }

    fn check(&self) -> Vec<Finding> {
        let sizes = [
            ("traffic.bytes", self.traffic.bytes as u64, FLIT_BYTES as u64),
            ("traffic.region", self.traffic.region, BLOCK_BYTES),
        ];
        let wrong = sizes.into_iter().filter(|(_, found, unit)| !found.is_multiple_of(*unit));
        wrong.map(|(key, found, unit)| (key, format!("found {found}, expected a multiple of {unit} bytes"))).collect()
    }

    fn asks(&self) -> bool {
        true
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<Node, NodeError> {
        let (own, nodes) = (site.member.own, site.member.nodes);
        if nodes != 2 || site.ports.iter().any(|port| port.peer_member.own == own) {
            let text = format!("found {nodes} GPUs that links join, expected all links of a GPU at one other GPU");
            return Err(NodeError::Joined { path: site.path.to_owned(), text });
        }
        let traffic = TrafficConfig {
            id: own,
            gpus: nodes,
            mix: match self.traffic.pattern.as_str() {
                "reads" => Mix::Reads,
                "writes" => Mix::Writes,
                "stream" => Mix::Stream,
                _ => Mix::All,
            },
            aim: Aim::AllToAll,
            requests: self.traffic.requests,
            bytes: self.traffic.bytes,
            region_bytes: self.traffic.region,
            load: 0.0,
            verify: self.traffic.verify,
        };
        let rng = Rng::for_name(site.seed, &format!("{}.traffic", site.path));
        let config = GpuConfig {
            id: own,
            memory_cycles: self.memory_cycles,
            outstanding: self.outstanding,
            answer_queue: ANSWER_QUEUE,
            group: 0,
            program: Box::new(Traffic::new(traffic, rng)),
            mutant: Mutant::None,
        };
        let Carried::Nvlink { flit_clock } = site.one_kind_of_link()? else {
            unreachable!("a port takes the links that it declares")
        };
        let name = format!("{}.core", site.path);
        let tap = hub.tap(&name, gpu::SHOWS);
        let result: Arc<Mutex<GpuResult>> = Arc::default();
        let (shared, seen, ledger) = (result.clone(), result.clone(), Ledger::Nvlink(result));
        Ok(Node {
            place: Box::new(move |p, clock, plugs| {
                let (of_ports, clocks): (Vec<_>, Vec<_>) = plugs.into_iter().map(Plug::nvlink).unzip();
                let flit = clocks.first().copied().unwrap_or(clock);
                p.module(&name, flit, |bind| {
                    let ends = of_ports.into_iter().map(|plug| LinkEnds {
                        tx: plug.tx.map(|end| bind.attach(end)),
                        rx: plug.rx.map(|end| bind.attach(end)),
                    });
                    let ends = ends.collect();
                    Gpu::new(config, ends, tap, shared)
                })
            }),
            measure: Box::new(move || measured(flit_clock, &super::published(&seen))),
            digest: Vec::new(),
            ledger: Some(ledger),
        })
    }
}

fn measured(flit_clock: scalepool_kernel::Clock, result: &GpuResult) -> Measured {
    Measured {
        counts: vec![("answers", result.answers), ("payload [bytes]", result.bytes)],
        bytes: result.bytes,
        latency_cycles: result.latency_cycles.clone(),
        latency_fs: result.latency_fs.clone(),
        broken: result.broken.clone(),
        from_fs: 0,
        to_fs: (result.last_cycle > 0).then(|| flit_clock.edge(result.last_cycle).as_fs()),
        ..Measured::default()
    }
}
