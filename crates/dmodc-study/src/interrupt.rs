//! What is done when SIGINT, SIGTERM or SIGHUP ends the program: temporary files and folders are removed,
//! and a last word is said; then the program dies by that signal, as shells expect.
//!
//! One thread waits for signals ([`watch`]). Everything that must not be left behind is in one list. Files
//! are made, and the list is changed, under its lock; the thread takes that lock and never gives it back. So
//! nothing can be made that it does not know, and nothing is removed that is in its final place.
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

/// What must not be left behind.
#[derive(Default)]
struct Left {
    /// Each with a number, by which its owner takes it off the list.
    things: Vec<(u64, Thing)>,
    next: u64,
}

enum Thing {
    File(PathBuf),
    Folder(PathBuf),
    /// What is said last.
    Word(Box<dyn Fn() -> String + Send>),
}

static LEFT: Mutex<Left> = Mutex::new(Left { things: Vec::new(), next: 0 });

fn left() -> MutexGuard<'static, Left> {
    // The list is whole at every moment, so a panic elsewhere does not matter.
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something on the list; it is taken off when this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Listed(u64);

impl Drop for Listed {
    fn drop(&mut self) {
        left().things.retain(|(number, _)| *number != self.0);
    }
}

impl Left {
    fn add(&mut self, thing: Thing) -> Listed {
        self.next += 1;
        self.things.push((self.next, thing));
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
    let mut left = left();
    let file = builder.tempfile_in(folder)?;
    let listed = left.add(Thing::File(file.path().into()));
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
    let mut left = left();
    let folder = builder.tempdir_in(parent)?;
    let listed = left.add(Thing::Folder(folder.path().into()));
    Ok((folder, listed))
}

/// Lets a signal say this on standard error before the program ends.
pub fn last_word(word: impl Fn() -> String + Send + 'static) -> Listed {
    left().add(Thing::Word(Box::new(word)))
}

/// Runs what puts a temporary file or folder into its final place. A signal waits for it, and does not remove
/// what is there then.
pub fn settle<T>(listed: Listed, put: impl FnOnce() -> T) -> T {
    let mut left = left();
    let put = put();
    left.things.retain(|(number, _)| *number != listed.0);
    drop(left);
    put
}

/// Starts to wait for signals. Those that are ignored already (by `nohup`, or of a job in the background)
/// stay so.
///
/// # Errors
/// If no thread can be started.
pub fn watch() -> io::Result<()> {
    let ignored = ignored();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter();
    let mut signals = Signals::new(wanted.filter(|signal| ignored >> (signal - 1) & 1 == 0))?;
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            let left = left();
            clean(&left.things);
            let _ = emulate_default_handler(signal);
            // It ended us. If it did not, nobody may go on either.
            std::process::exit(128 + signal);
        }
    };
    thread::Builder::new().name("signals".into()).spawn(wait).map(|_| ())
}

/// The signals that this program ignores, a bit for each from 1 on. Where nobody tells, none.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn clean(things: &[(u64, Thing)]) {
    for (_, thing) in things {
        match thing {
            Thing::File(path) => {
                let _ = fs::remove_file(path);
            }
            Thing::Folder(path) => remove_folder(path),
            Thing::Word(_) => {}
        }
    }
    for (_, thing) in things {
        if let Thing::Word(word) = thing {
            let _ = writeln!(io::stderr(), "{}", word());
        }
    }
}

/// Removes a folder into which other threads may still write: what comes meanwhile is removed in the next try.
fn remove_folder(path: &Path) {
    for _ in 0..100 {
        if fs::remove_dir_all(path).is_ok() || !path.exists() {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
}
