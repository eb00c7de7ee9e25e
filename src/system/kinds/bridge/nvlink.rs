//! `bridge.nvlink`: the bridge SoC between NVLink and CXL, see [`scalepool_bridge`].
//!
//! Modelled: GPUs reach memory on CXL by windows ([`outbound`](super::outbound)), hosts and other bridges reach the memory of GPUs by others
//! ([`inbound`](super::inbound)); the stages in cycles. What is not built is refused: other classes of windows. A walk through one
//! description: both directions are read and judged; each link of NVLink is dealt to both halves, requests of GPUs and their answers to
//! one, requests of the bridge and their answers to the other.

use super::hairpin;
use super::halves::{AcceleratorLink, BridgeHalves};
use super::inbound::{INBOUND_METRICS, InboundFields, MemoryOf};
use super::inbound_cache::INBOUND_CACHE_METRICS;
use super::losses::{BridgeLosses, LOSS_METRICS};
use super::outbound::{OUTBOUND_METRICS, OutboundFields};
use super::stages::BridgeStages;
use super::{cache::CACHE_METRICS, dealt, measure};
use crate::channels::ChannelWait;
use crate::coherence::Coherent;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    BridgeCacheFacts, Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, DomainMember, NodeError,
    NodeLedger, NodePart, Offer, PortDecl, Site, SitePort, component,
};
use crate::kinds::media::DRAM_METRICS;
use crate::kinds::nvlink_link::{POSTED, REQUEST, RESPONSE};
use crate::quantity::Unit;
use scalepool_bridge::inbound::nvlink::{NvlinkAccessEnds, NvlinkSide};
use scalepool_bridge::module::nvlink::{NvlinkRequestEnds, NvlinkRequesters};
use scalepool_bridge::outbound::order::BridgeOrder;
use scalepool_bridge::window::{BridgeWindow, InboundClass, WindowLimits};
use scalepool_kernel::Clock;
use scalepool_nodes::cxl::BACKGROUND;
use scalepool_nodes::nvlink::ledger::NvlLedger;
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "bridge.nvlink",
    about: "model NVL-M1: bridge SoC by whose windows GPUs on NVLink reach memory on CXL, and hosts and other bridges reach the memory of GPUs; its ports are `x[n]` on NVLink, `cxl[n]` to memory without coherence (HDM-H), `coherent[n]` to devices with HDM-DB, `host[n]` to hosts by CXL.cache, `io[n]` to devices of CXL.io, `target[n]`, where it is such a memory, `home[n]`, where it is such a device, and `bar[n]`, where it is a device of CXL.io",
    fields: BridgeNvlink::fields,
    read: component::<BridgeNvlink>,
    external: &["flits", "messages"],
    metrics: &[OUTBOUND_METRICS, CACHE_METRICS, DRAM_METRICS, INBOUND_METRICS, INBOUND_CACHE_METRICS, LOSS_METRICS],
};

/// Its links to GPUs.
const LINK: AcceleratorLink = AcceleratorLink {
    links: &["nvlink"],
    outbound: WindowLimits::OUTBOUND_NVLINK,
    inbound: WindowLimits::INBOUND_NVLINK,
    request: REQUEST,
    posted: Some(POSTED),
    response: RESPONSE,
};

config! {
    /// A bridge.
    pub struct BridgeNvlink with { outbound: OutboundFields, inbound: InboundFields, losses: BridgeLosses } {
        x_ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 18), "NVLinks of the bridge, as many as GPUs have (bridge §1.1)";
        stages: BridgeStages = "" [Unit::Of("-")] in FieldRange::Table(BridgeStages::fields), "latencies of its stages";
    }
}

impl BridgeNvlink {
    fn halves(&self) -> BridgeHalves<'_> {
        let BridgeNvlink { x_ports, outbound, inbound, losses, .. } = self;
        BridgeHalves { link: &LINK, x_ports: *x_ports, outbound, inbound, losses }
    }
}

impl Component for BridgeNvlink {
    fn ports(&self) -> Vec<PortDecl> {
        self.halves().ports()
    }

    fn offer(&self) -> Offer {
        self.inbound.offer()
    }

    fn offer_at(&self, port: usize) -> Offer {
        self.halves().offer_at(port)
    }

    fn exported(&self) -> Vec<BridgeWindow<InboundClass>> {
        self.inbound.exported()
    }

    fn warnings(&self) -> Vec<ConfigFinding> {
        self.outbound.warnings()
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let times = self.inbound.check_times(self.stages.timeout_cycles);
        self.halves().check().into_iter().chain(times).collect()
    }

    fn check_joined(&self, _: Clock, member: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        self.halves().check_joined(member, ports)
    }

    fn coherent(&self, path: &str) -> Option<Coherent> {
        self.halves().coherent(path)
    }

    fn node_part(&self) -> NodePart {
        self.halves().node_part()
    }

    fn refuses_atomics(&self) -> bool {
        self.outbound.refuses_atomics()
    }

    fn bridge_cache(&self) -> BridgeCacheFacts {
        self.outbound.cache_facts()
    }

    fn own_wait_fs(&self, clock: Clock) -> u64 {
        self.halves().own_wait_fs(self.stages.timeout_cycles, clock)
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        Some(self.halves().waits())
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let DomainMember { own, fabric, .. } = site.member;
        let ([_, cxl, targets, homes, bars], timing) = (self.halves().split(site.ports), self.stages.timing());
        let name = site.path.to_owned();
        let memory: MemoryOf = |_, address| BACKGROUND.line(address);
        let exported = self.halves().exported(memory, homes, site)?;
        let hairpin = exported.as_ref().map(|exported| exported.home.number);
        let setup = (LINK.outbound, BridgeOrder::Blocks, timing, self.halves().wait_watch());
        let mut outbound = self.outbound.elaborate(setup, (cxl, exported), site, hub)?;
        let setup = (LINK.inbound, timing, memory, self.halves().wait_watch());
        let mut inbound =
            self.inbound.elaborate(setup, (outbound.viral(), hairpin.is_some()), [targets, homes, bars], site, hub)?;
        let outages = self.halves().outages(site.clock);
        outbound.set_outages(outages.outbound);
        inbound.iter_mut().for_each(|part| part.set_outages(outages.inbound.clone()));
        let ledger: Arc<Mutex<NvlLedger>> = Arc::default();
        let entered = ledger.clone();
        let (measure, cxl_ports) = (measure(&outbound, inbound.as_ref(), &self.losses), self.outbound.ports_by_kind());
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                let (x, cxl, targets) = dealt(plugs, cxl_ports);
                let (mut asking, mut asked) = (Vec::new(), Vec::new());
                for (plug, _) in x.into_iter().map(ComponentPlug::nvlink) {
                    let ([requests, posted, answers], [taken, of_posted, answered]) = (plug.tx, plug.rx);
                    asking.push(([taken, of_posted], answers));
                    asked.push((requests, posted, answered));
                }
                let (of_requests, is_asking) = (entered.clone(), inbound.is_some());
                // Every channel has two ends; of links by which a bridge asks nothing, these are the outbound half's.
                let unused = if is_asking { Vec::new() } else { std::mem::take(&mut asked) };
                let hairpin = hairpin.map(|home_port| hairpin::channels(p, &name, home_port)).transpose()?;
                let (of_requester, of_home) = hairpin.map(|(asks, home, owner)| (asks, (home, owner))).unzip();
                outbound.place(p, clock, (cxl, of_requester), move |bind| {
                    for (requests, posted, answers) in unused {
                        drop((bind.attach(requests), bind.attach(posted), bind.attach(answers)));
                    }
                    let ends = asking.into_iter().map(|(requests, answers)| NvlinkRequestEnds {
                        requests: requests.map(|end| bind.attach(end)),
                        answers: bind.attach(answers),
                    });
                    Box::new(NvlinkRequesters::new(own, fabric, ends.collect(), of_requests))
                })?;
                let Some(inbound) = inbound else { return Ok(()) };
                inbound.place(p, clock, (targets, of_home), move |bind| {
                    let ends = asked.into_iter().map(|(requests, posted, answers)| {
                        // Nothing is posted for CXL: the answer carries the status.
                        drop(bind.attach(posted));
                        NvlinkAccessEnds { requests: bind.attach(requests), answers: bind.attach(answers) }
                    });
                    Box::new(NvlinkSide::new(own, fabric, ends.collect(), entered))
                })
            }),
            measure,
            digest: Vec::new(),
            ledger: Some(NodeLedger::Nvlink(ledger)),
        })
    }
}
