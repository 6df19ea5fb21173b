//! A part of a dump: some tables, read for themselves. Lines count from 1, and new destinations from the number of
//! those that were known before.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use dmodc::{Guid, Lid, NO_ROUTE, SwitchIndex};

use super::line::{Entry, Name, entry, header, is_entry, is_heading};
use super::names::{Ends, Names, STRANGER};
use crate::scan::{Cursor, first_line};
use crate::{Dirt, DirtKind, ReadError};

/// A table of a part. The ports of a switch that the fabric does not have are not kept.
pub(super) struct Table {
    pub(super) guid: Guid,
    pub(super) switch: Option<SwitchIndex>,
    /// By key.
    pub(super) ports: Vec<u8>,
}

/// Some tables, read for themselves.
pub(super) struct Part {
    /// How many keys were known before.
    pub(super) known: usize,
    /// New names and keys; keys count on from those known before.
    pub(super) own: Names,
    pub(super) tables: Vec<Table>,
    pub(super) dirt: Dirt,
    pub(super) strangers: BTreeMap<Lid, Option<Guid>>,
    pub(super) repeated: BTreeSet<Lid>,
    pub(super) lines: u32,
}

impl Part {
    /// Reads a text that begins where a text or a table does, with the names that are known already.
    pub(super) fn read(text: &[u8], ends: &Ends, base: &Names) -> Part {
        let mut reader = PartReader {
            text,
            line: 0,
            ends,
            base,
            next: 0,
            open: false,
            ports: Vec::new(),
            lids: Lids::default(),
            part: Part {
                known: base.keys.len(),
                own: Names::default(),
                tables: Vec::new(),
                dirt: Dirt::default(),
                strangers: BTreeMap::new(),
                repeated: BTreeSet::new(),
                lines: 0,
            },
        };
        while !reader.text.is_empty() {
            reader.alike();
            reader.any();
        }
        reader.close();
        reader.part.lines = reader.line;
        reader.part
    }
}

/// Reads a part.
struct PartReader<'a> {
    /// What is left of the text.
    text: &'a [u8],
    /// How many lines were read.
    line: u32,
    ends: &'a Ends,
    /// The names known before.
    base: &'a Names,
    /// The name that followed last time, counted through the known and then the own names.
    next: usize,
    /// Whether a table is being read: the last one of `part.tables`.
    open: bool,
    /// Its ports by key.
    ports: Vec<u8>,
    /// Its LIDs.
    lids: Lids,
    part: Part,
}

impl PartReader<'_> {
    /// The fast path: reads entries as long as each has the form that followed last time.
    fn alike(&mut self) {
        while self.open {
            let (names, at) = match self.next.checked_sub(self.base.len()) {
                None => (self.base, self.next),
                Some(own) => (&self.part.own, own),
            };
            let Some((form, port, length)) = names.matching(at, self.text) else { return };
            if form.key == STRANGER || !self.lids.insert_new(form.name.lid) {
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
    fn any(&mut self) {
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
                let switch = self.ends.switch(guid);
                self.part.tables.push(Table { guid, switch, ports: Vec::new() });
                self.open = true;
                self.ports = vec![NO_ROUTE; self.part.known + self.part.own.keys.len()];
                self.next = 0;
                self.lids.clear();
            }
            // Whose entries follow is not known; they are passed over with it.
            Err(place) => self.part.dirt.note(DirtKind::DamagedLine, place),
        }
    }

    /// Ends the table being read.
    fn close(&mut self) {
        if let (true, Some(table)) = (self.open, self.part.tables.last_mut())
            && table.switch.is_some()
        {
            table.ports = std::mem::take(&mut self.ports);
        }
        self.open = false;
    }

    fn entry(&mut self, line: Cursor<'_>, whole: &[u8]) {
        if !self.open {
            let place = line.expected("'Unicast lids … of switch …' before the entries");
            self.part.dirt.note(DirtKind::DamagedLine, place);
            return;
        }
        let Entry { name, port } = match entry(line) {
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
        let own = || self.part.own.place(&name).map(|own| base + own);
        let place = match self.base.place(&name).or_else(own) {
            Some(place) => place,
            None => {
                let key = self.key(name);
                self.part.own.push(name, key, whole);
                base + self.part.own.len() - 1
            }
        };
        self.next = place + 1;
        let form = match place.checked_sub(base) {
            None => &self.base.forms()[place],
            Some(own) => &self.part.own.forms()[own],
        };
        if form.key == STRANGER {
            self.part.strangers.insert(name.lid, name.guid);
        } else if port.0 != NO_ROUTE {
            self.ports[form.key as usize] = port.0;
        }
    }
}

impl PartReader<'_> {
    /// The key of a destination that is named for the first time.
    fn key(&mut self, name: Name) -> u32 {
        let Some(end) = self.ends.find(name) else { return STRANGER };
        let meant = (end, name.lid);
        if let Some(key) = self.base.key(&meant).or_else(|| self.part.own.key(&meant)) {
            return key;
        }
        let key = self.part.known + self.part.own.keys.len();
        self.part.own.push_key(meant, key as u32);
        self.ports.resize(key + 1, NO_ROUTE);
        key as u32
    }
}

/// A set of LIDs: bits for those that fabrics have, whatever is beyond apart.
#[derive(Default)]
struct Lids {
    bits: Vec<u64>,
    beyond: HashSet<Lid>,
}

impl Lids {
    /// LIDs below this have bits: 32 KiB of them.
    const BITS: u32 = 1 << 18;

    fn clear(&mut self) {
        self.bits.clear();
        self.bits.resize(Self::BITS as usize / 64, 0);
        self.beyond.clear();
    }

    /// Inserts a LID; returns whether it is new.
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
