//! Runs without OpenSM, with everything that goes wrong with files over the years: slow disks, pipes, damage, copies from
//! other managers.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc::channel;

use dmodc::{Degradation, Fabric, Guid, SwitchIndex};
use serde_json::Value;

use super::super::*;
use super::{FakeOpensm, pgft};

const TREE: &str = "2; 2,4; 1,2; 1,1";
const LONG: Duration = Duration::from_secs(120);

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

/// Returns the same fabric with other GUIDs, as if it were another subnet.
fn elsewhere(fabric: &Fabric) -> Fabric {
    let other = |guid: Guid| Guid(guid.0 ^ 0xff00_0000_0000);
    let switches: Vec<Guid> = fabric.switches().iter().map(|s| other(s.guid)).collect();
    let adapters: Vec<Guid> = fabric.adapters().iter().map(|a| other(a.guid)).collect();
    let nodes: Vec<Guid> = fabric.nodes().iter().map(|n| other(n.guid)).collect();
    fabric.with_guids(&switches, &adapters, &nodes)
}

/// Returns the fabric without one switch.
fn part(fabric: &Fabric, dead: usize) -> Fabric {
    let mut mask = Degradation::none(fabric);
    mask.set_switch(SwitchIndex::new(dead), true);
    fabric.without(&mask)
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).expect("it is there")
}

/// Returns an order file in which the nodes of this fabric are reversed, as a plain list.
fn reversed(fabric: &Fabric) -> String {
    let nodes = fabric.nodes().iter().rev().map(|node| node.guid);
    let all = nodes.chain(fabric.switches().iter().map(|switch| switch.guid));
    all.map(|guid| format!("{guid}\n")).collect()
}

#[test]
fn a_slow_disk_does_not_hold_up_a_run() {
    let mut opensm = FakeOpensm::new("event_file = 'HERE/events'");
    let (open, closed) = channel::<()>();
    let closed = Mutex::new(closed);
    let disk: SyncFile = Arc::new(move |file: &File| {
        let _ = closed.lock().expect("it is not poisoned").recv();
        file.sync_all()
    });
    let mut plugin = Plugin::with_disk(opensm.config_path(), opensm.logger(), disk);
    let whole = pgft(TREE);
    // The disk hangs, so no file can be written before the run is over; the run must end all the same.
    for fabric in [&whole, &part(&whole, 0), &whole] {
        opensm.run_alone(&mut plugin, fabric).expect("it is routed");
        assert_eq!(opensm.tables.len(), fabric.switches().len());
        assert!(!opensm.path("dmodc.orders").exists() && !opensm.path("status").exists());
    }
    drop(open);
    plugin.end();
    assert!(plugin.state_writer.flush(LONG) && plugin.report_writer.flush(LONG));
    assert!(opensm.path("dmodc.orders").exists());
    let status = opensm.status();
    assert_eq!((&status["runs"], &status["state"]["pending"]), (&3.into(), &0.into()));
    assert!(status["state"]["last_write_ms"].is_f64(), "{status}");
    assert_eq!(text(&opensm.path("events")).lines().count(), 3);
}

#[test]
fn special_files_are_neither_read_nor_replaced() {
    let mut opensm = FakeOpensm::new("metrics_file = '/dev/null'");
    fifo(&opensm.path("dmodc.orders"));
    fifo(&opensm.path("status"));
    let mut plugin = opensm.plugin();
    opensm.run(&mut plugin, &pgft(TREE)).expect("it is routed anyway");
    assert!(opensm.logged("dmodc.orders: this is a pipe").is_some(), "{:?}", opensm.lines());
    assert!(opensm.logged("status: the file was not written: this is a pipe").is_some());
    assert!(opensm.logged("/dev/null: the file was not written: this is a device").is_some());
    // This is logged once; when the pipe is gone, the file is written.
    opensm.run(&mut plugin, &pgft(TREE)).expect("routed");
    assert_eq!(opensm.logged("this is a pipe"), None, "{:?}", opensm.lines());
    for name in ["dmodc.orders", "status"] {
        fs::remove_file(opensm.path(name)).expect("it is there");
    }
    opensm.run(&mut plugin, &pgft(TREE)).expect("routed");
    assert!(opensm.path("dmodc.orders").is_file());
    let status = opensm.status();
    assert_eq!(status["state"]["not_read"], Value::Null);
    assert_eq!(status["reports"]["errors"].as_array().map(Vec::len), Some(1), "{status}");
}

#[test]
fn huge_and_half_written_orders_are_put_aside() {
    for is_huge in [true, false] {
        let mut opensm = FakeOpensm::new("");
        let path = opensm.path("dmodc.orders");
        match is_huge {
            true => File::create(&path).and_then(|file| file.set_len(3 << 30)),
            false => fs::write(&path, "# dmodc orders 2\n0x0000000000000007 swi"),
        }
        .expect("it can be written");
        opensm.run(&mut opensm.plugin(), &pgft(TREE)).expect("it gets new numbers");
        assert!(opensm.logged("the file was renamed to").is_some(), "{:?}", opensm.lines());
        assert!(opensm.path("dmodc.unreadable").exists());
        assert!(text(&path).contains(" switch "));
    }
}

#[test]
fn state_that_is_late_is_not_replaced_and_used_later() {
    let whole = pgft(TREE);
    let mut opensm = FakeOpensm::new("");
    let path = opensm.path("dmodc.orders");
    fs::write(&path, reversed(&whole)).expect("it can be written");
    opensm.run(&mut opensm.plugin(), &whole).expect("routed");
    let (by_file, wanted) = (opensm.tables.clone(), text(&path));
    let (open, closed) = channel::<()>();
    let closed = Mutex::new(closed);
    let mut plugin = opensm.plugin();
    plugin.patience = Patience { first: LONG, later: Duration::from_millis(20), is_later: true };
    plugin.look_into_state = Arc::new(move |query| {
        let _ = closed.lock().expect("it is not poisoned").recv();
        state_folder::look(query)
    });
    // Reading the configuration may also take longer than these few milliseconds.
    for _ in 0..50 {
        if plugin.read_configuration(&opensm).is_ok() {
            break;
        }
    }
    for _ in 0..2 {
        opensm.run(&mut plugin, &whole).expect("it gets new numbers");
        assert_ne!(opensm.tables, by_file);
        assert_eq!(text(&path), wanted, "the file stays");
        let why = opensm.status()["state"]["not_read"].to_string();
        assert!(why.contains("the file system did not answer"), "{why}");
    }
    drop(open);
    plugin.patience.later = LONG;
    opensm.run(&mut plugin, &whole).expect("routed");
    assert_eq!(opensm.tables, by_file);
    assert!(opensm.logged("can be read now").is_some(), "{:?}", opensm.lines());
    assert_eq!((text(&path), &opensm.status()["state"]["not_read"]), (wanted, &Value::Null));
}

#[test]
fn a_newer_copy_is_used_and_a_vanished_one_written_again() {
    let whole = pgft(TREE);
    let mut opensm = FakeOpensm::new("");
    let mut plugin = opensm.plugin();
    let path = opensm.path("dmodc.orders");
    opensm.run(&mut plugin, &whole).expect("routed");
    let (first, saved) = (opensm.tables.clone(), text(&path));
    opensm.run(&mut plugin, &whole).expect("routed");
    assert_eq!(opensm.status()["last"]["incremental"], true);
    fs::write(&path, reversed(&whole)).expect("it can be written");
    opensm.run(&mut plugin, &whole).expect("routed");
    assert!(opensm.logged("was changed by another program").is_some(), "{:?}", opensm.lines());
    assert_ne!(opensm.tables, first);
    assert_eq!(opensm.status()["last"]["incremental"], false);
    fs::write(&path, &saved).expect("it can be written");
    opensm.run(&mut plugin, &whole).expect("routed");
    assert_eq!(opensm.tables, first, "and back");
    fs::remove_file(&path).expect("it is there");
    opensm.run(&mut plugin, &whole).expect("routed");
    assert!(opensm.logged("was removed; it is written again").is_some());
    assert_eq!((&opensm.tables, text(&path)), (&first, saved));
    opensm.run(&mut plugin, &whole).expect("routed");
    assert_eq!(opensm.status()["last"]["incremental"], true);
    assert!(
        opensm.lines().iter().all(|(level, _)| *level != LogLevel::Error),
        "{:?}",
        opensm.lines()
    );
}

#[test]
fn two_subnets_keep_their_state_apart() {
    let here = pgft(TREE);
    let there = elsewhere(&here);
    let mut opensm = FakeOpensm::new("event_file = 'HERE/events-%g'");
    let mut first = opensm.plugin();
    opensm.run(&mut first, &here).expect("routed");
    let saved = text(&opensm.path("dmodc.orders"));
    let mut second = opensm.plugin();
    opensm.options.port = Guid(0xab);
    let own = opensm.path("0x00000000000000ab");
    for _ in 0..2 {
        opensm.run(&mut second, &there).expect("routed");
        assert_eq!(opensm.status()["state"]["folder"], own.display().to_string());
        // A restart finds its own folder.
        second = opensm.plugin();
    }
    assert!(own.join("dmodc.orders").is_file());
    assert_eq!(text(&opensm.path("dmodc.orders")), saved);
    assert!(opensm.path("events-0x00000000000000ab").is_file());
    // A manager of the other subnet, of an earlier version, overwrites the file in the configured folder.
    opensm.options.port = Guid(0x77);
    fs::copy(own.join("dmodc.orders"), opensm.path("dmodc.orders")).expect("it can be written");
    opensm.run(&mut first, &here).expect("routed");
    assert!(opensm.logged("belongs to another subnet").is_some(), "{:?}", opensm.lines());
    assert_eq!(text(&opensm.path("0x0000000000000077/dmodc.orders")), saved);
    assert_ne!(text(&opensm.path("dmodc.orders")), saved);
}

#[test]
fn new_numbers_are_requested_with_a_file() {
    let whole = pgft(TREE);
    for config in ["", "reference = 'learn'"] {
        let mut opensm = FakeOpensm::new(config);
        let (path, request) = (opensm.path("dmodc.orders"), opensm.path("renumber"));
        opensm.run(&mut opensm.plugin(), &whole).expect("routed");
        let (fresh, saved) = (opensm.tables.clone(), text(&path));
        fs::write(&path, reversed(&whole)).expect("it can be written");
        let mut plugin = opensm.plugin();
        opensm.run(&mut plugin, &whole).expect("routed");
        assert_ne!(opensm.tables, fresh);
        fs::write(&request, "").expect("it can be written");
        opensm.run(&mut plugin, &whole).expect("routed");
        assert!(opensm.logged("new numbers as requested").is_some(), "{:?}", opensm.lines());
        assert_eq!((&opensm.tables, text(&path)), (&fresh, saved));
        assert!(!request.exists());
        assert_eq!(opensm.path("reference.json").exists(), !config.is_empty());
        opensm.run(&mut plugin, &whole).expect("routed");
        assert_eq!(opensm.logged("new numbers"), None);
        assert_eq!(opensm.status()["last"]["incremental"], true);
    }
}

#[test]
fn a_bad_configuration_keeps_the_last_good_one() {
    let whole = pgft(TREE);
    let mut opensm = FakeOpensm::new("event_file = 'HERE/events'");
    let path = opensm.path("dmodc.conf");
    let good = text(&path);
    let mut plugin = opensm.plugin();
    opensm.run(&mut plugin, &whole).expect("routed");
    for bad in ["thread = 3", "leaf_name = 'no switch is called that'"] {
        fs::write(&path, format!("{good}\n{bad}\n")).expect("it can be written");
        opensm.run(&mut plugin, &whole).expect("with the last good configuration");
        assert!(opensm.logged("the last correct configuration stays in use").is_some());
        assert!(opensm.status()["config_error"].is_string() && opensm.status()["ok"] == true);
        opensm.run(&mut plugin, &whole).expect("again");
        assert_eq!(opensm.logged("stays in use"), None, "it is logged once");
        assert!(opensm.plugin().run(&mut opensm).is_err(), "at the start there is no other");
        fs::write(&path, &good).expect("it can be written");
        opensm.run(&mut plugin, &whole).expect("routed");
        assert_eq!(opensm.status()["config_error"], Value::Null);
    }
    let events = text(&opensm.path("events"));
    assert_eq!(events.matches("\"configuration-error\"").count(), 2, "{events}");
}

#[test]
fn a_leaf_rule_that_misses_the_leaves_is_called_out() {
    let whole = pgft("2; 4,6; 1,3; 1,1");
    let spine = whole.switches().last().expect("a spine").name.clone();
    let mut opensm = FakeOpensm::new(&format!("leaf_name = '^{}'", &spine[..spine.len() - 1]));
    opensm.run(&mut opensm.plugin(), &whole).expect("routed");
    let (level, line) = opensm.logged("LEAF RULE").expect("it is called out");
    assert_eq!(level, LogLevel::Error);
    assert!(line.contains("no leaf has nodes; all 24 nodes"), "{line}");
    let lost = opensm.status()["verdict"]["lost"].as_u64().expect("a number");
    assert!(lost > 0 && opensm.logged("NOT ALL DELIVERED").is_some(), "{:?}", opensm.lines());
    let start = format!("LOST: {lost} of 552 node pairs");
    assert!(
        opensm
            .lines()
            .iter()
            .any(|(level, line)| *level == LogLevel::Error && line.starts_with(&start))
    );
    assert!(
        opensm.status()["warnings"][0].as_str().is_some_and(|words| words.contains("LEAF RULE"))
    );
}

#[test]
fn options_of_opensm_are_used_or_named() {
    let whole = pgft("2; 4,6; 1,3; 1,1");
    let mut opensm = FakeOpensm::new("");
    let roots = opensm.path("roots");
    let spines = whole.switches()[6..].iter().map(|s| format!("{}\n", s.guid));
    fs::write(&roots, spines.collect::<String>()).expect("it can be written");
    opensm.options.roots = Some(roots.clone());
    opensm.options.ignored = vec!["scatter_ports".into()];
    let mut plugin = opensm.plugin();
    opensm.run(&mut plugin, &whole).expect("routed");
    assert!(opensm.logged("that dmodc uses: root_guid_file").is_some(), "{:?}", opensm.lines());
    assert!(opensm.logged("no effect with dmodc: scatter_ports").is_some());
    opensm.run(&mut plugin, &whole).expect("routed");
    assert_eq!(opensm.logged("scatter_ports"), None, "it is logged once");
    fs::write(&roots, "0x123456\n").expect("it can be written");
    opensm.run(&mut plugin, &whole).expect("roots of another fabric are not used");
    assert!(
        opensm.logged("root_guid_file of OpenSM is not used").is_some(),
        "{:?}",
        opensm.lines()
    );
}

#[test]
fn unfinished_files_of_dead_processes_go() {
    let mut opensm = FakeOpensm::new("");
    let dead = format!(".dmodc-{}-{}-1-3.tmp", host_name(), std::process::id());
    fs::write(opensm.path(&dead), "").expect("it can be written");
    fs::write(opensm.path(".dmodc-mine"), "").expect("it can be written");
    opensm.run(&mut opensm.plugin(), &pgft(TREE)).expect("routed");
    assert!(!opensm.path(&dead).exists() && opensm.path(".dmodc-mine").exists());
}

fn host_name() -> String {
    let name = text(Path::new("/proc/sys/kernel/hostname"));
    name.trim().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '.').collect()
}

/// Ports without a LID are neither destinations nor counted.
#[test]
fn ports_without_a_lid_are_left_out() {
    let whole = super::drawn(&[2, 2, 0], &[(0, 2), (1, 2)]);
    let mut opensm = FakeOpensm::new("");
    let mut plugin = opensm.plugin();
    opensm.run(&mut plugin, &whole).expect("routed");
    assert_eq!(opensm.status()["verdict"]["pairs"], 12);
    let without = super::drawn_from(&[2, 2, 0], &[(0, 2), (1, 2)], 0);
    opensm.run(&mut plugin, &without).expect("routed");
    assert_eq!(opensm.status()["verdict"]["pairs"], 6);
    assert!(opensm.tables.values().all(|row| row[0] == dmodc::NO_ROUTE));
    assert!(opensm.logged("1 port has no LID").is_some());
}
