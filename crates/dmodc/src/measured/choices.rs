//! Whether routes between leaves have a choice on the way down, and how many.

use super::destinations::Destinations;
use super::{ChoicesDown, MeasuredFabric};
use crate::cost::CloserSets;
use crate::group::PortGroups;
use crate::parallel;

/// Returns `false` if no switch can have a choice on the way down: the leaves below its groups are different ones. This is
/// quick, and true of every whole PGFT.
pub(super) fn may_exist(groups: &PortGroups, destinations: &Destinations) -> bool {
    let overlaps = parallel::map(destinations.tiles(), |targets| {
        let mut below = vec![0u64; groups.switch_count()];
        for (bit, target) in targets.iter().enumerate() {
            below[target.at()] = 1 << bit;
        }
        let mut overlaps = false;
        for &s in groups.ascending() {
            let (mut all, mut twice) = (0, 0);
            for peer in groups.below(s).peers {
                twice |= all & below[peer.at()];
                all |= below[peer.at()];
            }
            below[s.at()] |= all;
            overlaps |= twice != 0;
        }
        overlaps
    });
    overlaps.contains(&true)
}

/// Counts the pairs of leaves with a choice on the way down.
pub(super) fn count(fabric: &MeasuredFabric<'_>) -> ChoicesDown {
    let MeasuredFabric { groups, destinations, kernel, .. } = fabric;
    let counts = parallel::map(destinations.tiles().zip(&fabric.costs), |(targets, costs)| {
        // For each switch: the targets for which it, or a switch that closer sets lead to, has a choice on the way down.
        let mut choices = vec![0u64; groups.switch_count()];
        let mut closer = CloserSets::default();
        let find = |s, closer: &mut CloserSets| {
            kernel.run(
                #[inline(always)]
                || costs.closer(groups, s, closer),
            );
        };
        for &s in groups.ascending() {
            find(s, &mut closer);
            if closer.down != 0 {
                let (mut once, mut found) = (0, 0);
                for (through, peer) in closer.through_down.iter().zip(groups.below(s).peers) {
                    found |= once & through | through & choices[peer.at()];
                    once |= through;
                }
                choices[s.at()] = found;
            }
        }
        for &s in groups.ascending().iter().rev() {
            find(s, &mut closer);
            if closer.up != 0 {
                let pairs = closer.through_up.iter().zip(groups.above(s).peers);
                let found =
                    pairs.fold(0, |all, (through, peer)| all | through & choices[peer.at()]);
                choices[s.at()] |= found;
            }
        }
        let mut counts = ChoicesDown { pairs_with_choice: 0, pairs: 0 };
        for &source in destinations.targets() {
            let own = targets.iter().position(|&t| t == source).map_or(0, |bit| 1 << bit);
            let reached = costs.reached(source) & !own;
            counts.pairs += u64::from(reached.count_ones());
            let with_choice = choices[source.at()] & reached;
            counts.pairs_with_choice += u64::from(with_choice.count_ones());
        }
        counts
    });
    counts.into_iter().fold(ChoicesDown { pairs_with_choice: 0, pairs: 0 }, |a, b| ChoicesDown {
        pairs_with_choice: a.pairs_with_choice + b.pairs_with_choice,
        pairs: a.pairs + b.pairs,
    })
}
