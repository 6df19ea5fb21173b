//! Where inputs come from: files and standard input. Every error names the file, the line and the thing.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow, ensure};
use dmodc_formats::ReadError;

use crate::text;

/// How much of a file is looked at before the rest is read: enough to know what it is.
pub(crate) const BEGINNING: u64 = 4 << 20;

/// Whether something was read from standard input, which can be read once.
static STDIN_IS_READ: AtomicBool = AtomicBool::new(false);

/// Returns standard input, which is there for one reader.
pub(crate) fn stdin() -> Result<io::StdinLock<'static>> {
    let is_second = STDIN_IS_READ.swap(true, Ordering::Relaxed);
    ensure!(!is_second, "only one input can come from standard input");
    Ok(io::stdin().lock())
}

/// The bytes of a file; `-` is standard input. A file whose beginning looks wrong is not read on.
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

pub(crate) fn name(path: &Path) -> String {
    match path.to_str() {
        Some("-") => "standard input".into(),
        _ => path.display().to_string(),
    }
}

/// Refuses to read two things from standard input, which is one stream.
pub(crate) fn only_one_from_stdin<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    let from_stdin = paths.into_iter().filter(|path| path.as_os_str() == "-").count();
    ensure!(from_stdin < 2, "only one input can come from standard input; {from_stdin} are '-'");
    Ok(())
}

/// `file:line:column: what`, and the line with a caret below the place.
pub(crate) fn located(path: &Path, text: &[u8], error: &ReadError) -> anyhow::Error {
    let said = format!("{}:{error}", name(path));
    match text::excerpt(text, error) {
        Some(excerpt) => anyhow!("{said}\n{excerpt}"),
        None => anyhow!("{said}"),
    }
}

/// Names from a file, by one of the readers of lists.
pub(crate) fn read_list<T>(path: &Path, read: impl Fn(&[u8]) -> Result<T, ReadError>) -> Result<T> {
    let text = bytes(path, |_| true)?;
    read(&text).map_err(|e| located(path, &text, &e))
}
