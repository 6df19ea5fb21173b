//! Looking at a snapshot on the disk. This happens in a thread that may take long.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use dmodc::Fabric;

use super::LEARNED_SNAPSHOT;
use crate::files::{self, FileStamp};

/// The most bytes that a snapshot may have.
const LARGEST: u64 = 1 << 30;

/// Which snapshot is to be looked at.
#[derive(Clone)]
pub(crate) struct SnapshotQuery {
    /// The administrator's file; without one it is the learned snapshot.
    pub(super) file: Option<PathBuf>,
    /// The stamps that the file may have if nobody else has changed it.
    pub(super) known_stamps: Vec<FileStamp>,
}

/// A snapshot as it was found on the disk.
pub(crate) struct SnapshotFinding {
    pub(super) path: PathBuf,
    pub(super) content: SnapshotContent,
}

pub(super) enum SnapshotContent {
    /// Nobody else has changed the file.
    Same,
    /// There is no file.
    NotThere(String),
    /// The file cannot be used. If it was a learned one, it may have been renamed.
    Unusable { why: String, put_aside: Option<PathBuf>, stamp: Option<FileStamp> },
    /// The file was read. Damaged parts are left out, and `damage` names the first of them.
    Read { fabric: Box<Fabric>, stamp: FileStamp, damage: Option<String> },
}

impl SnapshotQuery {
    /// Looks at the snapshot, and reads it if somebody else has changed it.
    pub(crate) fn look(&self, state_folder: &Path) -> SnapshotFinding {
        let path = self.file.clone().unwrap_or_else(|| state_folder.join(LEARNED_SNAPSHOT));
        let content = match FileStamp::at(&path) {
            Ok(Some(stamp)) if self.known_stamps.contains(&stamp) => SnapshotContent::Same,
            _ => self.read(&path),
        };
        SnapshotFinding { path, content }
    }

    fn read(&self, path: &Path) -> SnapshotContent {
        let name = path.display();
        let (text, stamp) = match files::read(path, LARGEST) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return SnapshotContent::NotThere(format!("{name}: {error}"));
            }
            Err(error) => {
                let why = format!("{name}: {error}");
                let put_aside = match error.kind() {
                    io::ErrorKind::FileTooLarge => self.put_aside(path),
                    _ => None,
                };
                let stamp = FileStamp::at(path).ok().flatten();
                return SnapshotContent::Unusable { why, put_aside, stamp };
            }
        };
        match dmodc_formats::read(&text) {
            Ok(reading) => {
                let damage = reading.dirt.first();
                let damage =
                    damage.map(|place| format!("{name}:{place} (damaged lines are skipped)"));
                SnapshotContent::Read { fabric: Box::new(reading.fabric), stamp, damage }
            }
            Err(error) => {
                let put_aside = self.put_aside(path);
                let stamp = put_aside.is_none().then_some(stamp);
                SnapshotContent::Unusable { why: format!("{name}:{error}"), put_aside, stamp }
            }
        }
    }

    /// Renames a learned snapshot that cannot be used, to make room for the next one. Returns its new path.
    fn put_aside(&self, path: &Path) -> Option<PathBuf> {
        let aside = path.with_extension("unreadable");
        (self.file.is_none() && fs::rename(path, &aside).is_ok()).then_some(aside)
    }
}
