//! Fields of 256 elements, and checksums over them as plain sums.
//!
//! CRC and FEC of the 256-byte flit are linear over GF(2^8): checksum byte j is the sum over n of a constant of (j, n)
//! times byte n. The instruction `gf2p8mulb` multiplies 32 bytes by 32 constants of their own at once, but knows one field
//! alone, that with polynomial 11Bh. All fields of 256 elements have the same shape: [`Sums`] holds the constants as their
//! images there, and the matrices (8x8 bits) that carry data there and sums back. Everything is computed by the compiler.

/// The field that the CPU multiplies in: x^8 + x^4 + x^3 + x + 1.
const CPU_FIELD: u16 = 0x11b;
/// Bytes that the CPU takes at once.
pub(super) const BLOCK_BYTES: usize = 32;

/// a * b in GF(2^8) with the polynomial `field`.
pub(super) const fn mul(a: u8, b: u8, field: u16) -> u8 {
    let mut product = 0;
    let mut shifted = a as u16;
    let mut bit = 0;
    while bit < 8 {
        if b >> bit & 1 == 1 {
            product ^= shifted;
        }
        shifted <<= 1;
        if shifted >> 8 == 1 {
            shifted ^= field;
        }
        bit += 1;
    }
    product as u8
}

/// Image of every element of `field` in the CPU's field: x goes to a root there of the polynomial of `field`.
const fn images(field: u16) -> [u8; 256] {
    let mut root = 2;
    loop {
        let (mut value, mut power, mut bit) = (0, 1, 0);
        while bit <= 8 {
            value ^= if field >> bit & 1 == 1 { power } else { 0 };
            power = mul(power, root, CPU_FIELD);
            bit += 1;
        }
        if value == 0 {
            break;
        }
        root += 1;
    }
    let mut images = [0; 256];
    let mut a = 1usize;
    while a < 256 {
        // Without its highest bit, an element was there before.
        let (mut power, mut rest) = (1, a >> 1);
        while rest > 0 {
            power = mul(power, root, CPU_FIELD);
            rest >>= 1;
        }
        let top = 1 << (usize::BITS - 1 - a.leading_zeros());
        images[a] = images[a - top] ^ power;
        a += 1;
    }
    images
}

/// The matrix of a linear map as `gf2p8affineqb` wants it: row i, which gives bit i, is byte 7 - i.
const fn matrix(map: &[u8; 256]) -> u64 {
    let (mut rows, mut i) = (0, 0);
    while i < 64 {
        let (row, bit) = (i / 8, i % 8);
        rows |= ((map[1 << bit] >> row & 1) as u64) << (8 * (7 - row) + bit);
        i += 1;
    }
    rows
}

/// First byte of a block. The last one ends with the message, so it overlaps the one before.
pub(super) const fn block_at(block: usize, message_bytes: usize) -> usize {
    if (block + 1) * BLOCK_BYTES <= message_bytes { block * BLOCK_BYTES } else { message_bytes - BLOCK_BYTES }
}

/// The constants of a checksum of `SUMS` bytes, at most 8, over a message of `BLOCKS` blocks.
pub(super) struct Sums<const SUMS: usize, const BLOCKS: usize> {
    /// Matrix into the CPU's field.
    pub there: u64,
    /// Matrix out of it.
    pub back: u64,
    /// Images of the constants; 0 for bytes that the block before has, too.
    pub factors: [[[u8; BLOCK_BYTES]; SUMS]; BLOCKS],
}

impl<const SUMS: usize, const BLOCKS: usize> Sums<SUMS, BLOCKS> {
    /// `factors[n][j]` is what byte n of the message counts in checksum byte j.
    pub const fn new<const BYTES: usize>(field: u16, factors: &[[u8; SUMS]; BYTES]) -> Self {
        assert!(BYTES.div_ceil(BLOCK_BYTES) == BLOCKS && SUMS <= 8);
        let there = images(field);
        let mut back = [0; 256];
        let mut a = 0;
        while a < 256 {
            back[there[a] as usize] = a as u8;
            a += 1;
        }
        let mut sums = Sums { there: matrix(&there), back: matrix(&back), factors: [[[0; BLOCK_BYTES]; SUMS]; BLOCKS] };
        let mut n = 0;
        while n < BYTES {
            let (block, mut j) = (n / BLOCK_BYTES, 0);
            while j < SUMS {
                sums.factors[block][j][n - block_at(block, BYTES)] = there[factors[n][j] as usize];
                j += 1;
            }
            n += 1;
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{crc256, fec256};

    /// An image of a product is the product of the images, and no two elements share one.
    #[test]
    fn images_keep_products() {
        for field in [crc256::FIELD, fec256::FIELD] {
            let image = images(field);
            let mut seen = [false; 256];
            for a in 0..=255u8 {
                assert!(!core::mem::replace(&mut seen[image[usize::from(a)] as usize], true));
                for b in 0..=255u8 {
                    let product = mul(image[usize::from(a)], image[usize::from(b)], CPU_FIELD);
                    assert_eq!(image[usize::from(mul(a, b, field))], product);
                }
            }
        }
    }
}
