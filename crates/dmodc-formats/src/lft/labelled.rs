//! Tables whose rows and columns are labelled by lists: matches them with a fabric as entries of dumps are.

use dmodc::{Fabric, Guid, Lid};

use super::line::Name;
use super::names::Ends;
use super::{Lft, finished};
use crate::ReadError;

/// Tables that are put together row by row.
pub(crate) struct Labelled {
    ends: Ends,
    lft: Lft,
    /// Which columns are of destinations that the fabric has.
    known: Vec<usize>,
    seen: Vec<bool>,
}

impl Labelled {
    /// Matches columns, each of another LID or GUID.
    pub(crate) fn new(columns: &[(Lid, Guid)], fabric: &Fabric) -> Self {
        let (ends, switches) = (Ends::new(fabric), fabric.switches().len());
        let mut lft = Lft { rows: vec![Vec::new(); switches], ..Lft::default() };
        let mut known = Vec::new();
        for (column, &(lid, guid)) in columns.iter().enumerate() {
            match ends.find(Name { lid, guid: Some(guid) }) {
                Some(end) => {
                    lft.keys.push((end, lid));
                    known.push(column);
                }
                None => {
                    lft.unknown_destinations.insert(lid, Some(guid));
                }
            }
        }
        Labelled { ends, lft, known, seen: vec![false; switches] }
    }

    /// The columns of destinations that the fabric has, ascending.
    pub(crate) fn known(&self) -> &[usize] {
        &self.known
    }

    /// Adds the row of a switch: the entries of the known columns.
    pub(crate) fn add(&mut self, guid: Guid, row: Vec<u8>) {
        match self.ends.switch(guid) {
            Some(s) => {
                self.seen[s.at()] = true;
                self.lft.rows[s.at()] = row;
            }
            None => self.lft.unknown_switches.push(guid),
        }
    }

    /// Returns the tables, or why they are of no use.
    pub(crate) fn finish(self) -> Result<Lft, ReadError> {
        finished(self.lft, &self.seen, None)
    }
}
