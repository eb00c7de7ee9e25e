//! Requests of a source leave for CXL.io one behind the other (`bridge` §6.2, O4).
//!
//! Modelled: the requests of each source in the order in which they came; the first one has its turn until its last TLP has left the
//! bridge. One without its turn holds no line, so two sources never wait for each other. Left out: the order within a block, which is that of
//! [`order`](crate::outbound::order). A walk: a write waits for a line of another source; the read behind it, of another block, waits too, since
//! its TLP must not pass the one of the write.

use scalepool_ordered::OrderedMap;
use std::collections::VecDeque;

/// Entries by source.
#[derive(Debug, Clone, Default)]
pub struct IoTurns(OrderedMap<u16, VecDeque<u16>>);

impl IoTurns {
    /// Adds a request behind those of its source.
    pub fn add(&mut self, source: u16, entry: u16) {
        self.0.entry(source).or_default().push_back(entry);
    }

    /// The request whose turn it is, if that is another one.
    pub fn before(&self, source: u16, entry: u16) -> Option<u16> {
        self.0.get(&source)?.front().copied().filter(|front| *front != entry)
    }

    /// A request has sent all that it sends, or was given up; the one whose turn begins.
    pub fn over(&mut self, source: u16, entry: u16) -> Option<u16> {
        let queue = self.0.get_mut(&source)?;
        let had_turn = queue.front() == Some(&entry);
        queue.retain(|other| *other != entry);
        let next = queue.front().copied().filter(|_| had_turn);
        if queue.is_empty() {
            self.0.remove(&source);
        }
        next
    }
}
