//! PluginEvent file, status file and metrics file.

use std::path::Path;
use std::sync::Arc;

use dmodc::Fabric;
use serde_json::Value;

use super::Plugin;
use crate::events::PluginEvent;
use crate::status::{PluginHealth, RunReport, now};
use crate::writer::FileTask;

impl Plugin {
    /// Hands a line of the event file to the writer.
    pub(super) fn event(&mut self, kind: &'static str, facts: Value, fabric: Option<Arc<Fabric>>) {
        let path = self.configuration.present().and_then(|config| config.event_file.clone());
        let Some(path) = path else { return };
        let known = fabric.as_ref().and_then(|_| self.state_folder.first_listed.take());
        let run = self.totals.run_number();
        self.report_writer
            .event(&path, PluginEvent { kind, time: now(), run, facts, fabric, known });
    }

    /// Hands the status file and the metrics file to the writer.
    pub(super) fn report(&mut self, report: Option<&RunReport>, error: Option<&str>) {
        let Some(config) = self.configuration.present() else { return };
        let [status, metrics] = [config.status_file.clone(), config.metrics_file.clone()];
        let health = PluginHealth {
            config_error: self.configuration.error(),
            folder: self.state_folder.in_use.clone(),
            blocked: self.state_folder.blocked.clone(),
            is_unsaved: self.state_folder.is_unsaved,
            state_writer: self.state_writer.watch(),
            balance: self.balance.measured(),
        };
        for path in [&status, &metrics].into_iter().flatten() {
            self.sweep_report_folder(path);
        }
        if let Some(path) = status {
            let value = self.totals.json(report, error);
            let health = health.clone();
            let text = Arc::new(move |own: &_| Ok(health.status_text(&value, own).into_bytes()));
            self.report_writer.report(&path, text);
        }
        if let Some(path) = metrics {
            let lines = self.totals.metrics(report);
            let text = Arc::new(move |own: &_| Ok(health.metrics_text(&lines, own).into_bytes()));
            self.report_writer.report(&path, text);
        }
    }

    /// Has the unfinished files of dead processes removed, once, from the folder of a report.
    fn sweep_report_folder(&mut self, report: &Path) {
        if let Some(folder) = report.parent()
            && self.swept_folders.insert(folder.into())
        {
            self.report_writer.file(folder, FileTask::Sweep);
        }
    }
}
