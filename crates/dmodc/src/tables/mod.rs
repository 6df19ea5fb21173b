//! Forwarding tables: for every switch and every destination, an output port.

mod columns;
mod delta;
mod digest;
mod lines;
mod moved;

pub(crate) use columns::Segment;
pub use columns::{BLOCK, Columns, Destination, End, Tile};
pub use delta::{RowDelta, TableDelta};
pub use digest::Digest;
pub(crate) use lines::Lines;
pub use moved::MovedEntry;
pub(crate) use moved::{MovedEntries, MovedTo};

use std::fmt;
use std::sync::Arc;

use crate::id::{PortNumber, SwitchIndex};
use crate::parallel;

/// The entry of a destination that a switch has no route to, as in an LFT.
pub const NO_ROUTE: u8 = 255;

/// The tables of a fabric do not fit into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory {
    /// The number of bytes that they need.
    pub bytes: usize,
}

impl fmt::Display for NoMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is not enough memory for the tables, which need {} bytes", self.bytes)
    }
}

impl std::error::Error for NoMemory {}

/// The forwarding tables of a fabric.
///
/// One byte for each switch and [column](Columns). The bytes lie in [tiles](Tile), each a block of
/// columns for all switches: a tile is computed as one piece, written from front to back, and needs
/// nothing of its neighbours. Within a tile, switch by switch, column by column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardingTables {
    columns: Arc<Columns>,
    switches: usize,
    tiles: Vec<Lines>,
}

impl ForwardingTables {
    /// Returns tables without any route, for a fabric with this number of switches.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(columns: Arc<Columns>, switches: usize) -> Result<Self, NoMemory> {
        let bytes = columns.len() * switches;
        // Each thread touches the memory of its tiles first, which takes longer than filling it.
        let tiles = parallel::map(columns.tiles(), |tile| {
            Lines::new(tile.columns.len() * switches, NO_ROUTE)
        });
        let tiles: Result<Vec<Lines>, NoMemory> = tiles.into_iter().collect();
        Ok(ForwardingTables { columns, switches, tiles: tiles.map_err(|_| NoMemory { bytes })? })
    }

    /// Returns the columns.
    pub fn columns(&self) -> &Arc<Columns> {
        &self.columns
    }

    /// Returns how many switches have a row.
    pub fn switch_count(&self) -> usize {
        self.switches
    }

    /// Returns how many entries there are: one byte each.
    pub fn entry_count(&self) -> usize {
        self.switches * self.columns.len()
    }

    /// Returns the port that switch `s` sends to for a column; 0 is the switch itself.
    #[inline]
    pub fn port(&self, s: SwitchIndex, column: usize) -> Option<PortNumber> {
        let EntryPlace { tile, at } = self.place(s, column);
        let entry = self.tiles[tile].bytes()[at];
        (entry != NO_ROUTE).then_some(PortNumber(entry))
    }

    /// Sets one entry. (Engines write whole tiles; this is for readers of files.)
    pub fn set(&mut self, s: SwitchIndex, column: usize, port: Option<PortNumber>) {
        let EntryPlace { tile, at } = self.place(s, column);
        self.tiles[tile].bytes_mut()[at] = port.map_or(NO_ROUTE, |p| p.0);
    }

    /// Returns the entries of one switch for the columns of a tile.
    #[inline]
    pub fn row(&self, s: SwitchIndex, tile: &Tile) -> &[u8] {
        let width = tile.columns.len();
        &self.tiles[tile.index].bytes()[s.at() * width..(s.at() + 1) * width]
    }

    /// Returns the entries of one switch for the columns of a tile, to be written.
    #[inline]
    pub(crate) fn row_mut(&mut self, s: SwitchIndex, tile: &Tile) -> &mut [u8] {
        let width = tile.columns.len();
        &mut self.tiles[tile.index].bytes_mut()[s.at() * width..(s.at() + 1) * width]
    }

    /// Returns every tile with its entries, switch by switch.
    pub fn tiles(&self) -> impl ExactSizeIterator<Item = (Tile, &[u8])> {
        self.columns.tiles().zip(self.tiles.iter().map(Lines::bytes))
    }

    /// Returns every tile with its entries, to be written by several threads.
    pub fn tiles_mut(&mut self) -> Vec<(Tile, &mut [u8])> {
        self.columns.tiles().zip(self.tiles.iter_mut().map(Lines::bytes_mut)).collect()
    }

    /// Returns where an entry is.
    #[inline]
    fn place(&self, s: SwitchIndex, column: usize) -> EntryPlace {
        assert!(
            s.at() < self.switches && column < self.columns.len(),
            "the tables have no such entry"
        );
        let tile = self.columns.tile(self.columns.tile_of(column));
        let at = s.at() * tile.columns.len() + column - tile.columns.start;
        EntryPlace { tile: tile.index, at }
    }

    /// Returns how many entries have a route.
    pub fn routed(&self) -> usize {
        let routed = |entries: &[u8]| entries.iter().filter(|&&e| e != NO_ROUTE).count();
        self.tiles.iter().map(|tile| routed(tile.bytes())).sum()
    }

    /// Returns how many entries differ from other tables of the same shape.
    ///
    /// # Panics
    /// If the columns are not the same.
    pub fn differing(&self, other: &ForwardingTables) -> usize {
        assert_eq!(self.columns, other.columns, "only tables of one shape are compared so");
        let differing = |(a, b): (&Lines, &Lines)| {
            a.bytes().iter().zip(b.bytes()).filter(|(a, b)| a != b).count()
        };
        self.tiles.iter().zip(&other.tiles).map(differing).sum()
    }
}

/// Where an entry is: its tile, and its index there.
struct EntryPlace {
    tile: usize,
    at: usize,
}
