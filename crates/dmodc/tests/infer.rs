//! The inferred whole: it adds cables that were removed, and no others.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use common::{
    Directors, Drawing, Outcomes, for_seeds, four_levels, random_fabric, random_faults,
    random_guids, random_pgft,
};
use dmodc::oracle::stable::{self, States};
use dmodc::{
    AddedCables, Amount, Change, Degradation, Dmodc, Draw, Fabric, GuidOrder, InferredWhole,
    LeafRule, Live, Pgft, PortNumber, Router, Routing, RoutingOptions, SwitchIndex, TooIrregular,
};

/// The number of cables by pair of switches.
type Pairs = BTreeMap<(SwitchIndex, SwitchIndex), usize>;

fn pairs(fabric: &Fabric) -> Pairs {
    let mut pairs = Pairs::new();
    for cable in fabric.inter_switch_cables() {
        *pairs.entry((cable.a.0, cable.b.0)).or_default() += 1;
    }
    pairs
}

fn infer(fabric: &Fabric) -> Result<InferredWhole, TooIrregular> {
    InferredWhole::new(fabric, &LeafRule::Detect)
}

/// How many cables were removed, how many are inferred, and how many of those were removed indeed.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    removed: usize,
    inferred: usize,
    right: usize,
}

/// A draw of cables between switches.
fn cables(percent: f64, seed: u64) -> Draw {
    let cables = Amount::Percent(percent);
    Draw { cables, switches: Amount::ZERO, any_cable: false, any_switch: false, seed }
}

/// Removes cables, and compares what is inferred with what was removed.
fn score(whole: &Fabric, percent: f64, seed: u64) -> Score {
    let present = whole.without(&cables(percent, seed).degradation(whole).unwrap());
    let (all, now) = (pairs(whole), pairs(&present));
    let removed = whole.inter_switch_cables().len() - present.inter_switch_cables().len();
    let Ok(inferred) = infer(&present) else {
        return Score { removed, ..Score::default() };
    };
    let mut score = Score { removed, inferred: inferred.added_cables(), ..Score::default() };
    for (pair, cables) in pairs(&inferred.fabric) {
        let before = now.get(&pair).copied().unwrap_or(0);
        score.right += (cables.min(all.get(&pair).copied().unwrap_or(0))).saturating_sub(before);
    }
    score
}

fn sum(scores: impl Iterator<Item = Score>) -> Score {
    scores.fold(Score::default(), |a, b| Score {
        removed: a.removed + b.removed,
        inferred: a.inferred + b.inferred,
        right: a.right + b.right,
    })
}

/// Returns the score of many random draws.
fn scores(fabric: &Fabric, percent: f64) -> Score {
    sum((0..20).map(|seed| score(fabric, percent, seed)))
}

fn share(part: usize, of: usize) -> f64 {
    part as f64 / of as f64
}

#[test]
fn whole_pgfts_lack_nothing() {
    for_seeds(500, |random| {
        let (guids, shape) = (random_guids(random), random_pgft(random, 400));
        let fabric = shape.fabric(guids);
        let whole = infer(&fabric).unwrap();
        assert_eq!(whole.added_cables(), 0, "{shape}");
        assert_eq!(whole.fabric, fabric);
    });
}

#[test]
fn whole_directors_lack_nothing() {
    for_seeds(500, |random| {
        let shape = Directors::random(random);
        let whole = infer(&shape.fabric()).unwrap();
        assert_eq!(whole.added_cables(), 0, "{shape:?}: {:?}", whole.levels);
    });
    for fabric in [Directors::SMALL.fabric(), Directors::LARGE.fabric(), four_levels(4)] {
        assert_eq!(infer(&fabric).unwrap().added_cables(), 0);
    }
}

#[test]
fn what_is_inferred_was_removed() {
    let total = Cell::new(Score::default());
    for_seeds(1000, |random| {
        let (guids, shape) = (random_guids(random), random_pgft(random, 400));
        let percent = random.below(101) as f64 / 10.0;
        let score = score(&shape.fabric(guids), percent, random.below(1 << 30));
        assert_eq!(score.right, score.inferred, "{shape}, {percent} %: {score:?}");
        total.set(sum([total.get(), score].into_iter()));
    });
    let Score { removed, right, .. } = total.get();
    assert!(share(right, removed) > 0.5, "{:?}", total.get());
}

#[test]
fn most_of_what_was_removed_is_inferred() {
    for (shape, least) in [
        ("2; 18,16; 1,9; 1,2", [0.9, 0.8, 0.8]),
        ("2; 36,18; 1,18; 1,2", [0.9, 0.9, 0.9]),
        ("3; 4,4,4; 1,4,4; 1,1,1", [0.9, 0.8, 0.5]),
        ("3; 8,8,8; 1,8,8; 1,1,1", [0.9, 0.8, 0.6]),
        ("3; 18,18,6; 1,18,18; 1,1,1", [0.9, 0.8, 0.6]),
        ("3; 8,8,4; 1,4,4; 1,2,2", [0.9, 0.8, 0.7]),
        ("4; 4,4,4,2; 1,4,4,2; 1,1,1,2", [0.9, 0.7, 0.5]),
    ] {
        let fabric = shape.parse::<Pgft>().unwrap().fabric(GuidOrder::Shuffled(3));
        for (percent, least) in [1.0, 5.0, 10.0].into_iter().zip(least) {
            let score = scores(&fabric, percent);
            assert_eq!(score.right, score.inferred, "{shape}, {percent} %");
            assert!(share(score.right, score.removed) > least, "{shape}, {percent} %: {score:?}");
        }
    }
}

#[test]
fn directors_and_four_levels_are_inferred_too() {
    let (small, large) = (Directors::SMALL, Directors::LARGE);
    for fabric in [small.fabric(), small.doubled().fabric(), large.fabric(), four_levels(4)] {
        for (percent, least) in [(1.0, 0.9), (5.0, 0.8), (10.0, 0.5)] {
            let score = scores(&fabric, percent);
            assert_eq!(score.right, score.inferred, "{percent} %");
            assert!(share(score.right, score.removed) > least, "{percent} %: {score:?}");
        }
    }
}

/// Every device is where it was, every cable is there, and the added ones are those that are missing.
fn assert_same_but_for_cables(fabric: &Fabric, whole: &InferredWhole) {
    assert_eq!(whole.fabric.switches(), fabric.switches());
    assert_eq!(whole.fabric.adapters(), fabric.adapters());
    assert_eq!(whole.fabric.nodes(), fabric.nodes());
    let missing: Vec<_> = whole.missing.removed().collect();
    assert_eq!(missing.len(), whole.added_cables());
    let live = Live::new(&whole.fabric, &whole.missing);
    for s in fabric.switch_indices() {
        for (at, port) in fabric.ports_of(s).iter().enumerate() {
            assert_eq!(live.peer(s, PortNumber(at as u8 + 1)), port.peer);
        }
    }
}

#[test]
fn the_present_is_the_whole_without_what_is_missing() {
    let outcomes = Outcomes::<3>::new();
    for_seeds(600, |random| {
        let fabric = random_fabric(random, 200);
        let present = match random.below(2) {
            0 => fabric,
            _ => fabric.without(&random_faults(random, &fabric)),
        };
        let whole = infer(&present);
        let added = whole.as_ref().map_or(0, InferredWhole::added_cables);
        outcomes.count([whole.is_err(), added > 0, whole.is_ok() && added == 0]);
        let Ok(whole) = whole else { return };
        assert_same_but_for_cables(&present, &whole);
        // Faults of the fabric are faults of the whole.
        let faults = random_faults(random, &present);
        let (now, all) = (Live::new(&present, &faults), whole.degraded(&present, &faults));
        let all = Live::new(&whole.fabric, &all);
        for s in present.switch_indices() {
            assert!(now.links(s).eq(all.links(s)));
            assert!(now.nodes(s).eq(all.nodes(s)));
        }
    });
    outcomes.assert_each_more_than(10);
}

#[test]
fn stable_takes_the_inferred_whole_as_its_reference() {
    let changed = Outcomes::<2>::new();
    for_seeds(60, |random| {
        let whole = random_pgft(random, 200).fabric(random_guids(random));
        let draw = cables(5.0, random.below(1000));
        let present = whole.without(&draw.degradation(&whole).unwrap());
        let Ok(inferred) = infer(&present) else { return };
        let options = RoutingOptions::default();
        let (routing, stable) = inferred.stable(&options);
        let none = Degradation::none(&inferred.fabric);
        let then = Live::new(&inferred.fabric, &none);
        let now = Live::new(&inferred.fabric, &inferred.missing);
        let leaves = [routing.ranking(then), routing.ranking(now)];
        let states = States { then: (then, leaves[0].leaves()), now: (now, leaves[1].leaves()) };
        let naive = stable::digest(states, routing.orders(), routing.columns());
        let (tables, _) = routing.route(now, &stable).unwrap();
        assert_eq!(tables.digest(), naive);
        changed.count([inferred.added_cables() > 0, inferred.added_cables() == 0]);
        // A cable that is plugged in is a repair like any other.
        let fabric = Arc::new(inferred.fabric.clone());
        let missing = inferred.missing.clone();
        let mut router = Router::with_engine(Arc::new(stable), fabric, routing, missing).unwrap();
        let repairs: Vec<Change> = inferred.missing.removed().map(Change::Recovers).collect();
        router.apply(&repairs).unwrap();
        let (healthy, _) = Routing::new(then, &options).route(then, &Dmodc).unwrap();
        assert_eq!(router.tables().digest(), healthy.digest());
    });
    changed.assert_each_more_than(5);
}

/// Eight leaves below four spines, each with one cable to each.
fn eight_leaves() -> (Drawing, [usize; 8], [usize; 4]) {
    let mut drawing = Drawing::new();
    let leaves = drawing.switches(["a", "b", "c", "d", "e", "f", "g", "h"]);
    let spines = drawing.switches(["s", "t", "u", "v"]);
    leaves.iter().for_each(|leaf| drawing.nodes(*leaf, 2));
    (drawing, leaves, spines)
}

/// What is inferred: pairs of switches with their cables.
fn added(drawing: Drawing) -> Vec<(usize, usize, usize)> {
    let whole = infer(&drawing.finish()).unwrap();
    let levels = whole.levels.iter().flat_map(|level| &level.added);
    levels.map(|pair| (pair.lower.at(), pair.upper.at(), pair.cables)).collect()
}

#[test]
fn a_missing_cable_is_found_and_a_different_switch_is_left_alone() {
    // One leaf lacks a cable; the last leaf is a login leaf with two cables.
    let (mut drawing, leaves, spines) = eight_leaves();
    for (l, leaf) in leaves.into_iter().enumerate() {
        for (s, spine) in spines.into_iter().enumerate() {
            if (l, s) != (2, 3) && (l < 7 || s < 2) {
                drawing.cable(leaf, spine, 1);
            }
        }
    }
    assert_eq!(added(drawing), [(2, 11, 1)]);
    // Two leaves lack the same two cables: they were cabled so.
    let (mut drawing, leaves, spines) = eight_leaves();
    for (l, leaf) in leaves.into_iter().enumerate() {
        for (s, spine) in spines.into_iter().enumerate() {
            if l < 6 || s < 2 {
                drawing.cable(leaf, spine, 1);
            }
        }
    }
    assert_eq!(added(drawing), []);
}

#[test]
fn a_recabled_pair_lacks_nothing() {
    // Two pods of eight leaves; a cable of each goes to a spine of the other.
    let mut drawing = Drawing::new();
    let leaves: Vec<usize> = (0..16).map(|l| drawing.switch(&format!("leaf-{l}"))).collect();
    let spines: Vec<usize> = (0..8).map(|s| drawing.switch(&format!("spine-{s}"))).collect();
    let core = drawing.switch("core");
    leaves.iter().for_each(|leaf| drawing.nodes(*leaf, 4));
    for (l, leaf) in leaves.iter().enumerate() {
        for s in 0..4 {
            let pod = if s == 3 && (l == 0 || l == 8) { 1 - l / 8 } else { l / 8 };
            drawing.cable(*leaf, spines[4 * pod + s], 1);
        }
    }
    spines.iter().for_each(|spine| drawing.cable(*spine, core, 2));
    assert_eq!(added(drawing), []);
}

#[test]
fn parallel_cables_that_are_missing_are_found() {
    for (counts, missing) in [([2, 2, 2, 1], 1), ([4, 4, 4, 3], 1), ([2, 1, 2, 1], 0)] {
        let (mut drawing, leaves, spines) = eight_leaves();
        for (l, leaf) in leaves.into_iter().enumerate() {
            for (spine, count) in spines.into_iter().zip(counts) {
                drawing.cable(leaf, spine, if l == 5 { count } else { counts[0] });
            }
        }
        let found: usize = added(drawing).iter().map(|pair| pair.2).sum();
        // Of a leaf that has one cable less to two spines, two are missing, which is a quarter of its cables.
        assert_eq!(found, if counts == [2, 1, 2, 1] { 2 } else { missing });
    }
}

#[test]
fn cables_go_into_the_ports_where_others_have_them() {
    let whole = "2; 4,8; 1,4; 1,2".parse::<Pgft>().unwrap().fabric(Default::default());
    for port in 5..=12 {
        let mut d = Degradation::none(&whole);
        d.remove(&whole, &format!("L1-3/{port}")).unwrap();
        let inferred = infer(&whole.without(&d)).unwrap();
        assert_eq!(inferred.fabric, whole, "port {port}");
    }
}

#[test]
fn a_cable_without_a_free_port_is_not_added() {
    // Nodes take all ports of the leaf that lacks a cable; a switch of a drawing has 254.
    let (mut drawing, leaves, spines) = eight_leaves();
    for leaf in leaves {
        for spine in spines {
            if (leaf, spine) != (leaves[2], spines[3]) {
                drawing.cable(leaf, spine, 1);
            }
        }
    }
    drawing.nodes(leaves[2], 254 - 2 - 3);
    let inferred = infer(&drawing.finish()).unwrap();
    assert_eq!(inferred.added_cables(), 0);
    let lower = SwitchIndex::new(leaves[2]);
    let upper = SwitchIndex::new(spines[3]);
    assert_eq!(inferred.levels[0].without_port, [AddedCables { lower, upper, cables: 1 }]);
}

#[test]
fn odd_fabrics_are_no_problem() {
    // No switch, one switch, switches without nodes, all cables parallel, two planes without a connection.
    assert_eq!(infer(&Drawing::new().finish()).unwrap().added_cables(), 0);
    let mut drawing = Drawing::new();
    drawing.switch("alone");
    assert_eq!(added(drawing), []);
    let mut drawing = Drawing::new();
    let [a, b] = drawing.switches(["a", "b"]);
    drawing.cable(a, b, 5);
    let fabric = drawing.finish();
    assert!(infer(&fabric).is_err(), "no leaf, no level");
    let mut drawing = Drawing::new();
    let [a, b] = drawing.switches(["a", "b"]);
    drawing.nodes(a, 3);
    drawing.cable(a, b, 5);
    assert_eq!(added(drawing), []);
    let mut drawing = Drawing::new();
    for plane in 0..2 {
        let [a, b, s] = drawing.switches(["a", "b", "s"]);
        for leaf in [a, b] {
            drawing.nodes(leaf, 1 + plane);
            drawing.cable(leaf, s, 1);
        }
    }
    assert_eq!(added(drawing), []);
    // A ring of leaves has no levels.
    let mut drawing = Drawing::new();
    let ring = drawing.switches(["a", "b", "c", "d", "e", "f"]);
    for (at, s) in ring.into_iter().enumerate() {
        drawing.nodes(s, 1);
        drawing.cable(s, ring[(at + 1) % 6], 1);
    }
    let error = infer(&drawing.finish()).unwrap_err();
    assert_eq!(error, TooIrregular::NothingShared { odd: 6, cables: 6 });
    let text = "6 of 6 cables between switches fit no pattern that several switches share";
    assert_eq!(error.to_string(), text);
}
