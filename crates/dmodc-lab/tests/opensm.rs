//! The plugin inside a real OpenSM, on simulated fabrics. If a program is not installed, the test is skipped and says so;
//! `scripts/test` installs all of them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::print_stdout, reason = "a failed test shows its figures")]

mod support;

use std::fs;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use dmodc::{
    Degradation, DestinationOrder, Fabric, Joined, LeafRule, Live, Routing, RoutingOptions, Stable,
    SwitchIndex, SwitchOrder,
};
use dmodc_formats::lft::Lft;
use dmodc_lab::{LabError, Opensm, OpensmEventKind, Setup, Sim, now, tables_of};

use support::{DIRECTOR, FIGURE_1, ONE, THREE_LEVELS, fabric, plugin, sim, skip};

/// An independent judge (`ibdmchk`), and the path of a packet hop by hop.
#[test]
fn other_tools_find_all_paths_and_no_credit_loops() {
    let _one = ONE.lock();
    let Some(plugin) = plugin() else { return };
    let paths = ["/usr/bin/ibdmchk", "/usr/sbin/ibdmchk"];
    let has_ibdmchk = paths.iter().any(|path| fs::exists(path).unwrap());
    if !has_ibdmchk {
        skip("not installed: ibdmchk; on Debian: apt-get install ibutils");
    }
    for tuple in [FIGURE_1, DIRECTOR, THREE_LEVELS] {
        let fabric = fabric(tuple);
        let Some(sim) = sim(&fabric) else { return };
        let since = now();
        let mut opensm = Opensm::start(&sim, &Setup::new("dmodc", &plugin)).unwrap();
        opensm.settle(since, 120).unwrap();
        assert!(opensm.log().contains("dmodc tables configured on all switches"));
        let (a, b) = (fabric.nodes().first().unwrap().lid.0, fabric.nodes().last().unwrap().lid.0);
        let traced = sim.client("ibtracert", &[&a.to_string(), &b.to_string()]).unwrap();
        assert!(traced.lines().count() >= 3, "{traced}");
        let file = |name: &str| opensm.folder().join(name).display().to_string();
        if !has_ibdmchk {
            continue;
        }
        // It may crash after a good report, so the report counts.
        let output = std::process::Command::new("ibdmchk")
            .args(["-s", &file("opensm-subnet.lst"), "-f", &file("opensm.fdbs")])
            .args(["-m", &file("opensm.mcfdbs")])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let nodes = fabric.nodes().len();
        assert!(
            said.contains(&format!("Scanned:{} CA to CA paths", nodes * (nodes - 1))),
            "{said}"
        );
        assert!(said.contains("no credit loops found"), "{said}");
        assert!(!said.contains("-E-"), "{said}");
    }
}

/// Starts OpenSM with something wrong, and minhop as its fallback: it goes on, and its log says why.
fn falls_back(config: &str, change: impl FnOnce(Vec<u8>) -> Vec<u8>, because: &str) {
    falls_back_on(&fabric(FIGURE_1), config, change, because);
}

fn falls_back_on(
    fabric: &Fabric,
    config: &str,
    change: impl FnOnce(Vec<u8>) -> Vec<u8>,
    because: &str,
) {
    let Some(plugin) = plugin() else { return };
    let Some(sim) = sim(fabric) else { return };
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("libdmodc.so");
    fs::write(&copy, change(fs::read(&plugin).unwrap())).unwrap();
    let setup = Setup { fallback: Some("minhop"), config, ..Setup::new("dmodc", &copy) };
    let opensm = Opensm::start(&sim, &setup).unwrap();
    let start = Instant::now();
    while !opensm.log().contains("minhop tables configured on all switches") {
        assert!(start.elapsed() < Duration::from_secs(60), "{}", opensm.log());
        sleep(Duration::from_millis(50));
    }
    assert!(opensm.log().contains(because), "{}", opensm.log());
    // The tables are minhop's, entry by entry: nothing of ours is left in them.
    sleep(Duration::from_millis(500));
    let held = sim.tables(fabric).unwrap();
    let healthy = Degradation::none(fabric);
    let minhop = tables_of(Live::new(fabric, &healthy), "minhop", &plugin, 60).unwrap().lft;
    let both = Lft::tables(&[&held, &minhop], fabric).unwrap();
    assert!(both[0].routed() > 0);
    assert!(both[0] == both[1], "{} entries differ", both[0].differing(&both[1]));
}

#[test]
fn a_panic_is_not_the_end_of_opensm() {
    let _one = ONE.lock();
    falls_back(
        "panic = true",
        |plugin| plugin,
        "internal error, please report it: the configuration asks for a panic",
    );
}

/// Pods that are left with different planes: OpenSM's next engine connects them.
#[test]
fn lost_leaf_pairs_are_the_next_engines_if_asked() {
    let _one = ONE.lock();
    let whole = fabric("3; 2,2,3; 1,2,2; 1,1,1");
    let mut dead = Degradation::none(&whole);
    for spine in [6, 9] {
        dead.set_switch(SwitchIndex::new(spine), true);
    }
    let config = "on_lost = \"next-engine\"";
    falls_back_on(&whole.without(&dead), config, |plugin| plugin, "LOST: 8 of 30 leaf pairs");
}

#[test]
fn a_corrupted_configuration_is_reported_with_its_line() {
    let _one = ONE.lock();
    falls_back("threads = \"\\u{0}", |plugin| plugin, "dmodc.conf:4: ");
    falls_back("thread = 1", |plugin| plugin, "dmodc.conf:4: unknown field `thread`");
    // OpenSM's log has room for lines of 4096 bytes, and does not check.
    let long = format!("{} = 1", "a".repeat(6000));
    falls_back(&long, |plugin| plugin, "dmodc.conf:4: unknown field `aaa");
}

#[test]
fn another_version_is_not_loaded() {
    let _one = ONE.lock();
    let other = |mut plugin: Vec<u8>| {
        let at = plugin.windows(8).position(|bytes| bytes == b"OpenSM 3").unwrap();
        plugin[at + 7] = b'9';
        plugin
    };
    falls_back("", other, "OpenSM version mismatch");
}

/// 200 re-routes, most of them after a fault or a repair: memory stays.
#[test]
fn nothing_leaks() {
    let _one = ONE.lock();
    let Some(plugin) = plugin() else { return };
    let fabric = fabric(FIGURE_1);
    let Some(mut sim) = sim(&fabric) else { return };
    let since = now();
    let mut opensm = Opensm::start(&sim, &Setup::new("dmodc", &plugin)).unwrap();
    opensm.settle(since, 60).unwrap();
    let runs = |opensm: &Opensm| {
        let is_run =
            |kind: &OpensmEventKind| matches!(kind, OpensmEventKind::Stage { is_tables: true, .. });
        opensm.events().iter().filter(|event| is_run(&event.kind)).count()
    };
    let (mut early, mut dead) = (0, false);
    let mut done = runs(&opensm);
    for _ in 0..200 {
        dead = !dead;
        let mut wanted = Degradation::none(&fabric);
        wanted.set_cable(dmodc::CableIndex::new(5), dead);
        sim.degrade(&wanted).unwrap();
        // Traps that come too fast are not listened to.
        opensm.resweep();
        let start = Instant::now();
        while runs(&opensm) == done {
            if start.elapsed() > Duration::from_secs(2) {
                opensm.resweep();
                sleep(Duration::from_millis(200));
            }
            sleep(Duration::from_millis(2));
            assert!(start.elapsed() < Duration::from_secs(60));
        }
        done = runs(&opensm);
        if done >= 50 && early == 0 {
            early = opensm.memory().unwrap();
        }
        if done > 200 {
            break;
        }
    }
    assert!(done >= 200, "{done} runs");
    let late = opensm.memory().unwrap();
    println!("{early} bytes after 50 runs, {late} after {done}");
    assert!(late < early + (2 << 20), "{early} bytes after 50 runs, {late} after {done}");
}

/// Killed without warning and started again, it gives the same tables: orders and LIDs are on the disk.
#[test]
fn a_killed_opensm_comes_back_with_the_same_tables() {
    let _one = ONE.lock();
    let Some(plugin) = plugin() else { return };
    let fabric = fabric(DIRECTOR);
    let Some(mut sim) = sim(&fabric) else { return };
    let setup = Setup::new("dmodc", &plugin);
    let mut tables = Vec::new();
    for _ in 0..2 {
        let since = now();
        let mut opensm = Opensm::start(&sim, &setup).unwrap();
        opensm.settle(since, 60).unwrap();
        tables.push(sim.client("dump_fts", &[]).unwrap());
        // A fault, so that what is saved is older than what is there.
        let mut wanted = Degradation::none(&fabric);
        wanted.set_cable(dmodc::CableIndex::new(7), true);
        let since = now();
        sim.degrade(&wanted).unwrap();
        opensm.settle(since, 60).unwrap();
        let since = now();
        sim.degrade(&Degradation::none(&fabric)).unwrap();
        opensm.settle(since, 60).unwrap();
        drop(opensm);
    }
    assert_eq!(tables[0], tables[1]);
    let status = fs::read_to_string(sim.folder().join("opensm/status.json")).unwrap();
    assert!(
        status.contains("\"ok\": true") && status.contains("\"incremental\": true"),
        "{status}"
    );
    let metrics = fs::read_to_string(sim.folder().join("opensm/dmodc.prom")).unwrap();
    assert!(metrics.contains("\ndmodc_incremental_runs_total 2\n"), "{metrics}");
}

/// Whether the switches hold what `dmodc route --engine stable` gives by the learned reference and the saved
/// orders for what `ibnetdiscover` finds.
fn as_by_the_learned(sim: &Sim, opensm: &Opensm) -> bool {
    let read = |name: &str| fs::read(opensm.folder().join(name)).unwrap();
    let reference = dmodc_formats::read(&read("reference.json")).unwrap().fabric;
    let saved = dmodc_formats::orders::read(&read("dmodc.orders")).unwrap();
    let options = RoutingOptions {
        destinations: DestinationOrder::Saved(saved.clone()),
        switches: SwitchOrder::Saved(saved.clone()),
        ..RoutingOptions::default()
    };
    let mut orders = Routing::orders_of(&reference, &options);
    orders.keep_absent(&saved);
    let joined = Joined::new(&reference, &sim.discover().unwrap()).unwrap();
    joined.hand_over(&mut orders);
    let routing = joined.routing(LeafRule::Detect, &orders);
    let engine = Stable { reference: Arc::new(joined.reference(&routing)) };
    let (ours, _) = routing.route(Live::new(&joined.fabric, &joined.now), &engine).unwrap();
    let held = sim.tables(&joined.fabric).unwrap();
    assert!(held.unknown_switches.is_empty() && held.unknown_destinations.is_empty());
    held.with_columns(routing.columns(), &joined.fabric).unwrap() == ours
}

/// A reference is learned, and outlives faults and a restart in the midst of them; a repair brings back the
/// first tables.
#[test]
fn a_learned_reference_brings_the_tables_back() {
    let _one = ONE.lock();
    let Some(plugin) = plugin() else { return };
    let fabric = fabric(THREE_LEVELS);
    let Some(mut sim) = sim(&fabric) else { return };
    let setup = Setup { config: "reference = \"learn\"", ..Setup::new("dmodc", &plugin) };
    let status = |opensm: &Opensm| -> serde_json::Value {
        let text = fs::read(opensm.folder().join("status.json")).unwrap();
        serde_json::from_slice::<serde_json::Value>(&text).unwrap()["last"].clone()
    };
    let mut since = now();
    let mut opensm = Opensm::start(&sim, &setup).unwrap();
    opensm.settle(since, 120).unwrap();
    let first = sim.client("dump_fts", &[]).unwrap();
    let learned = fs::read(opensm.folder().join("reference.json")).unwrap();
    assert_eq!(status(&opensm)["engine"], "stable");
    let mut faults = Degradation::none(&fabric);
    for c in [40, 300, 700, 1500] {
        faults.set_cable(dmodc::CableIndex::new(c), true);
    }
    faults.set_switch(dmodc::SwitchIndex::new(200), true);
    for restarts in [false, true] {
        since = now();
        if restarts {
            drop(opensm);
            opensm = Opensm::start(&sim, &setup).unwrap();
        } else {
            sim.degrade(&faults).unwrap();
        }
        opensm.settle(since, 120).unwrap();
        let last = status(&opensm);
        assert_eq!(last["incremental"], !restarts, "{last}");
        assert_eq!(last["reference"]["missing"]["switches"], 1, "{last}");
        assert!(as_by_the_learned(&sim, &opensm));
    }
    since = now();
    sim.degrade(&Degradation::none(&fabric)).unwrap();
    opensm.settle(since, 120).unwrap();
    assert_eq!(sim.client("dump_fts", &[]).unwrap(), first, "after full repair, the first tables");
    assert_eq!(status(&opensm)["reference"]["missing"]["switches"], 0);
    assert_eq!(fs::read(opensm.folder().join("reference.json")).unwrap(), learned);
    let metrics = fs::read_to_string(opensm.folder().join("dmodc.prom")).unwrap();
    assert!(metrics.contains("\ndmodc_reference_used 1\n"), "{metrics}");
}

/// The tables of OpenSM's own engines come back whole, and an engine that refuses is reported.
#[test]
fn engines_of_opensm_give_their_tables() {
    let _one = ONE.lock();
    let Some(plugin) = plugin() else { return };
    let director = fabric(DIRECTOR);
    if sim(&fabric(FIGURE_1)).is_none() {
        return;
    }
    let healthy = Degradation::none(&director);
    let live = Live::new(&director, &healthy);
    for engine in ["minhop", "updn", "ftree"] {
        let computed = tables_of(live, engine, &plugin, 120).unwrap();
        assert!(computed.lft.missing_switches.is_empty());
        assert!(computed.matrices_ms > 0.0 && computed.tables_ms > 0.0);
    }
    match tables_of(live, "torus-2QoS", &plugin, 60) {
        Err(LabError::OtherEngine { engine, log }) => {
            assert_eq!(engine, "torus-2QoS");
            assert!(!log.contains("No routing engine able"), "it says why: {log}");
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a tree is no torus"),
    }
}

/// Hop tables, from which OpenSM makes multicast trees, are the same whoever computes them.
#[test]
fn hop_tables_are_opensms_own() {
    let _one = ONE.lock();
    let Some(plugin) = plugin() else { return };
    let whole = fabric(DIRECTOR);
    let mut mask = Degradation::none(&whole);
    for c in [3, 50, 51, 52, 200] {
        mask.set_cable(dmodc::CableIndex::new(c), true);
    }
    for fabric in [fabric(FIGURE_1), whole.without(&mask)] {
        let mut dumps = Vec::new();
        for config in ["", "hop_tables = \"opensm\""] {
            let Some(sim) = sim(&fabric) else { return };
            let setup = Setup { config, ..Setup::new("dmodc", &plugin) };
            let since = now();
            let mut opensm = Opensm::start(&sim, &setup).unwrap();
            opensm.settle(since, 60).unwrap();
            let dump = fs::read_to_string(opensm.folder().join("opensm-lid-matrix.dump")).unwrap();
            assert!(dump.lines().count() > fabric.switches().len());
            let multicast = fs::read_to_string(opensm.folder().join("opensm.mcfdbs")).unwrap();
            dumps.push((dump, multicast));
        }
        assert_eq!(dumps[0], dumps[1]);
    }
}
