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
use crate::fabric::Live;
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
        for (rank, switches) in ranks.iter().enumerate() {
            for &s in switches {
                present[s.at()] = true;
            }
            for &s in switches {
                for (_, peer) in live.links(s).filter(|(_, peer)| present[peer.at()]) {
                    sets.join(s, peer);
                }
            }
            if rank > 0 && rank + 1 < ranks.len() {
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

    /// Adds the halves of the whole fabric, made of the highest subtrees.
    fn add_halves(&mut self, live: Live<'_>, weight: &[u32], level: usize) {
        let Some(of) = self.of.last() else { return };
        let total: u64 = weight.iter().map(|&w| u64::from(w)).sum();
        let (mut so_far, mut side) = (0, vec![NONE; self.cuts.len()]);
        for &cut in of.iter().filter(|&&cut| cut != NONE) {
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
        let mut beyond: Vec<u32> = Vec::new();
        for t in live.switches() {
            beyond.clear();
            beyond.extend(live.links(t).map(|(_, peer)| of[peer.at()]));
            let all = beyond.len() as u64;
            beyond.retain(|&cut| cut != NONE && cut != of[t.at()]);
            beyond.sort_unstable();
            for same in beyond.chunk_by(|a, b| a == b) {
                let to = same.len() as u64;
                let narrow = if weight[t.at()] == 0 { to.min(all - to) } else { to };
                self.cuts[same[0] as usize].cables += narrow;
            }
        }
        self.of.push(of);
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
    pub(super) fn levels(&self) -> impl Iterator<Item = &[u32]> {
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
