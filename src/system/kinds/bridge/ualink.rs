//! `bridge.ualink`: the bridge SoC between UALink and CXL, see [`scalepool_bridge`].
//!
//! Modelled: accelerators reach memory on CXL by windows ([`outbound`](super::outbound)), hosts and other bridges reach the memory of
//! accelerators by others ([`inbound`](super::inbound)); the stages in cycles. What is not built is refused: protection of transactions,
//! outbound ports of CXL without port based routing. A walk through one description: both directions are read and judged, the class of
//! order follows from the links; each UALink is dealt to both halves, requests of accelerators and their responses to one, requests of
//! the bridge and their responses to the other.

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
    BridgeCacheFacts, Carried, Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, DomainMember,
    NodeError, NodeLedger, NodePart, Offer, PortDecl, Site, SitePort, component,
};
use crate::kinds::media::DRAM_METRICS;
use crate::kinds::ualink_accelerator::{place_between, protection};
use crate::kinds::ualink_link::{REQUEST, RESPONSE};
use crate::quantity::Unit;
use scalepool_bridge::inbound::ualink::{UalinkAccessEnds, UalinkSide};
use scalepool_bridge::module::ualink::{UalinkRequestEnds, UalinkRequesters, VCHANS};
use scalepool_bridge::outbound::order::BridgeOrder;
use scalepool_bridge::window::{BridgeWindow, InboundClass, WindowLimits};
use scalepool_kernel::{BuildError, Clock, ClockId, InEnd, PartitionBuilder};
use scalepool_link::ualink::security::Protection;
use scalepool_link::ualink::wiring::Socket;
use scalepool_nodes::ualink::completer::global;
use scalepool_nodes::ualink::ledger::UalLedger;
use scalepool_nodes::ualink::port::Tamper;
use scalepool_nodes::ualink::read::BACKGROUND;
use scalepool_nodes::ualink::{OutEnds, channels, request_channels};
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "bridge.ualink",
    about: "bridge SoC by whose windows accelerators on UALink reach memory on CXL, and hosts and other bridges reach the memory of accelerators; its ports are `x[n]` on UALink, `cxl[n]` to memory without coherence (HDM-H), `coherent[n]` to devices with HDM-DB, `host[n]` to hosts by CXL.cache, `io[n]` to devices of CXL.io, `target[n]`, where it is such a memory, `home[n]`, where it is such a device, and `bar[n]`, where it is a device of CXL.io",
    fields: BridgeUalink::fields,
    read: component::<BridgeUalink>,
    external: &["flits", "messages"],
    metrics: &[OUTBOUND_METRICS, CACHE_METRICS, DRAM_METRICS, INBOUND_METRICS, INBOUND_CACHE_METRICS, LOSS_METRICS],
};

/// Its links to accelerators.
const LINK: AcceleratorLink = AcceleratorLink {
    links: &["ualink"],
    outbound: WindowLimits::OUTBOUND,
    inbound: WindowLimits::INBOUND_UALINK,
    request: REQUEST,
    posted: None,
    response: RESPONSE,
};

config! {
    /// A bridge.
    pub struct BridgeUalink with { outbound: OutboundFields, inbound: InboundFields, losses: BridgeLosses } {
        x_ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 16), "UALinks of the bridge (bridge §1.1)";
        single_beat: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(&["on", "off"]), "on = reads of several lines are answered by a response for each line, as the lines come, the last one with LAST; off = by one response with all lines, ascending; left out, off (bridge §3.3)";
        stages: BridgeStages = "" [Unit::Of("-")] in FieldRange::Table(BridgeStages::fields), "latencies of its stages";
    }
}

impl BridgeUalink {
    fn halves(&self) -> BridgeHalves<'_> {
        let BridgeUalink { x_ports, outbound, inbound, losses, .. } = self;
        BridgeHalves { link: &LINK, x_ports: *x_ports, outbound, inbound, losses }
    }
}

impl Component for BridgeUalink {
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

    fn check_joined(&self, clock: Clock, member: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let halves = self.halves();
        let [x, ..] = halves.split(ports);
        let guarded = x.iter().find(|port| protection(port) != Protection::Off).map(|port| {
            let text = format!("found authentication at {}, expected none: the bridge does not check tags", port.path);
            ("x_ports", text)
        });
        // An accelerator that gives up first is isolated, and never hears that its request has failed (`bridge` §7).
        let time_fs = clock.periods_fs(self.stages.timeout_cycles);
        let watchdog = member.gives_up_after_fs.filter(|limit| self.outbound.has_windows() && time_fs >= *limit);
        let late = watchdog.map(|limit_fs| {
            let [found, limit] = [time_fs, limit_fs].map(|fs| Unit::Time.shown(fs));
            let text =
                format!("found {found}, expected less than {limit}: accelerators give up before the bridge does");
            ("stages.timeout_cycles", text)
        });
        guarded.into_iter().chain(late).chain(halves.check_joined(member, ports)).collect()
    }

    fn coherent(&self, path: &str) -> Option<Coherent> {
        self.halves().coherent(path)
    }

    fn why_no_window(&self) -> &'static str {
        "whose own windows lead to memory by numbers of accelerators"
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
        let (name, DomainMember { own, fabric, .. }) = (site.path.to_owned(), site.member);
        let ([x, cxl, targets, homes, bars], timing) = (self.halves().split(site.ports), self.stages.timing());
        let is_strict = matches!(x[0].link.carried, Carried::Ualink { strict: true, .. });
        let order = if is_strict { BridgeOrder::Sources } else { BridgeOrder::Blocks };
        let memory: MemoryOf = |accelerator, address| BACKGROUND.line(global(accelerator, address));
        let exported = self.halves().exported(memory, homes, site)?;
        let hairpin = exported.as_ref().map(|exported| exported.home.number);
        let setup = (LINK.outbound, order, timing, self.halves().wait_watch());
        let mut outbound = self.outbound.elaborate(setup, (cxl, exported), site, hub)?;
        outbound.set_single_beat(self.single_beat.as_deref() == Some("on"));
        let setup = (LINK.inbound, timing, memory, self.halves().wait_watch());
        let mut inbound =
            self.inbound.elaborate(setup, (outbound.viral(), hairpin.is_some()), [targets, homes, bars], site, hub)?;
        let outages = self.halves().outages(site.clock);
        outbound.set_outages(outages.outbound);
        inbound.iter_mut().for_each(|part| part.set_outages(outages.inbound.clone()));
        let ledger: Arc<Mutex<UalLedger>> = Arc::default();
        let entered = ledger.clone();
        let (measure, cxl_ports) = (measure(&outbound, inbound.as_ref(), &self.losses), self.outbound.ports_by_kind());
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                let (x, cxl, targets) = dealt(plugs, cxl_ports);
                let (mut asking, mut asked) = (Vec::new(), Vec::new());
                for (n, (socket, flit)) in x.into_iter().map(ComponentPlug::ualink).enumerate() {
                    let BridgeUalinkEnds { tx: [requests, responses], requests: taken, responses: answered } =
                        place_port(p, &name, n, (*socket, flit))?;
                    asking.push((taken, responses));
                    asked.push((requests, answered));
                }
                let (of_requests, is_asking) = (entered.clone(), inbound.is_some());
                // Every channel has two ends; of links by which a bridge asks nothing, these are the outbound half's.
                let unused = if is_asking { Vec::new() } else { std::mem::take(&mut asked) };
                let hairpin = hairpin.map(|home_port| hairpin::channels(p, &name, home_port)).transpose()?;
                let (of_requester, of_home) = hairpin.map(|(asks, home, owner)| (asks, (home, owner))).unzip();
                outbound.place(p, clock, (cxl, of_requester), move |bind| {
                    let mut unasked = unused.into_iter().map(|(requests, answered)| {
                        drop(bind.attach(requests));
                        bind.attach(answered)
                    });
                    let unasked: Vec<_> = asking.iter().map(|_| unasked.next()).collect();
                    let ends = asking.into_iter().zip(unasked).map(|((taken, responses), unasked)| UalinkRequestEnds {
                        requests: taken.map(|end| bind.attach(end)),
                        responses: bind.attach(responses),
                        unasked,
                    });
                    Box::new(UalinkRequesters::new(own, fabric, ends.collect(), of_requests))
                })?;
                let Some(inbound) = inbound else { return Ok(()) };
                inbound.place(p, clock, (targets, of_home), move |bind| {
                    let ends = asked.into_iter().map(|(requests, answered)| UalinkAccessEnds {
                        requests: bind.attach(requests),
                        responses: bind.attach(answered),
                    });
                    Box::new(UalinkSide::new(own, fabric, ends.collect(), entered))
                })
            }),
            measure,
            digest: Vec::new(),
            ledger: Some(NodeLedger::Ualink(ledger)),
        })
    }
}

/// Channels of a bridge to a port: what it sends, what it receives, and requests of each virtual channel, which wait for none of another.
pub(crate) struct BridgeUalinkEnds {
    /// Requests and responses to the port.
    pub tx: OutEnds,
    /// Requests by virtual channel.
    pub requests: [InEnd<Box<Transfer>>; VCHANS],
    /// Responses from the port.
    pub responses: InEnd<Box<Transfer>>,
}

/// Puts a UALink port into a partition; the channels of the bridge.
pub(crate) fn place_port(
    p: &mut PartitionBuilder,
    bridge: &str,
    n: usize,
    socket: (Socket, ClockId),
) -> Result<BridgeUalinkEnds, BuildError> {
    let ((tx, [first, responses]), of_port) = channels(p, bridge, "x_", n)?;
    let ([second, third, fourth], vchans_of_port) = request_channels(p, bridge, "x_", n)?;
    place_between(p, of_port, Some(vchans_of_port), socket, (None, Tamper::default()))?;
    Ok(BridgeUalinkEnds { tx, requests: [first, second, third, fourth], responses })
}
