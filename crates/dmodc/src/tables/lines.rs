//! Bytes that start at a cache line, so that whole lines can be written past the cache.

use super::NoMemory;

/// The size of a cache line.
const LINE: usize = 64;

/// A fixed number of bytes from a cache line on.
#[derive(Debug)]
pub(crate) struct Lines {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Lines {
    /// Returns `length` bytes of one value.
    pub(crate) fn new(length: usize, value: u8) -> Result<Self, NoMemory> {
        let mut bytes: Vec<u8> = Vec::new();
        bytes.try_reserve_exact(length + LINE).map_err(|_| NoMemory { bytes: length })?;
        // If the offset is unknown, this costs speed, not correctness.
        let start = Some(bytes.as_ptr().align_offset(LINE)).filter(|&o| o < LINE).unwrap_or(0);
        bytes.resize(start + length, value);
        Ok(Lines { bytes, start, length })
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.length]
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

impl Clone for Lines {
    fn clone(&self) -> Self {
        let mut copy = Lines::new(self.length, 0).expect("memory for a copy of the tables");
        copy.bytes_mut().copy_from_slice(self.bytes());
        copy
    }
}

impl PartialEq for Lines {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Lines {}
