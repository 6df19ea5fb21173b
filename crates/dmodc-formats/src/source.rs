//! Sources of long inputs, which several threads can read at any place.
//!
//! Files are read, not mapped into memory. A mapping is as fast, but a file that is cut short while it is mapped kills
//! the process with a signal (SIGBUS), and a file that is written meanwhile changes under a `&[u8]`, which Rust forbids.
//! Mapping is unsafe for these two reasons, and no check avoids either. A read that fails is an ordinary error. The
//! additional cost of reading is one copy out of the page cache, which all cores share; the copy goes to a window that
//! stays in memory, so that no page is mapped for it.

#[cfg(unix)]
use std::fs::File;
use std::io::{self, Read};
#[cfg(unix)]
use std::os::unix::fs::FileExt;

use dmodc::parallel;

/// Bytes that can be read at any place, by several threads at once.
pub trait ReadAt: Sync {
    /// Returns the number of bytes.
    ///
    /// # Errors
    /// The error of the source.
    fn length(&self) -> io::Result<u64>;

    /// Fills a buffer with the bytes from a place on.
    ///
    /// # Errors
    /// The error of the source; [`io::ErrorKind::UnexpectedEof`] if it ends too early.
    fn read_at(&self, buffer: &mut [u8], place: u64) -> io::Result<()>;
}

// Elsewhere there is no read at a place; callers have bytes in memory there.
#[cfg(unix)]
impl ReadAt for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], place: u64) -> io::Result<()> {
        self.read_exact_at(buffer, place).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                io::Error::new(error.kind(), "the file got shorter while it was read")
            }
            _ => error,
        })
    }
}

impl ReadAt for [u8] {
    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], place: u64) -> io::Result<()> {
        let rest = usize::try_from(place).ok().and_then(|place| self.get(place..));
        match rest.and_then(|rest| rest.get(..buffer.len())) {
            Some(bytes) => {
                buffer.copy_from_slice(bytes);
                Ok(())
            }
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// The number of bytes that one thread reads at once.
const PIECE: usize = 1 << 20;

/// Reads from front to back, on all cores if the buffer is long. Bytes that are appended meanwhile are not read.
pub struct FrontToBack<'a, S: ReadAt + ?Sized> {
    source: &'a S,
    at: u64,
    end: u64,
}

impl<'a, S: ReadAt + ?Sized> FrontToBack<'a, S> {
    /// Returns a reader that begins at the front.
    ///
    /// # Errors
    /// If the source does not know its length.
    pub fn new(source: &'a S) -> io::Result<Self> {
        Ok(FrontToBack { source, at: 0, end: source.length()? })
    }
}

impl<S: ReadAt + ?Sized> Read for FrontToBack<'_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let length = left.min(buffer.len());
        let (source, start) = (self.source, self.at);
        let read =
            |(at, piece): (usize, &mut [u8])| source.read_at(piece, start + (at * PIECE) as u64);
        let pieces = buffer[..length].chunks_mut(PIECE).enumerate();
        parallel::map(pieces, read).into_iter().collect::<io::Result<()>>()?;
        self.at += length as u64;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_to_back_is_all_of_it() {
        let bytes: Vec<u8> = (0..5_000_000u32).map(|i| (i / 7) as u8).collect();
        for buffer in [1 << 10, 3 << 20, 1 << 30] {
            let mut source = FrontToBack::new(&bytes[..]).unwrap();
            let mut read = Vec::new();
            let mut window = vec![0; buffer.min(8 << 20)];
            loop {
                match source.read(&mut window).unwrap() {
                    0 => break,
                    length => read.extend_from_slice(&window[..length]),
                }
            }
            assert!(read == bytes);
        }
    }

    #[test]
    fn a_file_that_got_shorter_is_an_error() {
        let path = std::env::temp_dir().join(format!("dmodc-shorter-{}", std::process::id()));
        std::fs::write(&path, [7; 100]).unwrap();
        let file = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let mut source = FrontToBack::new(&file).unwrap();
        file.set_len(10).unwrap();
        let error = source.read(&mut [0; 100]).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(error, "the file got shorter while it was read");
    }
}
