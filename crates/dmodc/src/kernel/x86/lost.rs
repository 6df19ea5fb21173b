//! Some entries of a row, where the others stay: see [`lost`](crate::kernel::lost).

use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_shuffle_epi8,
    _mm_storel_epi64, _mm256_add_epi8, _mm256_blendv_epi8, _mm256_castsi256_pd, _mm256_cmpeq_epi8,
    _mm256_cmpeq_epi64, _mm256_cmpneq_epi8_mask, _mm256_loadu_si256, _mm256_mask_expand_epi8,
    _mm256_mask_storeu_epi8, _mm256_maskz_expand_epi8, _mm256_movemask_epi8, _mm256_movemask_pd,
    _mm256_set_epi64x, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm512_castsi512_si256,
    _mm512_cmpneq_epi8_mask, _mm512_mask_expand_epi8, _mm512_mask_storeu_epi8,
    _mm512_maskz_compress_epi8, _mm512_maskz_expand_epi8, _mm512_permutexvar_epi8,
    _mm512_storeu_si512, _mm512_test_epi64_mask, _pdep_u64,
};

use super::choices::by_eight;
use super::differ::ThirtyTwoBytes;
use super::spread::{EightByEight, PICKS, ROTATIONS};
use super::{Avx2, Avx512, load, load_32, store_32};
use crate::bits::bits;
use crate::kernel::differ::Difference;
use crate::kernel::lost::{self, Expand, LostPiece, LostPieces};
use crate::kernel::spread::{CYCLE, Cycles};

/// The loop of [`lost::each_first_group`] with AVX2.
pub(in crate::kernel) fn each_lost_avx2(
    _: Avx2,
    pieces: LostPieces<'_>,
    each: impl FnMut(usize, usize),
) {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn each_lost(pieces: LostPieces<'_>, each: impl FnMut(usize, usize)) {
        lost::each_first_group::<EightByEight>(pieces, each);
    }
    // SAFETY: the caller has proof of AVX2.
    unsafe { each_lost(pieces, each) }
}

/// The loop of [`lost::write`] with registers of 32 bytes, or the portable loop with AVX2 if some piece is wide.
pub(in crate::kernel) fn write_lost_avx2(
    _: Avx2,
    ports: &[u8; 64],
    pieces: LostPieces<'_>,
    cycles: &mut Cycles,
    row: &mut [u8],
) {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn write_lost(ports: &[u8; 64], pieces: LostPieces<'_>, cycles: &mut Cycles, row: &mut [u8]) {
        if !pieces.are_narrow() {
            lost::write::<EightByEight>(ports, pieces, cycles, row);
            return;
        }
        each_narrow_piece(ports, pieces, cycles, |piece, new| {
            let to: &mut [u8; 32] = row[piece.start..].first_chunk_mut().expect("a row has slack");
            let entries = new.over(load_32(to));
            store_32(to, entries);
        });
    }
    // SAFETY: the caller has proof of AVX2.
    unsafe { write_lost(ports, pieces, cycles, row) }
}

/// Calls `each` with all [narrow](LostPieces::are_narrow) pieces that have lost entries, and with their ports. How many entries
/// are lost makes no difference: no processor could predict it.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn each_narrow_piece(
    ports: &[u8; 64],
    pieces: LostPieces<'_>,
    cycles: &mut Cycles,
    mut each: impl FnMut(&LostPiece, PlacedPorts),
) {
    let eights = ports.as_chunks::<8>().0;
    let ports = std::array::from_fn(|at| _mm_cvtsi64_si128(i64::from_le_bytes(eights[at])));
    for (at, lost) in pieces.lost.chunks(64).enumerate() {
        let first = 64 * at;
        let mut left = nonzero(lost);
        while left != 0 {
            let batch = left;
            // As everywhere, cycles are written some time before they are read.
            for cycle in cycles.0.iter_mut() {
                if left == 0 {
                    break;
                }
                let piece = pieces.piece(first + left.trailing_zeros() as usize);
                left &= left - 1;
                write_twice(&ports, piece.groups as u32, cycle);
                let size = piece.groups.count_ones();
                if piece.lost.count_ones() > size {
                    lost::repeat::<32>(cycle, size as usize);
                }
            }
            for (bit, cycle) in bits(batch ^ left).zip(cycles.0.iter()) {
                let piece = pieces.piece(first + bit);
                let from = cycle[piece.at as usize & 63..].first_chunk();
                let from = from.expect("a cycle has more room");
                each(&piece, PlacedPorts::new(from, piece.lost as u32));
            }
        }
    }
}

/// Returns which of at most 64 words are not 0.
#[inline]
#[target_feature(enable = "avx2")]
fn nonzero(words: &[u64]) -> u64 {
    let (whole, rest) = words.as_chunks::<4>();
    let zeros = |words: &[u64; 4]| {
        // SAFETY: an array of 32 bytes can be read whole, at any address.
        let words = unsafe { _mm256_loadu_si256(words.as_ptr().cast()) };
        let zeros = _mm256_cmpeq_epi64(words, _mm256_setzero_si256());
        _mm256_movemask_pd(_mm256_castsi256_pd(zeros)) as u64
    };
    let mut set = 0;
    for (at, words) in whole.iter().enumerate() {
        set |= (zeros(words) ^ 15) << (4 * at);
    }
    if !rest.is_empty() {
        let mut words = [0; 4];
        words[..rest.len()].copy_from_slice(rest);
        set |= (zeros(&words) ^ 15) << (4 * whole.len());
    }
    set
}

/// Writes the ports of some groups in order, and then all of them once more. The ports are given eight by eight.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn write_twice(ports: &[__m128i; 4], groups: u32, cycle: &mut [u8; CYCLE]) {
    let bytes = groups.to_le_bytes().map(usize::from);
    let picked: [__m128i; 4] = std::array::from_fn(|at| {
        _mm_shuffle_epi8(ports[at], _mm_cvtsi64_si128(PICKS[bytes[at]] as i64))
    });
    let size = groups.count_ones() as usize;
    for mut to in [0, size] {
        for (picked, byte) in picked.iter().zip(bytes) {
            // SAFETY: the groups before are at most 24, or 32 and 24; eight bytes from there on are in the cycle.
            unsafe { _mm_storel_epi64(cycle.as_mut_ptr().add(to).cast(), *picked) };
            to += byte.count_ones() as usize;
        }
    }
}

/// Ports at the places of the lost entries of a piece.
struct PlacedPorts {
    ports: __m256i,
    /// For each entry: whether it is lost, so that its byte is not negative.
    places: __m256i,
}

impl PlacedPorts {
    /// Puts the first bytes of `from` where the bits of the mask are, in order.
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    fn new(from: &[u8; 72], mask: u32) -> Self {
        let (mut next, mut bytes, mut places) = (0, [0; 4], [0; 4]);
        for (at, byte) in mask.to_le_bytes().into_iter().enumerate() {
            places[at] = PLACES[usize::from(byte)] as i64;
            let here = from[next & 63..].first_chunk().expect("64 and eight more");
            bytes[at] = i64::from_le_bytes(*here);
            next += byte.count_ones() as usize;
        }
        let [a, b, c, d] = places;
        let places = _mm256_set_epi64x(d, c, b, a);
        let [a, b, c, d] = bytes;
        let bytes = _mm256_set_epi64x(d, c, b, a);
        // A shuffle takes bytes from halves of 16: every other eight is the upper one of its half.
        const UPPER: i64 = 0x0808_0808_0808_0808;
        let within = _mm256_add_epi8(places, _mm256_set_epi64x(UPPER, 0, UPPER, 0));
        PlacedPorts { ports: _mm256_shuffle_epi8(bytes, within), places }
    }

    /// Returns the entries with these ports instead of the lost ones.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn over(&self, entries: __m256i) -> __m256i {
        _mm256_blendv_epi8(self.ports, entries, self.places)
    }
}

impl Expand for EightByEight {
    #[inline(always)]
    fn expand(from: &[u8; 72], mask: u64, to: &mut [u8; 64]) {
        let (mut left, mut next) = (mask, 0);
        let eights = to.as_chunks_mut::<8>().0;
        let wanted = if mask >> 32 == 0 { &mut eights[..4] } else { eights };
        for eight in wanted {
            let places = PLACES[(left & 0xff) as usize];
            let bytes = from[next & 63..].first_chunk().expect("64 and eight more");
            // SAFETY: `write_lost_avx2` alone uses this, with AVX2 enabled.
            let placed = unsafe {
                let bytes = _mm_cvtsi64_si128(i64::from_le_bytes(*bytes));
                _mm_cvtsi128_si64(_mm_shuffle_epi8(bytes, _mm_cvtsi64_si128(places as i64)))
            };
            let staying = (places >> 7 & 0x0101_0101_0101_0101) * 0xff;
            let stays = u64::from_le_bytes(*eight) & staying;
            *eight = (stays | placed as u64).to_le_bytes();
            next += (left & 0xff).count_ones() as usize;
            left >>= 8;
        }
    }

    #[inline(always)]
    fn expand_32(from: &[u8; 72], mask: u32, to: &[u8; 32]) -> [u8; 32] {
        let mut new = [0; 32];
        // SAFETY: `patch_lost_avx2` alone uses this, with AVX2 enabled.
        unsafe { store_32(&mut new, PlacedPorts::new(from, mask).over(load_32(to))) };
        new
    }

    #[inline(always)]
    fn nth_bit(word: u64, n: u32) -> usize {
        // SAFETY: those who use this have BMI2 enabled.
        let bit = unsafe { _pdep_u64(1 << (n & 63), word) };
        bit.trailing_zeros() as usize
    }
}

/// The loop of [`lost::patch`] with registers of 32 bytes, or the portable loop with AVX2 if some piece is wide.
pub(in crate::kernel) fn patch_lost_avx2(
    _: Avx2,
    ports: &[u8; 64],
    pieces: LostPieces<'_>,
    cycles: &mut Cycles,
    row: &mut [u8],
) -> Difference {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn patch(
        ports: &[u8; 64],
        pieces: LostPieces<'_>,
        cycles: &mut Cycles,
        row: &mut [u8],
    ) -> Difference {
        if !pieces.are_narrow() {
            return lost::patch::<EightByEight, ThirtyTwoBytes>(ports, pieces, cycles, row);
        }
        let mut difference = Difference::default();
        each_narrow_piece(ports, pieces, cycles, |piece, new| {
            let differing = lost::with_slack(&mut row[piece.start..], |to| {
                let old = load_32(to);
                let new = new.over(old);
                let same = _mm256_movemask_epi8(_mm256_cmpeq_epi8(old, new)) as u32;
                if same != u32::MAX {
                    store_32(to, new);
                }
                !same
            });
            if differing != 0 {
                difference.add(differing.into(), piece.target);
            }
        });
        difference
    }
    // SAFETY: the caller has proof of AVX2.
    unsafe { patch(ports, pieces, cycles, row) }
}

/// The loop of [`lost::write`] with the cycle in a register.
pub(in crate::kernel) fn write_lost_avx512(
    _: Avx512,
    ports: &[u8; 64],
    pieces: LostPieces<'_>,
    row: &mut [u8],
) {
    #[target_feature(
        enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2"
    )]
    fn write(ports: &[u8; 64], pieces: LostPieces<'_>, row: &mut [u8]) {
        let ports = load(ports);
        each_piece(pieces, |piece| {
            let to: &mut [u8; 64] = row[piece.start..].first_chunk_mut().expect("a row has slack");
            let cycle = turned_cycle(ports, &piece);
            // Nothing is read back: pieces may be so close that a load would wait for the store before.
            // SAFETY: `to` has 64 bytes, of which those are written that the mask has.
            unsafe {
                if piece.lost >> 32 == 0 {
                    // Half a register lies in one cache line more often.
                    let (mask, cycle) = (piece.lost as u32, _mm512_castsi512_si256(cycle));
                    let entries = _mm256_maskz_expand_epi8(mask, cycle);
                    _mm256_mask_storeu_epi8(to.as_mut_ptr().cast(), mask, entries);
                } else {
                    let entries = _mm512_maskz_expand_epi8(piece.lost, cycle);
                    _mm512_mask_storeu_epi8(to.as_mut_ptr().cast(), piece.lost, entries);
                }
            }
        });
    }
    // SAFETY: the caller has proof of AVX-512.
    unsafe { write(ports, pieces, row) }
}

/// The loop of [`lost::patch`] with the cycle in a register.
pub(in crate::kernel) fn patch_lost_avx512(
    _: Avx512,
    ports: &[u8; 64],
    pieces: LostPieces<'_>,
    row: &mut [u8],
) -> Difference {
    #[target_feature(
        enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2"
    )]
    fn patch(ports: &[u8; 64], pieces: LostPieces<'_>, row: &mut [u8]) -> Difference {
        let ports = load(ports);
        let mut difference = Difference::default();
        each_piece(pieces, |piece| {
            let cycle = turned_cycle(ports, &piece);
            let entries = &mut row[piece.start..];
            let differing = match piece.lost >> 32 {
                0 => lost::with_slack(entries, |to| patch_32(to, piece.lost as u32, cycle).into()),
                _ => lost::with_slack(entries, |to| patch_64(to, piece.lost, cycle)),
            };
            if differing != 0 {
                difference.add(differing, piece.target);
            }
        });
        difference
    }
    // SAFETY: the caller has proof of AVX-512.
    unsafe { patch(ports, pieces, row) }
}

/// Calls `each` with all pieces that have lost entries. They are found 64 at a time: no processor can predict which these are.
#[inline]
#[target_feature(enable = "avx512f")]
fn each_piece(pieces: LostPieces<'_>, mut each: impl FnMut(LostPiece)) {
    for (at, lost) in pieces.lost.chunks(64).enumerate() {
        for bit in bits(by_eight(lost, |words| _mm512_test_epi64_mask(words, words))) {
            each(pieces.piece(64 * at + bit));
        }
    }
}

/// Writes the first ports of a cycle over the entries whose bits are set, and returns which of them were others before.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn patch_64(to: &mut [u8; 64], mask: u64, cycle: __m512i) -> u64 {
    let old = load(to);
    let new = _mm512_mask_expand_epi8(old, mask, cycle);
    let differing = _mm512_cmpneq_epi8_mask(old, new);
    if differing != 0 {
        store_line(to, new);
    }
    differing
}

/// Does what [`patch_64`] does for 32 entries. The entries of the next piece are not read and written again, so it does not
/// have to wait for them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn patch_32(to: &mut [u8; 32], mask: u32, cycle: __m512i) -> u32 {
    let old = load_32(to);
    let new = _mm256_mask_expand_epi8(old, mask, _mm512_castsi512_si256(cycle));
    let differing = _mm256_cmpneq_epi8_mask(old, new);
    if differing != 0 {
        store_32(to, new);
    }
    differing
}

/// Returns the ports of a piece in turn: one instruction compresses them, and one rotates and repeats them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
fn turned_cycle(ports: __m512i, piece: &LostPiece) -> __m512i {
    let rotations = &ROTATIONS[piece.groups.count_ones() as usize];
    let from = rotations[piece.at as usize & 63..].first_chunk().expect("64 from any place on");
    let cycle = _mm512_maskz_compress_epi8(piece.groups, ports);
    _mm512_permutexvar_epi8(load(from), cycle)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_line(to: &mut [u8; 64], value: __m512i) {
    // SAFETY: an array of 64 bytes can be written whole, at any address.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), value) }
}

/// For each value of a byte, eight bytes, one for each bit: the number of set bits below it if the bit is set, else 128,
/// which makes the shuffle write 0.
static PLACES: [u64; 256] = {
    let mut places = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            let place = if byte >> bit & 1 == 1 { count } else { 128 };
            places[byte] |= place << (8 * bit);
            count += (byte >> bit & 1) as u64;
            bit += 1;
        }
        byte += 1;
    }
    places
};
