//! Switches that have all their cables, although they seem to lack some.
//!
//! If each of 12 leaves has 4 cables to 4 of 5 switches, and each leaves out another one in turn, as good as all leaves have
//! each switch. Compared with that, every leaf lacks one. But they all have the same number of cables, so none is missing.

use super::neighbours::Neighbours;
use crate::id::SwitchIndex;

/// Returns for each switch whether its cables are shared out in turn: of its likes, more than half have the greatest number
/// of cables, and seem to lack some nevertheless.
pub(super) fn in_turn(
    own: &Neighbours,
    sets: &[Vec<SwitchIndex>],
    seems_to_lack: &[bool],
) -> Vec<bool> {
    let mut marks = vec![false; seems_to_lack.len()];
    for likes in sets {
        let with_most = with_most_cables(own, likes);
        if 2 * with_most.filter(|s| seems_to_lack[s.at()]).count() > likes.len() {
            likes.iter().for_each(|s| marks[s.at()] = true);
        }
    }
    marks
}

/// Returns for each switch whether one of its likes has more cables.
pub(super) fn have_fewer_cables(own: &Neighbours, sets: &[Vec<SwitchIndex>]) -> Vec<bool> {
    let mut marks = vec![false; own.switches().len()];
    for likes in sets {
        likes.iter().for_each(|s| marks[s.at()] = true);
        with_most_cables(own, likes).for_each(|s| marks[s.at()] = false);
    }
    marks
}

fn with_most_cables(own: &Neighbours, likes: &[SwitchIndex]) -> impl Iterator<Item = SwitchIndex> {
    let most = likes.iter().map(|&s| own.all_cables(s)).max();
    likes.iter().copied().filter(move |&s| Some(own.all_cables(s)) == most)
}
