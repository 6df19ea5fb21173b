//! When SIGINT, SIGTERM or SIGHUP ends the program, temporary files and folders are removed, and a last message may be
//! printed; then the program dies by that signal, as shells expect.
//!
//! One thread waits for signals ([`watch`]). Everything that must not be left behind is in one list. Files
//! are made, and the list is changed, under its lock; the thread takes that lock and never gives it back. So
//! no file can be made that the thread does not know, and none is removed that is in its final place.
//!
//! The alternative, a flag that every loop looks at, would let each loop decide how long a signal waits.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Everything that a signal must deal with.
#[derive(Default)]
struct CleanupList {
    /// Each item has a number, by which its owner takes it off the list.
    items: Vec<(u64, CleanupItem)>,
    next: u64,
}

enum CleanupItem {
    File(PathBuf),
    Folder(PathBuf),
    /// A message that is printed at the end.
    Message(Box<dyn Fn() -> String + Send>),
}

static LIST: Mutex<CleanupList> = Mutex::new(CleanupList { items: Vec::new(), next: 0 });

fn list() -> MutexGuard<'static, CleanupList> {
    // The list is consistent at every moment, so a panic elsewhere does not matter.
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An item on the list. It is taken off when this value is dropped.
#[derive(Debug)]
#[must_use]
pub struct Listed(u64);

impl Drop for Listed {
    fn drop(&mut self) {
        list().items.retain(|(number, _)| *number != self.0);
    }
}

impl CleanupList {
    fn add(&mut self, item: CleanupItem) -> Listed {
        self.next += 1;
        self.items.push((self.next, item));
        Listed(self.next)
    }
}

/// Makes a temporary file that a signal removes.
///
/// # Errors
/// If it cannot be made.
pub fn file(
    builder: &tempfile::Builder<'_, '_>,
    folder: &Path,
) -> io::Result<(tempfile::NamedTempFile, Listed)> {
    let mut list = list();
    let file = builder.tempfile_in(folder)?;
    let listed = list.add(CleanupItem::File(file.path().into()));
    Ok((file, listed))
}

/// Makes a temporary folder that a signal removes.
///
/// # Errors
/// If it cannot be made.
pub fn folder(
    builder: &tempfile::Builder<'_, '_>,
    parent: &Path,
) -> io::Result<(tempfile::TempDir, Listed)> {
    let mut list = list();
    let folder = builder.tempdir_in(parent)?;
    let listed = list.add(CleanupItem::Folder(folder.path().into()));
    Ok((folder, listed))
}

/// Makes a signal print this message on standard error before the program ends.
pub fn last_message(message: impl Fn() -> String + Send + 'static) -> Listed {
    list().add(CleanupItem::Message(Box::new(message)))
}

/// Runs `put`, which moves a temporary file or folder to its final place, and returns its result. A signal waits for it,
/// and does not remove the file there.
pub fn settle<T>(listed: Listed, put: impl FnOnce() -> T) -> T {
    let mut list = list();
    let put = put();
    list.items.retain(|(number, _)| *number != listed.0);
    drop(list);
    put
}

/// Starts to wait for signals. Signals that are already ignored (by `nohup`, or in a background job) stay ignored.
///
/// # Errors
/// If no thread can be started.
pub fn watch() -> io::Result<()> {
    let ignored = ignored();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter();
    let mut signals = Signals::new(wanted.filter(|signal| ignored >> (signal - 1) & 1 == 0))?;
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            let list = list();
            clean(&list.items);
            // The first process of a container is protected from its own signals, so it ends by itself.
            if std::process::id() != 1 {
                let _ = emulate_default_handler(signal);
            }
            // The signal has ended the program. If it has not, no thread may go on anyway: the list stays locked.
            std::process::exit(128 + signal);
        }
    };
    thread::Builder::new().name("signals".into()).spawn(wait).map(|_| ())
}

/// Returns the signals that this program ignores, as a bit mask: bit 0 is signal 1. If the system does not report them,
/// returns none.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn clean(items: &[(u64, CleanupItem)]) {
    for (_, item) in items {
        match item {
            CleanupItem::File(path) => {
                let _ = fs::remove_file(path);
            }
            CleanupItem::Folder(path) => remove_folder(path),
            CleanupItem::Message(_) => {}
        }
    }
    for (_, item) in items {
        if let CleanupItem::Message(message) = item {
            let _ = writeln!(io::stderr(), "{}", message());
        }
    }
}

/// Removes a folder into which other threads may still write: files that appear meanwhile are removed in the next try.
fn remove_folder(path: &Path) {
    for _ in 0..100 {
        if fs::remove_dir_all(path).is_ok() || !path.exists() {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
}
