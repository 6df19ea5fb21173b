//! Studies on a GPU have the rows of the processor. The kernels run on the GPU of this machine, or on a stand-in for it.
#![cfg(feature = "gpu")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../dmodc/tests/common/drawing.rs"]
#[allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]
mod drawing;
#[path = "../../dmodc-gpu/tests/emulator/mod.rs"]
mod emulator;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dmodc::advise::{FaultScope, Present};
use dmodc::judge::risk::SeriesPattern;
use dmodc::{
    Amount, Degradation, Dmodc, Draw, Engine, Fabric, Kernel, Live, Pgft, Router, Routing,
    RoutingOptions, Stable,
};
use dmodc_gpu::{Cuda, Machine};
use dmodc_study::bench::{BenchCase, BenchError, BenchSettings, measure};
use dmodc_study::device::Device;
use dmodc_study::engine::EngineName;
use dmodc_study::study::{Shard, ShardRun, Study, StudyFolder};
use dmodc_study::what_if::{DoubleFaults, FaultSurvey, Faults, SurveyError};
use drawing::Drawing;

/// Returns the GPU of this machine, or its stand-in; `None` after a line that says what is missing.
fn machine() -> Option<Arc<dyn Machine>> {
    match Cuda::open() {
        Ok(cuda) => Some(Arc::new(cuda)),
        Err(why) => {
            assert!(std::env::var_os("DMODC_GPU_REQUIRED").is_none(), "{why}");
            emulator::emulator()
        }
    }
}

/// Returns the table of a plan, measured on a device.
fn table(folder: &Path, name: &str, text: &str, device: Device) -> String {
    let plan = folder.join("plan.toml");
    fs::write(&plan, text).unwrap();
    let study = Study::open(&plan).unwrap();
    let folder = StudyFolder::new(Some(&folder.join(name)), &plan, &study);
    let run = ShardRun {
        study: &study,
        folder: &folder,
        shard: Shard::WHOLE,
        plugin: PathBuf::new(),
        device,
    };
    let result = run.run(|_| {}).unwrap();
    assert_eq!(result.progress.done, study.cells.len());
    fs::read_to_string(result.table).unwrap()
}

/// Regular fabrics and a director, all kinds of engines, patterns for which there are kernels and others, and faults that cut nodes
/// off: every byte is the same.
#[test]
fn rows_do_not_depend_on_the_device() {
    let Some(machine) = machine() else { return };
    let plans = [
        r#"
        name = "many"
        draws = 4
        engines = ["dmodc", "stable", "random", "dmodk"]
        patterns = ["a2a", "rp:20", "bisection:10", "sp", "sp:7", "ring"]
        [[fabric]]
        pgft = "3; 3,2,4; 1,3,2; 1,1,2"
        [[fabric]]
        directors = "leaves=6,nodes=3,directors=1,lines=3,spines=2,cables=3"
        [[degradation]]
        cables = ["0%", "5%", "60%"]
        [[degradation]]
        cables = ["1%"]
        switches = ["2"]
        "#,
        r#"
        name = "rates"
        draws = 2
        engines = ["dmodc", "paper"]
        patterns = ["rp:5", "sp", "a2a"]
        rates = true
        [[fabric]]
        pgft = "2; 4,4; 1,2; 1,2"
        [[degradation]]
        cables = ["10%"]
        "#,
    ];
    for text in plans {
        let folder = tempfile::tempdir().unwrap();
        let expected = table(folder.path(), "cpu", text, Device::Cpu);
        let found = table(folder.path(), "gpu", text, Device::Gpu(machine.clone()));
        assert!(expected.lines().count() > 10, "there are rows");
        for (expected, found) in expected.lines().zip(found.lines()) {
            assert_eq!(found, expected);
        }
        assert_eq!(found, expected);
    }
}

/// 64 threads of 256 KiB stacks prepare the states of a batch and complete what the device counted.
#[test]
fn rows_do_not_depend_on_the_number_of_threads() {
    let Some(machine) = machine() else { return };
    let text = r#"
        name = "threads"
        draws = 100
        engines = ["dmodc", "stable", "random"]
        patterns = ["a2a", "rp:5", "sp:4", "ring"]
        [[fabric]]
        pgft = "2; 3,70; 1,3; 1,1"
        [[degradation]]
        cables = ["10%"]
        "#;
    let folder = tempfile::tempdir().unwrap();
    let expected = table(folder.path(), "cpu", text, Device::Cpu);
    let many = rayon::ThreadPoolBuilder::new().num_threads(64).stack_size(256 << 10);
    let found = many
        .build()
        .unwrap()
        .install(|| table(folder.path(), "gpu", text, Device::Gpu(machine.clone())));
    assert_eq!(found, expected);
}

/// Draws a ring of switches with two nodes on the first one. If a cable near them fails, a route is longer than costs can count.
fn ring() -> Fabric {
    let mut drawing = Drawing::new();
    let switches: Vec<usize> = (0..320).map(|at| drawing.switch(&format!("s{at:03}"))).collect();
    for (at, &s) in switches.iter().enumerate() {
        drawing.cable(s, switches[(at + 1) % switches.len()], 1);
    }
    drawing.nodes(switches[0], 2);
    drawing.finish()
}

/// A state that cannot be routed has a row that says why, and the others of its batch are measured.
#[test]
fn cells_that_cannot_be_routed_are_refused_on_every_device() {
    let Some(machine) = machine() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut file = vec![];
    dmodc_formats::ibnetdiscover::write(&ring(), &[], &mut file).unwrap();
    fs::write(folder.path().join("ring.topo"), file).unwrap();
    let text = r#"
        name = "ring"
        seed = 6
        draws = 3
        engines = ["dmodc", "stable"]
        patterns = ["a2a"]
        [[fabric]]
        file = "ring.topo"
        [[degradation]]
        cables = ["1"]
        "#;
    let expected = table(folder.path(), "cpu", text, Device::Cpu);
    let found = table(folder.path(), "gpu", text, Device::Gpu(machine));
    let rows = || expected.lines().filter(|row| row.contains(",dmodc,"));
    let refused = rows().filter(|row| row.contains("a route would need more")).count();
    assert!(refused > 0 && refused < rows().count(), "some are refused: {expected}");
    assert_eq!(found, expected);
}

/// A survey ends with the same error on every device.
#[test]
fn a_fault_that_cannot_be_routed_ends_the_survey_on_every_device() {
    let Some(machine) = machine() else { return };
    let fabric = ring();
    let whole = Degradation::none(&fabric);
    // Routes between switches would be too long in the whole ring.
    let options = RoutingOptions { switch_lids: false, ..RoutingOptions::default() };
    let routing = Routing::new(Live::new(&fabric, &whole), &options);
    let router =
        Router::with_engine(Arc::new(Dmodc), Arc::new(fabric.clone()), routing, whole).unwrap();
    let present = Present::new(&router, &[]);
    let mut singles = present.single_faults(FaultScope::default());
    singles.truncate(2);
    let faults = Faults::new(singles, DoubleFaults::None).unwrap();
    let [expected, found] = [Device::Cpu, Device::Gpu(machine)].map(|device| {
        let survey = FaultSurvey::new(&present, &faults, "test").on(device);
        survey.run(Shard::WHOLE, None, |_| ControlFlow::Continue(())).unwrap_err()
    });
    assert_eq!(found.to_string(), expected.to_string());
    assert!(matches!(found, SurveyError::Route(_)) && matches!(expected, SurveyError::Route(_)));
}

/// Single and double faults, of cables, switches and leaves, by `dmodc` on a whole fabric and by `stable` on a damaged one: every
/// outcome is the same.
#[test]
fn outcomes_of_faults_do_not_depend_on_the_device() {
    let Some(machine) = machine() else { return };
    let pgft: Pgft = "3; 3,2,4; 1,3,2; 1,1,2".parse().unwrap();
    let fabric = pgft.fabric(Default::default());
    for (cables, is_stable) in [("0", false), ("15%", true)] {
        let draw = Draw {
            cables: cables.parse().unwrap(),
            switches: Amount::ZERO,
            any_cable: false,
            any_switch: false,
            seed: 3,
        };
        let state = draw.degradation(&fabric).unwrap();
        let options = RoutingOptions::default();
        let whole = Degradation::none(&fabric);
        let reference = Live::new(&fabric, &whole);
        let routing = Routing::new(reference, &options);
        let engine: Arc<dyn Engine> = match is_stable {
            true => Arc::new(Stable::new(&routing, reference)),
            false => Arc::new(Dmodc),
        };
        let router =
            Router::with_engine(engine, Arc::new(fabric.clone()), routing.clone(), state).unwrap();
        let series = [
            SeriesPattern::AllShifts,
            SeriesPattern::Shifts { count: 5, seed: 2 },
            SeriesPattern::Random { count: 6, seed: 4 },
        ];
        let present = Present::new(&router, &series);
        let scope = FaultScope { leaves: true, ..FaultScope::default() };
        let doubles = DoubleFaults::Sample { count: 40, seed: 1 };
        let faults = Faults::new(present.single_faults(scope), doubles).unwrap();
        let outcomes = |device: Device| {
            let survey = FaultSurvey::new(&present, &faults, "test").on(device);
            survey.run(Shard::WHOLE, None, |_| ControlFlow::Continue(())).unwrap()
        };
        let (expected, found) = (outcomes(Device::Cpu), outcomes(Device::Gpu(machine.clone())));
        assert!(expected.len() > 90, "there are many faults");
        for (expected, found) in expected.iter().zip(&found) {
            assert_eq!(found, expected);
        }
        assert_eq!(found.len(), expected.len());
    }
}

/// Rows of the benchmark have right digests, with and without tables in the memory of the device. Other engines are refused.
#[test]
fn tables_and_streams_are_measured() {
    let Some(machine) = machine() else { return };
    let case = BenchCase {
        name: "small".into(),
        shape: dmodc::fabric::Shape::Pgft("3; 3,2,4; 1,3,2; 1,1,2".parse().unwrap()),
        cables: 5.0,
        switches: 0.0,
        seed: 1,
        switch_lids: true,
    };
    let row = |engine: EngineName, stream: bool| {
        let settings = BenchSettings {
            engine,
            stream,
            rounds: 2,
            kernel: Kernel::best(),
            check: true,
            on_checked: |_, _| {},
            changes: None,
            rewrite: false,
            against: None,
            device: Device::Gpu(machine.clone()),
        };
        measure(&case, &settings)
    };
    for engine in [EngineName::Dmodc, EngineName::Stable] {
        let [kept, streamed] = [false, true].map(|stream| row(engine.clone(), stream).unwrap());
        for row in [&kept, &streamed] {
            assert_eq!(row["digest_ok"], true, "{row}");
            assert_eq!((&row["digest"], &row["device_windows"]), (&kept["digest"], &1.into()));
            assert_eq!(row["memset_ms_all"].as_array().unwrap().len(), 2);
            assert!(row["device_table_bytes"].as_u64().unwrap() > 0, "{row}");
        }
        assert_eq!(streamed["engine"], format!("{engine}-stream-gpu"));
    }
    let refused = row(EngineName::Dmodk, true).unwrap_err();
    assert!(matches!(refused, BenchError::NotOnGpu(_)), "{refused}");
}
