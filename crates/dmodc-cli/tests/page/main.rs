//! `dmodc page`: one file with the engine inside it. Opened in a real browser, it does what the engine here does.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[cfg(feature = "page")]
mod browser;
#[path = "../desk/mod.rs"]
mod desk;
#[cfg(feature = "page")]
mod file;

use desk::Desk;

#[cfg(not(feature = "page"))]
#[test]
fn a_program_without_the_engine_says_how_to_get_it() {
    let desk = Desk::new();
    desk.ok(&["generate", "preset", "paper-figure-1", "-o", "f.topo"]);
    let line = desk.error(&["page", "f.topo", "-o", "f.html"]);
    assert!(line.contains("scripts/wasm") && line.contains("--features page"), "{line}");
    assert!(!desk.path("f.html").exists());
}

#[test]
fn a_fabric_or_a_preset_must_be_named() {
    let desk = Desk::new();
    let line = desk.error(&["page", "-o", "f.html"]);
    assert!(line.contains("<FABRIC>"), "{line}");
    let line = desk.error(&["page", "f.topo", "--preset", "rlft-36"]);
    assert!(line.contains("cannot be used with"), "{line}");
}
