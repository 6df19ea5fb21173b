//! Which switches are detected as leaves: small fabrics with one difficulty each, and random PGFTs with
//! service nodes, empty leaves and damage, whose leaves are known.

mod common;

use common::{Case, Drawing, for_seeds, random_pgft, saved_options};
use dmodc::fabric::{AdapterKind, Part};
use dmodc::{
    CableIndex, Degradation, DoubtReason, Fabric, Guid, LeafRule, Leaves, Live, Pgft, Random,
    Routing, RoutingOptions, SavedOrders, SwitchIndex,
};

fn detected(live: Live<'_>) -> Vec<SwitchIndex> {
    Leaves::new(live, &LeafRule::Detect).all
}

fn leaves_of(fabric: &Fabric) -> Vec<usize> {
    detected(Case::healthy(fabric).whole()).into_iter().map(SwitchIndex::at).collect()
}

fn doubts_of(fabric: &Fabric) -> Vec<(usize, bool, DoubtReason)> {
    let routing = Case::healthy(fabric).routing();
    routing.doubts().iter().map(|d| (d.switch.at(), d.is_leaf, d.why)).collect()
}

/// Two pods of `leaves` leaves and `spines` spines each, and two cores above each plane. Leaves come first.
fn two_pods(leaves: usize, spines: usize) -> (Drawing, Vec<usize>, Vec<usize>) {
    let mut d = Drawing::new();
    let below: Vec<usize> = (0..2 * leaves).map(|i| d.switch(&format!("leaf-{i}"))).collect();
    let middle: Vec<usize> = (0..2 * spines).map(|i| d.switch(&format!("spine-{i}"))).collect();
    for plane in 0..spines {
        for _ in 0..2 {
            let core = d.switch(&format!("core-{plane}"));
            d.cable(middle[plane], core, 1);
            d.cable(middle[spines + plane], core, 1);
        }
    }
    (d, below, middle)
}

/// Leaves without nodes have lost 4 or 5 of their 20 upswitches, each others, and the leaves with nodes one.
#[test]
fn an_empty_leaf_may_have_lost_some_of_its_upswitches() {
    let (mut d, leaves, spines) = two_pods(6, 20);
    for (i, &leaf) in leaves.iter().enumerate() {
        let is_empty = i % 6 >= 4;
        let lost = |at: usize| match is_empty {
            true => at % 5 == i % 5 || (i % 2 == 0 && at == 7),
            false => at == i % 6,
        };
        for at in (0..20).filter(|&at| !lost(at)) {
            d.cable(leaf, spines[20 * (i / 6) + at], 1);
        }
        d.nodes(leaf, if is_empty { 0 } else { 18 });
    }
    let fabric = d.finish();
    assert_eq!(leaves_of(&fabric), leaves);
    assert_eq!(doubts_of(&fabric), []);
}

/// One node on each leaf, and a test adapter on a spine.
#[test]
fn a_test_adapter_does_not_make_a_leaf_of_a_spine() {
    for nodes in [1, 2] {
        let (mut d, leaves, spines) = two_pods(4, 3);
        for (i, &leaf) in leaves.iter().enumerate() {
            spines[3 * (i / 4)..][..3].iter().for_each(|&spine| d.cable(leaf, spine, 1));
            d.nodes(leaf, nodes);
        }
        d.nodes(spines[1], 1);
        let fabric = d.finish();
        assert_eq!(leaves_of(&fabric), leaves);
        let doubts = match nodes {
            1 => vec![(spines[1], false, DoubtReason::NodesOfALeaf)],
            _ => vec![],
        };
        assert_eq!(doubts_of(&fabric), doubts);
    }
}

/// Three service nodes on one spine, or on all spines of a pod, where leaves have four nodes.
#[test]
fn a_spine_with_nearly_as_many_nodes_as_a_leaf_is_a_spine() {
    for count in [1, 2, 3, 5] {
        let (mut d, leaves, spines) = two_pods(4, 3);
        for (i, &leaf) in leaves.iter().enumerate() {
            spines[3 * (i / 4)..][..3].iter().for_each(|&spine| d.cable(leaf, spine, 1));
            d.nodes(leaf, 4);
        }
        for &spine in &spines[..count] {
            d.nodes(spine, 3);
        }
        let fabric = d.finish();
        assert_eq!(leaves_of(&fabric), leaves, "{count}");
        assert_eq!(doubts_of(&fabric).len(), count);
    }
}

/// More nodes on a spine than on any leaf, and more nodes on two spines where there is an empty leaf.
#[test]
fn a_crowded_spine_is_a_spine() {
    for (crowded, empty) in [(1, 0), (1, 1), (2, 1)] {
        let (mut d, leaves, spines) = two_pods(8, 4);
        for (i, &leaf) in leaves.iter().enumerate() {
            spines[4 * (i / 8)..][..4].iter().for_each(|&spine| d.cable(leaf, spine, 1));
            d.nodes(leaf, if i < empty { 0 } else { 18 });
        }
        for &spine in &spines[..crowded] {
            d.nodes(spine, 20);
        }
        assert_eq!(leaves_of(&d.finish()), leaves, "{crowded} {empty}");
    }
}

/// A cable, or a ring of cables, between leaves does not make spines of them; nor does a leaf that hangs on
/// another one.
#[test]
fn leaves_may_be_cabled_to_each_other() {
    let (mut d, mut leaves, spines) = two_pods(4, 3);
    for (i, &leaf) in leaves.iter().enumerate() {
        spines[3 * (i / 4)..][..3].iter().for_each(|&spine| d.cable(leaf, spine, 1));
        d.nodes(leaf, 4 + i % 3);
    }
    for (a, b) in [(0, 1), (1, 2), (2, 0), (4, 5)] {
        d.cable(leaves[a], leaves[b], 1);
    }
    let last = d.switch("at a leaf");
    d.cable(leaves[7], last, 1);
    d.nodes(last, 6);
    let fabric = d.finish();
    leaves.push(last);
    assert_eq!(leaves_of(&fabric), leaves);
    assert_eq!(doubts_of(&fabric).len(), 7, "those that are cabled to each other");
}

/// In a torus every switch has nodes, and none is above another, however uneven the nodes are.
#[test]
fn all_switches_of_a_torus_are_leaves() {
    for_seeds(5, |random| {
        let mut d = Drawing::new();
        let all: Vec<usize> = (0..30).map(|i| d.switch(&format!("s{i}"))).collect();
        for i in 0..30 {
            let (x, y) = (i % 6, i / 6);
            d.cable(i, y * 6 + (x + 1) % 6, 1);
            d.cable(i, (y + 1) % 5 * 6 + x, 1);
            d.nodes(i, 3 + random.below(3) as usize);
        }
        assert_eq!(leaves_of(&d.finish()), all);
    });
}

/// A pod without any node: its leaves are the switches that are farthest.
#[test]
fn an_empty_pod_has_leaves() {
    let (mut d, leaves, spines) = two_pods(4, 3);
    for (i, &leaf) in leaves.iter().enumerate() {
        spines[3 * (i / 4)..][..3].iter().for_each(|&spine| d.cable(leaf, spine, 1));
        d.nodes(leaf, if i < 4 { 4 } else { 0 });
    }
    let fabric = d.finish();
    assert_eq!(leaves_of(&fabric), leaves);
    assert_eq!(doubts_of(&fabric).len(), 4);
}

/// A star with nodes on the hub, too.
#[test]
fn a_star_has_a_hub() {
    let mut d = Drawing::new();
    let hub = d.switch("hub");
    let leaves: Vec<usize> = (0..9).map(|i| d.switch(&format!("leaf-{i}"))).collect();
    for &leaf in &leaves {
        d.cable(hub, leaf, 2);
        d.nodes(leaf, 4);
    }
    d.nodes(hub, 3);
    assert_eq!(leaves_of(&d.finish()), leaves);
}

/// A PGFT with extra nodes: as many on leaf `i` and on upper switch `i` as the functions say.
fn with_nodes(
    pgft: &Pgft,
    on_leaf: impl Fn(usize) -> usize,
    on_upper: impl Fn(usize) -> usize,
) -> Fabric {
    let bare = pgft.fabric(Default::default());
    let leaves = pgft.count(1);
    let mut d = Drawing::new();
    for switch in bare.switches() {
        d.switch(&switch.name);
    }
    for cable in bare.inter_switch_cables() {
        d.cable(cable.a.0.at(), cable.b.0.at(), 1);
    }
    for s in 0..bare.switches().len() {
        let count = if s < leaves { on_leaf(s) } else { on_upper(s - leaves) };
        d.nodes(s, count);
        if s % 3 == 0 {
            d.node(s, AdapterKind::Aggregation, 0);
        }
    }
    d.finish()
}

/// A PGFT whose levels can be distinguished: a switch has at least two below it.
fn distinct_pgft(random: &mut Random, nodes: usize) -> Pgft {
    loop {
        let pgft = random_pgft(random, nodes);
        if (2..=pgft.levels()).all(|l| pgft.m(l) >= 2) {
            return pgft;
        }
    }
}

/// Service nodes on spines and cores, less than `per_leaf`. One spine has none, nor has the fourth level,
/// which is too far from leaves to be distinguished from one.
fn service(random: &mut Random, pgft: &Pgft, per_leaf: usize) -> Vec<usize> {
    let one_in = 1 + random.below(6);
    let mut found = vec![];
    for level in 2..=pgft.levels() {
        for _ in 0..pgft.count(level) {
            found.push(match random.below(one_in) {
                0 if level < 4 => 1 + random.below(per_leaf as u64 - 1) as usize,
                _ => 0,
            });
        }
    }
    found[random.below(pgft.count(2) as u64) as usize] = 0;
    found
}

/// On a whole PGFT with fewer service nodes on a spine than nodes on a leaf, on any spines and cores but
/// not on all, the leaves are the leaves.
#[test]
fn service_nodes_on_a_whole_pgft_change_nothing() {
    for_seeds(400, |random| {
        let pgft = distinct_pgft(random, 400);
        let per_leaf = 2 + random.below(6) as usize;
        let service = service(random, &pgft, per_leaf);
        let fabric = with_nodes(&pgft, |_| per_leaf, |s| service[s]);
        assert_eq!(
            leaves_of(&fabric),
            (0..pgft.count(1)).collect::<Vec<_>>(),
            "{pgft} {service:?}"
        );
    });
}

/// How many switches of these random fabrics are detected wrongly, and how many there are.
fn errors(
    seeds: u64,
    make: impl Fn(&mut Random) -> (Fabric, Degradation, usize),
) -> (usize, usize) {
    let (mut wrong, mut all) = (0, 0);
    for seed in 0..seeds {
        let (fabric, degradation, leaves) = make(&mut Random::new(seed, 7));
        let live = Live::new(&fabric, &degradation);
        let found = detected(live);
        let truth: Vec<SwitchIndex> = live.switches().filter(|s| s.at() < leaves).collect();
        let differ = found.iter().filter(|s| !truth.contains(s)).count()
            + truth.iter().filter(|s| !found.contains(s)).count();
        wrong += differ;
        all += live.switches().count();
    }
    (wrong, all)
}

/// Kills these percentages of cables, of switches above the leaves, and of nodes.
fn damage(
    random: &mut Random,
    fabric: &Fabric,
    leaves: usize,
    [cables, switches, nodes]: [u64; 3],
) -> Degradation {
    let mut d = Degradation::none(fabric);
    for c in (0..fabric.cable_count()).map(CableIndex::new) {
        let is_node = c.at() >= fabric.inter_switch_cables().len();
        d.set(Part::Cable(c), random.below(100) < if is_node { nodes } else { cables });
    }
    for s in fabric.switch_indices().skip(leaves) {
        d.set(Part::Switch(s), random.below(100) < switches);
    }
    d
}

/// What a random PGFT has beyond its shape, in percent: empty leaves, then dead cables, dead switches above
/// leaves and dead nodes. `uneven` leaves have any number of nodes up to the usual one.
struct Oddities {
    service: bool,
    uneven: bool,
    empty: u64,
    dead: [u64; 3],
}

/// Detection by a damaged fabric alone, without orders or a reference: the share of switches that are taken for
/// what they are not. Small PGFTs are hard: one dead cable of two leaves little to see.
#[test]
fn damage_is_mostly_withstood() {
    let case = |service, uneven, empty, dead| Oddities { service, uneven, empty, dead };
    // The last number is how many of 10,000 switches may be wrong; about twice what was measured.
    let cases = [
        (case(false, false, 0, [0, 0, 0]), 0),
        (case(false, true, 0, [0, 0, 0]), 0),
        (case(false, false, 20, [0, 0, 0]), 60),
        (case(false, false, 0, [10, 5, 0]), 5),
        (case(false, false, 0, [30, 10, 0]), 15),
        (case(false, true, 0, [10, 5, 0]), 60),
        (case(false, false, 0, [5, 1, 30]), 5),
        (case(true, false, 0, [10, 1, 10]), 25),
        (case(false, false, 10, [10, 2, 0]), 100),
        (case(true, false, 10, [10, 2, 10]), 180),
    ];
    for (case, limit) in cases {
        let (wrong, all) = errors(120, |random| {
            let pgft = distinct_pgft(random, 300);
            let per_leaf = 4 + random.below(12) as usize;
            let counts: Vec<usize> = (0..pgft.count(1))
                .map(|_| match (random.below(100) < case.empty, case.uneven) {
                    (true, _) => 0,
                    (_, true) => 1 + random.below(per_leaf as u64) as usize,
                    _ => per_leaf,
                })
                .collect();
            let mut service = service(random, &pgft, per_leaf);
            service.iter_mut().for_each(|n| *n = if case.service { (*n).min(2) } else { 0 });
            let fabric = with_nodes(&pgft, |s| counts[s], |s| service[s]);
            let d = damage(random, &fabric, pgft.count(1), case.dead);
            (fabric, d, pgft.count(1))
        });
        assert!(10_000 * wrong <= limit * all, "{wrong} of {all}: {}, {:?}", case.empty, case.dead);
    }
}

/// A fault never makes or unmakes a leaf where the first fabric, its saved orders or their first version
/// are known.
#[test]
fn what_was_a_leaf_stays_one() {
    for_seeds(60, |random| {
        let pgft = distinct_pgft(random, 200);
        let per_leaf = 2 + random.below(6) as usize;
        let service = service(random, &pgft, per_leaf);
        let fabric = with_nodes(&pgft, |_| per_leaf, |s| service[s]);
        let faults = damage(random, &fabric, pgft.count(1), [30, 20, 60]);
        let case = Case::with_faults(&fabric, faults);
        let (routing, dead) = (case.routing(), case.now());
        let leaves: Vec<SwitchIndex> = dead.switches().filter(|s| s.at() < pgft.count(1)).collect();
        assert_eq!(routing.ranking(dead).leaves(), leaves);

        let saved = routing.orders().save(case.whole());
        let first_version = SavedOrders { leaves: vec![], ..saved.clone() };
        let rest = fabric.without(&case.faults);
        let rest_case = Case::healthy(&rest);
        let ranking_by = |saved: &SavedOrders| {
            let live = rest_case.whole();
            Routing::new(live, &saved_options(saved)).ranking(live)
        };
        let by_file = ranking_by(&saved);
        let guid = |s: &SwitchIndex| fabric.switch(*s).guid;
        let found: Vec<Guid> = by_file.leaves().iter().map(|&s| rest.switch(s).guid).collect();
        assert_eq!(found, leaves.iter().map(guid).collect::<Vec<_>>());
        // The first version does not list leaves; those that have nodes now are known by them.
        let by_nodes = ranking_by(&first_version);
        for s in rest
            .switch_indices()
            .filter(|&s| rest.nodes_of(s).iter().any(|&n| !rest.is_aggregation(n)))
        {
            assert_eq!(by_nodes.is_leaf(s), by_file.is_leaf(s));
        }
    });
}

/// Orders were saved while one host was on, which is on a spine: they do not turn the tree upside down when
/// the others come up.
#[test]
fn orders_from_before_the_hosts_were_on_do_not_bind() {
    let draw = |nodes: usize| {
        let (mut d, leaves, spines) = two_pods(4, 3);
        d.nodes(spines[1], 1);
        for (i, &leaf) in leaves.iter().enumerate() {
            spines[3 * (i / 4)..][..3].iter().for_each(|&spine| d.cable(leaf, spine, 1));
        }
        for &leaf in &leaves {
            d.nodes(leaf, nodes);
        }
        (d.finish(), leaves)
    };
    let route = |fabric: &Fabric, options: &RoutingOptions| {
        let case = Case::healthy(fabric);
        let live = case.whole();
        let routing = Routing::new(live, options);
        let leaves: Vec<usize> = routing.ranking(live).leaves().iter().map(|s| s.at()).collect();
        (leaves, routing.orders().save(live))
    };
    let (_, saved) = route(&draw(0).0, &RoutingOptions::default());
    let (fabric, leaves) = draw(4);
    assert_eq!(route(&fabric, &saved_options(&saved)).0, leaves);
}
