//! The digests of a stream are those of the tables of the engine: windows of one tile, of some tiles and of all, by both engines, for
//! states that kernels route and for others.
//!
//! `same_tables.rs` says on which machines this runs.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../dmodc/tests/common/mod.rs"]
mod common;
mod emulator;
mod machines;

use std::sync::Arc;

use common::{
    Case, Directors, Drawing, Outcomes, for_seeds, four_levels, pgft, random_fabric, random_faults,
    random_graph, random_guids, random_options, random_pgft,
};
use dmodc::{
    Degradation, Digest, Dmodc, Engine, Fabric, Live, Random, Routing, RoutingOptions, Stable,
    SwitchIndex,
};
use dmodc_gpu::{GpuStream, Machine, StreamRoom};
use machines::machines;

/// A fabric that is streamed.
struct Setting {
    fabric: Arc<Fabric>,
    routing: Routing,
    /// The engine, if it is not `dmodc`.
    stable: Option<Stable>,
}

impl Setting {
    fn dmodc(fabric: &Fabric, options: &RoutingOptions) -> Self {
        let routing = Routing::new(Case::healthy(fabric).whole(), options);
        Setting { fabric: Arc::new(fabric.clone()), routing, stable: None }
    }

    /// Routes by `stable`, with a state as the reference.
    fn stable(self, reference: &Degradation) -> Self {
        let stable = Stable::new(&self.routing, Live::new(&self.fabric, reference));
        Setting { stable: Some(stable), ..self }
    }

    /// Routes by `stable`, with the whole fabric as the reference, which is relieved in a state.
    fn relieved(self, first: &Degradation) -> Self {
        let whole = Degradation::none(&self.fabric);
        let setting = self.stable(&whole);
        let live = Live::new(&setting.fabric, first);
        let stable = setting.stable.clone().unwrap();
        let (stable, _) = stable.relieved(&setting.routing, live).unwrap();
        Setting { stable: Some(stable), ..setting }
    }

    fn stream(&self, machine: &Arc<dyn Machine>, room: StreamRoom) -> GpuStream {
        let (machine, fabric, routing) = (machine.clone(), self.fabric.clone(), &self.routing);
        match &self.stable {
            None => GpuStream::new(machine, fabric, routing.clone(), room).unwrap(),
            Some(stable) => {
                GpuStream::stable(machine, fabric, routing.clone(), stable, room).unwrap()
            }
        }
    }

    /// Returns the digest of the whole tables of the engine.
    fn expected(&self, degradation: &Degradation) -> Digest {
        let engine: &dyn Engine = match &self.stable {
            None => &Dmodc,
            Some(stable) => stable,
        };
        let live = Live::new(&self.fabric, degradation);
        self.routing.route(live, engine).unwrap().0.digest()
    }

    /// Compares the digests of some states, with windows of one tile, of about half of all and of all.
    fn assert_same(&self, machine: &Arc<dyn Machine>, all: &[Degradation]) -> Streamed {
        let expected: Vec<Digest> = all.iter().map(|state| self.expected(state)).collect();
        let mut streamed = Streamed { windows: vec![], by_host: 0 };
        let half = self.routing.columns().len() * self.fabric.switches().len() / 2;
        // The three sizes differ if there are more than two tiles.
        let sizes = match self.routing.columns().tiles().len() {
            0..2 => &[0][..],
            2 => &[0, usize::MAX],
            _ => &[0, half, usize::MAX],
        };
        for &window_bytes in sizes {
            let room = StreamRoom { capacity: all.len(), window_bytes };
            let mut stream = self.stream(machine, room);
            assert_eq!(stream.digests(all).unwrap(), expected, "{} windows", stream.windows());
            assert!(stream.windows() == 1 || window_bytes < usize::MAX);
            streamed.windows.push(stream.windows());
            streamed.by_host = stream.by_host().len();
        }
        streamed
    }

    /// Compares the healthy fabric and states with random faults.
    fn assert_same_under_faults(
        &self,
        machine: &Arc<dyn Machine>,
        random: &mut Random,
    ) -> Streamed {
        let mut all = vec![Degradation::none(&self.fabric)];
        all.extend((0..2).map(|_| random_faults(random, &self.fabric)));
        self.assert_same(machine, &all)
    }
}

/// How states were streamed.
struct Streamed {
    /// The number of windows of each stream.
    windows: Vec<usize>,
    /// The number of states for which kernels alone did not suffice.
    by_host: usize,
}

#[test]
fn random_fabrics_and_graphs() {
    for (machine, seeds) in machines(6) {
        let outcomes = Outcomes::new();
        for_seeds(seeds, |random| {
            for fabric in [
                random_pgft(random, 150).fabric(random_guids(random)),
                random_fabric(random, 60),
                random_graph(random),
                Directors::random(random).fabric(),
            ] {
                let options = random_options(random);
                let reference = random_faults(random, &fabric);
                let plain = Setting::dmodc(&fabric, &options);
                let dmodc = plain.assert_same_under_faults(&machine, random);
                let stable = plain.stable(&reference).assert_same_under_faults(&machine, random);
                outcomes.count([dmodc.by_host > 0, dmodc.by_host < 3, stable.by_host < 3]);
            }
        });
        outcomes.assert_each_more_than(seeds / 4);
    }
}

/// Rows of different widths, groups with several ports, more than 32 groups in one direction, and ranks beyond four. Entries that relief
/// moved are in several windows.
#[test]
fn several_windows() {
    for (machine, _) in machines(1) {
        let mut random = Random::new(1, 1);
        for fabric in [pgft("3; 3,9,11; 1,3,2; 1,2,1"), pgft("2; 3,70; 1,40; 1,1"), four_levels(2)]
        {
            let options = RoutingOptions { switch_lids: true, ..RoutingOptions::default() };
            let first = random_faults(&mut random, &fabric);
            let plain = Setting::dmodc(&fabric, &options);
            let tiles = plain.routing.columns().tiles().len();
            for setting in [plain, Setting::dmodc(&fabric, &options).relieved(&first)] {
                let streamed = setting.assert_same_under_faults(&machine, &mut random);
                assert_eq!(streamed.windows[0], tiles, "one for each tile");
            }
        }
    }
}

/// A cable joins two spines, so the host takes part, unless a spine is dead. There are several windows.
#[test]
fn several_windows_with_the_host() {
    for (machine, _) in machines(1) {
        let mut drawing = Drawing::new();
        let spines = drawing.switches(["s1", "s2", "s3"]);
        for leaf in 0..100 {
            let leaf = drawing.switch(&format!("l{leaf}"));
            spines.into_iter().for_each(|spine| drawing.cable(leaf, spine, 1));
            drawing.nodes(leaf, 2);
        }
        drawing.cable(spines[0], spines[1], 1);
        let fabric = drawing.finish();
        let whole = Degradation::none(&fabric);
        let mut without = whole.clone();
        without.set_switch(SwitchIndex::new(spines[0]), true);
        let mut random = Random::new(2, 2);
        let faults = random_faults(&mut random, &fabric);
        let all = [whole.clone(), without.clone(), faults, whole];
        let plain = Setting::dmodc(&fabric, &RoutingOptions::default());
        let dmodc = plain.assert_same(&machine, &all);
        assert!(dmodc.windows[0] == 2 && (2..4).contains(&dmodc.by_host), "by kernels and bytes");
        // With the dead spine as the reference, kernels route some states, and with the whole fabric none.
        let some = Setting::dmodc(&fabric, &RoutingOptions::default()).stable(&without);
        assert!((2..4).contains(&some.assert_same(&machine, &all).by_host));
        let none = plain.stable(&all[0]);
        assert_eq!(none.assert_same(&machine, &all).by_host, all.len());
    }
}

/// There are more tiles than a block takes: a window has those of a block, and another one the rest.
#[test]
fn more_tiles_than_a_block_takes() {
    for (machine, _) in machines(1) {
        let fabric = pgft("3; 1,46,46; 1,2,1; 1,1,1");
        let options = RoutingOptions { switch_lids: false, ..RoutingOptions::default() };
        // Rows of dead switches are written at once, which saves time.
        let state = |alive: usize| {
            let mut faults = Degradation::none(&fabric);
            for (s, switch) in fabric.switch_indices().enumerate() {
                faults.set_switch(switch, s < 46 * 46 && s % alive != 0);
            }
            faults
        };
        let faults = state(31);
        let plain = || Setting::dmodc(&fabric, &options);
        // Tiles start at multiples of 256 bytes.
        let tile_bytes = (64 * fabric.switches().len()).next_multiple_of(256);
        for setting in [plain(), plain().stable(&state(13))] {
            let room = StreamRoom { capacity: 1, window_bytes: 33 * tile_bytes };
            let mut stream = setting.stream(&machine, room);
            let digests = stream.digests(std::slice::from_ref(&faults)).unwrap();
            assert_eq!(digests, [setting.expected(&faults)]);
            assert_eq!((stream.windows(), stream.by_host()), (2, &[][..]));
        }
    }
}

/// Batches of different sizes use the same memory, and nothing of the one before is left.
#[test]
fn a_stream_is_used_again() {
    for (machine, _) in machines(1) {
        let fabric = pgft("3; 3,12,7; 1,3,2; 1,2,1");
        let plain = || Setting::dmodc(&fabric, &RoutingOptions::default());
        let mut random = Random::new(3, 3);
        for setting in [plain(), plain().stable(&Degradation::none(&fabric))] {
            let room = StreamRoom { capacity: 3, window_bytes: 0 };
            let mut stream = setting.stream(&machine, room);
            for batch in [3, 1, 2, 0, 3] {
                let all: Vec<Degradation> =
                    (0..batch).map(|_| random_faults(&mut random, &fabric)).collect();
                let expected = all.iter().map(|state| setting.expected(state));
                assert!(stream.digests(&all).unwrap().into_iter().eq(expected));
            }
        }
    }
}
