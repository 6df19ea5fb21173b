//! The entries that changed, exactly, and by column.

use super::{Baseline, Routed};
use crate::id::SwitchIndex;
use crate::judge::diff::TableChanges;
use crate::tables::TableDelta;

/// The entries in which two tables differ, sorted by column, then by switch. Rows of dead switches do not count: nobody
/// sends them anything.
pub(super) struct ChangedEntries {
    /// The column in the upper half, the switch in the lower one.
    entries: Vec<u64>,
    switches: Vec<u32>,
    pub(super) changes: TableChanges,
}

/// The switches whose entry for one column changed.
pub(super) struct ChangedColumn<'a> {
    pub(super) column: u32,
    pub(super) switches: &'a [u32],
}

impl ChangedEntries {
    /// Finds the entries among those of a delta that really differ. A delta names destination switches, of which only
    /// some columns may differ, and it may name a row twice.
    pub(super) fn new(baseline: &Baseline<'_>, after: Routed<'_>, delta: &TableDelta) -> Self {
        let (old, new) = (baseline.routed.tables, after.tables);
        let columns = new.columns();
        let (mut entries, mut blocks) = (Vec::new(), Vec::new());
        for row in delta.rows().iter().filter(|row| after.live.switch(row.switch)) {
            let tile = columns.tile(row.tile as usize);
            let (old, new) = (old.row(row.switch, &tile), new.row(row.switch, &tile));
            let switch = row.switch.at() as u64;
            for span in row.spans(columns) {
                let first = tile.columns.start;
                let places = span.start - first..span.end - first;
                for (column, (a, b)) in span.zip(old[places.clone()].iter().zip(&new[places])) {
                    if a != b {
                        entries.push((column as u64) << 32 | switch);
                        let block = switch << 32 | u64::from(baseline.blocks.of_column[column]);
                        if blocks.last() != Some(&block) {
                            blocks.push(block);
                        }
                    }
                }
            }
        }
        for list in [&mut entries, &mut blocks] {
            list.sort_unstable();
            list.dedup();
        }
        let entry = |&key: &u64| {
            let (column, s) = ((key >> 32) as usize, SwitchIndex::new(key as u32 as usize));
            (old.port(s, column).is_none(), new.port(s, column).is_none())
        };
        let count = |wanted| entries.iter().filter(|key| entry(key) == wanted).count() as u64;
        let changes = TableChanges {
            entries: entries.len() as u64,
            set: count((true, false)),
            unset: count((false, true)),
            blocks: blocks.len() as u64,
            switches: blocks.chunk_by(|a, b| a >> 32 == b >> 32).count() as u64,
        };
        let switches = entries.iter().map(|&key| key as u32).collect();
        ChangedEntries { entries, switches, changes }
    }

    /// Returns the changed columns, each with its switches, ascending.
    pub(super) fn columns(&self) -> impl Iterator<Item = ChangedColumn<'_>> {
        let mut start = 0;
        self.entries.chunk_by(|a, b| a >> 32 == b >> 32).map(move |same| {
            let switches = &self.switches[start..start + same.len()];
            start += same.len();
            ChangedColumn { column: (same[0] >> 32) as u32, switches }
        })
    }
}
