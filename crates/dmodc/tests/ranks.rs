//! What ranks are counted from: the leaves of everything that may be a fat tree, one root elsewhere.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::{
    Case, Drawing, entries_by_guid, for_seeds, judge, pgft, random_faults, random_graph,
    random_pgft, route, rows, saved_options,
};
use dmodc::fabric::{AdapterKind, Part};
use dmodc::judge::risk::Traffic;
use dmodc::oracle::updown;
use dmodc::{
    CableIndex, Change, Degradation, Fabric, Guid, GuidOrder, LeafRule, Live, Oddity, Random,
    RankRule, Ranking, Router, Routing, RoutingOptions, SavedOrders, SwitchIndex, SwitchOrder,
};

fn live<'a>(fabric: &'a Fabric, dead: &'a Degradation) -> Live<'a> {
    Live::new(fabric, dead)
}

fn first(fabric: &Fabric) -> Routing {
    Routing::new(live(fabric, &Degradation::none(fabric)), &RoutingOptions::default())
}

/// Ranks counted from the leaves in any case.
fn from_leaves() -> RoutingOptions {
    let saved = SavedOrders { roots: Some(vec![]), ..SavedOrders::default() };
    RoutingOptions { switches: SwitchOrder::Saved(saved), ..RoutingOptions::default() }
}

/// Node pairs that arrive.
fn delivered(live: Live<'_>, routing: &Routing) -> u64 {
    let judged = judge(routing, live, &route(routing, live)).nodes;
    assert_eq!(judged.up_down_violations, 0);
    assert!(judged.is_deadlock_free());
    judged.delivered
}

/// Node pairs that live cables connect.
fn connected(live: Live<'_>) -> u64 {
    let nodes = |s: SwitchIndex| {
        let kind = |n| live.fabric.adapter_of(n).kind;
        live.nodes(s).filter(|&n| kind(n) != AdapterKind::Aggregation).count() as u64
    };
    let mut pairs = 0;
    for s in live.switches() {
        let hops = live.hops_to([s]);
        let reached = live.switches().filter(|t| hops[t.at()].is_some());
        pairs += nodes(s) * reached.map(nodes).sum::<u64>() - nodes(s);
    }
    pairs
}

/// The switches that OpenSM's updn takes for roots if nobody names any: nearly all nodes are equally far.
fn updn_roots(live: Live<'_>) -> Vec<SwitchIndex> {
    let all = live.switches().map(|s| live.nodes(s).count()).sum::<usize>() as f64;
    let is_root = |s: &SwitchIndex| {
        let mut bars: BTreeMap<u32, usize> = BTreeMap::new();
        let hops = live.hops_to([*s]);
        for t in live.switches() {
            if let Some(hops) = hops[t.at()] {
                *bars.entry(hops).or_default() += live.nodes(t).count();
            }
        }
        let above = |share: f64| bars.values().filter(|bar| **bar as f64 > share * all).count();
        above(0.9) == 1 && above(0.05) == 1
    };
    live.switches().filter(is_root).collect()
}

/// What OpenSM's updn delivers with these roots.
fn updn(live: Live<'_>, roots: Vec<SwitchIndex>) -> u64 {
    if roots.is_empty() {
        return 0;
    }
    let options = RoutingOptions { leaves: LeafRule::Roots(roots), ..RoutingOptions::default() };
    delivered(live, &Routing::new(live, &options))
}

fn has_equal_ranks_cabled(live: Live<'_>) -> bool {
    let ranking = Ranking::new(live, &LeafRule::Detect);
    let equal = |s| live.links(s).any(|(_, peer)| ranking.rank(peer) == ranking.rank(s));
    live.switches().any(|s| ranking.rank(s).is_some() && equal(s))
}

/// A fat tree never switches, however damaged, and whether it is a mask or a file of its own.
#[test]
fn pgfts_keep_ranks_from_the_leaves() {
    let unconnected = std::cell::Cell::new(0);
    for_seeds(400, |random| {
        let fabric = random_pgft(random, 200).fabric(GuidOrder::Shuffled(random.below(1000)));
        let dead = match random.below(8) {
            0 => Degradation::none(&fabric),
            _ => random_faults(random, &fabric),
        };
        let masked = Routing::new(live(&fabric, &dead), &RoutingOptions::default());
        assert_eq!(*masked.orders().rank_rule(), RankRule::Leaves);
        let rest = fabric.without(&dead);
        assert_eq!(*first(&rest).orders().rank_rule(), RankRule::Leaves);
        let all = Degradation::none(&rest);
        let lost = connected(live(&rest, &all)) - delivered(live(&rest, &all), &first(&rest));
        unconnected.set(unconnected.get() + usize::from(lost > 0));
    });
    assert!(unconnected.get() > 5, "damage left {unconnected:?} fabrics without some route");
}

/// Two pods that are left with different planes: cables connect them, up*down* routes do not.
#[test]
fn pods_without_a_plane_in_common_keep_ranks_from_the_leaves() {
    let fabric = pgft("3; 2,2,3; 1,2,2; 1,1,1");
    let ranking = Ranking::new(live(&fabric, &Degradation::none(&fabric)), &LeafRule::Detect);
    let spines = &ranking.by_rank()[1];
    let mut dead = Degradation::none(&fabric);
    for spine in [spines[0], spines[3]] {
        dead.set_switch(spine, true);
    }
    let rest = fabric.without(&dead);
    let all = Degradation::none(&rest);
    let routing = first(&rest);
    assert_eq!(*routing.orders().rank_rule(), RankRule::Leaves);
    assert_eq!(routing.unconnected(), None);
    assert!(delivered(live(&rest, &all), &routing) < connected(live(&rest, &all)));
    // Whoever prefers other ranks can have them.
    let roots = routing.suggested_roots(live(&rest, &all));
    assert_eq!(updn(live(&rest, &all), roots), connected(live(&rest, &all)));
}

/// Every pair that cables connect is delivered, so no ranks of anybody's deliver more.
#[test]
fn graphs_that_are_no_fat_trees_stay_connected() {
    let switched = std::cell::Cell::new(0);
    for_seeds(400, |random| {
        let fabric = random_graph(random);
        let whole = Degradation::none(&fabric);
        let live = live(&fabric, &whole);
        let routing = first(&fabric);
        let ours = delivered(live, &routing);
        if has_equal_ranks_cabled(live) {
            assert_eq!(ours, connected(live));
            let top = Ranking::new(live, &LeafRule::Detect).by_rank().pop().unwrap();
            assert!(ours >= updn(live, top) && ours >= updn(live, updn_roots(live)));
        }
        let by_leaves = delivered(live, &Routing::new(live, &from_leaves()));
        let is_switched = routing.unconnected().is_some();
        assert_eq!(
            routing.unconnected().map_or(0, |why| why.pairs),
            match is_switched {
                true => connected(live) - by_leaves,
                false => 0,
            }
        );
        // Nothing changes where nothing is gained.
        assert!(is_switched || ours == by_leaves);
        switched.set(switched.get() + usize::from(is_switched));
    });
    assert!(switched.get() > 50, "{switched:?} fabrics are ranked from one root");
}

/// A chain of leaves: their names, here as in a machine room, say nothing about the way they are cabled.
fn chain(length: usize) -> Fabric {
    let mut drawing = Drawing::new();
    let all: Vec<usize> = (0..length).map(|at| drawing.switch(&format!("s{at}"))).collect();
    for at in 0..length {
        // 0, 2, 4 … then 1, 3, 5 …: switch order does not climb along the chain.
        let place = |at: usize| {
            all[if 2 * at < length { 2 * at } else { 2 * (at - length.div_ceil(2)) + 1 }]
        };
        drawing.nodes(place(at), 2);
        if at > 0 {
            drawing.cable(place(at - 1), place(at), 1);
        }
    }
    drawing.finish()
}

/// After any fault, with and without the root, what is connected is delivered, and the rule stays.
#[test]
fn faults_never_switch_the_rule() {
    for_seeds(60, |random| {
        let fabric = match random.below(2) {
            0 => chain(3 + random.below(9) as usize),
            _ => random_graph(random),
        };
        let fabric = Arc::new(fabric);
        let routing = first(&fabric);
        let rule = routing.orders().rank_rule().clone();
        let mut router =
            Router::new(fabric.clone(), routing.clone(), Degradation::none(&fabric)).unwrap();
        let saved = routing.orders().save(router.live());
        for _ in 0..4 {
            let dead = random_faults(random, &fabric);
            router.reroute(&dead).unwrap();
            let ranking = &router.preprocessing().ranking;
            assert_eq!(*ranking.rule(), rule);
            if let RankRule::SingleRoot(_) = rule {
                let all = Ranking::new(router.live(), &LeafRule::Detect);
                let unlisted = |s: SwitchIndex| all.rank(s).is_some() && ranking.rank(s).is_none();
                assert!(!router.live().switches().any(unlisted));
            }
            // The file of what is left, routed with the orders of the first fabric.
            let rest = fabric.without(&dead);
            let case = Case::healthy(&rest);
            let again = Routing::new(case.whole(), &saved_options(&saved));
            let tables = route(&again, case.whole());
            assert_eq!(entries_by_guid(&rest, &tables), entries_by_guid(&fabric, router.tables()));
        }
    });
}

#[test]
fn a_connected_chain_outlives_its_roots() {
    let fabric = chain(9);
    let routing = first(&fabric);
    let RankRule::SingleRoot(roots) = routing.orders().rank_rule().clone() else {
        panic!("a chain of leaves is no fat tree");
    };
    assert_eq!(roots.len(), 9);
    let mut dead = Degradation::none(&fabric);
    for &root in roots.iter().take(4) {
        dead.set_switch(root, true);
        let now = live(&fabric, &dead);
        assert_eq!(delivered(now, &routing), connected(now));
    }
    // One cable less, both parts stay whole.
    let mut dead = Degradation::none(&fabric);
    dead.set(Part::Cable(CableIndex::new(3)), true);
    let now = live(&fabric, &dead);
    assert_eq!(delivered(now, &routing), connected(now));
    assert_eq!(routing.ranking(now).single_roots(now).len(), 2);
}

/// Routes that no cost can count are worse than none.
#[test]
fn a_chain_that_is_too_long_keeps_the_routes_that_it_has() {
    let fabric = chain(300);
    let routing = first(&fabric);
    assert_eq!(*routing.orders().rank_rule(), RankRule::Leaves);
    let whole = Degradation::none(&fabric);
    assert!(delivered(live(&fabric, &whole), &routing) > 0);
    // A chain of 250 leaves is just short enough.
    let RankRule::SingleRoot(roots) = first(&chain(250)).orders().rank_rule().clone() else {
        panic!("a chain of leaves is no fat tree");
    };
    assert_eq!(roots.len(), 250);
}

/// A fat tree with two thin leaves in different planes, and a cable between two leaves that makes it none.
/// `guids` are those of the switches, in the order of the file.
fn odd_tree(order: &[usize]) -> Fabric {
    use dmodc::fabric::{Adapter, Product, Rate, Switch};
    use dmodc::{FabricBuilder, Lid, PortNumber};
    let (leaves, spines) = (8, 4);
    let mut cables: Vec<(usize, usize)> = vec![(0, 1), (2, 8), (3, 9)];
    for leaf in [0, 1, 4, 5, 6, 7] {
        cables.extend((0..spines).map(|spine| (leaf, leaves + spine)));
    }
    let mut builder = FabricBuilder::new();
    let mut vertices = BTreeMap::new();
    for &at in order {
        let vertex = builder.switch(Switch {
            guid: Guid(0x100 + (at as u64 * 7) % 12),
            lid: Lid(1000 + at as u32),
            ports: 40,
            name: format!("s{at}").into(),
            product: Product::default(),
        });
        vertices.insert(at, vertex);
    }
    let mut used = BTreeMap::new();
    let mut next = |s: usize| {
        let port: &mut u8 = used.entry(s).or_default();
        *port += 1;
        PortNumber(*port)
    };
    for (a, b) in cables {
        builder.cable((vertices[&a], next(a)), (vertices[&b], next(b)), Rate::NDR);
    }
    for at in 0..4 * leaves as u64 {
        let guid = Guid(0x1000 + at);
        let adapter = builder.adapter(Adapter {
            guid,
            ports: 1,
            kind: AdapterKind::Host,
            name: format!("node-{at}").into(),
            product: Product::default(),
        });
        builder.end_port(adapter, PortNumber(1), guid, Lid(1 + at as u32), 0);
        let leaf = at as usize / 4;
        builder.cable((adapter, PortNumber(1)), (vertices[&leaf], next(leaf)), Rate::NDR);
    }
    builder.finish().unwrap()
}

/// Two planes of spines and cores. Compute leaves are in both, with two cables each; a service leaf is in either
/// plane, one of them with `parallel` cables.
fn two_planes(parallel: usize) -> Fabric {
    let mut drawing = Drawing::new();
    draw_two_planes(&mut drawing, parallel);
    drawing.finish()
}

fn draw_two_planes(drawing: &mut Drawing, parallel: usize) {
    let mut spines = [vec![], vec![]];
    for plane in &mut spines {
        let core = drawing.switch("core");
        for _ in 0..3 {
            let spine = drawing.switch("spine");
            drawing.cable(spine, core, 4);
            plane.push(spine);
        }
    }
    for _ in 0..6 {
        let leaf = drawing.switch("leaf");
        drawing.nodes(leaf, 8);
        for &spine in spines.iter().flatten() {
            drawing.cable(leaf, spine, 2);
        }
    }
    for (plane, cables) in spines.iter().zip([2, parallel]) {
        let leaf = drawing.switch("service leaf");
        drawing.nodes(leaf, 6);
        drawing.cable(leaf, plane[0], cables);
    }
}

/// Service leaves in different planes have no up*down* route by ranks from the leaves. With two cables each they
/// are leaves that may have lost the others; with 14 no damage explains the difference.
#[test]
fn parallel_cables_that_no_damage_explains_are_no_fat_tree() {
    for (parallel, oddity) in [(2, None), (7, None), (14, Some(Oddity::ParallelCables))] {
        let fabric = two_planes(parallel);
        let whole = Degradation::none(&fabric);
        let routing = first(&fabric);
        let lost = connected(live(&fabric, &whole)) - delivered(live(&fabric, &whole), &routing);
        assert_eq!(routing.unconnected().map(|why| why.oddity), oddity, "{parallel}");
        assert_eq!(lost, if oddity.is_some() { 0 } else { 2 * 6 * 6 }, "{parallel}");
    }
}

/// Three pods of six leaves and four planes, each plane with a spine in every pod and three cores. Service leaves in different
/// planes, one of them with many parallel cables, are the reason why ranks are counted from one root, which is a leaf.
fn four_planes() -> Fabric {
    let mut drawing = Drawing::new();
    let mut pods = vec![];
    for pod in 0..3 {
        let leaves: Vec<usize> =
            (0..6).map(|l| drawing.switch(&format!("leaf-{pod}-{l}"))).collect();
        let spines: Vec<usize> =
            (0..4).map(|plane| drawing.switch(&format!("spine-{pod}-{plane}"))).collect();
        for &leaf in &leaves {
            drawing.nodes(leaf, 8);
            spines.iter().for_each(|&spine| drawing.cable(leaf, spine, 2));
        }
        pods.push(spines);
    }
    for plane in 0..4 {
        for core in 0..3 {
            let core = drawing.switch(&format!("core-{plane}-{core}"));
            pods.iter().for_each(|spines| drawing.cable(core, spines[plane], 2));
        }
    }
    for (pod, plane, cables) in [(1, 0, 2), (2, 1, 14)] {
        let leaf = drawing.switch("service leaf");
        drawing.nodes(leaf, 6);
        drawing.cable(leaf, pods[pod][plane], cables);
    }
    drawing.finish()
}

/// From a root that is a leaf, a whole plane lies below the other leaves if the spine of that plane in the root's pod fails.
/// It carries nothing then, and the leaves above it keep their dividers.
#[test]
fn a_plane_that_sinks_below_the_leaves_changes_no_divider() {
    let fabric = Arc::new(four_planes());
    let routing = first(&fabric);
    let mut router =
        Router::new(fabric.clone(), routing.clone(), Degradation::none(&fabric)).unwrap();
    assert!(matches!(routing.orders().rank_rule(), RankRule::SingleRoot(_)));
    let root = router.preprocessing().ranking.single_roots(router.live())[0];
    assert!(fabric.switch(root).name.starts_with("leaf-"));
    let whole = router.traffic().all_to_all().max();
    // Level by level, dividers reach 600. The root is a leaf, and flows to its nodes arrive over the cables below it.
    assert_eq!(whole, 456);
    let leaves: Vec<SwitchIndex> = router.preprocessing().ranking.leaves().to_vec();
    let mut sunk = 0;
    for s in fabric.switch_indices().filter(|&s| fabric.switch(s).name.starts_with("spine-")) {
        router.apply(&[Change::Dies(Part::Switch(s))]).unwrap();
        let worst = router.traffic().all_to_all().max();
        // Refined dividers suit the whole fabric, so a fault costs more of what they gained: without them, 1,124 flows are the worst.
        assert!(worst <= 1248, "{}: {worst} flows, {whole} before", fabric.switch(s).name);
        let live = router.live();
        let ready = routing.preprocess(live);
        assert_eq!(router.preprocessing().dividers, ready.dividers);
        assert!(*router.tables() == route(&routing, live));
        let naive = updown::tables(live, &leaves, routing.orders(), routing.columns());
        assert_eq!(rows(router.tables()), naive);
        // Of the other pods, the leaves have one rank; a sunk plane is below it.
        let core_ranks =
            fabric.switch_indices().filter(|&s| fabric.switch(s).name.starts_with("core-"));
        sunk += core_ranks.filter(|&core| ready.ranking.rank(core) == Some(0)).count();
        router.apply(&[Change::Recovers(Part::Switch(s))]).unwrap();
    }
    assert_eq!(sunk, 4 * 3, "the cores of each plane sink once");
    assert_eq!(router.traffic().all_to_all().max(), whole);
}

/// Each connected part is looked at by itself: a large regular one does not hide what is odd in a small one.
#[test]
fn a_large_part_hides_no_odd_one() {
    let mut drawing = Drawing::new();
    draw_two_planes(&mut drawing, 14);
    let [left, right] = drawing.switches(["spine", "spine"]);
    for _ in 0..60 {
        let leaf = drawing.switch("leaf");
        drawing.nodes(leaf, 1);
        drawing.cable(leaf, left, 4);
        drawing.cable(leaf, right, 4);
    }
    let fabric = drawing.finish();
    let whole = Degradation::none(&fabric);
    let routing = first(&fabric);
    assert_eq!(routing.unconnected().map(|why| why.oddity), Some(Oddity::ParallelCables));
    assert_eq!(delivered(live(&fabric, &whole), &routing), connected(live(&fabric, &whole)));
    let roots = routing.ranking(live(&fabric, &whole)).single_roots(live(&fabric, &whole));
    assert_eq!(roots.len(), 1, "the other part keeps ranks from its leaves");
}

#[test]
fn the_root_spares_the_spines_and_depends_on_no_index() {
    let mut order: Vec<usize> = (0..12).collect();
    let mut found = std::collections::BTreeSet::new();
    let mut random = Random::new(5, 0);
    for _ in 0..20 {
        let fabric = odd_tree(&order);
        let whole = Degradation::none(&fabric);
        let live = live(&fabric, &whole);
        let routing = first(&fabric);
        assert_eq!(delivered(live, &routing), 32 * 31);
        assert_eq!(routing.unconnected().unwrap().pairs, 2 * 4 * 4);
        let roots = routing.ranking(live).single_roots(live);
        found.insert(roots.iter().map(|&s| fabric.switch(s).guid).collect::<Vec<_>>());
        let name = &fabric.switch(roots[0]).name;
        let is_leaf = routing.ranking(live).is_leaf(roots[0]);
        assert!(is_leaf, "from {name}, other spines would lie below the leaves");
        // The two lost pairs of leaves are the price: no port has more than half as much again.
        let worst = |routing: &Routing| {
            let (tables, ranking) = (route(routing, live), routing.ranking(live));
            Traffic::new(live, &ranking, routing.orders(), &tables).all_to_all().max()
        };
        let by_leaves = Routing::new(live, &from_leaves());
        assert!(2 * worst(&routing) <= 3 * worst(&by_leaves));
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at as u64 + 1) as usize);
        }
    }
    assert_eq!(found.len(), 1, "the order of a file does not matter");
}

/// Roots that somebody names are that person's choice.
#[test]
fn given_roots_go_before_the_rule() {
    let fabric = chain(5);
    let whole = Degradation::none(&fabric);
    let live = live(&fabric, &whole);
    let roots = vec![SwitchIndex::new(0), SwitchIndex::new(1)];
    let rule = RankRule::GivenRoots(roots.clone().into());
    let options = RoutingOptions { leaves: LeafRule::Roots(roots), ..RoutingOptions::default() };
    let routing = Routing::new(live, &options);
    assert_eq!(*routing.orders().rank_rule(), rule);
    let mut saved = routing.orders().save(live);
    assert_eq!(saved.roots, None, "nothing is decided for later");
    let decided = first(&fabric).orders().save(live);
    saved.keep_absent(&decided);
    assert_eq!(saved.roots, decided.roots, "what was decided before stays");
    let again = RoutingOptions { switches: SwitchOrder::Saved(decided), ..options };
    assert_eq!(*Routing::new(live, &again).orders().rank_rule(), rule);
}
