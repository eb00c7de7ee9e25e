//! Which options of a configuration an exploration has a use for.
//!
//! An option that no agent of an exploration reads would be taken and do nothing; it is refused instead. The lists are
//! those of the parts that read them. A test sets every option in every kind of exploration and sees that what is refused
//! would have done nothing, and that each option acts where it is taken.

use scalepool_coherence::config::{CoherenceConfig, OutOfRange};
use serde_json::Value;

/// Names of options, part by part.
pub type Acting = &'static [&'static [&'static str]];

const ALTERNATIVES: &[&str] = &["alternatives"];
const WITHOUT_BYTES: &[&str] = &["without_bytes"];
/// A home that is asked for ownership and writes.
const HOME: &[&str] = &["grant_dirty", "home_queue_requests", "error_ranges", "own_memory"];
/// The same with more than one line.
const HOME_LINES: &[&str] = &["home_filter_lines", "home_transactions"];
/// Device caches whose dirty lines are read.
const DIRTY_SNOOPED: &[&str] = &["snp_data_on_m", "snp_cur_on_m"];
/// Device caches that hold lines in E, read by RdAny and evict by message.
const CLEAN_OWNED: &[&str] = &["snp_cur_on_clean", "rd_any_exclusive", "clean_evict"];
/// A device with back-invalidation that hosts ask for ownership.
const DCOH: &[&str] = &[
    "mem.one_access",
    "mem.meta_stored",
    "mem.no_range",
    "mem.no_range_poison",
    "mem.devload",
    "mem.throughput_reduction",
];
/// The same with more than one line.
const FILTER: &[&str] = &["mem.filter_sets", "mem.filter_ways"];
const TRACKERS: &[&str] = &["mem.trackers"];
/// Hosts that are asked to share.
const HOST_KEEPS: &[&str] = &["mem.host_keeps"];
/// Reads that share.
const SHARING: &[&str] = &["mem.shared_grants_exclusive"];
/// A device whose own cache takes part.
const OWN_SHARED: &[&str] = &["mem.device_keeps_shared"];
const OWN_DIRTY: &[&str] = &["mem.cmp_m"];
const BLOCKS: &[&str] = &["mem.block_answer", "mem.block_release"];
/// A host and a device with bias.
const BIAS: &[&str] = &["error_ranges", "mem.one_access", "mem.no_range", "mem.no_range_poison"];
const FLUSH: &[&str] = &["mem.flush_keeps_shared"];

/// Device caches and a home on one line, all requests.
pub const CACHE: Acting = &[ALTERNATIVES, HOME, DIRTY_SNOOPED, CLEAN_OWNED];
/// The same, and copies are dropped.
pub const CACHE_DROPS: Acting = &[ALTERNATIVES, HOME, DIRTY_SNOOPED, CLEAN_OWNED, &["silent_drop_s", "silent_drop_e"]];
/// The same, and the home's memory is behind a port.
pub const CACHE_MEMORY: Acting = &[
    ALTERNATIVES,
    HOME,
    DIRTY_SNOOPED,
    CLEAN_OWNED,
    &["silent_drop_s", "silent_drop_e", "mem.no_range", "mem.no_range_poison", "mem.meta_stored"],
];
/// What acts in any of them besides, with more than one line.
pub const CACHE_MORE_LINES: Acting = &[HOME_LINES];
/// Device caches that own lines and write.
pub const CACHE_LINES: Acting = &[HOME, HOME_LINES, &["silent_drop_e"]];
/// Cores that load and store two lines over CXL.cache.
pub const CACHE_CORES: Acting = &[HOME, HOME_LINES, DIRTY_SNOOPED];
/// Hosts of a device with back-invalidation, all requests.
pub const HDM_DB: Acting = &[ALTERNATIVES, WITHOUT_BYTES, DCOH, HOST_KEEPS, SHARING];
/// What acts in any of them besides, with more than one line.
pub const HDM_DB_MORE_LINES: Acting = &[FILTER];
/// The same with the device's own cache.
pub const HDM_DB_OWN: Acting = &[ALTERNATIVES, WITHOUT_BYTES, DCOH, HOST_KEEPS, SHARING, OWN_SHARED, OWN_DIRTY];
/// Caching devices below a host of a device with back-invalidation, and one host more.
pub const HDM_DB_LEVELS: Acting = &[
    ALTERNATIVES,
    HOME,
    DCOH,
    HOST_KEEPS,
    SHARING,
    &["snp_data_on_m", "clean_evict", "silent_drop_s", "silent_drop_e"],
];
/// Hosts that own lines.
pub const HDM_DB_OWNERS: Acting = &[DCOH];
/// A host that owns lines, which the device takes back block by block.
pub const HDM_DB_BLOCKS: Acting = &[ALTERNATIVES, DCOH, FILTER, HOST_KEEPS, OWN_DIRTY, BLOCKS];
/// Hosts that own and share beside accesses of CXL.io.
pub const HDM_DB_UIO: Acting = &[ALTERNATIVES, DCOH, HOST_KEEPS, SHARING];
/// Cores that load and store two lines over HDM-DB.
pub const HDM_DB_CORES: Acting = &[WITHOUT_BYTES, DCOH, FILTER, TRACKERS, HOST_KEEPS, SHARING];
/// A host and a device with bias, all requests.
pub const HDM_D: Acting = &[ALTERNATIVES, WITHOUT_BYTES, BIAS, HOST_KEEPS, SHARING, OWN_SHARED, OWN_DIRTY, FLUSH];
/// Cores that load and store two lines over HDM-D.
pub const HDM_D_CORES: Acting = &[WITHOUT_BYTES, BIAS, HOST_KEEPS, SHARING, OWN_SHARED, OWN_DIRTY];

/// Whether every option that is set is one of those that act.
///
/// # Errors
/// A number out of its range; an option that would do nothing.
pub fn check(config: &CoherenceConfig, acting: &[&[&str]]) -> Result<(), OutOfRange> {
    config.check()?;
    let idle = changed(config).into_iter().find(|(name, _)| !acting.iter().any(|part| part.contains(&name.as_str())));
    let Some((name, value)) = idle else { return Ok(()) };
    let known = acting.concat().join(", ");
    Err(OutOfRange { found: format!("{name} = {value}, which does nothing here"), expected: format!("one of {known}") })
}

/// Options with another value than their default, as `mem.one_access` and its value.
pub fn changed(config: &CoherenceConfig) -> Vec<(String, Value)> {
    fn compare(prefix: &str, value: &Value, default: &Value, out: &mut Vec<(String, Value)>) {
        match (value, default) {
            (Value::Object(fields), Value::Object(defaults)) => {
                for (name, field) in fields {
                    let prefix = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                    compare(&prefix, field, defaults.get(name).unwrap_or(&Value::Null), out);
                }
            }
            _ if value != default => out.push((prefix.to_owned(), value.clone())),
            _ => {}
        }
    }
    let form = |config: &CoherenceConfig| serde_json::to_value(config).unwrap_or(Value::Null);
    let mut out = Vec::new();
    compare("", &form(config), &form(&CoherenceConfig::default()), &mut out);
    out
}
