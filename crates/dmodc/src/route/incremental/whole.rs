//! The strategy for engines that cannot update tables: every change routes everything, and the tables are compared.

use std::sync::Arc;

use super::update::DeltaWriter;
use super::{FullRoute, Touched, UpdateStrategy};
use crate::parallel;
use crate::route::job::RouteJob;
use crate::route::{Coverage, Engine, RouteError};
use crate::tables::{ForwardingTables, TableDelta};

/// Any engine, and what its last tables reach.
#[derive(Clone, Debug)]
pub(super) struct RouteAgain {
    engine: Arc<dyn Engine>,
    coverage: Coverage,
}

impl RouteAgain {
    pub(super) fn new(engine: Arc<dyn Engine>) -> Self {
        RouteAgain { engine, coverage: Coverage::default() }
    }
}

impl UpdateStrategy for RouteAgain {
    fn route(
        &mut self,
        job: &RouteJob<'_>,
        tables: &mut ForwardingTables,
        how: FullRoute,
    ) -> Result<TableDelta, RouteError> {
        match how {
            FullRoute::Overwrite => {
                self.coverage = self.engine.route(job.live, job.ready, tables)?;
                Ok(TableDelta::default())
            }
            FullRoute::Compare => {
                let columns = tables.columns().clone();
                let mut new = ForwardingTables::new(columns, tables.switch_count())?;
                self.coverage = self.engine.route(job.live, job.ready, &mut new)?;
                let tiles = tables.tiles_mut().into_iter().zip(new.tiles());
                let deltas = parallel::map(tiles, |((tile, old), (_, new))| {
                    let mut writer = DeltaWriter::new(job, &tile);
                    let width = tile.columns.len();
                    let rows = old.chunks_exact_mut(width).zip(new.chunks_exact(width));
                    for (s, (old, new)) in job.live.fabric.switch_indices().zip(rows) {
                        writer.replace(s, old, new);
                    }
                    writer.delta
                });
                Ok(TableDelta::join(deltas))
            }
        }
    }

    fn update(
        &mut self,
        _: &RouteJob<'_>,
        _: &mut ForwardingTables,
        _: &Touched,
    ) -> Option<TableDelta> {
        None
    }

    fn coverage(&self) -> Coverage {
        self.coverage.clone()
    }

    fn clone_box(&self) -> Box<dyn UpdateStrategy> {
        Box::new(self.clone())
    }
}
