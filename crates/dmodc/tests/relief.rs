//! Relief: against its naive twin, what it never does, and what it reaches.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::sync::Arc;

use common::{
    Case, Directors, Outcomes, for_seeds, in_threads, pgft, random_fabric, random_guids,
    random_options, random_pgft, rows,
};
use dmodc::fabric::Part;
use dmodc::judge::check;
use dmodc::judge::risk::Traffic;
use dmodc::oracle::{self, Graph};
use dmodc::relief::Thoroughness::{self, Full, Light};
use dmodc::relief::{Relief, Relieved, relieve};
use dmodc::{
    Amount, Change, Dmodc, Draw, Engine, Fabric, ForwardingTables, Live, MovedEntry, Random,
    RandomPorts, Router, Routing, Stable, alternative_ports,
};

/// Any engine whose routes keep to closer sets.
fn any_engine(random: &mut Random, routing: &Routing, reference: Live<'_>) -> Arc<dyn Engine> {
    match random.below(3) {
        0 => Arc::new(Dmodc),
        1 => Arc::new(Stable::new(routing, reference)),
        _ => Arc::new(RandomPorts { seed: random.below(100) }),
    }
}

fn relieved(
    live: Live<'_>,
    routing: &Routing,
    tables: &ForwardingTables,
    thoroughness: Thoroughness,
) -> (ForwardingTables, Relief) {
    let mut after = tables.clone();
    let relief = relieve(live, &routing.preprocess(live), &mut after, thoroughness).unwrap();
    (after, relief)
}

#[test]
fn relief_moves_the_entries_that_its_naive_twin_moves() {
    let outcomes = Outcomes::new();
    for_seeds(120, |random| {
        let fabric = match random.below(3) {
            0 => random_pgft(random, 14).fabric(random_guids(random)),
            1 => Directors { leaves: 4, nodes: 3, ..Directors::random(random) }.fabric(),
            _ => random_fabric(random, 14),
        };
        if fabric.nodes().len() > 20 {
            return;
        }
        let case = Case::degraded(random, &fabric);
        let routing = Routing::new(case.whole(), &random_options(random));
        let engine = any_engine(random, &routing, case.whole());
        let live = case.now();
        let (before, _) = routing.route(live, &*engine).unwrap();
        let thoroughness = if random.below(2) == 0 { Light } else { Full };
        let (after, relief) = relieved(live, &routing, &before, thoroughness);
        let ranking = routing.ranking(live);
        let traffic = Traffic::new(live, &ranking, routing.orders(), &before);
        let mut naive = before.clone();
        let attempts = thoroughness.attempts(traffic.nodes().len());
        let graph = Graph::new(live, routing.orders(), ranking.leaves());
        oracle::relief::relieve(
            (live, routing.orders()),
            &graph,
            &mut naive,
            traffic.nodes(),
            relief.bound,
            attempts,
        );
        assert_eq!(rows(&after), rows(&naive));
        assert_eq!(relief.moved.len(), before.differing(&after));
        outcomes.count([relief.moved.is_empty(), relief.moved.len() > 2]);
    });
    outcomes.assert_each_more_than(5);
}

/// Whatever the fabric and the engine: every entry is one of P(s, d), the worst port is no worse, and the counts are those
/// of the judge.
#[test]
fn relief_keeps_to_alternative_ports_and_never_raises_the_worst_port() {
    let outcomes = Outcomes::new();
    for_seeds(150, |random| {
        let fabric = match random.below(3) {
            0 => Directors::random(random).fabric(),
            _ => random_fabric(random, 120),
        };
        let case = Case::degraded(random, &fabric);
        let routing = Routing::new(case.whole(), &random_options(random));
        let engine = any_engine(random, &routing, case.whole());
        let live = case.now();
        let (before, coverage) = routing.route(live, &*engine).unwrap();
        let (after, relief) = relieved(live, &routing, &before, Full);
        let (ready, columns) = (routing.preprocess(live), routing.columns());
        alternative_ports(live, &ready, columns.switches(), |s, target, ports| {
            let i = columns.switches().iter().position(|t| *t == target).unwrap();
            for column in columns.of_switch(i) {
                let port = after.port(s, column);
                assert!(port == before.port(s, column) || ports.contains(&port.unwrap()));
            }
        })
        .unwrap();
        let load = |tables| {
            Traffic::new(live, &ready.ranking, routing.orders(), tables).all_to_all().max()
        };
        assert_eq!((relief.before, relief.after), (load(&before), load(&after)));
        assert!(relief.after <= relief.before && relief.after >= relief.bound.min(relief.before));
        let judged = check(live, &ready.ranking, routing.orders(), &after).nodes;
        assert!(judged.is_sound() && judged.is_deadlock_free());
        assert_eq!(
            judged.delivery(),
            check(live, &ready.ranking, routing.orders(), &before).nodes.delivery()
        );
        // As an engine, and in any number of threads.
        let engine = Relieved::new(engine);
        let (again, covered) = in_threads(3, || routing.route(live, &engine).unwrap());
        assert!(again.differing(&after) == 0 && covered == coverage);
        outcomes.count([relief.moved.is_empty(), !relief.moved.is_empty()]);
    });
    outcomes.assert_each_more_than(20);
}

/// The figures that it is there for. The means of shifts do not rise.
#[test]
fn damaged_fabrics_come_near_their_bounds() {
    for (fabric, percent) in [
        (pgft("3; 8,8,16; 1,8,8; 1,1,1"), 10.0),
        (pgft("3; 8,4,16; 1,4,4; 1,2,2"), 1.0),
        (Directors::LARGE.fabric(), 1.0),
        (Directors::LARGE.fabric(), 10.0),
    ] {
        let (cables, switches) = (Amount::Percent(percent), Amount::Percent(0.0));
        let draw = Draw { cables, switches, any_cable: false, any_switch: false, seed: 1 };
        let case = Case::with_faults(&fabric, draw.degradation(&fabric).unwrap());
        let (live, routing) = (case.now(), case.routing());
        let (before, _) = routing.route(live, &Stable::new(&routing, case.whole())).unwrap();
        let (after, relief) = relieved(live, &routing, &before, Full);
        assert!(relief.after * 100 <= relief.bound * 115, "{relief:?}");
        let ranking = routing.ranking(live);
        let shifts =
            |tables| Traffic::new(live, &ranking, routing.orders(), tables).shifts(None).mean();
        let (before, after) = (shifts(&before), shifts(&after));
        assert!(after <= 1.03 * before, "mean of shifts: {before} before, {after} after");
    }
}

/// A router that relieves: after any changes its tables are those of a whole re-route.
#[test]
fn a_router_relieves_after_every_change() {
    for_seeds(20, |random| {
        let fabric: Fabric = Directors::random(random).fabric();
        let case = Case::degraded(random, &fabric);
        let routing = case.routing();
        let stable = Stable::new(&routing, case.whole());
        let engine: Arc<dyn Engine> = Arc::new(Relieved::new(Arc::new(stable)));
        let none = dmodc::Degradation::none(&fabric);
        let shared = Arc::new(fabric.clone());
        let mut router =
            Router::with_engine(engine.clone(), shared, routing.clone(), none).unwrap();
        let dead: Vec<Change> = case.faults.removed().map(Change::Dies).collect();
        router.apply(&dead).unwrap();
        let (whole, _) = routing.route(case.now(), &*engine).unwrap();
        assert_eq!(router.tables().differing(&whole), 0);
    });
}

/// Tables of `stable` with moved entries, stated naively: those without, and where the other port is in P(s, d), that port.
fn naive_tables(
    live: Live<'_>,
    routing: &Routing,
    plain: &Stable,
    moved: &[MovedEntry],
) -> ForwardingTables {
    let (mut tables, _) = routing.route(live, plain).unwrap();
    let columns = routing.columns();
    let targets = columns.switches();
    alternative_ports(live, &routing.preprocess(live), targets, |s, target, ports| {
        for one in moved.iter().filter(|one| one.switch == s) {
            let d = columns.destinations()[one.column as usize];
            if d.switch == target && ports.contains(&one.port) && d.end.is_alive(live) {
                tables.set(s, one.column as usize, Some(one.port));
            }
        }
    })
    .unwrap();
    tables
}

/// A reference that was relieved once: in its first state its tables are the relieved ones, in every other state its moved
/// entries stay where they can, and a router keeps to that through any faults and repairs.
#[test]
fn a_relieved_reference_keeps_its_moved_entries() {
    let outcomes = Outcomes::new();
    for_seeds(80, |random| {
        let fabric = match random.below(3) {
            0 => random_pgft(random, 100).fabric(random_guids(random)),
            1 => Directors::random(random).fabric(),
            _ => random_fabric(random, 100),
        };
        let case = Case::degraded(random, &fabric);
        let (routing, first) = (case.routing(), case.now());
        let plain = Stable::new(&routing, case.whole());
        let (stable, relief) = plain.clone().relieved(&routing, first).unwrap();
        let (tables, _) = routing.route(first, &stable).unwrap();
        if !relief.moved.is_empty() {
            let (before, _) = routing.route(first, &plain).unwrap();
            assert_eq!(tables.differing(&relieved(first, &routing, &before, Light).0), 0);
        }
        let engine: Arc<dyn Engine> = Arc::new(stable.clone());
        let none = dmodc::Degradation::none(&fabric);
        let shared = Arc::new(fabric.clone());
        let mut router = Router::with_engine(engine, shared, routing.clone(), none).unwrap();
        let mut parts: Vec<Part> = case.faults.removed().collect();
        let more = Case::degraded(random, &fabric);
        parts.extend(more.faults.removed());
        for part in parts.iter().take(12) {
            let is_dead = router.degradation().removed().any(|dead| dead == *part);
            let change = if is_dead { Change::Recovers(*part) } else { Change::Dies(*part) };
            router.apply(&[change]).unwrap();
            let naive = naive_tables(router.live(), &routing, &plain, &relief.moved);
            assert_eq!(router.tables().differing(&naive), 0, "{change:?}");
        }
        outcomes.count([relief.moved.is_empty(), !relief.moved.is_empty()]);
    });
    outcomes.assert_each_more_than(5);
}

/// The tables of a PGFT without faults are those of the paper, even where its leaves have more nodes than cables.
#[test]
fn a_whole_pgft_is_not_relieved() {
    let fabric = pgft("3; 6,4,4; 1,4,2; 1,1,1");
    let case = Case::healthy(&fabric);
    let routing = case.routing();
    let (stable, relief) =
        Stable::new(&routing, case.whole()).relieved(&routing, case.whole()).unwrap();
    assert!(relief.moved.is_empty());
    let (tables, _) = routing.route(case.whole(), &stable).unwrap();
    assert_eq!(tables.differing(&routing.route(case.whole(), &Dmodc).unwrap().0), 0);
}
