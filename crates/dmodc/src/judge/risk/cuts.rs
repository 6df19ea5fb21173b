//! Lower bounds that no routing can go below.
//!
//! A *cut* is a set of switches X. Every flow from a node inside to a node outside takes at least one
//! of the directed ports that leave X, whatever the routing; so if `f` flows cross and `c` ports leave,
//! some port carries at least ⌈f/c⌉ of them. The same holds for flows that enter: cables go both ways. These cuts are
//! examined:
//!
//! - each switch with nodes (a leaf),
//! - each subtree: the components of the switches of rank ≤ l, for each l below the top,
//! - halves of the whole: the first highest subtrees that together hold half of the nodes, and the others.
//!
//! A neighbour of X that has no nodes may be taken into X if fewer ports leave it than lead to it: X
//! stays a cut between the same nodes, and becomes narrower (a top switch that lost its other cables).
//! Several may be taken at once: ports between them only stop counting. Only flows that arrive count,
//! since only they load ports.
//!
//! In a permutation every destination has one flow, so ⌈f/c⌉ is all that can be said. Where several flows of a switch
//! have one destination, [`bundles`](super::bundles) say more.

use super::paths::Flow;
use crate::fabric::{Live, Part};
use crate::id::SwitchIndex;
use crate::rank::Ranking;
use crate::union_find::UnionFind;

const NONE: u32 = u32::MAX;

/// A cut: a set of switches that flows have to leave or enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The rank of its highest switches, from 0.
    pub level: usize,
    /// Whether it is a half of the whole fabric.
    pub is_half: bool,
    /// One of its switches with nodes.
    pub first: SwitchIndex,
    /// How many nodes of the traffic are in it.
    pub nodes: u64,
    /// How many cables lead out of it.
    pub cables: u64,
}

/// All cuts that are examined.
pub(super) struct Cuts {
    /// For each level and switch, the cut that it is in.
    of: Vec<Vec<u32>>,
    pub(super) cuts: Vec<Cut>,
}

/// How many flows cross each cut, outwards and inwards.
pub(super) struct Demand {
    out: Vec<u64>,
    into: Vec<u64>,
}

impl Cuts {
    /// Finds the cuts. `weight` is the number of nodes of the traffic on each switch.
    pub(super) fn new(live: Live<'_>, ranking: &Ranking, weight: &[u32]) -> Self {
        let count = live.fabric.switches().len();
        let mut cuts = Cuts { of: Vec::new(), cuts: Vec::new() };
        let alone: Vec<u32> = (0..count as u32).collect();
        cuts.add(live, weight, 0, &alone);
        let mut sets = UnionFind::new(count);
        let mut present = vec![false; count];
        let ranks = ranking.by_rank();
        // The highest rank would complete the whole fabric, which is no cut.
        let below_top = ranks.len().saturating_sub(1);
        for (rank, switches) in ranks[..below_top].iter().enumerate() {
            for &s in switches {
                present[s.at()] = true;
            }
            for &s in switches {
                for (_, peer) in live.links(s).filter(|(_, peer)| present[peer.at()]) {
                    sets.join(s, peer);
                }
            }
            if rank > 0 {
                let roots = live.fabric.switch_indices();
                let of: Vec<u32> = roots
                    .map(|s| if present[s.at()] { sets.root(s).at() as u32 } else { NONE })
                    .collect();
                cuts.add(live, weight, rank, &of);
            }
        }
        cuts.add_halves(live, weight, ranks.len().saturating_sub(2));
        cuts
    }

    /// Adds the halves of the whole fabric, made of the highest subtrees. These are taken in the order of their least GUIDs: the order of
    /// a file must not decide how good a bound is.
    fn add_halves(&mut self, live: Live<'_>, weight: &[u32], level: usize) {
        let Some(of) = self.of.last() else { return };
        let total: u64 = weight.iter().map(|&w| u64::from(w)).sum();
        let of_subtrees = live.fabric.switch_indices().filter(|s| of[s.at()] != NONE);
        let mut by_guid: Vec<_> =
            of_subtrees.map(|s| (live.fabric.switch(s).guid, of[s.at()])).collect();
        by_guid.sort_unstable();
        let (mut so_far, mut side) = (0, vec![NONE; self.cuts.len()]);
        for (_, cut) in by_guid {
            if side[cut as usize] == NONE {
                side[cut as usize] = u32::from(2 * so_far >= total);
                so_far += self.cuts[cut as usize].nodes;
            }
        }
        let half = |&cut: &u32| if cut == NONE { NONE } else { side[cut as usize] };
        let of: Vec<u32> = of.iter().map(half).collect();
        let known = self.cuts.len();
        self.add(live, weight, level, &of);
        self.cuts[known..].iter_mut().for_each(|cut| cut.is_half = true);
    }

    /// Adds one level of cuts: switches with the same label are in one cut.
    fn add(&mut self, live: Live<'_>, weight: &[u32], level: usize, labels: &[u32]) {
        let mut number = vec![NONE; labels.len().max(2)];
        let mut added: Vec<Cut> = Vec::new();
        for (s, &label) in
            labels.iter().enumerate().filter(|&(s, &label)| label != NONE && weight[s] > 0)
        {
            let number = &mut number[label as usize];
            if *number == NONE {
                *number = added.len() as u32;
                let first = SwitchIndex::new(s);
                added.push(Cut { level, is_half: false, first, nodes: 0, cables: 0 });
            }
            added[*number as usize].nodes += u64::from(weight[s]);
        }
        // One set with all nodes in it cuts nothing.
        if added.len() < 2 {
            return;
        }
        let offset = self.cuts.len() as u32;
        let cut = |&label: &u32| match label {
            NONE => NONE,
            label if number[label as usize] == NONE => NONE,
            label => number[label as usize] + offset,
        };
        let of: Vec<u32> = labels.iter().map(cut).collect();
        self.cuts.extend(added);
        let mut cables = CutCables::default();
        for t in live.switches() {
            cables.of_switch(live, weight, &of, t, |cut, count| self.cuts[cut].cables += count);
        }
        self.of.push(of);
    }

    /// Returns the cuts after some parts died, if no switch changes its rank by that and it is easy to see that every cut
    /// keeps its switches. Then only the switches at dead cables count their cables again.
    pub(super) fn after_faults(
        &self,
        [before, after]: [Live<'_>; 2],
        ranking: &Ranking,
        weight: &[u32],
    ) -> Option<Self> {
        let touched = switches_at_faults([before, after], ranking)?;
        let mut changed = Cuts { of: self.of.clone(), cuts: self.cuts.clone() };
        let (cuts, mut cables) = (&mut changed.cuts, CutCables::default());
        for of in &self.of {
            for &t in &touched {
                cables.of_switch(before, weight, of, t, |cut, count| cuts[cut].cables -= count);
                cables.of_switch(after, weight, of, t, |cut, count| cuts[cut].cables += count);
            }
        }
        Some(changed)
    }

    /// Returns the demand of no flows.
    pub(super) fn no_demand(&self) -> Demand {
        Demand { out: vec![0; self.cuts.len()], into: vec![0; self.cuts.len()] }
    }

    /// Returns the cuts that a flow between two switches leaves and enters.
    #[inline]
    pub(super) fn crossed(&self, from: u32, to: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let at = move |of: &Vec<u32>| (of[from as usize], of[to as usize]);
        self.of.iter().map(at).filter(|(from, to)| from != to)
    }

    /// Returns each level of cuts: the cut of each switch, as [`at`](Cuts::at) reads it.
    pub(super) fn levels(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.of.iter().map(Vec::as_slice)
    }

    /// Returns the cut of a level that a switch is in.
    #[inline]
    pub(super) fn at(&self, level: &[u32], s: usize) -> Option<usize> {
        self.known(level[s])
    }

    /// Returns the number of a cut, if it is one.
    #[inline]
    pub(super) fn known(&self, cut: u32) -> Option<usize> {
        (cut != NONE).then_some(cut as usize)
    }

    /// Returns the greatest bound by numbers of flows.
    pub(super) fn bound(&self, demand: &Demand) -> u64 {
        let crossed = self.cuts.iter().enumerate().filter(|(_, cut)| cut.cables > 0);
        let bound =
            |(at, cut): (usize, &Cut)| demand.out[at].max(demand.into[at]).div_ceil(cut.cables);
        crossed.map(bound).max().unwrap_or(0)
    }
}

/// Counts the cables between a switch and the cuts that it is next to.
#[derive(Default)]
struct CutCables {
    beyond: Vec<u32>,
}

impl CutCables {
    /// Calls `each` with every cut of a level that a switch is next to, and how many cables of the cut this switch adds.
    fn of_switch(
        &mut self,
        live: Live<'_>,
        weight: &[u32],
        of: &[u32],
        t: SwitchIndex,
        mut each: impl FnMut(usize, u64),
    ) {
        let beyond = &mut self.beyond;
        beyond.clear();
        beyond.extend(live.links(t).map(|(_, peer)| of[peer.at()]));
        let all = beyond.len() as u64;
        beyond.retain(|&cut| cut != NONE && cut != of[t.at()]);
        beyond.sort_unstable();
        for same in beyond.chunk_by(|a, b| a == b) {
            let to = same.len() as u64;
            let narrow = if weight[t.at()] == 0 { to.min(all - to) } else { to };
            each(same[0] as usize, narrow);
        }
    }
}

/// Returns the switches whose live cables differ, if faults alone make the difference and the subtrees keep their switches
/// for a simple reason: wherever two switches lost a cable or a switch between them, a detour over at most two others of
/// no higher rank is left. Otherwise, subtrees may have fallen apart.
fn switches_at_faults(
    [before, after]: [Live<'_>; 2],
    ranking: &Ranking,
) -> Option<Vec<SwitchIndex>> {
    let mut touched = Vec::new();
    for part in after.degradation.difference(before.degradation) {
        if before.degradation.is_dead(part) {
            return None;
        }
        let mut joined: Vec<SwitchIndex> = match part {
            Part::Cable(c) => {
                let cable = after.fabric.inter_switch_cables().get(c.at())?;
                vec![cable.a.0, cable.b.0]
            }
            Part::Switch(s) => {
                touched.push(s);
                before.links(s).map(|(_, peer)| peer).collect()
            }
        };
        joined.retain(|&s| after.switch(s));
        joined.sort_unstable_by_key(|&s| (ranking.sort_rank(s), s));
        joined.dedup();
        touched.extend_from_slice(&joined);
        let own = match part {
            Part::Cable(_) => 0,
            Part::Switch(s) => ranking.sort_rank(s),
        };
        let below_top = ranking.levels().saturating_sub(1);
        for pair in joined.windows(2) {
            let highest = ranking.sort_rank(pair[1]).max(own);
            if highest < below_top && !have_detour(after, ranking, [pair[0], pair[1]], highest) {
                return None;
            }
        }
    }
    touched.sort_unstable();
    touched.dedup();
    Some(touched)
}

/// Returns whether a way over at most two switches, none of them above this rank, joins two switches.
fn have_detour(live: Live<'_>, ranking: &Ranking, ends: [SwitchIndex; 2], highest: u32) -> bool {
    let neighbours = |s: SwitchIndex| {
        let peers = live.links(s).map(|(_, peer)| peer);
        peers.filter(|&peer| ranking.rank(peer).is_some_and(|rank| rank <= highest))
    };
    let mut targets: Vec<SwitchIndex> = neighbours(ends[1]).chain([ends[1]]).collect();
    targets.sort_unstable();
    let is_target = |s: SwitchIndex| targets.binary_search(&s).is_ok();
    neighbours(ends[0]).any(|s| is_target(s) || neighbours(s).any(is_target))
}

impl Demand {
    /// Counts the flows that arrive, level by level.
    pub(super) fn count_all(&mut self, cuts: &Cuts, flows: &[Flow], arrived: &[bool]) {
        for of in &cuts.of {
            for (flow, _) in flows.iter().zip(arrived).filter(|(_, arrived)| **arrived) {
                let (left, entered) = (of[flow.from as usize], of[flow.target.home as usize]);
                if left != entered {
                    self.cross(left, entered);
                }
            }
        }
    }

    #[inline]
    fn cross(&mut self, left: u32, entered: u32) {
        for (count, cut) in [(&mut self.out, left), (&mut self.into, entered)] {
            if cut != NONE {
                count[cut as usize] += 1;
            }
        }
    }
}
