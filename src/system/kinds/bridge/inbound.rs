//! The half of a bridge from CXL to accelerators as a description gives it, see [`scalepool_bridge::inbound`].
//!
//! Modelled: windows, groups and rights, the table; target ports, at which the memory of accelerators is that of a device that hosts alone
//! keep coherent (HDM-H). The same for every protocol of accelerators. A walk through one description: windows and rights are read and
//! judged with the accelerators that the links lead to; what their memory holds at first is said to bridges that ask; addresses of hosts
//! pass the decoders of the memory map.

use super::bar::{self, BarPortPart};
use super::exported::{HOME_FORM, HomeAsks, HomeFields, HomePart};
use super::hairpin::{HomeChannels, OwnerEnds};
use super::inbound_cache::{self, InboundCacheFields};
use super::losses::LossCounts;
use super::windows::{InboundWindowFields, groups_of_sources};
use super::{TargetEnds, first_lines};
use crate::channels::{ChannelWait, Reach};
use crate::coherence::LineOwner;
use crate::field::{FieldRange, config};
use crate::kind::{ConfigFinding, DomainMember, MOST_GAPS, NodeError, Offer, PortDecl, PortRole, Site, SitePort};
use crate::kinds::cxl_coherent::coherent_waits;
use crate::kinds::cxl_links;
use crate::measured::ComponentMeasured;
use crate::metric::metrics;
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_bridge::inbound::InboundConfig;
use scalepool_bridge::inbound::bar::BarConfig;
use scalepool_bridge::inbound::bar::access::AccessReach;
use scalepool_bridge::inbound::bar::half::{BarHalf, BarHalfConfig};
use scalepool_bridge::inbound::module::{InboundModule, InboundModuleConfig, InboundResult};
use scalepool_bridge::inbound::port::TargetPort;
use scalepool_bridge::inbound::side::AcceleratorSide;
use scalepool_bridge::inbound::table::MOST_INBOUND;
use scalepool_bridge::timing::BridgeTiming;
use scalepool_bridge::waits::WaitWatch;
use scalepool_bridge::window::{BridgeRoute, BridgeWindow, BridgeWindows, InboundClass, InboundWindows, WindowLimits};
use scalepool_coherence::clocked::linked::Received;
use scalepool_coherence::clocked::outages::LinkOutage;
use scalepool_coherence::clocked::waiting::WaitTable;
use scalepool_fabric::cxl_switch::binding::LOGICAL_DEVICES;
use scalepool_kernel::{Binder, BuildError, ClockId, PartitionBuilder};
use scalepool_memory::LineBytes;
use scalepool_nodes::cxl::transaction_layouts;
use scalepool_nodes::io;
use scalepool_nodes::io::mode::MODES;
use scalepool_protocols::cxl::message::{Class, MessageForm};
use scalepool_trace::{Hub, PlaceKind, Tap};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

metrics! {
    /// What a bridge counts of messages of CXL.mem.
    pub static INBOUND_METRICS {
        MESSAGES = "inbound messages" ["messages"] Sum, "messages of CXL.mem whose answer has left, dropped hints among them";
        CYCLES = "inbound cycles" ["cycles"] Sum, "cycles from the arrival of a message of CXL.mem to its answer, of all that were answered";
        READS = "inbound reads" ["messages"] Sum, "reads of CXL.mem converted";
        WRITES = "inbound writes" ["messages"] Sum, "writes of CXL.mem converted";
        OTHERS = "inbound others" ["messages"] Sum, "messages of CXL.mem that ask for nothing at an accelerator";
        ACCESSES = "inbound accesses" ["accesses"] Sum, "lines accessed in the memory of accelerators";
        JOINED = "inbound joined reads" ["lines"] Sum, "reads of a line that got the data of an earlier read";
        MERGED = "inbound merged reads" ["lines"] Sum, "reads of a line that have left with that of a line beside it";
        REFUSED = "inbound refused" ["messages"] Sum, "messages outside of all windows, without the right, or refused by their accelerator: reads get no data, writes have no effect";
        ILLEGAL = "inbound in no row" ["messages"] Sum, "messages of CXL.mem that memory without coherence does not take";
        LOST = "writes lost" ["lines"] Sum, "writes that an accelerator has not done, or not in time; their lines read as poison";
        POISONED = "reads of lost lines" ["lines"] Sum, "reads that were answered with poison since a write of their line was lost";
        FULL = "inbound full cycles" ["cycles"] Sum, "cycles in which a message was at a port and no entry was free for it";
        TIMEOUTS = "inbound time-outs" ["messages"] Sum, "messages that were given up";
        LATE = "inbound late answers" ["answers"] Sum, "answers of accelerators that came when their message was given up";
        BAR_READS = "BAR reads" ["requests"] Sum, "reads of CXL.io converted";
        BAR_WRITES = "BAR writes" ["requests"] Sum, "writes of CXL.io converted";
        BAR_ATOMICS = "BAR atomics" ["requests"] Sum, "atomics of CXL.io converted";
        BAR_ACCESSES = "BAR accesses" ["accesses"] Sum, "accesses to the memory of accelerators for requests of CXL.io";
        BAR_DONE = "BAR requests" ["requests"] Sum, "requests of CXL.io behind the BAR that have ended";
        BAR_CYCLES = "BAR cycles" ["cycles"] Sum, "cycles from the arrival of a request of CXL.io to its last completion, or to the answer to the last access of a write";
        BAR_REFUSED = "BAR refused" ["requests"] Sum, "reads and atomics of CXL.io that ended without success";
        BAR_LOST = "BAR writes lost" ["requests"] Sum, "writes of CXL.io that accelerators have not done, or not all of them";
        BAR_OUTSIDE = "BAR requests outside" ["requests"] Sum, "requests of CXL.io among those refused and lost that are outside of all windows, or at an address that their accelerator does not have: their reads end with UR (bridge §8.2)";
        BAR_WITHOUT_RIGHT = "BAR requests without right" ["requests"] Sum, "requests of CXL.io among those refused and lost that have not the right: their reads end with CA, as those given up do (bridge §8.2)";
        BAR_TIMEOUTS = "BAR time-outs" ["accesses"] Sum, "accesses for requests of CXL.io that were given up";
        BAR_LATE = "BAR late answers" ["answers"] Sum, "answers of accelerators to accesses for CXL.io that were given up";
        VIRAL = "viral ports" ["ports"] Sum, "target ports that read as poison since more writes were lost than the list of lines holds, or tags of the conversion cache were";
    }
}

/// Groups of sources. Of class BR the sheet leaves requester IDs above 4095 open; they are in group 0.
const SOURCES: &str = "SOURCE:GROUP with sources 0 to 4095 and groups 0 to 15";

config! {
    /// From CXL to accelerators.
    pub struct InboundFields {
        target_ports: usize = "0" [Unit::Of("ports")] in FieldRange::Int(0, 16), "CXL links at which hosts and other bridges find the memory of accelerators (bridge §1.2)";
        inbound: Vec<(InboundWindowFields, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(InboundWindowFields::fields), "windows from CXL to accelerators, up to 16 that do not overlap; those of class BR are bytes of the BAR, and overlap with no others (bridge §2)";
        inbound_groups: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts(SOURCES), "groups of sources that have rights together; a source is an SPID on links with port based routing, of class BR a requester ID, else an LD-ID; those that are not named are in group 0. Requester IDs do not say at which port a request came: root complexes, which all have requester ID 0, are one source (bridge §2)";
        inbound_entries: usize = "1024" [Unit::Of("transactions")] in FieldRange::Int(1, MOST_INBOUND as u64), "transactions from CXL that may be under way (bridge §7); with few of them beside many requests at the home, those that wait for one may time out";
        logical_devices: Option<u8> = "" [Unit::Of("-")] in FieldRange::Int(1, LOGICAL_DEVICES as u64), "logical devices (LD) that the port of the home is, each for one host behind a switch, all of the same lines; not given = no multi-logical device (bridge §1.2, fabric MLD-1)";
        home_ports: usize = "0" [Unit::Of("ports")] in FieldRange::Int(0, 16), "CXL links at which hosts, peers and other bridges find memory of accelerators that the bridge keeps coherent, HDM-DB (bridge §1.2)";
        bar_ports: usize = "0" [Unit::Of("ports")] in FieldRange::Int(0, 16), "CXL.io links at which root complexes find memory of accelerators behind a BAR, each as the port of a device (bridge §1.2)";
        bar_mode: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(MODES), "best mode of `bar` ports; not given = cxl-256b";
        bar_entries: Option<usize> = "" [Unit::Of("accesses")] in FieldRange::Int(1, MOST_INBOUND as u64 - 1), "of the transactions of inbound_entries, accesses for requests of CXL.io; writes wait in front of the bridge when so many are under way; not given = half of inbound_entries, at most 256 (bridge §7)";
        inbound_cache: Option<InboundCacheFields> = "" [Unit::Of("-")] in FieldRange::Table(InboundCacheFields::fields), "cache in front of the memory of accelerators, for lines of windows of class NH and DB, written back when their block gives way; what accelerators do to their exported memory without the bridge it does not see; left out, there is none (bridge §2)";
        home: HomeFields = "" [Unit::Of("-")] in FieldRange::Table(HomeFields::fields), "how the bridge keeps lines of windows of class DB coherent";
        merge_inbound: bool = "off" [Unit::Of("-")] in FieldRange::Switch, "reads of lines side by side in a block of an accelerator leave as one read of 128 or 256 bytes (bridge §3.5)";
        merge_cycles: u64 = "8" [Unit::Of("cycles")] in FieldRange::Int(0, 1 << 20), "cycles that a read waits for those beside it, with merge_inbound (bridge §3.5)";
    }
}

/// Classes of CXL.mem that come to ports of the home.
const HOME_HEARS: [Class; 3] = [Class::M2sReq, Class::M2sRwd, Class::M2sBirsp];
/// Classes that leave there.
const HOME_SAYS: [Class; 3] = [Class::S2mNdr, Class::S2mDrs, Class::S2mBisnp];

/// Accesses for requests of CXL.io that may be under way, unless a description says another number or has few transactions.
const BAR_ENTRIES: usize = 256;

/// A number of things in words.
fn counted(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// What the memory of an accelerator holds at first, by its number and an address there.
pub type MemoryOf = fn(u16, u64) -> LineBytes;

impl InboundFields {
    /// Target ports, those of the home, and those of BARs.
    pub fn ports(&self) -> [PortDecl; 3] {
        let (len, links) = (Some(self.target_ports), cxl_links::NAMES);
        let targets = PortDecl { name: "target", len, links, role: PortRole::Device };
        [targets, HomeFields::ports(self.home_ports), bar::ports(self.bar_ports)]
    }

    /// What it brings into training at ports of BARs.
    pub fn bar_offer(&self) -> Offer {
        bar::offer(self.bar_mode())
    }

    fn bar_mode(&self) -> &str {
        self.bar_mode.as_deref().unwrap_or(bar::MODE)
    }

    /// Accesses for requests of CXL.io that may be under way.
    fn bar_entries(&self) -> usize {
        let all = self.inbound_entries;
        if self.bar_ports > 0 { self.bar_entries.unwrap_or((all / 2).clamp(1, BAR_ENTRIES)) } else { 0 }
    }

    /// Transactions of CXL.mem that may be under way.
    fn line_entries(&self) -> usize {
        self.inbound_entries - self.bar_entries()
    }

    /// What it is to those that hold lines at its ports of the home, if it has some, and to accelerators that ask for them by the bridge.
    pub fn home(&self, path: &str, has_hairpin: bool) -> Option<LineOwner> {
        (self.home_ports > 0).then(|| self.home.owner(path, has_hairpin))
    }

    /// The memory at its ports: at its target ports, or if it has none, at those of the home.
    pub fn offer(&self) -> Offer {
        self.offer_of(if self.target_ports > 0 { "NH" } else { "DB" })
    }

    /// The memory at ports to windows of a class: from the first one to the end of the last one.
    pub fn offer_of(&self, class: &str) -> Offer {
        let windows = || self.inbound.iter().map(|(fields, _)| fields).filter(|window| window.class == class);
        Offer {
            memory_bytes: windows().map(|window| window.base.saturating_add(window.size)).max(),
            memory_from: windows().map(|window| window.base).min().unwrap_or(0),
            memory_gaps: self.gaps(class),
            logical_devices: self.logical_devices,
            ..Offer::default()
        }
    }

    /// Addresses between two windows of a class that lie in none.
    fn gaps(&self, class: &str) -> [(u64, u64); MOST_GAPS] {
        let windows = || self.inbound.iter().map(|(fields, _)| fields).filter(|window| window.class == class);
        let end = |window: &InboundWindowFields| window.base.saturating_add(window.size);
        let behind = windows().map(end).filter(|at| !windows().any(|w| w.base <= *at && *at < end(w)));
        let gap = |at: u64| Some((at, windows().map(|window| window.base).filter(|base| *base > at).min()?));
        let mut gaps = [(0, 0); MOST_GAPS];
        // More windows than there may be are a finding of their own.
        gaps.iter_mut().zip(behind.filter_map(gap)).for_each(|(place, gap)| *place = gap);
        gaps
    }

    /// Its windows as they stand; one whose texts are wrong, which is a finding of its own, is none.
    pub fn exported(&self) -> Vec<BridgeWindow<InboundClass>> {
        self.inbound.iter().filter_map(|(fields, _)| fields.window().ok()).collect()
    }

    /// The windows of a bridge among so many accelerators.
    pub fn windows(
        &self,
        limits: WindowLimits,
        accelerators: usize,
    ) -> Result<BridgeWindows<InboundClass>, ConfigFinding> {
        let windows: Vec<BridgeWindow<InboundClass>> = self
            .inbound
            .iter()
            .map(|(fields, _)| fields.window())
            .collect::<Result<_, String>>()
            .map_err(|text| ("inbound", text))?;
        let groups = groups_of_sources("inbound_groups", &self.inbound_groups, SOURCES)?;
        BridgeWindows::exporting(limits, windows, groups, accelerators).map_err(|error| {
            let field = if error.field() == "groups" { "inbound_groups" } else { "inbound" };
            (field, error.to_string())
        })
    }

    /// Fields that do not go together.
    pub fn check(&self, limits: WindowLimits) -> Vec<ConfigFinding> {
        // How many accelerators there are is not known yet.
        let windows = self.windows(limits, usize::MAX).err();
        let of_class = |class: &'static str, ports: usize, name: &'static str| {
            let windows = self.inbound.iter().filter(|(window, _)| window.class == class).count();
            let text = format!(
                "found {} and {}, expected both or neither: windows lead from ports to accelerators",
                if class == "NH" {
                    counted(windows, "window")
                } else {
                    format!("{} of class {class}", counted(windows, "window"))
                },
                counted(ports, name),
            );
            ((windows == 0) != (ports == 0)).then_some(("inbound", text))
        };
        let plain = of_class("NH", self.target_ports, "target port");
        let coherent = of_class("DB", self.home_ports, "home port");
        let barred = of_class("BR", self.bar_ports, "bar port");
        let unused = |field, given: Option<String>| {
            let given = given.filter(|_| self.bar_ports == 0);
            given.map(|given| (field, format!("found {given} without bar_ports, expected a port of CXL.io")))
        };
        let mode = unused("bar_mode", self.bar_mode.clone());
        let entries = unused("bar_entries", self.bar_entries.map(|entries| entries.to_string()));
        let is_all = self.bar_ports > 0 && self.bar_entries() >= self.inbound_entries;
        let all = is_all.then(|| match self.bar_entries {
            Some(own) => {
                ("bar_entries", format!("found {own}, expected less than inbound_entries = {}", self.inbound_entries))
            }
            None => (
                "inbound_entries",
                "found 1, expected at least 2: one of them is an access for CXL.io, see bar_entries".to_owned(),
            ),
        });
        let barred = barred.into_iter().chain(mode).chain(entries).chain(all);
        let is_apart = self.logical_devices.is_none() || self.target_ports == 0 && self.home_ports == 1;
        let text = || {
            let text = format!(
                "found logical devices and {} beside {}, expected one home port alone: all ports of a device lead to one (bridge §1.2)",
                counted(self.home_ports, "home port"),
                counted(self.target_ports, "target port"),
            );
            ("logical_devices", text)
        };
        let is_cached = self.inbound.iter().any(|(window, _)| window.class != "BR");
        let windows = windows.into_iter().chain(self.inbound_cache.iter().flat_map(|cache| cache.check(is_cached)));
        let found = windows.chain(plain).chain(coherent).chain(barred).chain(self.home.check());
        found.chain((!is_apart).then(text)).collect()
    }

    fn cache_cycles(&self) -> u64 {
        self.inbound_cache.as_ref().map_or(0, |cache| cache.latency_cycles)
    }

    /// Times that a transaction may spend before its time-out gives it up.
    pub fn check_times(&self, timeout_cycles: u64) -> Vec<ConfigFinding> {
        let directory = u64::from(self.home.directory_cycles);
        let times = [
            ("home.directory_cycles", directory, self.home_ports > 0),
            ("merge_cycles", self.merge_cycles, self.merge_inbound),
            ("inbound_cache.latency_cycles", self.cache_cycles(), self.inbound_cache.is_some()),
        ];
        let late = times.into_iter().filter(|(_, cycles, is_used)| *is_used && *cycles >= timeout_cycles);
        let text = |cycles| {
            format!(
                "found {cycles}, expected less than stages.timeout_cycles = {timeout_cycles}: every message would time out"
            )
        };
        late.map(|(field, cycles, _)| (field, text(cycles))).collect()
    }

    /// Fields that do not go with the accelerators, or with who is at the target ports.
    pub fn check_joined(
        &self,
        limits: WindowLimits,
        member: DomainMember,
        [ports, homes, bars]: [&[SitePort]; 3],
    ) -> Vec<ConfigFinding> {
        // Logical devices are told apart by LD-IDs, which a switch gives.
        let is_bare = homes.iter().any(|port| port.peer_role != PortRole::SwitchDownstream);
        let text = "found logical devices at the port of a host, expected a switch there (fabric MLD-2)";
        let bare = (self.logical_devices.is_some() && is_bare).then(|| ("logical_devices", text.to_owned()));
        let windows = self.windows(limits, member.peers.into()).err();
        // Who is no bridge knows what memory holds at first by the addresses at which it asks.
        let moved = self.inbound.iter().find(|(window, _)| window.class == "NH" && window.base != window.to);
        let host = ports.iter().find(|port| port.peer_role != PortRole::Requester);
        let seen = moved.zip(host).map(|((window, _), port)| {
            let text = format!(
                "found a window from {:#x} to {:#x} and a host at {}, expected the same address on both sides: a host judges bytes by its addresses",
                window.base, window.to, port.path
            );
            ("inbound", text)
        });
        let barred = bar::check_joined(&self.exported(), bars);
        windows.into_iter().chain(seen).chain(bare).chain(barred).collect()
    }

    /// What messages of CXL.mem wait for: accelerators are asked by this class.
    pub fn waits(&self, request: &'static str) -> Vec<ChannelWait> {
        // An entry is free again when its access has left and its answer has (bridge §10: mQ and mW, XO). Answers of accelerators are
        // always taken: their space is set aside with the entry.
        let asks = |class: Class| ChannelWait {
            incoming: class.name(),
            outgoing: request,
            reach: Reach::OtherPorts,
            queue: Some("table of transactions from CXL"),
            why: "asks an accelerator for what it is asked for",
        };
        let has_lines = self.target_ports + self.home_ports > 0;
        let of_lines = cxl_links::answered_memory().into_iter().chain([asks(Class::M2sReq), asks(Class::M2sRwd)]);
        let own = of_lines.filter(|_| has_lines);
        // TLPs wait for accelerators too (bridge §10: ioN, ioP, XO).
        let of_tlp = |incoming: &'static str| ChannelWait {
            incoming,
            outgoing: request,
            reach: Reach::OtherPorts,
            queue: Some("table of accesses for CXL.io"),
            why: "asks an accelerator for what it is asked for",
        };
        let of_tlps = (self.bar_ports > 0).then(|| {
            let answered = ChannelWait::answered(cxl_links::NON_POSTED, cxl_links::COMPLETION);
            [answered, of_tlp(cxl_links::NON_POSTED), of_tlp(cxl_links::POSTED)]
        });
        let own = own.chain(of_tlps.into_iter().flatten());
        // A home of HDM-DB hears and says nothing of CXL.cache, whatever a wait table has of it (bridge §10: mQ, mW, bS).
        let is_one = |classes: [Class; 3], name: &str| classes.iter().any(|class| class.name() == name);
        let of_home = (self.home_ports > 0).then(|| {
            let all = coherent_waits(&WaitTable::default(), &Reach::AnyPort);
            all.into_iter()
                .filter(|wait| is_one(HOME_HEARS, wait.incoming) && is_one(HOME_SAYS, wait.outgoing))
                .collect::<Vec<_>>()
        });
        own.chain(of_home.into_iter().flatten()).collect()
    }

    /// Makes the half ready to be built; `ports` are its target ports, `homes` those of the home. `None`: it has none.
    ///
    /// # Errors
    /// Settings that do not go together.
    pub fn elaborate(
        &self,
        (limits, timing, memory, waits): (WindowLimits, BridgeTiming, MemoryOf, WaitWatch),
        (viral, has_hairpin): (&Arc<AtomicBool>, bool),
        [ports, homes, bars]: [&[SitePort]; 3],
        site: &Site<'_>,
        hub: &mut Hub,
    ) -> Result<Option<InboundPart>, NodeError> {
        let joined = |text| NodeError::Joined { path: site.path.to_owned(), text };
        let windows = self.windows(limits, site.member.peers.into()).map_err(|(_, text)| joined(text))?;
        let InboundWindows { memory: windows, bar: bar_windows } = windows.by_addresses();
        if ports.is_empty() && homes.is_empty() && bars.is_empty() {
            return Ok(None);
        }
        // The form with the most fields of those of the links spells what passes at any of them.
        let has = |form: MessageForm| ports.iter().chain(homes).any(|port| port.link.cxl().0 == form);
        let richest = [MessageForm::Pbr, MessageForm::Hbr].into_iter().find(|form| has(*form));
        let shown = richest.unwrap_or(MessageForm::Cxl68);
        let asking = ports.iter().filter(|port| port.peer_role == PortRole::Requester);
        for port in asking.chain(homes) {
            let windows = windows.clone();
            let line = move |route: BridgeRoute<InboundClass>| memory(route.port as u16, route.address);
            first_lines(site, port.number).are(Box::new(move |address| windows.translated(address).map(line)));
        }
        // A requester asks by the addresses of the bridge; a host, by those of the memory map if there is one.
        let decoders = ports.iter().map(|port| {
            let is_mapped = port.peer_role != PortRole::Requester;
            is_mapped.then(|| site.map.decoders(0)).flatten()
        });
        let home = (!homes.is_empty()).then(|| self.home.elaborate((&windows, has_hairpin), homes, site, hub));
        // The home asks by two ports of its own, without a decoder.
        let decoders: Vec<_> = decoders.chain(home.iter().flat_map(|_| [None, None])).collect();
        let cache = self.inbound_cache.as_ref().map(InboundCacheFields::data).transpose().map_err(joined)?;
        let name = format!("{}.inbound", site.path);
        let entries = self.line_entries();
        let of_bars = BarHalfConfig {
            bar: BarConfig {
                windows: bar_windows.clone(),
                reach: if limits.out_end == WindowLimits::INBOUND_NVLINK.out_end {
                    AccessReach::NVLINK
                } else {
                    AccessReach::UPLI
                },
                tags: entries as u16..self.inbound_entries as u16,
                payload_bytes: 0,
            },
            timing,
            waits: waits.clone(),
            outages: Vec::new(),
        };
        let bars = BarPortPart::of((self.bar_mode(), memory), &bar_windows, bars, site, hub)?;
        Ok(Some(InboundPart {
            config: InboundModuleConfig {
                place: name.clone(),
                inbound: InboundConfig { windows, decoders, entries, cache },
                timing,
                cache_cycles: self.cache_cycles(),
                outages: Vec::new(),
                viral: viral.clone(),
                merge_cycles: self.merge_inbound.then_some(self.merge_cycles),
                shown,
                waits,
                clock: site.clock,
            },
            links: ports.iter().map(|port| (port.link.cxl(), port.number)).collect(),
            tap: hub.tap(&name, PlaceKind::Messages(transaction_layouts(shown))),
            home,
            of_bars,
            bars,
            result: Arc::default(),
        }))
    }
}

/// The half that is ready to be built.
pub struct InboundPart {
    config: InboundModuleConfig,
    /// Of each target port its form and identifiers, and its number.
    links: Vec<((MessageForm, [u16; 2]), u32)>,
    tap: Tap,
    home: Option<HomePart>,
    of_bars: BarHalfConfig,
    bars: Vec<BarPortPart>,
    result: Arc<Mutex<InboundResult>>,
}

impl InboundPart {
    /// Times in which links of its target ports, of its home and of its ports of class BR are down.
    pub fn set_outages(&mut self, [targets, homes, bars]: [Vec<LinkOutage>; 3]) {
        self.config.outages = targets;
        self.of_bars.outages = bars;
        self.home.iter_mut().for_each(|home| home.set_outages(homes.clone()));
    }

    /// Gives its figures, whenever the run is looked at.
    pub fn measure(&self) -> impl Fn() -> (ComponentMeasured, LossCounts) + Send + 'static {
        let (result, home) = (self.result.clone(), self.home.as_ref().map(HomePart::measure));
        let place = self.config.place.clone();
        let of_home = self.home.as_ref().map(HomePart::losses);
        move || {
            let mut all = crate::kinds::published(&result);
            // What the home refuses does not come to the half behind it.
            let [refused, lost_at_home] = of_home.as_ref().map_or([0; 2], |losses| losses());
            all.counts.refused += refused;
            let lost = LossCounts {
                links: all.lost_links + all.bars.lost_links + lost_at_home,
                messages: all.lost_messages + all.bars.lost_tlps,
                ..LossCounts::default()
            };
            let own = measured(&place, all);
            match home.as_ref().map(|home| home()) {
                None => (own, lost),
                Some(mut all) => {
                    all.counts.extend(own.counts);
                    all.broken.extend(own.broken);
                    (all, lost)
                }
            }
        }
    }

    /// Puts it into a partition with its target ports and its links to accelerators.
    ///
    /// # Errors
    /// A mistake of ours.
    pub fn place(
        self,
        p: &mut PartitionBuilder,
        clock: ClockId,
        (TargetEnds { targets, homes, bars: bar_plugs }, hairpin): (TargetEnds, Option<(HomeChannels, OwnerEnds)>),
        side: impl FnOnce(&mut Binder<'_>) -> Box<dyn AcceleratorSide>,
    ) -> Result<(), BuildError> {
        let InboundPart { config, links, tap, home, of_bars, bars, result } = self;
        let name = config.place.clone();
        let (of_home, of_owner) = hairpin.unzip();
        let asking = home.map(|home| home.place(p, clock, (homes, of_home))).transpose()?;
        p.module(&name, clock, |bind| {
            let side = side(bind);
            let mut ports = Vec::new();
            for ((tx, rx), ((form, ids), link)) in targets.into_iter().zip(links) {
                let rx = Received::Link(bind.attach(rx));
                ports.push(TargetPort { rx, tx: bind.attach(tx), own: ids[1], form, link });
            }
            for HomeAsks { rx, tx, link } in asking.into_iter().flatten() {
                let (rx, form) = (Received::Agent(bind.attach(rx)), HOME_FORM);
                ports.push(TargetPort { rx, tx: bind.attach(tx), own: 0, form, link });
            }
            let bars = bars.into_iter().zip(bar_plugs).map(|(part, plug)| part.place(plug, bind)).collect();
            let owner = of_owner.map(|ends| ends.attach(bind));
            InboundModule::new(config, side, (ports, BarHalf::new(of_bars, bars), owner), tap, result)
        })
    }
}

fn measured(place: &str, result: InboundResult) -> ComponentMeasured {
    let (counts, bars) = (&result.counts, &result.bars);
    let [bar_reads, bar_writes, bar_atomics] = bars.counts.requests;
    let [reads, writes, others] = counts.messages;
    let of_cache = result.cache.as_ref().map(inbound_cache::measured).unwrap_or_default();
    ComponentMeasured {
        counts: vec![
            (&MESSAGES, result.done),
            (&CYCLES, result.cycles),
            (&READS, reads),
            (&WRITES, writes),
            (&OTHERS, others),
            (&ACCESSES, counts.accesses),
            (&JOINED, counts.joined),
            (&MERGED, counts.merged),
            (&REFUSED, counts.refused),
            (&ILLEGAL, counts.illegal),
            (&LOST, counts.lost_writes),
            (&POISONED, counts.poisoned_reads),
            (&FULL, result.full_cycles),
            (&TIMEOUTS, counts.timeouts),
            (&LATE, counts.late),
            (&BAR_READS, bar_reads),
            (&BAR_WRITES, bar_writes),
            (&BAR_ATOMICS, bar_atomics),
            (&BAR_ACCESSES, bars.counts.accesses),
            (&BAR_DONE, bars.done),
            (&BAR_CYCLES, bars.cycles),
            (&BAR_REFUSED, bars.counts.refused),
            (&BAR_LOST, bars.counts.lost_writes),
            (&BAR_OUTSIDE, bars.counts.outside),
            (&BAR_WITHOUT_RIGHT, bars.counts.without_right),
            (&BAR_TIMEOUTS, bars.counts.timeouts),
            (&BAR_LATE, bars.counts.late),
            (&VIRAL, counts.viral_ports),
        ]
        .into_iter()
        .chain(of_cache)
        .collect(),
        broken: io::broken(place, &bars.events).chain(result.broken).collect(),
        ..ComponentMeasured::default()
    }
}
