//! Parts of CREDIT_INIT that a replay may say again: those that no acknowledged packet has followed.

use super::super::credit::GivenByInit;
use super::{WINDOW_FLITS, steps};
use std::collections::VecDeque;

/// What CREDIT_INIT had given in front of packets that are open.
#[derive(Debug, Clone, Default)]
pub struct OpenParts {
    /// In front of the newest packet.
    newest: GivenByInit,
    /// Open packets in front of which it was new, by their last identifier.
    open: VecDeque<(u16, GivenByInit)>,
}

impl OpenParts {
    /// A packet goes for the first time, behind all that CREDIT_INIT has given.
    pub fn sent(&mut self, last: u16, given: GivenByInit) {
        if self.newest != given {
            self.newest = given;
            self.open.push_back((last, given));
        }
    }

    /// Packets up to an identifier have come: what the peer has heard for good, if that is more than before.
    pub fn acknowledged(&mut self, id: u16) -> Option<GivenByInit> {
        let count = self.open.iter().take_while(|(last, _)| steps(*last, id) < WINDOW_FLITS).count();
        self.open.drain(..count).next_back().map(|(_, given)| given)
    }
}
