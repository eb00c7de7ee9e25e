//! The moves of states, and what they lead to: the part of a search that any number of threads can do at once.
//!
//! With [`Limits::reduction`] a search leaves out deliveries that commute (sleep sets). Where two deliveries, or a delivery and an
//! operation, are steps of different agents and neither is a store, both orders lead to one state. So when both have been
//! tried in a state, the earlier one *sleeps* in the state behind the later one: it is not tried there again. It sleeps on in what
//! follows as long as nothing happens that it does not commute with. A state that is reached twice lets sleep only what sleeps both
//! times. Every state and every step of an agent is still visited, on a shortest way; what is saved are second ways to one state.

use super::fingerprint::fingerprint;
use super::search::Limits;
use super::system::{AgentWait, ExploredSystem, Fairness};
use super::visited::Table;
use scalepool_coherence::event::CoherenceEvent;
use std::collections::HashSet;

/// A visited state whose moves have not been made.
pub(super) struct Waiting<S: ExploredSystem> {
    state: S,
    moves: Vec<S::Move>,
    /// Moves that are left out.
    asleep: Vec<S::Move>,
    maker: usize,
}

impl<S: ExploredSystem> Waiting<S> {
    /// It was reached once more, where these sleep.
    pub fn reached_again(&mut self, asleep: &[S::Move]) {
        self.asleep.retain(|mv| asleep.contains(mv));
    }

    /// The thread that made it. Memory that another thread gives back costs both of them a lock.
    pub fn maker(&self) -> usize {
        self.maker
    }
}

/// Where a move leads.
pub(super) enum Leads {
    /// To a state that this part or a part before has found.
    Known,
    /// To the next of the new states.
    New,
    /// To the next of the faults.
    Broken,
}

/// A move of a state.
pub(super) struct Edge<M> {
    pub leads: Leads,
    pub print: u128,
    /// Its place among the moves of its state.
    pub ordinal: u16,
    /// What a fair run owes the move, with its action; `None`: nothing.
    pub owed: Option<(Fairness, u128)>,
    /// What sleeps behind it.
    pub asleep: Vec<M>,
}

/// A state that was not visited before, judged.
pub(super) struct NewState<S: ExploredSystem> {
    pub state: S,
    pub moves: Vec<S::Move>,
    /// The first rule that is broken in it.
    pub broken: Option<Box<CoherenceEvent>>,
    /// The name of the outcome, where no move is left.
    pub outcome: Option<Box<str>>,
    /// Who waits, in order; only for liveness.
    pub waits: Vec<AgentWait>,
    pub is_quiescent: bool,
    maker: usize,
}

impl<S: ExploredSystem> NewState<S> {
    /// It is visited now.
    pub fn waiting(self, asleep: Vec<S::Move>) -> Waiting<S> {
        Waiting { state: self.state, moves: self.moves, asleep, maker: self.maker }
    }
}

/// What the moves of some states lead to, in order.
pub(super) struct Expansion<S: ExploredSystem> {
    /// How many moves were made of each state.
    pub moves: Vec<usize>,
    pub edges: Vec<Edge<S::Move>>,
    pub new: Vec<NewState<S>>,
    pub faults: Vec<CoherenceEvent>,
}

/// Makes the moves of states, and judges what is new.
pub(super) struct Expander {
    limits: Limits,
    /// The thread that it works for.
    thread: usize,
    /// What the part at work has found itself.
    found: HashSet<u128>,
    events: Vec<CoherenceEvent>,
}

impl Expander {
    pub fn new(limits: Limits, thread: usize) -> Self {
        Self { limits, thread, found: HashSet::new(), events: Vec::new() }
    }

    /// The form of a state that is kept. `moves` are moves of it, and become moves of that form.
    fn kept<S: ExploredSystem>(&self, state: S, moves: &mut [S::Move]) -> S {
        if self.limits.symmetry { state.canonical(moves) } else { state }
    }

    /// The start, judged, with its fingerprint.
    pub fn begin<S: ExploredSystem>(&mut self, start: &S) -> (u128, NewState<S>) {
        let state = self.kept(start.clone(), &mut []);
        (fingerprint(&state), self.judge(state))
    }

    fn judge<S: ExploredSystem>(&mut self, state: S) -> NewState<S> {
        let mut moves = Vec::new();
        judge(&state, &mut moves, &mut self.events);
        let is_end = self.events.is_empty() && moves.is_empty();
        let mut waits = Vec::new();
        if self.limits.liveness {
            state.waits(&mut waits);
            waits.sort_unstable();
        }
        NewState {
            outcome: is_end.then(|| state.outcome().into_boxed_str()),
            broken: self.events.drain(..).next().map(Box::new),
            waits,
            is_quiescent: self.limits.liveness && state.is_quiescent(),
            moves,
            state,
            maker: self.thread,
        }
    }

    /// The moves of the states, in their order.
    pub fn expand<S: ExploredSystem>(&mut self, states: Vec<Waiting<S>>, visited: &Table) -> Expansion<S> {
        let (moves, edges, new, faults) = Default::default();
        let mut all = Expansion { moves, edges, new, faults };
        self.found.clear();
        for from in states {
            let before = all.edges.len();
            // Moves of this state that were made and that others may commute with.
            let mut made = Vec::new();
            for (ordinal, &mv) in (0..).zip(&from.moves) {
                if !from.asleep.contains(&mv) {
                    self.make(&from, (ordinal, mv), &mut made, visited, &mut all);
                }
            }
            all.moves.push(all.edges.len() - before);
        }
        all
    }

    /// Makes one move.
    fn make<S: ExploredSystem>(
        &mut self,
        from: &Waiting<S>,
        (ordinal, mv): (u16, S::Move),
        made: &mut Vec<S::Move>,
        visited: &Table,
        all: &mut Expansion<S>,
    ) {
        let state = &from.state;
        let mut after = state.clone();
        let moved = after.apply(mv, &mut self.events);
        let mut asleep = Vec::new();
        if let Some(agent) = moved.filter(|_| self.limits.reduction) {
            let others = from.asleep.iter().chain(&*made);
            asleep.extend(others.filter_map(|&other| state.commuted(other, agent, &after)));
            made.push(mv);
        }
        let after = self.kept(after, &mut asleep);
        let print = fingerprint(&after);
        let fairness = if self.limits.liveness { state.fairness(mv) } else { Fairness::Optional };
        let leads = if let Some(event) = self.events.drain(..).next() {
            all.faults.push(event);
            Leads::Broken
        } else if visited.has(print) || !self.found.insert(print) {
            Leads::Known
        } else {
            let new = self.judge(after);
            all.new.push(new);
            Leads::New
        };
        let owed = (fairness != Fairness::Optional).then(|| (fairness, state.action(mv)));
        all.edges.push(Edge { leads, print, ordinal, owed, asleep });
    }
}

/// The invariants, and that whatever is open can go on. Leaves the possible moves in `moves`.
fn judge<S: ExploredSystem>(state: &S, moves: &mut Vec<S::Move>, events: &mut Vec<CoherenceEvent>) {
    state.check(events);
    state.moves(moves);
    if state.is_idle() {
        state.check_idle(events);
    } else if !moves.iter().any(|&mv| state.fairness(mv) == Fairness::Strong) {
        events.push(CoherenceEvent::new(
            "COH-INV-09",
            None,
            "system",
            "work is open and nothing can move",
            "a move that leads to the end",
        ));
    }
}
