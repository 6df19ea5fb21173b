//! Tables that are handed out piece by piece or row by row, so that they need not fit into memory.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::{Coverage, Engine, RouteError};
use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::preprocess::Preprocessing;
use crate::tables::{Columns, ForwardingTables, Tile};

/// A piece of the tables: some switches, one tile.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// The columns.
    pub tile: &'a Tile,
    /// The first switch.
    pub first: SwitchIndex,
    /// The entries, switch by switch.
    pub entries: &'a [u8],
}

/// A function that gets the whole row of each switch, in the order of the columns, and says whether to go on.
pub type RowSink<'a> = dyn FnMut(SwitchIndex, &[u8]) -> ControlFlow<()> + 'a;

/// Computes tables and hands them switch by switch to `each`: the whole row of a switch, in the order of the columns.
/// Without columns, `each` is not called. Returns which pairs have a route.
///
/// Memory: the costs of all tiles, which are at most about one byte for each pair of a switch and a destination switch with
/// [`Dmodc`](crate::Dmodc) and a few bytes with [`Stable`](crate::Stable); and the rows that are handed out together.
///
/// # Errors
/// If the engine cannot route the fabric, before anything is handed out; or the first error of `each`.
pub fn stream_switches<E: From<RouteError>>(
    engine: &dyn Engine,
    live: Live<'_>,
    ready: &Preprocessing,
    columns: &Arc<Columns>,
    mut each: impl FnMut(SwitchIndex, &[u8]) -> Result<(), E>,
) -> Result<Coverage, E> {
    let mut failed = None;
    let coverage = engine.stream_rows(live, ready, columns, &mut |s, row| match each(s, row) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    })?;
    match failed {
        Some(error) => Err(error),
        None => Ok(coverage),
    }
}

/// Routes into tables, and hands them out piece by piece: for engines that cannot do with less memory.
pub(super) fn tiles_of_tables<E: Engine + ?Sized>(
    engine: &E,
    live: Live<'_>,
    ready: &Preprocessing,
    columns: &Arc<Columns>,
    each: &(dyn Fn(Piece<'_>) + Sync),
) -> Result<Coverage, RouteError> {
    let mut tables = ForwardingTables::new(columns.clone(), live.fabric.switches().len())?;
    let coverage = engine.route(live, ready, &mut tables)?;
    for (tile, entries) in tables.tiles() {
        each(Piece { tile: &tile, first: SwitchIndex::new(0), entries });
    }
    Ok(coverage)
}

/// Routes into tables, and hands them out row by row: for engines that cannot do with less memory.
pub(super) fn rows_of_tables<E: Engine + ?Sized>(
    engine: &E,
    live: Live<'_>,
    ready: &Preprocessing,
    columns: &Arc<Columns>,
    each: &mut RowSink<'_>,
) -> Result<Coverage, RouteError> {
    let mut tables = ForwardingTables::new(columns.clone(), live.fabric.switches().len())?;
    let coverage = engine.route(live, ready, &mut tables)?;
    let mut row = vec![0; columns.len()];
    for s in live.fabric.switch_indices().filter(|_| !columns.is_empty()) {
        for tile in columns.tiles() {
            row[tile.columns.clone()].copy_from_slice(tables.row(s, &tile));
        }
        if let ControlFlow::Break(()) = each(s, &row) {
            break;
        }
    }
    Ok(coverage)
}
