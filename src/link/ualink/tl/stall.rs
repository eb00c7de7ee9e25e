//! A consumer that pauses at random: back-pressure as a fault input.
//!
//! Modelled: in each flit clock in which something of a class waits, whether it is taken, with the same chance. Left out: pauses
//! of a length.

use super::{Tl, TlClass};
use scalepool_kernel::Rng;

/// When received transactions wait. Drawn only where something waits, so looking at a port that rests changes nothing.
#[derive(Debug)]
pub struct TakeStall {
    percent: u64,
    rng: Rng,
}

impl TakeStall {
    /// What is received is not taken in `percent` of 100 flit clocks, for each class by itself.
    pub fn new(percent: u64, rng: Rng) -> TakeStall {
        TakeStall { percent, rng }
    }

    /// Whether there are received transactions of a class, and this clock is not stalled.
    pub fn may_take(&mut self, tl: &Tl, class: TlClass) -> bool {
        tl.received(class) > 0 && !(self.percent > 0 && self.rng.ratio(self.percent, 100))
    }
}
