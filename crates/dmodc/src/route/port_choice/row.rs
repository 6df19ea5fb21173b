//! One row: the entries of one switch for one tile.

use super::{Cause, JobSwitch, PortChoice, Rechosen};
use crate::bits::bits;
use crate::cost::{CloserSets, TileCosts};
use crate::group::Group;
use crate::id::SwitchIndex;
use crate::kernel::{Difference, Kernel, SLACK, chains};
use crate::preprocess::Preprocessing;
use crate::route::job::RouteJob;
use crate::tables::{Columns, Lines, NO_ROUTE, Segment, Tile};

/// Every target of a tile.
pub(crate) const ALL: u64 = u64::MAX;

/// Which entries of a row are to be written.
#[derive(Clone, Copy)]
pub(crate) struct RowRequest<'a> {
    /// The destination switches: a bit for each.
    pub(crate) targets: u64,
    /// The entries of these targets, ascending.
    pub(crate) segments: &'a [Segment],
    /// Which targets continue the numbers of the target before: see [`chains`].
    pub(crate) chained: u64,
    columns: &'a Columns,
    tile: &'a Tile,
}

impl<'a> RowRequest<'a> {
    /// Returns the segments of some targets, one target after the other.
    #[inline(always)]
    pub(crate) fn segments_of(self, targets: u64) -> impl Iterator<Item = &'a Segment> {
        bits(targets).flat_map(move |bit| {
            let at = self.tile.switches.start + bit;
            self.columns.segments(at..at + 1)
        })
    }

    /// Returns the segments of all targets of the tile, requested or not.
    pub(crate) fn segments_of_tile(self) -> &'a [Segment] {
        self.columns.segments(self.tile.switches.clone())
    }
}

/// The switch of a row, with the preprocessing and the closer sets that its entries follow from.
#[derive(Clone, Copy)]
pub(crate) struct RowContext<'a> {
    pub(crate) ready: &'a Preprocessing,
    pub(crate) switch: SwitchIndex,
    /// The closer sets of all requested targets.
    pub(crate) closer: &'a CloserSets,
    pub(crate) kernel: Kernel,
}

/// What the rows of one tile are computed from.
pub(crate) struct TileContext<'a, P: PortChoice> {
    pub(crate) tile: &'a Tile,
    pub(crate) costs: &'a TileCosts,
    pub(crate) choice: &'a P,
    pub(crate) shared: &'a P::JobState,
    pub(crate) state: &'a P::TileState,
    /// The columns of nodes that are cut off.
    pub(crate) dead_columns: &'a [usize],
}

/// Computes rows of one tile.
pub(crate) struct RowMaker<P: PortChoice> {
    closer: CloserSets,
    scratch: P::Scratch,
    chained: u64,
    segments: Vec<Segment>,
    row: Lines,
}

impl<P: PortChoice> RowMaker<P> {
    pub(crate) fn new(job: &RouteJob<'_>, tile: &Tile) -> Self {
        RowMaker {
            closer: CloserSets::default(),
            chained: chains(job.columns.segments(tile.switches.clone())),
            scratch: P::Scratch::default(),
            segments: vec![],
            row: Lines::new(tile.columns.len() + SLACK, NO_ROUTE).expect("a row is small"),
        }
    }

    /// Returns the entries of switch `s` for some targets of the tile, most often all of them. Entries of other
    /// targets mean nothing.
    pub(crate) fn row(
        &mut self,
        job: &RouteJob<'_>,
        context: &TileContext<'_, P>,
        s: SwitchIndex,
        targets: u64,
    ) -> &[u8] {
        let (tile, kernel) = (context.tile, job.ready.kernel);
        let row = self.row.bytes_mut();
        if !job.live.switch(s) {
            row.fill(NO_ROUTE);
            return &row[..tile.columns.len()];
        }
        let all = targets & tile.targets() == tile.targets();
        let mut request = RowRequest {
            targets: ALL,
            segments: job.columns.segments(tile.switches.clone()),
            chained: self.chained,
            columns: job.columns,
            tile,
        };
        if !all {
            self.segments.clear();
            self.segments.extend(request.segments_of(targets & tile.targets()));
            request = RowRequest { targets, segments: &self.segments, chained: 0, ..request };
        }
        let (choice, state, scratch) = (context.choice, context.state, &mut self.scratch);
        let TileContext { shared, costs, .. } = *context;
        let switch = JobSwitch { job, shared, costs, switch: s };
        let own = choice.fill_row_fast(switch, state, request, scratch, row).unwrap_or_else(|| {
            kernel.run(
                #[inline(always)]
                || context.costs.closer(&job.ready.groups, s, &mut self.closer),
            );
            if !all {
                self.closer.restrict(targets);
            }
            let place = RowContext { ready: job.ready, switch: s, closer: &self.closer, kernel };
            choice.fill_row(place, state, request, scratch, row);
            self.closer.own
        });
        move_entries(job, context, JobRow { s, targets }, &mut self.closer, row);
        deliver(job, tile, own, row);
        for &column in context.dead_columns {
            row[column] = NO_ROUTE;
        }
        &row[..tile.columns.len()]
    }

    /// Chooses the marked entries of a row again, as far as their cause may have changed them. Writes those that differ, and
    /// returns which these are. Returns `None`, with the row untouched, if they have no cause, the switch is dead, or the fast path
    /// does not apply.
    pub(crate) fn rechoose(
        &mut self,
        job: &RouteJob<'_>,
        context: &TileContext<'_, P>,
        MarkedRow { s, targets, cause }: MarkedRow,
        row: &mut [u8],
    ) -> Option<Difference> {
        let cause = cause?;
        if !job.live.switch(s) {
            // Its own entries end with it, although the costs of a switch without cables stay the same.
            return None;
        }
        let has_moved_entries = !context.choice.moved_entries(context.tile, s).is_empty();
        if !context.dead_columns.is_empty() || has_moved_entries {
            return None;
        }
        let request = RowRequest {
            targets,
            segments: &[],
            chained: 0,
            columns: job.columns,
            tile: context.tile,
        };
        let TileContext { shared, costs, .. } = *context;
        let switch = JobSwitch { job, shared, costs, switch: s };
        let rechosen = Rechosen { request, cause };
        context.choice.rechoose(switch, context.state, rechosen, &mut self.scratch, row)
    }
}

/// Some entries of a row that may be others after a change.
#[derive(Clone, Copy)]
pub(crate) struct MarkedRow {
    pub(crate) s: SwitchIndex,
    pub(crate) targets: u64,
    /// Why some of them may be others; `None` if all of them are to be computed.
    pub(crate) cause: Option<Cause>,
}

/// Some targets of a row.
#[derive(Clone, Copy)]
struct JobRow {
    s: SwitchIndex,
    targets: u64,
}

/// Writes the entries of a row that have other ports than the engine's formula gives them, where these ports are in P(s, d).
fn move_entries<P: PortChoice>(
    job: &RouteJob<'_>,
    context: &TileContext<'_, P>,
    JobRow { s, targets }: JobRow,
    closer: &mut CloserSets,
    row: &mut [u8],
) {
    let moved = context.choice.moved_entries(context.tile, s);
    if moved.is_empty() {
        return;
    }
    let groups = &job.ready.groups;
    context.costs.closer(groups, s, closer);
    let up = groups.up(s).zip(&closer.through_up);
    let down = groups.down(s).zip(&closer.through_down);
    for one in moved.iter().filter(|one| one.target & targets != 0) {
        let has_port = |(group, closer): (Group<'_>, &u64)| {
            closer & one.target != 0 && group.ports.contains(&one.port)
        };
        if up.clone().chain(down.clone()).any(has_port) {
            row[one.column - context.tile.columns.start] = one.port.0;
        }
    }
}

/// Writes the entries of the destination switch itself: each destination has its own port there.
fn deliver(job: &RouteJob<'_>, tile: &Tile, own: u64, row: &mut [u8]) {
    for bit in bits(own) {
        for column in job.columns.of_switch(tile.switches.start + bit) {
            row[column - tile.columns.start] = job.columns.destinations()[column].port.0;
        }
    }
}
