//! Matrix arbiter: least recently granted first (`fabric` §6.2).
//!
//! State: one bit a pair, "i goes before j". The winner is the one that goes before all others that ask; then all others
//! go before it. The bits always describe an order, so there is one winner. Bound: a requester that keeps asking is served
//! within N - 1 grants to others, as each of them falls behind it.

use super::{Arbiter, ArbiterError, Requests, all, members, sized};

/// The arbiter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Matrix {
    /// Bit j of row i: i goes before j.
    before: Vec<Requests>,
}

impl Matrix {
    /// An arbiter in which a lower number goes first.
    ///
    /// # Errors
    /// [`ArbiterError::Requesters`].
    pub fn new(requesters: usize) -> Result<Matrix, ArbiterError> {
        let all = all(sized(requesters)?);
        Ok(Matrix { before: (0..requesters).map(|i| all & !(Requests::MAX >> (127 - i))).collect() })
    }

    /// Whether a requester goes before another one; `false` for those that do not exist.
    pub fn goes_before(&self, one: usize, other: usize) -> bool {
        other < self.before.len() && self.before.get(one).is_some_and(|row| row >> other & 1 == 1)
    }
}

impl Arbiter for Matrix {
    fn requesters(&self) -> usize {
        self.before.len()
    }

    fn arbitrate(&self, requests: Requests) -> Option<usize> {
        let requests = requests & all(self.before.len());
        members(requests).find(|&i| requests & !(1 << i) & !self.before[i] == 0)
    }

    fn update(&mut self, _requests: Requests, granted: usize) {
        for (i, row) in self.before.iter_mut().enumerate() {
            *row = if i == granted { 0 } else { *row | 1 << granted };
        }
    }
}
