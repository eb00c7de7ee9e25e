//! The map: which signals of a wave are an interface that carries flits.
//!
//! ```toml
//! scope = "tb.dut"              # optional: stands before every signal name
//!
//! [[interface]]
//! name = "link.down"            # its name in output and traces
//! protocol = "cxl-68b"          # as `list protocols` shows it
//! dir = "down"                  # or "up"
//! clock = "clk"
//! edge = "rising"               # or "falling", "any": every change, as of a count of events
//! sample = "before"             # values before the edge, as a register takes them; or "after". Of edge "any": "after"
//! reset = "rst_n"               # optional
//! reset_active = "low"          # or "high"
//! valid = "valid"               # optional: without it every edge counts
//! ready = "ready"               # optional
//! first = "sop"                 # optional: 1 at the first beat of a unit, 0 at its others
//! data = "flit[543:0]"          # a signal or a part of it; bit 8n+b is bit b of byte n
//! unit_bits = 544               # optional: bits of a unit; cxl-68b also 528, 512; nvlink also 2304
//! last = "eop"                  # optional, in the place of `first`: 1 at the last beat of a unit
//! keep = "keep"                 # optional: a bit a byte of `data`, from byte 0 on: those that count, in any place
//! bus = "axi-stream"            # optional, with `prefix`: valid, ready, last, keep and data have the names of an interface that cores have:
//! prefix = "m_axis"             # "axi-stream", "credited" (like CXS), "state" (like LPIF and FDI), "slots68"; the keys above go first
//! order = [3, 2, 1, 0]          # optional: byte n of `data` is byte order[n] of the beat
//! options = ["mdh=off"]         # optional: what the ends have agreed on, as `flit decode --set`: mdh, direct_p2p, between_switches, fast_go,
//!                               # withdrawn_codes of CXL, authentication, encryption, write_message_enables of ualink
//! where = "analyser.1"          # optional: in a capture, the place of its lines; `name` if left out, which counts too. A capture needs no signals
//!
//! [[link]]                      # optional: two interfaces are the two directions of a link
//! name = "host"                 # the end that is watched
//! sends = "link.down"           # the interface at its output, before any fault
//! receives = "link.up"          # the one at its input
//! reaction_flits = 4096         # cxl-68b, ualink: units that it may still send before it shows that something has come
//! retry_entries = 255           # cxl-68b, like timeout_flits, max_num_retry, max_num_phy_reinit, flush_flits: not judged if left out
//! selective_nak = false         # the 256B modes: it may ask for a single flit
//! interleave = 1                # ualink: FEC code words that the line interleaves, 1, 2 or 4
//! plain_flits = false           # CXL: the interfaces have protocol flits and no link layer, so packing and messages are judged and no other key is given
//! liveness_flits = 131072       # flits for which either side may wait for the other one; 0: not judged
//! liveness_ns = 100000          # the same in time, to the end of the wave or capture; not judged if left out or 0
//!
//! [[retimer]]                   # optional: two interfaces of one direction, before and behind something that only passes flits on
//! name = "retimer"              # its name in messages
//! before = "host.down"          # the interface where units go in
//! behind = "link.down"          # the interface where they come out
//!
//! [[coherence]]                 # optional: the links of one home of CXL.cache, or of one device of CXL.mem
//! links = ["host"]              # names of [[link]] whose messages are judged together
//! memory = "hdm-h"              # what answers CXL.mem: "hdm-h" (default), "hdm-db", "hdm-d"
//! all_writers_seen = false      # nobody writes the lines but the agents on these links
//!
//! [[transactions]]              # optional: the links of one device of CXL.mem or one home of CXL.cache, or links of CXL.io, UALink or NVLink
//! links = ["host"]              # names of [[link]] whose requests and answers are judged
//! of = "cxl-mem"                # CXL: "cxl-mem" (default), "cxl-cache", which [[coherence]] completes, or "cxl-io"
//! memory = "hdm-h"              # CXL.mem: what answers, as above
//! all_writers_seen = false      # nobody writes the lines but those on these links: reads are compared
//! unique_tags = false           # CXL.mem: no tag is used again while its request is open
//! strict = false                # UALink: the links keep strict order
//! answer_ns = 1000              # longest time from a request to its last answer; not judged if left out
//! ends_at_rest = false          # the wave ends with all requests answered
//!
//! [[waiver]]                    # optional: a finding that is known
//! rule = "CXL68-PCK-06"         # the rule that may be broken
//! interface = "link.down"       # optional: on this interface alone
//! until = "2027-03-31"          # optional: the last day on which the waiver holds
//! reason = "issue 12"           # why
//!
//! [severity]                    # optional: rules that are no errors
//! "CXL68-CRC-01" = "warning"    # or "ignore"; "error" as without it
//! ```
//!
//! A signal is named by its full path or by an end of it that is the path of no other signal, so that scopes that one
//! simulator puts on top and another one does not may be left out. An element of an array is `words[1]`, an escaped name stands
//! without its backslash, a member of a struct is `link.data` where the simulator dumps members (Verilator: `--trace-structs`), else a
//! part of the struct, `link[543:0]`. A unit wider than `data` comes in several beats, lowest
//! bits first. A packet of NVLink ends where `first` says that the next one
//! begins; without `first` it has as many flits as its header says. Where every packet starts at bit 0 of a beat that has room
//! for all of it, `unit_bits` is 2304 (18 flits).
//!
//! A link is watched from its start on, so the wave has to hold that. Both ends of a link are two `[[link]]`, each with the
//! interfaces at its own end or, with the time that flits are under way both ways in `reaction_flits`, those of the other one.

use super::InspectError;
use super::bus::MappedBus;
use super::waiver::{self, MappedWaiver, Severities};
use scalepool_coherence::mem::tables::HdmRegion;
use scalepool_coherence::passive::PassiveConfig;
use scalepool_forms::options::Options;
use scalepool_link::cxl68::Known;
use scalepool_link::health::liveness::{LIVENESS_FLITS, LivenessLimits, MOST_LIVENESS_FLITS};
use scalepool_link::protocol::{CXL_IO, LinkProtocol};
use scalepool_link::watch::{EndWatch, REACTION_FLITS, WatchConfig};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::interfaces::{SLOTS_BITS, SLOTS68};
use scalepool_protocols::nvlink::{FLIT_BYTES, MAX_FLITS};
use scalepool_protocols::registry::{self, Protocol};
use scalepool_transactions::cxl_cache::{CxlCacheConfig, CxlCacheTransactions};
use scalepool_transactions::cxl_io::{CxlIoConfig, CxlIoTransactions};
use scalepool_transactions::cxl_mem::{CxlMemConfig, CxlMemTransactions};
use scalepool_transactions::nvlink::{NvlTransactionConfig, NvlTransactions};
use scalepool_transactions::ualink::{UalTransactionConfig, UalTransactions};
use scalepool_transactions::{AnswerLimit, TransactionChecker};
use serde::Deserialize;

/// Bits of the slots of a 68B flit (`cxl-68b` §3).
const SLOT_BITS: usize = SLOTS_BITS as usize;

/// Bits of the longest packet of NVLink (`nvlink` §1).
const PACKET_BITS: usize = 8 * FLIT_BYTES * MAX_FLITS;

/// What a map file says.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// Stands before every signal name.
    pub scope: Option<String>,
    /// The interfaces, at least one.
    #[serde(default)]
    pub interface: Vec<Interface>,
    /// Ends of links that are watched.
    #[serde(default)]
    pub link: Vec<MappedLink>,
    /// What stands between interfaces and only passes units on.
    #[serde(default)]
    pub retimer: Vec<MappedRetimer>,
    /// Links whose messages are judged together.
    #[serde(default)]
    pub coherence: Vec<MappedCoherence>,
    /// Links whose transactions are judged together.
    #[serde(default)]
    pub transactions: Vec<MappedTransactions>,
    /// Findings that are known.
    #[serde(default)]
    pub waiver: Vec<MappedWaiver>,
    /// Rules that are not taken as errors.
    #[serde(default)]
    pub severity: Severities,
}

/// A retimer, or anything else that only passes units on, in one direction.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MappedRetimer {
    /// Its name in messages.
    pub name: String,
    /// Interface where units go in.
    pub before: String,
    /// Interface where they come out.
    pub behind: String,
}

/// The links of one home of CXL.cache, or of one device of CXL.mem with its hosts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MappedCoherence {
    /// Names of [`MappedLink`]s.
    pub links: Vec<String>,
    /// What answers requests of CXL.mem.
    #[serde(default = "hdm_h")]
    pub memory: String,
    /// Nobody writes the lines but the agents on these links.
    #[serde(default)]
    pub all_writers_seen: bool,
}

fn hdm_h() -> String {
    HdmRegion::HdmH.key().into()
}

/// Transactions of a link of CXL that can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MappedCxlTransactions {
    /// Those of CXL.mem.
    CxlMem,
    /// Those of CXL.cache.
    CxlCache,
    /// Those of CXL.io, on links of 256B flits.
    CxlIo,
}

/// The links of one device of CXL.mem or one home of CXL.cache, or links of UALink or of NVLink.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MappedTransactions {
    /// Names of [`MappedLink`]s.
    pub links: Vec<String>,
    /// Of links of CXL: which, those of CXL.mem if left out.
    pub of: Option<MappedCxlTransactions>,
    /// What answers requests of CXL.mem, HDM-H if left out.
    pub memory: Option<String>,
    /// Nobody writes the lines but those on these links.
    #[serde(default)]
    pub all_writers_seen: bool,
    /// CXL.mem: no tag is used again while its request is open. Those of UALink and NVLink never are.
    #[serde(default)]
    pub unique_tags: bool,
    /// UALink: the links keep strict order.
    #[serde(default)]
    pub strict: bool,
    /// Longest time from a request to its last answer \[ns\]; it counts to the last edge of the clock, whether anything passes or not.
    pub answer_ns: Option<u32>,
    /// All requests are answered at the end of the wave.
    #[serde(default)]
    pub ends_at_rest: bool,
}

impl MappedTransactions {
    /// The checker beside links of a protocol. Its time is in femtoseconds.
    pub(super) fn checker(&self, protocol: LinkProtocol, names: Vec<String>) -> TransactionChecker {
        const FS_PER_NS: u64 = 1_000_000;
        let limit = |ns| AnswerLimit { time: u64::from(ns) * FS_PER_NS, unit: "ns", steps: FS_PER_NS };
        let MappedTransactions { all_writers_seen, unique_tags, strict, .. } = *self;
        let limit = self.answer_ns.map(limit);
        if protocol == LinkProtocol::Ualink {
            let config = UalTransactionConfig { all_writers_seen, strict, limit };
            return TransactionChecker::Ualink(Box::new(UalTransactions::new(config, names)));
        }
        if protocol == LinkProtocol::Nvlink {
            let config = NvlTransactionConfig { all_writers_seen, limit };
            return TransactionChecker::Nvlink(Box::new(NvlTransactions::new(config, names)));
        }
        if self.of == Some(MappedCxlTransactions::CxlCache) {
            let config = CxlCacheConfig { limit };
            return TransactionChecker::CxlCache(Box::new(CxlCacheTransactions::new(config, names)));
        }
        if self.of == Some(MappedCxlTransactions::CxlIo) {
            let config = CxlIoConfig { all_writers_seen, limit };
            return TransactionChecker::CxlIo(Box::new(CxlIoTransactions::new(config, names)));
        }
        let region = region(self.memory.as_deref().unwrap_or(HdmRegion::HdmH.key()));
        let config = CxlMemConfig { region, all_writers_seen, unique_tags, limit };
        TransactionChecker::CxlMem(Box::new(CxlMemTransactions::new(config, names)))
    }
}

impl MappedTransactions {
    /// Keys that say something of CXL.mem alone, beside other transactions of CXL.
    fn without_keys_of_memory(&self) -> Result<(), String> {
        let keys = [
            ("memory", self.memory.is_some()),
            ("unique_tags", self.unique_tags),
            // Of CXL.io reads of memory are compared, too.
            ("all_writers_seen", self.all_writers_seen && self.of != Some(MappedCxlTransactions::CxlIo)),
        ];
        match keys.into_iter().find(|(_, is_set)| *is_set) {
            Some(("all_writers_seen", _)) => Err(
                "key `all_writers_seen`: found true, expected `of` = \"cxl-mem\" or \"cxl-io\" beside it, or links of \
                     UALink or NVLink: copies of CXL.cache are judged by [[coherence]]"
                    .into(),
            ),
            Some((key, _)) => Err(format!("key `{key}`: found a value, expected `of` = \"cxl-mem\" beside it")),
            None => Ok(()),
        }
    }
}

/// The kind of a memory, in a checked map.
fn region(memory: &str) -> HdmRegion {
    HdmRegion::ALL.into_iter().find(|region| region.key() == memory).unwrap_or(HdmRegion::HdmH)
}

/// A kind of memory that there is.
fn check_memory(memory: &str) -> Result<(), String> {
    let known = HdmRegion::ALL.map(HdmRegion::key);
    let wrong = || format!("key `memory`: found `{memory}`, expected one of `{}`", known.join("`, `"));
    if known.contains(&memory) { Ok(()) } else { Err(wrong()) }
}

impl MappedCoherence {
    /// What the monitor has to know.
    pub(super) fn config(&self) -> PassiveConfig {
        PassiveConfig { all_writers_seen: self.all_writers_seen, region: region(&self.memory) }
    }
}

/// One end of a link.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Link")]
pub struct MappedLink {
    /// Its name in messages.
    pub name: String,
    /// Interface of what it sends.
    pub sends: String,
    /// Interface of what comes to it.
    pub receives: String,
    /// Units that it may still send before it shows that something has come.
    pub reaction_flits: Option<u64>,
    /// `cxl-68b`: entries of its retry buffer. What is left out of this and the next four, the end is not held to.
    pub retry_entries: Option<u16>,
    /// `cxl-68b`: flits without an Ack before it asks again.
    pub timeout_flits: Option<u32>,
    /// `cxl-68b`: times that it asks before training.
    pub max_num_retry: Option<u8>,
    /// `cxl-68b`: trainings before it gives up.
    pub max_num_phy_reinit: Option<u8>,
    /// `cxl-68b`: flits that acknowledgements may wait.
    pub flush_flits: Option<u16>,
    /// The 256B modes: it may ask for a single flit.
    #[serde(default)]
    pub selective_nak: bool,
    /// `ualink`: FEC code words that the line interleaves, 1, 2 or 4.
    pub interleave: Option<u8>,
    /// CXL: protocol flits without a link layer.
    #[serde(default)]
    pub plain_flits: bool,
    /// Flits for which either side may wait for the other one, 0 for no limit; [`LIVENESS_FLITS`] if left out.
    pub liveness_flits: Option<u64>,
    /// The same in time \[ns\]; not judged if left out.
    pub liveness_ns: Option<u32>,
}

/// What a name has to be, if it is none.
type NameCheck = fn(&str) -> Result<(), &'static str>;

/// A place in a trace.
fn is_path(name: &str) -> Result<(), &'static str> {
    let is_one = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_graphic());
    if name.split('.').all(is_one) { Ok(()) } else { Err("names joined by dots") }
}

/// A name in messages.
fn is_text(name: &str) -> Result<(), &'static str> {
    if name.trim().is_empty() || name.chars().any(char::is_control) { Err("a name") } else { Ok(()) }
}

/// Names of the tables of one kind, each once.
fn check_names<'a>(kind: &str, names: impl Iterator<Item = &'a String>, check: NameCheck) -> Result<(), String> {
    let mut before = Vec::new();
    for (n, name) in names.enumerate() {
        if let Err(expected) = check(name) {
            return Err(format!("{kind} {n}, key `name`: found `{name}`, expected {expected}"));
        }
        if before.contains(&name) {
            return Err(format!("{kind} {n}, key `name`: found `{name}` again, expected another name"));
        }
        before.push(name);
    }
    Ok(())
}

impl MappedLink {
    /// Refuses keys of other protocols, which would say nothing of this link.
    fn check_keys(&self, protocol: LinkProtocol) -> Result<(), String> {
        let of_68b = protocol == LinkProtocol::Cxl68;
        let ualink = protocol == LinkProtocol::Ualink;
        let keys = [
            ("retry_entries", self.retry_entries.is_some(), of_68b, "cxl-68b"),
            ("timeout_flits", self.timeout_flits.is_some(), of_68b, "cxl-68b"),
            ("max_num_retry", self.max_num_retry.is_some(), of_68b, "cxl-68b"),
            ("max_num_phy_reinit", self.max_num_phy_reinit.is_some(), of_68b, "cxl-68b"),
            ("flush_flits", self.flush_flits.is_some(), of_68b, "cxl-68b"),
            ("reaction_flits", self.reaction_flits.is_some(), of_68b || ualink, "cxl-68b or ualink"),
            ("selective_nak", self.selective_nak, matches!(protocol, LinkProtocol::Cxl256(_)), "256B flits"),
            ("interleave", self.interleave.is_some(), ualink, "ualink"),
        ];
        if let Some((key, .., expected)) = keys.iter().find(|(_, is_given, has_use, _)| *is_given && !has_use) {
            let found = protocol.name();
            return Err(format!("key `{key}`: found a value for a link of {found}, expected one of {expected}"));
        }
        let waits = [
            ("liveness_flits", self.liveness_flits.is_some(), true, ""),
            ("liveness_ns", self.liveness_ns.is_some(), true, ""),
        ];
        match keys.iter().chain(&waits).find(|(_, is_given, ..)| self.plain_flits && *is_given) {
            Some((key, ..)) => {
                Err(format!("key `{key}`: found a value beside `plain_flits`, expected none: there is no link layer"))
            }
            None => Ok(()),
        }
    }

    /// How long either side may wait.
    fn liveness(&self) -> Result<LivenessLimits, String> {
        const FS_PER_NS: u64 = 1_000_000;
        let flits = self.liveness_flits.unwrap_or(LIVENESS_FLITS);
        if flits > MOST_LIVENESS_FLITS {
            return Err(format!("key `liveness_flits`: found {flits}, expected at most {MOST_LIVENESS_FLITS}"));
        }
        let time_fs = self.liveness_ns.map(|ns| u64::from(ns) * FS_PER_NS);
        Ok(LivenessLimits { flits: Some(flits).filter(|&flits| flits > 0), time_fs: time_fs.filter(|&fs| fs > 0) })
    }
}

/// One direction of one link.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// Name in output and traces: names joined by dots.
    pub name: String,
    /// Name in [`registry::PROTOCOLS`].
    pub protocol: String,
    /// `down` or `up`.
    pub dir: String,
    /// Signal whose edges sample the others; a wave needs it.
    pub clock: Option<String>,
    /// Which of its changes.
    #[serde(default)]
    pub edge: Edge,
    /// Which values; by default those before a rising or falling edge, those after any change.
    pub sample: Option<SampleEdge>,
    /// While it is active nothing is sampled, and the stream begins anew.
    pub reset: Option<String>,
    /// Level at which it is active.
    #[serde(default)]
    pub reset_active: SignalLevel,
    /// 1 where there is data.
    pub valid: Option<String>,
    /// 1 where data is taken.
    pub ready: Option<String>,
    /// 1 at the first beat of a unit.
    pub first: Option<String>,
    /// 1 at the last beat of a unit.
    pub last: Option<String>,
    /// A bit a byte of the data: those that count.
    pub keep: Option<String>,
    /// Kind of interface, whose signals are found behind the prefix.
    pub bus: Option<MappedBus>,
    /// Stands before the names of the signals of the bus.
    pub prefix: Option<String>,
    /// Where each byte of the data belongs in its beat.
    pub order: Option<Vec<usize>>,
    /// The bytes.
    pub data: Option<String>,
    /// Bits of a unit.
    pub unit_bits: Option<usize>,
    /// What the ends of the link have agreed on: options of the protocol, `NAME=on` or `NAME=off`.
    #[serde(default)]
    pub options: Vec<String>,
    /// In a capture: what the lines of this interface have as `where`; [`Interface::name`] if left out.
    #[serde(rename = "where")]
    pub place: Option<String>,
}

/// Changes of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// To 1.
    #[default]
    Rising,
    /// To 0.
    Falling,
    /// Every one.
    Any,
}

/// Values beside an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SampleEdge {
    /// Those of the instant before.
    Before,
    /// Those at the end of its instant.
    After,
}

/// A level of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignalLevel {
    /// 0.
    #[default]
    Low,
    /// 1.
    High,
}

/// What a unit in the wave holds of the unit of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnitContent {
    /// All of it.
    Unit,
    /// A 68-byte unit without its protocol ID.
    FlitAndCrc,
    /// Its slots alone.
    Slots,
}

impl Map {
    /// Reads the text of a map file; `path` is its name in messages.
    ///
    /// # Errors
    /// Text that is no map: TOML, keys, values, names.
    pub fn read(text: &str, path: &str) -> Result<Map, InspectError> {
        let map: Map = toml::from_str(text)
            .map_err(|e| InspectError::Map { path: path.to_owned(), text: e.to_string().trim_end().to_owned() })?;
        let refuse = |text: String| Err(InspectError::Map { path: path.to_owned(), text });
        if map.interface.is_empty() {
            return refuse("found no [[interface]], expected at least one".into());
        }
        let named = check_names("interface", map.interface.iter().map(|interface| &interface.name), is_path)
            .and_then(|()| check_names("link", map.link.iter().map(|link| &link.name), is_text))
            .and_then(|()| check_names("retimer", map.retimer.iter().map(|retimer| &retimer.name), is_text));
        if let Err(text) = named {
            return refuse(text);
        }
        for interface in &map.interface {
            let name = &interface.name;
            if let Err(text) =
                interface.holds().and_then(|_| interface.agreed()).and_then(|_| interface.check_signals())
            {
                return refuse(format!("interface `{name}`, {text}"));
            }
        }
        for link in &map.link {
            let watched = map.watch_config(link).and_then(|config| EndWatch::new(&config).map_err(|e| e.to_string()));
            if let Err(text) = watched {
                return refuse(format!("link `{}`, {text}", link.name));
            }
        }
        for retimer in &map.retimer {
            if let Err(text) = map.retimer_places(retimer) {
                return refuse(format!("retimer `{}`, {text}", retimer.name));
            }
        }
        for (n, table) in map.coherence.iter().enumerate() {
            let checked = map.check_cxl(&table.links).map_err(|text| format!("key `links`: {text}"));
            let carries = checked.and_then(|()| map.check_io(&table.links, false, "one with messages of CXL.cachemem"));
            if let Err(text) = carries.and_then(|()| check_memory(&table.memory)) {
                return refuse(format!("coherence {n}, {text}"));
            }
        }
        for (n, table) in map.transactions.iter().enumerate() {
            let is_again = |other: &MappedTransactions| {
                other.of == table.of && other.links.iter().any(|link| table.links.contains(link))
            };
            if map.transactions[..n].iter().any(is_again) {
                let text = "key `links`: found a link of another [[transactions]] of the same kind, expected it in one of them";
                return refuse(format!("transactions {n}, {text}"));
            }
            if let Err(text) = map.check_transactions(table) {
                return refuse(format!("transactions {n}, {text}"));
            }
        }
        if let Err(text) = waiver::check(&map) {
            return refuse(text);
        }
        Ok(map)
    }

    /// Links whose transactions can be judged together.
    fn check_transactions(&self, table: &MappedTransactions) -> Result<(), String> {
        self.check_links(&table.links).map_err(|text| format!("key `links`: {text}"))?;
        let of_all = self.protocol_of(&table.links)?;
        if of_all != LinkProtocol::Ualink && table.strict {
            return Err("key `strict`: found true, expected links of ualink".into());
        }
        if !matches!(of_all, LinkProtocol::Ualink | LinkProtocol::Nvlink) {
            self.check_cxl(&table.links).map_err(|text| format!("key `links`: {text}"))?;
            if matches!(table.of, Some(MappedCxlTransactions::CxlCache | MappedCxlTransactions::CxlIo)) {
                table.without_keys_of_memory()?;
            }
            let is_io = table.of == Some(MappedCxlTransactions::CxlIo);
            self.check_io(&table.links, is_io, "`of` = \"cxl-io\" beside it")?;
            return table.memory.as_ref().map_or(Ok(()), |memory| check_memory(memory));
        }
        for name in &table.links {
            let protocol = self.protocol_of(std::slice::from_ref(name))?;
            if protocol != of_all {
                let [found, expected] = [protocol, of_all].map(LinkProtocol::name);
                return Err(format!("key `links`: found `{name}`, a link of {found}, expected one of {expected}"));
            }
        }
        if table.of.is_some() {
            return Err("key `of`: found a value, expected links of CXL".into());
        }
        match (&table.memory, table.unique_tags) {
            (Some(memory), _) => Err(format!("key `memory`: found `{memory}`, expected links of CXL")),
            (None, true) => Err("key `unique_tags`: found true, expected links of CXL".into()),
            (None, false) => Ok(()),
        }
    }

    /// Links that carry what is judged on them: TLPs, or messages of CXL.cachemem.
    fn check_io(&self, links: &[String], is_io: bool, expected: &str) -> Result<(), String> {
        for link in self.link.iter().filter(|link| links.contains(&link.name)) {
            let protocol = &self.interface[self.places(link)?[1]].protocol;
            if is_io && link.plain_flits {
                return Err(format!(
                    "key `links`: found `{}`, a link of plain flits, which carry no CXL.io",
                    link.name
                ));
            }
            if !is_io && protocol == CXL_IO {
                return Err(format!("key `links`: found `{}`, a link of cxl-io, expected {expected}", link.name));
            }
        }
        Ok(())
    }

    /// Protocol of the first of some links.
    pub(super) fn protocol_of(&self, links: &[String]) -> Result<LinkProtocol, String> {
        let link = self.link.iter().find(|link| links.first() == Some(&link.name));
        Ok(self.watch_config(link.ok_or("found no link")?)?.protocol)
    }

    /// Links that are there, and carry messages of CXL.cachemem.
    fn check_cxl(&self, links: &[String]) -> Result<(), String> {
        self.check_links(links)?;
        for name in links {
            let protocol = self.protocol_of(std::slice::from_ref(name))?;
            if !matches!(protocol, LinkProtocol::Cxl68 | LinkProtocol::Cxl256(_)) {
                return Err(format!("found `{name}`, a link of {}, expected one of CXL", protocol.name()));
            }
        }
        Ok(())
    }

    /// Links that are there, each once.
    fn check_links(&self, links: &[String]) -> Result<(), String> {
        if links.is_empty() {
            return Err("found none, expected the name of a [[link]] at least".into());
        }
        for (n, name) in links.iter().enumerate() {
            let known = || self.link.iter().map(|l| l.name.as_str()).collect::<Vec<_>>().join(", ");
            let mut named = self.link.iter().filter(|l| l.name == *name);
            let (Some(_), None) = (named.next(), named.next()) else {
                let known = if self.link.is_empty() { "there is none".to_owned() } else { known() };
                return Err(format!("found `{name}`, expected the name of one [[link]]: {known}"));
            };
            if links[..n].contains(name) {
                return Err(format!("found `{name}` again, expected another link"));
            }
        }
        Ok(())
    }

    /// Position of an interface.
    fn place(&self, key: &str, name: &str) -> Result<usize, String> {
        let known = || self.interface.iter().map(|i| i.name.as_str()).collect::<Vec<_>>().join(", ");
        let at = self.interface.iter().position(|interface| interface.name == name);
        at.ok_or_else(|| format!("key `{key}`: found `{name}`, expected the name of an interface: {}", known()))
    }

    /// Position of the interfaces of a link: what comes to the end, what it sends.
    pub(super) fn places(&self, link: &MappedLink) -> Result<[usize; 2], String> {
        Ok([self.place("receives", &link.receives)?, self.place("sends", &link.sends)?])
    }

    /// Position of the interfaces of a retimer: before it, behind it.
    pub(super) fn retimer_places(&self, retimer: &MappedRetimer) -> Result<[usize; 2], String> {
        let places = [self.place("before", &retimer.before)?, self.place("behind", &retimer.behind)?];
        let [before, behind] = places.map(|at| &self.interface[at]);
        if places[0] == places[1] {
            return Err(format!("found `{}` before and behind it, expected two interfaces", before.name));
        }
        if (&before.protocol, &before.dir) != (&behind.protocol, &behind.dir) {
            let found = [before, behind].map(|i| format!("`{}`, {} {}", i.name, i.protocol, i.dir));
            return Err(format!("found {} and {}, expected two interfaces of one direction", found[0], found[1]));
        }
        Ok(places)
    }

    /// What a watcher of an end has to know.
    pub(super) fn watch_config(&self, link: &MappedLink) -> Result<WatchConfig, String> {
        let [receives, sends] = self.places(link)?.map(|at| &self.interface[at]);
        let Some(protocol) = LinkProtocol::below(&sends.protocol) else {
            let known: Vec<_> = LinkProtocol::ALL.into_iter().map(LinkProtocol::name).chain([CXL_IO]).collect();
            return Err(format!(
                "interface `{}`: found `{}`, expected one of {}",
                sends.name,
                sends.protocol,
                known.join(", ")
            ));
        };
        if (&receives.protocol, &receives.dir) == (&sends.protocol, &sends.dir) || receives.protocol != sends.protocol {
            let found = [sends, receives].map(|i| format!("{} {}", i.protocol, i.dir));
            return Err(format!("found {} and {}, expected both directions of one protocol", found[0], found[1]));
        }
        link.check_keys(protocol)?;
        let has_plain = matches!(protocol, LinkProtocol::Cxl68 | LinkProtocol::Cxl256(_)) && sends.protocol != CXL_IO;
        if link.plain_flits && !has_plain {
            return Err(format!(
                "key `plain_flits`: found true for a link of {}, expected one of CXL.cachemem",
                sends.protocol
            ));
        }
        let options = sends.agreed()?;
        if options != receives.agreed()? {
            let [sent, came] = [sends, receives].map(|interface| format!("`{}`", interface.options.join("`, `")));
            return Err(format!("key `options`: found {sent} and {came}, expected the same of both directions"));
        }
        let default = Cxl68Config::default();
        let cxl68 = Cxl68Config {
            llrb_entries: link.retry_entries.unwrap_or(default.llrb_entries),
            timeout_flits: link.timeout_flits.unwrap_or(default.timeout_flits),
            max_num_retry: link.max_num_retry.unwrap_or(default.max_num_retry),
            max_num_phy_reinit: link.max_num_phy_reinit.unwrap_or(default.max_num_phy_reinit),
            llcrd_flush_flits: link.flush_flits.unwrap_or(default.llcrd_flush_flits),
            ..options.cxl68
        };
        let known = Known {
            entries: link.retry_entries.is_some(),
            timeout: link.timeout_flits.is_some(),
            tries: link.max_num_retry.is_some(),
            reinits: link.max_num_phy_reinit.is_some(),
            flush: link.flush_flits.is_some(),
        };
        let (selective_nak, reaction_flits) = (link.selective_nak, link.reaction_flits.unwrap_or(REACTION_FLITS));
        let default = WatchConfig::new(protocol, sends.direction());
        let interleave = link.interleave.unwrap_or(default.interleave);
        let coherence = self.coherence.iter().map(|table| &table.links);
        let messages =
            coherence.chain(self.transactions.iter().map(|table| &table.links)).any(|links| links.contains(&link.name));
        let liveness = link.liveness()?;
        let io_alone = sends.protocol == CXL_IO;
        Ok(WatchConfig {
            cxl68,
            known,
            selective_nak,
            io_alone,
            reaction_flits,
            interleave,
            messages,
            liveness,
            plain_flits: link.plain_flits,
            options,
            ..default
        })
    }
}

impl Interface {
    /// Row of the protocol.
    pub(super) fn protocol(&self) -> Option<&'static Protocol> {
        registry::PROTOCOLS.iter().find(|p| p.name == self.protocol)
    }

    /// What the ends of its link have agreed on.
    pub(super) fn agreed(&self) -> Result<Options, String> {
        let mut options = Options::default();
        let mut set = |setting: &String| options.set(&self.protocol, setting);
        self.options.iter().try_for_each(&mut set).map_err(|error| format!("key `options`: {error}"))?;
        Ok(options)
    }

    /// `dir`, in a checked map.
    pub(super) fn direction(&self) -> Dir {
        if self.dir == Dir::Up.name() { Dir::Up } else { Dir::Down }
    }

    /// Bits of a unit in the wave and what it holds.
    pub(super) fn holds(&self) -> Result<(usize, UnitContent), String> {
        let Some(protocol) = self.protocol() else {
            let known: Vec<_> = registry::PROTOCOLS.iter().map(|p| p.name).collect();
            return Err(format!("key `protocol`: found `{}`, expected one of {}", self.protocol, known.join(", ")));
        };
        if !["down", "up"].contains(&self.dir.as_str()) {
            return Err(format!("key `dir`: found `{}`, expected `down` or `up`", self.dir));
        }
        let whole = 8 * protocol.unit_bytes;
        let is_slots = self.bus.is_some_and(|bus| bus.key() == SLOTS68);
        if is_slots && (protocol.name != "cxl-68b" || self.unit_bits.is_some_and(|bits| bits != SLOT_BITS)) {
            let found = format!("found \"slots68\" for {} bits of {}", self.unit_bits.unwrap_or(whole), protocol.name);
            return Err(format!("key `bus`: {found}, expected cxl-68b, {SLOT_BITS} bits"));
        }
        let usual = if is_slots { SLOT_BITS } else { whole };
        match (self.unit_bits.unwrap_or(usual), protocol.name) {
            (bits, _) if bits == whole => Ok((bits, UnitContent::Unit)),
            (528, "cxl-68b") => Ok((528, UnitContent::FlitAndCrc)),
            (512, "cxl-68b") => Ok((512, UnitContent::Slots)),
            (bits, "cxl-68b") => Err(format!("key `unit_bits`: found {bits}, expected 544, 528 or 512")),
            (PACKET_BITS, "nvlink") => Ok((PACKET_BITS, UnitContent::Unit)),
            (bits, "nvlink") => Err(format!("key `unit_bits`: found {bits}, expected {whole} or {PACKET_BITS}")),
            (bits, _) => Err(format!("key `unit_bits`: found {bits}, expected {whole}")),
        }
    }

    /// Nothing is said of signals: an interface for captures alone.
    fn is_without_signals(&self) -> bool {
        let names =
            [&self.clock, &self.reset, &self.valid, &self.ready, &self.first, &self.last, &self.keep, &self.data];
        names.iter().all(|name| name.is_none()) && self.bus.is_none() && self.prefix.is_none()
    }

    /// Signals that go together.
    fn check_signals(&self) -> Result<(), String> {
        if self.is_without_signals() {
            let settings = [
                ("order", self.order.is_some()),
                ("edge", self.edge != Edge::default()),
                ("sample", self.sample.is_some()),
                ("reset_active", self.reset_active != SignalLevel::default()),
            ];
            return match settings.into_iter().find(|(_, is_set)| *is_set) {
                Some((key, _)) => Err(format!(
                    "key `{key}`: found a setting of signals where no signal is named, expected `clock` and `data` beside it"
                )),
                None => Ok(()),
            };
        }
        if self.clock.is_none() {
            return Err("key `clock`: found none, expected a signal".into());
        }
        // Which signals of a bus there are, the wave says.
        let names = self.signal_names(|_| false)?;
        match (&self.first, &self.last, names.keep) {
            (Some(_), Some(_), _) => Err("key `last`: found a value beside `first`, expected one of them".into()),
            (_, _, Some(_)) if self.order.is_some() => {
                Err("key `order`: found a value beside `keep`, expected one of them".into())
            }
            _ => Ok(()),
        }
    }

    /// Which values it samples.
    pub(super) fn sample(&self) -> SampleEdge {
        let usual = if self.edge == Edge::Any { SampleEdge::After } else { SampleEdge::Before };
        self.sample.unwrap_or(usual)
    }
}
