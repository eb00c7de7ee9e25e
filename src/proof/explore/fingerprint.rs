//! 128-bit fingerprints of states.
//!
//! The search keeps fingerprints of visited states, not the states. Two states with one fingerprint would hide the
//! second one: with n states the chance is below n²/2¹²⁹, for ten million states about 10⁻²⁵, so it is sound for
//! any practical end. The function is fixed, so that a run counts the same states everywhere.

use std::hash::{Hash, Hasher};

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

/// Fingerprints, numbered in the order in which they come.
///
/// Takes 16 bytes a state, and 8 to 16 more to find it again.
#[derive(Default)]
pub(super) struct Visited {
    prints: Vec<u128>,
    /// Number + 1 of the fingerprint that fell here or behind; 0: free. A power of two long, at most half full.
    slots: Vec<u32>,
}

impl Visited {
    /// Numbers a fingerprint; `Err` with its number when it has one already.
    pub fn insert(&mut self, print: u128) -> Result<u32, u32> {
        if (self.prints.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let slot = self.slot(print);
        match self.slots[slot] {
            0 => {
                self.prints.push(print);
                self.slots[slot] = self.prints.len() as u32;
                Ok(self.prints.len() as u32 - 1)
            }
            taken => Err(taken - 1),
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.prints.clear();
        self.slots.fill(0);
    }

    /// What it keeps \[bytes\].
    pub fn bytes(&self) -> usize {
        size_of_val(self.prints.as_slice()) + size_of_val(self.slots.as_slice())
    }

    /// Whether a fingerprint has a number.
    pub fn has(&self, print: u128) -> bool {
        !self.slots.is_empty() && self.slots[self.slot(print)] != 0
    }

    /// Where a fingerprint stands, or the free place for it.
    fn slot(&self, print: u128) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = print as usize & mask;
        while self.slots[slot] != 0 && self.prints[self.slots[slot] as usize - 1] != print {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.slots = vec![0; (self.slots.len() * 2).max(1024)];
        for (number, &print) in (1..).zip(&self.prints) {
            let slot = self.slot(print);
            self.slots[slot] = number;
        }
    }
}
