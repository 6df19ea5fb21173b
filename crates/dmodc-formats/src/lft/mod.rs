//! Forwarding tables as text: the dump that OpenSM writes and loads (`-R file -U`), the text that `ibroute` and `dump_lfts`
//! print, and `opensm.fdbs`.
//!
//! ```text
//! Unicast lids [0-28] of switch Lid 2 guid 0x0002c90100000001 ('L1-0'):
//! 0x0001 003 # Channel Adapter portguid 0x0002c90000000011: 'nic0'
//! 1 lids dumped
//! ```
//!
//! An entry names its destination by LID and, in a comment, by port GUID. LIDs may have changed since the dump, GUIDs have
//! not, so the GUID decides if there is one. A destination may have several LIDs (LMC); they are distinguished by their
//! order.
//!
//! | file | subject |
//! |---|---|
//! | `line` | the lines of a dump |
//! | `naive` | the naive twin of the reader, line by line |
//! | `read`, `dump_part`, `known_names` | the fast reader: parts on all cores, with a fast path for lines that differ only in the port |
//! | `table_remarks` | switches with two tables, and tables whose end is missing |
//! | `repeated_lids` | LIDs that one table has more than once |
//! | `labelled_tables` | tables whose rows and columns are labelled by lists, as in arrays |
//! | `columns` | tables of dumps with the columns of a fabric |
//! | `write` | writing dumps |

mod columns;
mod dump_part;
mod known_names;
mod labelled_tables;
mod line;
pub mod naive;
mod read;
mod repeated_lids;
mod table_remarks;
mod write;

pub use columns::as_if_read;
pub(crate) use labelled_tables::LabelledTables;
pub use read::{LftError, read, read_by_windows, read_from, read_in_parts};
pub use write::{LftWriter, write};

use std::collections::BTreeMap;

use dmodc::{End, Fabric, Guid, Lid, NO_ROUTE, SwitchIndex};

use crate::scan::lines;
use crate::{Dirt, DirtKind, ReadError};

/// The most LIDs that one port can have: an LMC is at most 7.
const MOST_LIDS: usize = 128;

/// Tables from a file, matched with a fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lft {
    /// The destinations that entries name, each once, in the order in which they are named first. The position of a
    /// destination in this list is its *key*.
    keys: Vec<(End, Lid)>,
    /// The ports of each switch by key, [`NO_ROUTE`] if there is none. The row of a switch without a table is empty.
    rows: Vec<Vec<u8>>,
    /// Everything in the file that should not be there.
    pub dirt: Dirt,
    /// Switches of the file that the fabric does not have.
    pub unknown_switches: Vec<Guid>,
    /// Destinations of the file that the fabric does not have: by LID, with the GUID if the file has it.
    pub unknown_destinations: BTreeMap<Lid, Option<Guid>>,
    /// Switches of the fabric that the file has no table for.
    pub missing_switches: Vec<SwitchIndex>,
}

/// Returns whether a text looks like a dump of tables.
pub fn detect(text: &[u8]) -> bool {
    lines(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)).take(200).any(|mut line| {
        line.skip_blanks();
        line::HEADERS.iter().any(|header| line.take(header))
    })
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns a text without the byte order mark that it may begin with.
fn without_byte_order_mark<'a>(text: &'a [u8], dirt: &mut Dirt) -> &'a [u8] {
    let Some(rest) = text.strip_prefix(BYTE_ORDER_MARK) else { return text };
    let place = ReadError { line: 1, column: 1, message: "a byte order mark".into() };
    dirt.note(DirtKind::ByteOrderMark, place);
    rest
}

/// Completes tables that were read. `has_table` marks the switches that had a table, and `unsupported` describes the
/// input if it is no text of ours.
///
/// # Errors
/// If there is no table, or a destination has too many LIDs.
fn finished(
    mut lft: Lft,
    has_table: &[bool],
    unsupported: Option<String>,
) -> Result<Lft, ReadError> {
    if lft.unknown_switches.is_empty() && !has_table.contains(&true) {
        let what = unsupported.unwrap_or_else(|| "the file has no forwarding table".into());
        let message = format!("{what}; expected lines such as 'Unicast lids [0-28] of switch …'");
        let no_table = ReadError { line: 1, column: 1, message };
        // A damaged header is a more helpful error.
        let damaged = lft.dirt.iter().find(|(kind, _)| *kind == DirtKind::DamagedLine);
        return Err(damaged.map_or(no_table, |(_, found)| found.places[0].clone()));
    }
    for (s, row) in lft.rows.iter_mut().enumerate() {
        match has_table[s] {
            true => row.resize(lft.keys.len(), NO_ROUTE),
            false => lft.missing_switches.push(SwitchIndex::new(s)),
        }
    }
    // Columns count the LIDs of a destination in a byte, and no port can have more.
    match lft.lids().into_iter().find(|(_, lids)| lids.len() > MOST_LIDS) {
        Some((_, lids)) => {
            let message = format!(
                "one destination has {} LIDs, but at most {MOST_LIDS} are possible",
                lids.len()
            );
            Err(ReadError { line: 1, column: 1, message })
        }
        None => Ok(lft),
    }
}

/// Returns every destination of a fabric, with its LIDs.
pub(crate) fn ends(fabric: &Fabric) -> impl Iterator<Item = (End, Vec<Lid>)> {
    let nodes = fabric.node_indices().map(|n| {
        let node = fabric.node(n);
        (End::Node(n), (0..1 << node.lmc).map(|k| Lid(node.lid.0 + k)).collect())
    });
    let switches = fabric.switch_indices().map(|s| (End::Switch(s), vec![fabric.switch(s).lid]));
    nodes.chain(switches)
}

#[cfg(test)]
mod tests;
