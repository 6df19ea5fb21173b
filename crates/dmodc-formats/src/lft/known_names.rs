//! The names by which entries of a dump name destinations, and the fast path for lines that differ only in the port.
//!
//! The tables of all switches list the same destinations in the same order, and their lines differ only in the port. So
//! the first line that names a destination is kept as a *form*: its bytes before the port, and those after it. If the
//! next line of a table has the bytes of the form that followed in the table before, it names the same destination,
//! because the name depends only on these bytes.
//!
//! ```text
//! 0x0007 012 # Channel Adapter portguid 0x0002c90000000011: 'nic0'⏎
//! └head─┘└┬┘└──────────────────────── tail ────────────────────────┘
//!       port: any three digits
//! ```

use std::collections::HashMap;

use dmodc::{End, Fabric, Guid, Lid, SwitchIndex};

use super::ends;
use super::line::{EntryName, port_digits};

/// The destinations and switches of a fabric, by the GUIDs and LIDs that dumps use.
pub(super) struct DestinationIndex {
    by_guid: HashMap<Guid, End>,
    by_lid: HashMap<Lid, End>,
}

impl DestinationIndex {
    pub(super) fn new(fabric: &Fabric) -> Self {
        let mut all = DestinationIndex { by_guid: HashMap::new(), by_lid: HashMap::new() };
        for (end, lids) in ends(fabric) {
            all.by_guid.insert(end.guid(fabric), end);
            all.by_lid.extend(lids.into_iter().map(|lid| (lid, end)));
        }
        all
    }

    pub(super) fn switch(&self, guid: Guid) -> Option<SwitchIndex> {
        match self.by_guid.get(&guid) {
            Some(&End::Switch(s)) => Some(s),
            _ => None,
        }
    }

    /// Returns the destination of a name. LIDs may have changed since the dump, so the GUID decides if there is one.
    pub(super) fn find(&self, name: EntryName) -> Option<End> {
        match name.guid {
            Some(guid) => self.by_guid.get(&guid).copied(),
            None => self.by_lid.get(&name.lid).copied(),
        }
    }
}

/// The key of a destination that the fabric does not have.
pub(super) const UNKNOWN_KEY: u32 = u32::MAX;

/// The first line that named a destination: its text and its meaning.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryForm {
    /// Where the line begins in the text of all forms.
    start: usize,
    /// 0 if the port does not have three digits. Such a form never matches.
    length: u32,
    port_at: u32,
    pub(super) name: EntryName,
    /// The key of the destination, or [`UNKNOWN_KEY`].
    pub(super) key: u32,
}

/// The names of destinations in the order in which they are used first. Names of the same destination and LID share a key.
#[derive(Default)]
pub(super) struct KnownNames {
    forms: Vec<EntryForm>,
    text: Vec<u8>,
    positions: HashMap<EntryName, u32>,
    pub(super) keys: Vec<(End, Lid)>,
    key_of: HashMap<(End, Lid), u32>,
}

impl KnownNames {
    pub(super) fn len(&self) -> usize {
        self.forms.len()
    }

    pub(super) fn forms(&self) -> &[EntryForm] {
        &self.forms
    }

    /// Returns the text of a form.
    pub(super) fn text(&self, form: &EntryForm) -> &[u8] {
        &self.text[form.start..form.start + form.length as usize]
    }

    pub(super) fn position(&self, name: &EntryName) -> Option<usize> {
        self.positions.get(name).map(|&position| position as usize)
    }

    pub(super) fn key(&self, destination: &(End, Lid)) -> Option<u32> {
        self.key_of.get(destination).copied()
    }

    /// Appends a destination; it must be new.
    pub(super) fn push_key(&mut self, destination: (End, Lid), key: u32) {
        self.keys.push(destination);
        self.key_of.insert(destination, key);
    }

    /// Appends a name, which must be new, with the line that has it.
    pub(super) fn push(&mut self, name: EntryName, key: u32, line: &[u8]) {
        let start = self.text.len();
        let ends = line.ends_with(b"\n") && line.len() < u32::MAX as usize;
        let port_at = if ends { port_digits(line) } else { None };
        let length = if port_at.is_some() { line.len() as u32 } else { 0 };
        self.text.extend_from_slice(&line[..length as usize]);
        self.positions.insert(name, self.forms.len() as u32);
        let port_at = port_at.unwrap_or(0) as u32;
        self.forms.push(EntryForm { start, length, port_at, name, key });
    }

    /// Returns the port and the length of the first line of a text, if the line has this form: the same bytes but for the
    /// port. If the form has no GUID, the bytes after the port may differ, too, as long as they cannot hold a GUID
    /// (`opensm.fdbs` has the number of hops there).
    #[inline]
    pub(super) fn matching(&self, at: usize, text: &[u8]) -> Option<(&EntryForm, u8, usize)> {
        let form = self.forms.get(at)?;
        let (length, port_at) = (form.length as usize, form.port_at as usize);
        let tail = port_at + 3;
        if length == 0 || text.len() < tail {
            return None;
        }
        let own = &self.text[form.start..form.start + length];
        if text[..port_at] != own[..port_at] {
            return None;
        }
        let port = three_digits(&text[port_at..tail])?;
        if text.get(tail..length) == Some(&own[tail..]) {
            return Some((form, port, length));
        }
        if form.name.guid.is_some() || text.get(tail).is_none_or(u8::is_ascii_digit) {
            return None;
        }
        let end = tail + memchr::memchr(b'\n', &text[tail..])?;
        let may_have_guid = memchr::memchr(b'p', &text[tail..end]).is_some();
        (!may_have_guid).then_some((form, port, end + 1))
    }
}

/// Returns the number of three digits, if it is a port.
#[inline]
fn three_digits(text: &[u8]) -> Option<u8> {
    let digit = |at: usize| match text[at].wrapping_sub(b'0') {
        digit @ 0..=9 => Some(u32::from(digit)),
        _ => None,
    };
    u8::try_from(100 * digit(0)? + 10 * digit(1)? + digit(2)?).ok()
}
