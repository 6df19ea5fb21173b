//! What is remarkable about the tables of a dump, apart from their entries: switches with two tables, and tables without the line
//! `22 lids dumped` at their end, if other tables have it. The latter show that a file, or what was joined to make it, is
//! incomplete.

use dmodc::{Guid, SwitchIndex};

use crate::{Dirt, DirtKind, ReadError};

/// The tables of a dump that were read so far, in the order of the text.
pub(super) struct TableRemarks {
    /// Which switches of the fabric have a table.
    has_table: Vec<bool>,
    repeated: Vec<ReadError>,
    /// The line of the last header, and the switch.
    last: (u32, Guid),
    some_is_counted: bool,
    uncounted: Vec<(u32, Guid)>,
}

impl TableRemarks {
    pub(super) fn new(switches: usize) -> Self {
        TableRemarks {
            has_table: vec![false; switches],
            repeated: vec![],
            last: (0, Guid(0)),
            some_is_counted: false,
            uncounted: vec![],
        }
    }

    /// Notes a table. `switch` is the switch of the fabric, if there is one.
    pub(super) fn note(&mut self, line: u32, guid: Guid, switch: Option<SwitchIndex>) {
        self.last = (line, guid);
        let Some(switch) = switch else { return };
        if std::mem::replace(&mut self.has_table[switch.at()], true) {
            let message = format!("switch {guid} has a table already");
            self.repeated.push(ReadError { line, column: 1, message });
        }
    }

    /// Notes, after the table that was [noted](Self::note) last, whether a line counts its entries.
    pub(super) fn note_count(&mut self, is_counted: bool) {
        match is_counted {
            true => self.some_is_counted = true,
            false => self.uncounted.push(self.last),
        }
    }

    /// Adds the remarks to the dirt of the dump. Returns which switches have a table.
    pub(super) fn finish(self, dirt: &mut Dirt) -> Vec<bool> {
        for place in self.repeated {
            dirt.note(DirtKind::RepeatedTable, place);
        }
        // Some programs never count entries.
        for (line, guid) in self.uncounted.into_iter().filter(|_| self.some_is_counted) {
            let message = format!("the table of switch {guid} ends without a line '… lids dumped'");
            dirt.note(DirtKind::UncountedTable, ReadError { line, column: 1, message });
        }
        self.has_table
    }
}
