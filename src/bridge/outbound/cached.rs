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
//! A block with a line that is in use never leaves. A child that finds no free block waits with its line locked. Transactions
//! that hold a block never need a second one, so a block becomes free at some time, and those that wait get one in their order. Their
//! time-outs do not count while others in front of them make progress.

use super::rooms::{EntryWaiter, RoomMoves, RoomQueues};
use super::table::ChildId;
use super::transaction::{CacheVerdict, CachedStage};
use super::write_backs::{WriteBack, WriteBackBuffer, WriteBackEnd, WriteBackMessage};
use super::{BridgeActor, BridgeOutput, BridgeStep, BridgeWait, OutboundBridge, OutboundWork};
use crate::cache::StorePolicy;
use crate::cache::data::{BlockRoom, CachedBlock, PortLine, Sector};
use crate::cache::sector::{self, SectorAction, SectorState};
use crate::flows::LineOperation;
use crate::locks::LockHolder;
use crate::watched::BridgeLines;
use crate::window::WindowClass;
use scalepool_coherence::content::CacheLine;
use scalepool_protocols::cxl::cxl256::code::MetaValue;

impl OutboundBridge {
    /// A child holds its line: the cache is asked first, if there is one.
    pub(super) fn launch(&mut self, id: ChildId, out: &mut BridgeOutput) {
        // Nothing of CXL.io is in the cache, so lost tags are nothing to it.
        match self.child_of(id).map(|child| child.class) {
            Some(WindowClass::Io) => return self.launch_io(id, out),
            Some(WindowClass::Hp) => {
                self.passes_cache(id);
                return self.send_step(id, out);
            }
            _ => (),
        }
        if self.ends_by_viral(id, out) || self.ends_by_loss(id, out) {
            return;
        }
        let Some(child) = self.child_of(id) else { return };
        // One that passes by was looked up before its first step, and between its steps the bridge owns the line (`bridge` §9.6 R2).
        let passes_by = child.verdict == Some(CacheVerdict::Bypass);
        let Some(cache) = self.cache.as_ref().filter(|_| !passes_by) else { return self.send_step(id, out) };
        let tags = cache.config().tags_in_hbm.then(|| cache.hbm_tags((child.port, child.line)));
        let Some(child) = self.child(id) else { return };
        child.cached = Some(CachedStage::Looked);
        match tags {
            Some(address) => {
                self.read_tags(address, out);
                self.access_for(id, address, false, out);
            }
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

    pub(super) fn look_up(&mut self, id: ChildId, out: &mut BridgeOutput) {
        if self.ends_by_viral(id, out) || self.ends_by_loss(id, out) {
            return;
        }
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
        let passes_by = self.streams.passes_by(transaction.request.source, line.0 / cache.config().sectors(), is_hit);
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
        let set = cache.set(block);
        let locks = &self.locks;
        let is_in_use = |block: CachedBlock| block.lines(sectors).any(|line| locks.is_held(line));
        if self.write_backs.empties(block) {
            self.rooms.wait_for_block(block, id);
            self.wait_for_room(id, out);
            return false;
        }
        // Blocks that have come before are served before.
        if !cache.has_block(place) && self.rooms.next_block(set).is_some_and(|next| next != block) {
            self.wait_for_way(id, place, out);
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
                self.wait_for_way(id, place, out);
                self.has_entry(EntryWaiter::Set(set));
                return false;
            }
            BlockRoom::Free(leaving) => leaving,
        };
        let given_back = leaving.iter().filter(|(_, sector)| sector.state != SectorState::Valid).count();
        if lacks_entries(&self.rooms, &self.write_backs, given_back, EntryWaiter::Set(set)) {
            self.rooms.lacks_entry(EntryWaiter::Set(set));
            self.wait_for_way(id, place, out);
            return false;
        }
        let leaving: Vec<_> =
            leaving.into_iter().map(|(line, sector)| (line, sector, cache.hbm_address(line).unwrap_or(0))).collect();
        cache.enter(place, is_in_use);
        for (line, sector, address) in leaving {
            self.leaves(id, line, sector, block, address, out);
        }
        self.has_way(block, set, given_back == 0, out);
        if given_back == 0 {
            self.has_room(id, out);
        } else {
            self.rooms.wait_for_block(block, id);
            self.wait_for_room(id, out);
        }
        given_back == 0
    }

    /// A block has got a way: the next one of its set may find one too, and all that wait for its lines go on when the way is empty.
    fn has_way(&mut self, block: CachedBlock, set: u64, is_empty: bool, out: &mut BridgeOutput) {
        self.rooms.leave_set(set, block);
        self.has_entry(EntryWaiter::Set(set));
        if self.rooms.next_block(set).is_some() {
            self.work.push_back(OutboundWork::TryWay(set));
        }
        if is_empty {
            return self.block_is_empty(block);
        }
        for id in self.rooms.of_block(block).to_vec() {
            self.count_anew_at_line(id, out);
        }
    }

    /// The way of a block is empty: all that wait for its lines go on.
    pub(super) fn block_is_empty(&mut self, block: CachedBlock) {
        self.work.extend(self.rooms.of_block(block).iter().copied().map(OutboundWork::Enter));
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
        // A line of a host counts when its message leaves: until then a snoop may make it clean, or take it.
        if !self.is_host(place.0) {
            self.cache_counts.evicted(state.is_dirty());
        }
        if state != SectorState::Valid {
            let (end, host) = (WriteBackEnd::Left(block), self.host_leaves(place, message, state));
            let write_back = WriteBack { host, ..WriteBack::new(place, message, line, end, Some(cause)) };
            self.write_back(write_back, Some(address), out);
        }
        self.show_change(place, false, out);
    }

    /// Takes an entry of the buffer of write backs, and with it the line. The bytes are read first where an address says so. Whether
    /// there was an entry.
    pub(super) fn write_back(&mut self, write_back: WriteBack, address: Option<u64>, out: &mut BridgeOutput) -> bool {
        let WriteBack { place, line, .. } = write_back;
        let (has_data, state) = (write_back.has_data(), self.cache.as_ref().map(|cache| cache.state(place)));
        let Some(n) = self.write_backs.take(write_back) else { return false };
        self.locks.hold(place, LockHolder::WriteBack(n));
        match address.filter(|_| has_data) {
            Some(address) => {
                // What is given back is dirty, whether its sector has left already or not.
                let state = state.filter(|state| state.is_valid()).unwrap_or(SectorState::Modified);
                let read = self.read_sector(place, Sector { state, line }, address, out);
                if let (Some(read), Some(write_back)) = (read, self.write_backs.get_mut(n)) {
                    write_back.line = read;
                }
                self.access(Some(BridgeActor::WriteBack(n)), address, false, out);
            }
            None => self.send_write_back(n, out),
        }
        true
    }

    fn wait_for_way(&mut self, id: ChildId, place: PortLine, out: &mut BridgeOutput) {
        let Some((set, block)) = self.set_and_block(place) else { return };
        self.rooms.wait_for_way(set, block, id);
        self.wait_for_room(id, out);
    }

    fn wait_for_room(&mut self, id: ChildId, out: &mut BridgeOutput) {
        let moves = self.room_moves(id);
        let Some(child) = self.child(id) else { return };
        if !std::mem::replace(&mut child.waits_for_room, true) {
            child.room_moves = moves;
            out.steps.push(BridgeStep::Waits { entry: id.entry, reason: BridgeWait::Room, holder: None });
        }
    }

    fn has_room(&mut self, id: ChildId, out: &mut BridgeOutput) {
        if self.waits_no_longer(id) {
            out.steps.push(BridgeStep::GoesOn { entry: id.entry });
            self.count_anew_at_line(id, out);
        }
    }

    /// A child leaves the queues of those that wait for room. Whether it was in one.
    pub(super) fn waits_no_longer(&mut self, id: ChildId) -> bool {
        let Some(child) = self.child(id) else { return false };
        let place = (child.port, child.line);
        let has_waited = std::mem::replace(&mut child.waits_for_room, false);
        if let Some((set, block)) = self.set_and_block(place).filter(|_| has_waited) {
            self.rooms.remove(set, block, id);
            self.has_entry(EntryWaiter::Store(id));
            if self.rooms.next_block(set).is_none() {
                self.has_entry(EntryWaiter::Set(set));
            }
        }
        has_waited
    }

    fn set_and_block(&self, place: PortLine) -> Option<(u64, CachedBlock)> {
        let cache = self.cache.as_ref()?;
        let block = cache.block(place);
        Some((cache.set(block), block))
    }

    /// Somebody lacks no entry any more: the next one may find one.
    fn has_entry(&mut self, waiter: EntryWaiter) {
        if self.rooms.lacks_no_entry(waiter) && self.rooms.next_for_entry().is_some() {
            self.work.push_back(OutboundWork::TryEntry);
        }
    }

    /// A line is free: the block that is the next one in its set may find a way.
    pub(super) fn line_is_free(&mut self, place: PortLine) {
        if let Some((set, _)) = self.set_and_block(place)
            && self.rooms.line_released(set)
        {
            self.work.push_back(OutboundWork::TryWay(set));
        }
    }

    /// The block that is the next one of a set tries to find a way.
    pub(super) fn try_way(&mut self, set: u64, out: &mut BridgeOutput) {
        let next = self.rooms.next_block(set).and_then(|block| self.rooms.of_block(block).first().copied());
        if let Some(id) = next {
            self.enter_again(id, out);
        }
    }

    /// Those that lack an entry try again in their order, up to the first one that finds too few.
    pub(super) fn try_entry(&mut self, out: &mut BridgeOutput) {
        while let Some(next) = self.rooms.next_for_entry() {
            match next {
                EntryWaiter::Set(set) => self.try_way(set, out),
                EntryWaiter::Store(id) => self.enter_again(id, out),
            }
            if self.rooms.next_for_entry() == Some(next) {
                return;
            }
        }
    }

    fn room_moves(&self, id: ChildId) -> Option<RoomMoves> {
        let child = self.child_of(id)?;
        let (set, block) = self.set_and_block((child.port, child.line))?;
        self.rooms.moves(set, block, id)
    }

    /// Whether others have got on in the queue in which a child, or the holder of its line, waits for room, since this was asked last.
    pub(super) fn has_room_moved(&mut self, id: ChildId) -> bool {
        let Some(child) = self.child_of(id) else { return false };
        let holder = match self.locks.get_mut((child.port, child.line)).map(|lock| lock.holder) {
            Some(LockHolder::Child(holder)) => holder,
            _ => return false,
        };
        if !self.child_of(holder).is_some_and(|holder| holder.waits_for_room) {
            return false;
        }
        let moves = self.room_moves(holder);
        let Some(child) = self.child(id) else { return false };
        moves.is_some() && std::mem::replace(&mut child.room_moves, moves) != moves
    }

    /// The time of a child that holds its line counts anew, and so does that of those that wait for it.
    fn count_anew_at_line(&mut self, id: ChildId, out: &mut BridgeOutput) {
        let Some(child) = self.child_of(id) else { return };
        let Some(lock) = self.locks.get_mut((child.port, child.line)) else { return };
        let others: Vec<ChildId> = lock.joined.iter().chain(&lock.waiting).copied().collect();
        for id in [id].into_iter().chain(others) {
            self.gets_on(id, out);
        }
    }

    pub(super) fn access(&mut self, by: Option<BridgeActor>, address: u64, is_write: bool, out: &mut BridgeOutput) {
        self.cache_counts.hbm_accesses += 1;
        out.steps.push(BridgeStep::Access { by, address, is_write });
    }

    pub(super) fn access_for(&mut self, id: ChildId, address: u64, is_write: bool, out: &mut BridgeOutput) {
        let Some(child) = self.child(id) else { return };
        child.awaited.access = true;
        self.access(Some(BridgeActor::Child(id)), address, is_write, out);
    }

    /// The sector has what the access needs.
    fn serve(&mut self, id: ChildId, place: PortLine, out: &mut BridgeOutput) {
        let Some(cache) = &self.cache else { return };
        let (sector, address) = (cache.sector(place), cache.hbm_address(place).unwrap_or(0));
        let Some(line) = self.read_for(id, place, sector, address, out) else { return };
        let Some(child) = self.child(id) else { return };
        child.read = sector.state.is_valid().then_some(line);
        child.cached = Some(CachedStage::Accessed);
        let is_write = self.store(id, place, out);
        if is_write {
            self.written_to(address);
        }
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

    /// 64 bytes of HBM are written: what had flipped there has not any more.
    fn written_to(&mut self, address: u64) {
        if let Some(cells) = &mut self.cells {
            cells.write(address);
        }
    }

    pub(super) fn change(&mut self, place: PortLine, sector: Sector, is_stored: bool, out: &mut BridgeOutput) {
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
            CachedStage::Damaged => self.fetch_again(id, out),
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
        if child.step + 1 < child.steps.len() && child.granted == SectorState::Valid {
            child.step += 1;
            return self.send_step(id, out);
        }
        if child.granted == SectorState::Invalid {
            // A snoop has taken the line of a host before it came: it was used once, or has left with what was stored.
            self.end(id, None);
            return self.release(id, out);
        }
        let sector = Sector { state: child.granted, line: child.read.unwrap_or(CacheLine::of([0; 64])) };
        if !self.store(id, place, out) {
            self.change(place, sector, false, out);
        }
        if let Some(address) = self.cache.as_ref().and_then(|cache| cache.hbm_address(place)) {
            self.written_to(address);
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
        let is_host = self.is_host(place.0);
        if is_host && !state.is_dirty() {
            // A snoop has taken it to the host.
            self.has_room(id, out);
            self.end(id, None);
            return self.release(id, out);
        }
        let end = self.through_end(place, state);
        let message = WriteBackMessage::Write(MetaValue::Any);
        let host = self.host_leaves(place, message, state);
        if lacks_entries(&self.rooms, &self.write_backs, 1, EntryWaiter::Store(id)) {
            self.rooms.lacks_entry(EntryWaiter::Store(id));
            return self.wait_for_room(id, out);
        }
        let write_back = WriteBack { host, ..WriteBack::new(place, message, line, end, Some(id)) };
        self.write_back(write_back, None, out);
        if is_host {
            self.change_state(place, SectorState::Invalid, out);
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

/// Whether there are too few entries of the buffer of write backs for somebody, or others come before him.
fn lacks_entries(rooms: &RoomQueues, write_backs: &WriteBackBuffer, wanted: usize, waiter: EntryWaiter) -> bool {
    let is_behind = rooms.next_for_entry().is_some_and(|next| next != waiter);
    wanted > 0 && (is_behind || wanted > write_backs.free())
}

/// Place of an operation in the counts.
fn operation_index(operation: LineOperation) -> usize {
    match operation {
        LineOperation::Read => 0,
        LineOperation::WriteFull | LineOperation::WritePart => 1,
        LineOperation::Atomic => 2,
    }
}
