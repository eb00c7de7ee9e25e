//! Bits of memory cells that flip in a run, as inputs.
//!
//! Modelled: before every Nth request that touches memory, a number of bits of its line flip, drawn from the stream of the device, in
//! data and check bits alike. Left out: rates of real cells, and lines that nobody asks for: those have flips from the start.
//!
//! A walk: N is 100 and two bits flip. Requests 100, 200, 300 .. find two bits of their line changed since it was written.

use scalepool_kernel::Rng;
use scalepool_memory::ecc::EccStore;

/// Which bits flip.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UpsetConfig {
    /// Requests from one upset to the next; 0: none.
    pub every: u64,
    /// Different bits that flip in each.
    pub bits: usize,
    /// Bits of a line with its check bits, of which they are drawn.
    pub of_bits: usize,
}

/// The source.
pub(super) struct Upsets {
    config: UpsetConfig,
    rng: Rng,
    requests: u64,
}

impl Upsets {
    pub(super) fn new(config: UpsetConfig, rng: Rng) -> Upsets {
        Upsets { config, rng, requests: 0 }
    }

    /// A request for the line at an address of a store comes.
    pub(super) fn before(&mut self, address: u64, store: &mut EccStore) {
        let UpsetConfig { every, bits, of_bits } = self.config;
        self.requests += 1;
        if every == 0 || !self.requests.is_multiple_of(every) {
            return;
        }
        let mut flipped = Vec::new();
        while flipped.len() < bits.min(of_bits) {
            let bit = self.rng.below(of_bits as u64) as usize;
            if !flipped.contains(&bit) {
                flipped.push(bit);
                store.flip(address, bit);
            }
        }
    }
}
