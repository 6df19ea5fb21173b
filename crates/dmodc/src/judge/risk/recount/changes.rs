//! The entries that changed, exactly, and by column.

use std::ops::Range;

use super::{Baseline, NO_TRAFFIC, Routed};
use crate::id::SwitchIndex;
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
    /// Finds the columns of these spans for which some flow may meet the old entry of a switch: all if nodes are on the switch, or
    /// else those for which the entry of a neighbour leads here. Most switches get flows for few columns, and a changed
    /// entry that no flow meets moves nothing; so this saves most of the work. Consecutive columns are compared at once,
    /// which takes far less time than looking up single entries.
    fn find(
        &mut self,
        baseline: &Baseline<'_>,
        switch: SwitchIndex,
        tile: &Tile,
        spans: &[Range<usize>],
    ) {
        let has_nodes = baseline.weight[switch.at()] > 0;
        self.0.clear();
        self.0.resize(tile.columns.len(), has_nodes);
        if has_nodes {
            return;
        }
        let (entries, width) = (baseline.tiles[tile.index], tile.columns.len());
        for span in spans {
            let span = span.start - tile.columns.start..span.end - tile.columns.start;
            for feeder in &baseline.feeders[switch.at()] {
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

/// Compares the tables of the baseline with others.
struct Comparison<'a> {
    baseline: &'a Baseline<'a>,
    after: Routed<'a>,
    /// Whether the destination of each column is alive.
    is_live: Vec<bool>,
    fed: FedEntries,
    /// Whether an entry of the present switch changes in each block.
    is_sent: Vec<bool>,
    met: Vec<MetEntry>,
    changes: TableChanges,
}

impl<'a> Comparison<'a> {
    fn new(baseline: &'a Baseline<'_>, after: Routed<'a>) -> Self {
        Comparison {
            baseline,
            after,
            is_live: live_columns(after),
            fed: FedEntries::default(),
            is_sent: vec![false; baseline.blocks.count],
            met: Vec::new(),
            changes: TableChanges::default(),
        }
    }

    /// Compares these rows, which are of one switch.
    fn add_switch(&mut self, rows: &[RowDelta]) {
        let before = self.changes.entries;
        rows.iter().for_each(|row| self.add_row(row));
        if self.changes.entries > before {
            self.changes.switches += 1;
            self.changes.blocks += self.is_sent.iter().filter(|sent| **sent).count() as u64;
            self.is_sent.fill(false);
        }
    }

    fn add_row(&mut self, row: &RowDelta) {
        let columns = self.after.tables.columns();
        let tile = columns.tile(row.tile as usize);
        let (first, spans) = (tile.columns.start, joined(row.spans(columns)));
        self.fed.find(self.baseline, row.switch, &tile, &spans);
        let tables = [self.baseline.routed.tables, self.after.tables];
        let [old, new] = tables.map(|tables| tables.row(row.switch, &tile));
        for span in spans {
            let in_tile = span.start - first..span.end - first;
            let entries = old[in_tile.clone()].iter().zip(&new[in_tile]).enumerate();
            for (at, (&old, &new)) in entries.filter(|(_, (old, new))| old != new) {
                let column = span.start + at;
                if !self.is_live[column] {
                    continue;
                }
                self.changes.entries += 1;
                self.changes.set += u64::from(old == NO_ROUTE);
                self.changes.unset += u64::from(new == NO_ROUTE);
                self.is_sent[self.baseline.blocks.of_column[column] as usize] = true;
                if self.fed.0[column - first] {
                    let switch = row.switch.at() as u32;
                    self.met.push(MetEntry { column: column as u32, switch });
                }
            }
        }
    }
}

impl ChangedEntries {
    /// Finds the entries among those of a delta that really differ. A delta names destination switches, of which only
    /// some columns may differ, and it may name a row twice.
    pub(super) fn new(baseline: &Baseline<'_>, after: Routed<'_>, delta: &TableDelta) -> Self {
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
        let mut comparison = Comparison::new(baseline, after);
        for rows in rows.chunk_by(|a, b| a.switch == b.switch) {
            comparison.add_switch(rows);
        }
        let (starts, switches) = by_column(&comparison.met, after.tables.columns().len());
        ChangedEntries { switches, starts, changes: comparison.changes }
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
