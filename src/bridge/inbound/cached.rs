//! A cache in front of the memory of accelerators, option `inbound_cache` (`bridge` §2; conformance choice c18).
//!
//! Modelled: lines of windows of classes DB and NH in sets of blocks, as the [conversion cache](crate::cache) has them, between the home and
//! the accelerators. Reads and writes find their line there; a write stays until its block gives way, whose dirty lines are written first; a
//! line keeps its poison. It is on the side of memory: a line is valid or dirty and has no state of coherence, nobody records it and
//! nobody snoops it. Whoever asks by the bridge reads the same bytes with it and without. Left out: a memory with commands or errors in which
//! it lies, each access has one latency; streams; a flush.
//!
//! Why the bytes are the same:
//!
//! * Every line that is read, written or given back is locked. A line that is being given back has left the cache, and its lock is that of the
//!   write back: a read of it waits for the answer and then asks the accelerator.
//! * The way for a line is taken, and the block in it emptied, before the accelerator is asked for the line; a block with a locked line
//!   stays. Without such a way the access passes by the cache, in which its line is not.
//! * A byte is exported by one window (BRG-HOM-01), in blocks of 256 bytes, so no block is of two windows, and what class BR reads and writes
//!   ([`bar`](super::bar)) is never in the cache. What accelerators do to exported memory without the bridge they do behind the cache: of class
//!   DB that is an error anyway (`bridge` §1.3), of class NH it is up to software.
//! * A write back that does not end with status 0 is a lost write, whatever the status, since its host was told Cmp and may have read the
//!   bytes: the line enters the [poison list](super::poison) and has left the cache. If the list is full, all target ports go viral, for it is not
//!   known any more by which the line was written. A line on the list is never in the cache: a write of the whole line takes it off the list, one of
//!   a part passes by the cache and leaves it there.
//! * An atomic of the [hairpin](super::hairpin) is performed by its accelerator, so its line leaves the cache before it is asked.
//! * A transaction that is given up while it gives lines back loses these too; those of them that have not left are free at once.
//!
//! A walk: a write of a part of a line that is not there takes the way of a block with two dirty lines. They leave as WriteFull one after the
//! other, with the tag of the transaction; then the line is read, the part is merged, the line is dirty, and Cmp is ready.

use super::poison::AcceleratorLine;
use super::{AcceleratorAccess, InboundBridge, InboundOutput, InboundProgress, InboundStep, place_of};
use crate::cache::data::{BlockRoom, CachedBlock, DataCache, Sector};
use crate::cache::sector::SectorState;
use crate::flows::LineOperation;
use crate::locks::LockHolder;
use scalepool_coherence::content::{CacheLine, LineContent, WHOLE_LINE};
use scalepool_coherence::message::Msg;
use scalepool_protocols::ualink::code::Status;
use std::collections::VecDeque;

/// What the cache has counted: hits, misses and bypasses together are the accesses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InboundCacheCounts {
    /// Lines that were there: reads, writes.
    pub hits: [u64; 2],
    /// Lines that were not there and enter: reads, writes.
    pub misses: [u64; 2],
    /// Lines that were not there and do not enter.
    pub bypasses: u64,
    /// Dirty lines that left for their accelerator.
    pub write_backs: u64,
    /// Those of them that an accelerator has not done, or not in time.
    pub lost_write_backs: u64,
}

/// The cache.
#[derive(Debug, Clone)]
pub(super) struct InboundCache {
    pub(super) data: DataCache,
    pub(super) counts: InboundCacheCounts,
}

/// What the cache is to a transaction that holds its line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum CacheUse {
    /// Nothing: the accelerator is asked.
    #[default]
    PassedBy,
    /// The line is there, or does not have to be read; the memory of the cache is accessed.
    Here,
    /// These lines are given back first, one after the other.
    GivesBack(VecDeque<(AcceleratorLine, CacheLine)>),
    /// The line is read, and enters.
    Fills,
}

impl InboundBridge {
    /// What the cache has counted, if there is one.
    pub fn cache_counts(&self) -> Option<InboundCacheCounts> {
        self.cache.as_ref().map(|cache| cache.counts)
    }

    /// A transaction holds its line: it is looked for in the cache. `false`: it passes by.
    pub(super) fn looks_up(&mut self, entry: u16, place: AcceleratorLine, out: &mut InboundOutput) -> bool {
        let Some(operation) = self.table.get(entry).and_then(|transaction| transaction.row.operation) else {
            return false;
        };
        if operation == LineOperation::Atomic {
            return self.leaves_for_atomic(entry, place, out);
        }
        let Some(cache) = &mut self.cache else { return false };
        let (at, kind) = (place_of(place), usize::from(operation != LineOperation::Read));
        let is_hit = cache.data.state(at).is_valid();
        cache.data.used(at, is_hit);
        if is_hit {
            cache.counts.hits[kind] += 1;
            self.goes_here(entry, out);
            return true;
        }
        let sectors = cache.data.config().sectors();
        let locks = &self.locks;
        let is_in_use = |block: CachedBlock| block.lines(sectors).any(|line| locks.is_held(line));
        // What is not known of a lost line a part of it does not make known.
        let is_listed = operation == LineOperation::WritePart && self.lost.has(place);
        let leaving = match cache.data.room(at, is_in_use) {
            BlockRoom::Present if !is_listed => Vec::new(),
            BlockRoom::Free(leaving) if !is_listed => {
                cache.data.enter(at, is_in_use);
                leaving
            }
            _ => {
                cache.counts.bypasses += 1;
                return false;
            }
        };
        cache.counts.misses[kind] += 1;
        let dirty = leaving.into_iter().filter(|(_, sector)| sector.state.is_dirty());
        let dirty: VecDeque<_> = dirty.map(|((target, line), sector)| ((target as u16, line), sector.line)).collect();
        for (line, _) in &dirty {
            self.locks.hold(place_of(*line), LockHolder::WriteBack(entry));
        }
        self.uses_cache(entry, CacheUse::GivesBack(dirty));
        self.gives_back(entry, out);
        true
    }

    /// An accelerator performs an atomic: its line leaves the cache first, and a dirty one is given back. `false`: it is not there.
    fn leaves_for_atomic(&mut self, entry: u16, place: AcceleratorLine, out: &mut InboundOutput) -> bool {
        let Some(cache) = &mut self.cache else { return false };
        let at = place_of(place);
        let sector = cache.data.sector(at);
        if sector.state.is_valid() {
            cache.data.set_sector(at, Sector { state: SectorState::Invalid, ..sector });
            self.frees_way(place);
        }
        if sector.state.is_dirty() {
            self.uses_cache(entry, CacheUse::GivesBack([(place, sector.line)].into()));
            self.gives_back(entry, out);
            return true;
        }
        if let Some(cache) = &mut self.cache {
            cache.counts.bypasses += 1;
        }
        false
    }

    fn uses_cache(&mut self, entry: u16, cache: CacheUse) {
        if let Some(transaction) = self.table.get_mut(entry) {
            transaction.cache = cache;
        }
    }

    /// The memory of the cache is accessed for a transaction.
    fn goes_here(&mut self, entry: u16, out: &mut InboundOutput) {
        self.uses_cache(entry, CacheUse::Here);
        self.gets_on(entry, out);
        out.steps.push(InboundStep::AccessCache(entry));
    }

    /// The next line leaves that a transaction has to give back; behind the last one its own line is its turn.
    fn gives_back(&mut self, entry: u16, out: &mut InboundOutput) {
        let Some(transaction) = self.table.get_mut(entry) else { return };
        match (&transaction.cache, transaction.row.operation) {
            (CacheUse::GivesBack(lines), _) if !lines.is_empty() => {
                if let Some(cache) = &mut self.cache {
                    cache.counts.write_backs += 1;
                }
                self.ask(entry, out);
            }
            // Its line is no longer here, so it is as one that never was.
            (_, Some(LineOperation::Atomic)) => {
                transaction.cache = CacheUse::PassedBy;
                self.launch(entry, out);
            }
            // A line that is written whole does not have to be read.
            (_, Some(LineOperation::WriteFull)) => self.goes_here(entry, out),
            _ => {
                transaction.cache = CacheUse::Fills;
                self.ask(entry, out);
            }
        }
    }

    /// What an accelerator is asked for the cache in the place of the access of a transaction.
    pub(super) fn cache_access(cache: &CacheUse, own: AcceleratorAccess) -> AcceleratorAccess {
        let (operation, blank) = (LineOperation::Read, CacheLine::of([0; 64]));
        match cache {
            CacheUse::PassedBy | CacheUse::Here => own,
            CacheUse::Fills => AcceleratorAccess { operation, data: blank, mask: 0, ..own },
            CacheUse::GivesBack(lines) => {
                let Some(((target, line), data)) = lines.front().copied() else { return own };
                let (operation, mask) = (LineOperation::WriteFull, WHOLE_LINE);
                // Nothing is computed with what is given back, also if that is for an atomic.
                AcceleratorAccess { target, line, operation, atomic: None, data, mask, ..own }
            }
        }
    }

    /// The memory of the cache has been accessed for a transaction, which ends.
    pub fn cache_accessed(&mut self, entry: u16, out: &mut InboundOutput) {
        let Some(place) = self.table.get(entry).and_then(|transaction| transaction.place) else { return };
        let line = self.served(entry, place, None);
        self.finish(entry, Status::OKAY, line, out);
        self.release(place, (Status::OKAY, line), out);
    }

    /// A transaction is performed in the cache, on the line that was read or the one that is there: the line as it is then.
    fn served(&mut self, entry: u16, place: AcceleratorLine, filled: Option<CacheLine>) -> CacheLine {
        let blank = CacheLine::of([0; 64]);
        let (Some(cache), Some(transaction)) = (&mut self.cache, self.table.get(entry)) else { return blank };
        let at = place_of(place);
        let before = cache.data.sector(at);
        let mut line = filled.unwrap_or(before.line);
        let state = match (transaction.row.operation, transaction.msg) {
            (Some(LineOperation::WriteFull), Msg::M2sRwd { data, .. }) => {
                line = data;
                SectorState::Dirty
            }
            (Some(LineOperation::WritePart), Msg::M2sRwd { data, enables, .. }) => {
                line.merge(&data, enables);
                SectorState::Dirty
            }
            _ if before.state.is_valid() => before.state,
            _ => SectorState::Valid,
        };
        cache.data.set_sector(at, Sector { state, line });
        line
    }

    /// An accelerator has answered an access that was the cache's; `true`: there was one.
    pub(super) fn receives_for_cache(
        &mut self,
        entry: u16,
        place: AcceleratorLine,
        (status, read): (Status, Option<CacheLine>),
        out: &mut InboundOutput,
    ) -> bool {
        let Some(transaction) = self.table.get_mut(entry) else { return false };
        let is_open = transaction.progress == InboundProgress::Asked;
        match &mut transaction.cache {
            CacheUse::PassedBy | CacheUse::Here => return false,
            CacheUse::GivesBack(lines) => {
                let Some((given, _)) = lines.pop_front() else { return false };
                // One whose time was over is on the list.
                if is_open && status != Status::OKAY {
                    self.loses_line(given);
                }
                if is_open {
                    self.gives_back(entry, out);
                }
                // An atomic keeps its own line.
                if given != place {
                    self.release(given, (status, CacheLine::ones()), out);
                }
                if !is_open {
                    self.ends_late(entry, place, out);
                }
            }
            CacheUse::Fills => match read.filter(|_| is_open && status == Status::OKAY) {
                Some(line) => {
                    let line = self.served(entry, place, Some(line));
                    self.finish(entry, status, line, out);
                    self.release(place, (status, line), out);
                }
                None if is_open => {
                    self.frees_way(place);
                    self.finish(entry, status, CacheLine::ones(), out);
                    self.release(place, (status, CacheLine::ones()), out);
                }
                None => self.ends_late(entry, place, out),
            },
        }
        true
    }

    /// The last answer has come to a transaction that was given up.
    fn ends_late(&mut self, entry: u16, place: AcceleratorLine, out: &mut InboundOutput) {
        self.counts.late += 1;
        self.frees_way(place);
        self.retire(entry);
        self.release(place, (Status::CompletionTimeout, CacheLine::ones()), out);
    }

    /// A line does not enter for which a way was taken: its block leaves, unless others of its lines are on their way in.
    fn frees_way(&mut self, place: AcceleratorLine) {
        let Some(cache) = &mut self.cache else { return };
        let (at, locks) = (place_of(place), &self.locks);
        let block = cache.data.block(at);
        if !block.lines(cache.data.config().sectors()).any(|line| line != at && locks.is_held(line)) {
            cache.data.drop_if_empty(at);
        }
    }

    /// A transaction is given up that gives lines back: they are lost, and those that have not left are free.
    pub(super) fn gives_up_lines(&mut self, entry: u16, out: &mut InboundOutput) {
        let Some(transaction) = self.table.get_mut(entry) else { return };
        let CacheUse::GivesBack(lines) = &mut transaction.cache else { return };
        let behind = lines.split_off(1.min(lines.len()));
        let under_way = lines.front().map(|(line, _)| *line);
        for line in under_way.into_iter().chain(behind.iter().map(|(line, _)| *line)) {
            self.loses_line(line);
        }
        for (line, _) in behind {
            self.release(line, (Status::CompletionTimeout, CacheLine::ones()), out);
        }
    }

    /// The bytes of a line that has left the cache are not in memory.
    fn loses_line(&mut self, line: AcceleratorLine) {
        if let Some(cache) = &mut self.cache {
            cache.counts.lost_write_backs += 1;
        }
        self.counts.lost_writes += 1;
        if !self.lost.add(line) {
            self.go_viral();
        }
    }

    /// Whether a transaction waits for the memory of the cache, which always ends.
    pub(super) fn is_in_cache(&self, entry: u16) -> bool {
        self.table.get(entry).is_some_and(|transaction| transaction.cache == CacheUse::Here)
    }
}
