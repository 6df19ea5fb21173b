//! What a run did: for the log, for scripts, for Prometheus.

use std::fmt::{self, Write as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use dmodc::Coverage;
use dmodc::fabric::{Changes, Counts};
use dmodc::judge::Delivery;
use serde_json::{Value, json};

use crate::balance::Measured;
use crate::engine::Done;
use crate::plugin::time;
use crate::reference::Told;
use crate::writer::{Facts, Watch};

/// One run.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) nodes: usize,
    pub(crate) switches: usize,
    pub(crate) cables: usize,
    pub(crate) done: Done,
    pub(crate) coverage: Coverage,
    pub(crate) delivery: Delivery,
    /// If the configuration asks for one.
    pub(crate) reference: Option<Told>,
    /// Entries and blocks of 64 that differ from what the switches have.
    pub(crate) entries: u64,
    pub(crate) blocks: u64,
    /// Switches with such a block.
    pub(crate) moved: u64,
    /// Reading OpenSM's fabric, looking at files, routing, and writing OpenSM's tables.
    pub(crate) collected: Duration,
    pub(crate) looked: Duration,
    pub(crate) routed: Duration,
    pub(crate) written: Duration,
    /// What is odd about the rule for leaves.
    pub(crate) warning: Option<String>,
    /// If node pairs are lost: why, most likely.
    pub(crate) reason: Option<String>,
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

impl Report {
    /// Which engine it was, as `dmodc route` calls it.
    fn engine(&self) -> &'static str {
        match &self.reference {
            Some(Told { changes: Ok(_), .. }) => "stable",
            _ => "dmodc",
        }
    }

    /// What becomes of the node pairs, with the numbers of `dmodc check --json`.
    fn verdict(&self) -> Value {
        let Delivery { pairs, delivered, lost, cut_off } = self.delivery;
        json!({
            "valid": self.coverage.is_valid(),
            "pairs": pairs,
            "delivered": delivered,
            "lost": lost,
            "cut_off": cut_off,
        })
    }

    /// The facts of the run for the event file.
    pub(crate) fn event(&self) -> Value {
        let (routed, faults, repairs) = match self.done {
            Done::Anew => ("whole", None, None),
            Done::Applied { faults, repairs } => ("incremental", Some(faults), Some(repairs)),
        };
        json!({
            "routed": routed,
            "faults": faults,
            "repairs": repairs,
            "nodes": self.nodes,
            "switches": self.switches,
            "cables": self.cables,
            "moved": { "entries": self.entries, "blocks": self.blocks, "switches": self.moved },
            "verdict": self.verdict(),
            "ms": {
                "read": ms(self.collected),
                "files": ms(self.looked),
                "route": ms(self.routed),
                "write": ms(self.written),
            },
        })
    }
}

/// What else there is to say when reports are written, some of which is only known then.
#[derive(Clone)]
pub(crate) struct Situation {
    pub(crate) config_error: Option<String>,
    /// The state folder in use; why its orders are not written; whether they still have to be handed over.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) blocked: Option<String>,
    pub(crate) is_unsaved: bool,
    /// How the writer of the state folder is doing.
    pub(crate) state: Watch,
    /// What the numbers in use cost.
    pub(crate) numbers: Measured,
}

/// How a writer is doing, for scripts.
fn facts(facts: &Facts) -> Value {
    let busy = facts.busy.as_ref();
    json!({
        "pending": facts.pending,
        "writing": busy.map(|(path, _)| path.display().to_string()),
        "writing_ms": busy.map(|(_, since)| ms(*since)),
        "last_write_ms": facts.last.map(ms),
        "errors": facts.errors,
    })
}

impl Situation {
    /// The text of the status file.
    pub(crate) fn status(&self, status: &Value, own: &Facts) -> String {
        let mut status = status.clone();
        status["config_error"] = json!(self.config_error);
        let mut state = facts(&self.state.facts());
        state["folder"] = json!(self.folder.as_ref().map(|folder| folder.display().to_string()));
        state["not_read"] = json!(self.blocked);
        state["unsaved"] = json!(self.is_unsaved);
        status["state"] = state;
        status["numbers"] = self.numbers.json();
        // The file itself is being written.
        let own = Facts { pending: own.pending.saturating_sub(1), busy: None, ..own.clone() };
        status["reports"] = facts(&own);
        status["reports"]["events_dropped"] = json!(own.dropped);
        format!("{status:#}\n")
    }

    /// The text of the metrics file.
    pub(crate) fn metrics(&self, lines: &str, own: &Facts) -> String {
        let mut text = lines.to_string();
        let state = self.state.facts();
        let is_set = |is: bool| f64::from(u8::from(is));
        if let Some(ratio) = self.numbers.ratio() {
            let help = "How many times the congestion risk of fresh numbers those in use have.";
            let _ = write!(
                text,
                "# HELP dmodc_numbers_cost_ratio {help}\n# TYPE dmodc_numbers_cost_ratio gauge\n\
                 dmodc_numbers_cost_ratio {ratio}\n"
            );
        }
        let last = state.last.or(own.last).unwrap_or_default().as_secs_f64();
        for (name, help, value) in [
            (
                "config_error",
                "Whether the configuration of before is in use.",
                is_set(self.config_error.is_some()),
            ),
            (
                "state_not_read",
                "Whether saved orders could not be read.",
                is_set(self.blocked.is_some()),
            ),
            (
                "state_files_pending",
                "Files of state that are not written yet.",
                state.pending as f64,
            ),
            (
                "file_errors",
                "Files that could not be written.",
                (state.errors.len() + own.errors.len()) as f64,
            ),
            ("last_file_write_seconds", "How long the last file took to be written.", last),
            ("events_dropped", "Events that the event file lacks.", own.dropped as f64),
        ] {
            let _ = write!(
                text,
                "# HELP dmodc_{name} {help}\n# TYPE dmodc_{name} gauge\ndmodc_{name} {value}\n"
            );
        }
        text
    }
}

/// A reference for scripts.
fn reference(told: &Told) -> Value {
    let counts = |counts: Counts| json!({ "switches": counts.switches, "nodes": counts.nodes, "cables": counts.cables });
    let changes = told.changes.as_ref();
    json!({
        "source": if told.is_learned { "learned" } else { "file" },
        "file": told.path.display().to_string(),
        "refused": changes.err(),
        "missing": changes.ok().map(|changes| counts(changes.missing)),
        "new": changes.ok().map(|changes| counts(changes.new)),
    })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Report { nodes, switches, cables, entries, blocks, .. } = self;
        write!(f, "{nodes} nodes, {switches} switches, {cables} cables between them; ")?;
        match self.done {
            Done::Anew => f.write_str("all routed")?,
            Done::Applied { faults, repairs } => write!(f, "{faults} down, {repairs} up, routed")?,
        }
        let (routed, collected) = (time(self.routed), time(self.collected));
        write!(f, " in {routed} (read in {collected}, written in {}); ", time(self.written))?;
        match self.coverage.unreachable_leaf_pairs {
            0 if self.delivery.lost > 0 => f.write_str("NOT ALL DELIVERED: ")?,
            0 => f.write_str("valid; ")?,
            lost => write!(f, "INVALID: {lost} leaf pairs have no up*down* route; ")?,
        }
        write!(f, "{}; ", self.delivery)?;
        if let Some(reference) = &self.reference {
            write!(f, "{reference}; ")?;
        }
        write!(f, "{entries} entries in {blocks} blocks change")
    }
}

/// All runs since OpenSM started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    begun: u64,
    pub(crate) runs: u64,
    pub(crate) failures: u64,
    applied: u64,
    seconds: f64,
    entries: u64,
    blocks: u64,
}

impl Totals {
    /// A run begins.
    pub(crate) fn begin(&mut self) {
        self.begun += 1;
    }

    /// Returns the number of the run, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.begun
    }

    pub(crate) fn add(&mut self, report: &Report) {
        self.runs += 1;
        self.applied += u64::from(report.done != Done::Anew);
        self.seconds += report.routed.as_secs_f64();
        self.entries += report.entries;
        self.blocks += report.blocks;
    }

    /// The status file: the last run, or why it failed.
    pub(crate) fn json(&self, report: Option<&Report>, error: Option<&str>) -> Value {
        let run = report.map(|report| {
            let (faults, repairs) = match report.done {
                Done::Anew => (None, None),
                Done::Applied { faults, repairs } => (Some(faults), Some(repairs)),
            };
            json!({
                "nodes": report.nodes,
                "switches": report.switches,
                "cables": report.cables,
                "engine": report.engine(),
                "reference": report.reference.as_ref().map(reference),
                "incremental": report.done != Done::Anew,
                "faults": faults,
                "repairs": repairs,
                "valid": report.coverage.is_valid(),
                "unreachable_leaf_pairs": report.coverage.unreachable_leaf_pairs,
                "pairs": report.delivery.pairs,
                "delivered": report.delivery.delivered,
                "lost": report.delivery.lost,
                "cut_off": report.delivery.cut_off,
                "entries_changed": report.entries,
                "blocks_changed": report.blocks,
                "switches_changed": report.moved,
                "read_ms": ms(report.collected),
                "files_ms": ms(report.looked),
                "route_ms": ms(report.routed),
                "write_ms": ms(report.written),
            })
        });
        json!({
            "schema": "dmodc/opensm/1",
            "time": now(),
            "ok": error.is_none(),
            "error": error,
            "runs": self.runs,
            "failures": self.failures,
            "verdict": report.map(Report::verdict),
            "warnings": report.map(|report| {
                let all = [&report.warning, &report.reason];
                all.into_iter().flatten().cloned().collect::<Vec<String>>()
            }),
            "last": run,
        })
    }

    /// The same as Prometheus reads it from a text file.
    pub(crate) fn metrics(&self, report: Option<&Report>) -> String {
        let mut text = String::new();
        let mut metric = |name: &str, kind: &str, help: &str, value: f64| {
            let _ = write!(
                text,
                "# HELP dmodc_{name} {help}\n# TYPE dmodc_{name} {kind}\ndmodc_{name} {value}\n"
            );
        };
        let runs = "Routing runs that gave tables.";
        metric("runs_total", "counter", runs, self.runs as f64);
        let failures = "Routing runs that gave none, so that OpenSM used another engine.";
        metric("failures_total", "counter", failures, self.failures as f64);
        let applied = "Routing runs that computed only what had changed.";
        metric("incremental_runs_total", "counter", applied, self.applied as f64);
        metric("route_seconds_total", "counter", "Time spent routing.", self.seconds);
        let entries = "Table entries that changed.";
        metric("entries_changed_total", "counter", entries, self.entries as f64);
        let blocks = "Blocks of 64 table entries that changed.";
        metric("blocks_changed_total", "counter", blocks, self.blocks as f64);
        metric("last_run_timestamp_seconds", "gauge", "When the last run ended.", now());
        let ok = f64::from(u8::from(report.is_some()));
        metric("last_run_ok", "gauge", "Whether the last run gave tables.", ok);
        if let Some(report) = report {
            let seconds = report.routed.as_secs_f64();
            metric("last_route_seconds", "gauge", "How long the last run routed.", seconds);
            let valid = f64::from(u8::from(report.coverage.is_valid()));
            metric("valid", "gauge", "Whether every leaf with nodes reaches every other.", valid);
            let lost = report.coverage.unreachable_leaf_pairs as f64;
            metric("unreachable_leaf_pairs", "gauge", "Pairs of leaves without a route.", lost);
            let Delivery { pairs, delivered, lost, cut_off } = report.delivery;
            for (name, help, count) in [
                ("pairs", "Ordered pairs of nodes.", pairs),
                ("delivered_pairs", "Node pairs that are delivered.", delivered),
                (
                    "lost_pairs",
                    "Node pairs that live cables connect and the tables do not deliver.",
                    lost,
                ),
                ("cut_off_pairs", "Node pairs that no live cables connect.", cut_off),
            ] {
                metric(name, "gauge", help, count as f64);
            }
            metric("nodes", "gauge", "Nodes of the fabric.", report.nodes as f64);
            metric("switches", "gauge", "Switches of the fabric.", report.switches as f64);
            let cables = "Cables between switches.";
            metric("inter_switch_cables", "gauge", cables, report.cables as f64);
            if let Some(told) = &report.reference {
                let used = f64::from(u8::from(told.changes.is_ok()));
                metric(
                    "reference_used",
                    "gauge",
                    "Whether routes are kept from a reference.",
                    used,
                );
                if let Ok(Changes { missing, new, .. }) = &told.changes {
                    for (kind, missing, new) in [
                        ("switches", missing.switches, new.switches),
                        ("nodes", missing.nodes, new.nodes),
                        ("cables", missing.cables, new.cables),
                    ] {
                        let help = format!("Of the reference's {kind}, those that are missing.");
                        let name = format!("reference_missing_{kind}");
                        metric(&name, "gauge", &help, missing as f64);
                        let help = format!("The {kind} that the reference does not have.");
                        metric(&format!("reference_new_{kind}"), "gauge", &help, new as f64);
                    }
                }
            }
        }
        text
    }
}

/// Seconds since the epoch.
pub(crate) fn now() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        Report {
            nodes: 12,
            switches: 16,
            cables: 32,
            done: Done::Applied { faults: 1, repairs: 0 },
            coverage: Coverage::default(),
            delivery: Delivery { pairs: 132, delivered: 126, lost: 4, cut_off: 2 },
            reference: None,
            entries: 7,
            blocks: 3,
            moved: 2,
            collected: Duration::from_micros(120),
            looked: Duration::ZERO,
            warning: None,
            reason: None,
            routed: Duration::from_micros(310),
            written: Duration::from_micros(50),
        }
    }

    #[test]
    fn a_run_is_one_line() {
        assert_eq!(
            report().to_string(),
            "12 nodes, 16 switches, 32 cables between them; 1 down, 0 up, routed in 0.31 ms (read in \
             0.12 ms, written in 0.05 ms); NOT ALL DELIVERED: 126 of 132 node pairs delivered, 4 lost, 2 cut \
             off; 7 entries in 3 blocks change"
        );
        let delivery = Delivery { pairs: 132, delivered: 130, lost: 0, cut_off: 2 };
        let line = Report { delivery, ..report() }.to_string();
        assert!(line.contains("; valid; 130 of 132 node pairs delivered, 2 cut off; "), "{line}");
    }

    #[test]
    fn a_reference_is_told_everywhere() {
        let missing = Counts { switches: 1, nodes: 0, cables: 3 };
        let changes = Changes { missing, ..Changes::default() };
        let told =
            |changes| Told { is_learned: true, path: "/state/reference.json".into(), changes };
        let used = Report { reference: Some(told(Ok(changes))), ..report() };
        assert!(used.to_string().contains("; reference: missing 1 switch, 3 cables; 7 entries"));
        let totals = Totals::default();
        let json = |report: &Report| -> Value { totals.json(Some(report), None) };
        let last = &json(&used)["last"];
        assert_eq!(
            (&last["engine"], &last["reference"]["missing"]["cables"]),
            (&"stable".into(), &3.into())
        );
        let metrics = totals.metrics(Some(&used));
        assert!(metrics.contains("\ndmodc_reference_used 1\n"));
        assert!(metrics.contains("\ndmodc_reference_missing_cables 3\n"));
        let refused = Report { reference: Some(told(Err("why".into()))), ..report() };
        assert!(refused.to_string().contains("; NO REFERENCE: why; "));
        let last = &json(&refused)["last"];
        assert_eq!(
            (&last["engine"], &last["reference"]["refused"]),
            (&"dmodc".into(), &"why".into())
        );
        assert!(totals.metrics(Some(&refused)).contains("\ndmodc_reference_used 0\n"));
        assert_eq!(json(&report())["last"]["reference"], Value::Null);
    }

    #[test]
    fn scripts_and_prometheus_read_the_same() {
        let mut totals = Totals::default();
        totals.add(&report());
        let json = totals.json(Some(&report()), None);
        assert_eq!(json["last"]["entries_changed"], 7);
        assert_eq!(json["ok"], true);
        for (key, name, count) in [
            ("pairs", "pairs", 132),
            ("delivered", "delivered_pairs", 126),
            ("lost", "lost_pairs", 4),
            ("cut_off", "cut_off_pairs", 2),
        ] {
            assert_eq!(json["last"][key], count);
            assert_eq!(json["verdict"][key], count);
            let line = format!("\ndmodc_{name} {count}\n");
            assert!(totals.metrics(Some(&report())).contains(&line), "{line}");
        }
        let metrics = totals.metrics(Some(&report()));
        assert!(metrics.contains("# TYPE dmodc_runs_total counter\ndmodc_runs_total 1\n"));
        assert!(metrics.contains("dmodc_valid 1\n"));
        let failed = totals.metrics(None);
        assert!(failed.contains("dmodc_last_run_ok 0\n") && !failed.contains("dmodc_valid"));
        let json = totals.json(None, Some("why"));
        assert_eq!((&json["error"], &json["verdict"]), (&"why".into(), &Value::Null));
    }
}
