//! What can be explored.

use super::fingerprint::fingerprint;
pub use scalepool_coherence::chart::{ChartStep, SentMessage};
use scalepool_coherence::content::{LineAddr, LineContent};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::message::{Dir, Msg};
use std::fmt::{self, Debug};
use std::hash::Hash;

/// What a fair run owes a move (`super::liveness` has the definition).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fairness {
    /// Nothing. It begins something that nobody waits for, and may never be made.
    Optional,
    /// An agent's own step for what it waits for: it is made if it stays possible without a break.
    Weak,
    /// A message, or what an agent owes another: it is taken if it is possible again and again.
    Strong,
}

/// For what somebody waits; what says more about a run stands first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Awaited {
    /// A store whose line has been asked for.
    Store,
    /// A load whose line has been asked for.
    Load,
    /// The end of a request.
    Request,
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Awaited::Store => "a store",
            Awaited::Load => "a load",
            Awaited::Request => "a request",
        })
    }
}

/// Somebody who waits. While it stands in every state of a stretch of a run, it is one and the same wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentWait {
    /// Column of who waits.
    pub agent: usize,
    /// The request, load or store that is not finished yet.
    pub awaited: Awaited,
    /// Line; `None`: the whole cache.
    pub line: Option<LineAddr>,
}

/// The action of a delivery ([`ExploredSystem::action`]): one message on its link, whatever its data.
pub fn delivery<D: LineContent>(link: usize, dir: Dir, msg: &Msg<D>) -> u128 {
    let mut msg = msg.clone();
    if let Some(data) = msg.data_mut() {
        *data = D::ones();
    }
    fingerprint(&(link, dir, msg))
}

/// A whole system as one state.
pub trait ExploredSystem: Clone + Eq + Hash + Send + Sync {
    /// A move.
    type Move: Copy + Debug + PartialEq + Send;

    /// Names of the agents, the columns of a chart.
    fn columns(&self) -> Vec<String>;

    /// Every move that is possible now, in a fixed order.
    fn moves(&self, out: &mut Vec<Self::Move>);

    /// What a fair run owes a move. One that it owes strongly drains: it delivers a message or ends what is open. A state
    /// that is not idle must have one.
    fn fairness(&self, mv: Self::Move) -> Fairness;

    /// Which action a move is part of: moves of different states with one number are the same step to a fair run, and one
    /// of them is enough. Asked of moves that are not optional.
    fn action(&self, mv: Self::Move) -> u128;

    /// Everybody who waits, in any order.
    fn waits(&self, out: &mut Vec<AgentWait>);

    /// Whether the run may rest here for ever: nothing is open, nothing under way, and nobody waits.
    fn is_quiescent(&self) -> bool {
        let mut waits = Vec::new();
        self.waits(&mut waits);
        self.is_idle() && waits.is_empty()
    }

    /// Makes a move. Broken rules go to `events`. Returns the agent whose step it was, if the step changed that agent and messages
    /// alone; `None` where it changed more, as a store does, which makes the values of all others old.
    fn apply(&mut self, mv: Self::Move, events: &mut Vec<CoherenceEvent>) -> Option<usize>;

    /// A delivery that is possible here, as a move of the state `after` behind a step of `agent`, if the two commute; neither
    /// changes more than an agent and messages. `None` for every other move.
    fn commuted(&self, _mv: Self::Move, _agent: usize, _after: &Self) -> Option<Self::Move> {
        None
    }

    /// What the move is in words; called on the state before [`ExploredSystem::apply`], for counterexamples only.
    fn describe(&self, mv: Self::Move) -> ChartStep;

    /// The invariants of `coherence` §4 in this state.
    fn check(&self, events: &mut Vec<CoherenceEvent>);

    /// Nothing open and nothing under way.
    fn is_idle(&self) -> bool;

    /// What is asked in an idle state besides ([`ExploredSystem::check`]): V14.
    fn check_idle(&self, _events: &mut Vec<CoherenceEvent>) {}

    /// The state's name as an outcome, when no move is left.
    fn outcome(&self) -> String {
        String::new()
    }

    /// An equal state that shares no memory with this one. Where two threads have states that share some, each waits for the cache of
    /// the other whenever it makes or drops a copy. What never changes is shared with `beside`, a state of the thread, if there is one.
    fn apart(&self, _beside: Option<&Self>) -> Self {
        self.clone()
    }

    /// Whether some agents are the same in all respects.
    fn has_symmetry(&self) -> bool {
        false
    }

    /// An equal state under a renaming of agents that are the same in all respects; the state itself where there is none. Moves of
    /// the state are renamed too.
    fn canonical(self, _moves: &mut [Self::Move]) -> Self {
        self
    }
}

/// The name of an outcome: the stable letter of each agent and whether memory is current. Where poison may be, a third word
/// says whether memory is poisoned, and of each load of each agent whether it was: `P` poisoned, `c` clean, e.g. `P:cP,`.
pub fn outcome(letters: &str, fresh: bool, poison: Option<(bool, &[Vec<bool>])>) -> String {
    let letter = |poison: &bool| if *poison { 'P' } else { 'c' };
    match poison {
        None => format!("{letters} {fresh}"),
        Some((memory, loads)) => {
            let loads: Vec<String> = loads.iter().map(|of| of.iter().map(letter).collect()).collect();
            format!("{letters} {fresh} {}:{}", letter(&memory), loads.join(","))
        }
    }
}
