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

/// Fingerprints, numbered in the order in which they come.
#[derive(Default)]
pub(super) struct Visited(Mutex<Arc<Table>>);

impl Visited {
    fn current(&self) -> MutexGuard<'_, Arc<Table>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For looks of any thread. It sees what is numbered later too, until there is no more room in it.
    pub fn table(&self) -> Arc<Table> {
        Arc::clone(&self.current())
    }

    /// Numbers a fingerprint; `Err` with its number when it has one already. For one thread.
    pub fn insert(&self, print: u128) -> Result<u32, u32> {
        let mut table = self.current();
        if table.is_full() {
            *table = Arc::new(table.grown());
        }
        table.insert(print)
    }
}

/// What [`Visited`] keeps.
#[derive(Default)]
pub(super) struct Table {
    /// Both halves of each fingerprint.
    prints: Vec<Arc<[[AtomicU64; 2]]>>,
    /// Number + 1 of the fingerprint that fell here or before it; 0: free. At most two thirds of them are taken.
    slots: Arc<[AtomicU32]>,
    /// How many have a number.
    count: AtomicU32,
}

impl Table {
    /// Whether a fingerprint has a number.
    pub fn has(&self, print: u128) -> bool {
        !self.slots.is_empty() && self.find(print).is_ok()
    }

    /// What it keeps \[bytes\].
    pub fn bytes(&self) -> usize {
        self.count() * size_of::<u128>() + self.slots.len() * size_of::<AtomicU32>()
    }

    fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed) as usize
    }

    fn is_full(&self) -> bool {
        let count = self.count();
        count == self.prints.len() * CHUNK || (count + 1) * 3 > self.slots.len() * 2
    }

    fn insert(&self, print: u128) -> Result<u32, u32> {
        let slot = match self.find(print) {
            Ok(number) => return Err(number),
            Err(free) => free,
        };
        let number = self.count();
        let [high, low] = &self.prints[number / CHUNK][number % CHUNK];
        high.store((print >> 64) as u64, Ordering::Relaxed);
        low.store(print as u64, Ordering::Relaxed);
        // Who sees the number sees both halves too.
        self.slots[slot].store(number as u32 + 1, Ordering::Release);
        self.count.store(number as u32 + 1, Ordering::Relaxed);
        Ok(number as u32)
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

    /// The same with room for one more.
    fn grown(&self) -> Self {
        let count = self.count();
        let (mut prints, mut slots) = (self.prints.clone(), Arc::clone(&self.slots));
        if count == prints.len() * CHUNK {
            prints.push((0..CHUNK).map(|_| Default::default()).collect());
        }
        let is_crowded = (count + 1) * 3 > slots.len() * 2;
        if is_crowded {
            // By a quarter: with more, states would take more than 32 bytes while half of the places are free.
            let more = (slots.len() + slots.len() / 4).max(1024);
            slots = std::iter::repeat_with(AtomicU32::default).take(more).collect();
        }
        let grown = Self { prints, slots, count: AtomicU32::new(count as u32) };
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
        assert!(!visited.table().has(0));
        let prints: Vec<u128> = (0..20_000_u32).map(|n| fingerprint(&n)).collect();
        for (number, &print) in (0..).zip(&prints) {
            assert!(!visited.table().has(print));
            assert_eq!(visited.insert(print), Ok(number));
            assert_eq!(visited.insert(print), Err(number));
        }
        assert!((0..).zip(&prints).all(|(number, &print)| visited.insert(print) == Err(number)));
        assert!(visited.table().bytes() <= prints.len() * (16 + 8));
    }
}
