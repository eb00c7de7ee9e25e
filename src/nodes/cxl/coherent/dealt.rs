//! The memory trace of a program, dealt to many cores as if the program moved from core to core.
//!
//! The accesses of the trace are cut into lines and dealt in blocks, core by core in turn; where lines have several homes,
//! line n of the program is at home n modulo their number. No access begins earlier than its cycle in the trace after the
//! one before it on its core. A trace has no data: a store writes the number of its core and its own, over and over.
//!
//! A walk through one core: it goes through the whole trace by itself and takes what is its own.

use super::patterns::{stamped, writer};
use crate::stimulus::{LineAccess, StimulusAccess, in_memory, line_accesses};
use scalepool_coherence::clocked::accessor::{CoreAccess, CoreOperation};
use scalepool_coherence::clocked::program::CoreProgram;
use scalepool_coherence::content::LineAddr;
use sha2::{Digest, Sha256};
use std::iter::Zip;
use std::ops::RangeFrom;
use std::sync::Arc;

/// Address bits of a line on a link: 51 to 6.
const LINE_BITS: u32 = 46;

/// A core among those to which a trace is dealt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deal {
    /// Homes of lines.
    pub homes: u64,
    /// The home whose lines the core uses.
    pub home: usize,
    /// Cores at that home.
    pub cores: u64,
    /// Number of the core among them.
    pub core: usize,
    /// Accesses in a block.
    pub block: u64,
}

impl Deal {
    /// The line of an access, if it is a line of this home.
    fn line(&self, access: &LineAccess) -> Option<u64> {
        let line = LineAddr::of_address(access.line_address).0 & ((1 << LINE_BITS) - 1);
        ((line % self.homes) as usize == self.home).then_some(line)
    }

    /// The line of access `n` of the trace, if the access is this core's.
    fn own(&self, n: u64, access: &LineAccess) -> Option<u64> {
        self.line(access).filter(|_| (n / self.block % self.cores) as usize == self.core)
    }
}

/// A trace in memory.
#[derive(Debug, Clone)]
pub struct DealtTrace(Arc<Vec<StimulusAccess>>);

impl DealtTrace {
    /// Of these accesses.
    pub fn new(trace: Vec<StimulusAccess>) -> DealtTrace {
        DealtTrace(Arc::new(trace))
    }

    fn lines(&self) -> impl Iterator<Item = LineAccess> + Clone + Send + 'static {
        line_accesses(in_memory(self.0.clone()), false)
    }

    /// Bytes that name the trace.
    pub fn digest(&self) -> Vec<u8> {
        let mut sha = Sha256::new();
        for access in self.lines() {
            sha.update(access.cycle.to_le_bytes());
            sha.update(access.line_address.to_le_bytes());
            sha.update(access.byte_enables().to_le_bytes());
            sha.update([u8::from(access.write)]);
        }
        sha.finalize().to_vec()
    }

    /// What a core does.
    pub fn program(&self, deal: Deal) -> CoreProgram<CoreAccess> {
        let left = (0..).zip(self.lines()).filter(|(n, access)| deal.own(*n, access).is_some()).count();
        CoreProgram::new(Dealt { trace: (0..).zip(self.lines()), deal, left, last: 0 })
    }
}

/// The accesses of one core.
#[derive(Clone)]
struct Dealt<T> {
    trace: Zip<RangeFrom<u64>, T>,
    deal: Deal,
    left: usize,
    /// Cycle of the access before, in the trace.
    last: u64,
}

impl<T: Iterator<Item = LineAccess>> Iterator for Dealt<T> {
    type Item = CoreAccess;

    fn next(&mut self) -> Option<CoreAccess> {
        // Behind its last access nobody looks through the rest of the trace.
        self.left = self.left.checked_sub(1)?;
        let deal = self.deal;
        let (n, access, line) =
            self.trace.by_ref().find_map(|(n, access)| deal.own(n, &access).map(|line| (n, access, line)))?;
        let act = match access.write {
            true => CoreOperation::Store { bytes: stamped(writer(deal.core), n), enables: access.byte_enables() },
            false => CoreOperation::Load,
        };
        // The next access enters one cycle later at the earliest.
        let think = access.cycle.saturating_sub(self.last.saturating_add(1));
        self.last = self.last.max(access.cycle);
        let think_cycles = u32::try_from(think).unwrap_or(u32::MAX);
        Some(CoreAccess { line: LineAddr(line), act, think_cycles })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T: Iterator<Item = LineAccess>> ExactSizeIterator for Dealt<T> {}
