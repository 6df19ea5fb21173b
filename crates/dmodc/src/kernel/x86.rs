//! The inner loops for x86-64 processors with more than the base line. All unsafe code of this crate.
//!
//! Each loop is one function with the processor's features enabled, so that everything it calls is
//! compiled for them; a safe function in front of it is for [`Kernel`](super::Kernel), whose values
//! are proof that the features are there.
#![expect(unsafe_code, reason = "processor features and stores past the cache have no safe form")]

use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _MM_HINT_T0, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_prefetch,
    _mm_sfence, _mm_shuffle_epi8, _mm_storel_epi64, _mm_stream_si128, _mm256_add_epi8,
    _mm256_blendv_epi8, _mm256_castsi256_pd, _mm256_cmpeq_epi8, _mm256_cmpeq_epi64,
    _mm256_cmpneq_epi8_mask, _mm256_loadu_si256, _mm256_mask_expand_epi8, _mm256_mask_storeu_epi8,
    _mm256_maskz_expand_epi8, _mm256_movemask_epi8, _mm256_movemask_pd, _mm256_set_epi64x,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_storeu_si256, _mm512_and_si512,
    _mm512_castsi512_si256, _mm512_cmpeq_epi64_mask, _mm512_cmpneq_epi8_mask,
    _mm512_gf2p8affine_epi64_epi8, _mm512_loadu_si512, _mm512_mask_expand_epi8,
    _mm512_mask_storeu_epi8, _mm512_maskz_compress_epi8, _mm512_maskz_expand_epi8,
    _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_set1_epi64, _mm512_sllv_epi64,
    _mm512_srlv_epi64, _mm512_storeu_si512, _mm512_test_epi64_mask, _mm512_xor_si512, _pdep_u64,
    _pext_u64,
};

use super::choices::{Choices, OneByOne, Words};
use super::differ::{self, Compare, Difference, Fields};
use super::divide::SIZES;
use super::lost::{self, Expand, LostPiece, LostPieces};
use super::spread::{CYCLE, Compress, Cycles, Run, SLACK, Spread, Way, each_run};
use crate::bits::bits;
use crate::tables::NO_ROUTE;

/// Proof that the processor has AVX2, and what came with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        let found = !cfg!(miri)
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt");
        found.then_some(Avx2(()))
    }
}

/// Proof that the processor has all the parts of AVX-512 that are used here, and AVX2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Avx512(Avx2);

impl Avx512 {
    pub(super) fn avx2(self) -> Avx2 {
        self.0
    }

    pub(super) fn detect() -> Option<Self> {
        let avx2 = Avx2::detect()?;
        let found = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("avx512vpopcntdq")
            && is_x86_feature_detected!("gfni");
        found.then_some(Avx512(avx2))
    }
}

/// Runs what is inlined into it with AVX2.
pub(super) fn run_avx2<T>(_: Avx2, work: impl FnOnce() -> T) -> T {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn run<T>(work: impl FnOnce() -> T) -> T {
        work()
    }
    // SAFETY: the caller has proof of AVX2.
    unsafe { run(work) }
}

/// Runs what is inlined into it with AVX-512.
pub(super) fn run_avx512<T>(_: Avx512, work: impl FnOnce() -> T) -> T {
    #[target_feature(
        enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq"
    )]
    fn run<T>(work: impl FnOnce() -> T) -> T {
        work()
    }
    // SAFETY: the caller has proof of AVX-512.
    unsafe { run(work) }
}

/// The portable gathering, compiled for AVX2.
pub(super) fn gather_avx2(_: Avx2, choices: &mut Choices, targets: u64, through: &[u64]) {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn gather(choices: &mut Choices, targets: u64, through: &[u64]) {
        choices.gather::<OneByOne>(targets, through);
    }
    // SAFETY: the caller has proof of AVX2.
    unsafe { gather(choices, targets, through) }
}

/// The gathering with answers about eight words at a time.
pub(super) fn gather_avx512(_: Avx512, choices: &mut Choices, targets: u64, through: &[u64]) {
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
fn by_eight(words: &[u64], ask: impl Fn(__m512i) -> u8) -> u64 {
    let (whole, rest) = words.as_chunks::<8>();
    let mut answer = 0;
    for (at, eight) in whole.iter().enumerate() {
        // SAFETY: only functions with AVX-512 use this, with AVX-512 enabled.
        answer |= u64::from(ask(unsafe { load_words(eight) })) << (8 * at);
    }
    if !rest.is_empty() {
        let mut eight = [0; 8];
        eight[..rest.len()].copy_from_slice(rest);
        // SAFETY: as above.
        let last = u64::from(ask(unsafe { load_words(&eight) })) & ((1 << rest.len()) - 1);
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

/// [`transpose`](super::transpose) in eight registers of eight words: the first three rounds swap
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

/// Returns the difference between two rows, found with AVX2.
pub(super) fn differ_avx2(_: Avx2, old: &[u8], new: &[u8], fields: &Fields) -> Difference {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn differ(old: &[u8], new: &[u8], fields: &Fields) -> Difference {
        differ::rows::<ThirtyTwoBytes>(old, new, fields)
    }
    // SAFETY: the caller has proof of AVX2.
    unsafe { differ(old, new, fields) }
}

struct ThirtyTwoBytes;

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
pub(super) fn differ_avx512(_: Avx512, old: &[u8], new: &[u8], fields: &Fields) -> Difference {
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

/// The portable loop with AVX2, and ports compressed eight at a time.
pub(super) fn spread_avx2(_: Avx2, spread: &Spread<'_>, cycles: &mut Cycles, row: &mut [u8]) {
    // SAFETY: the caller has proof of AVX2.
    unsafe { with_avx2(spread, cycles, row) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn with_avx2(spread: &Spread<'_>, cycles: &mut Cycles, row: &mut [u8]) {
    each_run::<EightByEight>(spread, cycles, row);
}

struct EightByEight;

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
static PICKS: [u64; 256] = {
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

/// The loop of [`lost::each_first_group`] with AVX2.
pub(super) fn each_lost_avx2(_: Avx2, pieces: LostPieces<'_>, each: impl FnMut(usize, usize)) {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn each_lost(pieces: LostPieces<'_>, each: impl FnMut(usize, usize)) {
        lost::each_first_group::<EightByEight>(pieces, each);
    }
    // SAFETY: the caller has proof of AVX2.
    unsafe { each_lost(pieces, each) }
}

/// The loop of [`lost::write`] with registers of 32 bytes, or the portable loop with AVX2 if some piece is wide.
pub(super) fn write_lost_avx2(
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

#[inline]
#[target_feature(enable = "avx")]
fn load_32(from: &[u8; 32]) -> __m256i {
    // SAFETY: an array of 32 bytes can be read whole, at any address.
    unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx")]
fn store_32(to: &mut [u8; 32], value: __m256i) {
    // SAFETY: an array of 32 bytes can be written whole, at any address.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), value) }
}

/// The loop of [`lost::patch`] with registers of 32 bytes, or the portable loop with AVX2 if some piece is wide.
pub(super) fn patch_lost_avx2(
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
pub(super) fn write_lost_avx512(
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
pub(super) fn patch_lost_avx512(
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

/// The loop of [`each_run`] with the cycle in a register, if it fits into one: one instruction
/// compresses 64 ports, and one more rotates and repeats the cycle.
pub(super) fn spread_avx512(
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

/// Starts to load the cache lines of some bytes.
pub(super) fn prefetch(bytes: &[u8]) {
    for line in bytes.chunks(64) {
        // SAFETY: a prefetch never fails, whatever the address; SSE is part of every x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
}

/// Everything streamed so far is seen by others before anything stored later.
pub(super) fn order_stores() {
    // SAFETY: SSE is part of every x86-64.
    unsafe { _mm_sfence() }
}
