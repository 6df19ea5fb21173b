//! What must hold on every fabric, tried on thousands: fast code against the naive references, and
//! the promises of the paper against independent walks.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use dmodc::fabric::Peer;
use dmodc::judge::check;
use dmodc::oracle::paper::Procedure1;
use dmodc::oracle::{Graph, updown};
use dmodc::{
    Columns, CostBlock, Degradation, DestinationOrder, Digest, Dmodc, Dmodk, End, Engine, Fabric,
    ForwardingTables, GuidOrder, Kernel, Live, NodeIndex, Pgft, Policy, PortNumber, Random,
    Reference, RouteError, Routing, RoutingOptions, Stable, SwitchIndex, SwitchOrder,
    stream_switches, stream_tiles,
};
use support::{for_seeds, random_degradation, random_graph, random_pgft, walk};

fn random_options(random: &mut Random) -> RoutingOptions {
    RoutingOptions {
        destinations: match random.below(3) {
            0 => DestinationOrder::Topological,
            1 => DestinationOrder::Lid,
            _ => DestinationOrder::Guid,
        },
        switches: match random.below(2) {
            0 => SwitchOrder::Plane,
            _ => SwitchOrder::Guid,
        },
        switch_lids: random.below(3) > 0,
        ..RoutingOptions::default()
    }
}

fn naive(live: Live<'_>, routing: &Routing) -> Vec<Vec<u8>> {
    updown::tables(live, routing.ranking(live).leaves(), routing.orders(), routing.columns())
}

fn random_guids(random: &mut Random) -> GuidOrder {
    match random.below(2) {
        0 => GuidOrder::Topological,
        _ => GuidOrder::Shuffled(random.below(1000)),
    }
}

/// The entries, one row for each switch, as the reference gives them.
fn rows(tables: &ForwardingTables) -> Vec<Vec<u8>> {
    (0..tables.switch_count())
        .map(|s| {
            let port = |c| tables.port(SwitchIndex::new(s), c).map_or(255, |p| p.0);
            (0..tables.columns().len()).map(port).collect()
        })
        .collect()
}

/// Healthy and degraded, under any orders, every entry is the naive one.
fn assert_fast_equals_naive(random: &mut Random, fabric: &Fabric) {
    let healthy = Degradation::none(fabric);
    let routing = Routing::new(Live::new(fabric, &healthy), &random_options(random));
    let degraded = random_degradation(random, fabric);
    for d in [&healthy, &degraded] {
        let live = Live::new(fabric, d);
        let (tables, _) = routing.route(live, &Dmodc).unwrap();
        assert_eq!(rows(&tables), naive(live, &routing));
    }
}

#[test]
fn fast_tables_equal_the_naive_ones_on_degraded_pgfts() {
    for_seeds(400, |random| {
        let fabric = random_pgft(random, 300).fabric(random_guids(random));
        assert_fast_equals_naive(random, &fabric);
    });
}

#[test]
fn fast_tables_equal_the_naive_ones_on_any_graph() {
    for_seeds(400, |random| {
        let fabric = random_graph(random);
        assert_fast_equals_naive(random, &fabric);
    });
}

#[test]
fn costs_and_dividers_equal_procedure_1_on_degraded_pgfts() {
    let compared = std::cell::Cell::new(0u64);
    for_seeds(400, |random| {
        let fabric = random_pgft(random, 300).fabric(random_guids(random));
        let degraded = random_degradation(random, &fabric);
        let live = Live::new(&fabric, &degraded);
        let routing = Routing::new(live, &random_options(random));
        let ready = routing.preprocess(live);
        let graph = Graph::new(live, routing.orders(), routing.ranking(live).leaves());
        let procedure = Procedure1::run(&graph);
        assert!(ready.dividers.iter().map(|&d| u64::from(d)).eq(procedure.divider.iter().copied()));
        let mut block = CostBlock::default();
        for (first, leaves) in graph.leaves.chunks(64).enumerate() {
            block.compute(&ready.groups, leaves).unwrap();
            for s in live.switches() {
                for i in 0..leaves.len() {
                    let literal = procedure.cost[s.at()][64 * first + i];
                    assert_eq!(block.cost(s, i).map(u32::from), literal);
                    compared.set(compared.get() + 1);
                }
            }
        }
    });
    assert!(compared.get() > 100_000, "{compared:?}");
}

#[test]
fn entries_equal_the_paper_on_healthy_pgfts() {
    for_seeds(100, |random| {
        let fabric = random_pgft(random, 200).fabric(random_guids(random));
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        let routing = Routing::new(live, &random_options(random));
        let (tables, _) = routing.route(live, &Dmodc).unwrap();
        let graph = Graph::new(live, routing.orders(), routing.ranking(live).leaves());
        let procedure = Procedure1::run(&graph);
        for (column, d) in tables.columns().destinations().iter().enumerate() {
            let End::Node(_) = d.end else { continue };
            let leaf = graph.leaves.iter().position(|&l| l == d.switch).unwrap();
            for s in live.switches().filter(|&s| s != d.switch) {
                assert_eq!(tables.port(s, column), procedure.port(s, leaf, d.number));
            }
        }
    });
}

/// A spine that has lost its cable to a leaf cannot go up and down to it any more. The literal
/// closer set, which takes every neighbour with a finite cost then, sends it down to another leaf to
/// go up again; ours has no route.
#[test]
fn the_literal_closer_set_may_turn_up_again_and_ours_never_does() {
    let fabric = "2; 2,3; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(Default::default());
    let mut degraded = Degradation::none(&fabric);
    let spine = SwitchIndex::new(3);
    let target = format!("{}/1", fabric.switch(spine).guid);
    degraded.remove(&fabric, &target).unwrap();
    let live = Live::new(&fabric, &degraded);
    let routing = Routing::new(live, &RoutingOptions::default());
    let (tables, coverage) = routing.route(live, &Dmodc).unwrap();
    assert!(coverage.is_valid());
    let graph = Graph::new(live, routing.orders(), routing.ranking(live).leaves());
    let literal = Procedure1::run(&graph).port(spine, 0, 0).unwrap();
    let turns_at = live.peer(spine, literal);
    assert!(matches!(turns_at, Peer::Switch(leaf, _) if graph.leaves.contains(&leaf)));
    let column = routing.columns().destinations().iter().position(|d| d.number == 0).unwrap();
    assert_eq!(tables.port(spine, column), None);
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let pools = [pool(1), pool(2), pool(7)];
    for_seeds(60, |random| {
        // Enough leaves for several tiles.
        let pgft: Pgft = "3; 2,12,13; 1,3,2; 1,2,1".parse().unwrap();
        let fabric = pgft.fabric(random_guids(random));
        let degraded = random_degradation(random, &fabric);
        let live = Live::new(&fabric, &degraded);
        let routing = Routing::new(live, &random_options(random));
        let [one, two, seven] = pools.each_ref().map(|pool| {
            pool.install(|| {
                let (tables, coverage) = routing.route(live, &Dmodc).unwrap();
                let judged = check(live, &routing.ranking(live), routing.orders(), &tables);
                (tables, coverage, judged)
            })
        });
        assert_eq!(one, two);
        assert_eq!(one, seven);
    });
}

#[test]
fn a_healthy_pgft_is_routed_as_by_dmodk() {
    for_seeds(150, |random| {
        let pgft = random_pgft(random, 300);
        let fabric = pgft.fabric(GuidOrder::Topological);
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        let routing = Routing::new(live, &random_options(random));
        let (dmodc, coverage) = routing.route(live, &Dmodc).unwrap();
        let (dmodk, same) = routing.route(live, &Dmodk).unwrap();
        assert_eq!(rows(&dmodc), rows(&dmodk));
        assert_eq!(coverage, same);

        // With any other GUIDs, planes change their names but not their loads.
        let renamed = pgft.fabric(GuidOrder::Shuffled(random.below(1000)));
        let live_renamed = Live::new(&renamed, &healthy);
        let routing = Routing::new(live_renamed, &RoutingOptions::default());
        let (tables, _) = routing.route(live_renamed, &Dmodc).unwrap();
        assert_eq!(loads(live, &dmodk), loads(live_renamed, &tables));
    });
}

/// All-to-all flows through every inter-switch port, sorted.
fn loads(live: Live<'_>, tables: &ForwardingTables) -> Vec<usize> {
    let mut loads: BTreeMap<(SwitchIndex, PortNumber), usize> = BTreeMap::new();
    for (column, d) in tables.columns().destinations().iter().enumerate() {
        let End::Node(_) = d.end else { continue };
        for source in live.fabric.nodes() {
            for port in walk(live, tables, source.switch, column).unwrap() {
                *loads.entry(port).or_default() += 1;
            }
        }
    }
    let mut loads: Vec<usize> = loads.into_values().collect();
    loads.sort_unstable();
    loads
}

/// Where every level has as many ports up as down, each shift k sends d → d + k without sharing a
/// port: the reason for the whole arithmetic.
#[test]
fn no_shift_shares_a_port_on_full_pgfts() {
    let full = |random: &mut Random| loop {
        let pgft = random_pgft(random, 200);
        let is_full =
            (1..pgft.levels()).all(|l| pgft.w(l + 1) * pgft.p(l + 1) == pgft.m(l) * pgft.p(l));
        if is_full && pgft.count(0) > 1 {
            return pgft;
        }
    };
    let figure_1: Pgft = "3; 2,2,3; 1,2,2; 1,2,1".parse().unwrap();
    for_seeds(40, |random| {
        for pgft in [full(random), figure_1.clone()] {
            let fabric = pgft.fabric(random_guids(random));
            let healthy = Degradation::none(&fabric);
            let live = Live::new(&fabric, &healthy);
            let routing = Routing::new(live, &RoutingOptions::default());
            let (tables, _) = routing.route(live, &Dmodc).unwrap();
            assert_eq!(worst_shift(live, &routing, &tables), 1, "{pgft}");
        }
    });
}

/// The most flows that any shift puts through one inter-switch port (at least 1).
fn worst_shift(live: Live<'_>, routing: &Routing, tables: &ForwardingTables) -> usize {
    let nodes = live.fabric.nodes().len();
    let mut node_of = vec![NodeIndex::new(0); nodes];
    let mut column_of = vec![0; nodes];
    for n in live.fabric.node_indices() {
        node_of[routing.orders().node_number(n).number as usize] = n;
    }
    for (column, d) in tables.columns().destinations().iter().enumerate() {
        if let End::Node(_) = d.end {
            column_of[d.number as usize] = column;
        }
    }
    let mut worst = 1;
    for k in 1..nodes {
        let mut loads: BTreeMap<(SwitchIndex, PortNumber), usize> = BTreeMap::new();
        for d in 0..nodes {
            let from = live.fabric.node(node_of[d]).switch;
            for port in walk(live, tables, from, column_of[(d + k) % nodes]).unwrap() {
                *loads.entry(port).or_default() += 1;
            }
        }
        worst = worst.max(loads.into_values().max().unwrap_or(0));
    }
    worst
}

/// Everything that the tables of an arbitrary fabric promise, walked independently: every pair with
/// an up\*down\* path is delivered, no other is, nothing turns or loops, nothing can deadlock.
fn assert_promises(live: Live<'_>, routing: &Routing, tables: &ForwardingTables) {
    let ready = routing.preprocess(live);
    let height =
        |s: SwitchIndex| (ready.ranking.rank(s).unwrap_or(u32::MAX), routing.orders().position(s));
    for (column, d) in tables.columns().destinations().iter().enumerate() {
        let alive = match d.end {
            End::Node(n) => live.node(n),
            End::Switch(s) => live.switch(s),
        };
        for s in live.switches() {
            let reachable = alive && up_down_path(live, s, d.switch, &height);
            let path = walk(live, tables, s, column);
            assert_eq!(path.is_some(), reachable, "{s:?} to {d:?}");
            let Some(path) = path else { continue };
            let mut way: Vec<SwitchIndex> = path.iter().map(|(s, _)| *s).collect();
            way.push(d.switch);
            let ups: Vec<bool> = way.windows(2).map(|w| height(w[1]) > height(w[0])).collect();
            assert!(ups.is_sorted_by(|a, b| a >= b), "up after down: {way:?}");
        }
    }
    let judged = check(live, &routing.ranking(live), routing.orders(), tables);
    for scope in [&judged.nodes, &judged.everything] {
        assert_eq!((scope.loops, scope.up_down_violations), (0, 0));
        assert!(scope.is_deadlock_free());
    }
}

/// Whether some path climbs, then descends: a search over (switch, has turned).
fn up_down_path(
    live: Live<'_>,
    from: SwitchIndex,
    to: SwitchIndex,
    height: &impl Fn(SwitchIndex) -> (u32, u32),
) -> bool {
    let mut seen = vec![[false; 2]; live.fabric.switches().len()];
    let mut queue = VecDeque::from([(from, false)]);
    while let Some((s, turned)) = queue.pop_front() {
        if s == to {
            return true;
        }
        if std::mem::replace(&mut seen[s.at()][usize::from(turned)], true) {
            continue;
        }
        for (_, peer) in live.links(s) {
            let up = height(peer) > height(s);
            if !(up && turned) {
                queue.push_back((peer, turned || !up));
            }
        }
    }
    false
}

#[test]
fn promises_hold_on_degraded_pgfts() {
    for_seeds(120, |random| {
        let fabric = random_pgft(random, 100).fabric(random_guids(random));
        let degraded = random_degradation(random, &fabric);
        let live = Live::new(&fabric, &degraded);
        let routing = Routing::new(live, &random_options(random));
        let (tables, coverage) = routing.route(live, &Dmodc).unwrap();
        assert_promises(live, &routing, &tables);
        let judged = check(live, &routing.ranking(live), routing.orders(), &tables);
        assert_eq!(
            coverage.is_valid(),
            judged.nodes.delivery().is_complete(),
            "valid means delivered"
        );
    });
}

#[test]
fn promises_hold_on_any_connected_graph() {
    for_seeds(400, |random| {
        let fabric = random_graph(random);
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        let routing = Routing::new(live, &random_options(random));
        let (tables, _) = routing.route(live, &Dmodc).unwrap();
        assert_promises(live, &routing, &tables);
    });
}

/// Connecting roots fills switch-to-switch entries alone, loses nothing, and loops nowhere.
#[test]
fn connected_roots_reach_every_switch() {
    for_seeds(200, |random| {
        let fabric = match random.below(2) {
            0 => random_graph(random),
            _ => random_pgft(random, 60).fabric(random_guids(random)),
        };
        let degraded = match random.below(2) {
            0 => Degradation::none(&fabric),
            _ => random_degradation(random, &fabric),
        };
        let live = Live::new(&fabric, &degraded);
        let routing = Routing::new(live, &RoutingOptions::default());
        let (before, _) = routing.route(live, &Dmodc).unwrap();
        let mut tables = before.clone();
        let filled = dmodc::connect_roots(live, &routing.preprocess(live), &mut tables);
        assert_eq!(filled, tables.routed() - before.routed());
        assert_eq!(filled, tables.differing(&before));
        for (column, d) in tables.columns().destinations().iter().enumerate() {
            for s in live.switches() {
                match d.end {
                    End::Node(_) => assert_eq!(tables.port(s, column), before.port(s, column)),
                    End::Switch(t) => {
                        let joined = live.switch(t) && up_down_path(live, s, t, &|_| (0, 0));
                        assert_eq!(walk(live, &tables, s, column).is_some(), joined);
                    }
                }
            }
        }
    });
}

/// A mask over a fabric and the file that a discovery would write of what is left are the same thing,
/// if the orders are kept.
#[test]
fn a_mask_equals_the_fabric_without_what_is_dead() {
    for_seeds(150, |random| {
        let fabric = match random.below(3) {
            0 => random_graph(random),
            _ => random_pgft(random, 200).fabric(random_guids(random)),
        };
        let healthy = Degradation::none(&fabric);
        let options = random_options(random);
        let live = Live::new(&fabric, &healthy);
        let routing = Routing::new(live, &options);
        let saved = routing.orders().save(live);
        let degraded = random_degradation(random, &fabric);
        let (masked, coverage) = routing.route(Live::new(&fabric, &degraded), &Dmodc).unwrap();

        let rest = fabric.without(&degraded);
        let whole = Degradation::none(&rest);
        let live = Live::new(&rest, &whole);
        let options = RoutingOptions {
            destinations: DestinationOrder::Saved(saved.clone()),
            switches: SwitchOrder::Saved(saved),
            ..options
        };
        let (cut, coverage_cut) = Routing::new(live, &options).route(live, &Dmodc).unwrap();
        assert_eq!(entries(&fabric, &masked), entries(&rest, &cut));
        assert_eq!(coverage.leaf_pairs, coverage_cut.leaf_pairs);
        assert_eq!(coverage.unreachable_leaf_pairs, coverage_cut.unreachable_leaf_pairs);
    });
}

/// All routes by GUID and LID, whatever the indices.
fn entries(fabric: &Fabric, tables: &ForwardingTables) -> BTreeMap<(u64, u32), u8> {
    let mut entries = BTreeMap::new();
    for s in fabric.switch_indices() {
        for (column, d) in tables.columns().destinations().iter().enumerate() {
            if let Some(port) = tables.port(s, column) {
                entries.insert((fabric.switch(s).guid.0, d.lid.0), port.0);
            }
        }
    }
    entries
}

/// A chain of 130 switches between two leaves needs 129 hops; one of 260 more than a cost counts,
/// which is an error with a name, not a wrong route.
#[test]
fn routes_that_are_too_long_are_refused() {
    let chain = |length: usize| {
        let mut d = support::Drawing::new();
        for at in 0..length {
            d.switch(&format!("s{at:03}"));
            if at > 0 {
                d.cable(at - 1, at, 1);
            }
        }
        d.nodes(0, 1);
        let fabric = d.finish();
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        Routing::new(live, &RoutingOptions::default()).route(live, &Dmodc).map(|_| ())
    };
    assert_eq!(chain(130), Ok(()));
    assert_eq!(chain(255), Ok(()), "254 hops are the most");
    assert!(matches!(chain(256), Err(dmodc::RouteError::TooFar(_))));
    assert!(matches!(chain(400), Err(dmodc::RouteError::TooFar(_))));
    // Two chains that meet at the top: up `length` hops, down `length` hops.
    let peak = |length: usize| {
        let mut d = support::Drawing::new();
        for at in 0..=2 * length {
            d.switch(&format!("s{at:03}"));
            if at > 0 {
                d.cable(at - 1, at, 1);
            }
        }
        d.nodes(0, 1);
        d.nodes(2 * length, 1);
        let fabric = d.finish();
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        Routing::new(live, &RoutingOptions::default())
            .route(live, &Dmodc)
            .map(|(_, c)| c.is_valid())
    };
    assert_eq!(peak(127), Ok(true));
    assert!(matches!(peak(128), Err(dmodc::RouteError::TooFar(_))));
}

/// Numbers of destinations: leaves' nodes, others and switches are counted apart.
#[test]
fn nodes_elsewhere_do_not_disturb_the_numbers() {
    for_seeds(200, |random| {
        let fabric = random_graph(random);
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
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

/// Dmodk says by name why it refuses a damaged tree.
#[test]
fn dmodk_refuses_what_is_not_a_pgft() {
    let fabric = "3; 2,2,3; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default());
    let mut degraded = Degradation::none(&fabric);
    degraded.set_switch(SwitchIndex::new(15), true);
    let live = Live::new(&fabric, &degraded);
    let routing = Routing::new(live, &RoutingOptions::default());
    let refused =
        Dmodk.route(live, &routing.preprocess(live), &mut routing.empty_tables(live).unwrap());
    assert!(matches!(refused, Err(dmodc::RouteError::NotPgft(_))));
}

/// A buffer that held other tables gives the same bytes as a fresh one: nothing old shines through.
#[test]
fn a_reused_buffer_gives_the_same_bytes() {
    for_seeds(60, |random| {
        let pgft: Pgft = "3; 2,12,13; 1,3,2; 1,2,1".parse().unwrap();
        let fabric = pgft.fabric(random_guids(random));
        let healthy = Degradation::none(&fabric);
        let routing = Routing::new(Live::new(&fabric, &healthy), &random_options(random));
        let mut buffer = routing.empty_tables(Live::new(&fabric, &healthy)).unwrap();
        for _ in 0..4 {
            let degraded = random_degradation(random, &fabric);
            let live = Live::new(&fabric, &degraded);
            Dmodc.route(live, &routing.preprocess(live), &mut buffer).unwrap();
            assert_eq!(buffer, routing.route(live, &Dmodc).unwrap().0);
        }
    });
}

/// Switches with more than 64 groups and ports beyond 64, 128 and 192.
#[test]
fn wide_switches_are_routed_and_judged_right() {
    for tuple in ["2; 3,100; 1,70; 1,1", "2; 2,3; 1,2; 1,80", "2; 10,5; 1,120; 1,2"] {
        let fabric = tuple.parse::<Pgft>().unwrap().fabric(GuidOrder::Shuffled(3));
        let healthy = Degradation::none(&fabric);
        let routing = Routing::new(Live::new(&fabric, &healthy), &RoutingOptions::default());
        let degraded = random_degradation(&mut Random::new(1, 1), &fabric);
        for d in [&healthy, &degraded] {
            let live = Live::new(&fabric, d);
            let (tables, _) = routing.route(live, &Dmodc).unwrap();
            assert_eq!(rows(&tables), naive(live, &routing), "{tuple}");
            let judged = check(live, &routing.ranking(live), routing.orders(), &tables);
            assert!(judged.everything.is_deadlock_free());
        }
    }
}

/// Dmodk on a mask that leaves a smaller PGFT: dead destinations have no route, all others Dmodc's.
#[test]
fn dmodk_equals_dmodc_on_masks_that_leave_a_pgft() {
    let fabric = "3; 2,2,3; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default());
    let healthy = Degradation::none(&fabric);
    let routing = Routing::new(Live::new(&fabric, &healthy), &RoutingOptions::default());
    let mut pod_dead = healthy.clone();
    for s in [4, 5, 10, 11] {
        pod_dead.set_switch(SwitchIndex::new(s), true);
    }
    let mut node_dead = healthy.clone();
    node_dead.set_cable(fabric.node_cable(NodeIndex::new(3)), true);
    for degraded in [healthy, pod_dead, node_dead] {
        let live = Live::new(&fabric, &degraded);
        let (dmodc, coverage) = routing.route(live, &Dmodc).unwrap();
        let (dmodk, same) = routing.route(live, &Dmodk).unwrap();
        assert_eq!(rows(&dmodc), rows(&dmodk));
        assert_eq!(coverage, same);
    }
}

/// Orders taken from a mask and from the file of what is left number alike.
#[test]
fn orders_of_a_mask_equal_those_of_the_rest() {
    for_seeds(150, |random| {
        let fabric = match random.below(3) {
            0 => random_graph(random),
            _ => random_pgft(random, 100).fabric(random_guids(random)),
        };
        let options = random_options(random);
        let degraded = random_degradation(random, &fabric);
        let live = Live::new(&fabric, &degraded);
        let (masked, _) = Routing::new(live, &options).route(live, &Dmodc).unwrap();
        let rest = fabric.without(&degraded);
        let whole = Degradation::none(&rest);
        let live = Live::new(&rest, &whole);
        let (cut, _) = Routing::new(live, &options).route(live, &Dmodc).unwrap();
        assert_eq!(entries(&fabric, &masked), entries(&rest, &cut));
    });
}

/// Tables that are handed out piece by piece, or switch by switch, are the tables; and so is the digest.
#[test]
fn streams_equal_the_tables() {
    for_seeds(80, |random| {
        let fabric = match random.below(3) {
            0 => random_graph(random),
            1 => "2; 3,150; 1,9; 1,1".parse::<Pgft>().unwrap().fabric(random_guids(random)),
            _ => random_pgft(random, 200).fabric(random_guids(random)),
        };
        let healthy = Degradation::none(&fabric);
        let routing = Routing::new(Live::new(&fabric, &healthy), &random_options(random));
        let degraded = random_degradation(random, &fabric);
        let live = Live::new(&fabric, &degraded);
        let ready = routing.preprocess(live);
        let columns = routing.columns();
        let reference = Reference::new(&routing, Live::new(&fabric, &healthy));
        let stable = Stable { reference: Arc::new(reference) };
        let (engine, policy): (&dyn Engine, Policy<'_>) = match random.below(2) {
            0 => (&Dmodc, Policy::Dmodc),
            _ => (&stable, Policy::Stable(&stable.reference)),
        };
        let (tables, coverage) = routing.route(live, engine).unwrap();

        let digest = Mutex::new(Digest::default());
        let pieces = Mutex::new(0);
        let streamed = stream_tiles(policy, live, &ready, columns, |piece| {
            let mut digest = digest.lock().unwrap();
            *digest = *digest + Digest::rows(piece.first, piece.tile, piece.entries);
            *pieces.lock().unwrap() += piece.entries.len();
        });
        assert_eq!(streamed.unwrap(), coverage);
        assert_eq!(pieces.into_inner().unwrap(), tables.entry_count());
        assert_eq!(digest.into_inner().unwrap(), tables.digest());
        if matches!(policy, Policy::Dmodc) {
            let leaves = ready.ranking.leaves();
            assert_eq!(tables.digest(), updown::digest(live, leaves, routing.orders(), columns));
        }

        let mut streamed = Vec::new();
        let covered = stream_switches(policy, live, &ready, columns, |s, row| {
            assert_eq!(s.at(), streamed.len());
            streamed.push(row.to_vec());
            Ok::<(), RouteError>(())
        });
        assert_eq!(covered.unwrap(), coverage);
        // Without any column there are no rows to hand out.
        assert!(streamed == rows(&tables) || columns.is_empty());
    });
}

/// Every form of the inner loops gives the same tables.
#[test]
fn every_kernel_gives_the_same_tables() {
    for_seeds(60, |random| {
        let fabric = random_pgft(random, 300).fabric(random_guids(random));
        let healthy = Degradation::none(&fabric);
        let routing = Routing::new(Live::new(&fabric, &healthy), &random_options(random));
        let degraded = random_degradation(random, &fabric);
        let live = Live::new(&fabric, &degraded);
        let mut ready = routing.preprocess(live);
        let digests = Kernel::all().into_iter().map(|kernel| {
            ready.kernel = kernel;
            let mut tables = routing.empty_tables(live).unwrap();
            Dmodc.route(live, &ready, &mut tables).unwrap();
            tables.digest()
        });
        let digests: Vec<Digest> = digests.collect();
        assert!(digests.iter().all(|digest| *digest == digests[0]));
    });
}
