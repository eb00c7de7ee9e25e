//! `net.rdma`: memory of another cluster or of a CPU that accelerators reach without coherence, see [`scalepool_bridge::remote`].
//!
//! Modelled: it stands among the nodes of a UALink or NVLink fabric behind the accelerators, as a bridge does, and each request is one
//! operation. Left out: who else uses that memory. A walk through one description: `transport` gives the three parts of an operation,
//! single values override them; the links say which protocol its requests have.

use crate::channels::ChannelWait;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Carried, Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, DomainMember, NodeError,
    NodeLedger, NodePart, PortDecl, PortRole, Site, SitePort, component,
};
use crate::kinds::bridge::ualink::{BridgeUalinkEnds, place_port};
use crate::kinds::memory_behind;
use crate::kinds::ualink_accelerator::protection;
use crate::kinds::ualink_link::{REQUEST, RESPONSE};
use crate::measured::ComponentMeasured;
use crate::metric::metrics;
use crate::quantity::Unit;
use scalepool_bridge::module::nvlink::{NvlinkRequestEnds, NvlinkRequesters};
use scalepool_bridge::module::ualink::{UalinkRequestEnds, UalinkRequesters};
use scalepool_bridge::remote::{REMOTE_BACKGROUND, RemoteConfig, RemoteMemory, RemoteOperation, RemoteResult};
use scalepool_kernel::Clock;
use scalepool_link::ualink::security::Protection;
use scalepool_memory::backend::{Media, MemoryTiming, ServerConfig};
use scalepool_memory::owner_clock::OwnerClock;
use scalepool_nodes::nvlink::ledger::NvlLedger;
use scalepool_nodes::ualink::accelerator;
use scalepool_nodes::ualink::ledger::UalLedger;
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "net.rdma",
    about: "memory of another cluster or of a CPU, reached by RDMA over a network or by a link from chip to chip, without coherence; its ports are `x[n]` on UALink or NVLink",
    fields: NetRdma::fields,
    read: component::<NetRdma>,
    external: &["flits"],
    metrics: &[METRICS],
};

metrics! {
    /// What it counts.
    static METRICS {
        READS = "remote reads" ["operations"] Sum, "reads that are done";
        WRITES = "remote writes" ["operations"] Sum, "writes that are done";
        ATOMICS = "remote atomics" ["operations"] Sum, "atomics that are done";
        MOVED = "remote bytes" ["bytes"] Sum, "bytes that remote reads, writes and atomics moved";
        REFUSED = "remote requests refused" ["requests"] Sum, "requests that ended with a status that is not OKAY";
    }
}

/// Names of the transports, in the order of [`TRANSPORTS`].
const TRANSPORT_NAMES: &[&str] = &["rdma", "c2c-nvlink", "c2c-pcie"];
/// The parts of their operations.
const TRANSPORTS: [RemoteOperation; 3] =
    [RemoteOperation::RDMA, RemoteOperation::C2C_NVLINK, RemoteOperation::C2C_PCIE];

config! {
    /// Memory that is reached by operations. All figures are our own choice (basis: model; BRG-BAS-01, choice c28).
    pub struct NetRdma {
        x_ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 16), "links to accelerators";
        size: u64 = "16 GiB" [Unit::Bytes] in FieldRange::Int(256, 1 << 36), "memory behind it, from address 0 on";
        transport: String = "rdma" [Unit::Of("-")] in FieldRange::Words(TRANSPORT_NAMES), "named parts of an operation, our own choice: rdma = 2 us of software, 1 us of network, 50 GB/s; c2c-nvlink = 300 ns, 450 GB/s; c2c-pcie = 600 ns, 64 GB/s, both without software (BRG-BAS-01)";
        software: Option<u64> = "" [Unit::Time] in FieldRange::Int(0, 1 << 50), "software that posts and completes an operation; left out, that of the transport";
        network: Option<u64> = "" [Unit::Time] in FieldRange::Int(0, 1 << 50), "network or link, there and back; left out, that of the transport";
        bandwidth: Option<u64> = "" [Unit::Of("MB/s")] in FieldRange::Int(1, 1 << 40), "bytes of all operations share it; left out, that of the transport";
        outstanding: usize = "64" [Unit::Of("operations")] in FieldRange::Int(1, 1 << 16), "operations that may be under way";
    }
}

impl NetRdma {
    fn operation(&self) -> RemoteOperation {
        let named = TRANSPORT_NAMES.iter().position(|name| *name == self.transport);
        let of_transport = TRANSPORTS[named.unwrap_or_else(|| unreachable!("a word of the range"))];
        RemoteOperation {
            software_fs: self.software.unwrap_or(of_transport.software_fs),
            network_fs: self.network.unwrap_or(of_transport.network_fs),
            mbytes_per_s: self.bandwidth.unwrap_or(of_transport.mbytes_per_s),
        }
    }
}

impl Component for NetRdma {
    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "x", len: Some(self.x_ports), links: &["ualink", "nvlink"], role: PortRole::Node }]
    }

    fn check_joined(&self, _: Clock, _: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let is_ualink = |port: &SitePort| matches!(port.link.carried, Carried::Ualink { .. });
        let mut wrong = Vec::new();
        if let Some(port) = ports.iter().find(|port| is_ualink(port) != is_ualink(&ports[0])) {
            let text = format!("found UALink and NVLink at {}, expected one protocol at all ports", port.path);
            wrong.push(("x_ports", text));
        }
        let guarded = |port: &&SitePort| is_ualink(port) && protection(port) != Protection::Off;
        if let Some(port) = ports.iter().find(guarded) {
            let text = format!("found authentication at {}, expected none: it does not check tags", port.path);
            wrong.push(("x_ports", text));
        }
        let is_strict = |port: &&SitePort| matches!(port.link.carried, Carried::Ualink { strict: true, .. });
        if let Some(port) = ports.iter().find(is_strict).filter(|_| ports.len() > 1) {
            let text =
                format!("found strict order at {} among several ports, expected relaxed, or one port", port.path);
            wrong.push(("x_ports", text));
        }
        wrong
    }

    fn why_no_window(&self) -> &'static str {
        "whose memory accelerators address by its number"
    }

    fn node_part(&self) -> NodePart {
        NodePart::Memory
    }

    fn own_wait_fs(&self, clock: Clock) -> u64 {
        clock.periods_fs(1).saturating_add(self.operation().time_fs(256).saturating_mul(self.outstanding as u64))
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        Some(vec![ChannelWait::answered(REQUEST, RESPONSE)])
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let (name, DomainMember { own, fabric, .. }) = (site.path.to_owned(), site.member);
        let (operation, size) = (self.operation(), self.size);
        let clock = OwnerClock::new(site.clock.period());
        let server = ServerConfig { latency_fs: operation.latency_fs(), byte_time: operation.byte_time(), clock };
        let timing = MemoryTiming {
            latency_cycles: 0,
            interval_cycles: 0,
            in_flight: self.outstanding,
            media: Media::Server(server),
        };
        let config = RemoteConfig { place: name.clone(), size, timing };
        let first = move |address| (address < size).then(|| REMOTE_BACKGROUND.line(address));
        memory_behind(site).stands_in_front(own, Box::new(first));
        let tap = hub.tap(&name, accelerator::SHOWS);
        let result: Arc<Mutex<RemoteResult>> = Arc::default();
        let shared = result.clone();
        let is_ualink = matches!(site.ports[0].link.carried, Carried::Ualink { .. });
        let (of_ualink, of_nvlink): (Arc<Mutex<UalLedger>>, Arc<Mutex<NvlLedger>>) = Default::default();
        let ledger = match is_ualink {
            true => NodeLedger::Ualink(of_ualink.clone()),
            false => NodeLedger::Nvlink(of_nvlink.clone()),
        };
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                if is_ualink {
                    let mut ports = Vec::new();
                    for (n, (socket, flit)) in plugs.into_iter().map(ComponentPlug::ualink).enumerate() {
                        ports.push(place_port(p, &name, n, (*socket, flit))?);
                    }
                    return p.module(&name, clock, |bind| {
                        let ends = ports.into_iter().map(|port: BridgeUalinkEnds| {
                            let [requests, responses] = port.tx;
                            // It asks nothing; every channel has two ends.
                            drop(bind.attach(requests));
                            UalinkRequestEnds {
                                requests: port.requests.map(|end| bind.attach(end)),
                                responses: bind.attach(responses),
                                unasked: Some(bind.attach(port.responses)),
                            }
                        });
                        let side = UalinkRequesters::new(own, fabric, ends.collect(), of_ualink);
                        RemoteMemory::new(config, Box::new(side), tap, shared)
                    });
                }
                p.module(&name, clock, |bind| {
                    let ends = plugs.into_iter().map(ComponentPlug::nvlink).map(|(plug, _)| {
                        let ([requests, posted, answers], [taken, of_posted, answered]) = (plug.tx, plug.rx);
                        drop((bind.attach(requests), bind.attach(posted), bind.attach(answered)));
                        NvlinkRequestEnds {
                            requests: [taken, of_posted].map(|end| bind.attach(end)),
                            answers: bind.attach(answers),
                        }
                    });
                    let side = NvlinkRequesters::new(own, fabric, ends.collect(), of_nvlink);
                    RemoteMemory::new(config, Box::new(side), tap, shared)
                })
            }),
            measure: Box::new(move || measured(&super::published(&result))),
            digest: Vec::new(),
            ledger: Some(ledger),
        })
    }
}

fn measured(result: &RemoteResult) -> ComponentMeasured {
    let [reads, writes, atomics] = result.done;
    ComponentMeasured {
        counts: vec![
            (&READS, reads),
            (&WRITES, writes),
            (&ATOMICS, atomics),
            (&MOVED, result.bytes),
            (&REFUSED, result.refused),
        ],
        broken: result.broken.clone(),
        ..ComponentMeasured::default()
    }
}
