//! The state folder: the orders and the learned reference that outlive OpenSM.
//!
//! A thread that may take long looks into the folder ([`look`]). What it finds is then weighed against the orders in
//! memory ([`StateFolder::update`]). A file is written only if its content was read before, or if it is known that there
//! is none.

mod look;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dmodc::{Guid, SavedOrders};

use crate::files::FileStamp;
use crate::subnet_manager::LogLevel;
use crate::writer::WrittenStamps;
use look::OrderFile;
pub(crate) use look::{StateFinding, StateQuery, guids_of, look};

/// The file of both orders.
pub(crate) const ORDERS: &str = "dmodc.orders";

/// The file whose existence asks for new numbers.
pub(crate) const RENUMBER: &str = "renumber";

/// The state folder as far as it is known.
#[derive(Default)]
pub(crate) struct StateFolder {
    /// The configured folder.
    configured: Option<PathBuf>,
    /// The folder in use: the configured one, or one below it for this subnet alone.
    pub(crate) in_use: Option<PathBuf>,
    /// The stamp of the order file when it was read.
    pub(crate) read_stamp: Option<FileStamp>,
    /// Why the order file must not be written: it was not read.
    pub(crate) blocked: Option<String>,
    /// Whether orders have to be written.
    pub(crate) is_unsaved: bool,
    /// The last request for new numbers that was granted.
    granted_request: Option<FileStamp>,
    /// The request that this run grants.
    open_request: Option<FileStamp>,
    /// All GUIDs that the order file listed when it was read first, for the event file.
    pub(crate) first_listed: Option<Arc<[Guid]>>,
}

/// The decision of a run after the files were weighed.
#[derive(Default)]
pub(crate) struct StateDecision {
    /// Orders to be used instead of those in memory.
    pub(crate) adopted: Option<SavedOrders>,
    /// Whether everything is to get new numbers.
    pub(crate) renumber: bool,
}

/// The state in memory, against which the files are weighed.
#[derive(Clone, Copy)]
pub(crate) struct StateInMemory {
    pub(crate) has_orders: bool,
    /// The stamps of the order file if nobody else has changed it since we wrote it.
    pub(crate) stamps: WrittenStamps,
}

impl StateFolder {
    /// Returns the path of the order file.
    pub(crate) fn order_file(&self) -> Option<PathBuf> {
        self.in_use.as_ref().map(|folder| folder.join(ORDERS))
    }

    /// Weighs what was found on the disk against the state in memory. Returns what the run is to do.
    pub(crate) fn update(
        &mut self,
        mut finding: StateFinding,
        memory: StateInMemory,
        log: &mut dyn FnMut(LogLevel, String),
    ) -> StateDecision {
        let StateInMemory { has_orders, stamps } = memory;
        if has_orders {
            // The disk may have been looked at before we wrote the file ourselves.
            finding.ignore_own_file(stamps);
        }
        let path = finding.folder.join(ORDERS);
        let name = path.display();
        let has_moved = self.in_use.as_ref().is_some_and(|before| *before != finding.folder);
        for (level, line) in finding.log_lines {
            log(level, line);
        }
        let was_blocked = self.blocked.take();
        let mut decision = StateDecision::default();
        match finding.orders {
            OrderFile::Same => {}
            OrderFile::Missing => {
                let was_there =
                    !has_moved && (stamps.written.is_some() || self.read_stamp.is_some());
                if was_there && has_orders {
                    let line = format!(
                        "{name} was removed; it is written again (for new numbers, use 'dmodc opensm renumber')"
                    );
                    log(LogLevel::Error, line);
                }
                self.read_stamp = None;
                self.is_unsaved |= has_orders;
            }
            OrderFile::Read { saved, stamp, listed } => {
                if has_orders {
                    let why = match was_blocked {
                        Some(_) => "can be read now",
                        None => "was changed by another program",
                    };
                    log(
                        LogLevel::Info,
                        format!("{name} {why}; everything is routed anew with its content"),
                    );
                }
                self.read_stamp = Some(stamp);
                self.is_unsaved = false;
                self.first_listed.get_or_insert(listed);
                decision.adopted = Some(saved);
            }
            OrderFile::Blocked(why) => {
                if was_blocked.as_ref() != Some(&why) {
                    log(LogLevel::Error, format!("{why}; the file is neither used nor replaced"));
                }
                self.blocked = Some(why);
            }
        }
        self.in_use = Some(finding.folder);
        self.open_request =
            finding.request.filter(|request| self.granted_request != Some(*request));
        decision.renumber = self.open_request.is_some();
        decision
    }

    /// Notes that the disk gave no answer in time.
    pub(crate) fn note_no_answer(
        &mut self,
        why: &str,
        has_orders: bool,
        log: &mut dyn FnMut(LogLevel, String),
    ) {
        let meanwhile = match has_orders {
            true => "the orders in memory are used",
            false => "new numbers are used until it can be read",
        };
        let folder = self.in_use.as_ref().or(self.configured.as_ref());
        let folder = folder.map_or(String::new(), |folder| folder.display().to_string());
        let line =
            format!("state folder {folder}: {why}; {meanwhile}, and no file there is replaced");
        if self.blocked.as_ref() != Some(&line) {
            log(LogLevel::Error, line.clone());
        }
        self.blocked = Some(line);
        self.open_request = None;
    }

    /// Notes that the run that grants a request has succeeded. Returns the path of the request.
    pub(crate) fn grant(&mut self) -> Option<PathBuf> {
        self.granted_request = Some(self.open_request.take()?);
        self.in_use.as_ref().map(|folder| folder.join(RENUMBER))
    }

    /// Starts again if another folder is configured than before.
    pub(crate) fn configure(&mut self, folder: &Path) {
        if self.configured.as_deref() != Some(folder) {
            let first_listed = self.first_listed.take();
            let configured = Some(folder.into());
            *self = StateFolder { configured, first_listed, ..StateFolder::default() };
        }
    }
}
