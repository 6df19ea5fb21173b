//! Rows of the reference. Every row of `stable` begins as one.

use crate::cost::CloserSets;
use crate::group::Side;
use crate::id::PortNumber;
use crate::preprocess::SwitchDividers;
use crate::route::port_choice::{ALL, ByFormula, RowContext, RowRequest};

/// Writes rows of the reference, and keeps the last one. Neighbouring leaves have the same row if they are cabled alike, and
/// so have the spine chips of a director. So the next row is most often a copy.
///
/// It must be used for one tile only, as part of the scratch of a `RowMaker` is: the tile is not compared.
#[derive(Default)]
pub(super) struct ReferenceRows {
    pub(super) formula: ByFormula,
    last: LastRow,
}

/// The last complete row, and what it was computed from.
#[derive(Default)]
struct LastRow {
    /// `None` if no row is kept.
    dividers: Option<SwitchDividers>,
    up: u64,
    down: u64,
    above: SideKey,
    below: SideKey,
    row: Vec<u8>,
}

/// What the entries of one direction depend on besides the divider and the targets.
#[derive(Default)]
struct SideKey {
    /// The groups all have equally many ports, so that this number and `ports` determine the ports of each.
    groups: usize,
    ports: Vec<PortNumber>,
    /// For each group, the targets that it is closer to; empty if each is closer to all of the direction.
    through: Vec<u64>,
}

impl SideKey {
    /// Returns whether this is the key of a direction with these targets, of which there are some.
    fn is(&self, side: Side<'_>, through: &[u64]) -> bool {
        self.groups == side.peers.len() && self.ports == side.ports && self.through == through
    }

    fn set(&mut self, side: Side<'_>, through: &[u64]) {
        self.groups = side.peers.len();
        self.ports.clear();
        self.ports.extend_from_slice(side.ports);
        self.through.clear();
        self.through.extend_from_slice(through);
    }
}

/// Returns the closer sets of the direction upwards as they are compared.
fn through_up(was: &CloserSets) -> &[u64] {
    if was.up_is_uniform { &[] } else { &was.through_up }
}

impl ReferenceRows {
    /// Writes the requested entries of a row, from the state and the closer sets of the reference.
    pub(super) fn fill(
        &mut self,
        context: RowContext<'_>,
        request: RowRequest<'_>,
        row: &mut [u8],
    ) {
        let RowContext { ready, switch: s, closer: was, .. } = context;
        let dividers = ready.level_dividers(s);
        if request.targets != ALL {
            self.formula.fill(context, dividers, request, row);
            return;
        }
        let (above, below) = (ready.groups.above(s), ready.groups.below(s));
        let last = &mut self.last;
        let is_last = last.dividers == Some(dividers)
            && (last.up, last.down) == (was.up, was.down)
            && (was.up == 0 || last.above.is(above, through_up(was)))
            && (was.down == 0 || last.below.is(below, &was.through_down));
        if is_last {
            row.copy_from_slice(&last.row);
            return;
        }
        self.formula.fill(context, dividers, request, row);
        let is_even = |targets: u64, side: Side<'_>| targets == 0 || side.width().is_some();
        if !is_even(was.up, above) || !is_even(was.down, below) {
            last.dividers = None;
            return;
        }
        last.dividers = Some(dividers);
        (last.up, last.down) = (was.up, was.down);
        if was.up != 0 {
            last.above.set(above, through_up(was));
        }
        if was.down != 0 {
            last.below.set(below, &was.through_down);
        }
        last.row.clear();
        last.row.extend_from_slice(row);
    }
}
