//! Updates the entries of one tile that a change affects.
//!
//! Costs come first, in two sweeps. Upwards: plane 0 (the targets below) of each touched switch is recomputed; if it
//! changes, the switches above follow. Downwards: the planes of hops up are recomputed at the touched switches, at those
//! whose plane 0 changed, and at the switches below them; if they change, the switches below follow.
//!
//! An entry is *dirty* if a cost that it depends on changed: a cost of its own switch, any cost of a switch above, or
//! plane 0 of a switch below. (Entries that go down use only plane 0 of the switches below, and entries that go up use
//! nothing of them; so a change of hops up makes no entry above dirty.) Rows of touched switches are dirty as a whole.
//!
//! An example: a cable between leaf L and switch S fails. S no longer reaches L by going down, so plane 0 of S loses
//! the bit of L; the switches above S are visited, and lose it too unless another switch below them reaches L. Then,
//! from the top downwards, the hops up to L are recomputed at L and S, at those switches above, and at all switches below any
//! of these. The entries towards L are dirty at all switches whose costs changed, at the switches below them, and at the
//! switches above those that lost L in plane 0. The rows of L and S are dirty as a whole, because their groups changed.

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
use crate::route::port_choice::{
    ALL, Cause, JobTile, MarkedRow, PortChoice, Prepared, RowMaker, TileContext,
};
use crate::tables::{RowDelta, TableDelta, Tile};

/// What a thread keeps from tile to tile. Between tiles everything in it is 0 or empty.
#[derive(Default)]
pub(super) struct UpdateScratch {
    sweep: Sweep,
    /// Entries whose switch needs more or fewer hops to their target than before.
    changed: Marks,
    /// Entries whose closer sets may have changed.
    dirty: Marks,
    /// Entries whose closer sets are unchanged, but from which another port may be chosen.
    rechoose: Marks,
}

/// A tile, its entries, and what is kept of it between re-routes.
pub(super) struct KeptTile<'a, P: PortChoice> {
    pub(super) tile: Tile,
    pub(super) costs: &'a mut TileCosts,
    pub(super) state: &'a mut P::TileState,
    pub(super) covered: &'a mut Coverage,
    pub(super) entries: &'a mut [u8],
}

/// Updates one tile, whose costs are [`Hops`], and returns what changed.
pub(super) fn update_tile<P: PortChoice>(
    Prepared { choice, shared }: Prepared<'_, P>,
    job: &RouteJob<'_>,
    kept: KeptTile<'_, P>,
    touched: &Touched,
    scratch: &mut UpdateScratch,
) -> TableDelta {
    let KeptTile { tile, costs, state, covered, entries } = kept;
    let tile = &tile;
    let TileCosts::Hops(hops) = &mut *costs else {
        unreachable!("only levelled fabrics are updated");
    };
    update_costs(&job.ready.groups, hops, touched, scratch);
    let UpdateScratch { changed, dirty, rechoose, .. } = scratch;
    let counts_dividers = touched.ranked_again || choice.uses_dividers(shared);
    for &s in if counts_dividers { &touched.rows } else { &touched.groups } {
        dirty.mark(s, ALL);
    }
    rechoose.fit(job.ready.groups.switch_count());
    choice.update_state(JobTile { job, shared, tile }, hops, state, dirty, rechoose);
    // Pairs of nodes are counted, too, so a node that came or went changes them in every tile.
    let has_nodes = |(s, _)| !job.live.fabric.nodes_of(s).is_empty();
    if changed.iter().any(has_nodes) || touched.ranked_again || !touched.nodes.is_empty() {
        *covered = Coverage::of_tile(job, tile, costs);
    }
    let of_nodes = touched.nodes.iter().fold(0, |all, &n| all | job.target_of(tile, n));
    if of_nodes != 0 {
        for s in job.live.fabric.switch_indices() {
            dirty.mark(s, of_nodes);
        }
    }
    let dead_columns = job.dead_columns(tile);
    let context = TileContext { tile, costs, choice, shared, state, dead_columns: &dead_columns };
    let UpdateScratch { changed, dirty, rechoose, .. } = scratch;
    let only_faults = touched.only_faults;
    let marked = MarkedRows { changed, dirty, rechoose, only_faults };
    let delta = rewrite_rows(job, &context, marked, entries);
    for marks in [changed, dirty, rechoose] {
        marks.clear();
    }
    delta
}

/// How many rows ahead of the one that is computed are brought into the cache. Rows that change are far apart in large tables,
/// and most of the time of an update would be spent waiting for memory.
const ROWS_AHEAD: usize = 2;

/// Computes the marked entries again, writes those that differ, and returns which these are.
fn rewrite_rows<P: PortChoice>(
    job: &RouteJob<'_>,
    context: &TileContext<'_, P>,
    marked: MarkedRows<'_>,
    entries: &mut [u8],
) -> TableDelta {
    let tile = context.tile;
    let mut maker = RowMaker::<P>::new(job, tile);
    let mut writer = DeltaWriter::new(job, tile);
    let width = tile.columns.len();
    let rows: Vec<MarkedRow> = marked.iter().collect();
    writer.delta.rows.reserve(rows.len());
    for (at, &marked) in rows.iter().enumerate() {
        if let Some(next) = rows.get(at + ROWS_AHEAD) {
            writer.prefetch(next, &entries[next.s.at() * width..][..width]);
        }
        let MarkedRow { s, targets, .. } = marked;
        let row = &mut entries[s.at() * width..(s.at() + 1) * width];
        if let Some(difference) = maker.rechoose(job, context, marked, row) {
            writer.note(s, difference);
            continue;
        }
        let new = maker.row(job, context, s, targets);
        match targets == ALL {
            true => writer.replace(s, row, new),
            false => writer.replace_part(s, row, new, targets),
        }
    }
    writer.delta
}

/// The rows of a tile that have marks.
#[derive(Clone, Copy)]
struct MarkedRows<'a> {
    /// As in [`UpdateScratch`].
    changed: &'a Marks,
    dirty: &'a Marks,
    rechoose: &'a Marks,
    /// Whether nothing recovered.
    only_faults: bool,
}

impl MarkedRows<'_> {
    /// Returns these rows, ascending.
    #[inline(always)]
    fn iter(&self) -> impl Iterator<Item = MarkedRow> {
        self.dirty.iter_with(self.rechoose).map(|(s, dirty, rechosen)| {
            let cause = match dirty {
                0 => Some(Cause::OtherSwitches),
                // As long as a switch needs as many hops as before, a fault can only take groups from its closer sets.
                _ if self.only_faults && self.changed.of(s) == 0 => Some(Cause::LostGroups),
                _ => None,
            };
            MarkedRow { s, targets: dirty | rechosen, cause }
        })
    }
}

/// Updates the costs. Marks those that changed, and the entries that this makes dirty.
fn update_costs(
    groups: &PortGroups,
    costs: &mut Hops,
    touched: &Touched,
    scratch: &mut UpdateScratch,
) {
    scratch.sweep.fit(groups);
    scratch.changed.fit(groups.switch_count());
    scratch.dirty.fit(groups.switch_count());
    update_down_costs(groups, costs, touched, scratch);
    update_up_costs(groups, costs, touched, scratch);
    let UpdateScratch { changed, dirty, .. } = scratch;
    for (s, targets) in changed.iter() {
        dirty.mark(s, targets);
        for &below in groups.below(s).peers {
            dirty.mark(below, targets);
        }
    }
}

/// Updates plane 0 from the touched switches upwards. Marks what changed, and makes it dirty at the switches above.
fn update_down_costs(
    groups: &PortGroups,
    costs: &mut Hops,
    touched: &Touched,
    UpdateScratch { sweep, changed, dirty, .. }: &mut UpdateScratch,
) {
    for &s in &touched.groups {
        sweep.add(groups, s);
        if groups.place(s).is_none() {
            // A failed switch has no groups, so nothing follows from its costs. The switches next to it are touched
            // themselves.
            changed.mark(s, costs.refresh_down(groups, s) | costs.refresh_up(groups, s));
        }
    }
    sweep.upwards(groups, |sweep, s| {
        let targets = costs.refresh_down(groups, s);
        if targets != 0 {
            changed.mark(s, targets);
            for &above in groups.above(s).peers {
                sweep.add(groups, above);
                dirty.mark(above, targets);
            }
        }
    });
}

/// Updates the planes of hops up, downwards from the touched switches and those whose plane 0 changed. Marks what changed.
fn update_up_costs(
    groups: &PortGroups,
    costs: &mut Hops,
    touched: &Touched,
    UpdateScratch { sweep, changed, .. }: &mut UpdateScratch,
) {
    for s in touched.groups.iter().copied().chain(changed.iter().map(|(s, _)| s)) {
        sweep.add(groups, s);
    }
    for (s, _) in changed.iter() {
        for &below in groups.below(s).peers {
            sweep.add(groups, below);
        }
    }
    sweep.downwards(groups, |sweep, s| {
        let targets = costs.refresh_up(groups, s);
        if targets != 0 {
            changed.mark(s, targets);
            for &below in groups.below(s).peers {
                sweep.add(groups, below);
            }
        }
    });
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

    /// Starts to load the marked entries of a row.
    fn prefetch(&self, marked: &MarkedRow, row: &[u8]) {
        match marked.cause {
            None => self.kernel.prefetch(row),
            Some(Cause::OtherSwitches) => {
                // Neighbouring targets often share a cache line, which is asked for once.
                let mut asked_for = 0;
                for bit in bits(marked.targets & self.tile.targets()) {
                    let Range { start, end } = self.spans[bit];
                    if end > asked_for {
                        self.kernel.prefetch(&row[start.max(asked_for)..end]);
                        asked_for = end.next_multiple_of(64);
                    }
                }
            }
            // Few of the targets have lost entries; which ones is not known yet.
            Some(Cause::LostGroups) => {}
        }
    }

    /// Replaces a row if it differs.
    pub(super) fn replace(&mut self, s: SwitchIndex, row: &mut [u8], new: &[u8]) {
        let difference = self.kernel.differ(row, new, &self.fields);
        if difference.entries > 0 {
            row.copy_from_slice(new);
        }
        self.note(s, difference);
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
        self.note(s, difference);
    }

    /// Notes what changed in a row, if anything did.
    fn note(&mut self, switch: SwitchIndex, Difference { entries, targets }: Difference) {
        if entries == 0 {
            return;
        }
        self.delta.rows.push(RowDelta { switch, tile: self.tile.index as u32, targets });
        self.delta.entries += entries;
    }
}
