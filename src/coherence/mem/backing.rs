//! Where a device keeps the values of its lines: a small map that can be compared and hashed in a search, an indexed store
//! of bytes in a run. Left out: time, which is the business of whoever calls the device.

use crate::content::{LineAddr, LineContent};
use std::collections::BTreeMap;

/// Values of lines.
pub trait Backing<D: LineContent> {
    /// Whether there is memory behind the address of a line.
    fn holds(&self, line: LineAddr) -> bool {
        let _ = line;
        true
    }

    /// The value of a line; all ones where there is no memory.
    fn value(&self, line: LineAddr) -> D;

    /// Writes the bytes that `enables` selects, bit i for byte i, where there is memory; poison goes by
    /// [`merged_poison`](crate::content::merged_poison).
    fn merge(&mut self, line: LineAddr, data: &D, enables: u64);
}

impl<D: LineContent> Backing<D> for BTreeMap<LineAddr, D> {
    fn value(&self, line: LineAddr) -> D {
        self.get(&line).cloned().unwrap_or_else(|| D::initial(line))
    }

    fn merge(&mut self, line: LineAddr, data: &D, enables: u64) {
        self.entry(line).or_insert_with(|| D::initial(line)).merge(data, enables);
    }
}
