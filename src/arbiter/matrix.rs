//! Matrix arbiter: least recently granted first (`fabric` §6.2).
//!
//! State in hardware: one bit for each pair, "i goes before j". The winner is the requester that goes before all others that
//! request; after its grant all others go before it. The bits always describe an order, so there is exactly one winner. The
//! model keeps the place of each requester in that order instead of the bits. Bound: a requester that keeps requesting is
//! served within N - 1 grants to others, because each of them falls behind it.

use super::{Arbiter, ArbiterError, ArbiterKind, Requests, sized};

/// The arbiter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Matrix {
    /// Place of each requester in the order; the requester at place 0 goes before all others.
    places: Vec<u16>,
}

fn make(weights: &[u16]) -> Result<Box<dyn Arbiter>, ArbiterError> {
    Ok(Box::new(Matrix::new(weights.len())?))
}

impl Matrix {
    /// What descriptions call it.
    pub const KIND: ArbiterKind = ArbiterKind { name: "matrix", about: "the least recently granted requester", make };

    /// An arbiter in which a lower number goes first.
    ///
    /// # Errors
    /// [`ArbiterError::Requesters`].
    pub fn new(requesters: usize) -> Result<Matrix, ArbiterError> {
        Ok(Matrix { places: (0..sized(requesters)? as u16).collect() })
    }

    /// Whether a requester goes before another one; `false` for those that do not exist.
    pub fn goes_before(&self, one: usize, other: usize) -> bool {
        let place = |requester: usize| self.places.get(requester);
        place(one).zip(place(other)).is_some_and(|(one, other)| one < other)
    }
}

impl Arbiter for Matrix {
    fn requesters(&self) -> usize {
        self.places.len()
    }

    fn arbitrate(&self, requests: &Requests) -> Option<usize> {
        requests.below(self.places.len()).min_by_key(|&i| self.places[i])
    }

    fn update(&mut self, _requests: &Requests, granted: usize) {
        let last = self.places.len() as u16 - 1;
        let Some(place) = self.places.get_mut(granted).map(|place| std::mem::replace(place, last)) else { return };
        for (i, other) in self.places.iter_mut().enumerate() {
            *other -= u16::from(i != granted && *other > place);
        }
    }
}
