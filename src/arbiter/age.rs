//! Age-based: the oldest first (`fabric` §6.2).
//!
//! State: a round-robin pointer, which decides among equals. Bound: a request is served when all that is older, and at
//! most N - 1 of the same age, is; how much of the resource one requester gets has no bound.

use super::{Arbiter, ArbiterError, Requests, RoundRobin};

/// The arbiter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AgeBased {
    ties: RoundRobin,
}

impl AgeBased {
    /// An arbiter whose pointer stands at requester 0.
    ///
    /// # Errors
    /// [`ArbiterError::Requesters`].
    pub fn new(requesters: usize) -> Result<AgeBased, ArbiterError> {
        Ok(AgeBased { ties: RoundRobin::new(requesters)? })
    }

    /// Who gets the slot. `born[i]` is when the request of requester i began, in a unit of the caller, `None` for no
    /// request; requesters that are left out at the end do not ask.
    pub fn arbitrate(&self, born: &[Option<u64>]) -> Option<usize> {
        let born = &born[..born.len().min(self.ties.requesters())];
        let oldest = born.iter().flatten().min()?;
        let equals = born.iter().enumerate().filter(|(_, b)| b.as_ref() == Some(oldest));
        self.ties.arbitrate(&equals.map(|(i, _)| i).collect())
    }

    /// The grant was used.
    pub fn update(&mut self, granted: usize) {
        self.ties.update(&Requests::NONE, granted);
    }
}
