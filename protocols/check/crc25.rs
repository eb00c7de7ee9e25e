//! CRC-25 of the NVLink model profile NVL-M1 (`nvlink` §6.2). Basis: model; the real polynomial is not public.
//!
//! A shift register of 25 bits, highest message bit first, no reflection. The default polynomial is
//! (x + 1) m1 m3 with m1 = x^12 + x^6 + x^4 + x + 1 and m3 the minimal polynomial of the cube of a root of m1: it finds
//! every pattern of up to 5 wrong bits in 4095 bits and every burst of up to 25, on one of 1, 2, 4, 8 or 16 lanes too if
//! the bits go to the lanes in the order in which they enter the CRC, bit 127 of a flit first (with bit 0 first, bursts
//! over the border of two flits may stay unseen). Polynomial, initial value and final XOR are parameters; what the CRC
//! covers belongs to [`crate::nvlink`].

use super::simd;

/// Bits of the CRC.
pub const CRC25_BITS: u32 = 25;
/// All ones.
const MASK: u32 = (1 << CRC25_BITS) - 1;
/// x^25+x^24+x^23+x^22+x^17+x^14+x^13+x^7+x^5+x^2+x+1 without its highest term (`nvlink` §6.2).
pub const POLY_NVL_M1: u32 = 0x1c2_60a7;

/// Parameters of a CRC-25. Each has 25 bits; higher ones are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crc25 {
    /// Polynomial without x^25.
    pub poly: u32,
    /// Register before the first bit.
    pub init: u32,
    /// XOR on the register after the last bit.
    pub xorout: u32,
}

impl Default for Crc25 {
    /// The parameters of NVL-M1 (`nvlink` §6.2).
    fn default() -> Crc25 {
        Crc25 { poly: POLY_NVL_M1, init: MASK, xorout: 0 }
    }
}

/// One step: the remainder times x, plus one input bit times x^25.
const fn step(poly: u32, crc: u32, bit: bool) -> u32 {
    let top = (crc >> (CRC25_BITS - 1) & 1 == 1) != bit;
    (crc << 1 ^ if top { poly } else { 0 }) & MASK
}

/// `TABLE[k][b]` is b x^(8k + 25) mod the default polynomial: what byte k of a 128-bit number adds.
static TABLE: [[u32; 256]; 16] = {
    let mut table = [[0; 256]; 16];
    let mut single = 0;
    while single < 8 {
        let b: usize = 1 << single;
        let mut crc = 0;
        let mut bit = 8;
        while bit > 0 {
            bit -= 1;
            crc = step(POLY_NVL_M1, crc, b >> bit & 1 == 1);
        }
        let mut k = 0;
        while k < 16 {
            table[k][b] = crc;
            let mut shift = 0;
            while shift < 8 {
                crc = step(POLY_NVL_M1, crc, false);
                shift += 1;
            }
            k += 1;
        }
        single += 1;
    }
    fill_by_linearity!(table);
    table
};

/// Most flits that are folded at once: what can follow the header of a packet.
pub(super) const FOLDED_FLITS: usize = 17;

/// Factors for the lower and the upper half of a flit: row k moves it over 16 - k flits, that is x^(128 (16 - k)) and x^64
/// more, modulo the default polynomial.
pub(super) const FOLD: [[u64; 2]; FOLDED_FLITS - 1] = {
    let mut fold = [[0; 2]; FOLDED_FLITS - 1];
    let mut power = times_x64(times_x64(1));
    let mut k = FOLDED_FLITS - 1;
    while k > 0 {
        k -= 1;
        fold[k] = [power as u64, times_x64(power) as u64];
        power = times_x64(times_x64(power));
    }
    fold
};

const fn times_x64(mut crc: u32) -> u32 {
    let mut n = 0;
    while n < 64 {
        crc = step(POLY_NVL_M1, crc, false);
        n += 1;
    }
    crc
}

impl Crc25 {
    /// The register before the first bit.
    pub const fn start(&self) -> u32 {
        self.init & MASK
    }

    /// The CRC when the register holds `crc` behind the last bit.
    pub const fn finish(&self, crc: u32) -> u32 {
        (crc ^ self.xorout) & MASK
    }

    /// The definition: the lowest `bits` bits of `message` through the register, highest first. `bits` is at most 128.
    pub fn bitwise(&self, crc: u32, message: u128, bits: u32) -> u32 {
        (0..bits).rev().fold(crc & MASK, |crc, i| step(self.poly, crc, message >> i & 1 == 1))
    }

    /// The register behind whole flits, first one first: carry-less multiplication where the CPU has it and the polynomial
    /// is the default one, else flit by flit.
    #[inline]
    pub fn feed(&self, crc: u32, flits: &[u128]) -> u32 {
        let folded = if self.poly & MASK == POLY_NVL_M1 { simd::crc25_flit(crc & MASK, flits) } else { None };
        match folded {
            // The register is part of the flit.
            Some(flit) => self.update(0, flit, 128),
            None => self.feed_table(crc, flits),
        }
    }

    /// The same, table path.
    pub fn feed_table(&self, crc: u32, flits: &[u128]) -> u32 {
        flits.iter().fold(crc & MASK, |crc, &flit| self.update(crc, flit, 128))
    }

    /// The same as [`Crc25::bitwise`], 16 table look-ups for the default polynomial; the definition for others and for less than 25 bits.
    pub fn update(&self, crc: u32, message: u128, bits: u32) -> u32 {
        if self.poly & MASK != POLY_NVL_M1 || !(CRC25_BITS..=128).contains(&bits) {
            return self.bitwise(crc, message, bits);
        }
        // The register is the sum of its content and the first 25 bits, so the rest is a product with x^25.
        let message = message & (u128::MAX >> (128 - bits)) ^ u128::from(crc & MASK) << (bits - CRC25_BITS);
        let bytes = message.to_le_bytes();
        TABLE.iter().zip(bytes).fold(0, |sum, (row, byte)| sum ^ row[usize::from(byte)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `nvlink` §6.2: "123456789", bytes highest bit first.
    #[test]
    fn known_answers() {
        let text = b"123456789".iter().fold(0u128, |text, &byte| text << 8 | u128::from(byte));
        for (init, want) in [(MASK, 0x1d5_6a14), (0, 0x17e_b263)] {
            let crc = Crc25 { init, ..Crc25::default() };
            assert_eq!(crc.finish(crc.bitwise(crc.start(), text, 72)), want);
            assert_eq!(crc.finish(crc.update(crc.start(), text, 72)), want);
        }
    }

    #[test]
    fn both_paths_are_equal() {
        let mut x = 1u128;
        let crc = Crc25::default();
        let other = Crc25 { poly: 0x0a5_a5a5, ..crc };
        for n in 0..20_000u32 {
            // A plain linear congruential sequence: the values do not matter, that they differ does.
            x = x.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1);
            let (bits, state) = (n % 129, (x >> 90) as u32);
            assert_eq!(crc.update(state, x, bits), crc.bitwise(state, x, bits), "{bits} bits of {x:#x}");
            assert_eq!(other.update(state, x, bits), other.bitwise(state, x, bits), "{bits} bits of {x:#x}");
        }
    }

    /// From no flit to more than are folded, any register, and every single bit of the longest folded message.
    #[test]
    fn flits_in_all_paths_are_equal() {
        let mut x = 3u128;
        for crc in [Crc25::default(), Crc25 { poly: 0x0a5_a5a5, ..Crc25::default() }] {
            for count in 0..=64 {
                let flits: Vec<u128> = (0..count)
                    .map(|_| {
                        x = x.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1);
                        x ^ x >> 64
                    })
                    .collect();
                let register = (x >> 90) as u32;
                let want = flits.iter().fold(register & MASK, |register, &flit| crc.bitwise(register, flit, 128));
                assert_eq!(crc.feed(register, &flits), want, "{count} flits");
                assert_eq!(crc.feed_table(register, &flits), want, "{count} flits");
            }
        }
        let crc = Crc25::default();
        for bit in 0..128 * FOLDED_FLITS {
            let mut flits = [0; FOLDED_FLITS];
            flits[bit / 128] = 1 << (bit % 128);
            let want = flits.iter().fold(0, |register, &flit| crc.bitwise(register, flit, 128));
            assert_eq!((crc.feed(0, &flits), crc.feed_table(0, &flits)), (want, want), "bit {bit}");
        }
    }

    #[test]
    fn the_final_xor_is_applied_once() {
        let crc = Crc25 { xorout: 0x155_5555, ..Crc25::default() };
        let plain = Crc25::default();
        assert_eq!(crc.finish(crc.update(crc.start(), 7, 103)), plain.update(plain.start(), 7, 103) ^ 0x155_5555);
    }
}
