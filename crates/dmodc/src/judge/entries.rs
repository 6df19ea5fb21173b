//! The entries of two tables column by column, and where each leads.

use crate::fabric::{Live, Peer};
use crate::id::{PortNumber, SwitchIndex};
use crate::tables::{Columns, ForwardingTables, Tile};

/// Nothing follows: the packet arrives, or is lost.
pub(super) const END: u32 = u32::MAX;

/// The switch that every entry leads to; looking it up in the fabric anew for every step would take
/// most of the time.
pub(super) struct Hops(Vec<[u32; 256]>);

impl Hops {
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
        Hops(live.fabric.switch_indices().map(hops).collect())
    }

    /// How many switches there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The switch that an entry leads to.
    #[inline]
    pub(super) fn next(&self, at: usize, entry: u8) -> u32 {
        self.0[at][usize::from(entry)]
    }
}

/// The entries of both tables, by tile.
pub(super) struct Tiles<'a> {
    columns: &'a Columns,
    tiles: Vec<(Tile, &'a [u8], &'a [u8])>,
}

impl<'a> Tiles<'a> {
    pub(super) fn new(old: &'a ForwardingTables, new: &'a ForwardingTables) -> Self {
        let both = old.tiles().zip(new.tiles());
        let tiles = both.map(|((tile, old), (_, new))| (tile, old, new)).collect();
        Tiles { columns: old.columns(), tiles }
    }

    pub(super) fn column(&self, column: usize) -> Entries<'a> {
        let (tile, old, new) = &self.tiles[self.columns.tile_of(column)];
        let at = column - tile.columns.start;
        Entries { old: &old[at..], new: &new[at..], width: tile.columns.len() }
    }
}

/// The entries of one column in both tables: those of a switch stand a tile's width after those of the one before.
pub(super) struct Entries<'a> {
    pub(super) old: &'a [u8],
    pub(super) new: &'a [u8],
    pub(super) width: usize,
}
