//! Which switches are leaves.
//!
//! "Has a node" is not enough in a machine room: service nodes sit on spines and cores, and a leaf
//! whose rack is empty looks like a core. So, within each connected part of the fabric:
//!
//! 1. The *usual* number of nodes on a switch is the one that the middle node sees beside it. A
//!    switch with more than half of that is a leaf.
//! 2. A switch with fewer nodes is one if it is cabled as leaves are: to no leaf of (1); and mostly to
//!    the upswitches of one of them if it is two hops away from it, or else an even number of hops, in
//!    a pod of its own. A spine is cabled to leaves, a core to spines of different pods; their nodes
//!    are service nodes.
//! 3. A switch without nodes is a leaf if it is cabled to no leaf, to at least two switches, and one
//!    leaf is cabled to all of those.
//!
//! Where that is wrong, a [`LeafRule`] says so. Aggregation nodes and nodes set aside never count.

use std::collections::VecDeque;

use crate::fabric::{AdapterKind, Live};
use crate::id::SwitchIndex;

/// How leaves are found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LeafRule {
    /// From the fabric itself.
    #[default]
    Detect,
    /// Every switch with at least so many nodes.
    AtLeast(usize),
    /// Exactly these, as far as they are alive: one flag for each switch.
    These(Vec<bool>),
    /// By detection; but ranks are counted down from these switches, the roots.
    Roots(Vec<SwitchIndex>),
}

/// The leaves that were found, and what else was noticed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaves {
    /// The leaves, ascending by index.
    pub all: Vec<SwitchIndex>,
    /// Leaves without a node, ascending by index.
    pub empty: Vec<SwitchIndex>,
    /// Switches that have nodes, but are no leaves.
    pub service: Vec<SwitchIndex>,
}

impl Leaves {
    /// Finds the leaves. O(#ports) but for switches without nodes, whose neighbours' leaves are
    /// looked at, too.
    pub fn new(live: Live<'_>, rule: &LeafRule) -> Self {
        let nodes: Vec<usize> = live.fabric.switch_indices().map(|s| hosts(live, s)).collect();
        let is_leaf = match rule {
            LeafRule::Detect | LeafRule::Roots(_) => detect(live, &nodes),
            LeafRule::AtLeast(least) => nodes.iter().map(|n| n >= least).collect(),
            LeafRule::These(flags) => flags.clone(),
        };
        let mut leaves = Leaves::default();
        for s in live.switches() {
            match (is_leaf[s.at()], nodes[s.at()]) {
                (true, n) => {
                    leaves.all.push(s);
                    if n == 0 {
                        leaves.empty.push(s);
                    }
                }
                (false, 0) => {}
                (false, _) => leaves.service.push(s),
            }
        }
        leaves
    }
}

/// How many nodes of a switch count: live ones that are hosts' or routers'.
fn hosts(live: Live<'_>, s: SwitchIndex) -> usize {
    let counts = |kind| matches!(kind, AdapterKind::Host | AdapterKind::Router);
    live.nodes(s).filter(|&n| counts(live.fabric.adapter_of(n).kind)).count()
}

fn detect(live: Live<'_>, nodes: &[usize]) -> Vec<bool> {
    let neighbours = Neighbours::new(live);
    let mut is_leaf = vec![false; nodes.len()];
    let mut few: Vec<SwitchIndex> = Vec::new();
    for part in neighbours.parts(live) {
        let usual = usual(part.iter().map(|s| nodes[s.at()]));
        for s in part.into_iter().filter(|s| nodes[s.at()] > 0) {
            match 2 * nodes[s.at()] > usual {
                true => is_leaf[s.at()] = true,
                false => few.push(s),
            }
        }
    }
    // Both steps look at the leaves of the steps before alone, so that no order matters.
    if !few.is_empty() {
        let hops = live.hops_to(live.switches().filter(|s| is_leaf[s.at()]));
        few.retain(|&s| match hops[s.at()] {
            Some(2) => neighbours.mostly_as_a_leaf(s, &is_leaf),
            hops => hops.is_some_and(|hops| hops % 2 == 0),
        });
        for s in few {
            is_leaf[s.at()] = true;
        }
    }
    let empty: Vec<SwitchIndex> = live
        .switches()
        .filter(|s| nodes[s.at()] == 0 && neighbours.wholly_as_a_leaf(*s, &is_leaf))
        .collect();
    for s in empty {
        is_leaf[s.at()] = true;
    }
    is_leaf
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

/// The switches that each switch is cabled to, each once.
struct Neighbours(Vec<Vec<SwitchIndex>>);

impl Neighbours {
    fn new(live: Live<'_>) -> Self {
        let of = |s| {
            let mut list: Vec<SwitchIndex> = match live.switch(s) {
                true => live.links(s).map(|(_, peer)| peer).collect(),
                false => vec![],
            };
            list.sort_unstable();
            list.dedup();
            list
        };
        Neighbours(live.fabric.switch_indices().map(of).collect())
    }

    fn of(&self, s: SwitchIndex) -> &[SwitchIndex] {
        &self.0[s.at()]
    }

    /// The connected parts of the fabric.
    fn parts(&self, live: Live<'_>) -> Vec<Vec<SwitchIndex>> {
        let mut seen = vec![false; self.0.len()];
        let mut parts = Vec::new();
        for start in live.switches() {
            if std::mem::replace(&mut seen[start.at()], true) {
                continue;
            }
            let mut part = vec![start];
            let mut queue = VecDeque::from([start]);
            while let Some(s) = queue.pop_front() {
                for &peer in self.of(s) {
                    if !std::mem::replace(&mut seen[peer.at()], true) {
                        part.push(peer);
                        queue.push_back(peer);
                    }
                }
            }
            parts.push(part);
        }
        parts
    }

    fn is_cabled_to_a_leaf(&self, s: SwitchIndex, is_leaf: &[bool]) -> bool {
        self.of(s).iter().any(|peer| is_leaf[peer.at()])
    }

    /// The leaves that are cabled to one of these switches; some come more than once.
    fn leaves_below<'a>(
        &'a self,
        switches: &'a [SwitchIndex],
        is_leaf: &'a [bool],
    ) -> impl Iterator<Item = SwitchIndex> + 'a {
        let all = switches.iter().flat_map(|&peer| self.of(peer));
        all.copied().filter(|leaf| is_leaf[leaf.at()])
    }

    /// Whether one leaf is cabled to most neighbours of `s`, which is cabled to no leaf.
    fn mostly_as_a_leaf(&self, s: SwitchIndex, is_leaf: &[bool]) -> bool {
        let own = self.of(s);
        let in_common =
            |leaf| self.of(leaf).iter().filter(|n| own.binary_search(n).is_ok()).count();
        // Whoever shares more than half of the neighbours shares one of the first half of them.
        let mut leaves = self.leaves_below(&own[..own.len().div_ceil(2)], is_leaf);
        !self.is_cabled_to_a_leaf(s, is_leaf) && leaves.any(|leaf| 2 * in_common(leaf) > own.len())
    }

    /// Whether one leaf is cabled to all neighbours of `s`, at least two, none of which is a leaf. Every
    /// spine and core of a fabric is asked, so this looks below the first neighbour alone.
    fn wholly_as_a_leaf(&self, s: SwitchIndex, is_leaf: &[bool]) -> bool {
        let [first, others @ ..] = self.of(s) else { return false };
        let shares_all = |leaf| others.iter().all(|n| self.of(leaf).binary_search(n).is_ok());
        !others.is_empty()
            && !self.is_cabled_to_a_leaf(s, is_leaf)
            && self.leaves_below(&[*first], is_leaf).any(shares_all)
    }
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
