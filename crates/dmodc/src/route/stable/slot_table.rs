//! Which targets have which slot at a switch, and so for which targets it lost the slot.

use super::losses::Losses;
use super::reference_tile::NumberSpan;
use crate::bits::bits;
use crate::id::SwitchIndex;
use crate::kernel::Divisor;
use crate::preprocess::Preprocessing;

/// The slots of all targets in one stretch, at switches with the same Π and the same number of groups. Switches of one
/// rank are alike, so this is seldom computed.
#[derive(Default)]
pub(super) struct SlotTable {
    /// Π and the number of groups that it was computed for.
    key: Option<(u32, usize)>,
    /// For each group: the targets whose slot it is.
    targets: Vec<u64>,
    /// The targets that have destinations in this stretch, or after it if it is the last stretch.
    present: u64,
}

/// The targets whose slot a switch lost in one stretch.
pub(super) struct LostSlots {
    pub(super) lost: u64,
    /// The targets that have destinations in this stretch.
    pub(super) present: u64,
}

impl SlotTable {
    /// Returns the targets whose slot switch `s` lost, for one stretch of their destinations.
    pub(super) fn lost(
        &mut self,
        then: &Preprocessing,
        s: SwitchIndex,
        losses: &Losses,
        spans: &[NumberSpan],
        stretch: usize,
    ) -> LostSlots {
        let divider = then.dividers[s.at()];
        let was = &losses.was;
        let mut all = 0;
        for (targets, through, lost) in [
            (was.up, &was.through_up, &losses.up.lost_targets),
            (was.down, &was.through_down, &losses.down.lost_targets),
        ] {
            let displaced = targets & losses.displaced;
            if displaced == 0 {
                continue;
            }
            self.find((divider, through.len()), spans, stretch);
            if through.iter().all(|mask| *mask == targets) {
                let pairs = self.targets.iter().zip(lost);
                all |= pairs.fold(0, |all, (targets, lost)| all | targets & lost);
                continue;
            }
            for target in bits(displaced) {
                let members =
                    || through.iter().zip(lost).filter(|(mask, _)| **mask >> target & 1 == 1);
                let q = (spans[target].first / divider) as usize + stretch;
                let slot = members().nth(q % members().count());
                all |= slot.map_or(0, |(_, lost)| lost & 1 << target);
            }
        }
        LostSlots { lost: all, present: self.present }
    }

    fn find(&mut self, key: (u32, usize), spans: &[NumberSpan], stretch: usize) {
        if self.key.replace(key) == Some(key) {
            return;
        }
        let (divider, groups) = key;
        let divider = Divisor::new(divider);
        self.targets.clear();
        self.targets.resize(groups, 0);
        self.present = 0;
        for (target, &NumberSpan { first, last }) in spans.iter().enumerate() {
            let q = divider.divide(first);
            self.targets[(q as usize + stretch) % groups] |= 1 << target;
            self.present |= u64::from((divider.divide(last) - q) as usize >= stretch) << target;
        }
    }
}
