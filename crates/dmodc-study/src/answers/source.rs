//! Where inputs come from: files and standard input. Every error names the file, the line and the thing.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use dmodc_formats::ReadError;

use super::text;

/// The number of bytes from which the format of a file is recognised, before the rest is read.
pub const BEGINNING: u64 = 4 << 20;

/// Whether standard input was read already; it can be read only once.
static STDIN_IS_READ: AtomicBool = AtomicBool::new(false);

/// Returns standard input. It can be used only once.
///
/// # Errors
/// If it was read already.
pub fn stdin() -> Result<io::StdinLock<'static>> {
    let is_second = STDIN_IS_READ.swap(true, Ordering::Relaxed);
    ensure!(
        !is_second,
        "only one input can be '-' (standard input); give a file name for the other"
    );
    Ok(io::stdin().lock())
}

/// Returns the bytes of a file; `-` is standard input. If its beginning looks wrong, the rest is not read.
///
/// # Errors
/// If the file cannot be read.
pub fn bytes(path: &Path, looks_right: impl Fn(&[u8]) -> bool) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut source: Box<dyn Read> = match path.to_str() {
        Some("-") => Box::new(stdin()?),
        _ => Box::new(File::open(path).with_context(|| path.display().to_string())?),
    };
    source.by_ref().take(BEGINNING).read_to_end(&mut text).with_context(|| name(path))?;
    if looks_right(&text) {
        source.read_to_end(&mut text).with_context(|| name(path))?;
    }
    Ok(text)
}

/// Returns the name of an input, for messages.
pub fn name(path: &Path) -> String {
    match path.to_str() {
        Some("-") => "standard input".into(),
        _ => path.display().to_string(),
    }
}

/// Refuses to read two inputs from standard input.
///
/// # Errors
/// If two of these are `-`.
pub fn only_one_from_stdin<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    let from_stdin = paths.into_iter().filter(|path| path.as_os_str() == "-").count();
    ensure!(
        from_stdin < 2,
        "only one input can be '-' (standard input), not {from_stdin}; give file names for the others"
    );
    Ok(())
}

/// An error at a place in a file. Its text is `file:line:column: message`, with the line and a caret below the position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedError {
    /// The name of the file.
    pub file: String,
    /// The place, and what is wrong there.
    pub error: ReadError,
    /// The line with a caret below the position, if there is something to show.
    pub excerpt: Option<String>,
}

impl fmt::Display for LocatedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.error)?;
        self.excerpt.iter().try_for_each(|excerpt| write!(f, "\n{excerpt}"))
    }
}

impl std::error::Error for LocatedError {}

/// Returns the error `file:line:column: message`, with the line and a caret below the position.
pub fn located(path: &Path, text: &[u8], error: &ReadError) -> anyhow::Error {
    let excerpt = text::excerpt(text, error);
    LocatedError { file: name(path), error: error.clone(), excerpt }.into()
}

/// Reads a file with one of the readers of lists.
///
/// # Errors
/// If the file cannot be read; the error names the place.
pub fn read_list<T>(path: &Path, read: impl Fn(&[u8]) -> Result<T, ReadError>) -> Result<T> {
    let text = bytes(path, |_| true)?;
    read(&text).map_err(|e| located(path, &text, &e))
}
