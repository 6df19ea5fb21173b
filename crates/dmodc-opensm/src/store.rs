//! The state folder: whose it is, what is in it, and whether somebody else has changed it.
//!
//! Looking is done by a thread that may take long ([`look`]); what was found is then weighed against what is in memory
//! ([`Store::take`]). A file is written only if what it holds was read before, or if it is known that there is none.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dmodc::{Fabric, Guid, SavedOrders};
use dmodc_formats::orders;

use crate::files::{self, Stamp};
use crate::plugin::Level;
use crate::reference;

/// The file of both orders.
pub(crate) const ORDERS: &str = "dmodc.orders";

/// Whoever makes this file asks for numbering anew.
pub(crate) const RENUMBER: &str = "renumber";

/// A file of orders has no more bytes: 50,000 nodes have about 5 MB.
const LARGEST: u64 = 256 << 20;

/// What is asked of the file system.
#[derive(Clone)]
pub(crate) struct Question {
    /// The configured folder, and the one below it for this port of OpenSM alone.
    pub(crate) top: PathBuf,
    pub(crate) own: PathBuf,
    /// The one that is in use, if that is decided.
    pub(crate) in_use: Option<PathBuf>,
    /// What the file of orders is if nobody else has changed it; empty if it is to be read in any case.
    pub(crate) orders: Vec<Stamp>,
    /// The GUIDs of the fabric of the moment: of switches alone, and of everything.
    pub(crate) switches: usize,
    pub(crate) guids: Arc<HashSet<Guid>>,
    /// Of which file the reference is, and what that is if nobody has changed it.
    pub(crate) reference: Option<reference::Question>,
}

/// What the file system said.
pub(crate) struct Answer {
    top: PathBuf,
    /// The folder to be used.
    pub(crate) folder: PathBuf,
    pub(crate) orders: Orders,
    pub(crate) reference: Option<reference::Seen>,
    /// The request for numbering anew.
    request: Option<Stamp>,
    /// What the log is to say.
    pub(crate) notes: Vec<(Level, String)>,
}

impl Answer {
    /// Takes a file that was read for the one that it was, if it is one of ours.
    pub(crate) fn is_ours(&mut self, stamps: &[Option<Stamp>]) {
        if matches!(&self.orders, Orders::Read { stamp, .. } if stamps.contains(&Some(*stamp))) {
            self.orders = Orders::Same;
        }
    }

    /// Whether a late answer answers a question.
    pub(crate) fn serves(&self, question: &Question) -> bool {
        self.top == question.top && self.reference.is_some() == question.reference.is_some()
    }
}

/// What is known of a file of orders.
#[expect(clippy::large_enum_variant, reason = "there is one of them, once a run")]
pub(crate) enum Orders {
    /// It is the file that it was.
    Same,
    /// There is none.
    Missing,
    Read {
        saved: SavedOrders,
        stamp: Stamp,
        listed: Arc<[Guid]>,
    },
    /// It cannot be read, and so is not replaced either.
    Blocked(String),
}

/// Looks into the state folder.
pub(crate) fn look(question: &Question) -> Answer {
    let mut notes = vec![];
    let (folder, orders) = match &question.in_use {
        None => choose(question, &mut notes),
        Some(folder) => {
            let path = folder.join(ORDERS);
            match Stamp::at(&path) {
                Ok(Some(stamp)) if question.orders.contains(&stamp) => {
                    (folder.clone(), Orders::Same)
                }
                Ok(_) => match read(&path, &mut notes) {
                    Orders::Read { saved, .. } if known(&saved, question).is_none() => {
                        choose(question, &mut notes)
                    }
                    orders => (folder.clone(), orders),
                },
                Err(error) => {
                    (folder.clone(), Orders::Blocked(format!("{}: {error}", path.display())))
                }
            }
        }
    };
    let request = Stamp::at(&folder.join(RENUMBER)).ok().flatten();
    let reference = question.reference.as_ref().map(|asked| asked.look(&folder));
    Answer { top: question.top.clone(), folder, orders, reference, request, notes }
}

/// Chooses a folder by whose fabric its orders are of.
fn choose(question: &Question, notes: &mut Vec<(Level, String)>) -> (PathBuf, Orders) {
    let Question { top, own, .. } = question;
    let at_top = read(&top.join(ORDERS), notes);
    let in_own = read(&own.join(ORDERS), notes);
    let of_this = |orders: &Orders| match orders {
        Orders::Read { saved, .. } => known(saved, question),
        _ => None,
    };
    let is_foreign = |orders: &Orders| matches!(orders, Orders::Read { saved, .. } if known(saved, question).is_none());
    match (of_this(&at_top), of_this(&in_own)) {
        (Some(top_knows), own_knows) if own_knows.is_none_or(|count| count <= top_knows) => {
            (top.clone(), at_top)
        }
        (_, Some(_)) => {
            let line = format!("the state of this subnet is in {}", own.display());
            notes.push((Level::Info, line));
            (own.clone(), in_own)
        }
        _ if is_foreign(&at_top) => {
            let line = format!(
                "{} is of another subnet: it lists hardly any switch of this one; state is kept in {}",
                top.join(ORDERS).display(),
                own.display()
            );
            notes.push((Level::Error, line));
            match is_foreign(&in_own) {
                true => {
                    put_aside(&own.join(ORDERS), "foreign", "it is of another subnet, too", notes);
                    (own.clone(), Orders::Missing)
                }
                false => (own.clone(), in_own),
            }
        }
        _ => (top.clone(), at_top),
    }
}

/// Returns how many of the listed switches are of this fabric, if they are so many that the file is of this subnet: at
/// least one, and a tenth of the lesser of both numbers. A fabric without switches and a file that lists none say
/// nothing.
fn known(saved: &SavedOrders, question: &Question) -> Option<usize> {
    // A plain list may be one of nodes.
    let count = saved.switches.iter().filter(|guid| question.guids.contains(guid)).count();
    let lesser = saved.switches.len().min(question.switches);
    (lesser == 0 || (count > 0 && count * 10 >= lesser)).then_some(count)
}

/// Reads orders. What is no such file is put aside; what cannot be read stays where it is.
fn read(path: &Path, notes: &mut Vec<(Level, String)>) -> Orders {
    let name = path.display();
    let (text, stamp) = match files::read(path, LARGEST) {
        Ok(read) => read,
        Err(error) => {
            return match error.kind() {
                io::ErrorKind::NotFound => Orders::Missing,
                io::ErrorKind::FileTooLarge => {
                    put_aside(path, "unreadable", &format!(" {error}"), notes)
                }
                _ => Orders::Blocked(format!("{name}: {error}")),
            };
        }
    };
    match orders::read(&text) {
        Ok(saved) => Orders::Read { saved, stamp, listed: listed(&text) },
        Err(error) => put_aside(path, "unreadable", &error.to_string(), notes),
    }
}

/// Returns the GUIDs that lines begin with.
fn listed(text: &[u8]) -> Arc<[Guid]> {
    let guid = |line: &[u8]| {
        let word = line.trim_ascii().strip_prefix(b"0x")?;
        let word = word.split(|byte| !byte.is_ascii_hexdigit()).next()?;
        u64::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok().map(Guid)
    };
    text.split(|byte| *byte == b'\n').filter_map(guid).collect()
}

/// Makes room for a new file.
fn put_aside(path: &Path, word: &str, why: &str, notes: &mut Vec<(Level, String)>) -> Orders {
    let aside = path.with_extension(word);
    let name = path.display();
    match fs::rename(path, &aside) {
        Ok(()) => {
            let line = format!("{name}:{why}; the file is now {}", aside.display());
            notes.push((Level::Error, line));
            Orders::Missing
        }
        Err(error) => Orders::Blocked(format!("{name}:{why}; it cannot be put aside: {error}")),
    }
}

/// Returns what is told of a fabric when the file system is asked.
pub(crate) fn guids_of(fabric: &Fabric) -> Arc<HashSet<Guid>> {
    let switches = fabric.switches().iter().map(|switch| switch.guid);
    Arc::new(switches.chain(fabric.nodes().iter().map(|node| node.guid)).collect())
}

/// What is known of the state folder.
#[derive(Default)]
pub(crate) struct Store {
    /// The configured folder, and the one in use.
    pub(crate) top: Option<PathBuf>,
    pub(crate) folder: Option<PathBuf>,
    /// What the file of orders was when it was read.
    pub(crate) read: Option<Stamp>,
    /// Why the file of orders is not written: it was not read.
    pub(crate) blocked: Option<String>,
    /// Whether orders have to be written.
    pub(crate) is_unsaved: bool,
    /// The last request for numbering anew that was granted.
    granted: Option<Stamp>,
    /// The request that this run grants.
    asked: Option<Stamp>,
    /// Everything that the file listed when it was read first, for the event file.
    pub(crate) listed: Option<Arc<[Guid]>>,
}

/// What a run is to do.
#[derive(Default)]
pub(crate) struct Decision {
    /// Orders to be used instead of those in memory.
    pub(crate) adopted: Option<SavedOrders>,
    pub(crate) renumber: bool,
}

impl Store {
    /// Returns the path of the orders.
    pub(crate) fn orders(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(ORDERS))
    }

    /// Weighs what the file system said. `written` is what the file is by our own hand; `has_orders` says whether
    /// there are orders in memory.
    pub(crate) fn take(
        &mut self,
        answer: Answer,
        written: Option<Stamp>,
        has_orders: bool,
        log: &mut dyn FnMut(Level, String),
    ) -> Decision {
        let path = answer.folder.join(ORDERS);
        let name = path.display();
        let moved = self.folder.as_ref().is_some_and(|before| *before != answer.folder);
        for (level, line) in answer.notes {
            log(level, line);
        }
        let was_blocked = self.blocked.take();
        let mut decision = Decision::default();
        match answer.orders {
            Orders::Same => {}
            Orders::Missing => {
                let was_there = !moved && (written.is_some() || self.read.is_some());
                if was_there && has_orders {
                    log(
                        Level::Error,
                        format!(
                            "{name} has vanished; it is written again (numbering anew is asked for with 'dmodc \
                             opensm renumber')"
                        ),
                    );
                }
                self.read = None;
                self.is_unsaved |= has_orders;
            }
            Orders::Read { saved, stamp, listed } => {
                if has_orders {
                    let why = match was_blocked {
                        Some(_) => "could be read at last",
                        None => "was changed by somebody else",
                    };
                    log(Level::Info, format!("{name} {why}; everything is routed anew with it"));
                }
                self.read = Some(stamp);
                self.is_unsaved = false;
                self.listed.get_or_insert(listed);
                decision.adopted = Some(saved);
            }
            Orders::Blocked(why) => {
                if was_blocked.as_ref() != Some(&why) {
                    log(Level::Error, format!("{why}; it is not used and not replaced"));
                }
                self.blocked = Some(why);
            }
        }
        self.folder = Some(answer.folder);
        self.asked = answer.request.filter(|request| self.granted != Some(*request));
        decision.renumber = self.asked.is_some();
        decision
    }

    /// Takes note that there was no answer.
    pub(crate) fn miss(&mut self, why: &str, has_orders: bool, log: &mut dyn FnMut(Level, String)) {
        let meanwhile = match has_orders {
            true => "what is in memory is used",
            false => "numbering anew until it can be read",
        };
        let folder = self.folder.as_ref().or(self.top.as_ref());
        let folder = folder.map_or(String::new(), |folder| folder.display().to_string());
        let line =
            format!("state folder {folder}: {why}; {meanwhile}, and nothing is replaced there");
        if self.blocked.as_ref() != Some(&line) {
            log(Level::Error, line.clone());
        }
        self.blocked = Some(line);
        self.asked = None;
    }

    /// The run that granted a request has succeeded. Returns the request's file.
    pub(crate) fn grant(&mut self) -> Option<PathBuf> {
        self.granted = Some(self.asked.take()?);
        self.folder.as_ref().map(|folder| folder.join(RENUMBER))
    }

    /// Forgets the folder if another one is configured.
    pub(crate) fn configure(&mut self, top: &Path) {
        if self.top.as_deref() != Some(top) {
            let listed = self.listed.take();
            *self = Store { top: Some(top.into()), listed, ..Store::default() };
        }
    }
}
