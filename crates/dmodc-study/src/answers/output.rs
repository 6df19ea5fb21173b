//! Output: files are written whole or not at all, even if a signal ends the program; standard output is flushed, and
//! its errors are reported.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::interrupt::{self, Listed};
use anyhow::{Context, Result, bail};
use tempfile::NamedTempFile;

const BUFFER: usize = 1 << 18;

/// The destination of an output.
pub enum OutputSink {
    /// Standard output.
    Stdout(io::Stdout),
    /// A device or pipe, which cannot be replaced.
    Device(File),
    /// A regular file: a temporary file in the same folder, which is moved at the end. A signal removes it.
    File {
        /// The temporary file.
        file: NamedTempFile,
        /// Its place in the list of those that a signal removes.
        listed: Listed,
        /// The name that it gets.
        path: PathBuf,
    },
}

impl Write for OutputSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            OutputSink::Stdout(out) => out.write(bytes),
            OutputSink::Device(file) => file.write(bytes),
            OutputSink::File { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            OutputSink::Stdout(out) => out.flush(),
            OutputSink::Device(file) => file.flush(),
            OutputSink::File { file, .. } => file.flush(),
        }
    }
}

fn open(path: &Path) -> io::Result<OutputSink> {
    if path == Path::new("-") {
        return Ok(OutputSink::Stdout(io::stdout()));
    }
    // A link is followed, so that the file it names is replaced and not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let existing = fs::metadata(&path).ok();
    if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if existing.as_ref().is_some_and(|m| !m.is_file()) {
        return OpenOptions::new().write(true).open(&path).map(OutputSink::Device);
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".dmodc-").suffix(".part");
    let permissions = match existing {
        Some(existing) => existing.permissions(),
        None => std::os::unix::fs::PermissionsExt::from_mode(0o666),
    };
    fs::metadata(&folder)?;
    // `tempfile` adds the temporary name to its errors, but the caller names the file asked for.
    builder.permissions(permissions);
    let (file, listed) = interrupt::file(&builder, &folder).map_err(|e| e.kind())?;
    Ok(OutputSink::File { file, listed, path })
}

/// The writer that commands use.
pub type Out = BufWriter<OutputSink>;

/// Lets `write` write to a file, or to standard output if there is none. If anything goes wrong, an existing file stays
/// unchanged.
///
/// # Errors
/// If it cannot be written.
pub fn to(path: Option<&Path>, write: impl FnOnce(&mut Out) -> Result<()>) -> Result<()> {
    let path = path.unwrap_or(Path::new("-"));
    let name = || match path.to_str() {
        Some("-") => "standard output".into(),
        _ => path.display().to_string(),
    };
    let mut out = BufWriter::with_capacity(BUFFER, open(path).with_context(name)?);
    let written = write(&mut out).and_then(|()| Ok(out.flush()?));
    // After a failure the buffer still holds bytes, which must not be written again.
    let (sink, _) = out.into_parts();
    written.with_context(name)?;
    if let OutputSink::File { file, listed, path } = sink {
        let persisted = interrupt::settle(listed, || file.persist(path));
        persisted.map_err(|e| e.error).with_context(name)?;
    }
    Ok(())
}

/// Lets `write` fill a new folder, which appears only if all goes well. An existing file or folder of this name is not
/// replaced, unless it is an empty folder.
///
/// # Errors
/// If it cannot be written.
pub fn to_folder<T>(path: &Path, write: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    let name = || path.display().to_string();
    match fs::read_dir(path).map(|mut entries| entries.next().is_none()) {
        Ok(true) => {}
        Ok(false) => bail!("{}: the folder is not empty; name a new folder", name()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(name),
    }
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    fs::metadata(parent).with_context(|| parent.display().to_string())?;
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".dmodc-").suffix(".part").permissions(permissions);
    let made = interrupt::folder(&builder, parent).map_err(|e| io::Error::from(e.kind()));
    let (made, listed) = made.with_context(name)?;
    let product = write(made.path())?;
    interrupt::settle(listed, || fs::rename(made.path(), path)).with_context(name)?;
    // It was renamed, so there is nothing to remove.
    let _ = made.keep();
    Ok(product)
}

/// Prints to standard error. If nobody listens there, nothing is lost.
pub fn remark(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints to standard output.
///
/// # Errors
/// If nobody can read it.
pub fn print(text: &str) -> Result<()> {
    to(None, |out| Ok(out.write_all(text.as_bytes())?))
}
