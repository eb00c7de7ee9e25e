//! When CXL links of a module are down (`bridge` §8.1).
//!
//! Modelled: times from which links are down and times at which they are back, known before. Left out: what a module does about them, which is
//! up to it. A walk: link 1 is lost in cycle 500 for 200 cycles; the call of cycle 500 says that it goes down, that of cycle 700 that
//! it is back.

/// A CXL link is down for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkOutage {
    /// First cycle of the module in which it is down.
    pub from_cycle: u64,
    /// First cycle in which it is back, later than that one.
    pub until_cycle: u64,
    /// Number of the port.
    pub port: usize,
}

/// What happens to a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkChange {
    /// The link of a port goes down.
    Down(usize),
    /// It is back.
    Up(usize),
}

/// Outages that are to come or under way.
#[derive(Debug, Clone, Default)]
pub struct LinkOutages {
    /// What happens, and in which cycle, the last one first.
    changes: Vec<(u64, LinkChange)>,
    down: Vec<usize>,
}

impl LinkOutages {
    /// These outages; those of one port do not overlap.
    pub fn new(outages: &[LinkOutage]) -> LinkOutages {
        let of = |one: &LinkOutage| {
            [(one.until_cycle, LinkChange::Up(one.port)), (one.from_cycle, LinkChange::Down(one.port))]
        };
        let mut changes: Vec<_> = outages.iter().flat_map(of).collect();
        // One that is back in a cycle may be lost again in it.
        let key = |(cycle, change): &(u64, LinkChange)| match *change {
            LinkChange::Up(port) => (*cycle, 0, port),
            LinkChange::Down(port) => (*cycle, 1, port),
        };
        changes.sort_by_key(|change| std::cmp::Reverse(key(change)));
        LinkOutages { changes, down: Vec::new() }
    }

    /// What happens next, if it is due.
    pub fn next_at(&mut self, cycle: u64) -> Option<LinkChange> {
        let (_, change) = self.changes.pop_if(|(due, _)| *due <= cycle)?;
        match change {
            LinkChange::Down(port) => self.down.push(port),
            LinkChange::Up(port) => self.down.retain(|other| *other != port),
        }
        Some(change)
    }

    /// Whether the link of a port is down.
    pub fn is_down(&self, port: usize) -> bool {
        self.down.contains(&port)
    }

    /// Cycle in which something happens next.
    pub fn due(&self) -> Option<u64> {
        self.changes.last().map(|(due, _)| *due)
    }
}
