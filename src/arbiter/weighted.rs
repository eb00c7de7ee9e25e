//! Smooth weighted round robin: the requester that is furthest behind its share is next (`fabric` §6.2).
//!
//! State: a balance for each requester, the grants that it is owed times the sum of weights, which is an integer. In a slot
//! every requester that requests adds its weight to its balance. The largest balance wins (of equal ones the lower number)
//! and pays the weights of all that requested. The balance of a requester that does not request stays as it is, so the
//! balances always sum to 0.
//!
//! Bounds, N requesters, W the sum of weights: while all request, a requester of weight w gets exactly w of any W consecutive
//! grants, counted from the start, and is never a whole grant ahead of its share nor more than N - 1 behind. Whatever the
//! requests, each balance stays within -W to (N - 1) W, so a requester of weight w that keeps requesting is served within
//! N W / w grants to others (tried in every state of up to 3 requesters with weights 1 to 3, and of some sets of 4 and 5). A
//! requester of weight 0 gets only slots in which no other requests. The ARB/MUX of a CXL link shares its wire this way
//! (`cxl-68b` §8.2).

use super::{Arbiter, ArbiterError, ArbiterKind, Requests, sized};

/// The arbiter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WeightedRoundRobin {
    weights: Vec<u16>,
    owed: Vec<i64>,
}

fn make(weights: &[u16]) -> Result<Box<dyn Arbiter>, ArbiterError> {
    Ok(Box::new(WeightedRoundRobin::new(weights)?))
}

impl WeightedRoundRobin {
    /// What descriptions call it.
    pub const KIND: ArbiterKind = ArbiterKind {
        name: "weighted-round-robin",
        about: "the requester that is furthest behind the share of its weight",
        make,
    };

    /// An arbiter with one weight for each requester, 0 to 65535; all balances are 0.
    ///
    /// # Errors
    /// [`ArbiterError::Requesters`].
    pub fn new(weights: &[u16]) -> Result<WeightedRoundRobin, ArbiterError> {
        sized(weights.len())?;
        Ok(WeightedRoundRobin { weights: weights.to_vec(), owed: vec![0; weights.len()] })
    }

    /// The weight of each requester.
    pub fn weights(&self) -> &[u16] {
        &self.weights
    }

    /// The balance of each requester: grants that it is owed times the sum of weights of the requesters that took part.
    pub fn owed(&self) -> &[i64] {
        &self.owed
    }

    fn with_this_slot(&self, requester: usize) -> i64 {
        self.owed[requester] + i64::from(self.weights[requester])
    }
}

impl Arbiter for WeightedRoundRobin {
    fn requesters(&self) -> usize {
        self.weights.len()
    }

    fn arbitrate(&self, requests: &Requests) -> Option<usize> {
        let asking = requests.below(self.weights.len());
        // `max_by_key` takes the last of equal balances, so numbers are compared in reverse. A requester of weight 0 loses
        // to every requester with a weight.
        asking.max_by_key(|&i| (self.weights[i] > 0, self.with_this_slot(i), std::cmp::Reverse(i)))
    }

    fn update(&mut self, requests: &Requests, granted: usize) {
        let mut paid = 0;
        for i in requests.below(self.weights.len()) {
            self.owed[i] = self.with_this_slot(i);
            paid += i64::from(self.weights[i]);
        }
        if let Some(winner) = self.owed.get_mut(granted) {
            *winner -= paid;
        }
    }
}
