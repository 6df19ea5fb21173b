//! The page in Chromium, from a file.

use std::io::Write as _;
use std::time::Duration;

use dmodc_browser::{Browser, Tab, View};
use dmodc_wasm::{Session, Surroundings};
use serde_json::{Value, json};

use crate::desk::Desk;

/// Whether the page shows the judgement of the state that it shows.
const JUDGED: &str =
    "document.documentElement.dataset.judged == document.documentElement.dataset.revision";

const SOON: Duration = Duration::from_secs(120);

/// A page that is open in a browser, and a session here with the same fabric.
struct Twins {
    tab: Tab,
    here: Session,
    _browser: Browser,
    _desk: Desk,
}

impl Twins {
    /// Writes the page of a preset and opens it; `None` if there is no browser.
    fn preset(preset: &str, options: &[&str]) -> Option<Self> {
        Twins::open(Desk::new(), &[&["--preset", preset], options].concat())
    }

    fn open(desk: Desk, options: &[&str]) -> Option<Self> {
        let browser = Browser::start_or_skip()?;
        desk.ok(&[&["page", "-o", "page.html"], options].concat());
        let tab = browser.tab(View::DESKTOP);
        tab.open(&format!("file://{}", desk.path("page.html").display()));
        tab.wait_for("document.documentElement.dataset.ready", SOON, "the first drawing");
        let mut here = Session::new(Surroundings { now: || 0.0, progress: |_, _| () });
        let embedded = "JSON.parse(document.getElementById('embedded').textContent).open";
        here.call("open", tab.evaluate(embedded)).unwrap();
        Some(Twins { tab, here, _browser: browser, _desk: desk })
    }

    /// Asks the engine of the page.
    fn ask(&self, name: &str, body: &Value) -> Value {
        self.tab.evaluate(&format!("dmodc.app.backend.engine.call({}, {body})", json!(name)))
    }

    /// Asks both, and checks that the answers are the same. Returns the answer.
    #[track_caller]
    fn both(&mut self, name: &str, body: Value) -> Value {
        let there = untimed(self.ask(name, &body));
        let here = untimed(self.here.call(name, body.clone()).unwrap());
        if there != here {
            let beginning =
                |value: &Value| value.to_string().chars().take(1000).collect::<String>();
            let (there, here) = (beginning(&there), beginning(&here));
            panic!("{name} {body}:\nthe page answers {there}\nand here it is {here}");
        }
        here
    }

    /// Presses on a switch in the drawing, and waits until the page shows what happened.
    fn press(&self, switch: usize) -> Value {
        let before = self.ask("state", &json!({}))["revision"].as_u64().unwrap();
        let place = self.tab.evaluate(&format!("dmodc.positionOf({{ switch: {switch} }})"));
        self.tab.click(place["x"].as_f64().unwrap(), place["y"].as_f64().unwrap());
        let shown = format!("document.documentElement.dataset.revision == '{}'", before + 1);
        self.tab.wait_for(&shown, SOON, "the drawing of the change");
        self.ask("state", &json!({}))
    }
}

/// Returns an answer without times, of which the number of the drawing is one. All numbers are of one type,
/// because JavaScript writes 1.0 as 1, and have 12 digits, because the last bit is lost on the way.
fn untimed(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            for name in ["time_ms", "milliseconds", "scene"] {
                fields.remove(name);
            }
            for field in fields.values_mut() {
                *field = untimed(field.take());
            }
        }
        Value::Number(number) => value = json!(format!("{:.11e}", number.as_f64().unwrap())),
        Value::Array(items) => items.iter_mut().for_each(|item| *item = untimed(item.take())),
        _ => {}
    }
    value
}

/// Breaks and heals with clicks. The engine of the page and the one here must agree about everything.
fn break_and_heal(preset: &str) {
    let Some(mut twins) = Twins::preset(preset, &[]) else { return };
    let scene = twins.both("scene", json!({}));
    let first = twins.both("export/tables", json!({}));
    let ranks = scene["switches"]["rank"].as_array().unwrap();
    let spine = ranks.iter().position(|rank| *rank == untimed(json!(1))).unwrap();
    let guid = scene["switches"]["guid"][spine].clone();

    let state = twins.press(spine);
    assert_eq!(state["failed"]["switches"], json!([spine]));
    twins.tab.wait_for(JUDGED, SOON, "the judgement on the page");
    twins.here.call("change", json!({"fail": [guid], "repair": []})).unwrap();
    // The page asked for it, too, and an event keeps its judgement.
    twins.both("judgement", json!({}));
    assert!(state["event"]["entries"].as_u64().unwrap() > 0);
    twins.both("state", json!({}));
    let broken = twins.both("export/tables", json!({}));
    assert!(broken != first, "the tables change");
    twins.both("loads", json!({"pattern": "sp"}));

    let state = twins.press(spine);
    assert_eq!(state["failed"]["switches"], json!([]));
    twins.here.call("change", json!({"fail": [], "repair": [guid]})).unwrap();
    twins.tab.wait_for(JUDGED, SOON, "the judgement on the page");
    twins.both("judgement", json!({}));
    twins.both("state", json!({}));
    assert!(twins.both("export/tables", json!({})) == first, "the tables are as they were");
    twins.tab.wait_for(JUDGED, SOON, "the judgement on the page");
    twins.tab.assert_no_problems();
}

#[test]
fn the_page_of_12_nodes_breaks_and_heals() {
    break_and_heal("paper-figure-1");
}

#[test]
fn the_page_of_648_nodes_breaks_and_heals() {
    break_and_heal("director-648");
}

#[test]
fn all_answers_are_those_of_the_engine_here() {
    let Some(mut twins) = Twins::preset("paper-figure-1", &["--engine", "stable"]) else { return };
    let random = json!({"cables": "10%", "switches": "1", "seed": 7});
    twins.both("random", random);
    twins.both("judgement", json!({}));
    twins.both("undo", json!({}));
    twins.both("redo", json!({}));
    twins.both("engine", json!({"engine": "paper"}));
    for pattern in ["a2a", "sp", "rp", "shift:3", "perm:5"] {
        twins.both("loads", json!({"pattern": pattern}));
    }
    twins.both("loads", json!({"pattern": "shift:3", "measure": "rate"}));
    twins.both("part", json!({"name": "L1-0"}));
    twins.both("part", json!({"name": "L1-0/5"}));
    twins.both("search", json!({"q": "node-1"}));
    twins.both("path", json!({"from": "node-0", "to": "node-11"}));
    twins.both("destinations", json!({"cable": "L1-0/5"}));
    twins.both("order", json!({"hosts": "all", "choose": 6}));
    twins.both("compare", json!({"left": {"engine": "dmodc"}, "right": {"sequence": 1}}));
    twins.both("compare-cabling", json!({"intended": "inferred"}));
    twins.both("whatif", json!({"parts": "all", "limit": 20}));
    twins.both("export/fabric", json!({}));
    let scenario = twins.both("export/scenario", json!({}));
    twins.both("reset", json!({}));
    twins.both("scenario", scenario);
    twins.both("events", json!({"limit": 3}));
    twins.tab.assert_no_problems();
    // Mistakes are errors in both.
    let error =
        "dmodc.app.backend.engine.call('part', {name: 'L9-9'}).then(() => '', (e) => e.message)";
    let here = twins.here.call("part", json!({"name": "L9-9"})).unwrap_err().to_string();
    assert_eq!(twins.tab.evaluate(error), here);
}

#[test]
fn what_breaks_next_runs_aside_and_can_be_cancelled() {
    let Some(mut twins) = Twins::preset("director-648", &[]) else { return };
    let job = "dmodc.app.backend.startJob({kind: 'whatif', parts: 'switches', limit: 5})";
    let number = twins.tab.evaluate(job);
    let seen = format!("dmodc.app.backend.job({number})");
    let done = format!("{seen}.then((job) => job.state === 'done' && job)");
    let done = twins.tab.wait_for(&done, SOON, "the end of the job");
    let here = twins.here.call("whatif", json!({"parts": "switches", "limit": 5})).unwrap();
    assert_eq!(untimed(done["result"].clone()), untimed(here));
    assert_eq!(done["done"], done["total"]);
    let number = twins.tab.evaluate(&job.replace("switches", "all"));
    twins.tab.evaluate(&format!("dmodc.app.backend.cancelJob({number})"));
    let seen = twins.tab.evaluate(&format!("dmodc.app.backend.job({number})"));
    assert_eq!(seen["state"], "cancelled");
    twins.both("export/scenario", json!({}));
    twins.tab.assert_no_problems();
}

/// A call that ends in the middle leaves the engine half changed. Every later call must say so.
#[test]
fn a_failure_is_not_silent() {
    let Some(twins) = Twins::preset("paper-figure-1", &[]) else { return };
    let answer = twins.tab.evaluate(
        "(async () => {
           const data = JSON.parse(document.getElementById('embedded').textContent);
           const source = data.worker.replace('self.postMessage({ progress', 'nothing.there({ progress');
           const backend = new dmodc.app.backend.constructor({ ...data, worker: source });
           const call = (name, body) => backend.engine.call(name, body).then(JSON.stringify, (e) => e.message);
           const before = await call('state', {});
           return [before, await call('whatif', {}), await call('state', {})];
         })()",
    );
    assert!(answer[0].as_str().unwrap().contains("\"revision\":1"), "{answer}");
    for at in [1, 2] {
        assert!(answer[at].as_str().unwrap().contains("reload the page"), "{answer}");
    }
}

/// Opens a page, kills a switch of every level, and prints how long it took: until the first drawing, and from a press to
/// the drawing of the new state.
fn measure(nodes: &str, tuple: &str) {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", tuple, "-o", "f.topo"]);
    let Some(twins) = Twins::open(desk, &["f.topo"]) else { return };
    let opened = twins.tab.evaluate("performance.now()").as_f64().unwrap();
    let scene = twins.ask("scene", &json!({}));
    let ranks = scene["switches"]["rank"].as_array().unwrap();
    let mut line = format!("{nodes} nodes: opened within {opened:.0} ms;");
    for rank in 0..scene["levels"].as_u64().unwrap() {
        let switch = ranks.iter().position(|one| one.as_u64() == Some(rank)).unwrap();
        let state = twins.press(switch);
        let routed = state["event"]["milliseconds"].as_f64().unwrap();
        let shown = twins.tab.evaluate("performance.getEntriesByName('dmodc-change')[0].duration");
        let shown = shown.as_f64().unwrap();
        line += &format!(" rank {rank}: routed in {routed:.1} ms, shown after {shown:.0} ms;");
        assert!(shown < 5000.0, "{line}");
        twins.tab.wait_for(JUDGED, SOON, "the judgement on the page");
    }
    twins.tab.assert_no_problems();
    // Written directly, because the test harness hides the output of passing tests.
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[test]
#[ignore = "it takes a minute"]
fn larger_fabrics_are_usable() {
    measure("648", "2; 18,36; 1,18; 1,1");
    measure("3,456", "3; 12,12,24; 1,12,12; 1,1,1");
    measure("11,664", "3; 18,18,36; 1,18,18; 1,1,1");
}
