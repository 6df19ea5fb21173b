//! The entries of one row: the reference's, and in their midst those that are lost.

use std::ops::Range;

use super::losses::{Losses, Lost};
use super::view::View;
use super::{Reference, STRETCHES};
use crate::cost::Closer;
use crate::group::Side;
use crate::kernel::{Choices, Divisor, SIZES, bits};
use crate::route::dmodc::ByFormula;
use crate::route::tile::{Place, Wanted};
use crate::tables::{NO_ROUTE, Segment};

/// Groups of one switch, a bit for each.
type Set = [u64; 4];

fn count(set: &Set) -> u32 {
    set.iter().map(|word| word.count_ones()).sum()
}

/// The n-th member.
#[inline]
fn nth(set: &Set, mut n: u32) -> usize {
    for (at, &word) in set.iter().enumerate() {
        let here = word.count_ones();
        if n < here {
            return at * 64 + nth_bit(word, n);
        }
        n -= here;
    }
    unreachable!("a set has as many members as it counts")
}

/// The n-th set bit of a word that has it, by halves.
#[inline]
fn nth_bit(mut word: u64, mut n: u32) -> usize {
    let mut at = 0;
    for half in [32, 16, 8, 4, 2, 1] {
        let low = (word & ((1 << half) - 1)).count_ones();
        if n >= low {
            n -= low;
            word >>= half;
            at += half;
        }
    }
    at as usize
}

fn members(set: Set) -> impl Iterator<Item = usize> {
    set.into_iter().enumerate().flat_map(|(at, word)| bits(word).map(move |bit| at * 64 + bit))
}

/// Puts rows together.
#[derive(Default)]
pub(crate) struct Patcher {
    formula: ByFormula,
    losses: Losses,
    /// Lost slots by target, of the reference's groups above and below.
    lost: [Choices; 2],
    ahead: [Ahead; 2],
    fresh: Closer,
}

/// Closer sets of the displaced targets that are reached in one direction now.
#[derive(Default)]
struct Ahead {
    all: Choices,
    unharmed: Choices,
    /// Those that kept the slot, stretch by stretch; as far as they were asked for.
    kept: Vec<Choices>,
    asked: Vec<bool>,
    masks: Vec<u64>,
}

/// The entries of one segment that are lost.
struct Mend<'a> {
    segment: &'a Segment,
    /// R of its target: a set, where that is not all groups of the side, and how many they are.
    members: Option<Set>,
    slots: u32,
    /// D: those of them that are lost.
    lost: Set,
    /// The side of the reference that R is of.
    side: Side<'a>,
    /// Π of the reference.
    divider: Divisor,
}

impl Mend<'_> {
    /// The place of a group in R.
    fn slot(&self, group: usize) -> u32 {
        match &self.members {
            None => group as u32,
            Some(members) => {
                (0..group).filter(|g| members[g / 64] >> (g % 64) & 1 == 1).count() as u32
            }
        }
    }

    /// ⌊q / #R⌋.
    fn round(&self, q: u32) -> u32 {
        SIZES[self.slots as usize & 255].divide(q)
    }

    /// The destinations of a slot: each q that has it, and the columns of its Π destinations.
    fn of_slot(&self, slot: u32) -> impl Iterator<Item = (u32, Range<usize>)> {
        let &Mend { segment, slots, divider, .. } = self;
        let (first, end) =
            (u64::from(segment.number), u64::from(segment.number) + u64::from(segment.length));
        let q = divider.divide(segment.number);
        let modulo = |n: u32| SIZES[slots as usize & 255].modulo(n);
        let ahead = modulo(slot + 2 * slots - modulo(q) - modulo(u32::from(segment.k)));
        let pi = u64::from(divider.value);
        let from = u64::from(q) + u64::from(ahead);
        (from..).step_by(slots as usize).map_while(move |q| {
            let (from, to) = ((q * pi).max(first), ((q + 1) * pi).min(end));
            let column = |d: u64| (d - first) as usize + segment.start as usize;
            (from < end).then(|| (q as u32, column(from)..column(to)))
        })
    }
}

impl Patcher {
    pub(super) fn fill(
        &mut self,
        reference: &Reference,
        place: Place<'_>,
        view: &View,
        wanted: Wanted<'_>,
        row: &mut [u8],
    ) {
        let Place { s, closer, kernel, .. } = place;
        self.losses.find(reference, &view.costs, place, wanted.targets);
        let was = &self.losses.was;
        let (known, now) = (was.up | was.down, closer.up | closer.down);
        if known == 0 {
            self.formula.fill(place, wanted, row);
            return;
        }
        let then = Place { ready: &reference.ready, s, closer: was, kernel };
        self.formula.fill(then, wanted, row);
        let (fresh, gone) = (now & !known, known & !now);
        let harmed = self.losses.harmed() & now;
        if fresh | gone | harmed == 0 {
            return;
        }
        if harmed & self.losses.displaced != 0 {
            self.gather(place, view);
        }
        if fresh != 0 {
            self.fresh.clone_from(closer);
            self.fresh.restrict(fresh);
        }
        for segment in wanted.segments {
            let bit = 1u64 << segment.target;
            if fresh & bit != 0 {
                let place = Place { closer: &self.fresh, ..place };
                self.formula.patch(place, std::slice::from_ref(segment), row);
            } else if gone & bit != 0 {
                let (start, length) = (segment.start as usize, segment.length as usize);
                row[start..start + length].fill(NO_ROUTE);
            } else if harmed & bit != 0 {
                self.mend(reference, place, view, segment, row);
            }
        }
    }

    /// Sorts the closer sets of all displaced targets by target.
    fn gather(&mut self, place: Place<'_>, view: &View) {
        let Place { ready, s, closer, kernel } = place;
        let Losses { was, up, down, displaced, .. } = &self.losses;
        kernel.gather(&mut self.lost[0], displaced & was.up, &up.targets);
        kernel.gather(&mut self.lost[1], displaced & was.down, &down.targets);
        let above = (ready.groups.above(s), closer.up, &closer.through_up);
        let below = (ready.groups.below(s), closer.down, &closer.through_down);
        for (ahead, (side, targets, through)) in self.ahead.iter_mut().zip([above, below]) {
            let targets = targets & displaced;
            ahead.asked.clear();
            ahead.all.targets = 0;
            if targets == 0 {
                continue;
            }
            let masks = &mut ahead.masks;
            masks.clear();
            masks.extend(through.iter().map(|mask| mask & targets));
            kernel.gather(&mut ahead.all, targets, masks);
            for (mask, peer) in masks.iter_mut().zip(side.peers) {
                *mask &= !view.harmed[peer.at()];
            }
            kernel.gather(&mut ahead.unharmed, targets, masks);
        }
    }

    /// Writes the entries of a segment that are lost.
    fn mend(
        &mut self,
        reference: &Reference,
        place: Place<'_>,
        view: &View,
        segment: &Segment,
        row: &mut [u8],
    ) {
        let bit = 1u64 << segment.target;
        let Losses { was, up, down, displaced, thinned } = &self.losses;
        let groups = &reference.ready.groups;
        let (direction, all, through) = match was.up & bit != 0 {
            true => (0, was.up, &was.through_up),
            false => (1, was.down, &was.through_down),
        };
        // Most often all groups of a direction are closer to all its targets.
        let members = match through.iter().all(|mask| *mask == all) {
            true => None,
            false => Some(set_of(through, segment.target)),
        };
        let mend = Mend {
            segment,
            slots: members.as_ref().map_or(through.len() as u32, count),
            members,
            lost: match displaced & bit {
                0 => [0; 4],
                _ => self.lost[direction].set(segment.target),
            },
            side: [groups.above(place.s), groups.below(place.s)][direction],
            divider: Divisor::new(reference.ready.dividers[place.s.at()]),
        };
        if thinned & bit != 0 {
            stand_in(place, &mend, [up, down][direction], row);
        }
        if mend.lost != [0; 4] {
            self.spread(reference, place, view, &mend, row);
        }
    }

    /// Writes the entries whose slot is lost.
    fn spread(
        &mut self,
        reference: &Reference,
        place: Place<'_>,
        view: &View,
        mend: &Mend<'_>,
        row: &mut [u8],
    ) {
        let target = mend.segment.target;
        let (ahead, side) = match place.closer.up >> target & 1 {
            1 => (&mut self.ahead[0], place.ready.groups.above(place.s)),
            _ => (&mut self.ahead[1], place.ready.groups.below(place.s)),
        };
        let unharmed = ahead.unharmed.set(target);
        let half = 2 * count(&unharmed) >= count(&ahead.all.set(target));
        let first = mend.round(mend.divider.divide(view.firsts[usize::from(target)]));
        let (sigma, k) = (u64::from(reference.places[place.s.at()]), u64::from(mend.segment.k));
        let lost = u64::from(count(&mend.lost));
        for (j, group) in members(mend.lost).enumerate() {
            for (q, columns) in mend.of_slot(mend.slot(group)) {
                let round = mend.round(q);
                let from = match half {
                    true => unharmed,
                    false => {
                        let stretch = (round.saturating_sub(first) as usize).min(STRETCHES - 1);
                        ahead.that_kept(place, view, target, stretch)
                    }
                };
                // Eqs. (3) and (4) for x instead of ⌊d / Π⌋.
                let x = u64::from(round) * lost + j as u64 + sigma;
                let groups = u64::from(count(&from));
                let ports = side.ports_of(nth(&from, ((x + k) % groups) as u32));
                let port = (x / groups + k / groups) % ports.len() as u64;
                row[columns].fill(ports[port as usize].0);
            }
        }
    }
}

impl Ahead {
    /// The closer groups of a target that kept the slot of a stretch; all closer ones if none did.
    fn that_kept(&mut self, place: Place<'_>, view: &View, target: u8, stretch: usize) -> Set {
        let Place { ready, s, closer, kernel } = place;
        if self.asked.len() <= stretch {
            self.asked.resize(stretch + 1, false);
            self.kept.resize_with(self.kept.len().max(stretch + 1), Choices::default);
        }
        if !std::mem::replace(&mut self.asked[stretch], true) {
            let (side, through) = match closer.up >> target & 1 {
                1 => (ready.groups.above(s), &closer.through_up),
                _ => (ready.groups.below(s), &closer.through_down),
            };
            let kept = &view.kept[stretch];
            let pairs = through.iter().zip(side.peers);
            let masks = pairs.map(|(mask, peer)| mask & self.all.targets & kept[peer.at()]);
            self.masks.clear();
            self.masks.extend(masks);
            kernel.gather(&mut self.kept[stretch], self.all.targets, &self.masks);
        }
        match self.kept[stretch].set(target) {
            [0, 0, 0, 0] => self.all.set(target),
            kept => kept,
        }
    }
}

/// Writes the entries whose group is alive and closer, but not their port.
fn stand_in(place: Place<'_>, mend: &Mend<'_>, side: &Lost, row: &mut [u8]) {
    let Place { ready, s, .. } = place;
    for group in side.thin.iter().enumerate().filter(|(_, thin)| **thin).map(|(at, _)| at) {
        let is = |set: &Set| set[group / 64] >> (group % 64) & 1 == 1;
        if mend.members.as_ref().is_some_and(|members| !is(members)) || is(&mend.lost) {
            continue;
        }
        let (peer, were) = (mend.side.peers[group], mend.side.ports_of(group));
        let mut alive = ready.groups.up(s).chain(ready.groups.down(s));
        let Some(alive) = alive.find(|group| group.peer == peer) else { continue };
        for (q, columns) in mend.of_slot(mend.slot(group)) {
            let port = (mend.round(q) + u32::from(mend.segment.k) / mend.slots) as usize;
            if !alive.ports.contains(&were[port % were.len()]) {
                row[columns].fill(alive.ports[port % alive.ports.len()].0);
            }
        }
    }
}

/// The groups that are closer to a target.
fn set_of(through: &[u64], target: u8) -> Set {
    let mut set = [0; 4];
    for (at, mask) in through.iter().enumerate() {
        set[at / 64] |= (mask >> target & 1) << (at % 64);
    }
    set
}
