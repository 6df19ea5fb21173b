//! Series of permutations: shifts, or random ones, with the loads of every port in each of them.

use super::super::Traffic;
use super::super::cuts::Cuts;
use super::super::paths::Flow;
use super::column::MovedFlow;
use super::{Baseline, SeriesRisk, UndeliveredBundle};
use crate::parallel;

/// A series of permutations that risk is counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesPattern {
    /// All shifts.
    AllShifts,
    /// A sample of the shifts, as [`Traffic::shifts`] draws it.
    Shifts {
        /// How many.
        count: usize,
        /// The seed of the draw.
        seed: u64,
    },
    /// Random permutations, as [`Traffic::permutations`] draws them.
    Random {
        /// How many.
        count: usize,
        /// The seed of the draw.
        seed: u64,
    },
}

/// The permutations of a series.
pub(super) struct Permutations {
    pub(super) pattern: SeriesPattern,
    count: usize,
    /// For each position, its source in every permutation.
    sources: Vec<u32>,
}

/// The loads of every port in every permutation of a series.
#[derive(Clone)]
pub(super) struct SeriesLoads {
    ports: usize,
    /// For each permutation, the flows on each port.
    loads: Vec<u32>,
    by_load: Vec<LoadCounts>,
    /// The changes since the last [`undo`](Self::undo).
    log: Vec<LoadChange>,
}

/// How many ports have each load in a permutation.
#[derive(Clone)]
struct LoadCounts {
    ports: Vec<u32>,
    max: u32,
}

/// One flow more or fewer on a port.
#[derive(Clone, Copy)]
struct LoadChange {
    permutation: u32,
    port: u32,
    is_more: bool,
}

impl Permutations {
    pub(super) fn new(traffic: &Traffic<'_>, pattern: &SeriesPattern) -> Self {
        let shifts: Vec<usize>;
        let draws: Vec<Vec<u32>> = match *pattern {
            SeriesPattern::Random { count, seed } => {
                parallel::map(0..count, |i| traffic.permutation(seed, i))
            }
            SeriesPattern::AllShifts | SeriesPattern::Shifts { .. } => {
                let sample = match *pattern {
                    SeriesPattern::Shifts { count, seed } => {
                        traffic.shift_sample(Some((count, seed)))
                    }
                    _ => None,
                };
                shifts = sample.unwrap_or_else(|| (1..traffic.nodes.len()).collect());
                parallel::map(&shifts, |&k| traffic.shift(k))
            }
        };
        let count = draws.len();
        let mut sources = vec![0; count * traffic.nodes.len()];
        for (permutation, to) in draws.iter().enumerate() {
            for (from, &to) in to.iter().enumerate() {
                sources[to as usize * count + permutation] = from as u32;
            }
        }
        Permutations { pattern: *pattern, count, sources }
    }

    /// Returns the source of the flow to a position in every permutation.
    pub(super) fn sources_of(&self, position: u32) -> &[u32] {
        &self.sources[position as usize * self.count..][..self.count]
    }

    fn source(&self, permutation: usize, position: usize) -> u32 {
        self.sources[position * self.count + permutation]
    }

    /// Follows every flow of every permutation.
    pub(super) fn count(&self, baseline: &Baseline<'_>) -> SeriesLoads {
        let ports = baseline.channels.ports.len();
        let of_one = |permutation: usize| {
            let (mut loads, mut way) = (vec![0u32; ports], vec![]);
            for (position, target) in baseline.targets.iter().enumerate() {
                let source = self.source(permutation, position);
                if source as usize == position {
                    continue;
                }
                let (from, tile) =
                    (baseline.targets[source as usize].home, baseline.tiles[target.tile as usize]);
                way.clear();
                if baseline.follow(tile, from, target, |port| way.push(port)) {
                    way.iter().for_each(|&port| loads[port as usize] += 1);
                }
            }
            loads
        };
        let loads = parallel::map(0..self.count, of_one);
        SeriesLoads {
            ports,
            by_load: loads.iter().map(|loads| LoadCounts::new(loads)).collect(),
            loads: loads.concat(),
            log: vec![],
        }
    }

    /// Returns the sum of the lower bounds of all permutations.
    pub(super) fn bound_sum(
        &self,
        baseline: &Baseline<'_>,
        cuts: &Cuts,
        undelivered: &[UndeliveredBundle],
    ) -> u64 {
        let bound = |permutation: usize| {
            let mut demand = cuts.no_demand();
            let mut flows = Vec::with_capacity(baseline.targets.len());
            for (position, &target) in baseline.targets.iter().enumerate() {
                let source = self.source(permutation, position);
                let from = baseline.targets[source as usize].home;
                let bundle = UndeliveredBundle { to: position as u32, from };
                if undelivered.is_empty() || undelivered.binary_search(&bundle).is_err() {
                    flows.push(Flow { from, target });
                }
            }
            demand.count_all(cuts, &flows, &vec![true; flows.len()]);
            cuts.bound(&demand)
        };
        parallel::map(0..self.count, bound).into_iter().sum()
    }
}

impl SeriesLoads {
    /// Moves a flow of a permutation.
    pub(super) fn move_flow(&mut self, permutation: usize, flow: &MovedFlow<'_>) {
        let permutation = permutation as u32;
        for (ways, is_more) in [(flow.loses, false), (flow.gains, true)] {
            for &port in ways.into_iter().flatten() {
                let change = LoadChange { permutation, port, is_more };
                self.change(change);
                self.log.push(change);
            }
        }
    }

    fn change(&mut self, change: LoadChange) {
        let LoadChange { permutation, port, is_more } = change;
        let load = &mut self.loads[permutation as usize * self.ports + port as usize];
        let before = *load;
        *load = if is_more { before + 1 } else { before - 1 };
        self.by_load[permutation as usize].replace(before, *load);
    }

    /// Takes back all changes.
    pub(super) fn undo(&mut self) {
        let mut log = std::mem::take(&mut self.log);
        for change in log.drain(..).rev() {
            self.change(LoadChange { is_more: !change.is_more, ..change });
        }
        self.log = log;
    }

    /// Returns the risk; the bounds are known.
    pub(super) fn risk(&self, bound_sum: u64) -> SeriesRisk {
        let mut maxima: Vec<u32> = self.by_load.iter().map(|counts| counts.max).collect();
        maxima.sort_unstable();
        SeriesRisk {
            permutations: maxima.len() as u32,
            sum: maxima.iter().map(|&max| u64::from(max)).sum(),
            min: maxima.first().copied().unwrap_or(0),
            median: maxima.get(maxima.len().saturating_sub(1) / 2).copied().unwrap_or(0),
            max: maxima.last().copied().unwrap_or(0),
            bound_sum,
        }
    }
}

impl LoadCounts {
    fn new(loads: &[u32]) -> Self {
        let max = loads.iter().copied().max().unwrap_or(0);
        let mut ports = vec![0; max as usize + 1];
        for &load in loads {
            ports[load as usize] += 1;
        }
        LoadCounts { ports, max }
    }

    /// Replaces the load of a port, which changes by one.
    fn replace(&mut self, before: u32, now: u32) {
        self.ports[before as usize] -= 1;
        if self.ports.len() == now as usize {
            self.ports.push(0);
        }
        self.ports[now as usize] += 1;
        let was_alone_at_the_top = before == self.max && self.ports[before as usize] == 0;
        if now > self.max || was_alone_at_the_top {
            self.max = now;
        }
    }
}
