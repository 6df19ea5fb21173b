//! States in which parts of a list are out of service.

use std::collections::{BTreeSet, HashMap};

use super::super::attempts::Advice;
use super::super::risk::StateRisk;
use super::super::what_if::Present;
use super::certain::Certain;
use super::set::PartSet;
use super::{Ceilings, DrainLimits};
use crate::fabric::Part;
use crate::parallel;
use crate::route::RouteError;
use crate::router::Change;

/// Judges states, each once.
pub(super) struct States<'a> {
    pub(super) present: &'a Present<'a>,
    pub(super) parts: &'a [Part],
    pub(super) advice: &'a Advice<'a>,
    /// The risk of the present state.
    pub(super) now: StateRisk,
    pub(super) ceilings: Ceilings,
    pub(super) certain: Certain<'a>,
    known: HashMap<PartSet, StateRisk>,
    /// The number of states that were judged elsewhere.
    pub(super) others: usize,
}

impl<'a> States<'a> {
    pub(super) fn new(
        present: &'a Present<'a>,
        parts: &'a [Part],
        limits: &DrainLimits,
        advice: &'a Advice<'a>,
    ) -> Self {
        let now = StateRisk::new(present.tally(), present.tally().delivery.pairs);
        let ceilings = Ceilings::new(limits, &now);
        let certain = Certain::new(present.router(), parts, ceilings);
        let known = HashMap::new();
        States { present, parts, advice, now, ceilings, certain, known, others: 0 }
    }

    /// Returns how many states were judged.
    pub(super) fn count(&self) -> usize {
        self.known.len() + self.others
    }

    /// Returns the node pairs of the present state.
    pub(super) fn pairs(&self) -> u64 {
        self.present.tally().delivery.pairs
    }

    /// Returns the sets that are not unsafe for certain.
    pub(super) fn not_certainly_unsafe(&self, sets: BTreeSet<PartSet>) -> Vec<PartSet> {
        let kept = |set: PartSet| (!self.certain.is_unsafe(&set)).then_some(set);
        parallel::map(sets, kept).into_iter().flatten().collect()
    }

    /// Returns the risks of the states in which these parts are out of service.
    pub(super) fn judge(&mut self, sets: &[PartSet]) -> Result<Vec<StateRisk>, RouteError> {
        let unknown: Vec<&PartSet> =
            sets.iter().filter(|set| !self.known.contains_key(*set)).collect();
        let changes: Vec<Vec<Change>> = unknown
            .iter()
            .map(|set| set.parts().map(|part| Change::Dies(self.parts[part])).collect())
            .collect();
        let tallies = self.advice.attempts(self.present, &changes)?;
        let pairs = self.pairs();
        for (set, tally) in unknown.into_iter().zip(&tallies) {
            self.known.insert(set.clone(), StateRisk::new(tally, pairs));
        }
        Ok(sets.iter().map(|set| self.known[set]).collect())
    }
}
