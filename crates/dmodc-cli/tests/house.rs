//! The arrows of the house: which crate may use which. Read from the manifests themselves.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;

/// Every crate, and the crates of ours that it may use.
const ARROWS: &[(&str, &[&str])] =
    &[("dmodc", &[]), ("dmodc-formats", &["dmodc"]), ("dmodc-cli", &["dmodc", "dmodc-formats"])];

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

/// The engine is pure: no files, sockets, clock, environment, logging.
#[test]
fn the_engine_does_no_input_or_output() {
    fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => sources(&path, found),
                false => found.push(path),
            }
        }
    }
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
