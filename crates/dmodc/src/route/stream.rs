//! Dmodc and Stable for tables that need not, or do not, fit into memory: computed piece by piece, handed to a
//! sink, and forgotten.

use super::row::RowMaker;
use super::tile::{ALL, ReadyTile, Selection, Spare, Work};
use super::{Coverage, Dmodc, Preprocessing, Reference, RouteError};
use crate::cost::{CostBlock, Costs, Hops, TooFar};
use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::parallel;
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
    let (spare, switches) = (Spare::new(), work.ready.groups.switch_count());
    let covered = parallel::in_stages(
        work.columns.tiles(),
        |tile| {
            let ready = ReadyTile::new((selection, work), tile, spare.take(&costs))?;
            let pieces = (0..switches).step_by(Work::rows_at_once(&ready.tile));
            Ok((ready, pieces))
        },
        |ready| (RowMaker::<S>::new(work, &ready.tile), Vec::new()),
        |ready, (maker, entries), first| {
            let (tile, seen) = (&ready.tile, ready.seen(selection));
            entries.clear();
            for at in first..(first + Work::rows_at_once(tile)).min(switches) {
                entries.extend_from_slice(maker.row(work, &seen, SwitchIndex::new(at), ALL));
            }
            each(Piece { tile, first: SwitchIndex::new(first), entries });
        },
        |ready, _| {
            spare.put(ready.costs, ready.view);
            ready.coverage
        },
    )?;
    Ok(covered.into_iter().fold(Coverage::default(), Coverage::and))
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
    let all = parallel::map(work.columns.tiles(), |tile| {
        ReadyTile::new((selection, work), tile, (Box::new(costs()), Box::<S::View>::default()))
    });
    let all: Vec<ReadyTile<Box<C>, Box<S::View>>> =
        all.into_iter().collect::<Result<_, TooFar>>().map_err(|error| E::from(error.into()))?;
    let width = work.columns.len();
    if let Some(rows) = room.checked_div(width) {
        let at_once = rows.max(parallel::threads());
        let mut rows = vec![0; width * at_once.min(work.ready.groups.switch_count())];
        let switches: Vec<SwitchIndex> = work.live.fabric.switch_indices().collect();
        for some in switches.chunks(at_once) {
            // One tile for all of these switches, then the next: its costs stay in the cache.
            let rows = &mut rows[..width * some.len()];
            let mut by_switch: Vec<&mut [u8]> = rows.chunks_exact_mut(width).collect();
            let part = parallel::piece_length(by_switch.len(), 1);
            parallel::for_each(
                by_switch.chunks_mut(part).zip(some.chunks(part)),
                |(rows, some)| {
                    for ready in &all {
                        let (tile, seen) = (&ready.tile, ready.seen(selection));
                        let mut maker = RowMaker::<S>::new(work, tile);
                        for (row, &s) in rows.iter_mut().zip(some) {
                            let entries = maker.row(work, &seen, s, ALL);
                            row[tile.columns.clone()].copy_from_slice(entries);
                        }
                    }
                },
            );
            for (&s, row) in some.iter().zip(rows.chunks_exact(width)) {
                each(s, row)?;
            }
        }
    }
    Ok(all.into_iter().map(|ready| ready.coverage).fold(Coverage::default(), Coverage::and))
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
