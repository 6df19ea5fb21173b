//! A part of a dump: some tables that are read without the rest. Lines are counted from 1, and new destinations from the
//! number of those that were known before.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use dmodc::{Guid, Lid, NO_ROUTE, SwitchIndex};

use super::known_names::{DestinationIndex, KnownNames, UNKNOWN_KEY};
use super::line::{DumpEntry, EntryName, entry, header, is_count, is_entry, is_heading};
use crate::scan::{Cursor, first_line};
use crate::{Dirt, DirtKind, ReadError};

/// A table of a part. The ports of a switch that the fabric does not have are not kept.
pub(super) struct PartTable {
    pub(super) guid: Guid,
    /// The line of its header.
    pub(super) line: u32,
    /// Whether a line counts its entries.
    pub(super) is_counted: bool,
    pub(super) switch: Option<SwitchIndex>,
    /// The ports by key.
    pub(super) ports: Vec<u8>,
}

/// Some tables that were read without the rest of the dump.
pub(super) struct DumpPart {
    /// The number of keys that were known before.
    pub(super) known: usize,
    /// New names and keys. Keys are counted from `known`.
    pub(super) own: KnownNames,
    pub(super) tables: Vec<PartTable>,
    pub(super) dirt: Dirt,
    pub(super) unknown_destinations: BTreeMap<Lid, Option<Guid>>,
    /// LIDs that some table has more than once.
    pub(super) repeated: BTreeSet<Lid>,
    pub(super) lines: u32,
}

impl DumpPart {
    /// Reads a text that begins at the beginning of a table or of the whole text. `base` are the names that are known
    /// already.
    pub(super) fn read(text: &[u8], index: &DestinationIndex, base: &KnownNames) -> DumpPart {
        let mut reader = DumpPartReader {
            text,
            line: 0,
            index,
            base,
            next: 0,
            is_open: false,
            ports: Vec::new(),
            lids: LidSet::default(),
            part: DumpPart {
                known: base.keys.len(),
                own: KnownNames::default(),
                tables: Vec::new(),
                dirt: Dirt::default(),
                unknown_destinations: BTreeMap::new(),
                repeated: BTreeSet::new(),
                lines: 0,
            },
        };
        while !reader.text.is_empty() {
            reader.read_similar_entries();
            reader.read_line();
        }
        reader.close();
        reader.part.lines = reader.line;
        reader.part
    }
}

/// A part that is being read.
struct DumpPartReader<'a> {
    /// The rest of the text.
    text: &'a [u8],
    /// The number of lines that were read.
    line: u32,
    index: &'a DestinationIndex,
    /// The names known before.
    base: &'a KnownNames,
    /// The position of the name that followed in the table before. Positions count the names known before, then the new
    /// ones.
    next: usize,
    /// Whether a table is being read. It is the last one of `part.tables`.
    is_open: bool,
    /// The ports of that table by key.
    ports: Vec<u8>,
    /// The LIDs of that table.
    lids: LidSet,
    part: DumpPart,
}

impl DumpPartReader<'_> {
    /// The fast path: reads entries as long as each has the form that followed in the table before.
    fn read_similar_entries(&mut self) {
        while self.is_open {
            let (names, at) = match self.next.checked_sub(self.base.len()) {
                None => (self.base, self.next),
                Some(own) => (&self.part.own, own),
            };
            let Some((form, port, length)) = names.matching(at, self.text) else { return };
            if form.key == UNKNOWN_KEY || !self.lids.insert_new(form.name.lid) {
                return;
            }
            if port != NO_ROUTE {
                self.ports[form.key as usize] = port;
            }
            self.text = &self.text[length..];
            self.line += 1;
            self.next += 1;
        }
    }

    /// The general path: reads any line.
    fn read_line(&mut self) {
        if self.text.is_empty() {
            return;
        }
        let (mut line, after) = first_line(self.text, self.line + 1);
        let rest = after.unwrap_or(&[]);
        let whole = &self.text[..self.text.len() - rest.len()];
        line.skip_blanks();
        if is_entry(line) {
            self.entry(line, whole);
        } else if let Some(guid) = header(line) {
            self.header(guid);
        } else if is_count(line) {
            if let (true, Some(table)) = (self.is_open, self.part.tables.last_mut()) {
                table.is_counted = true;
            }
        } else if !is_heading(line) {
            let place = line.expected("a table header or an entry such as '0x0001 001'");
            self.part.dirt.note(DirtKind::ForeignLine, place);
        }
        self.text = rest;
        self.line += 1;
    }

    fn header(&mut self, guid: Result<Guid, ReadError>) {
        self.close();
        match guid {
            Ok(guid) => {
                let switch = self.index.switch(guid);
                let (line, is_counted, ports) = (self.line + 1, false, Vec::new());
                self.part.tables.push(PartTable { guid, line, is_counted, switch, ports });
                self.is_open = true;
                self.ports = vec![NO_ROUTE; self.part.known + self.part.own.keys.len()];
                self.next = 0;
                self.lids.clear();
            }
            // It is not known whose entries follow; they are skipped, too.
            Err(place) => self.part.dirt.note(DirtKind::DamagedLine, place),
        }
    }

    /// Ends the table that is being read.
    fn close(&mut self) {
        if let (true, Some(table)) = (self.is_open, self.part.tables.last_mut())
            && table.switch.is_some()
        {
            table.ports = std::mem::take(&mut self.ports);
        }
        self.is_open = false;
    }

    fn entry(&mut self, line: Cursor<'_>, whole: &[u8]) {
        if !self.is_open {
            let place = line.expected("'Unicast lids … of switch …' before the entries");
            self.part.dirt.note(DirtKind::DamagedLine, place);
            return;
        }
        let DumpEntry { name, port } = match entry(line) {
            Ok(entry) => entry,
            Err(place) => {
                let kind = if line.is_last() { DirtKind::Truncated } else { DirtKind::DamagedLine };
                self.part.dirt.note(kind, place);
                return;
            }
        };
        if !self.lids.insert_new(name.lid) {
            let place = line.error(format!("the table has LID {} already", name.lid));
            self.part.dirt.note(DirtKind::RepeatedEntry, place);
            self.part.repeated.insert(name.lid);
        }
        let base = self.base.len();
        let own = || self.part.own.position(&name).map(|own| base + own);
        let position = match self.base.position(&name).or_else(own) {
            Some(position) => position,
            None => {
                let key = self.key(name);
                self.part.own.push(name, key, whole);
                base + self.part.own.len() - 1
            }
        };
        self.next = position + 1;
        let form = match position.checked_sub(base) {
            None => &self.base.forms()[position],
            Some(own) => &self.part.own.forms()[own],
        };
        if form.key == UNKNOWN_KEY {
            self.part.unknown_destinations.insert(name.lid, name.guid);
        } else if port.0 != NO_ROUTE {
            self.ports[form.key as usize] = port.0;
        }
    }
}

impl DumpPartReader<'_> {
    /// Returns the key of a destination that is named for the first time.
    fn key(&mut self, name: EntryName) -> u32 {
        let Some(end) = self.index.find(name) else { return UNKNOWN_KEY };
        let destination = (end, name.lid);
        if let Some(key) = self.base.key(&destination).or_else(|| self.part.own.key(&destination)) {
            return key;
        }
        let key = self.part.known + self.part.own.keys.len();
        self.part.own.push_key(destination, key as u32);
        self.ports.resize(key + 1, NO_ROUTE);
        key as u32
    }
}

/// A set of LIDs: bits for the LIDs that fabrics have, and a hash set for greater ones.
#[derive(Default)]
struct LidSet {
    bits: Vec<u64>,
    beyond: HashSet<Lid>,
}

impl LidSet {
    /// LIDs below this have bits: 32 KiB of them.
    const BITS: u32 = 1 << 18;

    fn clear(&mut self) {
        self.bits.clear();
        self.bits.resize(Self::BITS as usize / 64, 0);
        self.beyond.clear();
    }

    /// Inserts a LID. Returns whether it is new.
    #[inline]
    fn insert_new(&mut self, lid: Lid) -> bool {
        if lid.0 >= Self::BITS {
            return self.beyond.insert(lid);
        }
        let (word, bit) = (&mut self.bits[lid.0 as usize / 64], 1 << (lid.0 % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}
