//! Numbers that last: adapters are replaced, hosts boot late, leaves are replaced. Nobody else's number changes, and the balance stays
//! that of fresh numbers.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::HashMap;

use common::{Case, route, saved_options};
use dmodc::advise::NumbersCost;
use dmodc::{
    CableIndex, Degradation, DestinationNumber, DestinationOrder, End, Fabric, Guid, GuidOrder,
    NodeIndex, Pgft, PortNumber, Random, Routing, RoutingOptions, SavedOrders, SwitchIndex,
    SwitchOrder,
};

/// A fabric that lives for years: what is there now, and the orders that are kept.
struct Life {
    saved: Option<SavedOrders>,
}

impl Life {
    fn new() -> Self {
        Life { saved: None }
    }

    /// The fabric is now this; who was known before keeps the number of its place.
    fn becomes(&mut self, now: &Fabric) -> NumbersCost {
        let case = Case::healthy(now);
        let live = case.whole();
        let first = match self.saved.take() {
            None => RoutingOptions {
                destinations: DestinationOrder::Places,
                switches: SwitchOrder::AgreedPlane,
                ..Default::default()
            },
            Some(mut saved) => {
                saved.hand_over_to(now);
                let options = saved_options(&saved);
                self.saved = Some(saved);
                options
            }
        };
        let routing = Routing::new(live, &first);
        let mut saved = routing.orders().save(live);
        if let Some(earlier) = &self.saved {
            saved.keep_absent(earlier);
        }
        // Whoever reads what is saved gets the same numbers.
        let again = Routing::new(live, &saved_options(&saved));
        assert_eq!(again.orders(), routing.orders());
        let cost = NumbersCost::new(live, &again).unwrap();
        self.saved = Some(saved);
        cost
    }

    /// The port of each switch for each node.
    fn routes(&self, fabric: &Fabric) -> Vec<Vec<Option<PortNumber>>> {
        let case = Case::healthy(fabric);
        let live = case.whole();
        let routing = Routing::new(live, &saved_options(self.saved.as_ref().unwrap()));
        let tables = route(&routing, live);
        let mut routes = vec![vec![]; fabric.nodes().len()];
        for (column, d) in tables.columns().destinations().iter().enumerate() {
            if let End::Node(n) = d.end {
                routes[n.at()] = fabric.switch_indices().map(|s| tables.port(s, column)).collect();
            }
        }
        routes
    }

    fn numbers(&self, fabric: &Fabric) -> HashMap<Guid, DestinationNumber> {
        let case = Case::healthy(fabric);
        let live = case.whole();
        let routing = Routing::new(live, &saved_options(self.saved.as_ref().unwrap()));
        let number = |n: NodeIndex| (fabric.node(n).guid, routing.orders().node_number(n));
        fabric.node_indices().map(number).collect()
    }
}

fn fabric(tuple: &str, seed: u64) -> Fabric {
    let guids = if seed == 0 { GuidOrder::Topological } else { GuidOrder::Shuffled(seed) };
    tuple.parse::<Pgft>().unwrap().fabric(guids)
}

/// The fabric with only those nodes.
fn with_nodes(whole: &Fabric, stays: impl Fn(NodeIndex) -> bool) -> Fabric {
    let mut off = Degradation::none(whole);
    for n in whole.node_indices().filter(|&n| !stays(n)) {
        off.set_cable(whole.node_cable(n), true);
    }
    whole.without(&off)
}

/// The fabric with other GUIDs for some nodes, with their adapters, and some switches.
fn replaced(whole: &Fabric, nodes: &[NodeIndex], switches: &[SwitchIndex]) -> Fabric {
    let mut node_guids: Vec<Guid> = whole.nodes().iter().map(|n| n.guid).collect();
    let mut adapters: Vec<Guid> = whole.adapters().iter().map(|a| a.guid).collect();
    let mut switch_guids: Vec<Guid> = whole.switches().iter().map(|s| s.guid).collect();
    for n in nodes {
        node_guids[n.at()].0 += 0xbeef_0000_0000_0000;
        adapters[whole.node(*n).adapter.at()].0 += 0xbeef_0000_0000_0000;
    }
    for s in switches {
        switch_guids[s.at()].0 += 0xbeef_0000_0000_0000;
    }
    whole.with_guids(&switch_guids, &adapters, &node_guids)
}

const FABRICS: [&str; 5] = [
    "2; 18,36; 1,18; 1,1",
    "3; 18,6,9; 1,9,6; 1,2,1",
    "3; 6,6,12; 1,6,6; 1,1,1",
    "2; 24,24; 1,12; 1,1",
    "3; 8,4,6; 1,4,4; 1,1,1",
];

fn assert_balanced(cost: NumbersCost, what: &str) {
    assert!(!cost.is_noticeable(), "{what}: {cost}");
}

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

/// Which nodes there are.
type Choice<'a> = Box<dyn Fn(NodeIndex) -> bool + 'a>;

/// Leaves that are filled to the same port, or where some have few nodes, leave no plane unused.
#[test]
fn half_filled_leaves_use_all_planes() {
    for tuple in FABRICS {
        let whole = fabric(tuple, 6);
        let width = whole.nodes_of(SwitchIndex::new(0)).len() as u8;
        let port = |n: NodeIndex| whole.node(n).switch_port.0;
        let leaf = |n: NodeIndex| whole.node(n).switch.at();
        let cases: [(&str, Choice<'_>); 4] = [
            ("all half", Box::new(move |n| port(n) <= width / 2)),
            ("one full", Box::new(move |n| port(n) <= width / 2 || leaf(n) == 3)),
            ("a third with few", Box::new(move |n| leaf(n) % 3 > 0 || port(n) <= 3)),
            ("the upper half", Box::new(move |n| port(n) > width / 2)),
        ];
        for (what, stays) in cases {
            let now = with_nodes(&whole, &stays);
            let mut life = Life::new();
            assert_balanced(life.becomes(&now), &format!("{tuple}, {what}"));
            // One host is off at the first start.
            let absent = NodeIndex::new(now.nodes().len() / 2 + 1);
            let mut life = Life::new();
            life.becomes(&with_nodes(&now, |n| n != absent));
            assert_balanced(life.becomes(&now), &format!("{tuple}, {what}, one late"));
        }
    }
}

/// A node where no leaf has one gets a number that costs next to nothing.
#[test]
fn a_node_in_a_new_place_fits() {
    for tuple in FABRICS {
        let whole = fabric(tuple, 7);
        let width = whole.nodes_of(SwitchIndex::new(0)).len() as u8;
        let port = |n: NodeIndex| whole.node(n).switch_port.0;
        let mut life = Life::new();
        life.becomes(&with_nodes(&whole, |n| port(n) <= width / 2));
        let new = whole.node_indices().find(|&n| port(n) == width / 2 + 1 && n.at() > 100).unwrap();
        let now = with_nodes(&whole, |n| port(n) <= width / 2 || n == new);
        assert_balanced(life.becomes(&now), tuple);
    }
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

/// Hosts in ports that nobody expected, on leaves that are full or wait for late ones: the first few cost next to nothing.
#[test]
fn growth_beyond_all_places_costs_little() {
    let cases = [
        ("3; 20,6,9; 1,9,6; 1,2,1", 18),
        ("2; 20,36; 1,18; 1,1", 18),
        ("3; 8,6,12; 1,6,6; 1,1,1", 6),
    ];
    for (tuple, width) in cases {
        let whole = fabric(tuple, 0);
        for seed in 0..4 {
            let (mut base, mut new): (Vec<NodeIndex>, Vec<NodeIndex>) =
                whole.node_indices().partition(|&n| whole.node(n).switch_port.0 <= width);
            let mut random = Random::new(seed, 3);
            random.shuffle(&mut base);
            random.shuffle(&mut new);
            let late = if seed % 2 == 0 { base.len() / 50 } else { 0 };
            let mut is_on = vec![false; whole.nodes().len()];
            base[late..].iter().for_each(|n| is_on[n.at()] = true);
            let mut life = Life::new();
            life.becomes(&with_nodes(&whole, |n| is_on[n.at()]));
            for (count, n) in new[..12].iter().enumerate() {
                is_on[n.at()] = true;
                let cost = life.becomes(&with_nodes(&whole, |n| is_on[n.at()]));
                let limit = if count < 6 { 1.05 } else { 1.08 };
                assert!(cost.ratio() < limit, "{tuple}, seed {seed}, {} new: {cost}", count + 1);
            }
        }
    }
}

/// One more leaf, and another one, in pods that are full: fresh numbers would hardly be better.
#[test]
fn new_leaves_in_full_pods_fit() {
    for (tuple, leaves) in [("3; 18,8,9; 1,9,6; 1,2,1", 6), ("3; 6,8,12; 1,6,6; 1,1,1", 6)] {
        let whole = fabric(tuple, 0);
        let pods = whole.nodes().last().unwrap().switch.at() / 8 + 1;
        for seed in 0..4 {
            let mut new: Vec<usize> = (0..8 * pods).filter(|leaf| leaf % 8 >= leaves).collect();
            let mut random = Random::new(seed, 5);
            random.shuffle(&mut new);
            let mut absent = Degradation::none(&whole);
            new.iter().for_each(|&leaf| absent.set_switch(SwitchIndex::new(leaf), true));
            let mut life = Life::new();
            life.becomes(&whole.without(&absent));
            let before = life.numbers(&whole.without(&absent));
            for (count, &leaf) in new[..4].iter().enumerate() {
                absent.set_switch(SwitchIndex::new(leaf), false);
                let now = whole.without(&absent);
                let what = format!("{tuple}, seed {seed}, {} new", count + 1);
                assert_balanced(life.becomes(&now), &what);
                let after = life.numbers(&now);
                assert!(before.iter().all(|(guid, number)| after[guid] == *number), "{tuple}");
            }
        }
    }
}

/// Fresh numbers for leaves that wait for late hosts and have others that nobody expected: places that nobody is in do not push anybody onto a
/// port that is in use.
#[test]
fn empty_places_are_given_up_where_others_came() {
    for (tuple, width) in [("3; 20,6,9; 1,9,6; 1,2,1", 18), ("2; 20,36; 1,18; 1,1", 18)] {
        let whole = fabric(tuple, 0);
        for seed in 0..6 {
            let mut random = Random::new(seed, 4);
            let (mut base, mut new): (Vec<NodeIndex>, Vec<NodeIndex>) =
                whole.node_indices().partition(|&n| whole.node(n).switch_port.0 <= width);
            random.shuffle(&mut base);
            random.shuffle(&mut new);
            // The first new host is on the leaf of the first absent one.
            let leaf = whole.node(base[0]).switch;
            let first = new.iter().position(|&n| whole.node(n).switch == leaf).unwrap();
            new.swap(0, first);
            let (absent, come) = (&base[..6], &new[..seed as usize]);
            let is_on = |n: NodeIndex| {
                come.contains(&n) || whole.node(n).switch_port.0 <= width && !absent.contains(&n)
            };
            let cost = Life::new().becomes(&with_nodes(&whole, is_on));
            assert_balanced(cost, &format!("{tuple}, seed {seed}"));
        }
    }
}

/// Leaves with ports that nobody uses: hosts that boot late, in one step or in several, end where fresh numbers would.
#[test]
fn spare_ports_are_no_places() {
    for (tuple, width) in
        [("2; 10,8; 1,4; 1,3", 6), ("3; 14,6,6; 1,6,6; 1,1,1", 6), ("2; 20,10; 1,6; 1,1", 12)]
    {
        let whole = fabric(tuple, 0);
        let all = with_nodes(&whole, |n| whole.node(n).switch_port.0 <= width);
        for (seed, percent) in [(0, 80), (1, 50), (2, 67), (3, 90)] {
            let mut order: Vec<NodeIndex> = all.node_indices().collect();
            Random::new(seed, 6).shuffle(&mut order);
            let up = order.len() * percent / 100;
            let mut life = Life::new();
            life.becomes(&with_nodes(&all, |n| order[..up].contains(&n)));
            assert_balanced(life.becomes(&all), &format!("{tuple}, {percent} % first"));
        }
    }
}

/// Leaves that simply have fewer hosts than others, few or many of them, keep no places.
#[test]
fn smaller_leaves_keep_no_places() {
    for (tuple, small, width) in [
        ("2; 18,36; 1,18; 1,1", 18, 16),
        ("2; 18,36; 1,18; 1,1", 6, 15),
        ("2; 4,12; 1,4; 1,1", 4, 2),
        ("2; 8,12; 1,8; 1,1", 6, 6),
    ] {
        let whole = fabric(tuple, 0);
        let stays = |n: NodeIndex| {
            let node = whole.node(n);
            node.switch.at() >= small || node.switch_port.0 <= width
        };
        let cost = Life::new().becomes(&with_nodes(&whole, stays));
        assert_balanced(cost, &format!("{tuple}, {small} leaves with {width}"));
    }
    // Every second port of two leaves is empty.
    let whole = fabric("2; 12,8; 1,6; 1,1", 0);
    let stays =
        |n: NodeIndex| whole.node(n).switch.at() > 1 || whole.node(n).switch_port.0 % 2 == 1;
    assert_balanced(Life::new().becomes(&with_nodes(&whole, stays)), "every second port");
}

/// Several hosts in unexpected places of one leaf that is not full use what the leaf does not use yet.
#[test]
fn several_new_hosts_on_one_leaf_fit() {
    for tuple in ["2; 18,24; 1,18; 1,1", "2; 16,12; 1,16; 1,1"] {
        let whole = fabric(tuple, 0);
        let width = 12;
        for leaf in [0, 5, 11] {
            let mut life = Life::new();
            let port = |n: NodeIndex| whole.node(n).switch_port.0;
            life.becomes(&with_nodes(&whole, |n| port(n) <= width));
            let now = with_nodes(&whole, |n| {
                port(n) <= width || whole.node(n).switch.at() == leaf && port(n) <= width + 3
            });
            let cost = life.becomes(&now);
            assert_eq!(cost.all_to_all, cost.fresh_all_to_all, "{tuple}, leaf {leaf}: {cost}");
        }
    }
}
