//! The setting `link.fault`: listed faults of a link, by direction.

use super::settings::{SettingError, Settings};
use crate::link::fault::Fault;

/// Listed faults of a link with units of `unit_bytes`: of what the host sends, and (`up:` in front) of what the device
/// sends.
///
/// # Errors
/// An element that is no fault, or hits a bit behind the end of a unit.
pub fn faults(settings: &Settings, unit_bytes: usize) -> Result<[Vec<Fault>; 2], SettingError> {
    let mut by_dir = [Vec::new(), Vec::new()];
    for text in settings.list("link.fault") {
        let (up, fault) = match text.strip_prefix("up:") {
            Some(rest) => (1, rest),
            None => (0, text.strip_prefix("down:").unwrap_or(text)),
        };
        by_dir[up].push(Fault::parse(fault, unit_bytes).map_err(|_| settings.refuse("link.fault", text))?);
    }
    Ok(by_dir)
}
