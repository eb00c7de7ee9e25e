//! How much memory a design may take, judged from its settings before it is built.
//!
//! Modelled: what grows with settings that each have a wide range: units under way on long wires, vectors of collectives.
//! Left out: the modules themselves, and NVLink wires, which are silent at rest and bound by credits.

use super::settings::{SettingError, Settings};

/// Most MiB that one of these may take in a design.
pub const MOST_MIB: u64 = 1024;

/// Refuses what takes more; `key` names the setting that has to change.
///
/// # Errors
/// The estimate and the limit.
pub fn check(key: &'static str, what: &str, bytes: u128) -> Result<(), SettingError> {
    let mib = bytes >> 20;
    if mib <= u128::from(MOST_MIB) {
        return Ok(());
    }
    let text = format!("found about {mib} MiB of memory for {what}, expected at most {MOST_MIB} MiB");
    Err(SettingError::Together { key, text })
}

/// The same for units on wires that are never silent: so many wires, each `way_fs` long, with a unit of `bytes` in memory
/// every `num / den` femtoseconds.
///
/// # Errors
/// As [`check`].
pub fn check_wires(
    key: &'static str,
    wires: u64,
    way_fs: u64,
    (num, den): (u64, u64),
    bytes: usize,
) -> Result<(), SettingError> {
    let units = u128::from(way_fs) * u128::from(den) / u128::from(num.max(1)) * u128::from(wires);
    check(key, &format!("{units} units under way on {wires} wires"), units * bytes as u128)
}

/// The same for 68B links with the keys of their stages. 256B links are bound by their handshake.
///
/// # Errors
/// As [`check`].
pub fn check_68b(settings: &Settings, links: u64, unit_time_fs: (u64, u64)) -> Result<(), SettingError> {
    /// Bytes of a unit under way, with the time at which it is due.
    const UNDER_WAY_BYTES: usize = 128;
    let stages = ["link.tx_pipeline_fs", "link.propagation_fs", "link.rx_pipeline_fs"];
    let way_fs: u64 = stages.iter().map(|key| settings.int(key)).sum();
    check_wires("link.propagation_fs", 2 * links, way_fs, unit_time_fs, UNDER_WAY_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_and_refusals() {
        assert_eq!(check("a.b", "vectors", 1 << 30), Ok(()));
        let refused = check_wires("a.b", 2, 1 << 40, (2048, 1), 1024).expect_err("1 TiB");
        let text = "--set a.b: found about 1048576 MiB of memory for 1073741824 units under way on 2 wires, expected at most 1024 MiB";
        assert_eq!(refused.to_string(), text);
        assert_eq!(check_wires("a.b", 2, 1 << 20, (1000, 1), 1024), Ok(()));
    }
}
