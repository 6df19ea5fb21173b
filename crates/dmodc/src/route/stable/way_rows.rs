//! Rows of switches with several ways down to targets, such as the spine chips of directors: all targets are below, and
//! [ways](super::ways_down) stand for groups. So lost entries are found as those of the [fast path](super::fast_rows) are.
//!
//! A row takes this path if the costs of both states are [`Hops`](crate::cost::Hops), the present is a subset of the reference, and:
//!
//! 1. all entries of the row are requested;
//! 2. in the reference, no target was above, and those that had several ways had equally many, at most 32;
//! 3. the reference had at most 64 groups below, with single ports;
//! 4. no target is above now;
//! 5. no target whose entries are written again has nodes with several LIDs.

use std::ops::Range;

use super::lost_pieces::{LostRow, PieceFinder, PieceKey, Wanted};
use super::reference_row::ReferenceRows;
use super::upswitches::FastContext;
use super::way_sets::{WayRow, WaySets};
use super::ways_down::reached_down;
use crate::bits::bits;
use crate::cost::CloserSets;
use crate::kernel::{Cycles, LostPieces};
use crate::route::port_choice::{ALL, RowContext, RowRequest};
use crate::tables::NO_ROUTE;

/// Computes such rows. As with [`FastRows`](super::fast_rows::FastRows), a value must be used for one tile only, because its caches do
/// not compare the tile.
#[derive(Default)]
pub(super) struct WayRows {
    /// The closer sets of the reference.
    was: CloserSets,
    sets: WaySets,
    /// For rows that have all their groups, and for others. Neighbouring rows of the first kind most often have the same pieces,
    /// except for σ.
    finders: [PieceFinder; 2],
    cycles: Cycles,
}

impl WayRows {
    /// Writes the entries of a row. Returns the bit of the target that is this switch (0 if none), or `None`, with the row
    /// untouched, if the row needs the [general path](super::general_rows).
    pub(super) fn fill(
        &mut self,
        context: FastContext<'_>,
        reference_rows: &mut ReferenceRows,
        request: RowRequest<'_>,
        row: &mut [u8],
    ) -> Option<u64> {
        let FastContext { reference, ready, view, hops, switch: s, .. } = context;
        if request.targets != ALL || reference.ready.ranking.is_leaf(s) {
            return None;
        }
        let ways = view.compared(reference).live_ways(ready, s)?;
        let (own, down) = (hops.own(s), reached_down(hops, s));
        // Groups have single ports, so no group can be thinned: every loss is the loss of a whole group.
        let displaced = view.harmed[s.at()];
        let rewritten = displaced & down & view.needy[s.at()];
        if hops.reached(s) != down || rewritten & view.with_several_lids != 0 {
            return None;
        }
        view.note_displaced(s, ALL, displaced);
        let number = view.reference_tile.row_number(s);
        if !reference_rows.copy(number, request, row) {
            view.reference_tile.closer(reference, s, &mut self.was);
            let (kernel, closer) = (ready.kernel, &self.was);
            let then = RowContext { ready: &reference.ready, switch: s, closer, kernel };
            reference_rows.fill(number, then, request, row);
        }
        for segment in request.segments_of(ways.ways.all_targets() & !down) {
            let (start, length) = (segment.start as usize, segment.length as usize);
            row[start..start + length].fill(NO_ROUTE);
        }
        if rewritten != 0 {
            self.write_lost(WayRow { context, request, ways, rewritten }, row);
        }
        Some(own)
    }

    /// Writes the lost entries of a row that has those of the reference.
    fn write_lost(&mut self, way_row: WayRow<'_>, row: &mut [u8]) {
        self.sets.find(way_row);
        let finder = self.find_pieces(way_row);
        let WayRows { sets, finders, cycles, .. } = self;
        let WaySets { rounds, classes, .. } = sets;
        let (kernel, pi) = (way_row.context.ready.kernel, way_row.key().pi);
        let pieces = finders[finder].pieces.pieces(rounds);
        for (class, range) in way_row.ways.ways.classes.iter().zip(classes) {
            if class.targets & way_row.rewritten == 0 {
                continue;
            }
            let ports = class.ports(way_row.below());
            let part = part(pieces, range.clone());
            if pi == 1 {
                kernel.write_lost(&ports, part, cycles, row);
                continue;
            }
            kernel.each_lost(
                part,
                #[inline(always)]
                |at, mut way| {
                    for slot in bits(part.lost[at]) {
                        rounds.write(range.start + at, slot, ports[way & 63], row);
                        way = next_way(part.groups[at], way);
                    }
                },
            );
        }
    }

    /// Finds the pieces of a row. Returns the index of the finder that has them.
    fn find_pieces(&mut self, row: WayRow<'_>) -> usize {
        let WayRows { sets, finders, .. } = self;
        let FastContext { reference, ready, switch, .. } = row.context;
        let (kernel, sigma, wanted) = (ready.kernel, reference.sigma(switch), Wanted::All);
        let at = usize::from(!row.has_all());
        let finder = &mut finders[at];
        let key = PieceKey {
            generation: sets.generation,
            rewritten: row.rewritten,
            live: row.ways.live,
            wanted,
        };
        if finder.turn(kernel, key, sigma) {
            return at;
        }
        let all_slots = u64::MAX >> (64 - row.ways.ways.count);
        // Ways that the row lost are left out of the sets already.
        let lost_row = LostRow { rewritten: row.rewritten, live: all_slots, all_slots, sigma };
        let (rounds, of_row) = sets.of_row(row);
        let needs_kept = finder.find(kernel, rounds, of_row, lost_row, wanted);
        if needs_kept && !sets.knows_kept {
            sets.find_kept(row);
            let (rounds, of_row) = sets.of_row(row);
            finder.find(kernel, rounds, of_row, lost_row, wanted);
        }
        finder.note(key, sigma);
        at
    }
}

/// Returns some of the pieces.
fn part(pieces: LostPieces<'_>, range: Range<usize>) -> LostPieces<'_> {
    LostPieces {
        starts: &pieces.starts[range.clone()],
        lost: &pieces.lost[range.clone()],
        groups: &pieces.groups[range.clone()],
        at: &pieces.at[range.clone()],
        targets: &pieces.targets[range],
    }
}

/// Returns the member of a set after this one, or the first one after the last.
#[inline(always)]
fn next_way(ways: u64, way: usize) -> usize {
    // Shifted twice, as a shift by 64 is none.
    let later = ways & (u64::MAX << (way & 63) << 1);
    let from = if later == 0 { ways } else { later };
    from.trailing_zeros() as usize
}
