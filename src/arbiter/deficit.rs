//! Deficit round robin: packets of different sizes, a byte budget for each requester (`fabric` §6.2).
//!
//! State: whose turn it is, whether it has its quantum of this turn, and what is left of the budgets. In its turn a
//! requester earns its quantum and sends while the packet in front fits its budget; then the next one has its turn. One
//! with nothing to send loses its budget.
//!
//! Bounds: what is left of a budget is less than the longest packet when the turn ends, so over any turns in which a
//! requester always had something to send, what it sent differs from turns times quantum by less than the longest packet,
//! and in the middle of a turn by one quantum more. One that keeps asking with a packet of s bytes and a quantum of q has
//! it sent in its ceil(s / q)-th turn at the latest.

use super::{ArbiterError, sized};

/// The arbiter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeficitRoundRobin {
    quanta_bytes: Vec<u32>,
    deficits_bytes: Vec<u64>,
    turn: usize,
    /// The one whose turn it is has its quantum.
    earned: bool,
}

impl DeficitRoundRobin {
    /// An arbiter with one quantum a requester, in bytes; requester 0 has the first turn.
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

    /// What is left of each budget, in bytes.
    pub fn deficits_bytes(&self) -> &[u64] {
        &self.deficits_bytes
    }

    /// Who sends its packet. `heads_bytes[i]` is the size of the packet in front of requester i, `None` for nothing;
    /// requesters that are left out at the end have nothing.
    pub fn arbitrate(&self, heads_bytes: &[Option<u32>]) -> Option<usize> {
        self.clone().find(heads_bytes)
    }

    /// The packet of `granted`, as [`DeficitRoundRobin::arbitrate`] gave it for these heads, was sent.
    pub fn update(&mut self, heads_bytes: &[Option<u32>], granted: usize) {
        let mut later = self.clone();
        if later.find(heads_bytes) == Some(granted) {
            later.deficits_bytes[granted] -= u64::from(heads_bytes[granted].unwrap_or(0));
            *self = later;
        }
    }

    /// Passes turns until a packet fits, and names its requester.
    fn find(&mut self, heads_bytes: &[Option<u32>]) -> Option<usize> {
        let heads = &heads_bytes[..heads_bytes.len().min(self.quanta_bytes.len())];
        // Quanta that each still has to earn, this turn's included; nobody sends in the rounds before the least of them.
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
