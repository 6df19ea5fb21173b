//! The page in a real browser: load, kill, heal, trace, compare, follow, reload.
#![cfg(feature = "serve")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../desk/mod.rs"]
mod desk;
mod follow;
mod served;
mod speed;

use std::time::Duration;

use dmodc_browser::{Browser, Tab, View};
use serde_json::json;

use desk::Desk;
use served::Served;

/// The longest that anything on the page may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Opens the page of a server, and waits until the tree is drawn and judged.
fn open(browser: &Browser, server: &Served, view: View) -> Tab {
    let tab = browser.tab(view);
    tab.open(&server.address);
    wait(&tab, "document.documentElement.dataset.ready === 'true'", "the first drawing");
    wait(
        &tab,
        "document.documentElement.dataset.judged === document.documentElement.dataset.revision",
        "a judgement",
    );
    tab
}

#[track_caller]
fn wait(tab: &Tab, condition: &str, what: &str) {
    tab.wait_for(condition, PATIENCE, what);
}

/// Waits until the page shows a revision.
#[track_caller]
fn shows(tab: &Tab, revision: u64) {
    let drawn = format!("document.documentElement.dataset.revision === '{revision}'");
    wait(tab, &drawn, &format!("revision {revision} on the page"));
}

/// Returns the place of a part in pixels.
fn place(tab: &Tab, part: &str) -> (f64, f64) {
    let found = tab.evaluate(&format!("window.dmodc.positionOf({part})"));
    (found["x"].as_f64().unwrap(), found["y"].as_f64().unwrap())
}

fn test_id(name: &str) -> String {
    format!("[data-testid='{name}']")
}

#[test]
fn a_click_kills_and_a_click_heals() {
    let Some(browser) = Browser::start_or_skip() else { return };
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", desk::FIGURE_1, "-o", "f.topo"]);
    let server = Served::start(&desk, &["f.topo"]);
    let tab = open(&browser, &server, View::DESKTOP);
    let start = server.get("/api/v1/judgement");
    assert_eq!(start["delivered"], 132);

    tab.click_on(&test_id("mode-break"));
    let (x, y) = place(&tab, "{switch: 6}");
    tab.click(x, y);
    shows(&tab, 2);
    let state = server.get("/api/v1/state");
    assert_eq!(state["failed"]["switches"], json!([6]));
    assert!(state["event"]["entries"].as_u64().unwrap() > 0);
    // The page shows the same number, and the risk as soon as it is known.
    wait(&tab, "document.documentElement.dataset.judged === '2'", "the judgement after the fault");
    let words = tab.evaluate("document.querySelector(\"[data-testid='results']\").textContent");
    let entries = state["event"]["entries"].as_u64().unwrap().to_string();
    assert!(words.as_str().unwrap().contains(&entries), "{words} has {entries}");

    let (x, y) = place(&tab, "{switch: 6}");
    tab.click(x, y);
    shows(&tab, 3);
    assert_eq!(server.get("/api/v1/state")["failed"]["switches"], json!([]));
    assert_eq!(server.get("/api/v1/judgement")["a2a"], start["a2a"]);

    // A cable, by a click on it; then by the keyboard.
    let (x, y) = place(&tab, "{cable: 0}");
    tab.click(x, y);
    shows(&tab, 4);
    assert_eq!(server.get("/api/v1/state")["failed"]["cables"], json!([0]));
    tab.click_on(&test_id("undo"));
    shows(&tab, 5);
    tab.click_on(&test_id("redo"));
    shows(&tab, 6);
    assert_eq!(server.get("/api/v1/state")["failed"]["cables"], json!([0]));
    tab.click_on(&test_id("reset"));
    shows(&tab, 7);
    assert_eq!(server.get("/api/v1/state")["failed"]["cables"], json!([]));
    tab.assert_no_problems();
}

#[test]
fn the_page_asks_for_the_token() {
    let Some(browser) = Browser::start_or_skip() else { return };
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", desk::FIGURE_1, "-o", "f.topo"]);
    desk.write("token", "a-secret-of-the-test\n");
    let server = Served::start(&desk, &["f.topo", "--token-file", "token"]);
    let tab = browser.tab(View::DESKTOP);
    tab.open(&server.address);
    wait(&tab, "document.getElementById('token') !== null", "the question for the token");
    assert_eq!(tab.evaluate("document.documentElement.dataset.ready === 'true'"), json!(false));
    for (token, is_right) in [("a-wrong-secret-of-it", false), ("a-secret-of-the-test", true)] {
        tab.evaluate(&format!(
            "document.getElementById('token').value = '{token}'; \
             document.querySelector('#token-dialog button').click(); true"
        ));
        if !is_right {
            wait(&tab, "document.getElementById('token').value === ''", "the question again");
        }
    }
    wait(&tab, "document.documentElement.dataset.ready === 'true'", "the first drawing");
}

#[test]
fn paths_comparisons_and_the_future_are_shown() {
    let Some(browser) = Browser::start_or_skip() else { return };
    let desk = Desk::new();
    desk.ok(&["generate", "preset", "director-648", "-o", "d.topo"]);
    let server = Served::start(&desk, &["d.topo"]);
    let tab = open(&browser, &server, View::DESKTOP);

    tab.click_on(&test_id("tab-ask"));
    tab.evaluate(
        "document.querySelector(\"[data-testid='path-from']\").value = 'node-0'; \
         document.querySelector(\"[data-testid='path-to']\").value = 'node-600'; true",
    );
    tab.click_on(&test_id("path-ask"));
    let route = server.get("/api/v1/path?from=node-0&to=node-600");
    let middle = route["there"]["hops"][1]["switch"].as_str().unwrap().to_owned();
    wait(
        &tab,
        &format!(
            "document.querySelector(\"[data-testid='path-answer']\").textContent.includes('{middle}')"
        ),
        "the path",
    );

    tab.evaluate("document.querySelector(\"[data-testid='whatif']\").scrollIntoView(); true");
    tab.click_on(&test_id("whatif"));
    wait(
        &tab,
        "document.querySelectorAll(\"[data-testid='whatif-answer'] tr\").length > 1",
        "rows of faults",
    );

    tab.click_on(&test_id("tab-compare"));
    tab.click_on(&test_id("compare"));
    wait(&tab, "!document.querySelector(\"[data-testid='compare-view']\").hidden", "two trees");
    wait(
        &tab,
        "document.querySelector(\"[data-testid='compare-answer']\").textContent.includes('ntries')",
        "the differences",
    );
    tab.click_on(&test_id("compare-close"));

    tab.click_on(&test_id("search"));
    tab.write("node-123");
    wait(
        &tab,
        "document.querySelector(\"[data-testid='search-result']\") !== null",
        "search results",
    );
    tab.key("Enter");
    wait(
        &tab,
        "document.querySelector(\"[data-testid='page-part']\").textContent.includes('node-123')",
        "the node",
    );
    tab.assert_no_problems();
}

#[test]
fn a_reload_and_a_restart_lose_nothing() {
    let Some(browser) = Browser::start_or_skip() else { return };
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", desk::FIGURE_1, "-o", "f.topo"]);
    let server = Served::start(&desk, &["f.topo", "--history", "h.redb"]);
    let tab = open(&browser, &server, View::DESKTOP);
    server.post("/api/v1/change", &json!({ "fail": ["L2-0"] }));
    // What somebody else does is shown, too.
    shows(&tab, 2);
    server.post("/api/v1/random", &json!({ "cables": "20%", "seed": 3 }));
    shows(&tab, 3);
    tab.reload();
    shows(&tab, 3);
    let events = |server: &Served| server.get("/api/v1/events")["events"].clone();
    let before = events(&server);
    assert_eq!(before.as_array().unwrap().len(), 3);
    drop(server);

    let server = Served::start(&desk, &["f.topo", "--history", "h.redb"]);
    let after = events(&server);
    assert_eq!(after.as_array().unwrap().len(), 4);
    for (new, old) in after.as_array().unwrap()[1..].iter().zip(before.as_array().unwrap()) {
        assert_eq!((&new["sequence"], &new["text"]), (&old["sequence"], &old["text"]));
    }
    let tab = open(&browser, &server, View::PHONE);
    tab.assert_no_problems();
}

/// The page says that the server is gone, and finds it again.
#[test]
fn a_lost_server_is_noticed() {
    let Some(browser) = Browser::start_or_skip() else { return };
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", desk::FIGURE_1, "-o", "f.topo"]);
    let server = Served::start(&desk, &["f.topo"]);
    let tab = open(&browser, &server, View::DESKTOP);
    let port = server.port();
    drop(server);
    wait(&tab, "!document.querySelector(\"[data-testid='banner']\").hidden", "the banner");
    let server = Served::start_at(&desk, &["f.topo"], port);
    wait(&tab, "document.querySelector(\"[data-testid='banner']\").hidden", "the server again");
    server.post("/api/v1/change", &json!({ "fail": ["L2-0"] }));
    shows(&tab, 2);
}
