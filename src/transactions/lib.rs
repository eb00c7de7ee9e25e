//! Transactions judged from the messages of links alone: which request an answer belongs to, which answers are owed, and which
//! bytes a read may bring.
//!
//! Modelled: CXL.mem in 68B flits and in all 256B modes, for memory of the kinds HDM-H, HDM-DB and HDM-D, with
//! back-invalidate snoops and the BIConflict handshake ([`cxl_mem`]). Detail: one verdict per message, with the number of the
//! flit that brought it. Left out: CXL.cache and UIO (passed over), the opcodes of trusted environments and Extended-Meta (their
//! requests are known, their answers are not judged), and copies of lines, which `scalepool_coherence::passive` judges.
//!
//! The checker looks at no agent and keeps no link state. Its callers are a link end, passive or active, and the reader of waves;
//! each shows it the messages in the order in which they pass, those that a replay repeats once. Where on a link it looks makes no
//! difference: an answer passes behind its request everywhere.
//!
//! A walk through one read: `MemRd` with tag 7 passes in flit 3, and the checker notes the completion and the data that the
//! tables of the agents (`scalepool_coherence::mem::tables`) list for it. `MemData` with tag 7 passes in flit 12: the data
//! is owed, so it is compared with the image of the memory, and the note shrinks by it. Once nothing is owed any more, the tag is free. A second
//! `MemData` with tag 7 finds no note, but the flit in which the request had its last answer.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cxl_mem;
mod image;
mod owed;

use scalepool_protocols::cxl::Dir;
use scalepool_protocols::wire::Violation;

/// A broken rule, and the flit that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionFinding {
    /// Link, as the caller numbers them.
    pub link: usize,
    /// Direction of the flit: that of the answers, for an answer that does not come.
    pub dir: Dir,
    /// Number of the flit in its direction, as the caller numbers them; for an answer that does not come, the last one so far.
    pub unit: u64,
    /// Tag of the request concerned, if it is about one.
    pub tag: Option<u16>,
    /// The rule; the place is the line concerned, where it is known.
    pub violation: Violation,
}

/// The longest time that an answer may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerLimit {
    /// Time from a request to its last answer, in the caller's steps of time.
    pub time: u64,
    /// The unit of time in texts, `flit clocks`.
    pub unit: &'static str,
    /// Steps in one of these units, at least 1.
    pub steps: u64,
}
