//! The fast path: rows whose targets are all above, computed with 64-bit masks and without closer sets.
//!
//! A row takes this path if, at its switch,
//!
//! 1. all targets were above in the reference, and every group was closer to all of them;
//! 2. no rank changed, and no target is below now;
//! 3. every group has one port, there are at most 64, and those of the present are a part of the reference's;
//! 4. no displaced target has nodes with several LIDs.
//!
//! That is so at nearly all leaves of a fat-tree with single cables, and leaves are most rows. Groups keep their
//! numbers of the reference: a closer set of the present is a word with some bits less, and the lost slots are the
//! missing bits.

use super::Reference;
use super::group_set::GroupSet;
use super::lookahead::{AheadGroups, Lookahead};
use super::loss_view::LossView;
use super::losses::live_groups;
use crate::bits::bits;
use crate::cost::{CloserSets, Hops};
use crate::group::Side;
use crate::id::{PortNumber, SwitchIndex};
use crate::kernel::{Cycles, LostPiece, divide_by_count};
use crate::preprocess::Preprocessing;
use crate::route::closer::{ALL, ByFormula, RowContext, RowRequest};
use crate::tables::NO_ROUTE;

/// Computes such rows, with groups numbered as in the reference.
#[derive(Default)]
pub(super) struct FastRows {
    reference_row: ReferenceRow,
    upswitches: Upswitches,
    rounds: Rounds,
    pieces: Vec<LostPiece>,
    cycles: Cycles,
}
/// A switch, and all that is known of the tile.
#[derive(Clone, Copy)]
pub(super) struct FastContext<'a> {
    pub(super) reference: &'a Reference,
    pub(super) ready: &'a Preprocessing,
    pub(super) view: &'a LossView,
    pub(super) hops: &'a Hops,
    pub(super) switch: SwitchIndex,
}

impl<'a> FastContext<'a> {
    /// Returns the groups above the switch in the reference.
    fn above(&self) -> Side<'a> {
        self.reference.ready.groups.above(self.switch)
    }
}

impl FastRows {
    /// Writes the requested entries of a row. Returns the target that the switch is itself, as a bit; or `None`,
    /// without having written anything, if the row needs the [general path](super::general_rows).
    pub(super) fn fill(
        &mut self,
        at: FastContext<'_>,
        formula: &mut ByFormula,
        request: RowRequest<'_>,
        row: &mut [u8],
    ) -> Option<u64> {
        let FastContext { reference, ready, view, hops, switch: s } = at;
        let (side, kernel) = (at.above(), ready.kernel);
        let up = view.targets_if_all_above(s)? & request.targets;
        let (own, reached) = (hops.own(s), hops.reached(s) & request.targets);
        let has_nothing_below = hops.of(s)[0] & !own == 0;
        if up == 0 || !has_nothing_below || reached & !own & !up != 0 {
            return None;
        }
        let live = kernel.run(
            #[inline(always)]
            || live_groups(side, ready.groups.above(s)),
        )?;
        kernel.run(
            #[inline(always)]
            || self.upswitches.find(at),
        );
        let displaced = match live.count_ones() as usize == side.peers.len() {
            true => up & !self.upswitches.with_all_groups,
            false => up,
        };
        let mut rewritten = displaced & reached;
        if !reference.ready.ranking.is_leaf(s) {
            rewritten &= view.needy[s.at()];
        }
        if rewritten & view.with_several_lids != 0 {
            return None;
        }
        view.note_displaced(s, request.targets, displaced);
        if !request.keeps_closer_sets {
            self.reference_row.fill(at, up, formula, request, row);
            for segment in request.segments_of(up & !reached) {
                let (start, length) = (segment.start as usize, segment.length as usize);
                row[start..start + length].fill(NO_ROUTE);
            }
        }
        if rewritten != 0 {
            self.upswitches.gather(at, rewritten);
            self.write_lost(at, LostTargets { rewritten, live }, request, row);
        }
        Some(own)
    }

    /// Writes the lost entries of some targets.
    fn write_lost(
        &mut self,
        at: FastContext<'_>,
        targets: LostTargets,
        request: RowRequest<'_>,
        row: &mut [u8],
    ) {
        let (side, kernel) = (at.above(), at.ready.kernel);
        let pi = at.reference.ready.dividers[at.switch.at()];
        self.rounds.find(RoundKey { pi, groups: side.peers.len() as u32 }, at.view, request);
        let mut ports = [0; 64];
        ports.iter_mut().zip(side.ports).for_each(|(to, port)| *to = port.0);
        if pi > 1 {
            kernel.run(
                #[inline(always)]
                || {
                    self.each_piece(at, targets, |round, piece| {
                        let groups = GroupSet([piece.groups]);
                        let mut group = groups.nth(piece.at);
                        for slot in bits(piece.lost) {
                            round.write(pi, slot, ports[group & 63], row);
                            group = groups.after(group).unwrap_or_else(|| groups.nth(0));
                        }
                    });
                },
            );
            return;
        }
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        kernel.run(
            #[inline(always)]
            || self.each_piece(at, targets, |_, piece| pieces.push(piece)),
        );
        kernel.write_lost(&ports, &pieces, &mut self.cycles, row);
        self.pieces = pieces;
    }

    /// Calls `each` with the lost slots of each round, and the groups that they go to.
    #[inline(always)]
    fn each_piece(
        &mut self,
        at: FastContext<'_>,
        LostTargets { rewritten, live }: LostTargets,
        mut each: impl FnMut(&Round, LostPiece),
    ) {
        let (side, kernel) = (at.above(), at.ready.kernel);
        let sigma = u64::from(at.reference.sigmas[at.switch.at()]);
        let all_slots = u64::MAX >> (64 - side.peers.len());
        let FastRows { upswitches: Upswitches { closer_to, ahead, .. }, rounds, .. } = self;
        let groups = AheadGroups { side: &side, through: closer_to, view: at.view, kernel };
        for round in rounds.all.iter().filter(|round| rewritten >> round.target & 1 == 1) {
            let lost = all_slots & !(ahead.all::<1>(round.target).0[0] & live);
            let here = lost >> round.slot & round.slots;
            if here == 0 {
                continue;
            }
            let from = ahead.spread_over(round.target, GroupSet([live]), || round.stretch, groups);
            let before = lost & ((1 << round.slot) - 1);
            let x = u64::from(round.number) * u64::from(lost.count_ones())
                + u64::from(before.count_ones())
                + sigma;
            let (_, at) = divide_by_count(x, from.count());
            each(round, LostPiece { start: round.start, lost: here, groups: from.0[0], at });
        }
    }
}

/// The targets of one row with lost entries.
#[derive(Clone, Copy)]
struct LostTargets {
    /// A bit for each target.
    rewritten: u64,
    /// The groups that are there now: a bit for each of the reference's.
    live: u64,
}

/// A row of the reference. It is most often that of the switch before: neighbouring leaves have the same row if they are
/// cabled alike.
#[derive(Default)]
struct ReferenceRow {
    was: CloserSets,
    /// Π and the targets above that the row was computed from, if it is a whole row.
    key: Option<(u32, u64)>,
    ports: Vec<PortNumber>,
    row: Vec<u8>,
}

impl ReferenceRow {
    /// Writes the row for the targets `up`, which are above.
    fn fill(
        &mut self,
        at: FastContext<'_>,
        up: u64,
        formula: &mut ByFormula,
        request: RowRequest<'_>,
        row: &mut [u8],
    ) {
        let (ready, side) = (&at.reference.ready, at.above());
        let key = (request.targets == ALL).then_some((ready.dividers[at.switch.at()], up));
        if key.is_some() && key == self.key && side.ports == self.ports {
            row.copy_from_slice(&self.row);
            return;
        }
        (self.was.up, self.was.up_is_uniform) = (up, true);
        self.was.through_up.resize(side.peers.len(), up);
        let kernel = at.ready.kernel;
        let context = RowContext { ready, switch: at.switch, closer: &self.was, kernel };
        formula.fill(context, request, row);
        self.key = key;
        if key.is_some() {
            self.ports.clear();
            self.ports.extend_from_slice(side.ports);
            self.row.clear();
            self.row.extend_from_slice(row);
        }
    }
}

/// The upswitches of one switch: what each of them is closer to. Neighbouring leaves often have the same upswitches and
/// the same distances to all targets, so this is seldom computed.
#[derive(Default)]
struct Upswitches {
    /// The switch that this was computed for.
    of: Option<SwitchIndex>,
    /// The targets of that switch by hops up.
    hops: Vec<u64>,
    /// For each group of the reference: the targets that it is closer to, as far as it is there.
    closer_to: Vec<u64>,
    /// The targets that every group is closer to.
    with_all_groups: u64,
    ahead: Lookahead,
    /// The targets whose closer sets are gathered in `ahead`.
    gathered: u64,
}

impl Upswitches {
    /// Finds what the upswitches of a switch are closer to, unless that is known from the switch before.
    #[inline(always)]
    fn find(&mut self, at: FastContext<'_>) {
        let (peers, hops) = (at.above().peers, &at.hops.of(at.switch)[1..]);
        let groups = &at.reference.ready.groups;
        if self.of.is_some_and(|of| self.hops == hops && groups.above(of).peers == peers) {
            return;
        }
        self.of = Some(at.switch);
        self.hops.clear();
        self.hops.extend(hops);
        self.gathered = 0;
        self.closer_to.clear();
        let mut used = (0..hops.len()).filter(|u| hops[*u] != 0);
        match (used.next(), used.next()) {
            // Most often all targets are equally far up.
            (Some(u), None) => {
                let targets = hops[u];
                self.closer_to.extend(peers.iter().map(|peer| targets & at.hops.of(*peer)[u]));
            }
            _ => self.closer_to.extend(peers.iter().map(|peer| {
                let nearer = hops.iter().zip(at.hops.of(*peer));
                nearer.fold(0, |all, (these, theirs)| all | these & theirs)
            })),
        }
        self.with_all_groups = self.closer_to.iter().fold(u64::MAX, |all, targets| all & targets);
    }

    /// Sorts closer sets by target: at leaves those of all targets, because other leaves need them, too.
    fn gather(&mut self, at: FastContext<'_>, targets: u64) {
        if targets & !self.gathered != 0 {
            let is_leaf = at.reference.ready.ranking.is_leaf(at.switch);
            self.gathered = if is_leaf { u64::MAX } else { targets };
            let (kernel, side) = (at.ready.kernel, at.above());
            self.ahead.gather(kernel, side, self.gathered, &self.closer_to, at.view);
        }
    }
}

/// The segments of a tile, round by round. Switches of one rank have the same rounds, so this is seldom computed. Only the
/// first LID of each node counts.
#[derive(Default)]
struct Rounds {
    key: Option<RoundKey>,
    all: Vec<Round>,
}

/// What rounds depend on at a switch: Π and the number of groups.
#[derive(Clone, Copy, PartialEq, Eq)]
struct RoundKey {
    pi: u32,
    groups: u32,
}

/// Destinations of one segment with one ⌊q / #R⌋.
struct Round {
    target: u8,
    /// ⌊q / #R⌋.
    number: u32,
    /// The slot of the first destination, and a bit for each from there on.
    slot: u32,
    slots: u64,
    /// How many rounds it is after that of the target's first destination; the last stretch stands for all later ones.
    stretch: usize,
    /// The columns of the destinations.
    start: usize,
    end: usize,
    /// How many of them the first slot has.
    first: usize,
}

impl Rounds {
    fn find(&mut self, key: RoundKey, view: &LossView, request: RowRequest<'_>) {
        if self.key.replace(key) == Some(key) {
            return;
        }
        let RoundKey { pi, groups } = key;
        self.all.clear();
        for segment in request.segments_of_tile().iter().filter(|segment| segment.k == 0) {
            let first = view.spans[usize::from(segment.target)].first / pi / groups;
            let (mut number, end) = (segment.number, segment.number.saturating_add(segment.length));
            while number < end {
                let q = number / pi;
                let (round, slot) = (q / groups, q % groups);
                let next = ((round + 1) * groups).saturating_mul(pi).min(end);
                let column = |of: u32| (segment.start + (of - segment.number)) as usize;
                self.all.push(Round {
                    target: segment.target,
                    number: round,
                    slot,
                    slots: u64::MAX >> (63 - ((next - 1) / pi - q)),
                    stretch: (round.saturating_sub(first) as usize).min(view.kept_slots.len() - 1),
                    start: column(number),
                    end: column(next),
                    first: (pi - number % pi) as usize,
                });
                number = next;
            }
        }
    }
}

impl Round {
    /// Writes one port for all destinations of a slot, counted from the first.
    #[inline(always)]
    fn write(&self, pi: u32, slot: usize, port: u8, row: &mut [u8]) {
        let start_of = |slot: usize| match slot {
            0 => self.start,
            _ => (self.start + self.first + (slot - 1) * pi as usize).min(self.end),
        };
        row[start_of(slot)..start_of(slot + 1)].fill(port);
    }
}
