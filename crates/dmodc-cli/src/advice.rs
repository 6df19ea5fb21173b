//! What commands that give advice share: parts and risks in their output, and progress.

use std::io::{IsTerminal, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Error;
use dmodc::advise::StateRisk;
use dmodc::fabric::Part;
use dmodc::{Fabric, RouteError, Router};
pub(crate) use dmodc_study::answers::maintenance::describe;

use crate::route_state::explain;
use crate::text;

/// Returns the name of a part in one line.
pub(crate) fn words(fabric: &Fabric, part: Part) -> String {
    dmodc_formats::printable(&text::removed(fabric, part)).to_string()
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
