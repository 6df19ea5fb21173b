//! How long judging takes, compared with the naive way: every pair is followed hop by hop, with the same threads, in the
//! same run. The counts of both are compared, too.

use std::time::Instant;

use dmodc::judge::risk::Traffic;
use dmodc::{Degradation, Dmodc, Live, Routing, parallel};
use serde_json::{Value, json};

use super::case::{BenchCase, BenchError};
use crate::machine;

/// The number of permutations that are followed in each round.
const PERMUTATIONS: usize = 50;

/// Measures all-to-all, permutations and shifts; the first two are compared with the naive way. For all-to-all only if
/// `naive` is set, because it takes long. Returns the row of results.
///
/// # Errors
/// If the fabric is too large for this machine, or the faults cannot be drawn.
pub fn analyze(case: &BenchCase, rounds: usize, naive: bool) -> Result<Value, BenchError> {
    case.check_memory()?;
    let fabric = case.fabric()?;
    let healthy = Degradation::none(&fabric);
    let routing = Routing::new(Live::new(&fabric, &healthy), &Default::default());
    let degraded = case.draw().degradation(&fabric)?;
    let live = Live::new(&fabric, &degraded);
    let (tables, _) = routing.route(live, &Dmodc)?;
    let ranking = routing.ranking(live);
    let traffic = Traffic::new(live, &ranking, routing.orders(), &tables);

    let (all_ms, all) = least(rounds, || traffic.all_to_all());
    let (sources_ms, _) = least(1, || traffic.sources());
    let naive_all = naive.then(|| least(1, || all_to_all_one_by_one(&traffic)));
    let permutations: Vec<Vec<u32>> =
        (0..PERMUTATIONS).map(|i| traffic.permutation(case.seed, i)).collect();
    let (walks_ms, walks) = least(rounds, || traffic.maxima(&permutations));
    let (naive_walks_ms, naive_walks) =
        least(rounds, || permutations_one_by_one(&traffic, &permutations));
    let (series_ms, series) = least(rounds, || traffic.permutations(PERMUTATIONS, case.seed));
    let (shifts_ms, shifts) = least(1, || traffic.shifts(None));
    let nodes = traffic.nodes().len();
    let paths = (PERMUTATIONS * nodes) as f64;
    let threads = parallel::threads();
    let per_path = |ms: f64| ms * 1e6 / paths * threads as f64;
    Ok(json!({
        "preset": case.name,
        "nodes": nodes,
        "switches": fabric.switches().len(),
        "cables_dead": case.cables,
        "switches_dead": case.switches,
        "threads": threads,
        "a2a_ms": all_ms,
        "a2a_naive_ms": naive_all.as_ref().map(|(ms, _)| ms),
        "a2a_ratio": naive_all.as_ref().map(|(ms, _)| ms / all_ms),
        "a2a_right": naive_all.as_ref().map(|(_, loads)| *loads == all.by_port),
        "a2a_max": all.max(),
        "a2a_bound": all.bound,
        "sources_ms": sources_ms,
        "permutations": PERMUTATIONS,
        "rp_ms": walks_ms,
        "rp_naive_ms": naive_walks_ms,
        "rp_ratio": naive_walks_ms / walks_ms,
        "rp_right": walks == naive_walks && walks == series.maxima,
        "rp_ns_per_path_and_core": per_path(walks_ms),
        "rp_naive_ns_per_path_and_core": per_path(naive_walks_ms),
        "rp_whole_ms": series_ms,
        "shifts": shifts.maxima.len(),
        "sp_ms": shifts_ms,
        "sp_right": first_shifts_are_right(&traffic, &shifts.maxima),
        "sp_max": shifts.max(),
        "peak_bytes": machine::peak(),
    }))
}

/// Returns the least time of some rounds, in milliseconds, and the result of that round.
fn least<T>(rounds: usize, mut work: impl FnMut() -> T) -> (f64, T) {
    let mut timed = || {
        let start = Instant::now();
        let product = work();
        (start.elapsed().as_secs_f64() * 1e3, product)
    };
    let mut best = timed();
    for _ in 1..rounds {
        let next = timed();
        if next.0 < best.0 {
            best = next;
        }
    }
    best
}

/// Returns the loads of all-to-all, with every pair followed one after the other.
fn all_to_all_one_by_one(traffic: &Traffic<'_>) -> Vec<u64> {
    let nodes = traffic.nodes().len() as u32;
    let ports = traffic.ports().len();
    let count = |loads: &mut Vec<u64>, from: u32| {
        for to in (0..nodes).filter(|&to| to != from) {
            follow(traffic, from, to, loads);
        }
    };
    let mut sum = vec![0; ports];
    for part in parallel::fold(0..nodes, || vec![0; ports], count) {
        sum.iter_mut().zip(part).for_each(|(sum, loads)| *sum += loads);
    }
    sum
}

/// Returns the maxima of permutations whose flows are followed one after the other.
fn permutations_one_by_one(traffic: &Traffic<'_>, permutations: &[Vec<u32>]) -> Vec<u32> {
    parallel::map(permutations, |permutation| max_one_by_one(traffic, permutation))
}

fn first_shifts_are_right(traffic: &Traffic<'_>, maxima: &[u32]) -> bool {
    let is_right = |(i, max): (usize, &u32)| max_one_by_one(traffic, &traffic.shift(i + 1)) == *max;
    maxima.iter().enumerate().take(200).all(is_right)
}

fn max_one_by_one(traffic: &Traffic<'_>, permutation: &[u32]) -> u32 {
    let mut loads = vec![0; traffic.ports().len()];
    for (from, &to) in permutation.iter().enumerate().filter(|(from, to)| *from != **to as usize) {
        follow(traffic, from as u32, to, &mut loads);
    }
    loads.into_iter().max().unwrap_or(0) as u32
}

/// Follows one flow, hop by hop. Our tables deliver whatever they send over a port.
fn follow(traffic: &Traffic<'_>, from: u32, to: u32, loads: &mut [u64]) {
    traffic.follow(from, to, |port| loads[port as usize] += 1);
}
