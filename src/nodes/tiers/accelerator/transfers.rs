//! Copies of an accelerator with tiers: those of pages that move, and explicit ones.
//!
//! Modelled: requests of the [engine](super::super::copies) as requests of the accelerator, and what follows when a copy ends. Left out:
//! which copy has its turn. A walk through a block of a page that moves: its read leaves; its lines come and are told to the watch; its
//! write leaves with the same lines; behind the last one the manager goes on.

use super::super::copies::{COPY_BLOCK_BYTES, CopyJob, CopyLines, CopyRequest};
use super::super::watch::TierEvent;
use super::{Purpose, TierRequest, TieredAccelerator};
use crate::blocks::{BlockAddress, NodeAccess};
use scalepool_kernel::Cx;
use scalepool_memory::LINE_BYTES;
use scalepool_trace::{Body, RecordKind, Stamp};

/// Lines of a block.
const BLOCK_LINES: usize = (COPY_BLOCK_BYTES / LINE_BYTES) as usize;

/// A copy of the engine, and for what it is.
pub(super) enum CopyReason {
    /// A page moves; it is counted from the first one of its manager.
    Move { page: u32 },
    /// An operation.
    Explicit { from: u32, to: u32, offset: u64, bytes: u64, due_cycle: u64 },
}

/// A copy that is open.
pub(super) struct OpenTierCopy {
    id: u64,
    pub(super) reason: CopyReason,
    /// Its name in traces.
    traced: u64,
}

impl TieredAccelerator {
    /// The engine begins a copy, which is `traced` in traces.
    pub(super) fn begin_copy(
        &mut self,
        reason: CopyReason,
        from: BlockAddress,
        to: BlockAddress,
        bytes: u64,
        traced: u64,
    ) {
        let id = self.next_copy;
        self.next_copy += 1;
        self.copies.push(OpenTierCopy { id, reason, traced });
        self.engine.begin(CopyJob { id, from, to, bytes });
    }

    fn copy_of(&self, id: u64) -> Option<&OpenTierCopy> {
        self.copies.iter().find(|copy| copy.id == id)
    }

    fn moved_page(&self, id: u64) -> Option<u32> {
        match self.copy_of(id)?.reason {
            CopyReason::Move { page } => Some(page),
            CopyReason::Explicit { .. } => None,
        }
    }

    /// A block was read. One that was refused or did not come whole is written as poison: what came of it is not its content.
    pub(super) fn block_was_read(&mut self, id: u64, block: u64, mut lines: CopyLines, is_ok: bool) {
        if !is_ok || lines.len() != BLOCK_LINES {
            lines = vec![([0; LINE_BYTES as usize], true); BLOCK_LINES];
        }
        if let Some(page) = self.moved_page(id) {
            self.see(TierEvent::CopyRead(page, block, lines.clone()));
        }
        self.engine.was_read(id, block, lines);
    }

    /// The next request of the engine leaves; `false`: there is none, or it has to wait.
    pub(super) fn copy_step(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        let Some((id, to, is_read)) = self.engine.next_request() else { return false };
        let count = BLOCK_LINES as u64;
        let access = if is_read { NodeAccess::Read(count) } else { NodeAccess::Write };
        if self.node.hindered(cx, to, access).is_some() {
            return false;
        }
        let parent = self.copy_of(id).map_or(0, |copy| copy.traced);
        let request = match self.engine.take_next() {
            Some(CopyRequest::Read { id, block, at: to }) => {
                TierRequest { to, lines: Vec::new(), count, purpose: Purpose::CopyRead { id, block }, parent }
            }
            Some(CopyRequest::Write { id, block, at: to, lines }) => {
                if let Some(page) = self.moved_page(id) {
                    self.see(TierEvent::CopyWrite(page, block, lines.clone()));
                }
                TierRequest { to, lines, count, purpose: Purpose::CopyWrite { id }, parent }
            }
            None => return false,
        };
        self.send(cx, at, request);
        true
    }

    /// No copy goes on.
    pub(super) fn copies_end(&mut self, at: Stamp) {
        self.engine.end_all();
        for OpenTierCopy { reason, traced, .. } in std::mem::take(&mut self.copies) {
            if let CopyReason::Explicit { from, to, .. } = reason {
                self.ends_undone(traced, at);
                [from, to].into_iter().for_each(|page| self.page_ends(page, at));
            }
        }
    }

    /// Everything of a copy is written.
    pub(super) fn copy_ends(&mut self, job: CopyJob, at: Stamp) {
        let Some(n) = self.copies.iter().position(|copy| copy.id == job.id) else { return };
        let OpenTierCopy { reason, traced, .. } = self.copies.remove(n);
        match reason {
            CopyReason::Move { .. } => {
                self.mine.moved_bytes += job.bytes;
                self.tap.record(at, RecordKind::Mark, traced, 0, || Body::Mark("copied"));
                self.manager.copied();
            }
            CopyReason::Explicit { from, to, offset, due_cycle, .. } => {
                self.mine.copies += 1;
                self.mine.copied_bytes += job.bytes;
                if [job.from, job.to].into_iter().any(|at| self.is_lost(at)) {
                    self.doubt(to, offset, job.bytes);
                }
                self.operation_ends(traced, due_cycle, at);
                [from, to].into_iter().for_each(|page| self.page_ends(page, at));
            }
        }
    }
}
