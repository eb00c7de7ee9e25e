//! How many lines of a target may be under way, by the load that it reports (`bridge` §7).
//!
//! Modelled: a window of lines for each CXL port; an answer with moderate or severe overload halves it, one with light load adds a line,
//! at most once in a set time, one with optimal load keeps it. Left out: targets behind one port that are told apart.
//!
//! A walk: 64 lines are under way and an answer says 2; from now on 32 may be, so none leaves until 33 have ended.

use scalepool_protocols::cxl::cxl256::code::DevLoad;

/// Lines that may be under way at first, and at most (`bridge` §7).
pub const MOST_LINES: usize = 64;
/// Lines that may be under way under any load (`bridge` §7).
pub const FEWEST_LINES: usize = 4;

/// The window of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IssueWindow {
    /// Lines that may be under way.
    lines: usize,
    /// Lines that are.
    open: usize,
    /// From this cycle on it may grow again.
    grows_from: u64,
}

impl Default for IssueWindow {
    fn default() -> IssueWindow {
        IssueWindow { lines: MOST_LINES, open: 0, grows_from: 0 }
    }
}

impl IssueWindow {
    /// Lines that may be under way.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Whether one more may leave.
    pub fn has_room(&self) -> bool {
        self.open < self.lines
    }

    /// A line is asked for.
    pub fn issued(&mut self) {
        self.open += 1;
    }

    /// A line has ended.
    pub fn ended(&mut self) {
        self.open = self.open.saturating_sub(1);
    }

    /// An answer reports a load; growth takes so many cycles.
    pub fn told(&mut self, load: DevLoad, cycle: u64, growth_cycles: u64) {
        match load.0 {
            0 if cycle >= self.grows_from => {
                self.lines = (self.lines + 1).min(MOST_LINES);
                self.grows_from = cycle + growth_cycles;
            }
            0 | 1 => (),
            _ => self.lines = (self.lines / 2).max(FEWEST_LINES),
        }
    }
}
