//! The journal of a shard in the making: each finished cell is on the disk before the next is begun, so a
//! kill costs the cells in work and nothing else.
//!
//! A line tells the plan; then for each cell a line with its number, how many rows follow and their hash,
//! and the rows. What is cut off or damaged at the end is dropped.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use super::error::StudyError;
use super::folder::{io, same_plan};
use super::hash::ContentHash;
use super::inputs::Study;

/// A journal that is open for writing, by this process alone.
pub(super) struct ShardJournal {
    file: File,
    path: PathBuf,
}

/// A finished cell and its rows.
pub(super) type Finished = (usize, Vec<String>);

/// Locks a journal for writing. Somebody who only looks holds it for an instant, so that a second try succeeds.
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
    /// Opens a journal, or begins one; what was finished before.
    pub(super) fn open(path: &Path, study: &Study) -> Result<(Self, Vec<Finished>), StudyError> {
        let io = |error| io(path, error);
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        match lock(&file) {
            Ok(()) => {}
            // Some file systems of clusters have no locks; then nobody can tell.
            Err(TryLockError::Error(error)) if is_unsupported(&error) => {}
            Err(TryLockError::Error(error)) => return Err(io(error)),
            Err(TryLockError::WouldBlock) => {
                let what = "another process works on this shard";
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

    /// What a journal tells of cells, for looking only; nothing if there is none.
    pub(super) fn look(path: &Path, study: &Study) -> Result<Vec<Finished>, StudyError> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(read(&String::from_utf8_lossy(&bytes), path, study)?.0),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(vec![]),
            Err(error) => Err(io(path, error)),
        }
    }

    /// Adds a cell for good.
    pub(super) fn add(&mut self, cell: usize, rows: &[String]) -> Result<(), StudyError> {
        let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
        let count = rows.lines().count();
        self.append(&format!("# cell {cell} {count} {}\n{rows}", ContentHash::of(&rows)))
    }

    fn append(&mut self, text: &str) -> Result<(), StudyError> {
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| io(&self.path, error))
    }

    /// Removes it: its shard is written.
    pub(super) fn remove(self) -> Result<(), StudyError> {
        std::fs::remove_file(&self.path).map_err(|error| io(&self.path, error))
    }
}

fn is_unsupported(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{PermissionDenied, Unsupported};
    // 37, ENOLCK: the locks of a network file system are not to be had.
    matches!(error.kind(), Unsupported | PermissionDenied) || error.raw_os_error() == Some(37)
}

fn beginning(study: &Study) -> String {
    format!("# dmodc/study-journal/2 plan {} dmodc {}\n", study.hash, env!("CARGO_PKG_VERSION"))
}

/// The finished cells, and how many bytes are sound.
fn read(text: &str, path: &Path, study: &Study) -> Result<(Vec<Finished>, usize), StudyError> {
    let Some((first, mut rest)) = text.split_once('\n') else { return Ok((vec![], 0)) };
    let words: Vec<&str> = first.split(' ').collect();
    match words[..] {
        ["#", "dmodc/study-journal/2", "plan", hash, "dmodc", version] => {
            same_plan(&path.display(), (hash, version), study)?;
        }
        _ => {
            let what = "this is no journal of a study";
            return Err(StudyError::Mismatch(format!("{}:1: {what}", path.display())));
        }
    }
    let mut finished = Vec::new();
    while let Some((cell, rows, after)) = record(rest) {
        if study.cells.get(cell).is_some_and(|&known| rows.len() == study.rows_of(known)) {
            finished.push((cell, rows));
        }
        rest = after;
    }
    Ok((finished, text.len() - rest.len()))
}

/// The first record of a text, if it is whole: its cell, its rows, and what follows.
fn record(text: &str) -> Option<(usize, Vec<String>, &str)> {
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
    (ContentHash::of(rows) == hash)
        .then(|| (cell, rows.lines().map(str::to_string).collect(), after))
}
