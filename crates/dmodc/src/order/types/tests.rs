//! Numbers by type on whole fabrics, and on fabrics that lack hosts or leaves when they are first seen.

use std::collections::HashMap;

use super::*;
use crate::order::{DestinationOrder, Orders, SwitchOrder};
use crate::rank::Ranking;
use crate::{Degradation, GuidOrder, Pgft};

/// Returns types by the number in the name of a node, modulo the length of a list.
fn types(of_residue: &'static [u32]) -> NodeTypes {
    let names = (0..=of_residue.iter().copied().max().unwrap()).map(|kind| format!("t{kind}"));
    NodeTypes::new(names.collect(), "residue", move |fabric, n| {
        let name = &fabric.adapter_of(n).name;
        let number: usize = name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap();
        of_residue[number % of_residue.len()]
    })
}

fn orders(fabric: &Fabric, destinations: &DestinationOrder) -> Orders {
    let healthy = Degradation::none(fabric);
    let live = Live::new(fabric, &healthy);
    Orders::new(live, &Ranking::new(live, &Default::default()), destinations, &SwitchOrder::Plane)
}

fn numbers(fabric: &Fabric, orders: &Orders) -> Vec<u32> {
    fabric.node_indices().map(|n| orders.node_number(n).number).collect()
}

fn by_guid(fabric: &Fabric, orders: &Orders) -> HashMap<Guid, u32> {
    fabric.node_indices().map(|n| (fabric.node(n).guid, orders.node_number(n).number)).collect()
}

#[test]
fn each_type_has_consecutive_numbers() {
    let pgft: Pgft = "2; 3,3; 1,3; 1,1".parse().unwrap();
    let fabric = pgft.fabric(GuidOrder::Topological);
    let types = types(&[0, 1, 1]);
    for order in [DestinationOrder::Types(types.clone()), DestinationOrder::TypedPlaces(types)] {
        let orders = orders(&fabric, &order);
        assert_eq!(numbers(&fabric, &orders), [0, 3, 4, 1, 5, 6, 2, 7, 8]);
        assert_eq!(orders.type_starts, [3]);
    }
}

#[test]
fn a_type_without_nodes_changes_nothing() {
    let pgft: Pgft = "2; 3,3; 1,3; 1,1".parse().unwrap();
    let fabric = pgft.fabric(GuidOrder::Shuffled(3));
    let all = types(&[1]);
    for order in [DestinationOrder::Types(all.clone()), DestinationOrder::TypedPlaces(all.clone())]
    {
        let typed = orders(&fabric, &order);
        let plain = orders(&fabric, &DestinationOrder::Topological);
        assert_eq!(numbers(&fabric, &typed), numbers(&fabric, &plain));
        assert_eq!(typed.type_starts, [0]);
    }
    assert_eq!(all.counts(&fabric), [0, 9]);
}

/// What is absent when orders are made keeps numbers of its type, so that all others have the numbers of the whole fabric.
#[test]
fn absent_hosts_and_leaves_keep_numbers_of_their_type() {
    let pgft: Pgft = "3; 6,4,6; 1,6,4; 1,1,1".parse().unwrap();
    let fabric = pgft.fabric(GuidOrder::Shuffled(5));
    let order = DestinationOrder::TypedPlaces(types(&[2, 0, 1, 1, 1, 1]));
    let whole_orders = orders(&fabric, &order);
    let whole = by_guid(&fabric, &whole_orders);
    // A missing leaf is known by the gap before the next one, so the last leaf is not among these.
    for leaf in [0, 5, 22] {
        let mut faults = Degradation::none(&fabric);
        faults.set_switch(SwitchIndex::new(leaf), true);
        let degraded = fabric.without(&faults);
        for (guid, number) in by_guid(&degraded, &orders(&degraded, &order)) {
            assert_eq!(number, whole[&guid], "without leaf {leaf}");
        }
    }
    for host in [36, 37, 40, 41] {
        let gone = fabric.node(NodeIndex::new(host));
        let mut faults = Degradation::none(&fabric);
        faults.set_cable(fabric.node_cable(NodeIndex::new(host)), true);
        let degraded = fabric.without(&faults);
        let present = orders(&degraded, &order);
        assert_eq!(present.type_starts, whole_orders.type_starts);
        for (guid, number) in by_guid(&degraded, &present) {
            assert_eq!(number, whole[&guid], "without host {host}");
        }
        let place = SavedPlace { switch: fabric.switch(gone.switch).guid, port: gone.switch_port };
        assert_eq!(present.vacant, [(whole[&gone.guid], place)]);
    }
}

#[test]
fn saved_numbers_keep_their_types() {
    let pgft: Pgft = "2; 3,3; 1,3; 1,1".parse().unwrap();
    let fabric = pgft.fabric(GuidOrder::Shuffled(8));
    let typed = orders(&fabric, &DestinationOrder::TypedPlaces(types(&[1, 0, 1])));
    let healthy = Degradation::none(&fabric);
    let live = Live::new(&fabric, &healthy);
    let saved = typed.save(live);
    assert_eq!(saved.type_starts, [3]);
    let again = orders(&fabric, &DestinationOrder::Saved(saved.clone()));
    assert_eq!(numbers(&fabric, &again), numbers(&fabric, &typed));
    assert_eq!(again.save(live), saved);
    let seen = again.node_types().unwrap();
    let kinds: Vec<u32> = fabric.node_indices().map(|n| seen.type_of(&fabric, n)).collect();
    assert_eq!(kinds, [1, 0, 1, 1, 0, 1, 1, 0, 1]);
    let mut later = orders(&fabric, &DestinationOrder::Topological).save(live);
    assert!(later.type_starts.is_empty());
    later.keep_absent(&saved);
    assert_eq!(later.type_starts, [3]);
}

#[test]
fn types_are_equal_if_names_and_rule_are() {
    let make = |name: &str, rule: &str| NodeTypes::new(vec![name.into()], rule, |_, _| 7);
    assert_eq!(make("a", "r"), make("a", "r"));
    assert_ne!(make("a", "r"), make("b", "r"));
    assert_ne!(make("a", "r"), make("a", "s"));
    let fabric = "1; 2; 1; 1".parse::<Pgft>().unwrap().fabric(GuidOrder::Topological);
    assert_eq!(make("a", "r").counts(&fabric), [2], "types beyond the last are the last");
    assert!(format!("{:?}", make("a", "r")).contains("rule"));
}
