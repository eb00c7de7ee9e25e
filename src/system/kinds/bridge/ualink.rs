//! `bridge.ualink`: the bridge SoC between UALink and CXL, see [`scalepool_bridge`].
//!
//! Modelled: its windows, groups and rights as a description gives them, its stages in cycles, its [cache](super::cache); to the
//! device behind a coherent port it is one more holder of lines. What is not built is refused: other classes of windows, protection of transactions, ports of CXL without port based routing. A walk through one description: windows and
//! rights are read and judged, the class of order follows from the links, the ports of both sides are joined to the core.

use crate::channels::{ChannelWait, Reach};
use crate::coherence::{AgentEnd, Coherent, Seat, recorded};
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Carried, CoherenceProtocol, Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, CxlSide,
    DomainMember, NodeError, NodeLedger, PortDecl, PortRole, Site, SitePort, component,
};
use super::cache::{self, BridgeCacheFields, CACHE_METRICS};
use super::first_lines;
use super::stages::BridgeStages;
use super::windows::{BridgeWindowFields, groups_of_sources};
use crate::kinds::media::{self, CxlMedia, DRAM_METRICS};
use crate::kinds::ualink_accelerator::{memory_behind, protection};
use crate::kinds::ualink_link::{REQUEST, RESPONSE};
use crate::measured::ComponentMeasured;
use crate::metric::metrics;
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_bridge::module::{Bridge, BridgeConfig, BridgeCxlPort, BridgeResult};
use scalepool_bridge::outbound::OutboundConfig;
use scalepool_bridge::outbound::order::BridgeOrder;
use scalepool_bridge::outbound::table::{FEWEST_ENTRIES, MOST_ENTRIES};
use scalepool_bridge::timing::BridgeTiming;
use scalepool_bridge::watched::{BridgeLines, PortWatch};
use scalepool_bridge::window::{BridgeRoute, BridgeWindows, WindowClass};
use scalepool_coherence::content::{CacheLine, LineAddr, LineContent};
use scalepool_kernel::{BuildError, Clock, ClockId, PartitionBuilder};
use scalepool_link::ualink::security::Protection;
use scalepool_link::ualink::wiring::Socket;
use scalepool_memory::dram::preset::DramPreset;
use scalepool_nodes::cxl::BACKGROUND;
use scalepool_nodes::ualink::accelerator::AcceleratorPortEnds;
use scalepool_nodes::ualink::ledger::UalLedger;
use scalepool_nodes::ualink::port::{AcceleratorPort, Tamper};
use scalepool_nodes::ualink::{Ends, channels};
use scalepool_protocols::cxl::message::{Class, MessageForm, PeerRoute};
use scalepool_trace::{Hub, PlaceKind};
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "bridge.ualink",
    about: "bridge SoC: accelerators on UALink reach memory on CXL by windows; its ports are `x[n]` on UALink, `cxl[n]` to memory without coherence (HDM-H) and `coherent[n]` to devices with HDM-DB",
    fields: BridgeUalink::fields,
    read: component::<BridgeUalink>,
    external: &["flits"],
    metrics: &[METRICS, CACHE_METRICS, DRAM_METRICS],
};

metrics! {
    /// What a bridge counts.
    static METRICS {
        REQUESTS = "requests answered" ["requests"] Sum, "UALink requests whose response has left";
        CYCLES = "request cycles" ["cycles"] Sum, "cycles from the arrival of a UALink request to its response, of all requests answered";
        READS = "reads" ["requests"] Sum, "UALink reads converted";
        WRITES = "writes" ["requests"] Sum, "UALink writes converted";
        ATOMICS = "atomics" ["requests"] Sum, "UALink atomics converted";
        ENDED = "messages ended" ["requests"] Sum, "UPLI write messages that ended in the bridge";
        LINES = "lines" ["lines"] Sum, "lines of 64 bytes that were asked for on CXL, joined reads included";
        JOINED = "joined reads" ["lines"] Sum, "reads of a line that got the data of an earlier read";
        REFUSED = "requests refused" ["requests"] Sum, "UALink requests answered with a status that is not OKAY";
        IGNORED = "ignored enables" ["bytes"] Sum, "bytes that were enabled outside of what their request covers";
        FULL = "full cycles" ["cycles"] Sum, "cycles in which a request was at a port and no entry or buffer was free for it";
        TIMEOUTS = "time-outs" ["requests"] Sum, "UALink requests that were given up";
        LATE = "late answers" ["answers"] Sum, "last answers of CXL that came when their request was given up";
        SNOOPS = "snoops" ["snoops"] Sum, "back-invalidate snoops of devices, answered by whether a line is held";
    }
}

/// A direct requester needs port based routing (`bridge` §1.2).
const FABRIC: &[&str] = &["cxl-256b-pbr"];
/// Groups of sources.
const SOURCES: &str = "ACCELERATOR:GROUP with accelerators 0 to 1023 and groups 0 to 15";

config! {
    /// A bridge.
    pub struct BridgeUalink {
        x_ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 16), "UALinks of the bridge (bridge §1.1)";
        cxl_ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(0, 16), "CXL links to memory that nobody keeps coherent (bridge §1.1)";
        coherent_ports: usize = "0" [Unit::Of("ports")] in FieldRange::Int(0, 16), "CXL links to devices that keep their memory coherent (bridge §1.1)";
        windows: Vec<(BridgeWindowFields, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(BridgeWindowFields::fields), "windows from UALink to CXL, 1 to 16 that do not overlap (bridge §2)";
        groups: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts(SOURCES), "groups of accelerators that have rights together; those that are not named are in group 0 (bridge §2)";
        entries: usize = "512" [Unit::Of("transactions")] in FieldRange::Int(FEWEST_ENTRIES as u64, MOST_ENTRIES as u64), "transactions that may be under way, 8 of them for each virtual channel alone (bridge §7)";
        write_buffers: usize = "1024" [Unit::Of("beats")] in FieldRange::Int(4, 1 << 20), "buffers of 64 bytes for what is written (bridge §7)";
        stages: BridgeStages = "" [Unit::Of("-")] in FieldRange::Table(BridgeStages::fields), "latencies of its stages";
        cache: Option<BridgeCacheFields> = "" [Unit::Of("-")] in FieldRange::Table(BridgeCacheFields::fields), "conversion cache; left out, there is none (bridge §9)";
    }
}

impl BridgeUalink {
    fn windows(&self) -> Result<BridgeWindows, (&'static str, String)> {
        let windows = self.windows.iter().map(|(fields, _)| fields.window([self.cxl_ports, self.coherent_ports]));
        let windows = windows.collect::<Result<Vec<_>, String>>().map_err(|text| ("windows", text))?;
        if windows.is_empty() {
            return Err(("windows", "found no window, expected 1 to 16: nothing leads to CXL".to_owned()));
        }
        let groups = groups_of_sources("groups", &self.groups, SOURCES)?;
        BridgeWindows::new(windows, groups, self.cxl_ports + self.coherent_ports)
            .map_err(|error| (error.field(), error.to_string()))
    }

    fn timing(&self) -> BridgeTiming {
        let timing = self.stages.timing();
        let template_cycles = self.cache.as_ref().map_or(timing.template_cycles, |cache| cache.template_cycles);
        BridgeTiming { template_cycles, ..timing }
    }
}

/// Whether a port is one of UALink.
fn is_x(port: &SitePort) -> bool {
    matches!(port.link.carried, Carried::Ualink { .. })
}

impl Component for BridgeUalink {
    fn ports(&self) -> Vec<PortDecl> {
        vec![
            PortDecl { name: "x", len: Some(self.x_ports), links: &["ualink"], role: PortRole::Node },
            PortDecl { name: "cxl", len: Some(self.cxl_ports), links: FABRIC, role: PortRole::Requester },
            PortDecl {
                name: "coherent",
                len: Some(self.coherent_ports),
                links: FABRIC,
                role: PortRole::Coherent(CoherenceProtocol::HdmDb, CxlSide::Host),
            },
        ]
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let of_cache = self.cache.iter().flat_map(BridgeCacheFields::check);
        let windows = self.windows();
        let of_control = windows.as_ref().ok().zip(self.cache.as_ref());
        let of_control = of_control.and_then(|(windows, cache)| cache.check_control(windows));
        windows.err().into_iter().chain(of_cache).chain(of_control).collect()
    }

    fn check_joined(&self, _: Clock, _: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let x = ports.iter().filter(|port| is_x(port));
        let guarded = x.clone().find(|port| protection(port) != Protection::Off).map(|port| {
            let text = format!("found authentication at {}, expected none: the bridge does not check tags", port.path);
            ("x_ports", text)
        });
        let first = ports.first().map(|port| port.link.carried);
        let other = x.clone().find(|port| Some(port.link.carried) != first).map(|port| {
            let text = format!("found another kind of link at {} than at the first port, expected one kind", port.path);
            ("x_ports", text)
        });
        guarded.into_iter().chain(other).collect()
    }

    /// Without a cache it holds a line of a device from the grant to the write back, and no other; with one, as long as it keeps it.
    fn coherent(&self, path: &str) -> Option<Coherent> {
        let name = |port: &PortDecl, n: usize| format!("{path}.{}[{n}]", port.name);
        let of = |port: PortDecl| (0..port.len.unwrap_or(1)).map(move |n| name(&port, n)).collect::<Vec<_>>();
        (self.coherent_ports > 0).then(|| Coherent::Holder(self.ports().into_iter().flat_map(of).collect()))
    }

    fn why_no_window(&self) -> &'static str {
        "whose own windows lead to memory by numbers of accelerators"
    }

    fn own_wait_fs(&self, clock: Clock) -> u64 {
        clock.periods_fs(self.stages.timeout_cycles)
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        // An entry is free again when its messages have left and its response has (bridge §10: XQ0, ACT, mQ, mW, XR). Answers of CXL
        // are always taken: their space is set aside with the entry.
        let asks = |class: Class| ChannelWait {
            incoming: REQUEST,
            outgoing: class.name(),
            reach: Reach::OtherPorts,
            queue: Some("table of transactions"),
            why: "asks memory for what it is asked for",
        };
        // A snoop waits for the write back of its line, and for room for its answer (bS).
        let snooped = |class: Class| ChannelWait {
            incoming: Class::S2mBisnp.name(),
            outgoing: class.name(),
            reach: Reach::SamePort,
            queue: None,
            why: "gives back a line that it holds",
        };
        let [req, rwd, birsp] = [Class::M2sReq, Class::M2sRwd, Class::M2sBirsp];
        Some(vec![ChannelWait::answered(REQUEST, RESPONSE), asks(req), asks(rwd), snooped(rwd), snooped(birsp)])
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let (name, own) = (site.path.to_owned(), site.member.own);
        let joined = |text| NodeError::Joined { path: site.path.to_owned(), text };
        let windows = self.windows().map_err(|(_, text)| joined(text))?;
        let data = self.cache.as_ref().map(BridgeCacheFields::data).transpose().map_err(joined)?.flatten();
        let cache_memory = self.cache.as_ref().map(|cache| cache.memory(site)).transpose().map_err(joined)?.flatten();
        let (x, cxl): (Vec<&SitePort>, Vec<&SitePort>) = site.ports.iter().partition(|port| is_x(port));
        let is_strict = matches!(x[0].link.carried, Carried::Ualink { strict: true, .. });
        let config = BridgeConfig {
            place: name.clone(),
            fabric: site.member.fabric,
            outbound: OutboundConfig {
                own,
                windows: windows.clone(),
                entries: self.entries,
                write_buffers: self.write_buffers,
                order: if is_strict { BridgeOrder::Sources } else { BridgeOrder::Blocks },
                data,
                templates: self.cache.as_ref().and_then(BridgeCacheFields::templates),
                control: self.cache.as_ref().and_then(|cache| cache.control),
            },
            timing: self.timing(),
            cache_memory,
            clock: site.clock,
        };
        // What memory holds that nobody has written: what another bridge says of it, its own addresses, or zeros where a device keeps it
        // coherent.
        let behind: Vec<_> = cxl.iter().map(|port| first_lines(site, port.number)).collect();
        let first = move |route: BridgeRoute| match (behind[route.port].get(), route.class) {
            (Some(lines), _) => lines(route.address).unwrap_or([0xff; 64]),
            (None, WindowClass::Mn) => BACKGROUND.line(route.address),
            (None, WindowClass::Mc) => CacheLine::initial(LineAddr::of_address(route.address)).bytes,
        };
        memory_behind(site).stands_in_front(own, Box::new(move |address| windows.translated(address).map(&first)));
        let route = |port: &&SitePort| {
            let (form, port_ids) = port.link.cxl();
            let Some(seat) = &port.seat else {
                let [spid, dpid] = port_ids;
                return (PeerRoute { spid, dpid, ..PeerRoute::default() }, form, (0, port.number));
            };
            let end = AgentEnd { is_home: false, is_host: true };
            (seat.route(seat.holders.start, end, form, port_ids), form, (seat.link_number(), port.number))
        };
        let routes: Vec<_> = cxl.iter().map(route).collect();
        let seats: Vec<Option<Seat>> = cxl.iter().map(|port| port.seat.clone()).collect();
        let form = routes.first().map_or(MessageForm::Pbr, |(_, form, _)| *form);
        let media = self.cache.as_ref().and_then(|cache| cache.media.as_ref());
        let kept = media.filter(|_| site.keeps_dram_commands).and_then(CxlMedia::preset);
        let tap = hub.tap(&name, PlaceKind::Messages(form.layouts()));
        let result: Arc<Mutex<BridgeResult>> = Arc::default();
        let (shared, ledger): (_, Arc<Mutex<UalLedger>>) = (result.clone(), Arc::default());
        let entered = ledger.clone();
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                let (mut x_ends, mut cxl_ends) = (Vec::new(), Vec::new());
                for plug in plugs {
                    match plug {
                        ComponentPlug::Ualink(socket, flit) => {
                            x_ends.push(place_port(p, &name, x_ends.len(), (*socket, flit))?);
                        }
                        plug => cxl_ends.push(plug.coherent()),
                    }
                }
                p.module(&name, clock, |bind| {
                    let x = x_ends.into_iter().map(|(tx, rx)| AcceleratorPortEnds {
                        tx: tx.map(|end| bind.attach(end)),
                        rx: rx.map(|end| bind.attach(end)),
                    });
                    let x = x.collect();
                    let mut cxl = Vec::new();
                    for ((ends, (route, form, number)), seat) in cxl_ends.into_iter().zip(routes).zip(&seats) {
                        let link = ends.attach(bind, vec![route], form, number);
                        let watch = seat.as_ref().and_then(watched);
                        cxl.push(BridgeCxlPort { link, is_coherent: seat.is_some(), watch });
                    }
                    Bridge::new(config, x, cxl, tap, (shared, entered))
                })
            }),
            measure: Box::new(move || measured(crate::kinds::published(&result), kept)),
            digest: Vec::new(),
            ledger: Some(NodeLedger::Ualink(ledger)),
        })
    }
}

/// The watcher of the lines at a port.
fn watched(seat: &Seat) -> Option<PortWatch> {
    let node = seat.holders.start + 1;
    let watch = recorded(seat.domain.watch::<BridgeLines>(), node, std::slice::from_ref(seat))?;
    Some(PortWatch { node, watch })
}

/// Puts a UALink port into a partition; the channels of the bridge.
fn place_port(
    p: &mut PartitionBuilder,
    bridge: &str,
    n: usize,
    (socket, flit): (Socket, ClockId),
) -> Result<Ends, BuildError> {
    let (own, (tx, rx)) = channels(p, bridge, "x_", n)?;
    let name = socket.name().to_owned();
    p.module(&name, flit, |bind| AcceleratorPort {
        link: socket.bind(bind),
        tx: tx.map(|end| bind.attach(end)),
        rx: rx.map(|end| bind.attach(end)),
        guard: None,
        tamper: Tamper::default(),
    })?;
    Ok(own)
}

fn measured(result: BridgeResult, kept: Option<DramPreset>) -> ComponentMeasured {
    let counts = &result.counts;
    let [reads, writes, atomics, ended] = counts.requests;
    let of_cache = result.cache.as_ref().map(cache::measured).unwrap_or_default();
    let of_dram = result.dram.as_ref().map(media::dram_counts).unwrap_or_default();
    ComponentMeasured {
        counts: [
            vec![
                (&REQUESTS, result.done),
                (&CYCLES, result.cycles),
                (&READS, reads),
                (&WRITES, writes),
                (&ATOMICS, atomics),
                (&ENDED, ended),
                (&LINES, counts.children),
                (&JOINED, counts.joined),
                (&REFUSED, counts.refused),
                (&IGNORED, counts.ignored_bytes),
                (&FULL, result.full_cycles),
                (&TIMEOUTS, counts.timeouts),
                (&LATE, counts.late),
                (&SNOOPS, counts.snoops),
            ],
            of_cache,
            of_dram,
        ]
        .concat(),
        broken: result.broken,
        dram_commands: kept.map(|preset| (preset, result.commands)),
        ..ComponentMeasured::default()
    }
}
