//! OpenSM as the safe part of the plugin sees it: a fabric, tables to write, options and a log. Tests have
//! stand-ins, so that everything above this trait runs without OpenSM.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use dmodc::{Fabric, Guid};

use crate::opensm_options::OpensmOptions;

/// How important a line of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogLevel {
    Error,
    Info,
    Verbose,
}

/// Writes a line into OpenSM's log, from any thread.
pub(crate) type Log = Arc<dyn Fn(LogLevel, &str) + Send + Sync>;

/// How a table that was handed over differs from the table that the switch has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableChange {
    /// Entries that differ.
    pub(crate) entries: u32,
    /// Blocks of 64 entries with at least one of them: OpenSM sends one packet for each.
    pub(crate) blocks: u32,
}

/// OpenSM, as far as a run needs it.
pub(crate) trait SubnetManager {
    /// Reads the present fabric.
    fn fabric(&mut self) -> Fabric;

    /// Returns the LMC of each switch that has several LIDs (2^LMC of them) in the fabric that was read last.
    fn switch_lmc(&self) -> HashMap<Guid, u8> {
        HashMap::new()
    }

    /// Returns those of OpenSM's own options that concern routing.
    fn options(&self) -> OpensmOptions {
        OpensmOptions::default()
    }

    /// Writes the table of a switch. Returns what will change there.
    ///
    /// # Errors
    /// If the switch has no room for it.
    fn write(&mut self, switch: Guid, entries: &[u8]) -> Result<TableChange, String>;

    /// Writes the hop table of a switch. For each of the switches with these LIDs, `hops` has an entry for each port.
    ///
    /// # Errors
    /// If the switch has no room for it.
    fn set_hops(&mut self, switch: Guid, lids: &[u16], hops: &[u8]) -> Result<(), String>;

    /// Writes a line into the log.
    fn log(&self, level: LogLevel, line: fmt::Arguments<'_>);
}

/// At most this many errors of a run are listed in the event file.
const MOST_ERRORS: usize = 20;

/// A subnet manager that also remembers the errors that were logged through it, for the event file.
pub(crate) struct ErrorRecorder<'a, M> {
    manager: &'a mut M,
    errors: RefCell<Vec<String>>,
}

impl<'a, M> ErrorRecorder<'a, M> {
    pub(crate) fn new(manager: &'a mut M) -> Self {
        ErrorRecorder { manager, errors: RefCell::default() }
    }

    /// Returns the errors since the last call.
    pub(crate) fn take_errors(&self) -> Vec<String> {
        self.errors.take()
    }
}

impl<M: SubnetManager> SubnetManager for ErrorRecorder<'_, M> {
    fn fabric(&mut self) -> Fabric {
        self.manager.fabric()
    }

    fn switch_lmc(&self) -> HashMap<Guid, u8> {
        self.manager.switch_lmc()
    }

    fn options(&self) -> OpensmOptions {
        self.manager.options()
    }

    fn write(&mut self, switch: Guid, entries: &[u8]) -> Result<TableChange, String> {
        self.manager.write(switch, entries)
    }

    fn set_hops(&mut self, switch: Guid, lids: &[u16], hops: &[u8]) -> Result<(), String> {
        self.manager.set_hops(switch, lids, hops)
    }

    fn log(&self, level: LogLevel, line: fmt::Arguments<'_>) {
        self.manager.log(level, line);
        let mut errors = self.errors.borrow_mut();
        if level == LogLevel::Error && errors.len() < MOST_ERRORS {
            errors.push(line.to_string());
        }
    }
}

/// Returns the message of a panic as one line.
pub(crate) fn panic_line(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("internal error, please report it: {}", text.unwrap_or("no message"))
}
