//! Which options of a configuration an exploration has a use for.
//!
//! An option that no agent of an exploration reads would be taken and do nothing; it is refused instead. The lists are
//! those of the parts that read them; a test sets every option in every kind of exploration and sees that what is listed
//! acts and that nothing else does.

use crate::coherence::config::{CoherenceConfig, OutOfRange};
use serde_json::Value;

/// Options of device caches and a home, whatever is done with them.
pub const CACHE: &[&str] = &[
    "alternatives",
    "snp_data_on_m",
    "snp_cur_on_clean",
    "snp_cur_on_m",
    "rd_any_exclusive",
    "grant_dirty",
    "clean_evict",
    "home_queue_requests",
    "error_ranges",
    "own_memory",
];

/// Of caches that drop clean copies when they like.
pub const CACHE_DROPS: &[&str] = &["silent_drop_s", "silent_drop_e"];

/// Of a home with several lines.
pub const CACHE_LINES: &[&str] = &["home_filter_lines", "home_transactions"];

/// Options of hosts and a device with back-invalidation.
pub const HDM_DB: &[&str] = &[
    "alternatives",
    "without_bytes",
    "mem.host_keeps",
    "mem.one_access",
    "mem.shared_grants_exclusive",
    "mem.meta_stored",
    "mem.no_range",
    "mem.no_range_poison",
    "mem.devload",
    "mem.throughput_reduction",
];

/// Of a device whose own cache takes part.
pub const HDM_DB_OWN: &[&str] = &["mem.device_keeps_shared", "mem.cmp_m"];

/// Of a device that may have as many lines as its filter has entries.
pub const HDM_DB_LINES: &[&str] = &["mem.filter_sets", "mem.filter_ways", "mem.trackers"];

/// Of block back-invalidates.
pub const HDM_DB_BLOCKS: &[&str] = &["mem.block_answer", "mem.block_release"];

/// Options of a host and a device with bias.
pub const HDM_D: &[&str] = &[
    "alternatives",
    "without_bytes",
    "error_ranges",
    "mem.host_keeps",
    "mem.one_access",
    "mem.shared_grants_exclusive",
    "mem.device_keeps_shared",
    "mem.cmp_m",
    "mem.no_range",
    "mem.no_range_poison",
    "mem.flush_keeps_shared",
];

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
