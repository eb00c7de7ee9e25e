//! Deficit round robin: packets of different sizes, a byte budget for each requester (`fabric` §6.2).
//!
//! State: the requester whose turn it is, whether it has received its quantum of this turn, and the remaining budgets. In its
//! turn a requester receives its quantum and sends while the packet at the head of its queue fits its budget. Then the turn
//! passes to the next requester. A requester with nothing to send loses its budget.
//!
//! Bounds: at the end of a turn the remaining budget is smaller than the longest packet. So over any number of turns in which
//! a requester always had something to send, the bytes that it sent differ from turns times quantum by less than the longest
//! packet, and in the middle of a turn by one quantum more. A packet of s bytes with a quantum of q bytes is sent in the
//! ceil(s / q)-th turn of its requester at the latest.

use super::{ArbiterError, sized};

/// The arbiter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeficitRoundRobin {
    quanta_bytes: Vec<u32>,
    deficits_bytes: Vec<u64>,
    turn: usize,
    /// The requester whose turn it is has received its quantum.
    earned: bool,
}

impl DeficitRoundRobin {
    /// An arbiter with one quantum for each requester, in bytes; requester 0 has the first turn.
    ///
    /// # Errors
    /// [`ArbiterError::Requesters`], [`ArbiterError::Quantum`].
    pub fn new(quanta_bytes: &[u32]) -> Result<DeficitRoundRobin, ArbiterError> {
        let requesters = sized(quanta_bytes.len())?;
        if let Some(requester) = quanta_bytes.iter().position(|&q| q == 0) {
            return Err(ArbiterError::Quantum { requester });
        }
        let quanta_bytes = quanta_bytes.to_vec();
        Ok(DeficitRoundRobin { quanta_bytes, deficits_bytes: vec![0; requesters], turn: 0, earned: false })
    }

    /// The remaining budget of each requester, in bytes.
    pub fn deficits_bytes(&self) -> &[u64] {
        &self.deficits_bytes
    }

    /// The requester that may send. `heads_bytes[i]` is the size of the packet at the head of the queue of requester i, or
    /// `None` if the queue is empty; requesters beyond the end of the slice have empty queues.
    pub fn arbitrate(&self, heads_bytes: &[Option<u32>]) -> Option<usize> {
        self.clone().find(heads_bytes)
    }

    /// The packet of `granted` was sent; `granted` is what [`DeficitRoundRobin::arbitrate`] returned for the same heads.
    pub fn update(&mut self, heads_bytes: &[Option<u32>], granted: usize) {
        let mut later = self.clone();
        if later.find(heads_bytes) == Some(granted) {
            later.deficits_bytes[granted] -= u64::from(heads_bytes[granted].unwrap_or(0));
            *self = later;
        }
    }

    /// Lets turns pass until a packet fits, and returns its requester.
    fn find(&mut self, heads_bytes: &[Option<u32>]) -> Option<usize> {
        let heads = &heads_bytes[..heads_bytes.len().min(self.quanta_bytes.len())];
        // Whole rounds before the packet of a requester fits its budget. Nothing is sent in the rounds before the smallest.
        let missing = |i: usize, size: u32| {
            let quanta = u64::from(size).saturating_sub(self.deficits_bytes[i]).div_ceil(self.quanta_bytes[i].into());
            quanta.saturating_sub(1)
        };
        let rounds = heads.iter().enumerate().filter_map(|(i, size)| Some(missing(i, (*size)?))).min()?;
        if rounds > 0 {
            for (i, deficit) in self.deficits_bytes.iter_mut().enumerate() {
                let asks = heads.get(i).copied().flatten().is_some();
                *deficit = if asks { *deficit + rounds * u64::from(self.quanta_bytes[i]) } else { 0 };
            }
        }
        loop {
            let i = self.turn;
            match heads.get(i).copied().flatten() {
                None => self.deficits_bytes[i] = 0,
                Some(size) => {
                    if !self.earned {
                        self.deficits_bytes[i] += u64::from(self.quanta_bytes[i]);
                        self.earned = true;
                    }
                    if u64::from(size) <= self.deficits_bytes[i] {
                        return Some(i);
                    }
                }
            }
            (self.turn, self.earned) = ((i + 1) % self.quanta_bytes.len(), false);
        }
    }
}
