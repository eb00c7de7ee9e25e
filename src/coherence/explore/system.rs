//! What can be explored.

use crate::coherence::event::Event;
use scalepool_protocols::cxl::message::Message;
use std::fmt::Debug;
use std::hash::Hash;

/// One step of a run, for charts and replays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// An agent did something of its own.
    Act {
        /// Column of the chart.
        agent: usize,
        /// What, e.g. `Store` or `issues RdOwn`.
        text: String,
        /// Messages that left in this step.
        sent: Vec<Sent>,
    },
    /// A message arrived.
    Deliver {
        /// Column it came from.
        from: usize,
        /// Column it reached.
        to: usize,
        /// Its label.
        label: String,
        /// The message itself.
        message: Message,
        /// What the receiver's program did at once.
        did: Vec<String>,
        /// Messages that left in this step.
        sent: Vec<Sent>,
    },
}

/// A message that left in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Column it leaves.
    pub from: usize,
    /// Column it goes to.
    pub to: usize,
    /// Its label.
    pub label: String,
    /// The message itself.
    pub message: Message,
}

/// A whole system as one state.
pub trait System: Clone + Eq + Hash {
    /// A move.
    type Move: Copy + Debug + PartialEq;

    /// Names of the agents, the columns of a chart.
    fn columns(&self) -> Vec<String>;

    /// Every move that is possible now, in a fixed order.
    fn moves(&self, out: &mut Vec<Self::Move>);

    /// Whether a move only drains (delivers a message, or ends what is open). Moves that begin something do not count
    /// as progress: a state that is not idle must have a draining move.
    fn drains(&self, mv: Self::Move) -> bool;

    /// Makes a move. Broken rules go to `events`.
    fn apply(&mut self, mv: Self::Move, events: &mut Vec<Event>);

    /// What the move is in words; called on the state before [`System::apply`], for counterexamples only.
    fn describe(&self, mv: Self::Move) -> Step;

    /// The invariants of `coherence` §4 in this state.
    fn check(&self, events: &mut Vec<Event>);

    /// Nothing open and nothing under way.
    fn is_idle(&self) -> bool;

    /// What is asked in an idle state besides ([`System::check`]): V14.
    fn check_idle(&self, _events: &mut Vec<Event>) {}

    /// The state's name as an outcome, when no move is left.
    fn outcome(&self) -> String {
        String::new()
    }

    /// An equal state under a renaming of agents that are the same in all respects; the state itself where there is none.
    fn canonical(self) -> Self {
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
