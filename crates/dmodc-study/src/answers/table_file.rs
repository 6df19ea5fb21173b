//! Files of forwarding tables: dumps as text, and NumPy arrays with labels next to them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dmodc::{Fabric, ForwardingTables, Lid, Live};
use dmodc_formats::lft::{self, Lft, LftError};
use dmodc_formats::npy::{self, NpyError};
use dmodc_formats::source::FrontToBack;

use super::output;
use super::source::{BEGINNING, located, name, stdin};

/// Reads tables, whatever their form, and matches them with their fabric. `-` is standard input.
///
/// # Errors
/// If they cannot be read, or `is_strict` is set and something in the file is damaged.
pub fn tables(path: &Path, fabric: &Fabric, is_strict: bool) -> Result<Lft> {
    let lft = read(path, fabric)?;
    if let Some(first) = lft.dirt.first().filter(|_| is_strict) {
        bail!("{}:{first}", name(path));
    }
    Ok(lft)
}

/// Refuses tables if none belongs to a switch of the fabric. Tables of another state of the fabric are accepted;
/// mismatches are reported elsewhere.
///
/// # Errors
/// If all tables are of other switches.
pub fn check_fabric(path: &Path, lft: &Lft, fabric: &Fabric) -> Result<()> {
    match lft.unknown_switches.first() {
        Some(first) if lft.missing_switches.len() == fabric.switches().len() => {
            bail!(
                "{}: these tables belong to another fabric: the fabric has none of their switches, such as {first}",
                name(path)
            )
        }
        _ => Ok(()),
    }
}

fn read(path: &Path, fabric: &Fabric) -> Result<Lft> {
    if path == Path::new("-") {
        return from(path, &mut stdin()?, None, fabric);
    }
    let file = File::open(path).with_context(|| missing(path))?;
    let is_file = file.metadata().with_context(|| name(path))?.is_file();
    match is_file {
        true => {
            let mut source = FrontToBack::new(&file).with_context(|| name(path))?;
            from(path, &mut source, Some(&file), fabric)
        }
        false => from(path, &mut &file, None, fabric),
    }
}

/// Returns the name of a file that cannot be opened, with a note if only its labels exist.
fn missing(path: &Path) -> String {
    match is_array(path) && labels_of(path).exists() && !path.exists() {
        true => format!(
            "there are only the labels {}, but not the array itself (it was not written to the end, or not copied): {}",
            labels_of(path).display(),
            name(path)
        ),
        false => name(path),
    }
}

/// Reads tables from a source. `file` is the same source if it is a regular file.
fn from(path: &Path, source: &mut dyn Read, file: Option<&File>, fabric: &Fabric) -> Result<Lft> {
    let mut beginning = Vec::new();
    source.take(BEGINNING).read_to_end(&mut beginning).with_context(|| name(path))?;
    if npy::detect(&beginning) || is_array(path) {
        let Some(file) = file else {
            bail!(
                "{}: an array of tables cannot be read from standard input, because its labels are in a second file; give \
                 the name of the array",
                name(path)
            );
        };
        return array(path, file, fabric);
    }
    let is_dump = lft::detect(&beginning);
    if !is_dump && has_schema(&beginning, npy::SCHEMA) {
        bail!(
            "{}: these are only the labels of an array of tables; give the array itself (FILE.npy)",
            name(path)
        );
    }
    if !is_dump && dmodc_formats::detect(&beginning).is_some() {
        bail!(
            "{}: this file describes a fabric; expected forwarding tables, as 'dmodc route' or OpenSM writes them",
            name(path)
        );
    }
    let read = match is_dump {
        true => lft::read_from(&mut beginning.chain(source), fabric),
        // The rest of something that looks like no dump is not read.
        false => lft::read(&beginning, fabric).map_err(LftError::Text),
    };
    read.map_err(|error| match error {
        LftError::Text(error) => located(path, &beginning, &error),
        LftError::Io(error) => anyhow::Error::from(error).context(name(path)),
    })
}

/// Returns whether a JSON text with this beginning has this schema.
fn has_schema(beginning: &[u8], schema: &str) -> bool {
    let head = &beginning[..beginning.len().min(200)];
    String::from_utf8_lossy(head).contains(schema)
}

/// Reads an array with its labels.
fn array(path: &Path, file: &File, fabric: &Fabric) -> Result<Lft> {
    let labels_path = labels_of(path);
    let labels = fs::read(&labels_path).with_context(|| {
        format!("{}, which names the rows and columns of {}", labels_path.display(), name(path))
    })?;
    npy::read(file, &labels, fabric).map_err(|error| match error {
        NpyError::Labels(error) => located(&labels_path, &labels, &error),
        error => anyhow::Error::from(error).context(name(path)),
    })
}

/// Returns whether tables in a file of this name are an array.
fn is_array(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "npy")
}

fn labels_of(array: &Path) -> PathBuf {
    let mut labels = array.as_os_str().to_owned();
    labels.push(npy::LABELS);
    labels.into()
}

/// Returns comments for readers of tables with a LID that OpenSM cannot use.
pub fn comments(beyond: Option<Lid>) -> Vec<String> {
    let text = "LIDs are beyond the range of InfiniBand; OpenSM cannot load these tables.";
    beyond.map(|_| text.into()).into_iter().collect()
}

/// Writes tables: as an array if the name of the file ends in `.npy`, otherwise as a dump that OpenSM loads.
///
/// # Errors
/// If they cannot be written.
pub fn write(
    path: Option<&Path>,
    live: Live<'_>,
    tables: &ForwardingTables,
    comments: &[String],
) -> Result<()> {
    let Some(path) = path.filter(|path| is_array(path)) else {
        return output::to(path, |out| Ok(lft::write(live, tables, comments, out)?));
    };
    // The labels are in place before the array is. So an array that is there has its labels, and where the two
    // are not of one run, because this one was cut short, their digest says so.
    output::to(Some(path), |out| {
        let labels = npy::write(live, tables, out)?;
        io::Write::flush(out)?;
        output::to(Some(&labels_of(path)), |out| Ok(labels.write(out)?))
    })
}
