//! Small fabrics of every kind of dirt and irregularity: what `info` and `route` make of each.
//!
//! A fixture is a folder: `drawing.txt` shows the fabric and says what is special, `fabric.*` is the
//! file, `info.json` the expected facts and `tables.lft` the expected tables. After a deliberate change
//! `DMODC_BLESS=1 cargo test -p dmodc-cli --test fixtures` writes the expectations anew; read the
//! difference before committing it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn run(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_dmodc")).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The file of a fixture that holds its fabric.
fn fabric(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut found = entries.filter(|p| p.file_stem().is_some_and(|stem| stem == "fabric"));
    found.next().expect("a fixture has a fabric").display().to_string()
}

fn expect(path: &Path, found: &str) {
    if std::env::var_os("DMODC_BLESS").is_some() {
        fs::write(path, found).unwrap();
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    assert!(expected == found, "{}: found\n{found}", path.display());
}

#[test]
fn every_fixture_is_read_and_routed_as_expected() {
    let mut count = 0;
    for entry in fs::read_dir(fixtures()).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        count += 1;
        let file = fabric(&folder);
        let (code, info, _) = run(&["info", &file, "--json"]);
        assert_eq!(code, 0, "{file}");
        expect(&folder.join("info.json"), &info);
        let (_, tables, _) = run(&["route", &file]);
        expect(&folder.join("tables.lft"), &tables);
        assert!(
            fs::read_to_string(folder.join("drawing.txt")).unwrap().lines().count() > 2,
            "{file}"
        );

        // Our own tables are free of loops, turns and deadlocks, whatever the fabric.
        let saved = folder.join("tables.lft").display().to_string();
        let (_, check, _) = run(&["check", &file, &saved, "--json"]);
        let check: Value = serde_json::from_str(&check).unwrap();
        assert_eq!(check["loops"], 0, "{file}");
        assert_eq!(check["up_down_violations"], 0, "{file}");
        assert_eq!(check["deadlock_free"], true, "{file}");

        // Dirt is an error where strictness is asked for, and nothing else is.
        let info: Value = serde_json::from_str(&info).unwrap();
        let dirty = !info["dirt"].as_object().unwrap().is_empty();
        let (code, _, error) = run(&["info", &file, "--strict"]);
        assert_eq!(code, if dirty { 2 } else { 0 }, "{file}: {error}");
    }
    assert!(count >= 30, "{count} fixtures");
}

/// The clean fabric in every format is one fabric: the same routes by GUID and port.
#[test]
fn all_formats_of_one_fabric_give_the_same_routes() {
    let tables = |name: &str| {
        let (code, tables, _) = run(&["route", &fabric(&fixtures().join(name))]);
        assert_eq!(code, 0, "{name}");
        let mut tables: Vec<String> = tables
            .split("Unicast lids ")
            .map(|t| {
                // Switches stand in the order of the file, and LIDs of the same devices may differ.
                let mut lines: Vec<String> = t.lines().map(str::to_owned).collect();
                lines.sort();
                lines.join("\n")
            })
            .collect();
        tables.sort();
        tables
    };
    let clean = tables("clean");
    for name in [
        "carriage-returns",
        "byte-order-mark",
        "lost-tabs",
        "pasted-from-a-terminal",
        "described-twice",
        "self-loop",
        "back-to-back",
        "diff",
        "paths",
        "ibdiagnet-dialect",
        "port-list",
        "subnet-list",
        "subnet-list-of-adapters",
        "subnet-list-once",
        "db-csv",
    ] {
        let mut found = tables(name);
        if name == "back-to-back" {
            // It has one more switch, which has no cables.
            found.retain(|table| !table.contains("('lonely')"));
            for table in &mut found {
                let lines: Vec<&str> = table.lines().filter(|l| !l.contains("'lonely'")).collect();
                *table = lines.join("\n");
            }
        }
        assert_eq!(found.len(), clean.len(), "{name}");
        for (a, b) in found.iter().zip(&clean) {
            let rows = |t: &str| {
                t.lines().filter(|l| l.starts_with("0x")).map(str::to_owned).collect::<Vec<_>>()
            };
            assert_eq!(rows(a), rows(b), "{name}");
        }
    }
}

/// Whatever is read can be written in our formats and read again without loss.
#[test]
fn every_fixture_survives_conversion() {
    let desk = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(fixtures()).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let file = fabric(&folder);
        let (_, expected, _) = run(&["route", &file]);
        for format in ["json", "ibnetdiscover", "ibsim"] {
            let out = desk.path().join(format).display().to_string();
            let (code, _, error) = run(&["convert", &file, "--format", format, "-o", &out]);
            assert_eq!(code, 0, "{file}: {error}");
            let (_, tables, _) = run(&["route", &out, "--strict"]);
            let sorted = |text: &str| {
                let mut tables: Vec<String> =
                    text.split("Unicast lids ").map(str::to_owned).collect();
                tables.sort();
                tables
            };
            assert_eq!(sorted(&tables), sorted(&expected), "{file} as {format}");
        }
        for format in ["dot", "graphml", "slurm-conf", "slurm-yaml"] {
            let (code, text, _) = run(&["convert", &file, "--format", format]);
            assert_eq!(code, 0, "{file} as {format}");
            assert!(!text.is_empty());
        }
    }
}

/// Dmodk, which knows no costs, agrees with Dmodc wherever a fixture is a PGFT: with several LIDs for a
/// node, aggregation nodes, and service nodes on spines and cores, too.
#[test]
fn dmodk_agrees_on_every_fixture_that_is_a_pgft() {
    let mut compared = 0;
    for entry in fs::read_dir(fixtures()).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let file = fabric(&folder);
        let (code, dmodk, _) = run(&["route", &file, "--engine", "dmodk"]);
        if code != 2 {
            compared += 1;
            assert!(dmodk == run(&["route", &file]).1, "{file}");
        }
    }
    assert!(compared >= 15, "{compared}");
}
