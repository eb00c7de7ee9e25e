//! `cxl.hdm-db-device`: a device whose memory hosts and direct peers share; it takes lines back by back-invalidate snoops (HDM-DB).

use super::agent::{Described, component as agents, one_watch};
use super::figures::METRICS;
use super::{coherent_waits, memory_port, shown};
use crate::channels::{ChannelWait, Reach};
use crate::coherence::{Coherent, LineOwner, MOST_FABRIC_HOLDERS};
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    CoherenceProtocol, Component, ComponentKind, ComponentNode, ConfigFinding, CxlSide, DomainMember, NodeError, Offer,
    PortDecl, PortRole, Site, SitePort, component,
};
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_coherence::clocked::node::Reduction;
use scalepool_coherence::clocked::waiting::WaitTable;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::ids::AgentPort;
use scalepool_coherence::mem::dcoh::Dcoh;
use scalepool_coherence::mem::options::MemConfig;
use scalepool_fabric::cxl_switch::binding::LOGICAL_DEVICES;
use scalepool_kernel::{Clock, Rng};
use scalepool_nodes::cxl::coherent::uio::UioTraffic;
use scalepool_trace::Hub;

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "cxl.hdm-db-device",
    about: "device with memory that hosts share, of which it takes lines back by back-invalidate snoops (HDM-DB); its ports are `link[n]`, and `memory` where that is outside",
    fields: HdmDbDevice::fields,
    read: component::<HdmDbDevice>,
    external: &["flits"],
    metrics: &[METRICS],
};

/// Links that carry HDM-DB: 68B flits have no back-invalidate snoops.
pub const LINKS: &[&str] = &["cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"];

config! {
    /// What a peer on CXL.io does to a device.
    pub struct Uio {
        accesses: u64 = "0" [Unit::Of("accesses")] in FieldRange::Int(0, 1 << 24), "reads and writes of a peer on CXL.io to the lines of each device; the packets are not simulated (coherence §3.7)";
        writes: u64 = "50" [Unit::Of("percent")] in FieldRange::Int(0, 100), "share of UIO accesses that write";
        bytes: u64 = "64" [Unit::Of("bytes")] in FieldRange::Int(1, 4096), "length of a UIO access; one that crosses the end of the lines is aborted without effect";
        lines: u64 = "16" [Unit::Of("lines")] in FieldRange::Int(1, 1 << 32), "lines that UIO accesses use, from the first on";
    }
}

config! {
    /// A device with HDM-DB. Numbers without another source are of the model (basis: model).
    pub struct HdmDbDevice {
        ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 16), "ports, one for each host, or one for a switch; more than 16 hosts stand behind a switch of a fabric";
        logical_devices: Option<u8> = "" [Unit::Of("-")] in FieldRange::Int(1, LOGICAL_DEVICES as u64), "logical devices (LD), each for one host behind a switch, all of the same lines; not given = no multi-logical device (fabric MLD-1)";
        memory: String = "own" [Unit::Of("-")] in FieldRange::Words(&["own", "port"]), "where the lines live: own = in the device, read and written at once; port = in another device behind the port `memory`, such as cxl.memory";
        filter_sets: usize = "0" [Unit::Of("sets")] in FieldRange::Int(0, 1 << 20), "sets of the snoop filter; 0 = it tracks every line (coherence §3.4)";
        filter_ways: usize = "1" [Unit::Of("entries per set")] in FieldRange::Int(1, 1 << 10), "ways of the snoop filter";
        trackers: usize = "16" [Unit::Of("snoops")] in FieldRange::Int(1, 4096), "open back-invalidate snoops per device, at least one for each host (coherence §3.4)";
        devload: Vec<(String, TextPlace)> = "" [Unit::Of("open transactions")] in FieldRange::Texts("numbers, three of them"), "numbers of open transactions from which DevLoad is optimal, moderately and severely overloaded; empty = always light (coherence §3.8)";
        reduced: Vec<(String, TextPlace)> = "" [Unit::Of("cycles")] in FieldRange::Texts("FROM:TO:LEVEL with LEVEL 0 to 3"), "time spans of reduced throughput, in which the device reports at least DevLoad LEVEL (coherence §3.8)";
        uio: Uio = "" [Unit::Of("-")] in FieldRange::Table(Uio::fields), "a peer on CXL.io";
        watch: bool = "on" [Unit::Of("-")] in FieldRange::Switch, "check the invariants V1 to V4 after every step (coherence §4)";
    }
}

impl HdmDbDevice {
    /// Open transactions at which DevLoad becomes optimal, moderate and severe; `None`: not three numbers that do not fall.
    fn thresholds(&self) -> Option<[usize; 3]> {
        let numbers: Option<Vec<usize>> = self.devload.iter().map(|(text, _)| text.parse().ok()).collect();
        match numbers?[..] {
            [] => Some([0; 3]),
            [optimal, moderate, severe] if 0 < optimal && optimal <= moderate && moderate <= severe => {
                Some([optimal, moderate, severe])
            }
            _ => None,
        }
    }
}

/// A time of reduced throughput; `None`: the text is no such time.
fn reduction(text: &str) -> Option<Reduction> {
    let [from, to, level] = text.split(':').map(|n| n.parse::<u64>().ok()).collect::<Option<Vec<_>>>()?[..] else {
        return None;
    };
    let level = u8::try_from(level).ok().filter(|level| *level <= 3)?;
    (from < to).then_some(Reduction { from_cycle: from, to_cycle: to, level })
}

impl Component for HdmDbDevice {
    fn ports(&self) -> Vec<PortDecl> {
        let role = PortRole::Coherent(CoherenceProtocol::HdmDb, CxlSide::Device);
        let holders = PortDecl { name: "link", len: Some(self.ports), links: LINKS, role };
        std::iter::once(holders).chain(memory_port(&self.memory)).collect()
    }

    fn offer(&self) -> Offer {
        Offer { logical_devices: self.logical_devices, ..Offer::default() }
    }

    /// Logical devices are told apart by LD-IDs, which a switch gives.
    fn check_joined(&self, _: Clock, _: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let is_shared = self.logical_devices.is_none() || ports[0].peer_role == PortRole::SwitchDownstream;
        let text = "found logical devices at the port of a host, expected a switch there (fabric MLD-2)";
        (!is_shared).then(|| ("logical_devices", text.to_owned())).into_iter().collect()
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let mut found = Vec::new();
        if self.thresholds().is_none() {
            let given: Vec<&str> = self.devload.iter().map(|(text, _)| text.as_str()).collect();
            let text = format!("found `{}`, expected three numbers above 0 that do not fall", given.join(","));
            found.push(("devload", text));
        }
        if let Some((text, _)) = self.reduced.iter().find(|(text, _)| reduction(text).is_none()) {
            let expected = "FROM:TO:LEVEL, cycles of which the first is before the second, and DevLoad 0 to 3";
            found.push(("reduced", format!("found `{text}`, expected {expected}")));
        }
        found
    }

    fn why_no_window(&self) -> &'static str {
        "whose lines its hosts number from 0"
    }

    fn coherent(&self, path: &str) -> Option<Coherent> {
        let mem = MemConfig {
            filter_sets: self.filter_sets,
            filter_ways: self.filter_ways,
            trackers: self.trackers,
            devload: self.thresholds().unwrap_or_default(),
            ..MemConfig::default()
        };
        let config = CoherenceConfig { mem, ..CoherenceConfig::default() };
        let (name, watch) = (format!("{path}.dcoh"), self.watch);
        Some(Coherent::Home(Box::new(LineOwner {
            name,
            config,
            watch,
            acts: false,
            most_holders: MOST_FABRIC_HOLDERS,
            requester: None,
        })))
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        Some(coherent_waits(&WaitTable::default(), &Reach::AnyPort))
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let (name, port) = (format!("{}.dcoh", site.path), &site.ports[0]);
        let tap = hub.tap(&name, shown(site.ports));
        let Uio { accesses, writes, bytes, lines } = self.uio;
        let domain = &port.seat().domain;
        let rng = Rng::for_name(site.seed, &format!("uio[{}]", domain.number()));
        let device = Described {
            name,
            agent: match memory_port(&self.memory) {
                None => Dcoh::new(domain.config(), domain.holders() as AgentPort),
                Some(_) => Dcoh::without_memory(domain.config(), domain.holders() as AgentPort),
            },
            core: Box::new(UioTraffic { accesses, writes, bytes, lines }.peer(rng)),
            reductions: self.reduced.iter().filter_map(|(text, _)| reduction(text)).collect(),
            waits: WaitTable::default(),
            watch: one_watch,
            tap,
        };
        Ok(agents(vec![device.home(site.ports, false)], site, false))
    }
}
