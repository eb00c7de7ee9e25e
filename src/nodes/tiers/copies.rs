//! The copy engine: bytes go from one memory to another by blocks of 256 bytes.
//!
//! Modelled: copies between any two memories that requests of the accelerator reach; a block is read and then written, with its poison;
//! at most so many blocks are under way at once, of the oldest copy first. Left out: copies that overlap themselves, and anything that
//! is computed on the way. A walk: a copy of 64 KiB has 256 blocks; of 16 blocks the reads leave; each answer becomes a write, and each
//! answered write lets the next read leave; the copy ends with its last write.

use crate::blocks::{BlockAddress, MarkedLine};
use std::collections::VecDeque;

/// Bytes that are read and written at once (BRG-MIG, choice c27): the largest request of UALink and of NVLink.
pub const COPY_BLOCK_BYTES: u64 = crate::blocks::BLOCK_BYTES;

/// Lines of a block, each with its poison.
pub type CopyLines = Vec<MarkedLine>;

/// A copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyJob {
    /// Names it.
    pub id: u64,
    /// First byte that is read.
    pub from: BlockAddress,
    /// First byte that is written.
    pub to: BlockAddress,
    /// Bytes, a multiple of [`COPY_BLOCK_BYTES`].
    pub bytes: u64,
}

/// A request that the engine wants to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyRequest {
    /// A block is read.
    Read {
        /// The copy.
        id: u64,
        /// Number of the block in it.
        block: u64,
        /// Where.
        at: BlockAddress,
    },
    /// A block is written.
    Write {
        /// The copy.
        id: u64,
        /// Number of the block in it.
        block: u64,
        /// Where.
        at: BlockAddress,
        /// Its bytes.
        lines: CopyLines,
    },
}

#[derive(Debug, Clone)]
struct OpenCopy {
    copy: CopyJob,
    /// Blocks whose read has left.
    read: u64,
    /// Blocks whose write is answered.
    written: u64,
}

impl OpenCopy {
    fn blocks(&self) -> u64 {
        self.copy.bytes / COPY_BLOCK_BYTES
    }
}

fn block_of(start: BlockAddress, block: u64) -> BlockAddress {
    BlockAddress { address: start.address + COPY_BLOCK_BYTES * block, ..start }
}

/// The copies of an accelerator.
#[derive(Debug, Clone)]
pub struct CopyEngine {
    outstanding: usize,
    under_way: usize,
    copies: Vec<OpenCopy>,
    /// Blocks that have been read.
    writes: VecDeque<CopyRequest>,
}

impl CopyEngine {
    /// With at most so many blocks under way, at least one.
    pub fn new(outstanding: usize) -> CopyEngine {
        CopyEngine { outstanding: outstanding.max(1), under_way: 0, copies: Vec::new(), writes: VecDeque::new() }
    }

    /// A copy begins behind those that have begun.
    pub fn begin(&mut self, copy: CopyJob) {
        self.copies.push(OpenCopy { copy, read: 0, written: 0 });
    }

    /// Blocks under way.
    pub fn under_way(&self) -> usize {
        self.under_way
    }

    /// Whether there is no copy.
    pub fn is_idle(&self) -> bool {
        self.copies.is_empty()
    }

    /// The copy to which the next request belongs, where it goes and whether it is a read, if there is one that may leave.
    pub fn next_request(&self) -> Option<(u64, BlockAddress, bool)> {
        match self.writes.front() {
            Some(CopyRequest::Read { id, at, .. }) => Some((*id, *at, true)),
            Some(CopyRequest::Write { id, at, .. }) => Some((*id, *at, false)),
            None if self.under_way >= self.outstanding => None,
            None => {
                let open = self.copies.iter().find(|open| open.read < open.blocks())?;
                Some((open.copy.id, block_of(open.copy.from, open.read), true))
            }
        }
    }

    /// The next request leaves: a write whose bytes are there, else a read.
    pub fn take_next(&mut self) -> Option<CopyRequest> {
        if let Some(write) = self.writes.pop_front() {
            return Some(write);
        }
        if self.under_way >= self.outstanding {
            return None;
        }
        let open = self.copies.iter_mut().find(|open| open.read < open.blocks())?;
        let (id, block) = (open.copy.id, open.read);
        open.read += 1;
        self.under_way += 1;
        Some(CopyRequest::Read { id, block, at: block_of(open.copy.from, block) })
    }

    /// A block was read.
    pub fn was_read(&mut self, id: u64, block: u64, lines: CopyLines) {
        if let Some(open) = self.copies.iter().find(|open| open.copy.id == id) {
            self.writes.push_back(CopyRequest::Write { id, block, at: block_of(open.copy.to, block), lines });
        }
    }

    /// Ends all copies where they are; blocks of theirs that are under way are not asked for again.
    pub fn end_all(&mut self) {
        *self = CopyEngine::new(self.outstanding);
    }

    /// A block was written; the copy, if it was its last one.
    pub fn was_written(&mut self, id: u64) -> Option<CopyJob> {
        let n = self.copies.iter().position(|open| open.copy.id == id)?;
        self.under_way -= 1;
        self.copies[n].written += 1;
        (self.copies[n].written == self.copies[n].blocks()).then(|| self.copies.remove(n).copy)
    }
}
