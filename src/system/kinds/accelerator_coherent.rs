//! `accelerator.coherent`: an accelerator with a CXL.cache link of its own beside XLink, see [`scalepool_nodes::handover`].
//!
//! Modelled: up to 16 UALinks or 18 NVLinks and one link of CXL.cache to a host (`bridge` §1.4, choice c3); all accelerators of a fabric are of
//! this kind and fill as many buffers of the same size. Left out: protection of transactions and UPLIs, see [`ualink_accelerator`](super::ualink_accelerator) for an accelerator with these;
//! memory behind bridges. A walk through one description: the links say who the next accelerator is and where it stands among the devices of the
//! host; both halves are made with one desk.

use crate::channels::{ChannelWait, Reach};
use crate::coherence::Coherent;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Carried, CoherenceProtocol, Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, CxlSide,
    DomainMember, NodeError, PortDecl, PortRole, Site, SitePort, component,
};
use crate::kinds::block_nodes::BlockNodeSite;
use crate::kinds::cxl_coherent::agent::{Described, Ready};
use crate::kinds::cxl_coherent::{coherent_waits, figures};
use crate::kinds::cxl_links;
use crate::kinds::nvlink_gpu::links_lead_wrong;
use crate::kinds::ualink_link::{REQUEST, RESPONSE};
use crate::measured::ComponentMeasured;
use crate::metric::{MetricValue, metrics};
use crate::quantity::Unit;
use scalepool_coherence::cache::device::DeviceCache;
use scalepool_coherence::clocked::core::AnyCore;
use scalepool_coherence::clocked::making::ClockedHolder;
use scalepool_coherence::clocked::waiting::WaitTable;
use scalepool_coherence::content::CacheLine;
use scalepool_fabric::nvlink_switch::reduction::NumberType;
use scalepool_kernel::Clock;
use scalepool_link::ualink::security::Protection;
use scalepool_nodes::PlacedViolation;
use scalepool_nodes::blocks::{BLOCK_BYTES, BlockNodeConfig};
use scalepool_nodes::handover::bulk::{BulkConfig, BulkHalf, BulkResult};
use scalepool_nodes::handover::collective::{CollectiveKind, CollectiveResult, CollectiveTask};
use scalepool_nodes::handover::exchange::{ExchangeConfig, ExchangeCore};
use scalepool_nodes::handover::flags::{FlagConfig, FlagCore};
use scalepool_nodes::handover::{FlagOrder, SharedDesk};
use scalepool_protocols::rules;
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Hub, PlaceKind};
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "accelerator.coherent",
    about: "accelerator that fills a buffer in HBM of the next one over UALink or NVLink and says so by a flag in memory of a host, which both cache by CXL.cache links of their own; its ports are `port[n]` on UALink or NVLink and `cxl`",
    fields: CoherentAccelerator::fields,
    read: component::<CoherentAccelerator>,
    external: &["flits"],
    metrics: &[METRICS, figures::METRICS],
};

metrics! {
    /// What such an accelerator counts beside the accesses of its flags.
    static METRICS {
        GIVEN = "rounds given" ["rounds"] Sum, "buffers of the next accelerator that were filled and given by a flag";
        CHECKED = "rounds checked" ["rounds"] Sum, "buffers whose flag was seen and whose bytes were compared";
        BLOCKS = "blocks written" ["blocks"] Sum, "blocks of 256 bytes of buffers that were given";
        STALE = "stale blocks" ["blocks"] Sum, "blocks that were not of the round whose flag was seen";
        SERVED = "requests served" ["requests"] Sum, "requests of others";
        COLLECTIVES = "collectives" ["collectives"] Smallest, "all-reduces or broadcasts that have ended at each accelerator";
        COLLECTIVE_CYCLES = "collective cycles" ["cycles"] Largest, "cycles from the first access or write to the end of the last collective";
        WRONG_SUMS = "wrong sums" ["blocks"] Sum, "blocks of 256 bytes that were not what a plain sum says (BRG-TIR-06)";
    }
}

/// Most UALinks of an accelerator (`ualink` §1).
const MOST_UALINKS: usize = 16;

config! {
    /// Collectives of all accelerators of a fabric.
    pub struct CoherentCollective {
        kind: String = "all-reduce" [Unit::Of("-")] in FieldRange::Words(&["all-reduce", "broadcast"]), "all-reduce: each accelerator gets the sum of the vectors of all; broadcast: each gets that of accelerator 0. A vector has a chunk of `blocks` for each accelerator";
        by: String = "xlink" [Unit::Of("-")] in FieldRange::Words(&["xlink", "cxl"]), "xlink: chunks go around the ring of accelerators, each into a buffer of the next one over UALink or NVLink, told by a flag; cxl: vectors and sums are stored and loaded coherently in lines of the host, and nothing goes over XLink";
        number: String = "f32" [Unit::Of("-")] in FieldRange::Words(&["f32", "bf16", "int32"]), "type of the numbers; every result is compared bit for bit with a plain sum in the order in which it was added (BRG-TIR-06)";
    }
}

config! {
    /// An accelerator with a link of CXL.cache. Numbers without another source are our own choice (basis: model).
    pub struct CoherentAccelerator {
        ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 18), "UALinks (ualink §1: up to 16) or NVLinks (nvlink §4: up to 18) of the accelerator";
        blocks: u64 = "64" [Unit::Of("blocks")] in FieldRange::Int(1, 1 << 20), "blocks of 256 bytes of the buffer that is filled in each round";
        rounds: u64 = "20" [Unit::Of("rounds")] in FieldRange::Int(1, 1 << 24), "times that the buffer is filled";
        flag: String = "behind" [Unit::Of("-")] in FieldRange::Words(&["behind", "sent", "first"]), "when the flag of a round is stored: behind = when every write of its bulk is answered, or, on NVLink, where they are posted, the FLUSH behind them; sent = when its last write leaves, as by software that does not wait for answers or for a FLUSH, which breaks BRG-TIR-03 where the flag is faster than the bulk; first = when its first write leaves, as by software that takes the order of its stores for that of their effects, which breaks BRG-TIR-03 where old bulk is read (choice c25)";
        outstanding: usize = "64" [Unit::Of("writes")] in FieldRange::Int(1, 1024), "writes that can be outstanding, of which posted ones are none, or accesses of a collective by CXL";
        collective: Option<CoherentCollective> = "" [Unit::Of("-")] in FieldRange::Table(CoherentCollective::fields), "all-reduces or broadcasts, as many as there are rounds, in the place of buffers with stamps";
        hbm_cycles: u64 = "100" [Unit::Of("cycles")] in FieldRange::Int(1, 1 << 30), "latency from request to response in its HBM";
        poll_cycles: u64 = "16" [Unit::Of("cycles")] in FieldRange::Int(1, 1 << 20), "cycles from one look at a flag to the next";
        start_cycles: u64 = "2500" [Unit::Of("cycles")] in FieldRange::Int(0, 1 << 30), "cycles before the first write; links come up in about 1 us at x4";
    }
}

impl CoherentAccelerator {
    fn order(&self) -> FlagOrder {
        match self.flag.as_str() {
            "first" => FlagOrder::First,
            "sent" => FlagOrder::Sent,
            _ => FlagOrder::Behind,
        }
    }

    /// The collectives, among so many accelerators; the second one says whether they go by CXL.
    fn task(&self, members: u16, seed: u64) -> Option<(CollectiveTask, bool)> {
        let CoherentCollective { kind, by, number } = self.collective.as_ref()?;
        let kind = if kind == "broadcast" { CollectiveKind::Broadcast } else { CollectiveKind::AllReduce };
        let number = match number.as_str() {
            "bf16" => NumberType::Bf16,
            "int32" => NumberType::Int32,
            _ => NumberType::F32,
        };
        let task = CollectiveTask { kind, number, members: members.into(), blocks: self.blocks, seed };
        Some((task, by == "cxl"))
    }

    /// The half on CXL.cache; a litmus program of the run stands in the place of its flags.
    fn flags(
        &self,
        site: &Site<'_>,
        (desk, exchanged): (&SharedDesk, &Arc<Mutex<CollectiveResult>>),
        rounds: u64,
        hub: &mut Hub,
    ) -> Ready {
        let name = format!("{}.cache", site.path);
        let ports = &site.ports[self.ports..];
        let tap = hub.tap(&name, PlaceKind::Messages(ports[0].link.cxl().0.layouts()));
        let DomainMember { own, peers: accelerators, .. } = site.member;
        let flags = FlagConfig { own, accelerators, rounds, poll_cycles: self.poll_cycles };
        let exchange = |task| ExchangeConfig {
            task,
            own,
            rounds: self.rounds,
            outstanding: self.outstanding,
            start_cycle: self.start_cycles,
            poll_cycles: self.poll_cycles,
        };
        let by_cxl = self.task(accelerators, site.seed).filter(|(_, by_cxl)| *by_cxl);
        let core: AnyCore<DeviceCache<CacheLine>> = match (site.litmus, by_cxl) {
            (Some(runs), _) => DeviceCache::litmus(runs),
            (None, Some((task, _))) => Box::new(ExchangeCore::new(exchange(task), exchanged.clone())),
            (None, None) => Box::new(FlagCore::new(flags, desk.clone())),
        };
        Described::with_core(name, DeviceCache::new(), core, tap).holder(ports, false)
    }
}

impl Component for CoherentAccelerator {
    fn own_wait_fs(&self, clock: Clock) -> u64 {
        clock.periods_fs(self.start_cycles.max(self.hbm_cycles).max(self.poll_cycles))
    }

    fn why_no_window(&self) -> &'static str {
        "whose memory other accelerators address by its number"
    }

    fn ports(&self) -> Vec<PortDecl> {
        let cache = PortRole::Coherent(CoherenceProtocol::Cache, CxlSide::Device);
        vec![
            PortDecl { name: "port", len: Some(self.ports), links: &["ualink", "nvlink"], role: PortRole::Node },
            PortDecl { name: "cxl", len: None, links: cxl_links::NAMES, role: cache },
        ]
    }

    fn check_joined(&self, _: Clock, member: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let mut wrong = Vec::new();
        let ports = &ports[..self.ports];
        let is_protected = |port: &&SitePort| match port.link.carried {
            Carried::Ualink { protection, .. } => protection != Protection::Off,
            _ => false,
        };
        if let Some(port) = ports.iter().find(is_protected) {
            let text = format!("found authentication at {}, expected none: it does not check tags", port.path);
            wrong.push(("ports", text));
        }
        if member.is_apart {
            let own = self.joint_traffic().unwrap_or_default();
            let text = format!(
                "found {own}, expected what the first accelerator of the fabric has: each fills the buffer of the next one"
            );
            wrong.push(("blocks", text));
        } else if member.peers < 2 {
            let text = "found one accelerator, expected another one whose buffer it fills".to_owned();
            wrong.push(("blocks", text));
        }
        let is_direct = ports.iter().any(|port| port.peer_role == PortRole::Node);
        if is_direct && (member.nodes != 2 || ports.len() > 1) {
            let text = format!(
                "found {} ports at accelerators among {}, expected one port between two, or a switch",
                ports.len(),
                member.nodes
            );
            wrong.push(("ports", text));
        }
        wrong.extend(links_lead_wrong(ports).map(|text| ("ports", text)));
        let is_ualink = ports.iter().any(|port| matches!(port.link.carried, Carried::Ualink { .. }));
        if is_ualink && ports.len() > MOST_UALINKS {
            let text = format!("found {} UALinks, expected at most {MOST_UALINKS} (ualink §1)", ports.len());
            wrong.push(("ports", text));
        }
        let first = ports.first().map(|port| port.link.carried);
        if let Some(port) = ports.iter().find(|port| Some(port.link.carried) != first) {
            let text = format!("found another kind of link at {} than at the first port, expected one kind", port.path);
            wrong.push(("ports", text));
        }
        wrong
    }

    fn joint_traffic(&self) -> Option<String> {
        let collective = self
            .collective
            .as_ref()
            .map_or(String::new(), |CoherentCollective { kind, by, number }| format!(" of {kind} of {number} by {by}"));
        Some(format!("{} rounds{collective} of {} blocks of {BLOCK_BYTES} bytes", self.rounds, self.blocks))
    }

    fn coherent(&self, path: &str) -> Option<Coherent> {
        // Ports are named in their order, those of UALink too, which lead to no home.
        let others = (0..self.ports).map(|n| format!("{path}.port[{n}]"));
        Some(Coherent::Holder(others.chain([format!("{path}.cache")]).collect()))
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        let flags = coherent_waits(&WaitTable::default(), &Reach::SamePort);
        Some([ChannelWait::answered(REQUEST, RESPONSE)].into_iter().chain(flags).collect())
    }

    fn asks(&self) -> bool {
        true
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let (name, DomainMember { own, peers, fabric, .. }) = (site.path.to_owned(), site.member);
        // A litmus program is about lines alone.
        let task = self.task(peers, site.seed);
        let rounds = match task {
            _ if site.litmus.is_some() => 0,
            Some((_, true)) => 0,
            Some((task, false)) => self.rounds * task.steps(),
            None => self.rounds,
        };
        let desk = SharedDesk::default();
        let exchanged: Arc<Mutex<CollectiveResult>> = Arc::default();
        let Ready { name: of_flags, place, figures: read_flags, .. } =
            self.flags(site, (&desk, &exchanged), rounds, hub);
        let config = BulkConfig {
            own,
            neighbours: [(own + 1) % peers, (own + peers - 1) % peers],
            place: name.clone(),
            clock: site.clock,
            blocks: self.blocks,
            rounds,
            ring: task.filter(|(_, by_cxl)| !by_cxl).map(|(task, _)| task),
            order: self.order(),
            outstanding: self.outstanding,
            start_cycle: self.start_cycles,
            hbm_cycles: self.hbm_cycles,
        };
        let of_node = BlockNodeConfig { own, fabric, hbm_cycles: self.hbm_cycles, control: 0..0 };
        let node = BlockNodeSite::new(site.ports);
        let (tap, ledger) = (hub.tap(&name, node.shows()), node.ledger());
        let result: Arc<Mutex<BulkResult>> = Arc::default();
        let shared = result.clone();
        let of_bulk_half = name.clone();
        let (from_fs, period) = (site.clock.edge(self.start_cycles).as_fs(), site.clock.period());
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                let (mut of_bulk, mut of_cache) = (Vec::new(), Vec::new());
                for plug in plugs {
                    match plug {
                        ComponentPlug::Coherent(ends) => of_cache.push(ends),
                        plug => of_bulk.push(plug),
                    }
                }
                place(p, clock, of_cache)?;
                let node = node.place(p, &name, of_bulk, of_node)?;
                p.module(&name, clock, |bind| BulkHalf::new(config, node(bind), desk, tap, shared))
            }),
            measure: Box::new(move || {
                let flags = figures::measured(&[(&of_flags, read_flags())], period, false);
                let by_cxl = task.filter(|(_, by_cxl)| *by_cxl).map(|_| super::published(&exchanged));
                measured((&of_bulk_half, from_fs), (&super::published(&result), task.is_some()), by_cxl, flags)
            }),
            digest: Vec::new(),
            ledger: Some(ledger),
        })
    }
}

/// The figures of both halves together.
fn measured(
    (place, from_fs): (&str, u64),
    (bulk, has_collectives): (&BulkResult, bool),
    by_cxl: Option<CollectiveResult>,
    flags: ComponentMeasured,
) -> ComponentMeasured {
    let collectives = by_cxl.unwrap_or_else(|| bulk.collectives.clone());
    let text = rules::find("BRG-TIR-06").map_or("", |rule| rule.text);
    let wrong = collectives.wrong.into_iter().map(|found| PlacedViolation {
        place: place.to_owned(),
        violation: Violation::at_byte("BRG-TIR-06", 0, found, "the bits of a plain sum in the same order", text),
    });
    let of_collectives = [
        (&COLLECTIVES, collectives.done),
        (&COLLECTIVE_CYCLES, collectives.cycles),
        (&WRONG_SUMS, collectives.wrong_blocks),
    ];
    let mut own: Vec<MetricValue> = vec![
        (&GIVEN, bulk.given),
        (&CHECKED, bulk.checked),
        (&BLOCKS, bulk.blocks),
        (&STALE, bulk.stale),
        (&SERVED, bulk.served),
    ];
    own.extend(of_collectives.into_iter().filter(|_| has_collectives));
    ComponentMeasured {
        counts: [own, flags.counts].concat(),
        bytes: flags.bytes + bulk.blocks * BLOCK_BYTES,
        broken: bulk.broken.iter().cloned().chain(flags.broken).chain(wrong).collect(),
        is_isolated: bulk.is_isolated,
        from_fs,
        ..flags
    }
}
