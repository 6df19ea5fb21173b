//! The reference that routes are kept from: learned, or a file of the administrator's.
//!
//! What cannot be read, or is of another fabric, is told and not used: routing goes on by plain Dmodc.

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use dmodc::fabric::Changes;
use dmodc::{Fabric, SavedOrders};
use dmodc_formats::json;

use crate::config::{self, Config, Source};
use crate::engine::By;
use crate::files;
use crate::plugin::{Host, Level};

/// The file of the learned reference in the state folder.
const LEARNED: &str = "reference.json";

/// A file with a fabric has no more bytes.
const LARGEST: u64 = 1 << 30;

/// What a run says of its reference.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) is_learned: bool,
    pub(crate) path: PathBuf,
    /// What became of it; or why it is not used.
    pub(crate) changes: Result<Changes, String>,
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.changes {
            Ok(changes) => write!(f, "reference: {changes}"),
            Err(why) => write!(f, "NO REFERENCE: {why}"),
        }
    }
}

/// The reference as it is known.
#[derive(Default)]
pub(crate) struct Known {
    /// Where it is from, and when that had changed.
    file: Option<(PathBuf, Option<SystemTime>)>,
    fabric: Option<Arc<Fabric>>,
    /// Why there is none, or no newer one.
    pub(crate) missing: Option<String>,
    /// Whether what was learned still has to be written.
    is_unsaved: bool,
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|about| about.modified()).ok()
}

/// Where the reference is, if there is to be one.
pub(crate) fn path(config: &Config) -> Option<PathBuf> {
    config.reference.as_ref().map(|source| match source {
        Source::Learn => config.state_folder.join(LEARNED),
        Source::File(path) => path.clone(),
    })
}

impl Known {
    /// The reference as it is now. Its file is read when it has changed. One that was learned is forgotten
    /// with its file; of an administrator's, the last that could be read stays.
    pub(crate) fn look(&mut self, host: &impl Host, config: &Config) -> Option<Arc<Fabric>> {
        let Some(path) = path(config) else {
            *self = Known::default();
            return None;
        };
        let file = Some((path.clone(), changed(&path)));
        if self.file == file {
            return self.fabric.clone();
        }
        if self.file.as_ref().is_none_or(|(before, _)| *before != path) {
            *self = Known::default();
        }
        self.file = file;
        let is_learned = config.reference == Some(Source::Learn);
        self.missing = None;
        match read(host, &path) {
            Ok(fabric) => self.fabric = Some(Arc::new(fabric)),
            Err(Unread::NotThere(_)) if is_learned => {
                (self.fabric, self.is_unsaved) = (None, false);
            }
            Err(Unread::NotThere(why) | Unread::Wrong(why)) => {
                host.log(Level::Error, format_args!("{why}"));
                if is_learned {
                    self.put_aside(host, &path);
                }
                self.missing = Some(why);
            }
        }
        self.fabric.clone()
    }

    /// A learned reference that cannot be read makes room for the one that is known, or the next.
    fn put_aside(&mut self, host: &impl Host, path: &Path) {
        let aside = path.with_extension("unreadable");
        if fs::rename(path, &aside).is_ok() {
            host.log(Level::Error, format_args!("the file is now {}", aside.display()));
        }
        self.file = Some((path.into(), changed(path)));
        self.is_unsaved = self.fabric.is_some();
    }

    /// Joins the reference with the fabric of the moment. To learn, a fabric that is valid becomes the
    /// reference if there is none, and what is new in one joins it; replacements take over in the orders.
    ///
    /// # Errors
    /// Why there is no reference.
    pub(crate) fn join(
        &mut self,
        config: &Config,
        fabric: &Fabric,
        orders: Option<&mut SavedOrders>,
        is_valid: impl Fn() -> bool,
    ) -> Result<By, String> {
        let learns = config.reference == Some(Source::Learn);
        if self.fabric.is_none() && learns && is_valid() {
            self.learn(fabric.clone());
        }
        let Some(reference) = self.fabric.clone() else {
            let none = "no fabric was seen yet in which all leaves are connected";
            return Err(self.missing.clone().unwrap_or_else(|| none.into()));
        };
        let by = By::new(config, reference, fabric)?;
        if !learns || by.joined.news.is_empty() || !is_valid() {
            return Ok(by);
        }
        if let Some(orders) = orders {
            by.joined.hand_over(orders);
        }
        self.learn(by.joined.fabric);
        let Some(reference) = self.fabric.clone() else { return Err("nothing was learned".into()) };
        By::new(config, reference, fabric)
    }

    fn learn(&mut self, fabric: Fabric) {
        (self.fabric, self.is_unsaved, self.missing) = (Some(Arc::new(fabric)), true, None);
    }

    /// Writes what was learned. What cannot be written is tried again in the next run.
    pub(crate) fn save(&mut self, host: &impl Host) {
        let (Some((path, when)), Some(fabric)) = (&mut self.file, &self.fabric) else { return };
        if !self.is_unsaved {
            return;
        }
        let mut text = Vec::new();
        let written = json::write(fabric, &mut text).and_then(|()| files::replace(path, &text));
        match written {
            Ok(()) => (self.is_unsaved, *when) = (false, changed(path)),
            Err(error) => host.log(
                Level::Error,
                format_args!("{}: {error}; after a restart routes may move", path.display()),
            ),
        }
    }
}

enum Unread {
    NotThere(String),
    Wrong(String),
}

/// Reads a fabric in any format. What is damaged in it is told and left out.
fn read(host: &impl Host, path: &Path) -> Result<Fabric, Unread> {
    let name = path.display();
    let text = config::read_some(path, LARGEST).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Unread::NotThere(format!("{name}: {error}")),
        _ => Unread::Wrong(format!("{name}: {error}")),
    })?;
    let reading = dmodc_formats::read(&text);
    let reading = reading.map_err(|error| Unread::Wrong(format!("{name}:{error}")))?;
    if let Some(dirt) = reading.dirt.first() {
        host.log(Level::Error, format_args!("{name}:{dirt} (what is damaged is left out)"));
    }
    Ok(reading.fabric)
}
