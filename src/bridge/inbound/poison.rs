//! Lines whose write has failed (`bridge` §8.2): CXL.mem has no error for a write, so what is read there afterwards is poisoned.
//!
//! Modelled: 64 lines at accelerators; a write of the whole line that succeeds takes it off, one of a part leaves it there. Left out: who
//! is told. A walk: a write ends with status 2, its line is on the list; a read of it gets poison and the accelerator is not asked; a
//! write of the line succeeds, and reads go to the accelerator again.

use scalepool_coherence::content::LineAddr;
use scalepool_ordered::OrderedSet;

/// Lines of the list (`bridge` §8.2).
pub const MOST_LOST: usize = 64;

/// A line at an accelerator.
pub type AcceleratorLine = (u16, LineAddr);

/// The list.
#[derive(Debug, Clone, Default)]
pub struct PoisonList(OrderedSet<AcceleratorLine>);

impl PoisonList {
    /// Whether a line is on it.
    pub fn has(&self, line: AcceleratorLine) -> bool {
        self.0.contains(&line)
    }

    /// The write of a line has failed: whether the list has room for it.
    pub fn add(&mut self, line: AcceleratorLine) -> bool {
        let has_room = self.0.len() < MOST_LOST || self.0.contains(&line);
        if has_room {
            self.0.insert(line);
        }
        has_room
    }

    /// The whole line was written.
    pub fn remove(&mut self, line: AcceleratorLine) {
        self.0.remove(&line);
    }

    /// Lines on it.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is on it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
