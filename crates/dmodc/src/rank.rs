//! Ranking: levels and link directions (the paper's section III-A).
//!
//! Rank is the distance from the nearest leaf, by breadth-first search over what is alive. On a
//! PGFT that is the level less one; a switch that lost everything below it rises above its former
//! parents, which is legal: directions are always taken from the ranks of the moment.

use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::leaf::{LeafRule, Leaves};

/// The rank of every switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranking {
    ranks: Vec<Option<u32>>,
    leaves: Leaves,
    is_leaf: Vec<bool>,
    levels: u32,
}

impl Ranking {
    /// Ranks the live switches: leaves are 0. With [`LeafRule::Roots`] ranks are counted from the
    /// other end, and leaves need not be 0. O(#ports).
    pub fn new(live: Live<'_>, rule: &LeafRule) -> Self {
        let leaves = Leaves::new(live, rule);
        let mut is_leaf = vec![false; live.fabric.switches().len()];
        for &leaf in &leaves.all {
            is_leaf[leaf.at()] = true;
        }
        let mut ranks = match rule.roots() {
            Some(roots) => live.hops_to(roots.iter().copied()),
            None => live.hops_to(leaves.all.iter().copied()),
        };
        let levels = levels(&ranks);
        if rule.roots().is_some() {
            for hops in ranks.iter_mut().flatten() {
                *hops = levels - 1 - *hops;
            }
        }
        Ranking { ranks, leaves, is_leaf, levels }
    }

    /// Brings the ranks up to date after something happened to these switches and their cables alone, if
    /// nothing but their own death or repair changes; says whether. Otherwise they are to be found again.
    pub(crate) fn outlast(
        &mut self,
        live: Live<'_>,
        rule: &LeafRule,
        touched: &[SwitchIndex],
    ) -> bool {
        if rule.roots().is_some() || !self.leaves.outlast(live, rule, touched, &self.is_leaf) {
            return false;
        }
        let (mut moved, mut risen) = (false, vec![]);
        for &s in touched.iter().filter(|s| !self.is_leaf[s.at()]) {
            let rank = match live.switch(s) {
                false => None,
                true => self.ranks[s.at()].or_else(|| self.above_the_lowest(live, s)),
            };
            let before = std::mem::replace(&mut self.ranks[s.at()], rank);
            moved |= before != rank;
            if before.is_none() && rank.is_some() {
                risen.push(s);
            }
        }
        // What has a rank now may give one to neighbours that nothing happened to.
        let is_unranked = |(_, peer): (_, SwitchIndex)| self.ranks[peer.at()].is_none();
        if risen.into_iter().any(|s| live.links(s).any(is_unranked)) {
            return false;
        }
        // Ranks are distances if each is one more than the least around it; elsewhere it still is.
        let mut others = touched.iter().filter(|s| live.switch(**s) && !self.is_leaf[s.at()]);
        others.all(|&s| self.ranks[s.at()] == self.above_the_lowest(live, s))
            && (!moved || self.levels == levels(&self.ranks))
    }

    /// One more than the least rank of the neighbours.
    fn above_the_lowest(&self, live: Live<'_>, s: SwitchIndex) -> Option<u32> {
        live.links(s).filter_map(|(_, peer)| self.ranks[peer.at()]).min().map(|least| least + 1)
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
        &self.leaves.all
    }

    /// The leaves that have nodes: validity is about these. An empty leaf has nobody to connect.
    pub fn leaves_with_nodes(&self) -> impl Iterator<Item = SwitchIndex> + '_ {
        let empty = &self.leaves.empty;
        self.leaves.all.iter().copied().filter(|s| empty.binary_search(s).is_err())
    }

    /// Whether a switch is a leaf that has nodes.
    #[inline]
    pub fn is_leaf_with_nodes(&self, s: SwitchIndex) -> bool {
        self.is_leaf(s) && self.leaves.empty.binary_search(&s).is_err()
    }

    /// The leaves, and what was noticed while looking for them.
    pub fn found(&self) -> &Leaves {
        &self.leaves
    }

    /// Whether a switch is a leaf.
    #[inline]
    pub fn is_leaf(&self, s: SwitchIndex) -> bool {
        self.is_leaf[s.at()]
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

fn levels(ranks: &[Option<u32>]) -> u32 {
    ranks.iter().flatten().max().map_or(0, |greatest| greatest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Degradation, Fabric, Pgft};

    fn ranks(fabric: &Fabric, degradation: &Degradation) -> Vec<Option<u32>> {
        Ranking::new(Live::new(fabric, degradation), &LeafRule::Detect).ranks
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
