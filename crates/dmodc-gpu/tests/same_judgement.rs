//! The judgement of a device is that of the judge of the engine, number by number: on presets, random PGFTs, directors and any graph,
//! healthy and degraded, for our tables and for tables with any entries.
//!
//! Each property runs where those of `same_tables.rs` run.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../dmodc/tests/common/mod.rs"]
mod common;
mod emulator;
mod judged;
mod limited;
mod machines;

use std::sync::Arc;

use common::{
    Case, Directors, Drawing, Outcomes, for_seeds, four_levels, random_fabric, random_faults,
    random_graph, random_guids, random_options, random_pgft, route, spoil,
};
use dmodc::advise::Present;
use dmodc::fabric::{AdapterKind, PRESETS, Part, Peer};
use dmodc::judge::risk::SeriesPattern;
use dmodc::{
    Amount, CableIndex, Change, Degradation, Dmodc, Draw, Fabric, ForwardingTables, Live, Pgft,
    PortNumber, Preset, Random, Router, Routing, RoutingOptions, SwitchIndex,
};
use dmodc_gpu::{
    DevicePattern, GpuJudge, GpuRouter, JudgeLimits, JudgeRequest, Judgement, Machine,
    PatternLoads, Update,
};
use judged::State;
use limited::Limited;
use machines::{entries_of, machines, presets_up_to};

/// A fabric whose states are judged.
struct Judged<'a> {
    machine: &'a Arc<dyn Machine>,
    fabric: &'a Arc<Fabric>,
    routing: &'a Routing,
}

/// Larger presets are judged by `large_presets`.
const MOST_ENTRIES: usize = 20 << 20;

const PATTERNS: [DevicePattern; 6] = [
    DevicePattern::Permutations(4),
    DevicePattern::AllToAll,
    DevicePattern::Bisections(3),
    DevicePattern::Shifts,
    DevicePattern::Permutations(1),
    DevicePattern::SampledShifts(3),
];

impl Judged<'_> {
    fn router(&self, capacity: usize) -> GpuRouter {
        let (machine, fabric) = (self.machine.clone(), self.fabric.clone());
        GpuRouter::new(machine, fabric, self.routing.clone(), capacity).unwrap()
    }

    /// Compares all judgements of a batch. Returns them, and how many states the host judged.
    fn compare(
        &self,
        router: &GpuRouter,
        judge: &mut GpuJudge,
        all: &[Degradation],
        kept: Option<&ForwardingTables>,
    ) -> (Vec<Judgement>, usize) {
        let seeds: Vec<Vec<u64>> =
            (0..all.len() as u64).map(|state| vec![state / 2, 0, 7, 0, state, 5]).collect();
        let request = JudgeRequest { patterns: &PATTERNS, seeds: &seeds, compares: kept.is_some() };
        let judgements = judge.judge(router, all, &request).unwrap();
        assert_eq!(judgements.len(), all.len());
        for (state, found) in judgements.iter().enumerate() {
            let live = Live::new(self.fabric, &all[state]);
            let tables = router.tables(state).unwrap();
            let expected = State { live, routing: self.routing, tables: &tables, kept }
                .expected(&PATTERNS, &seeds[state]);
            assert_same_judgement(found, &expected, state);
        }
        (judgements, judge.judged_on_host())
    }

    /// Compares our tables with those of the first state.
    fn compare_ours(&self, all: &[Degradation]) -> (Vec<Judgement>, usize) {
        let mut router = self.router(all.len());
        let mut judge = GpuJudge::new(&router).unwrap();
        assert!(judge.state_bytes(&router, &PATTERNS) > 2 * router.table_bytes());
        router.route(all).unwrap();
        judge.keep(&router, 0).unwrap();
        let healthy = router.tables(0).unwrap();
        self.compare(&router, &mut judge, all, None);
        self.compare(&router, &mut judge, all, Some(&healthy))
    }

    /// Compares tables with any entries, the old ones among them.
    fn compare_spoilt(&self, all: &[Degradation], random: &mut Random) -> (Vec<Judgement>, usize) {
        let mut spoilt = |faults: &Degradation| {
            let live = Live::new(self.fabric, faults);
            let (mut tables, _) = self.routing.route(live, &Dmodc).unwrap();
            spoil(random, live, &mut tables);
            tables
        };
        let tables: Vec<ForwardingTables> = all.iter().map(&mut spoilt).collect();
        let mut kept = spoilt(&all[0]);
        if random.below(2) == 0 {
            kept = tables[all.len() - 1].clone();
            spoil(random, Live::new(self.fabric, &all[0]), &mut kept);
        }
        let mut router = self.router(all.len());
        let mut judge = GpuJudge::new(&router).unwrap();
        router.put_tables(all, &tables.iter().collect::<Vec<_>>()).unwrap();
        for (state, tables) in tables.iter().enumerate() {
            assert_eq!(router.tables(state).unwrap().differing(tables), 0);
        }
        judge.keep_tables(&router, kept.clone()).unwrap();
        self.compare(&router, &mut judge, all, Some(&kept))
    }
}

/// Compares part by part, so that a failure shows the part.
fn assert_same_judgement(found: &Judgement, expected: &Judgement, state: usize) {
    assert_eq!(found.delivery, expected.delivery, "delivery of state {state}");
    assert_eq!(found.update, expected.update, "update of state {state}");
    assert_eq!(found.lost, expected.lost, "lost pairs of state {state}");
    for (pattern, (one, other)) in found.patterns.iter().zip(&expected.patterns).enumerate() {
        assert_eq!(one, other, "pattern {pattern} of state {state}");
    }
    assert_eq!(found, expected, "state {state}");
}

/// Judges a fabric in its healthy state and under random faults. Returns the judgements of our tables, and how many the host made.
fn assert_same(
    machine: &Arc<dyn Machine>,
    fabric: &Fabric,
    options: &RoutingOptions,
    random: &mut Random,
) -> (Vec<Judgement>, usize) {
    let fabric = Arc::new(fabric.clone());
    let routing = Routing::new(Case::healthy(&fabric).whole(), options);
    let judged = Judged { machine, fabric: &fabric, routing: &routing };
    let mut all = vec![Degradation::none(&fabric)];
    all.extend((0..3).map(|_| random_faults(random, &fabric)));
    judged.compare_spoilt(&all, random);
    judged.compare_ours(&all)
}

#[test]
fn random_pgfts() {
    for (machine, seeds) in machines(10) {
        let seen = Outcomes::new();
        for_seeds(seeds, |random| {
            let fabric = random_pgft(random, 150).fabric(random_guids(random));
            let (found, on_host) = assert_same(&machine, &fabric, &random_options(random), random);
            assert_eq!(on_host, 0);
            let any = |test: &dyn Fn(&Judgement) -> bool| found.iter().any(test);
            seen.count([
                any(&|one| one.delivery.lost > 0),
                any(&|one| one.delivery.cut_off > 0),
                any(&|one| one.is_valid == Some(false)),
                any(&|one| one.update.is_some_and(|update| update.pairs > 0)),
                any(&|one| {
                    let forced = |update: Update| update.forced.is_some_and(|f| f.entries > 0);
                    one.update.is_some_and(forced)
                }),
            ]);
        });
        seen.assert_each_more_than(0);
    }
}

/// Many of these have cables between switches of one rank, so that the host completes the judgement, or nodes with several LIDs.
#[test]
fn random_fabrics_and_graphs() {
    for (machine, seeds) in machines(8) {
        for_seeds(seeds, |random| {
            let fabric = random_fabric(random, 80);
            assert_same(&machine, &fabric, &random_options(random), random);
            let graph = random_graph(random);
            assert_same(&machine, &graph, &random_options(random), random);
        });
    }
}

#[test]
fn directors_and_pods() {
    for (machine, seeds) in machines(1) {
        let seen = Outcomes::new();
        for_seeds(seeds, |random| {
            let options = RoutingOptions::default();
            let fabrics = [Directors::random(random).fabric(), four_levels(2)];
            seen.count(fabrics.map(|fabric| {
                let (_, on_host) = assert_same(&machine, &fabric, &options, random);
                on_host == 0
            }));
        });
        seen.assert_each_more_than(0);
    }
}

/// Returns two levels of switches, with nodes of this kind on all of them.
fn with_nodes(kind: AdapterKind, lmc: u8) -> Fabric {
    let mut drawing = Drawing::new();
    let spines = drawing.switches(["s1", "s2", "s3"]);
    for name in ["l1", "l2", "l3", "l4"] {
        let leaf = drawing.switch(name);
        for (count, spine) in spines.into_iter().enumerate() {
            drawing.cable(leaf, spine, 1 + count % 2);
        }
        drawing.nodes(leaf, 4);
        drawing.node(leaf, kind, lmc);
    }
    for spine in spines {
        drawing.node(spine, kind, lmc);
    }
    drawing.finish()
}

#[test]
fn aggregation_nodes_do_not_count() {
    for (machine, _) in machines(1) {
        let fabric = with_nodes(AdapterKind::Aggregation, 0);
        let options = RoutingOptions::default();
        let (_, on_host) = assert_same(&machine, &fabric, &options, &mut Random::new(5, 5));
        assert_eq!(on_host, 0);
    }
}

#[test]
fn nodes_with_several_lids() {
    for (machine, _) in machines(1) {
        let fabric = with_nodes(AdapterKind::Host, 2);
        let options = RoutingOptions::default();
        let (_, on_host) = assert_same(&machine, &fabric, &options, &mut Random::new(6, 6));
        assert_eq!(on_host, 4);
    }
}

/// More switches than fit into shared memory with 32 columns, more than 32 groups of ports, several tiles, and 254 ports.
#[test]
fn odd_sizes() {
    for (machine, _) in machines(1) {
        let mut random = Random::new(7, 7);
        for tuple in ["2; 40,4; 1,40; 1,1", "3; 1,12,13; 1,3,2; 1,2,1", "2; 1,253; 1,2; 1,1"] {
            let pgft: Pgft = tuple.parse().unwrap();
            let fabric = Arc::new(pgft.fabric(random_guids(&mut random)));
            let routing = Case::healthy(&fabric).routing();
            let judged = Judged { machine: &machine, fabric: &fabric, routing: &routing };
            let all = [Degradation::none(&fabric), random_faults(&mut random, &fabric)];
            assert_eq!(judged.compare_ours(&all).1, 0);
        }
    }
}

/// Sweeps and loads that do not fit into shared memory, permutations that the host draws, and a list of lost pairs that is too short.
#[test]
fn small_limits() {
    for (machine, _) in machines(1) {
        let mut random = Random::new(9, 9);
        let fabric =
            Arc::new("2; 12,6; 1,3; 1,2".parse::<Pgft>().unwrap().fabric(Default::default()));
        let routing = Case::healthy(&fabric).routing();
        let judged = Judged { machine: &machine, fabric: &fabric, routing: &routing };
        let mut all = vec![Degradation::none(&fabric)];
        all.extend((0..5).map(|_| random_faults(&mut random, &fabric)));
        // The first leaf loses all cables to other switches.
        for dead in &mut all[3..] {
            for (at, cable) in fabric.inter_switch_cables().iter().enumerate() {
                let is_first = [cable.a.0, cable.b.0].iter().any(|s| s.at() == 0);
                dead.set_cable(CableIndex::new(at), is_first);
            }
        }
        let mut router = judged.router(all.len());
        router.route(&all).unwrap();
        let most_bytes = machine.shared_bytes();
        for (shared_bytes, sweep_bytes, cuts, lost_bundles) in [
            (160, 160, 1 << 16, 1 << 16),
            (160, 160, 1 << 16, 4),
            (100, 100, 1 << 16, 1 << 16),
            (100, most_bytes, 1 << 16, 1 << 16),
            (160, 160, 3, 1 << 16),
        ] {
            let limits = JudgeLimits { shared_bytes, sweep_bytes, cuts, lost_bundles };
            let mut judge = GpuJudge::with_limits(&router, limits).unwrap();
            let (found, on_host) = judged.compare(&router, &mut judge, &all, None);
            let lose = |one: &&Judgement| one.delivery.unroutable() > 0;
            assert!(found.iter().filter(lose).count() > 1);
            match (sweep_bytes, cuts, lost_bundles) {
                (100, ..) | (_, 3, _) => assert_eq!(on_host, all.len()),
                (.., 4) => assert!(on_host > 0 && on_host < all.len()),
                _ => assert_eq!(on_host, 0),
            }
        }
    }
}

/// Tables that are kept are on the machine only if kernels compare with them.
#[test]
fn kept_tables_are_where_they_are_needed() {
    for (machine, _) in machines(1) {
        for (lmc, judged_on_host) in [(0, 0), (2, 1)] {
            let fabric = Arc::new(with_nodes(AdapterKind::Host, lmc));
            let routing = Case::healthy(&fabric).routing();
            let counted = Limited::new(&machine);
            let on: Arc<dyn Machine> = counted.clone();
            let judged = Judged { machine: &on, fabric: &fabric, routing: &routing };
            let healthy = [Degradation::none(&fabric)];
            let mut router = judged.router(1);
            router.route(&healthy).unwrap();
            let tables = router.tables(0).unwrap();
            let mut judge = GpuJudge::new(&router).unwrap();
            let before = counted.allocated();
            judge.keep_tables(&router, tables.clone()).unwrap();
            let expected = if judged_on_host > 0 { 0 } else { router.table_bytes() };
            assert_eq!(counted.allocated() - before, expected);
            let (_, on_host) = judged.compare(&router, &mut judge, &healthy, Some(&tables));
            assert_eq!(on_host, judged_on_host);
        }
    }
}

/// Every number that a survey of faults needs is that of [`Effect`](dmodc::judge::risk::Effect).
#[test]
fn what_if_numbers() {
    for (machine, _) in machines(1) {
        let fabric = "3; 3,3,4; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let router = Router::of(fabric).unwrap();
        let (count, seed) = (6, 11);
        let present = Present::new(&router, &[SeriesPattern::Random { count, seed }]);
        let (fabric, routing) = (Arc::new(router.live().fabric.clone()), router.routing());
        let mut what_if = present.what_if();
        let nodes = fabric.inter_switch_cables().len()..fabric.cable_count();
        let cables = (0..nodes.start).chain(nodes).step_by(5).map(CableIndex::new);
        let parts = cables.map(Part::Cable).chain(fabric.switch_indices().map(Part::Switch));
        let parts: Vec<Part> = parts.collect();
        let all: Vec<Degradation> = parts
            .iter()
            .map(|&part| {
                let mut dead = Degradation::none(&fabric);
                dead.set(part, true);
                dead
            })
            .collect();
        let judged = Judged { machine: &machine, fabric: &fabric, routing };
        let mut gpu = judged.router(all.len());
        let mut judge = GpuJudge::new(&gpu).unwrap();
        judge.keep_tables(&gpu, router.tables().clone()).unwrap();
        gpu.route(&all).unwrap();
        let patterns = [DevicePattern::AllToAll, DevicePattern::Permutations(count)];
        let seeds = vec![vec![0, seed]; all.len()];
        let request = JudgeRequest { patterns: &patterns, seeds: &seeds, compares: true };
        for (found, &part) in judge.judge(&gpu, &all, &request).unwrap().iter().zip(&parts) {
            let effect = what_if.attempt(&[Change::Dies(part)]).unwrap();
            let (after, update) = (&effect.after, found.update.unwrap());
            assert_eq!(found.delivery, after.delivery);
            assert_eq!(found.worst, after.all_to_all.worst);
            assert_eq!((update.live_changes, update.pairs), (effect.changes, effect.moved_pairs));
            assert_eq!(found.undelivered, effect.undelivered);
            let [PatternLoads::Single(loads), PatternLoads::Series(series)] = &found.patterns[..]
            else {
                panic!("two patterns")
            };
            assert_eq!((loads.max(), loads.bound), (after.all_to_all.max, after.all_to_all.bound));
            let sum = |all: &[u32]| all.iter().map(|&one| u64::from(one)).sum::<u64>();
            let expected = &after.series[0];
            assert_eq!(sum(&series.maxima), expected.sum);
            assert_eq!(sum(&series.bounds), expected.bound_sum);
            assert_eq!((series.max(), series.median()), (expected.max, expected.median));
        }
        assert_eq!(judge.judged_on_host(), 0);
    }
}

/// No nodes, one node, one switch.
#[test]
fn small_fabrics() {
    for (machine, _) in machines(1) {
        for nodes in 0..3 {
            let mut drawing = Drawing::new();
            let [leaf, spine] = drawing.switches(["leaf", "spine"]);
            drawing.cable(leaf, spine, 2);
            drawing.nodes(leaf, nodes);
            let fabric = drawing.finish();
            let options = RoutingOptions::default();
            assert_same(&machine, &fabric, &options, &mut Random::new(8, 8));
        }
    }
}

/// The most nodes that 16 bits can number. Kernels judge tables of ours, and the host any others.
#[test]
fn as_many_nodes_as_sixteen_bits_number() {
    let patterns = [DevicePattern::AllToAll, DevicePattern::Permutations(2)];
    for (machine, _) in machines(1) {
        let pgft: Pgft = "3; 128,4,128; 1,1,2; 1,1,1".parse().unwrap();
        let fabric = Arc::new(pgft.fabric(Default::default()));
        assert_eq!(fabric.nodes().len(), 1 << 16);
        let routing = Case::healthy(&fabric).routing();
        let judged = Judged { machine: &machine, fabric: &fabric, routing: &routing };
        let mut dead = Degradation::none(&fabric);
        dead.remove(&fabric, "L3-1").unwrap();
        let live = Live::new(&fabric, &dead);
        let mut router = judged.router(1);
        let mut judge = GpuJudge::new(&router).unwrap();
        router.route(std::slice::from_ref(&dead)).unwrap();
        let seeds = [vec![0, 3]];
        let request = JudgeRequest { patterns: &patterns, seeds: &seeds, compares: false };
        for by_host in [0, 1] {
            let found = judge.judge(&router, std::slice::from_ref(&dead), &request).unwrap();
            let tables = router.tables(0).unwrap();
            let state = State { live, routing: &routing, tables: &tables, kept: None };
            assert_same_judgement(&found[0], &state.expected(&patterns, &seeds[0]), by_host);
            assert_eq!(judge.judged_on_host(), by_host);
            router.put_tables(std::slice::from_ref(&dead), &[&tables]).unwrap();
        }
    }
}

/// Tables send the flows of very many nodes up and down again, for some of the columns that share words: the others are not harmed.
#[test]
fn flows_of_very_many_nodes_that_loop() {
    let patterns = [DevicePattern::AllToAll];
    for (machine, _) in machines(1) {
        let pgft: Pgft = "3; 253,132,1; 1,1,1; 1,1,1".parse().unwrap();
        let fabric = Arc::new(pgft.fabric(Default::default()));
        let case = Case::healthy(&fabric);
        let routing = case.routing();
        let ports_to = |from: SwitchIndex, is_meant: &dyn Fn(SwitchIndex) -> bool| {
            let ports = fabric.ports_of(from).iter().zip(1..);
            let meant =
                ports.filter(|(port, _)| matches!(port.peer, Peer::Switch(s, _) if is_meant(s)));
            meant.map(|(_, number)| PortNumber(number)).collect::<Vec<_>>()
        };
        let rank_of = routing.ranking(case.whole());
        let by_rank =
            |rank| fabric.switch_indices().find(|&s| rank_of.rank(s) == Some(rank)).unwrap();
        let (middle, top) = (by_rank(1), by_rank(2));
        let mut tables = route(&routing, case.whole());
        for column in [100, 103, 106, 107] {
            tables.set(middle, column, ports_to(middle, &|s| s == top).pop());
            tables.set(top, column, ports_to(top, &|s| s == middle).pop());
        }
        let judged = Judged { machine: &machine, fabric: &fabric, routing: &routing };
        let healthy = [Degradation::none(&fabric)];
        let mut router = judged.router(1);
        router.put_tables(&healthy, &[&tables]).unwrap();
        let request = JudgeRequest { patterns: &patterns, seeds: &[vec![0]], compares: false };
        let limits = JudgeLimits::of(&router);
        let [found, expected] = [limits, JudgeLimits { shared_bytes: 0, sweep_bytes: 0, ..limits }]
            .map(|limits| {
                let mut judge = GpuJudge::with_limits(&router, limits).unwrap();
                (judge.judge(&router, &healthy, &request).unwrap(), judge.judged_on_host())
            });
        assert_eq!((found.1, expected.1), (0, 1), "one is judged by kernels, one by the host");
        assert_same_judgement(&found.0[0], &expected.0[0], 0);
        assert!(found.0[0].delivery.lost > 0, "the loops lose something");
    }
}

/// Batches of different sizes use the same memory.
#[test]
fn a_judge_is_used_again() {
    for (machine, _) in machines(1) {
        let fabric =
            Arc::new("2; 4,6; 1,3; 1,2".parse::<Pgft>().unwrap().fabric(Default::default()));
        let routing = Case::healthy(&fabric).routing();
        let judged = Judged { machine: &machine, fabric: &fabric, routing: &routing };
        let mut router = judged.router(3);
        let mut judge = GpuJudge::new(&router).unwrap();
        let mut random = Random::new(3, 3);
        for batch in [1, 3, 0, 2] {
            let all: Vec<Degradation> =
                (0..batch).map(|_| random_faults(&mut random, &fabric)).collect();
            router.route(&all).unwrap();
            judged.compare(&router, &mut judge, &all, None);
        }
    }
}

/// The presets are large, so they run on a GPU alone, except for the smallest. `large_presets` has the largest, because the judge of the
/// engine counts all shifts hop by hop.
#[test]
fn presets() {
    for (machine, _) in machines(1) {
        let most = if machine.name() == "emulator" { 10_000 } else { MOST_ENTRIES };
        for preset in presets_up_to(&*machine, most) {
            let fabric = Arc::new(preset.shape().fabric(Default::default()).unwrap());
            let routing = Case::healthy(&fabric).routing();
            let judged = Judged { machine: &machine, fabric: &fabric, routing: &routing };
            let draw = |cables, switches| {
                let (cables, switches) = (Amount::Percent(cables), Amount::Percent(switches));
                let draw = Draw { cables, switches, any_cable: true, any_switch: true, seed: 1 };
                draw.degradation(&fabric).unwrap()
            };
            let all = [Degradation::none(&fabric), draw(1.0, 0.0), draw(10.0, 1.0)];
            assert_eq!(judged.compare_ours(&all).1, 0);
            eprintln!("{}: {} is the same", machine.name(), preset.name);
        }
    }
}

/// The largest presets that kernels judge, without shifts. They take minutes, so they run where a GPU is required. What kernels count is
/// compared with what the host counts of the same tables.
#[test]
fn large_presets() {
    if std::env::var_os("DMODC_GPU_REQUIRED").is_none() {
        eprintln!("skipped: large presets: no GPU is required (DMODC_GPU_REQUIRED=1)");
        return;
    }
    let mut judged_presets = 0;
    let patterns = [DevicePattern::AllToAll, DevicePattern::Permutations(2)];
    let is_meant = |preset: &&Preset| {
        let shape = preset.shape();
        let fits = shape.node_count() <= 1 << 16 && shape.switch_count() <= 8191;
        fits && entries_of(preset) > MOST_ENTRIES
    };
    for (machine, _) in machines(1).into_iter().filter(|(of, _)| of.name() != "emulator") {
        for preset in PRESETS.iter().filter(is_meant) {
            let fabric = Arc::new(preset.shape().fabric(Default::default()).unwrap());
            let routing = Case::healthy(&fabric).routing();
            let judged = Judged { machine: &machine, fabric: &fabric, routing: &routing };
            let (cables, switches) = (Amount::Percent(1.0), Amount::ZERO);
            let draw = Draw { cables, switches, any_cable: false, any_switch: false, seed: 1 };
            let all = [Degradation::none(&fabric), draw.degradation(&fabric).unwrap()];
            let mut router = judged.router(all.len());
            router.route(&all).unwrap();
            let seeds = [vec![0, 3], vec![0, 4]];
            let request = JudgeRequest { patterns: &patterns, seeds: &seeds, compares: true };
            let limits = JudgeLimits::of(&router);
            let [found, expected] =
                [limits, JudgeLimits { shared_bytes: 0, sweep_bytes: 0, ..limits }].map(|limits| {
                    let mut judge = GpuJudge::with_limits(&router, limits).unwrap();
                    judge.keep(&router, 0).unwrap();
                    (judge.judge(&router, &all, &request).unwrap(), judge.judged_on_host())
                });
            assert_eq!((found.1, expected.1), (0, all.len()));
            for (state, (found, expected)) in found.0.iter().zip(&expected.0).enumerate() {
                assert_same_judgement(found, expected, state);
            }
            eprintln!("{}: {} is the same", machine.name(), preset.name);
            judged_presets += 1;
        }
    }
    assert!(judged_presets > 0, "no preset was judged");
}
