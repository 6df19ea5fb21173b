//! Files that are replaced whole or not at all.
//!
//! The new text goes into a file next to the old one, `.dmodc-HOST-PID-START-NUMBER.tmp`, which is then renamed. A
//! process that is killed meanwhile leaves such a file. Its name identifies the process, so that the next one can find
//! out whether it is still needed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::{FileStamp, must_be_regular};

/// An unfinished file that is older will never be finished.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Which file is to be replaced. If somebody else has put another one there, it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpectedFile {
    Anything,
    /// The file that was seen there, or no file.
    Exactly(Option<FileStamp>),
}

/// How a file is replaced.
pub(crate) struct FileReplacement<'a> {
    pub(crate) expected: ExpectedFile,
    /// How a file is brought to the disk; tests have slow disks and full ones.
    pub(crate) sync: &'a dyn Fn(&File) -> io::Result<()>,
    /// Is called with the stamp of the new file before anybody can see it.
    pub(crate) announce: &'a dyn Fn(FileStamp),
}

/// Replaces a file so that readers see the old one or the new one, even if the machine loses power. Missing folders are
/// created, and links are followed.
///
/// # Errors
/// `InvalidInput` if something is there that is no regular file, `ResourceBusy` if it is not the expected file, or the
/// error of the file system.
pub(crate) fn replace(
    path: &Path,
    text: &[u8],
    how: &FileReplacement<'_>,
) -> io::Result<FileStamp> {
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let folder = folder_of(path);
    fs::create_dir_all(folder)?;
    check(path, how.expected)?;
    let temporary = folder.join(FileOwner::this().file_name());
    let made = (|| {
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o644).open(&temporary)?;
        file.write_all(text)?;
        (how.sync)(&file)?;
        let stamp = FileStamp::of(&file.metadata()?);
        check(path, how.expected)?;
        (how.announce)(stamp);
        fs::rename(&temporary, path)?;
        Ok(stamp)
    })();
    match made {
        Ok(stamp) => {
            // The file is written, even if this file system cannot make sure that its name outlasts a power failure.
            let _ = File::open(folder).and_then(|folder| (how.sync)(&folder));
            Ok(stamp)
        }
        Err(error) => {
            let _ = fs::remove_file(&temporary);
            Err(error)
        }
    }
}

fn check(path: &Path, expected: ExpectedFile) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) => {
            must_be_regular(&metadata)?;
            let is_other = |stamp| stamp != Some(FileStamp::of(&metadata));
            if matches!(expected, ExpectedFile::Exactly(stamp) if is_other(stamp)) {
                let why =
                    "another program has changed the file; it is read before it is written again";
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
            }
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The process that an unfinished file belongs to. Its start is noted, too, because process numbers are used again.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileOwner {
    host: String,
    process: u32,
    start: u64,
}

impl FileOwner {
    fn this() -> Self {
        let process = std::process::id();
        FileOwner { host: host(), process, start: start_of(process).unwrap_or(0) }
    }

    fn file_name(&self) -> String {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        format!(".dmodc-{}-{}-{}-{number}.tmp", self.host, self.process, self.start)
    }

    /// Returns the owner of an unfinished file, or `None` if the name is not one of ours.
    fn of(name: &str) -> Option<Self> {
        let name = name.strip_prefix(".dmodc-")?.strip_suffix(".tmp")?;
        let mut words = name.rsplitn(4, '-');
        words.next()?.parse::<u64>().ok()?;
        let start = words.next()?.parse().ok()?;
        let process = words.next()?.parse().ok()?;
        Some(FileOwner { host: words.next()?.into(), process, start })
    }

    fn is_dead(&self) -> bool {
        self.host == host() && start_of(self.process) != Some(self.start)
    }
}

/// Returns the name of the machine, without the characters that do not belong into file names.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '.';
    let name: String = name.trim().chars().filter(is_plain).take(64).collect();
    if name.is_empty() { "unknown".into() } else { name }
}

/// Returns when a process started, in ticks since the machine did, or `None` if there is no such process.
fn start_of(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program is in brackets and may have any characters.
    let after = &stat[stat.rfind(')')? + 1..];
    after.split_whitespace().nth(19)?.parse().ok()
}

/// Returns whether a name is that of an unfinished file of earlier versions: six random characters.
fn is_of_an_earlier_version(name: &str) -> bool {
    let suffix = name.strip_prefix(".dmodc-");
    suffix.is_some_and(|c| c.len() == 6 && c.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// Removes the unfinished files in a folder whose process is dead or that are more than a day old. Returns their number.
pub(crate) fn remove_stale(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let is_stale = |path: &PathBuf| {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
        let owner = FileOwner::of(name);
        if owner.is_none() && !is_of_an_earlier_version(name) {
            return false;
        }
        let Ok(metadata) = fs::symlink_metadata(path) else { return false };
        let age =
            metadata.modified().ok().and_then(|then| SystemTime::now().duration_since(then).ok());
        metadata.is_file()
            && (owner.is_some_and(|owner| owner.is_dead()) || age.is_some_and(|age| age > DAY))
    };
    let stale = entries.flatten().map(|entry| entry.path()).filter(is_stale);
    stale.filter(|path| fs::remove_file(path).is_ok()).count()
}
