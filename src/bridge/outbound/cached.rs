//! The flow of a line that the cache serves (`bridge` §9.2 to §9.5).
//!
//! Modelled: a sector is looked for when its line is locked; what it lacks is asked for when a way of the cache is empty for it; a read is
//! done when the bytes are read, a store when it is in the sector; written through, it goes on to memory behind the response. Sectors that
//! leave hold their lines until devices have answered. Left out: what is in which state, see [`sector`].
//!
//! A walk through a store of a part of class MC to a line that is not there: its set is full, so the block that the policy names leaves:
//! a dirty sector by MemWr, clean ones by MemClnEvct; when their Cmps are there, MemRd Any/SnpInv leaves; Cmp-E and data come, the bytes
//! are merged in the sector, which is in M, and the request is answered.
//!
//! A block with a line that is in use never leaves. A child that finds no way waits with its line locked; those that use the ways need no
//! other way to end, so it gets one.

use super::locks::LockHolder;
use super::table::ChildId;
use super::transaction::{CacheVerdict, CachedStage};
use super::write_backs::{WriteBack, WriteBackEnd, WriteBackMessage};
use super::{BridgeActor, BridgeOutput, BridgeStep, BridgeWait, OutboundBridge, Work};
use crate::cache::StorePolicy;
use crate::cache::data::{BlockRoom, CachedBlock, PortLine, Sector};
use crate::cache::sector::{self, SectorAction, SectorState};
use crate::flows::LineOperation;
use crate::watched::BridgeLines;
use scalepool_coherence::content::CacheLine;
use scalepool_protocols::cxl::cxl256::code::MetaValue;

impl OutboundBridge {
    /// A child holds its line: the cache is asked first, if there is one.
    pub(super) fn launch(&mut self, id: ChildId, out: &mut BridgeOutput) {
        let Some(child) = self.child_of(id) else { return };
        // One that passes by was looked up before its first step, and between its steps the bridge owns the line (`bridge` §9.6 R2).
        let passes_by = child.verdict == Some(CacheVerdict::Bypass);
        let Some(cache) = self.cache.as_ref().filter(|_| !passes_by) else { return self.send_step(id, out) };
        let tags = cache.config().tags_in_hbm.then(|| cache.hbm_tags((child.port, child.line)));
        let Some(child) = self.child(id) else { return };
        child.cached = Some(CachedStage::Looked);
        match tags {
            Some(address) => self.access_for(id, address, false, out),
            None => self.look_up(id, out),
        }
    }

    /// Goes on with a child that has waited for room in the cache.
    pub(super) fn enter_again(&mut self, id: ChildId, out: &mut BridgeOutput) {
        match self.child_of(id).filter(|child| child.waits_for_room).and_then(|child| child.cached) {
            Some(CachedStage::Looked) => self.look_up(id, out),
            Some(CachedStage::Stored) => self.write_through(id, out),
            _ => (),
        }
    }

    fn look_up(&mut self, id: ChildId, out: &mut BridgeOutput) {
        let (Some(child), Some(cache)) = (self.child_of(id), &self.cache) else { return };
        let (place, class, operation) = ((child.port, child.line), child.class, child.operation);
        let state = cache.state(place);
        let verdict = match child.verdict {
            Some(verdict) => verdict,
            None => self.judge(id, place, state, operation),
        };
        let action = sector::action(class, operation, state);
        let Some(child) = self.child(id) else { return };
        if child.verdict.is_none() && verdict == CacheVerdict::Hit && action != SectorAction::Here {
            self.cache_counts.upgrades += 1;
        }
        let Some(child) = self.child(id) else { return };
        child.verdict = Some(verdict);
        if verdict == CacheVerdict::Bypass {
            child.cached = None;
            return self.send_step(id, out);
        }
        if !self.enters(id, place, state, out) {
            return;
        }
        match action {
            SectorAction::Here => self.serve(id, place, out),
            SectorAction::Ask(steps) => {
                let Some(child) = self.child(id) else { return };
                (child.steps, child.cached) = (steps, Some(CachedStage::Asked));
                self.send_step(id, out);
            }
        }
    }

    /// What the cache says of a line, once for each access to it.
    fn judge(
        &mut self,
        id: ChildId,
        (_, line): PortLine,
        state: SectorState,
        operation: LineOperation,
    ) -> CacheVerdict {
        let (Some(transaction), Some(cache)) = (self.table.get(id.entry), &self.cache) else {
            return CacheVerdict::Bypass;
        };
        let is_hit = state.is_valid();
        let passes_by = self.streams.passes_by(transaction.req.src, line.0 / cache.config().sectors(), is_hit);
        let counts = &mut self.cache_counts;
        let kind = operation_index(operation);
        // An atomic needs the line here whatever its source does (`bridge` §9.2).
        if is_hit {
            counts.hits[kind] += 1;
            CacheVerdict::Hit
        } else if passes_by && operation != LineOperation::Atomic {
            counts.bypasses += 1;
            CacheVerdict::Bypass
        } else {
            counts.misses[kind] += 1;
            CacheVerdict::Miss
        }
    }

    /// A read has joined a child: it is judged as one that comes right behind it.
    pub(super) fn joined(&mut self, holder: ChildId) {
        self.counts.joined += 1;
        let Some(child) = self.child_of(holder) else { return };
        let (verdict, place) = (child.verdict, (child.port, child.line));
        match (verdict, &mut self.cache) {
            (Some(CacheVerdict::Bypass), _) => self.cache_counts.bypasses += 1,
            (_, Some(cache)) => {
                cache.used(place, true);
                self.cache_counts.hits[operation_index(LineOperation::Read)] += 1;
            }
            _ => (),
        }
    }

    /// Whether the block of a line has a way that is empty for it. If not, the child goes on when it may have become so.
    fn enters(&mut self, id: ChildId, place: PortLine, state: SectorState, out: &mut BridgeOutput) -> bool {
        let Some(cache) = &mut self.cache else { return false };
        let (block, sectors) = (cache.block(place), cache.config().sectors());
        let locks = &self.locks;
        let is_in_use = |block: CachedBlock| block.lines(sectors).any(|line| locks.is_held(line));
        if self.write_backs.empties(block) {
            self.wait_for_room(id, out);
            return false;
        }
        let leaving = match cache.room(place, is_in_use) {
            BlockRoom::Present => {
                // One that has waited was looked up before.
                if !self.table.child(id).is_some_and(|child| child.waits_for_room) {
                    cache.used(place, state.is_valid());
                }
                self.has_room(id, out);
                return true;
            }
            BlockRoom::InUse => {
                self.wait_for_room(id, out);
                return false;
            }
            BlockRoom::Free(leaving) => leaving,
        };
        let given_back = leaving.iter().filter(|(_, sector)| sector.state != SectorState::Valid).count();
        if given_back > self.write_backs.free() {
            self.wait_for_room(id, out);
            return false;
        }
        let leaving: Vec<_> =
            leaving.into_iter().map(|(line, sector)| (line, sector, cache.hbm_address(line).unwrap_or(0))).collect();
        cache.enter(place, is_in_use);
        for (line, sector, address) in leaving {
            self.leaves(id, line, sector, block, address, out);
        }
        match given_back {
            0 => {
                self.has_room(id, out);
                true
            }
            _ => {
                self.wait_for_room(id, out);
                false
            }
        }
    }

    /// A sector leaves, for a block that takes its way.
    fn leaves(
        &mut self,
        cause: ChildId,
        place: PortLine,
        Sector { state, line }: Sector,
        block: CachedBlock,
        address: u64,
        out: &mut BridgeOutput,
    ) {
        let message = match state {
            SectorState::Modified => WriteBackMessage::Write(MetaValue::Invalid),
            SectorState::Dirty => WriteBackMessage::Write(MetaValue::Any),
            _ => WriteBackMessage::Drop,
        };
        match state.is_dirty() {
            true => self.cache_counts.evicted_dirty += 1,
            false => self.cache_counts.evicted_clean += 1,
        }
        if state != SectorState::Valid {
            let end = WriteBackEnd::Left(block);
            self.write_back(WriteBack::new(place, message, line, end, Some(cause)), Some(address), out);
        }
        self.show_change(place, false, out);
    }

    /// Takes an entry of the buffer of write backs, and with it the line. The bytes are read first where an address says so. Whether
    /// there was an entry.
    pub(super) fn write_back(&mut self, write_back: WriteBack, address: Option<u64>, out: &mut BridgeOutput) -> bool {
        let (place, has_data) = (write_back.place, write_back.has_data());
        let Some(n) = self.write_backs.take(write_back) else { return false };
        self.locks.hold(place, LockHolder::WriteBack(n));
        match address.filter(|_| has_data) {
            Some(address) => self.access(Some(BridgeActor::WriteBack(n)), address, false, out),
            None => self.send_write_back(n, out),
        }
        true
    }

    fn wait_for_room(&mut self, id: ChildId, out: &mut BridgeOutput) {
        self.waiting_for_room.push_back(id);
        let Some(child) = self.child(id) else { return };
        if !std::mem::replace(&mut child.waits_for_room, true) {
            out.steps.push(BridgeStep::Waits { entry: id.entry, reason: BridgeWait::Room, holder: None });
        }
    }

    fn has_room(&mut self, id: ChildId, out: &mut BridgeOutput) {
        let Some(child) = self.child(id) else { return };
        if std::mem::replace(&mut child.waits_for_room, false) {
            out.steps.push(BridgeStep::GoesOn { entry: id.entry });
        }
    }

    /// A line or an entry is free: those that wait for room try again, in the order in which they came.
    pub(super) fn try_rooms(&mut self) {
        self.work.extend(self.waiting_for_room.drain(..).map(Work::Enter));
    }

    fn access(&mut self, by: Option<BridgeActor>, address: u64, is_write: bool, out: &mut BridgeOutput) {
        self.cache_counts.hbm_accesses += 1;
        out.steps.push(BridgeStep::Access { by, address, is_write });
    }

    fn access_for(&mut self, id: ChildId, address: u64, is_write: bool, out: &mut BridgeOutput) {
        let Some(child) = self.child(id) else { return };
        child.awaited.access = true;
        self.access(Some(BridgeActor::Child(id)), address, is_write, out);
    }

    /// The sector has what the access needs.
    fn serve(&mut self, id: ChildId, place: PortLine, out: &mut BridgeOutput) {
        let Some(cache) = &self.cache else { return };
        let (sector, address) = (cache.sector(place), cache.hbm_address(place).unwrap_or(0));
        let Some(child) = self.child(id) else { return };
        child.read = sector.state.is_valid().then_some(sector.line);
        child.cached = Some(CachedStage::Accessed);
        let is_write = self.store(id, place, out);
        self.access_for(id, address, is_write, out);
    }

    /// Puts what a child writes into the sector of its line; whether it writes at all.
    fn store(&mut self, id: ChildId, place: PortLine, out: &mut BridgeOutput) -> bool {
        let Some(child) = self.child(id) else { return false };
        if child.operation == LineOperation::Read {
            return false;
        }
        let sector = Sector { state: SectorState::stored(child.class), line: child.written() };
        self.change(place, sector, true, out);
        true
    }

    fn change(&mut self, place: PortLine, sector: Sector, is_stored: bool, out: &mut BridgeOutput) {
        if let Some(cache) = &mut self.cache {
            cache.set_sector(place, sector);
            self.show_change(place, is_stored, out);
        }
    }

    fn show_change(&mut self, (port, line): PortLine, is_stored: bool, out: &mut BridgeOutput) {
        let copy = BridgeLines::of(self, port, &[line]);
        out.steps.push(BridgeStep::Changed { port, line, copy, is_stored });
    }

    /// Changes the state of a sector alone.
    pub(super) fn change_state(&mut self, place: PortLine, state: SectorState, out: &mut BridgeOutput) {
        if let Some(sector) = self.cache.as_ref().map(|cache| cache.sector(place)).filter(|old| old.state != state) {
            self.change(place, Sector { state, ..sector }, false, out);
        }
    }

    /// Everything that a child has waited for is there.
    pub(super) fn cached_answered(&mut self, id: ChildId, stage: CachedStage, out: &mut BridgeOutput) {
        match stage {
            CachedStage::Looked => self.look_up(id, out),
            CachedStage::Asked => self.filled(id, out),
            CachedStage::Accessed => self.done(id, out),
            CachedStage::Stored => (),
        }
    }

    /// What was asked for has come; the bytes go to HBM behind the response.
    fn filled(&mut self, id: ChildId, out: &mut BridgeOutput) {
        let Some(child) = self.child(id) else { return };
        let place = (child.port, child.line);
        if child.failed.is_some() {
            let failed = child.failed;
            self.end(id, failed);
            return self.release(id, out);
        }
        let sector = Sector { state: child.granted, line: child.read.unwrap_or(CacheLine::of([0; 64])) };
        if !self.store(id, place, out) {
            self.change(place, sector, false, out);
        }
        if let Some(address) = self.cache.as_ref().and_then(|cache| cache.hbm_address(place)) {
            self.access(None, address, true, out);
        }
        self.done(id, out);
    }

    /// The access is done in the cache.
    fn done(&mut self, id: ChildId, out: &mut BridgeOutput) {
        let is_through = self.cache.as_ref().is_some_and(|cache| cache.config().stores == StorePolicy::Through);
        let Some(child) = self.child(id) else { return };
        if is_through && child.operation != LineOperation::Read {
            child.cached = Some(CachedStage::Stored);
            return self.write_through(id, out);
        }
        self.end(id, None);
        self.release(id, out);
    }

    /// A store goes on to memory; its request ends.
    fn write_through(&mut self, id: ChildId, out: &mut BridgeOutput) {
        let (Some(child), Some(cache)) = (self.child_of(id), &self.cache) else { return };
        let place = (child.port, child.line);
        let Sector { state, line } = cache.sector(place);
        let end = WriteBackEnd::Stays(state.cleaned());
        let message = WriteBackMessage::Write(MetaValue::Any);
        if !self.write_back(WriteBack::new(place, message, line, end, Some(id)), None, out) {
            return self.wait_for_room(id, out);
        }
        self.has_room(id, out);
        self.cache_counts.written_through += 1;
        self.end(id, None);
    }

    /// An access to the memory of the cache has ended.
    pub fn accessed(&mut self, by: BridgeActor, out: &mut BridgeOutput) {
        match by {
            BridgeActor::WriteBack(n) => self.send_write_back(n, out),
            BridgeActor::Child(id) => {
                if let Some(child) = self.child(id) {
                    child.awaited.access = false;
                    self.answered(id, out);
                }
            }
        }
        self.settle(out);
    }
}

/// Place of an operation in the counts.
fn operation_index(operation: LineOperation) -> usize {
    match operation {
        LineOperation::Read => 0,
        LineOperation::WriteFull | LineOperation::WritePart => 1,
        LineOperation::Atomic => 2,
    }
}
