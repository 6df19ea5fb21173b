//! A set of switches that is visited in one direction while it grows in that direction.

use crate::bits::bits;
use crate::group::PortGroups;
use crate::id::SwitchIndex;

/// Live switches to be visited from the leaves upwards, or from the top downwards; each once, though
/// it be wanted by many. A bit for each, in ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep(Vec<u64>);

impl Sweep {
    /// Makes room for all live switches.
    pub(super) fn fit(&mut self, groups: &PortGroups) {
        self.0.resize(groups.ascending().len().div_ceil(64), 0);
    }

    /// Wants a switch to be visited; dead ones are not.
    #[inline]
    pub(super) fn want(&mut self, groups: &PortGroups, s: SwitchIndex) {
        if let Some(place) = groups.place(s) {
            self.0[place / 64] |= 1 << (place % 64);
        }
    }

    /// Visits all that are wanted, upwards. A visit may want switches that are above.
    pub(super) fn upwards(
        &mut self,
        groups: &PortGroups,
        mut visit: impl FnMut(&mut Sweep, SwitchIndex),
    ) {
        for word in 0..self.0.len() {
            while let Some(bit) = bits(self.0[word]).next() {
                self.0[word] &= !(1 << bit);
                visit(self, groups.ascending()[word * 64 + bit]);
            }
        }
    }

    /// Visits all that are wanted, downwards. A visit may want switches that are below.
    pub(super) fn downwards(
        &mut self,
        groups: &PortGroups,
        mut visit: impl FnMut(&mut Sweep, SwitchIndex),
    ) {
        for word in (0..self.0.len()).rev() {
            while self.0[word] != 0 {
                let bit = 63 - self.0[word].leading_zeros() as usize;
                self.0[word] &= !(1 << bit);
                visit(self, groups.ascending()[word * 64 + bit]);
            }
        }
    }
}
