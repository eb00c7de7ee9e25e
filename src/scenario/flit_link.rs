//! The 256B link of a scenario's settings.

use super::settings::{SettingError, Settings};
use scalepool_link::cxl256::config::{LinkConfig, flit_time_fs};
use scalepool_protocols::cxl::cxl256::Mode;

/// The choices of a 256B link of `link.width` and `link.rate_gtps`.
///
/// # Errors
/// Pipelines and wires so slow that no handshake ends before it is given up.
pub(super) fn flit_link(mode: Mode, settings: &Settings) -> Result<LinkConfig, SettingError> {
    let (lanes, rate_gtps) = (settings.int("link.width"), settings.int("link.rate_gtps"));
    let config = LinkConfig::of_line(mode, lanes as u32, rate_gtps as u32);
    let stages = ["link.tx_pipeline_fs", "link.propagation_fs", "link.rx_pipeline_fs"];
    let (slowest, way_fs) = stages.iter().fold((stages[0], 0u64), |(slowest, sum), &key| {
        let is_slower = settings.int(key) > settings.int(slowest);
        (if is_slower { key } else { slowest }, sum.saturating_add(settings.int(key)))
    });
    let refused = |text| SettingError::Together { key: slowest, text };
    config.check_way(way_fs, flit_time_fs(lanes, rate_gtps)).map_err(refused)?;
    Ok(config)
}
