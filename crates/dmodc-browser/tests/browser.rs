//! The browser itself: what it shows, hears and complains about, and that it always ends.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};

use dmodc_browser::{Browser, Tab, View};

const SOON: Duration = Duration::from_secs(20);

/// Opens a page that is in its address.
fn page(tab: &Tab, html: &str) {
    let encoded: String = html.bytes().map(|byte| format!("%{byte:02x}")).collect();
    tab.open(&format!("data:text/html,{encoded}"));
}

#[test]
fn a_page_hears_mouse_and_keyboard() {
    let Some(browser) = Browser::start_or_skip() else { return };
    let tab = browser.tab(View::DESKTOP);
    page(
        &tab,
        "<title>seen</title><button style='width:200px;height:100px'>press</button><input>
         <script>
           const heard = [];
           document.querySelector('button').onclick = (e) => heard.push(['click', e.clientX]);
           addEventListener('keydown', (e) => heard.push(['key', e.key]));
           addEventListener('wheel', (e) => heard.push(['wheel', e.deltaY]));
         </script>",
    );
    assert_eq!(tab.evaluate("document.title"), "seen");
    assert_eq!(tab.evaluate("Promise.resolve([1, {a: 2}])"), serde_json::json!([1, {"a": 2}]));
    tab.click(50.0, 50.0);
    tab.click_on("input");
    tab.key("a");
    tab.key("Enter");
    tab.write("bc");
    tab.wheel(50.0, 50.0, 120.0);
    tab.wait_for("heard.length == 4", SOON, "four events");
    let heard = tab.evaluate("heard");
    assert_eq!(
        heard,
        serde_json::json!([["click", 50], ["key", "a"], ["key", "Enter"], ["wheel", 120]])
    );
    assert_eq!(tab.evaluate("document.querySelector('input').value"), "abc");
    tab.assert_no_problems();
}

#[test]
fn size_and_colours_can_be_changed() {
    let Some(browser) = Browser::start_or_skip() else { return };
    let tab = browser.tab(View::DESKTOP);
    page(&tab, "<meta name=viewport content='width=device-width'><p>text");
    let seen = |tab: &Tab| {
        tab.evaluate(
            "[innerWidth, innerHeight, matchMedia('(prefers-color-scheme: dark)').matches,
              matchMedia('(pointer: coarse)').matches]",
        )
    };
    assert_eq!(seen(&tab), serde_json::json!([1280, 800, false, false]));
    tab.look(View::PHONE.dark());
    tab.wait_for("innerWidth == 390", SOON, "a narrow view");
    assert_eq!(seen(&tab), serde_json::json!([390, 844, true, true]));
    let file = env::temp_dir().join(format!("dmodc-picture-{}.png", std::process::id()));
    tab.screenshot(&file);
    let picture = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    assert!(picture.starts_with(b"\x89PNG\r\n"), "{:?}", &picture[..8]);
}

#[test]
fn errors_of_pages_and_workers_are_noted() {
    let Some(browser) = Browser::start_or_skip() else { return };
    let tab = browser.tab(View::DESKTOP);
    page(&tab, "<script>console.log('fine')</script>");
    tab.assert_no_problems();
    page(
        &tab,
        "<script>console.error('one', 2); setTimeout(() => { throw new Error('two') })</script>",
    );
    tab.wait_for("new Promise((done) => setTimeout(() => done(true), 50))", SOON, "a moment");
    let problems = tab.problems().join("\n");
    assert!(problems.contains("one"), "{problems}");
    assert!(problems.contains("exception: Error: two"), "{problems}");
    tab.forget_problems();
    page(
        &tab,
        "<meta http-equiv=Content-Security-Policy content=\"script-src 'none'\"><script>1</script>",
    );
    let problems = tab.problems().join("\n");
    assert!(problems.contains("Content Security Policy"), "{problems}");
    tab.forget_problems();
    page(
        &tab,
        "<script>
           const source = new Blob(['onmessage = () => { console.error(\"from a worker\"); postMessage(1) }']);
           const worker = new Worker(URL.createObjectURL(source));
           window.answers = 0;
           worker.onmessage = () => window.answers++;
           setInterval(() => worker.postMessage(1), 20);
         </script>",
    );
    tab.wait_for("answers > 5", SOON, "answers of the worker");
    assert!(tab.problems().join("\n").contains("from a worker"));
}

#[test]
fn an_expression_that_fails_is_named() {
    let Some(browser) = Browser::start_or_skip() else { return };
    let tab = browser.tab(View::DESKTOP);
    let message = |work: &dyn Fn()| {
        let panic = catch_unwind(AssertUnwindSafe(work)).unwrap_err();
        panic.downcast::<String>().map(|text| *text).unwrap()
    };
    let text = message(&|| drop(tab.evaluate("nothing.there")));
    assert!(text.contains("'nothing.there' fails: ReferenceError"), "{text}");
    let text = message(&|| drop(tab.wait_for("0", Duration::from_millis(50), "a wonder")));
    assert!(text.contains("for a wonder: '0' is 0"), "{text}");
    let text = message(&|| tab.click_on("button"));
    assert!(text.contains("no visible element 'button'"), "{text}");
}

/// Returns whether a process is running.
fn is_running(process: u32) -> bool {
    Path::new("/proc").join(process.to_string()).exists()
}

/// Returns the folder in which a browser keeps its profile.
fn profile(process: u32) -> PathBuf {
    let arguments = fs::read(Path::new("/proc").join(process.to_string()).join("cmdline")).unwrap();
    let arguments = String::from_utf8(arguments).unwrap();
    let folder =
        arguments.split(['\0', ' ']).find_map(|word| word.strip_prefix("--user-data-dir="));
    PathBuf::from(folder.unwrap())
}

#[test]
fn the_browser_ends_also_after_a_panic() {
    let Some(browser) = Browser::start_or_skip() else { return };
    let process = browser.process_id();
    let folder = profile(process);
    assert!(is_running(process) && folder.is_dir());
    let panicked = catch_unwind(AssertUnwindSafe(move || {
        let _tab = browser.tab(View::DESKTOP);
        panic!("on purpose");
    }));
    assert!(panicked.is_err());
    assert!(!is_running(process) && !folder.exists());
}
