//! The inner loops for x86-64 processors with more than the base line. All unsafe code of this crate.
//!
//! Each loop is one function with the processor's features enabled, so that everything it calls is
//! compiled for them; a safe function in front of it is for [`Kernel`](super::Kernel), whose values
//! are proof that the features are there. Each file has the loops of the file of the same name in `kernel`; here are the
//! proofs, what all of them use, and stores past the cache.
#![expect(unsafe_code, reason = "processor features and stores past the cache have no safe form")]

mod choices;
mod differ;
mod lost;
mod spread;

use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _MM_HINT_T0, _mm_prefetch, _mm_sfence, _mm_stream_si128,
    _mm256_loadu_si256, _mm256_storeu_si256, _mm512_loadu_si512,
};

pub(super) use choices::{gather_avx2, gather_avx512};
pub(super) use differ::{differ_avx2, differ_avx512};
pub(super) use lost::{
    each_lost_avx2, patch_lost_avx2, patch_lost_avx512, write_lost_avx2, write_lost_avx512,
};
pub(super) use spread::{spread_avx2, spread_avx512};

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

#[inline]
#[target_feature(enable = "avx512f")]
fn load(from: &[u8; 64]) -> __m512i {
    // SAFETY: an array of 64 bytes can be read whole, at any address.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
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
