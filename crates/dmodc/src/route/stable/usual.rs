//! Rows as most of them are, by words alone.
//!
//! As a rule all targets are above, every group has one port and was closer to all of them, and what is there
//! now was there before. Then groups keep their numbers of the reference: a closer set of the present is
//! a word with some bits less, and the lost slots are the missing ones.

use super::Reference;
use super::losses::live_groups;
use super::mend::divide;
use super::select::Ahead;
use super::set::Set;
use super::view::View;
use crate::cost::{Closer, Costs, Hops};
use crate::group::Side;
use crate::id::{PortNumber, SwitchIndex};
use crate::kernel::{Cycles, Piece, bits};
use crate::route::Preprocessing;
use crate::route::dmodc::ByFormula;
use crate::route::tile::{ALL, Place, Wanted};
use crate::tables::NO_ROUTE;

/// Puts such rows together, with groups numbered as in the reference.
#[derive(Default)]
pub(super) struct Usual {
    base: Base,
    family: Family,
    rounds: Rounds,
    pieces: Vec<Piece>,
    cycles: Cycles,
}

/// A switch, and all that is known of the tile.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) reference: &'a Reference,
    pub(super) ready: &'a Preprocessing,
    pub(super) view: &'a View,
    pub(super) hops: &'a Hops,
    pub(super) s: SwitchIndex,
}

impl<'a> At<'a> {
    /// The groups above in the reference.
    fn above(&self) -> Side<'a> {
        self.reference.ready.groups.above(self.s)
    }
}

impl Usual {
    /// Writes a row, if it is such a one, as [`Patcher::fill`] does any; says then which target the switch is
    /// itself.
    ///
    /// [`Patcher::fill`]: super::select::Patcher::fill
    pub(super) fn fill(
        &mut self,
        at: At<'_>,
        formula: &mut ByFormula,
        wanted: Wanted<'_>,
        row: &mut [u8],
    ) -> Option<u64> {
        let At { reference, ready, view, hops, s } = at;
        let (side, kernel) = (at.above(), ready.kernel);
        let up = view.only_above(s)? & wanted.targets;
        let (own, reached) = (hops.own(s), hops.reached(s) & wanted.targets);
        let is_below = hops.of(s)[0] & !own == 0;
        if up == 0 || !is_below || reached & !own & !up != 0 {
            return None;
        }
        let live = kernel.run(
            #[inline(always)]
            || live_groups(side, ready.groups.above(s)),
        )?;
        kernel.run(
            #[inline(always)]
            || self.family.find(at),
        );
        let displaced = match live.count_ones() as usize == side.peers.len() {
            true => up & !self.family.with_all_groups,
            false => up,
        };
        let mut harmed = displaced & reached;
        if !reference.ready.ranking.is_leaf(s) {
            harmed &= view.needy[s.at()];
        }
        if harmed & view.with_several_lids != 0 {
            return None;
        }
        view.displace(s, wanted.targets, displaced);
        if !wanted.again {
            self.base.fill(at, up, formula, wanted, row);
            for segment in wanted.of(up & !reached) {
                let (start, length) = (segment.start as usize, segment.length as usize);
                row[start..start + length].fill(NO_ROUTE);
            }
        }
        if harmed != 0 {
            self.family.gather(at, harmed);
            self.mend(at, (harmed, live), wanted, row);
        }
        Some(own)
    }

    /// Writes the lost entries of these targets; so many groups are live.
    fn mend(&mut self, at: At<'_>, targets: (u64, u64), wanted: Wanted<'_>, row: &mut [u8]) {
        let (side, kernel) = (at.above(), at.ready.kernel);
        let pi = at.reference.ready.dividers[at.s.at()];
        self.rounds.find((pi, side.peers.len() as u32), at.view, wanted);
        let mut ports = [0; 64];
        ports.iter_mut().zip(side.ports).for_each(|(to, port)| *to = port.0);
        if pi > 1 {
            kernel.run(
                #[inline(always)]
                || {
                    self.each_piece(at, targets, |round, piece| {
                        let groups = Set([piece.groups]);
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
        kernel.mend(&ports, &pieces, &mut self.cycles, row);
        self.pieces = pieces;
    }

    /// What is lost in each round, and where it goes.
    #[inline(always)]
    fn each_piece(
        &mut self,
        at: At<'_>,
        (harmed, live): (u64, u64),
        mut each: impl FnMut(&Round, Piece),
    ) {
        let (side, kernel) = (at.above(), at.ready.kernel);
        let sigma = u64::from(at.reference.places[at.s.at()]);
        let all_slots = u64::MAX >> (64 - side.peers.len());
        let Usual { family: Family { staying, ahead, .. }, rounds, .. } = self;
        for round in rounds.all.iter().filter(|round| harmed >> round.target & 1 == 1) {
            let lost = all_slots & !(ahead.all::<1>(round.target).0[0] & live);
            let here = lost >> round.slot & round.slots;
            if here == 0 {
                continue;
            }
            let (of, groups) = ((round.target, Set([live])), (&side, &staying[..], at.view));
            let from = ahead.spread_over(of, || round.stretch, kernel, groups);
            let before = lost & ((1 << round.slot) - 1);
            let x = u64::from(round.number) * u64::from(lost.count_ones())
                + u64::from(before.count_ones())
                + sigma;
            let (_, at) = divide(x, from.count());
            each(round, Piece { start: round.start, lost: here, groups: from.0[0], at });
        }
    }
}

/// A row of the reference, most often that of the switch before: leaves beside each other have the same one,
/// if they are cabled alike.
#[derive(Default)]
struct Base {
    was: Closer,
    /// What it follows from, if it is a whole row.
    of: Option<(u32, u64)>,
    ports: Vec<PortNumber>,
    row: Vec<u8>,
}

impl Base {
    /// Writes the row; these targets are above.
    fn fill(
        &mut self,
        at: At<'_>,
        up: u64,
        formula: &mut ByFormula,
        wanted: Wanted<'_>,
        row: &mut [u8],
    ) {
        let (ready, side) = (&at.reference.ready, at.above());
        let of = (wanted.targets == ALL).then_some((ready.dividers[at.s.at()], up));
        if of.is_some() && of == self.of && side.ports == self.ports {
            row.copy_from_slice(&self.row);
            return;
        }
        (self.was.up, self.was.up_is_uniform) = (up, true);
        self.was.through_up.resize(side.peers.len(), up);
        let kernel = at.ready.kernel;
        formula.fill(Place { ready, s: at.s, closer: &self.was, kernel }, wanted, row);
        self.of = of;
        if of.is_some() {
            self.ports.clear();
            self.ports.extend_from_slice(side.ports);
            self.row.clear();
            self.row.extend_from_slice(row);
        }
    }
}

/// The switches above some others, as those see them: leaves beside each other often have the same ones
/// above them, and are as far from all targets.
#[derive(Default)]
struct Family {
    /// One of them.
    of: Option<SwitchIndex>,
    /// The targets by hops up.
    hops: Vec<u64>,
    /// For each group of the reference: the targets that it is closer to, where it is alive.
    staying: Vec<u64>,
    /// The targets that every group is closer to.
    with_all_groups: u64,
    ahead: Ahead,
    /// The targets that are gathered.
    gathered: u64,
}

impl Family {
    /// Finds what a switch sees above it, unless that is known from the one before.
    #[inline(always)]
    fn find(&mut self, at: At<'_>) {
        let (peers, hops) = (at.above().peers, &at.hops.of(at.s)[1..]);
        let groups = &at.reference.ready.groups;
        if self.of.is_some_and(|of| self.hops == hops && groups.above(of).peers == peers) {
            return;
        }
        self.of = Some(at.s);
        self.hops.clear();
        self.hops.extend(hops);
        self.gathered = 0;
        self.staying.clear();
        let mut used = (0..hops.len()).filter(|u| hops[*u] != 0);
        match (used.next(), used.next()) {
            // Most often all targets are equally far up.
            (Some(u), None) => {
                let targets = hops[u];
                self.staying.extend(peers.iter().map(|peer| targets & at.hops.of(*peer)[u]));
            }
            _ => self.staying.extend(peers.iter().map(|peer| {
                let nearer = hops.iter().zip(at.hops.of(*peer));
                nearer.fold(0, |all, (these, theirs)| all | these & theirs)
            })),
        }
        self.with_all_groups = self.staying.iter().fold(u64::MAX, |all, targets| all & targets);
    }

    /// Sorts closer sets by target: for all of them where others may ask, too.
    fn gather(&mut self, at: At<'_>, targets: u64) {
        if targets & !self.gathered != 0 {
            let is_leaf = at.reference.ready.ranking.is_leaf(at.s);
            self.gathered = if is_leaf { u64::MAX } else { targets };
            let groups = (at.above(), self.gathered, &self.staying[..]);
            self.ahead.gather(at.ready.kernel, groups, at.view);
        }
    }
}

/// The segments of a tile, round by round, at switches with one Π and so many groups: those of a rank are
/// alike. Only first LIDs count.
#[derive(Default)]
struct Rounds {
    of: Option<(u32, u32)>,
    all: Vec<Round>,
}

/// Destinations of one segment with one ⌊q / #R⌋.
struct Round {
    target: u8,
    /// ⌊q / #R⌋.
    number: u32,
    /// The slot of the first destination, and a bit for each from there on.
    slot: u32,
    slots: u64,
    /// How many rounds after that of the target's first destination, as far as that is told apart.
    stretch: usize,
    /// The columns of the destinations.
    start: usize,
    end: usize,
    /// How many of them the first slot has.
    first: usize,
}

impl Rounds {
    fn find(&mut self, of: (u32, u32), view: &View, wanted: Wanted<'_>) {
        if self.of.replace(of) == Some(of) {
            return;
        }
        let (pi, groups) = of;
        self.all.clear();
        for segment in wanted.of_tile().iter().filter(|segment| segment.k == 0) {
            let first = view.spans[usize::from(segment.target)].0 / pi / groups;
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
                    stretch: (round.saturating_sub(first) as usize).min(view.kept.len() - 1),
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
