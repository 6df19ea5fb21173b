//! The numbers by which states of a fabric are compared.

use std::cmp::Ordering;

use crate::judge::risk::{AllToAllRisk, SeriesPattern, SeriesRisk, Tally};

/// The series of permutations that states are judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatePatterns {
    /// How many shifts. If the fabric has no more, these are all shifts.
    pub shifts: usize,
    /// How many random permutations; 0 for none.
    pub permutations: usize,
    /// The seed of both.
    pub seed: u64,
}

impl Default for StatePatterns {
    /// Returns up to 200 shifts, and no random permutations.
    fn default() -> Self {
        StatePatterns { shifts: 200, permutations: 0, seed: 1 }
    }
}

impl StatePatterns {
    pub(super) fn series(&self) -> Vec<SeriesPattern> {
        let &StatePatterns { shifts, permutations, seed } = self;
        let mut series = vec![SeriesPattern::Shifts { count: shifts, seed }];
        if permutations > 0 {
            series.push(SeriesPattern::Random { count: permutations, seed });
        }
        series
    }
}

/// The risk of a state of a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateRisk {
    /// The node pairs that should be delivered and are not: they are lost, they are cut off, or a node of them is out of
    /// service.
    pub undelivered: u64,
    /// All-to-all.
    pub all_to_all: AllToAllRisk,
    /// Shifts.
    pub shifts: SeriesRisk,
    /// Random permutations, if they were asked for.
    pub permutations: Option<SeriesRisk>,
}

impl StateRisk {
    /// Returns the risk of a state in which `pairs` node pairs should be delivered.
    pub(super) fn new(tally: &Tally, pairs: u64) -> Self {
        StateRisk {
            undelivered: pairs - tally.delivery.delivered,
            all_to_all: tally.all_to_all,
            shifts: tally.series[0],
            permutations: tally.series.get(1).copied(),
        }
    }

    /// Compares congestion: all-to-all, then the mean of the shifts.
    pub(super) fn compare_congestion(&self, other: &StateRisk) -> Ordering {
        let all_to_all = self.all_to_all.max.cmp(&other.all_to_all.max);
        all_to_all.then(self.shifts.mean().total_cmp(&other.shifts.mean()))
    }

    /// Compares pairs that are not delivered, then congestion.
    pub(super) fn compare(&self, other: &StateRisk) -> Ordering {
        self.undelivered.cmp(&other.undelivered).then(self.compare_congestion(other))
    }
}
