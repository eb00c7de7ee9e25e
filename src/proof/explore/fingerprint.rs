//! 128-bit fingerprints of states.
//!
//! The search keeps fingerprints of visited states, not the states. Two states with one fingerprint would hide the
//! second one: with n states the chance is below n²/2¹²⁹, for ten million states about 10⁻²⁵, so it is sound for
//! any practical end. The function is fixed, so that a run counts the same states everywhere.

use std::hash::{BuildHasherDefault, Hash, Hasher};

/// Two independent multiply-and-fold lanes over 64-bit words.
struct Fold {
    a: u64,
    b: u64,
}

fn fold(x: u64, y: u64) -> u64 {
    let wide = u128::from(x) * u128::from(y);
    (wide >> 64) as u64 ^ wide as u64
}

impl Fold {
    #[inline]
    fn word(&mut self, word: u64) {
        // Odd constants without structure: the first digits of pi and of the square root of 2.
        self.a = fold(self.a ^ word, 0x243f_6a88_85a3_08d3).rotate_left(23) ^ word;
        self.b = fold(self.b.wrapping_add(word), 0x6a09_e667_f3bc_c909).rotate_left(41).wrapping_add(word);
    }
}

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word) ^ (chunk.len() as u64) << 56);
        }
    }

    fn write_u8(&mut self, x: u8) {
        self.word(u64::from(x));
    }

    fn write_u16(&mut self, x: u16) {
        self.word(u64::from(x));
    }

    fn write_u32(&mut self, x: u32) {
        self.word(u64::from(x));
    }

    fn write_u64(&mut self, x: u64) {
        self.word(x);
    }

    fn write_u128(&mut self, x: u128) {
        self.word((x >> 64) as u64);
        self.word(x as u64);
    }

    fn write_usize(&mut self, x: usize) {
        self.word(x as u64);
    }

    fn finish(&self) -> u64 {
        self.a
    }
}

/// The fingerprint of a state.
pub fn fingerprint(state: &impl Hash) -> u128 {
    let mut fold = Fold { a: 0x1319_8a2e_0370_7344, b: 0xbb67_ae85_84ca_a73b };
    state.hash(&mut fold);
    fold.word(0xa409_3822_299f_31d0);
    u128::from(fold.a) << 64 | u128::from(fold.b)
}

/// Places of fingerprints in a table of the library: they are spread already.
pub(super) type PrintHash = BuildHasherDefault<LowHalfHasher>;

/// The low half of a fingerprint.
#[derive(Default)]
pub(super) struct LowHalfHasher(u64);

impl Hasher for LowHalfHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = fingerprint(&bytes) as u64;
    }

    fn write_u128(&mut self, print: u128) {
        self.0 = print as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
