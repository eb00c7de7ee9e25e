//! Checksum paths with carry-less multiplication, with multiplication in GF(2^8) and with shuffles of bytes. The only
//! `unsafe` of the codecs: calls of CPU intrinsics behind a run-time test of the CPU.
#![allow(unsafe_code)]

use super::Simd;
use super::crc25::FOLDED_FLITS;
use super::crc256::HalfSums;
use super::fec256::{GROUPS, Rows};
use super::gf256::{ChecksumFactors, FoldedSums};
use super::pcie::FOLDED_BLOCKS;
use core::sync::atomic::{AtomicU8, Ordering};

/// What may be used, see [`super::use_simd`].
pub(super) static LIMIT: AtomicU8 = AtomicU8::new(Simd::All as u8);

/// Whether these instructions may be used where the CPU has them.
#[inline]
fn allowed(simd: Simd) -> bool {
    LIMIT.load(Ordering::Relaxed) >= simd as u8
}

/// CRC-16 of the payload of a CXL 68-byte flit, `None` where the CPU cannot do it.
#[inline]
pub(super) fn crc16_cxl68(payload: &[u8; 64]) -> Option<u16> {
    #[cfg(target_arch = "x86_64")]
    if allowed(Simd::Avx2) && is_x86_feature_detected!("pclmulqdq") {
        // SAFETY: the CPU has pclmulqdq, tested in this expression.
        return Some(unsafe { x86::crc16_cxl68(payload) });
    }
    None
}

/// The same of a payload given as four slots.
#[inline]
pub(super) fn crc16_cxl68_slots(slots: &[u128; 4]) -> Option<u16> {
    #[cfg(target_arch = "x86_64")]
    if allowed(Simd::Avx2) && is_x86_feature_detected!("pclmulqdq") {
        // SAFETY: the CPU has pclmulqdq, tested in this expression.
        return Some(unsafe { x86::crc16_cxl68_slots(slots) });
    }
    None
}

/// Whole blocks of a message, in front of which stands the register of the reflected CRC-32, as one block that leaves the
/// same remainder. `None` where the CPU cannot do it, and for less than [`FOLDED_BLOCKS`](super::pcie::FOLDED_BLOCKS) blocks.
#[inline]
pub(super) fn crc32_block(register: u32, blocks: &[[u8; 16]]) -> Option<[u8; 16]> {
    #[cfg(target_arch = "x86_64")]
    if blocks.len() >= FOLDED_BLOCKS && allowed(Simd::Avx2) && is_x86_feature_detected!("pclmulqdq") {
        // SAFETY: the CPU has pclmulqdq, tested in this expression.
        return Some(unsafe { x86::crc32_block(register, blocks) });
    }
    None
}

/// Flits behind a register of the NVLink CRC-25 as one flit that leaves the same remainder. `None` where the CPU cannot do
/// it, for no flit, and for more than [`FOLDED_FLITS`](super::crc25::FOLDED_FLITS).
#[inline]
pub(super) fn crc25_flit(register: u32, flits: &[u128]) -> Option<u128> {
    #[cfg(target_arch = "x86_64")]
    if (1..=FOLDED_FLITS).contains(&flits.len()) && allowed(Simd::Avx2) && is_x86_feature_detected!("pclmulqdq") {
        // SAFETY: the CPU has pclmulqdq, tested in this expression.
        return Some(unsafe { x86::crc25_flit(register, flits) });
    }
    None
}

/// Sums of constants times bytes, sum 0 in the low byte; `None` where the CPU cannot do it.
#[inline]
pub(super) fn sums<const SUMS: usize, const BLOCKS: usize, const BYTES: usize>(
    message: &[u8; BYTES],
    sums: &ChecksumFactors<SUMS, BLOCKS>,
) -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    if allowed(Simd::All) && is_x86_feature_detected!("gfni") && is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has gfni and avx2, tested in this expression.
        return Some(unsafe { x86::sums(message, sums) });
    }
    None
}

/// Sums of powers times the bytes of a standard flit, sum 0 in the low byte; `None` where the CPU cannot do it.
#[inline]
pub(super) fn folded_sums<const BYTES: usize>(message: &[u8; BYTES], sums: &FoldedSums<BYTES>) -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    if allowed(Simd::Avx2) && is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has avx2, tested in this expression.
        return Some(unsafe { x86::folded_sums(message, sums) });
    }
    None
}

/// The same of the bytes of a half of a latency-optimised flit.
#[inline]
pub(super) fn half_sums<const BYTES: usize>(half: &[u8; BYTES], sums: &HalfSums) -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    if allowed(Simd::Avx2) && is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has avx2, tested in this expression.
        return Some(unsafe { x86::half_sums(half, sums) });
    }
    None
}

/// Check bytes and parity bytes of the FEC, group 0 first; `None` where the CPU cannot do it.
#[inline]
pub(super) fn fec<const BYTES: usize>(message: &[u8; BYTES], rows: &Rows) -> Option<[[u8; GROUPS]; 2]> {
    #[cfg(target_arch = "x86_64")]
    if allowed(Simd::Avx2) && is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has avx2, tested in this expression.
        return Some(unsafe { x86::fec(message, rows) });
    }
    None
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::check::crc16::{FOLD, POLY_CXL68, QUOTIENT, X64};
    use crate::check::crc25::{self, FOLDED_FLITS};
    use crate::check::crc256::HalfSums;
    use crate::check::fec256::{GROUPS, Rows};
    use crate::check::gf256::{
        BLOCK_BYTES, Block, ChecksumFactors, FoldedSums, PowerSums, Products, Weights, block_at,
    };
    use crate::check::pcie;
    use core::arch::asm;
    use core::arch::x86_64::*;

    /// Every block is carried into the CPU's field once and multiplied once for each sum; the sums are added up over their
    /// lanes and carried back at the end.
    ///
    /// Xeon, 2.3 GHz nominal: CRC of 8 bytes 29 ns (table 74, definition 2900), of 6 bytes 12 ns (53, 1500). Loads of 16 bytes, which match the stores of slots just written, gained nothing.
    ///
    /// # Safety
    /// The CPU has gfni and avx2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn sums<const SUMS: usize, const BLOCKS: usize, const BYTES: usize>(
        message: &[u8; BYTES],
        sums: &ChecksumFactors<SUMS, BLOCKS>,
    ) -> u64 {
        let there = _mm256_set1_epi64x(sums.there as i64);
        let mut lanes = [_mm256_setzero_si256(); 8];
        for (block, factors) in sums.factors.iter().enumerate() {
            let bytes = message[block_at(block, BYTES)..].first_chunk().expect("a block lies in the message");
            // SAFETY: the CPU has gfni, says the caller.
            let bytes = unsafe { affine(load(bytes), there) };
            for (sum, factors) in lanes.iter_mut().zip(factors) {
                // SAFETY: the CPU has gfni, says the caller.
                *sum = _mm256_xor_si256(*sum, unsafe { mul(bytes, load(factors)) });
            }
        }
        let lanes = add_halves(lanes);
        // SAFETY: the CPU has gfni, says the caller.
        bytes_of(unsafe { affine(add_lanes(lanes), _mm256_set1_epi64x(sums.back as i64)) })
    }

    /// The sums of [`FoldedSums`]: three rows become three other ones, of which each sum takes one.
    ///
    /// AMD EPYC: CRC of 8 bytes 37 ns (table 93); 408 instructions instead of 1103 (callgrind). With every row for itself it took
    /// 640.
    #[target_feature(enable = "avx2")]
    pub(super) fn folded_sums<const BYTES: usize>(message: &[u8; BYTES], sums: &FoldedSums<BYTES>) -> u64 {
        let half = |row, half_block| {
            let at = FoldedSums::<BYTES>::at(row, half_block);
            load_half(message[at..].first_chunk().expect("a half block lies in the message"))
        };
        let block = |row, n: usize| {
            let at = FoldedSums::<BYTES>::at(row, 2 * n);
            load(message[at..].first_chunk().expect("a block lies in the message"))
        };
        let first = |row| _mm256_and_si256(_mm256_set_m128i(half(row, 1), half(row, 0)), load(&sums.first));
        let word = i64::from_le_bytes(*message.first_chunk().expect("8 bytes"));
        let rows = [
            [_mm256_zextsi128_si256(_mm_cvtsi64_si128(word)), first(1), first(2)],
            [block(0, 1), block(1, 1), block(2, 1)],
            [block(0, 2), block(1, 2), block(2, 2)],
        ];
        // The square of the root is the root and 1, so one product does for both.
        let folded = rows.map(|[a, b, c]| {
            let both = _mm256_xor_si256(b, c);
            let with_root = _mm256_xor_si256(a, look_up(&sums.root, halves(both)));
            [_mm256_xor_si256(a, both), _mm256_xor_si256(with_root, b), _mm256_xor_si256(with_root, c)]
        });
        // Kind by kind and with numbers that the compiler knows: what is looked up stays in registers.
        let kind = |kind: usize| [halves(folded[0][kind]), halves(folded[1][kind]), halves(folded[2][kind])];
        let sum = |kind: &[[__m256i; 2]; 3], n: usize| {
            let [a, b, c] = [0, 1, 2].map(|block| look_up(&sums.row.products[block][n], kind[block]));
            _mm256_xor_si256(_mm256_xor_si256(a, b), c)
        };
        let ones = kind(1);
        let [sum_0, sum_3, sum_6] = [sum(&ones, 0), sum(&ones, 3), sum(&ones, 6)];
        let twos = kind(2);
        let [sum_1, sum_4, sum_7] = [sum(&twos, 1), sum(&twos, 4), sum(&twos, 7)];
        let zeros = kind(0);
        let [sum_2, sum_5] = [sum(&zeros, 2), sum(&zeros, 5)];
        finish([sum_0, sum_1, sum_2, sum_3, sum_4, sum_5, sum_6, sum_7], &sums.row)
    }

    /// The sums of [`HalfSums`]: a half block times its first factor is two look-ups, one for each half of a byte.
    ///
    /// AMD EPYC: CRCs of both halves 60 ns (table 137); 671 instructions instead of 1644 (callgrind).
    #[target_feature(enable = "avx2")]
    pub(super) fn half_sums<const BYTES: usize>(half: &[u8; BYTES], sums: &HalfSums) -> u64 {
        let block = |n: usize| halves(load(half[BLOCK_BYTES * n..].first_chunk().expect("a block lies in the half")));
        let end = load(half.last_chunk().expect("the half is longer than a block"));
        let blocks = [block(0), block(1), block(2), halves(_mm256_and_si256(end, load(&sums.last)))];
        let products = &sums.sums.products;
        // Numbers that the compiler knows keep the sums in registers.
        let sum = |n: usize| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|block| look_up(&products[block][n], blocks[block]));
            _mm256_xor_si256(_mm256_xor_si256(a, b), _mm256_xor_si256(c, d))
        };
        let zero = _mm256_setzero_si256();
        finish([sum(0), sum(1), sum(2), sum(3), sum(4), sum(5), zero, zero], &sums.sums)
    }

    /// Takes half blocks that have been added up times the second factor of [`PowerSums`], and adds up their bytes.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn finish<const SUMS: usize, const BLOCKS: usize>(lanes: [__m256i; 8], sums: &PowerSums<SUMS, BLOCKS>) -> u64 {
        let lanes = add_halves(lanes);
        let by_eight = |n: usize| {
            let last = look_up(&sums.eight[n], halves(_mm256_bsrli_epi128::<8>(lanes[n])));
            _mm256_xor_si256(lanes[n], last)
        };
        let [a, b, c, d] = [by_eight(0), by_eight(1), by_eight(2), by_eight(3)];
        let low = weigh(_mm256_unpacklo_epi64(a, b), &sums.weights[0]);
        let high = weigh(_mm256_unpacklo_epi64(c, d), &sums.weights[1]);
        bytes_of(add_words(low, high))
    }

    /// The FEC with 32 rows of each group a step, which are three blocks: with every step the rows before count alpha^32 times
    /// as much. The rows of a step are halved in the same way until one is left.
    ///
    /// AMD EPYC: 19 ns (table 79); 214 instructions instead of 1069 (callgrind).
    #[target_feature(enable = "avx2")]
    pub(super) fn fec<const BYTES: usize>(message: &[u8; BYTES], rows: &Rows) -> [[u8; GROUPS]; 2] {
        let block = |n: usize| load(message[BLOCK_BYTES * n..].first_chunk().expect("a block lies in the message"));
        let end = load(message.last_chunk().expect("the message is longer than a block"));
        let [in_place, moved] = [&rows.in_place, &rows.moved].map(|mask| _mm256_and_si256(end, load(mask)));
        let two_rows_back = look_up(&rows.two_rows, halves(moved));
        // Numbers that the compiler knows keep the blocks in registers.
        let parity = |n| _mm256_xor_si256(block(n), block(n + 3));
        let last = _mm256_xor_si256(in_place, moved);
        let parity = [_mm256_xor_si256(parity(0), block(6)), _mm256_xor_si256(parity(1), last), parity(2)];
        let step = |before, next| _mm256_xor_si256(look_up(&rows.step, halves(before)), next);
        let check = |n: usize, last| step(step(block(n), block(n + 3)), last);
        let last = _mm256_xor_si256(in_place, two_rows_back);
        let check = [check(0, block(6)), check(1, last), check(2, _mm256_setzero_si256())];
        // 96 bytes each are left. From here on the checks are in the lower half of a block, the parities in the upper one; 48
        // bytes, 24, 12, 6 and 3 are multiples of 3, so bytes of the same group meet.
        let low = [0, 1, 2].map(|n| _mm256_permute2x128_si256::<0x20>(check[n], parity[n]));
        let high = [0, 1, 2].map(|n| _mm256_permute2x128_si256::<0x31>(check[n], parity[n]));
        let half = |n: usize, first, last| _mm256_xor_si256(look_up(&rows.halves[n], halves(first)), last);
        let [a, b, c] = [half(0, low[0], high[1]), half(0, high[0], low[2]), half(0, low[1], high[2])];
        let first = half(1, a, _mm256_alignr_epi8::<8>(c, b));
        let second = half(1, b, _mm256_bsrli_epi128::<8>(c));
        let sum = half(2, first, _mm256_alignr_epi8::<12>(second, first));
        let sum = half(3, sum, _mm256_bsrli_epi128::<6>(sum));
        let sum = half(4, sum, _mm256_bsrli_epi128::<3>(sum));
        let sum = look_up(&rows.last_row, halves(sum));
        [_mm256_extract_epi32::<0>(sum), _mm256_extract_epi32::<4>(sum)].map(|sum| {
            let [a, b, c, _] = sum.to_le_bytes();
            [a, b, c]
        })
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn load(bytes: &Block) -> __m256i {
        // SAFETY: an unaligned load of the 32 bytes that the reference has.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn load_half(bytes: &[u8; 16]) -> __m128i {
        // SAFETY: an unaligned load of the 16 bytes that the reference has.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }

    /// The low and the high half of each byte.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn halves(bytes: __m256i) -> [__m256i; 2] {
        let low = _mm256_set1_epi8(0x0f);
        [_mm256_and_si256(bytes, low), _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low)]
    }

    /// The products of bytes in halves.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn look_up(products: &Products, halves: [__m256i; 2]) -> __m256i {
        let [low, high] = [0, 1].map(|n| _mm256_shuffle_epi8(load(&products[n]), halves[n]));
        _mm256_xor_si256(low, high)
    }

    /// Every byte times a constant of its own.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn weigh(mut bytes: __m256i, weights: &Weights) -> __m256i {
        let zero = _mm256_setzero_si256();
        let mut sum = zero;
        for weights in weights {
            // The highest bit of a byte makes it negative, and the next one comes into its place.
            sum = _mm256_xor_si256(sum, _mm256_and_si256(_mm256_cmpgt_epi8(zero, bytes), load(weights)));
            bytes = _mm256_add_epi8(bytes, bytes);
        }
        sum
    }

    /// Adds up the two halves of eight blocks: sum n is in the lower half of the result n, sum n + 4 in the upper half.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn add_halves(sums: [__m256i; 8]) -> [__m256i; 4] {
        [0, 1, 2, 3].map(|n| {
            let (a, b) = (sums[n], sums[n + 4]);
            _mm256_xor_si256(_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b))
        })
    }

    /// Adds up the 16 bytes of each of eight half blocks; a sum is byte 0 of its word of 32 bits.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn add_lanes([a, b, c, d]: [__m256i; 4]) -> __m256i {
        // The halves of two fit into one, then those of four.
        let by_two = |low, high| _mm256_xor_si256(_mm256_unpacklo_epi64(low, high), _mm256_unpackhi_epi64(low, high));
        add_words(by_two(a, b), by_two(c, d))
    }

    /// Adds up the 8 bytes of each of eight words; a sum is byte 0 of its word of 32 bits.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn add_words(low: __m256i, high: __m256i) -> __m256i {
        let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
        let [even, odd] = [_mm256_shuffle_ps::<0x88>(low, high), _mm256_shuffle_ps::<0xdd>(low, high)];
        let sums = _mm256_castps_si256(_mm256_xor_ps(even, odd));
        let sums = _mm256_xor_si256(sums, _mm256_srli_epi32::<16>(sums));
        _mm256_xor_si256(sums, _mm256_srli_epi32::<8>(sums))
    }

    /// Byte 0 of each of the eight words of 32 bits.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn bytes_of(words: __m256i) -> u64 {
        let bytes = _mm256_shuffle_epi8(words, _mm256_set1_epi32(0x0c08_0400));
        let low = _mm256_extract_epi32::<0>(bytes) as u32;
        let high = _mm256_extract_epi32::<4>(bytes) as u32;
        u64::from(low) | u64::from(high) << 32
    }

    /// Products of 32 pairs of bytes in the field with polynomial 11Bh.
    ///
    /// The compiler offers this instruction by name only to functions with the feature gfni.
    ///
    /// # Safety
    /// The CPU has gfni.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn mul(a: __m256i, b: __m256i) -> __m256i {
        let product;
        // SAFETY: reads and writes registers alone; the CPU has gfni, says the caller.
        unsafe {
            asm!(
                "vgf2p8mulb {product}, {a}, {b}",
                product = lateout(ymm_reg) product,
                a = in(ymm_reg) a,
                b = in(ymm_reg) b,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        product
    }

    /// A matrix of 8x8 bits times each of 32 bytes.
    ///
    /// # Safety
    /// The CPU has gfni.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn affine(bytes: __m256i, matrix: __m256i) -> __m256i {
        let image;
        // SAFETY: reads and writes registers alone; the CPU has gfni, says the caller.
        unsafe {
            asm!(
                "vgf2p8affineqb {image}, {bytes}, {matrix}, 0",
                image = lateout(ymm_reg) image,
                bytes = in(ymm_reg) bytes,
                matrix = in(ymm_reg) matrix,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        image
    }

    #[target_feature(enable = "pclmulqdq")]
    pub(super) fn crc16_cxl68(payload: &[u8; 64]) -> u16 {
        let word = |k: usize| i64::from_le_bytes(payload[8 * k..][..8].try_into().expect("8 bytes"));
        remainder([0, 2, 4, 6].map(|k| _mm_set_epi64x(word(k + 1), word(k))))
    }

    #[target_feature(enable = "pclmulqdq")]
    pub(super) fn crc16_cxl68_slots(slots: &[u128; 4]) -> u16 {
        remainder(slots.map(|slot| _mm_set_epi64x((slot >> 64) as i64, slot as i64)))
    }

    /// Sum over the eight words w_k of w_k * (x^(64k+16) mod P), at most 80 bits, then a Barrett reduction.
    ///
    /// Eleven multiplications a flit; measured against the table path by `make bench`.
    #[target_feature(enable = "pclmulqdq")]
    #[inline]
    fn remainder(slots: [__m128i; 4]) -> u16 {
        let mut sum = _mm_setzero_si128();
        for (n, slot) in slots.into_iter().enumerate() {
            let folds = _mm_set_epi64x(FOLD[2 * n + 1] as i64, FOLD[2 * n] as i64);
            let low = _mm_clmulepi64_si128::<0x00>(slot, folds);
            let high = _mm_clmulepi64_si128::<0x11>(slot, folds);
            sum = _mm_xor_si128(sum, _mm_xor_si128(low, high));
        }
        // Bits 79:64 come down by x^64 mod P: 16 + 16 bits, so the rest has 64 bits at most.
        let top = _mm_srli_si128::<8>(sum);
        let rest = _mm_xor_si128(sum, _mm_clmulepi64_si128::<0x00>(top, _mm_set_epi64x(0, X64 as i64)));
        let rest = _mm_cvtsi128_si64(rest) as u64;
        // Barrett: q = floor(floor(rest / x^16) * floor(x^64 / P) / x^48); the remainder is rest - q * P.
        let q =
            _mm_clmulepi64_si128::<0x00>(_mm_set_epi64x(0, (rest >> 16) as i64), _mm_set_epi64x(0, QUOTIENT as i64));
        let q = (_mm_cvtsi128_si64(q) as u64 >> 48) | (_mm_cvtsi128_si64(_mm_srli_si128::<8>(q)) as u64) << 16;
        let product =
            _mm_clmulepi64_si128::<0x00>(_mm_set_epi64x(0, q as i64), _mm_set_epi64x(0, 1 << 16 | POLY_CXL68 as i64));
        (rest ^ _mm_cvtsi128_si64(product) as u64) as u16
    }

    /// Four blocks wait side by side, each moves over the next four by two multiplications (the message is reflected: the
    /// low half of a block has the higher powers); at the end the four become one, which moves over what is left.
    ///
    /// Xeon, 2.3 GHz nominal: a DL flit of UALink (640 bytes) is judged and cut up in 53 ns, in 302 ns by the table (16 bytes a
    /// step) and in 3700 ns by definition.
    #[target_feature(enable = "pclmulqdq")]
    pub(super) fn crc32_block(register: u32, blocks: &[[u8; 16]]) -> [u8; 16] {
        let load = |block: &[u8; 16]| {
            // SAFETY: an unaligned load of the 16 bytes that the reference has.
            unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
        };
        let fold = |block, by: &[u64; 2], next| {
            let by = _mm_set_epi64x(by[1] as i64, by[0] as i64);
            let low = _mm_clmulepi64_si128::<0x00>(block, by);
            let high = _mm_clmulepi64_si128::<0x11>(block, by);
            _mm_xor_si128(_mm_xor_si128(low, high), next)
        };
        let (fours, rest) = blocks.as_chunks::<4>();
        let mut lanes = [_mm_setzero_si128(); 4];
        let mut fours = fours.iter();
        if let Some(four) = fours.next() {
            lanes = [load(&four[0]), load(&four[1]), load(&four[2]), load(&four[3])];
        }
        lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(register as i32));
        for four in fours {
            for (lane, block) in lanes.iter_mut().zip(four) {
                *lane = fold(*lane, &pcie::BY_FOUR_BLOCKS, load(block));
            }
        }
        let [first, others @ ..] = lanes;
        let one = others.into_iter().fold(first, |sum, lane| fold(sum, &pcie::BY_A_BLOCK, lane));
        let one = rest.iter().fold(one, |sum, block| fold(sum, &pcie::BY_A_BLOCK, load(block)));
        let mut bytes = [0; 16];
        // SAFETY: an unaligned store to the 16 bytes of the array.
        unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), one) };
        bytes
    }

    /// Sum over the flits, each times its power of x modulo P: 64 + 25 bits at most. No product waits for another.
    ///
    /// Xeon, 2.3 GHz nominal: an NVLink packet of 18 flits is sealed in 60 ns, in 102 ns by the table and in 13 us by definition.
    #[target_feature(enable = "pclmulqdq")]
    pub(super) fn crc25_flit(register: u32, flits: &[u128]) -> u128 {
        let number = |bits: u128| _mm_set_epi64x((bits >> 64) as i64, bits as i64);
        let mut sum = _mm_setzero_si128();
        let mut front = u128::from(register) << (128 - crc25::CRC25_BITS);
        let (last, others) = flits.split_last().unwrap_or((&0, &[]));
        // The flit before the last one moves by one flit, that before it by two.
        for (flit, by) in others.iter().zip(&crc25::FOLD[FOLDED_FLITS - 1 - others.len()..]) {
            let (flit, by) = (number(flit ^ front), _mm_set_epi64x(by[1] as i64, by[0] as i64));
            front = 0;
            let low = _mm_clmulepi64_si128::<0x00>(flit, by);
            let high = _mm_clmulepi64_si128::<0x11>(flit, by);
            sum = _mm_xor_si128(sum, _mm_xor_si128(low, high));
        }
        let low = _mm_cvtsi128_si64(sum) as u64;
        let high = _mm_cvtsi128_si64(_mm_srli_si128::<8>(sum)) as u64;
        (u128::from(high) << 64 | u128::from(low)) ^ last ^ front
    }
}
