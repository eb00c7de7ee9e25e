//! What issues operations to a caching agent: a program, a tester, a trace.

use crate::agent::{Effect, Out};
use crate::config::CoherenceConfig;
use crate::content::Line;
use crate::message::Msg;

/// When a core wants to be asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// At the next cycle.
    NextCycle,
    /// At this cycle of its clock.
    Cycle(u64),
    /// When its agent has taken a message.
    Message,
}

/// A core in front of an agent.
pub trait Core<A> {
    /// One cycle: sees what has ended since the last one, issues what it can.
    fn cycle(
        &mut self,
        agent: &mut A,
        config: &CoherenceConfig,
        cycle: u64,
        effects: &[Effect<Line>],
        out: &mut Out<Line>,
    ) -> Wants;

    /// Its agent takes a message in this cycle.
    fn heard(&mut self, _cycle: u64, _msg: &Msg<Line>) {}

    /// What it still waits for, for a person to read; `None`: its program is over.
    fn open_work(&self) -> Option<String>;
}

/// No core: the agent acts on messages alone.
#[derive(Debug, Clone, Copy)]
pub struct NoCore;

impl<A> Core<A> for NoCore {
    fn cycle(&mut self, _: &mut A, _: &CoherenceConfig, _: u64, _: &[Effect<Line>], _: &mut Out<Line>) -> Wants {
        Wants::Message
    }

    fn open_work(&self) -> Option<String> {
        None
    }
}
