//! The clock of whoever owns a memory, for memories that count time by themselves.
//!
//! Modelled: cycle n begins at n periods; a time becomes the first cycle that does not begin before it. Left out: phases.
//!
//! A walk: an owner with a period of 3/2 fs pushes at cycle 3, which is 4 fs; what ends at 10 fs is ready at cycle 7.

/// The clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnerClock {
    /// Period: numerator and denominator \[fs\].
    period: (u64, u64),
}

impl OwnerClock {
    /// A clock with this period, a fraction of numbers above 0 \[fs\].
    pub fn new(period: (u64, u64)) -> OwnerClock {
        OwnerClock { period }
    }

    /// Time at which a cycle begins, rounded down \[fs\].
    pub fn fs(&self, cycle: u64) -> u64 {
        let (num, den) = self.period;
        u64::try_from(u128::from(cycle) * u128::from(num) / u128::from(den)).unwrap_or(u64::MAX)
    }

    /// The first cycle that does not begin before a time \[fs\].
    pub fn cycle(&self, fs: u64) -> u64 {
        let (num, den) = self.period;
        u64::try_from((u128::from(fs) * u128::from(den)).div_ceil(u128::from(num))).unwrap_or(u64::MAX)
    }
}
