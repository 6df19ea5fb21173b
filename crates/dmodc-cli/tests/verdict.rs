//! One verdict: `route`, `check`, `analyze` and `trace` say the same of the same fabric and tables.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::io::Write as _;
use std::process::{Command, Stdio};

use desk::{DMODC, Desk, FIGURE_1, text};
use serde_json::Value;

fn fixture(name: &str) -> String {
    format!("{}/../../fixtures/{name}/fabric.topo", env!("CARGO_MANIFEST_DIR"))
}

/// The numbers that every command has: pairs, delivered, lost, cut off.
fn numbers(report: &Value) -> [u64; 4] {
    let of = |key: &str| report[key].as_u64().unwrap_or_else(|| panic!("{key} in {report:#}"));
    let numbers = ["pairs", "delivered", "lost", "cut_off"].map(of);
    assert_eq!(numbers[0], numbers[1] + numbers[2] + numbers[3]);
    assert_eq!(of("unroutable_pairs"), numbers[2] + numbers[3]);
    numbers
}

impl Desk {
    /// What `check` and `analyze` say of tables, which must be the same, and their exit code.
    #[track_caller]
    fn judged(&self, code: i32, fabric: &str, tables: &str) -> ([u64; 4], Value) {
        let check = self.json(code, &["check", fabric, tables, "--json"]);
        let analyze = ["analyze", fabric, tables, "--patterns", "a2a", "--json"];
        assert_eq!(numbers(&self.json(code, &analyze)), numbers(&check));
        (numbers(&check), check)
    }

    /// The number of pairs of hosts that `trace` does not call delivered, by word.
    fn traced(&self, fabric: &str, tables: &str, hosts: &[&str]) -> [u64; 2] {
        let mut found = [0; 2];
        for from in hosts {
            for to in hosts.iter().filter(|to| to != &from) {
                let output = self.run(&["trace", fabric, tables, from, to, "--json"]);
                let report: Value = serde_json::from_slice(&output.stdout).unwrap();
                let fates: Vec<&str> = report["routes"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|route| route["fate"].as_str().unwrap())
                    .collect();
                assert_eq!(output.status.code(), Some(i32::from(report["delivered"] != true)));
                match () {
                    () if fates.contains(&"cut_off") => found[1] += 1,
                    () if fates.iter().any(|fate| *fate != "delivered") => found[0] += 1,
                    () => {}
                }
            }
        }
        found
    }
}

/// Service nodes on a spine and on a core cannot reach each other; all leaves can.
#[test]
fn service_nodes_that_are_lost_to_each_other_make_route_say_no() {
    let desk = Desk::new();
    let fabric = fixture("service-nodes");
    let route = desk.json(1, &["route", &fabric, "-o", "t.lft", "--json"]);
    assert_eq!(route["valid"], true);
    assert_eq!(numbers(&route), [182, 180, 2, 0]);
    let (judged, check) = desk.judged(1, &fabric, "t.lft");
    assert_eq!(judged, numbers(&route));
    assert_eq!((&check["valid"], &check["sound"]), (&true.into(), &true.into()));
    assert_eq!(desk.traced(&fabric, "t.lft", &["login", "backup"]), [2, 0]);
    // The same without ever holding the tables, and in words.
    let split = desk.json(1, &["route", &fabric, "--split", "folder", "--json"]);
    assert_eq!(numbers(&split), numbers(&route));
    let words = "180 of 182 node pairs delivered, 2 lost";
    let routed = desk.code(1, &["route", &fabric, "-o", "t.lft"]);
    let checked = desk.code(1, &["check", &fabric, "t.lft"]);
    for report in [&routed, &checked] {
        assert!(report.contains(words), "{report}");
        assert!(report.contains("valid: all 12 leaf pairs have an up*down* route\n"), "{report}");
        let last = report.lines().last().unwrap();
        assert!(last.starts_with("hint: ") && last.contains("--roots FILE"), "{report}");
    }
    assert!(checked.contains("\nverdict: sound, but not every pair is delivered\n"), "{checked}");
}

/// Tables that were made with the levels of a whole fabric deliver more than the levels of what is left would. The orders explain it.
#[test]
fn tables_of_other_levels_are_explained() {
    let desk = Desk::new();
    let pods = ["--pods", "3", "--leaves", "4", "--nodes", "3", "--lower", "2", "--upper", "4"];
    let pods = [&pods[..], &["--cores", "2", "--reach", "2", "-o", "whole.topo"]].concat();
    desk.ok(&[&["generate", "pods"], &pods[..]].concat());
    desk.ok(&["degrade", "whole.topo", "--cables", "15%", "--seed", "824", "-o", "now.topo"]);
    let stable = ["route", "now.topo", "--engine", "stable", "--save-orders", "orders"];
    let route = desk.json(0, &[&stable[..], &["-o", "t.lft", "--json"]].concat());
    let hint =
        "\nhint: these tables deliver pairs that have no up*down* route by the levels found here";
    let without = desk.ok(&["check", "now.topo", "t.lft"]);
    assert!(without.contains("\nINVALID: ") && without.contains(hint), "{without}");
    let with = desk.ok(&["check", "now.topo", "t.lft", "--orders", "orders"]);
    assert!(with.contains("\nvalid: ") && !with.contains("\nhint: "), "{with}");
    let check = desk.json(0, &["check", "now.topo", "t.lft", "--orders", "orders", "--json"]);
    assert_eq!(numbers(&check), numbers(&route));
}

/// What the hint says helps.
#[test]
fn one_root_connects_service_nodes_as_the_hint_says() {
    let desk = Desk::new();
    let fabric = fixture("service-nodes");
    desk.write("roots", "0x0200d0dc0100000c\n");
    let roots = ["--roots", "roots"];
    let route = desk.json(0, &[&["route", &fabric, "-o", "t.lft", "--json"], &roots[..]].concat());
    assert_eq!(numbers(&route), [182, 182, 0, 0]);
}

#[test]
fn an_island_is_cut_off_and_not_lost() {
    let desk = Desk::new();
    let fabric = fixture("island");
    let route = desk.json(1, &["route", &fabric, "-o", "t.lft", "--json"]);
    assert_eq!((numbers(&route), &route["valid"]), ([20, 12, 0, 8], &false.into()));
    assert_eq!(desk.judged(1, &fabric, "t.lft").0, numbers(&route));
    assert_eq!(desk.traced(&fabric, "t.lft", &["n0", "n1", "castaway"]), [0, 4]);
    let report = desk.code(1, &["check", &fabric, "t.lft"]);
    assert!(report.contains("12 of 20 node pairs delivered, 8 cut off"), "{report}");
    assert!(report.contains("is cut off\n") && !report.contains("is lost\n"), "{report}");
    let last = report.lines().last().unwrap();
    assert!(
        last.starts_with("hint: no working cables connect the pairs that are cut off"),
        "{report}"
    );
    assert!(!last.contains("--"), "no option helps: {last}");
}

/// One table gives LID 3 to three nodes: a damaged file, which every command reads alike.
#[test]
fn a_lid_that_a_table_repeats_is_reported_and_all_numbers_agree() {
    let desk = Desk::new();
    let fabric = fixture("clean");
    desk.ok(&["route", &fabric, "-o", "t.lft"]);
    let whole = desk.read("t.lft");
    let hosts = ["n0", "n1", "n2", "n3"];
    assert_eq!(desk.judged(0, &fabric, "t.lft").0, [12, 12, 0, 0]);
    // The first table is of leaf-0, which n0 and n1 are on. The lines of two other nodes get the LID of a third.
    let lines: Vec<&str> = whole.lines().collect();
    let node =
        |name: &str| lines.iter().position(|line| line.contains(&format!("'{name} "))).unwrap();
    let lid = &lines[node("n2")][..6];
    for damaged in [["n0", "n1"], ["n0", "n3"], ["n1", "n3"]] {
        let mut damage: Vec<String> = lines.iter().map(ToString::to_string).collect();
        for name in damaged {
            damage[node(name)].replace_range(..6, lid);
        }
        desk.write("d.lft", &damage.join("\n"));
        let ([pairs, delivered, lost, cut_off], check) = desk.judged(1, &fabric, "d.lft");
        assert_eq!((pairs, delivered + lost, cut_off), (12, 12, 0));
        assert_eq!(desk.traced(&fabric, "d.lft", &hosts), [lost, 0]);
        assert_eq!((&check["sound"], &check["valid"]), (&true.into(), &true.into()));
        // Only what passes leaf-0 is lost: n2, whose LID it is, stays.
        let to_n2 = desk.traced(&fabric, "d.lft", &["n0", "n2"]);
        assert_eq!(to_n2[0], u64::from(damaged.contains(&"n0")), "{damaged:?}");
        let told = text(&desk.run(&["check", &fabric, "d.lft"]).stderr);
        let line = 1 + node("n2").max(node(damaged[1]));
        assert!(told.contains("LID 3 already") && told.contains(&line.to_string()), "{told}");
    }
}

/// A spine died since: what the fabric does not have any more is reported, and `analyze` goes on as `check` does.
#[test]
fn tables_of_an_earlier_state_are_judged_by_all_commands() {
    let desk = Desk::new();
    desk.figure_1();
    let spine = desk.read("f.topo");
    let guid = spine.lines().find(|line| line.contains("\"L3-0\"")).unwrap();
    let guid = &guid[guid.find("S-").unwrap() + 2..][..16];
    desk.ok(&["degrade", "f.topo", "--remove", &format!("0x{guid}"), "-o", "g.topo"]);
    let ([_, _, lost, cut_off], _) = desk.judged(1, "g.topo", "f.lft");
    assert!(lost > 0 && cut_off == 0);
    let analyze = desk.json(1, &["analyze", "g.topo", "f.lft", "--patterns", "a2a", "--json"]);
    assert_eq!(analyze["unmatched"][0]["unknown_switches"], 1);
    for command in [&["check", "g.topo", "f.lft"][..], &["analyze", "g.topo", "f.lft"]] {
        let report = desk.code(1, command);
        assert!(
            report.contains("f.lft: tables of 1 switch that the fabric does not have"),
            "{report}"
        );
        let last = report.lines().last().unwrap();
        assert!(
            last.contains("another state of the fabric; new tables from 'dmodc route'"),
            "{report}"
        );
    }
    // Tables of quite another fabric answer nothing.
    desk.write("other.topo", &desk.read("f.topo").replace("2d0dc0", "2d0dd0"));
    for command in ["check", "analyze"] {
        let error = desk.error(&[command, "other.topo", "f.lft"]);
        assert!(error.contains("these tables belong to another fabric"), "{error}");
    }
}

/// Healthy fabrics raise no alarm.
#[test]
fn what_is_usual_is_said_calmly_and_once() {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", FIGURE_1, "-o", "f.topo"]);
    let report = desk.ok(&["route", "f.topo", "-o", "f.lft"]);
    assert!(!report.contains("without") && !report.contains("hint"), "{report}");
    let calm = "have no route, but no node pair needs them (--connect-roots fills those between switches)\n";
    assert_eq!(report.matches("no route").count(), 1, "{report}");
    assert!(report.ends_with(calm), "{report}");
    let unset = desk.json(0, &["route", "f.topo", "--json"])["empty_entries"].clone();
    assert_eq!((&unset["nodes"], &unset["other_nodes"]), (&0.into(), &0.into()));
    assert!(unset["switches"].as_u64().unwrap() > 0);
    let report = desk.ok(&["route", "f.topo", "-o", "f.lft", "--connect-roots"]);
    assert!(!report.contains("no route"), "{report}");
}

#[test]
fn one_stream_gives_one_input() {
    let desk = Desk::new();
    desk.figure_1();
    let fabric = desk.read("f.topo");
    for args in [
        &["check", "-", "-"][..],
        &["check", "-", "f.lft", "-", "--union"],
        &["analyze", "-", "-"],
        &["analyze", "-", "f.lft", "--nodes", "-"],
        &["trace", "-", "-", "node-0", "node-1"],
        &["diff", "-", "-", "f.lft"],
        &["diff", "f.topo", "-", "-"],
        &["plan", "-", "f.lft", "-"],
        &["route", "-", "--reference", "-", "--engine", "stable"],
        &["route", "-", "--orders", "-"],
        &["check", "-", "f.lft", "--roots", "-"],
    ] {
        let mut child = Command::new(DMODC)
            .args(args)
            .current_dir(desk.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Whoever does not read it may have gone.
        let _ = child.stdin.take().unwrap().write_all(fabric.as_bytes());
        let output = child.wait_with_output().unwrap();
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
        assert!(error.contains("only one input can be '-' (standard input)"), "{args:?}: {error}");
    }
}

/// `diff` takes the orders that `route` took.
#[test]
fn diff_takes_orders() {
    let desk = Desk::new();
    desk.figure_1();
    desk.ok(&["route", "f.topo", "-o", "g.lft", "--save-orders", "f.orders"]);
    let report =
        desk.json(0, &["diff", "f.topo", "g.lft", "g.lft", "--orders", "f.orders", "--json"]);
    assert_eq!((&report["entries"], &report["forced_entries"]), (&0.into(), &0.into()));
    desk.error(&["diff", "f.topo", "g.lft", "g.lft", "--orders", "no-such-file"]);
}
