//! The neighbours of each switch on the next level, counted in cables.

use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::rank::Ranking;

/// The cables between a switch and one neighbour, seen from the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Neighbour {
    pub(super) switch: SwitchIndex,
    pub(super) cables: usize,
}

/// For each switch its neighbours one level higher (or lower), ascending by index.
pub(super) struct Neighbours(Vec<Vec<Neighbour>>);

impl Neighbours {
    /// Returns the upswitches of each switch that are one rank higher.
    pub(super) fn above(live: Live<'_>, ranking: &Ranking) -> Self {
        Neighbours::by(live, |s, peer| is_next(ranking.rank(s), ranking.rank(peer)))
    }

    /// Returns the downswitches of each switch that are one rank lower.
    pub(super) fn below(live: Live<'_>, ranking: &Ranking) -> Self {
        Neighbours::by(live, |s, peer| is_next(ranking.rank(peer), ranking.rank(s)))
    }

    fn by(live: Live<'_>, is_one: impl Fn(SwitchIndex, SwitchIndex) -> bool) -> Self {
        let of = |s: SwitchIndex| {
            let mut list: Vec<Neighbour> = vec![];
            // Links are sorted by peer.
            for (_, peer) in live.links(s).filter(|&(_, peer)| is_one(s, peer)) {
                match list.last_mut().filter(|last| last.switch == peer) {
                    Some(last) => last.cables += 1,
                    None => list.push(Neighbour { switch: peer, cables: 1 }),
                }
            }
            list
        };
        Neighbours(live.fabric.switch_indices().map(of).collect())
    }

    /// Returns the neighbours of a switch.
    pub(super) fn of(&self, s: SwitchIndex) -> &[Neighbour] {
        &self.0[s.at()]
    }

    /// Returns the number of cables between a switch and another one; 0 if that is no neighbour.
    pub(super) fn cables(&self, s: SwitchIndex, other: SwitchIndex) -> usize {
        let list = self.of(s);
        list.binary_search_by_key(&other, |n| n.switch).map_or(0, |at| list[at].cables)
    }

    /// Returns the number of cables of a switch to all its neighbours.
    pub(super) fn all_cables(&self, s: SwitchIndex) -> usize {
        self.of(s).iter().map(|neighbour| neighbour.cables).sum()
    }

    pub(super) fn switches(&self) -> impl ExactSizeIterator<Item = SwitchIndex> + use<> {
        (0..self.0.len()).map(SwitchIndex::new)
    }
}

/// Returns whether one rank follows another one. Switches without a rank have no levels.
fn is_next(lower: Option<u32>, upper: Option<u32>) -> bool {
    lower.zip(upper).is_some_and(|(lower, upper)| lower + 1 == upper)
}
