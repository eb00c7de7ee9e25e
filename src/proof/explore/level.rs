//! The states of the level that a search finds, in the order of their numbers.
//!
//! Detail: they stand in lists as threads take them, each of states that one thread has made, so that no level is ever copied; lists
//! of the level before are filled again.

use super::expand::UnexpandedState;
use super::system::ExploredSystem;

/// Most states that a thread takes at once: a few milliseconds of work or less, so that none waits long for the last part of a
/// level. States that stand side by side lead to the same ones, which two threads would judge twice: parts had better be large.
pub(super) const MOST_PART_STATES: usize = 256;

/// States in order.
pub(super) struct SearchLevel<S: ExploredSystem> {
    /// Each with the number of states before it.
    lists: Vec<(usize, Vec<UnexpandedState<S>>)>,
    states: usize,
    /// Lists without states.
    spare: Vec<Vec<UnexpandedState<S>>>,
}

impl<S: ExploredSystem> SearchLevel<S> {
    /// No states.
    pub fn new() -> Self {
        Self { lists: Vec::new(), states: 0, spare: Vec::new() }
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.states
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.states == 0
    }

    /// The next state.
    pub fn push(&mut self, state: UnexpandedState<S>) {
        let fits = |list: &[UnexpandedState<S>]| list.len() < MOST_PART_STATES && list[0].maker() == state.maker();
        match self.lists.last_mut() {
            Some((_, list)) if fits(list) => list.push(state),
            _ => {
                let mut list = self.spare.pop().unwrap_or_default();
                list.push(state);
                self.lists.push((self.states, list));
            }
        }
        self.states += 1;
    }

    /// The state with so many before it.
    pub fn get_mut(&mut self, place: usize) -> Option<&mut UnexpandedState<S>> {
        let list = self.lists.partition_point(|(before, _)| *before <= place).checked_sub(1)?;
        let (before, states) = &mut self.lists[list];
        states.get_mut(place - *before)
    }

    /// A list without states.
    pub fn reuse(&mut self, list: Vec<UnexpandedState<S>>) {
        self.spare.push(list);
    }

    /// Empties it: gives all states, in lists of at most so many.
    pub fn take_apart(&mut self, most: usize, mut part: impl FnMut(Vec<UnexpandedState<S>>)) {
        for (_, mut list) in self.lists.drain(..) {
            while list.len() > most {
                let mut first = self.spare.pop().unwrap_or_default();
                first.extend(list.drain(..most));
                part(first);
            }
            part(list);
        }
        self.states = 0;
    }
}
