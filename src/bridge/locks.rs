//! The lock of a line: at most one transaction is active on it (`bridge` §3.4).
//!
//! Modelled: what comes meanwhile waits in the order in which it came; a read joins an active read if nothing waits, up to 8 of them, and
//! gets its data. A walk: a read is active, another one joins it; a write comes and waits; a third read waits behind the write, since
//! it must not pass it.

use super::outbound::table::ChildId;
use scalepool_coherence::content::LineAddr;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxl256::code::BisnpOpcode;
use std::collections::VecDeque;

/// Most reads that join one (`bridge` §3.4).
pub const MOST_JOINED: usize = 8;

/// Who holds a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockHolder {
    /// A request.
    Child(ChildId),
    /// The cache, which gives the line back or writes it.
    WriteBack(u16),
}

/// A back-invalidate snoop that is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OpenSnoop {
    /// Tag of the snoop.
    pub bi_tag: u16,
    /// What it asks for.
    pub opcode: BisnpOpcode,
    /// BIConflict has left, and its Ack has not come.
    pub awaits_ack: bool,
}

/// The lock of one line.
#[derive(Debug, Clone, Hash)]
pub struct LineLock {
    /// Who is active.
    pub holder: LockHolder,
    /// Reads that get the data of the holder.
    pub joined: Vec<ChildId>,
    /// Who comes next.
    pub waiting: VecDeque<ChildId>,
    /// A snoop that waits for the holder.
    pub snoop: Option<OpenSnoop>,
}

/// What an attempt to lock a line has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockOutcome {
    /// The line is the child's.
    Held,
    /// It gets the data of the holder.
    Joined(ChildId),
    /// It comes behind this one.
    Waits(LockHolder),
}

/// Locks by CXL port and line.
#[derive(Debug, Clone, Default, Hash)]
pub struct LineLocks(OrderedMap<(usize, LineAddr), LineLock>);

impl LineLocks {
    /// Locks a line for a child; `may_join` says whether it may get the data of a holder.
    pub fn lock(
        &mut self,
        place: (usize, LineAddr),
        child: ChildId,
        may_join: impl FnOnce(ChildId) -> bool,
    ) -> LockOutcome {
        let Some(lock) = self.0.get_mut(&place) else {
            self.hold(place, LockHolder::Child(child));
            return LockOutcome::Held;
        };
        if let LockHolder::Child(holder) = lock.holder
            && lock.waiting.is_empty()
            && lock.joined.len() < MOST_JOINED
            && may_join(holder)
        {
            lock.joined.push(child);
            return LockOutcome::Joined(holder);
        }
        let before = lock.waiting.back().map_or(lock.holder, |child| LockHolder::Child(*child));
        lock.waiting.push_back(child);
        LockOutcome::Waits(before)
    }

    /// Makes somebody the holder of a line; those that wait go on waiting.
    pub fn hold(&mut self, place: (usize, LineAddr), holder: LockHolder) {
        let free = || LineLock { holder, joined: Vec::new(), waiting: VecDeque::new(), snoop: None };
        self.0.entry(place).or_insert_with(free).holder = holder;
    }

    /// Whether no line is in use.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a line is in use.
    pub fn is_held(&self, place: (usize, LineAddr)) -> bool {
        self.0.contains_key(&place)
    }

    /// Who holds a line.
    pub fn holder(&self, place: (usize, LineAddr)) -> Option<LockHolder> {
        self.0.get(&place).map(|lock| lock.holder)
    }

    /// The lock of a line.
    pub fn get_mut(&mut self, place: (usize, LineAddr)) -> Option<&mut LineLock> {
        self.0.get_mut(&place)
    }

    /// Those that have joined the holder, which has ended.
    pub fn take_joined(&mut self, place: (usize, LineAddr)) -> Vec<ChildId> {
        self.0.get_mut(&place).map(|lock| std::mem::take(&mut lock.joined)).unwrap_or_default()
    }

    /// The holder has ended: the one that holds the line now.
    pub fn release(&mut self, place: (usize, LineAddr)) -> Option<ChildId> {
        let lock = self.0.get_mut(&place)?;
        let next = lock.waiting.pop_front();
        match next {
            Some(next) => lock.holder = LockHolder::Child(next),
            None => {
                self.0.remove(&place);
            }
        }
        next
    }

    /// A child that holds nothing gives up.
    pub fn give_up(&mut self, place: (usize, LineAddr), child: ChildId) {
        if let Some(lock) = self.0.get_mut(&place) {
            lock.joined.retain(|other| *other != child);
            lock.waiting.retain(|other| *other != child);
        }
    }
}
