//! The event file: a line of JSON for every run, with the parts that failed or came back and what became of the tables.
//!
//! All of this happens in the thread that writes files. The changes are found by comparing the fabric with that of the
//! line before, by GUID, so that they do not depend on how the run was routed.

mod tracker;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dmodc::{Fabric, Guid};
use serde_json::{Value, json};

use crate::files;
use tracker::FabricTracker;

/// The format of a line, for its readers.
const SCHEMA: &str = "dmodc/opensm-event/1";

/// A file that would become larger is renamed, and a new one is begun.
const LARGEST: u64 = 16 << 20;

/// Something that happened.
pub(crate) struct PluginEvent {
    /// `run`, `failure` or `configuration-error`.
    pub(crate) kind: &'static str,
    /// Seconds since the epoch.
    pub(crate) time: f64,
    /// The number of the run, from 1.
    pub(crate) run: u64,
    /// Further members of the line, as an object.
    pub(crate) facts: Value,
    /// The fabric of the run. Events that wait for too long lose it, to save memory.
    pub(crate) fabric: Option<Arc<Fabric>>,
    /// Switches and nodes that are known from before the first run.
    pub(crate) known: Option<Arc<[Guid]>>,
}

/// Writes event files, and remembers the fabric of the last line.
pub(crate) struct EventJournal {
    tracker: FabricTracker,
    largest: u64,
}

impl Default for EventJournal {
    fn default() -> Self {
        EventJournal { tracker: FabricTracker::default(), largest: LARGEST }
    }
}

impl EventJournal {
    /// Appends a line, with a single write, so that readers who follow the file see whole lines. A full file becomes
    /// `PATH.1`.
    pub(crate) fn write(&mut self, path: &Path, event: &PluginEvent) -> io::Result<()> {
        let line = self.line(event);
        let (mut file, mut size) = files::open_end(path)?;
        if size > 0 && size + line.len() as u64 > self.largest {
            drop(file);
            let mut before = path.as_os_str().to_owned();
            before.push(".1");
            fs::rename(path, PathBuf::from(before))?;
            (file, size) = files::open_end(path)?;
        }
        let error = match file.write(&line) {
            Ok(count) if count == line.len() => return Ok(()),
            Ok(_) => io::Error::from(io::ErrorKind::StorageFull),
            Err(error) => error,
        };
        // Half a line would spoil the next one.
        let _ = file.set_len(size);
        Err(error)
    }

    fn line(&mut self, event: &PluginEvent) -> Vec<u8> {
        let mut value = json!({
            "schema": SCHEMA,
            "time": event.time,
            "run": event.run,
            "kind": event.kind,
        });
        if let Some(known) = &event.known {
            self.tracker.know(known);
        }
        if event.kind == "run" {
            value["changes"] = match &event.fabric {
                Some(fabric) => self.tracker.compare(fabric),
                // The next line with a fabric lists these changes, too.
                None => Value::Null,
            };
        }
        if let (Value::Object(all), Value::Object(facts)) = (&mut value, &event.facts) {
            all.extend(facts.clone());
        }
        format!("{value}\n").into_bytes()
    }
}

#[cfg(test)]
mod tests;
