//! A headless Chromium for tests. The principal types are the [`Browser`] and its [`Tab`]s.
//!
//! Chromium is driven by its DevTools protocol over a pipe: JSON messages that end with a zero byte. That needs no port and
//! no library. Everything here is for tests, so whatever goes wrong is a panic that says what was waited for.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use dmodc_browser::{Browser, View};
//!
//! let Some(browser) = Browser::start_or_skip() else { return };
//! let tab = browser.tab(View::DESKTOP);
//! tab.open("file:///tmp/page.html");
//! tab.wait_for("document.title", Duration::from_secs(10), "a title");
//! tab.assert_no_problems();
//! ```

mod base64;
mod connection;
mod process;
mod tab;

use std::cell::RefCell;
use std::io::Write as _;
use std::rc::Rc;

use serde_json::json;

use crate::connection::Connection;
use crate::process::Process;
pub use crate::tab::{Tab, View};

/// A headless Chromium. Its process ends with it, also if a test panics.
pub struct Browser {
    connection: Rc<RefCell<Connection>>,
    process: Process,
}

impl Browser {
    /// Starts a browser, if Chromium is installed.
    ///
    /// # Panics
    /// If it is installed, but does not start.
    pub fn start() -> Option<Self> {
        let program = process::find()?;
        let mut process = Process::start(&program);
        let connection = Connection::new(process.pipe());
        let browser = Browser { connection: Rc::new(RefCell::new(connection)), process };
        browser.call("Browser.getVersion", json!({}));
        Some(browser)
    }

    /// Starts a browser. If Chromium is not installed, a line says that the running test is skipped.
    pub fn start_or_skip() -> Option<Self> {
        let browser = Browser::start();
        if browser.is_none() {
            let thread = std::thread::current();
            let test = thread.name().unwrap_or("a test");
            // Written directly, because the test harness hides the output of passing tests.
            let _ = writeln!(std::io::stderr(), "skipped: {test}: chromium is not installed");
        }
        browser
    }

    /// Opens an empty tab.
    pub fn tab(&self, view: View) -> Tab {
        let target = self.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = self.call(
            "Target.attachToTarget",
            json!({ "targetId": target["targetId"], "flatten": true }),
        );
        let session = attached["sessionId"].as_str().expect("a tab has a session").to_owned();
        let tab = Tab::new(self.connection.clone(), session);
        tab.look(view);
        tab
    }

    /// Lets pages write downloads into a folder.
    pub fn download_to(&self, folder: &std::path::Path) {
        let path = folder.to_str().expect("the path of a folder is text");
        self.call(
            "Browser.setDownloadBehavior",
            json!({ "behavior": "allow", "downloadPath": path }),
        );
    }

    /// Returns the number of its process.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    fn call(&self, method: &str, parameters: serde_json::Value) -> serde_json::Value {
        self.connection.borrow_mut().call(None, method, parameters)
    }
}
