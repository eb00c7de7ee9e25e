//! The moves of states, and what they lead to: the part of a search that any number of threads can do at once.
//!
//! With [`Limits::reduction`] a search leaves out deliveries that commute (sleep sets). Where two deliveries, or a delivery and an
//! operation, are steps of different agents and neither is a store, both orders lead to one state. So when both have been
//! tried in a state, the earlier one *sleeps* in the state behind the later one: it is not tried there again. It sleeps on in what
//! follows as long as nothing happens that it does not commute with. A state that is reached twice lets sleep only what sleeps both
//! times. Every state and every step of an agent is still visited, on a shortest way; what is saved are second ways to one state.
//!
//! Memory goes back to the thread that asked for it: an allocator keeps a part of the memory for each thread, and two threads that give
//! back each other's wait for each other all the time. So a thread expands what it has made itself; where it takes over states of
//! another, it works on copies ([`ExploredSystem::apart`]); and what is not kept of an [`Expansion`] returns to its maker, which
//! fills it again.

use super::desk::{LevelPart, Returned};
use super::fingerprint::{PrintHash, fingerprint};
use super::search::Limits;
use super::system::{AgentWait, ExploredSystem, Fairness};
use super::visited::VisitedTable;
use scalepool_coherence::event::CoherenceEvent;
use std::collections::HashSet;

/// A visited state whose moves have not been made.
pub(super) struct UnexpandedState<S: ExploredSystem> {
    state: S,
    moves: Box<[S::Move]>,
    /// Moves that are left out.
    asleep: Vec<S::Move>,
    maker: usize,
}

impl<S: ExploredSystem> UnexpandedState<S> {
    /// It was reached once more, where these sleep.
    pub fn reached_again(&mut self, asleep: &[S::Move]) {
        self.asleep.retain(|mv| asleep.contains(mv));
    }

    /// The thread that made it.
    pub fn maker(&self) -> usize {
        self.maker
    }
}

/// Where a move leads.
pub(super) enum Leads {
    /// To the state with this number.
    Known(u32),
    /// To the state with this fingerprint, which this part or one before it has found.
    Found(u128),
    /// To the next of the new states, with this fingerprint. Another part may have found it too.
    New(u128),
    /// To the next of the faults.
    Broken,
}

/// A move of a state.
pub(super) struct StateMove {
    pub leads: Leads,
    /// Its place among the moves of its state.
    pub ordinal: u16,
    /// How many moves sleep behind it, where it leads to no new state.
    pub asleep: u16,
}

/// A state that was not visited before, judged.
pub(super) struct NewState<S: ExploredSystem> {
    state: S,
    moves: Box<[S::Move]>,
    /// Moves that are left out.
    pub asleep: Vec<S::Move>,
    /// The first rule that is broken in it.
    pub broken: Option<Box<CoherenceEvent>>,
    /// The name of the outcome, where no move is left.
    pub outcome: Option<Box<str>>,
    /// How many wait.
    pub waits: u16,
    pub is_quiescent: bool,
    maker: usize,
}

impl<S: ExploredSystem> NewState<S> {
    /// It is visited now.
    pub fn waiting(self) -> UnexpandedState<S> {
        UnexpandedState { state: self.state, moves: self.moves, asleep: self.asleep, maker: self.maker }
    }
}

/// What a fair run owes a move, with its action; `None`: nothing.
pub(super) type OwedFairness = Option<(Fairness, u128)>;

/// What the moves of the states of a part lead to, in order.
pub(super) struct Expansion<S: ExploredSystem> {
    /// The thread that made it.
    pub thread: usize,
    /// The part, without its states where this thread had made them.
    pub part: LevelPart<S>,
    /// How many moves were made of each state.
    pub moves: Vec<u16>,
    pub edges: Vec<StateMove>,
    /// Of each edge; empty where liveness is not looked for.
    pub owed: Vec<OwedFairness>,
    /// What sleeps behind the edges, one behind the other.
    pub asleep: Vec<S::Move>,
    pub new: Vec<NewState<S>>,
    /// Who waits in the new states, one state behind the other, each in order; empty where liveness is not looked for.
    pub waits: Vec<AgentWait>,
    pub faults: Vec<CoherenceEvent>,
    /// New states that turned out to be known.
    pub known: Vec<NewState<S>>,
}

impl<S: ExploredSystem> Expansion<S> {
    fn clear(&mut self) {
        let Self { thread: _, part, moves, edges, owed, asleep, new, waits, faults, known } = self;
        part.states.clear();
        moves.clear();
        edges.clear();
        owed.clear();
        asleep.clear();
        new.clear();
        waits.clear();
        faults.clear();
        known.clear();
    }
}

/// Makes the moves of states, and judges what is new.
pub(super) struct Expander<S: ExploredSystem> {
    limits: Limits,
    /// The thread that it works for.
    thread: usize,
    /// A state that shares no memory with those of other threads.
    own: S,
    /// What the part at work has found, and those before it of its level.
    found: HashSet<u128, PrintHash>,
    /// Level and number of the part at work.
    at: (usize, usize),
    /// Expansions to be filled again.
    spare: Vec<Expansion<S>>,
    events: Vec<CoherenceEvent>,
    /// The moves of the state at work that were made and that others may commute with.
    made: Vec<S::Move>,
    /// What sleeps behind the move at work.
    asleep: Vec<S::Move>,
    /// The moves of the state that is judged.
    moves: Vec<S::Move>,
}

impl<S: ExploredSystem> Expander<S> {
    pub fn new(start: &S, limits: Limits, thread: usize) -> Self {
        let (found, at, spare, events, made, asleep, moves) = Default::default();
        Self { limits, thread, own: start.apart(None), found, at, spare, events, made, asleep, moves }
    }

    /// The form of a state that is kept. The moves behind it become moves of that form.
    fn kept(&mut self, state: S) -> S {
        if self.limits.symmetry { state.canonical(&mut self.asleep) } else { state }
    }

    /// The start, judged, with its fingerprint and who waits in it.
    pub fn begin(&mut self) -> (u128, NewState<S>, Vec<AgentWait>) {
        let state = self.own.clone();
        let (state, mut waits) = (self.kept(state), Vec::new());
        (fingerprint(&state), self.judge(state, &mut waits), waits)
    }

    fn judge(&mut self, state: S, waits: &mut Vec<AgentWait>) -> NewState<S> {
        self.moves.clear();
        judge(&state, &mut self.moves, &mut self.events);
        let is_end = self.events.is_empty() && self.moves.is_empty();
        let first = waits.len();
        if self.limits.liveness {
            state.waits(waits);
            scalepool_ordered::sort(&mut waits[first..]);
        }
        NewState {
            outcome: is_end.then(|| state.outcome().into_boxed_str()),
            broken: self.events.drain(..).next().map(Box::new),
            waits: (waits.len() - first) as u16,
            is_quiescent: self.limits.liveness && state.is_quiescent(),
            moves: self.moves.as_slice().into(),
            asleep: self.asleep.clone(),
            state,
            maker: self.thread,
        }
    }

    /// What this thread has made comes back.
    pub fn recycle(&mut self, returned: Returned<S>) {
        // States that another thread has expanded end here.
        drop(returned.states);
        self.spare.extend(returned.expansions.into_iter().map(|mut all| {
            all.clear();
            all
        }));
    }

    fn blank(&mut self, part: LevelPart<S>) -> Expansion<S> {
        if let Some(all) = self.spare.pop() {
            return Expansion { part, ..all };
        }
        let (moves, edges, owed, asleep, new, waits, faults, known) = Default::default();
        Expansion { thread: self.thread, part, moves, edges, owed, asleep, new, waits, faults, known }
    }

    /// The moves of the states of a part, in their order.
    pub fn expand(&mut self, mut part: LevelPart<S>, visited: &VisitedTable) -> Expansion<S> {
        // A part behind this one must not count on it.
        let before = std::mem::replace(&mut self.at, (part.level, part.number));
        if before.0 != part.level || before.1 > part.number {
            self.found.clear();
        }
        let mut states = std::mem::take(&mut part.states);
        let mut all = self.blank(part);
        if states.first().is_some_and(|state| state.maker != self.thread) {
            for from in &states {
                let (moves, asleep) = (from.moves.clone(), from.asleep.clone());
                let state = from.state.apart(Some(&self.own));
                self.expand_state(&UnexpandedState { state, moves, asleep, maker: self.thread }, visited, &mut all);
            }
        } else {
            states.drain(..).for_each(|from| self.expand_state(&from, visited, &mut all));
        }
        all.part.states = states;
        all.known.reserve(all.new.len());
        all
    }

    fn expand_state(&mut self, from: &UnexpandedState<S>, visited: &VisitedTable, all: &mut Expansion<S>) {
        let before = all.edges.len();
        self.made.clear();
        for (ordinal, &mv) in (0..).zip(&from.moves) {
            if !from.asleep.contains(&mv) {
                self.make(from, (ordinal, mv), visited, all);
            }
        }
        all.moves.push((all.edges.len() - before) as u16);
    }

    /// Makes one move.
    fn make(
        &mut self,
        from: &UnexpandedState<S>,
        (ordinal, mv): (u16, S::Move),
        visited: &VisitedTable,
        all: &mut Expansion<S>,
    ) {
        let state = &from.state;
        let mut after = state.clone();
        let moved = after.apply(mv, &mut self.events);
        self.asleep.clear();
        if let Some(agent) = moved.filter(|_| self.limits.reduction) {
            let others = from.asleep.iter().chain(&self.made);
            self.asleep.extend(others.filter_map(|&other| state.commuted(other, agent, &after)));
            self.made.push(mv);
        }
        let after = self.kept(after);
        let print = fingerprint(&after);
        let leads = if let Some(event) = self.events.drain(..).next() {
            all.faults.push(event);
            Leads::Broken
        } else if let Some(number) = visited.number(print) {
            Leads::Known(number)
        } else if !self.found.insert(print) {
            Leads::Found(print)
        } else {
            let new = self.judge(after, &mut all.waits);
            all.new.push(new);
            Leads::New(print)
        };
        if self.limits.liveness {
            let fairness = state.fairness(mv);
            all.owed.push((fairness != Fairness::Optional).then(|| (fairness, state.action(mv))));
        }
        let is_flat = matches!(leads, Leads::Known(_) | Leads::Found(_));
        let asleep = if is_flat { self.asleep.as_slice() } else { &[] };
        all.asleep.extend(asleep);
        all.edges.push(StateMove { leads, ordinal, asleep: asleep.len() as u16 });
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
