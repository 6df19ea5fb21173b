//! Dividers: Π of every switch (Procedure 1, the half that is not about cost).
//!
//! Π counts the consecutive destinations that take one port before the next port has its turn. It
//! is 1 at the bottom; a switch takes the greatest Π × #upswitches of the switches below it, so that
//! a damaged subtree next to whole ones changes nothing.

use crate::group::PortGroups;
use crate::id::SwitchIndex;

/// Returns Π of every switch, by index. It saturates: any Π above every destination number acts alike.
pub fn dividers(groups: &PortGroups) -> Vec<u32> {
    let mut dividers = vec![1; groups.switch_count()];
    for &s in groups.ascending() {
        dividers[s.at()] = divider(groups, &dividers, s);
    }
    dividers
}

/// Returns Π of one switch, from those of the switches below it.
pub(crate) fn divider(groups: &PortGroups, dividers: &[u32], s: SwitchIndex) -> u32 {
    let product = |below: &SwitchIndex| {
        dividers[below.at()].saturating_mul(groups.above(*below).peers.len() as u32)
    };
    groups.below(s).peers.iter().map(product).max().unwrap_or(1).max(1)
}
