//! Registers of time-out and isolation at a root port (`fabric` §1.9): capability, control and status, and the ranges of time
//! that their codes name.
//!
//! A host of a running system uses the names and times of the ranges alone ([`TIMEOUT_NAMES`], [`TimeoutRange`]). The registers are a
//! reference for tests and RTL; no root port of a running system has them yet, and the tests of FAB-ISO-07 judge this reference alone.
//!
//! Modelled: every field of the table of the sheet, the sets of ranges that a port may have, and which code belongs to which
//! range. Detail: values of whole registers. Left out: where the capability lies, and access by software; a description
//! gives the settings of a host itself. A walk: a port says which ranges it has; software writes a code of one of them and the enable bits; a code of
//! another range is refused.

/// A code of the control register and the time that it names \[fs\].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeoutRange {
    /// Its code, 4 bits.
    pub code: u8,
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

const fn range(code: u8, name: &'static str, range_bit: Option<u8>, least_fs: u64, most_fs: u64) -> TimeoutRange {
    TimeoutRange { code, name, range_bit, least_fs, most_fs }
}

/// All codes, in their order.
pub const TIMEOUT_RANGES: [TimeoutRange; 9] = [
    range(0x0, "default", None, 50 * US, 10 * MS),
    range(0x1, "A1", Some(0), 50 * US, 100 * US),
    range(0x2, "A2", Some(0), MS, 10 * MS),
    range(0x5, "B5", Some(1), 16 * MS, 55 * MS),
    range(0x6, "B6", Some(1), 65 * MS, 210 * MS),
    range(0x9, "C9", Some(2), 260 * MS, 900 * MS),
    range(0xa, "CA", Some(2), S, 3500 * MS),
    range(0xd, "DD", Some(3), 4 * S, 13 * S),
    range(0xe, "DE", Some(3), 17 * S, 64 * S),
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

/// One protocol's half of the capability register, 0h: time-out ranges that are supported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IsolationCapability {
    /// Bits 3 to 0: of CXL.mem.
    pub mem_ranges: u8,
    /// Bits 11 to 8: of CXL.cache.
    pub cache_ranges: u8,
}

impl IsolationCapability {
    /// The register.
    ///
    /// # Errors
    /// A set that no port has.
    pub fn to_register(self) -> Result<u32, IsolationRegisterError> {
        for found in [self.mem_ranges, self.cache_ranges] {
            if !LEGAL_RANGES.contains(&found) {
                return Err(IsolationRegisterError::Ranges { found });
            }
        }
        Ok(u32::from(self.mem_ranges) | u32::from(self.cache_ranges) << 8)
    }
}

/// What the control register says of one protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProtocolControl {
    /// Code of the range, see [`TIMEOUT_RANGES`].
    pub code: u8,
    /// The time-out is enabled.
    pub timeout: bool,
    /// A time-out isolates.
    pub isolate_on_timeout: bool,
    /// Link down isolates.
    pub isolate_on_link_down: bool,
}

/// The control register, 8h.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ControlRegister {
    /// CXL.mem: bits 3 to 0, 4, 16 and 17.
    pub mem: ProtocolControl,
    /// CXL.cache: bits 11 to 8, 12, 18 and 19.
    pub cache: ProtocolControl,
    /// Bit 25: ERR_COR is sent.
    pub err_cor: bool,
    /// Bit 26: an interrupt is raised.
    pub interrupt: bool,
}

impl ControlRegister {
    /// The register, at a port with a capability.
    ///
    /// # Errors
    /// A code that names no range, or one that the port does not have.
    pub fn to_register(self, capability: IsolationCapability) -> Result<u32, IsolationRegisterError> {
        let half = |control: ProtocolControl, ranges: u8, at: u32, isolation_at: u32| {
            let found = control.code;
            let Some(range) = TIMEOUT_RANGES.into_iter().find(|range| range.code == found) else {
                return Err(IsolationRegisterError::Code { found });
            };
            if range.range_bit.is_some_and(|bit| ranges >> bit & 1 == 0) {
                return Err(IsolationRegisterError::NotSupported { found, ranges });
            }
            Ok(u32::from(found) << at
                | u32::from(control.timeout) << (at + 4)
                | u32::from(control.isolate_on_timeout) << isolation_at
                | u32::from(control.isolate_on_link_down) << (isolation_at + 1))
        };
        let halves = half(self.mem, capability.mem_ranges, 0, 16)? | half(self.cache, capability.cache_ranges, 8, 18)?;
        Ok(halves | u32::from(self.err_cor) << 25 | u32::from(self.interrupt) << 26)
    }

    /// What a register says.
    pub fn of_register(register: u32) -> ControlRegister {
        let bit = |n: u32| register >> n & 1 == 1;
        let half = |at: u32, isolation_at: u32| ProtocolControl {
            code: (register >> at & 0xf) as u8,
            timeout: bit(at + 4),
            isolate_on_timeout: bit(isolation_at),
            isolate_on_link_down: bit(isolation_at + 1),
        };
        ControlRegister { mem: half(0, 16), cache: half(8, 18), err_cor: bit(25), interrupt: bit(26) }
    }
}

/// What the status register says of one protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProtocolStatus {
    /// A request has timed out.
    pub timed_out: bool,
    /// The protocol is isolated.
    pub isolated: bool,
    /// Link down has isolated it.
    pub by_link_down: bool,
}

/// The status register, Ch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatusRegister {
    /// CXL.mem: bits 0, 8 and 9.
    pub mem: ProtocolStatus,
    /// CXL.cache: bits 4, 12 and 13.
    pub cache: ProtocolStatus,
    /// Bit 14: requests are open at the root port.
    pub busy: bool,
}

impl StatusRegister {
    /// The register.
    pub fn to_register(self) -> u32 {
        let half = |status: ProtocolStatus, at: u32, isolated_at: u32| {
            u32::from(status.timed_out) << at
                | u32::from(status.isolated) << isolated_at
                | u32::from(status.by_link_down) << (isolated_at + 1)
        };
        half(self.mem, 0, 8) | half(self.cache, 4, 12) | u32::from(self.busy) << 14
    }
}
