//! Events and scenarios that outlive the program, in one file (an embedded database, `redb`).
//!
//! An event is acknowledged when it is on the disk: after a crash or a power cut the file holds every acknowledged event, and
//! no half of another one. The file is bounded by age and by size: the oldest events go first.

use std::path::Path;

use dmodc_view::{Event, Scenario};
use redb::backends::InMemoryBackend;
use redb::{Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Events as JSON, by sequence.
const EVENTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("events");

/// Scenarios as JSON, by name.
const SCENARIOS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("scenarios");

/// Numbers by name.
const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("numbers");

/// The bytes of all events.
const BYTES: &str = "event bytes";

/// The last sequence that was given.
const LAST: &str = "last sequence";

/// The greatest number of scenarios.
pub const MOST_SCENARIOS: usize = 1000;

/// How much history is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryLimits {
    /// Events that are older, in milliseconds, are removed.
    pub age_ms: u64,
    /// If all events have more bytes than this, the oldest are removed. Scenarios together may have as many; no more can be
    /// saved then.
    pub bytes: u64,
}

impl Default for HistoryLimits {
    /// Returns 90 days and 64 MiB.
    fn default() -> Self {
        HistoryLimits { age_ms: 90 * 24 * 3600 * 1000, bytes: 64 << 20 }
    }
}

/// Why the history cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// Another program uses the file.
    #[error(
        "another program uses it, probably another 'dmodc serve'; end that, or choose another file with --history"
    )]
    InUse,
    /// The database failed.
    #[error("{0}")]
    Database(Box<redb::Error>),
    /// A record is not what was written.
    #[error("a record cannot be read: {0}")]
    Record(#[from] serde_json::Error),
    /// There are too many scenarios.
    #[error("there are {MOST_SCENARIOS} scenarios; delete one first")]
    TooMany,
    /// The scenarios are too large.
    #[error("all scenarios together would have more than {0} bytes; delete one first")]
    TooLarge(u64),
}

/// The errors of the database are of many types, all of which are one for us.
macro_rules! from_database_errors {
    ($($error:ident),*) => {$(
        impl From<redb::$error> for HistoryError {
            fn from(error: redb::$error) -> Self {
                match error.into() {
                    redb::Error::DatabaseAlreadyOpen => HistoryError::InUse,
                    other => HistoryError::Database(Box::new(other)),
                }
            }
        }
    )*};
}

from_database_errors!(CommitError, DatabaseError, StorageError, TableError, TransactionError);

/// A scenario by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedScenario {
    /// When it was saved, in milliseconds since 1970.
    pub time_ms: u64,
    /// The faults and the engine.
    pub scenario: Scenario,
}

/// Events and scenarios.
pub struct History {
    database: Database,
    limits: HistoryLimits,
}

/// The event that was kept first.
struct OldestEvent {
    sequence: u64,
    bytes: u64,
    /// When it happened; `None` if it cannot be read.
    time_ms: Option<u64>,
}

fn oldest(events: &redb::Table<'_, u64, &[u8]>) -> Result<Option<OldestEvent>, HistoryError> {
    let Some((sequence, text)) = events.first()? else { return Ok(None) };
    let event: Option<Value> = serde_json::from_slice(text.value()).ok();
    Ok(Some(OldestEvent {
        sequence: sequence.value(),
        bytes: text.value().len() as u64,
        time_ms: event.and_then(|event| event["time_ms"].as_u64()),
    }))
}

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistorySize {
    /// Events.
    pub events: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl History {
    /// Opens a file, or makes it.
    ///
    /// # Errors
    /// If the file is in use, or no such database.
    pub fn open(path: &Path, limits: HistoryLimits) -> Result<Self, HistoryError> {
        Self::with(Database::create(path)?, limits)
    }

    /// Keeps everything in memory, until the program ends.
    ///
    /// # Errors
    /// The error of the database.
    pub fn in_memory(limits: HistoryLimits) -> Result<Self, HistoryError> {
        let database = Database::builder().create_with_backend(InMemoryBackend::new())?;
        Self::with(database, limits)
    }

    fn with(database: Database, limits: HistoryLimits) -> Result<Self, HistoryError> {
        let write = database.begin_write()?;
        write.open_table(EVENTS)?;
        write.open_table(SCENARIOS)?;
        write.open_table(NUMBERS)?;
        write.commit()?;
        Ok(History { database, limits })
    }

    /// Returns the number of the last event, 0 if there was none.
    ///
    /// # Errors
    /// The error of the database.
    pub fn last_sequence(&self) -> Result<u64, HistoryError> {
        let numbers = self.database.begin_read()?.open_table(NUMBERS)?;
        Ok(numbers.get(LAST)?.map_or(0, |last| last.value()))
    }

    /// Keeps an event. It is on the disk when this returns. Removes events that are too old or too many.
    ///
    /// # Errors
    /// If it could not be kept; then nothing changed.
    pub fn append(&self, event: &Event) -> Result<(), HistoryError> {
        let text = serde_json::to_vec(event)?;
        let write = self.database.begin_write()?;
        {
            let mut events = write.open_table(EVENTS)?;
            let mut numbers = write.open_table(NUMBERS)?;
            let mut bytes = numbers.get(BYTES)?.map_or(0, |bytes| bytes.value());
            let replaced = events.insert(event.sequence, &*text)?.map(|old| old.value().len());
            bytes = bytes + text.len() as u64 - replaced.unwrap_or(0) as u64;
            let oldest_ms = event.time_ms.saturating_sub(self.limits.age_ms);
            while let Some(oldest) = oldest(&events)? {
                let is_old = oldest.time_ms.is_none_or(|time| time < oldest_ms);
                if oldest.sequence == event.sequence || (bytes <= self.limits.bytes && !is_old) {
                    break;
                }
                events.remove(oldest.sequence)?;
                bytes -= oldest.bytes;
            }
            numbers.insert(BYTES, bytes)?;
            let last = numbers.get(LAST)?.map_or(0, |last| last.value());
            numbers.insert(LAST, last.max(event.sequence))?;
        }
        write.commit()?;
        Ok(())
    }

    /// Adds a judgement to an event, if the event is still there.
    ///
    /// # Errors
    /// The error of the database.
    pub fn note_judgement(&self, sequence: u64, judgement: &Value) -> Result<(), HistoryError> {
        match self.event(sequence)? {
            Some(event) => self.append(&Event { judgement: Some(judgement.clone()), ..event }),
            None => Ok(()),
        }
    }

    /// Returns an event.
    ///
    /// # Errors
    /// The error of the database.
    pub fn event(&self, sequence: u64) -> Result<Option<Event>, HistoryError> {
        let events = self.database.begin_read()?.open_table(EVENTS)?;
        let found = events.get(sequence)?;
        Ok(found.map(|text| serde_json::from_slice(text.value())).transpose()?)
    }

    /// Returns up to `limit` events before a sequence, the newest first, and whether there are more.
    ///
    /// # Errors
    /// The error of the database.
    pub fn events(&self, before: u64, limit: usize) -> Result<(Vec<Event>, bool), HistoryError> {
        let events = self.database.begin_read()?.open_table(EVENTS)?;
        let mut found = Vec::new();
        let mut all = events.range(..before)?.rev();
        for row in all.by_ref().take(limit) {
            found.push(serde_json::from_slice(row?.1.value())?);
        }
        Ok((found, all.next().is_some()))
    }

    /// Calls `each` with the JSON of every event, the oldest first, until it returns false.
    ///
    /// # Errors
    /// The error of the database.
    pub fn for_each(&self, mut each: impl FnMut(&[u8]) -> bool) -> Result<(), HistoryError> {
        let events = self.database.begin_read()?.open_table(EVENTS)?;
        for row in events.iter()? {
            if !each(row?.1.value()) {
                break;
            }
        }
        Ok(())
    }

    /// Returns how much there is.
    ///
    /// # Errors
    /// The error of the database.
    pub fn size(&self) -> Result<HistorySize, HistoryError> {
        let read = self.database.begin_read()?;
        let bytes = read.open_table(NUMBERS)?.get(BYTES)?.map_or(0, |bytes| bytes.value());
        Ok(HistorySize { events: read.open_table(EVENTS)?.len()?, bytes })
    }

    /// Keeps a scenario by a name; an earlier one of that name is replaced.
    ///
    /// # Errors
    /// If there are too many, or it could not be kept.
    pub fn save(&self, name: &str, scenario: &SavedScenario) -> Result<(), HistoryError> {
        let text = serde_json::to_vec(scenario)?;
        let write = self.database.begin_write()?;
        {
            let mut scenarios = write.open_table(SCENARIOS)?;
            let is_new = scenarios.get(name)?.is_none();
            if is_new && scenarios.len()? >= MOST_SCENARIOS as u64 {
                return Err(HistoryError::TooMany);
            }
            let mut bytes = text.len() as u64;
            for row in scenarios.iter()? {
                let (other, text) = row?;
                if other.value() != name {
                    bytes += text.value().len() as u64;
                }
            }
            if bytes > self.limits.bytes {
                return Err(HistoryError::TooLarge(self.limits.bytes));
            }
            scenarios.insert(name, &*text)?;
        }
        write.commit()?;
        Ok(())
    }

    /// Returns all scenarios by name.
    ///
    /// # Errors
    /// The error of the database.
    pub fn scenarios(&self) -> Result<Vec<(String, SavedScenario)>, HistoryError> {
        let scenarios = self.database.begin_read()?.open_table(SCENARIOS)?;
        let mut found = Vec::new();
        for row in scenarios.iter()? {
            let (name, text) = row?;
            found.push((name.value().to_owned(), serde_json::from_slice(text.value())?));
        }
        Ok(found)
    }

    /// Returns a scenario.
    ///
    /// # Errors
    /// The error of the database.
    pub fn scenario(&self, name: &str) -> Result<Option<SavedScenario>, HistoryError> {
        let scenarios = self.database.begin_read()?.open_table(SCENARIOS)?;
        let found = scenarios.get(name)?;
        Ok(found.map(|text| serde_json::from_slice(text.value())).transpose()?)
    }

    /// Removes a scenario, and returns whether it was there.
    ///
    /// # Errors
    /// The error of the database.
    pub fn delete(&self, name: &str) -> Result<bool, HistoryError> {
        let write = self.database.begin_write()?;
        let was_there = write.open_table(SCENARIOS)?.remove(name)?.is_some();
        write.commit()?;
        Ok(was_there)
    }
}
