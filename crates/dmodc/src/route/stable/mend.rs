//! The lost entries of a row, written over those of the reference.
//!
//! The slots of a segment come round by round: #R of them, each for Π destinations. Within a round those
//! that are lost take one member after the other of one set, so that only the first has to be looked up.

use super::Reference;
use super::losses::{Losses, Lost};
use super::select::Ahead;
use super::set::Set;
use super::view::View;
use crate::group::Side;
use crate::kernel::{Choices, Divisor, SIZES};
use crate::route::tile::{Place, Wanted};
use crate::tables::Segment;

/// Writes the lost entries of one row.
pub(super) struct Mender<'a> {
    pub(super) reference: &'a Reference,
    pub(super) place: Place<'a>,
    pub(super) view: &'a View,
    /// The targets that have some.
    pub(super) harmed: u64,
}

/// One direction of the reference.
#[derive(Clone, Copy)]
struct Direction<'a> {
    side: Side<'a>,
    through: &'a [u64],
    /// Whether every group is closer to every target.
    is_uniform: bool,
    lost: &'a Lost,
    /// The groups now: in the same direction, and in the other one.
    now: [Side<'a>; 2],
}

impl<'a> Direction<'a> {
    fn new(
        side: Side<'a>,
        (targets, through): (u64, &'a [u64]),
        lost: &'a Lost,
        now: [Side<'a>; 2],
    ) -> Self {
        let is_uniform = through.iter().all(|mask| *mask == targets);
        Direction { side, through, is_uniform, lost, now }
    }
}

/// A segment, and what its slots have come to.
struct Slots<'a, const W: usize> {
    segment: &'a Segment,
    divider: &'a Divisor,
    /// #R.
    count: u32,
    /// R, where it is not all groups of the direction.
    members: Option<Set<W>>,
    /// D.
    lost: Set<W>,
    /// Slots whose group is alive, but not all of its ports.
    thin: Set<W>,
}

/// Slots of one round that follow each other.
struct Run {
    /// ⌊q / #R⌋.
    round: u32,
    /// From the first one to the last.
    first: u32,
    last: u32,
    /// q of the first.
    q: u64,
}

impl Mender<'_> {
    #[inline(always)]
    pub(super) fn mend<const W: usize>(
        &self,
        (losses, lost, ahead): (&Losses, &[Choices; 2], &mut [Ahead; 2]),
        wanted: Wanted<'_>,
        row: &mut [u8],
    ) {
        let Losses { was, up, down, displaced, thinned } = losses;
        let (s, closer) = (self.place.s, self.place.closer);
        let closer_in = [closer.up, closer.down];
        let (then, now) = (&self.reference.ready.groups, &self.place.ready.groups);
        let (above, below) = (now.above(s), now.below(s));
        let sides = [
            Direction::new(then.above(s), (was.up, &was.through_up), up, [above, below]),
            Direction::new(then.below(s), (was.down, &was.through_down), down, [below, above]),
        ];
        let divider = Divisor::new(self.reference.ready.dividers[s.at()]);
        for segment in wanted.of(self.harmed) {
            let target = segment.target;
            let direction = usize::from(was.up >> target & 1 == 0);
            let then = &sides[direction];
            let mut slots = Slots::<W> {
                segment,
                divider: &divider,
                count: then.through.len() as u32,
                members: None,
                lost: match displaced >> target & 1 {
                    0 => Set::EMPTY,
                    _ if then.lost.is_same && closer_in[direction] >> target & 1 == 1 => {
                        let all = Set([u64::MAX; W]).before(then.through.len() as u32);
                        let members =
                            if then.is_uniform { all } else { Set::of(then.through, target) };
                        members.without(&ahead[direction].all(target))
                    }
                    _ => Set(lost[direction].words(target)),
                },
                thin: Set::EMPTY,
            };
            if thinned >> target & 1 == 1 {
                then.lost.thin.iter().for_each(|(group, _)| slots.thin.insert(*group));
                slots.thin = slots.thin.without(&slots.lost);
            }
            if !then.is_uniform {
                slots.among(then.through);
            }
            if !slots.thin.is_empty() {
                slots.stand_in(then, row);
            }
            if !slots.lost.is_empty() {
                match closer.up >> target & 1 {
                    1 => self.spread(&slots, &mut ahead[0], &above, row),
                    _ => self.spread(&slots, &mut ahead[1], &below, row),
                }
            }
        }
    }

    /// Writes the entries whose slots are lost: eqs. (3) and (4) for x.
    #[inline(always)]
    fn spread<const W: usize>(
        &self,
        slots: &Slots<'_, W>,
        ahead: &mut Ahead,
        side: &Side<'_>,
        row: &mut [u8],
    ) {
        let Slots { segment, divider, lost, .. } = slots;
        let Place { closer, kernel, .. } = self.place;
        let shift = u64::from(self.reference.places[self.place.s.at()]) + u64::from(segment.k);
        let all_lost = u64::from(lost.count());
        let single = side.ports.len() == side.peers.len();
        let through = match closer.up >> segment.target & 1 {
            1 => &closer.through_up,
            _ => &closer.through_down,
        };
        slots.each_run(
            #[inline(always)]
            |run| {
                let before = lost.before(run.first);
                let here = lost.before(run.last + 1).without(&before);
                if here.is_empty() {
                    return;
                }
                let stretch = || {
                    let first = self.view.spans[usize::from(segment.target & 63)].0;
                    let first = slots.round(divider.divide(first));
                    let stretch = run.round.saturating_sub(first) as usize;
                    stretch.min(self.view.kept.len() - 1)
                };
                let of = (segment.target, Set([u64::MAX; W]));
                let groups = (side, &through[..], self.view);
                let from: Set<W> = ahead.spread_over(of, stretch, kernel, groups);
                let x = u64::from(run.round) * all_lost + u64::from(before.count()) + shift;
                let (mut turn, at) = divide(x, from.count());
                let mut group = from.nth(at);
                for slot in here.iter() {
                    let port = match single {
                        true => side.ports[group],
                        false => {
                            let ports = side.ports_of(group);
                            ports[(turn % ports.len() as u64) as usize]
                        }
                    };
                    write(
                        segment,
                        divider,
                        run.q + slot as u64 - u64::from(run.first),
                        port.0,
                        row,
                    );
                    group = from.after(group).unwrap_or_else(|| {
                        turn += 1;
                        from.nth(0)
                    });
                }
            },
        );
    }
}

/// Writes one port for the destinations of q.
#[inline(always)]
fn write(segment: &Segment, divider: &Divisor, q: u64, port: u8, row: &mut [u8]) {
    let Segment { start, length, number, .. } = *segment;
    let (start, number) = (start as usize, u64::from(number));
    if divider.value == 1 {
        row[start + (q - number) as usize] = port;
        return;
    }
    let pi = u64::from(divider.value);
    let from = (q * pi).max(number) - number;
    let to = ((q + 1) * pi).min(number + u64::from(length)) - number;
    row[start + from as usize..start + to as usize].fill(port);
}

/// Quotient and rest, the divisor being a number of groups.
#[inline(always)]
pub(super) fn divide(x: u64, by: u32) -> (u64, u32) {
    match u32::try_from(x) {
        Ok(x) => {
            let quotient = SIZES[by as usize & 255].divide(x);
            (quotient.into(), x - quotient * by)
        }
        Err(_) => (x / u64::from(by), (x % u64::from(by)) as u32),
    }
}

impl<const W: usize> Slots<'_, W> {
    /// Counts slots by their places in R, which is not all groups.
    fn among(&mut self, through: &[u64]) {
        let members = Set::of(through, self.segment.target);
        let thin = Set(std::array::from_fn(|at| self.thin.0[at] & members.0[at]));
        self.count = members.count();
        self.lost = self.lost.ranked(&members);
        self.thin = thin.ranked(&members);
        self.members = Some(members);
    }

    /// ⌊q / #R⌋.
    #[inline(always)]
    fn round(&self, q: u32) -> u32 {
        SIZES[self.count as usize & 255].divide(q)
    }

    /// The slots of all destinations. The k-th LID of a node has the k-th slot after that of the first.
    #[inline(always)]
    fn each_run(&self, mut each: impl FnMut(Run)) {
        let &Slots { segment, divider, count, .. } = self;
        let (q, last) = (segment.number, segment.number.saturating_add(segment.length - 1));
        let (mut q, last) = (divider.divide(q), divider.divide(last));
        let mut round = self.round(q);
        let k = if segment.k == 0 { 0 } else { u32::from(segment.k) % count };
        loop {
            // From here to the end of the round, or of the segment; or to where the slots begin anew.
            let place = q - round * count;
            let slot = if place + k < count { place + k } else { place + k - count };
            let most = (count - place).min(count - slot);
            let length = most.min((last - q).saturating_add(1));
            each(Run { round, first: slot, last: slot + length - 1, q: q.into() });
            if last - q < length {
                return;
            }
            q += length;
            if place + length == count {
                round += 1;
            }
        }
    }

    /// Writes the entries whose group is alive, but not their port.
    fn stand_in(&self, then: &Direction<'_>, row: &mut [u8]) {
        self.each_run(|run| {
            let here = self.thin.before(run.last + 1).without(&self.thin.before(run.first));
            for slot in here.iter() {
                let group = self.members.map_or(slot, |members| members.nth(slot as u32));
                let Some((_, now)) = then.lost.thin.iter().find(|(at, _)| *at == group) else {
                    continue;
                };
                let (were, are) =
                    (then.side.ports_of(group), then.now[usize::from(now.turned)].ports_of(now.at));
                let port = (run.round + u32::from(self.segment.k) / self.count) as usize;
                if !are.contains(&were[port % were.len()]) {
                    let q = run.q + slot as u64 - u64::from(run.first);
                    write(self.segment, self.divider, q, are[port % are.len()].0, row);
                }
            }
        });
    }
}
