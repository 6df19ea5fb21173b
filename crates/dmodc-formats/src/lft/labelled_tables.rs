//! Tables whose rows and columns are labelled by lists, as in arrays. They are matched with a fabric like the entries of
//! dumps.

use dmodc::{Fabric, Guid, Lid};

use super::known_names::DestinationIndex;
use super::line::EntryName;
use super::{Lft, finished};
use crate::ReadError;

/// Tables that are put together row by row.
pub(crate) struct LabelledTables {
    index: DestinationIndex,
    lft: Lft,
    /// The columns of destinations that the fabric has, ascending.
    known: Vec<usize>,
    has_table: Vec<bool>,
}

impl LabelledTables {
    /// Matches columns. No two of them may have the same LID and GUID.
    pub(crate) fn new(columns: &[(Lid, Guid)], fabric: &Fabric) -> Self {
        let (index, switches) = (DestinationIndex::new(fabric), fabric.switches().len());
        let mut lft = Lft { rows: vec![Vec::new(); switches], ..Lft::default() };
        let mut known = Vec::new();
        for (column, &(lid, guid)) in columns.iter().enumerate() {
            match index.find(EntryName { lid, guid: Some(guid) }) {
                Some(end) => {
                    lft.keys.push((end, lid));
                    known.push(column);
                }
                None => {
                    lft.unknown_destinations.insert(lid, Some(guid));
                }
            }
        }
        LabelledTables { index, lft, known, has_table: vec![false; switches] }
    }

    /// Returns the columns of destinations that the fabric has, ascending.
    pub(crate) fn known(&self) -> &[usize] {
        &self.known
    }

    /// Adds the row of a switch: the entries of the known columns.
    pub(crate) fn add(&mut self, guid: Guid, row: Vec<u8>) {
        match self.index.switch(guid) {
            Some(s) => {
                self.has_table[s.at()] = true;
                self.lft.rows[s.at()] = row;
            }
            None => self.lft.unknown_switches.push(guid),
        }
    }

    /// Returns the tables, or why they cannot be used.
    pub(crate) fn finish(self) -> Result<Lft, ReadError> {
        finished(self.lft, &self.has_table, None)
    }
}
