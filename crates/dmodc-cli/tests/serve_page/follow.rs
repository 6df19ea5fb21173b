//! A live fabric: a file that changes, and a simulated one that `ibnetdiscover` reads.

use std::fs;
use std::time::{Duration, Instant};

use dmodc::{Degradation, Pgft, SwitchIndex};
use dmodc_browser::{Browser, View};
use dmodc_lab::{LabError, Sim};
use serde_json::{Value, json};

use crate::desk::{self, Desk};
use crate::served::Served;
use crate::{open, wait};

/// Waits until a server says something about its state.
#[track_caller]
fn until(server: &Served, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let start = Instant::now();
    loop {
        let state = server.get("/api/v1/state");
        if is_so(&state) {
            return state;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "waited for {what}: {state}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_file_that_changes_makes_events() {
    let Some(browser) = Browser::start_or_skip() else { return };
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", desk::FIGURE_1, "-o", "whole.topo"]);
    desk.ok(&["degrade", "whole.topo", "--remove", "L2-1", "-o", "broken.topo"]);
    let (live, next) = (desk.path("live.topo"), desk.path("next.topo"));
    // The file is replaced at once, as careful programs do.
    let becomes = |name: &str| {
        fs::copy(desk.path(name), &next).unwrap();
        fs::rename(&next, &live).unwrap();
    };
    becomes("whole.topo");
    let server = Served::start(&desk, &["--follow-file", "live.topo", "--every", "0.2"]);
    let tab = open(&browser, &server, View::DESKTOP);
    becomes("broken.topo");
    let state = until(&server, "a fault", |state| state["event"]["origin"] == "follow");
    assert_eq!(state["event"]["failed_count"], 1);
    wait(&tab, "document.documentElement.dataset.revision === '2'", "the fault on the page");

    // A file that cannot be read is said, and changes nothing.
    fs::write(&live, "this is no fabric").unwrap();
    let state = until(&server, "an error", |state| !state["follow"]["error"].is_null());
    assert_eq!(state["revision"], 2);
    becomes("whole.topo");
    let state = until(&server, "the repair", |state| state["revision"] == 3);
    assert_eq!(state["event"]["repaired_count"], 1);
    assert!(state["follow"]["error"].is_null());

    let drawing = state["scene"].as_u64().unwrap();
    // A fabric that has grown is drawn again.
    desk.ok(&["generate", "pgft", "3; 2,2,4; 1,2,2; 1,2,1", "-o", "grown.topo"]);
    becomes("grown.topo");
    let state = until(&server, "a new drawing", |state| state["scene"] == drawing + 1);
    assert_eq!(state["failed"]["switches"], json!([]));
    tab.assert_no_problems();
}

#[test]
fn a_simulated_fabric_is_followed() {
    let pgft: Pgft = "2; 4,4; 1,2; 1,1".parse().unwrap();
    let fabric = pgft.fabric(Default::default());
    let mut sim = match Sim::start(&fabric) {
        Ok(sim) => sim,
        Err(why @ LabError::Missing { .. }) => return desk::skip(&why.to_string()),
        Err(error) => panic!("{error}"),
    };
    let desk = Desk::new();
    let command = sim.shell_command("ibnetdiscover");
    let server = Served::start(&desk, &["--follow-command", &command, "--every", "0.3"]);
    let state = server.get("/api/v1/state");
    assert_eq!(state["failed"]["switches"], json!([]));
    let mut faults = Degradation::none(&fabric);
    faults.set_switch(SwitchIndex::new(fabric.switches().len() - 1), true);
    sim.degrade(&faults).unwrap();
    let state = until(&server, "the dead switch", |state| state["revision"] == 2);
    assert_eq!(state["failed"]["switches"].as_array().unwrap().len(), 1);
    sim.degrade(&Degradation::none(&fabric)).unwrap();
    let state = until(&server, "the repair", |state| state["revision"] == 3);
    assert_eq!(state["failed"]["switches"], json!([]));
}
