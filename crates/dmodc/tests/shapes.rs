//! Generated fabrics with several ways down: what Dmodc reaches on them, and what is found out about them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Case, Directors as Drawn, four_levels, route};
use dmodc::fabric::{Directors, PRESETS, Pods, Preset, Shape, Spread};
use dmodc::judge::risk::Traffic;
use dmodc::{Departures, Fabric, GuidOrder, SwitchIndex};

/// The greatest load of all-to-all, its bound, and the mean of the greatest loads of all shifts.
fn worst_ports(fabric: &Fabric) -> (u64, u64, f64) {
    let case = Case::healthy(fabric);
    let (live, routing) = (case.whole(), case.routing());
    let tables = route(&routing, live);
    let traffic = Traffic::new(live, &routing.ranking(live), routing.orders(), &tables);
    let all = traffic.all_to_all();
    (all.max(), all.bound, traffic.shifts(None).mean())
}

/// The switches that each switch is cabled to, in the order of its ports, and its number of nodes.
fn cabling(fabric: &Fabric) -> Vec<(Vec<SwitchIndex>, usize)> {
    let case = Case::healthy(fabric);
    let live = case.whole();
    let of = |s| (live.links(s).map(|(_, peer)| peer).collect(), live.nodes(s).count());
    fabric.switch_indices().map(of).collect()
}

#[test]
fn balanced_presets_reach_their_bounds() {
    for (name, a2a) in [
        ("four-levels", 248),
        ("four-levels-8", 504),
        ("four-levels-16", 1016),
        ("one-director-648", 630),
        ("one-director-800", 780),
        ("two-directors-648", 1278),
        ("two-directors-800", 1580),
    ] {
        let shape = Preset::named(name).unwrap().shape();
        assert!(shape.pgft().is_none());
        let fabric = shape.fabric(GuidOrder::Topological).unwrap();
        assert_eq!(worst_ports(&fabric), (a2a, a2a, 1.0), "{name}");
    }
}

#[test]
fn both_spreads_reach_their_bounds() {
    for spread in [Spread::Consecutive, Spread::Strided] {
        let fabric = Directors { spread, ..Directors::default() };
        let fabric = fabric.fabric(GuidOrder::Topological).unwrap();
        assert_eq!(worst_ports(&fabric), (120, 120, 1.0), "{spread}");
    }
}

/// The shapes are those that other tests draw by hand.
#[test]
fn shapes_equal_drawings() {
    let shape = Directors::default().fabric(GuidOrder::Topological).unwrap();
    let by_name = |fabric: &Fabric| {
        let mut all =
            cabling(fabric).iter().map(|(peers, nodes)| (peers.len(), *nodes)).collect::<Vec<_>>();
        all.sort_unstable();
        all
    };
    assert_eq!(by_name(&shape), by_name(&Drawn::SMALL.fabric()));
    for pods in [4, 8] {
        let shape = Pods { pods, ..Pods::default() }.fabric(GuidOrder::Topological).unwrap();
        assert_eq!(cabling(&shape), cabling(&four_levels(pods as usize)), "{pods} pods");
    }
}

#[test]
fn regular_shapes_raise_no_doubts() {
    let mut shapes: Vec<(String, Shape)> = PRESETS
        .iter()
        .map(|preset| (preset.name.to_string(), preset.shape()))
        .filter(|(_, shape)| shape.node_count() < 5000)
        .collect();
    for cables in [2, 4, 6, 8, 10, 12, 14] {
        for spread in [Spread::Consecutive, Spread::Strided] {
            let shape = Directors { cables, spread, ..Directors::default() };
            shapes.push((shape.to_string(), Shape::Directors(shape)));
        }
    }
    // With a reach of 1, an upper switch shares four fifths of its neighbours with leaves and with no switch more: it is taken
    // for an empty leaf.
    for reach in 2..=8 {
        let shape = Pods { reach, ..Pods::default() };
        shapes.push((shape.to_string(), Shape::Pods(shape)));
    }
    for (name, shape) in shapes {
        let fabric = shape.fabric(GuidOrder::Shuffled(4)).unwrap();
        let case = Case::healthy(&fabric);
        let routing = case.routing();
        assert_eq!(routing.doubts(), [], "{name}");
        let leaves = routing.ranking(case.whole()).found().clone();
        assert!(leaves.empty.is_empty(), "{name}: {} empty leaves", leaves.empty.len());
        // The same with a few cables missing and service nodes on chips: the leaves stay the same, unless a leaf is cabled to
        // nearly all line chips. Then a spine chip that lost a cable is cabled exactly as a leaf is.
        if matches!(shape, Shape::Directors(Directors { cables: 14, lines: 8, .. })) {
            continue;
        }
        let departures = "missing=1%,service=3".parse::<Departures>().unwrap();
        let departed = departures.of(&fabric, 7).unwrap();
        let case = Case::healthy(&departed);
        let departed = case.routing().ranking(case.whole()).found().all.clone();
        assert_eq!(departed, leaves.all, "{name}");
    }
}
