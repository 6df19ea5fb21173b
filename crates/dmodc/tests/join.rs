//! A reference and the present as one fabric: what both say, and what routing by it gives.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use common::{
    Case, Description, EntriesByGuid, described_anew, entries_by_guid, for_seeds, pgft,
    random_fabric, random_faults, random_options, route,
};
use dmodc::fabric::{Changes, Counts, Peer, Switch};
use dmodc::{
    Degradation, Dmodc, Fabric, FabricBuilder, Guid, Joined, Lid, Live, NodeIndex, PortNumber,
    Random, Reference, Routing, RoutingOptions, Stable, SwitchIndex, alternative_ports,
};

/// Orders and columns of a joined fabric, by the reference's own orders.
fn routing(joined: &Joined, reference: &Fabric, options: &RoutingOptions) -> Routing {
    let mut orders = Routing::orders_of(reference, options);
    joined.hand_over(&mut orders);
    joined.routing(options.leaves.clone(), &orders)
}

/// The present, routed by the reference.
fn stable(reference: &Fabric, present: &Fabric, options: &RoutingOptions) -> EntriesByGuid {
    let joined = Joined::new(reference, present).unwrap();
    let routing = routing(&joined, reference, options);
    let engine = Stable { reference: Arc::new(joined.reference(&routing)) };
    let (tables, _) = routing.route(Live::new(&joined.fabric, &joined.now), &engine).unwrap();
    entries_by_guid(&joined.fabric, &tables)
}

/// A fabric alone, routed by Dmodc.
fn plain(fabric: &Fabric, options: &RoutingOptions) -> EntriesByGuid {
    let case = Case::healthy(fabric);
    let routing = Routing::new(case.whole(), options);
    entries_by_guid(fabric, &route(&routing, case.whole()))
}

/// Any orders. The tables of a joined fabric always have the LIDs of switches.
fn options_of_a_join(random: &mut Random) -> RoutingOptions {
    RoutingOptions { switch_lids: true, ..random_options(random) }
}

/// Both are refused, or neither; which is so where most of a fabric is gone on one side and most of the
/// rest on the other.
fn joins(reference: &Fabric, present: &Fabric) -> bool {
    Joined::new(reference, present).is_ok()
}

/// The joined fabric in its reference state is routed as the reference alone.
#[test]
fn the_reference_is_in_the_joined_fabric_as_it_was() {
    for_seeds(150, |random| {
        let fabric = random_fabric(random, 200);
        let reference = fabric.without(&random_faults(random, &fabric));
        let present = fabric.without(&random_faults(random, &fabric));
        let present = described_anew(&present, random, |_| {});
        if !joins(&reference, &present) {
            return;
        }
        let options = options_of_a_join(random);
        let joined = Joined::new(&reference, &present).unwrap();
        let routing = routing(&joined, &reference, &options);
        for (state, alone) in [(&joined.then, &reference), (&joined.now, &present)] {
            let found = joined.fabric.without(state);
            let guids = |fabric: &Fabric| -> HashSet<Guid> {
                let nodes = fabric.nodes().iter().map(|n| n.guid);
                fabric.switches().iter().map(|s| s.guid).chain(nodes).collect()
            };
            assert_eq!(guids(&found), guids(alone));
            assert_eq!(found.inter_switch_cables().len(), alone.inter_switch_cables().len());
        }
        let live = Live::new(&joined.fabric, &joined.then);
        let (tables, _) = routing.route(live, &Dmodc).unwrap();
        assert_eq!(entries_by_guid(&joined.fabric, &tables), plain(&reference, &options));
    });
}

/// With the present as its own reference nothing is different, and nothing is new.
#[test]
fn the_present_as_reference_changes_nothing() {
    for_seeds(100, |random| {
        let fabric = random_fabric(random, 200);
        let present = fabric.without(&random_faults(random, &fabric));
        if present.switches().is_empty() {
            return;
        }
        let joined = Joined::new(&present, &present).unwrap();
        assert_eq!(joined.fabric, present);
        assert_eq!((joined.changes, joined.news.len()), (Changes::default(), 0));
        let none = Degradation::none(&present);
        assert_eq!((&joined.then, &joined.now), (&none, &none));
        let options = options_of_a_join(random);
        assert_eq!(stable(&present, &present, &options), plain(&present, &options));
    });
}

/// A degraded copy, described in any order, has the tables of the same faults as a mask.
#[test]
fn a_degraded_file_is_routed_as_its_mask() {
    for_seeds(150, |random| {
        let fabric = random_fabric(random, 200);
        let faults = random_faults(random, &fabric);
        let present = described_anew(&fabric.without(&faults), random, |_| {});
        let reference = described_anew(&fabric, random, |_| {});
        if !joins(&reference, &present) {
            return;
        }
        let options = options_of_a_join(random);
        let case = Case::with_faults(&fabric, faults);
        let routing = Routing::new(case.whole(), &options);
        let reference_state = Reference::new(&routing, case.whole());
        let engine = Stable { reference: Arc::new(reference_state) };
        let (masked, _) = routing.route(case.now(), &engine).unwrap();
        assert_eq!(stable(&reference, &present, &options), entries_by_guid(&fabric, &masked));
        let joined = Joined::new(&reference, &present).unwrap();
        assert_eq!((joined.changes.new, joined.news.len()), (Counts::default(), 0));
        let dead = fabric.switches().len() - present.switches().len();
        assert_eq!(joined.changes.missing.switches, dead);
        assert_eq!(joined.now.dead_switches().count(), dead);
        let alive = present.inter_switch_cables().len();
        assert_eq!(
            joined.fabric.inter_switch_cables().len(),
            fabric.inter_switch_cables().len(),
            "every slot of the reference is known, {alive} of them alive"
        );
    });
}

/// A file that lists fewer ports than the reference has the same tables: the cable in a port that is not
/// listed is a dead slot.
#[test]
fn a_file_without_the_ports_that_are_down_is_routed_as_its_mask() {
    let unlisted = Cell::new(0);
    for_seeds(150, |random| {
        let fabric = random_fabric(random, 200);
        let faults = random_faults(random, &fabric);
        let present = fabric.without(&faults);
        let short = described_anew(&present, random, Description::forget_unused_ports);
        if !joins(&fabric, &present) {
            return;
        }
        let options = options_of_a_join(random);
        assert!(stable(&fabric, &short, &options) == stable(&fabric, &present, &options));
        let (joined, expected) = (Joined::new(&fabric, &short), Joined::new(&fabric, &present));
        let (joined, expected) = (joined.unwrap(), expected.unwrap());
        assert_eq!(joined.changes, expected.changes);
        assert_eq!(joined.news, [], "fewer ports are no news");
        let cables = joined.fabric.inter_switch_cables().len();
        assert_eq!(cables, fabric.inter_switch_cables().len());
        assert_eq!(joined.fabric.nodes().len(), fabric.nodes().len());
        let ports: usize = short.switches().iter().map(|s| usize::from(s.ports)).sum();
        let before: usize = present.switches().iter().map(|s| usize::from(s.ports)).sum();
        unlisted.set(unlisted.get() + before - ports);
    });
    assert!(unlisted.get() > 100, "{} ports were not listed", unlisted.get());
}

/// When a fabric grows, what exists keeps its entries unless they are no alternatives any more.
#[test]
fn growth_moves_nothing_that_can_stay() {
    let stayed = Cell::new(0);
    for_seeds(150, |random| {
        let fabric = random_fabric(random, 200);
        let reference = fabric.without(&random_faults(random, &fabric));
        if !joins(&reference, &fabric) {
            return;
        }
        let options = RoutingOptions::default();
        let before = plain(&reference, &options);
        let joined = Joined::new(&reference, &fabric).unwrap();
        assert_eq!(joined.changes.missing, Counts::default());
        let routing = routing(&joined, &reference, &options);
        let after = stable(&reference, &fabric, &options);
        let now = Live::new(&joined.fabric, &joined.now);
        let columns = routing.columns();
        alternative_ports(now, &routing.preprocess(now), columns.switches(), |s, target, ports| {
            for d in columns.destinations().iter().filter(|d| d.switch == target) {
                let name = (joined.fabric.switch(s).guid, d.end.guid(&joined.fabric), d.k);
                if let Some(old) = before.get(&name)
                    && ports.contains(&PortNumber(*old))
                {
                    assert_eq!(after.get(&name), Some(old), "an entry moved that did not have to");
                    stayed.set(stayed.get() + 1);
                }
            }
        })
        .unwrap();
    });
    assert!(stayed.get() > 10_000);
}

/// Three leaves with two nodes each (ports 1, 2), two spines, a cable from each to each (ports 3, 4).
const SMALL: &str = "2; 2,3; 1,2; 1,1";

/// The same with something changed.
fn changed(change: impl FnOnce(&mut Description)) -> (Fabric, Joined) {
    let reference = pgft(SMALL);
    let mut described = Description::of(&reference);
    change(&mut described);
    let joined = Joined::new(&reference, &described.finish()).unwrap();
    (reference, joined)
}

#[test]
fn a_cable_in_another_port_is_there_in_both_states() {
    let reference = pgft(SMALL);
    let spine = reference.switches()[3].guid;
    // The cable of the first leaf is in the spine's last port, where the third leaf's was.
    let (_, joined) = changed(|described| {
        let taken = described.cables.iter().position(|c| c[1] == (spine, PortNumber(3))).unwrap();
        described.cables.remove(taken);
        let moved = described.cables.iter_mut().find(|c| c[1] == (spine, PortNumber(1))).unwrap();
        moved[1].1 = PortNumber(3);
    });
    let changes = Changes { recabled: 1, ..Changes::default() };
    assert_eq!(joined.changes, changes, "it took the place of two");
    assert_eq!((joined.then.removed().count(), joined.now.removed().count()), (0, 0));
    assert_eq!(joined.fabric.inter_switch_cables().len(), 5);
    assert_eq!(joined.news.len(), 1);
}

#[test]
fn a_moved_node_is_in_its_new_place_and_leaves_its_number_to_the_old_one() {
    let (reference, joined) = changed(|described| {
        let last = described.switches[2].guid;
        described.nodes[0].at = (last, PortNumber(5));
        described.switches[2].ports = 5;
    });
    assert_eq!(joined.changes, Changes { moved: 1, ..Changes::default() });
    assert_eq!(joined.news.len(), 2, "the node, and the switch that has another number of ports");
    let then = Live::new(&joined.fabric, &joined.then);
    assert_eq!(then.nodes(SwitchIndex::new(2)).count(), 3);
    let routing = routing(&joined, &reference, &RoutingOptions::default());
    let numbers: Vec<u32> =
        joined.fabric.node_indices().map(|n| routing.orders().node_number(n).number).collect();
    assert_eq!(numbers, [6, 1, 2, 3, 4, 5], "nobody else is renumbered");
}

#[test]
fn replacements_have_the_places_of_the_replaced() {
    let (new_spine, new_leaf, new_node) = (Guid(0xa1), Guid(0xa2), Guid(0xa3));
    let (reference, joined) = changed(|described| {
        let (leaf, spine) = (described.switches[0].guid, described.switches[3].guid);
        described.rename_switch(spine, new_spine);
        described.rename_switch(leaf, new_leaf);
        described.nodes[5].guid = new_node;
        described.nodes[5].adapter.guid = Guid(0xa4);
        // A cable of the new spine is not plugged in yet.
        described.cables.retain(|cable| cable[1] != (new_spine, PortNumber(3)));
    });
    let missing = Counts { cables: 1, ..Counts::default() };
    let (replaced_switches, replaced_nodes) = (2, 1);
    let changes = Changes { missing, replaced_switches, replaced_nodes, ..Changes::default() };
    assert_eq!(joined.changes, changes);
    assert_eq!(joined.fabric.switches().len(), 5);
    assert_eq!((joined.then.removed().count(), joined.now.removed().count()), (0, 1));
    // All entries are what they were, but for the names and what the missing cable moves.
    let names = HashMap::from([
        (new_spine, reference.switches()[3].guid),
        (new_leaf, reference.switches()[0].guid),
        (new_node, reference.nodes()[5].guid),
    ]);
    let name = |guid: Guid| *names.get(&guid).unwrap_or(&guid);
    let routing = routing(&joined, &reference, &RoutingOptions::default());
    let live = Live::new(&joined.fabric, &joined.then);
    let (tables, _) = routing.route(live, &Dmodc).unwrap();
    let then: EntriesByGuid = entries_by_guid(&joined.fabric, &tables)
        .into_iter()
        .map(|((s, d, k), port)| ((name(s), name(d), k), port))
        .collect();
    assert_eq!(then, plain(&reference, &RoutingOptions::default()));
}

#[test]
fn what_only_shares_a_port_with_the_absent_replaces_nobody() {
    // Two switches where one was.
    let (_, joined) = changed(|described| {
        let spine = described.switches[3].guid;
        described.rename_switch(spine, Guid(0xa1));
        let other = Switch { guid: Guid(0xa2), lid: Lid(500), ..described.switches[3].clone() };
        described.switches.push(other);
        described.cables.iter_mut().find(|c| c[1] == (Guid(0xa1), PortNumber(3))).unwrap()[1].0 =
            Guid(0xa2);
    });
    assert_eq!(joined.changes.replaced_switches, 1, "the one with most of its cables");
    assert_eq!((joined.changes.new.switches, joined.changes.recabled), (1, 1));
    // An aggregation node where a host was.
    let (_, joined) = changed(|described| {
        described.nodes[0].guid = Guid(0xa3);
        described.nodes[0].adapter.guid = Guid(0xa4);
        described.nodes[0].adapter.kind = dmodc::fabric::AdapterKind::Aggregation;
    });
    assert_eq!(joined.changes.replaced_nodes, 0);
    assert_eq!((joined.changes.new.nodes, joined.changes.missing.nodes), (1, 1));
    assert_eq!(joined.fabric.nodes().len(), 6, "the absent one has no port left");
}

#[test]
fn lids_are_the_presents_and_the_absent_gets_free_ones() {
    let (reference, joined) = changed(|described| {
        // The first node has died; its LID is the second one's now, which has four.
        described.nodes.remove(0);
        (described.nodes[0].lid, described.nodes[0].lmc) = (Lid(40), 2);
        described.nodes[1].lid = Lid(1);
    });
    let lid = |guid: Guid| {
        let node = joined.fabric.nodes().iter().find(|n| n.guid == guid).unwrap();
        (node.lid, node.lmc)
    };
    let nodes = reference.nodes();
    assert_eq!(lid(nodes[1].guid), (Lid(40), 2));
    assert_eq!(lid(nodes[2].guid), (Lid(1), 0));
    let (absent, _) = lid(nodes[0].guid);
    let all = joined.fabric.nodes().iter().flat_map(|n| (0..1 << n.lmc).map(|k| n.lid.0 + k));
    let all: Vec<u32> = all.chain(joined.fabric.switches().iter().map(|s| s.lid.0)).collect();
    assert_eq!(all.iter().filter(|lid| **lid == absent.0).count(), 1);
    assert!(absent > Lid(0));
    assert_eq!(joined.fabric.node(NodeIndex::new(5)).guid, nodes[0].guid, "the absent follow");
}

#[test]
fn other_fabrics_are_refused_with_numbers() {
    let small = pgft(SMALL);
    let mut described = Description::of(&small);
    for s in small.switches() {
        described.rename_switch(s.guid, Guid(!s.guid.0));
    }
    assert_eq!(
        Joined::new(&described.finish(), &small).unwrap_err().to_string(),
        "the reference describes another fabric: only 0 of its 5 switches are among the 5 of the present fabric"
    );
    // The same GUIDs, cabled otherwise.
    let other = pgft("2; 4,3; 1,2; 1,1");
    assert_eq!(
        Joined::new(&other, &small).unwrap_err().to_string(),
        "the reference describes another fabric: 0 cables between switches are the same in both, \
         but 6 cables differ"
    );
    // A pod is a part of a whole, and the other way round.
    let (part, whole) = (pgft("2; 2,3; 1,2; 1,1"), pgft("2; 2,30; 1,2; 1,1"));
    assert!(joins(&part, &whole) && joins(&whole, &part));
    assert!(!joins(&FabricBuilder::new().finish().unwrap(), &small));
}

/// Whatever is changed at random: a consistent fabric, in which the present is exactly itself.
#[test]
fn any_change_gives_a_fabric_with_the_present_in_it() {
    for_seeds(400, |random| {
        let fabric = random_fabric(random, 200);
        let reference = fabric.without(&random_faults(random, &fabric));
        let present = fabric.without(&random_faults(random, &fabric));
        let mut described = Description::of(&present);
        for _ in 0..random.below(8) {
            change_at_random(random, &mut described, &fabric);
        }
        let present = described.finish();
        let Ok(joined) = Joined::new(&reference, &present) else { return };
        let count = present.switches().len();
        for (both, now) in joined.fabric.switches().iter().zip(present.switches()) {
            assert!(both.ports >= now.ports);
            assert_eq!(Switch { ports: now.ports, ..both.clone() }, *now);
        }
        assert_eq!(&joined.fabric.nodes()[..present.nodes().len()], present.nodes());
        let live = Live::new(&joined.fabric, &joined.now);
        for s in joined.fabric.switch_indices() {
            assert_eq!(live.switch(s), s.at() < count);
            let ports = (1..=joined.fabric.switch(s).ports).map(PortNumber);
            for p in ports {
                let now = present.switches().get(s.at()).and_then(|_| present.port(s, p));
                let now = now.map_or(Peer::None, |port| port.peer);
                assert_eq!(live.peer(s, p), now);
            }
        }
        let tables = stable(&reference, &present, &RoutingOptions::default());
        let shuffled = described_anew(&present, random, |_| {});
        let reference = described_anew(&reference, random, |_| {});
        assert_eq!(tables, stable(&reference, &shuffled, &RoutingOptions::default()));
        let routing = routing(&joined, &reference, &RoutingOptions::default());
        let plain = entries_by_guid(&joined.fabric, &routing.route(live, &Dmodc).unwrap().0);
        assert!(tables.keys().eq(plain.keys()), "what can be reached is reached");
    });
}

/// Changes a GUID, a name, a cable or the place of a node.
fn change_at_random(random: &mut Random, described: &mut Description, all: &Fabric) {
    let mut pick = |n: usize| random.below(n.max(1) as u64) as usize;
    let (switches, nodes, cables) =
        (described.switches.len(), described.nodes.len(), described.cables.len());
    let guid = Guid(0xbeef_0000 + pick(1000) as u64);
    let is_used = |described: &Description, guid: Guid| {
        described.switches.iter().any(|s| s.guid == guid)
            || described.nodes.iter().any(|n| n.guid == guid || n.adapter.guid == guid)
    };
    match pick(8) {
        0 if switches > 0 && !is_used(described, guid) => {
            let from = described.switches[pick(switches)].guid;
            described.rename_switch(from, guid);
        }
        1 if nodes > 0 && !is_used(described, guid) => described.nodes[pick(nodes)].guid = guid,
        2 if nodes > 0 => {
            // A GUID that the reference may know as something else.
            let other = all.switches()[pick(all.switches().len())].guid;
            if !is_used(described, other) {
                described.nodes[pick(nodes)].guid = other;
            }
        }
        3 if cables > 1 => {
            let (x, y) = (pick(cables), pick(cables));
            let (a, b) = (described.cables[x][1], described.cables[y][1]);
            if a.0 != described.cables[y][0].0 && b.0 != described.cables[x][0].0 {
                (described.cables[x][1], described.cables[y][1]) = (b, a);
            }
        }
        4 if nodes > 1 => {
            let (x, y) = (pick(nodes), pick(nodes));
            let (a, b) = (described.nodes[x].at, described.nodes[y].at);
            (described.nodes[x].at, described.nodes[y].at) = (b, a);
        }
        5 if cables > 0 && nodes > 0 => {
            // A node in the port of a cable that is pulled.
            let at = described.cables.remove(pick(cables))[0];
            described.nodes[pick(nodes)].at = at;
        }
        6 if switches > 0 => {
            let s = pick(switches);
            described.switches[s].name = "another".into();
            described.switches[s].ports = described.switches[s].ports.saturating_add(1).min(254);
        }
        7 => described.forget_unused_ports(),
        _ => {}
    }
}
