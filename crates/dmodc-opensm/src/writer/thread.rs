//! The thread that writes files, one after the other.

use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

use dmodc::words::counted;

use super::queue::{FileTask, MakeText, SharedQueue, WriterQueue};
use crate::events::{EventJournal, PluginEvent};
use crate::files::{self, ExpectedFile, FileReplacement, FileStamp};
use crate::subnet_manager::{LogLevel, panic_line};

/// A task or an event that the thread has taken from the queue.
enum WriterJob {
    File(FileTask),
    Event(PluginEvent),
}

/// Does all jobs until the writer is dropped.
pub(super) fn write_all(shared: &Arc<SharedQueue>, then_refreshes: Option<&Weak<SharedQueue>>) {
    let mut journal = EventJournal::default();
    let mut has_written = false;
    while let Some((path, job)) = wait_for_job(shared, then_refreshes, &mut has_written) {
        has_written = true;
        let start = Instant::now();
        let done = catch_unwind(AssertUnwindSafe(|| do_job(shared, &mut journal, &path, &job)));
        let done = done.unwrap_or_else(|panic| Err(io::Error::other(panic_line(panic.as_ref()))));
        finish(shared, JobResult { path, job, done, took: start.elapsed() });
    }
}

/// Returns the next job, or `None` if the writer was dropped. Before it waits, it refreshes the reports of the other
/// writer if anything was written since the last time.
fn wait_for_job(
    shared: &SharedQueue,
    then_refreshes: Option<&Weak<SharedQueue>>,
    has_written: &mut bool,
) -> Option<(PathBuf, WriterJob)> {
    let mut queue = shared.lock();
    loop {
        if queue.is_closing {
            return None;
        }
        if let Some((path, job)) = next_job(&mut queue) {
            queue.busy = Some((path.clone(), Instant::now()));
            return Some((path, job));
        }
        if std::mem::take(has_written)
            && let Some(other) = then_refreshes.and_then(Weak::upgrade)
        {
            drop(queue);
            other.refresh();
            queue = shared.lock();
            continue;
        }
        shared.idle.notify_all();
        queue = shared.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Takes the next job from the queue: events go first.
fn next_job(queue: &mut WriterQueue) -> Option<(PathBuf, WriterJob)> {
    if let Some((path, event)) = queue.events.pop_front() {
        return Some((path, WriterJob::Event(event)));
    }
    if queue.files.is_empty() {
        return None;
    }
    let (path, task) = queue.files.remove(0);
    Some((path, WriterJob::File(task)))
}

/// Does a job. Returns the stamp of a file that was written.
fn do_job(
    shared: &SharedQueue,
    journal: &mut EventJournal,
    path: &Path,
    job: &WriterJob,
) -> io::Result<Option<FileStamp>> {
    match job {
        WriterJob::Event(event) => journal.write(path, event).map(|()| None),
        WriterJob::File(FileTask::Replace { text, expected }) => {
            replace(shared, path, text, *expected).map(Some)
        }
        WriterJob::File(FileTask::Sweep) => {
            let count = files::remove_stale(path);
            if count > 0 {
                let line =
                    format!("{}: removed {}", path.display(), counted(count, "unfinished file"));
                (shared.log)(LogLevel::Info, &line);
            }
            Ok(None)
        }
        WriterJob::File(FileTask::RemoveAfter(other)) => {
            remove_after(shared, path, other).map(|()| None)
        }
    }
}

/// Makes and writes the text of a file.
fn replace(
    shared: &SharedQueue,
    path: &Path,
    text: &MakeText,
    expected: ExpectedFile,
) -> io::Result<FileStamp> {
    let mut facts = shared.facts();
    // By the time that anybody reads the text, the earlier error of this very file is over.
    let this = format!("{}: ", path.display());
    facts.errors.retain(|error| !error.starts_with(&this));
    let text = text(&facts)?;
    let announce = |stamp| {
        shared.lock().announced.insert(path.into(), stamp);
    };
    // The file may also be one that we wrote after the task was queued.
    let expected = match shared.lock().written.get(path) {
        Some(ours) if expected != ExpectedFile::Anything => ExpectedFile::Exactly(Some(*ours)),
        _ => expected,
    };
    let how = FileReplacement { expected, sync: &*shared.sync, announce: &announce };
    files::replace(path, &text, &how)
}

/// Removes a file, if the other file was written.
///
/// # Errors
/// `WouldBlock` if the other file is not written yet.
fn remove_after(shared: &SharedQueue, path: &Path, other: &Path) -> io::Result<()> {
    let queue = shared.lock();
    let waits = queue.files.iter().any(|(path, _)| path == other);
    if waits || queue.errors.contains_key(other) {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    drop(queue);
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A job, and how it ended.
struct JobResult {
    path: PathBuf,
    job: WriterJob,
    done: io::Result<Option<FileStamp>>,
    took: Duration,
}

/// Notes how a job ended, and logs it if that is news.
fn finish(shared: &SharedQueue, result: JobResult) {
    let JobResult { path, job, done, took } = result;
    let mut queue = shared.lock();
    queue.busy = None;
    let line = match done {
        Ok(stamp) => {
            queue.last_write = Some(took);
            match stamp {
                Some(stamp) => queue.written.insert(path.clone(), stamp),
                None => queue.written.remove(&path),
            };
            let earlier = queue.errors.remove(&path);
            earlier.map(|_| {
                (LogLevel::Info, format!("{}: the file can be written again", path.display()))
            })
        }
        // It waits for another file.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            if let WriterJob::File(task) = job {
                queue.failed.push((path, task));
            }
            None
        }
        Err(error) => {
            let why = error.to_string();
            let earlier = queue.errors.insert(path.clone(), why.clone());
            queue.dropped_events += u64::from(matches!(job, WriterJob::Event(_)));
            if let WriterJob::File(task) = job
                && error.kind() != io::ErrorKind::ResourceBusy
                && !queue.files.iter().any(|(other, _)| *other == path)
            {
                queue.failed.push((path.clone(), task));
            }
            let line = format!("{}: the file was not written: {why}", path.display());
            (earlier.as_deref() != Some(&why)).then_some((LogLevel::Error, line))
        }
    };
    drop(queue);
    if let Some((level, line)) = line {
        (shared.log)(level, &line);
    }
}
