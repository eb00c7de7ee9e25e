//! How often there is each value, for the spread of latencies in a report.
//!
//! Modelled: counts, each exact. Left out: the order of the values.
//!
//! A walk through one: each value is counted in a table by number; when all are counted, [`ValueCounts::ascending`] sorts
//! the values that there are.

use scalepool_memory::spread::SpreadMap;

/// How often there is each value. Values that are equal take memory once: a run of millions of transactions has thousands of
/// different latencies.
#[derive(Debug, Clone, Default)]
pub struct ValueCounts(SpreadMap<u64>);

impl ValueCounts {
    /// Counts a value so many times.
    pub fn add(&mut self, value: u64, times: u64) {
        *self.0.entry(value).or_default() += times;
    }

    /// Each value with its count, ascending.
    pub fn ascending(&self) -> Vec<(u64, u64)> {
        let mut counts: Vec<(u64, u64)> = self.0.iter().map(|(&value, &count)| (value, count)).collect();
        scalepool_ordered::sort(&mut counts);
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::ValueCounts;

    #[test]
    fn values_are_counted_and_sorted() {
        let mut counts = ValueCounts::default();
        [7, 3, u64::MAX, 7, 0, 7, 3].into_iter().for_each(|value| counts.add(value, 1));
        assert_eq!(counts.ascending(), [(0, 1), (3, 2), (7, 3), (u64::MAX, 1)]);
        assert_eq!(ValueCounts::default().ascending(), []);
    }
}
