//! Tasks that wait for the writing thread, and how the thread is doing.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::events::PluginEvent;
use crate::files::{ExpectedFile, FileStamp};
use crate::subnet_manager::Log;

/// Brings a file to the disk, as [`File::sync_all`] does. Tests have slow disks and full ones.
pub(crate) type SyncFile = Arc<dyn Fn(&File) -> io::Result<()> + Send + Sync>;

/// Makes the text of a file, in the writing thread.
pub(crate) type MakeText = Arc<dyn Fn(&WriterFacts) -> io::Result<Vec<u8>> + Send + Sync>;

/// At most this many events wait; the oldest are dropped first.
pub(super) const MOST_EVENTS: usize = 1000;

/// At most this many of the waiting events hold a fabric. An event that had to give up its fabric has no changes; the
/// next one lists them, too.
pub(super) const MOST_FABRICS: usize = 8;

/// A task for a file.
#[derive(Clone)]
pub(crate) enum FileTask {
    /// Replaces the text of the file.
    Replace { text: MakeText, expected: ExpectedFile },
    /// Removes the file once another one was written.
    RemoveAfter(PathBuf),
    /// Removes the unfinished files that dead processes of ours left in this folder.
    Sweep,
}

/// How the writer is doing.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriterFacts {
    /// The number of files and lines that wait or are being written.
    pub(crate) pending: usize,
    /// The file that is being written, and for how long that has taken.
    pub(crate) busy: Option<(PathBuf, Duration)>,
    /// How long the last file took that was written.
    pub(crate) last_write: Option<Duration>,
    /// Files that could not be written, and why.
    pub(crate) errors: Vec<String>,
    /// The number of events that were dropped since the start.
    pub(crate) dropped_events: u64,
}

/// Everything that waits for the thread, and what it has found so far.
#[derive(Default)]
pub(super) struct WriterQueue {
    pub(super) files: Vec<(PathBuf, FileTask)>,
    pub(super) events: VecDeque<(PathBuf, PluginEvent)>,
    /// Tasks that failed: they are queued again after the next run.
    pub(super) failed: Vec<(PathBuf, FileTask)>,
    /// The newest texts of reports, which are written again when they are refreshed.
    pub(super) refreshed: Vec<(PathBuf, MakeText)>,
    /// The file that is being written, and since when.
    pub(super) busy: Option<(PathBuf, Instant)>,
    /// The file whose disk was reported to hang.
    pub(super) hanging: Option<PathBuf>,
    pub(super) last_write: Option<Duration>,
    pub(super) errors: BTreeMap<PathBuf, String>,
    /// The stamps that files will have as soon as they are renamed.
    pub(super) announced: HashMap<PathBuf, FileStamp>,
    /// The stamps of the files that were written.
    pub(super) written: HashMap<PathBuf, FileStamp>,
    pub(super) dropped_events: u64,
    pub(super) is_closing: bool,
}

/// The queue, shared by the thread and the handle.
pub(super) struct SharedQueue {
    queue: Mutex<WriterQueue>,
    /// Is notified when there is a task for the thread.
    pub(super) wake: Condvar,
    /// Is notified when the thread has done all tasks.
    pub(super) idle: Condvar,
    pub(super) log: Log,
    pub(super) sync: SyncFile,
}

impl SharedQueue {
    pub(super) fn new(log: Log, sync: SyncFile) -> Self {
        let (queue, wake, idle) = Default::default();
        SharedQueue { queue, wake, idle, log, sync }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, WriterQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how the writer is doing.
    pub(super) fn facts(&self) -> WriterFacts {
        let queue = self.lock();
        let busy = queue.busy.as_ref().map(|(path, since)| (path.clone(), since.elapsed()));
        let waiting = queue.files.len() + queue.events.len() + queue.failed.len();
        let errors = queue.errors.iter().map(|(path, why)| format!("{}: {why}", path.display()));
        WriterFacts {
            pending: waiting + usize::from(busy.is_some()),
            busy,
            last_write: queue.last_write,
            errors: errors.collect(),
            dropped_events: queue.dropped_events,
        }
    }

    /// Queues the newest texts of all reports, except those that wait already.
    pub(super) fn refresh(&self) {
        let mut queue = self.lock();
        for (path, text) in queue.refreshed.clone() {
            if !queue.files.iter().any(|(other, _)| *other == path) {
                queue.failed.retain(|(other, _)| *other != path);
                let task = FileTask::Replace { text, expected: ExpectedFile::Anything };
                queue.files.push((path, task));
            }
        }
        drop(queue);
        self.wake.notify_one();
    }
}
