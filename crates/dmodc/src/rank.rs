//! Ranking: levels and link directions (the paper's section III-A).
//!
//! The rank of a switch is its distance from the nearest leaf, by breadth-first search over everything that is alive. On
//! a PGFT that is the level less one. A switch that lost all its cables downwards rises above its former parents, which
//! is legal: directions are always taken from the present ranks.
//!
//! Some fabrics are no fat trees, and ranks from the leaves then leave pairs of nodes without an up\*down\* route
//! although cables connect them. Such a fabric is ranked from one root instead: the root is the highest switch, and each
//! hop away from it is one rank lower. Every switch then has a way up to the root, so every pair has a route over the
//! root at least, whatever the graph. The order of decisions: roots that an operator names come first; else the
//! [`RankRule`] that [`single_root`](crate::single_root) decided once for the fabric; else ranks from the leaves.
//!
//! ```text
//!   ranks from the leaves      ranks from the root r
//!
//!   2      core                2        r
//!          /  \                        / \
//!   1    s1    s2              1      a   b       r, a, b and c are leaves, cabled as a ring:
//!        / \   /  \                    \ /        from the leaves, all four have rank 0
//!   0   a   b c   d            0        c
//! ```

use std::sync::Arc;

use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::leaf::{LeafRule, Leaves};

/// The switches that ranks are counted from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RankRule {
    /// From the leaves, upwards.
    #[default]
    Leaves,
    /// From these roots of [`LeafRule::Roots`], downwards.
    GivenRoots(Arc<[SwitchIndex]>),
    /// From one root in each connected part of the fabric, downwards. The root is the first switch of
    /// this list that is alive in the part; so when a root dies, the next one takes over. A part
    /// without a listed switch is ranked from its leaves.
    SingleRoot(Arc<[SwitchIndex]>),
}

/// The rank of every switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranking {
    ranks: Vec<Option<u32>>,
    leaves: Leaves,
    is_leaf: Vec<bool>,
    levels: u32,
    rule: RankRule,
}

impl Ranking {
    /// Ranks the live switches from the leaves, which are 0. With [`LeafRule::Roots`] ranks are counted
    /// from the other end, and leaves need not be 0. O(#ports).
    pub fn new(live: Live<'_>, leaves: &LeafRule) -> Self {
        Ranking::by(live, leaves, &RankRule::Leaves)
    }

    /// Ranks the live switches by this rule. Given roots go before it. O(#ports).
    pub fn by(live: Live<'_>, leaves: &LeafRule, rule: &RankRule) -> Self {
        let given = leaves.roots().map(|roots| RankRule::GivenRoots(roots.into()));
        let rule = given.unwrap_or_else(|| rule.clone());
        let leaves = Leaves::new(live, leaves);
        let mut is_leaf = vec![false; live.fabric.switches().len()];
        for &leaf in &leaves.all {
            is_leaf[leaf.at()] = true;
        }
        let ranks = match &rule {
            RankRule::Leaves => live.hops_to(leaves.all.iter().copied()),
            RankRule::GivenRoots(roots) => downwards(live.hops_to(roots.iter().copied())),
            RankRule::SingleRoot(roots) => from_single_roots(live, &leaves, roots),
        };
        let levels = levels(&ranks);
        Ranking { ranks, leaves, is_leaf, levels, rule }
    }

    /// Returns the ranking of the same switches from single roots. O(#ports).
    pub(crate) fn again(&self, live: Live<'_>, roots: Arc<[SwitchIndex]>) -> Self {
        let ranks = from_single_roots(live, &self.leaves, &roots);
        let levels = levels(&ranks);
        let rule = RankRule::SingleRoot(roots);
        Ranking { ranks, levels, rule, leaves: self.leaves.clone(), is_leaf: self.is_leaf.clone() }
    }

    /// Updates the ranks after faults or repairs of these switches and their cables alone, and returns `true`, if no other
    /// switch changes its rank and these only lose or get theirs. Returns `false` if all ranks have to be computed again;
    /// the ranking must not be used then.
    pub(crate) fn outlast(
        &mut self,
        live: Live<'_>,
        rule: &LeafRule,
        touched: &[SwitchIndex],
    ) -> bool {
        if self.rule != RankRule::Leaves || !self.leaves.outlast(live, rule, touched, &self.is_leaf)
        {
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
        // A switch that has a rank now may give one to neighbours that were not touched.
        let is_unranked = |(_, peer): (_, SwitchIndex)| self.ranks[peer.at()].is_none();
        if risen.into_iter().any(|s| live.links(s).any(is_unranked)) {
            return false;
        }
        // Ranks are distances if each is one more than the least rank of its neighbours. For switches that were not
        // touched this still holds.
        let mut others = touched.iter().filter(|s| live.switch(**s) && !self.is_leaf[s.at()]);
        others.all(|&s| self.ranks[s.at()] == self.above_the_lowest(live, s))
            && (!moved || self.levels == levels(&self.ranks))
    }

    /// Returns one more than the least rank of the neighbours.
    fn above_the_lowest(&self, live: Live<'_>, s: SwitchIndex) -> Option<u32> {
        live.links(s).filter_map(|(_, peer)| self.ranks[peer.at()]).min().map(|least| least + 1)
    }

    /// Returns what the ranks are counted from.
    pub fn rule(&self) -> &RankRule {
        &self.rule
    }

    /// Returns the roots of the connected parts of the fabric that are ranked from one root. There is none unless the
    /// rule is [`RankRule::SingleRoot`].
    pub fn single_roots(&self, live: Live<'_>) -> Vec<SwitchIndex> {
        let RankRule::SingleRoot(listed) = &self.rule else { return vec![] };
        let mut reached = vec![false; self.ranks.len()];
        listed.iter().copied().filter(|&s| !live.spread(s, &mut reached).is_empty()).collect()
    }

    /// Returns whether a live cable joins a switch with another one of its rank.
    pub(crate) fn is_cabled_to_its_rank(&self, live: Live<'_>, s: SwitchIndex) -> bool {
        let rank = self.ranks[s.at()];
        rank.is_some() && live.links(s).any(|(_, peer)| self.ranks[peer.at()] == rank)
    }

    /// Returns the rank of a switch; `None` if it is dead or no leaf can be reached from it.
    #[inline]
    pub fn rank(&self, s: SwitchIndex) -> Option<u32> {
        self.ranks[s.at()]
    }

    /// Returns the switches that have another rank in another ranking of the same fabric, or a rank in only one of them.
    pub(crate) fn differing<'a>(
        &'a self,
        other: &'a Ranking,
    ) -> impl Iterator<Item = SwitchIndex> + 'a {
        let pairs = self.ranks.iter().zip(&other.ranks).enumerate();
        pairs.filter(|(_, (a, b))| a != b).map(|(at, _)| SwitchIndex::new(at))
    }

    /// Returns the rank of a switch, and how many ranks there are.
    #[inline]
    pub(crate) fn rank_among(&self, s: SwitchIndex) -> RankAmong {
        RankAmong { rank: self.ranks[s.at()], levels: self.levels }
    }

    /// Returns a rank for sorting: switches without one come last. They are cabled only to each other, so any rank would
    /// do.
    #[inline]
    pub(crate) fn sort_rank(&self, s: SwitchIndex) -> u32 {
        self.ranks[s.at()].unwrap_or(u32::MAX)
    }

    /// Returns the leaves, ascending by index.
    pub fn leaves(&self) -> &[SwitchIndex] {
        &self.leaves.all
    }

    /// Returns the leaves that have nodes: validity is about these. An empty leaf has no node to connect.
    pub fn leaves_with_nodes(&self) -> impl Iterator<Item = SwitchIndex> + '_ {
        let empty = &self.leaves.empty;
        self.leaves.all.iter().copied().filter(|s| empty.binary_search(s).is_err())
    }

    /// Returns whether a switch is a leaf that has nodes.
    #[inline]
    pub fn is_leaf_with_nodes(&self, s: SwitchIndex) -> bool {
        self.is_leaf(s) && self.leaves.empty.binary_search(&s).is_err()
    }

    /// Returns the leaves, and other findings about them.
    pub fn found(&self) -> &Leaves {
        &self.leaves
    }

    /// Returns whether a switch is a leaf.
    #[inline]
    pub fn is_leaf(&self, s: SwitchIndex) -> bool {
        self.is_leaf[s.at()]
    }

    /// Returns the number of ranks.
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// Returns the ranked switches, one list for each rank, ascending by index.
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

/// A rank in one state of a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RankAmong {
    /// The rank; `None` if the switch has none.
    pub(crate) rank: Option<u32>,
    /// How many ranks there are in that state.
    pub(crate) levels: u32,
}

/// Returns the number of ranks.
fn levels(ranks: &[Option<u32>]) -> u32 {
    ranks.iter().flatten().max().map_or(0, |greatest| greatest + 1)
}

/// Returns ranks that fall with the distance from the roots: the farthest switch has rank 0.
fn downwards(mut hops: Vec<Option<u32>>) -> Vec<Option<u32>> {
    let levels = levels(&hops);
    for hops in hops.iter_mut().flatten() {
        *hops = levels - 1 - *hops;
    }
    hops
}

/// Returns ranks of each connected part from the first of these switches that is alive in it, and of the parts without
/// one from their leaves.
fn from_single_roots(live: Live<'_>, leaves: &Leaves, roots: &[SwitchIndex]) -> Vec<Option<u32>> {
    let mut reached = vec![false; live.fabric.switches().len()];
    let parts: Vec<_> = roots.iter().map(|&root| live.spread(root, &mut reached)).collect();
    let others = leaves.all.iter().copied().filter(|leaf| !reached[leaf.at()]);
    let mut ranks = live.hops_to(others);
    for part in parts {
        let farthest = part.last().map_or(0, |&(_, hops)| hops);
        for (s, hops) in part {
            ranks[s.at()] = Some(farthest - hops);
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Degradation, Fabric, Pgft};

    fn ranks(fabric: &Fabric, degradation: &Degradation) -> Vec<Option<u32>> {
        Ranking::new(Live::new(fabric, degradation), &LeafRule::Detect).ranks
    }

    #[test]
    fn one_root_ranks_its_part_and_the_next_takes_over() {
        // Two leaves and two spines, cabled as a ring; the second spine is the first choice.
        let fabric = "2; 1,2; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let rule = RankRule::SingleRoot([3, 0].map(SwitchIndex::new).to_vec().into());
        let mut d = Degradation::none(&fabric);
        let ranked = |d: &Degradation| {
            let live = Live::new(&fabric, d);
            let ranking = Ranking::by(live, &LeafRule::Detect, &rule);
            (ranking.ranks.clone(), ranking.single_roots(live))
        };
        let [first, second] = [3, 0].map(SwitchIndex::new);
        let ranks = vec![Some(1), Some(1), Some(0), Some(2)];
        assert_eq!(ranked(&d), (ranks, vec![first]));
        d.set_switch(first, true);
        let ranks = vec![Some(2), Some(0), Some(1), None];
        assert_eq!(ranked(&d), (ranks, vec![second]));
        // The leaf that is left has no root, and is ranked as leaves are.
        d.set_switch(second, true);
        assert_eq!(ranked(&d), (vec![None, Some(0), Some(1), None], vec![]));
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
            d.remove(&fabric, &format!("{spine}/{port}")).unwrap();
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
