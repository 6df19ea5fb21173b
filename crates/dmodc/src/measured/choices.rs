//! Whether routes between leaves have a choice on the way down, and how many.

use super::destinations::Destinations;
use super::{ChoicesDown, MeasuredFabric};
use crate::cost::CloserSets;
use crate::group::PortGroups;
use crate::parallel;
use crate::rank::Ranking;

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

/// Returns whether the fabric has a diamond: two ways down from a switch without nodes to a leaf with nodes, over one switch each or over
/// two, that meet nowhere between. The higher ones of the switches on the ways have no nodes.
///
/// No PGFT has a diamond, however many of its cables and switches are dead, as long as every live leaf has a node:
///
/// ```text
///     s      t has nodes, so it is on level 1. The neighbours of level 1 are on level 2, so a and b are, and s is on level 1
///    / \     or 3. It has no nodes, so it is on level 3. But a switch of level 3 has cables to one switch of each pod of level 2,
///   a   b    and a and b are in one pod, since both are cabled to t.
///    \ /
///     t
///
///     s      As before, a and b are on level 2 and in one pod, and c and d are on level 3. So s is on level 2 or 4.
///    / \     If s is on level 4, it has cables to one switch of each part of level 3, and c and d are in one part, which is above t.
///   c   d    If s is on level 2, then c joins s and a, which have the same place in their pods, since c is cabled to both. So do
///   |   |    d, s and b. Then a and b have the same place in the same pod, although they are two switches.
///   a   b
///    \ /
///     t
/// ```
///
/// (A leaf that lost all its nodes may be s, c or d: the fabric is the same as one in which these are chips of a director.)
pub(super) fn has_diamond(ranking: &Ranking, groups: &PortGroups) -> bool {
    let has_nodes =
        |s| ranking.is_leaf_with_nodes(s) || ranking.found().service.binary_search(&s).is_ok();
    // The switch from which each switch was seen last; the same with the first way to it. The peers of a switch are different ones.
    //
    // The first way is enough. Let (c1, a1) be the first way, and let the ways (c2, a2) and (c3, a3) be a diamond. If the first way is
    // no diamond with either, then c1 = c2 and a1 = a3, or c1 = c3 and a1 = a2. In both cases c1 leads to t over a2 and over a3, which
    // is a diamond with one switch on each side.
    let (mut by_one, mut by_two) =
        (vec![None; groups.switch_count()], vec![None; groups.switch_count()]);
    let below = |s| groups.below(s).peers.iter().copied();
    for &s in groups.ascending().iter().filter(|s| !has_nodes(**s)) {
        for c in below(s) {
            for a in below(c) {
                if by_one[a.at()].replace(s) == Some(s) && ranking.is_leaf_with_nodes(a) {
                    return true;
                }
                if has_nodes(c) || ranking.is_leaf_with_nodes(a) {
                    continue;
                }
                for t in below(a).filter(|&t| ranking.is_leaf_with_nodes(t)) {
                    match by_two[t.at()] {
                        Some((from, first, second)) if from == s => {
                            if first != c && second != a {
                                return true;
                            }
                        }
                        _ => by_two[t.at()] = Some((s, c, a)),
                    }
                }
            }
        }
    }
    false
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
        let mut counts = ChoicesDown::new(0, 0);
        for &source in destinations.targets() {
            let own = targets.iter().position(|&t| t == source).map_or(0, |bit| 1 << bit);
            let reached = costs.reached(source) & !own;
            counts.pairs += u64::from(reached.count_ones());
            let with_choice = choices[source.at()] & reached;
            counts.pairs_with_choice += u64::from(with_choice.count_ones());
        }
        counts
    });
    counts.into_iter().fold(ChoicesDown::new(0, 0), |a, b| {
        ChoicesDown::new(a.pairs_with_choice + b.pairs_with_choice, a.pairs + b.pairs)
    })
}
