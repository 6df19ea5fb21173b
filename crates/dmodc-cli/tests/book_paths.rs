//! Every path of the repository that a page names in backquotes exists. A page that names a file which was moved or
//! removed is found here, and not by a reader.
//!
//! A path begins with a folder of the repository (`crates/…`, `docs/…`). Names with capitals in the place of a part
//! (`fuzz/artifacts/TARGET`), globs and paths with `…` are examples and not looked up. Blocks of code are skipped.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

/// The folders in which the paths of pages begin.
const FOLDERS: [&str; 8] =
    ["crates", "docs", "fixtures", "scripts", "studies", "bench", "fuzz", "packaging"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns the Markdown files below a folder.
fn markdown_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(markdown_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
    files
}

/// Returns the texts between backquotes outside of blocks, each with the number of its line.
fn quoted(page: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut in_block = false;
    for (at, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            // Every second piece is inside.
            found.extend(line.split('`').skip(1).step_by(2).map(|text| (at + 1, text)));
        }
    }
    found
}

/// Returns the path of a quoted text, if it names one file or folder of the repository.
fn as_path(text: &str) -> Option<&str> {
    // What follows a blank or a colon is an argument or a line number.
    let path = text.split([' ', ':']).next()?;
    let (folder, rest) = path.split_once('/')?;
    let is_example = |part: &str| {
        part.contains(['*', '…', '<', '{'])
            || part.len() > 1 && part.chars().all(|c| c.is_ascii_uppercase())
    };
    (FOLDERS.contains(&folder) && !rest.split('/').any(is_example)).then_some(path)
}

#[test]
fn every_path_in_the_pages_exists() {
    let root = repository();
    let mut pages = markdown_below(&root.join("docs/src"));
    pages.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root.join(name)));
    let mut missing = Vec::new();
    let mut found = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for (line, path) in
            quoted(&text).into_iter().filter_map(|(line, text)| Some((line, as_path(text)?)))
        {
            found += 1;
            if !root.join(path).exists() {
                let page = page.strip_prefix(&root).unwrap().display();
                missing.push(format!("{page}:{line}: there is no {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "\n{}\n", missing.join("\n"));
    assert!(found > 100, "only {found} paths were found");
}

#[test]
fn other_words_are_no_paths() {
    assert_eq!(as_path("crates/dmodc/src/rank.rs"), Some("crates/dmodc/src/rank.rs"));
    assert_eq!(as_path("scripts/test --all"), Some("scripts/test"));
    assert_eq!(as_path("crates/dmodc/src/rank.rs:12"), Some("crates/dmodc/src/rank.rs"));
    for other in [
        "rank.rs",
        "/etc/dmodc.conf",
        "fuzz/artifacts/TARGET",
        "fixtures/*/fabric.topo",
        "NAME/PORT",
    ] {
        assert_eq!(as_path(other), None, "{other}");
    }
    let page = "`a` and `b`\n```text\n`c`\n```\n`d`";
    assert_eq!(quoted(page), [(1, "a"), (1, "b"), (5, "d")]);
}
