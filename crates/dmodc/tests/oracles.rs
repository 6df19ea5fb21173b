//! The fast code against its naive twins: entry by entry and cost by cost, on thousands of fabrics.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{
    Case, for_seeds, judge, pgft, random_faults, random_graph, random_guids, random_options,
    random_pgft, route, rows,
};
use dmodc::fabric::Peer;
use dmodc::oracle::paper::Procedure1;
use dmodc::oracle::{Graph, updown};
use dmodc::{
    CostBlock, Degradation, Dmodc, End, Fabric, GuidOrder, Live, Pgft, Random, Routing, SwitchIndex,
};

fn naive(live: Live<'_>, routing: &Routing) -> Vec<Vec<u8>> {
    updown::tables(live, routing.ranking(live).leaves(), routing.orders(), routing.columns())
}

/// The graph that the oracles walk.
fn graph(live: Live<'_>, routing: &Routing) -> Graph {
    Graph::new(live, routing.orders(), routing.ranking(live).leaves())
}

/// Healthy and degraded, under any orders, every entry is the naive one.
fn assert_fast_equals_naive(random: &mut Random, fabric: &Fabric) {
    let case = Case::degraded(random, fabric);
    let routing = Routing::new(case.whole(), &random_options(random));
    for live in [case.whole(), case.now()] {
        assert_eq!(rows(&route(&routing, live)), naive(live, &routing));
    }
}

#[test]
fn fast_tables_equal_the_naive_ones_on_degraded_pgfts() {
    for_seeds(400, |random| {
        let fabric = random_pgft(random, 300).fabric(random_guids(random));
        assert_fast_equals_naive(random, &fabric);
    });
}

#[test]
fn fast_tables_equal_the_naive_ones_on_any_graph() {
    for_seeds(400, |random| {
        let fabric = random_graph(random);
        assert_fast_equals_naive(random, &fabric);
    });
}

#[test]
fn costs_and_dividers_equal_procedure_1_on_degraded_pgfts() {
    let compared = std::cell::Cell::new(0u64);
    for_seeds(400, |random| {
        let fabric = random_pgft(random, 300).fabric(random_guids(random));
        let case = Case::degraded(random, &fabric);
        let live = case.now();
        let routing = Routing::new(live, &random_options(random));
        let ready = routing.preprocess(live);
        let graph = graph(live, &routing);
        let procedure = Procedure1::run(&graph);
        assert!(ready.dividers.iter().map(|&d| u64::from(d)).eq(procedure.divider.iter().copied()));
        let mut block = CostBlock::default();
        for (first, leaves) in graph.leaves.chunks(64).enumerate() {
            block.compute(&ready.groups, leaves).unwrap();
            for s in live.switches() {
                for i in 0..leaves.len() {
                    let literal = procedure.cost[s.at()][64 * first + i];
                    assert_eq!(block.cost(s, i).map(u32::from), literal);
                    compared.set(compared.get() + 1);
                }
            }
        }
    });
    assert!(compared.get() > 100_000, "{compared:?}");
}

#[test]
fn entries_equal_the_paper_on_healthy_pgfts() {
    for_seeds(100, |random| {
        let fabric = random_pgft(random, 200).fabric(random_guids(random));
        let case = Case::healthy(&fabric);
        let live = case.whole();
        let routing = Routing::new(live, &random_options(random));
        let tables = route(&routing, live);
        let graph = graph(live, &routing);
        let procedure = Procedure1::run(&graph);
        for (column, d) in tables.columns().destinations().iter().enumerate() {
            let End::Node(_) = d.end else { continue };
            let leaf = graph.leaves.iter().position(|&l| l == d.switch).unwrap();
            for s in live.switches().filter(|&s| s != d.switch) {
                assert_eq!(tables.port(s, column), procedure.port(s, leaf, d.number));
            }
        }
    });
}

/// A spine that has lost its cable to a leaf cannot go up and down to it any more. The literal
/// closer set, which takes every neighbour with a finite cost then, sends it down to another leaf to
/// go up again; ours has no route.
#[test]
fn the_literal_closer_set_may_turn_up_again_and_ours_never_does() {
    let fabric = pgft("2; 2,3; 1,2; 1,1");
    let mut faults = Degradation::none(&fabric);
    let spine = SwitchIndex::new(3);
    faults.remove(&fabric, &format!("{}/1", fabric.switch(spine).guid)).unwrap();
    let live = Live::new(&fabric, &faults);
    let routing = Routing::new(live, &Default::default());
    let (tables, coverage) = routing.route(live, &Dmodc).unwrap();
    assert!(coverage.is_valid());
    let graph = graph(live, &routing);
    let literal = Procedure1::run(&graph).port(spine, 0, 0).unwrap();
    let turns_at = live.peer(spine, literal);
    assert!(matches!(turns_at, Peer::Switch(leaf, _) if graph.leaves.contains(&leaf)));
    let column = routing.columns().destinations().iter().position(|d| d.number == 0).unwrap();
    assert_eq!(tables.port(spine, column), None);
}

/// Switches with more than 64 groups and ports beyond 64, 128 and 192.
#[test]
fn wide_switches_are_routed_and_judged_right() {
    for tuple in ["2; 3,100; 1,70; 1,1", "2; 2,3; 1,2; 1,80", "2; 10,5; 1,120; 1,2"] {
        let fabric = tuple.parse::<Pgft>().unwrap().fabric(GuidOrder::Shuffled(3));
        let faults = random_faults(&mut Random::new(1, 1), &fabric);
        let case = Case::with_faults(&fabric, faults);
        let routing = case.routing();
        for live in [case.whole(), case.now()] {
            let tables = route(&routing, live);
            assert_eq!(rows(&tables), naive(live, &routing), "{tuple}");
            assert!(judge(&routing, live, &tables).everything.is_deadlock_free());
        }
    }
}
