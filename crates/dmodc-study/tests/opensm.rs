//! A study whose plan names engines of OpenSM. Without OpenSM, ibsim or the plugin the test is skipped, and says so.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use dmodc::{Fabric, Pgft};
use dmodc_lab::{LabError, Sim, check_plugin};
use dmodc_study::device::Device;
use dmodc_study::study::{Shard, ShardRun, Study, StudyFolder, read_rows};

const FIGURE_1: &str = "3; 2,2,3; 1,2,2; 1,2,1";

/// Reports that the running test is skipped. The line is written directly to standard error, because the test harness hides
/// the output of passing tests.
fn skip(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {why}");
}

/// Returns the plugin that was built next to the tests; `None` if it is missing.
fn plugin() -> Option<PathBuf> {
    let here = std::env::current_exe().unwrap();
    let plugin = here.parent().unwrap().parent().unwrap().join("libdmodc.so");
    let found = check_plugin(&plugin);
    if let Err(why) = &found {
        skip(&why.to_string());
    }
    found.is_ok().then_some(plugin)
}

/// OpenSM's engines in a study: their tables are matched with the healthy fabric's columns, so that our engine has the same
/// numbers inside OpenSM as outside; if an engine is not available, its rows say so.
#[test]
fn a_study_measures_opensms_engines_and_ours() {
    let Some(plugin) = plugin() else { return };
    let fabric: Fabric = FIGURE_1.parse::<Pgft>().unwrap().fabric(Default::default());
    if let Err(why @ LabError::Missing { .. }) = Sim::start(&fabric) {
        skip(&why.to_string());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    let text = format!(
        "name = \"theirs\"\ndraws = 1\nengines = [\"dmodc\", \"opensm:dmodc\", \"opensm:updn\"]\n\
         patterns = [\"a2a\", \"sp\"]\n[[fabric]]\npgft = \"{FIGURE_1}\"\n\
         [[degradation]]\ncables = [0, 2]\n"
    );
    fs::write(&plan, text).unwrap();
    let study = Study::open(&plan).unwrap();
    let rows = |name: &str, plugin: PathBuf| {
        let path = folder.path().join(name);
        let out = StudyFolder::new(Some(&path), &plan, &study);
        ShardRun { study: &study, folder: &out, shard: Shard::WHOLE, plugin, device: Device::Cpu }
            .run(|_| {})
            .unwrap();
        read_rows(&fs::read_to_string(path.join("theirs.csv")).unwrap(), name).unwrap()
    };
    let with = rows("with", plugin);
    assert_eq!(with.len(), 2 * 3 * 2);
    for (row, ours) in with.iter().zip([0, 1].into_iter().cycle()) {
        assert_eq!((row.get("refused"), row.get("valid")), ("", "true"));
        if row.get("engine") == "opensm:dmodc" && row.get("cables_dead") == "0" {
            for column in ["max", "mean", "median", "bound", "entries_total"] {
                assert_eq!(row.get(column), with[ours].get(column), "{column}");
            }
        }
    }
    let without = rows("without", "/nowhere/libdmodc.so".into());
    for row in without.iter().filter(|row| row.get("engine") != "dmodc") {
        assert!(row.get("refused").contains("/nowhere/libdmodc.so"));
        assert_eq!((row.get("max"), row.get("valid")), ("", ""));
    }
}
