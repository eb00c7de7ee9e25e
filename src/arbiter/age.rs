//! Age-based: the oldest first (`fabric` §6.2).
//!
//! State: a round-robin pointer, which decides among requests of the same age. Bound: a request is served once all older
//! requests and at most N - 1 requests of the same age have been served. The share of one requester has no bound.

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

    /// The requester that gets the slot. `born[i]` is the time at which the request of requester i began, in any unit, or
    /// `None` for no request; requesters beyond the end of the slice do not request.
    pub fn arbitrate(&self, born: &[Option<u64>]) -> Option<usize> {
        let born = &born[..born.len().min(self.ties.requesters())];
        let oldest = born.iter().flatten().min()?;
        let equals = born.iter().enumerate().filter(|(_, b)| b.as_ref() == Some(oldest));
        self.ties.arbitrate(&equals.map(|(i, _)| i).collect())
    }

    /// The grant to `granted` was used, so the pointer moves past it.
    pub fn update(&mut self, granted: usize) {
        self.ties.update(&Requests::NONE, granted);
    }
}
