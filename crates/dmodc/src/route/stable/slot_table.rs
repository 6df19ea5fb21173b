//! Finds the slot of every target at a switch, and hence the targets whose slot the switch lost.

use super::group_set::GroupSet;
use super::losses::{Losses, SideLosses};
use super::reference_tile::NumberSpan;
use super::ways_down::WaysDown;
use super::{Reference, STRETCHES};
use crate::bits::bits;
use crate::id::SwitchIndex;
use crate::kernel::{Divisor, divide_by_count};
use crate::preprocess::{Preprocessing, SwitchDividers};

/// For one stretch t: the slot of each target at a switch that others look ahead to. It is R[(⌊f / Π⌋ + t) mod #R],
/// where f is the number of the target's first destination. One stretch is one *quotient* here, although it is one *round*
/// at the switch that looks ahead: in a PGFT, a round of #R · Π destinations there is the Π of the switch above.
///
/// The slot depends on the switch only through Π and #R. Most switches of a rank have the same, so this is seldom
/// computed. It is made for one tile.
#[derive(Default)]
pub(super) struct SlotTable {
    key: Option<RoundKey>,
    /// For each group: the targets whose slot it is.
    targets: Vec<u64>,
    /// The targets that have destinations in this stretch.
    present: u64,
    /// The targets that have destinations after it.
    later: u64,
}

/// What slots and rounds depend on at a switch: Π (or the divider of its level) and the number of groups of a direction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct RoundKey {
    pub(super) pi: u32,
    pub(super) groups: u32,
}

impl RoundKey {
    /// Returns the key for targets below that have several ways.
    pub(super) fn below(reference: &Reference, s: SwitchIndex, ways: &WaysDown) -> Self {
        let pi = reference.ready.level_dividers(s).down.group;
        RoundKey { pi, groups: ways.count as u32 }
    }
}

/// The targets whose slot a switch lost in one stretch.
#[derive(Clone, Copy, Default)]
pub(super) struct LostSlots {
    pub(super) lost: u64,
    /// The displaced targets that have destinations in this stretch.
    pub(super) present: u64,
    /// The displaced targets that have destinations after it.
    pub(super) later: u64,
}

impl SlotTable {
    /// Returns the targets whose slot in one stretch is lost at switch `s`, except those that [`lost_members`] finds.
    pub(super) fn lost(
        &mut self,
        then: &Preprocessing,
        s: SwitchIndex,
        losses: &Losses,
        spans: &[NumberSpan],
        stretch: usize,
    ) -> LostSlots {
        let SwitchDividers { up, down } = then.level_dividers(s);
        let was = &losses.was;
        let (mut all, mut present, mut later) = (0, 0, 0);
        for (targets, through, side, divider) in [
            (was.up, &was.through_up, &losses.up, up.group),
            (was.down, &was.through_down, &losses.down, down.group),
        ] {
            let lost = &side.lost_targets;
            let displaced = targets & losses.displaced;
            if displaced == 0 {
                continue;
            }
            self.find(RoundKey { pi: divider, groups: through.len() as u32 }, spans, stretch);
            present |= displaced & self.present;
            later |= displaced & self.later;
            if side.is_uniform {
                let pairs = self.targets.iter().zip(lost);
                all |= pairs.fold(0, |all, (targets, lost)| all | targets & lost);
            }
        }
        LostSlots { lost: all, present, later }
    }

    /// Returns the targets whose slot in one stretch is lost at a switch that has all groups of a direction for each target.
    /// `lost` has, for each group, the targets for which it is lost, and `displaced` has all of them.
    pub(super) fn lost_in_all(
        &mut self,
        key: RoundKey,
        lost: &[u64],
        displaced: u64,
        spans: &[NumberSpan],
        stretch: usize,
    ) -> LostSlots {
        self.find(key, spans, stretch);
        let pairs = self.targets.iter().zip(lost);
        let lost = pairs.fold(0, |all, (targets, lost)| all | targets & lost);
        LostSlots { lost, present: displaced & self.present, later: displaced & self.later }
    }

    fn find(&mut self, key: RoundKey, spans: &[NumberSpan], stretch: usize) {
        if self.key.replace(key) == Some(key) {
            return;
        }
        let (divider, groups) = (Divisor::new(key.pi), key.groups as usize);
        self.targets.clear();
        self.targets.resize(groups, 0);
        (self.present, self.later) = (0, 0);
        for (target, &NumberSpan { first, last }) in spans.iter().enumerate() {
            let q = divider.divide(first);
            self.targets[(q as usize + stretch) % groups] |= 1 << target;
            let last_stretch = (divider.divide(last) - q) as usize;
            self.present |= u64::from(last_stretch >= stretch) << target;
            self.later |= u64::from(last_stretch > stretch) << target;
        }
    }
}

/// Returns, for each of the first `stretches` stretches, the targets whose slot is lost at switch `s`, in directions in which not every
/// group is closer to all targets. The losses have the [members](Losses::find_members) of all displaced targets.
pub(super) fn lost_members(
    then: &Preprocessing,
    s: SwitchIndex,
    losses: &Losses,
    spans: &[NumberSpan],
    stretches: usize,
) -> [u64; STRETCHES] {
    let SwitchDividers { up, down } = then.level_dividers(s);
    let was = &losses.was;
    let mut lost = [0; STRETCHES];
    for (targets, groups, side, divider) in [
        (was.up, was.through_up.len(), &losses.up, up.group),
        (was.down, was.through_down.len(), &losses.down, down.group),
    ] {
        let displaced = targets & losses.displaced;
        if displaced == 0 || side.is_uniform {
            continue;
        }
        let divider = Divisor::new(divider);
        let quotient = |target: usize| divider.divide(spans[target].first);
        match groups <= 64 {
            true => walk_members::<1>(side, displaced, quotient, &mut lost[..stretches]),
            false => walk_members::<4>(side, displaced, quotient, &mut lost[..stretches]),
        }
    }
    lost
}

/// Adds to each stretch those of some targets whose slot is lost. The slot of the next stretch is the next member of R.
/// `W` words are enough for the groups of the direction.
#[inline(always)]
fn walk_members<const W: usize>(
    side: &SideLosses,
    displaced: u64,
    quotient: impl Fn(usize) -> u32,
    lost: &mut [u64],
) {
    for target in bits(displaced) {
        let members: GroupSet<W> = GroupSet(side.members.words(target as u8));
        let (_, place) = divide_by_count(quotient(target).into(), members.count());
        let mut group = members.nth(place);
        for lost in &mut *lost {
            *lost |= side.lost_targets[group] & 1 << target;
            group = members.after(group).unwrap_or_else(|| members.first());
        }
    }
}
