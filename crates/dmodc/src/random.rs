//! Seeded random draws, the same on every machine and for every version of the tool.
//!
//! ChaCha8 is specified to the bit, and bounding and shuffling are our own few lines, so a seed in a
//! paper means the same faults for ever. A *stream* is an independent sequence of the same seed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seeded sequence of random numbers.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// Returns the sequence number `stream` of `seed`.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        Random(rng)
    }

    /// Returns the key of ChaCha8 that a seed stands for, for whoever draws the same numbers elsewhere. The n-th number of 64 bits of a
    /// stream is made of the words 2n mod 16 and 2n mod 16 + 1 of block ⌊n / 8⌋, the lower one first; the stream is the nonce.
    pub fn key(seed: u64) -> [u32; 8] {
        let key = ChaCha8Rng::seed_from_u64(seed).get_seed();
        let (words, _) = key.as_chunks::<4>();
        std::array::from_fn(|at| u32::from_le_bytes(words[at]))
    }

    /// Returns a uniform number below `bound` (Lemire's multiplication with rejection).
    ///
    /// # Panics
    /// If `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "no number is below zero");
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let wide = u128::from(self.0.next_u64()) * u128::from(bound);
            if wide as u64 >= threshold {
                return (wide >> 64) as u64;
            }
        }
    }

    /// Puts a slice into random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at as u64 + 1) as usize);
        }
    }

    /// Returns `count` different numbers below `total`, in the order in which they are drawn.
    ///
    /// # Panics
    /// If `count` is greater than `total`.
    pub fn sample(&mut self, total: usize, count: usize) -> Vec<usize> {
        assert!(count <= total, "a sample is no larger than its population");
        let mut all: Vec<usize> = (0..total).collect();
        for at in 0..count {
            let other = at + self.below((total - at) as u64) as usize;
            all.swap(at, other);
        }
        all.truncate(count);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_means_the_same_for_ever() {
        let mut random = Random::new(7, 0);
        let first: Vec<u64> = (0..6).map(|_| random.below(1000)).collect();
        assert_eq!(
            first,
            [157, 167, 704, 726, 601, 359],
            "changing the sequence would change published studies"
        );
    }

    #[test]
    fn draws_are_within_bounds_and_cover_them() {
        let mut random = Random::new(1, 2);
        let mut seen = [0; 7];
        for _ in 0..7000 {
            seen[random.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (800..1200).contains(&n)), "{seen:?}");
        let mut sample = random.sample(50, 50);
        sample.sort_unstable();
        assert!(sample.into_iter().eq(0..50));
    }
}
