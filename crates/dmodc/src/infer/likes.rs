//! Which switches are alike: they share most of their neighbours.

use super::neighbours::Neighbours;
use crate::id::SwitchIndex;
use crate::union_find::UnionFind;

/// Returns the sets of switches that are alike, each with two members or more. Two switches are alike if they share at
/// least half of the neighbours that they have together, and if both are leaves with nodes, or none is. Who is like one member
/// is like all. The cost is the sum over all neighbours of the square of their degree.
///
/// Example: with neighbours {1, 2, 3, 4}, {1, 2, 3} and {3, 4, 5, 6}, the first two are alike (3 of 4 are shared); the
/// third is not (2 of 6, and 1 of 6).
pub(super) fn sets_of_likes(
    own: &Neighbours,
    theirs: &Neighbours,
    has_nodes: impl Fn(SwitchIndex) -> bool,
) -> Vec<Vec<SwitchIndex>> {
    let count = own.switches().len();
    let mut sets = UnionFind::new(count);
    let mut shared = vec![0_usize; count];
    let mut met = vec![];
    for s in own.switches() {
        for neighbour in own.of(s) {
            let others = theirs.of(neighbour.switch).iter().map(|other| other.switch);
            for other in others.filter(|&other| other < s) {
                if shared[other.at()] == 0 {
                    met.push(other);
                }
                shared[other.at()] += 1;
            }
        }
        for other in met.drain(..) {
            let shared = std::mem::take(&mut shared[other.at()]);
            let together = own.of(s).len() + own.of(other).len() - shared;
            if 2 * shared >= together && has_nodes(s) == has_nodes(other) {
                sets.join(other, s);
            }
        }
    }
    let mut members = vec![vec![]; count];
    for s in own.switches() {
        members[sets.root(s).at()].push(s);
    }
    members.retain(|list| list.len() > 1);
    members.sort_unstable();
    members
}
