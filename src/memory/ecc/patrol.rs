//! The patrol scrub: every line is read once in a while, before a second error joins the first (`memory §6.4`, \[D\]).
//!
//! Modelled: one line for each interval, in address order, around and around. Demands go first: the owner lets the patrol go when no
//! request waits, and with one anyhow once a whole interval has passed, and no other line was read in it. So it delays a request that
//! waits no longer than an interval by one access at most, however far the patrol has fallen behind.
//! Left out: the error check and scrub that DDR5 does by itself.
//!
//! A walk: the interval has passed and line n is due. The owner reads it ([`Patrol::due`], [`Patrol::taken`]) and writes it back if it was
//! corrected. Line n + 1 is due one interval after line n was due, however late that went.

use crate::LINE_BYTES;

/// Where a patrol stands.
#[derive(Debug, Clone)]
pub struct Patrol {
    interval_cycles: u64,
    lines: u64,
    next_line: u64,
    due: u64,
    /// The cycle of the last read; 0 before the first one.
    last_read: u64,
}

impl Patrol {
    /// A patrol of so many lines with an interval of at least one cycle. The first line is due after one interval.
    pub fn new(interval_cycles: u64, lines: u64) -> Patrol {
        let interval_cycles = interval_cycles.max(1);
        Patrol { interval_cycles, lines: lines.max(1), next_line: 0, due: interval_cycles, last_read: 0 }
    }

    /// The cycle at which the next line is due, which may be past.
    pub fn due_at(&self) -> u64 {
        self.due
    }

    /// The address of the line that may be read at a cycle: one that is due, beside requests that wait one that is due for an interval.
    pub fn due(&self, cycle: u64, has_waiting: bool) -> Option<u64> {
        let after = self.due.max(self.last_read);
        let from = if has_waiting { after.saturating_add(self.interval_cycles) } else { self.due };
        (cycle >= from).then_some(self.next_line * LINE_BYTES)
    }

    /// The line that was due is read in a cycle.
    pub fn taken(&mut self, cycle: u64) {
        self.last_read = cycle;
        self.next_line = (self.next_line + 1) % self.lines;
        self.due = self.due.saturating_add(self.interval_cycles);
    }
}
