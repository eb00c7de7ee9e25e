//! What issues operations to a caching agent: a program, a tester, a trace.

use super::accessor::AccessorMeasured;
use crate::agent::{AgentOutput, Effect};
use crate::config::CoherenceConfig;
use crate::content::{CacheLine, LineAddr};
use crate::message::Msg;
use scalepool_trace::Wait;

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

/// What a core says of its accesses, for traces. It numbers them itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// An access begins.
    Begins {
        /// Its number.
        access: u64,
        /// What it does.
        name: &'static str,
        /// Byte address.
        address: u64,
    },
    /// It waits.
    Waits {
        /// Its number.
        access: u64,
        /// What for.
        wait: Wait,
        /// The access that has to end before.
        on: Option<u64>,
        /// The line whose request has to end before.
        line: Option<LineAddr>,
    },
    /// It waits no more.
    Goes {
        /// Its number.
        access: u64,
    },
    /// What the agent sends on a line in this cycle is sent for it.
    Asks {
        /// Its number.
        access: u64,
        /// The line.
        line: LineAddr,
    },
    /// It has ended.
    Ends {
        /// Its number.
        access: u64,
    },
}

/// A core in front of an agent.
pub trait Core<A> {
    /// One cycle: sees what has ended since the last one, issues what it can.
    fn cycle(
        &mut self,
        agent: &mut A,
        config: &CoherenceConfig,
        cycle: u64,
        effects: &[Effect<CacheLine>],
        out: &mut AgentOutput<CacheLine>,
    ) -> Wants;

    /// Its agent takes a message in this cycle.
    fn heard(&mut self, _cycle: u64, _msg: &Msg<CacheLine>) {}

    /// What has become of its accesses since this was asked last.
    fn told(&mut self) -> Vec<Told> {
        Vec::new()
    }

    /// What it still waits for, for a person to read; `None`: its program is over.
    fn open_work(&self) -> Option<String>;

    /// Whether it still waits for anything; asked in every cycle.
    fn is_open(&self) -> bool {
        self.open_work().is_some()
    }

    /// What it has measured so far; `None`: it measures nothing.
    fn report(&self) -> Option<CoreReport> {
        None
    }
}

/// A core of whatever kind.
pub type AnyCore<A> = Box<dyn Core<A> + Send>;

/// What a core has measured.
#[derive(Debug, Clone)]
pub struct CoreReport {
    /// Its accesses.
    pub measured: AccessorMeasured,
    /// Accesses that were aborted.
    pub aborts: u64,
}

/// No core: the agent acts on messages alone.
#[derive(Debug, Clone, Copy)]
pub struct NoCore;

impl<A> Core<A> for NoCore {
    fn cycle(
        &mut self,
        _: &mut A,
        _: &CoherenceConfig,
        _: u64,
        _: &[Effect<CacheLine>],
        _: &mut AgentOutput<CacheLine>,
    ) -> Wants {
        Wants::Message
    }

    fn open_work(&self) -> Option<String> {
        None
    }
}
