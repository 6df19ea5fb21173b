//! The journal of an unfinished shard: each finished cell is on the disk before the next one is begun, so a kill costs only
//! the cells that were being measured.
//!
//! The first line identifies the plan. Then each cell has a line with its number, the number of its rows and their hash,
//! followed by the rows. A record that is incomplete or damaged at the end is dropped.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use super::error::StudyError;
use super::folder::{check_origin, io};
use super::hash::ContentHash;
use super::inputs::Study;

/// A journal that only this process may write.
pub(super) struct ShardJournal {
    file: File,
    path: PathBuf,
}

/// A finished cell and its rows.
pub(super) struct FinishedCell {
    pub(super) cell: usize,
    pub(super) rows: Vec<String>,
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

impl ShardJournal {
    /// Opens a journal, or begins one. Also returns the cells that were finished before.
    pub(super) fn open(
        path: &Path,
        study: &Study,
    ) -> Result<(Self, Vec<FinishedCell>), StudyError> {
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
                    "another process measures this shard now; wait for it, or choose another shard";
                return Err(StudyError::Mismatch(format!("{}: {what}", path.display())));
            }
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        let text = String::from_utf8_lossy(&bytes);
        let (finished, sound) = read(&text, path, study)?;
        file.set_len(sound as u64).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        let mut journal = ShardJournal { file, path: path.into() };
        if sound == 0 {
            journal.append(&beginning(study))?;
        }
        Ok((journal, finished))
    }

    /// Returns whether another process writes a journal; `None` if its file system has no locks.
    pub(super) fn is_open(path: &Path) -> Option<bool> {
        match File::open(path).ok()?.try_lock_shared() {
            Ok(()) => Some(false),
            Err(TryLockError::WouldBlock) => Some(true),
            Err(TryLockError::Error(_)) => None,
        }
    }

    /// Returns the finished cells of a journal, without changing it; none if there is no journal.
    pub(super) fn finished(path: &Path, study: &Study) -> Result<Vec<FinishedCell>, StudyError> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(read(&String::from_utf8_lossy(&bytes), path, study)?.0),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(vec![]),
            Err(error) => Err(io(path, error)),
        }
    }

    /// Writes a finished cell to the disk.
    pub(super) fn add(&mut self, cell: usize, rows: &[String]) -> Result<(), StudyError> {
        let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
        let count = rows.lines().count();
        self.append(&format!("# cell {cell} {count} {}\n{rows}", ContentHash::of(&rows)))
    }

    fn append(&mut self, text: &str) -> Result<(), StudyError> {
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| io(&self.path, error))
    }

    /// Removes the journal, when the table of its shard is written.
    pub(super) fn remove(self) -> Result<(), StudyError> {
        std::fs::remove_file(&self.path).map_err(|error| io(&self.path, error))
    }
}

fn is_unsupported(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{PermissionDenied, Unsupported};
    // 37 is ENOLCK: the network file system has no locks available.
    matches!(error.kind(), Unsupported | PermissionDenied) || error.raw_os_error() == Some(37)
}

fn beginning(study: &Study) -> String {
    format!("# dmodc/study-journal/2 plan {} dmodc {}\n", study.hash, env!("CARGO_PKG_VERSION"))
}

/// Returns the finished cells, and the length of the undamaged part in bytes.
fn read(text: &str, path: &Path, study: &Study) -> Result<(Vec<FinishedCell>, usize), StudyError> {
    let Some((first, mut rest)) = text.split_once('\n') else { return Ok((vec![], 0)) };
    let words: Vec<&str> = first.split(' ').collect();
    match words[..] {
        ["#", "dmodc/study-journal/2", "plan", hash, "dmodc", version] => {
            check_origin(&path.display(), hash, version, study)?;
        }
        _ => {
            let what = "this is not the journal of a study; remove it, or use another folder with --output";
            return Err(StudyError::Mismatch(format!("{}:1: {what}", path.display())));
        }
    }
    let mut finished = Vec::new();
    while let Some((record, after)) = record(rest) {
        let known = study.cells.get(record.cell);
        if known.is_some_and(|&known| record.rows.len() == study.rows_of(known)) {
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
