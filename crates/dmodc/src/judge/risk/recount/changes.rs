//! The entries that changed, exactly, and by column.

use std::ops::Range;

use super::{Baseline, NO_TRAFFIC, Routed};
use crate::judge::diff::TableChanges;
use crate::tables::{NO_ROUTE, RowDelta, TableDelta, Tile};

/// The entries in which two tables differ. Rows of dead switches do not count, since nobody sends them anything; nor do
/// columns of dead destinations, since nobody sends to them.
pub(super) struct ChangedEntries {
    /// The switches of those that flows may meet: column by column, ascending in each.
    switches: Vec<u32>,
    /// Where the switches of each column start, and where those of the last one end.
    starts: Vec<u32>,
    /// The numbers of all.
    pub(super) changes: TableChanges,
}

/// A batch has this number of entries, or a few more.
const BATCH: usize = 1024;

/// The switches whose entry for one column changed.
pub(super) struct ChangedColumn<'a> {
    /// The position of its node.
    pub(super) position: u32,
    pub(super) switches: &'a [u32],
}

/// A changed entry that flows may meet.
struct MetEntry {
    column: u32,
    switch: u32,
}

/// The entries of a row that flows may meet.
#[derive(Default)]
struct FedEntries(Vec<bool>);

impl FedEntries {
    /// Finds the columns of a row for which some flow may meet the old entry of a switch: all if nodes are on the switch, or
    /// else those for which the entry of a neighbour leads here. Most switches get flows for few columns, and a changed
    /// entry that no flow meets moves nothing; so this saves most of the work. Consecutive columns are compared at once,
    /// which takes far less time than looking up single entries.
    fn find(&mut self, baseline: &Baseline<'_>, row: &RowDelta, tile: &Tile) {
        let has_nodes = baseline.weight[row.switch.at()] > 0;
        self.0.clear();
        self.0.resize(tile.columns.len(), has_nodes);
        if has_nodes {
            return;
        }
        let (entries, width) = (baseline.tiles[tile.index], tile.columns.len());
        for span in joined(row.spans(baseline.routed.tables.columns())) {
            let span = span.start - tile.columns.start..span.end - tile.columns.start;
            for feeder in &baseline.feeders[row.switch.at()] {
                let row = &entries[feeder.switch as usize * width..][..width];
                for (fed, &entry) in self.0[span.clone()].iter_mut().zip(&row[span.clone()]) {
                    *fed |= entry == feeder.entry;
                }
            }
        }
    }
}

/// Returns ascending spans of columns, in which neighbours are joined.
fn joined(spans: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match joined.last_mut().filter(|last| last.end == span.start) {
            Some(last) => last.end = span.end,
            None => joined.push(span),
        }
    }
    joined
}

impl ChangedEntries {
    /// Finds the entries among those of a delta that really differ. A delta names destination switches, of which only
    /// some columns may differ, and it may name a row twice.
    pub(super) fn new(baseline: &Baseline<'_>, after: Routed<'_>, delta: &TableDelta) -> Self {
        let is_live = live_columns(after);
        let mut rows: Vec<RowDelta> = delta.rows().to_vec();
        rows.retain(|row| after.live.switch(row.switch));
        rows.sort_unstable_by_key(|row| (row.switch, row.tile));
        rows.dedup_by(|later, first| {
            let is_same = (later.switch, later.tile) == (first.switch, first.tile);
            if is_same {
                first.targets |= later.targets;
            }
            is_same
        });
        let mut changes = TableChanges::default();
        let (mut met, mut fed) = (Vec::new(), FedEntries::default());
        let mut sent = vec![false; baseline.blocks.count];
        for rows in rows.chunk_by(|a, b| a.switch == b.switch) {
            let before = changes.entries;
            for row in rows {
                let tile = after.tables.columns().tile(row.tile as usize);
                fed.find(baseline, row, &tile);
                let [old, new] =
                    [baseline.routed.tables, after.tables].map(|t| t.row(row.switch, &tile));
                for column in row.spans(after.tables.columns()).flatten() {
                    let at = column - tile.columns.start;
                    if old[at] == new[at] || !is_live[column] {
                        continue;
                    }
                    changes.entries += 1;
                    changes.set += u64::from(old[at] == NO_ROUTE);
                    changes.unset += u64::from(new[at] == NO_ROUTE);
                    sent[baseline.blocks.of_column[column] as usize] = true;
                    if fed.0[at] {
                        met.push(MetEntry {
                            column: column as u32,
                            switch: row.switch.at() as u32,
                        });
                    }
                }
            }
            if changes.entries > before {
                changes.switches += 1;
                changes.blocks += sent.iter().filter(|sent| **sent).count() as u64;
                sent.fill(false);
            }
        }
        let (starts, switches) = by_column(&met, after.tables.columns().len());
        ChangedEntries { switches, starts, changes }
    }

    /// Returns the changed columns that traffic goes to, each with the switches that flows may meet, ascending. They come in
    /// batches whose routes are followed together. `position_of` holds the position of the node of each column.
    pub(super) fn batches(&self, position_of: &[u32]) -> Vec<Vec<ChangedColumn<'_>>> {
        let (mut batches, mut in_last) = (vec![], BATCH);
        for (ends, &position) in self.starts.windows(2).zip(position_of) {
            let switches = &self.switches[ends[0] as usize..ends[1] as usize];
            if switches.is_empty() || position == NO_TRAFFIC {
                continue;
            }
            if in_last >= BATCH {
                batches.push(vec![]);
                in_last = 0;
            }
            in_last += switches.len();
            let last = batches.last_mut().expect("a batch was begun");
            last.push(ChangedColumn { position, switches });
        }
        batches
    }
}

/// Sorts entries by column, in which the entries of one column keep their order. Returns where the entries of each column
/// start and their switches.
fn by_column(entries: &[MetEntry], columns: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0; columns + 1];
    entries.iter().for_each(|entry| starts[entry.column as usize + 1] += 1);
    for column in 0..columns {
        starts[column + 1] += starts[column];
    }
    let (mut next, mut switches) = (starts.clone(), vec![0; entries.len()]);
    for entry in entries {
        let place = &mut next[entry.column as usize];
        switches[*place as usize] = entry.switch;
        *place += 1;
    }
    (starts, switches)
}

/// Returns for each column whether its destination is alive.
fn live_columns(routed: Routed<'_>) -> Vec<bool> {
    let destinations = routed.tables.columns().destinations().iter();
    destinations.map(|d| d.end.is_alive(routed.live)).collect()
}
