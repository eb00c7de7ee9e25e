//! Times from request to answer, by transaction, for the report.
//!
//! Modelled: cycles of the node's clock and femtoseconds, each exact. Left out: what the time was spent on.
//!
//! A walk through one: cycles are kept as they are, femtoseconds as what they differ by from those that the transaction
//! before foretells, which is nothing but rounding, see [`RowLog`].

use crate::row_log::RowLog;
use scalepool_memory::spread::SpreadMap;

/// Times from request to answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Latencies {
    /// Cycles, and how far femtoseconds are from what was foretold.
    rows: RowLog<2>,
    last: Foretold,
}

/// Tells femtoseconds by the cycles of a transaction and both of the one before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Foretold {
    cycles: u64,
    fs: u64,
}

impl Foretold {
    fn fs_of(self, cycles: u64) -> u64 {
        match self.cycles {
            0 => 0,
            // A division of 128 bits takes 40 instructions, and no time of a transaction is so long.
            before => match self.fs.checked_mul(cycles) {
                Some(product) => product / before,
                None => (u128::from(self.fs) * u128::from(cycles) / u128::from(before)) as u64,
            },
        }
    }
}

impl Latencies {
    /// Adds a transaction: cycles of its node's clock, femtoseconds.
    pub fn add(&mut self, cycles: u64, fs: u64) {
        self.rows.add([cycles, fs.wrapping_sub(self.last.fs_of(cycles))]);
        self.last = Foretold { cycles, fs };
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Counts the cycles and the femtoseconds of all.
    pub fn count(&self, cycles: &mut ValueCounts, fs: &mut ValueCounts) {
        for (of_cycles, of_fs) in self.iter() {
            cycles.add(of_cycles);
            fs.add(of_fs);
        }
    }

    /// Cycles and femtoseconds, in the order in which the transactions ended.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut last = Foretold::default();
        self.rows.rows().map(move |[cycles, rest]| {
            let fs = rest.wrapping_add(last.fs_of(cycles));
            last = Foretold { cycles, fs };
            (cycles, fs)
        })
    }
}

/// How often there is each value. Values that are equal take memory once: a run of millions of transactions has thousands of
/// different latencies.
#[derive(Debug, Clone, Default)]
pub struct ValueCounts(SpreadMap<usize>);

impl ValueCounts {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        *self.0.entry(value).or_default() += 1;
    }

    /// Values, the smallest one first, each with how often there is one.
    pub fn sorted(self) -> Vec<(u64, usize)> {
        let mut counts: Vec<(u64, usize)> = self.0.into_iter().collect();
        counts.sort_unstable();
        counts
    }
}

impl FromIterator<(u64, u64)> for Latencies {
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(all: I) -> Latencies {
        let mut latencies = Latencies::default();
        all.into_iter().for_each(|(cycles, fs)| latencies.add(cycles, fs));
        latencies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_comes_back_and_takes_few_bytes() {
        // 3 1/3 fs a cycle, so femtoseconds are rounded.
        let regular = (0..1000u64).map(|n| (100 + n % 60, (100 + n % 60) * 10 / 3));
        let odd = [(0, 0), (0, 5), (1, u64::MAX), (u64::MAX, u64::MAX), (7, 3), (0, 9)];
        let all: Vec<_> = regular.chain(odd).collect();
        let latencies: Latencies = all.iter().copied().collect();
        assert_eq!(latencies.iter().collect::<Vec<_>>(), all);
        assert!(!latencies.is_empty() && Latencies::default().is_empty());
    }
}
