//! The states of a search as numbers and the moves between them, to look for what never ends.
//!
//! Detail: the moves of a state stand one behind the other, in the order of
//! [`ExploredSystem::moves`](super::ExploredSystem::moves). Costs: 8 bytes a move (where it leads, which action it is
//! part of) and 9 bytes a state (its first move, who waits, whether it is quiescent); the states themselves are not
//! kept. For `cxl-cache-3` without renaming, 777,270 states and 2,688,927 moves, that is 44 MB beside the 122 MB of the
//! search, and both questions take 7 % of its time.

use super::system::{AgentWait, Fairness};
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

/// A move that a fair run owes nothing.
pub(super) const OPTIONAL: u32 = 0;

/// Values with numbers, in the order in which they came.
#[derive(Debug)]
struct NumberedValues<T> {
    numbers: HashMap<T, u32>,
    values: Vec<T>,
}

impl<T: Clone + Eq + Hash> NumberedValues<T> {
    fn number<Q: ToOwned<Owned = T> + Eq + Hash + ?Sized>(&mut self, value: &Q) -> u32
    where
        T: Borrow<Q>,
    {
        if let Some(&number) = self.numbers.get(value) {
            return number;
        }
        let number = self.values.len() as u32;
        self.numbers.insert(value.to_owned(), number);
        self.values.push(value.to_owned());
        number
    }
}

impl<T> Default for NumberedValues<T> {
    fn default() -> Self {
        Self { numbers: HashMap::new(), values: Vec::new() }
    }
}

/// States and moves.
#[derive(Debug, Default)]
pub(super) struct StateGraph {
    /// Where the moves of each state begin; those of the last state end with the list.
    first: Vec<u32>,
    /// Where each move leads.
    to: Vec<u32>,
    /// Which action each move is part of, counted from 1; or [`OPTIONAL`].
    action: Vec<u32>,
    /// Who waits in each state.
    waits: Vec<u32>,
    quiescent: Vec<bool>,
    sets: NumberedValues<Vec<AgentWait>>,
    actions: NumberedValues<u128>,
    /// Whether each action is owed strongly, from action 1 on.
    strong: Vec<bool>,
}

impl StateGraph {
    /// The next state, as the search finds it.
    pub fn push_state(&mut self, waits: &[AgentWait], quiescent: bool) {
        let set = self.sets.number(waits);
        self.waits.push(set);
        self.quiescent.push(quiescent);
    }

    /// The moves of the next state follow. States get them in the order of their numbers.
    pub fn begin_moves(&mut self) {
        self.first.push(self.to.len() as u32);
    }

    /// A move of the state whose moves have begun, and its action.
    pub fn push_move(&mut self, to: u32, action: Option<(Fairness, u128)>) {
        let number = match action {
            None | Some((Fairness::Optional, _)) => OPTIONAL,
            Some((fairness, print)) => {
                let number = self.actions.number(&print);
                if number as usize == self.strong.len() {
                    self.strong.push(fairness == Fairness::Strong);
                }
                number + 1
            }
        };
        self.to.push(to);
        self.action.push(number);
    }

    /// Whether more moves than can be numbered have come.
    pub fn is_full(&self) -> bool {
        self.to.len() > u32::MAX as usize - usize::from(u16::MAX)
    }

    /// How many states there are.
    pub fn states(&self) -> u32 {
        self.waits.len() as u32
    }

    /// What it keeps of states and moves \[bytes\].
    pub fn bytes(&self) -> usize {
        let of_moves = size_of_val(self.to.as_slice()) + size_of_val(self.action.as_slice());
        let of_states = size_of_val(self.first.as_slice()) + size_of_val(self.waits.as_slice());
        of_moves + of_states + size_of_val(self.quiescent.as_slice())
    }

    /// How many actions there are, [`OPTIONAL`] too.
    pub fn actions(&self) -> usize {
        self.strong.len() + 1
    }

    /// Whether an action is owed strongly.
    pub fn is_strong(&self, action: u32) -> bool {
        self.strong[action as usize - 1]
    }

    /// Whether a state is quiescent.
    pub fn is_quiescent(&self, state: u32) -> bool {
        self.quiescent[state as usize]
    }

    /// Numbers of the moves of a state.
    pub fn moves(&self, state: u32) -> Range<u32> {
        let at = state as usize;
        self.first[at]..self.first.get(at + 1).copied().unwrap_or(self.to.len() as u32)
    }

    /// Where a move leads.
    pub fn target(&self, mv: u32) -> u32 {
        self.to[mv as usize]
    }

    /// The action that a move is part of.
    pub fn action(&self, mv: u32) -> u32 {
        self.action[mv as usize]
    }

    /// Whether a move of an action is possible in a state.
    pub fn enables(&self, state: u32, action: u32) -> bool {
        self.moves(state).any(|mv| self.action(mv) == action)
    }

    /// Everybody who waits in some state.
    pub fn waits(&self) -> Vec<AgentWait> {
        let mut all: Vec<AgentWait> = self.sets.values.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The states in which somebody waits.
    pub fn waiting(&self, wait: AgentWait) -> Vec<u32> {
        let has: Vec<bool> = self.sets.values.iter().map(|set| set.contains(&wait)).collect();
        (0..self.states()).filter(|&state| has[self.waits[state as usize] as usize]).collect()
    }
}
