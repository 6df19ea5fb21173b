//! The entries of one tile that a change affects.
//!
//! Costs come first. What a touched switch reaches by going down is found again, and if that changed, so are the
//! switches above it; then how many hops up are needed, downwards from all of those. An entry depends on the costs
//! of its switch and of that switch's neighbours, so the destinations for which some of these changed are *dirty*
//! there. Rows of touched switches are dirty as a whole.
//!
//! An example: a cable between leaf L and switch S fails. S no longer reaches L by going down, so plane 0 of S loses
//! the bit of L; the switches above S are visited, and lose it too unless another switch below them reaches L. Then,
//! from the top downwards, every switch that sees such a switch above or below finds its hops up to L again. The
//! entries towards L are dirty at all switches that changed and at their neighbours, and the rows of L and S
//! are dirty as a whole, because their groups changed.

use std::ops::Range;

use super::sweep::Sweep;
use super::touched::Touched;
use crate::bits::bits;
use crate::cost::{Hops, TileCosts};
use crate::group::PortGroups;
use crate::id::SwitchIndex;
use crate::kernel::{Difference, Fields, Kernel};
use crate::route::Coverage;
use crate::route::job::{RouteJob, RowBlock};
use crate::route::marks::Marks;
use crate::route::port_choice::{ALL, JobTile, PortChoice, RowMaker, TileContext};
use crate::tables::{RowDelta, TableDelta, Tile};

/// What a thread keeps from tile to tile. Between tiles everything in it is 0 or empty.
#[derive(Default)]
pub(super) struct UpdateScratch {
    sweep: Sweep,
    changed: Marks,
    dirty: Marks,
    /// Entries whose closer sets are unchanged, but perhaps not what is chosen from them.
    choose_again: Marks,
}

/// A tile, its entries, and what is kept of it.
pub(super) struct KeptTile<'a, P: PortChoice> {
    pub(super) tile: &'a Tile,
    pub(super) costs: &'a mut TileCosts,
    pub(super) state: &'a mut P::TileState,
    pub(super) covered: &'a mut Coverage,
    pub(super) entries: &'a mut [u8],
}

/// Updates one tile, whose costs are [`Hops`], and returns what changed.
pub(super) fn update_tile<P: PortChoice>(
    choice: &P,
    job: &RouteJob<'_>,
    kept: KeptTile<'_, P>,
    touched: &Touched,
    scratch: &mut UpdateScratch,
) -> TableDelta {
    let KeptTile { tile, costs, state, covered, entries } = kept;
    let TileCosts::Hops(hops) = &mut *costs else {
        unreachable!("only levelled fabrics are updated");
    };
    let some_costs_changed = update_costs(&job.ready.groups, hops, touched, scratch);
    let UpdateScratch { dirty, choose_again, .. } = scratch;
    for &s in &touched.rows {
        dirty.mark(s, ALL);
    }
    choose_again.fit(job.ready.groups.switch_count());
    choice.update_state(JobTile { job, tile }, hops, state, dirty, choose_again);
    // Pairs of nodes are counted, too, so a node that came or went changes them in every tile.
    if some_costs_changed || touched.ranked_again || !touched.nodes.is_empty() {
        *covered = Coverage::of_tile(job, tile, costs);
    }
    let of_nodes = touched.nodes.iter().fold(0, |all, &n| all | job.target_of(tile, n));
    if of_nodes != 0 {
        for s in job.live.fabric.switch_indices() {
            dirty.mark(s, of_nodes);
        }
    }
    let mut maker = RowMaker::<P>::new(job, tile);
    let mut writer = DeltaWriter::new(job, tile);
    let dead_columns = job.dead_columns(tile);
    let context = TileContext { tile, costs, choice, state, dead_columns: &dead_columns };
    let width = tile.columns.len();
    for (s, targets, again) in dirty.iter_with(choose_again) {
        let row = &mut entries[s.at() * width..(s.at() + 1) * width];
        if targets == 0
            && let Some(new) = maker.choose_again(job, &context, s, row, again)
        {
            writer.replace(s, row, new);
            continue;
        }
        let targets = targets | again;
        let new = maker.row(job, &context, s, targets);
        match targets == ALL {
            true => writer.replace(s, row, new),
            false => writer.replace_part(s, row, new, targets),
        }
    }
    choose_again.clear();
    dirty.clear();
    writer.delta
}

/// Updates the costs and marks the entries that this makes dirty. Returns whether some cost changed.
fn update_costs(
    groups: &PortGroups,
    costs: &mut Hops,
    touched: &Touched,
    UpdateScratch { sweep, changed, dirty, .. }: &mut UpdateScratch,
) -> bool {
    sweep.fit(groups);
    changed.fit(groups.switch_count());
    dirty.fit(groups.switch_count());
    for &s in &touched.groups {
        sweep.want(groups, s);
        if groups.place(s).is_none() {
            // A failed switch has no neighbours, so nobody else changes with it.
            changed.mark(s, costs.refresh_down(groups, s) | costs.refresh_up(groups, s));
        }
    }
    sweep.upwards(groups, |sweep, s| {
        let targets = costs.refresh_down(groups, s);
        if targets != 0 {
            changed.mark(s, targets);
            for &above in groups.above(s).peers {
                sweep.want(groups, above);
                dirty.mark(above, targets);
            }
        }
    });
    for s in touched.groups.iter().copied().chain(changed.iter().map(|(s, _)| s)) {
        sweep.want(groups, s);
    }
    for (s, _) in changed.iter() {
        for &below in groups.below(s).peers {
            sweep.want(groups, below);
        }
    }
    sweep.downwards(groups, |sweep, s| {
        let targets = costs.refresh_up(groups, s);
        if targets != 0 {
            changed.mark(s, targets);
            for &below in groups.below(s).peers {
                sweep.want(groups, below);
            }
        }
    });
    let mut some = false;
    for (s, targets) in changed.iter() {
        some = true;
        dirty.mark(s, targets);
        for &below in groups.below(s).peers {
            dirty.mark(below, targets);
        }
    }
    changed.clear();
    some
}

/// Writes the entries of some rows that change, and returns which these are.
pub(super) fn compare_rows<P: PortChoice>(
    job: &RouteJob<'_>,
    context: &TileContext<'_, P>,
    maker: &mut RowMaker<P>,
    RowBlock { first, entries }: RowBlock<'_>,
) -> TableDelta {
    let mut writer = DeltaWriter::new(job, context.tile);
    for (at, row) in entries.chunks_exact_mut(context.tile.columns.len()).enumerate() {
        let s = SwitchIndex::new(first.at() + at);
        writer.replace(s, row, maker.row(job, context, s, ALL));
    }
    writer.delta
}

/// Replaces rows of a tile and notes what that changes.
pub(super) struct DeltaWriter<'a> {
    tile: &'a Tile,
    kernel: Kernel,
    /// The columns of each target, counted from the tile's first.
    spans: Vec<Range<usize>>,
    fields: Fields,
    pub(super) delta: TableDelta,
}

impl<'a> DeltaWriter<'a> {
    pub(super) fn new(job: &RouteJob<'_>, tile: &'a Tile) -> Self {
        let first = tile.columns.start;
        let spans = tile.switches.clone().map(|at| job.columns.of_switch(at));
        let spans: Vec<Range<usize>> = spans.map(|s| s.start - first..s.end - first).collect();
        let fields = Fields::new(spans.iter().cloned());
        DeltaWriter { tile, kernel: job.ready.kernel, spans, fields, delta: TableDelta::default() }
    }

    /// Replaces a row if it differs.
    pub(super) fn replace(&mut self, s: SwitchIndex, row: &mut [u8], new: &[u8]) {
        let difference = self.kernel.differ(row, new, &self.fields);
        if difference.entries > 0 {
            row.copy_from_slice(new);
            self.note(s, difference);
        }
    }

    /// Replaces the entries of the dirty targets alone.
    fn replace_part(&mut self, s: SwitchIndex, row: &mut [u8], new: &[u8], dirty: u64) {
        let mut difference = Difference::default();
        for bit in bits(dirty & self.tile.targets()) {
            let span = self.spans[bit].clone();
            let (row, new) = (&mut row[span.clone()], &new[span]);
            let entries = row.iter().zip(new).filter(|(old, new)| old != new).count();
            if entries > 0 {
                row.copy_from_slice(new);
                difference.targets |= 1 << bit;
                difference.entries += entries as u64;
            }
        }
        if difference.entries > 0 {
            self.note(s, difference);
        }
    }

    fn note(&mut self, switch: SwitchIndex, Difference { entries, targets }: Difference) {
        self.delta.rows.push(RowDelta { switch, tile: self.tile.index as u32, targets });
        self.delta.entries += entries;
    }
}
