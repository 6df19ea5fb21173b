//! How long it takes from a click to the new tables and the redrawn tree, in a real browser. Run by hand:
//! `cargo test --release -p dmodc-cli --features serve --test serve_page -- --ignored --nocapture`.

use dmodc_browser::{Browser, View};

use crate::desk::Desk;
use crate::served::Served;
use crate::{open, place, shows, test_id};

/// Clicks that are measured.
const CLICKS: u64 = 11;

#[test]
#[ignore = "a benchmark: it measures times, and needs an idle machine"]
fn from_click_to_redrawn_tree() {
    let Some(browser) = Browser::start_or_skip() else { return };
    for preset in ["director-648", "rlft-36", "quantum2-max"] {
        let desk = Desk::new();
        let server = Served::start(&desk, &["--preset", preset]);
        let tab = open(&browser, &server, View::DESKTOP);
        tab.click_on(&test_id("mode-break"));
        let scene = server.get("/api/v1/scene");
        let ranks = scene["switches"]["rank"].as_array().unwrap();
        let top = ranks.iter().filter_map(serde_json::Value::as_i64).max().unwrap();
        let tops: Vec<usize> =
            (0..ranks.len()).filter(|&s| ranks[s].as_i64() == Some(top)).collect();
        let mut times = vec![];
        for click in 0..CLICKS {
            // Different switches of the top fail one after the other.
            let s = tops[click as usize * tops.len() / CLICKS as usize];
            let (x, y) = place(&tab, &format!("{{switch: {s}}}"));
            tab.click(x, y);
            shows(&tab, click + 2);
            let measured = tab.evaluate(
                "(() => { const found = performance.getEntriesByName('dmodc-change'); \
                 return found.length ? found.at(-1).duration : null; })()",
            );
            let state = server.get("/api/v1/state");
            times.push((
                measured.as_f64().unwrap(),
                state["event"]["milliseconds"].as_f64().unwrap(),
            ));
            // The last judgement and colours come before the next click, as with a person.
            crate::wait(
                &tab,
                "document.documentElement.dataset.judged === document.documentElement.dataset.revision",
                "a judgement",
            );
        }
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let middle = times[times.len() / 2];
        eprintln!(
            "{preset}: click to redrawn tree {:.0} ms (median of {CLICKS}; least {:.0}, most {:.0}), re-routing {:.1} ms of it",
            middle.0,
            times[0].0,
            times[times.len() - 1].0,
            middle.1,
        );
    }
}
