//! Numbers for Prometheus, in its text format.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use axum::http::StatusCode;
use serde_json::Value;

use crate::history::HistorySize;

/// The upper ends of the classes of re-routing times, in seconds.
const CLASSES: [f64; 9] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0];

/// What is counted while the server runs.
#[derive(Default)]
pub(crate) struct Metrics {
    /// Answers by the first figure of their status.
    answers: [AtomicU64; 6],
    reroutes: Mutex<Reroutes>,
    moved_entries: AtomicU64,
    moved_blocks: AtomicU64,
    pub(crate) listeners: AtomicU64,
    pub(crate) running_jobs: AtomicU64,
    pub(crate) follow_readings: AtomicU64,
    pub(crate) follow_errors: AtomicU64,
    pub(crate) follow_seen_ms: AtomicU64,
    pub(crate) history_errors: AtomicU64,
}

/// How long re-routing took. All of it is counted at once, so that the numbers always agree with each other.
#[derive(Clone, Copy, Default)]
struct Reroutes {
    /// How many took no longer than the end of each class.
    by_class: [u64; CLASSES.len()],
    count: u64,
    seconds: f64,
}

/// The present state in numbers.
pub(crate) struct PresentNumbers {
    pub(crate) revision: u64,
    pub(crate) nodes: usize,
    pub(crate) switches: usize,
    pub(crate) cables: usize,
    pub(crate) failed_switches: usize,
    pub(crate) failed_cables: usize,
    pub(crate) is_valid: bool,
    pub(crate) history: HistorySize,
    /// The judgement of the present state; null while it is being computed.
    pub(crate) judgement: Value,
}

impl Metrics {
    pub(crate) fn count_answer(&self, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).min(5);
        self.answers[class].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an event.
    pub(crate) fn count_event(&self, event: &dmodc_view::Event) {
        let seconds = event.milliseconds.max(0.0) / 1000.0;
        {
            let mut reroutes = self.reroutes.lock().unwrap_or_else(PoisonError::into_inner);
            for (class, count) in CLASSES.iter().zip(&mut reroutes.by_class) {
                *count += u64::from(seconds <= *class);
            }
            reroutes.count += 1;
            reroutes.seconds += seconds;
        }
        self.moved_entries.fetch_add(event.entries, Ordering::Relaxed);
        self.moved_blocks.fetch_add(event.blocks, Ordering::Relaxed);
    }

    /// Returns all numbers.
    pub(crate) fn text(&self, now: &PresentNumbers) -> String {
        let mut page = Page(String::new());
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed) as f64;
        page.gauge("dmodc_serve_revision", "The number of the present state.", now.revision as f64);
        page.gauge("dmodc_serve_nodes", "Nodes of the fabric.", now.nodes as f64);
        page.gauge("dmodc_serve_switches", "Switches of the fabric.", now.switches as f64);
        page.gauge("dmodc_serve_cables", "Cables between switches.", now.cables as f64);
        page.gauge(
            "dmodc_serve_failed_switches",
            "Switches that have failed.",
            now.failed_switches as f64,
        );
        page.gauge(
            "dmodc_serve_failed_cables",
            "Cables that have failed.",
            now.failed_cables as f64,
        );
        page.gauge(
            "dmodc_serve_valid",
            "1 if every pair of leaves with nodes has a route.",
            f64::from(u8::from(now.is_valid)),
        );
        let judged = [
            (
                "dmodc_serve_lost_pairs",
                "Node pairs that cables connect and the tables do not deliver.",
                "/lost",
            ),
            ("dmodc_serve_cut_off_pairs", "Node pairs that no cables connect.", "/cut_off"),
            ("dmodc_serve_a2a_flows", "Flows of all-to-all on the worst port.", "/a2a/max"),
            (
                "dmodc_serve_a2a_bound_flows",
                "The lower bound of that for any routing.",
                "/a2a/bound",
            ),
        ];
        for (name, help, place) in judged {
            // Nothing is said while the judgement is being computed.
            if let Some(value) = now.judgement.pointer(place).and_then(Value::as_f64) {
                page.gauge(name, help, value);
            }
        }
        self.reroute_histogram(&mut page);
        page.counter(
            "dmodc_serve_moved_entries_total",
            "Table entries that changes have moved.",
            load(&self.moved_entries),
        );
        page.counter(
            "dmodc_serve_moved_blocks_total",
            "Blocks of 64 LIDs that changes have moved.",
            load(&self.moved_blocks),
        );
        page.head("dmodc_serve_answers_total", "counter", "Answers by class of HTTP status.");
        for (class, count) in self.answers.iter().enumerate().skip(1) {
            let _ = writeln!(
                page.0,
                "dmodc_serve_answers_total{{class=\"{class}xx\"}} {}",
                load(count)
            );
        }
        page.gauge("dmodc_serve_listeners", "Pages that listen to events.", load(&self.listeners));
        page.gauge("dmodc_serve_running_jobs", "Jobs that are running.", load(&self.running_jobs));
        page.counter(
            "dmodc_serve_follow_readings_total",
            "Readings of the live fabric.",
            load(&self.follow_readings),
        );
        page.counter(
            "dmodc_serve_follow_errors_total",
            "Readings of the live fabric that failed.",
            load(&self.follow_errors),
        );
        let seen = load(&self.follow_seen_ms) / 1000.0;
        page.gauge(
            "dmodc_serve_follow_seen_timestamp_seconds",
            "When the live fabric was read last; 0 if never.",
            seen,
        );
        page.gauge(
            "dmodc_serve_history_events",
            "Events in the history.",
            now.history.events as f64,
        );
        page.gauge(
            "dmodc_serve_history_bytes",
            "Bytes of the events in the history.",
            now.history.bytes as f64,
        );
        page.counter(
            "dmodc_serve_history_errors_total",
            "Events that could not be kept.",
            load(&self.history_errors),
        );
        page.0
    }

    fn reroute_histogram(&self, page: &mut Page) {
        let name = "dmodc_serve_reroute_seconds";
        page.head(name, "histogram", "How long re-routing took.");
        let Reroutes { by_class, count, seconds } =
            *self.reroutes.lock().unwrap_or_else(PoisonError::into_inner);
        for (class, count) in CLASSES.iter().zip(by_class) {
            let _ = writeln!(page.0, "{name}_bucket{{le=\"{class}\"}} {count}");
        }
        let _ = writeln!(page.0, "{name}_bucket{{le=\"+Inf\"}} {count}");
        let _ = writeln!(page.0, "{name}_sum {seconds}\n{name}_count {count}");
    }
}

/// A page of numbers.
struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.head(name, "gauge", help);
        let _ = writeln!(self.0, "{name} {value}");
    }

    fn counter(&mut self, name: &str, help: &str, value: f64) {
        self.head(name, "counter", help);
        let _ = writeln!(self.0, "{name} {value}");
    }
}
