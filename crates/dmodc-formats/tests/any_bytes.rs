//! No bytes make a reader panic, and any fabric that is read from them is routed soundly.
//!
//! Every fixture is damaged in thousands of ways that follow from seeds. `fuzz/run` does the same without a bound.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod damage;

use dmodc::advise::compare::{Cabling, Comparison};
use dmodc::judge::check;
use dmodc::{Degradation, Dmodc, Fabric, Live, Pgft, Random, Routing, RoutingOptions, SwitchOrder};
use dmodc_formats::{cabling, json, lft, orders};

use damage::{corpus, damage};

/// Routes and judges a fabric: the tables never have a loop, a turn or a cycle.
fn assert_sound(fabric: &Fabric, seed: u64) {
    let healthy = Degradation::none(fabric);
    let live = Live::new(fabric, &healthy);
    let routing = Routing::new(live, &RoutingOptions::default());
    let Ok((tables, _)) = routing.route(live, &Dmodc) else { return };
    let judged = check(live, &routing.ranking(live), routing.orders(), &tables);
    for scope in [&judged.nodes, &judged.everything] {
        assert_eq!((scope.loops, scope.up_down_violations), (0, 0), "seed {seed}");
        assert!(scope.is_deadlock_free(), "seed {seed}");
    }
}

#[test]
fn damaged_texts_are_read_or_refused_and_routed_soundly() {
    let corpus = corpus();
    let figure_1 = "3; 2,2,3; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default());
    let healthy = Degradation::none(&figure_1);
    let live = Live::new(&figure_1, &healthy);
    let (mut fabrics, mut tables) = (0, 0);
    for seed in 0..6000 {
        let mut random = Random::new(seed, 5);
        let mut pick = || &corpus[random.below(corpus.len() as u64) as usize];
        let (mut text, other) = (pick().clone(), pick());
        damage(&mut random, &mut text, other);
        if let Ok(reading) = dmodc_formats::read(&text) {
            fabrics += 1;
            assert_sound(&reading.fabric, seed);
            let mut written = Vec::new();
            json::write(&reading.fabric, &mut written).unwrap();
            assert_eq!(json::read(&written).as_ref(), Ok(&reading.fabric), "seed {seed}");
        }
        let dump = lft::read(&text, &figure_1);
        assert_eq!(dump, lft::naive::read(&text, &figure_1), "seed {seed}");
        if let Ok(dump) = dump {
            tables += 1;
            let routing = Routing::new(live, &RoutingOptions::default());
            let table = &lft::Lft::tables(&[&dump], &figure_1).unwrap()[0];
            check(live, &routing.ranking(live), routing.orders(), table);
        }
        if let Ok(saved) = orders::read(&text) {
            let switches = SwitchOrder::Saved(saved);
            let options = RoutingOptions { switches, ..RoutingOptions::default() };
            Routing::new(live, &options).route(live, &Dmodc).unwrap();
        }
    }
    assert!(fabrics > 1000 && tables > 500, "{fabrics} fabrics, {tables} tables");
}

#[test]
fn damaged_lists_of_cables_are_read_or_refused() {
    let lists: Vec<_> =
        corpus().into_iter().filter(|text| cabling::detect(text).is_some()).collect();
    assert!(lists.len() >= 2, "fixtures have both formats");
    let clean = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/clean/fabric.topo");
    let fabric = dmodc_formats::read(&std::fs::read(clean).unwrap()).unwrap().fabric;
    let (mut read, mut refused, mut compared) = (0, 0, 0);
    for seed in 0..4000 {
        let mut random = Random::new(seed, 6);
        let mut pick = || &lists[random.below(lists.len() as u64) as usize];
        let (mut text, other) = (pick().clone(), pick());
        damage(&mut random, &mut text, other);
        match cabling::read(&text) {
            Err(error) => {
                refused += 1;
                assert!(error.line >= 1 && !error.message.is_empty(), "seed {seed}");
            }
            Ok(list) => {
                read += 1;
                compared += usize::from(assert_repairs(&fabric, &list, seed));
            }
        }
    }
    assert!(refused > 500 && compared > 200, "{read} read, {refused} refused, {compared} compared");
}

/// Compares a fabric with a cabling: the steps end at the intended cables. Returns whether they share a switch.
fn assert_repairs(fabric: &Fabric, intended: &Cabling, seed: u64) -> bool {
    let Ok(comparison) = Comparison::new(fabric, intended) else { return false };
    let mut cables = comparison.present.clone();
    for step in comparison.parts.concat() {
        step.apply(&mut cables).unwrap();
    }
    assert_eq!(cables, comparison.intended, "seed {seed}");
    true
}
