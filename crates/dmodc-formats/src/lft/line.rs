//! The lines of a dump: headers of tables, entries, and lines without meaning.

use dmodc::{Guid, Lid, NO_ROUTE, PortNumber};

use crate::ReadError;
use crate::scan::Cursor;

/// The beginnings of a table of a switch: in dumps, and in `opensm.fdbs`.
pub(super) const HEADERS: [&str; 2] = ["Unicast lids ", "dump_ucast_routes: Switch "];

/// One entry of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DumpEntry {
    pub(super) name: EntryName,
    pub(super) port: PortNumber,
}

/// How an entry names its destination: by LID, and by GUID where there is a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct EntryName {
    pub(super) lid: Lid,
    pub(super) guid: Option<Guid>,
}

/// Reads the header of a table: `Unicast lids [0-28] of switch Lid 2 guid 0x0002c90100000001 ('L1-0'):` or
/// `dump_ucast_routes: Switch 0x0002c90100000001`. Returns `None` for a line that is neither.
pub(super) fn header(mut line: Cursor<'_>) -> Option<Result<Guid, ReadError>> {
    if line.take(HEADERS[1]) {
        return Some(line.guid());
    }
    if !line.take(HEADERS[0]) {
        return None;
    }
    Some(match line.find(" guid ") {
        true => line.guid(),
        false => Err(line.expected("the switch's ' guid 0x…'")),
    })
}

/// Returns whether a line has no meaning: comments, headings of columns, counts, and the warning of `dump_lfts` that it is
/// outdated.
pub(super) fn is_heading(line: Cursor<'_>) -> bool {
    let rest = line.rest();
    rest.is_empty()
        || rest.starts_with(b"#")
        || rest.starts_with(b"Lid  Out")
        || rest.starts_with(b"Port ")
        || rest.starts_with(b"LID    : Port")
        || rest.starts_with(b"*** WARNING ***")
        || is_count(line)
}

/// Returns whether a line counts the entries of a table: `22 lids dumped`.
pub(super) fn is_count(line: Cursor<'_>) -> bool {
    line.rest().trim_ascii_end().ends_with(b"lids dumped")
}

/// Returns whether a line is an entry, damaged or not.
pub(super) fn is_entry(line: Cursor<'_>) -> bool {
    line.rest().starts_with(b"0x")
}

/// Reads an entry: `0x0001 001 # Channel Adapter portguid 0x0002c90000000011: 'nic0'`
pub(super) fn entry(mut line: Cursor<'_>) -> Result<DumpEntry, ReadError> {
    let start = line;
    let lid = match u32::try_from(line.hex("a LID such as 0x0001")?) {
        Ok(lid) => Lid(lid),
        Err(_) => return Err(start.expected("a LID of at most 32 bits")),
    };
    if !line.take(" ") {
        return Err(line.expected("a blank and a port"));
    }
    // The form of opensm.fdbs: `0x0001 : 005  : 05   : yes`, or UNREACHABLE.
    if line.take(": ") {
        line.skip_blanks();
        if line.take("UNREACHABLE") {
            return Ok(DumpEntry {
                name: EntryName { lid, guid: None },
                port: PortNumber(NO_ROUTE),
            });
        }
    }
    let port_at = line;
    let port = PortNumber(line.decimal("a port", 0, 255)? as u8);
    if line.is_last() && is_cut(port_at.rest()) {
        return Err(port_at.expected("a port of three digits and the end of the line"));
    }
    let guid = match line.find("portguid ") {
        true => Some(line.guid()?),
        false => None,
    };
    Ok(DumpEntry { name: EntryName { lid, guid }, port })
}

/// Returns whether the last line of a text, from its port on, may have lost its end: programs write three digits, and the name
/// behind them is in quotes.
fn is_cut(rest: &[u8]) -> bool {
    let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
    let name = rest[digits..].trim_ascii();
    digits < 3 || !(name.is_empty() || name.ends_with(b"'") || name.ends_with(b"')"))
}

/// Returns where the three digits of the port begin in a line that [`entry`] has read, or `None` if the
/// port does not have three digits.
pub(super) fn port_digits(line: &[u8]) -> Option<usize> {
    let blanks =
        |at: usize| at + line[at..].iter().take_while(|c| matches!(c, b' ' | b'\t')).count();
    let mut at = blanks(0);
    at += memchr::memchr(b' ', &line[at..])? + 1;
    if line[at..].starts_with(b": ") {
        at = blanks(at + 2);
    }
    let digits = line[at..].iter().take_while(|c| c.is_ascii_digit()).count();
    (digits == 3).then_some(at)
}
