//! Who waits for room in the cache (`bridge` §9.3).
//!
//! Modelled: blocks wait for a way of their set in the order in which they came, and with a block all requests of its lines; sets and
//! stores that lack an entry of the buffer of write backs wait for one in the order in which they came. Left out: when a way is free.
//!
//! A walk: the only way of a set is in use, so block 1 waits, then block 2, then another line of block 1; the way is free, so block 1 takes it
//! and has it emptied; both of its lines go on together when it is empty; block 2 comes next.

use super::table::ChildId;
use crate::cache::data::CachedBlock;
use scalepool_ordered::OrderedMap;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

/// Who lacks an entry of the buffer of write backs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryWaiter {
    /// The first block of a set, for what leaves for it.
    Set(u64),
    /// A store that is written through.
    Store(ChildId),
}

/// Requests that wait for a block, one for each of its lines at most.
#[derive(Debug, Clone, Default, Hash)]
struct WaitingBlock {
    children: Vec<ChildId>,
    /// It waits for a way; if not, its way is being emptied.
    lacks_way: bool,
}

/// Blocks that wait for a way of a set, none of them twice.
#[derive(Debug, Clone, Default)]
struct WaitingSet {
    blocks: VecDeque<CachedBlock>,
    /// Times that a line of the set was given up meanwhile.
    releases: u64,
}

/// How often that has moved for which somebody waits: lines of its set that were given up, entries that were freed.
pub type RoomMoves = (u64, u64);

/// All that wait.
#[derive(Debug, Clone, Default)]
pub struct RoomQueues {
    blocks: OrderedMap<CachedBlock, WaitingBlock>,
    sets: OrderedMap<u64, WaitingSet>,
    /// Those that lack an entry by their turns, and the other way round.
    turns: OrderedMap<u64, EntryWaiter>,
    turn_of: OrderedMap<EntryWaiter, u64>,
    next_turn: u64,
    /// Entries that were freed.
    freed: u64,
}

impl Hash for RoomQueues {
    /// Who waits, in which turn; without the counts that time-outs ask for.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.blocks.hash(state);
        self.sets.iter().for_each(|(set, waiting)| (set, &waiting.blocks).hash(state));
        self.turns.values().for_each(|waiter| waiter.hash(state));
    }
}

impl RoomQueues {
    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.sets.is_empty() && self.turns.is_empty()
    }

    /// A child waits for its block, which has a way that is being emptied.
    pub fn wait_for_block(&mut self, block: CachedBlock, child: ChildId) {
        let children = &mut self.blocks.entry(block).or_default().children;
        if !children.contains(&child) {
            children.push(child);
        }
    }

    /// A child waits for its block, which waits for a way of a set.
    pub fn wait_for_way(&mut self, set: u64, block: CachedBlock, child: ChildId) {
        self.wait_for_block(block, child);
        let Some(waiting) = self.blocks.get_mut(&block) else { return };
        if !std::mem::replace(&mut waiting.lacks_way, true) {
            self.sets.entry(set).or_default().blocks.push_back(block);
        }
    }

    /// A block has got a way of its set, or nobody wants it any more.
    pub fn leave_set(&mut self, set: u64, block: CachedBlock) {
        let Some(waiting) = self.blocks.get_mut(&block).filter(|waiting| waiting.lacks_way) else { return };
        waiting.lacks_way = false;
        let Some(of_set) = self.sets.get_mut(&set) else { return };
        of_set.blocks.retain(|other| *other != block);
        if of_set.blocks.is_empty() {
            self.sets.remove(&set);
        }
    }

    /// A child of a block waits no longer.
    pub fn remove(&mut self, set: u64, block: CachedBlock, child: ChildId) {
        let Some(waiting) = self.blocks.get_mut(&block) else { return };
        waiting.children.retain(|other| *other != child);
        if waiting.children.is_empty() {
            self.leave_set(set, block);
            self.blocks.remove(&block);
        }
    }

    /// Those that wait for a block.
    pub fn of_block(&self, block: CachedBlock) -> &[ChildId] {
        self.blocks.get(&block).map_or(&[], |waiting| &waiting.children)
    }

    /// The block that is the next one to get a way of a set.
    pub fn next_block(&self, set: u64) -> Option<CachedBlock> {
        self.sets.get(&set)?.blocks.front().copied()
    }

    /// A line of a set is given up; whether somebody waits for a way of it.
    pub fn line_released(&mut self, set: u64) -> bool {
        let Some(waiting) = self.sets.get_mut(&set) else { return false };
        waiting.releases += 1;
        true
    }

    /// An entry is freed; whether somebody lacks one.
    pub fn entry_freed(&mut self) -> bool {
        self.freed += 1;
        !self.turns.is_empty()
    }

    /// Somebody lacks an entry; who has lacked one before keeps his turn.
    pub fn lacks_entry(&mut self, waiter: EntryWaiter) {
        if !self.turn_of.contains_key(&waiter) {
            self.turns.insert(self.next_turn, waiter);
            self.turn_of.insert(waiter, self.next_turn);
            self.next_turn += 1;
        }
    }

    /// Somebody lacks no entry any more. Whether he did.
    pub fn lacks_no_entry(&mut self, waiter: EntryWaiter) -> bool {
        self.turn_of.remove(&waiter).and_then(|turn| self.turns.remove(&turn)).is_some()
    }

    /// Who is the next one to get an entry.
    pub fn next_for_entry(&self) -> Option<EntryWaiter> {
        self.turns.first_key_value().map(|(_, waiter)| *waiter)
    }

    /// How often that has moved for which a child of a block of a set waits; `None`: it waits for neither a way nor an entry.
    pub fn moves(&self, set: u64, block: CachedBlock, child: ChildId) -> Option<RoomMoves> {
        let lacks_way = self.blocks.get(&block).is_some_and(|waiting| waiting.lacks_way);
        let releases = self.sets.get(&set).filter(|_| lacks_way).map(|waiting| waiting.releases);
        let lacks_entry = self.turn_of.contains_key(&EntryWaiter::Store(child))
            || releases.is_some() && self.turn_of.contains_key(&EntryWaiter::Set(set));
        (releases.is_some() || lacks_entry).then(|| (releases.unwrap_or(0), if lacks_entry { self.freed } else { 0 }))
    }
}
