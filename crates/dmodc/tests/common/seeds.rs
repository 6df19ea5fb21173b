//! Properties for many seeds.

use std::cell::Cell;

use dmodc::Random;

/// Runs a property for seeds from 0 on. If it fails, the seed is printed.
pub fn for_seeds(count: u64, property: impl Fn(&mut Random)) {
    struct PrintOnPanic(u64);
    impl Drop for PrintOnPanic {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("the property failed for seed {}", self.0);
            }
        }
    }
    for seed in 0..count {
        let print = PrintOnPanic(seed);
        property(&mut Random::new(seed, 99));
        std::mem::forget(print);
    }
}

/// Counts how often each of `N` outcomes occurs, so that a property can show that it was not true for want of cases.
pub struct Outcomes<const N: usize>(Cell<[u64; N]>);

impl<const N: usize> Outcomes<N> {
    pub fn new() -> Self {
        Outcomes(Cell::new([0; N]))
    }

    /// Counts the outcomes that occurred.
    pub fn count(&self, occurred: [bool; N]) {
        let mut counts = self.0.get();
        for (count, occurred) in counts.iter_mut().zip(occurred) {
            *count += u64::from(occurred);
        }
        self.0.set(counts);
    }

    /// Each outcome occurred more often than that.
    #[track_caller]
    pub fn assert_each_more_than(&self, least: u64) {
        let counts = self.0.get();
        assert!(counts.iter().all(|&n| n > least), "every outcome occurs: {counts:?}");
    }
}
