//! Atomics: an agent reads a line, computes a new value from it and stores that value (`bridge` §4.4).
//!
//! CXL.cache and CXL.mem have no atomics, so the agent builds one from a load and a store. The agent may be a bridge, a
//! core above a cache, or the device that owns the memory. Modelled: the time between the load and the store, in which
//! every other agent may act. Detail: one pending result per agent; its token tells whether the result was computed from
//! the last store. Left out: the kinds of operation, the elements of a line, and the response to the requester of the
//! atomic.
//!
//! A walk through one atomic: [`Operation::Compute`] reads the copy, which is owned, and the result has the age
//! [`Age::Based`]. A store of another agent would make the age [`Age::Outdated`]. However, the other agent can store only
//! after this agent has lost ownership; the result is dropped with the ownership ([`Alu::keep`]), and the atomic starts
//! again. [`Operation::StoreResult`] stores the result. An atomic that does not hold its line ([`AtomicHold::Unheld`])
//! reads any copy and stores whenever the agent owns the line, so the store of another agent is lost (COH-INV-15).

use super::Operation;
use crate::systems::menu::AtomicHold;
use crate::systems::setup::AgentSite;
use scalepool_coherence::content::{LineAddr, LineContent, LineToken};

/// The result that has been computed and not yet stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Alu(Option<(LineAddr, LineToken)>);

impl Alu {
    /// The atomic operation that is possible on a line; `loads` and `stores` tell whether the agent may load from its
    /// copy and store to it.
    pub(super) fn operation(
        &self,
        site: AgentSite<'_>,
        line: LineAddr,
        loads: bool,
        stores: bool,
    ) -> Option<Operation> {
        let hold = site.menu().atomics?;
        match &self.0 {
            Some((own, _)) => (*own == line && stores).then_some(Operation::StoreResult { line }),
            None if loads && (stores || hold == AtomicHold::Unheld) => Some(Operation::Compute { line }),
            None => None,
        }
    }

    /// Whether a result for a line waits to be stored. A store of the same agent that needs no request waits for it.
    pub(super) fn is_at(&self, line: LineAddr) -> bool {
        self.0.is_some_and(|(own, _)| own == line)
    }

    /// Reads a value and computes a new one from it.
    pub(super) fn begin(&mut self, site: AgentSite<'_>, line: LineAddr, value: Option<LineToken>) {
        self.0 = value.map(|value| (line, value.computed().poisoned(site.poisons())));
    }

    /// Takes the result for a line, to be stored now.
    pub(super) fn end(&mut self, line: LineAddr) -> Option<LineToken> {
        self.0.take_if(|(own, _)| *own == line).map(|(_, value)| value)
    }

    /// Restarts the atomic, because the agent's own core has stored to the line, as it may while a store waits for its
    /// grant.
    pub(super) fn stored(&mut self, line: LineAddr) {
        self.0.take_if(|(own, _)| *own == line);
    }

    /// Called after a step: drops the result if the agent no longer owns its line, so the atomic starts again.
    pub(super) fn keep(&mut self, site: AgentSite<'_>, owns: impl Fn(LineAddr) -> bool) {
        if site.menu().atomics == Some(AtomicHold::Held) {
            self.0.take_if(|(line, _)| !owns(*line));
        }
    }

    /// Visits the pending value.
    pub(super) fn visit(&mut self, f: &mut dyn FnMut(&mut LineToken)) {
        self.0.iter_mut().for_each(|(_, value)| f(value));
    }
}
