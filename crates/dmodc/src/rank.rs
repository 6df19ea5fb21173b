//! Ranking: levels and link directions (the paper's section III-A).
//!
//! Rank is the distance from the nearest leaf, by breadth-first search over what is alive. On a
//! PGFT that is the level less one; a switch that lost everything below it rises above its former
//! parents, which is legal: directions are always taken from the ranks of the moment.

use std::collections::VecDeque;

use crate::fabric::Live;
use crate::id::SwitchIndex;

/// The rank of every switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranking {
    ranks: Vec<Option<u32>>,
    leaves: Vec<SwitchIndex>,
    levels: u32,
}

impl Ranking {
    /// Ranks the live switches: leaves are 0. O(#ports).
    pub fn new(live: Live<'_>) -> Self {
        let leaves: Vec<SwitchIndex> = live.switches().filter(|&s| live.is_leaf(s)).collect();
        let mut ranks = vec![None; live.fabric.switches().len()];
        let mut queue = VecDeque::with_capacity(leaves.len());
        for &leaf in &leaves {
            ranks[leaf.at()] = Some(0);
            queue.push_back((leaf, 0));
        }
        let mut levels = 0;
        while let Some((s, rank)) = queue.pop_front() {
            levels = rank + 1;
            for (_, peer) in live.links(s) {
                if ranks[peer.at()].is_none() {
                    ranks[peer.at()] = Some(rank + 1);
                    queue.push_back((peer, rank + 1));
                }
            }
        }
        Ranking { ranks, leaves, levels }
    }

    /// The rank of a switch; `None` where it is dead or no leaf can be reached from it.
    #[inline]
    pub fn rank(&self, s: SwitchIndex) -> Option<u32> {
        self.ranks[s.at()]
    }

    /// A rank for sorting: switches without one come last. They are cabled to each other alone, so
    /// any rank would do.
    #[inline]
    pub(crate) fn sort_rank(&self, s: SwitchIndex) -> u32 {
        self.ranks[s.at()].unwrap_or(u32::MAX)
    }

    /// The leaves, ascending by index.
    pub fn leaves(&self) -> &[SwitchIndex] {
        &self.leaves
    }

    /// How many ranks there are.
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// The ranked switches, one list for each rank, ascending by index.
    pub fn by_rank(&self) -> Vec<Vec<SwitchIndex>> {
        let mut lists = vec![Vec::new(); self.levels as usize];
        for (at, rank) in self.ranks.iter().enumerate() {
            if let Some(rank) = rank {
                lists[*rank as usize].push(SwitchIndex::new(at));
            }
        }
        lists
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Degradation, Fabric, Pgft};

    fn ranks(fabric: &Fabric, degradation: &Degradation) -> Vec<Option<u32>> {
        Ranking::new(Live::new(fabric, degradation)).ranks
    }

    #[test]
    fn a_pgft_ranks_by_level_and_a_cut_off_spine_rises() {
        let pgft: Pgft = "3; 2,2,2; 1,2,2; 1,1,1".parse().unwrap();
        let fabric = pgft.fabric(Default::default());
        let mut d = Degradation::none(&fabric);
        let level = |at: usize| {
            Some(if at < 4 {
                0
            } else if at < 8 {
                1
            } else {
                2
            })
        };
        assert!(ranks(&fabric, &d).into_iter().eq((0..12).map(level)));
        // The first spine loses both its leaves: it now hangs above its two cores.
        let spine = fabric.switches()[4].guid;
        for port in 1..=2 {
            d.remove(&fabric, format!("{spine}/{port}").parse().unwrap()).unwrap();
        }
        assert_eq!(ranks(&fabric, &d)[4], Some(3));
        assert_eq!(ranks(&fabric, &d)[8], Some(2), "the core keeps its rank by the other pod");
        for s in [8, 10] {
            d.set_switch(SwitchIndex::new(s), true);
        }
        assert_eq!(ranks(&fabric, &d)[4], None, "nothing reaches it now");
        assert_eq!(ranks(&fabric, &d)[8], None, "it is dead");
    }
}
