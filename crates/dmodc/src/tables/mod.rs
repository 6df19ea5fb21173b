//! Forwarding tables: for every switch and every destination, an output port.

mod columns;

pub(crate) use columns::Run;
pub use columns::{Columns, Destination, End, Tile};

use std::fmt;
use std::sync::Arc;

use crate::id::{PortNumber, SwitchIndex};

/// The entry of a destination that a switch has no route to, as in an LFT.
pub const NO_ROUTE: u8 = 255;

/// The tables of a fabric do not fit into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory {
    /// How many bytes they would take.
    pub bytes: usize,
}

impl fmt::Display for NoMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the tables would take {} bytes of memory, which are not to be had", self.bytes)
    }
}

impl std::error::Error for NoMemory {}

/// The forwarding tables of a fabric.
///
/// One byte for each switch and [column](Columns). The bytes lie in [tiles](Tile), each a block of
/// columns for all switches: a tile is computed as one piece by one thread, written from front to
/// back, and needs nothing of its neighbours. Within a tile, switch by switch, column by column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardingTables {
    columns: Arc<Columns>,
    switches: usize,
    entries: Vec<u8>,
}

impl ForwardingTables {
    /// Tables without any route, for a fabric of so many switches.
    ///
    /// # Errors
    /// If there is not so much memory.
    pub fn new(columns: Arc<Columns>, switches: usize) -> Result<Self, NoMemory> {
        let bytes = columns.len() * switches;
        let mut entries = Vec::new();
        entries.try_reserve_exact(bytes).map_err(|_| NoMemory { bytes })?;
        entries.resize(bytes, NO_ROUTE);
        Ok(ForwardingTables { columns, switches, entries })
    }

    /// What the columns are.
    pub fn columns(&self) -> &Arc<Columns> {
        &self.columns
    }

    /// How many switches have a row.
    pub fn switch_count(&self) -> usize {
        self.switches
    }

    /// The port that switch `s` sends to for a column; 0 is the switch itself.
    #[inline]
    pub fn port(&self, s: SwitchIndex, column: usize) -> Option<PortNumber> {
        let entry = self.entries[self.place(s, column)];
        (entry != NO_ROUTE).then_some(PortNumber(entry))
    }

    /// Sets one entry. (Engines write whole tiles; this is for readers of files.)
    pub fn set(&mut self, s: SwitchIndex, column: usize, port: Option<PortNumber>) {
        let place = self.place(s, column);
        self.entries[place] = port.map_or(NO_ROUTE, |p| p.0);
    }

    /// The entries of one switch for the columns of a tile.
    #[inline]
    pub fn row(&self, s: SwitchIndex, tile: &Tile) -> &[u8] {
        let start = self.tile_start(tile) + s.at() * tile.columns.len();
        &self.entries[start..start + tile.columns.len()]
    }

    /// All bytes, tile after tile.
    pub fn bytes(&self) -> &[u8] {
        &self.entries
    }

    /// Each tile with its bytes, to be written side by side.
    pub(crate) fn tiles_mut(&mut self) -> Vec<(Tile, &mut [u8])> {
        let mut rest = &mut self.entries[..];
        let switches = self.switches;
        self.columns
            .tiles()
            .map(|tile| {
                let (bytes, after) =
                    std::mem::take(&mut rest).split_at_mut(tile.columns.len() * switches);
                rest = after;
                (tile, bytes)
            })
            .collect()
    }

    fn tile_start(&self, tile: &Tile) -> usize {
        tile.columns.start * self.switches
    }

    #[inline]
    fn place(&self, s: SwitchIndex, column: usize) -> usize {
        assert!(
            s.at() < self.switches && column < self.columns.len(),
            "the tables have no such entry"
        );
        let tile = self.columns.tile_of(column);
        self.tile_start(&tile) + s.at() * tile.columns.len() + column - tile.columns.start
    }

    /// How many entries have a route.
    pub fn routed(&self) -> usize {
        self.entries.iter().filter(|&&e| e != NO_ROUTE).count()
    }

    /// How many entries differ from other tables of the same shape.
    ///
    /// # Panics
    /// If the columns are not the same.
    pub fn differing(&self, other: &ForwardingTables) -> usize {
        assert_eq!(self.columns, other.columns, "only tables of one shape are compared so");
        self.entries.iter().zip(&other.entries).filter(|(a, b)| a != b).count()
    }
}
