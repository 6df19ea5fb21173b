//! Which files a command reads and writes, so that none is lost: a result that takes the name of an input or of another result is
//! refused before anything is read. Commands that may change a file in place do not name it here: `degrade FILE --output FILE`,
//! `order --hosts FILE --output FILE`, and `route --orders FILE --save-orders FILE`.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::{Command, ReferenceArg, RoutingArgs};

/// The files that arguments name. Options that are not given are `None`.
struct NamedFiles<'a> {
    read: Vec<Option<&'a Path>>,
    written: Vec<Option<&'a Path>>,
}

impl Command {
    /// Refuses results that would replace an input, or another result.
    ///
    /// # Errors
    /// If two of the files are the same, and one of them is written.
    pub(crate) fn check_files(&self) -> Result<()> {
        let Some(NamedFiles { read, written }) = self.files() else { return Ok(()) };
        let mut others: Vec<&Path> = read.into_iter().flatten().collect();
        let inputs = others.len();
        for path in written.into_iter().flatten() {
            match others.iter().position(|other| are_same_file(other, path)) {
                Some(at) if at < inputs => bail!(
                    "{}: this file is read, and the result would replace it; write the result to another file",
                    path.display()
                ),
                Some(_) => bail!(
                    "{}: two results cannot be written to one file; name another one",
                    path.display()
                ),
                None => others.push(path),
            }
        }
        Ok(())
    }

    /// Returns the files of a command; `None` if it writes none, or may change one in place.
    fn files(&self) -> Option<NamedFiles<'_>> {
        let (read, written) = match self {
            Command::Route(args) => {
                let mut read = args.routing.files();
                if let Some(saved) = args.save_orders.as_deref() {
                    // Saved orders may be brought up to date in place.
                    let orders = args.routing.order.orders.as_deref();
                    let in_place = orders.filter(|orders| are_same_file(orders, saved));
                    read.retain(|path| path.is_none() || *path != in_place);
                }
                (read, vec![&args.save_orders, &args.output.output, &args.alternatives])
            }
            Command::Analyze(args) => {
                let others = [&args.jobs, &args.nodes].map(|path| path.as_deref());
                let read = [Some(args.fabric.fabric.as_path()), Some(&args.tables)];
                ([&read[..], &others].concat(), vec![&args.csv, &args.svg, &args.html])
            }
            Command::Convert(args) => {
                let read = [Some(args.fabric.fabric.as_path()), args.tables.as_deref()];
                ([&read[..], &[args.pairs.as_deref()]].concat(), vec![&args.output.output])
            }
            Command::Plan(args) => {
                let read = [&args.fabric.fabric, &args.old, &args.new];
                (read.map(|path| Some(path.as_path())).to_vec(), vec![&args.output])
            }
            Command::Compare(args) => {
                let read = [Some(args.fabric.fabric.as_path()), args.with.as_deref()];
                (read.to_vec(), vec![&args.csv])
            }
            Command::Whatif(args) => (args.routing.files(), vec![&args.csv, &args.html]),
            Command::Repair(args) => {
                let read = [&args.fabric.fabric, &args.reference];
                (read.map(|path| Some(path.as_path())).to_vec(), vec![&args.csv, &args.svg])
            }
            Command::Order(args) => {
                let mut read = args.routing.files();
                read.push(args.tables.as_deref());
                (read, vec![&args.output.output])
            }
            Command::Page(args) => (vec![args.fabric.as_deref()], vec![&args.output]),
            _ => return None,
        };
        Some(NamedFiles { read, written: written.into_iter().map(Option::as_deref).collect() })
    }
}

impl RoutingArgs {
    /// Returns the fabric, the reference, the roots and the orders.
    fn files(&self) -> Vec<Option<&Path>> {
        let reference = match &self.reference {
            Some(ReferenceArg::File(path)) => Some(path.as_path()),
            _ => None,
        };
        let orders = self.order.orders.as_deref();
        vec![Some(&self.fabric.fabric), reference, self.leaves.roots.as_deref(), orders]
    }
}

/// Returns whether two names stand for one file that would be replaced. Standard input and output are no such files, and neither are
/// devices.
fn are_same_file(a: &Path, b: &Path) -> bool {
    if a.as_os_str() == "-" || b.as_os_str() == "-" {
        return false;
    }
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(a), Ok(b)) => a.is_file() && (a.dev(), a.ino()) == (b.dev(), b.ino()),
        // A file that is not there yet.
        (Err(_), Err(_)) => in_its_folder(a) == in_its_folder(b),
        _ => false,
    }
}

/// Returns the name of a file with the full name of its folder.
fn in_its_folder(path: &Path) -> PathBuf {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    folder.join(path.file_name().unwrap_or_default())
}
