//! Files that are read and written without waiting for anybody: only regular files, and only of bounded size. A pipe or
//! a device could block OpenSM for ever, or never end.

mod deadline;
mod replace;

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

pub(crate) use deadline::DeadlineWorker;
pub(crate) use replace::{ExpectedFile, FileReplacement, remove_stale, replace};

/// The flag with which opening a pipe does not wait. This is its value for Linux on x86, ARM, POWER and RISC-V.
const O_NONBLOCK: i32 = 0o4000;

/// Identifies a version of a file: if the stamp is the same, so is the content. Renaming a file does not change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl FileStamp {
    fn of(metadata: &Metadata) -> Self {
        FileStamp {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }

    /// Returns the stamp of a file, if there is one.
    ///
    /// # Errors
    /// The error of the file system, unless it is that there is no such file.
    pub(crate) fn at(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Some(FileStamp::of(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Refuses anything but a regular file.
///
/// # Errors
/// `InvalidInput`, with what it is instead.
fn must_be_regular(metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    let what = match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("this is {what}, but a regular file is needed"),
    ))
}

/// Opens a regular file. The kind is checked before as well as after, because opening some devices has effects.
fn open(path: &Path, options: &OpenOptions) -> io::Result<(File, Metadata)> {
    match fs::metadata(path) {
        Ok(metadata) => must_be_regular(&metadata)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let file = options.clone().custom_flags(O_NONBLOCK).open(path)?;
    let metadata = file.metadata()?;
    must_be_regular(&metadata)?;
    Ok((file, metadata))
}

/// Reads a regular file of at most `largest` bytes.
///
/// # Errors
/// `InvalidInput` if it is no regular file, `FileTooLarge` if it has more bytes, or the error of the file system.
pub(crate) fn read(path: &Path, largest: u64) -> io::Result<(Vec<u8>, FileStamp)> {
    let (file, metadata) = open(path, OpenOptions::new().read(true))?;
    let too_large = |bytes: u64| {
        let why = format!("the file has {bytes} bytes or more, but at most {largest} are allowed");
        io::Error::new(io::ErrorKind::FileTooLarge, why)
    };
    if metadata.len() > largest {
        return Err(too_large(metadata.len()));
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize + 1);
    file.take(largest + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > largest {
        true => Err(too_large(bytes.len() as u64)),
        false => Ok((bytes, FileStamp::of(&metadata))),
    }
}

/// Opens a regular file for appending, and creates it if it is not there. Returns it and its size.
///
/// # Errors
/// `InvalidInput` if it is no regular file, or the error of the file system.
pub(crate) fn open_end(path: &Path) -> io::Result<(File, u64)> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let (file, metadata) = open(path, OpenOptions::new().append(true).create(true).mode(0o644))?;
    Ok((file, metadata.len()))
}

#[cfg(test)]
mod tests;
