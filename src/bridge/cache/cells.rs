//! Cells of the memory in which the conversion cache lies, and what flips in them (`bridge` §9.1; `memory` §6.1).
//!
//! Modelled: flips by address, in data and check bits alike, until the address is written; the code of the controller, bit by bit; upsets
//! once in so many reads. Of tags that lie there the flips alone are known: the code is linear, so what it finds depends on them and not
//! on the tags, and what a wrong correction makes of a tag is not known. Left out: correction inside the die, patrol, rates of real cells, tags that
//! are wrong and seem right.
//!
//! A walk: two bits of a word of a clean sector flip; it is read, and the syndrome is that of no single bit, so the sector is lost; it is
//! fetched again, and the write of its bytes ends the flips.

use scalepool_kernel::Rng;
use scalepool_memory::LineBytes;
use scalepool_memory::ecc::line::CELL_BITS;
use scalepool_memory::ecc::{EccOutcome, EccScheme, LineCells, LineEcc, OnDieEcc, UpsetConfig, Upsets};
use scalepool_ordered::OrderedMap;

/// Bits of a line without its check bits.
const DATA_BITS: usize = size_of::<LineBytes>() * 8;

/// Codes and upsets of the memory of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheEccConfig {
    /// The code of the controller.
    pub scheme: EccScheme,
    /// Reads from one upset to the next, of data and tags; 0: none.
    pub upset_every: u64,
    /// Different bits that flip in each.
    pub upset_bits: usize,
    /// Seed of the bits that are drawn.
    pub seed: u64,
}

/// The cells.
#[derive(Debug, Clone)]
pub struct CacheCells {
    ecc: LineEcc,
    /// Bits of a line with those that protect it.
    of_bits: usize,
    flips: OrderedMap<u64, LineCells>,
    rng: Rng,
    upsets: Upsets,
}

impl CacheCells {
    /// Cells without a flip.
    pub fn new(config: CacheEccConfig) -> CacheCells {
        let CacheEccConfig { scheme, upset_every: every, upset_bits: bits, .. } = config;
        let of_bits = (DATA_BITS + scheme.check_bits()).min(CELL_BITS);
        let upsets = UpsetConfig { every, bits, of_bits };
        let ecc = LineEcc { scheme, on_die: OnDieEcc::None, die_word_bits: 256 };
        CacheCells {
            ecc,
            flips: OrderedMap::new(),
            rng: Rng::from_seed(config.seed),
            upsets: Upsets::new(upsets),
            of_bits,
        }
    }

    /// Inverts a bit of 64 bytes at an address: 0 to 511 are data, check bits follow.
    pub fn flip(&mut self, address: u64, bit: usize) {
        self.flips.entry(address).or_insert_with(no_flip).flip(bit);
    }

    /// Inverts a bit that there may not be, with the check bits of the code: whether there is.
    pub fn flip_one(&mut self, address: u64, bit: usize) -> bool {
        let is_there = bit < self.of_bits;
        if is_there {
            self.flip(address, bit);
        }
        is_there
    }

    /// 64 bytes at an address are read that were written as this line: what the controller gives, and what it found. What it has corrected is
    /// written anew as it was given, which the caller keeps as the line from then on; what it cannot correct is marked, or dropped; what it
    /// cannot see stays.
    pub fn read(&mut self, address: u64, written: &LineBytes) -> (LineBytes, EccOutcome) {
        self.upset(address);
        let Some(flips) = self.flips.get(&address) else { return (*written, EccOutcome::Good) };
        let (line, outcome) = self.ecc.decode(&self.ecc.encode(written).with(flips));
        if outcome != EccOutcome::Good {
            self.flips.remove(&address);
        }
        (line, outcome)
    }

    /// 64 bytes at an address are written.
    pub fn write(&mut self, address: u64) {
        self.flips.remove(&address);
    }

    fn upset(&mut self, address: u64) {
        let rng = &mut self.rng;
        for bit in self.upsets.before(|below| rng.below(below)) {
            self.flip(address, bit);
        }
    }
}

fn no_flip() -> LineCells {
    LineEcc { scheme: EccScheme::None, on_die: OnDieEcc::None, die_word_bits: 256 }.encode(&[0; DATA_BITS / 8])
}
