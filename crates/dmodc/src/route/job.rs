//! The input of a route, and its division into pieces of work.

use crate::cost::{TileCosts, TooFar};
use crate::fabric::Live;
use crate::id::{NodeIndex, SwitchIndex};
use crate::preprocess::Preprocessing;
use crate::tables::{Columns, End, Tile};

/// Tables of at least this many bytes are written past the cache, because they would not stay in it.
const LARGE_TABLES: usize = 48 << 20;

/// The approximate number of bytes that one thread computes at a time.
const PIECE: usize = 256 << 10;

/// The input of a route: the fabric in its present state, its preprocessing, and the columns to fill.
pub(crate) struct RouteJob<'a> {
    pub(crate) live: Live<'a>,
    pub(crate) ready: &'a Preprocessing,
    pub(crate) columns: &'a Columns,
    /// Whether the columns of some nodes must be emptied.
    has_dead_nodes: bool,
    /// Whether rows are written past the cache.
    pub(crate) past_cache: bool,
}

impl<'a> RouteJob<'a> {
    pub(crate) fn new(live: Live<'a>, ready: &'a Preprocessing, columns: &'a Columns) -> Self {
        RouteJob {
            live,
            ready,
            columns,
            has_dead_nodes: live.has_dead_node_cables(),
            past_cache: columns.len() * ready.groups.switch_count() >= LARGE_TABLES,
        }
    }

    /// Returns the destination switches of a tile.
    pub(crate) fn targets(&self, tile: &Tile) -> &'a [SwitchIndex] {
        &self.columns.switches()[tile.switches.clone()]
    }

    /// Computes the costs of a tile.
    ///
    /// # Errors
    /// If a route is longer than costs can count.
    pub(crate) fn compute(&self, tile: &Tile, costs: &mut TileCosts) -> Result<(), TooFar> {
        self.ready.kernel.run(
            #[inline(always)]
            || costs.compute(&self.ready.groups, self.targets(tile)),
        )
    }

    /// Returns the columns of a tile whose nodes are cut off, although their switches may work; counted from the
    /// tile's first column.
    pub(crate) fn dead_columns(&self, tile: &Tile) -> Vec<usize> {
        if !self.has_dead_nodes {
            return vec![];
        }
        let is_dead = |column: &usize| match self.columns.destinations()[*column].end {
            End::Node(n) => !self.live.node(n),
            End::Switch(_) => false,
        };
        tile.columns.clone().filter(is_dead).map(|column| column - tile.columns.start).collect()
    }

    /// Returns the destination switch of a node as a bit; 0 if that switch is in another tile.
    pub(crate) fn target_of(&self, tile: &Tile, n: NodeIndex) -> u64 {
        let switch = self.live.fabric.node(n).switch;
        let target = self.targets(tile).iter().position(|&t| t == switch);
        target.map_or(0, |bit| 1 << bit)
    }
}

/// Some rows of a tile, of successive switches.
pub(crate) struct RowBlock<'a> {
    pub(crate) first: SwitchIndex,
    pub(crate) entries: &'a mut [u8],
}

impl<'a> RowBlock<'a> {
    /// Returns how many rows of a tile make one piece of work.
    pub(crate) fn row_count(tile: &Tile) -> usize {
        (PIECE / tile.columns.len().max(1)).max(1)
    }

    /// Divides the entries of a tile into pieces of work.
    pub(crate) fn divide(
        tile: &Tile,
        entries: &'a mut [u8],
    ) -> impl Iterator<Item = RowBlock<'a>> + Send + use<'a> {
        let (width, rows) = (tile.columns.len(), Self::row_count(tile));
        let pieces = entries.chunks_mut((width * rows).max(1)).enumerate();
        pieces.map(move |(at, entries)| RowBlock { first: SwitchIndex::new(at * rows), entries })
    }
}
