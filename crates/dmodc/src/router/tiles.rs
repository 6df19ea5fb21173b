//! All tiles of a router, side by side.

use rayon::prelude::*;

use super::touched::Touched;
use super::update::{Kept, Scratch, compare_tile, update_tile};
use crate::cost::{CostBlock, Costs, Hops, TooFar};
use crate::route::{Coverage, Seen, Selection, Work, coverage, write_tile};
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
        (selection, work): (&S, &Work<'_>),
        views: &mut [S::View],
        how: Whole,
    ) -> Result<TableDelta, TooFar> {
        let tiles = self.tables.tiles_mut().into_par_iter().zip(self.coverages).zip(views);
        let both = |a: TableDelta, b| Ok(a.and(b));
        let at = (selection, work);
        if self.costs.is_empty() {
            let costs = CostBlock::default;
            let route = |costs: &mut CostBlock, tile| route_tile(at, tile, costs, how);
            return tiles.map_init(costs, route).try_reduce(TableDelta::default, both);
        }
        let tiles = tiles.zip(self.costs);
        let route = |(tile, costs): (_, &mut Hops)| route_tile(at, tile, costs, how);
        tiles.map(route).try_reduce(TableDelta::default, both)
    }

    /// Routes what is touched.
    pub(super) fn update<S: Selection>(
        self,
        (selection, work): (&S, &Work<'_>),
        views: &mut [S::View],
        touched: &Touched,
    ) -> TableDelta {
        let tiles = self.tables.tiles_mut().into_par_iter();
        let tiles = tiles.zip(self.costs).zip(self.coverages).zip(views);
        tiles
            .map_init(Scratch::default, |scratch, ((((tile, entries), costs), covered), view)| {
                let kept = Kept { costs, view, covered };
                update_tile((selection, work), &tile, kept, touched, scratch, entries)
            })
            .reduce(TableDelta::default, TableDelta::and)
    }
}

type Out<'a, V> = (((Tile, &'a mut [u8]), &'a mut Coverage), &'a mut V);

fn route_tile<S: Selection, C: Costs>(
    (selection, work): (&S, &Work<'_>),
    (((tile, entries), covered), view): Out<'_, S::View>,
    costs: &mut C,
    how: Whole,
) -> Result<TableDelta, TooFar> {
    work.compute(&tile, costs)?;
    selection.look(work, &tile, costs, view)?;
    *covered = coverage(work, &tile, costs);
    let seen = Seen::new(work, &tile, &*costs, (selection, &*view));
    Ok(match how {
        Whole::Write => {
            write_tile(work, &seen, entries);
            TableDelta::default()
        }
        Whole::Compare => compare_tile(work, &seen, entries),
    })
}
