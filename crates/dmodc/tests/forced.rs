//! What any update has to change, against the naive count by the closer sets of the oracle, entry by entry.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeSet;

use common::{Case, Drawing, Outcomes, for_seeds, in_threads, random_fabric, route, spoil, walk};
use dmodc::judge::{Forced, diff, forced};
use dmodc::oracle::Graph;
use dmodc::oracle::updown::Distances;
use dmodc::{Degradation, Dmodc, ForwardingTables, Live, PortNumber, RandomPorts, Routing};

/// Old and new tables.
type Both<'a> = [&'a ForwardingTables; 2];

fn naive(live: Live<'_>, routing: &Routing, [old, new]: Both<'_>) -> Forced {
    let graph = Graph::new(live, routing.orders(), routing.ranking(live).leaves());
    let (mut entries, mut blocks) = (0, BTreeSet::new());
    let (mut changed_entries, mut changed_blocks) = (0, BTreeSet::new());
    for (column, d) in old.columns().destinations().iter().enumerate() {
        let distances = d.end.is_alive(live).then(|| Distances::to(&graph, d.switch));
        for s in live.switches() {
            let ports: Vec<PortNumber> = match &distances {
                None => vec![],
                Some(_) if s == d.switch => vec![d.port],
                Some(to) => to.closer(&graph, s).iter().flat_map(|n| n.ports.clone()).collect(),
            };
            let entry = old.port(s, column);
            let stays = match entry {
                None => ports.is_empty(),
                Some(_) if ports.is_empty() => {
                    distances.is_some()
                        && new.port(s, column).is_some()
                        && walk(live, old, s, column).is_some()
                }
                Some(port) => ports.contains(&port),
            };
            if !stays {
                entries += 1;
                blocks.insert((s, d.lid.0 / 64));
            }
            if !stays && entry != new.port(s, column) {
                changed_entries += 1;
                changed_blocks.insert((s, d.lid.0 / 64));
            }
        }
    }
    let (blocks, changed_blocks) = (blocks.len() as u64, changed_blocks.len() as u64);
    Forced { entries, blocks, changed_entries, changed_blocks }
}

fn found(live: Live<'_>, routing: &Routing, [old, new]: Both<'_>, threads: usize) -> Forced {
    in_threads(threads, || forced(live, &routing.preprocess(live), old, new)).unwrap()
}

/// Old tables of the healthy fabric, judged by the damaged one: what engines along the closer sets keep and
/// change follows.
#[test]
fn what_is_forced_equals_the_naive_count_and_every_engine_changes_it() {
    let outcomes = Outcomes::new();
    for_seeds(300, |random| {
        let fabric = random_fabric(random, 40);
        let case = Case::degraded(random, &fabric);
        let (whole, damaged, routing) = (case.whole(), case.now(), case.routing());
        let old = route(&routing, whole);
        let same = found(whole, &routing, [&old, &old], 1);
        assert_eq!(same, Forced::default(), "nothing is dead");
        let ranking = routing.ranking(damaged);
        let engines: [&dyn dmodc::Engine; 2] = [&RandomPorts { seed: 3 }, &Dmodc];
        let mut last = Forced::default();
        for engine in engines {
            let (new, _) = routing.route(damaged, engine).unwrap();
            last = found(damaged, &routing, [&old, &new], 1);
            assert_eq!(last, naive(damaged, &routing, [&old, &new]));
            assert_eq!(last, found(damaged, &routing, [&old, &new], 3));
            let moved = diff(damaged, &ranking, &old, &new).changes;
            assert!(last.entries <= moved.entries && last.blocks <= moved.blocks);
            // What comes and goes does so whoever routes along the closer sets.
            assert!(last.entries >= moved.set + moved.unset);
            // Whatever was routed on the damaged fabric may stay as it is.
            assert_eq!(found(damaged, &routing, [&new, &new], 1), Forced::default());
        }
        // After a repair a detour is a longer way than there is, and what had no route is newly set.
        let new = route(&routing, damaged);
        let back = found(whole, &routing, [&new, &old], 1);
        assert_eq!(back, naive(whole, &routing, [&new, &old]));
        let moved = diff(whole, &routing.ranking(whole), &new, &old).changes;
        assert!(back.entries <= moved.entries && back.entries >= moved.set + moved.unset);
        outcomes.count([last.entries == 0, last.entries > 0, back.entries > 0]);
    });
    outcomes.assert_each_more_than(10);
}

/// Anybody's tables: loops, dead ports, routes that are not up\*down\*.
#[test]
fn what_is_forced_of_spoilt_tables_is_the_naive_count() {
    for_seeds(200, |random| {
        let fabric = random_fabric(random, 16);
        let case = Case::degraded(random, &fabric);
        let live = case.now();
        let routing = Routing::new(live, &Default::default());
        let mut old = route(&routing, live);
        let mut new = old.clone();
        spoil(random, live, &mut old);
        spoil(random, live, &mut old);
        spoil(random, live, &mut new);
        let both = [&old, &new];
        let found = found(live, &routing, both, 2);
        assert_eq!(found, naive(live, &routing, both));
        // What changes and is forced is a part of what changes, whatever the tables hold.
        let changes = diff(live, &routing.ranking(live), &old, &new).changes;
        assert!(found.changed_entries <= changes.entries && found.changed_blocks <= changes.blocks);
    });
}

/// Two roots have no up\*down\* route to each other. Tables that connect them may go on doing so until the way is
/// gone; tables that do not connect them must take such an entry away.
///
/// ```text
///    root0   root1
///      | \   /  |
///      |  \ /   |
///      |  / \   |
///    leaf0   leaf1
/// ```
#[test]
fn a_way_between_roots_may_stay_while_it_is_there_and_wanted() {
    let mut d = Drawing::new();
    let [a, b, x, y] = d.switches(["leaf0", "leaf1", "root0", "root1"]);
    d.nodes(a, 2);
    d.nodes(b, 2);
    for (leaf, root) in [(a, x), (a, y), (b, x), (b, y)] {
        d.cable(leaf, root, 1);
    }
    let fabric = d.finish();
    let case = Case::healthy(&fabric);
    let (live, routing) = (case.whole(), case.routing());
    let mut old = route(&routing, live);
    let plain = old.clone();
    let [from, to, leaf] =
        ["root0", "root1", "leaf0"].map(|name| fabric.find_switch(name).unwrap());
    let column = |s| {
        let end = dmodc::End::Switch(s);
        old.columns().destinations().iter().position(|d| d.end == end).unwrap()
    };
    let column = column(to);
    assert_eq!(old.port(from, column), None);
    let (port, _) = live.links(from).find(|&(_, peer)| peer == leaf).unwrap();
    old.set(from, column, Some(port));
    let connecting = old.clone();
    assert_eq!(found(live, &routing, [&old, &connecting], 1), Forced::default());
    let taken_away = found(live, &routing, [&old, &plain], 1);
    assert_eq!(taken_away, Forced { entries: 1, blocks: 1, changed_entries: 1, changed_blocks: 1 });
    assert_eq!(diff(live, &routing.ranking(live), &old, &plain).changes.entries, 1);

    let mut dead = Degradation::none(&fabric);
    let joins = |cable: &dmodc::fabric::Cable| {
        [cable.a.0, cable.b.0].iter().all(|s| [leaf, to].contains(s))
    };
    let cable = fabric.inter_switch_cables().iter().position(joins).unwrap();
    dead.set_cable(dmodc::CableIndex::new(cable), true);
    let damaged = Live::new(&fabric, &dead);
    let before = found(damaged, &routing, [&old, &connecting], 1);
    assert_eq!(before, naive(damaged, &routing, [&old, &connecting]));
    old.set(from, column, None);
    let after = found(damaged, &routing, [&old, &connecting], 1);
    assert_eq!(before.entries, after.entries + 1, "it arrived by the dead cable");
}
