//! The text format of Prometheus: for each metric its help, its type and its value.
//!
//! ```text
//! # HELP dmodc_runs_total Routing runs that gave tables.
//! # TYPE dmodc_runs_total counter
//! dmodc_runs_total 17
//! ```

use std::fmt::Write as _;

/// The kind of a metric, as Prometheus defines it.
#[derive(Clone, Copy)]
pub(super) enum MetricKind {
    /// It only grows.
    Counter,
    Gauge,
}

/// A metric with its value. The name goes without the prefix `dmodc_`.
pub(super) struct Metric<'a> {
    pub(super) name: &'a str,
    pub(super) kind: MetricKind,
    pub(super) help: &'a str,
    pub(super) value: f64,
}

impl<'a> Metric<'a> {
    pub(super) fn gauge(name: &'a str, help: &'a str, value: f64) -> Self {
        Metric { name, kind: MetricKind::Gauge, help, value }
    }
}

/// The text of a metrics file.
#[derive(Default)]
pub(super) struct MetricsText(String);

impl MetricsText {
    /// Returns a text that continues this one.
    pub(super) fn after(text: &str) -> Self {
        MetricsText(text.into())
    }

    pub(super) fn add(&mut self, metric: Metric<'_>) {
        let Metric { name, kind, help, value } = metric;
        let kind = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
        };
        let _ = write!(
            self.0,
            "# HELP dmodc_{name} {help}\n# TYPE dmodc_{name} {kind}\ndmodc_{name} {value}\n"
        );
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}
