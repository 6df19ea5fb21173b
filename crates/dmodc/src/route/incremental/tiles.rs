//! The strategy for engines that choose from closer sets: keeps costs, state and coverage of every tile, and updates tiles
//! on all threads.

use super::touched::Touched;
use super::update::{KeptTile, UpdateScratch, compare_rows, update_tile};
use super::{FullRoute, UpdateStrategy};
use crate::cost::{TileCosts, TooFar};
use crate::parallel;
use crate::route::job::{RouteJob, RowBlock};
use crate::route::port_choice::{PortChoice, Prepared, ReadyTile, RowMaker, write_rows};
use crate::route::{Coverage, RouteError};
use crate::tables::{ForwardingTables, TableDelta};

/// Costs, states and coverages of all tiles; empty before the first route.
#[derive(Clone, Debug)]
pub(super) struct UpdateByTiles<P: PortChoice> {
    choice: P,
    costs: Vec<TileCosts>,
    states: Vec<P::TileState>,
    coverages: Vec<Coverage>,
}

impl<P: PortChoice> UpdateByTiles<P> {
    pub(super) fn new(choice: P) -> Self {
        UpdateByTiles { choice, costs: vec![], states: vec![], coverages: vec![] }
    }

    /// Returns whether the costs that are kept have the form that this fabric needs.
    fn fits(&self, job: &RouteJob<'_>) -> bool {
        self.costs.len() == job.columns.tile_count()
            && self.costs.first().is_none_or(|costs| costs.is_like(&job.ready.new_costs()))
    }

    fn route_tiles(
        &mut self,
        job: &RouteJob<'_>,
        tables: &mut ForwardingTables,
        how: FullRoute,
    ) -> Result<TableDelta, TooFar> {
        let tiles = job.columns.tile_count();
        if !self.fits(job) {
            self.costs = vec![job.ready.new_costs(); tiles];
        }
        self.states.resize(tiles, P::TileState::default());
        self.coverages.resize(tiles, Coverage::default());
        let shared = self.choice.prepare(job);
        let prepared = Prepared { choice: &self.choice, shared: &shared };
        let kept = kept_tiles::<P>(tables, &mut self.costs, &mut self.states, &mut self.coverages);
        let deltas = parallel::in_stages(
            kept,
            |KeptTile { tile, entries, covered, costs, state }| {
                let ready = ReadyTile::new(prepared, job, tile, costs, state)?;
                covered.clone_from(&ready.coverage);
                let blocks = RowBlock::divide(&ready.tile, entries);
                Ok((ready, blocks))
            },
            |ready| RowMaker::<P>::new(job, &ready.tile),
            |ready, maker, rows| match how {
                FullRoute::Overwrite => {
                    write_rows(job, &ready.context(prepared), maker, rows);
                    TableDelta::default()
                }
                FullRoute::Compare => compare_rows(job, &ready.context(prepared), maker, rows),
            },
            |_, deltas| TableDelta::join(deltas),
        )?;
        Ok(TableDelta::join(deltas))
    }
}

/// Returns each tile with what is kept of it.
fn kept_tiles<'a, P: PortChoice>(
    tables: &'a mut ForwardingTables,
    costs: &'a mut [TileCosts],
    states: &'a mut [P::TileState],
    coverages: &'a mut [Coverage],
) -> impl Iterator<Item = KeptTile<'a, P>> + Send {
    let kept = costs.iter_mut().zip(states).zip(coverages);
    tables.tiles_mut().into_iter().zip(kept).map(|((tile, entries), ((costs, state), covered))| {
        KeptTile { tile, costs, state, covered, entries }
    })
}

impl<P: PortChoice> UpdateStrategy for UpdateByTiles<P> {
    fn route(
        &mut self,
        job: &RouteJob<'_>,
        tables: &mut ForwardingTables,
        how: FullRoute,
    ) -> Result<TableDelta, RouteError> {
        Ok(self.route_tiles(job, tables, how)?)
    }

    fn update(
        &mut self,
        job: &RouteJob<'_>,
        tables: &mut ForwardingTables,
        touched: &Touched,
    ) -> Option<TableDelta> {
        let is_levelled = |costs: &TileCosts| costs.hops().is_some();
        if !self.fits(job) || !self.costs.iter().all(is_levelled) {
            return None;
        }
        let shared = self.choice.prepare(job);
        let prepared = Prepared { choice: &self.choice, shared: &shared };
        let kept = kept_tiles::<P>(tables, &mut self.costs, &mut self.states, &mut self.coverages);
        let deltas = parallel::map_with(kept, UpdateScratch::default, |scratch, kept| {
            update_tile(prepared, job, kept, touched, scratch)
        });
        Some(TableDelta::join(deltas))
    }

    fn coverage(&self) -> Coverage {
        self.coverages.iter().cloned().fold(Coverage::default(), Coverage::and)
    }

    fn clone_box(&self) -> Box<dyn UpdateStrategy> {
        Box::new(self.clone())
    }
}
