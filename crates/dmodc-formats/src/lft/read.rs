//! Reading dumps on all cores.
//!
//! 1. A text is cut where tables begin, into parts of a few tables ([`Parts`]). What a table says does not
//!    depend on the tables before it, so the parts are read side by side, by one parallel loop.
//! 2. A part counts its lines from 1 and its new destinations from the number of those that were known before
//!    ([`Part`]). Parts are put together in the order of the text: lines and destinations get the numbers that
//!    they would have, had the text been read from front to back. So the result does not depend on the cuts.
//! 3. A long text passes through a window ([`read_from`]): it is never in memory as a whole.
//! 4. Most lines take the fast path of [`super::names`]. All others take the path of the naive twin.
//!
//! A row is one byte for each destination, in the order of the keys; [`NO_ROUTE`] is no entry.

use std::collections::BTreeSet;
use std::io::{self, Read};

use dmodc::{Fabric, Lid, NO_ROUTE, parallel};

use super::line::HEADERS;
use super::names::{Ends, Names, STRANGER};
use super::part::{Part, Table};
use super::repeated::settle;
use super::{Lft, finished, without_mark};
use crate::{ReadError, foreign};

/// How much text a part has at least, unless a test asks for less.
const PART: usize = 1 << 20;

/// How much text is in memory at once, unless one table is longer.
const WINDOW: usize = 64 << 20;

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
    read_in_parts(text, fabric, PART)
}

/// Reads a dump as [`read`] does, in parts of at least so many bytes. The result is the same for any size.
///
/// # Errors
/// As [`read`].
pub fn read_in_parts(text: &[u8], fabric: &Fabric, part: usize) -> Result<Lft, ReadError> {
    let mut reader = Reader::new(fabric, part);
    reader.take(text);
    reader.finish()
}

/// Reads a dump as [`read`] does, from a source that may be longer than memory.
///
/// # Errors
/// If the source fails, or there is no table in it.
pub fn read_from(source: &mut dyn Read, fabric: &Fabric) -> Result<Lft, LftError> {
    read_by_windows(source, fabric, WINDOW)
}

/// Reads a dump as [`read_from`] does, so many bytes at once. The result is the same for any number.
///
/// # Errors
/// As [`read_from`].
pub fn read_by_windows(
    source: &mut dyn Read,
    fabric: &Fabric,
    window: usize,
) -> Result<Lft, LftError> {
    let mut reader = Reader::new(fabric, PART.min(window / 8));
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

/// Fills a buffer; less only at the end of the source.
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

/// A header of a table at the beginning of a line. (One behind blanks is a header, too, but no place to cut.)
fn line_starts() -> [Vec<u8>; 2] {
    HEADERS.map(|header| [b"\n", header.as_bytes()].concat())
}

/// Returns where the last table of a text begins, or 0 if that is not known.
fn last_table(text: &[u8]) -> usize {
    let last = |start: &Vec<u8>| memchr::memmem::rfind(text, start).map_or(0, |at| at + 1);
    line_starts().iter().map(last).max().unwrap_or(0)
}

/// Returns where the first table behind a place begins, or the end of the text.
fn next_table(text: &[u8], from: usize) -> usize {
    let from = from.min(text.len());
    let mut end = text.len();
    for start in line_starts() {
        // What comes after the other header's place is of no use.
        let found = memchr::memmem::find(&text[from..end], &start);
        end = found.map_or(end, |at| from + at + 1);
    }
    end
}

/// Cuts a text where tables begin, each part being at least so long. A cut is looked for when the next part is asked
/// for, so that the other threads are at work meanwhile.
struct Parts<'a> {
    text: &'a [u8],
    least: usize,
}

impl<'a> Iterator for Parts<'a> {
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

/// What was read so far, from front to back.
struct Reader<'a> {
    ends: Ends,
    names: Names,
    lft: Lft,
    /// Which switches had a table.
    seen: Vec<bool>,
    lines: u32,
    part: usize,
    fabric: &'a Fabric,
    begun: bool,
    /// What the input is if it is not text of ours.
    foreign: Option<String>,
    /// LIDs that some table has more than once.
    repeated: BTreeSet<Lid>,
}

impl<'a> Reader<'a> {
    fn new(fabric: &'a Fabric, part: usize) -> Self {
        let switches = fabric.switches().len();
        Reader {
            ends: Ends::new(fabric),
            names: Names::default(),
            lft: Lft { rows: vec![Vec::new(); switches], ..Lft::default() },
            seen: vec![false; switches],
            lines: 0,
            part: part.max(1),
            fabric,
            begun: false,
            foreign: None,
            repeated: BTreeSet::new(),
        }
    }

    /// Reads on. The text begins where a text or a table does, and ends where it does.
    fn take(&mut self, mut text: &[u8]) {
        if !self.begun {
            self.begun = true;
            self.foreign = foreign(text);
            text = without_mark(text, &mut self.lft.dirt);
            if text.len() > self.part {
                // The first table alone: its names are those that all others are compared with.
                let begins = HEADERS.iter().any(|header| text.starts_with(header.as_bytes()));
                let begin = if begins { 0 } else { next_table(text, 0) };
                let (first, rest) = text.split_at(next_table(text, begin + 1));
                let part = Part::read(first, &self.ends, &self.names);
                self.append(part);
                text = rest;
            }
        }
        let parts = Parts { text, least: self.part };
        let (ends, names) = (&self.ends, &self.names);
        for part in parallel::map(parts, |part| Part::read(part, ends, names)) {
            self.append(part);
        }
    }

    /// Puts the next part behind all before.
    fn append(&mut self, part: Part) {
        let Part { known, own, tables, .. } = part;
        // Parts that were read side by side may have met the same new destinations.
        let mut numbers = Vec::with_capacity(own.keys.len());
        for meant in &own.keys {
            let next = self.names.keys.len() as u32;
            numbers.push(self.names.key(meant).unwrap_or_else(|| {
                self.names.push_key(*meant, next);
                next
            }));
        }
        let number = |key: u32| match (key as usize).checked_sub(known) {
            Some(own) if key != STRANGER => numbers[own],
            _ => key,
        };
        for form in own.forms() {
            if self.names.place(&form.name).is_none() {
                self.names.push(form.name, number(form.key), own.text(form));
            }
        }
        let same = numbers.iter().zip(known..).all(|(&number, own)| number as usize == own);
        for Table { guid, switch, ports } in tables {
            let Some(s) = switch else {
                self.lft.unknown_switches.push(guid);
                continue;
            };
            self.seen[s.at()] = true;
            let row = &mut self.lft.rows[s.at()];
            if row.is_empty() && same {
                *row = ports;
                continue;
            }
            row.resize(row.len().max(self.names.keys.len()), NO_ROUTE);
            for (key, &port) in ports.iter().enumerate().filter(|(_, port)| **port != NO_ROUTE) {
                row[number(key as u32) as usize] = port;
            }
        }
        self.lft.dirt.append(part.dirt, self.lines);
        self.lft.unknown_destinations.extend(part.strangers);
        self.repeated.extend(part.repeated);
        self.lines += part.lines;
    }

    fn finish(mut self) -> Result<Lft, ReadError> {
        debug_assert_eq!(self.seen.len(), self.fabric.switches().len());
        self.lft.keys = self.names.keys;
        settle(&mut self.lft, &self.repeated, self.fabric);
        finished(self.lft, &self.seen, self.foreign)
    }
}
