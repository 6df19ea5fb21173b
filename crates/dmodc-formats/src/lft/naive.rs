//! The naive twin of the reader: line by line, on one core. The fast reader must give the same, whatever
//! the bytes.

use std::collections::{BTreeSet, HashMap, HashSet};

use dmodc::{Fabric, NO_ROUTE, SwitchIndex};

use super::line::{Entry, entry, header, is_entry, is_heading};
use super::repeated::settle;
use super::{Ends, Lft, finished, without_mark};
use crate::scan::lines;
use crate::{DirtKind, ReadError, foreign};

/// Reads a dump of the tables of a fabric as [`super::read`] does, line by line.
///
/// # Errors
/// As [`super::read`].
pub fn read(text: &[u8], fabric: &Fabric) -> Result<Lft, ReadError> {
    let ends = Ends::new(fabric);
    let mut lft = Lft { rows: vec![Vec::new(); fabric.switches().len()], ..Lft::default() };
    let (all, text) = (text, without_mark(text, &mut lft.dirt));
    let mut places = HashMap::new();
    // The table being read, if there is one, and its switch, if the fabric knows it.
    let mut table: Option<Option<SwitchIndex>> = None;
    let mut lids = HashSet::new();
    let mut repeated = BTreeSet::new();
    let mut seen = vec![false; fabric.switches().len()];
    for mut line in lines(text) {
        line.skip_blanks();
        if is_entry(line) {
            let Some(switch) = table else {
                let place = line.expected("'Unicast lids … of switch …' before the entries");
                lft.dirt.note(DirtKind::DamagedLine, place);
                continue;
            };
            let Entry { name, port } = match entry(line) {
                Ok(entry) => entry,
                Err(place) => {
                    let kind =
                        if line.is_last() { DirtKind::Truncated } else { DirtKind::DamagedLine };
                    lft.dirt.note(kind, place);
                    continue;
                }
            };
            if !lids.insert(name.lid) {
                let place = line.error(format!("the table has LID {} already", name.lid));
                lft.dirt.note(DirtKind::RepeatedEntry, place);
                repeated.insert(name.lid);
            }
            let Some(end) = ends.find(name) else {
                lft.unknown_destinations.insert(name.lid, name.guid);
                continue;
            };
            let key = *places.entry((end, name.lid)).or_insert_with(|| {
                lft.keys.push((end, name.lid));
                lft.keys.len() - 1
            });
            if let (Some(switch), true) = (switch, port.0 != NO_ROUTE) {
                let row = &mut lft.rows[switch.at()];
                row.resize(row.len().max(key + 1), NO_ROUTE);
                row[key] = port.0;
            }
        } else if let Some(guid) = header(line) {
            lids.clear();
            match guid.map(|guid| (guid, ends.switch(guid))) {
                Ok((_, Some(s))) => {
                    seen[s.at()] = true;
                    table = Some(Some(s));
                }
                Ok((guid, None)) => {
                    lft.unknown_switches.push(guid);
                    table = Some(None);
                }
                Err(place) => {
                    // Whose entries follow is not known; they are passed over with it.
                    lft.dirt.note(DirtKind::DamagedLine, place);
                    table = None;
                }
            }
        } else if !is_heading(line) {
            let place = line.expected("a table header or an entry such as '0x0001 001'");
            lft.dirt.note(DirtKind::ForeignLine, place);
        }
    }
    settle(&mut lft, &repeated, fabric);
    finished(lft, &seen, foreign(all))
}
