//! The results of a pattern.

use dmodc::judge::risk::{Cut, HostRisk, Loads, LostPair, Series, StepKind, Traffic};

use super::steps::PatternSteps;
use super::{Pattern, PatternFlows};

/// The results of a pattern. For a series of patterns, the load of a port is its worst load.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The pattern.
    pub pattern: Pattern,
    /// The greatest load of each pattern of a series; one number for a single pattern.
    pub maxima: Vec<u32>,
    /// The lower bound of each.
    pub bounds: Vec<u32>,
    /// What each pattern of the series is, where they have names; otherwise empty.
    pub steps: Vec<StepKind>,
    /// The greatest load of a port.
    pub max: u64,
    /// The lower bound of `max` for any routing.
    pub bound: u64,
    /// The cut that proves the bound, for a single pattern.
    pub cut: Option<Cut>,
    /// Whether the proof needs that all flows from one switch to one node stay together.
    pub is_by_bundles: bool,
    /// Loads of ports.
    pub by_port: Vec<u64>,
    /// Who uses the ports, for all-to-all.
    pub ends: Option<PortUsers>,
    /// The ports with the greatest loads, the worst first.
    pub worst: Vec<WorstPort>,
    /// The risk of each host, if the flows of a series were followed.
    pub by_host: Vec<HostRisk>,
    /// Flows that do not arrive.
    pub undelivered: u64,
    /// The first of them, if they were noted.
    pub lost: Vec<LostPair>,
}

/// Who uses the ports if every node sends to every other node.
#[derive(Clone, Debug)]
pub struct PortUsers {
    /// For each port, the number of nodes that send through it.
    pub sources: Vec<u32>,
    /// For each port, the number of nodes that are reached through it.
    pub destinations: Vec<u32>,
    /// The number of pairs that are delivered over 0, 1, 2 … switches.
    pub pairs_by_switches: Vec<u64>,
}

impl PortUsers {
    /// Returns the lesser of sources and destinations: the number of flows that can share the port at one time.
    pub fn least(&self, port: usize) -> u32 {
        self.sources[port].min(self.destinations[port])
    }

    /// Returns the greatest of these numbers.
    pub fn max_least(&self) -> u32 {
        (0..self.sources.len()).map(|port| self.least(port)).max().unwrap_or(0)
    }
}

/// A port with a great load.
#[derive(Clone, Debug)]
pub struct WorstPort {
    /// The index of the port in the traffic.
    pub port: usize,
    /// Its load.
    pub load: u64,
    /// Some of the flows through it, as positions; for a series, those of a pattern with this load.
    pub flows: Vec<(u32, u32)>,
}

/// The number of ports that are named.
const WORST: usize = 10;

/// The number of flows that are named for each of them.
const NAMED: usize = 8;

/// Counts the flows of a pattern. Returns the results.
pub fn find(traffic: &Traffic<'_>, flows: &PatternFlows, seed: u64) -> Finding {
    let nodes = traffic.nodes().len();
    let pattern = flows.pattern.clone();
    match pattern {
        Pattern::AllToAll => {
            let loads = traffic.all_to_all();
            let sources = traffic.sources();
            let ends = PortUsers {
                sources: sources.by_port,
                destinations: loads.destinations.clone(),
                pairs_by_switches: sources.pairs_by_switches,
            };
            let mut finding = of_loads(pattern, loads);
            finding.ends = Some(ends);
            finding.worst = worst(&finding.by_port, |port| traffic.flows_over(port, NAMED));
            finding
        }
        Pattern::Permutations(count) => {
            let series = traffic.permutations(count, seed);
            of_series(traffic, pattern, series, |i| (0u32..).zip(traffic.permutation(seed, i)))
        }
        Pattern::Bisections(count) => {
            let series = traffic.bisections(count, seed);
            of_series(traffic, pattern, series, |i| (0u32..).zip(traffic.bisection(seed, i)))
        }
        Pattern::Shifts(sample) => {
            let sample = sample.map(|count| (count, seed));
            let all: Vec<usize> =
                traffic.shift_sample(sample).unwrap_or_else(|| (1..nodes).collect());
            of_series(traffic, pattern, traffic.shifts(sample), |i| {
                (0u32..).zip(traffic.shift(all[i]))
            })
        }
        _ => of_steps(traffic, flows, seed),
    }
}

fn of_steps(traffic: &Traffic<'_>, flows: &PatternFlows, seed: u64) -> Finding {
    let PatternSteps { count, kinds, draw, .. } = PatternSteps::new(traffic, flows, seed);
    let pattern = flows.pattern.clone();
    if !pattern.is_series() {
        return of_pairs(traffic, pattern, &draw(0));
    }
    let series = traffic.drawn_steps(count, &draw);
    Finding { steps: kinds, ..of_series(traffic, pattern, series, |i| draw(i).into_iter()) }
}

fn of_pairs(traffic: &Traffic<'_>, pattern: Pattern, pairs: &[(u32, u32)]) -> Finding {
    let mut finding = of_loads(pattern, traffic.pairs(pairs));
    let flows = || pairs.iter().copied();
    finding.worst = worst(&finding.by_port, |port| through(traffic, flows(), port));
    finding
}

fn of_loads(pattern: Pattern, loads: Loads) -> Finding {
    let max = loads.max();
    let small = |load: u64| u32::try_from(load).unwrap_or(u32::MAX);
    Finding {
        pattern,
        maxima: vec![small(max)],
        bounds: vec![small(loads.bound)],
        steps: Vec::new(),
        max,
        bound: loads.bound,
        cut: loads.cut,
        is_by_bundles: loads.is_by_bundles,
        by_port: loads.by_port,
        ends: None,
        worst: Vec::new(),
        by_host: Vec::new(),
        undelivered: loads.undelivered,
        lost: loads.lost,
    }
}

/// Returns the results of a series; `draw` returns the flows of one of its patterns.
fn of_series<I: Iterator<Item = (u32, u32)>>(
    traffic: &Traffic<'_>,
    pattern: Pattern,
    series: Series,
    draw: impl Fn(usize) -> I,
) -> Finding {
    let (max, bound) = (series.max(), series.max_bound());
    let by_port: Vec<u64> = series.worst_by_port.iter().map(|worst| worst.load.into()).collect();
    let worst = worst(&by_port, |port| {
        through(traffic, draw(series.worst_by_port[port].pattern as usize), port)
    });
    Finding {
        pattern,
        maxima: series.maxima,
        bounds: series.bounds,
        steps: Vec::new(),
        max: max.into(),
        bound: bound.into(),
        cut: None,
        is_by_bundles: false,
        by_port,
        ends: None,
        worst,
        by_host: series.by_host,
        undelivered: series.undelivered,
        lost: Vec::new(),
    }
}

/// Returns the ports with the greatest loads. Among equal ones the first come first, so that the list is always the same.
fn worst(by_port: &[u64], flows: impl Fn(usize) -> Vec<(u32, u32)>) -> Vec<WorstPort> {
    let mut ports: Vec<usize> = (0..by_port.len()).filter(|&port| by_port[port] > 0).collect();
    ports.sort_by_key(|&port| (std::cmp::Reverse(by_port[port]), port));
    ports.truncate(WORST);
    let named = |port: usize| WorstPort { port, load: by_port[port], flows: flows(port) };
    ports.into_iter().map(named).collect()
}

/// Returns some of these flows that go through a port.
fn through(
    traffic: &Traffic<'_>,
    pairs: impl Iterator<Item = (u32, u32)>,
    port: usize,
) -> Vec<(u32, u32)> {
    let is_there = |&(from, to): &(u32, u32)| {
        let mut there = false;
        traffic.follow(from, to, |way| there |= way as usize == port) && there
    };
    pairs.filter(is_there).take(NAMED).collect()
}
