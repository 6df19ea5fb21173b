//! The plugin's files match their schemas in `docs/src/reference/schemas`, and every key of a schema occurs.

use std::fs;
use std::os::fd::AsRawFd;
use std::sync::Mutex;
use std::sync::mpsc::channel;

use dmodc::{Degradation, Fabric, Guid, SwitchIndex};
use serde_json::Value;

use super::super::*;
use super::validator::{self, Schemas};
use super::{FakeOpensm, pgft};

/// Keys that do not occur here, by file and by the end of their place, with the reason.
const EXCEPTIONS: [(&str, &str, &str); 2] = [
    (
        "opensm-1.json",
        "/reports/properties/writing",
        "the writer that reports this is writing the status file itself, which does not count",
    ),
    ("opensm-1.json", "/reports/properties/writing_ms", "likewise"),
];

/// The files that are tested here.
const FILES: [&str; 3] = ["opensm-1.json", "opensm-event-1.json", "fabric-1.json"];

const CONFIG: &str = "event_file = 'HERE/events'\nreference = 'learn'";

#[track_caller]
fn check(schemas: &mut Schemas, document: &Value) {
    let errors = schemas.check(document);
    assert!(errors.is_empty(), "{}\n{document:#}", errors.join("\n"));
}

/// Runs on a fabric, and checks the status file.
#[track_caller]
fn run(
    schemas: &mut Schemas,
    opensm: &mut FakeOpensm,
    plugin: &mut Plugin,
    fabric: &Fabric,
) -> Result<(), String> {
    let outcome = opensm.run(plugin, fabric);
    check(schemas, &opensm.status());
    outcome
}

fn without_switches(fabric: &Fabric, dead: &[usize]) -> Fabric {
    let mut mask = Degradation::none(fabric);
    for &at in dead {
        mask.set_switch(SwitchIndex::new(at), true);
    }
    fabric.without(&mask)
}

/// Returns the same fabric, in which one switch has another GUID.
fn with_another_switch(fabric: &Fabric, at: usize) -> Fabric {
    let mut switches: Vec<Guid> = fabric.switches().iter().map(|s| s.guid).collect();
    switches[at] = Guid(0xabc);
    let adapters: Vec<Guid> = fabric.adapters().iter().map(|a| a.guid).collect();
    let nodes: Vec<Guid> = fabric.nodes().iter().map(|n| n.guid).collect();
    fabric.with_guids(&switches, &adapters, &nodes)
}

#[test]
fn the_plugins_files_match_their_schemas() {
    let mut schemas = Schemas::read(&validator::folder(env!("CARGO_MANIFEST_DIR")));
    let whole = pgft("2; 2,4; 1,2; 1,1");
    changing_fabric(&mut schemas, &whole);
    trouble(&mut schemas);
    missing_reference(&mut schemas, &whole);
    hanging_disk(&mut schemas, &whole);
    let is_excused = |(file, place): &(String, String)| {
        EXCEPTIONS.iter().any(|of| file == of.0 && place.ends_with(of.1))
    };
    let untested = schemas.untested(|name| FILES.contains(&name));
    let untested: Vec<String> = untested
        .iter()
        .filter(|(place, _)| !is_excused(place))
        .map(|((file, place), why)| format!("{file}#{place}: {why}"))
        .collect();
    assert!(untested.is_empty(), "{}", untested.join("\n"));
}

/// Switches die, come back and are replaced.
fn changing_fabric(schemas: &mut Schemas, whole: &Fabric) {
    let mut opensm = FakeOpensm::new(CONFIG);
    let mut plugin = opensm.plugin();
    let (leaf, spine) = (0, whole.switches().len() - 1);
    let larger = pgft("2; 2,5; 1,2; 1,1");
    let fabrics = [
        whole.clone(),
        without_switches(whole, &[leaf]),
        whole.clone(),
        without_switches(whole, &[spine]),
        with_another_switch(whole, spine),
        larger,
    ];
    for fabric in &fabrics {
        run(schemas, &mut opensm, &mut plugin, fabric).expect("it is routed");
    }
    // The balance is measured after the run, and the status file is then written again.
    let mut status = opensm.status();
    for _ in 0..600 {
        if status["numbers"].is_object() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
        status = opensm.status();
    }
    check(schemas, &status);
    let snapshot = fs::read(opensm.path("reference.json")).expect("it was learned");
    check(schemas, &serde_json::from_slice(&snapshot).expect("it is JSON"));
    check_events(schemas, &opensm);
}

/// Pairs are lost, the configuration is wrong, and files can be neither read nor written.
fn trouble(schemas: &mut Schemas) {
    let more = "on_lost = 'next-engine'\nmetrics_file = '/dev/null'";
    let mut opensm = FakeOpensm::new(&format!("{CONFIG}\n{more}"));
    fs::create_dir(opensm.path("dmodc.orders")).expect("a folder in its place");
    let whole = pgft("3; 2,2,3; 1,2,2; 1,1,1");
    let torn = without_switches(&whole, &[6, 9]);
    let mut plugin = opensm.plugin();
    run(schemas, &mut opensm, &mut plugin, &torn).expect_err("the next engine takes over");
    run(schemas, &mut opensm, &mut plugin, &whole).expect("it is routed");
    assert!(opensm.status()["state"]["not_read"].is_string());
    let path = opensm.path("dmodc.conf");
    let good = fs::read_to_string(&path).expect("it is there");
    fs::write(&path, format!("{good}\nthread = 3\n")).expect("it can be written");
    run(schemas, &mut opensm, &mut plugin, &whole).expect("with the last good configuration");
    check_events(schemas, &opensm);
}

/// A reference that is not there.
fn missing_reference(schemas: &mut Schemas, whole: &Fabric) {
    let mut opensm = FakeOpensm::new("reference = 'HERE/whole.json'");
    let mut plugin = opensm.plugin();
    run(schemas, &mut opensm, &mut plugin, whole).expect("it is routed without");
    assert!(opensm.status()["last"]["reference"]["refused"].is_string());
}

/// The disk hangs while state is written, but not the disk of the reports.
fn hanging_disk(schemas: &mut Schemas, whole: &Fabric) {
    let mut opensm = FakeOpensm::new("");
    fs::create_dir(opensm.path("reports")).expect("a folder");
    let config = opensm.path("dmodc.conf");
    let text =
        fs::read_to_string(&config).expect("it is there").replace("/status", "/reports/status");
    fs::write(&config, text).expect("it can be written");
    let (open, closed) = channel::<()>();
    let closed = Mutex::new(closed);
    let disk: SyncFile = Arc::new(move |file: &File| {
        let path = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        if !path.to_string_lossy().contains("/reports") {
            let _ = closed.lock().expect("it is not poisoned").recv();
        }
        file.sync_all()
    });
    let mut plugin = Plugin::with_disk(opensm.config_path(), opensm.logger(), disk);
    opensm.run_alone(&mut plugin, whole).expect("it is routed");
    let end = Instant::now() + Duration::from_secs(120);
    while plugin.state_writer.facts().busy.is_none() {
        assert!(Instant::now() < end, "state is written");
        std::thread::sleep(Duration::from_millis(10));
    }
    opensm.run_alone(&mut plugin, whole).expect("it is routed");
    assert!(plugin.report_writer.flush(Duration::from_secs(120)));
    let text = fs::read(opensm.path("reports/status")).expect("it is there");
    let status: Value = serde_json::from_slice(&text).expect("it is JSON");
    assert!(status["state"]["writing"].is_string(), "{status:#}");
    check(schemas, &status);
    drop(open);
}

/// Checks every line of the event file.
fn check_events(schemas: &mut Schemas, opensm: &FakeOpensm) {
    let text = fs::read_to_string(opensm.path("events")).expect("it is there");
    for line in text.lines() {
        check(schemas, &serde_json::from_str(line).expect("it is JSON"));
    }
}
