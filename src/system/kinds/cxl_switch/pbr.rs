//! `cxl.switch.pbr`: a CXL switch with port based routing, see [`scalepool_fabric::cxl_switch::pbr`].
//!
//! Modelled: edge ports `usp[n]` towards hosts and `dsp[n]` towards devices, fabric ports `isl[n]` towards other switches, and
//! the bindings of devices that a fabric manager has made before the hosts start. A walk: the switches of a fabric and what is
//! bound are looked at together ([`crate::pbr_fabric`]), which gives each switch its PIDs, its routing table and its claims.

use super::{COHERENT, Hardware, SWITCHED, answered, coherent, cxl_links, form, hbr_links, node, switched};
use crate::channels::{ChannelWait, Reach, RoutedWays};
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    CoherenceProtocol, Component, ComponentKind, ComponentNode, ConfigFinding, DomainMember, NodeError, Offer,
    PortDecl, PortRole, Site, SitePort, component,
};
use crate::kinds::fabric_router::without_ugal;
use crate::metric::{MetricValue, metrics};
use crate::pbr_fabric::{PbrBindingConfig, PbrDecl, PbrLostLink, PbrSite};
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_fabric::cxl_switch::module::{SWITCH_CLASSES, SWITCH_SIGNALS, VIRAL_SIGNALS};
use scalepool_fabric::cxl_switch::pbr::{PbrRouting, PbrViral};
use scalepool_fabric::cxl_switch::{ManagerEvent, PBR_PRESETS, SwitchResult, SwitchTraffic, Undelivered};
use scalepool_fabric::spread::{SPREAD_NAMES, SpreadPolicy};
use scalepool_kernel::{Clock, Rng, Time};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::message::MessageForm;
use scalepool_trace::Hub;

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "cxl.switch.pbr",
    about: "CXL switch with port based routing for CXL.mem and CXL.cache: edge ports `usp[n]` towards hosts and `dsp[n]` towards devices, fabric ports `isl[n]` towards other such switches",
    fields: PbrCxlSwitch::fields,
    read: component::<PbrCxlSwitch>,
    external: &[],
    metrics: &[SWITCHED, COHERENT, METRICS],
};

metrics! {
    /// What port based routing counts.
    static METRICS {
        CACHE_DISCARDED = "CacheIDs discarded" ["messages"] Sum, "messages of CXL.cache whose CacheID, or whose SPID at the host, stands for no caching device, which are dropped (fabric EDG-8)";
        NOT_CLAIMED = "not claimed" ["messages"] Sum, "messages whose SPID and DPID no binding of the edge port has, which are dropped (fabric PID-5)";
        LOST = "lost with links" ["messages"] Sum, "messages that were queued for a link or came over one after it was lost, or whose ways all are (fabric DRT-2, ISL-7)";
        NO_ROUTE = "no route" ["messages"] Sum, "messages whose DPID has no valid entry in the routing table, which are dropped (fabric DRT-2)";
        VIRAL = "hierarchies viral" ["hierarchies"] Sum, "hierarchies of hosts at this switch that went viral; given where a switch below the fabric may declare it (fabric VIR-1)";
        VIRAL_TOLD = "viral told" ["statuses"] Sum, "statuses of viral that ports sent ahead of later messages, those on the way to other switches too (fabric VIR-1, VIR-3)";
        VIRAL_MESSAGES = "viral messages" ["messages"] Sum, "messages that left while their hierarchy was viral, and count as viral (fabric VIR-2)";
    }
}

/// Names of the presets.
const PRESET_NAMES: &[&str] = &[PBR_PRESETS[0].name];

/// Most ports of a switch: what an entry of the routing table can name (`fabric` DRT-1).
const MOST_PORTS: usize = 256;

config! {
    /// A switch.
    pub struct PbrCxlSwitch with { hardware: Hardware } {
        preset: String = "pbr_hop" [Unit::Of("-")] in FieldRange::Words(PRESET_NAMES), "latencies of the stages, in all 100 ns from port to port (fabric §5, not measured); what stands in `pipeline` overrides it";
        hosts: usize = "0" [Unit::Of("ports")] in FieldRange::Int(0, 255), "edge ports towards hosts";
        ports: usize = "0" [Unit::Of("ports")] in FieldRange::Int(0, 255), "edge ports towards devices";
        fabric: usize = "0" [Unit::Of("ports")] in FieldRange::Int(0, 255), "fabric ports, each for an inter-switch link";
        routing: String = "minimal" [Unit::Of("-")] in FieldRange::Words(PbrRouting::NAMES), "routes of its fabric, the same at all of its switches: a shortest way, of several such ways always that over the lowest port (dimension order in a mesh whose ports are numbered by dimension), or links towards the first switch of the description before links away from it, which no graph can make wait in a circle (fabric RGT-7, ISL-9)";
        spread: String = "static" [Unit::Of("-")] in FieldRange::Words(SPREAD_NAMES), "next hop of a message whose device a segment table names, or that goes to a host with such a table, where there are several. static: one for each destination; random, congestion: a random or the least loaded one of those that mix picks; advanced: the cheapest of all; valiant: a random one of all; ugal: a shortest one, unless its backlog times its links is more. S2M NDR takes the static one, because it stays in order (fabric RGT-3, RGT-7)";
        ugal_threshold: Option<u64> = "" [Unit::Of("messages times links")] in FieldRange::Int(0, 1 << 20), "by how much backlog times links has to be less on a longer way for spread = \"ugal\" to take it; not given = 0 (fabric §6.5)";
        mix: u8 = "7" [Unit::Of("-")] in FieldRange::Int(0, 7), "share of messages for shortest next hops with random and congestion, 0 to 6 = 7/8 to 1/8; 7 = all for which there is room (fabric RGT-4)";
        decode: String = "hdm" [Unit::Of("-")] in FieldRange::Words(&["hdm", "ldst", "fast"]), "what finds the device of an address at edge ports towards hosts: HDM decoders, whose bindings are decoded again at the device, or a segment table, whose windows begin at multiples of 64 GiB: LDST, or FAST, which leads to G-FAM devices of any number of hosts, LDST to those of 16 (fabric §3.3, GFD-1)";
        lost: Vec<(PbrLostLink, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(PbrLostLink::fields), "inter-switch links at this switch that go down for good while the system runs; a link stands at one of its two switches alone (fabric ISL-7)";
        column: Option<usize> = "" [Unit::Of("-")] in FieldRange::Int(0, 1 << 15), "column of the switch in drawings, with `row`; a generator sets them; not given = by its distance from the hosts";
        row: Option<usize> = "" [Unit::Of("-")] in FieldRange::Int(0, 1 << 15), "row of the switch in drawings";
        bindings: Vec<(PbrBindingConfig, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(PbrBindingConfig::fields), "which hosts have the devices at this switch (fabric PID-5); without any in the fabric its devices and logical devices go to its hosts in turn, in the order of the description, and a device with port based routing to all hosts of its protocol";
    }
}

impl Component for PbrCxlSwitch {
    fn ports(&self) -> Vec<PortDecl> {
        let port = |name, len, links, role| PortDecl { name, len: Some(len), links, role };
        vec![
            port("usp", self.hosts, hbr_links(), PortRole::SwitchUpstream),
            port("dsp", self.ports, cxl_links::NAMES, PortRole::SwitchDownstream),
            port("isl", self.fabric, &["cxl-256b-pbr"], PortRole::SwitchFabric),
        ]
    }

    fn offer(&self) -> Offer {
        Offer::default()
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let all = self.hosts + self.ports + self.fabric;
        let range = (!(1..=MOST_PORTS).contains(&all)).then(|| {
            let text = format!(
                "found {all} ports in `hosts`, `ports` and `fabric` together, expected 1 to {MOST_PORTS}, what a routing table can name (fabric DRT-1)"
            );
            ("fabric", text)
        });
        let place = (self.column.is_some() != self.row.is_some()).then(|| {
            ("column", "found one of `column` and `row`, expected both: a drawing has a switch at a place".to_owned())
        });
        let ugal = without_ugal(self.ugal_threshold, "spread", &self.spread);
        range.into_iter().chain(place).chain(ugal).chain(self.hardware.weights().1).collect()
    }

    /// Hosts that keep lines coherent share a device with port based routing, and any hosts a G-FAM device.
    fn check_joined(&self, _: Clock, _: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let protocol = |port: &SitePort| port.peer_role.coherence();
        let found = |port: &SitePort, expected: &str| {
            ("kind", format!("found a {} at {}, expected {expected}", port.peer_role.name(), port.path))
        };
        let of_devices = &ports[self.hosts..self.hosts + self.ports];
        let is_by_ports = |port: &&SitePort| form(port) == MessageForm::Pbr;
        let is_db = |port: &SitePort| protocol(port) == Some(CoherenceProtocol::HdmDb);
        let alone = of_devices.iter().filter(is_by_ports).find(|port| !is_db(port) && !port.peer.is_gfd);
        let logical = of_devices.iter().filter(is_by_ports).find(|port| port.peer.logical_devices.is_some());
        let alone = alone.map(|port| {
            found(port, "a device of HDM-DB or a G-FAM device behind a link with port based routing, or a link without (fabric GFD-1)")
        });
        let logical = logical.map(|port| {
            let text = format!(
                "found logical devices at {}, whose link has port based routing, expected none: PIDs tell the hosts apart (fabric §3.4)",
                port.path
            );
            ("kind", text)
        });
        let viral = (self.decode != "hdm" && ports.iter().any(|port| port.goes_viral)).then(|| {
            let text = format!(
                "found decode = \"{}\" with a command `viral` at a switch below the fabric, expected HDM decoders: viral goes by bindings to all of a hierarchy (fabric VIR-1)",
                self.decode
            );
            ("decode", text)
        });
        alone.into_iter().chain(logical).chain(viral).collect()
    }

    fn why_no_window(&self) -> &'static str {
        "which passes requests on to memories"
    }

    fn drawn_at(&self) -> Option<(usize, usize)> {
        self.column.zip(self.row)
    }

    fn pbr(&self) -> Option<PbrDecl<'_>> {
        let has_segments = self.decode != "hdm";
        let routing = PbrRouting::of_name(&self.routing).unwrap_or_else(|| unreachable!("a word of the range"));
        let spread = SpreadPolicy::by_name(&self.spread).unwrap_or_else(|| unreachable!("a word of the range"));
        let spread = spread.with_threshold(self.ugal_threshold.unwrap_or(0) as usize);
        Some(PbrDecl {
            hosts: self.hosts,
            devices: self.ports,
            routing,
            spread: (spread, self.mix),
            has_segments,
            is_ldst: self.decode == "ldst",
            bindings: &self.bindings,
            lost: &self.lost,
            errors: &[],
            is_io: false,
            most_of_host: usize::MAX,
        })
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        let routed = SWITCH_CLASSES.iter().map(|class| {
            let ways = if class.dir() == Dir::Down { RoutedWays::Requests } else { RoutedWays::Answers };
            ChannelWait::routed(class.name(), Reach::Routes(ways))
        });
        // What a decoder of an edge port refuses the switch answers by itself.
        Some(routed.into_iter().chain(answered(Reach::Routes(RoutedWays::OwnAnswers))).collect())
    }

    fn own_wait_fs(&self, clock: Clock) -> u64 {
        self.hardware.latency_fs(&self.preset, clock)
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let Some(PbrSite { mut routes, changes, .. }) = site.pbr.clone() else {
            unreachable!("every such switch is in a fabric")
        };
        let at_cycle = |(at_fs, change)| (site.clock.first_at_or_after(Time::from_fs(at_fs)), change);
        routes.changes = changes.into_iter().map(at_cycle).rev().collect();
        routes.poison_on_decode_error = self.hardware.poison_on_decode_error;
        routes.seed = Rng::for_name(site.seed, site.path).next_u64();
        let traffic = match (routes.has_cache, routes.has_snoops) {
            (true, _) => SwitchTraffic::CacheMem,
            (false, true) => SwitchTraffic::BackInvalidate,
            (false, false) => SwitchTraffic::Mem,
        };
        let config = self.hardware.config(&self.preset, site, traffic);
        let may_be_viral = site.ports.iter().any(|port| port.goes_viral);
        let signals = match may_be_viral {
            true => &VIRAL_SIGNALS[..2 + config.traffic.count()],
            false => &SWITCH_SIGNALS[..config.traffic.count()],
        };
        let logical = (0..site.ports.len()).filter(|n| site.ports[*n].peer.logical_devices.is_some());
        routes.viral = PbrViral::new(logical.collect());
        let counts = if may_be_viral { counts_with_viral } else { counts };
        Ok(node(routes, (config, signals), (MessageForm::Pbr, counts, Box::new(|_| Vec::new())), site, hub))
    }
}

fn counts_with_viral(result: &SwitchResult) -> Vec<MetricValue> {
    let viral = result.events.iter().filter(|(_, event)| matches!(event, ManagerEvent::Viral(_))).count() as u64;
    let own: [MetricValue; 3] =
        [(&VIRAL, viral), (&VIRAL_TOLD, result.viral_told), (&VIRAL_MESSAGES, result.viral_messages)];
    counts(result).into_iter().chain(own).collect()
}

fn counts(result: &SwitchResult) -> Vec<MetricValue> {
    let undelivered = |why| result.undelivered.get(&why).copied().unwrap_or(0);
    let own: [MetricValue; 4] = [
        (&CACHE_DISCARDED, undelivered(Undelivered::CacheId)),
        (&NOT_CLAIMED, undelivered(Undelivered::NotClaimed)),
        (&LOST, undelivered(Undelivered::LostLink)),
        (&NO_ROUTE, undelivered(Undelivered::NoRoute)),
    ];
    switched(result).into_iter().chain(coherent(result)).chain(own).collect()
}
