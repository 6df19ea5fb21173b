//! Engines that choose one port from each closer set: the walk over tiles and rows that they share.
//!
//! Such an engine implements [`PortChoice`], which says how a port is chosen, and gets from here:
//!
//! | file | what |
//! |---|---|
//! | `tile` | a complete route, tile by tile: first the costs of a tile, then its rows |
//! | `row` | [`RowMaker`]: the entries of one switch for one tile |
//! | `streamed` | tables that are handed out piece by piece and never stored whole |
//! | `formula` | eqs. (3) and (4) over a closer set, the choice of Dmodc |
//! | `port_cycle` | the same where groups have different numbers of ports |
//!
//! [`incremental`](super::incremental) updates rows after a change, and `choice_engine` puts everything together.

mod formula;
mod port_cycle;
mod row;
pub(super) mod streamed;
mod tile;

pub(crate) use formula::ByFormula;
pub(crate) use row::{ALL, MarkedRow, RowContext, RowMaker, RowRequest, TileContext};
pub(crate) use tile::{Prepared, ReadyTile, route_tiles, write_rows};

use super::job::RouteJob;
use super::marks::Marks;
use crate::cost::{Hops, TileCosts, TooFar};
use crate::id::SwitchIndex;
use crate::kernel::Difference;
use crate::tables::{MovedTo, Tile};

/// How one group and port is chosen from a closer set. This is all in which engines with closer sets differ.
pub(crate) trait PortChoice: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// The name of the engine on the command line and in results.
    const NAME: &'static str;

    /// What the choice knows of the whole fabric, whatever the tile.
    type JobState: Send + Sync;

    /// What the choice knows of a tile besides its costs.
    type TileState: Clone + Default + std::fmt::Debug + Send + Sync;

    /// What a thread keeps from row to row of one tile.
    type Scratch: Default + Send;

    /// Finds what all tiles of a route or an update share.
    fn prepare(&self, job: &RouteJob<'_>) -> Self::JobState;

    /// Returns whether entries depend on the dividers of the present. If not, a switch that has another divider but the same
    /// groups keeps its entries.
    fn uses_dividers(&self, _shared: &Self::JobState) -> bool {
        true
    }

    /// Finds the state of a tile whose costs are known. `state` may be that of this tile as it was before, of
    /// another tile, or new.
    ///
    /// # Errors
    /// If a route is longer than costs can count.
    fn find_state(
        &self,
        tile: JobTile<'_, Self::JobState>,
        costs: &TileCosts,
        state: &mut Self::TileState,
    ) -> Result<(), TooFar>;

    /// Updates the state of a tile after a change of the fabric. `dirty` has the entries whose closer sets may have
    /// changed; entries whose choice changes although their closer sets did not are to be marked in `rechoose`.
    fn update_state(
        &self,
        tile: JobTile<'_, Self::JobState>,
        costs: &Hops,
        state: &mut Self::TileState,
        dirty: &Marks,
        rechoose: &mut Marks,
    );

    /// Writes the requested entries of a row. A target in no direction gets no route. This may write over the end
    /// of a segment, but by at most [`SLACK`](crate::kernel::SLACK) bytes.
    fn fill_row(
        &self,
        context: RowContext<'_>,
        state: &Self::TileState,
        request: RowRequest<'_>,
        scratch: &mut Self::Scratch,
        row: &mut [u8],
    );

    /// Returns the entries of a row that have other ports than `fill_row` gives them, as long as these are in P(s, d).
    fn moved_entries(&self, _tile: &Tile, _s: SwitchIndex) -> &[MovedTo] {
        &[]
    }

    /// Writes the same entries as [`fill_row`](Self::fill_row), but from the costs alone: closer sets are not given.
    /// Returns the bit of the target that is this switch (0 if none), or `None`, with the row untouched, if the row
    /// needs `fill_row`.
    fn fill_row_fast(
        &self,
        _switch: JobSwitch<'_, Self::JobState>,
        _state: &Self::TileState,
        _request: RowRequest<'_>,
        _scratch: &mut Self::Scratch,
        _row: &mut [u8],
    ) -> Option<u64> {
        None
    }

    /// Chooses again those requested entries of a row that the cause may have changed. Writes those that differ, and returns which
    /// these are. Returns `None`, with the row untouched, if this needs `fill_row`. The row has no slack.
    fn rechoose(
        &self,
        _switch: JobSwitch<'_, Self::JobState>,
        _state: &Self::TileState,
        _rechosen: Rechosen<'_>,
        _scratch: &mut Self::Scratch,
        _row: &mut [u8],
    ) -> Option<Difference> {
        None
    }
}

/// Entries that are chosen again in a row that has its entries.
#[derive(Clone, Copy)]
pub(crate) struct Rechosen<'a> {
    pub(crate) request: RowRequest<'a>,
    pub(crate) cause: Cause,
}

/// Why entries are chosen again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Something changed at other switches. The closer sets of the row are the same.
    OtherSwitches,
    /// Something failed. The closer sets of the row may have lost groups, but got none, and no target is further away.
    LostGroups,
}

/// A tile of a job.
pub(crate) struct JobTile<'a, JobState> {
    pub(crate) job: &'a RouteJob<'a>,
    /// What all tiles share.
    pub(crate) shared: &'a JobState,
    pub(crate) tile: &'a Tile,
}

/// A switch of a job, with the costs of the tile at hand.
pub(crate) struct JobSwitch<'a, JobState> {
    pub(crate) job: &'a RouteJob<'a>,
    /// What all tiles share.
    pub(crate) shared: &'a JobState,
    pub(crate) costs: &'a TileCosts,
    pub(crate) switch: SwitchIndex,
}
