//! Congestion risk against the naive walk of every pair, and bounds against whatever routes.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{Case, Drawing, for_seeds, pgft, random_graph, random_options, random_pgft, route};
use dmodc::judge::risk::{Series, Traffic};
use dmodc::judge::{Fate, trace};
use dmodc::{
    Degradation, End, ForwardingTables, Live, NodeIndex, PortNumber, Random, Routing, SwitchIndex,
};

type PortName = (SwitchIndex, PortNumber);

/// The ports between switches that a pair takes, hop by hop; none if it does not arrive.
fn way(
    live: Live<'_>,
    tables: &ForwardingTables,
    from: NodeIndex,
    to: NodeIndex,
) -> Option<Vec<PortName>> {
    let is_base = |d: &&dmodc::Destination| d.end == End::Node(to) && d.k == 0;
    let destinations = tables.columns().destinations();
    let column = destinations.iter().position(|d| is_base(&d))?;
    let (hops, fate) = trace(live, tables, live.fabric.node(from).switch, column);
    let (_, between) = hops.split_last()?;
    (fate == Fate::Delivered)
        .then(|| between.iter().map(|hop| (hop.switch, hop.out.unwrap())).collect())
}

/// Loads of a list of pairs, counted one by one; and how many do not arrive.
fn naive(
    live: Live<'_>,
    tables: &ForwardingTables,
    pairs: impl IntoIterator<Item = (NodeIndex, NodeIndex)>,
) -> (BTreeMap<PortName, u64>, u64) {
    let (mut loads, mut lost) = (BTreeMap::new(), 0);
    for (from, to) in pairs.into_iter().filter(|(from, to)| from != to) {
        match way(live, tables, from, to) {
            Some(way) => way.into_iter().for_each(|port| *loads.entry(port).or_default() += 1),
            None => lost += 1,
        }
    }
    (loads, lost)
}

/// Loads by port as a map, without the idle ones.
fn loads(traffic: &Traffic<'_>, by_port: impl IntoIterator<Item = u64>) -> BTreeMap<PortName, u64> {
    let ports = traffic.ports().iter().map(|port| (port.switch, port.port));
    ports.zip(by_port).filter(|(_, load)| *load > 0).collect()
}

/// Overwrites a few entries with a port below 40, or with none.
fn spoil_a_little(random: &mut Random, tables: &mut ForwardingTables) {
    for _ in 0..random.below(8) {
        let s = SwitchIndex::new(random.below(tables.switch_count() as u64) as usize);
        let column = random.below(tables.columns().len() as u64) as usize;
        let port = random.below(40) as u8;
        tables.set(s, column, (port > 0).then_some(PortNumber(port)));
    }
}

/// A series of permutations, each counted one by one.
fn assert_series(
    live: Live<'_>,
    tables: &ForwardingTables,
    traffic: &Traffic<'_>,
    series: &Series,
    permutations: &[Vec<u32>],
) {
    let nodes = traffic.nodes();
    let (mut worst, mut undelivered) = (BTreeMap::new(), 0);
    let mut by_host: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    assert_eq!(series.maxima.len(), permutations.len());
    for (i, permutation) in permutations.iter().enumerate() {
        let to = |(at, &to): (usize, &u32)| (nodes[at], nodes[to as usize]);
        let (loads, lost) = naive(live, tables, permutation.iter().enumerate().map(to));
        undelivered += lost;
        let max = loads.values().copied().max().unwrap_or(0);
        assert_eq!(u64::from(series.maxima[i]), max);
        assert!(series.bounds[i] <= series.maxima[i], "no maximum is below its bound");
        for (&port, &load) in &loads {
            let worst: &mut (u64, u32) = worst.entry(port).or_default();
            if load > worst.0 {
                *worst = (load, i as u32);
            }
        }
        let mut hosts: BTreeMap<usize, u64> = BTreeMap::new();
        for (from, to) in permutation.iter().enumerate().map(to) {
            let way = if from == to { Some(vec![]) } else { way(live, tables, from, to) };
            let slowest = way.into_iter().flatten().map(|port| loads[&port]).max().unwrap_or(0);
            let position = traffic.nodes().iter().position(|&n| n == from).unwrap();
            let host = traffic.host_of(position);
            assert_eq!(traffic.hosts()[host], dmodc::HostKey::of(live, from).name());
            let entry = hosts.entry(host).or_default();
            *entry = (*entry).max(slowest);
        }
        for (host, slowest) in hosts {
            let (sum, max) = by_host.entry(host).or_default();
            (*sum, *max) = (*sum + slowest, (*max).max(slowest));
        }
    }
    assert_eq!(series.undelivered, undelivered);
    let found = loads(traffic, series.worst_by_port.iter().map(|worst| u64::from(worst.load)));
    assert!(worst.iter().map(|(port, worst)| (*port, worst.0)).eq(found));
    for (port, found) in traffic.ports().iter().zip(&series.worst_by_port) {
        if let Some(worst) = worst.get(&(port.switch, port.port)) {
            assert_eq!(found.pattern, worst.1, "the first pattern with this load");
        }
    }
    for (at, risk) in series.by_host.iter().enumerate() {
        assert_eq!((risk.sum, u64::from(risk.max)), by_host.get(&at).copied().unwrap_or_default());
    }
}

/// Every pattern, among all nodes or those of a random job.
fn assert_all(random: &mut Random, live: Live<'_>, routing: &Routing, tables: &ForwardingTables) {
    let ranking = routing.ranking(live);
    let mut traffic = Traffic::new(live, &ranking, routing.orders(), tables);
    if random.below(3) == 0 {
        // A job on some of the nodes, in its own order.
        let mut nodes = traffic.nodes().to_vec();
        random.shuffle(&mut nodes);
        nodes.truncate(nodes.len() / 2);
        traffic = Traffic::among(live, &ranking, routing.orders(), tables, nodes);
    }
    assert_all_to_all(live, tables, &traffic);
    assert_permutations(live, tables, &traffic);
    assert_pairs(random, live, tables, &traffic);
}

/// Loads, sources, destinations and lengths of routes if everybody sends to everybody.
fn assert_all_to_all(live: Live<'_>, tables: &ForwardingTables, traffic: &Traffic<'_>) {
    let nodes = traffic.nodes();
    let pairs = nodes.iter().flat_map(|&from| nodes.iter().map(move |&to| (from, to)));
    let all = traffic.all_to_all();
    let (expected, lost) = naive(live, tables, pairs.clone());
    assert_eq!(loads(traffic, all.by_port.iter().copied()), expected);
    assert_eq!((all.undelivered, all.lost.is_empty()), (lost, lost == 0));
    assert!(all.bound <= all.max(), "{} is below the bound {}", all.max(), all.bound);
    assert_eq!(all.cut.is_some(), all.bound > 0);

    let mut ends: BTreeMap<PortName, (BTreeSet<NodeIndex>, BTreeSet<NodeIndex>)> = BTreeMap::new();
    let mut by_switches: BTreeMap<usize, u64> = BTreeMap::new();
    for (from, to) in pairs.filter(|(from, to)| from != to) {
        let Some(way) = way(live, tables, from, to) else { continue };
        *by_switches.entry(way.len() + 1).or_default() += 1;
        for port in way {
            let (sources, destinations) = ends.entry(port).or_default();
            sources.insert(from);
            destinations.insert(to);
        }
    }
    let found = traffic.sources();
    let sources = loads(traffic, found.by_port.iter().map(|&n| u64::from(n)));
    let destinations = loads(traffic, all.destinations.iter().map(|&n| u64::from(n)));
    let count = |set: &BTreeSet<NodeIndex>| set.len() as u64;
    assert!(ends.iter().map(|(port, ends)| (*port, count(&ends.0))).eq(sources));
    assert!(ends.iter().map(|(port, ends)| (*port, count(&ends.1))).eq(destinations));

    let lengths = found.pairs_by_switches.into_iter().enumerate().filter(|(_, pairs)| *pairs > 0);
    assert!(by_switches.into_iter().eq(lengths));
    for (at, port) in traffic.ports().iter().enumerate() {
        let some = traffic.flows_over(at, 3);
        let port = (port.switch, port.port);
        assert_eq!(some.is_empty(), !ends.contains_key(&port));
        for (from, to) in some {
            let pair = (nodes[from as usize], nodes[to as usize]);
            assert!(way(live, tables, pair.0, pair.1).unwrap().contains(&port));
        }
    }
}

/// Shifts, random permutations and bisections.
fn assert_permutations(live: Live<'_>, tables: &ForwardingTables, traffic: &Traffic<'_>) {
    let count = traffic.nodes().len();
    let shifts: Vec<Vec<u32>> = (1..count).map(|k| traffic.shift(k)).collect();
    let series = traffic.shifts(None);
    assert_series(live, tables, traffic, &series, &shifts);
    if let Some(sample) = traffic.shift_sample(Some((5, 3))) {
        let some: Vec<Vec<u32>> = sample.iter().map(|&k| traffic.shift(k)).collect();
        let sampled = traffic.shifts(Some((5, 3)));
        assert_series(live, tables, traffic, &sampled, &some);
        for (at, &k) in sample.iter().enumerate() {
            assert_eq!(sampled.maxima[at], series.maxima[k - 1]);
            assert_eq!(sampled.bounds[at], series.bounds[k - 1], "both count cuts alike");
        }
    }
    let permutations: Vec<Vec<u32>> = (0..4).map(|i| traffic.permutation(9, i)).collect();
    assert_series(live, tables, traffic, &traffic.permutations(4, 9), &permutations);
    assert_eq!(traffic.maxima(&permutations), traffic.permutations(4, 9).maxima);
    let halves: Vec<Vec<u32>> = (0..2).map(|i| traffic.bisection(9, i)).collect();
    assert!(halves.iter().all(|to| (0..count).all(|i| to[to[i] as usize] as usize == i)));
    assert_series(live, tables, traffic, &traffic.bisections(2, 9), &halves);
}

/// A random list of pairs.
fn assert_pairs(
    random: &mut Random,
    live: Live<'_>,
    tables: &ForwardingTables,
    traffic: &Traffic<'_>,
) {
    let (nodes, count) = (traffic.nodes(), traffic.nodes().len());
    if count > 1 {
        let mut draw = || random.below(count as u64) as u32;
        let list: Vec<(u32, u32)> = (0..40).map(|_| (draw(), draw())).collect();
        let named = list.iter().map(|&(from, to)| (nodes[from as usize], nodes[to as usize]));
        let (expected, lost) = naive(live, tables, named);
        let found = traffic.pairs(&list);
        assert_eq!(loads(traffic, found.by_port.iter().copied()), expected);
        assert_eq!(found.undelivered, lost);
        assert!(found.bound <= found.max());
    }
}

#[test]
fn every_number_is_the_naive_one_on_degraded_pgfts() {
    for_seeds(600, |random| {
        let fabric = random_pgft(random, 60).fabric(Default::default());
        let case = Case::degraded(random, &fabric);
        let live = case.now();
        let routing = Routing::new(case.whole(), &random_options(random));
        let mut tables = route(&routing, live);
        assert_all(random, live, &routing, &tables);
        spoil_a_little(random, &mut tables);
        assert_all(random, live, &routing, &tables);
    });
}

#[test]
fn every_number_is_the_naive_one_on_any_graph() {
    for_seeds(600, |random| {
        let fabric = random_graph(random);
        let case = Case::healthy(&fabric);
        let live = case.whole();
        let routing = Routing::new(live, &random_options(random));
        let mut tables = route(&routing, live);
        spoil_a_little(random, &mut tables);
        assert_all(random, live, &routing, &tables);
    });
}

/// A balanced PGFT has as many cables upwards of a switch as below it: no shift loads a port twice, and
/// all-to-all loads all ports of a level and direction alike.
#[test]
fn a_healthy_balanced_pgft_has_no_congestion() {
    for tuple in
        ["2; 4,8; 1,4; 1,1", "3; 4,4,8; 1,4,4; 1,1,1", "3; 4,2,6; 1,2,4; 1,2,1", "2; 6,4; 1,3; 1,2"]
    {
        let fabric = pgft(tuple);
        let case = Case::healthy(&fabric);
        let (live, routing) = (case.whole(), case.routing());
        let tables = route(&routing, live);
        let ranking = routing.ranking(live);
        let traffic = Traffic::new(live, &ranking, routing.orders(), &tables);
        let series = traffic.shifts(None);
        assert_eq!((series.max(), series.min()), (1, 1), "{tuple}");
        assert_eq!(series.bounds, series.maxima, "{tuple}: the bound is reached");
        let all = traffic.all_to_all();
        assert_eq!(all.bound, all.max(), "{tuple}");
        let mut by_level: BTreeMap<_, BTreeSet<u64>> = BTreeMap::new();
        for (port, load) in traffic.ports().iter().zip(&all.by_port) {
            let level = (ranking.rank(port.switch), ranking.rank(port.peer));
            by_level.entry(level).or_default().insert(*load);
        }
        assert!(by_level.values().all(|loads| loads.len() == 1), "{tuple}: {by_level:?}");
    }
}

/// The example of the bounds: a leaf with three live uplinks and four nodes forces two flows on one of them.
#[test]
fn a_bound_sees_lost_cables() {
    let fabric = pgft("2; 4,8; 1,4; 1,1");
    let mut faults = Degradation::none(&fabric);
    faults.set_cable(dmodc::CableIndex::new(0), true);
    let live = Live::new(&fabric, &faults);
    let routing = Routing::new(live, &Default::default());
    let tables = route(&routing, live);
    let traffic = Traffic::new(live, &routing.ranking(live), routing.orders(), &tables);
    let series = traffic.shifts(None);
    assert_eq!((series.max_bound(), series.max()), (2, 2));
    let all = traffic.all_to_all();
    assert_eq!(all.bound, 4 * 28u64.div_ceil(3), "the flows of a leaf to one node stay together");
    assert!(all.is_by_bundles && all.bound > (4 * 28u64).div_ceil(3));
    let cut = all.cut.unwrap();
    assert_eq!((cut.level, cut.nodes, cut.cables), (0, 4, 3));
}

/// Four leaves with two nodes and two cables each, and a service node on one of two spines. A leaf sends 14 flows over two
/// cables, but in seven pairs: some cable carries four of them.
#[test]
fn a_bound_by_bundles_is_reached() {
    let mut drawing = Drawing::new();
    let spines = drawing.switches(["spine-0", "spine-1"]);
    for leaf in drawing.switches(["leaf-0", "leaf-1", "leaf-2", "leaf-3"]) {
        drawing.nodes(leaf, 2);
        spines.iter().for_each(|&spine| drawing.cable(leaf, spine, 1));
    }
    drawing.nodes(spines[0], 1);
    let fabric = drawing.finish();
    let case = Case::healthy(&fabric);
    let (live, routing) = (case.whole(), case.routing());
    let tables = route(&routing, live);
    let all = Traffic::new(live, &routing.ranking(live), routing.orders(), &tables).all_to_all();
    assert_eq!((all.bound, all.is_by_bundles, all.max()), (8, true, 8));
}
