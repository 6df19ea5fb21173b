//! The naive twin of the reader: line by line, on one core. For any bytes, the fast reader must give the same result.

use std::collections::{BTreeSet, HashMap, HashSet};

use dmodc::{Fabric, NO_ROUTE, SwitchIndex};

use super::known_names::DestinationIndex;
use super::line::{DumpEntry, entry, header, is_count, is_entry, is_heading};
use super::repeated_lids::settle;
use super::table_remarks::TableRemarks;
use super::{Lft, finished, without_byte_order_mark};
use crate::scan::lines;
use crate::unsupported::describe_unsupported;
use crate::{DirtKind, ReadError};

/// Reads a dump of the tables of a fabric as [`super::read`] does, line by line.
///
/// # Errors
/// As [`super::read`].
pub fn read(text: &[u8], fabric: &Fabric) -> Result<Lft, ReadError> {
    let index = DestinationIndex::new(fabric);
    let mut lft = Lft { rows: vec![Vec::new(); fabric.switches().len()], ..Lft::default() };
    let (all, text) = (text, without_byte_order_mark(text, &mut lft.dirt));
    let mut places = HashMap::new();
    // The table being read, if there is one, and its switch, if the fabric knows it.
    let mut table: Option<Option<SwitchIndex>> = None;
    let mut lids = HashSet::new();
    let mut repeated = BTreeSet::new();
    let mut remarks = TableRemarks::new(fabric.switches().len());
    // Whether a line counts the entries of the table being read.
    let mut is_counted = false;
    for mut line in lines(text) {
        line.skip_blanks();
        if is_entry(line) {
            let Some(switch) = table else {
                let place = line.expected("'Unicast lids … of switch …' before the entries");
                lft.dirt.note(DirtKind::DamagedLine, place);
                continue;
            };
            let DumpEntry { name, port } = match entry(line) {
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
            let Some(end) = index.find(name) else {
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
            if table.is_some() {
                remarks.note_count(is_counted);
            }
            is_counted = false;
            match guid.map(|guid| (guid, index.switch(guid))) {
                Ok((guid, switch)) => {
                    remarks.note(line.number(), guid, switch);
                    if switch.is_none() {
                        lft.unknown_switches.push(guid);
                    }
                    table = Some(switch);
                }
                Err(place) => {
                    // It is not known whose entries follow; they are skipped, too.
                    lft.dirt.note(DirtKind::DamagedLine, place);
                    table = None;
                }
            }
        } else if is_count(line) {
            is_counted = true;
        } else if !is_heading(line) {
            let place = line.expected("a table header or an entry such as '0x0001 001'");
            lft.dirt.note(DirtKind::ForeignLine, place);
        }
    }
    settle(&mut lft, &repeated, fabric);
    if table.is_some() {
        remarks.note_count(is_counted);
    }
    let has_table = remarks.finish(&mut lft.dirt);
    finished(lft, &has_table, describe_unsupported(all))
}
