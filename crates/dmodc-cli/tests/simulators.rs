//! `dmodc convert` with formats of simulators, run as people run it. What SimGrid makes of its platforms is in `simgrid`.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use desk::{Desk, text};

/// A fat tree that CODES can build: 128 nodes, 80 switches.
const OF_CODES: &str = "3; 4,4,8; 1,4,4; 1,1,1";

#[test]
fn formats_with_routes_need_tables_and_others_refuse_them() {
    let desk = Desk::new();
    desk.figure_1();
    desk.write("pairs", "node-0 node-1\n");
    for format in ["simgrid", "codes", "loggopsim"] {
        let error = desk.error(&["convert", "f.topo", "--format", format]);
        assert!(error.contains("needs forwarding tables"), "{error}");
    }
    let error = desk.error(&["convert", "f.topo", "f.lft", "--format", "dot"]);
    assert!(error.contains("cannot hold tables"), "{error}");
    for (tables, format) in [(Some("f.lft"), "loggopsim"), (None, "json")] {
        let args = [&["convert", "f.topo"], tables.as_slice(), &["--pairs", "pairs"]].concat();
        let error = desk.error(&[&args[..], &["--format", format]].concat());
        assert!(error.contains("only --format simgrid lists routes by pair"), "{error}");
    }
    let error = desk.error(&["convert", "f.topo", "f.lft", "--format", "codes"]);
    assert!(error.contains("f.topo: CODES cannot build this fabric"), "{error}");
    assert!(desk.code(2, &["generate", "pgft", "1; 2; 1; 1", "--format", "simgrid"]).is_empty());
}

#[test]
fn pairs_choose_the_routes_of_a_platform() {
    let desk = Desk::new();
    desk.figure_1();
    desk.write("pairs", "node-0 node-1\nnode-0 node-11 # far\n");
    let args = ["convert", "f.topo", "f.lft", "--format", "simgrid"];
    let all = desk.ok(&args);
    let some = desk.ok(&[&args[..], &["--pairs", "pairs"]].concat());
    assert_eq!((all.matches("<route ").count(), all.matches("<host ").count()), (12 * 11, 12));
    assert_eq!((some.matches("<route ").count(), some.matches("<host ").count()), (2, 3));
    desk.write("pairs", "node-0 node-1\nnode-0 nobody\n");
    let error = desk.error(&[&args[..], &["--pairs", "pairs"]].concat());
    assert!(error.contains("pairs:2:") && error.contains("nobody"), "{error}");
}

#[test]
fn too_many_pairs_are_refused() {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", "2; 33,32; 1,2; 1,1", "-o", "f.topo"]);
    desk.ok(&["route", "f.topo", "-o", "f.lft"]);
    let args = ["convert", "f.topo", "f.lft", "--format", "simgrid", "-o", "p.xml"];
    let error = desk.error(&args);
    assert!(error.contains("1,056 nodes would have 1,114,080 routes"), "{error}");
    assert!(error.contains("--pairs FILE"), "{error}");
    desk.write("pairs", "node-0 node-1055\n");
    desk.ok(&[&args[..], &["--pairs", "pairs"]].concat());
}

#[test]
fn pairs_without_a_route_are_counted() {
    let desk = Desk::new();
    desk.figure_1();
    desk.ok(&["degrade", "f.topo", "--cables", "8", "--seed", "3", "-o", "g.topo"]);
    let check = desk.json(1, &["check", "g.topo", "f.lft", "--json"]);
    let count = |key: &str| check[key].as_u64().unwrap();
    let lost = count("pairs") - count("delivered");
    for format in ["simgrid", "loggopsim"] {
        let args = ["convert", "g.topo", "f.lft", "--format", format, "-o", "out", "--json"];
        let output = desk.run(&args);
        let summary: serde_json::Value = serde_json::from_str(&text(&output.stdout)).unwrap();
        assert_eq!(summary["left_out_pairs"], lost, "{format}");
        assert_eq!(summary["routes"], check["delivered"], "{format}");
        let line = format!("dmodc: {lost} pairs of nodes have no route and are left out");
        assert!(text(&output.stderr).contains(&line), "{}", text(&output.stderr));
    }
}

/// Tables of a damaged fabric are those of the whole one without the failed parts.
#[test]
fn codes_gets_a_table_for_each_switch() {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", OF_CODES, "-o", "f.topo"]);
    desk.ok(&["degrade", "f.topo", "--cables", "5%", "--switches", "1", "-o", "g.topo"]);
    desk.ok(&["route", "g.topo", "-o", "g.lft"]);
    let args = ["convert", "f.topo", "g.lft", "--format", "codes"];
    let error = desk.error(&args);
    assert!(error.contains("name a new folder with --output FOLDER"), "{error}");
    desk.ok(&[&args[..], &["-o", "tables"]].concat());
    // One for each of 32 leaves, 32 switches of the middle and 16 of the top, and two more files.
    assert_eq!(std::fs::read_dir(desk.path("tables")).unwrap().count(), 80 + 2);
    for (level, first, count) in [(1, 0, 32), (2, 32, 32), (3, 64, 16)] {
        for id in first..first + count {
            let table = desk.read(&format!("tables/0x{level:08x}{id:08x}.lft"));
            assert_eq!(table.lines().count(), 128, "CODES wants an entry for every terminal");
            assert!(table.starts_with("0x0000004000000000 "), "{table}");
        }
    }
    assert!(desk.read("tables/fattree.conf").contains("routing_folder=\"tables\";"));
    assert!(desk.read("tables/terminals").starts_with("0 0x"));
    let again = desk.error(&[&args[..], &["-o", "tables"]].concat());
    assert!(again.contains("not empty"), "{again}");
}
