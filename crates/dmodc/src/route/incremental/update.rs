//! The entries of one tile that a change reaches.
//!
//! Costs first: what a touched switch reaches by going down is found again, and if that changed, so
//! are the switches above it; then how many hops up are needed, downwards from all of those. An entry
//! depends on the costs of its switch and of that switch's neighbours, so the destinations for which
//! some of these changed are *dirty* there. Rows of touched switches are dirty as a whole.

use std::ops::Range;

use super::marks::Marks;
use super::sweep::Sweep;
use super::touched::Touched;
use crate::cost::{Costs, Hops};
use crate::group::PortGroups;
use crate::id::SwitchIndex;
use crate::kernel::{Difference, Fields, Kernel, bits};
use crate::route::{ALL, Coverage, RowMaker, Rows, Seen, Selection, Work, coverage};
use crate::tables::{RowDelta, TableDelta, Tile};

/// What a thread keeps from tile to tile. Between tiles everything in it is 0 or empty.
#[derive(Default)]
pub(super) struct Scratch {
    sweep: Sweep,
    changed: Marks,
    dirty: Marks,
    /// Entries whose closer sets are as they were, but perhaps not what is chosen from them.
    again: Marks,
}

/// What is kept of a tile.
pub(super) struct Kept<'a, S: Selection> {
    pub(super) costs: &'a mut Hops,
    pub(super) view: &'a mut S::View,
    pub(super) covered: &'a mut Coverage,
}

/// Brings one tile up to date.
pub(super) fn update_tile<S: Selection>(
    (selection, work): (&S, &Work<'_>),
    tile: &Tile,
    kept: Kept<'_, S>,
    touched: &Touched,
    scratch: &mut Scratch,
    entries: &mut [u8],
) -> TableDelta {
    let Kept { costs, view, covered } = kept;
    let some_costs_changed = update_costs(&work.ready.groups, costs, touched, scratch);
    // Pairs of nodes are counted, too, so a node that came or went changes them in every tile.
    if some_costs_changed || touched.ranked_again || !touched.nodes.is_empty() {
        *covered = coverage(work, tile, costs);
    }
    let Scratch { dirty, again, .. } = scratch;
    for &s in &touched.rows {
        dirty.mark(s, ALL);
    }
    again.fit(work.ready.groups.switch_count());
    selection.look_again((work, tile), costs, view, dirty, again);
    let of_nodes = touched.nodes.iter().fold(0, |all, &n| all | work.target_of(tile, n));
    if of_nodes != 0 {
        for s in work.live.fabric.switch_indices() {
            dirty.mark(s, of_nodes);
        }
    }
    let mut maker = RowMaker::<S>::new(work, tile);
    let mut writer = Writer::new(work, tile);
    let dead = work.dead_columns(tile);
    let seen = Seen { tile, costs: &*costs, selection, view: &*view, dead: &dead };
    let width = tile.columns.len();
    for (s, targets, again) in dirty.iter_with(again) {
        let row = &mut entries[s.at() * width..(s.at() + 1) * width];
        if targets == 0
            && let Some(new) = maker.row_again(work, &seen, (s, row), again)
        {
            writer.replace(s, row, new);
            continue;
        }
        let targets = targets | again;
        let new = maker.row(work, &seen, s, targets);
        match targets == ALL {
            true => writer.replace(s, row, new),
            false => writer.replace_part(s, row, new, targets),
        }
    }
    again.clear();
    dirty.clear();
    writer.delta
}

/// Brings the costs up to date and marks what that makes dirty. Says whether some changed.
fn update_costs(
    groups: &PortGroups,
    costs: &mut Hops,
    touched: &Touched,
    Scratch { sweep, changed, dirty, .. }: &mut Scratch,
) -> bool {
    sweep.fit(groups);
    changed.fit(groups.switch_count());
    dirty.fit(groups.switch_count());
    for &s in &touched.groups {
        sweep.want(groups, s);
        if groups.place(s).is_none() {
            // Nobody is beside a dead switch, so nobody else changes with it.
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

/// Writes those entries of some rows that change.
pub(super) fn compare_rows<S: Selection, C: Costs>(
    work: &Work<'_>,
    seen: &Seen<'_, S, C>,
    maker: &mut RowMaker<S>,
    Rows { first, entries }: Rows<'_>,
) -> TableDelta {
    let mut writer = Writer::new(work, seen.tile);
    for (at, row) in entries.chunks_exact_mut(seen.tile.columns.len()).enumerate() {
        let s = SwitchIndex::new(first.at() + at);
        writer.replace(s, row, maker.row(work, seen, s, ALL));
    }
    writer.delta
}

/// Replaces rows of a tile and notes what that changes.
struct Writer<'a> {
    tile: &'a Tile,
    kernel: Kernel,
    /// The columns of each target, counted from the tile's first.
    spans: Vec<Range<usize>>,
    fields: Fields,
    delta: TableDelta,
}

impl<'a> Writer<'a> {
    fn new(work: &Work<'_>, tile: &'a Tile) -> Self {
        let first = tile.columns.start;
        let spans = tile.switches.clone().map(|at| work.columns.of_switch(at));
        let spans: Vec<Range<usize>> = spans.map(|s| s.start - first..s.end - first).collect();
        let fields = Fields::new(spans.iter().cloned());
        Writer { tile, kernel: work.ready.kernel, spans, fields, delta: TableDelta::default() }
    }

    fn replace(&mut self, s: SwitchIndex, row: &mut [u8], new: &[u8]) {
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
