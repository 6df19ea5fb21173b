//! The numbers of a judgement.

use super::super::loads::LostPair;
use super::super::paths::DirectedPort;
use crate::judge::diff::TableChanges;
use crate::judge::verdict::Delivery;

/// The risk of all-to-all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllToAllRisk {
    /// The flows on the port with the most.
    pub max: u64,
    /// That port; of several the first. `None` if no flow passes any port.
    pub worst: Option<DirectedPort>,
    /// The lower bound that no routing goes below.
    pub bound: u64,
}

/// The risk of a series of permutations: the greatest load of a port in each, over all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeriesRisk {
    /// How many permutations there are.
    pub permutations: u32,
    /// The sum of the greatest loads.
    pub sum: u64,
    /// The least of them.
    pub min: u32,
    /// Their median: the lower of two in the middle.
    pub median: u32,
    /// The greatest of them.
    pub max: u32,
    /// The sum of the lower bounds.
    pub bound_sum: u64,
}

impl SeriesRisk {
    /// Returns the mean of the greatest loads.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / f64::from(self.permutations.max(1))
    }

    /// Returns the mean of the lower bounds.
    pub fn mean_bound(&self) -> f64 {
        self.bound_sum as f64 / f64::from(self.permutations.max(1))
    }
}

/// The judgement of some tables in some state of a fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many pairs are delivered, lost and cut off.
    pub delivery: Delivery,
    /// The risk of all-to-all.
    pub all_to_all: AllToAllRisk,
    /// The risk of each series that was asked for.
    pub series: Vec<SeriesRisk>,
}

/// What a change of the fabric does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// The judgement after it.
    pub after: Tally,
    /// The entries, blocks and switches that change. Entries of dead switches and for dead destinations do not count.
    pub changes: TableChanges,
    /// The ordered pairs of nodes whose route changes.
    pub moved_pairs: u64,
    /// The first pairs that are not delivered after it.
    pub undelivered: Vec<LostPair>,
}
