//! What the states inside a host are at the CXL boundary (`coherence` §3.7).
//!
//! Modelled: the states of a host's own protocol and what each may say outside, where only M, E, S and I exist. Left out:
//! that protocol.

use super::tables::Copy4;
use crate::content::LineAddr;
use crate::event::CoherenceEvent;

/// State of a line inside a host with several caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inside {
    /// Modified.
    M,
    /// Owned: dirty, and other caches of the host have copies.
    O,
    /// Exclusive.
    E,
    /// Shared.
    S,
    /// Forward: shared, and this cache answers for the others.
    F,
    /// Invalid.
    I,
}

impl Inside {
    /// The state outside: a dirty line is M whoever shares it inside, F is one of several S.
    pub fn outside(self) -> Copy4 {
        match self {
            Inside::M | Inside::O => Copy4::M,
            Inside::E => Copy4::E,
            Inside::S | Inside::F => Copy4::S,
            Inside::I => Copy4::I,
        }
    }

    /// What is wrong when the host says `said` of the line; clean copies may be said to be less than they are, and a
    /// line whose bytes have been written back counts as clean.
    pub fn check(self, line: LineAddr, said: Copy4, written_back: bool) -> Option<CoherenceEvent> {
        let holds = match (self.outside(), written_back) {
            (Copy4::M, true) => Copy4::E,
            (state, _) => state,
        };
        let legal = if holds == Copy4::M { said == Copy4::M } else { said <= holds };
        let found = format!("{} said of a line in {self:?}", said.letter());
        (!legal).then(|| CoherenceEvent::new("COH-MHO-03", line, "host", found, format!("{}", holds.letter())))
    }
}
