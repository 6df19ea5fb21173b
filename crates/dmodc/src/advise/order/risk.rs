//! The risk of the traffic of a job, for an order of its hosts.
//!
//! Hosts send from each rail to the same rail of another host, and all rails send at once.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

use super::Placement;
use crate::id::NodeIndex;
use crate::judge::risk::{Step, StepKind, Traffic, recursive_doubling, ring};
use crate::rails::RailHost;

/// With more hosts than this, shifts are sampled.
const ALL_SHIFTS: usize = 4096;

/// The size of the sample.
const SAMPLE: usize = 1024;

/// A risk and the lower bound that no routing can go below.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PatternRisk {
    /// The number of flows on the worst port.
    pub risk: f64,
    /// Its lower bound.
    pub bound: f64,
}

/// How many shifts were measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShiftCount {
    /// The number of shifts that were measured.
    pub measured: usize,
    /// The number of all shifts.
    pub of: usize,
}

/// The risk of the traffic of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JobRisk {
    /// Every host sends to the next one, and the last to the first.
    pub ring: PatternRisk,
    /// The mean over all shifts, or over a sample.
    pub shifts: PatternRisk,
    /// The worst step of recursive doubling.
    pub doubling: PatternRisk,
    /// Every host sends to every other host. The order does not matter. With several rails the bound is that of one rail.
    pub all_to_all: PatternRisk,
    /// How many shifts were measured.
    pub shift_count: ShiftCount,
    /// Pairs of nodes of one rail that the tables do not deliver.
    pub undelivered: u64,
}

impl JobRisk {
    /// Compares two orders of the same hosts: by ring, then by shifts, then by recursive doubling.
    pub fn compare(&self, other: &JobRisk) -> Ordering {
        let key = |risk: &JobRisk| [risk.ring.risk, risk.shifts.risk, risk.doubling.risk];
        let (own, other) = (key(self), key(other));
        let pairs = own.iter().zip(&other);
        pairs.map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}

impl Placement<'_> {
    /// Measures the traffic of a job whose hosts have this order. O(hosts² × rails × hops) at most.
    pub fn risk(&self, hosts: &[&RailHost<'_>]) -> JobRisk {
        let rails = self.by_rail(hosts);
        let ranges = ranges(&rails);
        let traffic = self.traffic(rails.concat());
        let pairs: Vec<(u32, u32)> = ranges.iter().cloned().flat_map(ring).collect();
        let ring = traffic.pairs(&pairs);
        let doubling = traffic.steps(&steps(&ranges));
        let longest = ranges.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        let sample = (longest > ALL_SHIFTS).then_some((SAMPLE, 1));
        let shifts = traffic.shifts_within(&ranges, sample);
        let all_to_all = self.all_to_all(&rails);
        JobRisk {
            ring: PatternRisk { risk: ring.max() as f64, bound: ring.bound as f64 },
            shifts: PatternRisk { risk: shifts.mean(), bound: shifts.mean_bound() },
            doubling: PatternRisk {
                risk: doubling.max().into(),
                bound: doubling.max_bound().into(),
            },
            all_to_all: PatternRisk {
                risk: all_to_all.by_port.iter().copied().max().unwrap_or(0) as f64,
                bound: all_to_all.bound as f64,
            },
            shift_count: ShiftCount {
                measured: shifts.maxima.len(),
                of: longest.saturating_sub(1),
            },
            undelivered: all_to_all.undelivered,
        }
    }

    pub(super) fn traffic(&self, nodes: Vec<NodeIndex>) -> Traffic<'_> {
        Traffic::among(self.live, self.ranking, self.orders, self.tables, nodes)
    }

    /// Returns the loads if every host sends to every other, rail by rail.
    pub(super) fn all_to_all(&self, rails: &[Vec<NodeIndex>]) -> RailLoads {
        let mut sum = RailLoads::default();
        for nodes in rails {
            let loads = self.traffic(nodes.clone()).all_to_all();
            sum.by_port.resize(loads.by_port.len(), 0);
            for (sum, load) in sum.by_port.iter_mut().zip(&loads.by_port) {
                *sum += load;
            }
            sum.bound = sum.bound.max(loads.bound);
            sum.undelivered += loads.undelivered;
        }
        sum
    }
}

/// The loads of several rails together.
#[derive(Default)]
pub(super) struct RailLoads {
    /// Flows by port; empty if there are no rails.
    pub(super) by_port: Vec<u64>,
    /// The greatest lower bound of one rail.
    bound: u64,
    undelivered: u64,
}

/// Returns the positions of each rail, if all rails are put one after the other.
fn ranges(rails: &[Vec<NodeIndex>]) -> Vec<Range<u32>> {
    let mut start = 0;
    let range = |nodes: &Vec<NodeIndex>| {
        let range = start..start + nodes.len() as u32;
        start = range.end;
        range
    };
    rails.iter().map(range).collect()
}

/// Returns the steps of recursive doubling of all rails at once.
fn steps(ranges: &[Range<u32>]) -> Vec<Step> {
    let mut by_kind: BTreeMap<StepKind, Vec<(u32, u32)>> = BTreeMap::new();
    for step in ranges.iter().cloned().flat_map(recursive_doubling) {
        by_kind.entry(step.kind).or_default().extend(step.pairs);
    }
    by_kind.into_iter().map(|(kind, pairs)| Step { kind, pairs, parts: 1 }).collect()
}
