//! What any update has to change, against the naive count: closer sets of the reference, entry by entry.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::collections::BTreeSet;

use dmodc::judge::{Forced, diff, forced};
use dmodc::oracle::Graph;
use dmodc::oracle::updown::Distances;
use dmodc::{
    Degradation, Dmodc, ForwardingTables, Live, PortNumber, RandomPorts, Routing, RoutingOptions,
};
use support::{for_seeds, random_degradation, random_graph, random_pgft, spoil, walk};

/// Old and new tables.
type Both<'a> = [&'a ForwardingTables; 2];

fn naive(live: Live<'_>, routing: &Routing, [old, new]: Both<'_>) -> Forced {
    let graph = Graph::new(live, routing.orders(), routing.ranking(live).leaves());
    let (mut entries, mut blocks) = (0, BTreeSet::new());
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
        }
    }
    Forced { entries, blocks: blocks.len() as u64 }
}

fn in_threads(live: Live<'_>, routing: &Routing, [old, new]: Both<'_>, threads: usize) -> Forced {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| forced(live, &routing.preprocess(live), old, new)).unwrap()
}

/// Old tables of the healthy fabric, judged by the damaged one: what engines along the closer sets keep and
/// change follows.
#[test]
fn what_is_forced_equals_the_naive_count_and_every_engine_changes_it() {
    let counts = std::cell::Cell::new([0u64; 3]);
    for_seeds(300, |random| {
        let fabric = match random.below(2) {
            0 => random_graph(random),
            _ => random_pgft(random, 40).fabric(Default::default()),
        };
        let healthy = Degradation::none(&fabric);
        let degraded = random_degradation(random, &fabric);
        let (whole, damaged) = (Live::new(&fabric, &healthy), Live::new(&fabric, &degraded));
        let routing = Routing::new(whole, &RoutingOptions::default());
        let (old, _) = routing.route(whole, &Dmodc).unwrap();
        let same = in_threads(whole, &routing, [&old, &old], 1);
        assert_eq!(same, Forced::default(), "nothing is dead");
        let ranking = routing.ranking(damaged);
        let engines: [&dyn dmodc::Engine; 2] = [&RandomPorts { seed: 3 }, &Dmodc];
        let mut found = Forced::default();
        for engine in engines {
            let (new, _) = routing.route(damaged, engine).unwrap();
            found = in_threads(damaged, &routing, [&old, &new], 1);
            assert_eq!(found, naive(damaged, &routing, [&old, &new]));
            assert_eq!(found, in_threads(damaged, &routing, [&old, &new], 3));
            let moved = diff(damaged, &ranking, &old, &new).changes;
            assert!(found.entries <= moved.entries && found.blocks <= moved.blocks);
            // What comes and goes does so whoever routes along the closer sets.
            assert!(found.entries >= moved.set + moved.unset);
            // Whatever was routed on the damaged fabric may stay as it is.
            assert_eq!(in_threads(damaged, &routing, [&new, &new], 1), Forced::default());
        }
        // After a repair a detour is a longer way than there is, and what had no route is newly set.
        let (new, _) = routing.route(damaged, &Dmodc).unwrap();
        let back = in_threads(whole, &routing, [&new, &old], 1);
        assert_eq!(back, naive(whole, &routing, [&new, &old]));
        let moved = diff(whole, &routing.ranking(whole), &new, &old).changes;
        assert!(back.entries <= moved.entries && back.entries >= moved.set + moved.unset);
        let [none, some, repaired] = counts.get();
        counts.set([
            none + u64::from(found.entries == 0),
            some + u64::from(found.entries > 0),
            repaired + u64::from(back.entries > 0),
        ]);
    });
    assert!(counts.get().iter().all(|&n| n > 10), "every outcome occurs: {counts:?}");
}

/// Anybody's tables: loops, dead ports, routes that are not up\*down\*.
#[test]
fn what_is_forced_of_rubbish_is_the_naive_count() {
    for_seeds(200, |random| {
        let fabric = match random.below(2) {
            0 => random_graph(random),
            _ => random_pgft(random, 16).fabric(Default::default()),
        };
        let degraded = random_degradation(random, &fabric);
        let live = Live::new(&fabric, &degraded);
        let routing = Routing::new(live, &RoutingOptions::default());
        let (mut old, _) = routing.route(live, &Dmodc).unwrap();
        let mut new = old.clone();
        spoil(random, live, &mut old);
        spoil(random, live, &mut old);
        spoil(random, live, &mut new);
        let both = [&old, &new];
        assert_eq!(in_threads(live, &routing, both, 2), naive(live, &routing, both));
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
    let mut d = support::Drawing::new();
    let [a, b, x, y] = d.switches(["leaf0", "leaf1", "root0", "root1"]);
    d.nodes(a, 2);
    d.nodes(b, 2);
    for (leaf, root) in [(a, x), (a, y), (b, x), (b, y)] {
        d.cable(leaf, root, 1);
    }
    let fabric = d.finish();
    let healthy = Degradation::none(&fabric);
    let live = Live::new(&fabric, &healthy);
    let routing = Routing::new(live, &RoutingOptions::default());
    let (mut old, _) = routing.route(live, &Dmodc).unwrap();
    let plain = old.clone();
    let named = |name: &str| {
        fabric.switch_indices().find(|&s| fabric.switch(s).name.as_ref() == name).unwrap()
    };
    let (from, to, leaf) = (named("root0"), named("root1"), named("leaf0"));
    let column = |s| {
        let end = dmodc::End::Switch(s);
        old.columns().destinations().iter().position(|d| d.end == end).unwrap()
    };
    let column = column(to);
    assert_eq!(old.port(from, column), None);
    let (port, _) = live.links(from).find(|&(_, peer)| peer == leaf).unwrap();
    old.set(from, column, Some(port));
    let connecting = old.clone();
    assert_eq!(in_threads(live, &routing, [&old, &connecting], 1), Forced::default());
    let taken_away = in_threads(live, &routing, [&old, &plain], 1);
    assert_eq!(taken_away, Forced { entries: 1, blocks: 1 });
    assert_eq!(diff(live, &routing.ranking(live), &old, &plain).changes.entries, 1);

    let mut dead = Degradation::none(&fabric);
    let joins = |cable: &dmodc::fabric::Cable| {
        [cable.a.0, cable.b.0].iter().all(|s| [leaf, to].contains(s))
    };
    let cable = fabric.inter_switch_cables().iter().position(joins).unwrap();
    dead.set_cable(dmodc::CableIndex::new(cable), true);
    let damaged = Live::new(&fabric, &dead);
    let before = in_threads(damaged, &routing, [&old, &connecting], 1);
    assert_eq!(before, naive(damaged, &routing, [&old, &connecting]));
    old.set(from, column, None);
    let after = in_threads(damaged, &routing, [&old, &connecting], 1);
    assert_eq!(before.entries, after.entries + 1, "it arrived by the dead cable");
}
