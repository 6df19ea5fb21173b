//! Lower bounds of all-to-all and of lists of pairs: no tables are below them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{
    Case, Directors, Outcomes, for_seeds, random_graph, random_guids, random_pgft, spoil,
};
use dmodc::judge::risk::Traffic;
use dmodc::{
    Amount, Departures, Dmodc, Engine, Fabric, ForwardingTables, Live, Paper, Random, RandomPorts,
    Routing, Stable, alternative_ports,
};

/// Tables of any alternative ports, each drawn by itself, so that the nodes of a switch have different ports.
fn any_alternatives(random: &mut Random, live: Live<'_>, routing: &Routing) -> ForwardingTables {
    let (mut tables, _) = routing.route(live, &Dmodc).unwrap();
    let ready = routing.preprocess(live);
    let destinations = routing.columns().destinations();
    alternative_ports(live, &ready, routing.columns().switches(), |s, target, ports| {
        let columns = destinations.iter().enumerate().filter(|(_, d)| d.switch == target);
        for (column, _) in columns.filter(|_| !ports.is_empty()) {
            let port = ports[random.below(ports.len() as u64) as usize];
            tables.set(s, column, Some(port));
        }
    })
    .unwrap();
    tables
}

/// Checks that no tables are below their bounds. Returns whether some bound needed that flows stay together, and whether one
/// such bound was reached.
fn assert_bounds(random: &mut Random, fabric: &Fabric) -> (bool, bool) {
    let case = Case::degraded(random, fabric);
    let (live, routing) = (case.now(), case.routing());
    let engines: [&dyn Engine; 4] = [
        &Dmodc,
        &Paper,
        &Stable::new(&routing, case.whole()),
        &RandomPorts { seed: random.below(99) },
    ];
    let mut all: Vec<ForwardingTables> =
        engines.iter().map(|engine| routing.route(live, *engine).unwrap().0).collect();
    all.push(any_alternatives(random, live, &routing));
    let mut spoilt = all[0].clone();
    spoil(random, live, &mut spoilt);
    all.push(spoilt);
    let (mut by_bundles, mut reached) = (false, false);
    for tables in &all {
        let traffic = Traffic::new(live, &routing.ranking(live), routing.orders(), tables);
        let found = traffic.all_to_all();
        assert!(found.bound <= found.max(), "{} is below the bound {}", found.max(), found.bound);
        by_bundles |= found.is_by_bundles;
        reached |= found.is_by_bundles && found.bound == found.max();
        // Everybody to everybody is also a list of pairs, with the same bound.
        let count = traffic.nodes().len() as u32;
        let pairs: Vec<(u32, u32)> = (0..count)
            .flat_map(|a| (0..count).map(move |b| (a, b)))
            .filter(|(a, b)| a != b)
            .collect();
        let listed = traffic.pairs(&pairs);
        assert_eq!((listed.bound, listed.cut), (found.bound, found.cut));
        assert_eq!(listed.is_by_bundles, found.is_by_bundles);
        // A part of them.
        let some: Vec<(u32, u32)> = pairs.into_iter().filter(|_| random.below(3) == 0).collect();
        let some = traffic.pairs(&some);
        assert!(some.bound <= some.max());
    }
    (by_bundles, reached)
}

#[test]
fn no_tables_are_below_the_bounds() {
    let outcomes = Outcomes::new();
    for_seeds(120, |random| {
        let departures = Departures {
            missing: Amount::Percent(random.below(6) as f64),
            uneven: Amount::Percent(random.below(60) as f64),
            service: random.below(4) as usize,
            recabled: 0,
        };
        let depart = |fabric: &Fabric, seed| departures.of(fabric, seed).unwrap_or(fabric.clone());
        let seed = random.below(1000);
        let directors = depart(&Directors::random(random).fabric(), seed);
        let pgft = depart(&random_pgft(random, 60).fabric(random_guids(random)), seed);
        for fabric in [directors, pgft, random_graph(random)] {
            let (by_bundles, reached) = assert_bounds(random, &fabric);
            outcomes.count([by_bundles, !by_bundles, reached]);
        }
    });
    outcomes.assert_each_more_than(10);
}
