//! What is kept of every tile of an engine with closer sets, and re-routing with it on all threads.

use super::touched::Touched;
use super::update::{KeptTile, UpdateScratch, compare_rows, update_tile};
use super::{Keep, Whole};
use crate::cost::{TileCosts, TooFar};
use crate::parallel;
use crate::route::job::{RouteJob, RowBlock};
use crate::route::port_choice::{PortChoice, ReadyTile, RowMaker, write_rows};
use crate::route::{Coverage, RouteError};
use crate::tables::{ForwardingTables, TableDelta, Tile};

/// Costs, states and coverages of all tiles; empty before the first route.
#[derive(Clone, Debug)]
pub(super) struct KeptTiles<P: PortChoice> {
    choice: P,
    costs: Vec<TileCosts>,
    states: Vec<P::TileState>,
    coverages: Vec<Coverage>,
}

impl<P: PortChoice> KeptTiles<P> {
    pub(super) fn new(choice: P) -> Self {
        KeptTiles { choice, costs: vec![], states: vec![], coverages: vec![] }
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
        how: Whole,
    ) -> Result<TableDelta, TooFar> {
        let tiles = job.columns.tile_count();
        if !self.fits(job) {
            self.costs = vec![job.ready.new_costs(); tiles];
        }
        self.states.resize(tiles, P::TileState::default());
        self.coverages.resize(tiles, Coverage::default());
        let choice = &self.choice;
        let tiles = tables.tiles_mut().into_iter().zip(&mut self.coverages);
        let kept = self.costs.iter_mut().zip(&mut self.states);
        let jobs = tiles.zip(kept).map(|((tile, covered), (costs, state))| TileJob::<P> {
            tile,
            covered,
            costs,
            state,
        });
        let deltas = parallel::in_stages(
            jobs,
            |TileJob { tile: (tile, entries), covered, costs, state }| {
                let ready = ReadyTile::new(choice, job, tile, costs, state)?;
                covered.clone_from(&ready.coverage);
                let blocks = RowBlock::divide(&ready.tile, entries);
                Ok((ready, blocks))
            },
            |ready| RowMaker::<P>::new(job, &ready.tile),
            |ready, maker, rows| match how {
                Whole::Write => {
                    write_rows(job, &ready.context(choice), maker, rows);
                    TableDelta::default()
                }
                Whole::Compare => compare_rows(job, &ready.context(choice), maker, rows),
            },
            |_, deltas| deltas.into_iter().fold(TableDelta::default(), TableDelta::and),
        )?;
        Ok(deltas.into_iter().fold(TableDelta::default(), TableDelta::and))
    }
}

/// A tile to be routed, with what is kept of it.
struct TileJob<'a, P: PortChoice> {
    tile: (Tile, &'a mut [u8]),
    covered: &'a mut Coverage,
    costs: &'a mut TileCosts,
    state: &'a mut P::TileState,
}

impl<P: PortChoice> Keep for KeptTiles<P> {
    fn route(
        &mut self,
        job: &RouteJob<'_>,
        tables: &mut ForwardingTables,
        how: Whole,
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
        let choice = &self.choice;
        let tiles = tables.tiles_mut().into_iter().zip(&mut self.coverages);
        let kept = self.costs.iter_mut().zip(&mut self.states);
        let deltas =
            parallel::map_with(tiles.zip(kept), UpdateScratch::default, |scratch, item| {
                let (((tile, entries), covered), (costs, state)) = item;
                let kept = KeptTile { tile: &tile, costs, state, covered, entries };
                update_tile(choice, job, kept, touched, scratch)
            });
        Some(deltas.into_iter().fold(TableDelta::default(), TableDelta::and))
    }

    fn coverage(&self) -> Coverage {
        self.coverages.iter().cloned().fold(Coverage::default(), Coverage::and)
    }

    fn clone_box(&self) -> Box<dyn Keep> {
        Box::new(self.clone())
    }
}
