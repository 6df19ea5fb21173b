//! A set of switches that is visited in one direction while it grows in that direction.

use crate::bits::bits;
use crate::group::PortGroups;
use crate::id::SwitchIndex;

/// A worklist of live switches, visited in ascending or descending order and once each, however often they are added. It
/// has a bit for each live switch, in ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep(Vec<u64>);

impl Sweep {
    /// Makes room for all live switches.
    pub(super) fn fit(&mut self, groups: &PortGroups) {
        self.0.resize(groups.ascending().len().div_ceil(64), 0);
    }

    /// Adds a switch; failed switches are ignored.
    #[inline]
    pub(super) fn add(&mut self, groups: &PortGroups, s: SwitchIndex) {
        if let Some(place) = groups.place(s) {
            self.0[place / 64] |= 1 << (place % 64);
        }
    }

    /// Visits all switches of the list, upwards, and empties it. A visit may add switches above.
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

    /// Visits all switches of the list, downwards, and empties it. A visit may add switches below.
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
