//! A file with a line for each event of OpenSM and each stage of an engine, for measurements. The environment variable
//! `DMODC_EVENTS` names it.
//!
//! ```text
//! 1794866542.123456 sweep
//! 1794866542.234567 tables dmodc 12.345 12.340
//! ```
//!
//! A line has the seconds since the epoch and a word. Stages also have the name of the engine, and the milliseconds that
//! they took on the clock and on the processor.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

/// An open file of events.
pub(crate) struct Timeline {
    file: File,
}

impl Timeline {
    /// Opens a file for appending.
    ///
    /// # Errors
    /// The error of the file system.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Timeline { file })
    }

    /// Appends a line.
    pub(crate) fn add(&mut self, words: fmt::Arguments<'_>) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        // A single write, so that readers see whole lines.
        let line = format!("{:.6} {words}\n", now.as_secs_f64());
        let _ = self.file.write_all(line.as_bytes());
    }
}
