//! The lost entries of most rows, by words alone.
//!
//! As a rule all groups above have one port, all of them were closer to all targets above, and what is there
//! now was there before. Then groups keep their numbers of the reference: a closer set of the present is
//! a word with some bits less, and the lost slots are the missing ones.

use super::losses::Losses;
use super::mend::{Mender, divide};
use super::select::Ahead;
use super::set::Set;
use super::{Reference, STRETCHES};
use crate::group::Side;
use crate::kernel::{Cycles, Piece, bits};
use crate::route::tile::{Place, Wanted};

/// The displaced targets above one switch, with groups numbered as in the reference.
#[derive(Default)]
pub(super) struct Usual {
    /// For each group: the targets that it is still closer to.
    staying: Vec<u64>,
    ahead: Ahead,
    rounds: Rounds,
    pieces: Vec<Piece>,
    cycles: Cycles,
}

/// The targets of a switch that can be mended this way, if any.
pub(super) fn targets(
    reference: &Reference,
    place: Place<'_>,
    losses: &Losses,
    others: u64,
) -> u64 {
    let above = reference.ready.groups.above(place.s);
    let was = &losses.was;
    let is_usual = losses.up.has_all
        && losses.up.thin.is_empty()
        && above.peers.len() <= 64
        && above.ports.len() == above.peers.len()
        && was.up_is_uniform;
    if is_usual { was.up & place.closer.up & !others } else { 0 }
}

impl Usual {
    /// Writes the lost entries of these targets. Does what [`Mender::mend`] does.
    pub(super) fn mend(
        &mut self,
        mender: &Mender<'_>,
        losses: &Losses,
        wanted: Wanted<'_>,
        row: &mut [u8],
    ) {
        let Mender { reference, place, view, harmed: targets } = *mender;
        let side = reference.ready.groups.above(place.s);
        self.staying.clear();
        self.staying.extend(losses.up.targets.iter().map(|lost| targets & !lost));
        self.ahead.gather(place.kernel, (side, targets, &self.staying), view);
        let pi = reference.ready.dividers[place.s.at()];
        self.rounds.find((pi, side.peers.len() as u32), wanted);
        let mut ports = [0; 64];
        ports.iter_mut().zip(side.ports).for_each(|(to, port)| *to = port.0);
        place.kernel.run(
            #[inline(always)]
            || match pi {
                1 => {
                    self.pieces.clear();
                    let mut pieces = std::mem::take(&mut self.pieces);
                    self.each_piece(mender, &side, |_, piece| pieces.push(piece));
                    self.pieces = pieces;
                }
                _ => self.each_piece(mender, &side, |round, piece| {
                    let groups = Set([piece.groups]);
                    let mut group = groups.nth(piece.at);
                    for slot in bits(piece.lost) {
                        round.write(pi, slot, ports[group & 63], row);
                        group = groups.after(group).unwrap_or_else(|| groups.nth(0));
                    }
                }),
            },
        );
        if pi == 1 {
            place.kernel.mend(&ports, &self.pieces, &mut self.cycles, row);
        }
    }

    /// What is lost in each round, and where it goes.
    #[inline(always)]
    fn each_piece(
        &mut self,
        mender: &Mender<'_>,
        side: &Side<'_>,
        mut each: impl FnMut(&Round, Piece),
    ) {
        let Mender { reference, place, view, harmed } = *mender;
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
                    let groups = (side, &staying[..], &view.kept[round.stretch][..]);
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
/// alike. Targets with more than one segment do not count.
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
    fn find(&mut self, of: (u32, u32), wanted: Wanted<'_>) {
        if self.of.replace(of) == Some(of) {
            return;
        }
        let (pi, groups) = of;
        self.all.clear();
        for segment in wanted.of_tile() {
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
                    stretch: ((round - segment.number / pi / groups) as usize).min(STRETCHES - 1),
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
