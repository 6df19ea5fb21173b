//! Files that are read and written without ever waiting for anybody: regular ones alone, of bounded size.

mod patient;
mod replace;
#[cfg(test)]
mod tests;

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

pub(crate) use patient::Patient;
pub(crate) use replace::{Expected, Replacement, remove_stale, replace};

/// So that opening a pipe waits for nobody. It is what Linux has on x86, ARM, POWER and RISC-V.
const O_NONBLOCK: i32 = 0o4000;

/// What tells whether a file is the one that was seen before. Renaming a file does not change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(about: &Metadata) -> Self {
        Stamp {
            device: about.dev(),
            inode: about.ino(),
            size: about.size(),
            modified: (about.mtime(), about.mtime_nsec()),
        }
    }

    /// Returns the stamp of a file, if there is one.
    ///
    /// # Errors
    /// What the file system says, unless it is that there is no such file.
    pub(crate) fn at(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(about) => Ok(Some(Stamp::of(&about))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Refuses what is no regular file.
///
/// # Errors
/// What it is instead.
fn must_be_regular(about: &Metadata) -> io::Result<()> {
    let kind = about.file_type();
    let what = match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("it is {what}, and not a regular file"),
    ))
}

/// Opens a regular file. What is none is not even opened, as far as that can be known before.
fn open(path: &Path, options: &OpenOptions) -> io::Result<(File, Metadata)> {
    match fs::metadata(path) {
        Ok(about) => must_be_regular(&about)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let file = options.clone().custom_flags(O_NONBLOCK).open(path)?;
    let about = file.metadata()?;
    must_be_regular(&about)?;
    Ok((file, about))
}

/// Reads a regular file, of at most so many bytes.
///
/// # Errors
/// `InvalidInput` if it is no regular file, `FileTooLarge` if it has more bytes, or what the file system says.
pub(crate) fn read(path: &Path, largest: u64) -> io::Result<(Vec<u8>, Stamp)> {
    let (file, about) = open(path, OpenOptions::new().read(true))?;
    let too_large = |bytes: u64| {
        let why = format!("it has {bytes} bytes or more, and {largest} are allowed");
        io::Error::new(io::ErrorKind::FileTooLarge, why)
    };
    if about.len() > largest {
        return Err(too_large(about.len()));
    }
    let mut bytes = Vec::with_capacity(about.len() as usize + 1);
    file.take(largest + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > largest {
        true => Err(too_large(bytes.len() as u64)),
        false => Ok((bytes, Stamp::of(&about))),
    }
}

/// Opens a regular file, which is made if it is not there, to write at its end; returns it and its size.
///
/// # Errors
/// `InvalidInput` if it is no regular file, or what the file system says.
pub(crate) fn open_end(path: &Path) -> io::Result<(File, u64)> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let (file, about) = open(path, OpenOptions::new().append(true).create(true).mode(0o644))?;
    Ok((file, about.len()))
}
