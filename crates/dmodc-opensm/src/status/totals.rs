//! All runs since OpenSM started, and the last of them: the part of the status and metrics files that is known when a run
//! ends.

use dmodc::fabric::Counts;
use dmodc::judge::Delivery;
use serde_json::{Value, json};

use super::metrics::{Metric, MetricKind, MetricsText};
use super::{RunReport, milliseconds, now};
use crate::config::ReferenceSource;
use crate::snapshot::ReferenceReport;

/// Counts over all runs since OpenSM started.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunTotals {
    begun: u64,
    succeeded: u64,
    failed: u64,
    incremental: u64,
    route_seconds: f64,
    entries: u64,
    blocks: u64,
}

impl RunTotals {
    /// Counts a run that begins.
    pub(crate) fn begin(&mut self) {
        self.begun += 1;
    }

    /// Returns the number of the present run, from 1.
    pub(crate) fn run_number(&self) -> u64 {
        self.begun
    }

    /// Counts a run that gave tables.
    pub(crate) fn add(&mut self, report: &RunReport) {
        self.succeeded += 1;
        self.incremental += u64::from(report.is_incremental());
        self.route_seconds += report.times.route.as_secs_f64();
        self.entries += report.upload.entries;
        self.blocks += report.upload.blocks;
    }

    /// Counts a run that gave none.
    pub(crate) fn add_failure(&mut self) {
        self.failed += 1;
    }

    /// Returns the content of the status file: the last run, or why it failed.
    pub(crate) fn json(&self, report: Option<&RunReport>, error: Option<&str>) -> Value {
        json!({
            "schema": "dmodc/opensm/1",
            "time": now(),
            "ok": error.is_none(),
            "error": error,
            "runs": self.succeeded,
            "failures": self.failed,
            "verdict": report.map(RunReport::verdict),
            "warnings": report.map(|report| {
                let all = [&report.leaf_warning, &report.loss_reason];
                all.into_iter().flatten().cloned().collect::<Vec<String>>()
            }),
            "last": report.map(last_run),
        })
    }

    /// Returns the same in the format of Prometheus's textfile collector.
    pub(crate) fn metrics(&self, report: Option<&RunReport>) -> String {
        use MetricKind::{Counter, Gauge};
        let mut text = MetricsText::default();
        for (name, help, value) in [
            ("runs_total", "Routing runs that produced tables.", self.succeeded as f64),
            (
                "failures_total",
                "Routing runs without tables, after which OpenSM used another engine.",
                self.failed as f64,
            ),
            (
                "incremental_runs_total",
                "Routing runs that computed only what had changed.",
                self.incremental as f64,
            ),
            ("route_seconds_total", "Time spent routing.", self.route_seconds),
            ("entries_changed_total", "Table entries that changed.", self.entries as f64),
            (
                "blocks_changed_total",
                "Blocks of 64 table entries that changed.",
                self.blocks as f64,
            ),
        ] {
            text.add(Metric { name, kind: Counter, help, value });
        }
        let is_ok = f64::from(u8::from(report.is_some()));
        for (name, help, value) in [
            ("last_run_timestamp_seconds", "When the last run ended.", now()),
            ("last_run_ok", "Whether the last run produced tables.", is_ok),
        ] {
            text.add(Metric { name, kind: Gauge, help, value });
        }
        if let Some(report) = report {
            add_last_run(&mut text, report);
        }
        text.into_string()
    }
}

fn last_run(report: &RunReport) -> Value {
    let [faults, repairs] = report.faults_and_repairs();
    json!({
        "nodes": report.size.nodes,
        "switches": report.size.switches,
        "cables": report.size.cables,
        "engine": report.engine(),
        "reference": report.reference.as_ref().map(reference_json),
        "incremental": report.is_incremental(),
        "faults": faults,
        "repairs": repairs,
        "valid": report.coverage.is_valid(),
        "unreachable_leaf_pairs": report.coverage.unreachable_leaf_pairs,
        "pairs": report.delivery.pairs,
        "delivered": report.delivery.delivered,
        "lost": report.delivery.lost,
        "cut_off": report.delivery.cut_off,
        "entries_changed": report.upload.entries,
        "blocks_changed": report.upload.blocks,
        "switches_changed": report.upload.switches,
        "read_ms": milliseconds(report.times.collect),
        "files_ms": milliseconds(report.times.look),
        "route_ms": milliseconds(report.times.route),
        "write_ms": milliseconds(report.times.write),
    })
}

fn reference_json(reference: &ReferenceReport) -> Value {
    let counts = |counts: Counts| json!({ "switches": counts.switches, "nodes": counts.nodes, "cables": counts.cables });
    let changes = reference.changes.as_ref();
    json!({
        "source": match reference.source {
            ReferenceSource::Learn => "learned",
            ReferenceSource::Inferred => "inferred",
            ReferenceSource::File(_) => "file",
        },
        "file": reference.path.as_ref().map(|path| path.display().to_string()),
        "refused": changes.err(),
        "missing": changes.ok().map(|changes| counts(changes.missing)),
        "new": changes.ok().map(|changes| counts(changes.new)),
    })
}

fn add_last_run(text: &mut MetricsText, report: &RunReport) {
    let mut gauge = |name: &str, help: &str, value: f64| text.add(Metric::gauge(name, help, value));
    let seconds = report.times.route.as_secs_f64();
    gauge("last_route_seconds", "Time that the last run spent routing.", seconds);
    let is_valid = f64::from(u8::from(report.coverage.is_valid()));
    gauge("valid", "Whether all leaves with nodes have an up*down* route to each other.", is_valid);
    let lost = report.coverage.unreachable_leaf_pairs as f64;
    gauge("unreachable_leaf_pairs", "Pairs of leaves without a route.", lost);
    let Delivery { pairs, delivered, lost, cut_off } = report.delivery;
    let lost_help = "Node pairs that cables connect, but that the tables do not deliver.";
    gauge("pairs", "Ordered pairs of nodes.", pairs as f64);
    gauge("delivered_pairs", "Node pairs that are delivered.", delivered as f64);
    gauge("lost_pairs", lost_help, lost as f64);
    gauge("cut_off_pairs", "Node pairs that no working cables connect.", cut_off as f64);
    gauge("nodes", "Nodes of the fabric.", report.size.nodes as f64);
    gauge("switches", "Switches of the fabric.", report.size.switches as f64);
    gauge("inter_switch_cables", "Cables between switches.", report.size.cables as f64);
    let Some(reference) = &report.reference else { return };
    let is_used = f64::from(u8::from(reference.changes.is_ok()));
    gauge("reference_used", "Whether a reference is used to keep routes in place.", is_used);
    let Ok(changes) = &reference.changes else { return };
    let (missing, new) = (changes.missing, changes.new);
    for (kind, missing, new) in [
        ("switches", missing.switches, new.switches),
        ("nodes", missing.nodes, new.nodes),
        ("cables", missing.cables, new.cables),
    ] {
        let help = format!("Missing {kind} of the reference.");
        gauge(&format!("reference_missing_{kind}"), &help, missing as f64);
        let help = format!("Present {kind} that the reference does not have.");
        gauge(&format!("reference_new_{kind}"), &help, new as f64);
    }
}
