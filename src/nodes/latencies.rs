//! Times from request to answer, of all transactions, for the report.
//!
//! Modelled: cycles of the node's clock and femtoseconds, each exact, and how often there is each pair of them. Left out: what
//! the time was spent on, and in which order the transactions ended.
//!
//! A walk through one: pairs that come often are counted at a few places, by their cycles. One that is not there takes the
//! place of another, which goes to a log with its count: cycles as they are, femtoseconds as what they differ by from those that
//! the row before foretells, which is nothing but rounding, see [`RowLog`].

use crate::row_log::RowLog;
use crate::value_counts::ValueCounts;

/// Places at which pairs are counted. A transaction that finds its pair takes 15 instructions, and none when it is
/// reported; as a row of its own, 94 and 150.
const PLACES: usize = 16;

/// Times from request to answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Latencies {
    counted: [Counted; PLACES],
    /// Cycles, how far femtoseconds are from what was foretold, and the count.
    rows: RowLog<3>,
    last: Foretold,
}

/// A pair of cycles and femtoseconds, and how often it came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counted {
    cycles: u64,
    fs: u64,
    times: u64,
}

/// Tells femtoseconds by the cycles of a row and both of the one before.
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
    #[inline]
    pub fn add(&mut self, cycles: u64, fs: u64) {
        let place = &mut self.counted[cycles as usize % PLACES];
        if (place.cycles, place.fs) == (cycles, fs) {
            place.times += 1;
            return;
        }
        let other = std::mem::replace(place, Counted { cycles, fs, times: 1 });
        if other.times > 0 {
            self.log(other);
        }
    }

    fn log(&mut self, Counted { cycles, fs, times }: Counted) {
        self.rows.add([cycles, fs.wrapping_sub(self.last.fs_of(cycles)), times]);
        self.last = Foretold { cycles, fs };
    }

    /// Number of transactions.
    pub fn len(&self) -> u64 {
        self.each().map(|(_, times)| times).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.counted.iter().all(|pair| pair.times == 0)
    }

    /// Counts cycles and femtoseconds.
    ///
    /// Here, since the crate that writes reports is optimised less: there it took 1,200 instructions a flit of a pod of 16
    /// UALink accelerators in the program of the tests.
    pub fn count(&self, cycles: &mut ValueCounts, fs: &mut ValueCounts) {
        for ((of_cycles, of_fs), times) in self.each() {
            cycles.add(of_cycles, times);
            fs.add(of_fs, times);
        }
    }

    /// Pairs of cycles and femtoseconds, each with a count of transactions; a pair may come more than once.
    pub fn each(&self) -> impl Iterator<Item = ((u64, u64), u64)> + '_ {
        let mut last = Foretold::default();
        let rows = self.rows.rows().map(move |[cycles, rest, times]| {
            let fs = rest.wrapping_add(last.fs_of(cycles));
            last = Foretold { cycles, fs };
            Counted { cycles, fs, times }
        });
        let counted = self.counted.iter().copied().filter(|pair| pair.times > 0);
        rows.chain(counted).map(|pair| ((pair.cycles, pair.fs), pair.times))
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
    use scalepool_ordered::OrderedMap;

    #[test]
    fn each_comes_back_and_takes_few_bytes() {
        // 3 1/3 fs a cycle, so femtoseconds are rounded.
        let regular = (0..1000u64).map(|n| (100 + n % 60, (100 + n % 60) * 10 / 3));
        // Often the same, and the same cycles with other femtoseconds.
        let often = (0..300u64).map(|n| (7, n % 4 / 3));
        let odd = [(0, 0), (0, 5), (1, u64::MAX), (u64::MAX, u64::MAX), (7, 3), (0, 9), (0, 0)];
        let all: Vec<_> = regular.chain(often).chain(odd).collect();
        let (mut expected, mut found) = (OrderedMap::new(), OrderedMap::new());
        all.iter().for_each(|pair| *expected.entry(*pair).or_insert(0) += 1);
        let latencies: Latencies = all.iter().copied().collect();
        latencies.each().for_each(|(pair, times)| *found.entry(pair).or_insert(0) += times);
        assert_eq!(found, expected);
        assert_eq!(latencies.len(), all.len() as u64);
        assert!(!latencies.is_empty() && Latencies::default().is_empty());
    }
}
