//! The reference: the whole fabric that routes stay close to. It is learned, inferred from the present fabric, or read from a
//! file of the administrator.
//!
//! The file in which a reference is kept is its *snapshot*: `reference.json` in the state folder, or the administrator's
//! file. An inferred reference has none: whenever everything is routed again, it is inferred again. A snapshot that cannot be read or is of another fabric is reported and not used; plain Dmodc routes then.

mod file;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dmodc::fabric::Changes;
use dmodc::{Fabric, InferredWhole, SavedOrders};
use dmodc_formats::json;

use crate::config::{Config, ReferenceSource};
use crate::files::{ExpectedFile, FileStamp};
use crate::kept_tables::JoinedReference;
use crate::subnet_manager::{LogLevel, SubnetManager};
use crate::writer::{FileTask, FileWriter, MakeText};
use file::SnapshotContent;
pub(crate) use file::{SnapshotFinding, SnapshotQuery};

/// The snapshot of a learned reference in the state folder.
const LEARNED_SNAPSHOT: &str = "reference.json";

/// The reference in the report of a run.
#[derive(Clone, Debug)]
pub(crate) struct ReferenceReport {
    pub(crate) source: ReferenceSource,
    /// The file of the reference; an inferred one has none.
    pub(crate) path: Option<PathBuf>,
    /// How the present fabric differs from the reference, or why the reference is not used.
    pub(crate) changes: Result<Changes, String>,
}

impl fmt::Display for ReferenceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.changes {
            Ok(changes) => {
                let how = if self.source == ReferenceSource::Inferred { "inferred " } else { "" };
                write!(f, "{how}reference: {changes}")
            }
            Err(why) => write!(f, "NO REFERENCE: {why}"),
        }
    }
}

/// The file that a reference was read from or is written to.
struct SnapshotFile {
    path: PathBuf,
    /// The stamp of the file when it was read last.
    stamp: Option<FileStamp>,
}

/// The reference that is kept in memory, and its snapshot.
#[derive(Default)]
pub(crate) struct KeptReference {
    snapshot: Option<SnapshotFile>,
    fabric: Option<Arc<Fabric>>,
    /// Whether the reference was inferred, and not learned or read.
    is_inferred: bool,
    /// Why there is no reference, or no newer one.
    pub(crate) missing: Option<String>,
    /// Whether the snapshot could not be looked at. Nothing is learned then, because learning would replace the file.
    is_unread: bool,
    /// Whether the learned reference still has to be written.
    is_unsaved: bool,
}

/// Returns the path of the snapshot, if the configuration asks for a reference that has one.
pub(crate) fn snapshot_path(config: &Config, state_folder: &Path) -> Option<PathBuf> {
    match config.reference.as_ref()? {
        ReferenceSource::Learn => Some(state_folder.join(LEARNED_SNAPSHOT)),
        ReferenceSource::Inferred => None,
        ReferenceSource::File(path) => Some(path.clone()),
    }
}

impl KeptReference {
    /// Returns the query for the snapshot, if the configuration asks for a reference that has one.
    pub(crate) fn query(&self, config: &Config, state: &FileWriter) -> Option<SnapshotQuery> {
        let file = match config.reference.as_ref()? {
            ReferenceSource::Learn => None,
            ReferenceSource::Inferred => return None,
            ReferenceSource::File(path) => Some(path.clone()),
        };
        let mut known_stamps = vec![];
        if let Some(SnapshotFile { path, stamp }) = &self.snapshot
            && file.as_ref().is_none_or(|file| file == path)
        {
            let ours = state.stamps(path);
            known_stamps.extend([*stamp, ours.written, ours.announced].into_iter().flatten());
        }
        Some(SnapshotQuery { file, known_stamps })
    }

    /// Takes in what was found on the disk. Returns the reference as it is now.
    ///
    /// A learned reference is forgotten if its snapshot was removed. Of an administrator's file, the last version that
    /// could be read stays in use. Without a finding (the disk did not answer in time) nothing changes.
    pub(crate) fn update(
        &mut self,
        manager: &impl SubnetManager,
        config: &Config,
        finding: Option<SnapshotFinding>,
        state: &mut FileWriter,
    ) -> Option<Arc<Fabric>> {
        if config.reference.is_none() {
            *self = KeptReference::default();
            return None;
        }
        if self.is_inferred != config.infers_reference() {
            *self = KeptReference {
                is_inferred: config.infers_reference(),
                ..KeptReference::default()
            };
        }
        if self.is_inferred {
            return self.fabric.clone();
        }
        let Some(SnapshotFinding { path, content }) = finding else {
            self.is_unread = self.snapshot.is_none();
            if self.fabric.is_none() && self.is_unread {
                self.missing = Some("the file of the reference could not be read in time".into());
            }
            return self.fabric.clone();
        };
        let before = match self.snapshot.take() {
            Some(snapshot) if snapshot.path == path => snapshot.stamp,
            _ => {
                *self = KeptReference::default();
                None
            }
        };
        self.is_unread = false;
        let mut stamp = before;
        match content {
            SnapshotContent::Same => {}
            SnapshotContent::Read { fabric, stamp: new_stamp, damage } => {
                if let Some(damage) = damage {
                    manager.log(LogLevel::Error, format_args!("{damage}"));
                }
                if self.fabric.is_some() {
                    let name = path.display();
                    manager.log(
                        LogLevel::Info,
                        format_args!("{name} was changed by another program and is read again"),
                    );
                }
                state.forget(&path);
                (self.fabric, self.missing) = (Some(Arc::new(*fabric)), None);
                (self.is_unsaved, stamp) = (false, Some(new_stamp));
            }
            SnapshotContent::NotThere(_) if config.learns_reference() => {
                // If it was never read or written, it may have been learned just now and still wait for the writer.
                if before.is_some() || state.stamps(&path).written.is_some() {
                    state.forget(&path);
                    (self.fabric, self.is_unsaved) = (None, false);
                }
                (self.missing, stamp) = (None, None);
            }
            SnapshotContent::NotThere(why) => {
                self.complain(manager, why);
                stamp = None;
            }
            SnapshotContent::Unusable { why, put_aside, stamp: new_stamp } => {
                self.complain(manager, why);
                if let Some(aside) = put_aside {
                    manager.log(
                        LogLevel::Error,
                        format_args!("the unusable file was renamed to {}", aside.display()),
                    );
                    self.is_unsaved = self.fabric.is_some();
                }
                stamp = new_stamp;
            }
        }
        self.snapshot = Some(SnapshotFile { path, stamp });
        self.fabric.clone()
    }

    /// Logs once why there is no reference, or no newer one.
    fn complain(&mut self, manager: &impl SubnetManager, why: String) {
        if self.missing.as_ref() != Some(&why) {
            manager.log(LogLevel::Error, format_args!("{why}"));
        }
        self.missing = Some(why);
    }

    /// Forgets a learned reference, because new numbers were asked for.
    pub(crate) fn unlearn(&mut self, config: &Config) {
        if config.learns_reference() {
            (self.fabric, self.is_unsaved) = (None, false);
        }
    }

    /// Joins the reference with the present fabric.
    ///
    /// If it is inferred, that is done now, from the present fabric alone.
    ///
    /// If the reference is learned, a valid fabric becomes the reference where there is none, and new parts of a valid
    /// fabric are added to it; replaced parts take over the places of the old ones in the orders.
    ///
    /// # Errors
    /// Why there is no reference.
    pub(crate) fn join(
        &mut self,
        config: &Config,
        fabric: &Fabric,
        orders: Option<&mut SavedOrders>,
        is_valid: impl Fn() -> bool,
    ) -> Result<JoinedReference, String> {
        if config.infers_reference() {
            return self.infer(config, fabric);
        }
        let learns = config.learns_reference();
        if self.fabric.is_none() && learns && !self.is_unread && is_valid() {
            self.learn(fabric.clone());
        }
        let Some(reference) = self.fabric.clone() else {
            let none = "no reference was learned yet, because no fabric was seen in which all leaves are connected";
            return Err(self.missing.clone().unwrap_or_else(|| none.into()));
        };
        let with_reference = JoinedReference::new(config, reference, fabric)?;
        if !learns || with_reference.joined.news.is_empty() || !is_valid() {
            return Ok(with_reference);
        }
        if let Some(orders) = orders {
            with_reference.joined.hand_over(orders);
        }
        let reference = self.learn(with_reference.joined.fabric);
        JoinedReference::new(config, reference, fabric)
    }

    /// Infers the reference from the present fabric.
    fn infer(&mut self, config: &Config, fabric: &Fabric) -> Result<JoinedReference, String> {
        let (present, leaves) = config.leaf_rule(fabric.clone())?;
        match InferredWhole::new(&present, &leaves) {
            Ok(whole) => {
                self.missing = None;
                let whole = self.fabric.insert(Arc::new(whole.fabric)).clone();
                JoinedReference::new(config, whole, fabric)
            }
            Err(why) => {
                let why = format!("no whole fabric can be inferred: {why}");
                (self.fabric, self.missing) = (None, Some(why.clone()));
                Err(why)
            }
        }
    }

    fn learn(&mut self, fabric: Fabric) -> Arc<Fabric> {
        (self.is_unsaved, self.missing) = (true, None);
        self.fabric.insert(Arc::new(fabric)).clone()
    }

    /// Hands a learned reference to the writer. `new_orders` is the order file of a run that gave new numbers: if that run
    /// has learned nothing, the old snapshot is removed as soon as the new orders are written.
    pub(crate) fn save(&mut self, state: &mut FileWriter, new_orders: Option<&Path>) {
        let Some(SnapshotFile { path, stamp }) = &self.snapshot else { return };
        match (&self.fabric, new_orders) {
            (Some(fabric), _) if self.is_unsaved => {
                let fabric = fabric.clone();
                let text: MakeText = Arc::new(move |_| {
                    let mut text = Vec::new();
                    json::write(&fabric, &mut text).map(|()| text)
                });
                let expected = ExpectedFile::Exactly(*stamp);
                state.file(path, FileTask::Replace { text, expected });
                self.is_unsaved = false;
            }
            (None, Some(orders)) => state.file(path, FileTask::RemoveAfter(orders.into())),
            _ => {}
        }
    }
}
