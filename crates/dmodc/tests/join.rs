//! A reference and the present as one fabric: what both say, and what routing by it gives.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use dmodc::fabric::{Adapter, Changes, Counts, Peer, Switch, Vertex};
use dmodc::{
    Degradation, DestinationOrder, Dmodc, Fabric, FabricBuilder, ForwardingTables, Guid, GuidOrder,
    Joined, Lid, Live, NodeIndex, Pgft, PortNumber, Random, Reference, Routing, RoutingOptions,
    Stable, SwitchIndex, SwitchOrder, alternative_ports,
};
use support::{for_seeds, random_degradation, random_graph, random_pgft};

/// A fabric, and what of it is dead.
fn whole(fabric: &Fabric) -> Degradation {
    Degradation::none(fabric)
}

/// Orders and columns of a joined fabric, by the reference's own orders.
fn routing(joined: &Joined, reference: &Fabric, options: &RoutingOptions) -> Routing {
    let mut orders = Routing::orders_of(reference, options);
    joined.hand_over(&mut orders);
    joined.routing(options.leaves.clone(), &orders)
}

/// Tables by what they are about: the GUIDs of switch and destination, and which of its LIDs.
type Entries = BTreeMap<(Guid, Guid, u8), u8>;

fn entries(fabric: &Fabric, tables: &ForwardingTables) -> Entries {
    let mut entries = BTreeMap::new();
    for s in fabric.switch_indices() {
        for (column, d) in tables.columns().destinations().iter().enumerate() {
            if let Some(port) = tables.port(s, column) {
                let name = (fabric.switch(s).guid, d.end.guid(fabric), d.k);
                assert_eq!(entries.insert(name, port.0), None);
            }
        }
    }
    entries
}

/// The present, routed by the reference.
fn stable(reference: &Fabric, present: &Fabric, options: &RoutingOptions) -> Entries {
    let joined = Joined::new(reference, present).unwrap();
    let routing = routing(&joined, reference, options);
    let engine = Stable { reference: Arc::new(joined.reference(&routing)) };
    let (tables, _) = routing.route(Live::new(&joined.fabric, &joined.now), &engine).unwrap();
    entries(&joined.fabric, &tables)
}

/// A fabric alone, routed by Dmodc.
fn plain(fabric: &Fabric, options: &RoutingOptions) -> Entries {
    let healthy = whole(fabric);
    let live = Live::new(fabric, &healthy);
    let (tables, _) = Routing::new(live, options).route(live, &Dmodc).unwrap();
    entries(fabric, &tables)
}

/// The same fabric told in another order; and with `change`, otherwise.
fn retold(fabric: &Fabric, random: &mut Random, change: impl Fn(&mut Told)) -> Fabric {
    let mut told = Told::of(fabric);
    change(&mut told);
    random.shuffle(&mut told.switches);
    random.shuffle(&mut told.nodes);
    random.shuffle(&mut told.cables);
    told.finish()
}

/// A fabric as lists that can be changed.
struct Told {
    switches: Vec<Switch>,
    nodes: Vec<ToldNode>,
    cables: Vec<[(Guid, PortNumber); 2]>,
}

struct ToldNode {
    adapter: Adapter,
    port: PortNumber,
    guid: Guid,
    lid: Lid,
    lmc: u8,
    /// Where it is plugged in.
    at: (Guid, PortNumber),
}

impl Told {
    fn of(fabric: &Fabric) -> Self {
        let guid = |s: SwitchIndex| fabric.switch(s).guid;
        let node = |n: NodeIndex| {
            let node = fabric.node(n);
            ToldNode {
                adapter: fabric.adapter_of(n).clone(),
                port: node.adapter_port,
                guid: node.guid,
                lid: node.lid,
                lmc: node.lmc,
                at: (guid(node.switch), node.switch_port),
            }
        };
        let cables = fabric.inter_switch_cables().iter();
        Told {
            switches: fabric.switches().to_vec(),
            nodes: fabric.node_indices().map(node).collect(),
            cables: cables.map(|c| [c.a, c.b].map(|(s, p)| (guid(s), p))).collect(),
        }
    }

    fn finish(&self) -> Fabric {
        let mut b = FabricBuilder::new();
        let switches: HashMap<Guid, Vertex> =
            self.switches.iter().map(|s| (s.guid, b.switch(s.clone()))).collect();
        let mut adapters: HashMap<Guid, Vertex> = HashMap::new();
        for ToldNode { adapter, port, guid, lid, lmc, at } in &self.nodes {
            let of = *adapters.entry(adapter.guid).or_insert_with(|| b.adapter(adapter.clone()));
            b.end_port(of, *port, *guid, *lid, *lmc);
            b.cable((of, *port), (switches[&at.0], at.1), Default::default());
        }
        for [x, y] in &self.cables {
            b.cable((switches[&x.0], x.1), (switches[&y.0], y.1), Default::default());
        }
        b.finish().unwrap()
    }

    /// Counts as many ports as the last one in use has, as files that list cables let readers guess. Adapters
    /// become those of `ibnetdiscover -p`: each port is one, by its own GUID.
    fn forget_unused_ports(&mut self) {
        for switch in &mut self.switches {
            let cables = self.cables.iter().flatten().chain(self.nodes.iter().map(|n| &n.at));
            let used = cables.filter(|end| end.0 == switch.guid).map(|end| end.1.0);
            switch.ports = used.max().unwrap_or(0);
        }
        for node in &mut self.nodes {
            (node.adapter.guid, node.adapter.ports) = (node.guid, node.port.0);
        }
    }

    /// Another GUID for a switch.
    fn rename_switch(&mut self, from: Guid, to: Guid) {
        let rename = |guid: &mut Guid| {
            if *guid == from {
                *guid = to;
            }
        };
        self.switches.iter_mut().for_each(|s| rename(&mut s.guid));
        self.nodes.iter_mut().for_each(|n| rename(&mut n.at.0));
        self.cables.iter_mut().flatten().for_each(|end| rename(&mut end.0));
    }
}

fn random_fabric(random: &mut Random) -> Fabric {
    match random.below(3) {
        0 => random_graph(random),
        _ => random_pgft(random, 200).fabric(GuidOrder::Shuffled(random.below(100))),
    }
}

fn random_options(random: &mut Random) -> RoutingOptions {
    RoutingOptions {
        destinations: [
            DestinationOrder::Topological,
            DestinationOrder::Lid,
            DestinationOrder::Guid,
        ][random.below(3) as usize]
            .clone(),
        switches: [SwitchOrder::Plane, SwitchOrder::Guid][random.below(2) as usize].clone(),
        ..RoutingOptions::default()
    }
}

/// Both are refused, or neither; which is so where most of a fabric is gone on one side and most of the
/// rest on the other.
fn joins(reference: &Fabric, present: &Fabric) -> bool {
    Joined::new(reference, present).is_ok()
}

/// What the reference alone would be routed as, the joined fabric is in its state of then.
#[test]
fn the_reference_is_in_the_joined_fabric_as_it_was() {
    for_seeds(150, |random| {
        let fabric = random_fabric(random);
        let reference = fabric.without(&random_degradation(random, &fabric));
        let present = fabric.without(&random_degradation(random, &fabric));
        let present = retold(&present, random, |_| {});
        if !joins(&reference, &present) {
            return;
        }
        let options = random_options(random);
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
        assert_eq!(entries(&joined.fabric, &tables), plain(&reference, &options));
    });
}

/// With the present as its own reference nothing is different, and nothing is new.
#[test]
fn the_present_as_reference_changes_nothing() {
    for_seeds(100, |random| {
        let fabric = random_fabric(random);
        let present = fabric.without(&random_degradation(random, &fabric));
        if present.switches().is_empty() {
            return;
        }
        let joined = Joined::new(&present, &present).unwrap();
        assert_eq!(joined.fabric, present);
        assert_eq!((joined.changes, joined.news.len()), (Changes::default(), 0));
        assert_eq!((&joined.then, &joined.now), (&whole(&present), &whole(&present)));
        let options = random_options(random);
        assert_eq!(stable(&present, &present, &options), plain(&present, &options));
    });
}

/// A degraded copy, told in any order, has the tables of the same faults as a mask.
#[test]
fn a_degraded_file_is_routed_as_its_mask() {
    for_seeds(150, |random| {
        let fabric = random_fabric(random);
        let faults = random_degradation(random, &fabric);
        let present = retold(&fabric.without(&faults), random, |_| {});
        let reference = retold(&fabric, random, |_| {});
        if !joins(&reference, &present) {
            return;
        }
        let options = random_options(random);
        let healthy = whole(&fabric);
        let routing = Routing::new(Live::new(&fabric, &healthy), &options);
        let reference_state = Reference::new(&routing, Live::new(&fabric, &healthy));
        let engine = Stable { reference: Arc::new(reference_state) };
        let (masked, _) = routing.route(Live::new(&fabric, &faults), &engine).unwrap();
        assert_eq!(stable(&reference, &present, &options), entries(&fabric, &masked));
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
        let fabric = random_fabric(random);
        let faults = random_degradation(random, &fabric);
        let present = fabric.without(&faults);
        let short = retold(&present, random, Told::forget_unused_ports);
        if !joins(&fabric, &present) {
            return;
        }
        let options = random_options(random);
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
        let fabric = random_fabric(random);
        let reference = fabric.without(&random_degradation(random, &fabric));
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

fn pgft(tuple: &str) -> Fabric {
    tuple.parse::<Pgft>().unwrap().fabric(Default::default())
}

/// Three leaves with two nodes each (ports 1, 2), two spines, a cable from each to each (ports 3, 4).
const SMALL: &str = "2; 2,3; 1,2; 1,1";

/// The same with something changed.
fn changed(change: impl FnOnce(&mut Told)) -> (Fabric, Joined) {
    let reference = pgft(SMALL);
    let mut told = Told::of(&reference);
    change(&mut told);
    let joined = Joined::new(&reference, &told.finish()).unwrap();
    (reference, joined)
}

#[test]
fn a_cable_in_another_port_is_there_in_both_states() {
    let reference = pgft(SMALL);
    let spine = reference.switches()[3].guid;
    // The cable of the first leaf is in the spine's last port, where the third leaf's was.
    let (_, joined) = changed(|told| {
        let taken = told.cables.iter().position(|c| c[1] == (spine, PortNumber(3))).unwrap();
        told.cables.remove(taken);
        let moved = told.cables.iter_mut().find(|c| c[1] == (spine, PortNumber(1))).unwrap();
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
    let (reference, joined) = changed(|told| {
        let last = told.switches[2].guid;
        told.nodes[0].at = (last, PortNumber(5));
        told.switches[2].ports = 5;
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
    let (reference, joined) = changed(|told| {
        let (leaf, spine) = (told.switches[0].guid, told.switches[3].guid);
        told.rename_switch(spine, new_spine);
        told.rename_switch(leaf, new_leaf);
        told.nodes[5].guid = new_node;
        told.nodes[5].adapter.guid = Guid(0xa4);
        // A cable of the new spine is not plugged in yet.
        told.cables.retain(|cable| cable[1] != (new_spine, PortNumber(3)));
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
    let then: Entries = entries(&joined.fabric, &tables)
        .into_iter()
        .map(|((s, d, k), port)| ((name(s), name(d), k), port))
        .collect();
    assert_eq!(then, plain(&reference, &RoutingOptions::default()));
}

#[test]
fn what_only_shares_a_port_with_the_absent_replaces_nobody() {
    // Two switches where one was.
    let (_, joined) = changed(|told| {
        let spine = told.switches[3].guid;
        told.rename_switch(spine, Guid(0xa1));
        let other = Switch { guid: Guid(0xa2), lid: Lid(500), ..told.switches[3].clone() };
        told.switches.push(other);
        told.cables.iter_mut().find(|c| c[1] == (Guid(0xa1), PortNumber(3))).unwrap()[1].0 =
            Guid(0xa2);
    });
    assert_eq!(joined.changes.replaced_switches, 1, "the one with most of its cables");
    assert_eq!((joined.changes.new.switches, joined.changes.recabled), (1, 1));
    // An aggregation node where a host was.
    let (_, joined) = changed(|told| {
        told.nodes[0].guid = Guid(0xa3);
        told.nodes[0].adapter.guid = Guid(0xa4);
        told.nodes[0].adapter.kind = dmodc::fabric::AdapterKind::Aggregation;
    });
    assert_eq!(joined.changes.replaced_nodes, 0);
    assert_eq!((joined.changes.new.nodes, joined.changes.missing.nodes), (1, 1));
    assert_eq!(joined.fabric.nodes().len(), 6, "the absent one has no port left");
}

#[test]
fn lids_are_the_presents_and_the_absent_gets_free_ones() {
    let (reference, joined) = changed(|told| {
        // The first node has died; its LID is the second one's now, which has four.
        told.nodes.remove(0);
        (told.nodes[0].lid, told.nodes[0].lmc) = (Lid(40), 2);
        told.nodes[1].lid = Lid(1);
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
    let mut told = Told::of(&small);
    for s in small.switches() {
        told.rename_switch(s.guid, Guid(!s.guid.0));
    }
    assert_eq!(
        Joined::new(&told.finish(), &small).unwrap_err().to_string(),
        "the reference is of another fabric: of its 5 switches 0 are among the 5 of now"
    );
    // The same GUIDs, cabled otherwise.
    let other = pgft("2; 4,3; 1,2; 1,1");
    assert_eq!(
        Joined::new(&other, &small).unwrap_err().to_string(),
        "the reference is of another fabric: 0 cables between switches are where it has them, 6 in ports \
         where it has others"
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
        let fabric = random_fabric(random);
        let reference = fabric.without(&random_degradation(random, &fabric));
        let present = fabric.without(&random_degradation(random, &fabric));
        let mut told = Told::of(&present);
        for _ in 0..random.below(8) {
            spoil(random, &mut told, &fabric);
        }
        let present = told.finish();
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
        let shuffled = retold(&present, random, |_| {});
        let reference = retold(&reference, random, |_| {});
        assert_eq!(tables, stable(&reference, &shuffled, &RoutingOptions::default()));
        let routing = routing(&joined, &reference, &RoutingOptions::default());
        let plain = entries(&joined.fabric, &routing.route(live, &Dmodc).unwrap().0);
        assert!(tables.keys().eq(plain.keys()), "what can be reached is reached");
    });
}

/// Something happens to a told fabric: a GUID, a name, a cable or a node is another or elsewhere.
fn spoil(random: &mut Random, told: &mut Told, all: &Fabric) {
    let mut pick = |n: usize| random.below(n.max(1) as u64) as usize;
    let (switches, nodes, cables) = (told.switches.len(), told.nodes.len(), told.cables.len());
    let guid = Guid(0xbeef_0000 + pick(1000) as u64);
    let is_used = |told: &Told, guid: Guid| {
        told.switches.iter().any(|s| s.guid == guid)
            || told.nodes.iter().any(|n| n.guid == guid || n.adapter.guid == guid)
    };
    match pick(8) {
        0 if switches > 0 && !is_used(told, guid) => {
            let from = told.switches[pick(switches)].guid;
            told.rename_switch(from, guid);
        }
        1 if nodes > 0 && !is_used(told, guid) => told.nodes[pick(nodes)].guid = guid,
        2 if nodes > 0 => {
            // A GUID that the reference may know as something else.
            let other = all.switches()[pick(all.switches().len())].guid;
            if !is_used(told, other) {
                told.nodes[pick(nodes)].guid = other;
            }
        }
        3 if cables > 1 => {
            let (x, y) = (pick(cables), pick(cables));
            let (a, b) = (told.cables[x][1], told.cables[y][1]);
            if a.0 != told.cables[y][0].0 && b.0 != told.cables[x][0].0 {
                (told.cables[x][1], told.cables[y][1]) = (b, a);
            }
        }
        4 if nodes > 1 => {
            let (x, y) = (pick(nodes), pick(nodes));
            let (a, b) = (told.nodes[x].at, told.nodes[y].at);
            (told.nodes[x].at, told.nodes[y].at) = (b, a);
        }
        5 if cables > 0 && nodes > 0 => {
            // A node in the port of a cable that is pulled.
            let at = told.cables.remove(pick(cables))[0];
            told.nodes[pick(nodes)].at = at;
        }
        6 if switches > 0 => {
            let s = pick(switches);
            told.switches[s].name = "another".into();
            told.switches[s].ports = told.switches[s].ports.saturating_add(1).min(254);
        }
        7 => told.forget_unused_ports(),
        _ => {}
    }
}
