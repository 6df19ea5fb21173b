//! The book and README: every command in them is run and its output compared with the page, and every link leads
//! somewhere. `DMODC_BLESS=1` writes the real output into the pages; `DMODC_PAGE=text` takes only pages whose path
//! contains the text.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../desk/mod.rs"]
mod desk;
mod links;
mod output;
mod page;
mod session;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use page::{Label, Page};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns the Markdown files below a folder, sorted by path.
fn markdown_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Returns README and the pages of the book.
fn pages() -> Vec<Page> {
    let root = repository();
    let mut files = vec![root.join("README.md")];
    files.extend(markdown_below(&root.join("docs/src")));
    files.iter().map(|file| Page::read(&root, file)).collect()
}

#[test]
fn every_command_does_what_the_page_shows() {
    let only = env::var("DMODC_PAGE").unwrap_or_default();
    let bless = env::var_os("DMODC_BLESS").is_some();
    let pages: Vec<Page> = pages().into_iter().filter(|page| page.name.contains(&only)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut complaints = Vec::new();
        while let Some(page) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
            complaints.extend(session::compare(&repository(), page, bless));
        }
        complaints
    };
    let complaints: Vec<String> = thread::scope(|scope| {
        let others = scope.spawn(work);
        let mut complaints = work();
        complaints.extend(others.join().unwrap());
        complaints
    });
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n\n"));
}

#[test]
fn every_link_leads_somewhere() {
    let root = repository();
    let mut files = markdown_below(&root.join("docs/src"));
    for name in fs::read_dir(&root).unwrap() {
        let path = name.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
    let broken: Vec<String> = files.iter().flat_map(|file| links::broken(&root, file)).collect();
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn every_page_is_in_the_summary() {
    let source = repository().join("docs/src");
    let summary = fs::read_to_string(source.join("SUMMARY.md")).unwrap();
    let listed: BTreeSet<String> = links::targets(&summary).into_iter().map(|t| t.text).collect();
    let there: BTreeSet<String> = markdown_below(&source)
        .iter()
        .map(|file| file.strip_prefix(&source).unwrap().display().to_string())
        .filter(|name| name != "SUMMARY.md")
        .collect();
    let forgotten: Vec<&String> = there.difference(&listed).collect();
    assert!(forgotten.is_empty(), "pages that SUMMARY.md does not list: {forgotten:?}");
}

#[test]
fn commands_are_in_blocks_that_the_test_knows() {
    let mut wrong = Vec::new();
    for page in pages() {
        for block in &page.blocks {
            let place = format!("{}:{}", page.name, block.line);
            if matches!(block.language.as_str(), "" | "sh" | "bash" | "shell") {
                wrong.push(format!(
                    "{place}: a block is 'console' if it has commands, else 'text', 'toml' …"
                ));
            }
            if block.language == "console" && block.commands.is_empty() {
                wrong.push(format!("{place}: a console block has no line that starts with '$ '"));
            }
            if block.label == Some(Label::Unknown) {
                wrong.push(format!("{place}: the words after 'console,' are {}", Label::NAMES));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
