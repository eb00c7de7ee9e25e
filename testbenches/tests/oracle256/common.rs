//! What the comparisons share: patterns of bits and a frozen sequence of bytes.

use scalepool_protocols::cxl::cxl256::mode::Mode;

/// All ones in the lowest bits, 1 to 128.
pub fn ones(bits: u32) -> u128 {
    u128::MAX >> (128 - bits)
}

/// Zeros, ones, a walking one, a walking zero, alternating bits, and numbers of the sequence.
pub fn patterns(bits: u32) -> Vec<u128> {
    let all = ones(bits);
    let mut bytes = Bytes(u64::from(bits));
    let fixed =
        [0, all, 0x5555_5555_5555_5555_5555_5555_5555_5555 & all, 0xAAAA_AAAA_AAAA_AAAA_AAAA_AAAA_AAAA_AAAA & all];
    let walking = (0..bits).flat_map(|bit| [1 << bit, all & !(1 << bit)]);
    let random = (0..64).map(|_| u128::from_le_bytes(bytes.array()) & all);
    fixed.into_iter().chain(walking).chain(random).collect()
}

/// A 64-bit linear congruential sequence, its high bytes.
pub struct Bytes(pub u64);

impl Bytes {
    pub fn byte(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 56) as u8
    }

    pub fn not_zero(&mut self) -> u8 {
        self.byte().max(1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        usize::from(u16::from_be_bytes(self.array())) % n
    }

    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte())
    }
}

/// Every slot of every mode.
pub fn all_slots() -> impl Iterator<Item = (Mode, usize)> {
    Mode::ALL.into_iter().flat_map(|mode| (0..15).map(move |n| (mode, n)))
}
