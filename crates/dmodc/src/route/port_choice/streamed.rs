//! Streams the tables of an engine that chooses from closer sets: they are computed piece by piece, handed to a function,
//! and not stored.

use std::ops::ControlFlow;

use super::tile::Spare;
use super::{ALL, PortChoice, Prepared, ReadyTile, RowMaker};
use crate::cost::{TileCosts, TooFar};
use crate::id::SwitchIndex;
use crate::parallel;
use crate::route::job::{RouteJob, RowBlock};
use crate::route::stream::{Piece, RowSink};
use crate::route::validity::Coverage;

/// Hands the tables to `each` piece by piece. Returns which pairs have a route.
///
/// # Errors
/// If a route is longer than costs can count.
pub(crate) fn tiles<P: PortChoice>(
    choice: &P,
    job: &RouteJob<'_>,
    each: &(dyn Fn(Piece<'_>) + Sync),
) -> Result<Coverage, TooFar> {
    let (spare, switches) = (Spare::new(), job.ready.groups.switch_count());
    let shared = choice.prepare(job);
    let prepared = Prepared { choice, shared: &shared };
    let covered = parallel::in_stages(
        job.columns.tiles(),
        |tile| {
            let (costs, state) = spare.take(job);
            let ready = ReadyTile::new(prepared, job, tile, costs, state)?;
            let blocks = (0..switches).step_by(RowBlock::row_count(&ready.tile));
            Ok((ready, blocks))
        },
        |ready| (RowMaker::<P>::new(job, &ready.tile), Vec::new()),
        |ready, (maker, entries), first| {
            let (tile, context) = (&ready.tile, ready.context(prepared));
            entries.clear();
            for at in first..(first + RowBlock::row_count(tile)).min(switches) {
                entries.extend_from_slice(maker.row(job, &context, SwitchIndex::new(at), ALL));
            }
            each(Piece { tile, first: SwitchIndex::new(first), entries });
        },
        |ready, _| {
            spare.put(ready.costs, ready.state);
            ready.coverage
        },
    )?;
    Ok(covered.into_iter().fold(Coverage::default(), Coverage::and))
}

/// The approximate number of bytes of rows that are held at once.
pub(crate) const ROWS: usize = 32 << 20;

/// Hands the whole row of each switch to `each`, holding about `room` bytes of rows at once. Returns which pairs have a
/// route.
///
/// # Errors
/// If a route is longer than costs can count; nothing has been handed out then.
pub(crate) fn rows<P: PortChoice>(
    choice: &P,
    job: &RouteJob<'_>,
    room: usize,
    each: &mut RowSink<'_>,
) -> Result<Coverage, TooFar> {
    let shared = choice.prepare(job);
    let prepared = Prepared { choice, shared: &shared };
    let all = parallel::map(job.columns.tiles(), |tile| {
        let state = Box::<P::TileState>::default();
        ReadyTile::new(prepared, job, tile, Box::new(job.ready.new_costs()), state)
    });
    let all: Vec<ReadyTile<Box<TileCosts>, Box<P::TileState>>> =
        all.into_iter().collect::<Result<_, TooFar>>()?;
    let coverages = all.iter().map(|ready| ready.coverage.clone());
    let coverage = coverages.fold(Coverage::default(), Coverage::and);
    let width = job.columns.len();
    let Some(rows) = room.checked_div(width) else { return Ok(coverage) };
    let at_once = rows.max(parallel::threads());
    let mut rows = vec![0; width * at_once.min(job.ready.groups.switch_count())];
    let switches: Vec<SwitchIndex> = job.live.fabric.switch_indices().collect();
    for some in switches.chunks(at_once) {
        // One tile for all of these switches, then the next: its costs stay in the cache.
        let rows = &mut rows[..width * some.len()];
        let mut by_switch: Vec<&mut [u8]> = rows.chunks_exact_mut(width).collect();
        let part = parallel::piece_length(by_switch.len(), 1);
        parallel::for_each(by_switch.chunks_mut(part).zip(some.chunks(part)), |(rows, some)| {
            for ready in &all {
                let (tile, context) = (&ready.tile, ready.context(prepared));
                let mut maker = RowMaker::<P>::new(job, tile);
                for (row, &s) in rows.iter_mut().zip(some) {
                    let entries = maker.row(job, &context, s, ALL);
                    row[tile.columns.clone()].copy_from_slice(entries);
                }
            }
        });
        for (&s, row) in some.iter().zip(rows.chunks_exact(width)) {
            if let ControlFlow::Break(()) = each(s, row) {
                return Ok(coverage);
            }
        }
    }
    Ok(coverage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{Degradation, Live, Pgft};
    use crate::route::Dmodc;
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
        let job = RouteJob::new(live, &ready, routing.columns());
        for room in [0, 1, 5 * routing.columns().len(), usize::MAX] {
            let mut seen = vec![];
            let mut each = |s: SwitchIndex, row: &[u8]| {
                seen.push(s);
                for tile in routing.columns().tiles() {
                    assert_eq!(&row[tile.columns.clone()], tables.row(s, &tile));
                }
                ControlFlow::Continue(())
            };
            let streamed = rows(&Dmodc, &job, room, &mut each);
            assert_eq!(streamed.expect("a PGFT is routed"), covered);
            assert!(seen.into_iter().eq(fabric.switch_indices()), "each once, in order");
        }
    }
}
