//! The states that a search has found, by their fingerprints.
//!
//! Detail: one thread numbers fingerprints in the order of the search; others look at the same time whether one has a number, in the
//! table as it was when they took it. Such a look may come too early: what it misses is seen when the state is to be numbered.
//! Nobody waits for a table that grows.
//!
//! Costs: 16 bytes a state, and 6 to 7.5 to find it again, so that with the way to it a state takes less than 32.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Fingerprints of a piece of memory, 64 KiB.
const CHUNK: usize = 1 << 12;

/// The table that all threads look at.
#[derive(Default)]
pub(super) struct Visited(Mutex<Arc<VisitedTable>>);

impl Visited {
    fn current(&self) -> MutexGuard<'_, Arc<VisitedTable>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For looks of any thread. It sees what is numbered later too, until there is no more room in it.
    pub fn table(&self) -> Arc<VisitedTable> {
        Arc::clone(&self.current())
    }
}

/// Numbers fingerprints in the order in which they come, for the one thread that does.
pub(super) struct Numbering<'a> {
    visited: &'a Visited,
    /// The current table. Taken once, so that no fingerprint costs a lock.
    table: Arc<VisitedTable>,
    /// How many have a number. It stands apart from what other threads read, which would wait for it at each new state.
    count: usize,
}

impl<'a> Numbering<'a> {
    /// From 0 on, in an empty table.
    pub fn new(visited: &'a Visited) -> Self {
        Self { visited, table: visited.table(), count: 0 }
    }

    /// Numbers a fingerprint; `Err` with its number when it has one already.
    pub fn insert(&mut self, print: u128) -> Result<u32, u32> {
        if let Some(number) = self.table.number(print) {
            return Err(number);
        }
        if self.table.is_full(self.count) {
            self.table = Arc::new(self.table.grown(self.count));
            *self.visited.current() = Arc::clone(&self.table);
        }
        self.table.insert(print, self.count);
        self.count += 1;
        Ok(self.count as u32 - 1)
    }

    /// What the table keeps \[bytes\].
    pub fn bytes(&self) -> usize {
        self.count * size_of::<u128>() + self.table.slots.len() * size_of::<AtomicU32>()
    }
}

/// What [`Visited`] keeps.
#[derive(Default)]
pub(super) struct VisitedTable {
    /// Both halves of each fingerprint.
    prints: Vec<Arc<[[AtomicU64; 2]]>>,
    /// Number + 1 of the fingerprint that fell here or before it; 0: free. At most two thirds of them are taken.
    slots: Arc<[AtomicU32]>,
}

impl VisitedTable {
    /// The number of a fingerprint, if it has one.
    pub fn number(&self, print: u128) -> Option<u32> {
        if self.slots.is_empty() { None } else { self.find(print).ok() }
    }

    /// Whether there is no room for one more than `count`.
    fn is_full(&self, count: usize) -> bool {
        count == self.prints.len() * CHUNK || self.is_crowded(count)
    }

    fn is_crowded(&self, count: usize) -> bool {
        (count + 1) * 3 > self.slots.len() * 2
    }

    /// Gives the number `count` to a fingerprint without one.
    fn insert(&self, print: u128, count: usize) {
        let Err(free) = self.find(print) else { return };
        let [high, low] = &self.prints[count / CHUNK][count % CHUNK];
        high.store((print >> 64) as u64, Ordering::Relaxed);
        low.store(print as u64, Ordering::Relaxed);
        // Who sees the number sees both halves too.
        self.slots[free].store(count as u32 + 1, Ordering::Release);
    }

    /// The number of a fingerprint, or the free place for it.
    fn find(&self, print: u128) -> Result<u32, usize> {
        let mut slot = ((u128::from(print as u64) * self.slots.len() as u128) >> 64) as usize;
        loop {
            match self.slots[slot].load(Ordering::Acquire) {
                0 => return Err(slot),
                taken if self.print(taken as usize - 1) == Some(print) => return Ok(taken - 1),
                _ => slot = if slot + 1 == self.slots.len() { 0 } else { slot + 1 },
            }
        }
    }

    /// The fingerprint with a number; `None`: it came when this table had grown, which shares the slots.
    fn print(&self, number: usize) -> Option<u128> {
        let [high, low] = &self.prints.get(number / CHUNK)?[number % CHUNK];
        Some(u128::from(high.load(Ordering::Relaxed)) << 64 | u128::from(low.load(Ordering::Relaxed)))
    }

    /// The same with room for one more than `count`.
    fn grown(&self, count: usize) -> Self {
        let (mut prints, mut slots) = (self.prints.clone(), Arc::clone(&self.slots));
        if count == prints.len() * CHUNK {
            prints.push((0..CHUNK).map(|_| Default::default()).collect());
        }
        let is_crowded = self.is_crowded(count);
        if is_crowded {
            // By a quarter: with more, states would take more than 32 bytes while half of the places are free.
            let more = (slots.len() + slots.len() / 4).max(1024);
            slots = std::iter::repeat_with(AtomicU32::default).take(more).collect();
        }
        let grown = Self { prints, slots };
        for number in 0..if is_crowded { count } else { 0 } {
            if let Some(Err(free)) = grown.print(number).map(|print| grown.find(print)) {
                grown.slots[free].store(number as u32 + 1, Ordering::Relaxed);
            }
        }
        grown
    }
}

#[cfg(test)]
mod tests {
    use super::super::fingerprint::fingerprint;
    use super::*;

    /// Numbers are given in order and kept, however often the table grows.
    #[test]
    fn fingerprints_keep_their_numbers() {
        let visited = Visited::default();
        let mut numbering = Numbering::new(&visited);
        assert_eq!(visited.table().number(0), None);
        let prints: Vec<u128> = (0..20_000_u32).map(|n| fingerprint(&n)).collect();
        for (number, &print) in (0..).zip(&prints) {
            assert_eq!(visited.table().number(print), None);
            assert_eq!(numbering.insert(print), Ok(number));
            assert_eq!(numbering.insert(print), Err(number));
        }
        assert!((0..).zip(&prints).all(|(number, &print)| visited.table().number(print) == Some(number)));
        assert!(numbering.bytes() <= prints.len() * (16 + 8));
    }
}
