//! How long fair rates take, compared with plain progressive filling of the same flows, with the same threads, in the same
//! run. The rates of both are compared, too.

use std::time::Instant;

use dmodc::judge::rates::FairRates;
use dmodc::judge::risk::Traffic;
use dmodc::oracle::filling;
use dmodc::{Degradation, Dmodc, Live, Routing, parallel};
use serde_json::{Value, json};

use super::case::{BenchCase, BenchError};
use crate::machine;

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct RatesBench {
    /// The number of permutations.
    pub permutations: usize,
    /// How many of them are compared with plain filling.
    pub compare: usize,
}

/// How often permutations that are compared are computed in each way; the least time counts.
const ROUNDS: usize = 3;

/// How far a rate may be from that of plain filling, relative to its size.
const CLOSE: f64 = 1e-9;

/// Measures the rates of random permutations. Returns the row of results.
///
/// # Errors
/// If the fabric is too large for this machine, or the faults cannot be drawn.
pub fn rates(case: &BenchCase, settings: RatesBench) -> Result<Value, BenchError> {
    case.check_memory()?;
    let fabric = case.pgft.fabric(Default::default());
    let healthy = Degradation::none(&fabric);
    let routing = Routing::new(Live::new(&fabric, &healthy), &Default::default());
    let degraded = case.draw().degradation(&fabric)?;
    let live = Live::new(&fabric, &degraded);
    let (tables, _) = routing.route(live, &Dmodc)?;
    let ranking = routing.ranking(live);
    let traffic = Traffic::new(live, &ranking, routing.orders(), &tables);
    let fair = FairRates::new(&fabric, &traffic);
    let draw = |i| -> Vec<(u32, u32)> { (0u32..).zip(traffic.permutation(case.seed, i)).collect() };

    let start = Instant::now();
    let steps = fair.steps(settings.permutations, draw);
    let seconds = start.elapsed().as_secs_f64();
    let compared: Vec<Vec<(u32, u32)>> =
        (0..settings.compare.min(settings.permutations)).map(draw).collect();
    let (fast_ms, fast) = least(|| parallel::map(&compared, |pairs| fair.step(pairs).rates));
    let capacities = fair.speeds().capacities();
    let (naive_ms, naive) =
        least(|| parallel::map(&compared, |pairs| filling::rates(capacities, &fair.routes(pairs))));
    let is_right = fast.iter().zip(&naive).all(|(fast, naive)| {
        let fast: Vec<f64> = fast.iter().flatten().copied().collect();
        let is_close = |(a, b): (&f64, &f64)| (a - b).abs() <= CLOSE * b;
        fast.len() == naive.len() && fast.iter().zip(naive).all(is_close)
    });
    let permutations = steps.len();
    let mean = |of: fn(&dmodc::judge::rates::StepSummary) -> f64| {
        steps.iter().map(of).sum::<f64>() / permutations.max(1) as f64
    };
    Ok(json!({
        "preset": case.name,
        "nodes": traffic.nodes().len(),
        "switches": fabric.switches().len(),
        "cables_dead": case.cables,
        "switches_dead": case.switches,
        "threads": parallel::threads(),
        "permutations": permutations,
        "rates_ms": seconds * 1e3,
        "permutations_per_minute": permutations as f64 / seconds * 60.0,
        "compared": compared.len(),
        "compared_ms": fast_ms,
        "naive_ms": naive_ms,
        "ratio": (!compared.is_empty()).then_some(naive_ms / fast_ms),
        "rates_right": (!compared.is_empty()).then_some(is_right),
        "mean_rate": mean(|step| step.mean),
        "mean_completion": mean(|step| step.mean_completion),
        "peak_bytes": machine::peak(),
    }))
}

/// Returns the least time of some rounds of the same work in milliseconds, and its result.
fn least<T>(work: impl Fn() -> T) -> (f64, T) {
    let timed = || {
        let start = Instant::now();
        let product = work();
        (start.elapsed().as_secs_f64() * 1e3, product)
    };
    let first = timed();
    (1..ROUNDS).map(|_| timed()).fold(first, |best, next| if next.0 < best.0 { next } else { best })
}
