//! Hits of a cache with LRU by stack distance: an access hits if fewer other blocks of its set than there are ways were used since the last
//! access to its block.
//!
//! It holds no cache: for each access the trace is read backwards.

/// Whether each access of a trace of block numbers hits, in a cache of so many sets and ways that is empty at first.
pub fn hits(trace: &[u64], sets: u64, ways: usize) -> Vec<bool> {
    let hit = |(n, block): (usize, &u64)| {
        let mut others: Vec<u64> = Vec::new();
        for earlier in trace[..n].iter().rev() {
            if earlier == block {
                return others.len() < ways;
            }
            if earlier % sets == block % sets && !others.contains(earlier) {
                others.push(*earlier);
            }
        }
        false
    };
    trace.iter().enumerate().map(hit).collect()
}
