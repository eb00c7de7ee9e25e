//! The half of a bridge from accelerators to CXL as a description gives it, see [`scalepool_bridge::outbound`].
//!
//! Modelled: windows, groups and rights, tables and buffers, the [`cache`]; to the device behind a coherent port a bridge is
//! one more holder of lines. The same for every protocol of accelerators. A walk through one description: windows and rights are read and
//! judged, the routes of the CXL ports follow from their links, what memory holds at first is said to those that ask.

use super::cache::{self, BridgeCacheFields};
use super::exported::HOME_FORM;
use super::hairpin::{self, ExportedMemory, RequesterChannels};
use super::io::{self, IoPortPart};
use super::losses::LossCounts;
use super::windows::{
    BridgeCommitFields, BridgeWindowFields, CONTROL_RIGHTS, ReadWindow, SOURCES, control_rights, groups_of_sources,
};
use super::{OutboundEnds, first_lines, first_lines_of_home};
use crate::channels::{ChannelWait, Reach};
use crate::coherence::{AgentEnd, Seat, recorded};
use crate::field::{FieldRange, config};
use crate::kind::{
    BridgeCacheFacts, CoherenceProtocol, ConfigFinding, CxlSide, NodeError, Offer, PortDecl, PortRole, Site, SitePort,
};
use crate::kinds::media::{self, CxlMedia};
use crate::kinds::{cxl_links, memory_behind};
use crate::measured::ComponentMeasured;
use crate::metric::{MetricValue, metrics};
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_bridge::module::epochs::TimedCommit;
use scalepool_bridge::module::side::RequesterSide;
use scalepool_bridge::module::{Bridge, BridgeConfig, BridgeCxlPort, BridgeResult};
use scalepool_bridge::outbound::OutboundConfig;
use scalepool_bridge::outbound::epoch::SAME_PORT;
use scalepool_bridge::outbound::host_lines::MOST_CACHED_ENTRIES;
use scalepool_bridge::outbound::order::BridgeOrder;
use scalepool_bridge::outbound::table::{FEWEST_ENTRIES, FEWEST_WITH_HAIRPIN, MOST_ENTRIES};
use scalepool_bridge::registers::ControlWindow;
use scalepool_bridge::timing::BridgeTiming;
use scalepool_bridge::waits::WaitWatch;
use scalepool_bridge::watched::{BridgeLines, PortWatch};
use scalepool_bridge::window::{
    BridgeRoute, BridgeWindow, BridgeWindows, InboundClass, WindowAlias, WindowClass, WindowLimits,
};
use scalepool_coherence::clocked::outages::LinkOutage;
use scalepool_coherence::content::{CacheLine, LineAddr, LineContent};
use scalepool_kernel::{Binder, BuildError, ClockId, PartitionBuilder, Time};
use scalepool_nodes::cxl::BACKGROUND;
use scalepool_nodes::first_lines::FirstLines;
use scalepool_nodes::io::mode::MODES;
use scalepool_protocols::bridge::CONTROL_BYTES;
use scalepool_protocols::cxl::message::{Class, MessageForm, PeerRoute};
use scalepool_trace::{Hub, PlaceKind, Tap};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

metrics! {
    /// What a bridge counts of requests of accelerators.
    pub static OUTBOUND_METRICS {
        REQUESTS = "requests answered" ["requests"] Sum, "requests of accelerators whose response has left, posted ones that are done among them";
        CYCLES = "request cycles" ["cycles"] Sum, "cycles from the arrival of a request to its response, of all requests answered";
        READS = "reads" ["requests"] Sum, "reads converted";
        WRITES = "writes" ["requests"] Sum, "writes converted";
        ATOMICS = "atomics" ["requests"] Sum, "atomics converted";
        ENDED = "messages ended" ["requests"] Sum, "UPLI write messages, and FLUSHes of NVLink, that ended in the bridge";
        LINES = "lines" ["lines"] Sum, "lines of 64 bytes that were asked for on CXL, joined reads included";
        JOINED = "joined reads" ["lines"] Sum, "reads of a line that got the data of an earlier read";
        REFUSED = "requests refused" ["requests"] Sum, "requests answered with a status that is not OKAY";
        IGNORED = "ignored enables" ["bytes"] Sum, "bytes that were enabled outside of what their request covers";
        FULL = "full cycles" ["cycles"] Sum, "cycles in which a request was at a port and no entry or buffer was free for it";
        TIMEOUTS = "time-outs" ["requests"] Sum, "requests that were given up";
        LATE = "late answers" ["answers"] Sum, "last answers of CXL that came when their request was given up";
        COMMITS = "epochs" ["epochs"] Sum, "times that new windows and rights have become valid";
        COMMIT_CYCLES = "commit cycles" ["cycles"] Sum, "cycles from when new windows were due to when no request of the epoch before was under way";
        EPOCH_CYCLES = "epoch wait cycles" ["cycles"] Sum, "cycles in which a request was at a port and waited for new windows";
        VIRAL = "viral CXL ports" ["ports"] Sum, "CXL ports at which requests end with status 2 since tags of the conversion cache were lost";
        SNOOPS = "snoops" ["snoops"] Sum, "snoops of devices and hosts, answered by whether a line is held";
    }
}

/// A direct requester needs port based routing (`bridge` §1.2).
const FABRIC: &[&str] = &["cxl-256b-pbr"];

config! {
    /// From accelerators to CXL.
    pub struct OutboundFields {
        cxl_ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(0, 16), "CXL links to memory that nobody keeps coherent (bridge §1.1)";
        coherent_ports: usize = "0" [Unit::Of("ports")] in FieldRange::Int(0, 16), "CXL links to devices that keep their memory coherent (bridge §1.1)";
        host_ports: usize = "0" [Unit::Of("ports")] in FieldRange::Int(0, 16), "CXL links to hosts whose memory is reached by CXL.cache, coherently (bridge §1.2, role H)";
        io_ports: usize = "0" [Unit::Of("ports")] in FieldRange::Int(0, 16), "CXL.io links to devices, each as the port of a root behind which firmware has placed its device (bridge §1.2)";
        io_mode: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(MODES), "best mode of the `io` ports; left out, cxl-256b; with cxl-68b at most 256 entries (cxl-io §7)";
        io_ack: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(&["flush", "sent"]), "when a write of class IO is answered: flush = when a read of no byte behind it is completed, so that it is visible; sent = when it has left for the link; left out, flush (bridge §4.3)";
        windows: Vec<(BridgeWindowFields, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(BridgeWindowFields::fields), "windows from accelerators to CXL, up to 16 that do not overlap and lead no two addresses to one on CXL; without any, what accelerators ask is refused (bridge §2)";
        groups: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts(SOURCES), "groups of accelerators that have rights together; those that are not named are in group 0 (bridge §2)";
        commits: Vec<(BridgeCommitFields, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(BridgeCommitFields::fields), "windows and rights that replace those before while the system runs, each set in an epoch of its own, in the order of their times; they lead no address of accelerators elsewhere, because these know by it what memory holds (bridge §2)";
        entries: usize = "512" [Unit::Of("transactions")] in FieldRange::Int(FEWEST_ENTRIES as u64, MOST_ENTRIES as u64), "transactions that may be under way, 8 of them for each class of requests alone: virtual channels of UALink, NVLink with an answer and posted, and with windows of class HP requests to them (bridge §7)";
        write_buffers: usize = "1024" [Unit::Of("beats")] in FieldRange::Int(4, 1 << 20), "buffers of 64 bytes for what is written (bridge §7)";
        control: Option<u64> = "" [Unit::Bytes] in FieldRange::Int(0, (1 << 57) - CONTROL_BYTES), "first address, for accelerators, of 4 KiB of registers: flush and invalidate of lines that nobody keeps coherent; windows, rights and groups, and their commit; bits of the cache that flip; a multiple of 4 KiB outside of all windows; left out, there are none (bridge §2, §9.1, §9.9)";
        control_rights: Option<Vec<(String, TextPlace)>> = "" [Unit::Of("-")] in FieldRange::Texts(CONTROL_RIGHTS), "what groups may do with the registers at `control`: r = read, w = write, - = nothing; left out, all may do all, else those that are not named nothing (bridge §2)";
        cache: Option<BridgeCacheFields> = "" [Unit::Of("-")] in FieldRange::Table(BridgeCacheFields::fields), "conversion cache; left out, there is none (bridge §9)";
    }
}

impl OutboundFields {
    /// CXL ports.
    pub fn ports(&self) -> [PortDecl; 4] {
        let holder = PortRole::Coherent(CoherenceProtocol::HdmDb, CxlSide::Host);
        let device = PortRole::Coherent(CoherenceProtocol::Cache, CxlSide::Device);
        let [plain, coherent, hosts] = [
            ("cxl", self.cxl_ports, FABRIC, PortRole::Requester),
            ("coherent", self.coherent_ports, FABRIC, holder),
            ("host", self.host_ports, cxl_links::NAMES, device),
        ]
        .map(|(name, len, links, role)| PortDecl { name, len: Some(len), links, role });
        [plain, coherent, hosts, io::ports(self.io_ports)]
    }

    /// Windows that are not what their class says, as they declare (`bridge` §1.2, BRG-PRT-04).
    pub fn warnings(&self) -> Vec<ConfigFinding> {
        let fallbacks = |windows: &[(BridgeWindowFields, TextPlace)]| {
            let read = windows.iter().map(|(fields, _)| fields.window(self.ports_by_class()));
            let fallback = read.enumerate().filter_map(|(n, read)| Some((n, read.ok()?.fallback?)));
            fallback.map(|(n, text)| format!("window {n}: {text}")).collect::<Vec<_>>()
        };
        let first = fallbacks(&self.windows).into_iter().map(|text| ("windows", text));
        let later = self.commits.iter().enumerate().flat_map(|(n, (commit, _))| {
            fallbacks(&commit.windows).into_iter().map(move |text| ("commits", format!("commit {n}: {text}")))
        });
        first.chain(later).collect()
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.message_ports() + self.io_ports
    }

    /// Ports of messages, and those of CXL.io.
    pub fn ports_by_kind(&self) -> [usize; 2] {
        [self.message_ports(), self.io_ports]
    }

    /// How many of them carry CXL.mem or CXL.cache; those of CXL.io come behind them.
    pub fn message_ports(&self) -> usize {
        self.first_host() + self.host_ports
    }

    /// Whether a window leads to memory of the own cluster, now or later.
    pub fn has_hairpin(&self) -> bool {
        let later = self.commits.iter().flat_map(|(commit, _)| &commit.windows);
        self.windows.iter().chain(later).any(|(window, _)| window.is_hairpin())
    }

    /// Where windows may lead: CXL ports in the order of their classes, and the own home between those of messages and those of CXL.io.
    fn ports_by_class(&self) -> [usize; 5] {
        let OutboundFields { cxl_ports, coherent_ports, host_ports, io_ports, .. } = *self;
        [cxl_ports, coherent_ports, host_ports, usize::from(self.has_hairpin()), io_ports]
    }

    /// The way to a CXL port by its name and number; `None`: there is none.
    pub fn way_of(&self, name: &str, n: usize) -> Option<usize> {
        let classes = ["cxl", "coherent", "host", "", "io"].into_iter().zip(self.ports_by_class());
        let mut before = 0;
        for (class, ports) in classes {
            if class == name && n < ports {
                return Some(before + n);
            }
            before += ports;
        }
        None
    }

    /// How many these are.
    fn ways(&self) -> usize {
        self.ports_by_class().iter().sum()
    }

    /// The CXL port among all of the bridge to which a window leads; `None`: to its own home.
    fn cxl_port(&self, way: usize) -> Option<usize> {
        let home = self.message_ports();
        match self.has_hairpin() {
            true if way == home => None,
            true if way > home => Some(way - 1),
            _ => Some(way),
        }
    }

    /// Windows of class HP, which lead to others of this bridge, that do not.
    pub fn check_hairpin(&self, limits: WindowLimits, exported: &[BridgeWindow<InboundClass>]) -> Vec<ConfigFinding> {
        let (Ok(windows), Ok(commits)) = (self.windows(limits), self.commits(limits)) else { return Vec::new() };
        let later = commits.iter().enumerate().flat_map(|(n, (_, windows))| {
            let found = hairpin::check(windows.list(), exported).into_iter();
            found.map(move |(_, text)| ("commits", format!("commit {n}: {text}")))
        });
        hairpin::check(windows.list(), exported).into_iter().chain(later).collect()
    }

    /// The first one that leads to a host.
    fn first_host(&self) -> usize {
        self.cxl_ports + self.coherent_ports
    }

    /// What it tells its neighbour at a port of CXL.io.
    pub fn io_offer(&self) -> Offer {
        io::offer(self.io_mode())
    }

    fn io_mode(&self) -> &str {
        self.io_mode.as_deref().unwrap_or(io::MODE)
    }

    /// Whether any window leads to CXL.
    pub fn has_windows(&self) -> bool {
        !self.windows.is_empty()
    }

    /// Whether a window leads to memory that nobody keeps coherent, where no atomic can be done, or to CXL.io, which has few of them
    /// (`bridge` §4.1, BRG-MAP-14, BRG-MAP-16).
    pub fn refuses_atomics(&self) -> bool {
        let refuses = |read: ReadWindow| matches!(read.window.class, WindowClass::Mn | WindowClass::Io);
        self.windows.iter().any(|(window, _)| window.window(self.ports_by_class()).is_ok_and(refuses))
    }

    /// What others have to know of the cache.
    pub fn cache_facts(&self) -> BridgeCacheFacts {
        let keeps_lines = self.cache.as_ref().is_some_and(BridgeCacheFields::keeps_lines);
        let of_commits = self.commits.iter().flat_map(|(commit, _)| &commit.windows);
        let ends = self.windows.iter().chain(of_commits).map(|(window, _)| window.base.saturating_add(window.size));
        BridgeCacheFacts { keeps_lines, control: self.control, windows_end: ends.max() }
    }

    /// The windows at first.
    fn windows(&self, limits: WindowLimits) -> Result<BridgeWindows, ConfigFinding> {
        self.tables(limits, &self.windows, &self.groups)
    }

    /// Windows of one epoch.
    fn tables(
        &self,
        limits: WindowLimits,
        windows: &[(BridgeWindowFields, TextPlace)],
        groups: &[(String, TextPlace)],
    ) -> Result<BridgeWindows, ConfigFinding> {
        let windows = windows.iter().map(|(fields, _)| Ok(fields.window(self.ports_by_class())?.window));
        let windows = windows.collect::<Result<Vec<_>, String>>().map_err(|text| ("windows", text))?;
        let groups = groups_of_sources("groups", groups, SOURCES)?;
        BridgeWindows::within(limits, windows, groups, self.ways()).map_err(|error| (error.field(), error.to_string()))
    }

    /// The windows of each later epoch, and when they are committed.
    fn commits(&self, limits: WindowLimits) -> Result<Vec<(Time, BridgeWindows)>, ConfigFinding> {
        let mut before = 0;
        let one = |(n, (commit, _)): (usize, &(BridgeCommitFields, TextPlace))| {
            let BridgeCommitFields { at, windows, groups } = commit;
            if *at < before {
                return Err((
                    "commits",
                    format!("found commit {n} before commit {}, expected them in the order of their times", n - 1),
                ));
            }
            before = *at;
            let tables = self.tables(limits, windows, groups);
            let tables = tables.map_err(|(_, text)| ("commits", format!("commit {n}: {text}")))?;
            Ok((Time::from_fs(*at), tables))
        };
        self.commits.iter().enumerate().map(one).collect()
    }

    /// What is wrong with its registers beside these windows.
    fn check_control(&self, windows: &BridgeWindows) -> Option<ConfigFinding> {
        let control = self.control?;
        let text = match windows.meeting(control, CONTROL_BYTES) {
            _ if !control.is_multiple_of(CONTROL_BYTES) => {
                format!("found {control:#x}, expected a multiple of 4 KiB (bridge §9.9)")
            }
            Some(window) => format!("found {control:#x} in window {window}, expected it in none (bridge §9.9)"),
            None => return None,
        };
        Some(("control", text))
    }

    /// Windows that lead different addresses of accelerators to one address on CXL, whether they are valid at one time or one after the
    /// other.
    fn check_aliases(&self, limits: WindowLimits) -> Vec<ConfigFinding> {
        let (Ok(first), Ok(commits)) = (self.windows(limits), self.commits(limits)) else { return Vec::new() };
        let epochs: Vec<&[BridgeWindow]> =
            [&first].into_iter().chain(commits.iter().map(|(_, windows)| windows)).map(BridgeWindows::list).collect();
        let name = |epoch: usize, n: usize| match epoch {
            0 => format!("window {n}"),
            _ => format!("window {n} of commit {}", epoch - 1),
        };
        let all = || epochs.iter().enumerate().flat_map(|(e, list)| (0..list.len()).map(move |n| (e, n)));
        let of = |(epoch, n): (usize, usize)| &epochs[epoch][n];
        let mut wrong = Vec::new();
        for (k, own) in all().enumerate() {
            let alias = all().take(k).find_map(|other| Some((other, of(other).alias(of(own))?)));
            let Some((other, WindowAlias { addresses: [a, b], out })) = alias else { continue };
            let text = format!(
                "found {a:#x} in {} and {b:#x} in {}, which both lead to {out:#x} on CXL, expected one address of accelerators for each byte there: they judge bytes by their addresses",
                name(other.0, other.1),
                name(own.0, own.1)
            );
            wrong.push((if own.0 == 0 { "windows" } else { "commits" }, text));
        }
        wrong
    }

    /// What is wrong with windows of later epochs beside those at first.
    fn check_commits(&self, limits: WindowLimits) -> Vec<ConfigFinding> {
        let commits = match self.commits(limits) {
            Ok(commits) => commits,
            Err(finding) => return vec![finding],
        };
        let Ok(first) = self.windows(limits) else { return Vec::new() };
        let mut wrong = Vec::new();
        for (n, (_, windows)) in commits.iter().enumerate() {
            if let Some((address, [from, to])) = first.first_moved(windows) {
                let text = format!(
                    "found commit {n}, which leads {address:#x} to {to:#x} instead of {from:#x}, expected the same address on CXL, or none: accelerators judge bytes by their addresses"
                );
                wrong.push(("commits", text));
            }
            let keeps_lines = self.cache_facts().keeps_lines;
            let before = [&first].into_iter().chain(commits[..n].iter().map(|(_, windows)| windows));
            let rerouted =
                before.filter(|_| keeps_lines).find_map(|before| before.first_rerouted(windows, WindowClass::Mn));
            if let Some(address) = rerouted {
                let text = format!(
                    "found commit {n}, which leads {address:#x} by another port than before, expected {SAME_PORT}"
                );
                wrong.push(("commits", text));
            }
            wrong.extend(self.check_control(windows).map(|(_, text)| ("commits", format!("commit {n}: {text}"))));
        }
        wrong
    }

    /// Fields that do not go together.
    pub fn check(&self, limits: WindowLimits) -> Vec<ConfigFinding> {
        let of_cache = self.cache.iter().flat_map(BridgeCacheFields::check);
        let windows = self.windows(limits);
        let of_control = windows.as_ref().ok().and_then(|windows| self.check_control(windows));
        let is_crowded = self.host_ports > 0 && self.cache_facts().keeps_lines && self.entries > MOST_CACHED_ENTRIES;
        let crowded = || {
            let text = format!(
                "found {} entries beside a cache of lines and a port `host`, expected at most {MOST_CACHED_ENTRIES}: CQIDs have 12 bits, and what the cache gives back takes some (bridge §7)",
                self.entries
            );
            ("entries", text)
        };
        let is_tight = self.has_hairpin() && self.entries < FEWEST_WITH_HAIRPIN;
        let tight = || {
            let text = format!(
                "found {} entries beside windows of class HP, expected at least {FEWEST_WITH_HAIRPIN}: 8 of them are for requests to these windows alone (bridge §7)",
                self.entries
            );
            ("entries", text)
        };
        let is_whole = !self.windows.is_empty() || self.count() == 0;
        let text = || {
            let ports = self.count();
            ("windows", format!("found no window and {ports} CXL ports, expected a window: nothing leads to CXL"))
        };
        let unused = (!is_whole).then(text);
        let unused_io =
            [("io_mode", &self.io_mode), ("io_ack", &self.io_ack)].into_iter().filter_map(|(field, text)| {
                let text = text.as_ref().filter(|_| self.io_ports == 0)?;
                Some((field, format!("found {text} without io_ports, expected a port of CXL.io")))
            });
        let wrong_rights = match (&self.control_rights, self.control) {
            (Some(_), None) => Some("found it without control, expected registers that it is about".to_owned()),
            (texts, _) => control_rights(texts.as_ref()).err(),
        };
        let of_control = of_control.into_iter().chain(wrong_rights.map(|text| ("control_rights", text)));
        let own = windows.err().into_iter().chain(unused).chain(unused_io).chain(of_cache).chain(of_control);
        let own = own.chain(is_crowded.then(crowded)).chain(is_tight.then(tight));
        own.chain(self.check_commits(limits)).chain(self.check_aliases(limits)).collect()
    }

    /// Windows that lead beyond the memory at one of their CXL ports; `ports` are all of these.
    pub fn check_joined(&self, limits: WindowLimits, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let (Ok(windows), Ok(commits)) = (self.windows(limits), self.commits(limits)) else { return Vec::new() };
        let beyond = |field: &'static str, n: usize, window: &BridgeWindow| {
            let (first, end) = (window.out_base, window.out_base.saturating_add(window.size));
            let port = window.ports.iter().filter_map(|way| Some(&ports[self.cxl_port(*way)?])).find(|port| {
                let Offer { memory_from, memory_bytes, memory_gaps, .. } = port.peer;
                let meets = |(from, to): &(u64, u64)| from < to && first < *to && *from < end;
                first < memory_from || memory_bytes.is_some_and(|bytes| end > bytes) || memory_gaps.iter().any(meets)
            })?;
            let Offer { memory_from, memory_bytes, memory_gaps, .. } = port.peer;
            let gaps = memory_gaps.iter().filter(|(from, to)| from < to);
            let gaps: String = gaps.map(|(from, to)| format!(", but {from:#x} to {to:#x}")).collect();
            let memory = memory_bytes.unwrap_or(0);
            let text = format!(
                "found window {n} from {first:#x} to {end:#x} at {}, expected addresses of the memory there, {memory_from:#x} to {memory:#x}{gaps}",
                port.path
            );
            Some((field, text))
        };
        let of_commits = commits.iter().flat_map(|(_, windows)| windows.list().iter().enumerate());
        let of_commits = of_commits.filter_map(|(n, window)| beyond("commits", n, window));
        let of_io = io::check_joined(self.io_mode(), self.entries, &ports[self.message_ports()..]);
        windows
            .list()
            .iter()
            .enumerate()
            .filter_map(|(n, window)| beyond("windows", n, window))
            .chain(of_commits)
            .chain(of_io)
            .collect()
    }

    /// Without a cache it holds a line of a device from the grant to the write back, and no other; with one, as long as it keeps it.
    /// `ports` are all of the bridge, of which those behind others are named too.
    pub fn held(&self, path: &str, ports: &[PortDecl]) -> Option<Vec<String>> {
        let of = |port: &PortDecl| {
            let name = port.name;
            (0..port.len.unwrap_or(1)).map(move |n| format!("{path}.{name}[{n}]")).collect::<Vec<_>>()
        };
        (self.coherent_ports + self.host_ports > 0).then(|| ports.iter().flat_map(of).collect())
    }

    /// What requests of these classes of accelerators wait for; the ones with an answer are answered by a response.
    pub fn waits(
        &self,
        answered: &'static str,
        posted: Option<&'static str>,
        response: &'static str,
    ) -> Vec<ChannelWait> {
        // An entry is free again when its messages have left and its response has (bridge §10: XQ0, XQ1, ACT, mQ, mW, XR). Answers of CXL
        // are always taken: their space is set aside with the entry.
        let asks_by = |incoming: &'static str, outgoing: &'static str| ChannelWait {
            incoming,
            outgoing,
            reach: Reach::OtherPorts,
            queue: Some("table of transactions"),
            why: "asks memory for what it is asked for",
        };
        let asks = |incoming: &'static str, class: Class| asks_by(incoming, class.name());
        // TLPs have a row of their own (bridge §10: ioN, ioP); without a port there is nothing to wait for.
        let of_io = |incoming: &'static str| {
            let classes = [cxl_links::POSTED, cxl_links::NON_POSTED].into_iter().filter(|_| self.io_ports > 0);
            classes.map(|class| asks_by(incoming, class)).collect::<Vec<_>>()
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
        // Its own home is asked by messages of CXL.mem too.
        let asks_memory = self.first_host() > 0 || self.has_hairpin();
        let mut asked = if asks_memory { vec![req, rwd] } else { Vec::new() };
        // A host pulls what is written (dQ), and its snoops are answered at once (hS).
        let of_host = (self.host_ports > 0).then_some([Class::D2hReq, Class::D2hData]);
        asked.extend(of_host.into_iter().flatten());
        let of_posted = posted.into_iter().flat_map(|posted| asked.iter().map(move |class| asks(posted, *class)));
        let own = asked.iter().map(|class| asks(answered, *class));
        let own = [ChannelWait::answered(answered, response)].into_iter().chain(own).chain(of_posted);
        let of_snoops = of_host.map(|_| {
            [Class::D2hRsp, Class::D2hData].map(|outgoing| ChannelWait {
                incoming: Class::H2dReq.name(),
                outgoing: outgoing.name(),
                reach: Reach::SamePort,
                queue: None,
                why: "says what there is of a line",
            })
        });
        let of_tlps = [answered].into_iter().chain(posted).flat_map(of_io);
        // The own home takes lines back from others, and the accelerator whose line it is is asked (bridge §10: ACT, bS, XO).
        let of_home = self.has_hairpin().then_some([Class::S2mBisnp.name(), answered]).into_iter().flatten();
        let of_home =
            of_home.flat_map(|outgoing| [answered].into_iter().chain(posted).map(move |incoming| (incoming, outgoing)));
        let of_hairpin = of_home.map(|(incoming, outgoing)| ChannelWait {
            incoming,
            outgoing,
            reach: Reach::AnyPort,
            queue: Some("table of transactions"),
            why: "takes a line of the own cluster back and asks its accelerator",
        });
        let of_memory = asks_memory.then(|| [snooped(rwd), snooped(birsp)]);
        let own = own.chain(of_memory.into_iter().flatten()).chain(of_snoops.into_iter().flatten());
        own.chain(of_tlps).chain(of_hairpin).collect()
    }

    /// Makes the half ready to be built; `ports` are its CXL ports.
    ///
    /// # Errors
    /// Settings that do not go together.
    pub fn elaborate(
        &self,
        (limits, order, timing, waits): (WindowLimits, BridgeOrder, BridgeTiming, WaitWatch),
        (ports, exported): (&[SitePort], Option<ExportedMemory<'_>>),
        site: &Site<'_>,
        hub: &mut Hub,
    ) -> Result<OutboundPart, NodeError> {
        let (name, own) = (site.path.to_owned(), site.member.own);
        let joined = |text| NodeError::Joined { path: site.path.to_owned(), text };
        let windows = self.windows(limits).map_err(|(_, text)| joined(text))?;
        let commits = self.commits(limits).map_err(|(_, text)| joined(text))?.into_iter();
        let control_rights = control_rights(self.control_rights.as_ref()).map_err(joined)?;
        let timed = |(at, windows)| TimedCommit { at_cycle: site.clock.first_at_or_after(at), windows };
        let data = self.cache.as_ref().map(BridgeCacheFields::data).transpose().map_err(joined)?.flatten();
        let cache_memory = self.cache.as_ref().map(|cache| cache.memory(site)).transpose().map_err(joined)?.flatten();
        let template_cycles = self.cache.as_ref().map_or(timing.template_cycles, |cache| cache.template_cycles);
        let config = BridgeConfig {
            place: name.clone(),
            outbound: OutboundConfig {
                windows: windows.clone(),
                entries: self.entries,
                write_buffers: self.write_buffers,
                order,
                data,
                ecc: self.cache.as_ref().and_then(|cache| cache.ecc(site, self.control.is_some())),
                host_ports: self.first_host()..self.message_ports(),
                templates: self.cache.as_ref().and_then(BridgeCacheFields::templates),
                control: self.control.map(|base| ControlWindow {
                    base,
                    rights: control_rights,
                    ports: self.ways(),
                    plain_ports: self.cxl_ports,
                    first_host: self.first_host(),
                    hairpin: exported.as_ref().map(|_| self.message_ports()),
                    io_from: self.message_ports() + usize::from(exported.is_some()),
                }),
                io_ack: io::ack(self.io_ack.as_deref()),
                single_beat: false,
                exported: exported.as_ref().map(|exported| exported.windows.clone()),
            },
            timing: BridgeTiming { template_cycles, ..timing },
            commits: commits.map(timed).collect(),
            outages: Vec::new(),
            viral: Arc::default(),
            cache_memory,
            waits,
            clock: site.clock,
        };
        // What memory holds that nobody has written: what another bridge says of it, its own addresses, or zeros where a device keeps it
        // coherent.
        let first_host = self.first_host();
        let lines_of = |(n, port): (usize, &SitePort)| match &port.seat {
            Some(seat) if n >= first_host => first_lines_of_home(site, seat),
            _ => first_lines(site, port.number),
        };
        let mut behind: Vec<_> = ports.iter().enumerate().map(lines_of).collect();
        if let Some(ExportedMemory { windows, memory, .. }) = &exported {
            let (own, windows, memory) = (Arc::new(FirstLines::default()), windows.clone(), *memory);
            own.are(Box::new(move |address| {
                windows.translated(address).map(|route| memory(route.port as u16, route.address))
            }));
            behind.insert(self.message_ports(), own);
        }
        let first = move |route: BridgeRoute| match (behind[route.port].get(), route.class) {
            (Some(lines), _) => lines(route.address).unwrap_or([0xff; 64]),
            // Registers that nothing has written.
            (None, WindowClass::Io) => [0; 64],
            (None, WindowClass::Mn) => BACKGROUND.line(route.address),
            (None, WindowClass::Mc | WindowClass::Cc | WindowClass::Hp) => {
                CacheLine::initial(LineAddr::of_address(route.address)).bytes
            }
        };
        memory_behind(site).stands_in_front(own, Box::new(move |address| windows.translated(address).map(&first)));
        let route = |(n, port): (usize, &SitePort)| {
            let (form, port_ids) = port.link.cxl();
            let Some(seat) = &port.seat else {
                let [spid, dpid] = port_ids;
                return (PeerRoute { spid, dpid, ..PeerRoute::default() }, form, (0, port.number));
            };
            let end = AgentEnd { is_home: false, is_host: n < first_host };
            (seat.route(seat.holders.start, end, form, port_ids), form, (seat.link_number(), port.number))
        };
        let (ports, io_ports) = ports.split_at(self.message_ports());
        let io = IoPortPart::of(self.io_mode(), io_ports, site, hub)?;
        let routes: Vec<_> = ports.iter().enumerate().map(route).collect();
        // Each port spells its messages as its link does; a bridge without a port shows those of a fabric.
        let mut forms: Vec<_> = routes.iter().map(|(_, form, _)| *form).collect();
        if forms.is_empty() {
            forms.push(MessageForm::Pbr);
        }
        let layouts = MessageForm::layouts_of(forms);
        let media = self.cache.as_ref().and_then(|cache| cache.media.as_ref());
        Ok(OutboundPart {
            config,
            routes,
            io,
            seats: ports.iter().map(|port| port.seat.clone()).collect(),
            is_kept: site.keeps_dram_commands && media.is_some_and(CxlMedia::has_commands),
            tap: hub.tap(&name, PlaceKind::Messages(layouts)),
            home: exported.map(|exported| {
                let shown = PlaceKind::Messages(HOME_FORM.layouts());
                (exported.home.seat().clone(), hub.tap(&format!("{name}.hairpin"), shown))
            }),
            result: Arc::default(),
        })
    }
}

/// The half that is ready to be built.
pub struct OutboundPart {
    config: BridgeConfig,
    /// Of each CXL port its route, its form and its numbers.
    routes: Vec<(PeerRoute, MessageForm, (u16, u32))>,
    /// Ports of CXL.io.
    io: Vec<IoPortPart>,
    seats: Vec<Option<Seat>>,
    /// Its own home, if windows lead there, and where what it is asked is shown.
    home: Option<(Seat, Tap)>,
    /// Commands of the DRAM of its cache are kept.
    is_kept: bool,
    tap: Tap,
    result: Arc<Mutex<BridgeResult>>,
}

impl OutboundPart {
    /// Whether reads are answered line by line, which UALink alone can say.
    pub fn set_single_beat(&mut self, is_on: bool) {
        self.config.outbound.single_beat = is_on;
    }

    /// Times in which its links are down, by ways.
    pub fn set_outages(&mut self, outages: Vec<LinkOutage>) {
        self.config.outages = outages;
    }

    /// Whether the CXL ports of the bridge are viral.
    pub fn viral(&self) -> &Arc<AtomicBool> {
        &self.config.viral
    }

    /// Gives its figures, whenever the run is looked at.
    pub fn measure(&self) -> impl Fn() -> (ComponentMeasured, LossCounts) + Send + 'static {
        let (result, is_kept) = (self.result.clone(), self.is_kept);
        move || {
            let result = crate::kinds::published(&result);
            let lost = LossCounts { links: result.lost_links, requests: result.counts.lost, ..LossCounts::default() };
            (measured(result, is_kept), lost)
        }
    }

    /// Puts it into a partition with its CXL ports and its links to accelerators.
    ///
    /// # Errors
    /// A mistake of ours.
    pub fn place(
        self,
        p: &mut PartitionBuilder,
        clock: ClockId,
        (ends, hairpin): (OutboundEnds, Option<RequesterChannels>),
        side: impl FnOnce(&mut Binder<'_>) -> Box<dyn RequesterSide>,
    ) -> Result<(), BuildError> {
        let OutboundPart { config, routes, io, seats, home, tap, result, .. } = self;
        let OutboundEnds { cxl, io: of_io } = ends;
        let name = config.place.clone();
        p.module(&name, clock, |bind| {
            let side = side(bind);
            let mut ports = Vec::new();
            for ((ends, (route, form, number)), seat) in cxl.into_iter().zip(routes).zip(&seats) {
                let link = ends.attach(bind, vec![route], form, number);
                ports.push(BridgeCxlPort { link, is_coherent: seat.is_some(), watch: seat.as_ref().and_then(watched) });
            }
            let mut owner = None;
            if let Some((channels, (home, tap))) = hairpin.zip(home) {
                let (port, channels) = channels.attach(bind, &home, tap);
                ports.push(port);
                owner = Some(channels);
            }
            let io = io.into_iter().zip(of_io).map(|(part, plug)| part.place(plug, bind)).collect();
            Bridge::new(config, side, ports, (io, owner), tap, result)
        })
    }
}

/// The watcher of the lines at a port.
fn watched(seat: &Seat) -> Option<PortWatch> {
    let node = seat.holders.start + 1;
    let watch = recorded(seat.domain.watch::<BridgeLines>(), node, std::slice::from_ref(seat))?;
    Some(PortWatch { node, watch })
}

fn measured(result: BridgeResult, is_kept: bool) -> ComponentMeasured {
    let counts = &result.counts;
    let [reads, writes, atomics, ended] = counts.requests;
    let of_cache = result.cache.as_ref().map(cache::measured).unwrap_or_default();
    let of_dram = result.dram.as_ref().map(media::dram_counts).unwrap_or_default();
    let own: Vec<MetricValue> = vec![
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
        (&COMMITS, result.epochs.commits),
        (&COMMIT_CYCLES, result.epochs.commit_cycles),
        (&EPOCH_CYCLES, result.epoch_cycles),
        (&VIRAL, result.viral_ports),
        (&SNOOPS, counts.snoops),
    ];
    ComponentMeasured {
        counts: [own, of_cache, of_dram].concat(),
        broken: result.broken,
        dram_commands: is_kept.then_some(result.commands),
        ..ComponentMeasured::default()
    }
}
