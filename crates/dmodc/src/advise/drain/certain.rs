//! Sets of parts that are unsafe for certain, whatever the routes.
//!
//! Risk is not monotone: a fabric may be better off with one part fewer. But two quantities are monotone, and they bound the
//! risk from below:
//!
//! 1. **Connected pairs.** A node pair that no live cables connect is not delivered. With more parts out of service, fewer
//!    pairs are connected.
//! 2. **Fixed cuts.** Let X be a set of switches with x of the N nodes. In all-to-all, x · (N − x) flows leave X. At most U
//!    pairs may stay undelivered, so in a safe state at least x · (N − x) − U flows leave X over the c cables that lead out of
//!    it, and some port carries at least (x · (N − x) − U) / c of them. X is chosen once, in the present state: each leaf,
//!    and each subtree. With more parts out of service, c is less and the bound greater.
//!
//! So if a set exceeds a limit by one of these, every set that contains it is unsafe, too.

use super::Ceilings;
use super::limits::is_above;
use super::set::PartSet;
use crate::fabric::{Degradation, Live, Part};
use crate::id::{CableIndex, SwitchIndex};
use crate::judge::Islands;
use crate::router::Router;
use crate::union_find::UnionFind;

/// The greatest number of disjoint unsafe sets that are looked for.
const MOST_CONFLICTS: usize = 64;

/// The switches of one level of cuts, by the number of their cut.
struct CutLevel {
    /// [`NO_CUT`] for a switch in none.
    of: Vec<u32>,
    /// The flows of all-to-all that leave each cut.
    demand: Vec<u64>,
}

const NO_CUT: u32 = u32::MAX;

/// What is certain about sets of parts.
pub(super) struct Certain<'a> {
    router: &'a Router,
    parts: &'a [Part],
    /// The node pairs of the present state.
    pairs: u64,
    ceilings: Ceilings,
    levels: Vec<CutLevel>,
}

impl<'a> Certain<'a> {
    pub(super) fn new(router: &'a Router, parts: &'a [Part], ceilings: Ceilings) -> Self {
        let live = router.live();
        let nodes = nodes_on_switches(live);
        let all: u64 = nodes.iter().sum();
        let mut certain = Certain {
            router,
            parts,
            pairs: all * all.saturating_sub(1),
            ceilings,
            levels: vec![],
        };
        if ceilings.a2a.is_some() {
            certain.levels = cut_levels(router, &nodes);
        }
        certain
    }

    /// Returns whether every set that contains this one is unsafe.
    pub(super) fn is_unsafe(&self, set: &PartSet) -> bool {
        let mut faults = self.router.degradation().clone();
        set.parts().for_each(|part| faults.set(self.parts[part], true));
        let live = Live::new(self.router.fabric(), &faults);
        self.undelivered(live) > self.ceilings.undelivered || self.is_cut_too_narrow(live, &faults)
    }

    /// Returns how many pairs of the present state are not delivered for certain.
    fn undelivered(&self, live: Live<'_>) -> u64 {
        let islands = Islands::new(live).sums(&nodes_on_switches(live));
        let connected: u64 = islands.into_iter().map(|n| n * n.saturating_sub(1)).sum();
        self.pairs - connected
    }

    fn is_cut_too_narrow(&self, live: Live<'_>, faults: &Degradation) -> bool {
        let Some(most) = self.ceilings.a2a else { return false };
        let cables = live.fabric.inter_switch_cables();
        let is_live = |c: usize| {
            let ends = [cables[c].a.0, cables[c].b.0];
            !faults.cable_is_dead(CableIndex::new(c))
                && ends.iter().all(|s| !faults.switch_is_dead(*s))
        };
        let alive: Vec<usize> = (0..cables.len()).filter(|&c| is_live(c)).collect();
        self.levels.iter().any(|level| {
            let mut width = vec![0u64; level.demand.len()];
            for &c in &alive {
                let [a, b] = [cables[c].a.0, cables[c].b.0].map(|s| level.of[s.at()]);
                if a != b {
                    [a, b].iter().filter(|x| **x != NO_CUT).for_each(|x| width[*x as usize] += 1);
                }
            }
            level.demand.iter().zip(width).any(|(demand, width)| {
                let flows = demand.saturating_sub(self.ceilings.undelivered);
                flows > 0 && (width == 0 || is_above(flows.div_ceil(width) as f64, most))
            })
        })
    }

    /// Returns an upper bound on the size of a safe set: of each of some disjoint sets that are unsafe for certain, at least
    /// one part stays in service.
    pub(super) fn most_safe(&self) -> usize {
        let all = self.parts.len();
        let is_alone_safe = |part: &usize| !self.is_unsafe(&PartSet::of(all, [*part]));
        let parts: Vec<usize> = (0..all).filter(is_alone_safe).collect();
        let (mut pool, mut bound) = (PartSet::of(all, parts.iter().copied()), parts.len());
        for _ in 0..MOST_CONFLICTS {
            if !self.is_unsafe(&pool) {
                break;
            }
            let mut conflict = pool.clone();
            for part in pool.parts() {
                let fewer = conflict.without(part);
                if self.is_unsafe(&fewer) {
                    conflict = fewer;
                }
            }
            // An empty conflict means that the present state exceeds a limit: then nothing is safe.
            if conflict.parts().next().is_none() {
                return 0;
            }
            pool = PartSet::of(all, pool.parts().filter(|part| !conflict.has(*part)));
            bound -= 1;
        }
        bound
    }
}

/// Returns the number of live nodes on each switch that send to each other.
fn nodes_on_switches(live: Live<'_>) -> Vec<u64> {
    let mut nodes = vec![0; live.fabric.switches().len()];
    for n in live.fabric.node_indices().filter(|&n| live.node(n) && !live.fabric.is_aggregation(n))
    {
        nodes[live.fabric.node(n).switch.at()] += 1;
    }
    nodes
}

/// Returns the cuts of the present state: each switch with nodes, then the subtrees of each level below the top.
fn cut_levels(router: &Router, nodes: &[u64]) -> Vec<CutLevel> {
    let live = router.live();
    let ranks = router.preprocessing().ranking.by_rank();
    let mut sets = UnionFind::new(nodes.len());
    let mut levels = vec![cut_level(nodes, |s| Some(s))];
    let mut is_in = vec![false; nodes.len()];
    for switches in ranks.iter().take(ranks.len().saturating_sub(1)) {
        switches.iter().for_each(|s| is_in[s.at()] = true);
        for &s in switches {
            for (_, peer) in live.links(s).filter(|(_, peer)| is_in[peer.at()]) {
                sets.join(s, peer);
            }
        }
        levels.push(cut_level(nodes, |s| is_in[s.at()].then(|| sets.root(s))));
    }
    levels
}

/// Returns one level of cuts: switches with the same root are in one of them.
fn cut_level(
    nodes: &[u64],
    mut root: impl FnMut(SwitchIndex) -> Option<SwitchIndex>,
) -> CutLevel {
    let mut of = vec![NO_CUT; nodes.len()];
    let mut inside = vec![0; nodes.len()];
    for (s, &count) in nodes.iter().enumerate() {
        if let Some(root) = root(SwitchIndex::new(s)) {
            of[s] = root.at() as u32;
            inside[root.at()] += count;
        }
    }
    let all: u64 = nodes.iter().sum();
    CutLevel { of, demand: inside.into_iter().map(|x| x * (all - x)).collect() }
}
