//! Loads: the results of one pattern, and of a series of patterns.

use super::Cut;
use crate::id::{NodeIndex, SwitchIndex};

/// A pair of a switch and a node that is not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostPair {
    /// The switch that the sources sit on.
    pub from: SwitchIndex,
    /// The destination.
    pub to: NodeIndex,
}

/// The loads of one pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loads {
    /// Flows on each of [`Traffic::ports`](super::Traffic::ports).
    pub by_port: Vec<u64>,
    /// The number of their destinations; empty if it was not counted.
    pub destinations: Vec<u32>,
    /// A lower bound: no routing of these pairs has a lower maximum.
    pub bound: u64,
    /// The cut that gives the bound.
    pub cut: Option<Cut>,
    /// Whether the bound needs that all flows from one switch to one node stay together, as they do with any tables.
    /// Otherwise it also holds if each flow has a path of its own.
    pub is_by_bundles: bool,
    /// Flows that do not arrive.
    pub undelivered: u64,
    /// The first of them.
    pub lost: Vec<LostPair>,
}

impl Loads {
    /// Returns the greatest load: the congestion risk.
    pub fn max(&self) -> u64 {
        self.by_port.iter().copied().max().unwrap_or(0)
    }

    /// Returns the mean over all directed ports between live switches.
    pub fn mean(&self) -> f64 {
        let sum: u64 = self.by_port.iter().sum();
        sum as f64 / self.by_port.len().max(1) as f64
    }
}

/// The risk of a host: the number of flows that share a port with the slowest of its own, including that one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostRisk {
    /// The sum over all patterns of the series.
    pub sum: u64,
    /// The greatest of all patterns.
    pub max: u32,
}

/// The greatest load of a port in a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorstLoad {
    /// The number of flows.
    pub load: u32,
    /// The first pattern of the series with this load.
    pub pattern: u32,
}

impl WorstLoad {
    /// Takes another load if it is greater; of equal ones the first stays.
    #[inline]
    pub(super) fn take(&mut self, load: u32, pattern: u32) {
        if load > self.load {
            *self = WorstLoad { load, pattern };
        }
    }
}

/// The loads of many patterns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    /// The greatest load of each pattern.
    pub maxima: Vec<u32>,
    /// The lower bound of each pattern.
    pub bounds: Vec<u32>,
    /// The greatest load of each of [`Traffic::ports`](super::Traffic::ports) over all patterns, and the first pattern that has it.
    pub worst_by_port: Vec<WorstLoad>,
    /// For each of [`Traffic::hosts`](super::Traffic::hosts); only where flows were followed one by one.
    pub by_host: Vec<HostRisk>,
    /// Flows that do not arrive, over all patterns.
    pub undelivered: u64,
}

impl Series {
    /// Returns the greatest maximum.
    pub fn max(&self) -> u32 {
        self.maxima.iter().copied().max().unwrap_or(0)
    }

    /// Returns the least maximum.
    pub fn min(&self) -> u32 {
        self.maxima.iter().copied().min().unwrap_or(0)
    }

    /// Returns the mean of the maxima.
    pub fn mean(&self) -> f64 {
        mean(&self.maxima)
    }

    /// Returns the median of the maxima: the lower of two in the middle.
    pub fn median(&self) -> u32 {
        median(&self.maxima)
    }

    /// Returns the mean of the bounds, which the [mean](Series::mean) is never below.
    pub fn mean_bound(&self) -> f64 {
        mean(&self.bounds)
    }

    /// Returns the median of the bounds, which the [median](Series::median) is never below.
    pub fn median_bound(&self) -> u32 {
        median(&self.bounds)
    }

    /// Returns the greatest bound, which the [maximum](Series::max) is never below.
    pub fn max_bound(&self) -> u32 {
        self.bounds.iter().copied().max().unwrap_or(0)
    }
}

fn mean(values: &[u32]) -> f64 {
    let sum: u64 = values.iter().map(|&value| u64::from(value)).sum();
    sum as f64 / values.len().max(1) as f64
}

fn median(values: &[u32]) -> u32 {
    let mut values = values.to_vec();
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

/// Adds numbers to sums, place by place.
pub(super) fn add<T: Wrapping>(sums: &mut [T], parts: &[T]) {
    for (sum, &part) in sums.iter_mut().zip(parts) {
        *sum = sum.wrapping(part);
    }
}

/// Addition that may wrap: parts of a demand may be negative, though their sum is not.
pub(super) trait Wrapping: Copy {
    fn wrapping(self, other: Self) -> Self;
}

impl Wrapping for u64 {
    fn wrapping(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

impl Wrapping for u32 {
    fn wrapping(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}
