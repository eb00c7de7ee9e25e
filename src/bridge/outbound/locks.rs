//! The lock of a line: at most one transaction is active on it (`bridge` §3.4).
//!
//! Modelled: what comes meanwhile waits in the order in which it came; a read joins an active read if nothing waits, up to 8 of them, and
//! gets its data. A walk: a read is active, another one joins it; a write comes and waits; a third read waits behind the write, since
//! it must not pass it.

use super::table::ChildId;
use scalepool_coherence::content::LineAddr;
use scalepool_protocols::cxl::cxl256::code::BisnpOpcode;
use std::collections::{BTreeMap, VecDeque};

/// Most reads that join one (`bridge` §3.4).
pub const MOST_JOINED: usize = 8;

/// A back-invalidate snoop that is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenSnoop {
    /// Tag of the snoop.
    pub bi_tag: u16,
    /// What it asks for.
    pub opcode: BisnpOpcode,
    /// BIConflict has left, and its Ack has not come.
    pub awaits_ack: bool,
}

/// The lock of one line.
#[derive(Debug, Clone)]
pub struct LineLock {
    /// Who is active.
    pub holder: ChildId,
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
    Waits(ChildId),
}

/// Locks by CXL port and line.
#[derive(Debug, Clone, Default)]
pub struct LineLocks(BTreeMap<(usize, LineAddr), LineLock>);

impl LineLocks {
    /// Locks a line for a child; `may_join` says whether it may get the data of a holder.
    pub fn lock(
        &mut self,
        place: (usize, LineAddr),
        child: ChildId,
        may_join: impl FnOnce(ChildId) -> bool,
    ) -> LockOutcome {
        let Some(lock) = self.0.get_mut(&place) else {
            let lock = LineLock { holder: child, joined: Vec::new(), waiting: VecDeque::new(), snoop: None };
            self.0.insert(place, lock);
            return LockOutcome::Held;
        };
        if lock.waiting.is_empty() && lock.joined.len() < MOST_JOINED && may_join(lock.holder) {
            lock.joined.push(child);
            return LockOutcome::Joined(lock.holder);
        }
        let before = lock.waiting.back().copied().unwrap_or(lock.holder);
        lock.waiting.push_back(child);
        LockOutcome::Waits(before)
    }

    /// The lock of a line.
    pub fn get_mut(&mut self, place: (usize, LineAddr)) -> Option<&mut LineLock> {
        self.0.get_mut(&place)
    }

    /// The holder has ended: those that joined it, and the one that holds the line now.
    pub fn release(&mut self, place: (usize, LineAddr)) -> (Vec<ChildId>, Option<ChildId>) {
        let Some(lock) = self.0.get_mut(&place) else { return (Vec::new(), None) };
        let joined = std::mem::take(&mut lock.joined);
        let next = lock.waiting.pop_front();
        match next {
            Some(next) => lock.holder = next,
            None => {
                self.0.remove(&place);
            }
        }
        (joined, next)
    }

    /// A child that holds nothing gives up.
    pub fn give_up(&mut self, place: (usize, LineAddr), child: ChildId) {
        if let Some(lock) = self.0.get_mut(&place) {
            lock.joined.retain(|other| *other != child);
            lock.waiting.retain(|other| *other != child);
        }
    }
}
