//! What commands that give advice share: parts and risks in their output, and progress.

use std::io::{IsTerminal, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Error;
use dmodc::advise::StateRisk;
use dmodc::fabric::{CableEnds, Part};
use dmodc::{Fabric, RouteError, Router};
use serde_json::{Value, json};

use crate::route_state::explain;
use crate::text;

/// Returns a part in the notation of `--remove`: a GUID, or a GUID and a port.
pub(crate) fn notation(fabric: &Fabric, part: Part) -> String {
    let (s, port) = match part {
        Part::Switch(s) => return fabric.switch(s).guid.to_string(),
        Part::Cable(c) => match fabric.cable(c) {
            CableEnds::Switches(cable) => cable.a,
            CableEnds::Node(n) => (fabric.node(n).switch, fabric.node(n).switch_port),
        },
    };
    format!("{}/{port}", fabric.switch(s).guid)
}

/// Returns a part for machines: its notation, its kind, and its names.
pub(crate) fn describe(fabric: &Fabric, part: Part) -> Value {
    let (kind, name) = match part {
        Part::Switch(s) => ("switch", fabric.switch(s).name.to_string()),
        Part::Cable(c) => match fabric.cable(c) {
            CableEnds::Switches(cable) => {
                let [a, b] =
                    [cable.a, cable.b].map(|(s, p)| format!("{}/{p}", fabric.switch(s).name));
                ("cable", format!("{a} - {b}"))
            }
            CableEnds::Node(n) => {
                let node = fabric.node(n);
                let (switch, adapter) =
                    (&fabric.switch(node.switch).name, &fabric.adapter_of(n).name);
                ("node cable", format!("{switch}/{} - {adapter}", node.switch_port))
            }
        },
    };
    json!({ "part": notation(fabric, part), "kind": kind, "name": name })
}

/// Returns the name of a part in one line.
pub(crate) fn words(fabric: &Fabric, part: Part) -> String {
    dmodc_formats::printable(&text::removed(fabric, part)).to_string()
}

/// Adds the numbers of a state to an object.
pub(crate) fn add_risk(value: &mut Value, risk: &StateRisk) {
    value["lost"] = json!(risk.undelivered);
    value["a2a"] = json!(risk.all_to_all.max);
    value["a2a_bound"] = json!(risk.all_to_all.bound);
    value["sp"] = json!(risk.shifts.mean());
    value["sp_bound"] = json!(risk.shifts.mean_bound());
}

/// The head of a table of states.
pub(crate) const RISK_HEAD: &str = "      lost        a2a      bound       sp";

/// Returns the numbers of a state, below [`RISK_HEAD`].
pub(crate) fn risk_columns(risk: &StateRisk) -> String {
    let [lost, a2a, bound] =
        [risk.undelivered, risk.all_to_all.max, risk.all_to_all.bound].map(text::number);
    format!("{lost:>10} {a2a:>10} {bound:>10} {:>8.2}", risk.shifts.mean())
}

/// Shows at a terminal how many states were judged.
pub(crate) struct StateProgress {
    judged: AtomicUsize,
    shown: AtomicUsize,
    start: Instant,
    is_terminal: bool,
}

/// The time between two lines of progress, in milliseconds.
const PAUSE: usize = 100;

impl StateProgress {
    pub(crate) fn new() -> Self {
        StateProgress {
            judged: AtomicUsize::new(0),
            shown: AtomicUsize::new(0),
            start: Instant::now(),
            is_terminal: std::io::stderr().is_terminal(),
        }
    }

    /// Counts a state that was judged.
    pub(crate) fn count(&self) {
        let judged = self.judged.fetch_add(1, Ordering::Relaxed) + 1;
        let now = self.start.elapsed().as_millis() as usize / PAUSE;
        if self.is_terminal && self.shown.swap(now, Ordering::Relaxed) != now {
            // If the line cannot be shown, the work goes on.
            let _ = write!(std::io::stderr(), "\r{} judged\x1b[K", text::counted(judged, "state"));
        }
    }

    /// Clears the line, and returns the time that all took.
    pub(crate) fn finish(self) -> Duration {
        if self.is_terminal {
            eprint!("\r\x1b[K");
        }
        self.start.elapsed()
    }
}

/// Returns why a state of a router's fabric cannot be routed.
pub(crate) fn refusal(router: &Router, error: RouteError) -> Error {
    explain(error, router.live())
}
