//! The tables of a device are those of the engine, byte by byte: on presets, random PGFTs, directors and any graph, healthy and
//! degraded, one by one and in batches.
//!
//! Each property runs on the CPU, where the kernels are compiled as C++ (`emulator/`), and on the GPU of this machine if there is one.
//! Without one, a line says so, or the tests fail if `DMODC_GPU_REQUIRED` is set. `DMODC_GPU_SEEDS` has the number of random fabrics for each property on a GPU.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../dmodc/tests/common/mod.rs"]
mod common;
mod emulator;
mod limited;
mod machines;

use std::sync::Arc;

use common::{
    Case, Directors, Drawing, Outcomes, for_seeds, four_levels, random_fabric, random_faults,
    random_graph, random_guids, random_options, random_pgft,
};
use dmodc::fabric::AdapterKind;
use dmodc::{
    Amount, Degradation, Dmodc, Draw, Fabric, Live, Pgft, Preset, Random, Routing, RoutingOptions,
};
use dmodc_gpu::{GpuError, GpuRouter, Machine};
use limited::Limited;
use machines::{MOST_ENTRIES_OF_THREE, entries_of, machines, presets_up_to};

/// Compares the tables of a machine with those of the engine, for several states at once.
fn assert_same(
    machine: &Arc<dyn Machine>,
    fabric: &Fabric,
    routing: &Routing,
    all: &[Degradation],
) {
    let (machine, fabric) = (machine.clone(), Arc::new(fabric.clone()));
    let mut router = GpuRouter::new(machine, fabric.clone(), routing.clone(), all.len()).unwrap();
    router.route(all).unwrap();
    let digests = router.digests().unwrap();
    for (state, degradation) in all.iter().enumerate() {
        let (expected, _) = routing.route(Live::new(&fabric, degradation), &Dmodc).unwrap();
        let tables = router.tables(state).unwrap();
        assert_eq!(tables.differing(&expected), 0, "entries of state {state}");
        assert_eq!(digests[state], expected.digest(), "digest of state {state}");
    }
}

/// Compares a fabric in its healthy state and under random faults.
fn assert_same_under_faults(
    machine: &Arc<dyn Machine>,
    fabric: &Fabric,
    options: &RoutingOptions,
    random: &mut Random,
) -> Vec<Degradation> {
    let case = Case::healthy(fabric);
    let routing = Routing::new(case.whole(), options);
    let mut all = vec![Degradation::none(fabric)];
    all.extend((0..3).map(|_| random_faults(random, fabric)));
    assert_same(machine, fabric, &routing, &all);
    all
}

#[test]
fn random_pgfts() {
    for (machine, seeds) in machines(12) {
        let dead = Outcomes::new();
        for_seeds(seeds, |random| {
            let fabric = random_pgft(random, 200).fabric(random_guids(random));
            let all = assert_same_under_faults(&machine, &fabric, &random_options(random), random);
            dead.count([all.iter().any(|faults| faults.dead_switches().next().is_some())]);
        });
        dead.assert_each_more_than(seeds / 4);
    }
}

#[test]
fn random_fabrics_and_graphs() {
    for (machine, seeds) in machines(10) {
        for_seeds(seeds, |random| {
            let fabric = random_fabric(random, 100);
            assert_same_under_faults(&machine, &fabric, &random_options(random), random);
            let graph = random_graph(random);
            assert_same_under_faults(&machine, &graph, &random_options(random), random);
        });
    }
}

/// These have dividers by level, groups with several ports, and ranks beyond four.
#[test]
fn directors_and_pods() {
    for (machine, seeds) in machines(2) {
        for_seeds(seeds, |random| {
            for fabric in [
                Directors::random(random).fabric(),
                Directors::SMALL.doubled().fabric(),
                four_levels(2),
            ] {
                assert_same_under_faults(&machine, &fabric, &RoutingOptions::default(), random);
            }
        });
    }
}

/// Returns three levels, and a state in which a spine rises above its cores: it has more ranks than the healthy fabric.
fn more_ranks_than_before() -> (Fabric, Degradation) {
    let pgft: Pgft = "3; 2,2,2; 1,2,2; 1,1,1".parse().unwrap();
    let fabric = pgft.fabric(Default::default());
    let mut risen = Degradation::none(&fabric);
    for port in 1..=2 {
        risen.remove(&fabric, &format!("{}/{port}", fabric.switches()[4].guid)).unwrap();
    }
    (fabric, risen)
}

/// Several tiles, rows that are no multiple of 16, groups with two ports, and a spine that rises above its cores.
#[test]
fn several_tiles_and_more_ranks_than_before() {
    for (machine, _) in machines(1) {
        let pgft: Pgft = "3; 3,12,13; 1,3,2; 1,2,1".parse().unwrap();
        let mut random = Random::new(1, 1);
        let fabric = pgft.fabric(random_guids(&mut random));
        assert_same_under_faults(&machine, &fabric, &RoutingOptions::default(), &mut random);
        // More than 32 groups in one direction, and runs that are no multiple of 16.
        for tuple in ["2; 40,4; 1,40; 1,1", "2; 9,36; 1,70; 1,1"] {
            let pgft: Pgft = tuple.parse().unwrap();
            let fabric = pgft.fabric(random_guids(&mut random));
            for switch_lids in [true, false] {
                let options = RoutingOptions { switch_lids, ..RoutingOptions::default() };
                assert_same_under_faults(&machine, &fabric, &options, &mut random);
            }
        }
        let (fabric, risen) = more_ranks_than_before();
        let case = Case::healthy(&fabric);
        assert_same(&machine, &fabric, &case.routing(), &[Degradation::none(&fabric), risen]);
    }
}

/// Draws 40 leaves below some spines. Leaf number i has as many nodes as the function says.
fn two_levels(spines: usize, nodes: impl Fn(usize) -> usize, lmc: u8) -> Fabric {
    let mut drawing = Drawing::new();
    let spines: Vec<usize> = (0..spines).map(|i| drawing.switch(&format!("spine {i}"))).collect();
    for i in 0..40 {
        let leaf = drawing.switch(&format!("leaf {i}"));
        spines.iter().for_each(|&spine| drawing.cable(leaf, spine, 1));
        (0..nodes(i)).for_each(|_| drawing.node(leaf, AdapterKind::Host, lmc));
    }
    drawing.finish()
}

/// The kernel `routes` has a loop for each kind of row. Damage is heavy here, so that all of them occur: lists of few and of many
/// ports, for the first and the second half of the targets, with a chunk that begins in one half and ends in the other; runs that
/// change their port once because leaves below lost cables; more runs than a tile has records for.
#[test]
fn rows_of_every_kind() {
    for (machine, _) in machines(1) {
        let damaged = |fabric: &Fabric, percent: f64, seed: u64| {
            let (cables, switches) = (Amount::Percent(percent), Amount::Percent(0.0));
            let draw = Draw { cables, switches, any_cable: true, any_switch: false, seed };
            draw.degradation(fabric).unwrap()
        };
        let pgft = |tuple: &str| tuple.parse::<Pgft>().unwrap().fabric(Default::default());
        for fabric in [
            two_levels(3, |_| 2, 0),
            two_levels(4, |i| 1 + i % 7, 0),
            two_levels(37, |i| 3 + 5 * i % 16, 0),
            two_levels(3, |i| 1 + i % 4, 2),
            // Each column is a run, and a tile has two thousand of them.
            two_levels(2, |_| 13, 2),
            pgft("3; 12,12,3; 1,12,2; 1,1,1"),
            pgft("3; 20,4,3; 1,20,3; 1,1,1"),
        ] {
            let routing = Case::healthy(&fabric).routing();
            let states = [0.0, 2.0, 10.0, 30.0, 60.0].map(|percent| damaged(&fabric, percent, 5));
            assert_same(&machine, &fabric, &routing, &states);
        }
    }
}

/// A node with four LIDs has four columns with different k.
#[test]
fn nodes_with_several_lids() {
    for (machine, _) in machines(1) {
        let mut drawing = Drawing::new();
        let spines = drawing.switches(["s1", "s2", "s3"]);
        for name in ["l1", "l2", "l3", "l4"] {
            let leaf = drawing.switch(name);
            for (count, spine) in spines.into_iter().enumerate() {
                drawing.cable(leaf, spine, 1 + count % 2);
            }
            for _ in 0..5 {
                drawing.node(leaf, AdapterKind::Host, 2);
            }
        }
        let fabric = drawing.finish();
        let options = RoutingOptions::default();
        assert_same_under_faults(&machine, &fabric, &options, &mut Random::new(2, 2));
    }
}

/// Batches are routed one after the other in the same memory, and nothing of the one before is left.
#[test]
fn a_router_is_used_again() {
    for (machine, _) in machines(1) {
        let fabric: Fabric = "2; 4,6; 1,3; 1,2".parse::<Pgft>().unwrap().fabric(Default::default());
        let routing = Case::healthy(&fabric).routing();
        let mut router =
            GpuRouter::new(machine, Arc::new(fabric.clone()), routing.clone(), 3).unwrap();
        let mut random = Random::new(3, 3);
        for batch in [3, 1, 2, 0, 3] {
            let all: Vec<Degradation> =
                (0..batch).map(|_| random_faults(&mut random, &fabric)).collect();
            router.route(&all).unwrap();
            let digests = router.digests().unwrap();
            let expected = all.iter().map(|faults| {
                routing.route(Live::new(&fabric, faults), &Dmodc).unwrap().0.digest()
            });
            assert!(digests.into_iter().eq(expected));
        }
    }
}

/// A launch has at most 65,535 blocks along one side, and each state of a batch has one.
#[test]
fn very_many_states() {
    for (machine, _) in machines(1) {
        let mut drawing = Drawing::new();
        let leaf = drawing.switch("leaf");
        drawing.nodes(leaf, 2);
        let fabric = drawing.finish();
        let routing = Case::healthy(&fabric).routing();
        for (asked, given) in [(0, 1), (7, 7), (100_000, 65_535)] {
            let (machine, fabric) = (machine.clone(), Arc::new(fabric.clone()));
            let router = GpuRouter::new(machine, fabric, routing.clone(), asked).unwrap();
            assert_eq!(router.capacity(), given);
        }
    }
}

/// Blocks of small GPUs may share 64 KiB. Rows then do without lists of ports where these would need more.
#[test]
fn little_shared_memory() {
    for (machine, _) in machines(1) {
        let machine: Arc<dyn Machine> = Limited::with_shared_bytes(&machine, 64 << 10);
        let fabric = two_levels(37, |i| 3 + 5 * i % 16, 0);
        let options = RoutingOptions::default();
        assert_same_under_faults(&machine, &fabric, &options, &mut Random::new(4, 4));
        // The masks of as many groups as a switch may have do not fit.
        let tiny: Arc<dyn Machine> = Limited::with_shared_bytes(&machine, 16 << 10);
        let routing = Case::healthy(&fabric).routing();
        let healthy = Degradation::none(&fabric);
        let mut router = GpuRouter::new(tiny, Arc::new(fabric), routing, 1).unwrap();
        let failed = router.route(&[healthy]);
        assert!(matches!(failed, Err(GpuError::SharedMemory { .. })), "{failed:?}");
    }
}

/// A state with more ranks needs more memory. A batch that does not get it can be routed again, and so can others.
#[test]
fn a_router_is_used_again_after_memory_was_lacking() {
    for (machine, _) in machines(1) {
        let limited = Limited::new(&machine);
        let (fabric, risen) = more_ranks_than_before();
        let healthy = Degradation::none(&fabric);
        let (fabric, routing) = (Arc::new(fabric.clone()), Case::healthy(&fabric).routing());
        for states in [[risen.clone(), healthy.clone()], [healthy.clone(), healthy]] {
            let mut router =
                GpuRouter::new(limited.clone(), fabric.clone(), routing.clone(), 2).unwrap();
            let bytes = router.state_bytes();
            limited.set_full(true);
            for _ in 0..2 {
                let failed = router.route(&[risen.clone(), risen.clone()]);
                assert!(matches!(failed, Err(GpuError::OutOfMemory { .. })), "{failed:?}");
                assert_eq!(router.state_bytes(), bytes);
                assert_eq!(router.digests().unwrap(), []);
            }
            limited.set_full(false);
            router.route(&states).unwrap();
            for (state, degradation) in states.iter().enumerate() {
                let (expected, _) = routing.route(Live::new(&fabric, degradation), &Dmodc).unwrap();
                assert_eq!(router.tables(state).unwrap().differing(&expected), 0);
            }
        }
    }
}

/// No batch is left after an error: what is in the memory belongs to no state.
#[test]
fn a_route_that_is_too_long_leaves_no_batch() {
    for (machine, _) in machines(1) {
        let mut drawing = Drawing::new();
        let switches: Vec<usize> = (0..260).map(|i| drawing.switch(&format!("s{i:03}"))).collect();
        switches.windows(2).for_each(|pair| drawing.cable(pair[0], pair[1], 1));
        drawing.nodes(switches[0], 2);
        let fabric = Arc::new(drawing.finish());
        let routing = Case::healthy(&fabric).routing();
        let mut router = GpuRouter::new(machine, fabric.clone(), routing, 1).unwrap();
        let failed = router.route(&[Degradation::none(&fabric)]);
        assert!(matches!(failed, Err(GpuError::Route(_))), "{failed:?}");
        assert_eq!((router.digests().unwrap(), router.by_host()), (vec![], &[][..]));
    }
}

/// The presets are large, so they run on a GPU alone, except for the smallest.
#[test]
fn presets() {
    for (machine, _) in machines(1) {
        let most = if machine.name() == "emulator" { 50_000 } else { 2 << 30 };
        for preset in presets_up_to(&*machine, most) {
            assert_same_preset(&machine, preset);
        }
    }
}

fn assert_same_preset(machine: &Arc<dyn Machine>, preset: &Preset) {
    let fabric = preset.shape().fabric(Default::default()).unwrap();
    let case = Case::healthy(&fabric);
    let draw = |cables, switches| {
        let (cables, switches) = (Amount::Percent(cables), Amount::Percent(switches));
        let draw = Draw { cables, switches, any_cable: true, any_switch: false, seed: 1 };
        draw.degradation(&fabric).unwrap()
    };
    let mut all = vec![Degradation::none(&fabric), draw(10.0, 1.0)];
    if entries_of(preset) <= MOST_ENTRIES_OF_THREE {
        all.push(draw(1.0, 0.0));
    }
    for switch_lids in [true, false] {
        let options = RoutingOptions { switch_lids, ..RoutingOptions::default() };
        let routing = Routing::new(case.whole(), &options);
        assert_same(machine, &fabric, &routing, &all);
        eprintln!("{}: {} is the same", machine.name(), preset.name);
    }
}
