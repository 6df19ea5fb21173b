//! Flows of any pattern: lists of pairs, and series of permutations.

use super::Traffic;
use super::bundles::Bundles;
use super::loads::{HostRisk, Loads, Series, WorstLoad, add};
use super::paths::{Flow, FlowPaths};
use crate::parallel;

/// This many flows are followed at once: enough to keep memory busy, few enough for a cache.
const BATCH: usize = 4096;

/// The counts of one thread, and its working arrays.
struct FlowCounts {
    ways: Vec<FlowPaths>,
    flows: Vec<Flow>,
    /// The position that sends to each position.
    sources: Vec<u32>,
    loads: Vec<u32>,
    worst_by_port: Vec<WorstLoad>,
    by_host: Vec<HostRisk>,
    /// The greatest load that a flow of each host meets in the present pattern.
    worst_of_host: Vec<u32>,
    worst_of_flow: Vec<u32>,
}

/// The loads of one permutation.
struct PermutationLoads {
    max: u32,
    bound: u32,
    undelivered: u64,
}

/// The destination of each position. A position that sends to itself loads nothing.
pub(super) type Permutation = Vec<u32>;

/// Returns the loads of many permutations; the `i`-th is drawn by `draw(i)`.
pub(super) fn series(
    traffic: &Traffic<'_>,
    count: usize,
    draw: impl Fn(usize) -> Permutation + Sync,
) -> Series {
    let chunk = parallel::piece_length(count, 4);
    let parts = parallel::map((0..count).step_by(chunk), |first| {
        let mut counts = FlowCounts::new(traffic);
        let part = first..(first + chunk).min(count);
        let outcomes: Vec<PermutationLoads> =
            part.map(|i| counts.run(traffic, i as u32, &draw(i))).collect();
        (outcomes, counts.worst_by_port, counts.by_host)
    });
    let mut series = Series {
        worst_by_port: vec![WorstLoad::default(); traffic.paths.ports().len()],
        ..Series::default()
    };
    series.by_host = vec![Default::default(); traffic.hosts.len()];
    for (outcomes, worst, by_host) in parts {
        for (most, worst) in series.worst_by_port.iter_mut().zip(worst) {
            most.take(worst.load, worst.pattern);
        }
        for outcome in outcomes {
            series.maxima.push(outcome.max);
            series.bounds.push(outcome.bound);
            series.undelivered += outcome.undelivered;
        }
        for (host, part) in series.by_host.iter_mut().zip(by_host) {
            host.sum += part.sum;
            host.max = host.max.max(part.max);
        }
    }
    series
}

/// Returns the greatest load of each permutation.
pub(super) fn maxima(traffic: &Traffic<'_>, permutations: &[Vec<u32>]) -> Vec<u32> {
    let chunk = parallel::piece_length(permutations.len(), 4);
    let of = |part: &[Vec<u32>]| -> Vec<u32> {
        let mut counts = FlowCounts::new(traffic);
        let max = |permutation: &Vec<u32>| {
            counts.walk(traffic, permutation, |_, _| ());
            counts.loads.iter().copied().max().unwrap_or(0)
        };
        part.iter().map(max).collect()
    };
    parallel::map(permutations.chunks(chunk), of).into_iter().flatten().collect()
}

impl FlowCounts {
    fn new(traffic: &Traffic<'_>) -> Self {
        let ports = traffic.paths.ports().len();
        let batches = traffic.nodes.len().div_ceil(BATCH);
        FlowCounts {
            ways: (0..batches).map(|_| FlowPaths::default()).collect(),
            flows: Vec::with_capacity(BATCH),
            sources: vec![0; traffic.nodes.len()],
            // One place more than there are ports: see [`FlowPaths`].
            loads: vec![0; ports + 1],
            worst_by_port: vec![WorstLoad::default(); ports],
            by_host: vec![HostRisk::default(); traffic.hosts.len()],
            worst_of_host: vec![0; traffic.hosts.len()],
            worst_of_flow: vec![0; BATCH],
        }
    }

    fn run(&mut self, traffic: &Traffic<'_>, number: u32, permutation: &[u32]) -> PermutationLoads {
        let mut demand = traffic.cuts.no_demand();
        let undelivered = self.walk(traffic, permutation, |flows, ways| {
            demand.count_all(&traffic.cuts, flows, ways.arrived());
        });
        self.count_hosts(traffic);
        let mut max = 0;
        for (worst, &load) in self.worst_by_port.iter_mut().zip(&self.loads) {
            worst.take(load, number);
            max = max.max(load);
        }
        let bound = traffic.cuts.bound(&demand) as u32;
        PermutationLoads { max, bound, undelivered }
    }

    /// Counts the loads of a permutation, and calls `each` with the flows, batch by batch. Returns how many flows do not
    /// arrive.
    fn walk(
        &mut self,
        traffic: &Traffic<'_>,
        permutation: &[u32],
        mut each: impl FnMut(&[Flow], &FlowPaths),
    ) -> u64 {
        let mut undelivered = 0;
        self.loads.fill(0);
        // In the order of destinations: entries of neighbours are neighbours.
        for (from, &to) in permutation.iter().enumerate() {
            self.sources[to as usize] = from as u32;
        }
        for (batch, sources) in self.sources.chunks(BATCH).enumerate() {
            let first = batch * BATCH;
            let flow = |(at, &from): (usize, &u32)| {
                let from = traffic.targets[from as usize].home;
                Flow { from, target: traffic.targets[first + at] }
            };
            self.flows.clear();
            self.flows.extend(sources.iter().enumerate().map(flow));
            let ways = &mut self.ways[batch];
            traffic.paths.follow_all(&self.flows, ways);
            for &port in ways.rows().iter().flatten() {
                self.loads[port as usize] += 1;
            }
            each(&self.flows, ways);
            let lost = ways.arrived().iter().enumerate().filter(|(_, arrived)| !**arrived);
            undelivered +=
                lost.filter(|(at, _)| sources[*at] as usize != first + at).count() as u64;
        }
        // The place after the last port is no load.
        self.loads[traffic.paths.ports().len()] = 0;
        undelivered
    }

    /// Notes for each host the greatest load that one of its flows meets: a flow is as slow as the worst port on its
    /// path, and a host as its slowest flow.
    fn count_hosts(&mut self, traffic: &Traffic<'_>) {
        self.worst_of_host.fill(0);
        for (ways, sources) in self.ways.iter().zip(self.sources.chunks(BATCH)) {
            let worst = &mut self.worst_of_flow[..sources.len()];
            worst.fill(0);
            for row in ways.rows() {
                for (worst, &port) in worst.iter_mut().zip(row) {
                    *worst = (*worst).max(self.loads[port as usize]);
                }
            }
            for (&from, &worst) in sources.iter().zip(&*worst) {
                let host = &mut self.worst_of_host[traffic.host_of[from as usize] as usize];
                *host = (*host).max(worst);
            }
        }
        for (host, &worst) in self.by_host.iter_mut().zip(&self.worst_of_host) {
            host.sum += u64::from(worst);
            host.max = host.max.max(worst);
        }
    }
}

/// Returns the loads of a list of pairs of positions.
pub(super) fn pairs(traffic: &Traffic<'_>, pairs: &[(u32, u32)]) -> Loads {
    let ports = traffic.paths.ports().len();
    let parts = parallel::map(pairs.chunks(BATCH * 16), |pairs| {
        let mut ways = FlowPaths::default();
        let mut loads = Loads { by_port: vec![0; ports + 1], ..Loads::default() };
        for pairs in pairs.chunks(BATCH) {
            let flow = |&(from, to): &(u32, u32)| {
                let from = traffic.targets[from as usize].home;
                Flow { from, target: traffic.targets[to as usize] }
            };
            let flows: Vec<Flow> = pairs.iter().map(flow).collect();
            traffic.paths.follow_all(&flows, &mut ways);
            for &port in ways.rows().iter().flatten() {
                loads.by_port[port as usize] += 1;
            }
            for (at, flow) in flows.iter().enumerate() {
                if !ways.arrived()[at] && pairs[at].0 != pairs[at].1 {
                    loads.undelivered += 1;
                    loads.lost.push(traffic.lost(flow.from, &flow.target));
                    loads.lost.truncate(super::NAMED);
                }
            }
        }
        loads
    });
    let mut sum = Loads { by_port: vec![0; ports], ..Loads::default() };
    for part in parts {
        add(&mut sum.by_port, &part.by_port);
        sum.undelivered += part.undelivered;
        sum.lost.extend(part.lost);
    }
    sum.lost.truncate(super::NAMED);
    let bound = bundles(traffic, pairs, sum.undelivered == 0).bound(&traffic.cuts);
    (sum.bound, sum.cut, sum.is_by_bundles) = (bound.value, bound.cut, bound.is_by_bundles);
    sum
}

/// Follows the routes of a list of pairs, and calls `each` with the index of every pair and its directed ports; `None` if
/// the pair does not arrive.
pub(super) fn routes(
    traffic: &Traffic<'_>,
    pairs: &[(u32, u32)],
    mut each: impl FnMut(usize, Option<&[u32]>),
) {
    let none = traffic.paths.ports().len() as u32;
    let (mut ways, mut flows, mut ports) = (FlowPaths::default(), Vec::new(), Vec::new());
    for (batch, pairs) in pairs.chunks(BATCH).enumerate() {
        let flow = |&(from, to): &(u32, u32)| {
            let from = traffic.targets[from as usize].home;
            Flow { from, target: traffic.targets[to as usize] }
        };
        flows.clear();
        flows.extend(pairs.iter().map(flow));
        traffic.paths.follow_all(&flows, &mut ways);
        for (at, &arrived) in ways.arrived().iter().enumerate() {
            ways.copy_ports(at, none, &mut ports);
            each(batch * BATCH + at, arrived.then_some(&ports[..]));
        }
    }
}

/// Returns the bundles of a list of pairs: those of one switch to one position stay together.
fn bundles(traffic: &Traffic<'_>, pairs: &[(u32, u32)], all_arrive: bool) -> Bundles {
    let home = |position: u32| traffic.targets[position as usize].home;
    let mut flows: Vec<(u32, u32)> = pairs.iter().map(|&(from, to)| (home(from), to)).collect();
    flows.retain(|&(from, to)| from != home(to));
    flows.sort_unstable();
    let mut bundles: Vec<&[(u32, u32)]> = flows.chunk_by(|a, b| a == b).collect();
    let arrives = |&(from, to): &(u32, u32)| {
        traffic.paths.follow(from, &traffic.targets[to as usize], |_| ())
    };
    bundles.retain(|bundle| all_arrive || arrives(&bundle[0]));
    let sizes = bundles.iter().map(|bundle| bundle.len() as u32);
    let mut crossing = Bundles::none(&traffic.cuts, sizes);
    for bundle in bundles {
        let (from, to) = bundle[0];
        crossing.count(&traffic.cuts, (from, home(to)), bundle.len() as u32, 1);
    }
    crossing
}
