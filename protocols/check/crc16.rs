//! CRC-16 of the CXL 68-byte flit (`cxl-68b` §1.6).
//!
//! Polynomial 0x1F053, initial value 0, no reflection, no final XOR; flit bit 511 first. Bit i of the payload stands for
//! x^i, so the CRC is payload(x) * x^16 mod P with the payload read as one little-endian number.

/// x^16 + x^15 + x^14 + x^13 + x^12 + x^6 + x^4 + x + 1 without its highest term.
pub const POLY_CXL68: u16 = 0xf053;

/// Bytes that the CRC covers.
pub const CXL68_BYTES: usize = 64;

/// One step: the remainder times x, plus one input bit times x^16.
const fn step(crc: u16, bit: bool) -> u16 {
    let top = (crc >> 15 == 1) != bit;
    crc << 1 ^ if top { POLY_CXL68 } else { 0 }
}

/// The definition: a shift register, bit 511 first.
pub fn cxl68_bitwise(payload: &[u8; CXL68_BYTES]) -> u16 {
    let mut crc = 0;
    for i in (0..8 * CXL68_BYTES).rev() {
        crc = step(crc, payload[i / 8] >> (i % 8) & 1 == 1);
    }
    crc
}

/// `TABLE[n][b]` is b * x^(8n + 16) mod P: the contribution of byte n of a 16-byte slice.
static TABLE: [[u16; 256]; 16] = {
    let mut table = [[0; 256]; 16];
    let mut single = 0;
    while single < 8 {
        let b: usize = 1 << single;
        let mut crc = 0;
        let mut bit = 8;
        while bit > 0 {
            bit -= 1;
            crc = step(crc, b >> bit & 1 == 1);
        }
        let mut n = 0;
        while n < 16 {
            table[n][b] = crc;
            let mut shift = 0;
            while shift < 8 {
                crc = step(crc, false);
                shift += 1;
            }
            n += 1;
        }
        single += 1;
    }
    fill_by_linearity!(table);
    table
};

/// Table path: 16 bytes a step, byte 63 first.
pub fn cxl68_table(payload: &[u8; CXL68_BYTES]) -> u16 {
    let mut crc = 0u16;
    for slice in payload.rchunks_exact(16) {
        let [low, high] = crc.to_le_bytes();
        let mut next = TABLE[15][(slice[15] ^ high) as usize] ^ TABLE[14][(slice[14] ^ low) as usize];
        for n in 0..14 {
            next ^= TABLE[n][slice[n] as usize];
        }
        crc = next;
    }
    crc
}

/// x^n mod P.
const fn x_pow(n: u32) -> u64 {
    let mut crc = 1u16;
    let mut i = 0;
    while i < n {
        crc = step(crc, false);
        i += 1;
    }
    crc as u64
}

/// What the carry-less path multiplies with. Word k of the payload counts x^(64k + 16).
pub(super) static FOLD: [u64; 8] = {
    let mut fold = [0; 8];
    let mut k = 0;
    while k < 8 {
        fold[k] = x_pow(64 * k as u32 + 16);
        k += 1;
    }
    fold
};
/// x^64 mod P: brings bits 79:64 of the folded sum below x^64.
pub(super) const X64: u64 = x_pow(64);
/// floor(x^64 / P), for the Barrett reduction of a 64-bit remainder; 49 bits.
pub(super) const QUOTIENT: u64 = {
    let p = 1 << 16 | POLY_CXL68 as u128;
    let mut rest = 1u128 << 64;
    let mut quotient = 0;
    let mut bit = 64;
    while bit >= 16 {
        if rest >> bit & 1 == 1 {
            rest ^= p << (bit - 16);
            quotient |= 1 << (bit - 16);
        }
        bit -= 1;
    }
    quotient
};

/// The fastest path of this machine, chosen at run time.
#[inline]
pub fn cxl68(payload: &[u8; CXL68_BYTES]) -> u16 {
    super::simd::crc16_cxl68(payload).unwrap_or_else(|| cxl68_table(payload))
}

/// The same of a payload given as four slots, slot 0 first; bit 0 of a slot is bit 0 of its first byte.
///
/// Whoever turns slots into bytes asks here: bytes that were just written in words of 8 make a read of 16 wait, and a unit
/// with its CRC takes 19 ns instead of 6 (`make bench`).
#[inline]
pub fn cxl68_slots(slots: &[u128; 4]) -> u16 {
    super::simd::crc16_cxl68_slots(slots).unwrap_or_else(|| {
        let bytes = slots.map(u128::to_le_bytes);
        cxl68_table(&core::array::from_fn(|n| bytes[n / 16][n % 16]))
    })
}

/// The carry-less path, `None` where the CPU has none or it is switched off.
pub fn cxl68_simd(payload: &[u8; CXL68_BYTES]) -> Option<u16> {
    super::simd::crc16_cxl68(payload)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::samples;

    fn payloads() -> impl Iterator<Item = [u8; 64]> {
        let one_hot = (0..512).map(|i| {
            let mut p = [0; 64];
            p[i / 8] = 1 << (i % 8);
            p
        });
        one_hot.chain([[0; 64], [0xff; 64]]).chain(samples::random(20_000))
    }

    #[test]
    fn all_paths_are_equal() {
        for p in payloads() {
            let want = cxl68_bitwise(&p);
            assert_eq!(cxl68_table(&p), want);
            let slot = |n: usize| u128::from_le_bytes(core::array::from_fn(|i| p[16 * n + i]));
            assert_eq!(cxl68_slots(&[slot(0), slot(1), slot(2), slot(3)]), want);
            if let Some(simd) = cxl68_simd(&p) {
                assert_eq!(simd, want);
            }
        }
    }

    /// `cxl-68b` §1.6.
    #[test]
    fn known_answers() {
        let bit = |i: usize| {
            let mut p = [0; 64];
            p[i / 8] = 1 << (i % 8);
            p
        };
        let cases = [
            ([0; 64], 0),
            (bit(0), 0xf053),
            (bit(1), 0x10f5),
            (bit(8), 0x3954),
            (bit(127), 0x16b2),
            (bit(128), 0x2d64),
            (bit(511), 0xc47d),
            ([0xff; 64], 0x7856),
            (core::array::from_fn(|i| i as u8), 0xabf7),
        ];
        for (p, want) in cases {
            assert_eq!(cxl68_bitwise(&p), want);
            assert_eq!(cxl68(&p), want);
        }
        let text = b"123456789".iter().fold(0, |crc, b| (0..8).rev().fold(crc, |c, i| step(c, b >> i & 1 == 1)));
        assert_eq!(text, 0x3b99);
    }

    #[test]
    fn one_hot_is_a_power_of_x() {
        for i in 0..512u32 {
            let mut p = [0; 64];
            p[i as usize / 8] = 1 << (i % 8);
            assert_eq!(u64::from(cxl68(&p)), x_pow(16 + i));
        }
    }
}
