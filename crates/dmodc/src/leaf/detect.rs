//! The detection of leaves: the five steps of the [module](super), for one state of a fabric.
//!
//! Every step looks only at the leaves of the steps before it, and ties are never broken by indices or GUIDs, so that
//! the result does not depend on how a fabric is numbered.
//!
//! Example: a pod has four leaves with 18 nodes, a leaf with 2, an empty leaf, three spines, and a service node on the
//! first spine.
//!
//! | step | decides | because |
//! |---|---|---|
//! | 1 | the four are leaves | 18 is the usual number of nodes, and they have more than 9 |
//! | 2 | nothing | no two of them are cabled to each other |
//! | 3 | the leaf with 2 nodes is one; the first spine is none | the former is two hops from a leaf and shares all its spines; the latter is one hop away |
//! | 4 | the empty leaf is one | a leaf is cabled to all three of its neighbours |
//! | 5 | nothing | no switch is four hops from a leaf |

use std::collections::BTreeMap;

use super::clash;
use super::doubt::{Doubt, DoubtReason};
use super::state::{Counter, Detection};
use crate::fabric::Live;
use crate::id::SwitchIndex;

/// The result of a detection.
pub(super) struct Detected {
    pub(super) is_leaf: Vec<bool>,
    pub(super) doubts: Vec<Doubt>,
}

/// Detects leaves. Switches of which `known` holds something stay what they are known to be.
pub(super) fn detect(live: Live<'_>, nodes: &[usize], known: &[Option<bool>]) -> Detected {
    let usual = usual_by_switch(live, nodes);
    let is_leaf = vec![false; nodes.len()];
    let mut detection = Detection { live, nodes, known, usual, is_leaf, doubts: vec![] };
    let strong: Vec<SwitchIndex> = live.switches().filter(|&s| detection.is_strong(s)).collect();
    detection.set(strong);
    clash::settle(&mut detection);
    detection.find_those_with_few_nodes();
    detection.find_empty_ones();
    detection.find_empty_subtrees();
    let Detection { is_leaf, mut doubts, .. } = detection;
    doubts.sort_by_key(|doubt| doubt.switch);
    Detected { is_leaf, doubts }
}

impl Detection<'_> {
    /// Returns the hops from each switch to the nearest leaf.
    fn hops(&self) -> Vec<Option<u32>> {
        self.live.hops_to(self.live.switches().filter(|s| self.is_leaf[s.at()]))
    }

    /// Returns the switches of which nothing is known or decided, either those with nodes or those without.
    fn undecided(&self, with_nodes: bool) -> Vec<SwitchIndex> {
        let asked = |s: &SwitchIndex| {
            self.known(*s).is_none()
                && !self.is_strong(*s)
                && (self.nodes[s.at()] > 0) == with_nodes
        };
        self.live.switches().filter(asked).collect()
    }

    /// Step 3: a switch with few nodes is a leaf if it is cabled mostly as a leaf is, or has an even
    /// number of hops to the nearest one.
    fn find_those_with_few_nodes(&mut self) {
        let few = self.undecided(true);
        if few.is_empty() {
            return;
        }
        let hops = self.hops();
        let mut counter = Counter::new(self.nodes.len());
        let mut found = vec![];
        for s in few {
            match hops[s.at()] {
                Some(2) => {
                    let share = self.shared_with_a_leaf(s, &mut counter);
                    let is_one =
                        2 * share.shared > share.own && !self.is_core(s, share, &mut counter);
                    if is_one {
                        found.push(s);
                    }
                    self.doubt_a_share(s, share, is_one, &mut counter);
                }
                Some(hops) if hops > 0 && hops % 2 == 0 => {
                    found.push(s);
                    self.doubts.push(Doubt {
                        switch: s,
                        is_leaf: true,
                        why: DoubtReason::FarFromLeaves,
                    });
                }
                _ => {}
            }
        }
        self.set(found);
    }

    /// Step 4: a switch without nodes is a leaf if it is cabled as a leaf is.
    fn find_empty_ones(&mut self) {
        let empty = self.undecided(false);
        let hops = self.hops();
        let mut counter = Counter::new(self.nodes.len());
        let (mut found, mut ends) = (vec![], vec![]);
        for s in empty.into_iter().filter(|s| hops[s.at()] == Some(2)) {
            let share = self.shared_with_a_leaf(s, &mut counter);
            if share.own == 1 {
                ends.push(s);
                continue;
            }
            let is_one = 5 * share.shared > 3 * share.own && !self.is_core(s, share, &mut counter);
            if is_one {
                found.push(s);
            }
            self.doubt_a_share(s, share, is_one, &mut counter);
        }
        if !ends.is_empty() {
            found.extend(self.dead_ends(&ends));
        }
        self.set(found);
    }

    /// Returns those of these switches that are leaves; they have no nodes and one neighbour. Such a switch is a leaf if
    /// most leaves of its neighbour have no other neighbours either, and the neighbour has all the cores that spines
    /// usually have, so that the switch is not a core that has only this cable left. (Nothing passes through a dead end,
    /// so little depends on it. Where there are no cores at all, it stays above its neighbour.)
    fn dead_ends(&self, ends: &[SwitchIndex]) -> Vec<SwitchIndex> {
        let mut is_end = vec![false; self.nodes.len()];
        ends.iter().for_each(|s| is_end[s.at()] = true);
        let above = |s: SwitchIndex| {
            let others = self.neighbours(s).into_iter();
            others.filter(|&n| !self.is_leaf(n) && !is_end[n.at()]).count()
        };
        let is_spine =
            |s: SwitchIndex| !self.is_leaf(s) && self.live.links(s).any(|(_, n)| self.is_leaf(n));
        let usual = most_common(self.live.switches().filter(|&s| is_spine(s)).map(above));
        let is_one = |s: &&SwitchIndex| {
            self.neighbours(**s).first().is_some_and(|&spine| {
                let mut leaves = self.neighbours(spine);
                leaves.retain(|&leaf| self.is_leaf(leaf));
                let single = leaves.iter().filter(|&&leaf| self.neighbours(leaf).len() == 1);
                2 * single.count() > leaves.len() && usual > 0 && above(spine) >= usual
            })
        };
        ends.iter().filter(is_one).copied().collect()
    }

    /// Step 5: a switch without nodes is a leaf if an even number of hops, four or more, leads to the
    /// nearest leaf, no neighbour is farther, and it is not cabled as a switch that is nearer.
    fn find_empty_subtrees(&mut self) {
        let hops = self.hops();
        let mut counter = Counter::new(self.nodes.len());
        let mut found = vec![];
        for s in self.undecided(false) {
            let Some(far) = hops[s.at()].filter(|hops| *hops >= 4 && hops % 2 == 0) else {
                continue;
            };
            let own = self.neighbours(s);
            // A spine has several cores or leaves; a switch with two neighbours is part of a chain.
            let is_spine = |n: &SwitchIndex| self.neighbours(*n).len() > 2;
            if own.iter().all(|n| hops[n.at()] == Some(far - 1) && is_spine(n))
                && !self.has_a_twin(s, &own, &mut counter, |t| hops[t.at()] == Some(far - 2))
            {
                found.push(s);
                self.doubts.push(Doubt {
                    switch: s,
                    is_leaf: true,
                    why: DoubtReason::FarFromLeaves,
                });
            }
        }
        self.set(found);
    }

    /// Returns whether one of the candidates is cabled to most of a switch's neighbours, with as many cables.
    fn has_a_twin(
        &self,
        s: SwitchIndex,
        own: &[SwitchIndex],
        counter: &mut Counter,
        candidate: impl Fn(SwitchIndex) -> bool,
    ) -> bool {
        let cables = |a: SwitchIndex, b: SwitchIndex| {
            self.live.links(a).filter(|(_, peer)| *peer == b).count()
        };
        counter.restart();
        let mut best = 0;
        for &n in own {
            let needed = cables(s, n);
            for t in self.neighbours(n) {
                if candidate(t) && cables(t, n) >= needed {
                    best = best.max(counter.count(t));
                }
            }
        }
        2 * best > own.len()
    }

    /// Returns how many of its neighbours a switch shares with the leaf that shares the most.
    fn shared_with_a_leaf(&self, s: SwitchIndex, counter: &mut Counter) -> SharedNeighbours {
        self.shared_with(s, counter, |t| self.is_leaf(t))
    }

    /// Returns how many of its neighbours a switch shares with the candidate that shares the most.
    fn shared_with(
        &self,
        s: SwitchIndex,
        counter: &mut Counter,
        candidate: impl Fn(SwitchIndex) -> bool,
    ) -> SharedNeighbours {
        counter.restart();
        let own = self.neighbours(s);
        let mut shared = 0;
        for &n in &own {
            let mut before = None;
            for (_, t) in self.live.links(n).filter(|&(_, peer)| candidate(peer)) {
                if before.replace(t) != Some(t) {
                    shared = shared.max(counter.count(t));
                }
            }
        }
        SharedNeighbours { shared, own: own.len() }
    }

    /// Returns whether a switch that shares a part of its neighbours with a leaf is a core above neighbours of which a leaf has
    /// only some: the spine chip of a director, or the top of a pod with a mesh inside. One of these shows it:
    ///
    /// - It shares nearly all of its neighbours with a switch that has no nodes and is no leaf either. A leaf that lost
    ///   cables has no such twin: its neighbours are those of other leaves.
    /// - Something is above it, and above another switch without nodes that shares as many of its neighbours as
    ///   the leaf does: both are upper switches of a pod, each below cores of its own.
    /// - All leaves that it shares neighbours with, three or more, have the same number of neighbours, and it has more.
    fn is_core(&self, s: SwitchIndex, share: SharedNeighbours, counter: &mut Counter) -> bool {
        if share.shared < 2 || share.shared == share.own {
            return false;
        }
        let is_empty = |t: SwitchIndex| t != s && !self.is_leaf(t) && self.nodes[t.at()] == 0;
        let twin = self.shared_with(s, counter, is_empty);
        if 5 * twin.shared >= 4 * twin.own && twin.shared > share.shared {
            return true;
        }
        let is_upper = |t: SwitchIndex| is_empty(t) && self.has_some_above(t);
        self.has_some_above(s) && self.shared_with(s, counter, is_upper).shared >= share.shared
            || self.has_more_neighbours_than_leaves(s, share.own)
    }

    /// Returns whether a switch is cabled to one that is cabled to no leaf.
    fn has_some_above(&self, s: SwitchIndex) -> bool {
        let is_far = |n: SwitchIndex| {
            !self.is_leaf(n) && !self.live.links(n).any(|(_, peer)| self.is_leaf(peer))
        };
        self.live.links(s).any(|(_, n)| is_far(n))
    }

    /// Returns whether the leaves with nodes that are two hops away, three or more, all have the same number of
    /// neighbours, which is less than this one. (Where damage is the reason, the numbers are unequal.)
    fn has_more_neighbours_than_leaves(&self, s: SwitchIndex, own: usize) -> bool {
        let with_nodes = |leaf: &SwitchIndex| self.is_leaf(*leaf) && self.nodes[leaf.at()] > 0;
        let mut leaves: Vec<SwitchIndex> =
            self.neighbours(s).into_iter().flat_map(|n| self.neighbours(n)).collect();
        leaves.retain(with_nodes);
        leaves.sort_unstable();
        leaves.dedup();
        let mut numbers = leaves.iter().map(|&leaf| self.neighbours(leaf).len());
        let first = numbers.next();
        leaves.len() >= 3 && first < Some(own) && numbers.all(|number| Some(number) == first)
    }

    /// Notes a doubt if the share of common neighbours is neither small nor nearly all, and nothing else decides.
    fn doubt_a_share(
        &mut self,
        switch: SwitchIndex,
        share: SharedNeighbours,
        is_leaf: bool,
        counter: &mut Counter,
    ) {
        if share.is_partial() && !self.is_core(switch, share, counter) {
            self.doubts.push(Doubt { switch, is_leaf, why: DoubtReason::PartlyCabledAsALeaf });
        }
    }
}

/// The neighbours that a switch shares with another one.
#[derive(Clone, Copy)]
struct SharedNeighbours {
    shared: usize,
    /// All neighbours of the switch.
    own: usize,
}

impl SharedNeighbours {
    /// Returns whether they are neither few nor nearly all. (A core shares one neighbour with a leaf, or a small part of
    /// them; a leaf shares nearly all.)
    fn is_partial(self) -> bool {
        let SharedNeighbours { shared, own } = self;
        shared >= 2 && 5 * shared > 2 * own && 5 * shared < 4 * own
    }
}

/// Returns for each switch the usual number of nodes in its connected part.
fn usual_by_switch(live: Live<'_>, nodes: &[usize]) -> Vec<usize> {
    let mut found = vec![0; nodes.len()];
    for part in live.parts() {
        let usual = usual(part.iter().map(|s| nodes[s.at()]));
        for s in part {
            found[s.at()] = usual;
        }
    }
    found
}

/// Returns the number of nodes that the middle node has on its switch, itself included.
fn usual(counts: impl Iterator<Item = usize>) -> usize {
    let mut counts: Vec<usize> = counts.filter(|&n| n > 0).collect();
    counts.sort_unstable();
    let total: usize = counts.iter().sum();
    let mut before = 0;
    for n in counts {
        before += n;
        if 2 * before >= total {
            return n;
        }
    }
    0
}

/// Returns the most common number, the greatest of equally common ones; 0 if there are none.
fn most_common(numbers: impl Iterator<Item = usize>) -> usize {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for number in numbers {
        *counts.entry(number).or_default() += 1;
    }
    counts
        .into_iter()
        .max_by_key(|&(number, count)| (count, number))
        .map_or(0, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_usual_number_is_the_middle_nodes() {
        let usual = |counts: &[usize]| super::usual(counts.iter().copied());
        assert_eq!(usual(&[]), 0);
        assert_eq!(usual(&[0, 0, 3]), 3);
        // Many spines with one service node each do not outvote four leaves.
        assert_eq!(usual(&[1; 30].into_iter().chain([18; 4]).collect::<Vec<_>>()), 18);
        assert_eq!(usual(&[24, 22, 24, 24, 24, 3, 24]), 24);
    }
}
