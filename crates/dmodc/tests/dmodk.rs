//! Dmodk, the closed formula: what it gives on healthy PGFTs, and what it refuses.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;

use common::{Case, for_seeds, pgft, random_guids, random_options, random_pgft, route, rows, walk};
use dmodc::{
    Degradation, DestinationOrder, Dmodc, Dmodk, End, Engine, ForwardingTables, GuidOrder, Live,
    NodeIndex, Pgft, PortNumber, Random, RouteError, Routing, SwitchIndex,
};

/// Both engines give the same entries and the same coverage.
#[track_caller]
fn assert_dmodk_equals_dmodc(routing: &Routing, live: Live<'_>) {
    let (dmodc, coverage) = routing.route(live, &Dmodc).unwrap();
    let (dmodk, same) = routing.route(live, &Dmodk).unwrap();
    assert_eq!(rows(&dmodc), rows(&dmodk));
    assert_eq!(coverage, same);
}

#[test]
fn a_healthy_pgft_is_routed_as_by_dmodk() {
    for_seeds(150, |random| {
        let pgft = random_pgft(random, 300);
        let fabric = pgft.fabric(GuidOrder::Topological);
        let case = Case::healthy(&fabric);
        let options = random_options(random);
        let routing = Routing::new(case.whole(), &options);
        assert_dmodk_equals_dmodc(&routing, case.whole());
        if matches!(options.destinations, DestinationOrder::Types(_)) {
            return;
        }

        // With any other GUIDs, planes change their names but not their loads.
        let (dmodk, _) = routing.route(case.whole(), &Dmodk).unwrap();
        let renamed = pgft.fabric(GuidOrder::Shuffled(random.below(1000)));
        let renamed = Case::healthy(&renamed);
        let tables = route(&renamed.routing(), renamed.whole());
        assert_eq!(loads(case.whole(), &dmodk), loads(renamed.whole(), &tables));
    });
}

/// The numbers of all-to-all flows through inter-switch ports, sorted.
fn loads(live: Live<'_>, tables: &ForwardingTables) -> Vec<usize> {
    let mut loads: BTreeMap<(SwitchIndex, PortNumber), usize> = BTreeMap::new();
    for (column, d) in tables.columns().destinations().iter().enumerate() {
        let End::Node(_) = d.end else { continue };
        for source in live.fabric.nodes() {
            for port in walk(live, tables, source.switch, column).unwrap() {
                *loads.entry(port).or_default() += 1;
            }
        }
    }
    let mut loads: Vec<usize> = loads.into_values().collect();
    loads.sort_unstable();
    loads
}

/// Dmodk refuses a damaged tree with an error of its own.
#[test]
fn dmodk_refuses_what_is_not_a_pgft() {
    let fabric = pgft("3; 2,2,3; 1,2,2; 1,2,1");
    let mut faults = Degradation::none(&fabric);
    faults.set_switch(SwitchIndex::new(15), true);
    let live = Live::new(&fabric, &faults);
    let routing = Routing::new(live, &Default::default());
    let mut tables = routing.empty_tables(live).unwrap();
    let refused = Dmodk.route(live, &routing.preprocess(live), &mut tables);
    assert!(matches!(refused, Err(RouteError::NotPgft(_))));
}

/// Dmodk on a mask that leaves a smaller PGFT: dead destinations have no route, all others Dmodc's.
#[test]
fn dmodk_equals_dmodc_on_masks_that_leave_a_pgft() {
    let fabric = pgft("3; 2,2,3; 1,2,2; 1,2,1");
    let healthy = Degradation::none(&fabric);
    let routing = Case::healthy(&fabric).routing();
    let mut pod_dead = healthy.clone();
    for s in [4, 5, 10, 11] {
        pod_dead.set_switch(SwitchIndex::new(s), true);
    }
    let mut node_dead = healthy.clone();
    node_dead.set_cable(fabric.node_cable(NodeIndex::new(3)), true);
    for faults in [healthy, pod_dead, node_dead] {
        assert_dmodk_equals_dmodc(&routing, Live::new(&fabric, &faults));
    }
}

/// Where every level has as many ports up as down, each shift k sends d → d + k without sharing a
/// port: the reason for the whole arithmetic.
#[test]
fn no_shift_shares_a_port_on_full_pgfts() {
    let full = |random: &mut Random| loop {
        let pgft = random_pgft(random, 200);
        let is_full =
            (1..pgft.levels()).all(|l| pgft.w(l + 1) * pgft.p(l + 1) == pgft.m(l) * pgft.p(l));
        if is_full && pgft.count(0) > 1 {
            return pgft;
        }
    };
    let figure_1: Pgft = "3; 2,2,3; 1,2,2; 1,2,1".parse().unwrap();
    for_seeds(40, |random| {
        for pgft in [full(random), figure_1.clone()] {
            let fabric = pgft.fabric(random_guids(random));
            let case = Case::healthy(&fabric);
            let routing = case.routing();
            let tables = route(&routing, case.whole());
            assert_eq!(worst_shift(case.whole(), &routing, &tables), 1, "{pgft}");
        }
    });
}

/// The most flows that any shift puts through one inter-switch port (at least 1).
fn worst_shift(live: Live<'_>, routing: &Routing, tables: &ForwardingTables) -> usize {
    let nodes = live.fabric.nodes().len();
    let mut node_of = vec![NodeIndex::new(0); nodes];
    let mut column_of = vec![0; nodes];
    for n in live.fabric.node_indices() {
        node_of[routing.orders().node_number(n).number as usize] = n;
    }
    for (column, d) in tables.columns().destinations().iter().enumerate() {
        if let End::Node(_) = d.end {
            column_of[d.number as usize] = column;
        }
    }
    let mut worst = 1;
    for k in 1..nodes {
        let mut loads: BTreeMap<(SwitchIndex, PortNumber), usize> = BTreeMap::new();
        for d in 0..nodes {
            let from = live.fabric.node(node_of[d]).switch;
            for port in walk(live, tables, from, column_of[(d + k) % nodes]).unwrap() {
                *loads.entry(port).or_default() += 1;
            }
        }
        worst = worst.max(loads.into_values().max().unwrap_or(0));
    }
    worst
}
