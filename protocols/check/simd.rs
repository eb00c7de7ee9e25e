//! Checksum paths with carry-less multiplication and with multiplication in GF(2^8). The only `unsafe` of the codecs: calls of CPU intrinsics behind a
//! run-time test of the CPU.
#![allow(unsafe_code)]

use super::crc25::FOLDED_FLITS;
use super::gf256::Sums;
use super::pcie::FOLDED_BLOCKS;
use core::sync::atomic::{AtomicBool, Ordering};

/// Off switch, see [`super::use_simd`].
pub(super) static ENABLED: AtomicBool = AtomicBool::new(true);

/// CRC-16 of the payload of a CXL 68-byte flit, `None` where the CPU cannot do it.
#[inline]
pub(super) fn crc16_cxl68(payload: &[u8; 64]) -> Option<u16> {
    #[cfg(target_arch = "x86_64")]
    if ENABLED.load(Ordering::Relaxed) && is_x86_feature_detected!("pclmulqdq") {
        // SAFETY: the CPU has pclmulqdq, tested in this expression.
        return Some(unsafe { x86::crc16_cxl68(payload) });
    }
    None
}

/// The same of a payload given as four slots.
#[inline]
pub(super) fn crc16_cxl68_slots(slots: &[u128; 4]) -> Option<u16> {
    #[cfg(target_arch = "x86_64")]
    if ENABLED.load(Ordering::Relaxed) && is_x86_feature_detected!("pclmulqdq") {
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
    if blocks.len() >= FOLDED_BLOCKS && ENABLED.load(Ordering::Relaxed) && is_x86_feature_detected!("pclmulqdq") {
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
    if (1..=FOLDED_FLITS).contains(&flits.len())
        && ENABLED.load(Ordering::Relaxed)
        && is_x86_feature_detected!("pclmulqdq")
    {
        // SAFETY: the CPU has pclmulqdq, tested in this expression.
        return Some(unsafe { x86::crc25_flit(register, flits) });
    }
    None
}

/// Sums of constants times bytes, sum 0 in the low byte; `None` where the CPU cannot do it.
#[inline]
pub(super) fn sums<const SUMS: usize, const BLOCKS: usize, const BYTES: usize>(
    message: &[u8; BYTES],
    sums: &Sums<SUMS, BLOCKS>,
) -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    if ENABLED.load(Ordering::Relaxed) && is_x86_feature_detected!("gfni") && is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has gfni and avx2, tested in this expression.
        return Some(unsafe { x86::sums(message, sums) });
    }
    None
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::check::crc16::{FOLD, POLY_CXL68, QUOTIENT, X64};
    use crate::check::crc25::{self, FOLDED_FLITS};
    use crate::check::gf256::{BLOCK_BYTES, Sums, block_at};
    use crate::check::pcie;
    use core::arch::asm;
    use core::arch::x86_64::*;

    /// Every block is carried into the CPU's field once and multiplied once for each sum; the sums are added up over their
    /// lanes and carried back at the end.
    ///
    /// Xeon, 2.3 GHz nominal: CRC of 8 bytes 29 ns (table 74, definition 2900), of 6 bytes 12 ns (53, 1500), FEC 23 ns
    /// (70, 360). Loads of 16 bytes, which match the stores of slots just written, gained nothing.
    ///
    /// # Safety
    /// The CPU has gfni and avx2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn sums<const SUMS: usize, const BLOCKS: usize, const BYTES: usize>(
        message: &[u8; BYTES],
        sums: &Sums<SUMS, BLOCKS>,
    ) -> u64 {
        let load = |bytes: &[u8; BLOCK_BYTES]| {
            // SAFETY: an unaligned load of the 32 bytes that the reference has.
            unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
        };
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
        // Each of the eight has 32 lanes to add up; the halves of two fit into one, then those of four, then of eight.
        let [a, b, c, d] = [0, 1, 2, 3].map(|n| {
            let (low, high) = (lanes[n], lanes[n + 4]);
            _mm256_xor_si256(_mm256_permute2x128_si256::<0x20>(low, high), _mm256_permute2x128_si256::<0x31>(low, high))
        });
        let by_two = |low, high| _mm256_xor_si256(_mm256_unpacklo_epi64(low, high), _mm256_unpackhi_epi64(low, high));
        let (low, high) = (_mm256_castsi256_ps(by_two(a, b)), _mm256_castsi256_ps(by_two(c, d)));
        let [even, odd] = [_mm256_shuffle_ps::<0x88>(low, high), _mm256_shuffle_ps::<0xdd>(low, high)];
        let mut rest = _mm256_castps_si256(_mm256_xor_ps(even, odd));
        rest = _mm256_xor_si256(rest, _mm256_srli_epi32::<16>(rest));
        rest = _mm256_xor_si256(rest, _mm256_srli_epi32::<8>(rest));
        // SAFETY: the CPU has gfni, says the caller.
        rest = unsafe { affine(rest, _mm256_set1_epi64x(sums.back as i64)) };
        // Byte 0 of each of the eight words of 32 bits, sums 0 to 3 in the low half.
        let rest = _mm256_shuffle_epi8(rest, _mm256_set1_epi32(0x0c08_0400));
        let low = _mm256_extract_epi32::<0>(rest) as u32;
        let high = _mm256_extract_epi32::<4>(rest) as u32;
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
