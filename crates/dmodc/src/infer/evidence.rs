//! Whether switches lack what they seem to lack, looked at from both sides.
//!
//! - A switch that lacks cables has fewer than one of its likes.
//! - It lacks few. A leaf with one cable to each of four switches, where others have three, is cabled so on purpose; but seen
//!   from each of the four, just two cables seem to be missing.
//! - Its cables are not shared out in turn. If each of 12 leaves has 4 cables to 4 of 5 switches, and each leaves out another
//!   one in turn, as good as all leaves have each switch. Compared with that, every leaf lacks one. But they all have the same
//!   number of cables, so none is missing.

use super::neighbours::Neighbours;
use crate::id::SwitchIndex;

/// One in this number of a switch's cables may be missing.
const PART: usize = 4;

/// What the switches of one side seem to lack.
pub(super) struct Seeming<'a> {
    own: &'a Neighbours,
    sets: &'a [Vec<SwitchIndex>],
    /// The missing cables of each switch.
    cables: Vec<usize>,
    /// The neighbours to which each switch lacks cables.
    neighbours: Vec<usize>,
}

impl<'a> Seeming<'a> {
    /// Counts what the switches seem to lack.
    pub(super) fn new(
        own: &'a Neighbours,
        sets: &'a [Vec<SwitchIndex>],
        lacking: impl Iterator<Item = (SwitchIndex, usize)>,
    ) -> Self {
        let count = own.switches().len();
        let mut seeming = Seeming { own, sets, cables: vec![0; count], neighbours: vec![0; count] };
        for (s, cables) in lacking {
            seeming.cables[s.at()] += cables;
            seeming.neighbours[s.at()] += 1;
        }
        seeming
    }

    /// Returns for each switch whether it may lack what it seems to lack.
    pub(super) fn is_evident(&self) -> Vec<bool> {
        let mut evident: Vec<bool> = self.own.switches().map(|s| self.is_few(s)).collect();
        for likes in self.sets.iter().filter(|likes| self.are_in_turn(likes)) {
            likes.iter().for_each(|s| evident[s.at()] = false);
        }
        evident
    }

    /// Returns whether a switch lacks few cables, or only those to one neighbour.
    fn is_few(&self, s: SwitchIndex) -> bool {
        let lacking = self.cables[s.at()];
        PART * lacking <= lacking + self.own.all_cables(s) || self.neighbours[s.at()] == 1
    }

    /// Returns whether cables are shared out in turn: more than half of the likes have the greatest number of cables, and
    /// seem to lack some nevertheless.
    fn are_in_turn(&self, likes: &[SwitchIndex]) -> bool {
        let with_most = with_most_cables(self.own, likes);
        2 * with_most.filter(|s| self.cables[s.at()] > 0).count() > likes.len()
    }
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
