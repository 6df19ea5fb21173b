//! Studies on a GPU have the rows of the processor. The kernels run on the GPU of this machine, or on a stand-in for it.
#![cfg(feature = "gpu")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../dmodc-gpu/tests/emulator/mod.rs"]
mod emulator;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dmodc_gpu::{Cuda, Machine};
use dmodc_study::device::Device;
use dmodc_study::study::{Shard, ShardRun, Study, StudyFolder};

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
