//! The numbers that routing gives without following a route, against the judge that follows all of them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::sync::Arc;

use common::{Case, Drawing, Outcomes, for_seeds, judge, random_fabric};
use dmodc::fabric::Part;
use dmodc::judge::Delivery;
use dmodc::{
    Change, Coverage, Degradation, Dmodc, Dmodk, Engine, Live, RandomPorts, Reference, RouteError,
    Router, Routing, RoutingOptions, Stable, stream_switches, validity,
};

/// Judges the tables of an engine; its coverage must say the same.
fn assert_agrees(live: Live<'_>, routing: &Routing, engine: &dyn Engine) -> Option<Delivery> {
    let (tables, coverage) = match routing.route(live, engine) {
        Err(RouteError::NotPgft(_)) => return None,
        routed => routed.unwrap(),
    };
    let judged = judge(routing, live, &tables).nodes;
    let delivery = Delivery::of_route(live, &coverage);
    assert_eq!(delivery, judged.delivery(), "{}", engine.name());
    assert_eq!(delivery.pairs, delivery.delivered + delivery.lost + delivery.cut_off);
    assert_eq!(delivery.unroutable(), coverage.undelivered_pairs);
    assert!(judged.is_sound(), "{}", engine.name());
    assert_eq!(coverage.examples.is_empty(), delivery.is_complete());
    Some(delivery)
}

fn assert_streams_agree(live: Live<'_>, routing: &Routing, reference: &Reference) {
    let (ready, columns) = (routing.preprocess(live), routing.columns());
    let expected = validity(live, &ready, columns).unwrap();
    let stable = Stable { reference: Arc::new(reference.clone()) };
    for engine in [&Dmodc as &dyn Engine, &stable, &RandomPorts { seed: 1 }] {
        let each = |_, _: &[u8]| Ok::<(), RouteError>(());
        let by_switch = stream_switches(engine, live, &ready, columns, each).unwrap();
        assert_eq!(by_switch, expected);
        assert_eq!(engine.stream_tiles(live, &ready, columns, &|_| ()).unwrap(), expected);
    }
}

/// Whatever the engine and the faults, and tables kept or streamed.
#[test]
fn routing_counts_what_the_judge_counts() {
    let outcomes = Outcomes::new();
    for_seeds(300, |random| {
        let fabric = random_fabric(random, 40);
        let case = match random.below(4) {
            0 => Case::healthy(&fabric),
            _ => Case::degraded(random, &fabric),
        };
        let (live, routing) = (case.now(), case.routing());
        let reference = Arc::new(Reference::new(&routing, case.whole()));
        assert_streams_agree(live, &routing, &reference);
        let stable = Stable { reference };
        let engines: [&dyn Engine; 4] = [&Dmodc, &stable, &RandomPorts { seed: 1 }, &Dmodk];
        let found = engines.map(|engine| assert_agrees(live, &routing, engine));
        let delivery = found[0].unwrap();
        assert!(found.into_iter().flatten().all(|other| other == delivery));
        let is_dmodk_able = found[3].is_some();
        outcomes.count([
            delivery.lost > 0,
            delivery.cut_off > 0,
            delivery.is_complete(),
            is_dmodk_able,
        ]);
    });
    outcomes.assert_each_more_than(5);
}

/// A router counts the same after any change: also of a node's cable, which moves no cost.
#[test]
fn a_router_counts_what_a_new_one_counts() {
    for_seeds(60, |random| {
        let fabric = Arc::new(random_fabric(random, 40));
        let mut degraded = Degradation::none(&fabric);
        let routing = Routing::new(Live::new(&fabric, &degraded), &RoutingOptions::default());
        let mut router = Router::new(fabric.clone(), routing.clone(), degraded.clone()).unwrap();
        for _ in 0..6 {
            let cable = dmodc::CableIndex::new(random.below(fabric.cable_count() as u64) as usize);
            let part = match random.below(3) {
                0 => Part::Switch(dmodc::SwitchIndex::new(
                    random.below(fabric.switches().len() as u64) as usize,
                )),
                _ => Part::Cable(cable),
            };
            let dies = random.below(3) > 0;
            degraded.set(part, dies);
            let change = if dies { Change::Dies(part) } else { Change::Recovers(part) };
            router.apply(&[change]).unwrap();
            let live = Live::new(&fabric, &degraded);
            let expected: Coverage =
                validity(live, &routing.preprocess(live), routing.columns()).unwrap();
            assert_eq!(router.coverage(), expected, "{part:?}");
        }
    });
}

/// Service nodes on two spines: leaves reach each other, and everybody else, but the spines do not.
///
/// ```text
///      x0  x1 – nodes     y0 – a node
///        \ |             |
///       spine a       spine b
///          |  \      /  |
///          |    \  /    |
///        leaf 0 –+–   leaf 1      four nodes each
/// ```
#[test]
fn nodes_on_two_spines_are_lost_to_each_other_in_a_valid_fabric() {
    let mut d = Drawing::new();
    let leaves = d.switches(["leaf 0", "leaf 1"]);
    let spines = d.switches(["spine a", "spine b"]);
    for leaf in leaves {
        d.nodes(leaf, 4);
        for spine in spines {
            d.cable(leaf, spine, 1);
        }
    }
    d.nodes(spines[0], 2);
    d.nodes(spines[1], 1);
    let fabric = d.finish();
    let case = Case::healthy(&fabric);
    let live = case.whole();
    // Which switches are leaves is said, so that this is about verdicts alone.
    let leaves = dmodc::LeafRule::These(vec![true, true, false, false]);
    let routing = Routing::new(live, &RoutingOptions { leaves, ..RoutingOptions::default() });
    let (_, coverage) = routing.route(live, &Dmodc).unwrap();
    assert!(coverage.is_valid());
    let delivery = assert_agrees(live, &routing, &Dmodc).unwrap();
    assert_eq!(delivery, Delivery { pairs: 110, delivered: 106, lost: 4, cut_off: 0 });
    let pair =
        |from: usize, to: usize| (dmodc::SwitchIndex::new(from), dmodc::SwitchIndex::new(to));
    assert_eq!(coverage.examples, [pair(2, 3), pair(3, 2)]);
}
