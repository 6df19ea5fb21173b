//! Dividers: Π of every switch (Procedure 1, the half that is not about cost).
//!
//! Π counts the consecutive destinations that take one port before the next port has its turn. It
//! is 1 at the bottom; a switch takes the greatest Π × #upswitches of the switches below it, so that
//! a damaged subtree beside whole ones changes nothing.

use crate::group::PortGroups;

/// Π of every switch, by index. It saturates: any Π above every destination number acts alike.
/// O(#groups).
pub fn dividers(groups: &PortGroups) -> Vec<u32> {
    let mut dividers = vec![1u32; groups.switch_count()];
    for &s in groups.ascending() {
        let up = groups.up(s);
        let product = dividers[s.at()].saturating_mul(up.len() as u32);
        for above in up {
            let divider = &mut dividers[above.peer.at()];
            *divider = (*divider).max(product);
        }
    }
    dividers
}
