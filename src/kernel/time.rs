//! Simulated time: an integer number of femtoseconds.

use std::fmt;

/// Femtoseconds in one picosecond.
pub const FS_PER_PS: u64 = 1_000;
/// Femtoseconds in one nanosecond.
pub const FS_PER_NS: u64 = 1_000_000;
/// Femtoseconds in one microsecond.
pub const FS_PER_US: u64 = 1_000_000_000;

/// A point in simulated time [fs] since the start of the run. 64 bits reach 5.1 hours.
///
/// Sums saturate at [`Time::MAX`], which means "never".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than everything that happens: "never".
    pub const MAX: Time = Time(u64::MAX);

    /// The point `fs` femtoseconds after the start.
    pub const fn from_fs(fs: u64) -> Time {
        Time(fs)
    }

    /// The point `ns` nanoseconds after the start.
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns.saturating_mul(FS_PER_NS))
    }

    /// Femtoseconds since the start.
    pub const fn as_fs(self) -> u64 {
        self.0
    }

    /// The point `fs` femtoseconds later.
    #[must_use]
    pub const fn plus_fs(self, fs: u64) -> Time {
        Time(self.0.saturating_add(fs))
    }

    /// Femtoseconds from `earlier` to here; 0 if `earlier` is in fact later.
    pub const fn since_fs(self, earlier: Time) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::MAX { f.write_str("never") } else { write!(f, "{} fs", self.0) }
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_saturate_at_never() {
        assert_eq!(Time::from_fs(5).plus_fs(u64::MAX), Time::MAX);
        assert_eq!(Time::from_fs(5).since_fs(Time::from_fs(9)), 0);
        assert_eq!(Time::from_ns(3), Time::from_fs(3 * FS_PER_NS));
        assert_eq!(format!("{} {}", Time::from_fs(7), Time::MAX), "7 fs never");
    }
}
