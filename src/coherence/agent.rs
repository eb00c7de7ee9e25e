//! What every agent is: a state machine, message in, messages out. No time, no flit, no I/O.

use super::config::CoherenceConfig;
use super::content::{LineAddr, LineContent};
use super::event::CoherenceEvent;
pub use super::ids::AgentPort;
use super::message::Msg;
use std::fmt::Debug;
use std::hash::Hash;

/// Whether a message is taken now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accept {
    /// It is taken.
    Take,
    /// It stays in its channel until the agent's state changes: the blocking rules are here.
    Wait,
}

/// A store that has a place in coherence order now, or an end of a core's request: what the world outside must know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect<D> {
    /// The home (or the device memory) has taken the bytes of a write that came by message: the line's newest value.
    Written(LineAddr),
    /// A core's store has been done in the agent's own copy: the line's newest value.
    Stored(LineAddr),
    /// A value reached a core before its line was cached, or without being cached: `current` says that it must be the
    /// newest value at this very moment (early use before GO), otherwise it may be the newest of an earlier moment.
    Used {
        /// Line read.
        line: LineAddr,
        /// Value that the core saw.
        value: D,
        /// Must be the newest value now.
        current: bool,
    },
    /// The home cannot serve the line: the core gets nothing for its access. The request may end later.
    Refused(LineAddr),
    /// Somebody behind the home has changed the line while nobody held it: what it holds now the next read of memory tells.
    ChangedBehind(LineAddr),
    /// A request of the core has ended.
    Done(LineAddr),
}

impl<D> Effect<D> {
    /// Its line.
    pub fn line(&self) -> LineAddr {
        match self {
            Effect::Written(line)
            | Effect::Stored(line)
            | Effect::Used { line, .. }
            | Effect::Refused(line)
            | Effect::ChangedBehind(line)
            | Effect::Done(line) => *line,
        }
    }
}

/// What a step of an agent produced. The caller owns it and empties it between steps.
#[derive(Debug, Clone)]
pub struct AgentOutput<D> {
    /// Messages to send, in this order.
    pub sends: Vec<(AgentPort, Msg<D>)>,
    /// Broken rules that the agent saw.
    pub events: Vec<CoherenceEvent>,
    /// What happened besides.
    pub effects: Vec<Effect<D>>,
    /// Lines that a core has worked on, for a watcher; a message names its own.
    pub worked: Vec<LineAddr>,
}

impl<D> Default for AgentOutput<D> {
    fn default() -> Self {
        Self { sends: Vec::new(), events: Vec::new(), effects: Vec::new(), worked: Vec::new() }
    }
}

impl<D> AgentOutput<D> {
    /// Sends a message.
    pub fn send(&mut self, port: AgentPort, msg: Msg<D>) {
        self.sends.push((port, msg));
    }

    /// Empties it for the next step.
    pub fn clear(&mut self) {
        self.sends.clear();
        self.events.clear();
        self.effects.clear();
        self.worked.clear();
    }
}

/// A pure state machine. The configuration is an argument, so that it is no part of a state.
pub trait Agent<D: LineContent>: Clone + Eq + Hash + Debug {
    /// Whether `msg` is taken now; pure.
    fn accepts(&self, config: &CoherenceConfig, port: AgentPort, msg: &Msg<D>) -> Accept;

    /// In how many legal ways the agent may take `msg`; way 0 is the default of the configuration. An exploration tries
    /// all of them when [`CoherenceConfig::alternatives`] is on.
    fn ways(&self, _config: &CoherenceConfig, _port: AgentPort, _msg: &Msg<D>) -> u8 {
        1
    }

    /// Takes a message that [`Agent::accepts`] has accepted. A wrong message is an event and changes nothing.
    fn take(&mut self, config: &CoherenceConfig, port: AgentPort, msg: Msg<D>, way: u8, out: &mut AgentOutput<D>);

    /// How many moves of its own the agent can make now, without a message (internal choices); numbered from 0.
    fn choices(&self, _config: &CoherenceConfig) -> u8 {
        0
    }

    /// Makes move number `choice`.
    fn choose(&mut self, _config: &CoherenceConfig, _choice: u8, _out: &mut AgentOutput<D>) {}

    /// Messages that it has answered without an effect, since nothing is there or they may not, for who counts them.
    fn refusals(&self) -> u64 {
        0
    }

    /// Nothing open.
    fn is_idle(&self) -> bool;

    /// Every value that the agent holds, to age them after a store.
    fn visit(&mut self, f: &mut dyn FnMut(&mut D));
}
