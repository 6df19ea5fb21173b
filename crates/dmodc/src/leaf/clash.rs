//! Step 2: which switches have as many nodes as a leaf and are none.
//!
//! Leaves of a fat tree are never cabled to each other. Where two switches *clash* (both have more than half the usual
//! number of nodes, and a cable joins them), one may be a spine with service nodes. The cables show which one:
//!
//! - A spine is cabled *as a spine without nodes* is: to most of the same leaves, and not to that spine.
//! - Where all spines of a pod have nodes, the switches with fewer nodes are the spines, if this leaves no
//!   clash (or nearly none).
//! - A core with service nodes clashes with nobody: it has fewer nodes than leaves have, and no leaf
//!   shares two of its neighbours.
//!
//! A leaf that has a cable to another leaf shares its spines with that one, and stays a leaf; so do all switches of a
//! ring, a mesh or a torus, where no switch is above another. Switches that clash and stay leaves are reported as
//! uncertain, and so are those that are taken for spines.
//!
//! The order: [`cabled_as_spines`] first, then [`with_fewer_nodes`] among the clashes that are left, then the doubts.
//!
//! Example: a pod of 4 leaves with 4 nodes each and 3 spines; spine 1 has 3 service nodes, which is more than half of 4.
//! It clashes with all four leaves. Spine 2 has no nodes, is cabled to the same leaves and not to spine 1, so spine 1
//! is a spine.

use std::cmp::Reverse;

use super::doubt::DoubtReason;
use super::state::{Counter, Detection};
use crate::id::SwitchIndex;
use crate::union_find::UnionFind;

/// The switches that clash, each with those it clashes with.
struct Clashes {
    switches: Vec<SwitchIndex>,
    others: Vec<Vec<SwitchIndex>>,
}

impl Clashes {
    /// Finds those of these switches that are cabled to one that counts.
    fn new(
        d: &Detection<'_>,
        switches: impl Iterator<Item = SwitchIndex>,
        counts: impl Fn(SwitchIndex) -> bool,
    ) -> Self {
        let mut clashes = Clashes { switches: vec![], others: vec![vec![]; d.nodes.len()] };
        for s in switches {
            let mut others = d.neighbours(s);
            others.retain(|&n| counts(n));
            if !others.is_empty() {
                clashes.switches.push(s);
                clashes.others[s.at()] = others;
            }
        }
        clashes
    }

    fn of(&self, s: SwitchIndex) -> &[SwitchIndex] {
        &self.others[s.at()]
    }

    /// Returns the number of nodes on all switches that a switch clashes with.
    fn load(&self, d: &Detection<'_>, s: SwitchIndex) -> usize {
        self.of(s).iter().map(|n| d.nodes[n.at()]).sum()
    }
}

/// Settles clashes among the leaves so far.
pub(super) fn settle(d: &mut Detection<'_>) {
    let spines = cabled_as_spines(d);
    demote(d, &spines);
    let is_leaf = |s: &SwitchIndex| d.is_leaf(*s);
    let clashes = Clashes::new(d, d.live.switches().filter(is_leaf), |s| d.is_leaf(s));
    let fewer = with_fewer_nodes(d, &clashes);
    demote(d, &fewer);
    let mut uncertain = [spines, fewer].concat();
    let stays = |s: &SwitchIndex| d.is_leaf(*s) && d.known(*s).is_none();
    let left = clashes.switches.iter().copied().filter(stays);
    uncertain.extend(left.filter(|&s| clashes.of(s).iter().any(|&t| d.is_leaf(t))));
    for s in uncertain {
        d.doubt(s, DoubtReason::NodesOfALeaf);
    }
}

fn demote(d: &mut Detection<'_>, spines: &[SwitchIndex]) {
    for s in spines {
        d.is_leaf[s.at()] = false;
    }
}

/// Returns whether most neighbours of a switch that are no leaves are cabled to those it clashes with. Then it is on
/// one level with them, not above them.
fn is_level_with(d: &Detection<'_>, others: &[SwitchIndex], s: SwitchIndex) -> bool {
    let above: Vec<SwitchIndex> = d.neighbours(s).into_iter().filter(|&n| !d.is_leaf(n)).collect();
    let shared = above.iter().filter(|&&n| others.iter().any(|&t| d.live.cabled(t, n)));
    2 * shared.count() > above.len()
}

/// Returns the switches that are cabled as a spine without nodes is, and that clash with far more nodes than those that
/// they clash with, or else have fewer nodes than those. Here every switch with nodes counts, however few.
fn cabled_as_spines(d: &Detection<'_>) -> Vec<SwitchIndex> {
    let with_nodes = |s: SwitchIndex| d.is_leaf(s) || d.nodes[s.at()] > 0;
    let clashes = Clashes::new(d, d.live.switches().filter(|&s| with_nodes(s)), with_nodes);
    let load: Vec<usize> = d.live.fabric.switch_indices().map(|s| clashes.load(d, s)).collect();
    let mut counter = Counter::new(d.nodes.len());
    let mut is_one = |s: SwitchIndex| {
        let others = clashes.of(s);
        // Means are compared without division: both sides times the number of others.
        let count = others.len();
        let sum = |numbers: &[usize]| others.iter().map(|t| numbers[t.at()]).sum::<usize>();
        let (own, theirs) = (load[s.at()] * count, sum(&load));
        let is_above = own >= 2 * theirs
            || 2 * own > theirs && (d.nodes[s.at()] * count, theirs) < (sum(d.nodes), own);
        count >= 2
            && is_above
            && is_like_a_spine(d, others, s, &mut counter)
            && !is_level_with(d, others, s)
    };
    let asked = clashes.switches.iter().copied();
    asked.filter(|&s| d.is_leaf(s) && d.known(s).is_none() && is_one(s)).collect()
}

/// Returns whether some switch that is no leaf, and not cabled to this one, shares most of those it clashes with.
fn is_like_a_spine(
    d: &Detection<'_>,
    others: &[SwitchIndex],
    s: SwitchIndex,
    counter: &mut Counter,
) -> bool {
    counter.restart();
    others.iter().any(|&leaf| {
        d.neighbours(leaf).into_iter().any(|spine| {
            let shared = counter.count(spine);
            !d.is_leaf(spine)
                && shared >= 2
                && 2 * shared > others.len()
                && !d.live.cabled(spine, s)
        })
    })
}

/// Returns the switches that are spines or cores because they have fewer nodes than others. A spine is cabled to two or
/// more leaves that have more nodes, if taking such switches for spines settles all but a quarter of the clashes of
/// their component. A core is cabled [as cores are](is_like_a_core).
fn with_fewer_nodes(d: &Detection<'_>, clashes: &Clashes) -> Vec<SwitchIndex> {
    let mut order: Vec<SwitchIndex> = d.live.switches().filter(|&s| d.is_leaf(s)).collect();
    order.sort_by_key(|s| Reverse(d.nodes[s.at()]));
    let mut counter = Counter::new(d.nodes.len());
    // Leaves with more nodes than the switches of the present tier.
    let mut above = vec![false; d.nodes.len()];
    let (mut spines, mut cores) = (above.clone(), above.clone());
    for (tier, equal) in order.chunk_by(|a, b| d.nodes[a.at()] == d.nodes[b.at()]).enumerate() {
        // No switch has more nodes than those of the first tier.
        for &s in equal.iter().filter(|&&s| tier > 0 && d.known(s).is_none()) {
            let more = clashes.of(s).iter().filter(|t| above[t.at()]).count();
            spines[s.at()] = more >= 2 && !is_level_with(d, clashes.of(s), s);
            cores[s.at()] = more == 0 && is_like_a_core(d, s, &above, &mut counter);
        }
        for s in equal {
            above[s.at()] = !spines[s.at()] && !cores[s.at()];
        }
    }
    let mut sets = UnionFind::new(d.nodes.len());
    for &s in &clashes.switches {
        for &t in clashes.of(s) {
            sets.join(s, t);
        }
    }
    let (mut before, mut after) = (vec![0; d.nodes.len()], vec![0; d.nodes.len()]);
    for &s in &clashes.switches {
        let root = sets.root(s).at();
        before[root] += clashes.of(s).len();
        if above[s.at()] {
            after[root] += clashes.of(s).iter().filter(|t| above[t.at()]).count();
        }
    }
    order.retain(|s| {
        let root = sets.root(*s).at();
        cores[s.at()] || spines[s.at()] && 4 * after[root] <= before[root]
    });
    order
}

/// Returns whether a switch is cabled as a core is: to spines of several pods. At least two of its neighbours are
/// cabled to these leaves; there are four such leaves or more, and none is cabled to two of its
/// neighbours. (The leaves below the spines of one pod are the same, but for what is broken.)
fn is_like_a_core(
    d: &Detection<'_>,
    s: SwitchIndex,
    leaves: &[bool],
    counter: &mut Counter,
) -> bool {
    counter.restart();
    let own = d.neighbours(s);
    let (mut spines, mut seen) = (0, 0);
    for &n in &own {
        let mut below = d.neighbours(n);
        below.retain(|leaf| leaves[leaf.at()]);
        if below.iter().any(|&leaf| counter.count(leaf) > 1) {
            return false;
        }
        spines += usize::from(!below.is_empty());
        seen += below.len();
    }
    spines >= 2 && seen >= 4
}
