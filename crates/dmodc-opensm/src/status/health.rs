//! How the plugin itself is doing: configuration, files and balance. These are the parts of the status and metrics
//! files that are only known when the files are written.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::metrics::{Metric, MetricsText};
use super::milliseconds;
use crate::balance::MeasuredBalance;
use crate::writer::{WriterFacts, WriterWatch};

/// How the plugin is doing after a run.
#[derive(Clone)]
pub(crate) struct PluginHealth {
    pub(crate) config_error: Option<String>,
    /// The state folder in use.
    pub(crate) folder: Option<PathBuf>,
    /// Why the order file there is not written, if it must not be.
    pub(crate) blocked: Option<String>,
    /// Whether orders still have to be handed to the writer.
    pub(crate) is_unsaved: bool,
    /// The writer of the state folder.
    pub(crate) state_writer: WriterWatch,
    /// How much worse the balance is than with fresh numbers.
    pub(crate) balance: MeasuredBalance,
}

impl PluginHealth {
    /// Returns the text of the status file. `own` are the facts of the writer that writes it.
    pub(crate) fn status_text(&self, status: &Value, own: &WriterFacts) -> String {
        let mut status = status.clone();
        status["config_error"] = json!(self.config_error);
        let mut state = writer_json(&self.state_writer.facts());
        state["folder"] = json!(self.folder.as_ref().map(|folder| folder.display().to_string()));
        state["not_read"] = json!(self.blocked);
        state["unsaved"] = json!(self.is_unsaved);
        status["state"] = state;
        status["numbers"] = self.balance.json();
        // The status file itself is being written and does not count.
        let own = WriterFacts { pending: own.pending.saturating_sub(1), busy: None, ..own.clone() };
        status["reports"] = writer_json(&own);
        status["reports"]["events_dropped"] = json!(own.dropped_events);
        format!("{status:#}\n")
    }

    /// Returns the text of the metrics file. `own` are the facts of the writer that writes it.
    pub(crate) fn metrics_text(&self, run_metrics: &str, own: &WriterFacts) -> String {
        let mut text = MetricsText::after(run_metrics);
        let state = self.state_writer.facts();
        let flag = |is_set: bool| f64::from(u8::from(is_set));
        if let Some(ratio) = self.balance.ratio() {
            let help = "Congestion risk of the numbers in use, divided by that of new numbers.";
            text.add(Metric::gauge("numbers_cost_ratio", help, ratio));
        }
        let last = state.last_write.or(own.last_write).unwrap_or_default().as_secs_f64();
        for (name, help, value) in [
            (
                "config_error",
                "Whether an earlier configuration is in use, because the present one has an error.",
                flag(self.config_error.is_some()),
            ),
            (
                "state_not_read",
                "Whether saved orders could not be read.",
                flag(self.blocked.is_some()),
            ),
            ("state_files_pending", "State files that are not written yet.", state.pending as f64),
            (
                "file_errors",
                "Files that could not be written.",
                (state.errors.len() + own.errors.len()) as f64,
            ),
            ("last_file_write_seconds", "How long the last file took to be written.", last),
            (
                "events_dropped",
                "Events that could not be written to the event file.",
                own.dropped_events as f64,
            ),
        ] {
            text.add(Metric::gauge(name, help, value));
        }
        text.into_string()
    }
}

/// Returns how a writer is doing, as the status file has it.
fn writer_json(facts: &WriterFacts) -> Value {
    let busy = facts.busy.as_ref();
    json!({
        "pending": facts.pending,
        "writing": busy.map(|(path, _)| path.display().to_string()),
        "writing_ms": busy.map(|(_, since)| milliseconds(*since)),
        "last_write_ms": facts.last_write.map(milliseconds),
        "errors": facts.errors,
    })
}
