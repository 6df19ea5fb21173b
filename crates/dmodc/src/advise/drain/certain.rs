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

use std::cmp::Reverse;

use super::Ceilings;
use super::limits::is_above;
use super::set::PartSet;
use crate::fabric::{Cable, Live, Part};
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
        let (pairs, levels) = (all * all.saturating_sub(1), cut_levels(router, &nodes));
        Certain { router, parts, pairs, ceilings, levels }
    }

    /// Returns whether every set that contains this one is unsafe.
    pub(super) fn is_unsafe(&self, set: &PartSet) -> bool {
        let mut faults = self.router.degradation().clone();
        set.parts().for_each(|part| faults.set(self.parts[part], true));
        let live = Live::new(self.router.fabric(), &faults);
        self.undelivered(live) > self.ceilings.undelivered || self.is_cut_too_narrow(live)
    }

    /// Returns how many pairs of the present state are not delivered for certain.
    fn undelivered(&self, live: Live<'_>) -> u64 {
        let islands = Islands::new(live).sums(&nodes_on_switches(live));
        let connected: u64 = islands.into_iter().map(|n| n * n.saturating_sub(1)).sum();
        self.pairs - connected
    }

    fn is_cut_too_narrow(&self, live: Live<'_>) -> bool {
        let cables = live_cables(live);
        self.levels.iter().any(|level| {
            let widths = level.widths(live, &cables);
            level.demand.iter().zip(widths).any(|(demand, width)| !self.suffices(*demand, width))
        })
    }

    /// Returns whether a number of cables suffices for a demand, within the limit of all-to-all.
    fn suffices(&self, demand: u64, width: u64) -> bool {
        let flows = demand.saturating_sub(self.ceilings.undelivered);
        let most = self.ceilings.a2a.unwrap_or(f64::INFINITY);
        flows == 0 || (width > 0 && !is_above(flows.div_ceil(width) as f64, most))
    }

    /// Returns an upper bound on the size of a safe set. It counts parts that stay in service for certain:
    ///
    /// 1. each part that is unsafe alone,
    /// 2. of the listed cables of a cut, as many as the cut needs; of cuts that share a listed cable, only one counts,
    /// 3. of each of some further disjoint sets that are unsafe, one part.
    pub(super) fn most_safe(&self) -> usize {
        let all = self.parts.len();
        if self.is_unsafe(&PartSet::none(all)) {
            return 0;
        }
        let is_alone_safe = |part: &usize| !self.is_unsafe(&PartSet::of(all, [*part]));
        let mut pool = PartSet::of(all, (0..all).filter(is_alone_safe));
        let mut bound = pool.parts().count();
        for crowded in self.crowded_cuts(&pool) {
            if crowded.parts.iter().all(|part| pool.has(*part)) {
                crowded.parts.iter().for_each(|&part| pool = pool.without(part));
                bound -= crowded.stay;
            }
        }
        for _ in 0..MOST_CONFLICTS {
            if !self.is_unsafe(&pool) {
                break;
            }
            let conflict = self.least_conflict(&pool);
            pool = PartSet::of(all, pool.parts().filter(|part| !conflict.has(*part)));
            bound -= 1;
        }
        bound
    }

    /// Returns an unsafe subset of an unsafe set, each part of which is needed. The last part of the shortest unsafe prefix is
    /// needed; then the same holds for the parts before it, together with those that were found.
    fn least_conflict(&self, pool: &PartSet) -> PartSet {
        let parts: Vec<usize> = pool.parts().collect();
        let (mut conflict, mut end) = (PartSet::none(self.parts.len()), parts.len());
        while !self.is_unsafe(&conflict) {
            let (mut safe, mut unsafe_from) = (0, end);
            while safe + 1 < unsafe_from {
                let middle = usize::midpoint(safe, unsafe_from);
                let prefix = parts[..middle].iter().fold(conflict.clone(), |set, &p| set.with(p));
                match self.is_unsafe(&prefix) {
                    true => unsafe_from = middle,
                    false => safe = middle,
                }
            }
            end = unsafe_from - 1;
            conflict = conflict.with(parts[end]);
        }
        conflict
    }

    /// Returns the cuts that need some of their listed cables, those that need most first.
    fn crowded_cuts(&self, pool: &PartSet) -> Vec<CrowdedCut> {
        let live = self.router.live();
        let (cables, mut crowded) = (live_cables(live), vec![]);
        for level in &self.levels {
            let widths = level.widths(live, &cables);
            let mut listed: Vec<Vec<usize>> = vec![vec![]; level.demand.len()];
            for part in pool.parts() {
                if let Part::Cable(c) = self.parts[part]
                    && let Some(cable) = live.fabric.inter_switch_cables().get(c.at())
                {
                    level.crossed(cable).for_each(|cut| listed[cut].push(part));
                }
            }
            for (cut, parts) in listed.into_iter().enumerate() {
                let (demand, others) = (level.demand[cut], widths[cut] - parts.len() as u64);
                let is_enough = |stay: &usize| self.suffices(demand, others + *stay as u64);
                let stay = (0..=parts.len()).find(is_enough).unwrap_or(parts.len());
                if stay > 0 {
                    crowded.push(CrowdedCut { parts, stay });
                }
            }
        }
        crowded.sort_by_key(|cut| Reverse(cut.stay));
        crowded
    }
}

/// A cut that needs some of the listed cables that lead out of it.
struct CrowdedCut {
    /// The listed cables, by their places in the list.
    parts: Vec<usize>,
    /// How many of them stay in service.
    stay: usize,
}

impl CutLevel {
    /// Returns the cuts that a cable leads out of.
    fn crossed(&self, cable: &Cable) -> impl Iterator<Item = usize> + use<> {
        let [a, b] = [cable.a.0, cable.b.0].map(|s| self.of[s.at()]);
        let both = if a == b { [NO_CUT; 2] } else { [a, b] };
        both.into_iter().filter(|cut| *cut != NO_CUT).map(|cut| cut as usize)
    }

    /// Returns how many of these cables lead out of each cut.
    fn widths(&self, live: Live<'_>, cables: &[usize]) -> Vec<u64> {
        let mut widths = vec![0; self.demand.len()];
        for &c in cables {
            let cable = &live.fabric.inter_switch_cables()[c];
            self.crossed(cable).for_each(|cut| widths[cut] += 1);
        }
        widths
    }
}

fn live_cables(live: Live<'_>) -> Vec<usize> {
    let cables = 0..live.fabric.inter_switch_cables().len();
    cables.filter(|&c| live.cable(CableIndex::new(c))).collect()
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
    let mut levels = vec![cut_level(nodes, Some)];
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
fn cut_level(nodes: &[u64], mut root: impl FnMut(SwitchIndex) -> Option<SwitchIndex>) -> CutLevel {
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
