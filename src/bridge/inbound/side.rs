//! The links by which an inbound half asks accelerators, of whatever protocol.
//!
//! Modelled: what is asked, whole lines or bytes of a block, and what is answered. Left out: how a protocol spells it, see
//! [`ualink`](super::ualink) and [`nvlink`](super::nvlink). A walk: a read of a line finds room and leaves with a tag; its answer comes back
//! with that tag, a status and the line.

use super::AcceleratorAccess;
use super::bar::access::{BlockAccess, BlockOperation};
use crate::flows::LineOperation;
use crate::outbound::BridgeFinding;
use scalepool_coherence::content::CacheLine;
use scalepool_kernel::Cx;
use scalepool_protocols::ualink::code::Status;
use scalepool_trace::TransactionHandle;

/// What an accelerator answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceleratorAnswer {
    /// Tag of its access.
    pub tag: u16,
    /// Status.
    pub status: Status,
    /// Lines that were read: of bytes of a block, those that they lie in.
    pub lines: Vec<CacheLine>,
}

/// What an accelerator is asked.
#[derive(Debug, Clone, Copy)]
pub enum SideAccess<'a> {
    /// Whole lines, or a part of one that is written.
    Lines(&'a AcceleratorAccess),
    /// Bytes of a block.
    Block(&'a BlockAccess),
}

impl SideAccess<'_> {
    /// Number of the accelerator.
    pub fn target(&self) -> u16 {
        match self {
            SideAccess::Lines(access) => access.target,
            SideAccess::Block(access) => access.target,
        }
    }

    /// Address of its first byte in the memory of the accelerator.
    pub fn address(&self) -> u64 {
        match self {
            SideAccess::Lines(access) => access.line.address(),
            SideAccess::Block(access) => access.address,
        }
    }

    /// Lines that it touches.
    pub fn lines(&self) -> usize {
        match self {
            SideAccess::Lines(access) => access.lines.into(),
            SideAccess::Block(access) => access.lines().count(),
        }
    }

    /// Whether the answer brings bytes.
    pub fn is_read(&self) -> bool {
        match self {
            SideAccess::Lines(AcceleratorAccess { operation, atomic, .. }) => match operation {
                LineOperation::Atomic => atomic.is_some_and(|(_, returns)| returns),
                _ => *operation == LineOperation::Read,
            },
            SideAccess::Block(access) => access.operation != BlockOperation::Write,
        }
    }
}

/// The links to accelerators, of whatever protocol.
pub trait AcceleratorSide {
    /// Whether an access can leave.
    fn has_room(&self, cx: &Cx, access: SideAccess<'_>) -> bool;

    /// An access leaves, for which there is room; its name in traces.
    fn send(&mut self, cx: &mut Cx, tag: u16, access: SideAccess<'_>) -> Option<TransactionHandle>;

    /// Answers that have come, at most one of each link, or what is wrong with them.
    fn receive(&mut self, cx: &mut Cx, answers: &mut Vec<Result<AcceleratorAnswer, BridgeFinding>>);

    /// Accesses whose link has been reset since the last call: their answers may never come.
    fn take_lost(&mut self) -> Vec<u16> {
        Vec::new()
    }

    /// The answer of an access that was lost in a cycle cannot come any more. Whether it had not come before.
    fn forgets(&mut self, _tag: u16, _lost_cycle: u64) -> bool {
        false
    }

    /// Whether [`receive`](Self::receive) has something to do.
    fn is_due(&self, cx: &Cx) -> bool;
}
