//! Dividers: Π of every switch (Procedure 1, the half that is not about cost).
//!
//! Π counts the consecutive destinations that take one port before the next port has its turn. It
//! is 1 at the bottom; a switch takes the greatest Π × #upswitches of the switches below it, so that
//! a damaged subtree next to whole ones changes nothing.
//!
//! Traffic comes from leaves, so a switch counts only if a leaf is at or below it. If ranks are counted from the leaves, every
//! switch with a rank counts. If they are counted from roots, a fault can leave switches without nodes below the leaves:
//!
//! ```text
//!      root (a leaf)          The spine of plane 2 in the pod of the root failed. From the root, the rest of plane 2 is
//!          |                  now reached over the leaves of other pods. It lies below them, and carries nothing.
//!      spine 1   †            If it counted, these leaves would have a Π of hundreds, and each would send the destinations of
//!          |                  whole pods over one cable.
//!       core 1
//!          |
//!      spine 1
//!       |    |
//!     leaf  leaf
//!       |    |
//!      spine 2
//!          |
//!       core 2
//! ```

use crate::group::PortGroups;
use crate::id::SwitchIndex;
use crate::rank::{RankRule, Ranking};

/// Returns Π of every switch, by index. It saturates: any Π above every destination number acts alike.
pub fn dividers(groups: &PortGroups, ranking: &Ranking) -> Vec<u32> {
    let mut dividers = vec![1; groups.switch_count()];
    if all_count(ranking) {
        for &s in groups.ascending() {
            dividers[s.at()] = divider(groups, &dividers, s);
        }
        return dividers;
    }
    let mut counts = vec![false; groups.switch_count()];
    for &s in groups.ascending() {
        let below = || groups.below(s).peers.iter().copied().filter(|below| counts[below.at()]);
        let divider = greatest_product(groups, &dividers, below());
        let has_leaf = ranking.is_leaf(s) || below().next().is_some();
        (dividers[s.at()], counts[s.at()]) = (divider, has_leaf);
    }
    dividers
}

/// Returns whether every switch counts, so that Π of a switch follows from those of the switches below it alone.
pub(crate) fn all_count(ranking: &Ranking) -> bool {
    *ranking.rule() == RankRule::Leaves
}

/// Returns Π of one switch, from those of the switches below it, if [all of them count](all_count).
pub(crate) fn divider(groups: &PortGroups, dividers: &[u32], s: SwitchIndex) -> u32 {
    greatest_product(groups, dividers, groups.below(s).peers.iter().copied())
}

fn greatest_product(
    groups: &PortGroups,
    dividers: &[u32],
    below: impl Iterator<Item = SwitchIndex>,
) -> u32 {
    let product = |below: SwitchIndex| {
        dividers[below.at()].saturating_mul(groups.above(below).peers.len() as u32)
    };
    below.map(product).max().unwrap_or(1).max(1)
}
