//! Max-min fair rates and completion times against plain progressive filling, and what makes rates fair.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Case, Description, Outcomes, for_seeds, pgft, random_fabric, route, spoil};
use dmodc::fabric::Rate;
use dmodc::judge::rates::{FairRates, StepRates};
use dmodc::judge::risk::{Traffic, recursive_doubling};
use dmodc::oracle::filling;
use dmodc::{Fabric, ForwardingTables, Live, Random, Routing};

/// How far rates and times may be from those of the plain way, relative to their size.
const CLOSE: f64 = 1e-9;

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (at, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= CLOSE * b.abs(), "{a} instead of {b} for flow {at}");
    }
}

/// Flows with their links, found by following one route at a time.
fn routes(rates: &FairRates<'_>, pairs: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let (traffic, speeds) = (rates.traffic(), rates.speeds());
    let route = |&(from, to): &(u32, u32)| {
        let mut links = Vec::new();
        let arrives = traffic.follow(from, to, |port| links.push(port));
        links.extend([speeds.sent_by(from), speeds.received_by(to)]);
        (arrives && from != to).then_some(links)
    };
    pairs.iter().filter_map(route).collect()
}

/// No link carries more than its speed, and every flow has a full link on which no flow is faster.
fn assert_fair(capacities: &[f64], routes: &[Vec<u32>], rates: &[f64]) {
    let mut used = vec![0.0; capacities.len()];
    let mut fastest = vec![0.0f64; capacities.len()];
    let mut count = vec![0.0; capacities.len()];
    for (route, &rate) in routes.iter().zip(rates) {
        for &link in route {
            used[link as usize] += rate;
            count[link as usize] += 1.0;
            fastest[link as usize] = fastest[link as usize].max(rate);
        }
    }
    for (used, capacity) in used.iter().zip(capacities) {
        assert!(*used <= capacity * (1.0 + CLOSE), "{used} over a link of {capacity}");
    }
    for (route, &rate) in routes.iter().zip(rates) {
        let is_bottleneck = |&&link: &&u32| {
            let at = link as usize;
            used[at] >= capacities[at] * (1.0 - CLOSE) && rate >= fastest[at] * (1.0 - CLOSE)
        };
        let bottleneck = route.iter().find(is_bottleneck);
        let &link = bottleneck.unwrap_or_else(|| panic!("no bottleneck for a flow of {rate}"));
        // Nobody on it is faster, so the flow has at least an equal part; it has no more than the link's slower flows leave.
        let equal = capacities[link as usize] / count[link as usize];
        assert!(rate >= equal * (1.0 - CLOSE), "{rate} is less than an equal part {equal}");
        let least = route.iter().map(|&link| capacities[link as usize] / count[link as usize]);
        let least = least.fold(f64::INFINITY, f64::min);
        assert!(rate >= least * (1.0 - CLOSE), "a flow has an equal part of its worst link");
    }
}

fn assert_step(rates: &FairRates<'_>, pairs: &[(u32, u32)]) -> StepRates {
    let capacities = rates.speeds().capacities();
    let routes = routes(rates, pairs);
    assert_eq!(rates.routes(pairs).len(), routes.len());
    let step = rates.step(pairs);
    let found: Vec<f64> = step.rates.iter().flatten().copied().collect();
    let senders = pairs.iter().filter(|(from, to)| from != to).count();
    assert_eq!(step.undelivered as usize, senders - found.len());
    assert_close(&found, &filling::rates(capacities, &routes));
    assert_fair(capacities, &routes, &found);
    // Equal messages arrive after 1/rate: no rate changes before.
    let times: Vec<f64> = found.iter().map(|rate| 1.0 / rate).collect();
    assert_close(&times, &filling::completion_times(capacities, &routes));
    step
}

/// The same fabric with cables of several speeds, some of them unknown.
fn with_speeds(random: &mut Random, fabric: &Fabric) -> Fabric {
    let speeds = ["4xHDR", "4xNDR", "4xNDR", "4xEDR", "2xHDR", "4x???", "4xFDR"];
    let known = 1 + random.below(speeds.len() as u64);
    let rate = || speeds[random.below(known) as usize].parse::<Rate>().unwrap();
    Description::of(fabric).finish_with(rate)
}

/// Pairs of all kinds: a permutation, a bisection, a shift, everybody to everybody, and any list.
fn random_pairs(random: &mut Random, traffic: &Traffic<'_>) -> Vec<(u32, u32)> {
    let nodes = traffic.nodes().len() as u64;
    let listed = |to: Vec<u32>| (0u32..).zip(to).collect();
    match random.below(5) {
        0 => listed(traffic.permutation(random.below(99), 0)),
        1 => listed(traffic.bisection(random.below(99), 0)),
        2 => listed(traffic.shift(random.below(nodes) as usize)),
        3 => {
            let all = 0..nodes.min(12) as u32;
            all.clone().flat_map(|from| all.clone().map(move |to| (from, to))).collect()
        }
        _ => {
            let mut one = || random.below(nodes) as u32;
            (0..2 * nodes).map(|_| (one(), one())).collect()
        }
    }
}

#[test]
fn rates_and_times_are_those_of_plain_filling() {
    let outcomes = Outcomes::<4>::new();
    for_seeds(400, |random| {
        let mut fabric = random_fabric(random, 60);
        if random.below(2) == 0 {
            fabric = with_speeds(random, &fabric);
        }
        let case = Case::degraded(random, &fabric);
        let routing = case.routing();
        let mut tables = route(&routing, case.now());
        if random.below(3) == 0 {
            spoil(random, case.now(), &mut tables);
        }
        let ranking = routing.ranking(case.now());
        let traffic = Traffic::new(case.now(), &ranking, routing.orders(), &tables);
        if traffic.nodes().is_empty() {
            return;
        }
        let rates = FairRates::new(&fabric, &traffic);
        let pairs = random_pairs(random, &traffic);
        let step = assert_step(&rates, &pairs);
        let rate = |wanted: &dyn Fn(f64) -> bool| step.rates.iter().flatten().any(|&r| wanted(r));
        outcomes.count([
            step.undelivered > 0,
            rate(&|rate| rate < 0.4),
            !rates.speeds().are_equal() && rate(&|rate| rate > 1.1),
            step.summary().mean_completion > 1.5,
        ]);
    });
    outcomes.assert_each_more_than(10);
}

fn traffic_of<'a>(live: Live<'a>, routing: &Routing, tables: &'a ForwardingTables) -> Traffic<'a> {
    Traffic::new(live, &routing.ranking(live), routing.orders(), tables)
}

/// Random permutations of a larger fabric with faults.
#[test]
fn a_larger_fabric_has_the_same_rates() {
    let fabric = pgft("3; 6,6,6; 1,3,6; 1,1,1");
    let case = Case::degraded(&mut Random::new(3, 0), &fabric);
    let routing = case.routing();
    let tables = route(&routing, case.now());
    let traffic = traffic_of(case.now(), &routing, &tables);
    let rates = FairRates::new(&fabric, &traffic);
    for i in 0..4 {
        let pairs: Vec<(u32, u32)> = (0u32..).zip(traffic.permutation(1, i)).collect();
        let step = assert_step(&rates, &pairs);
        assert!(step.summary().mean > 0.1);
    }
}

/// A link that everybody shares: one node sends to all others, and all others to one.
#[test]
fn the_cables_of_nodes_count() {
    let fabric = pgft("2; 4,4; 1,4; 1,1");
    let case = Case::healthy(&fabric);
    let routing = case.routing();
    let tables = route(&routing, case.now());
    let traffic = traffic_of(case.now(), &routing, &tables);
    let rates = FairRates::new(&fabric, &traffic);
    let away: Vec<(u32, u32)> = (1..16).map(|to| (0, to)).collect();
    let towards: Vec<(u32, u32)> = (1..16).map(|from| (from, 0)).collect();
    for pairs in [away, towards] {
        let summary = assert_step(&rates, &pairs).summary();
        assert!(
            (summary.min - 1.0 / 15.0).abs() < 1e-12 && (summary.mean - summary.min).abs() < 1e-12
        );
        assert!((summary.completion - 15.0).abs() < 1e-9);
    }
    // Both directions of a cable have their own speed, and Dmodc leaves an exchange at distance 1, 2, 4 and 8 alone.
    for step in recursive_doubling(0..16) {
        assert_eq!(rates.step(&step.pairs).summary().min, 1.0);
    }
}

/// Many threads with little stack give the same bits as one.
#[test]
fn rates_do_not_depend_on_the_number_of_threads() {
    let fabric = pgft("3; 4,4,6; 1,2,4; 1,2,1");
    let case = Case::degraded(&mut Random::new(8, 0), &fabric);
    let routing = case.routing();
    let tables = route(&routing, case.now());
    let traffic = traffic_of(case.now(), &routing, &tables);
    let rates = FairRates::new(&fabric, &traffic);
    let all = || rates.steps(200, |i| (0u32..).zip(traffic.permutation(5, i)).collect());
    let pool = |threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(256 << 10).build().unwrap()
    };
    let one = pool(1).install(all);
    assert_eq!(pool(64).install(all), one);
    assert!(one.iter().any(|step| step.completion > 2.0));
}
