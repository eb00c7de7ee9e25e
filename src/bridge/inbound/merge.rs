//! Reads of lines side by side leave for an accelerator as one (`bridge` §3.5).
//!
//! Modelled: with a time for it each read waits in the last stage for reads of the other lines of its block of 256 bytes, from the same
//! accelerator and on the same virtual channel. A block that is whole leaves at once by one read; when the time of a read is over, it leaves
//! with the whole block, or with the other line of its 128 bytes, or alone. Left out: reads for which nothing has come from CXL; writes, each
//! of which needs a status of its own.
//!
//! A walk: lines 2 and 3 of a block are asked for, 3 cycles apart; 8 cycles behind the first one a read of 128 bytes leaves with its tag;
//! the answer has both lines, each of which is an answer to CXL.

use super::AcceleratorAccess;
use super::module::InboundModule;
use crate::flows::LineOperation;
use crate::lines::BLOCK_LINES;
use scalepool_trace::{Stamp, Wait};
use std::ops::RangeInclusive;

/// Lines of a block.
const BLOCK: u64 = BLOCK_LINES as u64;

impl InboundModule {
    /// An access enters the last stage.
    pub(super) fn leave(&mut self, entry: u16, at: Stamp) {
        let due = at.cycle + self.config.timing.frame_cycles;
        let of_read = self.bridge.access(entry).filter(|access| access.operation == LineOperation::Read);
        let Some((access, merge_cycles)) = of_read.zip(self.config.merge_cycles) else {
            return self.accesses.push_back((due, entry));
        };
        self.accesses.push_back((due + merge_cycles, entry));
        // The time of those that are due before this one could leave is over.
        let beside = self.beside(&access, due..=u64::MAX);
        if let [Some(_), Some(_), Some(_), Some(_)] = beside {
            // Nothing else can come.
            let of_block = |(_, other): &&mut (u64, u16)| beside.contains(&Some(*other));
            self.accesses.iter_mut().filter(of_block).for_each(|access| access.0 = access.0.min(due));
        }
    }

    /// Reads in the last stage that are due in some cycles and may leave with one, itself among them, by line of its block.
    fn beside(&self, access: &AcceleratorAccess, cycles: RangeInclusive<u64>) -> [Option<u16>; BLOCK_LINES] {
        let mut beside = [None; BLOCK_LINES];
        for (_, entry) in self.accesses.iter().filter(|(due, _)| cycles.contains(due)) {
            let Some(other) = self.bridge.access(*entry) else { continue };
            let is_same = other.operation == LineOperation::Read
                && (other.target, other.vchan) == (access.target, access.vchan)
                && other.line.0 / BLOCK == access.line.0 / BLOCK;
            if is_same {
                beside[(other.line.0 % BLOCK) as usize] = Some(*entry);
            }
        }
        beside
    }

    /// A read that is due leaves with those beside it: the first of them, and its access of all their lines.
    pub(super) fn merge(
        &mut self,
        (due, entry): (u64, u16),
        access: AcceleratorAccess,
        at: Stamp,
    ) -> (u16, AcceleratorAccess) {
        let is_read = access.operation == LineOperation::Read;
        let Some(merge_cycles) = self.config.merge_cycles.filter(|_| is_read) else { return (entry, access) };
        let line = (access.line.0 % BLOCK) as usize;
        let beside = self.beside(&access, 0..=due + merge_cycles);
        let half = &beside[line / 2 * 2..][..2];
        let all: Vec<u16> = [&beside[..], half, &[Some(entry)][..]]
            .into_iter()
            .find_map(|lines| lines.iter().copied().collect::<Option<Vec<u16>>>())
            .unwrap_or_default();
        let Some((&first, others)) = all.split_first().filter(|(_, others)| !others.is_empty()) else {
            return (entry, access);
        };
        let holder = self.traced[usize::from(first)].id;
        for other in others {
            self.show_wait(*other, Some((Wait::Line, holder)), at);
        }
        self.bridge.merge(first, others.to_vec());
        let merged = self.bridge.access(first).unwrap_or(access);
        (first, merged)
    }
}
