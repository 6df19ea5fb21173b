//! Congestion risk: how many flows of a pattern share a directed port between switches.
//!
//! A port that `f` flows of a pattern share gives each of them 1/f of its speed at worst, whatever the messages. So the
//! maximum over all ports shows how a pattern may fare with some tables, without any simulation. Patterns are
//!
//! | | | cost |
//! |---|---|---|
//! | [`all_to_all`](Traffic::all_to_all) | everybody to everybody | O(N × #switches): subtrees are counted |
//! | [`shifts`](Traffic::shifts) | position i to i + k, for every k | O(N × leaves × hops): neighbours share routes |
//! | [`permutations`](Traffic::permutations), [`bisections`](Traffic::bisections) | at random | O(n × N × hops), many hops at once |
//! | [`pairs`](Traffic::pairs) | any list | O(pairs × hops) |
//! | [`ring`], [`tree`], [`recursive_doubling`] … | collective operations, as lists and as [`steps`](Traffic::steps) | the same |
//!
//! Each comes with a lower bound that no tables for the same pairs on this fabric can go below.
//! Flows that do not arrive are counted apart, with examples; they load nothing.

mod all_to_all;
mod bundles;
mod collectives;
mod cuts;
mod flows;
mod loads;
mod paths;
mod recount;
mod shape;
mod shifts;
mod sources;
mod steps;

pub use collectives::{Grid, halving, incast, phase, phase_count, tree};
pub use cuts::Cut;
pub use loads::{HostRisk, Loads, LostPair, Series, WorstLoad};
pub use paths::DirectedPort;
pub use recount::{
    AllToAllRisk, Baseline, Effect, Recount, Routed, SeriesPattern, SeriesRisk, Tally,
};
pub use shape::{LostBundle, TrafficShape};
pub use sources::Sources;
pub use steps::{Step, StepKind, recursive_doubling, ring};

use std::collections::HashMap;
use std::ops::Range;

use crate::fabric::Live;
use crate::id::{NodeIndex, SwitchIndex};
use crate::order::Orders;
use crate::random::Random;
use crate::rank::Ranking;
use crate::survey::HostKey;
use crate::tables::ForwardingTables;
use cuts::Cuts;
use paths::{FlowTarget, Paths};

/// The greatest number of lost pairs that are kept as examples.
const NAMED: usize = 8;

/// Nodes that send to each other over some tables.
pub struct Traffic<'a> {
    paths: Paths<'a>,
    /// The nodes by position.
    nodes: Vec<NodeIndex>,
    targets: Vec<FlowTarget>,
    /// The host of each position.
    host_of: Vec<u32>,
    hosts: Vec<&'a str>,
    /// The number of nodes on each switch.
    weight: Vec<u32>,
    /// Live switches, from the lowest to the highest.
    ascending: Vec<u32>,
    cuts: Cuts,
}

impl<'a> Traffic<'a> {
    /// Makes traffic among all live nodes that have a column; aggregation nodes do not count. Their positions are those
    /// in destination order.
    pub fn new(
        live: Live<'a>,
        ranking: &Ranking,
        orders: &Orders,
        tables: &'a ForwardingTables,
    ) -> Self {
        let shape = TrafficShape::new(live, ranking, orders, tables.columns());
        Self::over(live, shape, tables)
    }

    /// Makes traffic among these nodes, in this order. Nodes that are dead or have no column are left out.
    ///
    /// # Panics
    /// If the tables have rows for another number of switches.
    pub fn among(
        live: Live<'a>,
        ranking: &Ranking,
        orders: &Orders,
        tables: &'a ForwardingTables,
        nodes: Vec<NodeIndex>,
    ) -> Self {
        let shape = TrafficShape::among(live, ranking, orders, tables.columns(), nodes);
        Self::over(live, shape, tables)
    }

    /// Makes traffic of this shape over some tables.
    ///
    /// # Panics
    /// If the tables have rows for another number of switches.
    pub fn over(live: Live<'a>, shape: TrafficShape, tables: &'a ForwardingTables) -> Self {
        let count = live.fabric.switches().len();
        assert_eq!(tables.switch_count(), count, "tables of another fabric");
        let TrafficShape { nodes, columns, weight, ascending, channels, cuts, .. } = shape;
        let target = |&column: &u32| FlowTarget::new(tables, column as usize);
        let targets: Vec<FlowTarget> = columns.iter().map(target).collect();
        let (mut hosts, mut known, mut host_of) = (Vec::new(), HashMap::new(), Vec::new());
        for &n in &nodes {
            let host = HostKey::of(live, n);
            host_of.push(*known.entry(host).or_insert_with(|| {
                hosts.push(host.name());
                hosts.len() as u32 - 1
            }));
        }
        let paths = Paths::over(channels, tables);
        Traffic { paths, nodes, targets, host_of, hosts, weight, ascending, cuts }
    }

    /// Returns the nodes by position.
    pub fn nodes(&self) -> &[NodeIndex] {
        &self.nodes
    }

    /// Returns the names of the hosts that the nodes belong to.
    pub fn hosts(&self) -> &[&'a str] {
        &self.hosts
    }

    /// Returns which of [`hosts`](Traffic::hosts) the node of a position belongs to.
    pub fn host_of(&self, position: usize) -> usize {
        self.host_of[position] as usize
    }

    /// Returns how many of the nodes each of [`hosts`](Traffic::hosts) has.
    pub fn rails(&self) -> Vec<u32> {
        let mut rails = vec![0; self.hosts.len()];
        for &host in &self.host_of {
            rails[host as usize] += 1;
        }
        rails
    }

    /// Returns all directed ports between live switches.
    pub fn ports(&self) -> &[DirectedPort] {
        self.paths.ports()
    }

    /// Returns the loads if everybody sends to everybody else.
    pub fn all_to_all(&self) -> Loads {
        all_to_all::loads(self)
    }

    /// Returns the sources of the flows over each port and the lengths of routes, if everybody sends to everybody else.
    pub fn sources(&self) -> Sources {
        sources::sources(self)
    }

    /// Returns the loads of all shifts 1 … N − 1, or of a sample of them, ascending: `sample` is its size and its seed.
    pub fn shifts(&self, sample: Option<(usize, u64)>) -> Series {
        match self.shift_sample(sample) {
            None => shifts::all(self),
            Some(sample) => {
                let draw = |i: usize| self.shift(sample[i]);
                flows::series(self, sample.len(), draw)
            }
        }
    }

    /// Returns the shifts of a sample; `None` if these are all shifts.
    pub fn shift_sample(&self, sample: Option<(usize, u64)>) -> Option<Vec<usize>> {
        some_shifts(self.nodes.len().saturating_sub(1), sample)
    }

    /// Returns the destination of every position in the shift by `k`.
    pub fn shift(&self, k: usize) -> Vec<u32> {
        let nodes = self.nodes.len();
        (0..nodes).map(|i| ((i + k) % nodes) as u32).collect()
    }

    /// Returns the loads of shifts inside each of these ranges of positions, all at once: position i of a range of n
    /// positions sends to position i + k modulo n, for every k up to the length of the longest, or for a sample.
    pub fn shifts_within(&self, ranges: &[Range<u32>], sample: Option<(usize, u64)>) -> Series {
        if let [only] = ranges
            && only.len() == self.nodes.len()
        {
            return self.shifts(sample);
        }
        let longest = ranges.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        let all = longest.saturating_sub(1);
        let shifts = some_shifts(all, sample).unwrap_or_else(|| (1..=all).collect::<Vec<usize>>());
        flows::series(self, shifts.len(), |i| self.shift_within(ranges, shifts[i]))
    }

    /// Returns the destination of every position in the shift by `k` inside ranges. Positions in no range keep still.
    pub fn shift_within(&self, ranges: &[Range<u32>], k: usize) -> Vec<u32> {
        let mut to: Vec<u32> = (0..self.nodes.len() as u32).collect();
        for range in ranges.iter().filter(|range| !range.is_empty()) {
            let places = &mut to[range.start as usize..range.end as usize];
            let step = k % places.len();
            places.rotate_left(step);
        }
        to
    }

    /// Returns the loads of steps that happen one after the other.
    pub fn steps(&self, steps: &[Step]) -> Series {
        self.drawn_steps(steps.len(), |i| steps[i].pairs.clone())
    }

    /// Returns the loads of `count` steps that happen one after the other; the i-th is drawn by `draw(i)`, as pairs of
    /// positions.
    pub fn drawn_steps(
        &self,
        count: usize,
        draw: impl Fn(usize) -> Vec<(u32, u32)> + Sync,
    ) -> Series {
        steps::series(self, count, draw)
    }

    /// Returns the loads of `count` random permutations. (A position may send to itself, which loads nothing.)
    pub fn permutations(&self, count: usize, seed: u64) -> Series {
        flows::series(self, count, |i| self.permutation(seed, i))
    }

    /// Returns the greatest load of each of these permutations (the destination of every position).
    ///
    /// # Panics
    /// If one of them is no permutation of the positions.
    pub fn maxima(&self, permutations: &[Vec<u32>]) -> Vec<u32> {
        flows::maxima(self, permutations)
    }

    /// Returns the destination of every position in the i-th random permutation.
    pub fn permutation(&self, seed: u64, i: usize) -> Vec<u32> {
        permutation(self.nodes.len(), seed, i)
    }

    /// Returns the loads of `count` random bisections: the positions are halved at random, and each of one half exchanges
    /// with one of the other.
    pub fn bisections(&self, count: usize, seed: u64) -> Series {
        flows::series(self, count, |i| self.bisection(seed, i))
    }

    /// Returns the partner of every position in the i-th random bisection; an odd one is its own partner.
    pub fn bisection(&self, seed: u64, i: usize) -> Vec<u32> {
        bisection(self.nodes.len(), seed, i)
    }

    /// Returns the loads of a list of pairs of positions.
    pub fn pairs(&self, pairs: &[(u32, u32)]) -> Loads {
        flows::pairs(self, pairs)
    }

    /// Follows the routes of a list of pairs of positions, and calls `each` with the index of every pair and its directed
    /// ports; `None` if the pair does not arrive.
    pub fn routes(&self, pairs: &[(u32, u32)], each: impl FnMut(usize, Option<&[u32]>)) {
        flows::routes(self, pairs, each);
    }

    /// Follows the route of one position to another, and calls `each` with its directed ports. Returns whether it
    /// arrives.
    pub fn follow(&self, from: u32, to: u32, each: impl FnMut(u32)) -> bool {
        self.paths.follow(self.targets[from as usize].home, &self.targets[to as usize], each)
    }

    /// Returns up to `most` flows of all-to-all over a port, with different sources and different destinations.
    pub fn flows_over(&self, port: usize, most: usize) -> Vec<(u32, u32)> {
        let over = self.paths.ports()[port];
        let s = over.switch.at() as u32;
        let mut flows: Vec<(u32, u32)> = Vec::new();
        for (to, target) in self.targets.iter().enumerate() {
            if flows.len() == most {
                break;
            }
            if self.paths.entry(s, target) != over.port.0 {
                continue;
            }
            let is_over = |from: &usize| {
                let is_known = flows.iter().any(|flow| flow.0 == *from as u32);
                let mut there = false;
                let mark = |way: u32| there |= way as usize == port;
                *from != to
                    && !is_known
                    && self.paths.follow(self.targets[*from].home, target, mark)
                    && there
            };
            if let Some(from) = (0..self.targets.len()).find(is_over) {
                flows.push((from as u32, to as u32));
            }
        }
        flows
    }

    fn lost(&self, from: u32, target: &FlowTarget) -> LostPair {
        let is_meant = |at: &usize| {
            let other = &self.targets[*at];
            (other.home, other.port) == (target.home, target.port)
        };
        let position = (0..self.targets.len()).find(is_meant).expect("a target of this traffic");
        LostPair { from: SwitchIndex::new(from as usize), to: self.nodes[position] }
    }
}

/// Returns a sample of the shifts 1 … `all`, ascending; `None` if these are all shifts.
fn some_shifts(all: usize, sample: Option<(usize, u64)>) -> Option<Vec<usize>> {
    let (count, seed) = sample.filter(|&(count, _)| count < all)?;
    let mut shifts = Random::new(seed, SHIFTS).sample(all, count);
    shifts.iter_mut().for_each(|k| *k += 1);
    shifts.sort_unstable();
    Some(shifts)
}

/// Returns a random sample of this size of the shifts of this number of nodes, ascending; all of them if there are not more.
pub fn sampled_shifts(nodes: usize, count: usize, seed: u64) -> Vec<usize> {
    let all = nodes.saturating_sub(1);
    some_shifts(all, Some((count, seed))).unwrap_or_else(|| (1..=all).collect())
}

/// Returns the destination of every position in the i-th random permutation of this number of nodes.
pub fn permutation(nodes: usize, seed: u64, i: usize) -> Vec<u32> {
    let mut to: Vec<u32> = (0..nodes as u32).collect();
    Random::new(seed, PERMUTATIONS + i as u64).shuffle(&mut to);
    to
}

/// Returns the partner of every position in the i-th random bisection of this number of nodes; an odd one is its own partner.
pub fn bisection(nodes: usize, seed: u64, i: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..nodes as u32).collect();
    Random::new(seed, BISECTIONS + i as u64).shuffle(&mut order);
    let mut to: Vec<u32> = (0..nodes as u32).collect();
    let (one, other) = order.split_at(order.len() / 2);
    for (&a, &b) in one.iter().zip(other) {
        (to[a as usize], to[b as usize]) = (b, a);
    }
    to
}

/// Streams of random numbers: each kind of pattern has its own.
const SHIFTS: u64 = 1 << 32;

/// The stream of the first random permutation of a seed; the next ones follow.
pub const PERMUTATIONS: u64 = 2 << 32;

/// The stream of the first random bisection of a seed; the next ones follow.
pub const BISECTIONS: u64 = 3 << 32;
