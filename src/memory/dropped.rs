//! Stores that reached no memory although they were completed: what those who drop them tell the checkers of a run.
//!
//! Modelled: a switch or a memory whose decoders do not claim the address of a store drops it and completes it (`fabric` CMR-4,
//! CMR-5), so nothing on a link tells its host that the bytes are not there. A check of what reads bring has to know it all the
//! same. This is knowledge of the checker alone: no part of the modelled hardware looks at it. A store is known by the address of
//! its line and the bytes that it writes, as no identifier of a message lasts from one link to the next. Left out: stores that are
//! lost without a completion, whose hosts see a time-out.

use crate::{LineBytes, merge_bytes};
use scalepool_ordered::OrderedSet;
use std::sync::{Mutex, PoisonError};

/// Stores of a run that were dropped and completed, and whose completion no checker has seen yet.
#[derive(Debug, Default)]
pub struct DroppedStores(Mutex<OrderedSet<(u64, LineBytes)>>);

impl DroppedStores {
    /// A store to a line is dropped: its system address, its data and its byte enables.
    pub fn note(&self, address: u64, data: &LineBytes, byte_enables: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert((address, written(data, byte_enables)));
    }

    /// Whether the store that a completion ends was dropped; it is forgotten with that.
    pub fn take(&self, address: u64, data: &LineBytes, byte_enables: u64) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(address, written(data, byte_enables)))
    }
}

/// The bytes that a store writes, and zeros.
fn written(data: &LineBytes, byte_enables: u64) -> LineBytes {
    let mut bytes = [0; 64];
    merge_bytes(&mut bytes, data, byte_enables);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_known_by_its_line_and_its_bytes_once() {
        let dropped = DroppedStores::default();
        let mut other = [7; 64];
        other[63] = 8;
        dropped.note(0x1000, &[7; 64], u64::MAX >> 1);
        assert!(!dropped.take(0x1040, &[7; 64], u64::MAX >> 1), "another line");
        assert!(!dropped.take(0x1000, &[8; 64], u64::MAX >> 1), "other bytes");
        assert!(dropped.take(0x1000, &other, u64::MAX >> 1), "the byte that differs is not written");
        assert!(!dropped.take(0x1000, &[7; 64], u64::MAX >> 1), "it is forgotten");
    }
}
