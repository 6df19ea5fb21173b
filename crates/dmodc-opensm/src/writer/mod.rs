//! Writing files behind OpenSM's back: a thread, and what is on its way to it.
//!
//! A run hands over what files are to hold and goes on. Of each file only the newest text waits; lines of the event file
//! wait in a queue of bounded length. What cannot be written is reported once for each cause and tried again after
//! the next run. A disk that hangs holds up this thread and nobody else.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::{self, File};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::events::{Event, Journal};
use crate::files::{self, Expected, Replacement, Stamp};
use crate::plugin::{Level, bug};

/// Writes a line into OpenSM's log, from any thread.
pub(crate) type Log = Arc<dyn Fn(Level, &str) + Send + Sync>;

/// Brings a file to the disk.
pub(crate) type ToDisk = Arc<dyn Fn(&File) -> io::Result<()> + Send + Sync>;

/// Lets the texts of reports be written again, since they would read differently.
pub(crate) type Refresh = Arc<dyn Fn() + Send + Sync>;

/// Makes the text of a file, in the writer's thread.
pub(crate) type Text = Arc<dyn Fn(&Facts) -> io::Result<Vec<u8>> + Send + Sync>;

/// No more events wait; the oldest are dropped first.
const MOST_EVENTS: usize = 1000;

/// No more of the events that wait have a fabric with them; the next one then lists the changes of both.
const MOST_FABRICS: usize = 8;

/// A disk that takes longer is reported as hanging.
const HANGING: Duration = Duration::from_secs(10);

/// What is to be done with a file.
#[derive(Clone)]
pub(crate) enum Work {
    Replace {
        text: Text,
        expected: Expected,
    },
    /// Removes the file once another one was written.
    RemoveAfter(PathBuf),
    /// Removes what dead processes of ours left in this folder.
    Sweep,
}

/// How the writer is doing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// How many files and lines wait or are being written.
    pub(crate) pending: usize,
    /// What is being written, and since when.
    pub(crate) busy: Option<(PathBuf, Duration)>,
    /// How long the last file took that was written.
    pub(crate) last: Option<Duration>,
    /// What could not be written, and why.
    pub(crate) errors: Vec<String>,
    /// How many events were dropped since the start.
    pub(crate) dropped: u64,
}

#[derive(Default)]
struct Queue {
    files: Vec<(PathBuf, Work)>,
    events: VecDeque<(PathBuf, Event)>,
    /// What could not be written: it is tried again when asked for.
    failed: Vec<(PathBuf, Work)>,
    /// The newest texts that are written again when they would read differently.
    refreshed: Vec<(PathBuf, Text)>,
    busy: Option<(PathBuf, Instant)>,
    /// The file that is known to hang.
    hangs: Option<PathBuf>,
    last: Option<Duration>,
    errors: BTreeMap<PathBuf, String>,
    /// What files are once they are renamed, and what they are for certain.
    announced: HashMap<PathBuf, Stamp>,
    written: HashMap<PathBuf, Stamp>,
    dropped: u64,
    is_closing: bool,
}

struct Shared {
    queue: Mutex<Queue>,
    /// Somebody has work for the thread; the thread has done all of it.
    wake: Condvar,
    idle: Condvar,
    log: Log,
    sync: ToDisk,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn facts(&self) -> Facts {
        let queue = self.lock();
        let busy = queue.busy.as_ref().map(|(path, since)| (path.clone(), since.elapsed()));
        let waiting = queue.files.len() + queue.events.len() + queue.failed.len();
        let errors = queue.errors.iter().map(|(path, why)| format!("{}: {why}", path.display()));
        Facts {
            pending: waiting + usize::from(busy.is_some()),
            busy,
            last: queue.last,
            errors: errors.collect(),
            dropped: queue.dropped,
        }
    }
}

/// A thread that writes files. It begins with the first file.
pub(crate) struct Writer {
    shared: Arc<Shared>,
    name: &'static str,
    /// Whose texts are refreshed whenever everything was written.
    then_refreshes: Option<Weak<Shared>>,
    is_running: bool,
}

/// How another writer is doing, for texts.
#[derive(Clone)]
pub(crate) struct Watch(Arc<Shared>);

impl Watch {
    pub(crate) fn facts(&self) -> Facts {
        self.0.facts()
    }
}

impl Writer {
    pub(crate) fn new(name: &'static str, log: Log, sync: ToDisk) -> Self {
        let (queue, wake, idle) = Default::default();
        let shared = Arc::new(Shared { queue, wake, idle, log, sync });
        Writer { shared, name, then_refreshes: None, is_running: false }
    }

    /// Lets the texts of another writer be written again whenever this one has written something.
    pub(crate) fn refreshes(mut self, other: &Writer) -> Self {
        self.then_refreshes = Some(Arc::downgrade(&other.shared));
        self
    }

    /// Returns what lets the texts be written again, from any thread.
    pub(crate) fn refresher(&self) -> Refresh {
        let shared = Arc::downgrade(&self.shared);
        Arc::new(move || {
            if let Some(shared) = shared.upgrade() {
                refresh(&shared);
            }
        })
    }

    pub(crate) fn watch(&self) -> Watch {
        Watch(self.shared.clone())
    }

    #[cfg(test)]
    pub(crate) fn facts(&self) -> Facts {
        self.shared.facts()
    }

    /// Queues what a file is to hold, or that it is to go; what waited for the same file is forgotten.
    pub(crate) fn file(&mut self, path: &Path, work: Work) {
        let mut queue = self.shared.lock();
        queue.failed.retain(|(other, _)| other != path);
        match queue.files.iter_mut().find(|(other, _)| other == path) {
            Some((_, waiting)) => *waiting = work,
            None => queue.files.push((path.into(), work)),
        }
        drop(queue);
        self.wake();
    }

    /// Queues what a file is to hold, now and whenever it would read differently because of another writer.
    pub(crate) fn report(&mut self, path: &Path, text: Text) {
        let mut queue = self.shared.lock();
        queue.refreshed.retain(|(other, _)| other != path);
        queue.refreshed.push((path.into(), text.clone()));
        drop(queue);
        self.file(path, Work::Replace { text, expected: Expected::Anything });
    }

    /// Queues a line of an event file.
    pub(crate) fn event(&mut self, path: &Path, event: Event) {
        let mut queue = self.shared.lock();
        queue.events.push_back((path.into(), event));
        if queue.events.len() > MOST_EVENTS {
            queue.events.pop_front();
            queue.dropped += 1;
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

    /// Tries again what could not be written, and reports a disk that hangs.
    pub(crate) fn retry(&mut self) {
        let mut queue = self.shared.lock();
        let failed = std::mem::take(&mut queue.failed);
        queue.files.extend(failed);
        let hangs = queue.busy.as_ref().filter(|(_, since)| since.elapsed() > HANGING);
        let hangs = hangs.map(|(path, since)| (path.clone(), since.elapsed()));
        let is_news = hangs.as_ref().map(|(path, _)| path) != queue.hangs.as_ref();
        queue.hangs = hangs.as_ref().map(|(path, _)| path.clone());
        let has_work = !queue.files.is_empty();
        drop(queue);
        if let Some((path, since)) = hangs.filter(|_| is_news) {
            let (path, seconds) = (path.display(), since.as_secs());
            let line =
                format!("{path}: the disk hangs, writing has taken {seconds} s; routing goes on");
            (self.shared.log)(Level::Error, &line);
        }
        if has_work {
            self.wake();
        }
    }

    /// Forgets what waits for a file, since what is on disk is newer.
    pub(crate) fn forget(&mut self, path: &Path) {
        let mut queue = self.shared.lock();
        queue.files.retain(|(other, _)| other != path);
        queue.failed.retain(|(other, _)| other != path);
        queue.errors.remove(path);
        queue.written.remove(path);
        queue.announced.remove(path);
    }

    /// Whether a file that was handed over is not written yet.
    #[cfg(test)]
    pub(crate) fn has(&self, path: &Path) -> bool {
        let queue = self.shared.lock();
        let waits = queue.files.iter().chain(&queue.failed).any(|(other, _)| other == path);
        waits || queue.busy.as_ref().is_some_and(|(busy, _)| busy == path)
    }

    /// Returns what a file is since it was written, if it was, and what it may be at any moment.
    pub(crate) fn stamps(&self, path: &Path) -> (Option<Stamp>, Option<Stamp>) {
        let queue = self.shared.lock();
        (queue.written.get(path).copied(), queue.announced.get(path).copied())
    }

    /// Waits until everything was written or tried, but not longer. Returns whether it was.
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
            let thread = thread::Builder::new().name(self.name.into());
            match thread.spawn(move || work(&shared, other.as_ref())) {
                Ok(_) => self.is_running = true,
                Err(error) => {
                    let line = format!("no thread to write files: {error}");
                    (self.shared.log)(Level::Error, &line);
                }
            }
        }
        self.shared.wake.notify_one();
    }
}

impl Drop for Writer {
    /// What is being written is finished; what waits is not.
    fn drop(&mut self) {
        self.shared.lock().is_closing = true;
        self.shared.wake.notify_one();
    }
}

enum Job {
    File(Work),
    Event(Event),
}

/// The thread.
fn work(shared: &Arc<Shared>, then_refreshes: Option<&Weak<Shared>>) {
    let mut journal = Journal::default();
    let mut has_news = false;
    loop {
        let (path, job) = {
            let mut queue = shared.lock();
            loop {
                if queue.is_closing {
                    return;
                }
                let next = match queue.events.pop_front() {
                    Some((path, event)) => Some((path, Job::Event(event))),
                    None if queue.files.is_empty() => None,
                    None => {
                        let (path, work) = queue.files.remove(0);
                        Some((path, Job::File(work)))
                    }
                };
                if let Some((path, job)) = next {
                    queue.busy = Some((path.clone(), Instant::now()));
                    break (path, job);
                }
                if std::mem::take(&mut has_news)
                    && let Some(other) = then_refreshes.and_then(Weak::upgrade)
                {
                    drop(queue);
                    refresh(&other);
                    queue = shared.lock();
                    continue;
                }
                shared.idle.notify_all();
                queue = shared.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
        };
        has_news = true;
        let start = Instant::now();
        let done = catch_unwind(AssertUnwindSafe(|| do_one(shared, &mut journal, &path, &job)));
        let done = done.unwrap_or_else(|panic| Err(io::Error::other(bug(panic.as_ref()))));
        finish(shared, path, job, done, start.elapsed());
    }
}

fn refresh(shared: &Shared) {
    let mut queue = shared.lock();
    for (path, text) in queue.refreshed.clone() {
        if !queue.files.iter().any(|(other, _)| *other == path) {
            queue.failed.retain(|(other, _)| *other != path);
            queue.files.push((path, Work::Replace { text, expected: Expected::Anything }));
        }
    }
    drop(queue);
    shared.wake.notify_one();
}

/// Writes a file or a line. Returns what a file is now.
fn do_one(
    shared: &Shared,
    journal: &mut Journal,
    path: &Path,
    job: &Job,
) -> io::Result<Option<Stamp>> {
    match job {
        Job::Event(event) => journal.write(path, event).map(|()| None),
        Job::File(Work::Replace { text, expected }) => {
            let mut facts = shared.facts();
            // By the time that anybody reads this, it is over.
            let this = format!("{}: ", path.display());
            facts.errors.retain(|error| !error.starts_with(&this));
            let text = text(&facts)?;
            let announce = |stamp| {
                shared.lock().announced.insert(path.into(), stamp);
            };
            // What we wrote since then is expected, too.
            let expected = match shared.lock().written.get(path) {
                Some(ours) if *expected != Expected::Anything => Expected::Exactly(Some(*ours)),
                _ => *expected,
            };
            let how = Replacement { expected, sync: &*shared.sync, announce: &announce };
            files::replace(path, &text, &how).map(Some)
        }
        Job::File(Work::Sweep) => {
            let count = files::remove_stale(path);
            if count > 0 {
                let line = format!("{}: {count} unfinished files removed", path.display());
                (shared.log)(Level::Info, &line);
            }
            Ok(None)
        }
        Job::File(Work::RemoveAfter(other)) => {
            let queue = shared.lock();
            let waits = queue.files.iter().any(|(path, _)| path == other);
            if waits || queue.errors.contains_key(other) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            drop(queue);
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(None),
            }
        }
    }
}

/// Notes what became of a job, and says so if that is news.
fn finish(
    shared: &Shared,
    path: PathBuf,
    job: Job,
    done: io::Result<Option<Stamp>>,
    took: Duration,
) {
    let mut queue = shared.lock();
    queue.busy = None;
    let line = match done {
        Ok(stamp) => {
            queue.last = Some(took);
            match stamp {
                Some(stamp) => queue.written.insert(path.clone(), stamp),
                None => queue.written.remove(&path),
            };
            let was = queue.errors.remove(&path);
            was.map(|_| (Level::Info, format!("{}: written again", path.display())))
        }
        // It waits for another file.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            if let Job::File(work) = job {
                queue.failed.push((path, work));
            }
            None
        }
        Err(error) => {
            let why = error.to_string();
            let before = queue.errors.insert(path.clone(), why.clone());
            queue.dropped += u64::from(matches!(job, Job::Event(_)));
            if let Job::File(work) = job
                && error.kind() != io::ErrorKind::ResourceBusy
                && !queue.files.iter().any(|(other, _)| *other == path)
            {
                queue.failed.push((path.clone(), work));
            }
            let line = format!("{}: not written: {why}", path.display());
            (before.as_deref() != Some(&why)).then_some((Level::Error, line))
        }
    };
    drop(queue);
    if let Some((level, line)) = line {
        (shared.log)(level, &line);
    }
}
