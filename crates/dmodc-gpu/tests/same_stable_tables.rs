//! The tables of the engine `stable` on a device are those of the CPU, byte by byte: on presets, random PGFTs, directors and any graph,
//! under any degradation, with any reference, plain and relieved, one by one and in batches.
//!
//! `same_tables.rs` says on which machines this runs.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../dmodc/tests/common/mod.rs"]
mod common;
mod emulator;
mod limited;
mod machines;

use std::sync::Arc;

use common::{
    Case, Directors, Drawing, Outcomes, for_seeds, four_levels, pgft, random_fabric, random_faults,
    random_graph, random_guids, random_options, random_pgft, saved_options,
};
use dmodc::fabric::AdapterKind;
use dmodc::{
    Amount, Degradation, Draw, Fabric, LevelDividers, LevelRule, Live, NodeIndex, Random, Routing,
    RoutingOptions, Stable,
};
use dmodc_gpu::{GpuRouter, Machine};
use limited::Limited;
use machines::{MOST_ENTRIES_OF_THREE, entries_of, machines, presets_up_to};

/// A fabric with a routing and a reference.
struct Setting {
    fabric: Arc<Fabric>,
    routing: Routing,
    stable: Stable,
}

impl Setting {
    /// Takes a state of the fabric as the reference.
    fn new(fabric: &Fabric, options: &RoutingOptions, reference: &Degradation) -> Self {
        let routing = Routing::new(Case::healthy(fabric).whole(), options);
        let stable = Stable::new(&routing, Live::new(fabric, reference));
        Setting { fabric: Arc::new(fabric.clone()), routing, stable }
    }

    /// Relieves the reference in another state.
    fn relieved(self, first: &Degradation) -> Self {
        let live = Live::new(&self.fabric, first);
        let (stable, _) = self.stable.clone().relieved(&self.routing, live).unwrap();
        Setting { stable, ..self }
    }

    fn router(&self, machine: &Arc<dyn Machine>, capacity: usize) -> GpuRouter {
        let (fabric, routing) = (self.fabric.clone(), self.routing.clone());
        GpuRouter::stable(machine.clone(), fabric, routing, &self.stable, capacity).unwrap()
    }

    /// Routes some states and compares their tables with those of the CPU. Returns how many of them the machine routed.
    fn assert_same(&self, router: &mut GpuRouter, all: &[Degradation]) -> u64 {
        router.route(all).unwrap();
        let digests = router.digests().unwrap();
        for (state, degradation) in all.iter().enumerate() {
            let live = Live::new(&self.fabric, degradation);
            let (expected, _) = self.routing.route(live, &self.stable).unwrap();
            let tables = router.tables(state).unwrap();
            assert_eq!(tables.differing(&expected), 0, "entries of state {state}");
            assert_eq!(digests[state], expected.digest(), "digest of state {state}");
        }
        (all.len() - router.by_host().len()) as u64
    }

    /// Compares the healthy fabric, the reference, states with random faults, and two of them again.
    fn assert_same_under_faults(&self, machine: &Arc<dyn Machine>, random: &mut Random) -> u64 {
        let reference = self.stable.reference.degradation().clone();
        let mut all = vec![Degradation::none(&self.fabric), reference];
        all.extend((0..4).map(|_| random_faults(random, &self.fabric)));
        let mut router = self.router(machine, all.len());
        let on_machine = self.assert_same(&mut router, &all);
        all.reverse();
        self.assert_same(&mut router, &all[..2]);
        on_machine
    }
}

/// Returns faults of switches and cables, and of a few cables of nodes.
fn with_dead_nodes(random: &mut Random, fabric: &Fabric) -> Degradation {
    let mut faults = random_faults(random, fabric);
    for _ in 0..1 + random.below(4) {
        let node = NodeIndex::new(random.below(fabric.nodes().len() as u64) as usize);
        faults.set_cable(fabric.node_cable(node), true);
    }
    faults
}

#[test]
fn random_pgfts() {
    for (machine, seeds) in machines(12) {
        let on_machine = Outcomes::new();
        for_seeds(seeds, |random| {
            let fabric = random_pgft(random, 150).fabric(random_guids(random));
            let whole = Degradation::none(&fabric);
            let setting = Setting::new(&fabric, &random_options(random), &whole);
            on_machine.count([setting.assert_same_under_faults(&machine, random) >= 3]);
        });
        on_machine.assert_each_more_than(seeds / 2);
    }
}

/// The reference lacks parts that the present has: new switches, leaves and cables, and ranks that differ.
#[test]
fn references_with_missing_parts() {
    for (machine, seeds) in machines(10) {
        for_seeds(seeds, |random| {
            let fabric = random_pgft(random, 100).fabric(random_guids(random));
            let reference = with_dead_nodes(random, &fabric);
            let setting = Setting::new(&fabric, &random_options(random), &reference);
            setting.assert_same_under_faults(&machine, random);
        });
    }
}

#[test]
fn random_fabrics_and_graphs() {
    for (machine, seeds) in machines(8) {
        for_seeds(seeds, |random| {
            for fabric in [random_fabric(random, 80), random_graph(random)] {
                let reference = match random.below(2) {
                    0 => Degradation::none(&fabric),
                    _ => random_faults(random, &fabric),
                };
                let setting = Setting::new(&fabric, &random_options(random), &reference);
                setting.assert_same_under_faults(&machine, random);
            }
        });
    }
}

/// These have several ways down, dividers by level, groups with several ports, and ranks beyond four.
#[test]
fn directors_and_pods() {
    for (machine, seeds) in machines(2) {
        let on_machine = Outcomes::new();
        for_seeds(seeds, |random| {
            for fabric in [
                Directors::random(random).fabric(),
                Directors::SMALL.doubled().fabric(),
                four_levels(2),
            ] {
                let first = random_faults(random, &fabric);
                let whole = Degradation::none(&fabric);
                let setting = Setting::new(&fabric, &RoutingOptions::default(), &whole);
                on_machine.count([setting.assert_same_under_faults(&machine, random) >= 3]);
                setting.relieved(&first).assert_same_under_faults(&machine, random);
            }
        });
        on_machine.assert_each_more_than(seeds);
    }
}

/// Entries that relief moved keep their ports as long as these lead closer.
#[test]
fn relieved_references() {
    for (machine, seeds) in machines(8) {
        let moved = Outcomes::new();
        for_seeds(seeds, |random| {
            let fabric = random_pgft(random, 100).fabric(random_guids(random));
            let first = with_dead_nodes(random, &fabric);
            let whole = Degradation::none(&fabric);
            let setting = Setting::new(&fabric, &random_options(random), &whole).relieved(&first);
            moved.count([setting.stable.reference.moved_entries().next().is_some()]);
            setting.assert_same_under_faults(&machine, random);
            let all = [first, with_dead_nodes(random, &fabric)];
            setting.assert_same(&mut setting.router(&machine, 2), &all);
        });
        moved.assert_each_more_than(seeds / 4);
    }
}

/// Several tiles, rows that are no multiple of 16, groups with several ports, leaves with several rounds, and more than 32 groups
/// in one direction.
#[test]
fn several_tiles_rounds_and_words() {
    for (machine, _) in machines(1) {
        let mut random = Random::new(1, 1);
        let tuples = [
            "3; 3,12,7; 1,3,2; 1,2,1",
            "3; 18,3,4; 1,3,4; 1,1,1",
            "3; 17,3,3; 1,4,3; 1,1,2",
            "2; 40,4; 1,40; 1,1",
            "2; 9,36; 1,70; 1,1",
            "2; 24,6; 1,2; 1,3",
        ];
        for (at, tuple) in tuples.into_iter().enumerate() {
            let fabric = pgft(tuple);
            let options = RoutingOptions { switch_lids: at % 2 == 0, ..RoutingOptions::default() };
            let setting = Setting::new(&fabric, &options, &Degradation::none(&fabric));
            setting.assert_same_under_faults(&machine, &mut random);
        }
    }
}

/// A node with eight LIDs has eight columns with different k, and groups have different numbers of ports, with and without dividers of
/// ports.
#[test]
fn nodes_with_several_lids() {
    for (machine, seeds) in machines(12) {
        for_seeds(seeds, |random| {
            let mut drawing = Drawing::new();
            let spines = drawing.switches(["s1", "s2", "s3"]);
            for name in ["l1", "l2", "l3", "l4"] {
                let leaf = drawing.switch(name);
                for spine in spines {
                    drawing.cable(leaf, spine, 1 + random.below(3) as usize);
                }
                for _ in 0..1 + random.below(6) {
                    drawing.node(leaf, AdapterKind::Host, 3);
                }
            }
            let fabric = drawing.finish();
            let mut orders = Routing::orders_of(&fabric, &RoutingOptions::default());
            let mut rule = || LevelRule {
                group: Some(1 + random.below(3) as u32),
                port: Some(1 + random.below(5) as u32),
            };
            orders.dividers = Some(LevelDividers::new(vec![rule()], vec![rule(), rule()]));
            for options in [RoutingOptions::default(), saved_options(&orders)] {
                let setting = Setting::new(&fabric, &options, &Degradation::none(&fabric));
                setting.assert_same_under_faults(&machine, random);
            }
        });
    }
}

/// Batches are routed one after the other in the same memory, and nothing of the one before is left.
#[test]
fn a_router_is_used_again() {
    for (machine, _) in machines(1) {
        let fabric = pgft("3; 4,3,4; 1,3,2; 1,2,1");
        let options = RoutingOptions::default();
        let setting = Setting::new(&fabric, &options, &Degradation::none(&fabric));
        let mut router = setting.router(&machine, 3);
        let mut random = Random::new(3, 3);
        for batch in [3, 1, 2, 0, 3] {
            let all: Vec<Degradation> =
                (0..batch).map(|_| with_dead_nodes(&mut random, &fabric)).collect();
            setting.assert_same(&mut router, &all);
        }
    }
}

/// The memory that a router says it needs for a state is what it takes from the machine.
#[test]
fn the_memory_of_a_state_is_counted() {
    for (machine, _) in machines(1) {
        let fabric = pgft("3; 3,12,7; 1,3,2; 1,2,1");
        let options = RoutingOptions::default();
        let setting = Setting::new(&fabric, &options, &Degradation::none(&fabric));
        // Masks start at multiples of 256 bytes, after the flags of all states: these capacities leave no gap.
        let taken = [64, 128].map(|capacity| {
            let counted = Limited::new(&machine);
            let on: Arc<dyn Machine> = counted.clone();
            let plain = GpuRouter::new(
                on.clone(),
                setting.fabric.clone(),
                setting.routing.clone(),
                capacity,
            );
            let of_plain = counted.allocated();
            let stable = setting.router(&on, capacity);
            let bytes = [plain.unwrap().state_bytes(), stable.state_bytes()];
            (bytes, [of_plain, counted.allocated() - of_plain])
        });
        let [(bytes, few), (_, many)] = taken;
        assert_eq!(bytes.map(|bytes| 64 * bytes), [many[0] - few[0], many[1] - few[1]]);
    }
}

/// The presets are large, so they run on a GPU alone, except for the smallest.
#[test]
fn presets() {
    for (machine, _) in machines(1) {
        let most = if machine.name() == "emulator" { 50_000 } else { 2 << 30 };
        for preset in presets_up_to(&*machine, most) {
            let fabric = preset.shape().fabric(Default::default()).unwrap();
            let draw = |cables, switches| {
                let (cables, switches) = (Amount::Percent(cables), Amount::Percent(switches));
                let draw = Draw { cables, switches, any_cable: true, any_switch: false, seed: 1 };
                draw.degradation(&fabric).unwrap()
            };
            let options = RoutingOptions::default();
            let setting = Setting::new(&fabric, &options, &Degradation::none(&fabric));
            let mut all = vec![Degradation::none(&fabric), draw(10.0, 1.0)];
            if entries_of(preset) <= MOST_ENTRIES_OF_THREE {
                all.push(draw(1.0, 0.0));
            }
            setting.assert_same(&mut setting.router(&machine, all.len()), &all);
            eprintln!("{}: {} is the same", machine.name(), preset.name);
        }
    }
}
