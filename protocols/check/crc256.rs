//! CRC of the CXL 256-byte flit: 8 bytes for a standard flit, 6 bytes for each latency-optimised half (`cxl-256b` §7).
//!
//! Arithmetic in GF(2^8) with polynomial 12Bh; the generator has the roots alpha^1 .. alpha^n, alpha = 2. Byte 0 of the
//! message is the highest coefficient; the register starts at 0, nothing is reflected or complemented. A CRC is returned
//! as a number whose low byte is the constant term r0: `to_le_bytes` is the order on the wire.

use super::gf256::{self, ChecksumFactors, FoldedSums, PowerSums, block_at};
use super::simd;

/// x^8 + x^5 + x^3 + x + 1, the field of the CRC (`cxl-256b` §7.1; the FEC has another one).
pub const FIELD: u16 = 0x12b;

/// Bytes that the 8-byte CRC covers: flit bytes 0 to 241.
pub const STANDARD_BYTES: usize = 242;
/// Bytes of the even latency-optimised half that its CRC covers: flit bytes 0 to 121.
pub const EVEN_BYTES: usize = 122;
/// Bytes of the odd latency-optimised half that its CRC covers: flit bytes 128 to 243.
pub const ODD_BYTES: usize = 116;
/// Length to which a half is padded with zeros behind its last byte (`cxl-256b` §7.2).
pub const HALF_BYTES: usize = 130;

/// a * b in GF(2^8) with [`FIELD`].
pub const fn gf_mul(a: u8, b: u8) -> u8 {
    gf256::mul(a, b, FIELD)
}

/// Coefficients below x^n of (x + alpha^1)(x + alpha^2)..(x + alpha^n), constant term in the low byte.
const fn generator(n: u32) -> u64 {
    // Multiplying from the top down keeps x^n implicit: g(x)(x + root) shifts the coefficients up and adds root * g.
    let mut low = [0u8; 9];
    low[0] = 1;
    let mut root = 1;
    let mut degree = 0;
    while degree < n {
        root = gf_mul(root, 2);
        let mut i = degree as usize + 1;
        while i > 0 {
            low[i] = low[i - 1] ^ gf_mul(low[i], root);
            i -= 1;
        }
        low[0] = gf_mul(low[0], root);
        degree += 1;
    }
    let mut packed = 0;
    let mut i = 0;
    while i < n as usize {
        packed |= (low[i] as u64) << (8 * i);
        i += 1;
    }
    packed
}

/// Generator of the 8-byte CRC without its x^8: D5 68 FE D5 33 41 4D 69.
pub const GENERATOR_8: u64 = generator(8);
/// Generator of the 6-byte CRC without its x^6: 7E 47 AB 1A A8 32.
pub const GENERATOR_6: u64 = generator(6);

/// One step of the definition: the remainder of N coefficients times x, plus `byte` times x^N.
const fn step<const N: u32>(crc: u64, byte: u8, generator: u64) -> u64 {
    let factor = byte ^ (crc >> (8 * N - 8)) as u8;
    let mut next = crc << 8 & (u64::MAX >> (64 - 8 * N));
    let mut i = 0;
    while i < N {
        next ^= (gf_mul(factor, (generator >> (8 * i)) as u8) as u64) << (8 * i);
        i += 1;
    }
    next
}

/// The definition of the 8-byte CRC: a byte-serial register, byte 0 first.
pub fn crc8_bytewise(message: &[u8; STANDARD_BYTES]) -> u64 {
    message.iter().fold(0, |crc, &b| step::<8>(crc, b, GENERATOR_8))
}

fn crc6_bytewise(half: &[u8]) -> u64 {
    let padding = core::iter::repeat_n(&0, HALF_BYTES - half.len());
    half.iter().chain(padding).fold(0, |crc, &b| step::<6>(crc, b, GENERATOR_6))
}

/// The definition of the CRC of the even half: 122 bytes and 8 zeros.
pub fn crc6_even_bytewise(half: &[u8; EVEN_BYTES]) -> u64 {
    crc6_bytewise(half)
}

/// The definition of the CRC of the odd half: 116 bytes and 14 zeros.
pub fn crc6_odd_bytewise(half: &[u8; ODD_BYTES]) -> u64 {
    crc6_bytewise(half)
}

/// `[n][b]` is b * x^(N + n) modulo the generator of N coefficients.
type CrcTable = [[u64; 256]; 8];

/// The table of b * x^(`from` + n); `from` is at least N.
const fn table<const N: u32>(generator: u64, from: u32) -> CrcTable {
    let mut table = [[0; 256]; 8];
    let mut single = 0;
    while single < 8 {
        let b: usize = 1 << single;
        let mut crc = step::<N>(0, b as u8, generator);
        let mut n = N;
        while n < from + 8 {
            if n >= from {
                table[(n - from) as usize][b] = crc;
            }
            crc = step::<N>(crc, 0, generator);
            n += 1;
        }
        single += 1;
    }
    fill_by_linearity!(table);
    table
}

/// Tables of a CRC of N bytes that cuts the message into parts of so many words of 8 bytes.
struct Tables<const N: u32, const PART_WORDS: usize> {
    /// A word to N bytes.
    word: CrcTable,
    /// N bytes over the next part.
    part: CrcTable,
}

impl<const N: u32, const PART_WORDS: usize> Tables<N, PART_WORDS> {
    const fn new(generator: u64) -> Self {
        // The CRC is what a word of zeros in front of it has become already: x^N is in it.
        Tables { word: table::<N>(generator, N), part: table::<N>(generator, 8 * PART_WORDS as u32) }
    }
}

static TABLES_8: Tables<8, 8> = Tables::new(GENERATOR_8);
static TABLES_6: Tables<6, 5> = Tables::new(GENERATOR_6);

/// Sum over the bytes of a word, the lowest one first in the table.
#[inline(always)]
fn look_up(table: &CrcTable, word: u64) -> u64 {
    (0..8).fold(0, |sum, n| sum ^ table[n][(word >> (8 * n)) as usize & 0xff])
}

/// The table path: eight bytes a step, and four parts of the message side by side, because a step has to wait for the one
/// before; the parts are joined at the end. Zeros in front change nothing, so the first part may be short.
///
/// One part alone takes 139 ns for the CRC of 8 bytes, four take 74 (Xeon, 2.3 GHz nominal).
#[inline(always)]
fn by_words<const N: u32, const PART_WORDS: usize>(message: &[u8], tables: &Tables<N, PART_WORDS>) -> u64 {
    let mut words = [[0; PART_WORDS]; 4];
    let (first, whole) = message.split_at(message.len() % 8);
    let mut places = words.as_flattened_mut().iter_mut().rev();
    for (word, place) in whole.rchunks_exact(8).zip(&mut places) {
        *place = u64::from_be_bytes(word.try_into().expect("8 bytes"));
    }
    if let Some(place) = places.next() {
        *place = first.iter().fold(0, |word, &b| word << 8 | u64::from(b));
    }
    let mut crcs = [0; 4];
    for n in 0..PART_WORDS {
        for (crc, part) in crcs.iter_mut().zip(&words) {
            *crc = look_up(&tables.word, part[n] ^ *crc << (64 - 8 * N));
        }
    }
    crcs.into_iter().fold(0, |crc, next| look_up(&tables.part, crc) ^ next)
}

/// Table path of [`crc8`].
pub fn crc8_table(message: &[u8; STANDARD_BYTES]) -> u64 {
    by_words(message, &TABLES_8)
}

fn crc6_table(half: &[u8]) -> u64 {
    let mut padded = [0; HALF_BYTES];
    padded[..half.len()].copy_from_slice(half);
    by_words(&padded, &TABLES_6)
}

/// Table path of [`crc6_even`].
pub fn crc6_even_table(half: &[u8; EVEN_BYTES]) -> u64 {
    crc6_table(half)
}

/// Table path of [`crc6_odd`].
pub fn crc6_odd_table(half: &[u8; ODD_BYTES]) -> u64 {
    crc6_table(half)
}

/// What each byte of a message counts in each byte of the CRC; `padding` zeros stand behind the message.
const fn factors<const N: usize, const BYTES: usize>(generator: u64, padding: usize) -> [[u8; N]; BYTES] {
    let mut factors = [[0; N]; BYTES];
    let (mut crc, mut n) = (generator, BYTES + padding);
    while n > 0 {
        n -= 1;
        let mut j = 0;
        while j < N && n < BYTES {
            factors[n][j] = (crc >> (8 * j)) as u8;
            j += 1;
        }
        // One place further in front is one x more.
        crc = match N {
            8 => step::<8>(crc, 0, generator),
            _ => step::<6>(crc, 0, generator),
        };
    }
    factors
}

static SUMS_8: ChecksumFactors<8, 8> = ChecksumFactors::new(FIELD, &factors::<8, STANDARD_BYTES>(GENERATOR_8, 0));
static SUMS_EVEN: ChecksumFactors<6, 4> =
    ChecksumFactors::new(FIELD, &factors::<6, EVEN_BYTES>(GENERATOR_6, HALF_BYTES - EVEN_BYTES));
static SUMS_ODD: ChecksumFactors<6, 4> =
    ChecksumFactors::new(FIELD, &factors::<6, ODD_BYTES>(GENERATOR_6, HALF_BYTES - ODD_BYTES));

/// Path of [`crc8`] for CPUs with GFNI; `None` where the CPU has none or it is switched off.
#[inline]
pub fn crc8_gfni(message: &[u8; STANDARD_BYTES]) -> Option<u64> {
    simd::sums(message, &SUMS_8)
}

/// Path of [`crc6_even`] for CPUs with GFNI.
#[inline]
pub fn crc6_even_gfni(half: &[u8; EVEN_BYTES]) -> Option<u64> {
    simd::sums(half, &SUMS_EVEN)
}

/// Path of [`crc6_odd`] for CPUs with GFNI.
#[inline]
pub fn crc6_odd_gfni(half: &[u8; ODD_BYTES]) -> Option<u64> {
    simd::sums(half, &SUMS_ODD)
}

/// Sums over a half, without those bytes of its last block that the block before has, too.
pub(super) struct HalfSums {
    /// Ones for the bytes of the last block that count.
    pub last: [u8; 32],
    /// The sums.
    pub sums: PowerSums<6, 4>,
}

impl HalfSums {
    /// A half of so many bytes, with zeros behind it up to [`HALF_BYTES`] and the CRC.
    const fn new(bytes: usize) -> HalfSums {
        let (mut powers, mut block) = ([[0; 2]; 4], 0);
        while block < 4 {
            let first = (HALF_BYTES + 5 - block_at(block, bytes)) as i32;
            powers[block] = [first, first - 16];
            block += 1;
        }
        let (mut last, mut n) = ([0; 32], 128 - bytes);
        while n < 32 {
            last[n] = 0xff;
            n += 1;
        }
        HalfSums { last, sums: PowerSums::new(FIELD, powers) }
    }
}

static FOLDED_SUMS_8: FoldedSums<STANDARD_BYTES> = FoldedSums::new(FIELD, 8);
static HALF_SUMS_EVEN: HalfSums = HalfSums::new(EVEN_BYTES);
static HALF_SUMS_ODD: HalfSums = HalfSums::new(ODD_BYTES);

/// `[n][b]` is the polynomial of degree below N that is b at the root alpha^(n + 1) of the generator and 0 at its other roots.
pub(super) const fn interpolation<const N: usize>(generator: u64) -> [[u64; 256]; N] {
    let mut table = [[0; 256]; N];
    let mut n = 0;
    while n < N {
        let root = gf256::power(n as i32 + 1, FIELD);
        // The generator divided by x - root, highest coefficient first, and its value at the root.
        let (mut quotient, mut value, mut coefficient, mut j) = ([0; N], 0, 1, N);
        while j > 0 {
            j -= 1;
            quotient[j] = coefficient;
            value = gf_mul(value, root) ^ coefficient;
            coefficient = gf_mul(coefficient, root) ^ (generator >> (8 * j)) as u8;
        }
        let mut inverse = 1;
        while gf_mul(inverse, value) != 1 {
            inverse += 1;
        }
        let mut at = 0;
        while at < 8 * N {
            let (j, bit) = (at / 8, at % 8);
            table[n][1 << bit] |= (gf_mul(gf_mul(quotient[j], inverse), 1 << bit) as u64) << (8 * j);
            at += 1;
        }
        n += 1;
    }
    fill_by_linearity!(table);
    table
}

static INTERPOLATION_8: [[u64; 256]; 8] = interpolation::<8>(GENERATOR_8);
static INTERPOLATION_6: [[u64; 256]; 6] = interpolation::<6>(GENERATOR_6);

/// The polynomial with these values at the roots. A message with room for the CRC behind it has the values that its CRC has.
#[inline]
fn interpolate(values: u64, table: &[[u64; 256]]) -> u64 {
    table.iter().zip(values.to_le_bytes()).fold(0, |crc, (table, value)| crc ^ table[usize::from(value)])
}

/// The values of a message at the roots of the generator, the first one lowest, for CPUs with AVX2.
#[inline]
pub(super) fn crc8_values_avx2(message: &[u8; STANDARD_BYTES]) -> Option<u64> {
    simd::folded_sums(message, &FOLDED_SUMS_8)
}

/// Path of [`crc8`] for CPUs with AVX2; `None` where the CPU has none or it is switched off.
#[inline]
pub fn crc8_avx2(message: &[u8; STANDARD_BYTES]) -> Option<u64> {
    crc8_values_avx2(message).map(|values| interpolate(values, &INTERPOLATION_8))
}

/// Path of [`crc6_even`] for CPUs with AVX2.
#[inline]
pub fn crc6_even_avx2(half: &[u8; EVEN_BYTES]) -> Option<u64> {
    simd::half_sums(half, &HALF_SUMS_EVEN).map(|values| interpolate(values, &INTERPOLATION_6))
}

/// Path of [`crc6_odd`] for CPUs with AVX2.
#[inline]
pub fn crc6_odd_avx2(half: &[u8; ODD_BYTES]) -> Option<u64> {
    simd::half_sums(half, &HALF_SUMS_ODD).map(|values| interpolate(values, &INTERPOLATION_6))
}

/// CRC of a standard 256-byte flit: bytes 0 to 241 in, bytes 242 (low) to 249 (high) out. The fastest path of this machine.
#[inline]
pub fn crc8(message: &[u8; STANDARD_BYTES]) -> u64 {
    crc8_gfni(message).or_else(|| crc8_avx2(message)).unwrap_or_else(|| crc8_table(message))
}

/// CRC of the even latency-optimised half: flit bytes 0 to 121 in, bytes 122 (low) to 127 out; 48 bits. The fastest path
/// of this machine.
#[inline]
pub fn crc6_even(half: &[u8; EVEN_BYTES]) -> u64 {
    crc6_even_gfni(half).or_else(|| crc6_even_avx2(half)).unwrap_or_else(|| crc6_even_table(half))
}

/// CRC of the odd latency-optimised half: flit bytes 128 to 243 in, bytes 250 (low) to 255 out; 48 bits. The fastest path
/// of this machine.
#[inline]
pub fn crc6_odd(half: &[u8; ODD_BYTES]) -> u64 {
    crc6_odd_gfni(half).or_else(|| crc6_odd_avx2(half)).unwrap_or_else(|| crc6_odd_table(half))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::samples;

    fn wire<const N: usize>(crc: u64) -> [u8; N] {
        crc.to_le_bytes()[..N].try_into().expect("N bytes")
    }

    /// `cxl-256b` §7.1, §7.2.
    #[test]
    fn generators() {
        assert_eq!(GENERATOR_8, 0xd568_fed5_3341_4d69);
        assert_eq!(GENERATOR_6, 0x7e47_ab1a_a832);
    }

    /// `cxl-256b` §10.
    #[test]
    fn known_answers_8() {
        let one = |at: usize, value: u8| {
            let mut m = [0; STANDARD_BYTES];
            m[at] = value;
            m
        };
        let start = |bytes: &[u8]| {
            let mut m = [0; STANDARD_BYTES];
            m[..bytes.len()].copy_from_slice(bytes);
            m
        };
        let mut empty = start(&[0xa0, 0x01]);
        empty[240] = 1;
        let cases: [([u8; STANDARD_BYTES], [u8; 8]); 11] = [
            ([0; STANDARD_BYTES], [0; 8]),
            (core::array::from_fn(|i| i as u8), [0xbc, 0xe5, 0x2c, 0x43, 0x1b, 0xba, 0x50, 0x56]),
            ([0xff; STANDARD_BYTES], [0x51, 0x13, 0xc2, 0x34, 0xdd, 0xfe, 0x24, 0x85]),
            (one(241, 0x01), [0x69, 0x4d, 0x41, 0x33, 0xd5, 0xfe, 0x68, 0xd5]),
            (one(241, 0x02), [0xd2, 0x9a, 0x82, 0x66, 0x81, 0xd7, 0xd0, 0x81]),
            (one(240, 0x80), [0xcd, 0x80, 0x45, 0x5a, 0x87, 0xc9, 0x2c, 0x14]),
            (one(120, 0x5a), [0x3c, 0x1b, 0x07, 0x57, 0x0f, 0x2e, 0xe5, 0x65]),
            (empty, [0x05, 0x0b, 0x1d, 0xd0, 0x2f, 0x06, 0x01, 0x46]),
            (start(&[0x04, 0x05]), [0xc0, 0x61, 0x12, 0xf2, 0x07, 0x00, 0xd6, 0x49]),
            (start(&[0xe0, 0x02, 0x00, 0x01, 0x80, 0x14]), [0xcd, 0x5b, 0x54, 0x02, 0xb6, 0x81, 0xfd, 0xf0]),
            (start(&[0xa0, 0x03, 0x34, 0x00, 0x01, 0x00, 0x40]), [0x31, 0xb1, 0x0a, 0x6e, 0x4d, 0x36, 0x74, 0xef]),
        ];
        for (m, want) in cases {
            assert_eq!(wire(crc8_bytewise(&m)), want);
            assert_eq!(wire(crc8_table(&m)), want);
            assert_eq!(wire(crc8(&m)), want);
        }
    }

    /// `cxl-256b` §10.
    #[test]
    fn known_answers_6() {
        let one = |at: usize| {
            let mut m = [0; EVEN_BYTES];
            m[at] = 1;
            m
        };
        for (m, want) in [
            (core::array::from_fn(|i| i as u8), [0x60, 0x5c, 0x52, 0xa8, 0xef, 0x40]),
            (one(121), [0x71, 0xb7, 0x0d, 0xee, 0x19, 0x61]),
            (one(0), [0x59, 0x16, 0x20, 0x2a, 0x8e, 0x62]),
        ] {
            assert_eq!(wire(crc6_even_bytewise(&m)), want);
            assert_eq!(wire(crc6_even_table(&m)), want);
            assert_eq!(wire(crc6_even(&m)), want);
        }
        let mut last = [0; ODD_BYTES];
        last[ODD_BYTES - 1] = 1;
        for (m, want) in [
            (core::array::from_fn(|i| i as u8 + 128), [0x18, 0x6c, 0x07, 0x3f, 0x48, 0x90]),
            (last, [0x90, 0x7c, 0xea, 0x19, 0xbf, 0xec]),
        ] {
            assert_eq!(wire(crc6_odd_bytewise(&m)), want);
            assert_eq!(wire(crc6_odd_table(&m)), want);
            assert_eq!(wire(crc6_odd(&m)), want);
        }
    }

    /// All paths, with single values in every place and with 10^5 random messages.
    #[test]
    fn all_paths_are_equal() {
        type Path<const N: usize> = fn(&[u8; N]) -> u64;
        type SimdPath<const N: usize> = fn(&[u8; N]) -> Option<u64>;
        fn check<const N: usize>(definition: Path<N>, table: Path<N>, simd: [SimdPath<N>; 2], best: Path<N>) {
            let same = |m: &[u8; N]| {
                let want = definition(m);
                assert_eq!((table(m), best(m)), (want, want), "{m:02x?}");
                assert_eq!(simd.map(|path| path(m).unwrap_or(want)), [want; 2], "GFNI, AVX2: {m:02x?}");
            };
            samples::thorough(100_000).for_each(|m| same(&m));
        }
        check(crc8_bytewise, crc8_table, [crc8_gfni, crc8_avx2], crc8);
        check(crc6_even_bytewise, crc6_even_table, [crc6_even_gfni, crc6_even_avx2], crc6_even);
        check(crc6_odd_bytewise, crc6_odd_table, [crc6_odd_gfni, crc6_odd_avx2], crc6_odd);
    }
}
