//! Strict priority, lowest number first, with a guard against starvation (`fabric` §6.2).
//!
//! State: for each requester, the number of grants to others since its request began. Without a guard a requester of low
//! priority may wait for ever. With a guard of G slots a requester that has lost G - N + 1 slots is overdue. Overdue
//! requesters go before all others, and among them the one that has waited longest.
//!
//! Bound with a guard: a requester that keeps requesting is granted within G slots, so it loses at most G - 1: when it becomes
//! overdue, each of the N - 2 others that may have been overdue longer goes before it once. G is at least N. Requester 0 loses
//! only to overdue requesters.

use super::{Arbiter, ArbiterError, ArbiterKind, Requests, sized};

/// The arbiter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StrictPriority {
    /// Number of lost slots at which a requester becomes overdue.
    overdue_at: Option<u32>,
    lost: Vec<u32>,
}

fn make(weights: &[u16]) -> Result<Box<dyn Arbiter>, ArbiterError> {
    Ok(Box::new(StrictPriority::new(weights.len(), None)?))
}

impl StrictPriority {
    /// What descriptions call it.
    pub const KIND: ArbiterKind = ArbiterKind {
        name: "strict-priority",
        about: "the requester with the lowest number; the others may starve",
        make,
    };

    /// An arbiter; requester 0 goes first. `guard_slots` is G, `None` for no guard.
    ///
    /// # Errors
    /// [`ArbiterError::Requesters`], [`ArbiterError::Guard`].
    pub fn new(requesters: usize, guard_slots: Option<u32>) -> Result<StrictPriority, ArbiterError> {
        let least = sized(requesters)? as u32;
        let overdue_at = match guard_slots {
            Some(found) if found < least => return Err(ArbiterError::Guard { found, least }),
            guard => guard.map(|slots| slots - least + 1),
        };
        Ok(StrictPriority { overdue_at, lost: vec![0; requesters] })
    }

    /// Slots that each requester has lost since its request began; 0 without a guard.
    pub fn lost_slots(&self) -> &[u32] {
        &self.lost
    }
}

impl Arbiter for StrictPriority {
    fn requesters(&self) -> usize {
        self.lost.len()
    }

    fn arbitrate(&self, requests: &Requests) -> Option<usize> {
        let mut asking = requests.below(self.lost.len());
        let Some(overdue_at) = self.overdue_at else { return asking.next() };
        let overdue = asking.filter(|&i| self.lost[i] >= overdue_at);
        let longest = overdue.max_by_key(|&i| (self.lost[i], std::cmp::Reverse(i)));
        longest.or_else(|| requests.below(self.lost.len()).next())
    }

    fn update(&mut self, requests: &Requests, granted: usize) {
        if self.overdue_at.is_none() {
            return;
        }
        for (i, lost) in self.lost.iter_mut().enumerate() {
            *lost = if requests.contains(i) && i != granted { lost.saturating_add(1) } else { 0 };
        }
    }
}
