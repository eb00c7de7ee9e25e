//! What the outbound half is in a search: all on which its next steps depend.
//!
//! Not covered, so a bridge that is searched must not use them: posted requests, kept conversions, windows of class IO, registers, commits, errors of the
//! cache's memory. Left out because the next step does not depend on them: counters; the times at which children moved, which
//! time-outs alone use; how the bridge is built; the fields of a request that its children have copied.

use super::OutboundBridge;
use super::transaction::{Child, Transaction};
use std::hash::{Hash, Hasher};

impl OutboundBridge {
    /// Shows its state to `state`; two bridges of one build that show the same do the same from here on.
    pub fn hash_state<H: Hasher>(&self, state: &mut H) {
        // Whoever adds a part decides here whether steps depend on it.
        let OutboundBridge {
            config: _,
            table,
            queues,
            turns: _,
            posted: _,
            locks,
            buffers_free,
            work: _,
            counts: _,
            advances: _,
            cache,
            streams,
            templates: _,
            write_backs,
            rooms,
            waiting_snoops,
            cache_counts: _,
            registers: _,
            managed: _,
            epochs: _,
            cells: _,
            is_viral,
            down,
        } = self;
        (table, queues, locks, buffers_free, streams).hash(state);
        cache.as_ref().inspect(|cache| cache.hash_lines(state));
        (write_backs, rooms, waiting_snoops, is_viral).hash(state);
        down.iter().for_each(|port| port.hash(state));
    }

    /// Gives the accelerators of open requests other numbers, one each. What follows is the same with those numbers: nothing is done in the
    /// order of sources. Not for a bridge with posted requests or rights that tell sources apart.
    pub fn rename_sources(&mut self, name: impl Fn(u16) -> u16) {
        for transaction in self.table.all_mut() {
            transaction.request.source = name(transaction.request.source);
            transaction.key = transaction.key.renamed(&name);
        }
        self.queues = self.queues.renamed(&name);
        self.streams = self.streams.renamed(&name);
    }

    /// What is not free although nothing is open, in words; `None`: all of it is.
    pub fn held(&self) -> Option<String> {
        let (free, all) = (self.buffers_free, self.config.write_buffers);
        if free != all {
            return Some(format!("{free} of {all} buffers free"));
        }
        let held = [
            (self.open() > 0, "an entry"),
            (!self.locks.is_empty(), "a lock of a line"),
            (!self.queues.is_empty(), "a place in the order of requests"),
            (!self.rooms.is_empty(), "a place among those that wait for room"),
            (!self.waiting_snoops.is_empty(), "a snoop"),
        ];
        held.iter().find(|(is_held, _)| *is_held).map(|(_, what)| (*what).to_owned())
    }
}

impl Hash for Transaction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Transaction {
            request: _,
            class: _,
            port,
            number: _,
            covered: _,
            progress,
            key,
            status,
            children,
            buffers,
            conversion: _,
            is_templated: _,
            is_converted: _,
            exchange: _,
            waits_turn: _,
            answered_beats,
        } = self;
        (port, progress, key, status.0, children, buffers, answered_beats).hash(state);
    }
}

impl Hash for Child {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Child {
            port,
            line,
            class,
            operation,
            mask,
            data,
            atomic,
            steps,
            step,
            host,
            awaited,
            read,
            before,
            failed,
            is_done,
            has_buffer,
            advances: _,
            verdict,
            cached,
            granted,
            waits_for_room,
            room_moves: _,
            is_held: _,
        } = self;
        (port, line, class, operation, mask, data, atomic).hash(state);
        (steps, step, host, awaited, read, before, failed.map(|status| status.0)).hash(state);
        (is_done, has_buffer, verdict, cached, granted, waits_for_room).hash(state);
    }
}
