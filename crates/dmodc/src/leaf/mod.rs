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

mod choice;

pub use choice::{LeafChoice, Meant, NothingMeant};

use std::cmp::Ordering;
use std::collections::VecDeque;

use crate::fabric::{AdapterKind, Live};
use crate::id::SwitchIndex;
use crate::parallel;

/// How many switches a thread takes at once.
const PIECE: usize = 256;

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
    /// How many nodes of each switch count.
    nodes: Vec<usize>,
}

impl Leaves {
    /// Finds the leaves. O(#ports) but for switches without nodes, whose neighbours' leaves are
    /// looked at, too.
    pub fn new(live: Live<'_>, rule: &LeafRule) -> Self {
        let mut nodes = vec![0; live.fabric.switches().len()];
        parallel::for_each(nodes.chunks_mut(PIECE).enumerate(), |(piece, nodes)| {
            for (at, count) in nodes.iter_mut().enumerate() {
                *count = hosts(live, SwitchIndex::new(piece * PIECE + at));
            }
        });
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
        leaves.nodes = nodes;
        leaves
    }

    /// Whether the leaves are certainly what they were, after something happened to these switches and
    /// their cables alone. Otherwise they are to be found again.
    pub(crate) fn outlast(
        &mut self,
        live: Live<'_>,
        rule: &LeafRule,
        touched: &[SwitchIndex],
        is_leaf: &[bool],
    ) -> bool {
        for &s in touched {
            let nodes = hosts(live, s);
            let same = match rule {
                // (Ranks that are counted from roots are always found again.)
                LeafRule::Detect | LeafRule::Roots(_) => live.switch(s) || !is_leaf[s.at()],
                LeafRule::AtLeast(least) => (live.switch(s) && nodes >= *least) == is_leaf[s.at()],
                LeafRule::These(flags) => (live.switch(s) && flags[s.at()]) == is_leaf[s.at()],
            };
            let before = std::mem::replace(&mut self.nodes[s.at()], nodes);
            if !same || (before == 0) != (nodes == 0) {
                return false;
            }
        }
        match rule {
            LeafRule::AtLeast(_) | LeafRule::These(_) => true,
            LeafRule::Detect | LeafRule::Roots(_) => {
                self.service.is_empty()
                    && all_are_usual(&self.nodes)
                    && self.empty_ones_outlast(live, touched, is_leaf)
            }
        }
    }

    /// Whether the same switches without nodes are cabled as leaves are. What that depends on is at most
    /// two cables away.
    fn empty_ones_outlast(
        &self,
        live: Live<'_>,
        touched: &[SwitchIndex],
        is_leaf: &[bool],
    ) -> bool {
        let mut asked = vec![false; is_leaf.len()];
        let peers = |s: SwitchIndex| live.fabric.links_of(s).iter().map(|link| link.peer);
        let mut near = touched.iter().flat_map(|&s| peers(s).chain([s]));
        near.all(|s| {
            std::mem::replace(&mut asked[s.at()], true)
                || self.nodes[s.at()] > 0
                || !live.switch(s)
                || wholly_as_a_leaf(live, s, |s| self.nodes[s.at()] > 0) == is_leaf[s.at()]
        })
    }
}

/// How many nodes of a switch count: live ones that are hosts' or routers'.
fn hosts(live: Live<'_>, s: SwitchIndex) -> usize {
    let counts = |kind| matches!(kind, AdapterKind::Host | AdapterKind::Router);
    live.nodes(s).filter(|&n| counts(live.fabric.adapter_of(n).kind)).count()
}

fn detect(live: Live<'_>, nodes: &[usize]) -> Vec<bool> {
    let mut is_leaf: Vec<bool> = nodes.iter().map(|&n| n > 0).collect();
    let few = few(live, nodes);
    for s in &few {
        is_leaf[s.at()] = false;
    }
    // Both steps look at the leaves of the steps before alone, so that no order matters.
    if !few.is_empty() {
        let hops = live.hops_to(live.switches().filter(|s| is_leaf[s.at()]));
        let as_leaves = few.into_iter().filter(|&s| match hops[s.at()] {
            Some(2) => mostly_as_a_leaf(live, s, |s| is_leaf[s.at()]),
            hops => hops.is_some_and(|hops| hops % 2 == 0),
        });
        for s in as_leaves.collect::<Vec<_>>() {
            is_leaf[s.at()] = true;
        }
    }
    let empty: Vec<SwitchIndex> = live
        .switches()
        .filter(|s| nodes[s.at()] == 0 && wholly_as_a_leaf(live, *s, |s| is_leaf[s.at()]))
        .collect();
    for s in empty {
        is_leaf[s.at()] = true;
    }
    is_leaf
}

/// The switches with nodes that have half the usual number of them, or fewer.
fn few(live: Live<'_>, nodes: &[usize]) -> Vec<SwitchIndex> {
    if all_are_usual(nodes) {
        return vec![];
    }
    let mut few = Vec::new();
    for part in parts(live) {
        let usual = usual(part.iter().map(|s| nodes[s.at()]));
        few.extend(part.into_iter().filter(|s| nodes[s.at()] > 0 && 2 * nodes[s.at()] <= usual));
    }
    few
}

/// Whether no switch can have few nodes, however the fabric falls into parts: in most fabrics all
/// leaves have about the same number, and looking for the parts costs more than all the rest.
fn all_are_usual(nodes: &[usize]) -> bool {
    let (mut least, mut most) = (usize::MAX, 0);
    for &n in nodes.iter().filter(|&&n| n > 0) {
        (least, most) = (least.min(n), most.max(n));
    }
    most == 0 || 2 * least > most
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

/// The connected parts of the fabric.
fn parts(live: Live<'_>) -> Vec<Vec<SwitchIndex>> {
    let mut seen = vec![false; live.fabric.switches().len()];
    let mut parts = Vec::new();
    for start in live.switches() {
        if std::mem::replace(&mut seen[start.at()], true) {
            continue;
        }
        let mut part = vec![start];
        let mut queue = VecDeque::from([start]);
        while let Some(s) = queue.pop_front() {
            for (_, peer) in live.links(s) {
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

/// The switches that a switch is cabled to, ascending; with parallel cables some come repeatedly.
fn neighbours(live: Live<'_>, s: SwitchIndex) -> impl Iterator<Item = SwitchIndex> {
    live.links(s).map(|(_, peer)| peer)
}

fn is_cabled_to_a_leaf(
    live: Live<'_>,
    s: SwitchIndex,
    is_leaf: impl Fn(SwitchIndex) -> bool,
) -> bool {
    neighbours(live, s).any(is_leaf)
}

/// Whether one leaf is cabled to most neighbours of `s`, which is cabled to no leaf.
fn mostly_as_a_leaf(
    live: Live<'_>,
    s: SwitchIndex,
    is_leaf: impl Fn(SwitchIndex) -> bool + Copy,
) -> bool {
    let mut own: Vec<SwitchIndex> = neighbours(live, s).collect();
    own.dedup();
    let in_common = |leaf| own.iter().filter(|&&n| live.cabled(leaf, n)).count();
    // Whoever shares more than half of the neighbours shares one of the first half of them.
    let mut leaves = own[..own.len().div_ceil(2)]
        .iter()
        .flat_map(|&peer| neighbours(live, peer))
        .filter(|leaf| is_leaf(*leaf));
    !is_cabled_to_a_leaf(live, s, is_leaf) && leaves.any(|leaf| 2 * in_common(leaf) > own.len())
}

/// Whether one leaf is cabled to all neighbours of `s`, at least two, none of which is a leaf. Every
/// spine and core of a fabric is asked, so this looks below two neighbours before all others.
fn wholly_as_a_leaf(
    live: Live<'_>,
    s: SwitchIndex,
    is_leaf: impl Fn(SwitchIndex) -> bool + Copy,
) -> bool {
    let mut own = neighbours(live, s);
    let Some(first) = own.next() else { return false };
    let Some(second) = own.find(|&n| n != first) else { return false };
    if is_cabled_to_a_leaf(live, s, is_leaf) {
        return false;
    }
    let leaves = |n| neighbours(live, n).filter(|leaf| is_leaf(*leaf));
    let (mut below_first, mut below_second) = (leaves(first).peekable(), leaves(second).peekable());
    // Both lists ascend.
    while let (Some(a), Some(b)) = (below_first.peek(), below_second.peek()) {
        match a.cmp(b) {
            Ordering::Less => drop(below_first.next()),
            Ordering::Greater => drop(below_second.next()),
            Ordering::Equal => {
                let leaf = *a;
                if neighbours(live, s).all(|n| live.cabled(leaf, n)) {
                    return true;
                }
                below_first.next();
            }
        }
    }
    false
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
