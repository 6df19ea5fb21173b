//! The arrows of the house: which crate may use which, and which module may use which. Read from the sources themselves.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod modules;

use std::fs;
use std::io::{Write as _, stderr};
use std::path::Path;

use modules::Modules;

/// Every crate, and the crates of ours that it may use.
const ARROWS: &[(&str, &[&str])] = &[
    ("dmodc", &[]),
    ("dmodc-formats", &["dmodc"]),
    ("dmodc-browser", &[]),
    ("dmodc-gpu", &["dmodc"]),
    ("dmodc-view", &["dmodc", "dmodc-formats"]),
    ("dmodc-wasm", &["dmodc", "dmodc-formats", "dmodc-view"]),
    ("dmodc-lab", &["dmodc", "dmodc-formats"]),
    ("dmodc-study", &["dmodc", "dmodc-formats", "dmodc-gpu", "dmodc-lab"]),
    ("dmodc-server", &["dmodc", "dmodc-formats", "dmodc-study", "dmodc-view"]),
    ("dmodc-c", &["dmodc", "dmodc-formats"]),
    ("dmodc-opensm", &["dmodc", "dmodc-formats"]),
    ("dmodc-python", &["dmodc", "dmodc-formats", "dmodc-study"]),
    (
        "dmodc-cli",
        &[
            "dmodc",
            "dmodc-formats",
            "dmodc-lab",
            "dmodc-study",
            "dmodc-view",
            "dmodc-server",
            // For its tests.
            "dmodc-browser",
            "dmodc-wasm",
        ],
    ),
];

#[test]
fn crates_use_only_what_the_arrows_allow() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found: Vec<String> = fs::read_dir(&crates)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    let mut listed: Vec<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    listed.sort_unstable();
    assert_eq!(found, listed, "every crate has its arrows");
    for (name, allowed) in ARROWS {
        let manifest = fs::read_to_string(crates.join(name).join("Cargo.toml")).unwrap();
        let used = manifest
            .lines()
            .filter_map(|line| line.split(['.', '=', ' ']).next())
            .filter(|word| word.starts_with("dmodc") && word != name);
        for word in used {
            assert!(allowed.contains(&word), "{name} must not use {word}");
        }
    }
}

/// The modules of every crate form no cycle. Their order is printed: a module uses only those before it.
#[test]
fn modules_import_each_other_without_cycles() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut cycles = vec![];
    for (name, _) in ARROWS {
        let order = match Modules::read(&crates.join(name).join("src")).order() {
            Ok(order) => order,
            Err(cycle) => {
                cycles.push(format!("{name}: {cycle}"));
                continue;
            }
        };
        let mut text = format!("\n{name}\n");
        for (folder, modules) in order.iter().filter(|(_, modules)| modules.len() > 1) {
            let folder = if folder.is_empty() { String::new() } else { folder.join("::") + ": " };
            text += &format!("  {folder}{}\n", modules.join(" → "));
        }
        // Written directly: output through `println` would be hidden unless the test fails.
        stderr().write_all(text.as_bytes()).unwrap();
    }
    assert!(cycles.is_empty(), "{}", cycles.join("\n"));
}

fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

/// Unsafe code is in the kernel for x86, and where OpenSM, C, the browser and the driver of a GPU begin. Tests call the functions for C, too, and run kernels. The Python module
/// has none.
#[test]
fn unsafe_code_is_where_it_belongs() {
    let mut files = vec![];
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
    // In two words, so that this file is not found.
    let word = ["unsafe", " {"].concat();
    let sources = files.iter().filter(|file| file.extension().is_some_and(|e| e == "rs"));
    let with: Vec<&Path> = sources
        .filter(|file| fs::read_to_string(file).unwrap().contains(&word))
        .map(|file| file.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap())
        .filter(|file| {
            let folders = [
                "dmodc/src/kernel/x86",
                "dmodc-c/src/ffi",
                "dmodc-c/tests",
                "dmodc-gpu/src/cuda",
                "dmodc-gpu/tests",
            ];
            !folders.iter().any(|folder| file.starts_with(Path::new("..").join(folder)))
        })
        .collect();
    let mut with = with;
    with.sort();
    let expected = ["../dmodc-opensm/src/ffi.rs", "../dmodc-wasm/src/ffi.rs"];
    assert_eq!(with, expected.map(Path::new));
}

/// Parallel loops are those of `dmodc::parallel`, which bounds the depth of stacks; everybody else may only
/// build pools of threads.
#[test]
fn parallel_loops_are_in_one_place() {
    let mut files = vec![];
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
    let allowed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dmodc/src/parallel");
    let sources = files.iter().filter(|file| file.extension().is_some_and(|e| e == "rs"));
    for file in sources.filter(|file| !file.starts_with(&allowed)) {
        let text = fs::read_to_string(file).unwrap();
        for word in ["prelude", "join(", "scope", "spawn", "broadcast", "iter::"] {
            let word = ["rayon::", word].concat();
            assert!(!text.contains(&word), "{} uses {word}", file.display());
        }
    }
}

/// The engine is pure: no files, sockets, clock, environment, logging.
#[test]
fn the_engine_does_no_input_or_output() {
    let mut files = vec![];
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../dmodc/src"), &mut files);
    assert!(files.len() > 20);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for word in ["std::fs", "std::net", "std::env", "std::time", "println!", "std::process"] {
            assert!(!text.contains(word), "{} uses {word}", file.display());
        }
    }
}
