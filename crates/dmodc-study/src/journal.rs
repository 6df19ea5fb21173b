//! The journal of unfinished work: each finished cell is on the disk before the next one is begun, so a kill costs only
//! the cells that were being measured.
//!
//! The first line identifies the work: for a study its plan, for a survey of faults the fabric and the faults. Then each cell has a line with its number, the number of its rows and their hash,
//! followed by the rows. A record that is incomplete or damaged at the end is dropped.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use crate::hash::ContentHash;

/// The work that a journal belongs to.
pub(crate) trait JournalOwner {
    /// The kind of journal and its version.
    const KIND: &'static str;
    /// What the hash is of.
    const OF: &'static str;
    /// What to do about a journal of something else.
    const ADVICE: &'static str;

    /// Returns the hash of everything that the results depend on.
    fn hash(&self) -> &str;

    /// Returns how many rows a cell has; `None` if there is no such cell.
    fn rows_of(&self, cell: usize) -> Option<usize>;

    /// Refuses a file of other work, or of another version.
    fn check(
        &self,
        name: &dyn std::fmt::Display,
        hash: &str,
        version: &str,
    ) -> Result<(), JournalError> {
        let ours = env!("CARGO_PKG_VERSION");
        let (of, advice) = (Self::OF, Self::ADVICE);
        match (hash == self.hash(), version == ours) {
            (true, true) => Ok(()),
            (false, _) => Err(JournalError::Mismatch(format!(
                "{name}: this file belongs to another {of}, or the {of} was changed (its hash is {hash}, not {}); remove \
                 the file, or {advice}",
                self.hash()
            ))),
            (true, false) => Err(JournalError::Mismatch(format!(
                "{name}: this file was made by dmodc {version}, but this is dmodc {ours}; use the same version, or {advice}"
            ))),
        }
    }
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error("{0}: {1}")]
    Io(String, std::io::Error),
    /// The file belongs to something else.
    #[error("{0}")]
    Mismatch(String),
}

fn io(path: &Path, error: std::io::Error) -> JournalError {
    JournalError::Io(path.display().to_string(), error)
}

fn beginning<O: JournalOwner>(owner: &O) -> String {
    format!("# {} {} {} dmodc {}\n", O::KIND, O::OF, owner.hash(), env!("CARGO_PKG_VERSION"))
}

/// A journal that only this process may write.
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
}

/// A finished cell and its rows.
pub(crate) struct FinishedCell {
    pub(crate) cell: usize,
    pub(crate) rows: Vec<String>,
}

/// Locks a journal for writing. A process that only reads it holds the lock for an instant, so a later try succeeds.
fn lock(file: &File) -> Result<(), TryLockError> {
    for _ in 0..20 {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => sleep(Duration::from_millis(10)),
            other => return other,
        }
    }
    file.try_lock()
}

impl Journal {
    /// Opens a journal, or begins one. Also returns the cells that were finished before.
    pub(crate) fn open<O: JournalOwner>(
        path: &Path,
        owner: &O,
    ) -> Result<(Self, Vec<FinishedCell>), JournalError> {
        let io = |error| io(path, error);
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        match lock(&file) {
            Ok(()) => {}
            // Some file systems of clusters have no locks; then we cannot know whether another process writes.
            Err(TryLockError::Error(error)) if is_unsupported(&error) => {}
            Err(TryLockError::Error(error)) => return Err(io(error)),
            Err(TryLockError::WouldBlock) => {
                let what =
                    "another process writes this file now; wait for it, or choose another shard";
                return Err(JournalError::Mismatch(format!("{}: {what}", path.display())));
            }
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        let text = String::from_utf8_lossy(&bytes);
        let (finished, sound) = read(&text, path, owner)?;
        file.set_len(sound as u64).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        let mut journal = Journal { file, path: path.into() };
        if sound == 0 {
            journal.append(&beginning(owner))?;
        }
        Ok((journal, finished))
    }

    /// Returns whether another process writes a journal; `None` if its file system has no locks.
    pub(crate) fn is_open(path: &Path) -> Option<bool> {
        match File::open(path).ok()?.try_lock_shared() {
            Ok(()) => Some(false),
            Err(TryLockError::WouldBlock) => Some(true),
            Err(TryLockError::Error(_)) => None,
        }
    }

    /// Returns the finished cells of a journal, without changing it; none if there is no journal.
    pub(crate) fn finished<O: JournalOwner>(
        path: &Path,
        owner: &O,
    ) -> Result<Vec<FinishedCell>, JournalError> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(read(&String::from_utf8_lossy(&bytes), path, owner)?.0),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(vec![]),
            Err(error) => Err(io(path, error)),
        }
    }

    /// Writes a finished cell to the disk.
    pub(crate) fn add(&mut self, cell: usize, rows: &[String]) -> Result<(), JournalError> {
        self.append(&entry(cell, rows))
    }

    /// Adds several cells. They are on the disk when this returns.
    #[cfg(feature = "gpu")]
    pub(crate) fn add_all(&mut self, cells: &[FinishedCell]) -> Result<(), JournalError> {
        let entries = cells.iter().map(|finished| entry(finished.cell, &finished.rows));
        self.append(&entries.collect::<String>())
    }

    fn append(&mut self, text: &str) -> Result<(), JournalError> {
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| io(&self.path, error))
    }

    /// Removes the journal, when its results are written elsewhere.
    pub(crate) fn remove(self) -> Result<(), JournalError> {
        std::fs::remove_file(&self.path).map_err(|error| io(&self.path, error))
    }
}

/// Returns the rows of a cell as they stand in a journal.
fn entry(cell: usize, rows: &[String]) -> String {
    let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let count = rows.lines().count();
    format!("# cell {cell} {count} {}\n{rows}", ContentHash::of(&rows))
}

fn is_unsupported(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{PermissionDenied, Unsupported};
    // 37 is ENOLCK: the network file system has no locks available.
    matches!(error.kind(), Unsupported | PermissionDenied) || error.raw_os_error() == Some(37)
}

/// Returns the finished cells, and the length of the undamaged part in bytes.
fn read<O: JournalOwner>(
    text: &str,
    path: &Path,
    owner: &O,
) -> Result<(Vec<FinishedCell>, usize), JournalError> {
    let Some((first, mut rest)) = text.split_once('\n') else { return Ok((vec![], 0)) };
    let words: Vec<&str> = first.split(' ').collect();
    match words[..] {
        ["#", kind, of, hash, "dmodc", version] if kind == O::KIND && of == O::OF => {
            owner.check(&path.display(), hash, version)?;
        }
        _ => {
            let what = format!("this is not a journal of this kind; remove it, or {}", O::ADVICE);
            return Err(JournalError::Mismatch(format!("{}:1: {what}", path.display())));
        }
    }
    let mut finished = Vec::new();
    while let Some((record, after)) = record(rest) {
        if owner.rows_of(record.cell) == Some(record.rows.len()) {
            finished.push(record);
        }
        rest = after;
    }
    Ok((finished, text.len() - rest.len()))
}

/// Returns the first record of a text and the rest; `None` if the record is incomplete or damaged.
fn record(text: &str) -> Option<(FinishedCell, &str)> {
    let (first, rest) = text.split_once('\n')?;
    let mut words = first.strip_prefix("# cell ")?.split(' ');
    let cell = words.next()?.parse().ok()?;
    let count: usize = words.next()?.parse().ok()?;
    let hash = words.next()?;
    let mut end = 0;
    for _ in 0..count {
        end += rest[end..].find('\n')? + 1;
    }
    let (rows, after) = rest.split_at(end);
    let is_sound = ContentHash::of(rows) == hash;
    let rows = rows.lines().map(str::to_string).collect();
    is_sound.then_some((FinishedCell { cell, rows }, after))
}
