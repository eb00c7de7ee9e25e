//! How a reference model of a bridge is built: its JSON form.
//!
//! Modelled: one half of a bridge with one protocol of accelerators, its windows and rights, its table, order and caches. Left out:
//! latencies, which the model does not have, and what shows in them alone: kept conversions, tags of the cache in HBM.
//! A walk: `{"protocol":"ualink","direction":"outbound","windows":[{"class":"MC","base":"0x10000000",
//! "size":"0x1000000","out_base":"0x400000000"}]}` is a bridge with one window of coherent memory and all else as in the sheet.

use super::control::control;
use super::credits::{CreditPool, CreditSides};
use super::exported::ExportedConfig;
use super::hosts::host_ports;
use super::tlp::MOST_ENTRIES as MOST_IO_ENTRIES;
use scalepool_bridge::cache::data::DataCache;
use scalepool_bridge::cache::{DataCacheConfig, StorePolicy, policy::EvictionPolicy};
use scalepool_bridge::inbound::InboundConfig;
use scalepool_bridge::inbound::bar::BarConfig;
use scalepool_bridge::inbound::bar::access::AccessReach;
use scalepool_bridge::inbound::exported::{FILTER_ENTRIES, FILTER_WAYS, RECALLS};
use scalepool_bridge::inbound::hairpin;
use scalepool_bridge::inbound::table::MOST_INBOUND;
use scalepool_bridge::io::tlps::IoAck;
use scalepool_bridge::lines::BLOCK_BYTES;
use scalepool_bridge::outbound::OutboundConfig;
use scalepool_bridge::outbound::host_lines::MOST_CACHED_ENTRIES;
use scalepool_bridge::outbound::order::BridgeOrder;
use scalepool_bridge::outbound::table::{FEWEST_ENTRIES, FEWEST_WITH_HAIRPIN, MOST_ENTRIES};
use scalepool_bridge::window::{
    AccessRights, BridgeWindow, BridgeWindows, GROUPS, InboundClass, PORT_IDS, WINDOW_WAYS, WindowAddresses,
    WindowClass, WindowLimits,
};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::mem::options::MemConfig;
use scalepool_forms::{FormError, Object, number, object, shown, text};
use scalepool_ordered::OrderedMap;
use serde_json::Value;
use std::sync::Arc;

/// Entries of the table of outbound transactions (`bridge` §7).
const OUTBOUND_ENTRIES: u64 = 512;
/// Entries of the table of inbound transactions (`bridge` §7).
const INBOUND_ENTRIES: u64 = 1024;
/// Buffers of 64 bytes for what is written (`bridge` §7).
const WRITE_BUFFERS: u64 = 1024;
/// Fewest of them: a write of a block.
const FEWEST_BUFFERS: u64 = 4;
/// Most of them: a thousand times the sheet's.
const MOST_BUFFERS: u64 = 1 << 20;
/// Ports or accelerators among which windows are dealt, as far as a model is told of them.
pub(crate) const TARGETS: usize = 1 << 10;
/// Keys of the home.
const HOME_KEYS: [&str; 4] = ["holders", "filter_entries", "filter_ways", "recalls"];
/// Most lines of the filter, most of a set, most open recalls of a home, and most that may hold lines.
const MOST_FILTER_ENTRIES: u64 = 1 << 20;
const MOST_FILTER_WAYS: u64 = 1 << 10;
const MOST_RECALLS: u64 = 1 << 12;
const MOST_HOLDERS: usize = 1 << 10;
/// Blocks of a row behind which a stream is not kept, at most.
const MOST_STREAM_BLOCKS: u64 = 1 << 16;

/// The protocol of accelerators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceleratorProtocol {
    /// UALink.
    Ualink,
    /// NVLink, model profile NVL-M1.
    Nvlink,
}

impl AcceleratorProtocol {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            AcceleratorProtocol::Ualink => "ualink",
            AcceleratorProtocol::Nvlink => "nvlink",
        }
    }
}

/// One half of a bridge.
#[derive(Debug, Clone)]
pub enum BridgeHalf {
    /// From accelerators to CXL.
    Outbound(Box<OutboundConfig>),
    /// From CXL to accelerators.
    Inbound(InboundConfig),
    /// From CXL.io to accelerators behind a BAR.
    Bar(BarConfig),
    /// From CXL, and by the hairpin, to accelerators whose memory the bridge keeps coherent.
    Exported(Box<ExportedConfig>),
}

/// How a reference model is built.
#[derive(Debug, Clone)]
pub struct ReferenceConfig {
    /// What accelerators speak.
    pub protocol: AcceleratorProtocol,
    /// Number of the bridge among them.
    pub own: u16,
    /// Ports by which an inbound half asks accelerators: block n of 256 bytes takes port n modulo their number.
    pub ports: u64,
    /// Which half it is.
    pub half: BridgeHalf,
    /// Pools of credits that a scoreboard counts.
    pub credits: Vec<CreditPool>,
}

/// Keys of every configuration.
const KEYS: [&str; 17] = [
    "credits",
    "protocol",
    "direction",
    "own",
    "windows",
    "groups",
    "entries",
    "write_buffers",
    "order",
    "cache",
    "ports",
    "io_ack",
    "home",
    "hairpin",
    "host_ports",
    "single_beat",
    "control",
];
/// Keys of an outbound half alone.
const OUTBOUND_KEYS: [&str; 6] = ["write_buffers", "order", "io_ack", "host_ports", "single_beat", "control"];

impl ReferenceConfig {
    /// Reads its JSON form.
    ///
    /// # Errors
    /// A key that is not known, a value out of range, windows that cannot be, with the place.
    pub fn from_json(form: &Value) -> Result<ReferenceConfig, FormError> {
        let form = object(form, "bridge", &KEYS)?;
        let protocols = [("ualink", AcceleratorProtocol::Ualink), ("nvlink", AcceleratorProtocol::Nvlink)];
        let protocol = one_of(form, "protocol", &protocols, None)?;
        let sources = match protocol {
            AcceleratorProtocol::Ualink => WindowLimits::OUTBOUND.sources,
            AcceleratorProtocol::Nvlink => WindowLimits::OUTBOUND_NVLINK.sources,
        };
        let own = count(form, "own", 0..=u64::from(sources) - 1, 0)? as u16;
        let is_inbound = one_of(form, "direction", &[("outbound", false), ("inbound", true)], None)?;
        let half = if is_inbound { inbound(form, protocol)? } else { outbound(form, protocol)? };
        let ports = count(form, "ports", 1..=TARGETS as u64, 1)?;
        let has_hairpin = matches!(&half, BridgeHalf::Exported(half) if half.hairpin.is_some());
        let is_bar = matches!(half, BridgeHalf::Bar(_));
        let sides = CreditSides { protocol, is_inbound, has_hairpin, is_bar, ports };
        let credits = form.get("credits").map(|form| sides.pools(form)).transpose()?.unwrap_or_default();
        Ok(ReferenceConfig { protocol, own, ports, half, credits })
    }
}

/// Reads new windows and groups of an outbound half, as a commit has them: `{"windows":[...],"groups":{...}}`.
///
/// # Errors
/// What is wrong with them, with the place.
pub fn committed(form: &Value, protocol: AcceleratorProtocol) -> Result<BridgeWindows, FormError> {
    outbound_windows(object(form, "commit", &["windows", "groups"])?, protocol)
}

/// Where windows from accelerators lead, and who asks.
fn outbound_limits(protocol: AcceleratorProtocol) -> WindowLimits {
    match protocol {
        AcceleratorProtocol::Ualink => WindowLimits::OUTBOUND,
        AcceleratorProtocol::Nvlink => WindowLimits::OUTBOUND_NVLINK,
    }
}

fn outbound_windows(form: &Object, protocol: AcceleratorProtocol) -> Result<BridgeWindows, FormError> {
    let classes = [("MC", WindowClass::Mc), ("MN", WindowClass::Mn), ("CC", WindowClass::Cc), ("IO", WindowClass::Io)];
    windows(form, &classes, outbound_limits(protocol))
}

/// What is wrong with windows of class IO beside more entries than TLPs have tags in the form of this model.
pub(crate) fn io_tags(windows: &BridgeWindows) -> Option<FormError> {
    let expected = || format!("at most {MOST_IO_ENTRIES} entries beside them: tags of TLPs have 10 bits");
    let has_io = windows.list().iter().any(|window| window.class == WindowClass::Io);
    has_io.then(|| FormError::new("windows", "windows of class IO", expected()))
}

fn outbound(form: &Object, protocol: AcceleratorProtocol) -> Result<BridgeHalf, FormError> {
    if form.contains_key("ports") {
        return Err(FormError::new("bridge", "key `ports`", "a key of an outbound bridge: windows name its ports"));
    }
    if let Some(key) = ["home", "hairpin"].into_iter().find(|key| form.contains_key(*key)) {
        return Err(FormError::new("bridge", format!("key `{key}`"), "a key of an outbound bridge"));
    }
    let windows = outbound_windows(form, protocol)?;
    let acks = [("flush", IoAck::Flush), ("sent", IoAck::Sent)];
    let io_ack = one_of(form, "io_ack", &acks, Some(IoAck::Flush))?;
    let data = form.get("cache").map(cache).transpose()?;
    let host_ports = host_ports(form, &windows)?;
    let single_beat = single_beat(form, protocol)?;
    let control = control(form, &windows)?;
    let half = OutboundConfig { io_ack, data, host_ports, single_beat, control, ..outbound_half(form, windows, None)? };
    if half.entries > MOST_CACHED_ENTRIES && half.data.is_some() && !half.host_ports.is_empty() {
        let expected = format!(
            "at most {MOST_CACHED_ENTRIES} beside a cache of lines of hosts: CQIDs have 12 bits, and what the cache gives back takes some"
        );
        return Err(FormError::new("entries", half.entries.to_string(), expected));
    }
    match io_tags(&half.windows).filter(|_| half.entries > MOST_IO_ENTRIES) {
        Some(wrong) => Err(wrong),
        None => Ok(BridgeHalf::Outbound(Box::new(half))),
    }
}

/// Whether reads of several lines are answered line by line, as these come (`bridge` §3.3).
fn single_beat(form: &Object, protocol: AcceleratorProtocol) -> Result<bool, FormError> {
    let Some(value) = form.get("single_beat") else { return Ok(false) };
    if protocol != AcceleratorProtocol::Ualink {
        let expected = "a key of a bridge of UALink: a read of NVLink has one response";
        return Err(FormError::new("bridge", "key `single_beat`", expected));
    }
    value.as_bool().ok_or_else(|| FormError::new("single_beat", shown(value), "true or false"))
}

/// What every half from accelerators has: table, buffers and order.
fn outbound_half(
    form: &Object,
    windows: BridgeWindows,
    exported: Option<Arc<BridgeWindows<InboundClass>>>,
) -> Result<OutboundConfig, FormError> {
    let fewest = if exported.is_some() { FEWEST_WITH_HAIRPIN } else { FEWEST_ENTRIES };
    let entries = count(form, "entries", fewest as u64..=MOST_ENTRIES as u64, OUTBOUND_ENTRIES)?;
    let write_buffers = count(form, "write_buffers", FEWEST_BUFFERS..=MOST_BUFFERS, WRITE_BUFFERS)?;
    let orders = [("blocks", BridgeOrder::Blocks), ("sources", BridgeOrder::Sources)];
    let order = one_of(form, "order", &orders, Some(BridgeOrder::Blocks))?;
    Ok(OutboundConfig {
        windows,
        entries: entries as usize,
        write_buffers: write_buffers as usize,
        order,
        data: None,
        ecc: None,
        templates: None,
        host_ports: 0..0,
        control: None,
        io_ack: IoAck::Flush,
        single_beat: false,
        exported,
    })
}

fn inbound(form: &Object, protocol: AcceleratorProtocol) -> Result<BridgeHalf, FormError> {
    if let Some(key) = OUTBOUND_KEYS.into_iter().find(|key| form.contains_key(*key)) {
        return Err(FormError::new("bridge", format!("key `{key}`"), "a key of an inbound bridge"));
    }
    let limits = match protocol {
        AcceleratorProtocol::Ualink => WindowLimits::INBOUND_UALINK,
        AcceleratorProtocol::Nvlink => WindowLimits::INBOUND_NVLINK,
    };
    let classes = [("NH", InboundClass::Nh), ("BR", InboundClass::Br), ("DB", InboundClass::Db)];
    let windows = windows(form, &classes, limits)?;
    let entries = count(form, "entries", 1..=MOST_INBOUND as u64, INBOUND_ENTRIES)? as usize;
    let class = windows.list().first().map_or(InboundClass::Nh, |window| window.class);
    if windows.list().iter().any(|window| window.class != class) {
        let expected = "windows of one class: a model is one half";
        return Err(FormError::new("windows", "windows of different classes", expected));
    }
    if class != InboundClass::Db
        && let Some(key) = ["home", "hairpin"].into_iter().find(|key| form.contains_key(*key))
    {
        return Err(FormError::new("bridge", format!("key `{key}`"), "a key of a bridge without windows of class DB"));
    }
    if class == InboundClass::Br && form.contains_key("cache") {
        let expected = "a key of a bridge without windows of class BR, whose bytes are never kept";
        return Err(FormError::new("bridge", "key `cache`", expected));
    }
    Ok(match class {
        InboundClass::Nh => {
            let cache = form.get("cache").map(memory_cache).transpose()?;
            BridgeHalf::Inbound(InboundConfig { windows, decoders: Vec::new(), entries, cache })
        }
        InboundClass::Br => {
            let reach = match protocol {
                AcceleratorProtocol::Ualink => AccessReach::UPLI,
                AcceleratorProtocol::Nvlink => AccessReach::NVLINK,
            };
            let (tags, payload_bytes) = (0..entries as u16, BLOCK_BYTES as usize);
            BridgeHalf::Bar(BarConfig { windows, reach, tags, payload_bytes })
        }
        InboundClass::Db => BridgeHalf::Exported(Box::new(exported(form, protocol, (windows, limits), entries)?)),
    })
}

/// The home of windows of class DB, and the hairpin if there is one.
fn exported(
    form: &Object,
    protocol: AcceleratorProtocol,
    (windows, limits): (BridgeWindows<InboundClass>, WindowLimits),
    entries: usize,
) -> Result<ExportedConfig, FormError> {
    // Each byte has one home, and who holds a line may write it back.
    let exporting = BridgeWindows::exporting(limits, windows.list().to_vec(), windows.groups().clone(), TARGETS);
    let windows = exporting.map_err(|error| refused(error.field(), &error))?;
    for (n, window) in windows.list().iter().enumerate() {
        if let Some(group) = window.rights.iter().position(|rights| !(rights.read && rights.write)) {
            let found = format!("window {n} of class DB without the rights to read and to write of group {group}");
            return Err(FormError::new("windows", found, "both for each group: who holds a line may write it back"));
        }
    }
    let empty = Object::new();
    let home = form.get("home").map(|home| object(home, "home", &HOME_KEYS)).transpose()?.unwrap_or(&empty);
    let holders = holders(home)?;
    let ways = count(home, "filter_ways", 1..=MOST_FILTER_WAYS, FILTER_WAYS as u64)? as usize;
    let lines = count(home, "filter_entries", 1..=MOST_FILTER_ENTRIES, FILTER_ENTRIES as u64)? as usize;
    if !lines.is_multiple_of(ways) {
        return Err(FormError::new("filter_entries", lines.to_string(), format!("whole sets of {ways} ways")));
    }
    let trackers = count(home, "recalls", holders.len() as u64..=MOST_RECALLS, RECALLS as u64)? as usize;
    let mem = MemConfig { filter_sets: lines / ways, filter_ways: ways, trackers, ..MemConfig::default() };
    let hairpin = form.get("hairpin").map(|form| hairpin(form, protocol, &windows)).transpose()?;
    let cache = form.get("cache").map(memory_cache).transpose()?;
    Ok(ExportedConfig {
        inbound: InboundConfig { windows, decoders: Vec::new(), entries, cache },
        holders,
        coherence: CoherenceConfig { mem, ..CoherenceConfig::default() },
        hairpin: hairpin.map(Box::new),
    })
}

/// Sources by CXL port: one that is left out is 0, alone.
fn holders(home: &Object) -> Result<Vec<u16>, FormError> {
    let Some(value) = home.get("holders") else { return Ok(vec![0]) };
    let expected = format!("a list of 1 to {MOST_HOLDERS} SPIDs or LD-IDs, each once");
    let list = value.as_array().filter(|list| (1..=MOST_HOLDERS).contains(&list.len()));
    let list = list.ok_or_else(|| FormError::new("holders", shown(value), &*expected))?;
    let mut holders = Vec::new();
    for entry in list {
        let found = number::from_json(entry, "holders")?;
        let source = u16::try_from(found).ok().filter(|source| *source < PORT_IDS && !holders.contains(source));
        holders.push(source.ok_or_else(|| FormError::new("holders", found.to_string(), &*expected))?);
    }
    Ok(holders)
}

/// The half by which accelerators reach such memory of their own cluster.
fn hairpin(
    form: &Value,
    protocol: AcceleratorProtocol,
    exported: &BridgeWindows<InboundClass>,
) -> Result<OutboundConfig, FormError> {
    let form = object(form, "hairpin", &["windows", "groups", "entries", "write_buffers", "order"])?;
    let inner = |error: FormError| error.within("hairpin");
    let windows = windows(form, &[("HP", WindowClass::Hp)], outbound_limits(protocol)).map_err(inner)?;
    for (n, window) in windows.list().iter().enumerate() {
        if window.ports != [0] {
            let expected = "no targets: nothing of it leaves through a CXL port";
            return Err(inner(FormError::new("targets", format!("{:?} of window {n}", window.ports), expected)));
        }
        if let Some(at) = hairpin::first_not_coherent(window, exported.list()) {
            let expected = "addresses of windows of class DB alone";
            return Err(inner(FormError::new("windows", format!("window {n} with address {at:#x} of CXL"), expected)));
        }
    }
    outbound_half(form, windows, Some(Arc::new(exported.clone()))).map_err(inner)
}

/// An error of the bridge at a key: its text says what was found and what was expected.
fn refused(key: &str, error: &dyn std::error::Error) -> FormError {
    let text = error.to_string();
    let parts = text.strip_prefix("found ").and_then(|text| text.split_once(", expected "));
    let (found, expected) = parts.unwrap_or((&text, "one that can be"));
    FormError::new(key, found, expected)
}

/// The number of a key in a range.
fn count(form: &Object, key: &str, range: std::ops::RangeInclusive<u64>, default: u64) -> Result<u64, FormError> {
    let Some(value) = form.get(key) else { return Ok(default) };
    let found = number::from_json(value, key)?;
    let within = u64::try_from(found).ok().filter(|found| range.contains(found));
    within.ok_or_else(|| FormError::new(key, found.to_string(), format!("{} to {}", range.start(), range.end())))
}

/// A number of 64 bits that has to be there.
fn address(form: &Object, key: &str) -> Result<u64, FormError> {
    let value = form.get(key).ok_or_else(|| FormError::new(key, "no such key", "a number of 64 bits"))?;
    let found = number::from_json(value, key)?;
    u64::try_from(found).map_err(|_| FormError::new(key, format!("{found:#x}"), "a number of 64 bits"))
}

/// The value of a name.
fn one_of<T: Copy>(form: &Object, key: &str, names: &[(&str, T)], default: Option<T>) -> Result<T, FormError> {
    let expected = || format!("one of: {}", names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "));
    let Some(value) = form.get(key) else {
        return default.ok_or_else(|| FormError::new(key, "no such key", expected()));
    };
    let found = text(value, key, &expected())?;
    let row = names.iter().find(|(name, _)| *name == found);
    row.map(|(_, value)| *value).ok_or_else(|| FormError::new(key, format!("`{found}`"), expected()))
}

fn windows<C: WindowAddresses>(
    form: &Object,
    classes: &[(&str, C)],
    limits: WindowLimits,
) -> Result<BridgeWindows<C>, FormError> {
    let expected = "a list of windows";
    let listed = form.get("windows").ok_or_else(|| FormError::new("windows", "no such key", expected))?;
    let listed = listed.as_array().ok_or_else(|| FormError::new("windows", shown(listed), expected))?;
    let mut windows = Vec::new();
    for (n, entry) in listed.iter().enumerate() {
        windows.push(window(entry, classes).map_err(|e| e.within(format!("windows[{n}]")))?);
    }
    let groups = groups(form)?;
    BridgeWindows::within(limits, windows, groups, TARGETS).map_err(|e| refused(e.field(), &e))
}

fn window<C: Copy>(form: &Value, classes: &[(&str, C)]) -> Result<BridgeWindow<C>, FormError> {
    let keys = ["class", "base", "size", "out_base", "targets", "granule", "rights"];
    let form = object(form, "window", &keys)?;
    let mut ports = Vec::new();
    let most = WINDOW_WAYS[WINDOW_WAYS.len() - 1];
    match form.get("targets") {
        None => ports.push(0),
        Some(value) => {
            let list = value.as_array().filter(|list| list.len() <= most);
            let list =
                list.ok_or_else(|| FormError::new("targets", shown(value), format!("a list of at most {most}")))?;
            for port in list {
                let found = number::from_json(port, "targets")?;
                ports.push(usize::try_from(found).unwrap_or(usize::MAX));
            }
        }
    }
    Ok(BridgeWindow {
        class: one_of(form, "class", classes, None)?,
        base: address(form, "base")?,
        size: address(form, "size")?,
        out_base: address(form, "out_base")?,
        ports,
        granule: if form.contains_key("granule") { address(form, "granule")? } else { 256 },
        rights: rights(form)?,
    })
}

/// `{"5":"rw"}`: what a group may do; one that is not named may do everything.
fn rights(form: &Object) -> Result<[AccessRights; GROUPS], FormError> {
    let mut rights = [AccessRights::ALL; GROUPS];
    let Some(given) = form.get("rights") else { return Ok(rights) };
    let expected = "an object of groups 0 to 15 with letters out of `rwa`";
    let given = given.as_object().ok_or_else(|| FormError::new("rights", shown(given), expected))?;
    for (group, letters) in given {
        let letters = text(letters, "rights", expected)?;
        let own = group.parse().ok().and_then(|group: usize| rights.get_mut(group));
        let own = own.filter(|_| letters.chars().all(|c| "rwa".contains(c)));
        let own = own.ok_or_else(|| FormError::new("rights", format!("`{group}`: `{letters}`"), expected))?;
        *own =
            AccessRights { read: letters.contains('r'), write: letters.contains('w'), atomic: letters.contains('a') };
    }
    Ok(rights)
}

/// `{"3":5}`: the group of a source; others are in group 0.
fn groups(form: &Object) -> Result<OrderedMap<u16, usize>, FormError> {
    let Some(given) = form.get("groups") else { return Ok(OrderedMap::new()) };
    let expected = "an object of sources with groups";
    let given = given.as_object().ok_or_else(|| FormError::new("groups", shown(given), expected))?;
    let row = |(source, group): (&String, &Value)| {
        let source = source.parse().map_err(|_| FormError::new("groups", format!("source `{source}`"), expected))?;
        let group = number::from_json(group, "groups")?;
        Ok((source, usize::try_from(group).unwrap_or(usize::MAX)))
    };
    given.iter().map(row).collect()
}

/// A cache in front of the memory of accelerators: it writes back, and nothing passes it by.
fn memory_cache(form: &Value) -> Result<DataCache, FormError> {
    object(form, "cache", &["capacity_bytes", "ways", "block_bytes", "policy"])?;
    let config = *cache(form)?.config();
    let of_memory = DataCacheConfig { stores: StorePolicy::Back, stream_blocks: 0, tags_in_hbm: false, ..config };
    DataCache::new(of_memory).map_err(|e| refused("cache", &e))
}

fn cache(form: &Value) -> Result<DataCache, FormError> {
    let keys = ["capacity_bytes", "ways", "block_bytes", "policy", "stores", "stream_blocks"];
    let form = object(form, "cache", &keys)?;
    let sheet = DataCacheConfig::SHEET;
    let policies = [("lru", EvictionPolicy::Lru), ("srrip", EvictionPolicy::Srrip), ("lfu", EvictionPolicy::Lfu)];
    let stores = [("back", StorePolicy::Back), ("through", StorePolicy::Through)];
    let config = DataCacheConfig {
        capacity_bytes: count(form, "capacity_bytes", 0..=1 << 40, sheet.capacity_bytes)?,
        ways: count(form, "ways", 0..=1 << 10, sheet.ways as u64)? as usize,
        block_bytes: count(form, "block_bytes", 0..=1 << 10, sheet.block_bytes)?,
        policy: one_of(form, "policy", &policies, Some(sheet.policy))?,
        stores: one_of(form, "stores", &stores, Some(sheet.stores))?,
        stream_blocks: count(form, "stream_blocks", 0..=MOST_STREAM_BLOCKS, sheet.stream_blocks)?,
        ..sheet
    };
    DataCache::new(config).map_err(|e| refused("cache", &e))
}
