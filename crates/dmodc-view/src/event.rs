//! Events: what happened to the fabric, and what it did to the tables.

use std::collections::HashSet;

use dmodc::{ForwardingTables, SwitchIndex, TableDelta};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The greatest number of parts that an event names.
pub(crate) const NAMED: usize = 100;

/// What made an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The first routing.
    Start,
    /// Somebody failed or repaired parts.
    User,
    /// A random draw of faults.
    Random,
    /// The last change was taken back.
    Undo,
    /// A change that was taken back was made again.
    Redo,
    /// Everything was repaired.
    Reset,
    /// A scenario was loaded.
    Scenario,
    /// Another engine was chosen.
    Engine,
    /// The fabric that is followed has changed.
    Follow,
}

/// How many parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartCounts {
    /// Switches.
    pub switches: usize,
    /// Cables.
    pub cables: usize,
}

/// Something that happened to the fabric, and what it did to the tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its number: events are numbered from 1, also across restarts of a server that keeps its history.
    pub sequence: u64,
    /// When it happened, in milliseconds since 1970.
    pub time_ms: u64,
    /// The state after it. States are numbered from 1 since the start of the program.
    pub revision: u64,
    /// What made it.
    pub origin: Origin,
    /// The engine.
    pub engine: String,
    /// What happened, in words.
    pub text: String,
    /// The first parts that failed.
    pub failed: Vec<String>,
    /// The first parts that were repaired.
    pub repaired: Vec<String>,
    /// How many parts failed.
    pub failed_count: usize,
    /// How many parts were repaired.
    pub repaired_count: usize,
    /// All faults after it.
    pub all_failed: PartCounts,
    /// The parts that have failed after it, if there are not too many of them to be kept.
    pub state: Option<Vec<String>>,
    /// How long re-routing took.
    pub milliseconds: f64,
    /// The entries that changed.
    pub entries: u64,
    /// All entries of all tables.
    pub entries_total: u64,
    /// The blocks of 64 LIDs with such an entry: what a subnet manager sends.
    pub blocks: u64,
    /// The switches with such an entry.
    pub switches: u64,
    /// Whether every pair of leaves with nodes has a route.
    pub valid: bool,
    /// The judgement of the state after it, as soon as it is known.
    pub judgement: Option<Value>,
}

/// The size of a difference between tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeltaSize {
    pub(crate) entries: u64,
    pub(crate) blocks: u64,
    pub(crate) switches: u64,
}

/// The tables before a change, with which the exact size of the change is counted: a delta lists whole destination
/// switches, of which some entries may be the same.
pub(crate) struct TablesBefore {
    tables: ForwardingTables,
    /// The block of 64 LIDs of each column.
    blocks: Vec<u32>,
}

impl TablesBefore {
    pub(crate) fn new(tables: &ForwardingTables) -> Self {
        let blocks = tables.columns().destinations().iter().map(|d| d.lid.0 / 64).collect();
        TablesBefore { tables: tables.clone(), blocks }
    }

    /// Returns the size of a change, and takes the new tables for the next time. O(changed columns).
    pub(crate) fn follow(&mut self, delta: &TableDelta, now: &ForwardingTables) -> DeltaSize {
        let columns = now.columns();
        let mut size = SizeCount::default();
        for row in delta.rows() {
            for span in row.spans(columns) {
                for column in span {
                    if self.tables.port(row.switch, column) != now.port(row.switch, column) {
                        size.add(row.switch.at() as u32, self.blocks[column]);
                    }
                }
            }
        }
        delta.copy(now, &mut self.tables);
        size.finish()
    }

    /// Returns the difference to tables of another engine, and takes these for the next time. O(#entries).
    pub(crate) fn replace(&mut self, now: &ForwardingTables) -> DeltaSize {
        let mut size = SizeCount::default();
        for tile in now.columns().tiles() {
            for s in (0..now.switch_count()).map(SwitchIndex::new) {
                let (old, new) = (self.tables.row(s, &tile), now.row(s, &tile));
                if old == new {
                    continue;
                }
                let entries = tile.columns.clone().zip(old.iter().zip(new));
                for (column, _) in entries.filter(|(_, (old, new))| old != new) {
                    size.add(s.at() as u32, self.blocks[column]);
                }
            }
        }
        self.tables = now.clone();
        size.finish()
    }
}

/// Counts changed entries, and the blocks and switches that they are in.
#[derive(Default)]
struct SizeCount {
    entries: u64,
    blocks: HashSet<(u32, u32)>,
    last: Option<(u32, u32)>,
}

impl SizeCount {
    fn add(&mut self, switch: u32, block: u32) {
        self.entries += 1;
        // Neighbours are mostly in one block, which saves most look-ups.
        if self.last != Some((switch, block)) {
            self.last = Some((switch, block));
            self.blocks.insert((switch, block));
        }
    }

    fn finish(self) -> DeltaSize {
        let switches: HashSet<u32> = self.blocks.iter().map(|(switch, _)| *switch).collect();
        DeltaSize {
            entries: self.entries,
            blocks: self.blocks.len() as u64,
            switches: switches.len() as u64,
        }
    }
}
