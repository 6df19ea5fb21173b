//! Routes a whole fabric tile by tile: first the costs of a tile, then immediately its rows, while the costs are in the
//! cache.
//!
//! Tiles are independent, so threads take them, and then blocks of their rows, as they come (in two
//! [stages](crate::parallel::in_stages)); the tables are the same bytes for any number of threads. A row is computed
//! in a small buffer and then copied to its place; the copy bypasses the cache if the tables are too large for it.

use std::ops::DerefMut;
use std::sync::{Mutex, PoisonError};

use super::{ALL, JobTile, PortChoice, RowMaker, TileContext};
use crate::cost::{TileCosts, TooFar};
use crate::id::SwitchIndex;
use crate::kernel::RowCopier;
use crate::parallel;
use crate::route::job::{RouteJob, RowBlock};
use crate::route::validity::Coverage;
use crate::tables::{ForwardingTables, Tile};

/// A choice, and what all tiles of a route share.
pub(crate) struct Prepared<'a, P: PortChoice> {
    pub(crate) choice: &'a P,
    pub(crate) shared: &'a P::JobState,
}

impl<P: PortChoice> Clone for Prepared<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: PortChoice> Copy for Prepared<'_, P> {}

/// Everything that the rows of a tile share. Costs and state are borrowed from whoever keeps them between re-routes
/// (`&mut`), or are reused for other tiles (`Box`).
pub(crate) struct ReadyTile<CostsHolder, StateHolder> {
    pub(crate) tile: Tile,
    pub(crate) costs: CostsHolder,
    pub(crate) state: StateHolder,
    pub(crate) coverage: Coverage,
    dead_columns: Vec<usize>,
}

impl<CostsHolder: DerefMut<Target = TileCosts>, StateHolder: DerefMut>
    ReadyTile<CostsHolder, StateHolder>
{
    /// Computes the costs of a tile, and what the choice needs to know of it.
    ///
    /// # Errors
    /// If a route is longer than costs can count.
    pub(crate) fn new<P: PortChoice<TileState = StateHolder::Target>>(
        Prepared { choice, shared }: Prepared<'_, P>,
        job: &RouteJob<'_>,
        tile: Tile,
        mut costs: CostsHolder,
        mut state: StateHolder,
    ) -> Result<Self, TooFar> {
        job.compute(&tile, &mut costs)?;
        choice.find_state(JobTile { job, shared, tile: &tile }, &costs, &mut state)?;
        let coverage = Coverage::of_tile(job, &tile, &costs);
        let dead_columns = job.dead_columns(&tile);
        Ok(ReadyTile { tile, costs, state, coverage, dead_columns })
    }

    /// Returns what the rows of this tile are computed from.
    pub(crate) fn context<'a, P: PortChoice<TileState = StateHolder::Target>>(
        &'a self,
        Prepared { choice, shared }: Prepared<'a, P>,
    ) -> TileContext<'a, P> {
        TileContext {
            tile: &self.tile,
            costs: &self.costs,
            choice,
            shared,
            state: &self.state,
            dead_columns: &self.dead_columns,
        }
    }
}

/// Costs and states that are used for one tile after the other.
pub(super) struct Spare<State>(Mutex<Vec<(Box<TileCosts>, Box<State>)>>);

impl<State: Default> Spare<State> {
    pub(super) fn new() -> Self {
        Spare(Mutex::default())
    }

    /// Returns a pair that nobody uses, or a new one.
    pub(super) fn take(&self, job: &RouteJob<'_>) -> (Box<TileCosts>, Box<State>) {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.unwrap_or_else(|| (Box::new(job.ready.new_costs()), Box::default()))
    }

    pub(super) fn put(&self, costs: Box<TileCosts>, state: Box<State>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((costs, state));
    }
}

/// Routes all tiles, and returns which pairs have a route.
///
/// # Errors
/// If a route is longer than costs can count.
pub(crate) fn route_tiles<P: PortChoice>(
    choice: &P,
    job: &RouteJob<'_>,
    tables: &mut ForwardingTables,
) -> Result<Coverage, TooFar> {
    assert_eq!(tables.switch_count(), job.ready.groups.switch_count(), "tables of another fabric");
    let spare = Spare::new();
    let shared = choice.prepare(job);
    let prepared = Prepared { choice, shared: &shared };
    let covered = parallel::in_stages(
        tables.tiles_mut(),
        |(tile, out)| {
            let (costs, state) = spare.take(job);
            let ready = ReadyTile::new(prepared, job, tile, costs, state)?;
            let blocks = RowBlock::divide(&ready.tile, out);
            Ok((ready, blocks))
        },
        |ready| RowMaker::<P>::new(job, &ready.tile),
        |ready, maker, rows| write_rows(job, &ready.context(prepared), maker, rows),
        |ready, _| {
            spare.put(ready.costs, ready.state);
            ready.coverage
        },
    )?;
    Ok(covered.into_iter().fold(Coverage::default(), Coverage::and))
}

/// Writes all entries of some rows.
pub(crate) fn write_rows<P: PortChoice>(
    job: &RouteJob<'_>,
    context: &TileContext<'_, P>,
    maker: &mut RowMaker<P>,
    RowBlock { first, entries }: RowBlock<'_>,
) {
    let mut copier = RowCopier::new(job.past_cache);
    for (at, row) in entries.chunks_exact_mut(context.tile.columns.len()).enumerate() {
        let s = SwitchIndex::new(first.at() + at);
        copier.copy(row, maker.row(job, context, s, ALL));
    }
}
