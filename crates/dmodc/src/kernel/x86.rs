//! The inner loops for x86-64 processors with more than the base line. All unsafe code of this crate.
//!
//! Each loop is one function with the processor's features enabled, so that everything it calls is
//! compiled for them; a safe function in front of it is for [`Kernel`](super::Kernel), whose values
//! are proof that the features are there.
#![expect(unsafe_code, reason = "processor features and stores past the cache have no safe form")]

use std::arch::x86_64::{
    __m128i, __m512i, _mm_sfence, _mm_stream_si128, _mm256_storeu_si256, _mm512_castsi512_si256,
    _mm512_loadu_si512, _mm512_maskz_compress_epi8, _mm512_permutexvar_epi8, _mm512_set1_epi8,
    _mm512_storeu_si512, _pdep_u64, _pext_u64,
};

use super::spread::{CYCLE, Choices, Compress, Run, SIZES, SLACK, Set, Spread, each_run};
use crate::tables::NO_ROUTE;

pub(super) fn has_avx2() -> bool {
    !cfg!(miri)
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
}

pub(super) fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
}

/// The portable gathering, compiled for AVX2.
pub(super) fn gather_avx2(choices: &mut Choices, targets: u64, through: &[u64]) {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn gather(choices: &mut Choices, targets: u64, through: &[u64]) {
        choices.gather(targets, through);
    }
    // SAFETY: only kernels that `has_avx2` allowed come here.
    unsafe { gather(choices, targets, through) }
}

/// The portable gathering, compiled for AVX-512.
pub(super) fn gather_avx512(choices: &mut Choices, targets: u64, through: &[u64]) {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512vl")]
    fn gather(choices: &mut Choices, targets: u64, through: &[u64]) {
        choices.gather(targets, through);
    }
    // SAFETY: only kernels that `has_avx512` allowed come here.
    unsafe { gather(choices, targets, through) }
}

/// The portable loop with AVX2, and ports compressed eight at a time.
pub(super) fn spread_avx2(spread: &Spread<'_>, row: &mut [u8]) {
    // SAFETY: only kernels that `has_avx2` allowed come here.
    unsafe { with_avx2(spread, row) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn with_avx2(spread: &Spread<'_>, row: &mut [u8]) {
    each_run::<EightByEight>(spread, row);
}

struct EightByEight;

impl Compress for EightByEight {
    #[inline(always)]
    fn compress(ports: &[u8; 64], mask: u64, to: &mut [u8; CYCLE]) -> usize {
        let (mut left, mut count) = (mask, 0);
        for eight in ports.as_chunks::<8>().0 {
            if left == 0 {
                break;
            }
            // SAFETY: `with_avx2` alone uses this, with BMI2 enabled.
            let picked = unsafe {
                let bytes = _pdep_u64(left & 0xff, 0x0101_0101_0101_0101) * 0xff;
                _pext_u64(u64::from_le_bytes(*eight), bytes)
            };
            to[count..count + 8].copy_from_slice(&picked.to_le_bytes());
            count += (left & 0xff).count_ones() as usize;
            left >>= 8;
        }
        count
    }
}

/// `i mod n`, for i up to 127: which port of a cycle of n stands at entry i.
static ROTATIONS: [[u8; 128]; 65] = {
    let mut rotations = [[0; 128]; 65];
    let mut n = 1;
    while n <= 64 {
        let mut i = 0;
        while i < 128 {
            rotations[n][i] = (i % n) as u8;
            i += 1;
        }
        n += 1;
    }
    rotations
};

/// The loop of [`each_run`] with the cycle in a register: one instruction compresses 64 ports,
/// and one more rotates and repeats the cycle.
pub(super) fn spread_avx512(spread: &Spread<'_>, row: &mut [u8]) {
    // SAFETY: only kernels that `has_avx512` allowed come here.
    unsafe { with_avx512(spread, row) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn with_avx512(spread: &Spread<'_>, row: &mut [u8]) {
    let (up_ports, down_ports) = (load(&spread.up.ports), load(&spread.down.ports));
    for Run { set, start, end, number, k } in spread.runs() {
        assert!(start <= end && end + SLACK <= row.len(), "a row has slack behind its entries");
        let (mask, cycle) = match set {
            Set::None => (1, _mm512_set1_epi8(NO_ROUTE as i8)),
            Set::Up(mask) => (mask, _mm512_maskz_compress_epi8(mask, up_ports)),
            Set::Down(mask) => (mask, _mm512_maskz_compress_epi8(mask, down_ports)),
        };
        let size = mask.count_ones() as usize;
        let q = spread.divider.divide(number);
        let mut at = SIZES[size].modulo(q) as usize;
        if k != 0 {
            at = (at + usize::from(k)) % size;
        }
        let mut column = start;
        if spread.divider.value == 1 {
            let rotations = &ROTATIONS[size];
            while column < end {
                let from = rotations[at..].first_chunk().expect("a rotation is shorter than 64");
                let entries = _mm512_permutexvar_epi8(load(from), cycle);
                // SAFETY: it begins before `end`, so it ends before `end + SLACK`, which the row has.
                unsafe { store(row, column, end - column, entries) };
                column += 64;
                at = usize::from(rotations[(at + 64) & 127]);
            }
            continue;
        }
        let divider = spread.divider.value as usize;
        let mut left = divider - (number - q * spread.divider.value) as usize;
        while column < end {
            let stop = end.min(column + left);
            let port = _mm512_permutexvar_epi8(_mm512_set1_epi8(at as i8), cycle);
            while column < stop {
                // SAFETY: as above.
                unsafe { store(row, column, stop - column, port) };
                column += 64;
            }
            column = stop;
            left = divider;
            at = if at + 1 == size { 0 } else { at + 1 };
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(from: &[u8; 64]) -> __m512i {
    // SAFETY: an array of 64 bytes can be read whole, at any address.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}

/// Writes 64 bytes at `at`, or 32 where no more are wanted: those lie in one cache line more often.
///
/// # Safety
/// The row must have 64 bytes from `at` on.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store(row: &mut [u8], at: usize, wanted: usize, value: __m512i) {
    debug_assert!(at + 64 <= row.len());
    // SAFETY: the caller says that the row is long enough.
    unsafe {
        let to = row.as_mut_ptr().add(at);
        match wanted <= 32 {
            true => _mm256_storeu_si256(to.cast(), _mm512_castsi512_si256(value)),
            false => _mm512_storeu_si512(to.cast(), value),
        }
    }
}

/// Copies whole cache lines past the cache and the rest plainly.
#[inline]
pub(super) fn copy_past_cache(to: &mut [u8], from: &[u8]) {
    assert_eq!(to.len(), from.len(), "a copy is as long as what is copied");
    let head = to.as_ptr().align_offset(64).min(to.len());
    let (before, to) = to.split_at_mut(head);
    let (before_from, from) = from.split_at(head);
    before.copy_from_slice(before_from);
    let (lines, rest) = to.as_chunks_mut::<64>();
    let (lines_from, rest_from) = from.as_chunks::<64>();
    for (line, from) in lines.iter_mut().zip(lines_from) {
        let (line, from) = (line.as_mut_ptr().cast::<__m128i>(), from.as_ptr().cast::<__m128i>());
        for part in 0..4 {
            // SAFETY: a line is four parts of 16 bytes; `line` is aligned to 64 bytes, as the bytes
            // before the first such address were split off; SSE2 is part of every x86-64.
            unsafe { _mm_stream_si128(line.add(part), from.add(part).read_unaligned()) };
        }
    }
    rest.copy_from_slice(rest_from);
}

/// Everything streamed so far is seen by others before anything stored later.
pub(super) fn order_stores() {
    // SAFETY: SSE is part of every x86-64.
    unsafe { _mm_sfence() }
}
