//! Step 2: of two cabled switches with the nodes of a leaf, which is the leaf.
//!
//! Leaves of a fat tree are never cabled to each other. Where two switches *clash* (both have more than
//! half the usual number of nodes, and a cable joins them), one may be a spine with service nodes. Who is
//! the spine shows in the cables:
//!
//! - A spine is cabled *as a spine without nodes* is: to most of the same leaves, and not to that spine.
//! - Where all spines of a pod have nodes, the switches with fewer nodes are the spines, if this leaves no
//!   clash (or nearly none).
//!
//! A leaf that has a cable to another leaf shares its spines with that one, and stays a leaf; so do all
//! switches of a ring, a mesh or a torus, where nobody is above anybody. What stays so is uncertain, and
//! so is what is taken for a spine.

use std::cmp::Reverse;

use super::detect::{Counter, Detection};
use super::doubt::Why;
use crate::id::SwitchIndex;
use crate::union_find::UnionFind;

/// The switches that clash, each with those it clashes with.
struct Clashes {
    switches: Vec<SwitchIndex>,
    others: Vec<Vec<SwitchIndex>>,
}

impl Clashes {
    /// Of these switches, those that are leaves so far and cabled to one.
    fn among(d: &Detection<'_>, switches: impl Iterator<Item = SwitchIndex>) -> Self {
        let mut clashes = Clashes { switches: vec![], others: vec![vec![]; d.nodes.len()] };
        for s in switches.filter(|&s| d.is_leaf(s)) {
            let others = d.neighbours(s).into_iter().filter(|&n| d.is_leaf(n)).collect::<Vec<_>>();
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

    /// The nodes of all that a switch clashes with.
    fn load(&self, d: &Detection<'_>, s: SwitchIndex) -> usize {
        self.of(s).iter().map(|n| d.nodes[n.at()]).sum()
    }
}

/// Settles clashes among the leaves so far.
pub(super) fn settle(d: &mut Detection<'_>) {
    let clashes = Clashes::among(d, d.live.switches());
    if clashes.switches.is_empty() {
        return;
    }
    let spines = cabled_as_spines(d, &clashes);
    demote(d, &spines);
    let left = Clashes::among(d, clashes.switches.iter().copied());
    let fewer = with_fewer_nodes(d, &left);
    demote(d, &fewer);
    for s in clashes.switches {
        let clashes_still = !d.is_leaf(s) || d.neighbours(s).into_iter().any(|n| d.is_leaf(n));
        if clashes_still && d.known(s).is_none() {
            d.doubt(s, Why::NodesOfALeaf);
        }
    }
}

fn demote(d: &mut Detection<'_>, spines: &[SwitchIndex]) {
    for s in spines {
        d.is_leaf[s.at()] = false;
    }
}

/// Whether most neighbours of a switch that are no leaves are cabled to those it clashes with: it is cabled
/// beside them, not above them.
fn is_beside(d: &Detection<'_>, clashes: &Clashes, s: SwitchIndex) -> bool {
    let above: Vec<SwitchIndex> = d.neighbours(s).into_iter().filter(|&n| !d.is_leaf(n)).collect();
    let shared = above.iter().filter(|&&n| clashes.of(s).iter().any(|&t| d.live.cabled(t, n)));
    2 * shared.count() > above.len()
}

/// Those that are cabled as a spine without nodes is. If both sides of a clash are, that side is the spine
/// which clashes with far more nodes, or else the one that has fewer nodes itself.
fn cabled_as_spines(d: &Detection<'_>, clashes: &Clashes) -> Vec<SwitchIndex> {
    let mut counter = Counter::new(d.nodes.len());
    let mut may_be = vec![false; d.nodes.len()];
    for &s in &clashes.switches {
        may_be[s.at()] = d.known(s).is_none()
            && clashes.of(s).len() >= 2
            && is_like_a_spine(d, clashes, s, &mut counter)
            && !is_beside(d, clashes, s);
    }
    let is_one = |s: &SwitchIndex| {
        let rivals: Vec<SwitchIndex> =
            clashes.of(*s).iter().copied().filter(|t| may_be[t.at()]).collect();
        // Means are compared without division: both sides times the number of rivals.
        let count = rivals.len();
        let load = clashes.load(d, *s) * count;
        let loads: usize = rivals.iter().map(|&t| clashes.load(d, t)).sum();
        let nodes: usize = rivals.iter().map(|t| d.nodes[t.at()]).sum();
        may_be[s.at()]
            && (count == 0
                || load >= 2 * loads
                || 2 * load > loads && (d.nodes[s.at()] * count, loads) < (nodes, load))
    };
    clashes.switches.iter().copied().filter(is_one).collect()
}

/// Whether some switch that is no leaf and not cabled to this one shares most of those it clashes with.
fn is_like_a_spine(
    d: &Detection<'_>,
    clashes: &Clashes,
    s: SwitchIndex,
    counter: &mut Counter,
) -> bool {
    let leaves = clashes.of(s);
    counter.restart();
    leaves.iter().any(|&leaf| {
        d.neighbours(leaf).into_iter().any(|spine| {
            let shared = counter.count(spine);
            !d.is_leaf(spine)
                && shared >= 2
                && 2 * shared > leaves.len()
                && !d.live.cabled(spine, s)
        })
    })
}

/// Those that clash with two or more switches of more nodes. They are spines if that settles the clashes
/// of their component but for a quarter.
fn with_fewer_nodes(d: &Detection<'_>, clashes: &Clashes) -> Vec<SwitchIndex> {
    let mut order = clashes.switches.clone();
    order.sort_by_key(|s| Reverse(d.nodes[s.at()]));
    let mut is_spine = vec![false; d.nodes.len()];
    for equal in order.chunk_by(|a, b| d.nodes[a.at()] == d.nodes[b.at()]) {
        let more = |s: SwitchIndex| {
            let has_more =
                |t: &&SwitchIndex| !is_spine[t.at()] && d.nodes[t.at()] > d.nodes[s.at()];
            clashes.of(s).iter().filter(has_more).count()
        };
        let found: Vec<SwitchIndex> = equal
            .iter()
            .copied()
            .filter(|&s| d.known(s).is_none() && more(s) >= 2 && !is_beside(d, clashes, s))
            .collect();
        for s in found {
            is_spine[s.at()] = true;
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
        if !is_spine[s.at()] {
            after[root] += clashes.of(s).iter().filter(|t| !is_spine[t.at()]).count();
        }
    }
    let mut found = clashes.switches.clone();
    found.retain(|s| {
        let root = sets.root(*s).at();
        is_spine[s.at()] && 4 * after[root] <= before[root]
    });
    found
}
