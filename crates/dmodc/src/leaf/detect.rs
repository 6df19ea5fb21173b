//! How leaves are detected: the steps that the module's head lists, for one state of a fabric.
//!
//! Every step looks at the leaves of the steps before it alone, and ties are never broken by indices or
//! GUIDs, so that the result does not depend on how a fabric is numbered.

use std::collections::BTreeMap;

use super::clash;
use super::doubt::{Doubt, DoubtReason};
use crate::fabric::Live;
use crate::id::SwitchIndex;

/// What was detected.
pub(super) struct Detected {
    pub(super) is_leaf: Vec<bool>,
    pub(super) doubts: Vec<Doubt>,
}

/// The state of a detection.
pub(super) struct Detection<'a> {
    pub(super) live: Live<'a>,
    /// How many nodes of each switch count.
    pub(super) nodes: &'a [usize],
    /// What is known of switches before anything is detected; empty if nothing is.
    known: &'a [Option<bool>],
    /// The usual number of nodes in the connected part of each switch.
    usual: Vec<usize>,
    pub(super) is_leaf: Vec<bool>,
    pub(super) doubts: Vec<Doubt>,
}

/// Detects leaves; what is known already stays so.
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
    pub(super) fn known(&self, s: SwitchIndex) -> Option<bool> {
        self.known.get(s.at()).copied().flatten()
    }

    /// Whether a switch has more than half the usual number of nodes, or is known to be a leaf.
    pub(super) fn is_strong(&self, s: SwitchIndex) -> bool {
        self.known(s).unwrap_or(2 * self.nodes[s.at()] > self.usual[s.at()])
    }

    pub(super) fn is_leaf(&self, s: SwitchIndex) -> bool {
        self.is_leaf[s.at()]
    }

    pub(super) fn doubt(&mut self, switch: SwitchIndex, why: DoubtReason) {
        self.doubts.push(Doubt { switch, is_leaf: self.is_leaf(switch), why });
    }

    fn set(&mut self, leaves: Vec<SwitchIndex>) {
        for s in leaves {
            self.is_leaf[s.at()] = true;
        }
    }

    /// The switches that a switch is cabled to, ascending, each once.
    pub(super) fn neighbours(&self, s: SwitchIndex) -> Vec<SwitchIndex> {
        let mut list: Vec<SwitchIndex> = self.live.links(s).map(|(_, peer)| peer).collect();
        list.dedup();
        list
    }

    fn hops(&self) -> Vec<Option<u32>> {
        self.live.hops_to(self.live.switches().filter(|s| self.is_leaf[s.at()]))
    }

    /// The switches of which nothing is known or decided and that have nodes, or have none.
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
                    let (shared, own) = self.shared_with_a_leaf(s, &mut counter);
                    if 2 * shared > own {
                        found.push(s);
                    }
                    self.doubt_a_share(s, shared, own, 2 * shared > own);
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
            let (shared, own) = self.shared_with_a_leaf(s, &mut counter);
            if own == 1 {
                ends.push(s);
                continue;
            }
            let is_one = 5 * shared > 3 * own;
            if is_one {
                found.push(s);
            }
            self.doubt_a_share(s, shared, own, is_one);
        }
        if !ends.is_empty() {
            found.extend(self.dead_ends(&ends));
        }
        self.set(found);
    }

    /// Which of these switches without nodes and with one neighbour are leaves: if its neighbour's leaves
    /// have no other neighbours either, and the neighbour has all the cores that spines usually have, so that
    /// none of them has come down to this one cable. (Nothing passes through a dead end, so little
    /// depends on it; where there are no cores at all, it stays above its neighbour.)
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
            // A spine has several cores or leaves; what has two neighbours is a link of a chain.
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

    /// Whether one of the candidates is cabled to most of a switch's neighbours, with as many cables.
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

    /// How many of its neighbours a switch shares with the leaf that shares the most, and how many it has.
    fn shared_with_a_leaf(&self, s: SwitchIndex, counter: &mut Counter) -> (usize, usize) {
        counter.restart();
        let own = self.neighbours(s);
        let mut best = 0;
        for &n in &own {
            let mut before = None;
            for (_, leaf) in self.live.links(n).filter(|(_, peer)| self.is_leaf[peer.at()]) {
                if before.replace(leaf) != Some(leaf) {
                    best = best.max(counter.count(leaf));
                }
            }
        }
        (best, own.len())
    }

    /// A core shares one neighbour with a leaf, or a small part; a leaf shares nearly all. What is between
    /// is uncertain.
    fn doubt_a_share(&mut self, switch: SwitchIndex, shared: usize, own: usize, is_leaf: bool) {
        if shared >= 2 && 5 * shared > 2 * own && 5 * shared < 4 * own {
            self.doubts.push(Doubt { switch, is_leaf, why: DoubtReason::PartlyCabledAsALeaf });
        }
    }
}

/// Counts switches, again and again.
pub(super) struct Counter {
    counts: Vec<(u32, u32)>,
    round: u32,
}

impl Counter {
    pub(super) fn new(switches: usize) -> Self {
        Counter { counts: vec![(0, 0); switches], round: 0 }
    }

    pub(super) fn restart(&mut self) {
        self.round += 1;
    }

    /// Counts a switch, and returns how often it was counted in this round.
    pub(super) fn count(&mut self, s: SwitchIndex) -> usize {
        let (round, count) = &mut self.counts[s.at()];
        *count = if *round == self.round { *count + 1 } else { 1 };
        *round = self.round;
        *count as usize
    }
}

/// The usual number of nodes in the connected part that each switch lies in.
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

/// The number of nodes that the middle node has on its switch, itself included.
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

/// The most common number, the greatest of those; 0 of nothing.
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
