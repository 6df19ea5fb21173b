//! Writes the lost entries of a row over those of the reference. An entry is *lost* if it cannot stay as in the reference:
//! its group is lost (then it is spread over other groups), or only its port is (then another port of the group stands in).
//!
//! The slots of a segment come round by round: #R slots, each for Π destinations. Within a round, the lost slots take
//! one member after the other of one set of groups, so that only the first one has to be looked up.

use super::Reference;
use super::group_set::GroupSet;
use super::lookahead::{AheadGroups, Lookahead};
use super::loss_view::LossView;
use super::losses::{Losses, SideLosses};
use super::port_turns::PortTurns;
use super::stand_ins::{GonePort, StandInPlace, write};
use crate::group::Side;
use crate::id::PortNumber;
use crate::kernel::{Choices, Divisor, SIZES, divide_by_count};
use crate::preprocess::SwitchDividers;
use crate::route::port_choice::{RowContext, RowRequest};
use crate::tables::Segment;

/// What the lost entries of one row are computed from.
pub(super) struct LostEntries<'a> {
    pub(super) reference: &'a Reference,
    pub(super) context: RowContext<'a>,
    pub(super) view: &'a LossView,
    /// The targets whose entries are written again where they are lost.
    pub(super) rewritten: u64,
    pub(super) losses: &'a Losses,
    /// The lost groups by target, above and below in the reference.
    pub(super) lost: &'a PerDirection<Choices>,
    /// The ports that thinned groups lost, above and below in the reference.
    pub(super) gone: &'a PerDirection<Vec<GonePort>>,
    /// The closer sets of the displaced targets, above and below in the present.
    pub(super) ahead: &'a mut PerDirection<Lookahead>,
    /// The turns of ports, above and below in the present, where groups have several ports.
    pub(super) turns: &'a PerDirection<PortTurns>,
}

#[derive(Clone, Copy)]
pub(super) enum Direction {
    Up,
    Down,
}

/// A value for each direction.
pub(super) struct PerDirection<T> {
    pub(super) up: T,
    pub(super) down: T,
}

impl<T> PerDirection<T> {
    #[inline(always)]
    fn get(&self, direction: Direction) -> &T {
        match direction {
            Direction::Up => &self.up,
            Direction::Down => &self.down,
        }
    }

    #[inline(always)]
    fn get_mut(&mut self, direction: Direction) -> &mut T {
        match direction {
            Direction::Up => &mut self.up,
            Direction::Down => &mut self.down,
        }
    }
}

/// One direction of the reference.
#[derive(Clone, Copy)]
struct ReferenceSide<'a> {
    through: &'a [u64],
    losses: &'a SideLosses,
    gone: &'a [GonePort],
    /// The groups of the present: in the same direction, and in the other one.
    now: [Side<'a>; 2],
    /// Π, or the divider of the level.
    divider: Divisor,
    /// The divider of ports; `None` for eq. (4).
    port_divider: Option<u32>,
}

/// A segment, and which of its slots are lost or thinned.
struct SegmentSlots<'a, const W: usize> {
    segment: &'a Segment,
    divider: &'a Divisor,
    /// #R.
    count: u32,
    /// R, if it is not all groups of the direction.
    members: Option<GroupSet<W>>,
    /// D.
    lost: GroupSet<W>,
    /// The slots whose group is there, but has other ports than in the reference.
    thinned: GroupSet<W>,
}

/// Consecutive slots of one round.
struct SlotRun {
    /// ⌊q / #R⌋.
    round: u32,
    /// The first slot and the last one.
    first: u32,
    last: u32,
    /// q of the first slot.
    q: u64,
}

impl LostEntries<'_> {
    /// Writes the lost entries into the row. `W` words are enough for the groups of a direction.
    #[inline(always)]
    pub(super) fn write<const W: usize>(&mut self, request: RowRequest<'_>, row: &mut [u8]) {
        let Losses { was, up, down, .. } = self.losses;
        let (s, closer) = (self.context.switch, self.context.closer);
        let now = &self.context.ready.groups;
        let (above, below) = (now.above(s), now.below(s));
        let SwitchDividers { up: up_dividers, down: down_dividers } =
            self.reference.ready.level_dividers(s);
        let sides = PerDirection {
            up: ReferenceSide {
                through: &was.through_up,
                losses: up,
                gone: &self.gone.up,
                now: [above, below],
                divider: Divisor::new(up_dividers.group),
                port_divider: up_dividers.port,
            },
            down: ReferenceSide {
                through: &was.through_down,
                losses: down,
                gone: &self.gone.down,
                now: [below, above],
                divider: Divisor::new(down_dividers.group),
                port_divider: down_dividers.port,
            },
        };
        for segment in request.segments_of(self.rewritten) {
            let target = segment.target;
            let was_above = was.up >> target & 1 == 1;
            let direction = if was_above { Direction::Up } else { Direction::Down };
            let then = sides.get(direction);
            let slots: SegmentSlots<'_, W> = self.slots_of(segment, direction, then);
            if !slots.thinned.is_empty() {
                slots.write_stand_ins(then, row);
            }
            if !slots.lost.is_empty() {
                match closer.up >> target & 1 {
                    1 => self.spread(&slots, Direction::Up, &above, row),
                    _ => self.spread(&slots, Direction::Down, &below, row),
                }
            }
        }
    }

    /// Returns the lost and the thinned slots of a segment, whose target was in this direction in the reference.
    #[inline(always)]
    fn slots_of<'s, const W: usize>(
        &self,
        segment: &'s Segment,
        direction: Direction,
        then: &'s ReferenceSide<'_>,
    ) -> SegmentSlots<'s, W> {
        let Losses { displaced, thinned, .. } = self.losses;
        let target = segment.target;
        let is_reached_as_before = || {
            let closer = self.context.closer;
            let targets = PerDirection { up: closer.up, down: closer.down };
            targets.get(direction) >> target & 1 == 1
        };
        let members =
            (!then.losses.is_uniform).then(|| GroupSet(then.losses.members.words(target)));
        let mut slots = SegmentSlots::<W> {
            segment,
            divider: &then.divider,
            count: then.through.len() as u32,
            members,
            lost: match displaced >> target & 1 {
                0 => GroupSet::EMPTY,
                _ if then.losses.is_unchanged && is_reached_as_before() => {
                    let all = GroupSet([u64::MAX; W]).before(then.through.len() as u32);
                    members.unwrap_or(all).without(&self.ahead.get(direction).all(target))
                }
                _ => GroupSet(self.lost.get(direction).words(target)),
            },
            thinned: GroupSet::EMPTY,
        };
        if thinned >> target & 1 == 1 {
            let groups = then.losses.thinned_groups.iter();
            groups.for_each(|thinned| slots.thinned.insert(thinned.group));
            slots.thinned = slots.thinned.without(&slots.lost);
        }
        if let Some(members) = members {
            slots.number_within(members);
        }
        slots
    }

    /// Writes the entries whose slots are lost, over the groups of one direction of the present.
    #[inline(always)]
    fn spread<const W: usize>(
        &mut self,
        slots: &SegmentSlots<'_, W>,
        direction: Direction,
        side: &Side<'_>,
        row: &mut [u8],
    ) {
        let SegmentSlots { segment, divider, lost, .. } = slots;
        let RowContext { closer, kernel, switch: s, .. } = self.context;
        let (view, ahead) = (self.view, self.ahead.get_mut(direction));
        let shift = u64::from(self.reference.sigmas[s.at()]) + u64::from(segment.k);
        let all_lost = u64::from(lost.count());
        let single = side.ports.len() == side.peers.len();
        let turns = self.turns.get(direction);
        let through = match direction {
            Direction::Up => &closer.through_up,
            Direction::Down => &closer.through_down,
        };
        let groups = AheadGroups { side, through, view, kernel };
        let unharmed = ahead.spread_over_unharmed(segment.target);
        let mut last: Option<LastSpread<W>> = None;
        slots.each_run(
            #[inline(always)]
            |run| {
                let before = lost.before(run.first);
                let here = lost.before(run.last + 1).without(&before);
                if here.is_empty() {
                    return;
                }
                let stretch = || {
                    let first = view.spans[usize::from(segment.target & 63)].first;
                    let first = slots.round(divider.divide(first));
                    let stretch = run.round.saturating_sub(first) as usize;
                    stretch.min(view.kept_slots.len() - 1)
                };
                let from: GroupSet<W> = match unharmed {
                    Some(unharmed) => unharmed,
                    None => ahead.spread_over(segment.target, stretch, groups),
                };
                let x = u64::from(run.round) * all_lost + u64::from(before.count()) + shift;
                let mut write = |slot: usize, port: PortNumber| {
                    let q = run.q + slot as u64 - u64::from(run.first);
                    write(segment, divider, q, port.0, row);
                };
                if single {
                    // Most often this round continues where the one before ended.
                    let mut group = match last {
                        Some(last) if last.x == x && last.from == from => last.group,
                        _ => from.nth(divide_by_count(x, from.count()).1),
                    };
                    for slot in here.iter() {
                        write(slot, side.ports[group]);
                        group = from.after(group).unwrap_or_else(|| from.first());
                    }
                    last = Some(LastSpread { from, x: x + u64::from(here.count()), group });
                } else {
                    let mut place = turns.place(&from, x);
                    for slot in here.iter() {
                        write(slot, side.ports_of(place.group)[place.turn]);
                        place = turns.after(&from, place);
                    }
                }
            },
        );
    }
}

/// The end of a run of lost slots.
#[derive(Clone, Copy)]
struct LastSpread<const W: usize> {
    /// The groups that they were spread over.
    from: GroupSet<W>,
    /// The place x of the next lost slot, and its group if it is spread over the same groups.
    x: u64,
    group: usize,
}

impl<const W: usize> SegmentSlots<'_, W> {
    /// Replaces the indices of groups by their indices within R, for a target to which not all groups of the direction are
    /// closer.
    #[inline(always)]
    fn number_within(&mut self, members: GroupSet<W>) {
        let thinned = self.thinned.and(&members);
        self.count = members.count();
        self.lost = self.lost.indices_within(&members);
        self.thinned = thinned.indices_within(&members);
    }

    /// Returns the round of a quotient: ⌊q / #R⌋.
    #[inline(always)]
    fn round(&self, q: u32) -> u32 {
        SIZES[self.count as usize & 255].divide(q)
    }

    /// Calls `each` with runs of consecutive slots that together cover all destinations of the segment. A run ends with the
    /// round, with the segment, or at the last slot of R. (The k-th LID of a node has the k-th slot after that of its first
    /// LID, so that the last slot of R is not the end of a round if k > 0.)
    #[inline(always)]
    fn each_run(&self, mut each: impl FnMut(SlotRun)) {
        let &SegmentSlots { segment, divider, count, .. } = self;
        let (q, last) = (segment.number, segment.number.saturating_add(segment.length - 1));
        let (mut q, last) = (divider.divide(q), divider.divide(last));
        let mut round = self.round(q);
        let k = if segment.k == 0 { 0 } else { u32::from(segment.k) % count };
        loop {
            // The run ends where the round or the slots of R end, whichever comes first, or with the segment.
            let place = q - round * count;
            let slot = if place + k < count { place + k } else { place + k - count };
            let most = (count - place).min(count - slot);
            let length = most.min((last - q).saturating_add(1));
            each(SlotRun { round, first: slot, last: slot + length - 1, q: q.into() });
            if last - q < length {
                return;
            }
            q += length;
            if place + length == count {
                round += 1;
            }
        }
    }

    /// Writes the entries whose group is there, but whose port is not: another port of the group stands in.
    #[inline(always)]
    fn write_stand_ins(&self, then: &ReferenceSide<'_>, row: &mut [u8]) {
        let &SegmentSlots { segment, divider, count, members, .. } = self;
        let place = StandInPlace { segment, divider, count, port_divider: then.port_divider };
        for gone in then.gone {
            if members.is_some_and(|members| !members.has(gone.group)) {
                continue;
            }
            let slot = members.map_or(gone.group, |members| members.index(gone.group));
            if self.thinned.has(slot) {
                gone.write(then.now, slot as u32, place, row);
            }
        }
    }
}
