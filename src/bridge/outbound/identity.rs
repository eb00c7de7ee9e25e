//! What the outbound half is in a search: everything on which its next steps depend.
//!
//! Left out: what it has counted, when children got on, which only time-outs ask, and how it is built, which is the same in all states
//! of a search.

use super::OutboundBridge;
use super::transaction::{Child, Transaction};
use std::hash::{Hash, Hasher};

impl OutboundBridge {
    /// Shows its state to `state`; two bridges of one build that show the same do the same from here on, time-outs,
    /// registers, epochs and errors of the cache's memory apart.
    pub fn hash_state<H: Hasher>(&self, state: &mut H) {
        self.table.hash(state);
        self.queues.hash(state);
        self.locks.hash(state);
        self.buffers_free.hash(state);
        self.cache.as_ref().inspect(|cache| cache.hash_lines(state));
        self.write_backs.hash(state);
        self.rooms.hash(state);
        self.waiting_snoops.hash(state);
    }
}

impl Hash for Transaction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Transaction { request, port, progress, key, status, children, buffers, .. } = self;
        (request.class, request.address, request.bytes, port, progress, key, status.0, children, buffers).hash(state);
    }
}

impl Hash for Child {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Child { port, line, operation, mask, data, steps, step, awaited, read, .. } = self;
        (port, line, operation, mask, data, steps.len(), step, awaited, read).hash(state);
        let Child { before, failed, is_done, has_buffer, verdict, cached, granted, waits_for_room, .. } = self;
        let failed = failed.map(|status| status.0);
        (before, failed, is_done, has_buffer, verdict, cached, granted, waits_for_room).hash(state);
    }
}
