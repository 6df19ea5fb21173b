//! The messages to the browser and from it.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// An answer that takes longer is not waited for. Pages with large fabrics take a while to load on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// What is noted about a tab.
#[derive(Default)]
pub(crate) struct TabRecord {
    /// How often a page was loaded.
    pub(crate) loads: usize,
    /// Errors in the console, exceptions that nobody caught, and violations of a content security policy.
    pub(crate) problems: Vec<String>,
}

/// The pipe to the browser.
pub(crate) struct Connection {
    to: ChildStdin,
    from: Receiver<Value>,
    next: u64,
    tabs: HashMap<String, TabRecord>,
    /// The sessions of workers, and the tabs that they belong to.
    workers: HashMap<String, String>,
}

impl Connection {
    pub(crate) fn new((to, from): (ChildStdin, ChildStdout)) -> Self {
        let (sender, receiver) = channel();
        // The thread ends with the pipe, and the pipe ends with the browser.
        thread::spawn(move || {
            for message in BufReader::new(from).split(0) {
                let Ok(message) = message else { return };
                let Ok(message) = serde_json::from_slice(&message) else { continue };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Connection { to, from: receiver, next: 1, tabs: HashMap::new(), workers: HashMap::new() }
    }

    /// Returns what is noted about a tab.
    pub(crate) fn tab(&mut self, session: &str) -> &mut TabRecord {
        while let Ok(message) = self.from.try_recv() {
            self.note(&message);
        }
        self.tabs.entry(session.to_owned()).or_default()
    }

    /// Calls a method of the protocol, and returns its result.
    ///
    /// # Panics
    /// If the browser refuses, or does not answer.
    pub(crate) fn call(&mut self, session: Option<&str>, method: &str, parameters: Value) -> Value {
        let id = self.send(session, method, parameters);
        loop {
            let message = self.receive(method);
            if message["id"] != json!(id) {
                self.note(&message);
                continue;
            }
            if let Some(error) = message.get("error") {
                panic!("the browser refuses {method}: {error}");
            }
            return message["result"].clone();
        }
    }

    /// Waits until a condition about a tab holds.
    pub(crate) fn wait(&mut self, session: &str, what: &str, is_met: impl Fn(&TabRecord) -> bool) {
        while !is_met(self.tab(session)) {
            let message = self.receive(what);
            self.note(&message);
        }
    }

    fn receive(&mut self, what: &str) -> Value {
        match self.from.recv_timeout(PATIENCE) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => {
                panic!("the browser has not answered {what} within {PATIENCE:?}")
            }
            Err(RecvTimeoutError::Disconnected) => {
                panic!("the browser ended while it was asked for {what}")
            }
        }
    }

    fn send(&mut self, session: Option<&str>, method: &str, parameters: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let text = message.to_string() + "\0";
        let sent = self.to.write_all(text.as_bytes()).and_then(|()| self.to.flush());
        sent.unwrap_or_else(|error| panic!("the browser takes no message ({method}): {error}"));
        id
    }

    /// Notes an event. Answers that nobody waits for are ignored.
    fn note(&mut self, message: &Value) {
        let session = message["sessionId"].as_str().unwrap_or_default().to_owned();
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("Target.attachedToTarget") => {
                let worker = parameters["sessionId"].as_str().unwrap_or_default().to_owned();
                if session.is_empty() || worker.is_empty() {
                    return;
                }
                for method in ["Runtime.enable", "Log.enable"] {
                    self.send(Some(&worker), method, json!({}));
                }
                self.workers.insert(worker, session);
            }
            Some("Page.loadEventFired") => self.tabs.entry(session).or_default().loads += 1,
            Some(method) => {
                if let Some(problem) = problem(method, parameters) {
                    let tab = self.workers.get(&session).unwrap_or(&session).clone();
                    self.tabs.entry(tab).or_default().problems.push(problem);
                }
            }
            None => {}
        }
    }
}

/// Returns what an event complains about, if it does.
fn problem(method: &str, parameters: &Value) -> Option<String> {
    match method {
        "Runtime.exceptionThrown" => {
            let details = &parameters["exceptionDetails"];
            let text = details["exception"]["description"].as_str().or(details["text"].as_str());
            Some(format!("exception: {}", text.unwrap_or("without a description")))
        }
        "Runtime.consoleAPICalled" => {
            let is_error = matches!(parameters["type"].as_str(), Some("error" | "assert"));
            let word = |argument: &Value| match argument["value"].as_str() {
                Some(text) => text.to_owned(),
                None => argument["description"].as_str().unwrap_or("?").to_owned(),
            };
            let words = parameters["args"].as_array().map(Vec::as_slice).unwrap_or_default();
            is_error.then(|| words.iter().map(word).collect::<Vec<_>>().join(" "))
        }
        "Log.entryAdded" => {
            let entry = &parameters["entry"];
            let is_bad = entry["level"] == "error" || entry["source"] == "security";
            let text = |name: &str| entry[name].as_str().unwrap_or_default();
            is_bad.then(|| format!("{}: {} {}", text("source"), text("text"), text("url")))
        }
        _ => None,
    }
}
