//! Numbers of nodes that come where no place was kept for them: they fit, and cost little balance.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::life::{FABRICS, Life, assert_balanced, fabric, with_nodes};
use dmodc::{Degradation, NodeIndex, Random, SwitchIndex};

/// Which nodes there are.
type Choice<'a> = Box<dyn Fn(NodeIndex) -> bool + 'a>;

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
