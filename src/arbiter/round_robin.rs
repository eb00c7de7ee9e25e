//! Round robin: a pointer that moves one past the winner (`fabric` §6.2).
//!
//! State: the pointer. Bound: a requester that keeps requesting is served within N - 1 grants to others, because each grant
//! moves the pointer past the requester that got it.

use super::requests::first_around_word;
use super::{Arbiter, ArbiterError, ArbiterKind, Requests, sized};

/// The arbiter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoundRobin {
    requesters: usize,
    next: usize,
}

fn make(weights: &[u16]) -> Result<Box<dyn Arbiter>, ArbiterError> {
    Ok(Box::new(RoundRobin::new(weights.len())?))
}

impl RoundRobin {
    /// What descriptions call it.
    pub const KIND: ArbiterKind = ArbiterKind {
        name: "round-robin",
        about: "the first requester at or after a pointer, which moves one past the winner",
        make,
    };

    /// An arbiter whose pointer stands at requester 0.
    ///
    /// # Errors
    /// [`ArbiterError::Requesters`].
    pub fn new(requesters: usize) -> Result<RoundRobin, ArbiterError> {
        Ok(RoundRobin { requesters: sized(requesters)?, next: 0 })
    }

    /// The same with the pointer elsewhere, counted around the end.
    #[must_use]
    pub fn starting_at(mut self, requester: usize) -> RoundRobin {
        self.next = requester % self.requesters;
        self
    }

    /// The requester that is asked first.
    pub const fn pointer(&self) -> usize {
        self.next
    }
}

impl Arbiter for RoundRobin {
    fn requesters(&self) -> usize {
        self.requesters
    }

    #[inline]
    fn arbitrate(&self, requests: &Requests) -> Option<usize> {
        requests.first_around(self.next, self.requesters)
    }

    #[inline]
    fn arbitrate_word(&self, requests: u64) -> Option<usize> {
        first_around_word(requests, self.next, self.requesters)
    }

    #[inline]
    fn update(&mut self, _requests: &Requests, granted: usize) {
        let next = granted + 1;
        self.next = if next >= self.requesters { 0 } else { next };
    }

    #[inline]
    fn update_word(&mut self, _requests: u64, granted: usize) {
        self.update(&Requests::NONE, granted);
    }
}
