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

use dmodc::fabric::Changes;
use dmodc::{Fabric, SavedOrders};
use dmodc_formats::json;

use crate::config::{Config, Source};
use crate::engine::By;
use crate::files::{self, Expected, Stamp};
use crate::plugin::{Host, Level};
use crate::writer::{Text, Work, Writer};

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
    /// Where it is from, and what the file was when it was read.
    file: Option<(PathBuf, Option<Stamp>)>,
    fabric: Option<Arc<Fabric>>,
    /// Why there is none, or no newer one.
    pub(crate) missing: Option<String>,
    /// Whether the file could not be looked at: then nothing is learned, since that would replace it.
    is_unread: bool,
    /// Whether what was learned still has to be written.
    is_unsaved: bool,
}

/// What is asked of the file system.
#[derive(Clone)]
pub(crate) struct Question {
    /// The administrator's file; else it is the learned one.
    file: Option<PathBuf>,
    /// What the file is if nobody else has changed it.
    known: Vec<Stamp>,
}

/// What the file system said.
pub(crate) struct Seen {
    path: PathBuf,
    file: File,
}

enum File {
    /// It is the file that it was.
    Same,
    NotThere(String),
    /// It cannot be used; a learned one was perhaps put aside.
    Wrong {
        why: String,
        aside: Option<PathBuf>,
        stamp: Option<Stamp>,
    },
    /// What is damaged in it is left out, and the first of that is named.
    Read {
        fabric: Box<Fabric>,
        stamp: Stamp,
        dirt: Option<String>,
    },
}

impl Question {
    /// Looks at the file.
    pub(crate) fn look(&self, folder: &Path) -> Seen {
        let path = self.file.clone().unwrap_or_else(|| folder.join(LEARNED));
        let file = match Stamp::at(&path) {
            Ok(Some(stamp)) if self.known.contains(&stamp) => File::Same,
            _ => self.read(&path),
        };
        Seen { path, file }
    }

    fn read(&self, path: &Path) -> File {
        let name = path.display();
        let (text, stamp) = match files::read(path, LARGEST) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return File::NotThere(format!("{name}: {error}"));
            }
            Err(error) => {
                let why = format!("{name}: {error}");
                let aside = match error.kind() {
                    io::ErrorKind::FileTooLarge => self.put_aside(path),
                    _ => None,
                };
                return File::Wrong { why, aside, stamp: Stamp::at(path).ok().flatten() };
            }
        };
        match dmodc_formats::read(&text) {
            Ok(reading) => {
                let dirt = reading.dirt.first();
                let dirt = dirt.map(|dirt| format!("{name}:{dirt} (what is damaged is left out)"));
                File::Read { fabric: Box::new(reading.fabric), stamp, dirt }
            }
            Err(error) => {
                let aside = self.put_aside(path);
                let stamp = aside.is_none().then_some(stamp);
                File::Wrong { why: format!("{name}:{error}"), aside, stamp }
            }
        }
    }

    /// A learned reference that cannot be used makes room for the one that is known, or the next.
    fn put_aside(&self, path: &Path) -> Option<PathBuf> {
        let aside = path.with_extension("unreadable");
        (self.file.is_none() && fs::rename(path, &aside).is_ok()).then_some(aside)
    }
}

/// Where the reference is, if there is to be one.
pub(crate) fn path(config: &Config, folder: &Path) -> Option<PathBuf> {
    config.reference.as_ref().map(|source| match source {
        Source::Learn => folder.join(LEARNED),
        Source::File(path) => path.clone(),
    })
}

impl Known {
    /// Returns what is to be asked, if there is to be a reference.
    pub(crate) fn question(&self, config: &Config, state: &Writer) -> Option<Question> {
        let file = match config.reference.as_ref()? {
            Source::Learn => None,
            Source::File(path) => Some(path.clone()),
        };
        let mut known = vec![];
        if let Some((path, stamp)) = &self.file
            && file.as_ref().is_none_or(|file| file == path)
        {
            let (written, announced) = state.stamps(path);
            known.extend([*stamp, written, announced].into_iter().flatten());
        }
        Some(Question { file, known })
    }

    /// Returns the reference as it is now. One that was learned is forgotten with its file; of an administrator's, the
    /// last that could be read stays. What could not be looked at in time is as it was.
    pub(crate) fn look(
        &mut self,
        host: &impl Host,
        config: &Config,
        seen: Option<Seen>,
        state: &mut Writer,
    ) -> Option<Arc<Fabric>> {
        if config.reference.is_none() {
            *self = Known::default();
            return None;
        }
        let Some(Seen { path, file }) = seen else {
            self.is_unread = self.file.is_none();
            if self.fabric.is_none() && self.is_unread {
                self.missing = Some("its file could not be read in time".into());
            }
            return self.fabric.clone();
        };
        let is_learned = config.reference == Some(Source::Learn);
        let before = match self.file.take() {
            Some((before, stamp)) if before == path => stamp,
            _ => {
                *self = Known::default();
                None
            }
        };
        self.is_unread = false;
        let mut now = before;
        match file {
            File::Same => {}
            File::Read { fabric, stamp, dirt } => {
                if let Some(dirt) = dirt {
                    host.log(Level::Error, format_args!("{dirt}"));
                }
                if self.fabric.is_some() {
                    let name = path.display();
                    host.log(Level::Info, format_args!("{name} was changed by somebody else"));
                }
                state.forget(&path);
                (self.fabric, self.missing) = (Some(Arc::new(*fabric)), None);
                (self.is_unsaved, now) = (false, Some(stamp));
            }
            File::NotThere(_) if is_learned => {
                // What was just learned is perhaps still on its way.
                if before.is_some() || state.stamps(&path).0.is_some() {
                    state.forget(&path);
                    (self.fabric, self.is_unsaved) = (None, false);
                }
                (self.missing, now) = (None, None);
            }
            File::NotThere(why) => {
                self.complain(host, why);
                now = None;
            }
            File::Wrong { why, aside, stamp } => {
                self.complain(host, why);
                if let Some(aside) = aside {
                    host.log(Level::Error, format_args!("the file is now {}", aside.display()));
                    self.is_unsaved = self.fabric.is_some();
                }
                now = stamp;
            }
        }
        self.file = Some((path, now));
        self.fabric.clone()
    }

    /// Says once why there is no reference, or no newer one.
    fn complain(&mut self, host: &impl Host, why: String) {
        if self.missing.as_ref() != Some(&why) {
            host.log(Level::Error, format_args!("{why}"));
        }
        self.missing = Some(why);
    }

    /// Forgets what was learned: numbering anew is asked for.
    pub(crate) fn unlearn(&mut self, config: &Config) {
        if config.reference == Some(Source::Learn) {
            (self.fabric, self.is_unsaved) = (None, false);
        }
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
        if self.fabric.is_none() && learns && !self.is_unread && is_valid() {
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

    /// Hands over what was learned to be written. After a request for numbering anew, what was learned before goes with
    /// the orders of before.
    pub(crate) fn save(&mut self, state: &mut Writer, orders: Option<&Path>) {
        let Some((path, stamp)) = &self.file else { return };
        match (&self.fabric, orders) {
            (Some(fabric), _) if self.is_unsaved => {
                let fabric = fabric.clone();
                let text: Text = Arc::new(move |_| {
                    let mut text = Vec::new();
                    json::write(&fabric, &mut text).map(|()| text)
                });
                state.file(path, Work::Replace { text, expected: Expected::Exactly(*stamp) });
                self.is_unsaved = false;
            }
            (None, Some(orders)) => state.file(path, Work::RemoveAfter(orders.into())),
            _ => {}
        }
    }
}
