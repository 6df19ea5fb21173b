//! A folder to work in, and the binary: shared by the tests.
#![allow(dead_code, reason = "not every test needs all of it")]

pub(crate) mod study;

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) const DMODC: &str = env!("CARGO_BIN_EXE_dmodc");
pub(crate) const FIGURE_1: &str = "3; 2,2,3; 1,2,2; 1,2,1";

/// Reports that the running test is skipped. The line is written directly to standard error, because the test harness hides
/// the output of passing tests.
pub(crate) fn skip(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {why}");
}

/// Returns whether a test must fail where there is no GPU. scripts/test-gpu says so.
pub(crate) fn gpu_is_required() -> bool {
    std::env::var_os("DMODC_GPU_REQUIRED").is_some()
}

/// A folder to work in, and the binary.
pub(crate) struct Desk {
    pub(crate) folder: TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Desk { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        Command::new(DMODC).args(args).current_dir(self.folder.path()).output().unwrap()
    }

    /// Runs the binary, expects an exit code, and returns standard output.
    #[track_caller]
    pub(crate) fn code(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{args:?}\n{out}\n{err}");
        out
    }

    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        self.code(0, args)
    }

    #[track_caller]
    pub(crate) fn json(&self, code: i32, args: &[&str]) -> Value {
        serde_json::from_str(&self.code(code, args)).unwrap()
    }

    /// Runs a command that must fail with exit code 2 and one line. Returns the line.
    #[track_caller]
    pub(crate) fn error(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}\n{err}");
        assert_eq!(text(&output.stdout), "", "{args:?}");
        // An error in a file is followed by its line, with a caret below the position.
        let is_excerpt = |line: &str| line.contains(" | ");
        assert!(err.lines().skip(1).all(is_excerpt), "one clear line: {err}");
        err
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Writes the paper's fabric and its tables.
    pub(crate) fn figure_1(&self) {
        self.ok(&["generate", "pgft", FIGURE_1, "-o", "f.topo"]);
        let orders = ["--destination-order", "lid", "--switch-order", "guid"];
        self.ok(&[&["route", "f.topo", "-o", "f.lft"], &orders[..]].concat());
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
