//! Fields of 256 elements, and checksums over them as plain sums.
//!
//! CRC and FEC of the 256-byte flit are linear over GF(2^8): checksum byte j is the sum over n of a constant of (j, n)
//! times byte n. The instruction `gf2p8mulb` multiplies 32 bytes by 32 constants of their own at once, but knows one field
//! alone, that with polynomial 11Bh. All fields of 256 elements have the same shape: [`ChecksumFactors`] holds the constants as their
//! images there, and the matrices (8x8 bits) that carry data there and sums back. Everything is computed by the compiler.
//!
//! CPUs without that instruction shuffle bytes: the half of a byte chooses one of 16 products with a constant, and the
//! constant is the same for 16 bytes. That fits sums whose constants are powers, see [`PowerSums`] and [`FoldedSums`].

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
pub(super) struct ChecksumFactors<const SUMS: usize, const BLOCKS: usize> {
    /// Matrix into the CPU's field.
    pub there: u64,
    /// Matrix out of it.
    pub back: u64,
    /// Images of the constants; 0 for bytes that the block before has, too.
    pub factors: [[[u8; BLOCK_BYTES]; SUMS]; BLOCKS],
}

impl<const SUMS: usize, const BLOCKS: usize> ChecksumFactors<SUMS, BLOCKS> {
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
        let mut sums =
            ChecksumFactors { there: matrix(&there), back: matrix(&back), factors: [[[0; BLOCK_BYTES]; SUMS]; BLOCKS] };
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

/// 2 to the power of `n`, which may be negative; 2 generates the field.
pub(super) const fn power(n: i32, field: u16) -> u8 {
    // By squares: the compiler works out some 600 powers for the tables.
    let (mut power, mut square, mut left) = (1, 2, n.rem_euclid(255));
    while left > 0 {
        if left & 1 == 1 {
            power = mul(power, square, field);
        }
        square = mul(square, square, field);
        left >>= 1;
    }
    power
}

/// A byte for each byte of a block.
pub(super) type Block = [u8; BLOCK_BYTES];

/// What a shuffle looks up: products with the values of the low half of a byte, then of the high half. Each has one constant
/// for the first 16 bytes of a block and one for the last 16.
pub(super) type Products = [Block; 2];

/// The products with the two constants.
pub(super) const fn products(constants: [u8; 2], field: u16) -> Products {
    let (mut products, mut n) = ([[0; BLOCK_BYTES]; 2], 0);
    while n < BLOCK_BYTES {
        let (constant, half) = (constants[n / 16], (n % 16) as u8);
        products[0][n] = mul(constant, half, field);
        products[1][n] = mul(constant, half << 4, field);
        n += 1;
    }
    products
}

/// What multiplies every byte of a block with a constant of its own: the constants times the bits of a byte, bit 7 first.
pub(super) type Weights = [Block; 8];

/// The weights of the constants.
pub(super) const fn weights(constants: &Block, field: u16) -> Weights {
    let (mut weights, mut n) = ([[0; BLOCK_BYTES]; 8], 0);
    while n < BLOCK_BYTES {
        let mut bit = 0;
        while bit < 8 {
            weights[bit][n] = mul(constants[n], 0x80 >> bit, field);
            bit += 1;
        }
        n += 1;
    }
    weights
}

/// The constants of `SUMS` sums, at most 8, over a message of `BLOCKS` blocks. Sum i is the message, a polynomial whose
/// highest coefficient is byte 0, at the place 2^(i + 1).
///
/// So byte c of a half block that begins with power e counts 2^(i + 1) to the power of e, times what -c gives: the first
/// factor is the same for the half block, the second one is the same for all half blocks, which are added up before it. The
/// second factor is taken in two parts: bytes 8 to 15 count 2^(i + 1) to the power of -8 more than bytes 0 to 7.
pub(super) struct PowerSums<const SUMS: usize, const BLOCKS: usize> {
    /// The first factor.
    pub products: [[Products; SUMS]; BLOCKS],
    /// What the last 8 bytes of a half block count more: sum n for the first 16 bytes of products n, sum n + 4 for the last.
    pub eight: [Products; 4],
    /// What each of 8 bytes counts: sums 0, 1, 4 and 5, then sums 2, 3, 6 and 7.
    pub weights: [Weights; 2],
}

impl<const SUMS: usize, const BLOCKS: usize> PowerSums<SUMS, BLOCKS> {
    /// `powers` are those with which the half blocks begin.
    pub const fn new(field: u16, powers: [[i32; 2]; BLOCKS]) -> Self {
        assert!(SUMS <= 8);
        let mut all = PowerSums {
            products: [[[[0; BLOCK_BYTES]; 2]; SUMS]; BLOCKS],
            eight: [[[0; BLOCK_BYTES]; 2]; 4],
            weights: [[[0; BLOCK_BYTES]; 8]; 2],
        };
        let mut block = 0;
        while block < BLOCKS {
            let [first, last] = powers[block];
            let mut sum = 0;
            while sum < SUMS {
                let root = sum as i32 + 1;
                all.products[block][sum] = products([power(root * first, field), power(root * last, field)], field);
                sum += 1;
            }
            block += 1;
        }
        let mut n = 0;
        while n < 4 {
            let root = n as i32 + 1;
            all.eight[n] = products([power(-8 * root, field), power(-8 * (root + 4), field)], field);
            n += 1;
        }
        let mut pair = 0;
        while pair < 2 {
            let (mut constants, mut n) = ([0; BLOCK_BYTES], 0);
            while n < BLOCK_BYTES {
                let root = (1 + 2 * pair + n / 8 % 2 + 4 * (n / 16)) as i32;
                constants[n] = power(-root * (n as i32 % 8), field);
                n += 1;
            }
            all.weights[pair] = weights(&constants, field);
            pair += 1;
        }
        all
    }
}

/// Bytes in a row of [`FoldedSums`]: a third of the order of the field.
pub(super) const ROW_BYTES: usize = 85;
/// Rows of it.
pub(super) const FOLDED_ROWS: usize = 3;

/// Eight sums of powers over a message of `BYTES` bytes, at most 255, for which a third of the message is looked up.
///
/// 2^85 is a cube root of 1, which has two others: 1 and its square. Zeros in front of the message fill three rows of 85
/// bytes, and sum i adds them up column by column with powers 0, -(i + 1) and -2 (i + 1) of that root, of which there are
/// three kinds only: by (i + 1) mod 3. So the rows are added up in three ways, with one product a byte, before anything else.
///
/// The columns lie in three blocks: the first one has 8 columns of all rows in its first half and those in front of them, where
/// the first row is empty, in its last half; the others go on behind.
pub(super) struct FoldedSums<const BYTES: usize> {
    /// The root.
    pub root: Products,
    /// Ones for the columns in the first block.
    pub first: Block,
    /// The sums of a row.
    pub row: PowerSums<8, 3>,
}

impl<const BYTES: usize> FoldedSums<BYTES> {
    /// Columns in front of the message.
    const EMPTY: usize = FOLDED_ROWS * ROW_BYTES - BYTES;
    /// Columns in the first half of the first block.
    const SHORT: usize = ROW_BYTES - 2 * BLOCK_BYTES - Self::EMPTY;

    /// Byte of the message at which the part of a row in a half block begins.
    pub const fn at(row: usize, half_block: usize) -> usize {
        let column = match half_block {
            0 => Self::EMPTY,
            1 => 0,
            n => ROW_BYTES - 2 * BLOCK_BYTES + 16 * (n - 2),
        };
        row * ROW_BYTES + column - Self::EMPTY
    }

    /// The message with `zeros` zeros behind it.
    pub const fn new(field: u16, zeros: usize) -> Self {
        assert!(Self::SHORT == 8 && Self::EMPTY <= 16);
        let root = power(ROW_BYTES as i32, field);
        let (mut powers, mut half) = ([[0; 2]; 3], 0);
        while half < 6 {
            // That of the byte of the first row, which may be in front of the message.
            powers[half / 2][half % 2] = (BYTES - 1 + zeros + ROW_BYTES) as i32 - Self::at(1, half) as i32;
            half += 1;
        }
        let (mut first, mut n) = ([0; BLOCK_BYTES], 0);
        while n < 16 {
            first[n] = if n < Self::SHORT { 0xff } else { 0 };
            first[16 + n] = if n < Self::EMPTY { 0xff } else { 0 };
            n += 1;
        }
        FoldedSums { root: products([root; 2], field), first, row: PowerSums::new(field, powers) }
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
