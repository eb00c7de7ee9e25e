//! `cxl.switch.io-pbr`: the CXL.io side of a switch with port based routing, see [`scalepool_nodes::io::switch::fabric`].
//!
//! Modelled: edge ports `usp[n]` towards root complexes and `dsp[n]` towards devices, fabric ports `isl[n]` towards other such
//! switches, and bindings that hold from the start. A host sees the switch where it is, with a vPPB for each of its devices: that of a
//! device at this switch is the port there, that of another one leads over a virtual link to a switch of its own with one port. So does
//! that of a logical device, whose LD-ID stands on the link of the device alone (`fabric` §3.4). A
//! walk: the switches of a fabric are looked at together ([`crate::pbr_fabric`]), which gives each its PIDs and its table; the
//! bindings become hierarchies and virtual links.

use super::cycles;
use super::io::HBR_MODES;
use super::io_node::{TrainedPort, answer_within_fs, node, power_timeout_cycles, uio_settings, with_cachemem};
use crate::channels::{ChannelWait, Reach, RoutedWays};
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Carried, Component, ComponentKind, ComponentNode, ConfigFinding, DomainMember, IoPassage, NodeError, Offer,
    PortDecl, PortRole, Site, SitePort, component,
};
use crate::kinds::cxl_links::POSTED;
use crate::kinds::cxl_root::PAYLOADS;
use crate::kinds::uio::UioDecoderConfig;
use crate::metric::{MetricValue, metrics};
use crate::pbr_fabric::{PbrBindingConfig, PbrDecl, PbrLostLink, PbrSite};
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_endpoint::pm::{PmAgent, PmConfig, PmSide};
use scalepool_fabric::cxl_switch::pbr::{PbrChange, PbrOwner, PbrPort, PbrRouting};
use scalepool_fabric::cxl_switch::{PBR_PRESETS, SwitchPreset};
use scalepool_fabric::spread::{OVERFLOW_MIX, SpreadPolicy};
use scalepool_kernel::{Clock, Time};
use scalepool_nodes::io::mode::FlexPort;
use scalepool_nodes::io::switch::fabric::{EDGE_LAYERS, IoChange, IoFabric, IoVirtualLink};
use scalepool_nodes::io::switch::hierarchy::{IoHierarchy, IoSide};
use scalepool_nodes::io::switch::reset::{LinkMessage, RELEASE_INTERVAL_FS};
use scalepool_nodes::io::switch::{IoSeat, IoSwitchConfig, IoSwitchResult};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxlio::dvsec::ConnectedMode;
use scalepool_trace::Hub;

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "cxl.switch.io-pbr",
    about: "CXL.io side of a switch with port based routing: root complexes at `usp[n]` enumerate through the fabric and reach the devices at `dsp[n]` of any of its switches that are bound to them; `isl[n]` lead to other such switches",
    fields: IoPbrSwitch::fields,
    read: component::<IoPbrSwitch>,
    external: &["flits"],
    metrics: &[METRICS],
};

metrics! {
    /// What a switch counts.
    static METRICS {
        SWITCHED_POSTED = "switched posted" ["TLPs"] Sum, "posted requests that hierarchies passed on";
        SWITCHED_NON_POSTED = "switched non-posted" ["TLPs"] Sum, "requests with a completion that hierarchies passed on";
        SWITCHED_COMPLETIONS = "switched completions" ["TLPs"] Sum, "completions that hierarchies passed on";
        FORWARDED = "forwarded" ["TLPs"] Sum, "TLPs that came over one inter-switch link and left over another";
        OWN_CONFIG = "own configuration requests" ["requests"] Sum, "configuration requests for the ports of the switch";
        UNSUPPORTED = "unsupported requests" ["requests"] Sum, "requests that nobody claims, completed as Unsupported Request (fabric IOR-4)";
        UNCLAIMED = "unclaimed TLPs" ["TLPs"] Sum, "posted requests and completions that nobody claims, which are dropped (fabric IOR-4)";
        UIO_DOWN = "UIO down" ["requests"] Sum, "requests of UIO that left at a vPPB of an edge by a decoder that allows it, given where there are any decoders (fabric IOR-6)";
        UIO_UP = "UIO up" ["requests"] Sum, "requests of UIO that went from an edge toward the host, as no decoder there that allows it has all of their bytes (fabric UIO-02)";
        UIO_ABORTED = "UIO aborted" ["requests"] Sum, "requests of UIO to a peer from a port that is not enabled for it, completed as Completer Abort (fabric UIO-02)";
        POWER_COLLECTED = "power requests collected" ["requests"] Sum, "resets and phases of a flush that all ports of a hierarchy have answered (fabric RST-8)";
        POWER_GIVEN_UP = "power requests given up" ["requests"] Sum, "resets and phases of a flush that the switch at the other end of a virtual link did not answer in time, in a fabric that loses links";
        LOST = "TLPs lost with links" ["TLPs"] Sum, "TLPs that were queued for a link or came over one after it was lost, or whose virtual link was taken down (fabric DRT-2, ISL-7)";
        NO_ROUTE = "TLPs without a route" ["TLPs"] Sum, "TLPs whose DPID has no valid entry in the routing table, which are dropped (fabric DRT-2)";
        NOT_CLAIMED = "TLPs not claimed" ["TLPs"] Sum, "TLPs whose SPID and DPID no virtual link of the edge has, which are dropped (fabric PID-5)";
        UNKNOWN = "unknown completed" ["requests"] Sum, "requests of a host that the fabric had no way for, completed at its edge (fabric DRT-3)";
        SURPRISE = "surprise link downs" ["links"] Sum, "virtual links of hosts at this switch that went down because a link on their way was lost (fabric PID-4)";
        RESETS = "resets carried" ["links"] Sum, "virtual links of hosts at this switch that a reset has crossed, and that are up again (fabric ISL-5)";
        RESETS_TAKEN = "resets taken" ["resets"] Sum, "resets of hosts at other switches that reached a device here (fabric ISL-5)";
        RESETS_GIVEN_UP = "resets given up" ["links"] Sum, "virtual links that did not come up after ten releases of a reset, of which the fabric manager was told (fabric ISL-5)";
        CONTAINED = "contained links" ["links"] Sum, "inter-switch links of `errors` that containment took down (fabric ISL-4)";
        UNCONTAINED = "uncontained errors" ["errors"] Sum, "errors of inter-switch links that stay up as the only way to the fabric manager (fabric ISL-4)";
        CONTACTS = "first contacts" ["links"] Sum, "inter-switch links on which the other switch made itself known (fabric ISL-6)";
    }
}

/// Names of the presets.
const PRESET_NAMES: &[&str] = &[PBR_PRESETS[0].name];
/// Best mode of its ports.
const MODE: &str = "cxl-256b-pbr";
/// Most ports of a switch: what an entry of the routing table can name (`fabric` DRT-1).
const MOST_PORTS: usize = 256;
/// Most devices of a host: each may need three of the 253 bus numbers below the upstream port of its edge.
const MOST_DEVICES: usize = 84;
/// Largest payload that its ports pass where the description says nothing else \[bytes\].
const MAX_PAYLOAD: usize = 512;
/// Device numbers of a bus inside a switch.
const DEVICE_NUMBERS: usize = 32;

config! {
    /// A reset that comes to the upstream port of a host.
    pub struct IoPbrReset {
        at: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 50), "when it begins";
        usp: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 63), "edge port of the host";
        kind: String = "hot" [Unit::Of("-")] in FieldRange::Words(&["hot", "perst"]), "hot reset, or PERST# of the port; to devices at other switches it travels as messages of its virtual links (fabric ISL-5)";
    }
}

config! {
    /// A range of HDM decoders of a hierarchy at an edge, as UIO sees it: that of one vPPB.
    pub struct IoPbrUioRange with { decoder: UioDecoderConfig } {
        edge: String = "host" [Unit::Of("-")] in FieldRange::Words(&["host", "device"]), "host = the hierarchy of a host at this switch; device = that of a device here whose host is at another switch, which has one vPPB";
        port: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 255), "edge port towards that host, or towards that device";
        vppb: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 255), "vPPB of a downstream port, from 0, of a host: in the order of its devices; of a device 0";
    }
}

config! {
    /// A switch. Numbers without another source are of the model (basis: model).
    pub struct IoPbrSwitch {
        preset: String = "pbr_hop" [Unit::Of("-")] in FieldRange::Words(PRESET_NAMES), "latency from port to port: 100 ns (fabric §5, not measured)";
        latency: Option<u64> = "" [Unit::Time] in FieldRange::Int(1, 1 << 40), "latency from port to port, rounded up to cycles; not given = that of the preset";
        hosts: usize = "0" [Unit::Of("ports")] in FieldRange::Int(0, 64), "edge ports towards root complexes";
        ports: usize = "0" [Unit::Of("ports")] in FieldRange::Int(0, 255), "edge ports towards devices";
        fabric: usize = "0" [Unit::Of("ports")] in FieldRange::Int(0, 255), "fabric ports, each for an inter-switch link";
        routing: String = "minimal" [Unit::Of("-")] in FieldRange::Words(PbrRouting::NAMES), "routes of its fabric, the same at all of its switches: a shortest way, of several such ways always that over the lowest port (dimension order in a mesh whose ports are numbered by dimension), or links towards the first switch of the description before links away from it (fabric RGT-7, ISL-9)";
        ur_on_unknown: bool = "off" [Unit::Of("-")] in FieldRange::Switch, "the edge of a host completes as Unsupported Request what its table has no way for; off: it drops that, and the host times out (fabric DRT-3)";
        lost: Vec<(PbrLostLink, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(PbrLostLink::fields), "inter-switch links at this switch that go down for good while the system runs; when the fabric manager writes the tables it takes down the virtual links that used them (fabric ISL-7)";
        errors: Vec<(PbrLostLink, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(PbrLostLink::fields), "uncorrectable errors of inter-switch links at this switch: containment takes the link down like a lost one, but where it is the only way between its ends, and so to the fabric manager, which is at the first switch of the description (fabric ISL-4)";
        resets: Vec<(IoPbrReset, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(IoPbrReset::fields), "resets of hosts at this switch: bus numbers and windows of their hierarchies are gone, and a host has to walk again (rescan_at of cxl.root)";
        reset_hold: u64 = "1 us" [Unit::Time] in FieldRange::Int(1_000_000, 1 << 50), "how long a reset is asserted";
        bindings: Vec<(PbrBindingConfig, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(PbrBindingConfig::fields), "which hosts have the devices at this switch (fabric PID-5); with ld they have logical devices of them; without any in the fabric its devices go to its hosts in turn, each as a whole, in the order of the description";
        uio: Vec<(IoPbrUioRange, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(IoPbrUioRange::fields), "ranges of the HDM decoders by which requests of UIO find their vPPB at edges of this switch (fabric IOR-6); without any its edge ports take no part in UIO. Inter-switch links have its channel in any case (fabric ISL-1)";
        uio_to_peers: bool = "on" [Unit::Of("-")] in FieldRange::Switch, "its downstream ports, virtual ones too, may send UIO to peers; off: such requests are completed as Completer Abort (fabric UIO-02)";
        max_payload: usize = "512" [Unit::Bytes] in FieldRange::OneOf(PAYLOADS), "largest payload that its ports pass; of a switch without edge ports, which no host sees, nothing else than 512";
        queue: usize = "64" [Unit::Of("TLPs")] in FieldRange::Int(1, 1 << 16), "posted requests of an edge port that the switch holds; further ones wait in the link. Those of a fabric port are always taken";
        width: u64 = "128 B" [Unit::Bytes] in FieldRange::Int(16, 4096), "bytes that an output moves in a cycle";
        power_timeout: u64 = "20 us" [Unit::Time] in FieldRange::Int(1_000_000_000, 1 << 49), "time after which a device that has not answered a reset or a phase of a flush is given up; a virtual link waits twice as long for the switch at its other end";
    }
}

impl IoPbrSwitch {
    /// Whether a port takes part in UIO.
    fn has_uio_at(&self, port: usize) -> bool {
        port >= self.hosts + self.ports || !self.uio.is_empty()
    }

    /// What is wrong with a range of UIO as it stands.
    fn check_uio(&self, range: &IoPbrUioRange) -> Option<ConfigFinding> {
        let (is_host, ports) = if range.edge == "host" { (true, self.hosts) } else { (false, self.ports) };
        let text = if range.port >= ports {
            format!("found port = {}, expected one of the {ports} edge ports towards {}s", range.port, range.edge)
        } else if !is_host && range.vppb != 0 {
            format!("found vppb = {}, expected 0: the hierarchy of a device at an edge has one vPPB", range.vppb)
        } else {
            return range.decoder.check("uio");
        };
        Some(("uio", text))
    }

    /// LD-IDs of the logical devices that are bound at a port; none: what is there is bound whole.
    fn logical(&self, port: usize) -> impl Iterator<Item = u8> {
        let of_port = move |one: &&(PbrBindingConfig, TextPlace)| self.hosts + one.0.port == port;
        self.bindings.iter().filter(of_port).filter_map(|(one, _)| one.ld)
    }

    fn latency_fs(&self) -> u64 {
        let Some(preset) = SwitchPreset::by_name(&self.preset) else { unreachable!("a word of the range") };
        self.latency.unwrap_or_else(|| preset.stages_fs.iter().sum())
    }

    fn latency_cycles(&self, clock: Clock) -> u64 {
        cycles(clock, self.latency_fs()).max(1)
    }
}

impl Component for IoPbrSwitch {
    fn ports(&self) -> Vec<PortDecl> {
        let port = |name, len, role| PortDecl { name, len: Some(len), links: &["cxl-io"], role };
        vec![
            port("usp", self.hosts, PortRole::SwitchUpstream),
            port("dsp", self.ports, PortRole::SwitchDownstream),
            port("isl", self.fabric, PortRole::SwitchFabric),
        ]
    }

    fn offer(&self) -> Offer {
        Offer { flex_bus: Some(FlexPort::root(MODE)), edge_layers: Some(EDGE_LAYERS), ..Offer::default() }
    }

    fn offer_at(&self, port: usize) -> Offer {
        let mut own = Offer { has_uio: self.has_uio_at(port), ..self.offer() };
        own.io_logical_devices = self.logical(port).map(|ld| u16::from(ld) + 1).max();
        // A device that is bound whole works as one with a single logical device (`fabric` MLD-4).
        let has_logical = own.io_logical_devices.is_some();
        own.flex_bus.iter_mut().for_each(|bus| bus.can.mld = has_logical);
        own
    }

    fn io_passage(&self, clock: Clock) -> Option<IoPassage> {
        Some(IoPassage { latency_fs: clock.periods_fs(self.latency_cycles(clock)), below: Vec::new() })
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let all = self.hosts + self.ports + self.fabric;
        let range = (!(1..=MOST_PORTS).contains(&all)).then(|| {
            let text = format!(
                "found {all} ports in `hosts`, `ports` and `fabric` together, expected 1 to {MOST_PORTS}, what a routing table can name (fabric DRT-1)"
            );
            ("fabric", text)
        });
        // Hosts see the switches at the edges alone, and tell each of their ports its largest payload.
        let unseen = (self.hosts + self.ports == 0 && self.max_payload != MAX_PAYLOAD).then(|| {
            let found = self.max_payload;
            let text = format!(
                "found {found} B, expected {MAX_PAYLOAD} B, the default: it has no edge port, so no host sees it (fabric PID-4)"
            );
            ("max_payload", text)
        });
        let wrong = |(reset, _): &(IoPbrReset, TextPlace)| {
            (reset.usp >= self.hosts).then(|| {
                let text = format!("found usp = {}, expected one of the {} ports of hosts", reset.usp, self.hosts);
                ("resets", text)
            })
        };
        let uio = self.uio.iter().filter_map(|(range, _)| self.check_uio(range));
        range.into_iter().chain(unseen).chain(self.resets.iter().filter_map(wrong)).chain(uio).collect()
    }

    fn check_joined(&self, _: Clock, _: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let own = FlexPort::root(MODE);
        let mut found = with_cachemem(ports);
        for (n, port) in ports.iter().enumerate() {
            let Carried::CxlIo { rate_gtps, .. } = port.link.carried else { continue };
            let path = &port.path;
            let is_fabric = n >= self.hosts + self.ports;
            let mode = port.peer.flex_bus.and_then(|peer| own.train(&peer, rate_gtps));
            match (is_fabric, mode) {
                (false, Some(ConnectedMode::Pbr)) => {
                    let text = format!(
                        "found an end with mode {MODE} at {path}, expected one of {}: port based routing ends at the edge (fabric PID-3)",
                        HBR_MODES.join(", ")
                    );
                    found.push(("kind", text));
                }
                (true, Some(mode)) if mode != ConnectedMode::Pbr => {
                    let text = format!(
                        "found {rate_gtps} GT/s at {path}, expected a rate with 256B flits: an inter-switch link has port based routing"
                    );
                    found.push(("kind", text));
                }
                _ => (),
            }
            // A virtual link waits twice as long for the switch at its other end.
            if let Some(most) = answer_within_fs(port).filter(|most| self.power_timeout.saturating_mul(2) >= *most) {
                let text = format!(
                    "found {}, expected less than {}: half the time-out of the host at {path}, without the time there and back",
                    Unit::Time.shown(self.power_timeout),
                    Unit::Time.shown(most.div_ceil(2))
                );
                found.push(("power_timeout", text));
            }
        }
        found
    }

    fn why_no_window(&self) -> &'static str {
        "which passes requests on"
    }

    fn pbr(&self) -> Option<PbrDecl<'_>> {
        Some(PbrDecl {
            hosts: self.hosts,
            devices: self.ports,
            routing: PbrRouting::of_name(&self.routing).unwrap_or_else(|| unreachable!("a word of the range")),
            spread: (SpreadPolicy::Static, OVERFLOW_MIX),
            has_segments: false,
            is_ldst: false,
            bindings: &self.bindings,
            lost: &self.lost,
            errors: &self.errors,
            is_io: true,
            most_of_host: MOST_DEVICES,
        })
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        // Requests with a completion, and completions, are always taken. What goes down and what goes up are streams apart.
        let ways = [RoutedWays::Requests, RoutedWays::Answers];
        Some(ways.into_iter().map(|of| ChannelWait::routed(POSTED, Reach::Routes(of))).collect())
    }

    fn own_wait_fs(&self, _: Clock) -> u64 {
        self.latency_fs()
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let own = FlexPort::root(MODE);
        let Some(pbr) = site.pbr.clone() else { unreachable!("every such switch is in a fabric") };
        let edge = EdgeHierarchies::of(&self, pbr, site);
        if let Some(text) = edge.no_vppb(&self.uio, self.hosts) {
            return Err(NodeError::Joined { path: site.path.to_owned(), text });
        }
        let EdgeHierarchies { mut hierarchies, places, fabric } = edge;
        for (of, hierarchy) in hierarchies.iter_mut().enumerate() {
            let own = self
                .uio
                .iter()
                .filter(|(range, _)| EdgeHierarchies::hierarchy_of(&places, range, self.hosts) == Some(of));
            let ranges = own.map(|(range, _)| (range.vppb, range.decoder.range())).collect();
            hierarchy.sets_uio(uio_settings(ranges, self.uio_to_peers));
        }
        let mut ports = Vec::new();
        for (n, port) in site.ports.iter().enumerate() {
            let trained = TrainedPort::new(&own, port, n < self.hosts, self.has_uio_at(n));
            let timeout = power_timeout_cycles(site.clock, self.power_timeout);
            // Logical devices that are bound to nobody belong to the fabric manager.
            let lds: Vec<Option<u16>> = match (n < fabric.first_isl, self.logical(n).next()) {
                (false, _) => Vec::new(),
                (true, None) => vec![None],
                (true, Some(_)) => (0..port.peer.io_logical_devices.unwrap_or(1)).map(Some).collect(),
            };
            let seat = |ld: Option<u16>| {
                let place = places.get(&(n, ld)).copied();
                if let Some((of, side)) = place {
                    hierarchies[of].trained(side, &trained.can, trained.agreed);
                    if let (Some(_), IoSide::Down(vppb)) = (ld, side) {
                        hierarchies[of].redirects(vppb);
                    }
                }
                IoSeat { ld, place, agent: trained.agent(timeout) }
            };
            let seats = lds.into_iter().map(seat).collect();
            ports.push(trained.seated(seats, hub));
        }
        let config = IoSwitchConfig {
            latency_cycles: self.latency_cycles(site.clock),
            queue: self.queue,
            width_bytes: self.width,
        };
        let has_uio = !self.uio.is_empty();
        let counts = move |result: &IoSwitchResult| {
            let [down, up] = result.uio;
            let of_uio: [MetricValue; 3] = [(&UIO_DOWN, down), (&UIO_UP, up), (&UIO_ABORTED, result.uio_aborted)];
            counts(result).into_iter().chain(of_uio.into_iter().filter(|_| has_uio)).collect()
        };
        Ok(node(site, (config, hierarchies, ports), None, |switch| switch.in_fabric(fabric), counts))
    }
}

/// What a port is in its hierarchy, or a logical device behind it.
type IoEdgePlaces = OrderedMap<(usize, Option<u16>), (usize, IoSide)>;

/// The hierarchies of a switch, which of its ports are in them, and its virtual links.
struct EdgeHierarchies {
    hierarchies: Vec<IoHierarchy>,
    places: IoEdgePlaces,
    fabric: IoFabric,
}

impl EdgeHierarchies {
    /// The hierarchy that a range of UIO is of; `None`: there is none with its vPPB. The port of a device that is bound at this switch is in
    /// the hierarchy of its host.
    fn hierarchy_of(places: &IoEdgePlaces, range: &IoPbrUioRange, hosts: usize) -> Option<usize> {
        let is_host = range.edge == "host";
        let port = if is_host { range.port } else { hosts + range.port };
        let (of, _) = places.get(&(port, None))?;
        // Hosts have the first hierarchies, in the order of their ports.
        (is_host || *of >= hosts).then_some(*of)
    }

    /// A range of UIO of a vPPB that is not there.
    fn no_vppb(&self, ranges: &[(IoPbrUioRange, TextPlace)], hosts: usize) -> Option<String> {
        ranges.iter().map(|(range, _)| range).find_map(|range| {
            let of = EdgeHierarchies::hierarchy_of(&self.places, range, hosts);
            let has = of.is_some_and(|of| self.hierarchies[of].bridge(range.vppb).is_some());
            let IoPbrUioRange { edge, port, vppb, .. } = range;
            (!has).then(|| {
                format!(
                    "uio: found vPPB {vppb} at the edge port {port} of a {edge}, expected one to which a device is bound, and of a device one whose host is at another switch"
                )
            })
        })
    }

    fn of(switch: &IoPbrSwitch, pbr: PbrSite, site: &Site<'_>) -> EdgeHierarchies {
        let PbrSite { routes, changes, unbound, errors, may_lose, tree, own } = pbr;
        let can = FlexPort::root(MODE).can;
        let timeout = power_timeout_cycles(site.clock, switch.power_timeout).saturating_mul(2);
        let agent = |side| PmAgent::new(PmConfig { is_of_switch: true, timeout, may_lose, ..PmConfig::new(side) });
        let (mut hierarchies, mut places, mut links) = (Vec::new(), IoEdgePlaces::new(), Vec::new());
        let ld_at = |port: usize, ld: u8| switch.logical(port).next().map(|_| u16::from(ld));
        for (n, port) in routes.ports.iter().enumerate() {
            let PbrPort::Host(host) = port else { continue };
            let of = hierarchies.len();
            let mut hierarchy =
                IoHierarchy::new(&vec![true; host.bindings.len()], DEVICE_NUMBERS, can, switch.max_payload);
            places.insert((n, None), (of, IoSide::Up));
            for (vppb, pid) in host.bindings.iter().enumerate() {
                let side = IoSide::Down(vppb);
                match routes.tables.port(n, pid.number()).filter(|port| *port < switch.hosts + switch.ports) {
                    Some(port) => {
                        let claim = routes.claims.get(&(host.pid.number(), pid.number()));
                        let ld = claim.and_then(|claim| ld_at(port, claim.ld_id));
                        places.insert((port, ld), (of, side));
                    }
                    None => {
                        hierarchy.trained(side, &can, ConnectedMode::Pbr);
                        links.push(IoVirtualLink {
                            place: (of, side),
                            own: host.pid.number(),
                            far: pid.number(),
                            ingress: n,
                            agent: agent(PmSide::Host),
                            reset: Default::default(),
                        });
                    }
                }
            }
            hierarchies.push(hierarchy);
        }
        for (n, port) in routes.ports.iter().enumerate() {
            let PbrPort::Device(device) = port else { continue };
            for (&ld, PbrOwner { host, own }) in device.owners.iter() {
                let seat = (n, ld_at(n, ld));
                if places.contains_key(&seat) {
                    continue;
                }
                let of = hierarchies.len();
                let mut hierarchy = IoHierarchy::new(&[true], DEVICE_NUMBERS, can, switch.max_payload);
                hierarchy.trained(IoSide::Up, &can, ConnectedMode::Pbr);
                hierarchies.push(hierarchy);
                places.insert(seat, (of, IoSide::Down(0)));
                links.push(IoVirtualLink {
                    place: (of, IoSide::Up),
                    own: own.number(),
                    far: host.number(),
                    ingress: n,
                    agent: agent(PmSide::Device),
                    reset: Default::default(),
                });
            }
        }
        let changes = changes.into_iter().map(|(at_fs, change)| {
            let change = match change {
                PbrChange::Lost(port) => IoChange::Lost(port),
                PbrChange::Rerouted(tables) => IoChange::Rerouted(tables),
            };
            (at_fs, change)
        });
        let unbound = unbound.into_iter().map(|(at_fs, [own, far])| (at_fs, IoChange::Unbound(own, far)));
        let errors = errors.into_iter().map(|(at_fs, is_contained)| (at_fs, IoChange::Error { is_contained }));
        // Hosts have the first hierarchies, in the order of their ports.
        let resets = switch.resets.iter().map(|(reset, _)| {
            let assert = if reset.kind == "hot" { LinkMessage::AssertReset } else { LinkMessage::AssertPerst };
            (reset.at, IoChange::Reset(reset.usp, assert))
        });
        let mut changes: Vec<(u64, IoChange)> = changes
            .chain(unbound)
            .chain(resets)
            .chain(errors)
            .map(|(at_fs, change)| (site.clock.first_at_or_after(Time::from_fs(at_fs)), change))
            .collect();
        scalepool_ordered::sort_by_key(&mut changes, |(cycle, _)| *cycle);
        changes.reverse();
        let fabric = IoFabric {
            own: own.number(),
            first_isl: switch.hosts + switch.ports,
            tables: routes.tables,
            links,
            ur_on_unknown: switch.ur_on_unknown,
            may_lose,
            reset_cycles: [switch.reset_hold, RELEASE_INTERVAL_FS].map(|fs| cycles(site.clock, fs).max(1)),
            changes,
            tree,
        };
        EdgeHierarchies { hierarchies, places, fabric }
    }
}

fn counts(result: &IoSwitchResult) -> Vec<MetricValue> {
    let ([posted, non_posted, completions], fabric) = (result.switched, &result.fabric);
    let counts: [MetricValue; 19] = [
        (&SWITCHED_POSTED, posted),
        (&SWITCHED_NON_POSTED, non_posted),
        (&SWITCHED_COMPLETIONS, completions),
        (&FORWARDED, fabric.forwarded),
        (&OWN_CONFIG, result.own_config),
        (&UNSUPPORTED, result.unsupported),
        (&UNCLAIMED, result.dropped),
        (&POWER_COLLECTED, result.power_answered),
        (&LOST, fabric.lost),
        (&NO_ROUTE, fabric.no_route),
        (&NOT_CLAIMED, fabric.not_claimed),
        (&UNKNOWN, fabric.unknown_completed),
        (&SURPRISE, fabric.surprise_downs),
        (&RESETS, fabric.resets),
        (&RESETS_TAKEN, fabric.resets_taken),
        (&RESETS_GIVEN_UP, fabric.resets_given_up),
        (&CONTAINED, fabric.contained[1]),
        (&UNCONTAINED, fabric.contained[0]),
        (&CONTACTS, fabric.contacts),
    ];
    let given_up = fabric.power_given_up.map(|count| -> MetricValue { (&POWER_GIVEN_UP, count) });
    counts.into_iter().chain(given_up).collect()
}
