//! The invariants of `coherence` §4 over a read-only view of any system: exploration, litmus or clocked run.

mod bias;
mod copies;
mod credits;
mod issue;

pub use bias::check_bias;
pub use copies::check_copies;
pub use credits::CreditWatch;
pub use issue::IssueWatch;

use super::content::LineAddr;

/// One copy of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyView<D> {
    /// Agent, an index into the system's names.
    pub agent: usize,
    /// A core may load from it.
    pub usable: bool,
    /// A core may store to it (E or M, usable).
    pub writable: bool,
    /// It is in M: the only newest value may be here.
    pub dirty: bool,
    /// Its value.
    pub value: D,
}

/// A line of a system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View<D> {
    /// Which line.
    pub line: LineAddr,
    /// Value of the last store in coherence order.
    pub newest: D,
    /// The home's value: memory or a copy of the host.
    pub home: D,
    /// Copies that somebody holds, usable or not.
    pub copies: Vec<CopyView<D>>,
    /// Values under way that will count when they arrive (not bogus).
    pub in_flight: Vec<D>,
    /// Agents that the directory takes for holders, a bit each, grants under way included.
    pub tracked: u32,
}
