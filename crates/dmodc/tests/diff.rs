//! The difference of two tables against the naive one: every entry, and every pair walked in both.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{Case, Drawing, Outcomes, for_seeds, random_fabric, route, spoil};
use dmodc::fabric::Peer;
use dmodc::judge::{Diff, TableChanges, diff};
use dmodc::{End, ForwardingTables, Live, NodeIndex, PortNumber, Routing, SwitchIndex};

/// The ports that packets are sent out of, until they arrive, are lost, or have been there before.
fn path(
    live: Live<'_>,
    tables: &ForwardingTables,
    from: SwitchIndex,
    column: usize,
) -> Vec<(SwitchIndex, Option<PortNumber>)> {
    let mut path = vec![];
    let mut s = from;
    loop {
        let out = tables.port(s, column);
        if path.contains(&(s, out)) {
            return path;
        }
        path.push((s, out));
        match out.map(|out| live.peer(s, out)) {
            Some(Peer::Switch(to, _)) => s = to,
            _ => return path,
        }
    }
}

/// Pairs moved, and pairs at all.
fn naive_pairs(live: Live<'_>, old: &ForwardingTables, new: &ForwardingTables) -> (u64, u64) {
    let fabric = live.fabric;
    let nodes: Vec<NodeIndex> =
        fabric.node_indices().filter(|&n| live.node(n) && !fabric.is_aggregation(n)).collect();
    let mut columns: BTreeMap<End, Vec<usize>> = BTreeMap::new();
    for (column, d) in old.columns().destinations().iter().enumerate() {
        columns.entry(d.end).or_default().push(column);
    }
    let (mut moved, mut of) = (0, 0);
    for &from in &nodes {
        for &to in nodes.iter().filter(|&&to| to != from) {
            let s = fabric.node(from).switch;
            let differs = |&c: &usize| path(live, old, s, c) != path(live, new, s, c);
            moved += u64::from(columns[&End::Node(to)].iter().any(differs));
            of += 1;
        }
    }
    (moved, of)
}

/// What differs in the tables of one switch.
fn naive_changes(s: SwitchIndex, old: &ForwardingTables, new: &ForwardingTables) -> TableChanges {
    let mut changes = TableChanges::default();
    let mut blocks = BTreeSet::new();
    for (column, d) in old.columns().destinations().iter().enumerate() {
        let entries = (old.port(s, column), new.port(s, column));
        if entries.0 != entries.1 {
            changes.entries += 1;
            changes.set += u64::from(entries.0.is_none());
            changes.unset += u64::from(entries.1.is_none());
            changes.switches = 1;
            blocks.insert(d.lid.0 / 64);
        }
    }
    changes.blocks = blocks.len() as u64;
    changes
}

fn assert_naive(
    live: Live<'_>,
    routing: &Routing,
    old: &ForwardingTables,
    new: &ForwardingTables,
) -> Diff {
    let ranking = routing.ranking(live);
    let found = diff(live, &ranking, old, new);
    assert_eq!((found.pairs, found.of.pairs), naive_pairs(live, old, new));
    let changed: Vec<(SwitchIndex, TableChanges)> = live
        .switches()
        .map(|s| (s, naive_changes(s, old, new)))
        .filter(|(_, changes)| changes.entries > 0)
        .collect();
    assert_eq!(found.switches, changed);
    let sum = |of: fn(&TableChanges) -> u64, rank: Option<Option<u32>>| -> u64 {
        let in_level = |s: SwitchIndex| rank.is_none_or(|rank| ranking.rank(s) == rank);
        changed.iter().filter(|(s, _)| in_level(*s)).map(|(_, c)| of(c)).sum()
    };
    let all = |rank| TableChanges {
        entries: sum(|c| c.entries, rank),
        set: sum(|c| c.set, rank),
        unset: sum(|c| c.unset, rank),
        blocks: sum(|c| c.blocks, rank),
        switches: sum(|c| c.switches, rank),
    };
    assert_eq!(found.changes, all(None));
    for level in &found.levels {
        assert_eq!(level.changes, all(Some(level.rank)));
        let switches = live.switches().filter(|&s| ranking.rank(s) == level.rank).count();
        assert_eq!(level.switches, switches as u64);
    }
    let switches: u64 = found.levels.iter().map(|level| level.switches).sum();
    assert_eq!(switches, found.of.switches);
    let lids = old.columns().destinations().iter().map(|d| d.lid.0 / 64);
    assert_eq!(found.of.blocks, switches * lids.collect::<BTreeSet<_>>().len() as u64);
    assert_eq!(found.of.entries, switches * old.columns().len() as u64);
    assert_eq!(found.is_empty(), found.changes == TableChanges::default());
    found
}

#[test]
fn the_difference_equals_the_walk_of_every_pair_in_both_tables() {
    let outcomes = Outcomes::new();
    for_seeds(400, |random| {
        let fabric = random_fabric(random, 40);
        let case = Case::degraded(random, &fabric);
        let (states, routing) = ([case.whole(), case.now()], case.routing());
        let [old, new] = states.map(|live| route(&routing, live));
        for live in states {
            let found = assert_naive(live, &routing, &old, &new);
            outcomes.count([
                found.pairs > 0,
                found.pairs > 0 && found.pairs < found.of.pairs,
                found.changes.unset > 0,
                found.is_empty(),
            ]);
        }
    });
    outcomes.assert_each_more_than(20);
}

/// Packets loop in spoilt tables, in one of them or in both.
#[test]
fn the_difference_of_spoilt_tables_is_the_naive_one() {
    for_seeds(300, |random| {
        let fabric = random_fabric(random, 16);
        let case = Case::degraded(random, &fabric);
        let live = case.now();
        let routing = Routing::new(live, &Default::default());
        let mut old = route(&routing, live);
        spoil(random, live, &mut old);
        spoil(random, live, &mut old);
        let mut new = old.clone();
        spoil(random, live, &mut new);
        assert_naive(live, &routing, &old, &new);
    });
}

/// Two leaves under two spines; one entry is moved from one spine to the other.
///
/// ```text
///    spine0   spine1
///      | \   /  |
///      |  \ /   |
///      |  / \   |
///    leaf0   leaf1     three nodes and two
/// ```
#[test]
fn one_entry_moves_the_pairs_behind_it() {
    let mut d = Drawing::new();
    let [a, b, x, y] = d.switches(["leaf0", "leaf1", "spine0", "spine1"]);
    d.nodes(a, 3);
    d.nodes(b, 2);
    for (leaf, spine) in [(a, x), (a, y), (b, x), (b, y)] {
        d.cable(leaf, spine, 1);
    }
    let fabric = d.finish();
    let case = Case::healthy(&fabric);
    let (live, routing) = (case.whole(), case.routing());
    let old = route(&routing, live);
    let ranking = routing.ranking(live);
    assert!(diff(live, &ranking, &old, &old).is_empty());

    let to_leaf1 = |d: &dmodc::Destination| {
        matches!(d.end, End::Node(_)) && fabric.switch(d.switch).name.as_ref() == "leaf1"
    };
    let column = old.columns().destinations().iter().position(to_leaf1).unwrap();
    let leaf0 = fabric.find_switch("leaf0").unwrap();
    let taken = old.port(leaf0, column);
    let other = live.links(leaf0).map(|(port, _)| port).find(|&port| Some(port) != taken);
    let mut new = old.clone();
    new.set(leaf0, column, other);
    let found = diff(live, &ranking, &old, &new);
    let one = TableChanges { entries: 1, set: 0, unset: 0, blocks: 1, switches: 1 };
    assert_eq!((found.changes, found.pairs, found.of.pairs), (one, 3, 20));
    assert_eq!(found.switches, [(leaf0, one)]);
    assert_eq!((found.levels[0].changes, found.levels[1].changes), (one, TableChanges::default()));

    new.set(leaf0, column, None);
    let found = diff(live, &ranking, &old, &new);
    assert_eq!((found.changes, found.pairs), (TableChanges { unset: 1, ..one }, 3));
    let found = diff(live, &ranking, &new, &old);
    assert_eq!((found.changes, found.pairs), (TableChanges { set: 1, ..one }, 3));
}
