//! Re-routing after any sequence of faults and repairs: what is done for the changes alone must equal
//! doing everything again, byte by byte.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::sync::Arc;

use common::{
    Case, Directors, for_seeds, four_levels, random_faults, random_graph, random_guids,
    random_pgft, route, unequal_cables,
};
use dmodc::fabric::Part;
use dmodc::{
    CableIndex, Change, Degradation, Dmodc, Engine, Fabric, GuidOrder, LeafRule, Live, Paper, Pgft,
    Random, RandomPorts, Reference, Router, Routing, RoutingOptions, Stable, SwitchIndex,
};

/// A part and what happens to it. Faults and repairs are about as likely, so that fabrics neither stay
/// whole nor vanish.
fn random_change(random: &mut Random, fabric: &Fabric) -> Change {
    let part = match random.below(4) {
        0 => Part::Switch(SwitchIndex::new(random.below(fabric.switches().len() as u64) as usize)),
        _ => Part::Cable(CableIndex::new(random.below(fabric.cable_count() as u64) as usize)),
    };
    match random.below(2) {
        0 => Change::Dies(part),
        _ => Change::Recovers(part),
    }
}

fn random_rule(random: &mut Random, fabric: &Fabric) -> LeafRule {
    let switch = |random: &mut Random| random.below(fabric.switches().len() as u64) as usize;
    match random.below(8) {
        0 => LeafRule::AtLeast(1 + random.below(2) as usize),
        1 => LeafRule::Roots(vec![SwitchIndex::new(switch(random))]),
        2 => {
            let nodes = fabric.switch_indices().map(|s| !fabric.nodes_of(s).is_empty());
            let mut flags: Vec<bool> = nodes.collect();
            flags[switch(random)] = true;
            LeafRule::These(flags)
        }
        _ => LeafRule::Detect,
    }
}

/// Tables, coverage and delta after each of many batches of changes.
fn assert_incremental_equals_whole(random: &mut Random, fabric: Fabric, batches: usize) {
    let fabric = Arc::new(fabric);
    let first = match random.below(2) {
        0 => Degradation::none(&fabric),
        _ => random_faults(random, &fabric),
    };
    let options = RoutingOptions {
        leaves: random_rule(random, &fabric),
        switch_lids: random.below(2) == 0,
        ..RoutingOptions::default()
    };
    let routing = Routing::new(Live::new(&fabric, &first), &options);
    let engine: Arc<dyn Engine> = match random.below(6) {
        0 | 1 => Arc::new(Dmodc),
        3 => Arc::new(Paper),
        // One that cannot update its tables: the router compares whole ones.
        2 => Arc::new(RandomPorts { seed: random.below(100) }),
        _ => {
            // Most often the whole fabric is the reference.
            let then = match random.below(3) {
                0 => random_faults(random, &fabric),
                _ => Degradation::none(&fabric),
            };
            let reference = Arc::new(Reference::new(&routing, Live::new(&fabric, &then)));
            Arc::new(Stable { reference })
        }
    };
    let mut router =
        Router::with_engine(engine.clone(), fabric.clone(), routing, first.clone()).unwrap();
    let mut expected = first;
    for batch in 0..batches {
        let mut before = router.tables().clone();
        let changes: Vec<Change> =
            (0..1 + random.below(4)).map(|_| random_change(random, &fabric)).collect();
        for change in &changes {
            match *change {
                Change::Dies(part) => expected.set(part, true),
                Change::Recovers(part) => expected.set(part, false),
            }
        }
        let delta = router.apply(&changes).unwrap();
        assert_eq!(*router.degradation(), expected);
        let live = Live::new(&fabric, &expected);
        let (whole, coverage) = router.routing().route(live, &*engine).unwrap();
        assert!(*router.tables() == whole, "batch {batch}: {changes:?}");
        assert_eq!(router.coverage(), coverage, "batch {batch}: {changes:?}");
        let ready = router.routing().preprocess(live);
        assert_eq!(router.preprocessing().ranking, ready.ranking, "batch {batch}: {changes:?}");
        assert_eq!(router.preprocessing().dividers, ready.dividers, "batch {batch}: {changes:?}");
        assert_eq!(delta.entry_count(), whole.differing(&before) as u64);
        for row in delta.rows() {
            for span in row.spans(whole.columns()) {
                let moved = |c| whole.port(row.switch, c) != before.port(row.switch, c);
                assert!(span.into_iter().any(moved), "a span without any change is in the delta");
            }
        }
        delta.copy(router.tables(), &mut before);
        assert!(before == whole, "the old tables and the delta are the new tables");
        if random.below(6) == 0 {
            expected = random_faults(random, &fabric);
            router.reroute(&expected).unwrap();
        }
    }
}

#[test]
fn incremental_equals_whole_on_pgfts() {
    for_seeds(200, |random| {
        let fabric = random_pgft(random, 300).fabric(random_guids(random));
        assert_incremental_equals_whole(random, fabric, 12);
    });
}

#[test]
fn incremental_equals_whole_on_any_graph() {
    for_seeds(200, |random| {
        let fabric = random_graph(random);
        assert_incremental_equals_whole(random, fabric, 12);
    });
}

/// Switches that have the same switches above have unequal numbers of cables to them.
#[test]
fn incremental_equals_whole_where_cables_are_unequal() {
    for_seeds(150, |random| {
        let fabric = unequal_cables(random);
        assert_incremental_equals_whole(random, fabric, 12);
    });
}

/// Fabrics with several ways down, whose levels have dividers of their own.
#[test]
fn incremental_equals_whole_on_director_fabrics() {
    for_seeds(120, |random| {
        let fabric = match random.below(4) {
            0 => Directors::SMALL.fabric(),
            1 => Directors::SMALL.doubled().fabric(),
            2 => four_levels(4),
            _ => Directors::random(random).fabric(),
        };
        assert_incremental_equals_whole(random, fabric, 8);
    });
}

/// Several tiles, and changes that are few compared with the fabric: the incremental path proper.
#[test]
fn incremental_equals_whole_where_changes_are_few() {
    for tuple in ["3; 2,12,13; 1,6,6; 1,1,1", "2; 3,150; 1,9; 1,1", "4; 2,4,5,8; 1,2,3,2; 1,1,2,1"]
    {
        for_seeds(10, |random| {
            let fabric = tuple.parse::<Pgft>().unwrap().fabric(GuidOrder::Topological);
            assert_incremental_equals_whole(random, fabric, 25);
        });
    }
}

/// Whatever the way there, the same faults give the same tables; and repairs the first ones.
#[test]
fn tables_do_not_depend_on_history() {
    for_seeds(40, |random| {
        let fabric = Arc::new(match random.below(2) {
            0 => random_pgft(random, 200).fabric(GuidOrder::Topological),
            _ => Directors::random(random).fabric(),
        });
        let routing = Case::healthy(&fabric).routing();
        let none = Degradation::none(&fabric);
        let mut router = Router::new(fabric.clone(), routing, none).unwrap();
        let first = router.tables().clone();
        let faults = random_faults(random, &fabric);
        let mut parts: Vec<Part> = faults.removed().collect();
        random.shuffle(&mut parts);
        for part in &parts {
            router.apply(&[Change::Dies(*part)]).unwrap();
        }
        let whole = route(router.routing(), Live::new(&fabric, &faults));
        assert!(*router.tables() == whole);
        random.shuffle(&mut parts);
        let repairs: Vec<Change> = parts.into_iter().map(Change::Recovers).collect();
        router.apply(&repairs).unwrap();
        assert!(*router.tables() == first);
        assert!(router.apply(&repairs).unwrap().is_empty(), "what is alive cannot be repaired");
    });
}
