//! Numbers that last: adapters are replaced, hosts boot late, switches are replaced. No other number changes, and the
//! balance stays that of fresh numbers.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::HashMap;

use common::life::{FABRICS, Life, assert_balanced, fabric, replaced, with_nodes};
use common::{Case, saved_options};
use dmodc::{
    CableIndex, Degradation, Fabric, NodeIndex, Random, Routing, RoutingOptions, SwitchIndex,
};

#[test]
fn a_full_fabric_is_numbered_as_ever() {
    for tuple in FABRICS {
        for seed in [0, 3] {
            let whole = fabric(tuple, seed);
            let mut life = Life::new();
            life.becomes(&whole);
            let case = Case::healthy(&whole);
            let live = case.whole();
            let fresh = Routing::new(live, &Default::default());
            for n in whole.node_indices() {
                let number = life.numbers(&whole)[&whole.node(n).guid];
                assert_eq!(number, fresh.orders().node_number(n), "{tuple}");
            }
        }
    }
}

#[test]
fn a_replaced_adapter_takes_over_the_number() {
    for tuple in FABRICS {
        let whole = fabric(tuple, 1);
        let mut life = Life::new();
        life.becomes(&whole);
        let before = life.numbers(&whole);
        let chosen: Vec<NodeIndex> = [3, 17, 40].map(NodeIndex::new).to_vec();
        // It is absent for a while, or not.
        for absent_first in [false, true] {
            let mut life = Life { saved: life.saved.clone() };
            if absent_first {
                life.becomes(&with_nodes(&whole, |n| !chosen.contains(&n)));
            }
            let now = replaced(&whole, &chosen, &[]);
            assert_balanced(life.becomes(&now), tuple);
            let after = life.numbers(&now);
            for n in whole.node_indices() {
                assert_eq!(after[&now.node(n).guid], before[&whole.node(n).guid], "{tuple}");
            }
        }
    }
}

#[test]
fn late_hosts_fit_and_nobody_else_is_renumbered() {
    for tuple in FABRICS {
        let whole = fabric(tuple, 2);
        for (late, seed) in [(1, 0), (1, 1), (1, 2), (10, 3), (10, 4), (10, 5)] {
            let mut order: Vec<NodeIndex> = whole.node_indices().collect();
            Random::new(seed, 0).shuffle(&mut order);
            let mut life = Life::new();
            let first = with_nodes(&whole, |n| !order[..late].contains(&n));
            life.becomes(&first);
            let before = life.numbers(&first);
            for up in 1..=late {
                let now = with_nodes(&whole, |n| !order[up..late].contains(&n));
                life.becomes(&now);
            }
            assert_balanced(life.becomes(&whole), &format!("{tuple}, {late} late, seed {seed}"));
            let after = life.numbers(&whole);
            assert!(before.iter().all(|(guid, number)| after[guid] == *number), "{tuple}");
        }
    }
}

#[test]
fn random_boot_order_ends_where_fresh_numbers_would() {
    for tuple in FABRICS {
        let whole = fabric(tuple, 4);
        for seed in 0..4 {
            let mut order: Vec<NodeIndex> = whole.node_indices().collect();
            Random::new(seed, 0).shuffle(&mut order);
            let mut life = Life::new();
            let mut before = HashMap::new();
            for percent in [[3, 10, 20, 50, 80, 100], [30, 40, 50, 60, 70, 100]][seed as usize % 2]
            {
                let up = order.len() * percent / 100;
                let now = with_nodes(&whole, |n| order[..up].contains(&n));
                life.becomes(&now);
                let after = life.numbers(&now);
                assert!(before.iter().all(|(guid, number)| after[guid] == *number), "{tuple}");
                before = after;
            }
            assert_balanced(life.becomes(&whole), &format!("{tuple}, seed {seed}"));
        }
    }
}

#[test]
fn a_replaced_switch_takes_over() {
    for tuple in FABRICS {
        let whole = fabric(tuple, 5);
        let leaves = whole.nodes().last().unwrap().switch.at() + 1;
        for s in [0, leaves / 2, leaves, whole.switches().len() - 1].map(SwitchIndex::new) {
            let mut life = Life::new();
            life.becomes(&whole);
            let before = life.numbers(&whole);
            let mut absent = Degradation::none(&whole);
            absent.set_switch(s, true);
            life.becomes(&whole.without(&absent));
            let now = replaced(&whole, &[], &[s]);
            assert_balanced(life.becomes(&now), tuple);
            assert_eq!(life.numbers(&now), before, "{tuple}");
            // Its groups are where those of the replaced one were.
            let kept = order(&now, &saved_options(life.saved.as_ref().unwrap()));
            assert_eq!(kept, order(&whole, &Default::default()), "{tuple}");
        }
    }
}

/// The switches in switch order.
fn order(fabric: &Fabric, options: &RoutingOptions) -> Vec<usize> {
    let routing = Routing::new(Case::healthy(fabric).whole(), options);
    let mut all: Vec<usize> = (0..fabric.switches().len()).collect();
    all.sort_by_key(|&s| routing.orders().position(SwitchIndex::new(s)));
    all
}

/// A standby manager that never saw the whole fabric routes what is left of it as the master does, if GUIDs follow some order of assembly.
#[test]
fn a_standby_routes_a_degraded_fabric_as_the_master_does() {
    for tuple in FABRICS {
        let whole = fabric(tuple, 0);
        let leaves = whole.nodes().last().unwrap().switch.at() + 1;
        let mut master = Life::new();
        master.becomes(&whole);
        for seed in 0..20 {
            let mut random = Random::new(seed, 9);
            let mut below = |count: usize| random.below(count as u64) as usize;
            let mut faults = Degradation::none(&whole);
            // Hosts among them: every cable can be one to a node.
            for _ in 0..below(6) {
                faults.set_cable(CableIndex::new(below(whole.cable_count())), true);
            }
            let switches = match seed % 4 {
                0 => vec![],
                1 => vec![leaves + below(whole.switches().len() - leaves)],
                2 => vec![below(leaves)],
                _ => vec![leaves, below(leaves)],
            };
            for &s in &switches {
                faults.set_switch(SwitchIndex::new(s), true);
            }
            let now = whole.without(&faults);
            let mut standby = Life::new();
            standby.becomes(&now);
            let [masters, standbys] = [&master, &standby].map(|life| life.routes(&now));
            assert_eq!(masters, standbys, "{tuple}, seed {seed}, without {switches:?}");
        }
    }
}
