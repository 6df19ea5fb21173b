//! A safe set and an order for lists that are too long for an exact search.
//!
//! The part whose failure leaves the least risk is taken out first, then the next one, and so on until none is safe. A part
//! that is not safe at some step is tried again at the end, because risk is not monotone. Of long lists, each step tries
//! the parts that looked best before, in batches, until one of a batch is safe.

use std::cmp::Ordering;

use super::super::risk::StateRisk;
use super::super::what_if::Present;
use super::DrainStep;
use super::set::PartSet;
use super::states::States;
use crate::route::RouteError;
use crate::router::{Change, Router};

/// The number of parts that are tried at once if the list is long.
const BATCH: usize = 32;

/// A part that may be taken out, with the risk of the last state in which that was tried.
struct Candidate {
    part: usize,
    last: Option<LastTry>,
}

/// The last try of a part.
struct LastTry {
    is_safe: bool,
    risk: StateRisk,
}

impl Candidate {
    /// Compares how promising candidates are: those that were safe first, then by risk, then as they are listed.
    fn compare(&self, other: &Candidate) -> Ordering {
        let by_risk = match (&self.last, &other.last) {
            (Some(a), Some(b)) => {
                b.is_safe.cmp(&a.is_safe).then_with(|| a.risk.compare_congestion(&b.risk))
            }
            _ => Ordering::Equal,
        };
        by_risk.then(self.part.cmp(&other.part))
    }
}

/// Takes out one part after the other. Returns the parts in their order, by their places in the list.
pub(super) fn order(states: &mut States<'_>) -> Result<Vec<usize>, RouteError> {
    let length = states.parts.len();
    let is_short = length * (length + 1) / 2 <= states.advice.most_states;
    let batch = if is_short { length } else { BATCH };
    let mut router = states.present.router().clone();
    let mut order = vec![];
    // What is unsafe for certain stays so.
    let is_open = |part: &usize| !states.certain.is_unsafe(&PartSet::of(length, [*part]));
    let mut candidates: Vec<Candidate> =
        (0..length).filter(is_open).map(|part| Candidate { part, last: None }).collect();
    loop {
        candidates.sort_by(Candidate::compare);
        // The first step tries all of them, so that later ones know where to begin.
        let batch = if order.is_empty() { length.max(1) } else { batch };
        let Some(step) = next(states, &router, &mut candidates, batch)? else {
            return Ok(order);
        };
        candidates.retain(|candidate| candidate.part != step);
        router.apply(&[Change::Dies(states.parts[step])])?;
        order.push(step);
    }
}

/// Returns the best part of the first batch that has a safe one.
fn next(
    states: &mut States<'_>,
    router: &Router,
    candidates: &mut [Candidate],
    batch: usize,
) -> Result<Option<usize>, RouteError> {
    let here = Present::new(router, &states.advice.patterns.series());
    for tried in candidates.chunks_mut(batch) {
        let change = |candidate: &Candidate| vec![Change::Dies(states.parts[candidate.part])];
        let changes: Vec<Vec<Change>> = tried.iter().map(change).collect();
        let tallies = states.advice.attempts(&here, &changes)?;
        states.others += tallies.len();
        for (candidate, tally) in tried.iter_mut().zip(&tallies) {
            let risk = StateRisk::new(tally, states.pairs());
            let is_safe = states.ceilings.exceeded(&risk).is_none();
            candidate.last = Some(LastTry { is_safe, risk });
        }
        let is_safe = |candidate: &&Candidate| candidate.last.as_ref().is_some_and(|l| l.is_safe);
        if let Some(best) = tried.iter().filter(is_safe).min_by(|a, b| a.compare(b)) {
            return Ok(Some(best.part));
        }
    }
    Ok(None)
}

/// Returns the steps of an order, with the risk after each.
pub(super) fn steps(
    states: &mut States<'_>,
    order: &[usize],
) -> Result<Vec<DrainStep>, RouteError> {
    let mut out = PartSet::none(states.parts.len());
    let sets: Vec<PartSet> = order
        .iter()
        .map(|&part| {
            out = out.with(part);
            out.clone()
        })
        .collect();
    let risks = states.judge(&sets)?;
    let step = |(&part, risk)| DrainStep { part: states.parts[part], risk };
    Ok(order.iter().zip(risks).map(step).collect())
}
