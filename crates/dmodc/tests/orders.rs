//! The orders against their definitions, stated naively: everything else is computed from them, so
//! nothing else would notice.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{
    Case, Drawing, for_seeds, random_fabric, random_graph, random_options, random_types,
    saved_options,
};
use dmodc::{
    Columns, DestinationOrder, Guid, LeafRule, Live, NodeIndex, Orders, PortNumber, Random,
    Ranking, Routing, RoutingOptions, SavedCable, SavedOrders, SavedPlace, SwitchIndex,
    SwitchOrder, natural_cmp,
};

/// The switches connected with `s` among those of the given ranks.
fn component(
    live: Live<'_>,
    ranking: &Ranking,
    s: SwitchIndex,
    ranks: impl Fn(u32) -> bool,
) -> Vec<SwitchIndex> {
    let inside = |s: SwitchIndex| ranking.rank(s).is_some_and(&ranks);
    let mut found = vec![s];
    let mut at = 0;
    while at < found.len() {
        for (_, peer) in live.links(found[at]) {
            if inside(peer) && !found.contains(&peer) {
                found.push(peer);
            }
        }
        at += 1;
    }
    found
}

/// Leaves by: the least leaf of the component below the top rank, below the next, …, themselves.
fn naive_leaves(live: Live<'_>, ranking: &Ranking) -> Vec<SwitchIndex> {
    let mut by_name = ranking.leaves().to_vec();
    by_name.sort_by(|&a, &b| {
        let (a, b) = (live.fabric.switch(a), live.fabric.switch(b));
        natural_cmp(&a.name, &b.name).then(a.guid.cmp(&b.guid))
    });
    let place = |s: SwitchIndex| by_name.iter().position(|&l| l == s);
    let key = |leaf: SwitchIndex| -> Vec<usize> {
        let nested = (1..ranking.levels()).rev().map(|top| {
            let subtree = component(live, ranking, leaf, |rank| rank < top);
            subtree.into_iter().filter_map(place).min().unwrap()
        });
        nested.chain(place(leaf)).collect()
    };
    let mut leaves = by_name.clone();
    leaves.sort_by_key(|&leaf| key(leaf));
    leaves
}

/// Switches by rank; then the least GUID of their component above rank 0, above rank 1, …, their own.
fn naive_planes(live: Live<'_>, ranking: &Ranking) -> Vec<SwitchIndex> {
    let guid = |s: &SwitchIndex| live.fabric.switch(*s).guid;
    let key = |s: SwitchIndex| {
        let rank = ranking.rank(s);
        let planes: Vec<_> = (1..=rank.unwrap_or(0))
            .map(|k| component(live, ranking, s, |rank| rank >= k).iter().map(guid).min().unwrap())
            .collect();
        (rank.unwrap_or(u32::MAX), planes, guid(&s))
    };
    let mut all: Vec<SwitchIndex> = live.fabric.switch_indices().collect();
    all.sort_by_key(|&s| key(s));
    all
}

/// Numbers 0, 1, 2 … of both kinds, in this order, the dead ones last.
fn assert_numbered(live: Live<'_>, ranking: &Ranking, orders: &Orders, order: &[NodeIndex]) {
    let mut next = [0u32; 2];
    let (alive, dead): (Vec<NodeIndex>, Vec<NodeIndex>) =
        order.iter().partition(|&&n| live.node(n));
    for n in alive.into_iter().chain(dead) {
        let on_leaf = ranking.is_leaf(live.fabric.node(n).switch) && !live.fabric.is_aggregation(n);
        let number = orders.node_number(n);
        assert_eq!((number.on_leaf, number.number), (on_leaf, next[usize::from(on_leaf)]));
        next[usize::from(on_leaf)] += 1;
    }
}

#[test]
fn orders_are_as_defined_on_any_fabric() {
    for_seeds(250, |random| {
        let fabric = random_fabric(random, 60);
        let case = match random.below(3) {
            0 => Case::healthy(&fabric),
            _ => Case::degraded(random, &fabric),
        };
        let live = case.now();
        let ranking = Ranking::new(live, &LeafRule::Detect);
        let orders = |d: &DestinationOrder, s: &SwitchOrder| Orders::new(live, &ranking, d, s);
        let positions = |orders: &Orders| {
            let mut all: Vec<SwitchIndex> = fabric.switch_indices().collect();
            all.sort_by_key(|&s| orders.position(s));
            all
        };

        let plane = orders(&DestinationOrder::Topological, &SwitchOrder::Plane);
        let planes = naive_planes(live, &ranking);
        assert_eq!(positions(&plane), planes);
        let leaves = naive_leaves(live, &ranking);
        let others = planes.iter().copied().filter(|s| !leaves.contains(s));
        let switches: Vec<SwitchIndex> = leaves.iter().copied().chain(others).collect();
        let nodes: Vec<NodeIndex> =
            switches.iter().flat_map(|&s| fabric.nodes_of(s)).copied().collect();
        assert_numbered(live, &ranking, &plane, &nodes);
        for (number, &s) in switches.iter().enumerate() {
            assert_eq!(plane.switch_number(s), number as u32);
        }

        let types = random_types(random);
        let typed = orders(&DestinationOrder::Types(types.clone()), &SwitchOrder::Plane);
        let of_type = |kind: usize| {
            let is_of = |n: &NodeIndex| types.type_of(&fabric, *n) as usize == kind;
            nodes.iter().copied().filter(is_of).collect::<Vec<_>>()
        };
        let by_type: Vec<NodeIndex> = (0..types.names().len()).flat_map(of_type).collect();
        assert_numbered(live, &ranking, &typed, &by_type);

        let by_guid = orders(&DestinationOrder::Guid, &SwitchOrder::Guid);
        let mut all: Vec<SwitchIndex> = fabric.switch_indices().collect();
        all.sort_by_key(|&s| fabric.switch(s).guid);
        assert_eq!(positions(&by_guid), all);
        let by_lid = orders(&DestinationOrder::Lid, &SwitchOrder::Guid);
        for (order, lid) in [(&by_guid, false), (&by_lid, true)] {
            let mut nodes: Vec<NodeIndex> = fabric.node_indices().collect();
            nodes.sort_by_key(|&n| {
                let node = fabric.node(n);
                if lid { u64::from(node.lid.0) } else { node.guid.0 }
            });
            assert_numbered(live, &ranking, order, &nodes);
            let mut all: Vec<SwitchIndex> = fabric.switch_indices().collect();
            all.sort_by_key(|&s| {
                let switch = fabric.switch(s);
                (!live.switch(s), if lid { u64::from(switch.lid.0) } else { switch.guid.0 })
            });
            for (number, &s) in all.iter().enumerate() {
                assert_eq!(order.switch_number(s), number as u32);
            }
        }
    });
}

/// Leaves whose names say another order than their cables: the cables decide, names only among
/// siblings. Equal names are sorted by GUID.
///
/// ```text
///     core-0      core-1
///     /    \      /    \
///   s-0      s-1    …       (each core above both spines)
///   / \      / \
///  b   d    a   c           pods {b, d} and {a, c}: a is the least leaf, so its pod comes first
/// ```
#[test]
fn cables_decide_before_names() {
    let mut d = Drawing::new();
    let [b, dd, a, c] = d.switches(["leaf-2", "leaf-4", "leaf-1", "leaf-3"]);
    let [s0, s1] = d.switches(["s-0", "s-1"]);
    let [c0, c1] = d.switches(["core-0", "core-1"]);
    for (x, y) in [(b, s0), (dd, s0), (a, s1), (c, s1), (s0, c0), (s0, c1), (s1, c0), (s1, c1)] {
        d.cable(x, y, 1);
    }
    for leaf in [b, dd, a, c] {
        d.nodes(leaf, 1);
    }
    let fabric = d.finish();
    let case = Case::healthy(&fabric);
    let live = case.whole();
    let ranking = Ranking::new(live, &LeafRule::Detect);
    let orders = Orders::new(live, &ranking, &Default::default(), &Default::default());
    let number = |node: usize| orders.node_number(NodeIndex::new(node)).number;
    // Nodes 0 to 3 sit on b, d, a, c.
    assert_eq!([0, 1, 2, 3].map(number), [2, 3, 0, 1]);
}

/// A list by adapter GUIDs, with duplicates, strangers and a node that has changed its kind.
#[test]
fn lists_are_followed_line_by_line() {
    let mut d = Drawing::new();
    let [leaf, spine] = d.switches(["leaf", "spine"]);
    d.cable(leaf, spine, 1);
    d.nodes(leaf, 4);
    d.node(spine, dmodc::fabric::AdapterKind::Aggregation, 0);
    let fabric = d.finish();
    let case = Case::healthy(&fabric);
    let live = case.whole();
    let ranking = Ranking::new(live, &LeafRule::Detect);
    let guid = |n: usize| fabric.nodes()[n].guid;
    let adapter = |n: usize| fabric.adapters()[n].guid;
    let saved = SavedOrders {
        // Line 0 is a stranger; node 2 by its adapter; node 0 twice; the aggregation node as if on a leaf.
        nodes: vec![dmodc::Guid(77), adapter(2), guid(0), guid(0), guid(4)],
        others: vec![dmodc::Guid(78)],
        switches: vec![dmodc::Guid(79), fabric.switches()[1].guid],
        groups: vec![],
        ..SavedOrders::default()
    };
    let destinations = DestinationOrder::Saved(saved);
    let orders = Orders::new(live, &ranking, &destinations, &SwitchOrder::Plane);
    let number = |n: usize| {
        let number = orders.node_number(NodeIndex::new(n));
        (number.on_leaf, number.number)
    };
    assert_eq!(number(2), (true, 1), "by its adapter");
    assert_eq!(number(0), (true, 2), "the first line counts");
    assert_eq!(number(4), (true, 4), "it keeps the kind it was saved as");
    assert_eq!([number(1), number(3)], [(true, 5), (true, 6)], "the others follow");
    assert_eq!(orders.switch_number(SwitchIndex::new(1)), 1);
    assert_eq!(orders.switch_number(SwitchIndex::new(0)), 2, "after the last line");
}

/// Orders as no program of ours would save them: places and cables of any switch, numbers for unknown nodes,
/// everything twice. Even so, every node has a number of its own, saved orders give the same numbers again, and nothing
/// panics.
#[test]
fn numbers_are_unique_whatever_was_saved() {
    for_seeds(300, |random| {
        let fabric = random_fabric(random, 60);
        let case = Case::healthy(&fabric);
        let live = case.whole();
        let ranking = Ranking::new(live, &LeafRule::Detect);
        let switch = |random: &mut Random| match random.below(8) {
            0 => Guid(random.below(3)),
            _ => fabric.switches()[random.below(fabric.switches().len() as u64) as usize].guid,
        };
        let place = |random: &mut Random| SavedPlace {
            switch: switch(random),
            port: PortNumber(1 + random.below(12) as u8),
        };
        let list = |random: &mut Random| -> (Vec<Guid>, Vec<Option<SavedPlace>>) {
            let length = random.below(2 * fabric.nodes().len() as u64 + 2);
            let entry = |random: &mut Random| {
                let guid = match random.below(4) {
                    0 => Guid(0),
                    1 => Guid(random.below(5)),
                    _ if fabric.nodes().is_empty() => Guid(7),
                    _ => fabric.nodes()[random.below(fabric.nodes().len() as u64) as usize].guid,
                };
                (guid, (random.below(3) > 0).then(|| place(random)))
            };
            (0..length).map(|_| entry(random)).unzip()
        };
        let (nodes, node_places) = list(random);
        let (others, other_places) = list(random);
        let switches = |random: &mut Random| (0..random.below(9)).map(|_| switch(random)).collect();
        let mut saved = SavedOrders {
            nodes,
            node_places,
            others,
            other_places,
            switches: switches(random),
            groups: switches(random),
            cables: (0..random.below(20))
                .map(|_| SavedCable(place(random), place(random)))
                .collect(),
            ..SavedOrders::default()
        };
        saved.hand_over_to(&fabric);
        let numbered = |saved: &SavedOrders| {
            let is_leaf = fabric.switch_indices().map(|s| ranking.is_leaf(s)).collect();
            let options =
                RoutingOptions { leaves: LeafRule::These(is_leaf), ..saved_options(saved) };
            let routing = Routing::new(live, &options);
            let all: Vec<_> =
                fabric.node_indices().map(|n| routing.orders().node_number(n)).collect();
            (all, routing.orders().save(live))
        };
        let (numbers, mut now) = numbered(&saved);
        let mut sorted: Vec<_> = numbers.iter().map(|n| (n.on_leaf, n.number)).collect();
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|pair| pair[0] != pair[1]), "{saved:?}");
        now.keep_absent(&saved);
        assert_eq!(numbered(&now).0, numbers, "{saved:?}");
    });
}

/// Numbers of destinations: leaves' nodes, others and switches are counted apart.
#[test]
fn nodes_elsewhere_do_not_disturb_the_numbers() {
    for_seeds(200, |random| {
        let fabric = random_graph(random);
        let case = Case::healthy(&fabric);
        let live = case.whole();
        let routing = Routing::new(live, &random_options(random));
        let ranking = routing.ranking(live);
        let numbers = |on_leaf: bool| {
            let mut list: Vec<u32> = fabric
                .node_indices()
                .map(|n| (n, routing.orders().node_number(n)))
                .filter(|(n, number)| {
                    let leaf = ranking.is_leaf(fabric.node(*n).switch);
                    assert_eq!(number.on_leaf, leaf && !fabric.is_aggregation(*n));
                    number.on_leaf == on_leaf
                })
                .map(|(_, number)| number.number)
                .collect();
            list.sort_unstable();
            list
        };
        for list in [numbers(true), numbers(false)] {
            assert!(list.iter().copied().eq(0..list.len() as u32), "{list:?}");
        }
        let columns = Columns::new(&fabric, routing.orders(), true);
        let lids: usize = fabric.nodes().iter().map(|n| 1 << n.lmc).sum();
        assert_eq!(columns.len(), lids + fabric.switches().len());
    });
}
