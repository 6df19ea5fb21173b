//! Stable Dmodc: against its naive twin, and what it promises.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::HashSet;
use std::sync::Arc;

use common::{
    Case, Directors, for_seeds, four_levels, judge, pgft, random_fabric, random_faults,
    random_graph, random_pgft, route, unequal_cables,
};
use dmodc::oracle::stable::{self, States};
use dmodc::{
    CableIndex, Degradation, Dmodc, Fabric, GuidOrder, Kernel, Live, Random, Reference, Routing,
    RoutingOptions, Stable, SwitchIndex, alternative_ports,
};

fn engine(routing: &Routing, then: Live<'_>) -> Stable {
    Stable { reference: Arc::new(Reference::new(routing, then)) }
}

/// The reference is most often the whole fabric, and the present has any faults.
fn assert_equals_the_naive(random: &mut Random, fabric: &Fabric) {
    let then = match random.below(3) {
        0 => random_faults(random, fabric),
        _ => Degradation::none(fabric),
    };
    let now = random_faults(random, fabric);
    let (then, now) = (Live::new(fabric, &then), Live::new(fabric, &now));
    assert_states_equal_the_naive(random, then, now);
}

/// Every entry, for every form of the inner loops.
fn assert_states_equal_the_naive(random: &mut Random, then: Live<'_>, now: Live<'_>) {
    let fabric = now.fabric;
    let options = RoutingOptions { switch_lids: random.below(2) == 0, ..RoutingOptions::default() };
    let routing = Routing::new(then, &options);
    let leaves = [routing.ranking(then), routing.ranking(now)];
    let states = States { then: (then, leaves[0].leaves()), now: (now, leaves[1].leaves()) };
    let naive = stable::tables(states, routing.orders(), routing.columns());
    let engine = engine(&routing, then);
    for kernel in Kernel::all() {
        let mut ready = routing.preprocess(now);
        ready.kernel = kernel;
        let mut tables = routing.empty_tables(now).unwrap();
        dmodc::Engine::route(&engine, now, &ready, &mut tables).unwrap();
        for tile in routing.columns().tiles() {
            for s in fabric.switch_indices() {
                let naive = &naive[s.at()][tile.columns.clone()];
                assert_eq!(tables.row(s, &tile), naive, "{s:?}, {}", kernel.name());
            }
        }
        assert_eq!(tables.digest(), stable::digest(states, routing.orders(), routing.columns()));
    }
}

#[test]
fn tables_equal_the_naive_ones_on_pgfts() {
    for_seeds(250, |random| {
        let guids = GuidOrder::Shuffled(random.below(100));
        let fabric = random_pgft(random, 300).fabric(guids);
        assert_equals_the_naive(random, &fabric);
    });
}

/// Groups have two or three ports, and so many fail that most groups are left with different numbers of ports.
#[test]
fn tables_equal_the_naive_ones_where_parallel_cables_fail() {
    let tuples = ["2; 4,6; 1,4; 1,3", "3; 3,3,4; 1,3,2; 1,2,3", "3; 2,4,3; 1,4,4; 1,3,1"];
    for_seeds(120, |random| {
        let fabric = pgft(tuples[random.below(3) as usize]);
        assert_equals_the_naive(random, &fabric);
    });
}

/// In the reference, every group has one port, and in the present some have several.
#[test]
fn tables_equal_the_naive_ones_where_the_present_has_more_ports() {
    let fabric = pgft("2; 4,6; 1,4; 1,3");
    for_seeds(100, |random| {
        let mut then = Degradation::none(&fabric);
        let mut groups = HashSet::new();
        for (at, cable) in fabric.inter_switch_cables().iter().enumerate() {
            let is_first = groups.insert((cable.a.0, cable.b.0));
            then.set_cable(CableIndex::new(at), !is_first);
        }
        let mut now = then.clone();
        for at in 0..fabric.inter_switch_cables().len() {
            if random.below(6) == 0 {
                now.set_cable(CableIndex::new(at), random.below(2) == 0);
            }
        }
        let (then, now) = (Live::new(&fabric, &then), Live::new(&fabric, &now));
        assert_states_equal_the_naive(random, then, now);
    });
}

/// Switches that have the same switches above have unequal numbers of cables to them.
#[test]
fn tables_equal_the_naive_ones_where_cables_are_unequal() {
    for_seeds(600, |random| {
        let fabric = unequal_cables(random);
        assert_equals_the_naive(random, &fabric);
    });
}

#[test]
fn tables_equal_the_naive_ones_on_director_fabrics() {
    for_seeds(300, |random| {
        let fabric = match random.below(6) {
            0 => Directors::SMALL.fabric(),
            1 => Directors { leaves: 8, ..Directors::SMALL.doubled() }.fabric(),
            _ => Directors::random(random).fabric(),
        };
        assert_equals_the_naive(random, &fabric);
    });
    for_seeds(3, |random| assert_equals_the_naive(random, &four_levels(2)));
}

/// Spine chips and cores have several ways down to each leaf. Only a few cables fail, so most switches keep at least one way to each leaf.
#[test]
fn tables_equal_the_naive_ones_where_there_are_several_ways_down() {
    for_seeds(24, |random| {
        let fabric = match random.below(4) {
            0 => four_levels(3),
            1 => Directors { leaves: 70, nodes: 5, ..Directors::SMALL }.fabric(),
            _ => Directors { leaves: 24, ..Directors::LARGE }.fabric(),
        };
        let mut now = Degradation::none(&fabric);
        let one_in = 5 + random.below(40);
        for at in 0..fabric.inter_switch_cables().len() {
            now.set_cable(CableIndex::new(at), random.below(one_in) == 0);
        }
        let whole = Degradation::none(&fabric);
        let (then, now) = (Live::new(&fabric, &whole), Live::new(&fabric, &now));
        assert_states_equal_the_naive(random, then, now);
    });
}

#[test]
fn tables_equal_the_naive_ones_on_any_graph() {
    for_seeds(1000, |random| {
        let fabric = random_graph(random);
        assert_equals_the_naive(random, &fabric);
    });
}

/// The numbers of the example in docs/src/explanation/stable.md.
#[test]
fn the_worked_example_of_the_page() {
    let fabric = pgft("2; 4,8; 1,4; 1,1");
    let case = Case::healthy(&fabric);
    let routing = case.routing();
    let engine = engine(&routing, case.whole());
    // Towards nodes 24 to 27 and the own LID of leaf 6: a, b, c, d are behind ports 5 to 8 of a leaf.
    let row = |dead: &[&str], leaf: usize| -> Vec<char> {
        let mut faults = Degradation::none(&fabric);
        for cable in dead {
            faults.remove(&fabric, cable).unwrap();
        }
        let (tables, _) = routing.route(Live::new(&fabric, &faults), &engine).unwrap();
        let columns = routing.columns();
        let place = columns.switches().iter().position(|s| s.at() == 6).unwrap();
        let port = |column| tables.port(SwitchIndex::new(leaf), column).unwrap().0;
        columns.of_switch(place).map(|column| char::from(b'a' + port(column) - 5)).collect()
    };
    assert_eq!(row(&[], 1), ['a', 'b', 'c', 'd', 'c']);
    assert_eq!(row(&["L1-1/7"], 1), ['a', 'b', 'b', 'd', 'd'], "its own LID: x = 1 · 1 + 0 + 1");
    assert_eq!(row(&["L1-1/7", "L1-2/7"], 2)[2], 'd');
    assert_eq!(row(&["L1-1/7", "L1-6/5"], 1), ['d', 'b', 'b', 'd', 'b']);
}

/// A leaf with three upswitches a, b and c, two cables to each. Those to c fail and one of those to b: b has half as many ports
/// as a, and gets half as many of the displaced destinations.
#[test]
fn groups_get_as_much_as_they_have_ports() {
    let fabric = pgft("2; 9,13; 1,3; 1,2");
    let case = Case::healthy(&fabric);
    let routing = case.routing();
    let mut faults = Degradation::none(&fabric);
    let ports_to = |above: usize| -> Vec<u8> {
        let cables = fabric.inter_switch_cables().iter().map(|cable| [cable.a, cable.b]);
        let leads = |ends: &[(SwitchIndex, dmodc::PortNumber); 2]| ends[1].0.at() == 13 + above;
        let up = cables.filter(|ends| ends[0].0.at() == 0).filter(leads);
        up.map(|ends| ends[0].1.0).collect()
    };
    let (a, b, c) = (ports_to(0), ports_to(1), ports_to(2));
    for port in [c[0], c[1], b[1]] {
        faults.remove(&fabric, &format!("L1-0/{port}")).unwrap();
    }
    let healthy = route(&routing, case.whole());
    let engine = engine(&routing, case.whole());
    let (tables, _) = routing.route(Live::new(&fabric, &faults), &engine).unwrap();
    let leaf = SwitchIndex::new(0);
    let columns = 0..routing.columns().len();
    let was_at_c = |column: &usize| c.contains(&healthy.port(leaf, *column).unwrap().0);
    let is_node_elsewhere = |column: &usize| {
        let end = routing.columns().destinations()[*column].end;
        matches!(end, dmodc::End::Node(n) if fabric.node(n).switch != leaf)
    };
    let displaced = columns.filter(is_node_elsewhere).filter(was_at_c);
    let ports: Vec<u8> = displaced.map(|column| tables.port(leaf, column).unwrap().0).collect();
    let taken = |port: u8| ports.iter().filter(|taken| **taken == port).count();
    assert_eq!(ports.len(), 36);
    assert_eq!([a[0], a[1], b[0]].map(taken), [12, 12, 12]);
}

/// The reference itself has Dmodc's tables, whatever the graph.
#[test]
fn the_reference_is_routed_as_by_dmodc() {
    for_seeds(150, |random| {
        let fabric = random_fabric(random, 300);
        let case = Case::degraded(random, &fabric);
        let live = case.now();
        let routing = Routing::new(live, &Default::default());
        let (plain, coverage) = routing.route(live, &Dmodc).unwrap();
        let (tables, covered) = routing.route(live, &engine(&routing, live)).unwrap();
        assert!(tables == plain);
        assert_eq!(covered, coverage);
    });
}

/// Every port is an alternative one, so routes are up*down*; and an entry that could stay did.
#[test]
fn what_can_stay_stays() {
    for_seeds(200, |random| {
        let fabric = random_fabric(random, 200);
        let case = Case::degraded(random, &fabric);
        let (then, now, routing) = (case.whole(), case.now(), case.routing());
        let old = route(&routing, then);
        let (new, covered) = routing.route(now, &engine(&routing, then)).unwrap();
        assert_eq!(covered, routing.route(now, &Dmodc).unwrap().1);
        let columns = routing.columns();
        let place = |t: SwitchIndex| columns.switches().iter().position(|s| *s == t).unwrap();
        alternative_ports(now, &routing.preprocess(now), columns.switches(), |s, target, ports| {
            for column in columns.of_switch(place(target)) {
                let (old, new) = (old.port(s, column), new.port(s, column));
                if !columns.destinations()[column].end.is_alive(now) {
                    assert_eq!(new, None);
                } else if old.is_some_and(|old| ports.contains(&old)) {
                    assert_eq!(new, old, "an entry moved that did not have to");
                } else {
                    assert_eq!(new.is_some(), !ports.is_empty());
                    assert!(new.is_none_or(|new| ports.contains(&new)));
                }
            }
        })
        .unwrap();
        let verdict = judge(&routing, now, &new).nodes;
        assert!(verdict.is_deadlock_free());
        assert_eq!(verdict.up_down_violations, 0);
    });
}
