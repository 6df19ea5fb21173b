//! Targets by switch, which several threads note at once.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::id::SwitchIndex;

/// Targets by switch. They are noted while several threads write rows; each switch has one writer at a time.
#[derive(Debug, Default)]
pub(super) struct TargetsBySwitch(Vec<AtomicU64>);

impl TargetsBySwitch {
    pub(super) fn reset(&mut self, switches: usize) {
        self.0.resize_with(switches, AtomicU64::default);
        self.0.iter_mut().for_each(|word| *word.get_mut() = 0);
    }

    pub(super) fn get(&self, s: SwitchIndex) -> u64 {
        self.0[s.at()].load(Relaxed)
    }

    /// Replaces the bits of these targets.
    #[inline]
    pub(super) fn replace(&self, s: SwitchIndex, targets: u64, bits: u64) {
        let word = &self.0[s.at()];
        word.store(word.load(Relaxed) & !targets | bits, Relaxed);
    }
}

impl Clone for TargetsBySwitch {
    fn clone(&self) -> Self {
        TargetsBySwitch(self.0.iter().map(|word| AtomicU64::new(word.load(Relaxed))).collect())
    }
}
