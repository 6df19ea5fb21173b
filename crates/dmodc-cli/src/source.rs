//! Where inputs come from: files and standard input. Every error names the file, the line and the thing.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow, ensure};
use dmodc_formats::ReadError;

use crate::text;

/// The number of bytes from which the format of a file is recognised, before the rest is read.
pub(crate) const BEGINNING: u64 = 4 << 20;

/// Whether standard input was read already; it can be read only once.
static STDIN_IS_READ: AtomicBool = AtomicBool::new(false);

/// Returns standard input. It can be used only once.
pub(crate) fn stdin() -> Result<io::StdinLock<'static>> {
    let is_second = STDIN_IS_READ.swap(true, Ordering::Relaxed);
    ensure!(
        !is_second,
        "only one input can be '-' (standard input); give a file name for the other"
    );
    Ok(io::stdin().lock())
}

/// Returns the bytes of a file; `-` is standard input. If its beginning looks wrong, the rest is not read.
pub(crate) fn bytes(path: &Path, looks_right: impl Fn(&[u8]) -> bool) -> Result<Vec<u8>> {
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
pub(crate) fn name(path: &Path) -> String {
    match path.to_str() {
        Some("-") => "standard input".into(),
        _ => path.display().to_string(),
    }
}

/// Refuses to read two inputs from standard input.
pub(crate) fn only_one_from_stdin<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    let from_stdin = paths.into_iter().filter(|path| path.as_os_str() == "-").count();
    ensure!(
        from_stdin < 2,
        "only one input can be '-' (standard input), not {from_stdin}; give file names for the others"
    );
    Ok(())
}

/// Returns the error `file:line:column: message`, with the line and a caret below the position.
pub(crate) fn located(path: &Path, text: &[u8], error: &ReadError) -> anyhow::Error {
    let message = format!("{}:{error}", name(path));
    match text::excerpt(text, error) {
        Some(excerpt) => anyhow!("{message}\n{excerpt}"),
        None => anyhow!("{message}"),
    }
}

/// Reads a file with one of the readers of lists.
pub(crate) fn read_list<T>(path: &Path, read: impl Fn(&[u8]) -> Result<T, ReadError>) -> Result<T> {
    let text = bytes(path, |_| true)?;
    read(&text).map_err(|e| located(path, &text, &e))
}
