//! Rows as most of them are, by words alone.
//!
//! As a rule all targets are above, every group has one port and was closer to all of them, and what is there
//! now was there before. Then groups keep their numbers of the reference: a closer set of the present is
//! a word with some bits less, and the lost slots are the missing ones.

use super::Reference;
use super::losses::find_staying;
use super::mend::divide;
use super::select::Ahead;
use super::set::Set;
use super::view::View;
use crate::cost::Closer;
use crate::kernel::{Cycles, Piece, bits};
use crate::route::dmodc::ByFormula;
use crate::route::tile::{Place, Wanted};
use crate::tables::NO_ROUTE;

/// Puts such rows together, with groups numbered as in the reference.
#[derive(Default)]
pub(super) struct Usual {
    /// The closer sets of the reference.
    was: Closer,
    /// For each group: the targets that it is still closer to.
    staying: Vec<u64>,
    ahead: Ahead,
    rounds: Rounds,
    pieces: Vec<Piece>,
    cycles: Cycles,
}

impl Usual {
    /// Writes a row, if it is such a one; whether it is. Does what [`Patcher::fill`] does for any. Without a
    /// formula the entries that are not spread are there already.
    ///
    /// [`Patcher::fill`]: super::select::Patcher::fill
    pub(super) fn fill(
        &mut self,
        (reference, place, view): (&Reference, Place<'_>, &View),
        formula: Option<&mut ByFormula>,
        wanted: Wanted<'_>,
        row: &mut [u8],
    ) -> bool {
        let Place { ready, s, closer, kernel } = place;
        let Some(up) = view.only_above(s) else { return false };
        let up = up & wanted.targets;
        if closer.down != 0 || closer.up & !up != 0 || up == 0 {
            return false;
        }
        let (side, now) = (reference.ready.groups.above(s), ready.groups.above(s));
        let through = (now, &closer.through_up[..]);
        let found = side.peers.len() <= 64
            && kernel.run(
                #[inline(always)]
                || find_staying(side, through, &mut self.staying),
            );
        let displaced = up & !self.staying.iter().fold(up, |all, mask| all & mask);
        let mut harmed = displaced & closer.up;
        if !reference.ready.ranking.is_leaf(s) {
            harmed &= view.needy[s.at()];
        }
        if !found || harmed & view.with_several_lids != 0 {
            return false;
        }
        view.displace(s, wanted.targets, displaced);
        if let Some(formula) = formula {
            (self.was.up, self.was.up_is_uniform) = (up, true);
            self.was.through_up.resize(side.peers.len(), up);
            let then = Place { ready: &reference.ready, s, closer: &self.was, kernel };
            formula.fill(then, wanted, row);
            for segment in wanted.of(up & !closer.up) {
                let (start, length) = (segment.start as usize, segment.length as usize);
                row[start..start + length].fill(NO_ROUTE);
            }
        }
        if harmed != 0 {
            self.mend((reference, place, view), harmed, wanted, row);
        }
        true
    }

    /// Writes the lost entries of these targets.
    fn mend(
        &mut self,
        at: (&Reference, Place<'_>, &View),
        targets: u64,
        wanted: Wanted<'_>,
        row: &mut [u8],
    ) {
        let (reference, Place { s, kernel, .. }, view) = at;
        let side = reference.ready.groups.above(s);
        self.ahead.gather(kernel, (side, targets, &self.staying), view);
        let pi = reference.ready.dividers[s.at()];
        self.rounds.find((pi, side.peers.len() as u32), view, wanted);
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
        (reference, place, view): (&Reference, Place<'_>, &View),
        harmed: u64,
        mut each: impl FnMut(&Round, Piece),
    ) {
        let side = reference.ready.groups.above(place.s);
        let sigma = u64::from(reference.places[place.s.at()]);
        let all_slots = u64::MAX >> (64 - side.peers.len());
        let Usual { staying, ahead, rounds, .. } = self;
        for round in rounds.all.iter().filter(|round| harmed >> round.target & 1 == 1) {
            let lost = all_slots & !ahead.all::<1>(round.target).0[0];
            let here = lost >> round.slot & round.slots;
            if here == 0 {
                continue;
            }
            let from = match ahead.unharmed::<1>(round.target) {
                Some(unharmed) => unharmed,
                None => {
                    let groups = (&side, &staying[..], &view.kept[round.stretch][..]);
                    ahead.that_kept(place.kernel, groups, round.target, round.stretch)
                }
            };
            let before = lost & ((1 << round.slot) - 1);
            let x = u64::from(round.number) * u64::from(lost.count_ones())
                + u64::from(before.count_ones())
                + sigma;
            let (_, at) = divide(x, from.count());
            each(round, Piece { start: round.start, lost: here, groups: from.0[0], at });
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
