//! One row: the entries of one switch for one tile.

use super::tile::{ALL, Place, Seen, Selection, Wanted, Work};
use crate::cost::{Closer, Costs};
use crate::id::SwitchIndex;
use crate::kernel::{SLACK, bits, chains};
use crate::tables::{Lines, NO_ROUTE, Segment, Tile};

/// Puts rows together. Made for one tile.
pub(crate) struct RowMaker<S: Selection> {
    closer: Closer,
    scratch: S::Scratch,
    chained: u64,
    segments: Vec<Segment>,
    row: Lines,
}

impl<S: Selection> RowMaker<S> {
    pub(crate) fn new(work: &Work<'_>, tile: &Tile) -> Self {
        RowMaker {
            closer: Closer::default(),
            chained: chains(work.columns.segments(tile.switches.clone())),
            scratch: S::Scratch::default(),
            segments: vec![],
            row: Lines::new(tile.columns.len() + SLACK, NO_ROUTE).expect("a row is small"),
        }
    }

    /// The entries of switch `s` for some targets of the tile, most often all of them; what stands
    /// between those means nothing.
    pub(crate) fn row<C: Costs>(
        &mut self,
        work: &Work<'_>,
        seen: &Seen<'_, S, C>,
        s: SwitchIndex,
        targets: u64,
    ) -> &[u8] {
        let (tile, kernel) = (seen.tile, work.ready.kernel);
        let row = self.row.bytes_mut();
        if !work.live.switch(s) {
            row.fill(NO_ROUTE);
            return &row[..tile.columns.len()];
        }
        let (columns, again) = (work.columns, false);
        let all = targets & tile.targets() == tile.targets();
        let wanted = if all {
            let segments = work.columns.segments(tile.switches.clone());
            Wanted { targets: ALL, segments, chained: self.chained, again, columns, tile }
        } else {
            self.segments.clear();
            for bit in bits(targets & tile.targets()) {
                let at = tile.switches.start + bit;
                self.segments.extend_from_slice(work.columns.segments(at..at + 1));
            }
            Wanted { targets, segments: &self.segments, chained: 0, again, columns, tile }
        };
        let (by, scratch) = ((work, seen.costs, s), &mut self.scratch);
        let own = seen.selection.select_by_costs(by, seen.view, wanted, scratch, row);
        let own = own.unwrap_or_else(|| {
            kernel.run(|| seen.costs.closer(&work.ready.groups, s, &mut self.closer));
            if !all {
                self.closer.restrict(targets);
            }
            let place = Place { ready: work.ready, s, closer: &self.closer, kernel };
            seen.selection.select(place, seen.view, wanted, scratch, row);
            self.closer.own
        });
        deliver(work, tile, own, row);
        for &column in seen.dead {
            row[column] = NO_ROUTE;
        }
        &row[..tile.columns.len()]
    }

    /// The entries of a live switch, of which some may be chosen anew, though no closer set changed; nothing
    /// if that cannot be done without making the row.
    pub(crate) fn row_again<C: Costs>(
        &mut self,
        work: &Work<'_>,
        seen: &Seen<'_, S, C>,
        (s, old): (SwitchIndex, &[u8]),
        targets: u64,
    ) -> Option<&[u8]> {
        let (columns, tile) = (work.columns, seen.tile);
        let wanted = Wanted { targets, segments: &[], chained: 0, again: true, columns, tile };
        let row = self.row.bytes_mut();
        row[..old.len()].copy_from_slice(old);
        let (by, scratch) = ((work, seen.costs, s), &mut self.scratch);
        let can = seen.selection.select_by_costs(by, seen.view, wanted, scratch, row);
        for &column in seen.dead {
            row[column] = NO_ROUTE;
        }
        can.map(|_| &row[..old.len()])
    }
}

/// At the destination switch itself, each destination has its port.
fn deliver(work: &Work<'_>, tile: &Tile, own: u64, row: &mut [u8]) {
    for bit in bits(own) {
        for column in work.columns.of_switch(tile.switches.start + bit) {
            row[column - tile.columns.start] = work.columns.destinations()[column].port.0;
        }
    }
}
