//! Numbers type by type: each type is balanced by itself, and stays so when orders are saved.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;

use common::{
    Case, for_seeds, pgft, random_fabric, random_guids, random_pgft, random_types, route,
    saved_options,
};
use dmodc::advise::NumbersCost;
use dmodc::{
    DestinationOrder, End, Fabric, ForwardingTables, NodeTypes, Pgft, PortNumber, Routing,
    RoutingOptions, SwitchIndex, SwitchOrder,
};

/// Type 0: the nodes in port 1 of each leaf. Type 1: all others.
fn first_port_is_storage() -> NodeTypes {
    let names = vec!["storage".into(), "compute".into()];
    NodeTypes::new(names, "port", |fabric, n| {
        u32::from(fabric.node(n).switch_port != PortNumber(1))
    })
}

/// How many destinations of each type each port of a switch is the route of.
fn destinations_by_port(
    fabric: &Fabric,
    types: &NodeTypes,
    tables: &ForwardingTables,
    s: SwitchIndex,
) -> BTreeMap<(u32, PortNumber), u32> {
    let mut counts = BTreeMap::new();
    for (column, d) in tables.columns().destinations().iter().enumerate() {
        if let (End::Node(n), Some(port)) = (d.end, tables.port(s, column))
            && d.switch != s
        {
            *counts.entry((types.type_of(fabric, n), port)).or_default() += 1;
        }
    }
    counts
}

/// A leaf has W uplinks. Of T consecutive numbers of a type, k consecutive ones are its own; the others take each uplink at
/// most ⌈T/W⌉ − ⌊k/W⌋ times.
#[test]
fn each_type_is_spread_over_the_uplinks_of_each_leaf() {
    for_seeds(120, |random| {
        let tuple = random_pgft(random, 100);
        let fabric = tuple.fabric(random_guids(random));
        let types = random_types(random);
        let case = Case::healthy(&fabric);
        let options = RoutingOptions {
            destinations: DestinationOrder::Types(types.clone()),
            ..RoutingOptions::default()
        };
        let routing = Routing::new(case.whole(), &options);
        if routing.choices_down().is_some() {
            // The dividers were measured, so other numbers may share an uplink.
            return;
        }
        let tables = route(&routing, case.whole());
        let totals = types.counts(&fabric);
        for leaf in routing.ranking(case.whole()).leaves().to_vec() {
            let uplinks = case.whole().links(leaf).count();
            let own = |kind: u32| {
                let nodes = fabric.nodes_of(leaf).iter();
                nodes.filter(|&&n| types.type_of(&fabric, n) == kind).count()
            };
            for ((kind, port), count) in destinations_by_port(&fabric, &types, &tables, leaf) {
                let most = totals[kind as usize].div_ceil(uplinks) - own(kind) / uplinks;
                assert!(count as usize <= most, "{tuple} {leaf:?} {port:?}: {count} > {most}");
            }
        }
    });
}

/// With 4 nodes on each leaf and 4 uplinks, the first nodes of all leaves have numbers 0, 4, 8 … By type they have 0, 1, 2 …
#[test]
fn storage_nodes_in_the_same_port_of_each_leaf_use_all_uplinks() {
    let fabric = pgft("3; 4,4,4; 1,4,4; 1,1,1");
    let case = Case::healthy(&fabric);
    let types = first_port_is_storage();
    let leaf = SwitchIndex::new(0);
    for (destinations, uplinks, most) in [
        (DestinationOrder::Topological, 1, 15),
        (DestinationOrder::Types(types.clone()), 4, 4),
        (DestinationOrder::TypedPlaces(types.clone()), 4, 4),
    ] {
        let options = RoutingOptions { destinations, ..RoutingOptions::default() };
        let routing = Routing::new(case.whole(), &options);
        let tables = route(&routing, case.whole());
        let mut counts = destinations_by_port(&fabric, &types, &tables, leaf);
        counts.retain(|(kind, _), _| *kind == 0);
        assert_eq!((counts.len(), counts.values().max()), (uplinks, Some(&most)));
    }
}

/// Saved numbers by type come back as they were, whatever is absent later; and they are compared with fresh numbers by the
/// same types, so that nobody is advised to number anew without types.
#[test]
fn saved_numbers_by_type_are_kept() {
    for_seeds(80, |random| {
        let fabric = random_fabric(random, 60);
        let case = Case::degraded(random, &fabric);
        let options = RoutingOptions {
            destinations: DestinationOrder::TypedPlaces(random_types(random)),
            switches: SwitchOrder::AgreedPlane,
            ..RoutingOptions::default()
        };
        let first = Routing::new(case.whole(), &options);
        let saved = first.orders().save(case.whole());
        let again = Routing::new(case.whole(), &saved_options(&saved));
        assert_eq!(again.orders(), first.orders());
        let degraded = fabric.without(&case.faults);
        let later_case = Case::healthy(&degraded);
        let later = Routing::new(later_case.whole(), &saved_options(&saved));
        let mut numbers = BTreeMap::new();
        for n in fabric.node_indices() {
            numbers.insert(fabric.node(n).guid, first.orders().node_number(n));
        }
        for n in degraded.node_indices() {
            assert_eq!(later.orders().node_number(n), numbers[&degraded.node(n).guid]);
        }
        let mut kept = later.orders().save(later_case.whole());
        kept.keep_absent(&saved);
        assert_eq!(kept.type_starts, saved.type_starts);
    });
}

#[test]
fn the_cost_of_numbers_by_type_is_measured_among_them() {
    let tuple: Pgft = "3; 4,4,4; 1,4,4; 1,1,1".parse().unwrap();
    let fabric = tuple.fabric(Default::default());
    let case = Case::healthy(&fabric);
    let options = RoutingOptions {
        destinations: DestinationOrder::TypedPlaces(first_port_is_storage()),
        ..RoutingOptions::default()
    };
    let saved = Routing::orders_of(&fabric, &options);
    let routing = Routing::new(case.whole(), &saved_options(&saved));
    let cost = NumbersCost::new(case.whole(), &routing).unwrap();
    assert_eq!((cost.all_to_all, cost.shifts), (cost.fresh_all_to_all, cost.fresh_shifts));
}
