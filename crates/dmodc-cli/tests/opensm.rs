//! OpenSM's own engines, as the program offers them: `route --engine opensm:NAME` and `opensm lab`, on fabrics as
//! people have them. What is not installed is said, and its test skipped; `scripts/test` installs it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use desk::{DMODC, Desk, skip, text};
use dmodc::fabric::Live;
use dmodc::{Degradation, Pgft};
use dmodc_lab::{LabError, check_plugin, tables_of};
use serde_json::Value;

/// The fat-tree engines whose tables must deliver whatever cables connect, on any graph.
const COMPLETE: [&str; 3] = ["minhop", "sssp", "dfsssp"];

/// One OpenSM at a time: two cores are not many.
static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn plugin() -> PathBuf {
    Path::new(DMODC).with_file_name("libdmodc.so")
}

/// Whether OpenSM with our plugin and the simulator are here.
fn is_ready() -> bool {
    let fabric = "1; 2; 1; 1".parse::<Pgft>().unwrap().fabric(Default::default());
    let healthy = Degradation::none(&fabric);
    match tables_of(Live::new(&fabric, &healthy), "minhop", &plugin(), 60) {
        Err(
            why @ (LabError::Missing { .. } | LabError::NoPlugin(_) | LabError::EmptyPlugin(_)),
        ) => {
            skip(&why.to_string());
            false
        }
        other => other.map(|_| true).unwrap(),
    }
}

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name);
    folder.join("fabric.topo").canonicalize().unwrap().display().to_string()
}

/// What an engine's tables do, as `route` says it, if the engine gives any; or else the line that says why not.
fn route(desk: &Desk, fabric: &str, engine: &str) -> Result<Value, String> {
    let engine = format!("opensm:{engine}");
    let output = desk.run(&["route", fabric, "--engine", &engine, "-o", "x.lft", "--json"]);
    let error = text(&output.stderr);
    match output.status.code() {
        Some(2) => Err(error),
        code => {
            let summary: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
            let complete = summary["delivered"] == summary["pairs"];
            assert_eq!(code, Some(if complete { 0 } else { 1 }), "{fabric} {engine}: {summary}");
            Ok(summary)
        }
    }
}

/// What `check` says of the tables that `route` wrote: the same.
fn is_checked(desk: &Desk, fabric: &str, summary: &Value) {
    let output = desk.run(&["check", fabric, "x.lft", "--json"]);
    let check: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    for key in ["pairs", "delivered", "lost", "cut_off"] {
        assert_eq!(check[key], summary[key], "{fabric} {key}");
    }
}

/// Adapters whose port GUIDs are not "node GUID + port", which is what the simulator makes of them.
#[test]
fn engines_of_opensm_route_fabrics_with_any_guids() {
    let _one = ONE.lock();
    if !is_ready() {
        return;
    }
    let (desk, fabric) = (Desk::new(), fixture("port-guids"));
    for engine in ["minhop", "updn", "sssp", "dfsssp", "dmodc"] {
        let summary = route(&desk, &fabric, engine).unwrap();
        assert_eq!((&summary["lost"], &summary["cut_off"]), (&0.into(), &0.into()), "{summary}");
        assert_eq!((&summary["pairs"], &summary["delivered"]), (&42.into(), &42.into()));
        assert_eq!(summary["unseen_switches"], 0, "{summary}");
        is_checked(&desk, &fabric, &summary);
    }
    // Our engine inside OpenSM gives what it gives outside, entry by entry: the order of GUIDs is kept, and so are LIDs.
    let inside = desk.read("x.lft");
    desk.ok(&["route", &fabric, "-o", "y.lft"]);
    assert_eq!(inside, desk.read("y.lft"));
    // The lab holds what it reads back against an offline run.
    let lab = desk.json(0, &["opensm", "lab", &fabric, "--faults", "demo", "--json"]);
    assert_eq!(lab["runs"][0]["events"].as_array().unwrap().len(), 1 + 7, "{lab}");
}

/// OpenSM routes the part of a fabric that it sits in; the rest is lost, and reported.
#[test]
fn what_opensm_does_not_see_is_reported() {
    let _one = ONE.lock();
    if !is_ready() {
        return;
    }
    let (desk, fabric) = (Desk::new(), fixture("two-parts"));
    for engine in ["minhop", "updn", "dfsssp"] {
        let summary = route(&desk, &fabric, engine).unwrap();
        // Four nodes on each of two leaves are seen; three on the third are not, and lose their 6 pairs.
        let numbers = ["pairs", "delivered", "lost", "cut_off", "unseen_switches"];
        let found = numbers.map(|key| summary[key].as_u64().unwrap());
        assert_eq!(found, [110, 56, 6, 48, 1], "{engine}");
        is_checked(&desk, &fabric, &summary);
    }
    let args = ["route", &fabric, "--engine", "opensm:minhop", "-o", "x.lft"];
    let said = desk.code(1, &args);
    assert!(said.contains("1 switch of other parts got no tables"), "{said}");
}

/// A study compares OpenSM's engines on files, too, where they deliver.
#[test]
fn studies_take_opensms_engines_on_files() {
    let _one = ONE.lock();
    if !is_ready() {
        return;
    }
    let desk = Desk::new();
    let files: Vec<String> = ["port-guids", "two-parts"].map(fixture).into();
    let plan = format!(
        "name = \"files\"\ndraws = 1\nengines = [\"dmodc\", \"opensm:minhop\"]\npatterns = [\"a2a\"]\n\
         [[fabric]]\nname = \"one part\"\nfile = {:?}\n[[fabric]]\nname = \"two parts\"\nfile = {:?}\n[[degradation]]\ncables = [0, 1]\n",
        files[0], files[1]
    );
    desk.write("plan.toml", &plan);
    let said = desk.ok(&["study", "run", "plan.toml", "-o", "out"]);
    // The dead cable cuts a leaf of four nodes off from where OpenSM sits: 4 · 3 pairs more than the 6.
    assert!(said.contains("engine opensm:minhop loses up to 18 node pairs in 2 rows"), "{said}");
    assert!(!said.contains("engine dmodc loses"), "{said}");
    let summary =
        desk.ok(&["study", "summary", "plan.toml", "-o", "out", "--engine", "opensm:minhop"]);
    assert!(summary.contains("it loses pairs"), "{summary}");
}

/// A library without the plugin, none at all, and missing programs are named with what to install.
#[test]
fn what_is_missing_is_named_with_its_package() {
    let desk = Desk::new();
    desk.write("libdmodc.so", "\u{7f}ELF without any symbol");
    let fabric = fixture("port-guids");
    let error = desk.error(&["opensm", "lab", &fabric, "--plugin", "libdmodc.so"]);
    assert!(error.contains("libdmodc.so was built without OpenSM's headers"), "{error}");
    assert!(error.contains("apt-get install libopensm-dev libibumad-dev"), "{error}");
    let error = desk.error(&["opensm", "lab", &fabric, "--plugin", "nowhere.so"]);
    assert!(error.contains("there is no ") && error.contains("nowhere.so"), "{error}");
    if let Err(why) = check_plugin(&plugin()) {
        return skip(&why.to_string());
    }
    let output = Command::new(DMODC)
        .args(["route", &fabric, "--engine", "opensm:minhop"])
        .env("PATH", desk.folder.path())
        .output()
        .unwrap();
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("not installed: ") && error.contains("ibsim"), "{error}");
    assert!(error.contains("apt-get install ") && error.contains("ibsim-utils"), "{error}");
}

/// OpenSM's engines on every dump of real machines: what they deliver is plausible, and what they refuse is said.
#[test]
#[ignore = "it takes minutes: scripts/test --all"]
fn engines_of_opensm_route_every_real_dump() {
    let _one = ONE.lock();
    let Some(folder) = std::env::var_os("DMODC_FABRICS") else {
        return skip("DMODC_FABRICS names no folder of real fabrics");
    };
    if !is_ready() {
        return;
    }
    let desk = Desk::new();
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut routed = 0;
    for file in files {
        let fabric = file.display().to_string();
        let info = desk.run(&["info", &fabric, "--json"]);
        // A folder of dumps has tables and notes in it, too.
        let Ok(info) = serde_json::from_str::<Value>(&text(&info.stdout)) else { continue };
        if info["switches"] == 0 || info["nodes"].as_u64().unwrap() < 2 {
            continue;
        }
        for engine in ["minhop", "updn", "ftree", "sssp", "dfsssp"] {
            let summary = match route(&desk, &fabric, engine) {
                // A fabric that is no fat-tree is none for ftree.
                Err(why) if engine == "ftree" => {
                    assert!(
                        why.contains("OpenSM could not route with the engine ftree"),
                        "{fabric}: {why}"
                    );
                    continue;
                }
                other => other.unwrap_or_else(|why| panic!("{fabric} {engine}: {why}")),
            };
            let number = |key: &str| summary[key].as_u64().unwrap();
            assert!(number("delivered") > 0, "{fabric} {engine}: {summary}");
            if COMPLETE.contains(&engine) && number("unseen_switches") == 0 {
                assert_eq!(number("lost"), 0, "{fabric} {engine}: {summary}");
            }
            is_checked(&desk, &fabric, &summary);
            routed += 1;
        }
    }
    assert!(routed > 0, "there are no fabrics in the folder");
}

/// The note for the plugin is an empty file in its state folder, which must be there.
#[test]
fn renumber_leaves_a_note_in_the_state_folder() {
    let desk = Desk::new();
    let missing = desk.run(&["opensm", "renumber", "--state", "nowhere"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("nowhere: there is no such folder"));
    fs::create_dir(desk.path("state")).unwrap();
    let empty = desk.run(&["opensm", "renumber", "--state", "state"]);
    assert_eq!(empty.status.code(), Some(2));
    assert!(text(&empty.stderr).contains("state: this is not the state folder of a plugin"));
    desk.write("state/dmodc.orders", "# dmodc orders 3\n# end 0\n");
    // Twice is as good as once.
    for _ in 0..2 {
        let done = desk.run(&["opensm", "renumber", "--state", "state"]);
        assert_eq!(done.status.code(), Some(0));
        assert!(text(&done.stdout).contains("kill -HUP"), "{}", text(&done.stdout));
        assert_eq!(fs::read(desk.path("state/renumber")).unwrap(), b"");
    }
}
