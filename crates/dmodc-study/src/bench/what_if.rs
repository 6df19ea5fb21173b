//! How long single faults take, compared with routing and judging the fabric from the beginning, on the same threads, in
//! the same run. The numbers of both are compared, too.

use std::time::Instant;

use dmodc::advise::Present;
use dmodc::judge::risk::AllToAllRisk;
use dmodc::judge::{self, Delivery, Diff};
use dmodc::{Degradation, Live, Random, Router, parallel};
use serde_json::{Value, json};

use super::case::{BenchCase, BenchError};
use crate::machine;
use crate::study::Shard;
use crate::what_if::{DoubleFaults, FaultSurvey, Faults, NumberedOutcome};

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct WhatIfBench {
    /// How many faults are also tried from the beginning.
    pub whole: usize,
    /// How many faults are tried: all, or a sample.
    pub sample: Option<usize>,
}

/// Tries single faults of a fabric, and some of them also from the beginning. Returns the row of results.
///
/// # Errors
/// If the fabric is too large for this machine, or the faults cannot be drawn.
pub fn what_if(case: &BenchCase, settings: WhatIfBench) -> Result<Value, BenchError> {
    case.check_memory()?;
    let router = router(case)?;
    let start = Instant::now();
    let present = Present::new(&router, &[]);
    let prepared_ms = start.elapsed().as_secs_f64() * 1e3;
    let mut parts = present.single_faults(Default::default());
    let all = parts.len();
    if let Some(sample) = settings.sample.filter(|&sample| sample < all) {
        let mut drawn = Random::new(case.seed, 0).sample(all, sample);
        drawn.sort_unstable();
        parts = drawn.into_iter().map(|at| parts[at]).collect();
    }
    let faults = Faults::new(parts, DoubleFaults::None).map_err(BenchError::TooManyFaults)?;
    let survey = FaultSurvey::new(&present, &faults, "bench");
    let start = Instant::now();
    let outcomes = survey
        .run(Shard::WHOLE, None, |_| std::ops::ControlFlow::Continue(()))
        .map_err(BenchError::Survey)?;
    let survey_ms = start.elapsed().as_secs_f64() * 1e3;
    let mut compared =
        Random::new(case.seed, 1).sample(faults.len(), settings.whole.min(faults.len()));
    compared.sort_unstable();
    let (mut whole_ms, mut changes_ms, mut is_right) = (0.0, 0.0, true);
    for &at in &compared {
        let whole = from_the_beginning(&router, &faults, at)?;
        whole_ms += whole.judged_ms;
        changes_ms += whole.changes_ms;
        is_right &= whole.equals(&outcomes[at]);
    }
    let each = survey_ms / faults.len().max(1) as f64;
    let [whole_each, changes_each] =
        [whole_ms, changes_ms].map(|ms| ms / compared.len().max(1) as f64);
    Ok(json!({
        "preset": case.name,
        "nodes": router.fabric().nodes().len(),
        "switches": router.fabric().switches().len(),
        "cables_dead": case.cables,
        "switches_dead": case.switches,
        "threads": parallel::threads(),
        "single_faults": all,
        "faults": faults.len(),
        "prepare_ms": prepared_ms,
        "survey_ms": survey_ms,
        "fault_ms": each,
        "compared": compared.len(),
        "whole_ms": whole_each,
        "ratio": whole_each / each,
        "changes_ms": changes_each,
        "ratio_with_changes": (whole_each + changes_each) / each,
        "right": is_right,
        "peak_bytes": machine::peak(),
    }))
}

fn router(case: &BenchCase) -> Result<Router, BenchError> {
    let fabric = case.fabric()?;
    let degraded = case.draw().degradation(&fabric)?;
    let mut router = Router::of(fabric)?;
    router.reroute(&degraded)?;
    Ok(router)
}

/// The numbers of a fault, found by routing and judging the whole fabric: all numbers that a survey has.
struct WholeNumbers {
    delivery: Delivery,
    all_to_all: AllToAllRisk,
    diff: Diff,
    has_dead_switch: bool,
    /// The time of routing, counting all-to-all and the pairs that do not arrive.
    judged_ms: f64,
    /// The time of finding out which entries and pairs change.
    changes_ms: f64,
}

impl WholeNumbers {
    fn equals(&self, (_, outcome): &NumberedOutcome) -> bool {
        (outcome.lost, outcome.cut_off) == (self.delivery.lost, self.delivery.cut_off)
            && (outcome.a2a, outcome.a2a_bound) == (self.all_to_all.max, self.all_to_all.bound)
            && outcome.pairs == self.diff.pairs
            // A difference of tables counts entries for a dead switch, too; a survey does not.
            && (self.has_dead_switch
                || (outcome.entries, outcome.blocks, outcome.switches)
                    == (self.diff.changes.entries, self.diff.changes.blocks, self.diff.changes.switches))
    }
}

/// Routes and judges the fabric with a fault from the beginning, with all threads: the tables, the pairs that arrive,
/// all-to-all, and what changes in the tables.
fn from_the_beginning(
    router: &Router,
    faults: &Faults,
    at: usize,
) -> Result<WholeNumbers, BenchError> {
    let start = Instant::now();
    let mut now: Degradation = router.degradation().clone();
    faults.get(at).parts().into_iter().for_each(|part| now.set(part, true));
    let live = Live::new(router.fabric(), &now);
    let (tables, _) = router.routing().route(live, &**router.engine())?;
    let ranking = router.routing().ranking(live);
    let orders = router.routing().orders();
    let traffic = judge::risk::Traffic::new(live, &ranking, orders, &tables);
    let loads = traffic.all_to_all();
    let nodes = traffic.nodes().iter().copied();
    let delivery = Delivery::among(live, nodes, loads.undelivered);
    let judged_ms = start.elapsed().as_secs_f64() * 1e3;
    let start = Instant::now();
    let diff = judge::diff(live, &ranking, router.tables(), &tables);
    Ok(WholeNumbers {
        judged_ms,
        changes_ms: start.elapsed().as_secs_f64() * 1e3,
        diff,
        has_dead_switch: now.dead_switches().next().is_some(),
        delivery,
        all_to_all: AllToAllRisk { max: loads.max(), worst: None, bound: loads.bound },
    })
}
