//! Dumps of real machines, where a folder of them is at hand: `DMODC_FABRICS=folder cargo test`.
//!
//! They are not part of this repository. Each file that is there is read, routed and judged; facts are
//! those published with the files.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::path::PathBuf;
use std::process::Command;

use desk::skip;
use serde_json::Value;

/// File; switches, channel adapters, aggregation nodes.
const FACTS: &[(&str, u64, u64, u64)] = &[
    ("selene-compute.ibnetdiscover.txt", 666, 3675, 666),
    ("avakas.ibnetdiscover-sp.txt", 25, 281, 0),
    ("plafrim.ibnetdiscover-sp.txt", 9, 125, 0),
    ("topograph-ndr.ibnetdiscover.txt", 40, 542, 40),
    ("ibdiagnet2.ibnetdiscover", 9, 256, 7),
    ("ibdiagnet2.lst", 9, 256, 7),
    ("ibdiagnet2.db_csv", 9, 256, 7),
    ("x5.ibnetdiscover.txt", 11, 89, 0),
    ("loginoff.ibnetdiscover.txt", 8, 144, 0),
    ("rhino512.subnet.lst", 216, 512, 0),
    ("k4n3.topo", 80, 128, 0),
];

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("DMODC_FABRICS").map(PathBuf::from);
    if folder.is_none() {
        skip("DMODC_FABRICS names no folder of real fabrics");
    }
    folder
}

fn run(args: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_dmodc")).args(args).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

fn json(args: &[&str]) -> Value {
    let (_, text) = run(&[args, &["--json"]].concat());
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{args:?}: {e}\n{text}"))
}

#[test]
fn facts_come_out_and_our_tables_keep_their_promises() {
    let Some(folder) = folder() else { return };
    let desk = tempfile::tempdir().unwrap();
    let lft = desk.path().join("tables.lft").display().to_string();
    for &(name, switches, adapters, aggregation) in FACTS {
        let path = folder.join(name).display().to_string();
        let info = json(&["info", &path]);
        assert_eq!(info["switches"], switches, "{name}");
        assert_eq!(info["channel_adapters"], adapters, "{name}");
        assert_eq!(info["aggregation_nodes"], aggregation, "{name}");
        let (code, _) = run(&["route", &path, "-o", &lft]);
        let check = json(&["check", &path, &lft]);
        // `route` and `check` have the same numbers, and answer no if a pair is lost or cut off.
        assert_eq!(code == 1, check["unroutable_pairs"] != 0, "{name}");
        let routed = json(&["route", &path]);
        for key in ["valid", "pairs", "delivered", "lost", "cut_off", "unroutable_pairs"] {
            assert_eq!(routed[key], check[key], "{name}: {key}");
        }
        for (key, value) in [("loops", 0), ("up_down_violations", 0)] {
            assert_eq!(check[key], value, "{name}");
            assert_eq!(check["everything"][key], value, "{name}");
        }
        assert_eq!(check["everything"]["deadlock_free"], true, "{name}");
    }
}

#[test]
fn shapes_are_found() {
    let Some(folder) = folder() else { return };
    let info = |name: &str| json(&["info", &folder.join(name).display().to_string()]);
    assert_eq!(info("avakas.ibnetdiscover-sp.txt")["pgft"], "2; 18,16; 1,9; 1,2");
    assert_eq!(info("k4n3.topo")["pgft"], "3; 4,4,8; 1,4,4; 1,1,1");
    let selene = info("selene-compute.ibnetdiscover.txt");
    assert_eq!(selene["cables"], 12_852);
    assert_eq!(selene["ranks"][0]["pairs_with_fewer_cables"], 13);
    // One leaf without nodes, below a spine of its own, is a twin of another one with two nodes.
    assert_eq!(selene["switches_per_rank"], serde_json::json!([204, 322, 140]));
    let storage = info("selene-storage.ibnetdiscover.txt");
    assert_eq!(storage["switches_per_rank"], serde_json::json!([64, 64, 32]));
    assert_eq!(storage["empty_leaves"].as_array().unwrap().len(), 4);
    assert_eq!(info("plafrim.ibnetdiscover-sp.txt")["leaves"], 6);
    assert_eq!(info("rhino512.subnet.lst")["leaves"], 96);
    let loginoff = info("loginoff.ibnetdiscover.txt");
    assert_eq!((&loginoff["nodes"], &loginoff["leaves"]), (&145.into(), &6.into()));
    assert_eq!(loginoff["service_switches"].as_array().unwrap().len(), 1);
    assert_eq!(info("x5.ibnetdiscover.txt")["empty_leaves"].as_array().unwrap().len(), 1);
    assert_eq!(info("topograph-ndr.ibnetdiscover.txt")["leaves"], 31);
}

#[test]
fn production_tables_deliver() {
    let Some(folder) = folder() else { return };
    for (name, pairs) in [("avakas", 78_680), ("plafrim", 15_500)] {
        let fabric = folder.join(format!("{name}.ibnetdiscover-sp.txt")).display().to_string();
        let tables = folder.join(format!("{name}.ibroutes.txt")).display().to_string();
        let check = json(&["check", &fabric, &tables]);
        assert_eq!(
            (&check["pairs"], &check["delivered"]),
            (&pairs.into(), &pairs.into()),
            "{name}"
        );
    }
    let [fabric, tables] =
        ["ibdm.subnet.lst", "ibdm.fdbs"].map(|f| folder.join(f).display().to_string());
    assert_eq!(json(&["check", &fabric, &tables])["lost"], 0);
}

/// No dump loses a pair of nodes that cables connect: not with leaves in a chain, and not with service leaves in
/// different planes. All others are ranked from their leaves.
#[test]
fn a_connected_fabric_stays_connected() {
    let Some(folder) = folder() else { return };
    let desk = tempfile::tempdir().unwrap();
    let lft = desk.path().join("tables.lft").display().to_string();
    let odd = [("plafrim.ibnetdiscover-sp.txt", 6_594), ("selene-compute.ibnetdiscover.txt", 36)];
    for (name, unconnected) in odd {
        let path = folder.join(name).display().to_string();
        let route = json(&["route", &path, "-o", &lft]);
        assert_eq!(route["rank_rule"]["from"], "one root");
        assert_eq!(route["rank_rule"]["unconnected_from_leaves"], unconnected);
        let check = json(&["check", &path, &lft]);
        assert_eq!(check["pairs"], check["delivered"], "{name}");
        assert_eq!(json(&["info", &path])["fat_tree"], false, "{name}");
    }
    for &(name, ..) in FACTS {
        let path = folder.join(name).display().to_string();
        let route = json(&["route", &path, "-o", &lft]);
        assert_eq!(route["lost"], 0, "{name}");
        let from = &route["rank_rule"]["from"];
        assert_eq!(from == "leaves", odd.iter().all(|(odd, _)| *odd != name), "{name}: {from}");
    }
}

/// The files of one fabric in three formats are one fabric: the same table for every switch.
#[test]
fn three_formats_of_one_fabric_agree() {
    let Some(folder) = folder() else { return };
    let tables = |name: &str| {
        let path = folder.join(name).display().to_string();
        let (_, text) = run(&["route", &path]);
        let mut tables: Vec<String> = text.split("Unicast lids ").map(str::to_owned).collect();
        tables.sort();
        tables
    };
    let first = tables("ibdiagnet2.ibnetdiscover");
    assert_eq!(first.len(), 9 + 1);
    assert_eq!(tables("ibdiagnet2.lst"), first);
    assert_eq!(tables("ibdiagnet2.db_csv"), first);
}
