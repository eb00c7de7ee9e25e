//! Where the threads of a search get their work, and what is left of it.
//!
//! Modelled: the states of a level, cut into parts. Detail: a thread takes parts that it has made itself, in their order, and the first
//! of all where its own are too far ahead. Left out: what the moves of a part lead to ([`super::expand`]).
//!
//! A walk: the thread that takes everything over lays a level out; each thread takes a part, and with it what goes back to it of earlier
//! ones; when a part has been taken over, what is left of it is given back to those who made it.

use super::expand::{Expansion, UnexpandedState};
use super::level::{MOST_PART_STATES, SearchLevel};
use super::system::ExploredSystem;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Least states of a part.
const LEAST_PART_STATES: usize = 16;

/// Parts of a level for each thread, at least, as far as it has states for them.
const PARTS_OF_A_THREAD: usize = 16;

/// How far a thread goes ahead of the first part that is open. What is found there waits until all parts before it have been taken
/// over, and needs memory.
const MOST_PARTS_AHEAD: usize = 8;

/// Some states of a level, which one thread has made.
pub(super) struct LevelPart<S: ExploredSystem> {
    /// How many levels stand before its own.
    pub level: usize,
    /// How many parts of its level stand before it.
    pub number: usize,
    pub states: Vec<UnexpandedState<S>>,
}

/// What goes back to the thread that has made it.
pub(super) struct Returned<S: ExploredSystem> {
    /// States that another thread has expanded.
    pub states: Vec<Vec<UnexpandedState<S>>>,
    /// Expansions that have been taken over.
    pub expansions: Vec<Expansion<S>>,
}

impl<S: ExploredSystem> Default for Returned<S> {
    fn default() -> Self {
        Self { states: Vec::new(), expansions: Vec::new() }
    }
}

/// Parts of a level that no thread has taken.
pub(super) struct WorkPool<S: ExploredSystem> {
    parts: Mutex<PoolState<S>>,
    change: Condvar,
}

struct PoolState<S: ExploredSystem> {
    /// By the thread that made them.
    open: Vec<VecDeque<LevelPart<S>>>,
    /// What goes back to each thread with the next part that it takes.
    returned: Vec<Returned<S>>,
    /// There will be no more.
    is_closed: bool,
}

impl<S: ExploredSystem> PoolState<S> {
    /// The next part that the thread has made itself, or the first of all where that one is too far ahead; with what goes back to
    /// the thread.
    fn take(&mut self, thread: usize) -> Option<(LevelPart<S>, Returned<S>)> {
        let front = |of: usize| self.open[of].front().map(|part| part.number);
        let (first, of_first) = (0..self.open.len()).filter_map(|of| Some((front(of)?, of))).min()?;
        let is_near = front(thread).is_some_and(|own| own <= first + MOST_PARTS_AHEAD);
        let part = self.open[if is_near { thread } else { of_first }].pop_front()?;
        Some((part, std::mem::take(&mut self.returned[thread])))
    }
}

impl<S: ExploredSystem> WorkPool<S> {
    pub fn new(threads: usize) -> Self {
        let open = (0..threads).map(|_| VecDeque::new()).collect();
        let returned = (0..threads).map(|_| Returned::default()).collect();
        Self { parts: Mutex::new(PoolState { open, returned, is_closed: false }), change: Condvar::new() }
    }

    fn parts(&self) -> MutexGuard<'_, PoolState<S>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a level apart; returns how many parts there are.
    pub fn lay_out(&self, number: usize, level: &mut SearchLevel<S>) -> usize {
        let mut parts = self.parts();
        let most = level.len() / (parts.open.len() * PARTS_OF_A_THREAD);
        let mut count = 0;
        level.take_apart(most.clamp(LEAST_PART_STATES, MOST_PART_STATES), |states| {
            if let Some(maker) = states.first().map(UnexpandedState::maker) {
                parts.open[maker].push_back(LevelPart { level: number, number: count, states });
                count += 1;
            }
        });
        drop(parts);
        self.change.notify_all();
        count
    }

    /// What is left of an expansion goes back to those who made it; a list without states to the next level.
    pub fn give_back(&self, mut all: Expansion<S>, level: &mut SearchLevel<S>) {
        let states = std::mem::take(&mut all.part.states);
        let mut parts = self.parts();
        match states.first().map(UnexpandedState::maker) {
            None => level.reuse(states),
            Some(maker) => parts.returned[maker].states.push(states),
        }
        parts.returned[all.thread].expansions.push(all);
    }

    pub fn take(&self, thread: usize) -> Option<(LevelPart<S>, Returned<S>)> {
        self.parts().take(thread)
    }

    /// The next part, as soon as there is one; `None`: no more.
    pub fn wait(&self, thread: usize) -> Option<(LevelPart<S>, Returned<S>)> {
        let mut parts = self.parts();
        loop {
            if parts.is_closed {
                return None;
            }
            if let Some(taken) = parts.take(thread) {
                return Some(taken);
            }
            parts = self.change.wait(parts).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The desk of a search that goes on. Threads that wait at it end with the search, however it ends.
pub(super) struct OpenDesk<'a, S: ExploredSystem>(pub &'a WorkPool<S>);

impl<S: ExploredSystem> Drop for OpenDesk<'_, S> {
    fn drop(&mut self) {
        self.0.parts().is_closed = true;
        self.0.change.notify_all();
    }
}
