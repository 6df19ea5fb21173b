//! The entries of an old and a new table, column by column, and the switch that each leads to.

use crate::fabric::{Live, Peer};
use crate::id::{PortNumber, SwitchIndex};
use crate::tables::{Columns, ForwardingTables, Tile};

/// No switch follows: the packet arrives, or is lost.
pub(super) const END: u32 = u32::MAX;

/// The switch that each possible entry of each switch leads to. Looking it up in the fabric for every step would take
/// most of the time.
pub(super) struct EntryHops(Vec<[u32; 256]>);

impl EntryHops {
    pub(super) fn new(live: Live<'_>) -> Self {
        let hops = |s: SwitchIndex| {
            let mut hops = [END; 256];
            for (port, hop) in (1..=254u8).zip(&mut hops[1..]) {
                if let Peer::Switch(to, _) = live.peer(s, PortNumber(port)) {
                    *hop = to.at() as u32;
                }
            }
            hops
        };
        EntryHops(live.fabric.switch_indices().map(hops).collect())
    }

    /// Returns the number of switches.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the switch that an entry of a switch leads to, or [`END`].
    #[inline]
    pub(super) fn next(&self, at: usize, entry: u8) -> u32 {
        self.0[at][usize::from(entry)]
    }
}

/// An old and a new table, tile by tile.
pub(super) struct TablePair<'a> {
    columns: &'a Columns,
    tiles: Vec<(Tile, &'a [u8], &'a [u8])>,
}

impl<'a> TablePair<'a> {
    pub(super) fn new(old: &'a ForwardingTables, new: &'a ForwardingTables) -> Self {
        let both = old.tiles().zip(new.tiles());
        let tiles = both.map(|((tile, old), (_, new))| (tile, old, new)).collect();
        TablePair { columns: old.columns(), tiles }
    }

    /// Returns the entries of a column.
    pub(super) fn column(&self, column: usize) -> ColumnEntries<'a> {
        let (tile, old, new) = &self.tiles[self.columns.tile_of(column)];
        let at = column - tile.columns.start;
        ColumnEntries { old: &old[at..], new: &new[at..], width: tile.columns.len() }
    }
}

/// The entries of one column in both tables. The entry of switch `s` is at `s * width`.
pub(super) struct ColumnEntries<'a> {
    pub(super) old: &'a [u8],
    pub(super) new: &'a [u8],
    pub(super) width: usize,
}
