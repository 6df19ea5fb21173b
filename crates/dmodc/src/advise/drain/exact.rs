//! The largest safe set and its best order, by looking at every state that safe states lead to.
//!
//! # How
//! Layer k has the safe sets of k parts that can be reached from the present state through safe sets alone. Each is a set of
//! layer k − 1 with one part more. The last layer that is not empty has the largest sets.
//!
//! An order is a way through the layers. Of all ways to the last layer, the best one has the least greatest all-to-all risk,
//! then the least greatest mean of shifts, then the least sum of all-to-all risks, then the first parts of the list. A way
//! that is best in this sense need not be made of best ways: (3, 9) is better than (4, 1), but if both are continued by a
//! state of risk 4, the second becomes the better one. So there is one pass over all layers for each of the three, and
//! only the states that the pass before allows take part in the next.
//!
//! # Cost
//! One state for each set in the layers and each unsafe neighbour of one: at most 2ⁿ for n parts.

use std::collections::{BTreeSet, HashMap};

use super::super::risk::StateRisk;
use super::set::PartSet;
use super::states::States;
use crate::route::RouteError;

/// The safe sets that safe sets lead to, by size, with their risks.
pub(super) struct Layers {
    layers: Vec<HashMap<PartSet, StateRisk>>,
    length: usize,
}

impl Layers {
    /// Finds all layers. Returns `None` if these are too many states.
    pub(super) fn find(states: &mut States<'_>) -> Result<Option<Self>, RouteError> {
        let length = states.parts.len();
        let none = PartSet::none(length);
        let mut layers = vec![HashMap::from([(none, states.now)])];
        for _ in 0..length {
            let last = layers.last().expect("the present state is the first layer");
            let more = |set: &PartSet| -> Vec<PartSet> {
                (0..length).filter(|&part| !set.has(part)).map(|part| set.with(part)).collect()
            };
            let mut larger: BTreeSet<PartSet> = BTreeSet::new();
            for set in last.keys() {
                larger.extend(more(set));
                // Some of them may be unsafe for certain, but looking at all would take too long, too.
                if larger.len() > 2 * states.advice.most_states {
                    return Ok(None);
                }
            }
            let larger = states.not_certainly_unsafe(larger);
            if states.count() + larger.len() > states.advice.most_states {
                return Ok(None);
            }
            let risks = states.judge(&larger)?;
            let is_safe = |risk: &StateRisk| states.ceilings.exceeded(risk).is_none();
            let layer: HashMap<PartSet, StateRisk> =
                larger.into_iter().zip(risks).filter(|(_, risk)| is_safe(risk)).collect();
            if layer.is_empty() {
                break;
            }
            layers.push(layer);
        }
        Ok(Some(Layers { layers, length }))
    }

    /// Returns the best order of a largest set.
    pub(super) fn best_order(mut self) -> Vec<usize> {
        let none = PartSet::none(self.length);
        for cost in [all_to_all, shifts] {
            let best = self.to_go(cost, f64::max)[0][&none];
            self.layers[1..]
                .iter_mut()
                .for_each(|layer| layer.retain(|_, risk| cost(risk) <= best));
        }
        let to_go = self.to_go(all_to_all, |a, b| a + b);
        let (mut set, mut order) = (none, vec![]);
        for (at, layer) in self.layers.iter().enumerate().skip(1) {
            let left = |part: &usize| {
                let larger = set.with(*part);
                Some(all_to_all(layer.get(&larger)?) + to_go[at].get(&larger)?)
            };
            let is_best = |part: &usize| !set.has(*part) && left(part) == Some(to_go[at - 1][&set]);
            let next = (0..self.length).find(is_best).expect("some way has the least cost");
            set = set.with(next);
            order.push(next);
        }
        order
    }

    /// Returns the least cost of the states after each one, on a way to the last layer. Sums of whole numbers are exact.
    fn to_go(
        &self,
        cost: impl Fn(&StateRisk) -> f64,
        add: impl Fn(f64, f64) -> f64,
    ) -> Vec<HashMap<&PartSet, f64>> {
        let last = self.layers.last().expect("the present state is the first layer");
        let mut to_go = vec![last.keys().map(|set| (set, 0.0)).collect::<HashMap<_, _>>()];
        for pair in self.layers.windows(2).rev() {
            let after = to_go.last().expect("the last layer is there");
            let mut here: HashMap<&PartSet, f64> = HashMap::new();
            for set in pair[0].keys() {
                let parts = (0..self.length).filter(|&part| !set.has(part));
                let ways = parts.filter_map(|part| {
                    let larger = set.with(part);
                    Some(add(cost(pair[1].get(&larger)?), *after.get(&larger)?))
                });
                if let Some(least) = ways.min_by(f64::total_cmp) {
                    here.insert(set, least);
                }
            }
            to_go.push(here);
        }
        to_go.reverse();
        to_go
    }
}

fn all_to_all(risk: &StateRisk) -> f64 {
    risk.all_to_all.max as f64
}

fn shifts(risk: &StateRisk) -> f64 {
    risk.shifts.mean()
}
