//! A tab of the browser.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::{Value, json};

use crate::base64;
use crate::connection::Connection;

/// The time between two looks at a condition.
const PAUSE: Duration = Duration::from_millis(10);

/// How a page is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The width in CSS pixels.
    pub width: u32,
    /// The height in CSS pixels.
    pub height: u32,
    /// Whether it is a telephone: with fingers instead of a mouse.
    pub is_mobile: bool,
    /// Whether dark colours are preferred.
    pub is_dark: bool,
}

impl View {
    /// A usual screen with light colours.
    pub const DESKTOP: View = View { width: 1280, height: 800, is_mobile: false, is_dark: false };
    /// A large screen with light colours.
    pub const LARGE: View = View { width: 1920, height: 1080, is_mobile: false, is_dark: false };
    /// A telephone with light colours.
    pub const PHONE: View = View { width: 390, height: 844, is_mobile: true, is_dark: false };

    /// Returns the same view with dark colours.
    pub fn dark(self) -> View {
        View { is_dark: true, ..self }
    }
}

/// A tab of the browser.
pub struct Tab {
    connection: Rc<RefCell<Connection>>,
    session: String,
}

impl Tab {
    pub(crate) fn new(connection: Rc<RefCell<Connection>>, session: String) -> Self {
        let tab = Tab { connection, session };
        for domain in ["Page", "Runtime", "Log"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        let workers =
            json!({ "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true });
        tab.call("Target.setAutoAttach", workers);
        tab
    }

    /// Calls a method of the DevTools protocol for this tab.
    ///
    /// # Panics
    /// If the browser refuses, or does not answer.
    pub fn call(&self, method: &str, parameters: Value) -> Value {
        self.connection.borrow_mut().call(Some(&self.session), method, parameters)
    }

    /// Changes the size and the colours of the view.
    pub fn look(&self, view: View) {
        let View { width, height, is_mobile, is_dark } = view;
        let scale = if is_mobile { 2 } else { 1 };
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": scale, "mobile": is_mobile }),
        );
        self.call("Emulation.setTouchEmulationEnabled", json!({ "enabled": is_mobile }));
        let scheme = if is_dark { "dark" } else { "light" };
        let scheme = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": scheme }));
    }

    /// Opens an address, and waits until the page and what it names are loaded.
    ///
    /// # Panics
    /// If there is no such page.
    pub fn open(&self, address: &str) {
        let before = self.connection.borrow_mut().tab(&self.session).loads;
        let answer = self.call("Page.navigate", json!({ "url": address }));
        if let Some(error) = answer["errorText"].as_str() {
            panic!("{address} cannot be opened: {error}");
        }
        self.wait_for_load(before, address);
    }

    /// Loads the page again.
    pub fn reload(&self) {
        let before = self.connection.borrow_mut().tab(&self.session).loads;
        self.call("Page.reload", json!({}));
        self.wait_for_load(before, "the page again");
    }

    fn wait_for_load(&self, before: usize, what: &str) {
        let what = format!("the load of {what}");
        self.connection.borrow_mut().wait(&self.session, &what, |tab| tab.loads > before);
    }

    /// Returns the value of an expression in JavaScript. If it is a promise, its result is waited for.
    ///
    /// # Panics
    /// If the expression ends with an exception.
    #[track_caller]
    pub fn evaluate(&self, expression: &str) -> Value {
        let parameters = json!({
            "expression": expression,
            "awaitPromise": true,
            "returnByValue": true,
            "userGesture": true,
        });
        let answer = self.call("Runtime.evaluate", parameters);
        if let Some(details) = answer.get("exceptionDetails") {
            let text = details["exception"]["description"].as_str().or(details["text"].as_str());
            panic!("'{expression}' fails: {}", text.unwrap_or("without a description"));
        }
        answer["result"]["value"].clone()
    }

    /// Waits until an expression in JavaScript is true (in the sense of JavaScript), and returns its value.
    ///
    /// # Panics
    /// If that takes longer than `most`. The message says what was waited for.
    #[track_caller]
    pub fn wait_for(&self, condition: &str, most: Duration, what: &str) -> Value {
        let start = Instant::now();
        loop {
            let value = self.evaluate(condition);
            if is_true(&value) {
                return value;
            }
            if start.elapsed() > most {
                let problems = self.problems();
                panic!(
                    "waited {most:?} for {what}: '{condition}' is {value}; problems: {problems:?}"
                );
            }
            thread::sleep(PAUSE);
        }
    }

    /// Moves the mouse.
    pub fn move_to(&self, x: f64, y: f64) {
        self.mouse("mouseMoved", x, y, json!({}));
    }

    /// Clicks with the left button of the mouse.
    pub fn click(&self, x: f64, y: f64) {
        self.move_to(x, y);
        for kind in ["mousePressed", "mouseReleased"] {
            self.mouse(kind, x, y, json!({ "button": "left", "clickCount": 1 }));
        }
    }

    /// Clicks on the middle of the first element of a CSS selector, which is scrolled into view.
    ///
    /// # Panics
    /// If there is no such element, or it is not visible.
    #[track_caller]
    pub fn click_on(&self, selector: &str) {
        let place = self.evaluate(&format!(
            "(() => {{ const e = document.querySelector({}); if (!e) return null; \
             e.scrollIntoView({{ block: 'nearest' }}); const r = e.getBoundingClientRect(); \
             return r.width && r.height ? [r.x + r.width / 2, r.y + r.height / 2] : null; }})()",
            json!(selector)
        ));
        let at = |n: usize| place[n].as_f64();
        let (Some(x), Some(y)) = (at(0), at(1)) else {
            panic!("there is no visible element '{selector}'");
        };
        self.click(x, y);
    }

    /// Touches the screen with one finger.
    pub fn tap(&self, x: f64, y: f64) {
        let touch = |kind: &str, points: Value| {
            self.call("Input.dispatchTouchEvent", json!({ "type": kind, "touchPoints": points }));
        };
        touch("touchStart", json!([{ "x": x, "y": y }]));
        touch("touchEnd", json!([]));
    }

    /// Turns the wheel of the mouse; a positive number turns it towards the user.
    pub fn wheel(&self, x: f64, y: f64, delta: f64) {
        self.mouse("mouseWheel", x, y, json!({ "deltaX": 0, "deltaY": delta }));
    }

    /// Drags with the left button of the mouse.
    pub fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        let left = || json!({ "button": "left", "buttons": 1, "clickCount": 1 });
        self.move_to(from.0, from.1);
        self.mouse("mousePressed", from.0, from.1, left());
        self.mouse("mouseMoved", (from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0, left());
        self.mouse("mouseMoved", to.0, to.1, left());
        self.mouse("mouseReleased", to.0, to.1, left());
    }

    fn mouse(&self, kind: &str, x: f64, y: f64, more: Value) {
        let mut parameters = json!({ "type": kind, "x": x, "y": y });
        for (name, value) in more.as_object().into_iter().flatten() {
            parameters[name] = value.clone();
        }
        self.call("Input.dispatchMouseEvent", parameters);
    }

    /// Presses and releases a key by its name in JavaScript: a letter, or a word such as `Enter` or `ArrowLeft`.
    pub fn key(&self, key: &str) {
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "Tab" => 9,
            "Backspace" => 8,
            "Delete" => 46,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => key.chars().next().map_or(0, |letter| letter.to_ascii_uppercase() as u32),
        };
        let text = match key {
            "Enter" => Some("\r"),
            _ if key.chars().count() == 1 => Some(key),
            _ => None,
        };
        let mut down = json!({ "type": "rawKeyDown", "key": key, "windowsVirtualKeyCode": code });
        if let Some(text) = text {
            down["type"] = json!("keyDown");
            down["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", down);
        let up = json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code });
        self.call("Input.dispatchKeyEvent", up);
    }

    /// Writes a text where the keyboard writes.
    pub fn write(&self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Writes a picture of the view (PNG) to a file.
    pub fn screenshot(&self, path: &Path) {
        let answer = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let picture = base64::decode(answer["data"].as_str().expect("a picture has data"));
        fs::write(path, picture).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Returns errors in the console, exceptions that nobody caught, and violations of a content security policy, also those
    /// of workers.
    pub fn problems(&self) -> Vec<String> {
        // The browser sends complaints before its next answer.
        self.evaluate("1");
        self.connection.borrow_mut().tab(&self.session).problems.clone()
    }

    /// Forgets all problems, because a test expects them.
    pub fn forget_problems(&self) {
        self.connection.borrow_mut().tab(&self.session).problems.clear();
    }

    /// Checks that there are no [problems](Tab::problems).
    ///
    /// # Panics
    /// If there are.
    #[track_caller]
    pub fn assert_no_problems(&self) {
        let problems = self.problems();
        assert!(problems.is_empty(), "the page complains:\n{}", problems.join("\n"));
    }

    /// Closes the tab.
    pub fn close(self) {
        self.call("Page.close", json!({}));
    }
}

/// Returns whether JavaScript takes a value for true.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}
