//! A consumer that pauses at random: back-pressure as a fault input.
//!
//! Modelled: in windows of [`WINDOW_CYCLES`] the port hands nothing over, each with the same chance. What a window does
//! follows from its number alone, so it does not matter how often anybody looks. Left out: pauses of other lengths.

use scalepool_kernel::Rng;

/// Flit clocks of a window: nearly two packets of 256 bytes. Our choice.
pub const WINDOW_CYCLES: u64 = 32;

/// When a port hands nothing over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    percent: u64,
    key: u64,
}

impl Stall {
    /// Pauses for this share of the time, 0 to 100; the stream says when.
    pub fn new(percent: u64, mut rng: Rng) -> Stall {
        Stall { percent, key: rng.next_u64() }
    }

    /// The end of the window if the port hands nothing over in this clock.
    pub fn until(&self, cycle: u64) -> Option<u64> {
        let window = cycle / WINDOW_CYCLES;
        let stalls = self.percent > 0 && Rng::from_seed(self.key.wrapping_add(window)).ratio(self.percent, 100);
        stalls.then_some((window + 1) * WINDOW_CYCLES)
    }
}
