//! Registers of time-out and isolation at a root port (`fabric` §1.9): capability, control and status, and the ranges of time
//! that their codes name.
//!
//! A host of a running system uses the names and times of the ranges alone ([`TIMEOUT_NAMES`], [`TimeoutRange`]). The registers are a
//! reference for tests and RTL; no root port of a running system has them yet, and the tests of FAB-ISO-07 judge this reference alone.
//!
//! Their places are those of [`scalepool_protocols::cxl::isolation`].
//!
//! Modelled: what a port may say and what it refuses: the sets of ranges that a port may have, and which code belongs to which
//! range. Detail: values of whole registers. Left out: where the capability lies, and access by software; a description
//! gives the settings of a host itself. A walk: a port says which ranges it has; software writes a code of one of them and the enable bits; a code of
//! another range is refused.

use scalepool_protocols::cxl::isolation::{TimeoutCode, TimeoutIsolationCapability, TimeoutIsolationControl};
use scalepool_protocols::wire::Wire;

/// A code of the control register and the time that it names \[fs\].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeoutRange {
    /// Its code.
    pub code: TimeoutCode,
    /// Its name in descriptions.
    pub name: &'static str,
    /// Bit of the capability that says that the port has it; `None`: every port does.
    pub range_bit: Option<u8>,
    /// Shortest time \[fs\].
    pub least_fs: u64,
    /// Longest time \[fs\].
    pub most_fs: u64,
}

const US: u64 = 1_000_000_000;
const MS: u64 = 1000 * US;
const S: u64 = 1000 * MS;

const fn range(
    code: TimeoutCode,
    name: &'static str,
    range_bit: Option<u8>,
    least_fs: u64,
    most_fs: u64,
) -> TimeoutRange {
    TimeoutRange { code, name, range_bit, least_fs, most_fs }
}

/// All codes, in their order.
pub const TIMEOUT_RANGES: [TimeoutRange; 9] = [
    range(TimeoutCode::Default, "default", None, 50 * US, 10 * MS),
    range(TimeoutCode::A1, "A1", Some(0), 50 * US, 100 * US),
    range(TimeoutCode::A2, "A2", Some(0), MS, 10 * MS),
    range(TimeoutCode::B5, "B5", Some(1), 16 * MS, 55 * MS),
    range(TimeoutCode::B6, "B6", Some(1), 65 * MS, 210 * MS),
    range(TimeoutCode::C9, "C9", Some(2), 260 * MS, 900 * MS),
    range(TimeoutCode::CA, "CA", Some(2), S, 3500 * MS),
    range(TimeoutCode::DD, "DD", Some(3), 4 * S, 13 * S),
    range(TimeoutCode::DE, "DE", Some(3), 17 * S, 64 * S),
];

/// Names of [`TIMEOUT_RANGES`], in their order.
pub const TIMEOUT_NAMES: &[&str] = &["default", "A1", "A2", "B5", "B6", "C9", "CA", "DD", "DE"];

/// Sets of ranges that a port may have (bit 0 is range A), as the sheet lists them.
pub const LEGAL_RANGES: [u8; 8] = [0x0, 0x1, 0x2, 0x3, 0x6, 0x7, 0xe, 0xf];

impl TimeoutRange {
    /// The range of a name.
    pub fn by_name(name: &str) -> Option<TimeoutRange> {
        TIMEOUT_RANGES.into_iter().find(|range| range.name == name)
    }

    /// The time that the model takes for it: the geometric middle, rounded down \[fs\] (`fabric` ISO-1, our choice).
    pub fn preset_fs(self) -> u64 {
        (u128::from(self.least_fs) * u128::from(self.most_fs)).isqrt() as u64
    }
}

/// Why a register is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IsolationRegisterError {
    /// A set of ranges that no port has.
    #[error("found the set {found:#x} of time-out ranges, expected one of 0, 1, 2, 3, 6, 7, E, F (fabric ISO-7)")]
    Ranges {
        /// The set.
        found: u8,
    },
    /// A code that names no range.
    #[error("found time-out code {found:#x}, expected one of 0, 1, 2, 5, 6, 9, A, D, E (fabric ISO-7)")]
    Code {
        /// The code.
        found: u8,
    },
    /// A code of a range that the port does not have.
    #[error(
        "found time-out code {found:#x} at a port with the set {ranges:#x} of ranges, expected a code of one of them (fabric ISO-7)"
    )]
    NotSupported {
        /// The code.
        found: u8,
        /// What the port has.
        ranges: u8,
    },
}

/// The capability register, 0h.
///
/// # Errors
/// A set of ranges that no port has.
pub fn capability_register(capability: TimeoutIsolationCapability) -> Result<u32, IsolationRegisterError> {
    for found in [capability.mem_ranges, capability.cache_ranges] {
        if !LEGAL_RANGES.contains(&found) {
            return Err(IsolationRegisterError::Ranges { found });
        }
    }
    Ok(register(&capability))
}

/// The control register, 8h, at a port with a capability.
///
/// # Errors
/// A code that names no range, or one that the port does not have.
pub fn control_register(
    control: TimeoutIsolationControl,
    capability: TimeoutIsolationCapability,
) -> Result<u32, IsolationRegisterError> {
    let halves = [(control.mem_timeout, capability.mem_ranges), (control.cache_timeout, capability.cache_ranges)];
    for (code, ranges) in halves {
        let found = code.0;
        let Some(range) = TIMEOUT_RANGES.into_iter().find(|range| range.code == code) else {
            return Err(IsolationRegisterError::Code { found });
        };
        if range.range_bit.is_some_and(|bit| ranges >> bit & 1 == 0) {
            return Err(IsolationRegisterError::NotSupported { found, ranges });
        }
    }
    Ok(register(&control))
}

/// A layout of 32 bits as a register. Sets and codes were judged before, and flags fit.
fn register(layout: &impl Wire) -> u32 {
    layout.to_bits().unwrap_or_else(|error| unreachable!("{error}")) as u32
}
