//! `dmodc compare`: the fabric as cabled against the intended one.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::path::Path;

use desk::{Desk, text};
use serde_json::Value;

fn fixture(name: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    fixtures.join(name).display().to_string()
}

/// Runs `dmodc compare --json`, and returns the exit code and the result.
fn compare(desk: &Desk, args: &[&str]) -> (i32, Value) {
    let output = desk.run(&[&["compare", "--json"], args].concat());
    let json = text(&output.stdout);
    (output.status.code().unwrap(), serde_json::from_str(&json).unwrap_or(Value::Null))
}

fn length(value: &Value) -> usize {
    value.as_array().unwrap().len()
}

#[test]
fn the_intended_fabric_has_many_formats() {
    let desk = Desk::new();
    let present = fixture("recabled/fabric.topo");
    for intended in [
        "recabled/intended.csv",
        "recabled/intended.ibdm",
        "clean/fabric.topo",
        "db-csv/fabric.db_csv",
        "subnet-list/fabric.lst",
        "port-list/fabric.ports",
    ] {
        let (code, found) = compare(&desk, &[&present, "--with", &fixture(intended)]);
        assert_eq!(code, 1, "{intended}");
        assert_eq!(length(&found["swaps"]), 1, "{intended}: {found}");
        for empty in ["missing", "extra", "moves", "unmatched"] {
            assert_eq!(length(&found[empty]), 0, "{intended}: {found}");
        }
        assert_eq!((&found["exact"], &found["replugs"]), (&true.into(), &1.into()), "{intended}");
        assert!(found["present"]["cut_off"].as_u64() > Some(0), "{intended}");
        assert_eq!(found["steps"][0]["cut_off"], 0, "{intended}");
        // The clean fabric is as intended.
        let clean = fixture("clean/fabric.topo");
        let (code, found) = compare(&desk, &[&clean, "--with", &fixture(intended)]);
        assert_eq!((code, &found["equal"]), (0, &true.into()), "{intended}: {found}");
    }
}

#[test]
fn people_and_spreadsheets_read_the_same_steps() {
    let desk = Desk::new();
    let (present, intended) = (fixture("recabled/fabric.topo"), fixture("clean/fabric.topo"));
    let output = desk.run(&["compare", &present, "--with", &intended, "--csv", "steps.csv"]);
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output.stdout);
    assert!(shown.contains("1 re-plug: 1 swap (no repair has fewer)"), "{shown}");
    assert!(shown.contains("verdict: DIFFERENT"), "{shown}");
    let csv = desk.read("steps.csv");
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 2, "{csv}");
    assert!(
        rows[0].starts_with("step,action,device_a,") && rows[1].starts_with("1,swap,"),
        "{csv}"
    );
    let columns = |row: &str| row.split(',').count();
    assert_eq!(columns(rows[0]), columns(rows[1]), "{csv}");
    let output =
        desk.run(&["compare", &present, "--with", &intended, "--csv", "-", "--judge", "0"]);
    let rows = text(&output.stdout);
    assert_eq!(rows.lines().map(columns).collect::<Vec<_>>(), [12, 12], "{rows}");
}

#[test]
fn missing_and_extra_cables_are_named() {
    let desk = Desk::new();
    desk.run(&["generate", "preset", "paper-figure-1", "-o", "f.topo"]);
    desk.run(&["degrade", "f.topo", "--cables", "2", "--seed", "3", "-o", "g.topo"]);
    let (code, found) = compare(&desk, &["g.topo", "--with", "f.topo"]);
    assert_eq!((code, length(&found["missing"]), length(&found["extra"])), (1, 2, 0), "{found}");
    let (code, found) = compare(&desk, &["f.topo", "--with", "g.topo"]);
    assert_eq!((code, length(&found["missing"]), length(&found["extra"])), (1, 0, 2), "{found}");
}

#[test]
fn the_regular_shape_shows_exchanged_cables() {
    let desk = Desk::new();
    let generate = ["generate", "pgft", "2; 8,12; 1,8; 1,1", "-o"];
    desk.run(&[&generate[..], &["f.topo"]].concat());
    desk.run(&[&generate[..], &["g.topo", "--departures", "recabled=2"]].concat());
    assert_eq!(compare(&desk, &["f.topo"]).0, 0);
    let (code, found) = compare(&desk, &["g.topo"]);
    assert_eq!((code, length(&found["swaps"])), (1, 2), "{found}");
    assert_eq!((&found["inferred"], &found["intended"]), (&true.into(), &Value::Null));
}

#[test]
fn bad_input_is_refused_by_name() {
    let desk = Desk::new();
    let fabric = fixture("clean/fabric.topo");
    for (name, content, expected) in [
        ("chassis.topo", "SX6536 big CFG: leaf1=R\n", "chassis.topo:1:17: 'big' is a chassis"),
        (
            "ports.topo",
            "SW leaf-0\n  L1/P3 -> SW spine-0 P1\n",
            "ports.topo:2:3: 'L1/P3' of 'leaf-0'",
        ),
        (
            "twice.csv",
            "switch_a,port_a,switch_b,port_b\nleaf-0,1,n0,1\n0x0200d0dc01000001,1,n1,1\n",
            "twice.csv:3:1: port 1 of 'leaf-0' is in two cables, in line 2 and in line 3",
        ),
        (
            "ports.csv",
            "switch_a,port_a,switch_b,port_b\nleaf-0,x,n0,1\n",
            "ports.csv:2:8: expected a port",
        ),
        ("other.csv", "switch_a,port_a,switch_b,port_b\na,1,b,1\n", "no switch of the fabric"),
        ("columns.csv", "from,to\nleaf-0,n0\n", "switch_a,port_a,switch_b,port_b"),
        ("empty.csv", "switch_a,port_a,switch_b,port_b\n", "lists no cable"),
    ] {
        desk.write(name, content);
        let output = desk.run(&["compare", &fabric, "--with", name]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {error}");
        assert!(error.contains(expected), "{name}: {error}");
    }
    let output = desk.run(&["compare", "-", "--with", "-"]);
    assert_eq!(output.status.code(), Some(2));
    // Without --with, a fabric needs a shape.
    desk.write("one.csv", "");
    let output = desk.run(&["compare", &fabric, "--with", "one.csv"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}

#[test]
fn a_fabric_without_a_shape_needs_a_plan() {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", "1; 8; 1; 1", "-o", "one.topo"]);
    for (fabric, why) in [
        ("one.topo", "no cable joins two switches"),
        (
            &fixture("recabled/fabric.topo"),
            "0 of 4 cables between switches belong to switches that resemble others",
        ),
    ] {
        let error = desk.error(&["compare", fabric]);
        assert!(error.contains("too irregular to compare it with a regular shape"), "{error}");
        assert!(error.contains(why) && error.contains("--with"), "{error}");
    }
}

#[test]
fn what_no_shape_has_is_doubtful() {
    let desk = Desk::new();
    for (fabric, kind, line) in [
        ("equal-ranks", "same_rank", "joins two switches of one rank, as few others do"),
        ("island", "no_uplink", "'island' is a leaf without any cable upwards"),
        ("self-loop", "self_loop", "joins a switch to itself"),
    ] {
        let fabric = fixture(&format!("{fabric}/fabric.topo"));
        let shown = desk.code(1, &["compare", &fabric]);
        assert!(shown.contains(line) && shown.ends_with("verdict: DOUBTFUL\n"), "{shown}");
        let (code, found) = compare(&desk, &[&fabric]);
        assert_eq!((code, &found["equal"], &found["replugs"]), (1, &false.into(), &0.into()));
        assert_eq!(found["doubtful"][0]["kind"], kind);
        // With itself as the plan, nothing is doubtful.
        let (code, found) = compare(&desk, &[&fabric, "--with", &fabric]);
        assert_eq!((code, length(&found["doubtful"])), (0, 0), "{found}");
    }
}

#[test]
fn steps_at_absent_devices_name_the_present_end_and_show_the_gain() {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", "2; 4,6; 1,4; 1,1", "-o", "f.topo"]);
    desk.ok(&["degrade", "f.topo", "--remove", "L2-3", "-o", "g.topo"]);
    let shown = desk.code(1, &["compare", "g.topo", "--with", "f.topo"]);
    assert!(!shown.contains("\n  L2-3"), "steps stand below present switches: {shown}");
    assert!(shown.contains("to 'L2-3' port 1 (not in the fabric); then "), "{shown}");
    let (_, found) = compare(&desk, &["g.topo", "--with", "f.topo"]);
    let whole = desk.json(1, &["compare", "f.topo", "--with", "g.topo", "--json"]);
    assert_eq!(found["after"]["a2a"], whole["present"]["a2a"]);
    assert!(found["after"]["a2a"].as_u64() < found["present"]["a2a"].as_u64());
    for step in found["steps"].as_array().unwrap() {
        let in_fabric = |at: usize| &step["ends"][at]["in_fabric"];
        assert_eq!((in_fabric(0), in_fabric(1)), (&true.into(), &false.into()), "{step}");
    }
    // To take the spine out again is possible, but it harms.
    assert_eq!((&found["harmful"], &whole["harmful"]), (&false.into(), &true.into()));
    let shown = desk.code(1, &["compare", "f.topo", "--with", "g.topo", "--judge", "1"]);
    assert!(shown.contains("after all steps: ") && shown.contains("WARNING: "), "{shown}");
}

/// Where much is dead, the rest shows another shape, and its cables must not be moved.
#[test]
fn advice_that_harms_comes_with_a_warning() {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", "2; 8,12; 1,8; 1,1", "-o", "f.topo"]);
    let degrade = ["degrade", "f.topo", "--cables", "40%", "--seed", "2", "-o", "g.topo"];
    desk.ok(&degrade);
    let (_, found) = compare(&desk, &["g.topo"]);
    let delivered = |key: &str| found[key]["delivered"].as_u64().unwrap();
    assert!(delivered("after") < delivered("present") && found["harmful"] == true, "{found}");
    let shown = desk.code(1, &["compare", "g.topo"]);
    assert!(shown.contains("WARNING: the steps raise the risk; do not follow them"), "{shown}");
    // The plan shows what is really missing.
    let (_, found) = compare(&desk, &["g.topo", "--with", "f.topo"]);
    assert_eq!((&found["harmful"], length(&found["moves"])), (&false.into(), 0), "{found}");
}
