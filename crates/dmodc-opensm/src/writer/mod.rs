//! Files that are written by a thread, after OpenSM has its tables.
//!
//! A run hands over the new texts of files and goes on. Of each file only the newest text waits; lines of the event
//! file wait in a queue of bounded length. A file that cannot be written is reported once for each cause and tried again
//! after the next run. A disk that hangs delays this thread and nothing else.
//!
//! | file | subject |
//! |---|---|
//! | `mod` | the handle that runs use |
//! | `queue` | everything that waits, and how the thread is doing |
//! | `thread` | the thread: takes one job after the other |

mod queue;
mod thread;

use std::path::Path;
use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::events::PluginEvent;
use crate::files::{ExpectedFile, FileStamp};
use crate::subnet_manager::{Log, LogLevel};
pub(crate) use queue::{FileTask, MakeText, SyncFile, WriterFacts};
use queue::{MOST_EVENTS, MOST_FABRICS, SharedQueue};

/// Has the texts of reports written again, because they would be different now.
pub(crate) type RefreshReports = Arc<dyn Fn() + Send + Sync>;

/// A disk that takes longer for one file is reported as hanging.
const HANGING: Duration = Duration::from_secs(10);

/// The stamps that a file has if nobody else has changed it since we wrote it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WrittenStamps {
    /// The stamp of the last text that was written, if one was.
    pub(crate) written: Option<FileStamp>,
    /// The stamp of a text that is being written: the file may have it at any moment.
    pub(crate) announced: Option<FileStamp>,
}

/// The handle of a thread that writes files. The thread starts with the first file.
pub(crate) struct FileWriter {
    shared: Arc<SharedQueue>,
    name: &'static str,
    /// The writer whose reports are refreshed whenever this one has written everything.
    then_refreshes: Option<Weak<SharedQueue>>,
    is_running: bool,
}

/// Lets the texts of one writer report how another is doing.
#[derive(Clone)]
pub(crate) struct WriterWatch(Arc<SharedQueue>);

impl WriterWatch {
    pub(crate) fn facts(&self) -> WriterFacts {
        self.0.facts()
    }
}

impl FileWriter {
    pub(crate) fn new(name: &'static str, log: Log, sync: SyncFile) -> Self {
        let shared = Arc::new(SharedQueue::new(log, sync));
        FileWriter { shared, name, then_refreshes: None, is_running: false }
    }

    /// Has the reports of another writer written again whenever this one has written something.
    pub(crate) fn refreshes(mut self, other: &FileWriter) -> Self {
        self.then_refreshes = Some(Arc::downgrade(&other.shared));
        self
    }

    /// Returns a function that has the reports written again and that any thread may call.
    pub(crate) fn refresher(&self) -> RefreshReports {
        let shared = Arc::downgrade(&self.shared);
        Arc::new(move || {
            if let Some(shared) = shared.upgrade() {
                shared.refresh();
            }
        })
    }

    pub(crate) fn watch(&self) -> WriterWatch {
        WriterWatch(self.shared.clone())
    }

    #[cfg(test)]
    pub(crate) fn facts(&self) -> WriterFacts {
        self.shared.facts()
    }

    /// Queues a task for a file. An older task for the same file is dropped.
    pub(crate) fn file(&mut self, path: &Path, task: FileTask) {
        let mut queue = self.shared.lock();
        queue.failed.retain(|(other, _)| other != path);
        match queue.files.iter_mut().find(|(other, _)| other == path) {
            Some((_, waiting)) => *waiting = task,
            None => queue.files.push((path.into(), task)),
        }
        drop(queue);
        self.wake();
    }

    /// Queues the text of a report. It is written now, and again whenever the reports are refreshed.
    pub(crate) fn report(&mut self, path: &Path, text: MakeText) {
        let mut queue = self.shared.lock();
        queue.refreshed.retain(|(other, _)| other != path);
        queue.refreshed.push((path.into(), text.clone()));
        drop(queue);
        self.file(path, FileTask::Replace { text, expected: ExpectedFile::Anything });
    }

    /// Queues a line of an event file.
    pub(crate) fn event(&mut self, path: &Path, event: PluginEvent) {
        let mut queue = self.shared.lock();
        queue.events.push_back((path.into(), event));
        if queue.events.len() > MOST_EVENTS {
            queue.events.pop_front();
            queue.dropped_events += 1;
        }
        let with_fabric = queue.events.iter().filter(|(_, event)| event.fabric.is_some()).count();
        if with_fabric > MOST_FABRICS
            && let Some((_, oldest)) = queue.events.iter_mut().find(|(_, e)| e.fabric.is_some())
        {
            oldest.fabric = None;
        }
        drop(queue);
        self.wake();
    }

    /// Tries again all files that could not be written, and reports a disk that hangs.
    pub(crate) fn retry(&mut self) {
        let mut queue = self.shared.lock();
        let failed = std::mem::take(&mut queue.failed);
        queue.files.extend(failed);
        let hanging = queue.busy.as_ref().filter(|(_, since)| since.elapsed() > HANGING);
        let hanging = hanging.map(|(path, since)| (path.clone(), since.elapsed()));
        let is_news = hanging.as_ref().map(|(path, _)| path) != queue.hanging.as_ref();
        queue.hanging = hanging.as_ref().map(|(path, _)| path.clone());
        let has_tasks = !queue.files.is_empty();
        drop(queue);
        if let Some((path, since)) = hanging.filter(|_| is_news) {
            let (path, seconds) = (path.display(), since.as_secs());
            let line = format!(
                "{path}: writing has taken {seconds} s, so the disk seems to hang; routing continues without it"
            );
            (self.shared.log)(LogLevel::Error, &line);
        }
        if has_tasks {
            self.wake();
        }
    }

    /// Drops all tasks and stamps of a file, because somebody else has written a newer one.
    pub(crate) fn forget(&mut self, path: &Path) {
        let mut queue = self.shared.lock();
        queue.files.retain(|(other, _)| other != path);
        queue.failed.retain(|(other, _)| other != path);
        queue.errors.remove(path);
        queue.written.remove(path);
        queue.announced.remove(path);
    }

    /// Returns whether a task for this file is waiting or under way.
    #[cfg(test)]
    pub(crate) fn has(&self, path: &Path) -> bool {
        let queue = self.shared.lock();
        let waits = queue.files.iter().chain(&queue.failed).any(|(other, _)| other == path);
        waits || queue.busy.as_ref().is_some_and(|(busy, _)| busy == path)
    }

    /// Returns the stamps of a file that this writer has written or is writing.
    pub(crate) fn stamps(&self, path: &Path) -> WrittenStamps {
        let queue = self.shared.lock();
        WrittenStamps {
            written: queue.written.get(path).copied(),
            announced: queue.announced.get(path).copied(),
        }
    }

    /// Waits until everything was written or tried, but no longer than this. Returns whether it was.
    pub(crate) fn flush(&self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        let mut queue = self.shared.lock();
        while queue.busy.is_some() || !queue.files.is_empty() || !queue.events.is_empty() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.shared.idle.wait_timeout(queue, left);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    fn wake(&mut self) {
        if !self.is_running {
            let (shared, other) = (self.shared.clone(), self.then_refreshes.clone());
            let builder = std::thread::Builder::new().name(self.name.into());
            match builder.spawn(move || thread::write_all(&shared, other.as_ref())) {
                Ok(_) => self.is_running = true,
                Err(error) => {
                    let line = format!("cannot start a thread to write files: {error}");
                    (self.shared.log)(LogLevel::Error, &line);
                }
            }
        }
        self.shared.wake.notify_one();
    }
}

impl Drop for FileWriter {
    /// The file that is being written is finished; waiting ones are dropped.
    fn drop(&mut self) {
        self.shared.lock().is_closing = true;
        self.shared.wake.notify_one();
    }
}

#[cfg(test)]
mod tests;
