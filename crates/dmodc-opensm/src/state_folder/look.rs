//! Looking into the state folder: which folder is of this subnet, and what its order file holds.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dmodc::{Fabric, Guid, SavedOrders};
use dmodc_formats::orders;

use super::{ORDERS, RENUMBER};
use crate::files::{self, FileStamp};
use crate::snapshot::{SnapshotFinding, SnapshotQuery};
use crate::subnet_manager::LogLevel;
use crate::writer::WrittenStamps;

/// The most bytes that an order file may have. The one of 50,000 nodes has about 5 MB.
const LARGEST: u64 = 256 << 20;

/// The folders to look into, and the facts that are known already.
#[derive(Clone)]
pub(crate) struct StateQuery {
    /// The configured folder.
    pub(crate) configured: PathBuf,
    /// The folder below it for this port of OpenSM alone.
    pub(crate) own: PathBuf,
    /// Which of them is in use, if that is decided.
    pub(crate) in_use: Option<PathBuf>,
    /// The stamps that the order file may have if nobody else has changed it; empty if it is to be read in any case.
    pub(crate) known_stamps: Vec<FileStamp>,
    /// The number of switches of the present fabric.
    pub(crate) switches: usize,
    /// The GUIDs of all switches and nodes of the present fabric.
    pub(crate) guids: Arc<HashSet<Guid>>,
    /// The snapshot of the reference, if there is to be one.
    pub(crate) snapshot: Option<SnapshotQuery>,
}

/// The state as it was found on the disk.
pub(crate) struct StateFinding {
    configured: PathBuf,
    /// The folder to be used.
    pub(super) folder: PathBuf,
    pub(super) orders: OrderFile,
    pub(crate) snapshot: Option<SnapshotFinding>,
    /// The stamp of the file that asks for new numbers, if there is one.
    pub(super) request: Option<FileStamp>,
    /// Lines for the log.
    pub(super) log_lines: Vec<(LogLevel, String)>,
}

impl StateFinding {
    /// Treats an order file that we wrote ourselves as unchanged.
    pub(super) fn ignore_own_file(&mut self, stamps: WrittenStamps) {
        let ours = [stamps.written, stamps.announced];
        if matches!(&self.orders, OrderFile::Read { stamp, .. } if ours.contains(&Some(*stamp))) {
            self.orders = OrderFile::Same;
        }
    }

    /// Returns whether this finding, which may have come late, answers a query.
    pub(crate) fn answers(&self, query: &StateQuery) -> bool {
        self.configured == query.configured && self.snapshot.is_some() == query.snapshot.is_some()
    }
}

/// An order file as it was found on the disk.
#[expect(clippy::large_enum_variant, reason = "there is one of them, once a run")]
pub(super) enum OrderFile {
    /// Nobody else has changed it.
    Same,
    /// There is none.
    Missing,
    Read {
        saved: SavedOrders,
        stamp: FileStamp,
        /// All GUIDs that lines begin with.
        listed: Arc<[Guid]>,
    },
    /// It cannot be read, and so must not be replaced either.
    Blocked(String),
}

/// A folder, and the order file in it.
struct ChosenFolder {
    folder: PathBuf,
    orders: OrderFile,
}

/// Looks into the state folder.
pub(crate) fn look(query: &StateQuery) -> StateFinding {
    let mut log_lines = vec![];
    let ChosenFolder { folder, orders } = match &query.in_use {
        None => choose(query, &mut log_lines),
        Some(folder) => look_again(folder, query, &mut log_lines),
    };
    let request = FileStamp::at(&folder.join(RENUMBER)).ok().flatten();
    let snapshot = query.snapshot.as_ref().map(|snapshot| snapshot.look(&folder));
    let configured = query.configured.clone();
    StateFinding { configured, folder, orders, snapshot, request, log_lines }
}

/// Looks at the order file of the folder in use. If it is of another subnet now, a folder is chosen again.
fn look_again(
    folder: &Path,
    query: &StateQuery,
    log_lines: &mut Vec<(LogLevel, String)>,
) -> ChosenFolder {
    let path = folder.join(ORDERS);
    let orders = match FileStamp::at(&path) {
        Ok(Some(stamp)) if query.known_stamps.contains(&stamp) => OrderFile::Same,
        Ok(_) => read(&path, log_lines),
        Err(error) => OrderFile::Blocked(format!("{}: {error}", path.display())),
    };
    match is_foreign(&orders, query) {
        true => choose(query, log_lines),
        false => ChosenFolder { folder: folder.into(), orders },
    }
}

/// Chooses the folder whose orders are of the present fabric.
fn choose(query: &StateQuery, log_lines: &mut Vec<(LogLevel, String)>) -> ChosenFolder {
    let StateQuery { configured, own, .. } = query;
    let configured_orders = read(&configured.join(ORDERS), log_lines);
    let own_orders = read(&own.join(ORDERS), log_lines);
    let known = |orders: &OrderFile| match orders {
        OrderFile::Read { saved, .. } => known_switches(saved, query),
        _ => None,
    };
    match (known(&configured_orders), known(&own_orders)) {
        (Some(here), in_own) if in_own.is_none_or(|count| count <= here) => {
            ChosenFolder { folder: configured.clone(), orders: configured_orders }
        }
        (_, Some(_)) => {
            let line = format!("the state of this subnet is in {}", own.display());
            log_lines.push((LogLevel::Info, line));
            ChosenFolder { folder: own.clone(), orders: own_orders }
        }
        _ if is_foreign(&configured_orders, query) => {
            let line = format!(
                "{} belongs to another subnet, because it lists hardly any switch of this one; the state of this subnet is kept in {}",
                configured.join(ORDERS).display(),
                own.display()
            );
            log_lines.push((LogLevel::Error, line));
            let orders = match is_foreign(&own_orders, query) {
                true => {
                    let why = " it belongs to another subnet, too";
                    put_aside(&own.join(ORDERS), "foreign", why, log_lines);
                    OrderFile::Missing
                }
                false => own_orders,
            };
            ChosenFolder { folder: own.clone(), orders }
        }
        _ => ChosenFolder { folder: configured.clone(), orders: configured_orders },
    }
}

/// Returns whether an order file was read that is of another subnet.
fn is_foreign(orders: &OrderFile, query: &StateQuery) -> bool {
    matches!(orders, OrderFile::Read { saved, .. } if known_switches(saved, query).is_none())
}

/// Returns how many of the listed switches the present fabric has, or `None` if these are too few for the file to be of
/// this subnet. At least one is needed, and a tenth of the lesser of both numbers of switches; a fabric without
/// switches and a file that lists none do not decide anything.
fn known_switches(saved: &SavedOrders, query: &StateQuery) -> Option<usize> {
    // A plain list may be one of nodes.
    let count = saved.switches.iter().filter(|guid| query.guids.contains(guid)).count();
    let lesser = saved.switches.len().min(query.switches);
    (lesser == 0 || (count > 0 && count * 10 >= lesser)).then_some(count)
}

/// Reads an order file. A file of another format is put aside; a file that cannot be read stays where it is.
fn read(path: &Path, log_lines: &mut Vec<(LogLevel, String)>) -> OrderFile {
    let name = path.display();
    let (text, stamp) = match files::read(path, LARGEST) {
        Ok(read) => read,
        Err(error) => {
            return match error.kind() {
                io::ErrorKind::NotFound => OrderFile::Missing,
                io::ErrorKind::FileTooLarge => {
                    put_aside(path, "unreadable", &format!(" {error}"), log_lines)
                }
                _ => OrderFile::Blocked(format!("{name}: {error}")),
            };
        }
    };
    match orders::read(&text) {
        Ok(saved) => OrderFile::Read { saved, stamp, listed: listed_guids(&text) },
        Err(error) => put_aside(path, "unreadable", &error.to_string(), log_lines),
    }
}

/// Returns the GUIDs that lines begin with.
fn listed_guids(text: &[u8]) -> Arc<[Guid]> {
    let guid = |line: &[u8]| {
        let word = line.trim_ascii().strip_prefix(b"0x")?;
        let word = word.split(|byte| !byte.is_ascii_hexdigit()).next()?;
        u64::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok().map(Guid)
    };
    text.split(|byte| *byte == b'\n').filter_map(guid).collect()
}

/// Renames an order file to make room for a new one.
fn put_aside(
    path: &Path,
    extension: &str,
    why: &str,
    log_lines: &mut Vec<(LogLevel, String)>,
) -> OrderFile {
    let aside = path.with_extension(extension);
    let name = path.display();
    match fs::rename(path, &aside) {
        Ok(()) => {
            let line = format!("{name}:{why}; the file was renamed to {}", aside.display());
            log_lines.push((LogLevel::Error, line));
            OrderFile::Missing
        }
        Err(error) => {
            OrderFile::Blocked(format!("{name}:{why}; the file cannot be renamed: {error}"))
        }
    }
}

/// Returns the GUIDs of all switches and nodes of a fabric.
pub(crate) fn guids_of(fabric: &Fabric) -> Arc<HashSet<Guid>> {
    let switches = fabric.switches().iter().map(|switch| switch.guid);
    Arc::new(switches.chain(fabric.nodes().iter().map(|node| node.guid)).collect())
}
