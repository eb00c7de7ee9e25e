//! Atomics: an agent reads a line, computes a new value from it and stores that (`bridge` §4.4).
//!
//! CXL.cache and CXL.mem have no atomics, so the agent makes one of a load and a store: a bridge, a core above a cache, the
//! device that owns the memory. Modelled: the time between the two, in which everybody else may act. Detail: one result an
//! agent, which knows by its token whether the value that it was computed from is still the last store. Left out: kinds of
//! operations, elements of a line, the answer to who asked.
//!
//! A walk: [`Operation::Compute`] reads the copy, which is owned; the result is of age [`Age::Based`]. A store of another makes it
//! [`Age::Outdated`]. But ownership has to go before anybody else can store, and with it the result goes ([`Alu::keep`]) and the
//! atomic begins again. [`Operation::StoreResult`] stores it. An atomic that does not hold its line
//! ([`AtomicHold::Unheld`]) reads any copy and stores whenever it owns the line: the store of another agent gets lost (COH-INV-15).

use super::Operation;
use crate::systems::menu::AtomicHold;
use crate::systems::setup::Site;
use scalepool_coherence::content::{LineAddr, LineContent, LineToken};

/// What has been computed and not been stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Alu(Option<(LineAddr, LineToken)>);

impl Alu {
    /// What may be done on a line whose copy may be loaded from, or stored to.
    pub(super) fn operation(&self, site: Site<'_>, line: LineAddr, loads: bool, stores: bool) -> Option<Operation> {
        let hold = site.menu().atomics?;
        match &self.0 {
            Some((own, _)) => (*own == line && stores).then_some(Operation::StoreResult { line }),
            None if loads && (stores || hold == AtomicHold::Unheld) => Some(Operation::Compute { line }),
            None => None,
        }
    }

    /// Whether a result of a line waits to be stored. A store of its own agent that need not be asked for
    /// waits for it.
    pub(super) fn is_at(&self, line: LineAddr) -> bool {
        self.0.is_some_and(|(own, _)| own == line)
    }

    /// A value is read and a new one computed from it.
    pub(super) fn begin(&mut self, site: Site<'_>, line: LineAddr, value: Option<LineToken>) {
        self.0 = value.map(|value| (line, value.computed().poisoned(site.poisons())));
    }

    /// The result of a line, which is stored now.
    pub(super) fn end(&mut self, line: LineAddr) -> Option<LineToken> {
        self.0.take_if(|(own, _)| *own == line).map(|(_, value)| value)
    }

    /// The agent's own core has stored to a line, as it may while a store waits for its grant: the atomic begins again.
    pub(super) fn stored(&mut self, line: LineAddr) {
        self.0.take_if(|(own, _)| *own == line);
    }

    /// Behind a step: the result goes with the ownership of its line, and the atomic begins again.
    pub(super) fn keep(&mut self, site: Site<'_>, owns: impl Fn(LineAddr) -> bool) {
        if site.menu().atomics == Some(AtomicHold::Held) {
            self.0.take_if(|(line, _)| !owns(*line));
        }
    }

    /// The value that it holds.
    pub(super) fn visit(&mut self, f: &mut dyn FnMut(&mut LineToken)) {
        self.0.iter_mut().for_each(|(_, value)| f(value));
    }
}
