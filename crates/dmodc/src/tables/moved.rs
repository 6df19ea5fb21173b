//! Entries that do not follow the formula of their engine.

use std::collections::HashMap;
use std::ops::Range;

use super::Columns;
use crate::id::{PortNumber, SwitchIndex};

/// An entry with another port than a formula gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MovedEntry {
    /// The column.
    pub column: u32,
    /// The switch.
    pub switch: SwitchIndex,
    /// Its port.
    pub port: PortNumber,
}

/// A moved entry, with its target: its destination switch as a bit of the tile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MovedTo {
    pub(crate) column: usize,
    pub(crate) target: u64,
    pub(crate) port: PortNumber,
}

/// Moved entries by tile and switch.
#[derive(Clone, Debug, Default)]
pub(crate) struct MovedEntries {
    entries: Vec<MovedTo>,
    rows: HashMap<(usize, SwitchIndex), Range<usize>>,
}

impl MovedEntries {
    pub(crate) fn new(columns: &Columns, moved: &[MovedEntry]) -> Self {
        let row = |one: &MovedEntry| (columns.tile_of(one.column as usize), one.switch);
        let mut sorted = moved.to_vec();
        sorted.sort_unstable_by_key(|one| (row(one), one.column));
        let mut all = MovedEntries::default();
        for of_row in sorted.chunk_by(|a, b| row(a) == row(b)) {
            let first = all.entries.len();
            let tile = columns.tile(row(&of_row[0]).0);
            let targets = &columns.switches()[tile.switches.clone()];
            all.entries.extend(of_row.iter().map(|one| {
                let column = one.column as usize;
                let home = columns.destinations()[column].switch;
                let bit = targets.iter().position(|target| *target == home);
                MovedTo { column, target: bit.map_or(0, |bit| 1 << bit), port: one.port }
            }));
            all.rows.insert(row(&of_row[0]), first..all.entries.len());
        }
        all
    }

    /// Returns all moved entries, in any order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = MovedEntry> + '_ {
        self.rows.iter().flat_map(|(&(_, switch), range)| {
            let entries = self.entries[range.clone()].iter();
            entries.map(move |one| MovedEntry { column: one.column as u32, switch, port: one.port })
        })
    }

    /// Returns the moved entries of a switch in a tile.
    #[inline]
    pub(crate) fn of_row(&self, tile: usize, s: SwitchIndex) -> &[MovedTo] {
        match self.entries.is_empty() {
            true => &[],
            false => {
                self.rows.get(&(tile, s)).map_or(&[], |entries| &self.entries[entries.clone()])
            }
        }
    }
}
