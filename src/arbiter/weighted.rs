//! Smooth weighted round robin: the one that is owed most is next (`fabric` §6.2).
//!
//! State: for each requester what it is owed, in grants times the sum of weights, so it is an integer. In a slot each that
//! asks earns its weight, the one with the most wins (the lower number of equals) and pays the weights of all that asked.
//! One that does not ask neither earns nor pays; alone it pays what it earns. So the debts always sum to 0.
//!
//! Bounds, N requesters, W the sum of weights: when all ask, a requester of weight w gets exactly w of any W grants in a
//! row from the beginning on, and is never a whole grant ahead of its share nor more than N - 1 behind. Whoever asks when, no debt
//! leaves -W to (N - 1) W, so one that keeps asking with weight w is served within N W / w grants to others (tried in every
//! state of up to 3 requesters with weights 1 to 3 and of some sets of 4 and 5). One of weight 0 gets only slots that no
//! other wants. The ARB/MUX of a CXL link shares its wire so (`cxl-68b` §8.2).

use super::{Arbiter, ArbiterError, ArbiterKind, Requests, sized};

/// The arbiter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WeightedRoundRobin {
    weights: Vec<u16>,
    owed: Vec<i64>,
}

impl WeightedRoundRobin {
    /// What descriptions call it.
    pub const KIND: ArbiterKind = ArbiterKind {
        name: "weighted-round-robin",
        about: "the one that is owed most by its weight",
        make: |weights| Ok(Box::new(WeightedRoundRobin::new(weights)?)),
    };

    /// An arbiter with one weight a requester, 0 to 65535; nobody is owed anything.
    ///
    /// # Errors
    /// [`ArbiterError::Requesters`].
    pub fn new(weights: &[u16]) -> Result<WeightedRoundRobin, ArbiterError> {
        sized(weights.len())?;
        Ok(WeightedRoundRobin { weights: weights.to_vec(), owed: vec![0; weights.len()] })
    }

    /// The weights.
    pub fn weights(&self) -> &[u16] {
        &self.weights
    }

    /// What each is owed, in grants times the sum of weights of those that asked.
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
        // Of equals `max_by_key` takes the last, so the numbers go down; a weight never loses against none.
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
