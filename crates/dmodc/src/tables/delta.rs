//! What a re-route changed.

use std::ops::Range;

use super::{Columns, ForwardingTables};
use crate::bits::bits;
use crate::id::SwitchIndex;

/// The entries of one switch in one tile that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowDelta {
    /// The switch.
    pub switch: SwitchIndex,
    /// The place of the tile among the tiles.
    pub tile: u32,
    /// The destination switches, counted from the tile's first: those for which some entry changed.
    pub targets: u64,
}

impl RowDelta {
    /// Returns the columns of each of those destination switches.
    pub fn spans<'a>(&self, columns: &'a Columns) -> impl Iterator<Item = Range<usize>> + use<'a> {
        let first = columns.tile(self.tile as usize).switches.start;
        bits(self.targets).map(move |bit| columns.of_switch(first + bit))
    }
}

/// The difference that an [apply](crate::Router::apply) made to the tables: which entries are new. The
/// entries themselves are in the tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableDelta {
    pub(crate) rows: Vec<RowDelta>,
    pub(crate) entries: u64,
}

impl TableDelta {
    /// Returns the changed rows, tile by tile, in each by switch.
    pub fn rows(&self) -> &[RowDelta] {
        &self.rows
    }

    /// Returns how many entries changed.
    pub fn entry_count(&self) -> u64 {
        self.entries
    }

    /// Returns whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the switches whose table changed, ascending.
    pub fn switches(&self) -> Vec<SwitchIndex> {
        let mut switches: Vec<SwitchIndex> = self.rows.iter().map(|row| row.switch).collect();
        switches.sort_unstable();
        switches.dedup();
        switches
    }

    /// Brings older tables up to date: copies what changed from `new` to them.
    ///
    /// # Panics
    /// If the columns are not the same.
    pub fn copy(&self, new: &ForwardingTables, old: &mut ForwardingTables) {
        assert_eq!(new.columns(), old.columns(), "only tables of one shape follow each other");
        let columns = new.columns();
        for row in &self.rows {
            let tile = columns.tile(row.tile as usize);
            let (from, to) = (new.row(row.switch, &tile), old.row_mut(row.switch, &tile));
            for span in row.spans(columns) {
                let span = span.start - tile.columns.start..span.end - tile.columns.start;
                to[span.clone()].copy_from_slice(&from[span]);
            }
        }
    }

    /// Returns a delta that lists every entry of these tables.
    pub(crate) fn all(tables: &ForwardingTables) -> TableDelta {
        let switches = (0..tables.switch_count()).map(SwitchIndex::new);
        let rows = tables.columns().tiles().flat_map(|tile| {
            let (tile, targets) = (tile.index as u32, tile.targets());
            switches.clone().map(move |switch| RowDelta { switch, tile, targets })
        });
        TableDelta { rows: rows.collect(), entries: tables.entry_count() as u64 }
    }

    /// Returns all of these deltas, one after the other.
    pub(crate) fn join(deltas: Vec<TableDelta>) -> TableDelta {
        let mut rows = Vec::with_capacity(deltas.iter().map(|delta| delta.rows.len()).sum());
        let mut entries = 0;
        for delta in deltas {
            rows.extend_from_slice(&delta.rows);
            entries += delta.entries;
        }
        TableDelta { rows, entries }
    }
}
