//! What-if agrees with brute force: every change is routed and judged from the beginning.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::{Directors, Outcomes, for_seeds, random_fabric, random_faults};
use dmodc::advise::{FaultScope, Present};
use dmodc::fabric::Part;
use dmodc::judge::risk::{AllToAllRisk, Effect, Series, SeriesPattern, SeriesRisk, Tally};
use dmodc::judge::{TableChanges, check, diff};
use dmodc::{
    Change, Degradation, Dmodc, Engine, Fabric, ForwardingTables, Joined, LeafRule, Live, Random,
    RandomPorts, Router, Routing, RoutingOptions,
};

const PATTERNS: [SeriesPattern; 3] = [
    SeriesPattern::AllShifts,
    SeriesPattern::Shifts { count: 5, seed: 3 },
    SeriesPattern::Random { count: 7, seed: 4 },
];

/// The effect of a change, from the beginning: whole route, all judges.
fn naive(router: &Router, faults: &Degradation) -> Effect {
    let fabric = router.fabric();
    let live = Live::new(fabric, faults);
    let mut other = router.clone();
    other.reroute(faults).unwrap();
    let (ranking, orders) = (&other.preprocessing().ranking, other.routing().orders());
    let traffic = other.traffic();
    let loads = traffic.all_to_all();
    let worst = (0..traffic.ports().len()).rev().max_by_key(|&at| loads.by_port[at]);
    let series = [traffic.shifts(None), traffic.shifts(Some((5, 3))), traffic.permutations(7, 4)];
    let check = check(live, ranking, orders, other.tables());
    let diff = diff(live, ranking, router.tables(), other.tables());
    Effect {
        after: Tally {
            delivery: check.nodes.delivery(),
            all_to_all: AllToAllRisk {
                max: loads.max(),
                worst: worst.filter(|_| loads.max() > 0).map(|at| traffic.ports()[at]),
                bound: loads.bound,
            },
            series: series.iter().map(risk).collect(),
        },
        changes: changes(live, router.tables(), other.tables()),
        moved_pairs: diff.pairs,
        undelivered: vec![],
    }
}

/// The entries that differ between live switches and live destinations, one by one.
fn changes(live: Live<'_>, old: &ForwardingTables, new: &ForwardingTables) -> TableChanges {
    let mut changes = TableChanges::default();
    for s in live.switches() {
        let mut blocks = BTreeSet::new();
        for (column, d) in old.columns().destinations().iter().enumerate() {
            let (before, after) = (old.port(s, column), new.port(s, column));
            if before != after && d.end.is_alive(live) {
                changes.entries += 1;
                changes.set += u64::from(before.is_none());
                changes.unset += u64::from(after.is_none());
                blocks.insert(d.lid.0 / 64);
            }
        }
        changes.blocks += blocks.len() as u64;
        changes.switches += u64::from(!blocks.is_empty());
    }
    changes
}

fn risk(series: &Series) -> SeriesRisk {
    let sum = |values: &[u32]| values.iter().map(|&v| u64::from(v)).sum();
    SeriesRisk {
        permutations: series.maxima.len() as u32,
        sum: sum(&series.maxima),
        min: series.min(),
        median: series.median(),
        max: series.max(),
        bound_sum: sum(&series.bounds),
    }
}

/// A router of a random fabric in a random state, by a random engine.
fn random_router(random: &mut Random) -> Router {
    let fabric: Arc<Fabric> = Arc::new(match random.below(4) {
        0 => Directors::random(random).fabric(),
        1 => common::random_pgft(random, 200).fabric(Default::default()),
        _ => random_fabric(random, 60),
    });
    let faults = match random.below(3) {
        0 => Degradation::none(&fabric),
        _ => random_faults(random, &fabric),
    };
    let options = RoutingOptions { switch_lids: random.below(2) == 0, ..Default::default() };
    if random.below(3) == 0 {
        let joined = Joined::new(&fabric, &fabric).unwrap();
        let (routing, stable) =
            joined.stable(LeafRule::Detect, Routing::orders_of(&fabric, &options));
        let Joined { fabric, .. } = joined;
        return Router::with_engine(Arc::new(stable), Arc::new(fabric), routing, faults).unwrap();
    }
    let routing = Routing::new(Live::new(&fabric, &Degradation::none(&fabric)), &options);
    let engine: Arc<dyn Engine> = match random.below(2) {
        0 => Arc::new(RandomPorts { seed: 7 }),
        _ => Arc::new(Dmodc),
    };
    Router::with_engine(engine, fabric, routing, faults).unwrap()
}

/// One to three changes: faults and repairs, of leaves and of cables of nodes, too.
fn random_changes(random: &mut Random, router: &Router) -> Vec<Change> {
    let fabric = router.fabric();
    let count = 1 + random.below(3);
    let part = |random: &mut Random| match random.below(4) {
        0 => Part::Switch(dmodc::SwitchIndex::new(
            random.below(fabric.switches().len() as u64) as usize
        )),
        1 => {
            Part::Cable(dmodc::CableIndex::new(random.below(fabric.cable_count() as u64) as usize))
        }
        _ => {
            let cables = fabric.inter_switch_cables().len().max(1) as u64;
            Part::Cable(dmodc::CableIndex::new(random.below(cables) as usize))
        }
    };
    (0..count)
        .map(|_| part(random))
        .map(|part| match router.degradation().is_dead(part) {
            true => Change::Recovers(part),
            false => Change::Dies(part),
        })
        .collect()
}

fn after(router: &Router, changes: &[Change]) -> Degradation {
    let mut faults = router.degradation().clone();
    for change in changes {
        match *change {
            Change::Dies(part) => faults.set(part, true),
            Change::Recovers(part) => faults.set(part, false),
        }
    }
    faults
}

fn compare(router: &Router, changes: &[Change], found: &Effect, what: &str) {
    let naive = naive(router, &after(router, changes));
    assert_eq!(found.changes, naive.changes, "{what}");
    assert_eq!(found.moved_pairs, naive.moved_pairs, "{what}");
    assert_eq!(found.after, naive.after, "{what}");
    assert_eq!(found.undelivered.is_empty(), found.after.delivery.is_complete(), "{what}");
}

#[test]
fn effects_are_those_of_brute_force() {
    let outcomes = Outcomes::new();
    for_seeds(150, |random| {
        let router = random_router(random);
        let present = Present::new(&router, &PATTERNS);
        let mut what_if = present.what_if();
        for _ in 0..6 {
            let changes = random_changes(random, &router);
            let effect = what_if.attempt(&changes).unwrap();
            compare(&router, &changes, &effect, &format!("{changes:?}"));
            let (is_complete, is_moved) =
                (effect.after.delivery.is_complete(), effect.moved_pairs > 0);
            outcomes.count([is_complete, !is_complete, is_moved, !is_moved]);
        }
    });
    outcomes.assert_each_more_than(20);
}

#[test]
fn every_single_fault_agrees_with_brute_force() {
    for_seeds(12, |random| {
        let fabric = common::random_pgft(random, 60).fabric(Default::default());
        let router = Router::of(fabric).unwrap();
        let present = Present::new(&router, &PATTERNS);
        let mut what_if = present.what_if();
        let scope = FaultScope { leaves: true, ..Default::default() };
        for part in present.single_faults(scope) {
            let changes = [Change::Dies(part)];
            let effect = what_if.attempt(&changes).unwrap();
            compare(&router, &changes, &effect, &format!("{part:?}"));
        }
    });
}
