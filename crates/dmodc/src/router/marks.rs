//! Sets of entries: targets of one tile, by switch.

use crate::id::SwitchIndex;
use crate::kernel::bits;

/// Targets, marked for switches.
#[derive(Default)]
pub(crate) struct Marks {
    targets: Vec<u64>,
    /// A bit for each switch that has some.
    switches: Vec<u64>,
}

impl Marks {
    pub(super) fn fit(&mut self, switches: usize) {
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

    /// The switches with marks and their targets, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SwitchIndex, u64)> {
        self.switches.iter().enumerate().flat_map(move |(word, &set)| {
            bits(set).map(move |bit| {
                let at = word * 64 + bit;
                (SwitchIndex::new(at), self.targets[at])
            })
        })
    }

    pub(super) fn clear(&mut self) {
        for word in 0..self.switches.len() {
            for bit in bits(std::mem::take(&mut self.switches[word])) {
                self.targets[word * 64 + bit] = 0;
            }
        }
    }
}
