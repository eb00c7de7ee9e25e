//! Tables by numbers, such as addresses and tags.
//!
//! Modelled: nothing of the hardware. Left out: an order; whoever reads a whole table sorts what it reads. Nobody chooses
//! the numbers to do harm, so a product spreads them well enough. A tree of some thousand pages takes about 100 instructions
//! an access more.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A table by a number.
pub type SpreadMap<V> = HashMap<u64, V, BuildHasherDefault<SpreadHasher>>;
/// A set of numbers.
pub type SpreadSet<N> = HashSet<N, BuildHasherDefault<SpreadHasher>>;

/// Spreads numbers over a table: the halves of one product.
#[derive(Debug, Default, Clone)]
pub struct SpreadHasher(u64);

impl Hasher for SpreadHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(self.0 << 8 | u64::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        let product = u128::from(number) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
