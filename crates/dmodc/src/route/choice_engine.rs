//! Every [`PortChoice`] is an [`Engine`].

use std::sync::Arc;

use super::incremental::Incremental;
use super::job::RouteJob;
use super::port_choice::{PortChoice, route_tiles, streamed};
use super::stream::{Piece, RowSink};
use super::{Coverage, Engine, RouteError};
use crate::fabric::Live;
use crate::preprocess::Preprocessing;
use crate::tables::{Columns, ForwardingTables};

impl<P: PortChoice> Engine for P {
    fn name(&self) -> &str {
        P::NAME
    }

    fn route(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        tables: &mut ForwardingTables,
    ) -> Result<Coverage, RouteError> {
        let columns = tables.columns().clone();
        Ok(route_tiles(self, &RouteJob::new(live, ready, &columns), tables)?)
    }

    fn stream_tiles(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        columns: &Arc<Columns>,
        each: &(dyn Fn(Piece<'_>) + Sync),
    ) -> Result<Coverage, RouteError> {
        Ok(streamed::tiles(self, &RouteJob::new(live, ready, columns), each)?)
    }

    fn stream_rows(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        columns: &Arc<Columns>,
        each: &mut RowSink<'_>,
    ) -> Result<Coverage, RouteError> {
        Ok(streamed::rows(self, &RouteJob::new(live, ready, columns), streamed::ROWS, each)?)
    }

    fn incremental(&self) -> Option<Incremental> {
        Some(Incremental::by_tiles(self.clone()))
    }
}
