//! Dmodc and Stable for tables that need not, or do not, fit into memory: computed piece by piece, handed to a
//! sink, and forgotten.

use rayon::prelude::*;

use super::row::RowMaker;
use super::tile::{ALL, Seen, Selection, Work, coverage};
use super::{Coverage, Dmodc, Preprocessing, Reference, RouteError};
use crate::cost::{CostBlock, Costs, Hops, TooFar};
use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::tables::{Columns, Tile};

/// How ports are chosen.
#[derive(Clone, Copy, Debug)]
pub enum Policy<'a> {
    /// As [`Dmodc`] does.
    Dmodc,
    /// As [`Stable`](crate::Stable) does by this reference.
    Stable(&'a Reference),
}

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

/// Computes tables and hands them piece by piece to `each`, from all threads, in no particular order.
/// At any time there are a piece of some hundred kilobytes and the costs of one tile for each thread.
///
/// # Errors
/// If a route is longer than costs can count; pieces may have been handed out before.
pub fn stream_tiles(
    policy: Policy<'_>,
    live: Live<'_>,
    ready: &Preprocessing,
    columns: &Columns,
    each: impl Fn(Piece<'_>) + Sync,
) -> Result<Coverage, RouteError> {
    let work = Work::new(live, ready, columns);
    Ok(match policy {
        Policy::Dmodc => tiles(&Dmodc, &work, &each)?,
        Policy::Stable(reference) => tiles(reference, &work, &each)?,
    })
}

fn tiles<S: Selection>(
    selection: &S,
    work: &Work<'_>,
    each: &(impl Fn(Piece<'_>) + Sync),
) -> Result<Coverage, TooFar> {
    match work.ready.planes() {
        Some(planes) => tiles_with(selection, work, || Hops::new(planes), each),
        None => tiles_with(selection, work, CostBlock::default, each),
    }
}

fn tiles_with<S: Selection, C: Costs>(
    selection: &S,
    work: &Work<'_>,
    costs: impl Fn() -> C + Send + Sync,
    each: &(impl Fn(Piece<'_>) + Sync),
) -> Result<Coverage, TooFar> {
    let tiles = (0..work.columns.tile_count()).into_par_iter().map(|i| work.columns.tile(i));
    tiles
        .map_init(
            || (costs(), S::View::default()),
            |(costs, view), tile| {
                work.compute(&tile, costs)?;
                selection.look(work, &tile, costs, view)?;
                let seen = Seen::new(work, &tile, costs, (selection, view));
                let switches = work.ready.groups.switch_count();
                let rows = Work::rows_at_once(&tile);
                (0..switches.div_ceil(rows)).into_par_iter().for_each_init(
                    || (RowMaker::<S>::new(work, &tile), Vec::new()),
                    |(maker, entries), piece| {
                        entries.clear();
                        for at in piece * rows..((piece + 1) * rows).min(switches) {
                            let s = SwitchIndex::new(at);
                            entries.extend_from_slice(maker.row(work, &seen, s, ALL));
                        }
                        each(Piece { tile: &tile, first: SwitchIndex::new(piece * rows), entries });
                    },
                );
                Ok(coverage(work, &tile, costs))
            },
        )
        .try_reduce(Coverage::default, |a, b| Ok(a.and(b)))
}

/// About so many bytes of rows are held at once.
const ROWS: usize = 32 << 20;

/// Computes tables and hands them switch by switch to `each`: the whole row of a switch, in the order of the
/// columns; tables without columns are handed to nobody. What is known of all tiles is kept meanwhile: by
/// Dmodc about a byte for each switch and destination switch at the most, by Stable a few; and some rows.
///
/// # Errors
/// If a route is longer than costs can count, nothing having been handed out; or what `each` says.
pub fn stream_switches<E: From<RouteError>>(
    policy: Policy<'_>,
    live: Live<'_>,
    ready: &Preprocessing,
    columns: &Columns,
    each: impl FnMut(SwitchIndex, &[u8]) -> Result<(), E>,
) -> Result<Coverage, E> {
    let work = Work::new(live, ready, columns);
    match policy {
        Policy::Dmodc => switches(&Dmodc, &work, ROWS, each),
        Policy::Stable(reference) => switches(reference, &work, ROWS, each),
    }
}

fn switches<S: Selection, E: From<RouteError>>(
    selection: &S,
    work: &Work<'_>,
    room: usize,
    each: impl FnMut(SwitchIndex, &[u8]) -> Result<(), E>,
) -> Result<Coverage, E> {
    match work.ready.planes() {
        Some(planes) => switches_with(selection, work, || Hops::new(planes), room, each),
        None => switches_with(selection, work, CostBlock::default, room, each),
    }
}

fn switches_with<S: Selection, C: Costs, E: From<RouteError>>(
    selection: &S,
    work: &Work<'_>,
    costs: impl Fn() -> C + Send + Sync,
    room: usize,
    mut each: impl FnMut(SwitchIndex, &[u8]) -> Result<(), E>,
) -> Result<Coverage, E> {
    let tiles: Vec<Tile> = work.columns.tiles().collect();
    let all = tiles.par_iter().map(|tile| {
        let (mut costs, mut view) = (costs(), S::View::default());
        work.compute(tile, &mut costs)?;
        selection.look(work, tile, &costs, &mut view)?;
        let covered = coverage(work, tile, &costs);
        Ok((costs, view, covered))
    });
    let all: Vec<(C, S::View, Coverage)> =
        all.collect::<Result<_, TooFar>>().map_err(|error| E::from(error.into()))?;
    let width = work.columns.len();
    if let Some(rows) = room.checked_div(width) {
        let at_once = rows.max(rayon::current_num_threads());
        let mut rows = vec![0; width * at_once.min(work.ready.groups.switch_count())];
        let switches: Vec<SwitchIndex> = work.live.fabric.switch_indices().collect();
        for some in switches.chunks(at_once) {
            // One tile for all of these switches, then the next: its costs stay in the cache.
            let rows = &mut rows[..width * some.len()];
            let mut by_switch: Vec<&mut [u8]> = rows.chunks_exact_mut(width).collect();
            let parts = by_switch.len().div_ceil(rayon::current_num_threads());
            by_switch.par_chunks_mut(parts).zip(some.par_chunks(parts)).for_each(|(rows, some)| {
                for (tile, (costs, view, _)) in tiles.iter().zip(&all) {
                    let seen = Seen::new(work, tile, costs, (selection, view));
                    let mut maker = RowMaker::<S>::new(work, tile);
                    for (row, &s) in rows.iter_mut().zip(some) {
                        let entries = maker.row(work, &seen, s, ALL);
                        row[tile.columns.clone()].copy_from_slice(entries);
                    }
                }
            });
            for (&s, row) in some.iter().zip(rows.chunks_exact(width)) {
                each(s, row)?;
            }
        }
    }
    Ok(all.into_iter().map(|(.., coverage)| coverage).fold(Coverage::default(), Coverage::and))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{Degradation, Pgft};
    use crate::routing::{Routing, RoutingOptions};

    /// However many rows are held at once, every switch gets its own.
    #[test]
    fn rows_come_in_any_number_of_pieces() {
        let pgft: Pgft = "3; 2,4,20; 1,4,4; 1,1,1".parse().expect("a PGFT");
        let fabric = pgft.fabric(Default::default());
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        let routing = Routing::new(live, &RoutingOptions::default());
        let (tables, covered) = routing.route(live, &Dmodc).expect("a PGFT is routed");
        let ready = routing.preprocess(live);
        let work = Work::new(live, &ready, routing.columns());
        for room in [0, 1, 5 * routing.columns().len(), usize::MAX] {
            let mut seen = vec![];
            let each = |s: SwitchIndex, row: &[u8]| {
                seen.push(s);
                for tile in routing.columns().tiles() {
                    assert_eq!(&row[tile.columns.clone()], tables.row(s, &tile));
                }
                Ok::<(), RouteError>(())
            };
            let streamed = switches(&Dmodc, &work, room, each);
            assert_eq!(streamed.expect("a PGFT is routed"), covered);
            assert!(seen.into_iter().eq(fabric.switch_indices()), "each once, in order");
        }
    }
}
