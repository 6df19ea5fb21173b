//! Reading dumps on all cores.
//!
//! The plain loop is in [`super::naive`]: line by line, from front to back. This reader gives the same result, and departs
//! from it in four ways:
//!
//! 1. A text is cut into parts of a few tables, where tables begin ([`DumpParts`]). The meaning of a table does not depend
//!    on the tables before it, so one parallel loop reads all parts.
//! 2. A part counts its lines from 1, and its new destinations from the number of those that were known before
//!    ([`DumpPart`]). Parts are put together in the order of the text; lines and destinations then get the numbers that
//!    they would have had from front to back. So the result does not depend on the cuts.
//! 3. A long text passes through a window ([`read_from`]), and is never in memory as a whole.
//! 4. Most lines take the fast path of [`super::known_names`]. All others are read as in the naive twin.
//!
//! A row has one byte for each destination, in the order of the keys; [`NO_ROUTE`] means no entry.

use std::collections::BTreeSet;
use std::io::{self, Read};

use dmodc::{Fabric, Lid, NO_ROUTE, parallel};

use super::dump_part::{DumpPart, PartTable};
use super::known_names::{DestinationIndex, KnownNames, UNKNOWN_KEY};
use super::line::HEADERS;
use super::repeated_lids::settle;
use super::table_remarks::TableRemarks;
use super::{Lft, finished, without_byte_order_mark};
use crate::ReadError;
use crate::unsupported::describe_unsupported;

/// The least size of a part in bytes, unless a test asks for less.
const PART_SIZE: usize = 1 << 20;

/// The number of bytes of text in memory at once, unless one table is longer.
const WINDOW_SIZE: usize = 64 << 20;

/// Why a dump was not read.
#[derive(Debug, thiserror::Error)]
pub enum LftError {
    /// The bytes could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// There is no table in them.
    #[error(transparent)]
    Text(#[from] ReadError),
}

/// Reads a dump of the tables of a fabric. Lines that are not of the format are noted and skipped.
///
/// # Errors
/// If there is no table in it.
pub fn read(text: &[u8], fabric: &Fabric) -> Result<Lft, ReadError> {
    read_in_parts(text, fabric, PART_SIZE)
}

/// Reads a dump as [`read`] does, in parts of at least this size in bytes. The result is the same for any size.
///
/// # Errors
/// As [`read`].
pub fn read_in_parts(text: &[u8], fabric: &Fabric, part_size: usize) -> Result<Lft, ReadError> {
    let mut reader = DumpReader::new(fabric, part_size);
    reader.take(text);
    reader.finish()
}

/// Reads a dump as [`read`] does, from a source that may be longer than memory.
///
/// # Errors
/// If the source fails, or there is no table in it.
pub fn read_from(source: &mut dyn Read, fabric: &Fabric) -> Result<Lft, LftError> {
    read_by_windows(source, fabric, WINDOW_SIZE)
}

/// Reads a dump as [`read_from`] does, with a window of this size in bytes. The result is the same for any size.
///
/// # Errors
/// As [`read_from`].
pub fn read_by_windows(
    source: &mut dyn Read,
    fabric: &Fabric,
    window: usize,
) -> Result<Lft, LftError> {
    let mut reader = DumpReader::new(fabric, PART_SIZE.min(window / 8));
    let mut buffer = vec![0; window.max(1)];
    let mut filled = 0;
    loop {
        filled += fill(source, &mut buffer[filled..])?;
        if filled < buffer.len() {
            reader.take(&buffer[..filled]);
            return Ok(reader.finish()?);
        }
        // The last table goes on in the next window.
        let cut = last_table(&buffer);
        if cut == 0 {
            buffer.resize(2 * filled, 0);
            continue;
        }
        reader.take(&buffer[..cut]);
        buffer.copy_within(cut.., 0);
        filled -= cut;
    }
}

/// Fills a buffer. Returns the number of bytes, which is less only at the end of the source.
fn fill(source: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Returns the bytes by which the beginning of a table is found. (A header after blanks is a header, too, but no place to
/// cut.)
fn table_starts() -> [Vec<u8>; 2] {
    HEADERS.map(|header| [b"\n", header.as_bytes()].concat())
}

/// Returns where the last table of a text begins, or 0 if that is not known.
fn last_table(text: &[u8]) -> usize {
    let last = |start: &Vec<u8>| memchr::memmem::rfind(text, start).map_or(0, |at| at + 1);
    table_starts().iter().map(last).max().unwrap_or(0)
}

/// Returns where the first table after a place begins, or the end of the text.
fn next_table(text: &[u8], from: usize) -> usize {
    let from = from.min(text.len());
    let mut end = text.len();
    for start in table_starts() {
        // Only a place before the other kind of header is of interest.
        let found = memchr::memmem::find(&text[from..end], &start);
        end = found.map_or(end, |at| from + at + 1);
    }
    end
}

/// Cuts a text where tables begin. Each cut is searched for when the next part is asked for, while other threads read the
/// parts before it.
struct DumpParts<'a> {
    text: &'a [u8],
    /// The least length of a part.
    least: usize,
}

impl<'a> Iterator for DumpParts<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.text.is_empty() {
            return None;
        }
        let (part, rest) = self.text.split_at(next_table(self.text, self.least));
        self.text = rest;
        Some(part)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.text.len().div_ceil(self.least)))
    }
}

/// The tables that were read so far, from front to back.
struct DumpReader<'a> {
    index: DestinationIndex,
    names: KnownNames,
    lft: Lft,
    remarks: TableRemarks,
    /// The number of lines of all parts so far.
    lines: u32,
    /// The least size of a part.
    part_size: usize,
    fabric: &'a Fabric,
    has_begun: bool,
    /// A description of the input if it is no text of ours.
    unsupported: Option<String>,
    /// LIDs that some table has more than once.
    repeated: BTreeSet<Lid>,
}

impl<'a> DumpReader<'a> {
    fn new(fabric: &'a Fabric, part_size: usize) -> Self {
        let switches = fabric.switches().len();
        DumpReader {
            index: DestinationIndex::new(fabric),
            names: KnownNames::default(),
            lft: Lft { rows: vec![Vec::new(); switches], ..Lft::default() },
            remarks: TableRemarks::new(switches),
            lines: 0,
            part_size: part_size.max(1),
            fabric,
            has_begun: false,
            unsupported: None,
            repeated: BTreeSet::new(),
        }
    }

    /// Reads the next piece of the text. It begins and ends at the beginning of a table, or of the whole text, or at its end.
    fn take(&mut self, mut text: &[u8]) {
        if !self.has_begun {
            self.has_begun = true;
            self.unsupported = describe_unsupported(text);
            text = without_byte_order_mark(text, &mut self.lft.dirt);
            if text.len() > self.part_size {
                // The first table is read alone, because the fast path compares all others with its lines.
                let begins = HEADERS.iter().any(|header| text.starts_with(header.as_bytes()));
                let begin = if begins { 0 } else { next_table(text, 0) };
                let (first, rest) = text.split_at(next_table(text, begin + 1));
                let part = DumpPart::read(first, &self.index, &self.names);
                self.append(part);
                text = rest;
            }
        }
        let parts = DumpParts { text, least: self.part_size };
        let (index, names) = (&self.index, &self.names);
        for part in parallel::map(parts, |part| DumpPart::read(part, index, names)) {
            self.append(part);
        }
    }

    /// Appends the next part.
    fn append(&mut self, part: DumpPart) {
        let DumpPart { known, own, tables, .. } = part;
        // Parts that were read at the same time may have found the same new destinations.
        let mut numbers = Vec::with_capacity(own.keys.len());
        for destination in &own.keys {
            let next = self.names.keys.len() as u32;
            numbers.push(self.names.key(destination).unwrap_or_else(|| {
                self.names.push_key(*destination, next);
                next
            }));
        }
        let number = |key: u32| match (key as usize).checked_sub(known) {
            Some(own) if key != UNKNOWN_KEY => numbers[own],
            _ => key,
        };
        for form in own.forms() {
            if self.names.position(&form.name).is_none() {
                self.names.push(form.name, number(form.key), own.text(form));
            }
        }
        let are_same = numbers.iter().zip(known..).all(|(&number, own)| number as usize == own);
        for PartTable { guid, line, is_counted, switch, ports } in tables {
            self.remarks.note(self.lines + line, guid, switch);
            self.remarks.note_count(is_counted);
            let Some(s) = switch else {
                self.lft.unknown_switches.push(guid);
                continue;
            };
            let row = &mut self.lft.rows[s.at()];
            if row.is_empty() && are_same {
                *row = ports;
                continue;
            }
            row.resize(row.len().max(self.names.keys.len()), NO_ROUTE);
            for (key, &port) in ports.iter().enumerate().filter(|(_, port)| **port != NO_ROUTE) {
                row[number(key as u32) as usize] = port;
            }
        }
        self.lft.dirt.append(part.dirt, self.lines);
        self.lft.unknown_destinations.extend(part.unknown_destinations);
        self.repeated.extend(part.repeated);
        self.lines += part.lines;
    }

    fn finish(mut self) -> Result<Lft, ReadError> {
        self.lft.keys = self.names.keys;
        settle(&mut self.lft, &self.repeated, self.fabric);
        let has_table = self.remarks.finish(&mut self.lft.dirt);
        finished(self.lft, &has_table, self.unsupported)
    }
}
