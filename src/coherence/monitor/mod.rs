//! The invariants of `coherence` §4 over a read-only view of any system: exploration, litmus or clocked run.
//!
//! What a state shows is in `copies` (V1 to V4), `bias` (V13) and `credits` (V11). What only a step shows, the rules
//! that V5 to V8 sum up, is in the watches: each sees one agent before and after a step, with what the agent sent, and
//! names the rule that the step breaks.

mod atomic;
mod bias;
mod copies;
mod credits;
mod dcoh;
mod device;
mod home;
mod invariant;
mod issue;
mod levels;
mod mem_host;
mod poison;

pub use atomic::lost_atomic;
pub use bias::{check_bias, check_bias_device, check_bias_host};
pub use copies::check_copies;
pub use credits::CreditWatch;
pub use dcoh::{DcohStep, DcohWatch};
pub use device::{DeviceStep, DeviceWatch};
pub use home::HomeWatch;
pub use invariant::{invariant_of, name_invariants, overtaken};
pub use issue::IssueWatch;
pub use levels::LevelView;
pub use mem_host::MemHostWatch;
pub use poison::{PoisonedLines, misled};

use super::content::LineAddr;
use super::ids::IdSet;

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
    /// Agents that the directory takes for holders, grants under way included.
    pub tracked: IdSet,
    /// The levels of a hierarchy, the root first. Empty where all copies are those of the one home: then `home`, `in_flight`
    /// and `tracked` are what that level is judged by.
    pub levels: Vec<LevelView<D>>,
}
