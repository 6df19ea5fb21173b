//! Where two rows of entries differ: see [`differ`](crate::kernel::differ).

use std::arch::x86_64::{
    __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm512_cmpneq_epi8_mask,
    _pext_u64,
};

use super::{Avx2, Avx512, load, load_32};
use crate::kernel::differ::{self, Compare, Difference, Fields};

/// Returns the difference between two rows, found with AVX2.
pub(in crate::kernel) fn differ_avx2(
    _: Avx2,
    old: &[u8],
    new: &[u8],
    fields: &Fields,
) -> Difference {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn differ(old: &[u8], new: &[u8], fields: &Fields) -> Difference {
        differ::rows::<ThirtyTwoBytes>(old, new, fields)
    }
    // SAFETY: the caller has proof of AVX2.
    unsafe { differ(old, new, fields) }
}

pub(super) struct ThirtyTwoBytes;

impl Compare for ThirtyTwoBytes {
    #[inline(always)]
    fn differ(a: &[u8; 64], b: &[u8; 64]) -> u64 {
        let (a, b) = (a.as_ptr().cast::<__m256i>(), b.as_ptr().cast::<__m256i>());
        // SAFETY: 64 bytes are two halves of 32; `differ_avx2` alone uses this, with AVX2 enabled.
        let equal = |half| unsafe {
            let (a, b) = (_mm256_loadu_si256(a.add(half)), _mm256_loadu_si256(b.add(half)));
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b)) as u32
        };
        !(u64::from(equal(0)) | u64::from(equal(1)) << 32)
    }

    #[inline(always)]
    fn differ_32(a: &[u8; 32], b: &[u8; 32]) -> u32 {
        // SAFETY: arrays of 32 bytes can be read whole; those who use this have AVX2 enabled.
        unsafe {
            let (a, b) = (load_32(a), load_32(b));
            !(_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b)) as u32)
        }
    }

    #[inline(always)]
    fn pick(word: u64, mask: u64) -> u64 {
        // SAFETY: those who use this have BMI2 enabled.
        unsafe { _pext_u64(word, mask) }
    }
}

/// Returns the difference between two rows, found with AVX-512.
pub(in crate::kernel) fn differ_avx512(
    _: Avx512,
    old: &[u8],
    new: &[u8],
    fields: &Fields,
) -> Difference {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512vl")]
    fn differ(old: &[u8], new: &[u8], fields: &Fields) -> Difference {
        differ::rows::<SixtyFourBytes>(old, new, fields)
    }
    // SAFETY: the caller has proof of AVX-512.
    unsafe { differ(old, new, fields) }
}

struct SixtyFourBytes;

impl Compare for SixtyFourBytes {
    #[inline(always)]
    fn differ(a: &[u8; 64], b: &[u8; 64]) -> u64 {
        // SAFETY: `differ_avx512` alone uses this, with AVX-512 enabled.
        unsafe { _mm512_cmpneq_epi8_mask(load(a), load(b)) }
    }

    #[inline(always)]
    fn differ_32(a: &[u8; 32], b: &[u8; 32]) -> u32 {
        ThirtyTwoBytes::differ_32(a, b)
    }

    #[inline(always)]
    fn pick(word: u64, mask: u64) -> u64 {
        ThirtyTwoBytes::pick(word, mask)
    }
}
