//! The setting `link.fault`: listed faults of a link, by direction.

use super::settings::{SettingError, Settings};
use scalepool_link::fault::Fault;

/// Listed faults of a link with units of `unit_bytes`: of what the host sends, and (`up:` in front) of what the device
/// sends.
///
/// # Errors
/// An element that is no fault, or hits a bit behind the end of a unit.
pub fn faults(settings: &Settings, unit_bytes: usize) -> Result<[Vec<Fault>; 2], SettingError> {
    let (by_end, wrong) = Fault::of_ends(settings.list("link.fault"), unit_bytes);
    wrong.first().map_or(Ok(by_end), |text| Err(settings.refuse("link.fault", text)))
}
