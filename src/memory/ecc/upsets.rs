//! Bits of memory cells that flip in a run, as inputs.
//!
//! Modelled: before every Nth access a number of bits of its line flip, drawn by the caller's stream of random numbers, in data and check
//! bits alike. Left out: rates of real cells, and lines that nobody asks for: those have flips from the start.
//!
//! A walk: N is 100 and two bits flip. Accesses 100, 200, 300 .. find two bits of their line changed since it was written.

/// Which bits flip.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UpsetConfig {
    /// Accesses from one upset to the next; 0: none.
    pub every: u64,
    /// Different bits that flip in each.
    pub bits: usize,
    /// Bits of a line with its check bits, of which they are drawn.
    pub of_bits: usize,
}

/// The counter of accesses.
#[derive(Debug, Clone)]
pub struct Upsets {
    config: UpsetConfig,
    accesses: u64,
}

impl Upsets {
    /// Nothing was accessed yet.
    pub fn new(config: UpsetConfig) -> Upsets {
        Upsets { config, accesses: 0 }
    }

    /// A line is accessed: the bits of it that flip before, all different; `draw` gives a random number below its argument.
    pub fn before(&mut self, mut draw: impl FnMut(u64) -> u64) -> Vec<usize> {
        let UpsetConfig { every, bits, of_bits } = self.config;
        let mut flipped = Vec::new();
        self.accesses += 1;
        if every == 0 || !self.accesses.is_multiple_of(every) {
            return flipped;
        }
        while flipped.len() < bits.min(of_bits) {
            let bit = draw(of_bits as u64) as usize;
            if !flipped.contains(&bit) {
                flipped.push(bit);
            }
        }
        flipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers 0, 0, 1, 1, 2, 2 .. below the limit.
    fn twice() -> impl FnMut(u64) -> u64 {
        let mut n = 0;
        move |below| {
            n += 1;
            (n - 1) / 2 % below
        }
    }

    #[test]
    fn every_nth_access_flips_different_bits() {
        let mut upsets = Upsets::new(UpsetConfig { every: 3, bits: 2, of_bits: 512 });
        let mut draw = twice();
        let found: Vec<_> = (0..6).map(|_| upsets.before(&mut draw)).collect();
        assert_eq!(found, [vec![], vec![], vec![0, 1], vec![], vec![], vec![1, 2]]);
    }

    #[test]
    fn never_and_no_more_bits_than_there_are() {
        let mut none = Upsets::new(UpsetConfig { every: 0, bits: 2, of_bits: 512 });
        assert!((0..10).all(|_| none.before(twice()).is_empty()));
        let mut all = Upsets::new(UpsetConfig { every: 1, bits: 9, of_bits: 3 });
        assert_eq!(all.before(twice()), [0, 1, 2]);
    }
}
