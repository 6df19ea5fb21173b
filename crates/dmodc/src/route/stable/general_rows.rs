//! The general path: computes any row from closer sets. First it writes the entries of the reference, then those that are
//! lost.

use super::lookahead::Lookahead;
use super::loss_view::{LossView, StableTile};
use super::losses::Losses;
use super::lost_entries::{LostEntries, PerDirection};
use super::port_turns::PortTurns;
use super::reference_row::ReferenceRows;
use super::stand_ins::GonePort;
use crate::cost::CloserSets;
use crate::kernel::Choices;
use crate::preprocess::Preprocessing;
use crate::route::port_choice::{ByFormula, RowContext, RowRequest};
use crate::tables::NO_ROUTE;

/// Computes rows of any kind.
pub(super) struct GeneralRows {
    losses: Losses,
    /// The lost groups by target: those above and those below in the reference.
    lost: PerDirection<Choices>,
    /// The ports that thinned groups lost: those above and those below in the reference.
    gone: PerDirection<Vec<GonePort>>,
    /// The closer sets of displaced targets that are reached upwards now, and downwards.
    ahead: PerDirection<Lookahead>,
    /// The turns of the ports above and below, if a displaced target is reached there and groups have several ports.
    turns: PerDirection<PortTurns>,
    /// The closer sets of targets that the switch does not reach in the reference.
    unknown: CloserSets,
}

impl Default for GeneralRows {
    fn default() -> Self {
        GeneralRows {
            losses: Losses::default(),
            lost: PerDirection { up: Choices::one_by_one(), down: Choices::one_by_one() },
            gone: PerDirection { up: vec![], down: vec![] },
            ahead: PerDirection { up: Lookahead::default(), down: Lookahead::default() },
            turns: PerDirection { up: PortTurns::default(), down: PortTurns::default() },
            unknown: CloserSets::default(),
        }
    }
}

impl GeneralRows {
    /// Writes the requested entries of a row.
    pub(super) fn fill(
        &mut self,
        StableTile { reference, view }: StableTile<'_>,
        context: RowContext<'_>,
        request: RowRequest<'_>,
        reference_rows: &mut ReferenceRows,
        row: &mut [u8],
    ) {
        let RowContext { switch: s, closer, kernel, ready } = context;
        let below = reference.ready.groups.below(s);
        let has_single_ports = || below.ports.len() == below.peers.len();
        let is_dmodc =
            view.equals_reference || view.never_chooses(reference, ready, s) && has_single_ports();
        if is_dmodc {
            view.note_displaced(s, request.targets, 0);
            reference_rows.formula.fill(context, ready.level_dividers(s), request, row);
            return;
        }
        self.losses.find(view.compared(reference), context, request.targets);
        let was = &self.losses.was;
        let (known, now) = (was.up | was.down, closer.up | closer.down);
        if known == 0 {
            view.note_displaced(s, request.targets, 0);
            reference_rows.formula.fill(context, ready.level_dividers(s), request, row);
            return;
        }
        let then = RowContext { ready: &reference.ready, switch: s, closer: was, kernel };
        reference_rows.fill(view.reference_tile.row_number(s), then, request, row);
        view.note_displaced(s, request.targets, self.losses.displaced);
        self.fill_unknown(context, now & !known, request, &mut reference_rows.formula, row);
        for segment in request.segments_of(known & !now) {
            let (start, length) = (segment.start as usize, segment.length as usize);
            row[start..start + length].fill(NO_ROUTE);
        }
        self.write_lost(StableTile { reference, view }, context, request, row);
    }

    /// Writes the lost entries of a row that has the entries of the reference, with the losses of its switch.
    fn write_lost(
        &mut self,
        StableTile { reference, view }: StableTile<'_>,
        context: RowContext<'_>,
        request: RowRequest<'_>,
        row: &mut [u8],
    ) {
        let RowContext { switch: s, closer, kernel, ready } = context;
        // The targets with entries that are perhaps not those of the reference.
        let mut rewritten = self.losses.harmed() & (closer.up | closer.down);
        if !reference.ready.ranking.is_leaf(s) {
            rewritten &= view.needy[s.at()];
        }
        if rewritten == 0 {
            return;
        }
        if rewritten & self.losses.displaced != 0 {
            self.gather(context, view);
        }
        self.losses.find_members(kernel, rewritten);
        let GeneralRows { losses, lost, gone, ahead, turns, .. } = self;
        let (then, now) = (&reference.ready.groups, &ready.groups);
        let (above, below) = (now.above(s), now.below(s));
        GonePort::find(&mut gone.up, &losses.up.thinned_groups, then.above(s), [above, below]);
        GonePort::find(&mut gone.down, &losses.down.thinned_groups, then.below(s), [below, above]);
        let mut entries =
            LostEntries { reference, context, view, rewritten, losses, lost, gone, ahead, turns };
        let groups = |ready: &Preprocessing| {
            ready.groups.above(s).peers.len().max(ready.groups.below(s).peers.len())
        };
        let is_narrow = groups(ready).max(groups(&reference.ready)) <= 64;
        kernel.run(
            #[inline(always)]
            || match is_narrow {
                true => entries.write::<1>(request, row),
                false => entries.write::<4>(request, row),
            },
        );
    }

    /// Writes the entries of targets that the switch does not reach in the reference, as Dmodc does.
    fn fill_unknown(
        &mut self,
        context: RowContext<'_>,
        targets: u64,
        request: RowRequest<'_>,
        formula: &mut ByFormula,
        row: &mut [u8],
    ) {
        if targets == 0 {
            return;
        }
        self.unknown.clone_from(context.closer);
        self.unknown.restrict(targets);
        let dividers = context.ready.level_dividers(context.switch);
        let context = RowContext { closer: &self.unknown, ..context };
        for segment in request.segments_of(targets) {
            formula.patch(context, dividers, std::slice::from_ref(segment), row);
        }
    }

    /// Transposes the lost groups and the closer sets of all displaced targets: from masks by group to sets by target.
    fn gather(&mut self, context: RowContext<'_>, view: &LossView) {
        let RowContext { ready, switch: s, closer, kernel } = context;
        let Losses { was, up, down, displaced, .. } = &self.losses;
        let PerDirection { up: lost_up, down: lost_down } = &mut self.lost;
        for (lost, targets, side, now) in
            [(lost_up, was.up, up, closer.up), (lost_down, was.down, down, closer.down)]
        {
            let targets = targets & displaced;
            // Where no group is gone, the lost ones follow from R and the closer set of the present.
            if targets != 0 && !(side.is_unchanged && targets & !now == 0) {
                kernel.gather(lost, targets, &side.lost_targets);
            }
        }
        let PerDirection { up, down } = &mut self.ahead;
        let groups = &ready.groups;
        up.gather(kernel, groups.above(s), closer.up & displaced, &closer.through_up, view);
        down.gather(kernel, groups.below(s), closer.down & displaced, &closer.through_down, view);
        let PerDirection { up, down } = &mut self.turns;
        for (turns, targets, side) in
            [(up, closer.up, groups.above(s)), (down, closer.down, groups.below(s))]
        {
            if targets & displaced != 0 && side.ports.len() > side.peers.len() {
                turns.find(&side, 0..);
            }
        }
    }
}
