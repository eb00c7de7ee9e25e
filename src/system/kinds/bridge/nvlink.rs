//! `bridge.nvlink`: the bridge SoC between CXL and NVLink, see [`scalepool_bridge::inbound`].
//!
//! Modelled: memory of GPUs as memory of CXL that hosts alone keep coherent (HDM-H), by windows, groups and rights as a description gives
//! them; the stages in cycles. What is not built is refused: other classes of windows, windows from NVLink to CXL. A walk through one
//! description: windows and rights are read and judged with the GPUs that the links lead to, the ports of both sides are joined to the
//! inbound half.

use super::first_lines;
use super::stages::BridgeStages;
use super::windows::{InboundWindowFields, groups_of_sources};
use crate::channels::{ChannelWait, Reach};
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Carried, Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, DomainMember, NodeError,
    NodeLedger, Offer, PortDecl, PortRole, Site, SitePort, component,
};
use crate::kinds::cxl_links;
use crate::kinds::nvlink_link::{REQUEST, RESPONSE};
use crate::measured::ComponentMeasured;
use crate::metric::metrics;
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_bridge::inbound::InboundConfig;
use scalepool_bridge::inbound::module::{InboundModule, InboundModuleConfig, InboundResult, TargetPort};
use scalepool_bridge::inbound::nvlink::NvlinkSide;
use scalepool_bridge::inbound::table::MOST_INBOUND;
use scalepool_bridge::window::{BridgeRoute, BridgeWindow, BridgeWindows, InboundClass, WindowLimits};
use scalepool_kernel::Clock;
use scalepool_nodes::cxl::{BACKGROUND, transaction_layouts};
use scalepool_nodes::nvlink::gpu::LinkEnds;
use scalepool_nodes::nvlink::ledger::NvlLedger;
use scalepool_protocols::cxl::message::Class;
use scalepool_trace::{Hub, PlaceKind};
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "bridge.nvlink",
    about: "model NVL-M1: bridge SoC by whose windows hosts and other bridges reach the memory of GPUs (HDM-H); its ports are `x[n]` on NVLink and `target[n]` on CXL",
    fields: BridgeNvlink::fields,
    read: component::<BridgeNvlink>,
    external: &["flits"],
    metrics: &[METRICS],
};

metrics! {
    /// What a bridge counts.
    static METRICS {
        MESSAGES = "messages answered" ["messages"] Sum, "messages of CXL.mem whose answer has left, dropped hints among them";
        CYCLES = "message cycles" ["cycles"] Sum, "cycles from the arrival of a message of CXL.mem to its answer, of all that were answered";
        READS = "reads" ["messages"] Sum, "reads of CXL.mem converted";
        WRITES = "writes" ["messages"] Sum, "writes of CXL.mem converted";
        OTHERS = "other messages" ["messages"] Sum, "messages of CXL.mem that ask for nothing at an accelerator";
        ACCESSES = "accelerator accesses" ["accesses"] Sum, "accesses of 64 bytes to the memory of accelerators";
        JOINED = "joined reads" ["lines"] Sum, "reads of a line that got the data of an earlier read";
        REFUSED = "messages refused" ["messages"] Sum, "messages outside of all windows, without the right, or refused by their accelerator: reads get no data, writes have no effect";
        ILLEGAL = "messages in no row" ["messages"] Sum, "messages of CXL.mem that memory without coherence does not take";
        LOST = "writes lost" ["lines"] Sum, "writes that an accelerator has not done, or not in time; their lines read as poison";
        POISONED = "reads of lost lines" ["lines"] Sum, "reads that were answered with poison since a write of their line was lost";
        FULL = "full cycles" ["cycles"] Sum, "cycles in which a message was at a port and no entry was free for it";
        TIMEOUTS = "time-outs" ["messages"] Sum, "messages that were given up";
        LATE = "late answers" ["answers"] Sum, "answers of accelerators that came when their message was given up";
        VIRAL = "viral ports" ["ports"] Sum, "target ports that read as poison since more writes were lost than the list of lines holds";
        ASKED = "accelerator requests refused" ["requests"] Sum, "requests of accelerators, for which there is no window";
    }
}

/// Groups of sources.
const SOURCES: &str = "SOURCE:GROUP with sources 0 to 4095 and groups 0 to 15";

config! {
    /// A bridge.
    pub struct BridgeNvlink {
        x_ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 18), "NVLinks of the bridge, as many as GPUs have (bridge §1.1)";
        target_ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 16), "CXL links at which hosts and other bridges find the memory of GPUs (bridge §1.2)";
        inbound: Vec<(InboundWindowFields, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(InboundWindowFields::fields), "windows from CXL to GPUs, 1 to 16 that do not overlap (bridge §2)";
        inbound_groups: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts(SOURCES), "groups of sources that have rights together; a source is an SPID on links with port based routing, else an LD-ID; those that are not named are in group 0 (bridge §2)";
        inbound_entries: usize = "1024" [Unit::Of("transactions")] in FieldRange::Int(1, MOST_INBOUND as u64), "transactions from CXL that may be under way (bridge §7)";
        stages: BridgeStages = "" [Unit::Of("-")] in FieldRange::Table(BridgeStages::fields), "latencies of its stages";
    }
}

/// Whether a port is one of NVLink.
fn is_x(port: &SitePort) -> bool {
    matches!(port.link.carried, Carried::Nvlink { .. })
}

impl BridgeNvlink {
    /// The windows of a bridge among so many GPUs.
    fn inbound(&self, gpus: usize) -> Result<BridgeWindows<InboundClass>, ConfigFinding> {
        let windows: Vec<BridgeWindow<InboundClass>> = self
            .inbound
            .iter()
            .map(|(fields, _)| fields.window())
            .collect::<Result<_, String>>()
            .map_err(|text| ("inbound", text))?;
        if windows.is_empty() {
            return Err(("inbound", "found no window, expected 1 to 16: nothing leads to GPUs".to_owned()));
        }
        let groups = groups_of_sources("inbound_groups", &self.inbound_groups, SOURCES)?;
        BridgeWindows::within(WindowLimits::INBOUND_NVLINK, windows, groups, gpus).map_err(|error| {
            let field = if error.field() == "groups" { "inbound_groups" } else { "inbound" };
            (field, error.to_string())
        })
    }
}

impl Component for BridgeNvlink {
    fn ports(&self) -> Vec<PortDecl> {
        vec![
            PortDecl { name: "x", len: Some(self.x_ports), links: &["nvlink"], role: PortRole::Node },
            PortDecl {
                name: "target",
                len: Some(self.target_ports),
                links: cxl_links::NAMES,
                role: PortRole::Device,
            },
        ]
    }

    fn offer(&self) -> Offer {
        let end = |(fields, _): &(InboundWindowFields, TextPlace)| fields.base.saturating_add(fields.size);
        Offer { memory_bytes: self.inbound.iter().map(end).max(), ..Offer::default() }
    }

    fn check(&self) -> Vec<ConfigFinding> {
        // How many GPUs there are is not known yet.
        self.inbound(usize::MAX).err().into_iter().collect()
    }

    fn check_joined(&self, _: Clock, member: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let windows = self.inbound(member.asked.into()).err();
        // Who is no bridge knows what memory holds at first by the addresses at which it asks.
        let moved = self.inbound.iter().find(|(window, _)| window.base != window.to);
        let host = ports.iter().find(|port| !is_x(port) && port.peer_role != PortRole::Requester);
        let seen = moved.zip(host).map(|((window, _), port)| {
            let text = format!(
                "found a window from {:#x} to {:#x} and a host at {}, expected the same address on both sides: a host judges bytes by its addresses",
                window.base, window.to, port.path
            );
            ("inbound", text)
        });
        windows.into_iter().chain(seen).collect()
    }

    fn is_asked(&self) -> bool {
        false
    }

    fn own_wait_fs(&self, clock: Clock) -> u64 {
        clock.periods_fs(self.stages.timeout_cycles)
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        // An entry is free again when its access has left and its answer has (bridge §10: mQ and mW, XO). Answers of accelerators are
        // always taken: their space is set aside with the entry.
        let asks = |class: Class| ChannelWait {
            incoming: class.name(),
            outgoing: REQUEST,
            reach: Reach::OtherPorts,
            queue: Some("table of transactions"),
            why: "asks an accelerator for what it is asked for",
        };
        let refuses = ChannelWait::answered(REQUEST, RESPONSE);
        let answered = cxl_links::answered_memory().into_iter();
        Some(answered.chain([asks(Class::M2sReq), asks(Class::M2sRwd), refuses]).collect())
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let DomainMember { own, asked, fabric, .. } = site.member;
        let joined = |text| NodeError::Joined { path: site.path.to_owned(), text };
        let windows = self.inbound(asked.into()).map_err(|(_, text)| joined(text))?;
        let (x, targets): (Vec<&SitePort>, Vec<&SitePort>) = site.ports.iter().partition(|port| is_x(port));
        if let Some(port) = x.iter().find(|port| port.link.carried != x[0].link.carried) {
            let text = format!("found another kind of link at {} than at the first port, expected one kind", port.path);
            return Err(joined(text));
        }
        for port in targets.iter().filter(|port| port.peer_role == PortRole::Requester) {
            let windows = windows.clone();
            let lines = move |address| {
                windows.translated(address).map(|route: BridgeRoute<InboundClass>| BACKGROUND.line(route.address))
            };
            first_lines(site, port.number).are(Box::new(lines));
        }
        // A requester asks by the addresses of the bridge; a host, by those of the memory map if there is one.
        let decoders = targets.iter().map(|port| {
            let is_mapped = port.peer_role != PortRole::Requester;
            is_mapped.then(|| site.map.decoders(0)).flatten()
        });
        let name = format!("{}.inbound", site.path);
        let config = InboundModuleConfig {
            place: name.clone(),
            inbound: InboundConfig { windows, decoders: decoders.collect(), entries: self.inbound_entries },
            timing: self.stages.timing(),
            clock: site.clock,
        };
        let links: Vec<_> = targets.iter().map(|port| (port.link.cxl(), port.number)).collect();
        let form = links[0].0.0;
        let tap = hub.tap(&name, PlaceKind::Messages(transaction_layouts(form)));
        let result: Arc<Mutex<InboundResult>> = Arc::default();
        let (shared, ledger): (_, Arc<Mutex<NvlLedger>>) = (result.clone(), Arc::default());
        let entered = ledger.clone();
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                let (mut x_plugs, mut target_plugs) = (Vec::new(), Vec::new());
                for plug in plugs {
                    match plug {
                        ComponentPlug::Nvlink(plug, _) => x_plugs.push(plug),
                        plug => target_plugs.push(plug.cxl()),
                    }
                }
                p.module(&name, clock, |bind| {
                    let ends = x_plugs.into_iter().map(|plug| LinkEnds {
                        tx: plug.tx.map(|end| bind.attach(end)),
                        rx: plug.rx.map(|end| bind.attach(end)),
                    });
                    let side = NvlinkSide::new(own, fabric, ends.collect(), entered);
                    let ports = target_plugs.into_iter().zip(links).map(|((tx, rx), ((form, ids), link))| TargetPort {
                        rx: bind.attach(rx),
                        tx: bind.attach(tx),
                        own: ids[1],
                        form,
                        link,
                    });
                    let ports = ports.collect();
                    InboundModule::new(config, Box::new(side), ports, tap, shared)
                })
            }),
            measure: Box::new(move || measured(crate::kinds::published(&result))),
            digest: Vec::new(),
            ledger: Some(NodeLedger::Nvlink(ledger)),
        })
    }
}

fn measured(result: InboundResult) -> ComponentMeasured {
    let counts = &result.counts;
    let [reads, writes, others] = counts.messages;
    ComponentMeasured {
        counts: vec![
            (&MESSAGES, result.done),
            (&CYCLES, result.cycles),
            (&READS, reads),
            (&WRITES, writes),
            (&OTHERS, others),
            (&ACCESSES, counts.accesses),
            (&JOINED, counts.joined),
            (&REFUSED, counts.refused),
            (&ILLEGAL, counts.illegal),
            (&LOST, counts.lost_writes),
            (&POISONED, counts.poisoned_reads),
            (&FULL, result.full_cycles),
            (&TIMEOUTS, counts.timeouts),
            (&LATE, counts.late),
            (&VIRAL, counts.viral_ports),
            (&ASKED, result.refused),
        ],
        broken: result.broken,
        ..ComponentMeasured::default()
    }
}
