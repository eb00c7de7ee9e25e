//! Settings that would take too much memory are refused, see [`limit`].

use super::settings::{SettingError, Settings};
use scalepool_memory::limit;

/// The finding of a limit as an error; `key` names the setting that has to change.
///
/// # Errors
/// The text, if there is one.
pub fn refuse(key: &'static str, above: Option<String>) -> Result<(), SettingError> {
    above.map_or(Ok(()), |text| Err(SettingError::Together { key, text }))
}

/// Refuses 68B links with too many units under way, with the keys of their stages. 256B links are bound by their handshake.
///
/// # Errors
/// The estimate and the limit.
pub fn check_68b(settings: &Settings, links: u64, unit_time_fs: (u64, u64)) -> Result<(), SettingError> {
    let stages = ["link.tx_pipeline_fs", "link.propagation_fs", "link.rx_pipeline_fs"];
    let way_fs: u64 = stages.iter().map(|key| settings.int(key)).sum();
    let bytes = scalepool_link::cxl68::UNDER_WAY_BYTES;
    refuse("link.propagation_fs", limit::above_on_wires(2 * links, way_fs, unit_time_fs, bytes))
}
