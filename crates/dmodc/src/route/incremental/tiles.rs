//! All tiles of a router, on all threads.

use std::ops::DerefMut;

use super::touched::Touched;
use super::update::{Kept, Scratch, compare_rows, update_tile};
use crate::cost::{CostBlock, Costs, Hops, TooFar};
use crate::parallel;
use crate::route::{Coverage, ReadyTile, RowMaker, Rows, Selection, Work, write_rows};
use crate::tables::{ForwardingTables, TableDelta, Tile};

/// What a router keeps of every tile, whatever the engine.
pub(super) struct Tiles<'a> {
    pub(super) tables: &'a mut ForwardingTables,
    /// Empty where costs are not bits.
    pub(super) costs: &'a mut [Hops],
    pub(super) coverages: &'a mut [Coverage],
}

/// How all entries are written.
#[derive(Clone, Copy)]
pub(super) enum Whole {
    /// Over whatever is there.
    Write,
    /// Where they change, which is said.
    Compare,
}

impl Tiles<'_> {
    /// Routes everything.
    pub(super) fn route<S: Selection>(
        self,
        at: (&S, &Work<'_>),
        views: &mut [S::View],
        how: Whole,
    ) -> Result<TableDelta, TooFar> {
        let tiles = self.tables.tiles_mut().into_iter().zip(self.coverages).zip(views);
        if self.costs.is_empty() {
            // Costs as bytes are large, and of no use after the tile.
            let costs = || Box::new(CostBlock::default());
            let jobs = tiles.map(|((tile, covered), view)| Job { tile, covered, view, costs });
            return route(at, jobs, |costs| costs(), how);
        }
        let jobs = tiles.zip(self.costs).map(|(((tile, covered), view), costs)| Job {
            tile,
            covered,
            view,
            costs,
        });
        route(at, jobs, |costs| costs, how)
    }

    /// Routes what is touched.
    pub(super) fn update<S: Selection>(
        self,
        (selection, work): (&S, &Work<'_>),
        views: &mut [S::View],
        touched: &Touched,
    ) -> TableDelta {
        let tiles = self.tables.tiles_mut().into_iter();
        let tiles = tiles.zip(self.costs).zip(self.coverages).zip(views);
        let deltas = parallel::map_with(tiles, Scratch::default, |scratch, item| {
            let ((((tile, entries), costs), covered), view) = item;
            let kept = Kept { costs, view, covered };
            update_tile((selection, work), &tile, kept, touched, scratch, entries)
        });
        deltas.into_iter().fold(TableDelta::default(), TableDelta::and)
    }
}

/// A tile to be routed, with what the router keeps of it.
struct Job<'a, V, CostsSource> {
    tile: (Tile, &'a mut [u8]),
    covered: &'a mut Coverage,
    view: &'a mut V,
    costs: CostsSource,
}

/// Routes tiles. `costs` gives a thread that opens a tile the room for its costs.
fn route<'a, S: Selection, C: Costs, CostsSource: Send, CostsHolder>(
    (selection, work): (&S, &Work<'_>),
    jobs: impl Iterator<Item = Job<'a, S::View, CostsSource>> + Send,
    costs: impl Fn(CostsSource) -> CostsHolder + Sync,
    how: Whole,
) -> Result<TableDelta, TooFar>
where
    S::View: 'a,
    CostsHolder: DerefMut<Target = C> + Send + Sync,
{
    let deltas = parallel::in_stages(
        jobs,
        |job| {
            let (tile, entries) = job.tile;
            let held = (costs(job.costs), job.view);
            let ready = ReadyTile::new((selection, work), tile, held)?;
            job.covered.clone_from(&ready.coverage);
            let pieces = Work::pieces(&ready.tile, entries);
            Ok((ready, pieces))
        },
        |ready| RowMaker::<S>::new(work, &ready.tile),
        |ready, maker, rows: Rows<'_>| match how {
            Whole::Write => {
                write_rows(work, &ready.seen(selection), maker, rows);
                TableDelta::default()
            }
            Whole::Compare => compare_rows(work, &ready.seen(selection), maker, rows),
        },
        |_, deltas| deltas.into_iter().fold(TableDelta::default(), TableDelta::and),
    )?;
    Ok(deltas.into_iter().fold(TableDelta::default(), TableDelta::and))
}
