//! Checksum paths with carry-less multiplication. The only `unsafe` of the codecs: calls of CPU intrinsics behind a
//! run-time test of the CPU.
#![allow(unsafe_code)]

use core::sync::atomic::{AtomicBool, Ordering};

/// Off switch, see [`super::crc16::use_simd`].
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

#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::check::crc16::{FOLD, POLY_CXL68, QUOTIENT, X64};
    use core::arch::x86_64::*;

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
}
