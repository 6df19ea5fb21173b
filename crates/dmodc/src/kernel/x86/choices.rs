//! Closer sets by destination switch, from masks by group: see [`choices`](crate::kernel::choices).

use std::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_cmpeq_epi64_mask, _mm512_gf2p8affine_epi64_epi8,
    _mm512_loadu_si512, _mm512_maskz_loadu_epi64, _mm512_permutexvar_epi8, _mm512_set1_epi64,
    _mm512_sllv_epi64, _mm512_srlv_epi64, _mm512_storeu_si512, _mm512_test_epi64_mask,
    _mm512_xor_si512,
};

use super::{Avx2, Avx512, load};
use crate::kernel::choices::{Choices, OneByOne, Words};

/// The portable gathering, compiled for AVX2.
pub(in crate::kernel) fn gather_avx2(
    _: Avx2,
    choices: &mut Choices,
    targets: u64,
    through: &[u64],
) {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn gather(choices: &mut Choices, targets: u64, through: &[u64]) {
        choices.gather::<OneByOne>(targets, through);
    }
    // SAFETY: the caller has proof of AVX2.
    unsafe { gather(choices, targets, through) }
}

/// The gathering with answers about eight words at a time.
pub(in crate::kernel) fn gather_avx512(
    _: Avx512,
    choices: &mut Choices,
    targets: u64,
    through: &[u64],
) {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
    fn gather(choices: &mut Choices, targets: u64, through: &[u64]) {
        choices.gather::<EightWords>(targets, through);
    }
    // SAFETY: the caller has proof of AVX-512.
    unsafe { gather(choices, targets, through) }
}

struct EightWords;

impl Words for EightWords {
    #[inline(always)]
    fn nonzero(words: &[u64]) -> u64 {
        // SAFETY (here and below): only functions with AVX-512 use this, with AVX-512 enabled.
        by_eight(words, |eight| unsafe { _mm512_test_epi64_mask(eight, eight) })
    }

    #[inline(always)]
    fn equal(words: &[u64], value: u64) -> u64 {
        // SAFETY: as above.
        by_eight(words, |eight| unsafe {
            _mm512_cmpeq_epi64_mask(eight, _mm512_set1_epi64(value as i64))
        })
    }

    #[inline(always)]
    fn same_as_before(words: &[u64; 64]) -> u64 {
        let mut same = 0;
        for at in (0..56).step_by(8) {
            let (before, now) = (words[at..].first_chunk(), words[at + 1..].first_chunk());
            let (before, now) = (before.expect("eight are left"), now.expect("and one more"));
            // SAFETY: as above.
            let equal = unsafe { _mm512_cmpeq_epi64_mask(load_words(before), load_words(now)) };
            same |= u64::from(equal) << (at + 1);
        }
        (57..64).fold(same, |same, at| same | u64::from(words[at] == words[at - 1]) << at)
    }

    #[inline(always)]
    fn transpose(words: &mut [u64; 64]) {
        // SAFETY: as above.
        unsafe { transpose(words) }
    }
}

/// Returns a bit for each of at most 64 words. Words that are missing at the end count as 0.
#[inline(always)]
pub(super) fn by_eight(words: &[u64], ask: impl Fn(__m512i) -> u8) -> u64 {
    let (whole, rest) = words.as_chunks::<8>();
    let mut answer = 0;
    for (at, eight) in whole.iter().enumerate() {
        // SAFETY: only functions with AVX-512 use this, with AVX-512 enabled.
        answer |= u64::from(ask(unsafe { load_words(eight) })) << (8 * at);
    }
    if !rest.is_empty() {
        // The words are not copied to an array first: one load of the whole array would wait for the separate stores.
        // SAFETY: as above, and only those words are read that there are.
        let last = unsafe { _mm512_maskz_loadu_epi64((1 << rest.len()) - 1, rest.as_ptr().cast()) };
        let last = u64::from(ask(last)) & ((1 << rest.len()) - 1);
        answer |= last << (8 * whole.len());
    }
    answer
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_words(from: &[u64; 8]) -> __m512i {
    // SAFETY: an array of 64 bytes can be read whole, at any address.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}

/// In eight words, byte `i` of word `j` comes from byte `7 − j` of word `i`, as the next step wants it.
const BYTES_MIRRORED: [u8; 64] = {
    let mut index = [0; 64];
    let mut at = 0;
    while at < 64 {
        index[at] = (8 * (7 - at % 8) + at / 8) as u8;
        at += 1;
    }
    index
};

/// Byte `i` of word `j` comes from byte `j` of word `i`.
const BYTES_SWAPPED: [u8; 64] = {
    let mut index = [0; 64];
    let mut at = 0;
    while at < 64 {
        index[at] = (8 * (at % 8) + at / 8) as u8;
        at += 1;
    }
    index
};

/// [`transpose`](crate::kernel::transpose) in eight registers of eight words: the first three rounds swap
/// between registers, and one multiplication of bit matrices does for the other three.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn transpose(words: &mut [u64; 64]) {
    let eights = words.as_chunks_mut::<8>().0;
    let mut rows: [__m512i; 8] = std::array::from_fn(|at| load_words(&eights[at]));
    let low = [0x0000_0000_ffff_ffffu64, 0x0000_ffff_0000_ffff, 0x00ff_00ff_00ff_00ff];
    for (round, &low) in low.iter().enumerate() {
        let (apart, low) = (4 >> round, _mm512_set1_epi64(low as i64));
        let shift = _mm512_set1_epi64(32 >> round);
        for at in (0..8).filter(|at| at & apart == 0) {
            let (a, b) = (rows[at], rows[at + apart]);
            let moving = _mm512_and_si512(_mm512_xor_si512(_mm512_srlv_epi64(a, shift), b), low);
            rows[at] = _mm512_xor_si512(a, _mm512_sllv_epi64(moving, shift));
            rows[at + apart] = _mm512_xor_si512(b, moving);
        }
    }
    let (mirrored, swapped) = (load(&BYTES_MIRRORED), load(&BYTES_SWAPPED));
    // Byte j of this is bit j alone, so that the product has the columns of the matrix for rows.
    let columns = _mm512_set1_epi64(0x8040_2010_0804_0201u64 as i64);
    for (row, to) in rows.into_iter().zip(eights) {
        let blocks = _mm512_permutexvar_epi8(mirrored, row);
        let blocks = _mm512_gf2p8affine_epi64_epi8::<0>(columns, blocks);
        let row = _mm512_permutexvar_epi8(swapped, blocks);
        // SAFETY: an array of 64 bytes can be written whole, at any address.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), row) };
    }
}
