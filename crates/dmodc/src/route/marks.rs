//! A set of entries of one tile: pairs of a switch and a target.

use crate::bits::bits;
use crate::id::SwitchIndex;

/// A set of entries of one tile: for each switch, a word with its marked targets.
#[derive(Default)]
pub(crate) struct Marks {
    targets: Vec<u64>,
    /// A bit for each switch that has marked targets.
    switches: Vec<u64>,
}

impl Marks {
    pub(crate) fn fit(&mut self, switches: usize) {
        self.targets.resize(switches, 0);
        self.switches.resize(switches.div_ceil(64), 0);
    }

    #[inline]
    pub(crate) fn mark(&mut self, s: SwitchIndex, targets: u64) {
        if targets != 0 {
            self.targets[s.at()] |= targets;
            self.switches[s.at() / 64] |= 1 << (s.at() % 64);
        }
    }

    /// Returns the marked targets of a switch.
    #[inline]
    pub(crate) fn of(&self, s: SwitchIndex) -> u64 {
        self.targets[s.at()]
    }

    /// Returns the switches with marks and their targets, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SwitchIndex, u64)> {
        each(self.switches.iter().copied()).map(|s| (s, self.targets[s.at()]))
    }

    /// Returns the switches with marks here or in `others`, which has the same size, and their targets in both,
    /// ascending.
    pub(crate) fn iter_with(
        &self,
        others: &Marks,
    ) -> impl Iterator<Item = (SwitchIndex, u64, u64)> {
        let both = self.switches.iter().zip(&others.switches).map(|(these, those)| these | those);
        each(both).map(|s| (s, self.targets[s.at()], others.targets[s.at()]))
    }

    pub(crate) fn clear(&mut self) {
        for word in 0..self.switches.len() {
            for bit in bits(std::mem::take(&mut self.switches[word])) {
                self.targets[word * 64 + bit] = 0;
            }
        }
    }
}

/// Returns the switches that have a bit.
fn each(words: impl Iterator<Item = u64>) -> impl Iterator<Item = SwitchIndex> {
    let of_word = |(at, set)| bits(set).map(move |bit| SwitchIndex::new(at * 64 + bit));
    words.enumerate().flat_map(of_word)
}
