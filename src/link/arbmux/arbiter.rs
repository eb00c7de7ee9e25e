//! Weighted arbitration between the two clients at flit boundaries (`cxl-68b` §8.2: the policy is free).
//!
//! Modelled: smooth weighted round robin. Where both clients always have a unit, of `a + b` places in a row the one with
//! weight `a` gets `a`, spread evenly. A place that a client leaves goes to the other one and counts for neither. Left
//! out: priorities inside a client.

use super::state::Instance;

/// The arbiter: weights and how much of its share each client is owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arbiter {
    weights: [u16; 2],
    /// Owed places times the sum of the weights; between minus and plus that sum.
    owed: [i64; 2],
}

impl Arbiter {
    /// An arbiter with places for CXL.io and for CXL.cachemem, 0 to 65535. A client of weight 0 gets only places that the
    /// other one leaves.
    pub const fn new(weights: [u16; 2]) -> Arbiter {
        Arbiter { weights, owed: [0; 2] }
    }

    /// The weights, by [`Instance::index`].
    pub const fn weights(&self) -> [u16; 2] {
        self.weights
    }

    fn with_next_place(&self) -> [i64; 2] {
        [0, 1].map(|n| self.owed[n] + i64::from(self.weights[n]))
    }

    /// Who is asked first for the next place, and who second.
    pub fn order(&self) -> [Instance; 2] {
        let [io, cachemem] = self.with_next_place();
        if io >= cachemem { [Instance::Io, Instance::Cachemem] } else { [Instance::Cachemem, Instance::Io] }
    }

    /// The client that was asked first has taken the place.
    pub fn first_sent(&mut self) {
        let winner = self.order()[0].index();
        let total: i64 = self.weights.iter().map(|&w| i64::from(w)).sum();
        self.owed = self.with_next_place();
        self.owed[winner] -= total;
    }
}
