//! What the outbound half asks of the inbound half for an atomic on memory of the own cluster (`bridge` §4.4, §5.1).
//!
//! Modelled: the atomic and its operands, and what comes back: a status and the old values. Left out: how the line comes to be held
//! meanwhile, see [`inbound::hairpin`](crate::inbound::hairpin). A walk: the line is held, so an [`OwnerAtomic`] goes to the inbound half,
//! which asks the accelerator; the [`OwnerAnswer`] has the old values in their own bytes.

use crate::atomics::LineAtomic;
use crate::outbound::table::ChildId;
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_protocols::ualink::code::Status;

/// An atomic that the accelerator performs whose line it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnerAtomic {
    /// For whom.
    pub child: ChildId,
    /// The line, by its address on CXL.
    pub line: LineAddr,
    /// What is computed.
    pub atomic: LineAtomic,
    /// The beat of operands.
    pub operands: CacheLine,
    /// Whether the old values go back.
    pub returns: bool,
    /// Virtual channel.
    pub vchan: u8,
}

/// How it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnerAnswer {
    /// For whom.
    pub child: ChildId,
    /// Status.
    pub status: Status,
    /// Old values in the bytes of their elements, zeros around them; of use if the status is OKAY and they go back.
    pub line: CacheLine,
}
