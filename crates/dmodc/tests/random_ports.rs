//! The engine `random`: within the closer sets, uniform, and nothing but its seed.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::HashMap;

use common::{Case, for_seeds, in_threads, pgft, random_fabric};
use dmodc::{
    Degradation, Dmodc, ForwardingTables, Live, PortNumber, RandomPorts, Routing, SwitchIndex,
    alternative_ports,
};

/// P(s, d) by switch and destination switch.
fn alternatives(
    live: Live<'_>,
    routing: &Routing,
) -> HashMap<(SwitchIndex, SwitchIndex), Vec<PortNumber>> {
    let mut all = HashMap::new();
    let ready = routing.preprocess(live);
    alternative_ports(live, &ready, routing.columns().switches(), |s, target, ports| {
        all.insert((s, target), ports.to_vec());
    })
    .unwrap();
    all
}

#[test]
fn every_port_is_an_alternative_and_whatever_dmodc_reaches_is_reached() {
    for_seeds(120, |random| {
        let fabric = random_fabric(random, 150);
        let case = Case::degraded(random, &fabric);
        let (live, routing) = (case.now(), case.routing());
        let (drawn, coverage) = routing.route(live, &RandomPorts { seed: 5 }).unwrap();
        let (ours, expected) = routing.route(live, &Dmodc).unwrap();
        assert_eq!(coverage, expected);
        let alternatives = alternatives(live, &routing);
        for s in fabric.switch_indices() {
            for (column, d) in routing.columns().destinations().iter().enumerate() {
                let port = drawn.port(s, column);
                assert_eq!(port.is_some(), ours.port(s, column).is_some(), "{s:?} {d:?}");
                match port {
                    Some(port) if s == d.switch => assert_eq!(port, d.port),
                    Some(port) => assert!(alternatives[&(s, d.switch)].contains(&port)),
                    None => {}
                }
            }
        }
    });
}

fn drawn(routing: &Routing, live: Live<'_>, seed: u64, threads: usize) -> ForwardingTables {
    in_threads(threads, || routing.route(live, &RandomPorts { seed }).unwrap().0)
}

#[test]
fn a_seed_gives_the_same_tables_for_any_number_of_threads() {
    let fabric = pgft("3; 4,5,20; 1,3,4; 1,2,1");
    let case = Case::healthy(&fabric);
    let (live, routing) = (case.whole(), case.routing());
    let one = drawn(&routing, live, 7, 1);
    assert_eq!(one, drawn(&routing, live, 7, 3));
    assert!(one.differing(&drawn(&routing, live, 8, 1)) > one.entry_count() / 4);
    // A fault moves what has other alternatives now, and nothing else.
    let mut dead = Degradation::none(&fabric);
    dead.set_cable(dmodc::CableIndex::new(0), true);
    let moved = one.differing(&drawn(&routing, Live::new(&fabric, &dead), 7, 2));
    assert!((1..one.entry_count() / 10).contains(&moved), "{moved} of {}", one.entry_count());
}

#[test]
fn all_ports_are_equally_likely() {
    // One leaf of 8 upswitches, and 4,000 destinations behind them.
    let fabric = pgft("2; 40,100; 1,8; 1,1");
    let case = Case::healthy(&fabric);
    let (live, routing) = (case.whole(), case.routing());
    let (tables, _) = routing.route(live, &RandomPorts { seed: 1 }).unwrap();
    let leaf = fabric.node(dmodc::NodeIndex::new(0)).switch;
    let mut counts: HashMap<PortNumber, usize> = HashMap::new();
    for (column, d) in routing.columns().destinations().iter().enumerate() {
        if d.switch != leaf && d.port != PortNumber::SELF {
            *counts.entry(tables.port(leaf, column).unwrap()).or_default() += 1;
        }
    }
    assert_eq!(counts.len(), 8);
    // 3,960 draws: 495 each, with a standard deviation of 21.
    assert!(counts.values().all(|n| (395..595).contains(n)), "{counts:?}");
}
