//! The fast path: rows whose targets are all above, or below as in the reference. Closer sets are words here, with a bit for
//! each group of the reference above.
//!
//! A row takes this path if all of these hold (`README.md` has the same list):
//!
//! 1. costs of the present are [`Hops`], and the present is not known to equal the reference;
//! 2. costs of the reference are `Hops`, too, and no switch with cables changed its rank;
//! 3. in the reference, every group above was closer to all targets above, and one group below to each target below;
//! 4. the targets below, except the switch itself, are those of the reference. If there are some, the present is a subset of the
//!    reference, and no group below is thinned;
//! 5. some requested target was above in the reference, and every other switch among the requested targets that is
//!    reached now was above or below;
//! 6. the reference has at most 64 groups above, all with equally many ports, and those of the present are a subset of
//!    them; if each has one port, it is the same one now; if a group has several ports, they have no divider of their own,
//!    and numbers of destinations are below 2³¹;
//! 7. no target whose entries are written again has nodes with several LIDs. Entries are written again for targets that
//!    are displaced, reached now and, unless the switch is a leaf of the reference, needy; and for all targets above if some
//!    group is thinned.
//!
//! The first is tested by `Stable::fill_row_fast`, the others by [`FastRows::fill`]. They hold at nearly all leaves of a
//! fat-tree, and leaves are most rows. Groups keep their numbers of the reference: a closer set of the
//! present is a word with some bits less, and the lost slots are the missing bits.

use super::few_pieces::FewPieces;
use super::found_pieces::PresentPorts;
use super::loss_view::{BelowNow, KeptBelow};
use super::losses::{ThinnedGroup, live_groups};
use super::lost_pieces::{LostRow, PieceFinder, PieceKey, Wanted};
use super::present::PresentSwitch;
use super::reference_row::ReferenceRows;
use super::rounds::Rounds;
use super::slot_table::RoundKey;
use super::stand_ins::{GonePort, StandInPlace, join};
use super::upswitches::{FastContext, Upswitches};
use crate::cost::CloserSets;
use crate::kernel::{Cycles, Difference, Divisor};
use crate::route::port_choice::{RowContext, RowRequest};
use crate::tables::{NO_ROUTE, Segment};

/// Computes such rows, with groups numbered as in the reference.
///
/// The caches in it (`upswitches`, `rounds`) have keys without the tile. They are right because
/// this is part of the scratch of a `RowMaker`, which is made for one tile of one re-route.
#[derive(Default)]
pub(super) struct FastRows {
    /// The closer sets of the reference.
    was: CloserSets,
    upswitches: Upswitches,
    rounds: Rounds,
    /// For rows that have all their groups, and for others. Neighbouring rows of the first kind most often have the same pieces,
    /// except for σ.
    finders: [PieceFinder; 2],
    /// For rows of which a few targets are chosen again.
    few: FewPieces,
    ports: KnownPorts,
    cycles: Cycles,
    /// The thinned groups of the row.
    thinned: Vec<ThinnedGroup>,
    /// The ports that they lost.
    gone: Vec<GonePort>,
    /// The segments of a row, where those that follow each other are one.
    runs: Vec<Segment>,
}

impl FastRows {
    /// Writes the requested entries of a row. Returns the bit of the target that is this switch (0 if none), or `None`,
    /// with the row untouched, if the row needs the [general path](super::general_rows).
    pub(super) fn fill(
        &mut self,
        context: FastContext<'_>,
        reference_rows: &mut ReferenceRows,
        request: RowRequest<'_>,
        row: &mut [u8],
    ) -> Option<u64> {
        let targets = self.targets(context, request)?;
        let FastTargets { up, own, unreached, .. } = targets;
        let FastContext { reference, ready, switch, .. } = context;
        let number = context.view.reference_tile.row_number(switch);
        if !reference_rows.copy(number, request, row) {
            self.find_reference(context, targets, request);
            let (kernel, closer) = (ready.kernel, &self.was);
            let then = RowContext { ready: &reference.ready, switch, closer, kernel };
            reference_rows.fill(number, then, request, row);
        }
        if !self.thinned.is_empty() {
            self.write_stand_ins(context, up & !unreached, request, row);
        }
        for segment in request.segments_of(unreached) {
            let (start, length) = (segment.start as usize, segment.length as usize);
            row[start..start + length].fill(NO_ROUTE);
        }
        if targets.rewritten != 0 {
            let lost_row = self.gather(context, targets, request);
            let LostPorts { pi, ports, finder } = self.find_lost(context, lost_row, Wanted::All);
            let FastRows { rounds, cycles, .. } = self;
            let pieces = &self.finders[finder].pieces;
            let kernel = context.ready.kernel;
            match (pi, &ports) {
                (1, PresentPorts::Single(ports)) => {
                    kernel.write_lost(ports, pieces.pieces(rounds), cycles, row);
                }
                _ => pieces.each_slot(
                    kernel,
                    rounds,
                    &ports,
                    #[inline(always)]
                    |at, slot, port| rounds.write(at, slot, port, row),
                ),
            }
        }
        Some(own)
    }

    /// Finds the closer sets of the reference for the requested targets.
    fn find_reference(
        &mut self,
        context: FastContext<'_>,
        FastTargets { up, down, .. }: FastTargets,
        request: RowRequest<'_>,
    ) {
        let was = &mut self.was;
        if down != 0 {
            context.view.reference_tile.closer(context.reference, context.switch, was);
            was.restrict(request.targets);
            return;
        }
        (was.up, was.up_is_uniform, was.down) = (up, true, 0);
        was.through_up.resize(context.above().peers.len(), up);
        was.through_down.clear();
    }

    /// Chooses those lost entries of the requested targets again that are wanted, in a row that has its entries. Writes those that
    /// differ, and returns which these are, or `None`, with the row untouched, if the row needs the general path.
    pub(super) fn rechoose(
        &mut self,
        context: FastContext<'_>,
        request: RowRequest<'_>,
        wanted: Wanted,
        row: &mut [u8],
    ) -> Option<Difference> {
        let targets = self.targets(context, request)?;
        if wanted == Wanted::All && !self.thinned.is_empty() {
            // There may be other stand-ins now.
            return None;
        }
        let mut difference = Difference::default();
        if targets.rewritten == 0 {
            return Some(difference);
        }
        let kernel = context.ready.kernel;
        let lost_row = self.gather(context, targets, request);
        if self.find_few(context, lost_row, wanted) {
            let pieces = self.few.pieces();
            return Some(kernel.patch_lost(&self.ports.of, pieces, &mut self.cycles, row));
        }
        let LostPorts { pi, ports, finder } = self.find_lost(context, lost_row, wanted);
        let FastRows { rounds, cycles, .. } = self;
        let pieces = &self.finders[finder].pieces;
        if wanted == Wanted::All {
            pieces.prefetch(kernel, rounds, row);
        }
        match (pi, &ports) {
            (1, PresentPorts::Single(ports)) => {
                difference = kernel.patch_lost(ports, pieces.pieces(rounds), cycles, row);
            }
            _ => pieces.each_slot(
                kernel,
                rounds,
                &ports,
                #[inline(always)]
                |at, slot, port| rounds.patch(at, slot, port, row, &mut difference),
            ),
        }
        Some(difference)
    }

    /// Finds the pieces of a row one by one, if they are few, Π = 1 and groups have single ports. Returns whether that is so.
    fn find_few(&mut self, context: FastContext<'_>, row: LostRow, wanted: Wanted) -> bool {
        let &PresentSwitch { pi, ports, has_several_ports, .. } =
            context.present.switch(context.switch);
        let FastRows { upswitches, rounds, few, .. } = self;
        let may_be_few = wanted == Wanted::Changed && pi == 1 && !has_several_ports;
        if !may_be_few || !FewPieces::are_few(rounds, row) {
            return false;
        }
        if !upswitches.knows_kept() {
            upswitches.find_kept(context, rounds);
        }
        let (kernel, sets) = (context.ready.kernel, upswitches.sets(rounds));
        kernel.run(
            #[inline(always)]
            || few.find(rounds, sets, row),
        );
        self.ports.find(ports, context);
        true
    }

    /// Returns the targets of a row by what is to be done with them, or `None` if the row needs the general path. It is inlined,
    /// because the processor would wait for a result that is written word by word and read at once.
    #[inline(always)]
    fn targets(
        &mut self,
        context: FastContext<'_>,
        request: RowRequest<'_>,
    ) -> Option<FastTargets> {
        let FastContext { ready, present, view, hops, switch: s, .. } = context;
        let switch = present.switch(s);
        let (own, reached) = (hops.own(s), hops.reached(s) & request.targets);
        let keeps_below = switch.keeps_below;
        let below = BelowNow { targets: hops.of(s)[0] & !own, keeps_below };
        let KeptBelow { up, down } = view.kept_below(s, below, request.targets)?;
        if up == 0 || reached & !own & !up & !down != 0 {
            return None;
        }
        self.thinned.clear();
        let (then, now) = (context.above(), ready.groups.above(s));
        let live = match switch.live {
            Some(live) => live,
            None => live_groups(then, now, view.is_subset, &mut self.thinned)?,
        };
        let chooses_by_round = !switch.has_port_divider && view.has_small_numbers;
        if switch.has_several_ports && !chooses_by_round {
            return None;
        }
        let displaced = match switch.is_leaf || !self.thinned.is_empty() {
            // Every group was closer to all targets above, so a missing one displaces all of them.
            _ if live.count_ones() < switch.groups => up,
            true => up & !self.upswitches.find(context).with_all_groups,
            // Nothing is thinned, and nothing below is lost.
            false => up & view.harmed[s.at()],
        };
        let mut rewritten = displaced & reached;
        if !switch.is_leaf {
            rewritten &= view.needy[s.at()];
        }
        let may_have_stand_ins = if self.thinned.is_empty() { 0 } else { up };
        if (rewritten | may_have_stand_ins) & view.with_several_lids != 0 {
            return None;
        }
        view.note_displaced(s, request.targets, displaced);
        Some(FastTargets { up, down, own, unreached: up & !reached, rewritten, live })
    }

    /// Finds the lost entries of a row that are wanted, by rounds.
    fn find_lost<'c>(
        &mut self,
        context: FastContext<'c>,
        lost_row: LostRow,
        wanted: Wanted,
    ) -> LostPorts<'c> {
        let kernel = context.ready.kernel;
        let FastRows { upswitches, rounds, .. } = self;
        let finder = &mut self.finders[lost_row.finder()];
        let LostRow { rewritten, live, .. } = lost_row;
        let key = PieceKey { generation: upswitches.generation(), rewritten, live, wanted };
        // A row whose groups have the same switches but several ports needs quotients, which are not turned.
        let has_several_ports = context.present.switch(context.switch).has_several_ports;
        if has_several_ports || !finder.turn(kernel, key, lost_row.sigma) {
            let needs_kept = finder.find(kernel, rounds, upswitches.sets(rounds), lost_row, wanted);
            if needs_kept && !upswitches.knows_kept() {
                upswitches.find_kept(context, rounds);
                finder.find(kernel, rounds, upswitches.sets(rounds), lost_row, wanted);
            }
        }
        self.ports(context, lost_row, key)
    }

    /// Brings everything up to date that the lost entries of a row follow from.
    #[inline(always)]
    fn gather(
        &mut self,
        context: FastContext<'_>,
        FastTargets { rewritten, live, .. }: FastTargets,
        request: RowRequest<'_>,
    ) -> LostRow {
        let PresentSwitch { pi, sigma, groups, .. } = *context.present.switch(context.switch);
        let FastRows { upswitches, rounds, .. } = self;
        if rounds.find(RoundKey { pi, groups }, context.view, request) {
            upswitches.forget_rounds();
        }
        upswitches.find(context).gather(context, rewritten, rounds);
        let all_slots = u64::MAX >> (64 - groups);
        LostRow { rewritten, live, all_slots, sigma }
    }

    /// Returns Π and the ports of the groups, after the pieces of a row were found.
    fn ports<'c>(
        &mut self,
        context: FastContext<'c>,
        lost_row: LostRow,
        key: PieceKey,
    ) -> LostPorts<'c> {
        let PresentSwitch { pi, groups, ports, has_several_ports, .. } =
            *context.present.switch(context.switch);
        let finder = lost_row.finder();
        if has_several_ports {
            let side = context.ready.groups.above(context.switch);
            let (kernel, LostRow { live, .. }) = (context.ready.kernel, lost_row);
            let pieces = &mut self.finders[finder].pieces;
            let ports = pieces.several_ports(kernel, live, groups as usize, side);
            return LostPorts { pi, ports, finder };
        }
        self.finders[finder].note(key, lost_row.sigma);
        self.ports.find(ports, context);
        LostPorts { pi, ports: PresentPorts::Single(self.ports.of), finder }
    }

    /// Writes the entries of some targets whose group is there, but whose port is not. Entries whose group is lost are written
    /// later.
    fn write_stand_ins(
        &mut self,
        context: FastContext<'_>,
        targets: u64,
        request: RowRequest<'_>,
        row: &mut [u8],
    ) {
        let (side, now) = (context.above(), context.ready.groups.above(context.switch));
        let none = context.ready.groups.below(context.switch);
        GonePort::find(&mut self.gone, &self.thinned, side, [now, none]);
        let divider = Divisor::new(context.reference.ready.level_dividers(context.switch).up.group);
        let count = side.peers.len() as u32;
        let runs = &mut self.runs;
        context.ready.kernel.run(
            #[inline(always)]
            || {
                join(request.segments_of(targets), runs);
                for segment in &*runs {
                    let place =
                        StandInPlace { segment, divider: &divider, count, port_divider: None };
                    for gone in &self.gone {
                        gone.write([now, none], gone.group as u32, place, row);
                    }
                }
            },
        );
    }
}

/// The ports of groups that have one each. Neighbouring rows most often have the same.
struct KnownPorts {
    /// The number of their list: see `Reference::ports_above`.
    number: Option<u32>,
    of: [u8; 64],
}

impl Default for KnownPorts {
    fn default() -> Self {
        KnownPorts { number: None, of: [0; 64] }
    }
}

impl KnownPorts {
    /// Finds the ports of a row, unless they are known.
    #[inline]
    fn find(&mut self, number: u32, context: FastContext<'_>) {
        if self.number.replace(number) != Some(number) {
            self.of = [0; 64];
            let ports = context.above().ports.iter();
            self.of.iter_mut().zip(ports).for_each(|(to, port)| *to = port.0);
        }
    }
}

/// Where the lost entries of a row go.
struct LostPorts<'a> {
    /// Π.
    pi: u32,
    /// The ports of the groups.
    ports: PresentPorts<'a>,
    /// The index of the finder that has the pieces.
    finder: usize,
}

impl LostRow {
    /// Returns the index of the finder for the pieces of this row.
    fn finder(&self) -> usize {
        usize::from(self.live != self.all_slots)
    }
}

/// The requested targets of one row, by what is to be done with them.
#[derive(Clone, Copy)]
struct FastTargets {
    /// Those above in the reference.
    up: u64,
    /// Those below in the reference; they are below now, and their entries are the same.
    down: u64,
    /// The switch itself.
    own: u64,
    /// Those above in the reference that cannot be reached now.
    unreached: u64,
    /// Those whose entries are perhaps not those of the reference.
    rewritten: u64,
    /// The groups that are there now: a bit for each of the reference's.
    live: u64,
}
