//! From closer sets to entries, eqs. (3) and (4) for 64 destination switches: see [`spread`](crate::kernel::spread).

use std::arch::x86_64::{
    __m512i, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_shuffle_epi8, _mm256_storeu_si256,
    _mm512_castsi512_si256, _mm512_maskz_compress_epi8, _mm512_permutexvar_epi8, _mm512_set1_epi8,
    _mm512_storeu_si512,
};

use super::{Avx2, Avx512, load};
use crate::kernel::choices::Choices;
use crate::kernel::divide::SIZES;
use crate::kernel::spread::{Compress, Cycles, Run, SLACK, Spread, Way, each_run};
use crate::tables::NO_ROUTE;

/// The portable loop with AVX2, and ports compressed eight at a time.
pub(in crate::kernel) fn spread_avx2(
    _: Avx2,
    spread: &Spread<'_>,
    cycles: &mut Cycles,
    row: &mut [u8],
) {
    // SAFETY: the caller has proof of AVX2.
    unsafe { with_avx2(spread, cycles, row) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn with_avx2(spread: &Spread<'_>, cycles: &mut Cycles, row: &mut [u8]) {
    each_run::<EightByEight>(spread, cycles, row);
}

pub(super) struct EightByEight;

impl Compress for EightByEight {
    #[inline(always)]
    fn compress(ports: &[u8; 64], mask: u64, to: &mut [u8]) -> usize {
        let (mut left, mut count) = (mask, 0);
        for eight in ports.as_chunks::<8>().0 {
            if left == 0 {
                break;
            }
            let picks = PICKS[(left & 0xff) as usize];
            // SAFETY: `with_avx2` alone uses this, with AVX2 enabled.
            let picked = unsafe {
                let eight = _mm_cvtsi64_si128(i64::from_le_bytes(*eight));
                _mm_cvtsi128_si64(_mm_shuffle_epi8(eight, _mm_cvtsi64_si128(picks as i64)))
            };
            to[count..count + 8].copy_from_slice(&picked.to_le_bytes());
            count += (left & 0xff).count_ones() as usize;
            left >>= 8;
        }
        count
    }
}

/// For each byte: which of its bits are set, ascending, one byte to each.
pub(super) static PICKS: [u64; 256] = {
    let mut picks = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                picks[byte] |= bit << (8 * count);
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    picks
};

/// `i mod n`, for i up to 127: which port of a cycle of n stands at entry i.
pub(super) static ROTATIONS: [[u8; 128]; 65] = {
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

/// The loop of [`each_run`] with the cycle in a register, if it fits into one: one instruction
/// compresses 64 ports, and one more rotates and repeats the cycle.
pub(in crate::kernel) fn spread_avx512(
    proof: Avx512,
    spread: &Spread<'_>,
    cycles: &mut Cycles,
    row: &mut [u8],
) {
    if spread.up.is_narrow() && spread.down.is_narrow() {
        // SAFETY: the caller has proof of AVX-512.
        unsafe { with_avx512(spread, row) }
    } else {
        spread_avx2(proof.avx2(), spread, cycles, row);
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn with_avx512(spread: &Spread<'_>, row: &mut [u8]) {
    let ports = |choices: &Choices| load(choices.ports.first_chunk().expect("64 can be read"));
    let (up_ports, down_ports) = (ports(spread.up), ports(spread.down));
    for Run { way, target, start, end, number, k } in spread.runs() {
        assert!(start <= end && end + SLACK <= row.len(), "a row has slack behind its entries");
        let set = |choices: &Choices| choices.masks[0][usize::from(target & 63)];
        let (mask, ports) = match way {
            Way::Nowhere => (1, _mm512_set1_epi8(NO_ROUTE as i8)),
            Way::Up => (set(spread.up), up_ports),
            Way::Down => (set(spread.down), down_ports),
        };
        let cycle = _mm512_maskz_compress_epi8(mask, ports);
        let size = mask.count_ones() as usize;
        let divisor = spread.divider(way);
        let q = divisor.divide(number);
        let mut at = SIZES[size].modulo(q) as usize;
        if k != 0 {
            at = (at + usize::from(k)) % size;
        }
        let mut column = start;
        if divisor.value == 1 {
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
        let divider = divisor.value as usize;
        let mut left = divider - (number - q * divisor.value) as usize;
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
