//! Slots by target: which of them a switch lost.

use super::losses::Losses;
use crate::id::SwitchIndex;
use crate::kernel::{Divisor, bits};
use crate::route::Preprocessing;

/// Which targets have which slot, at switches with one Π and so many groups: those of a rank are alike.
#[derive(Default)]
pub(super) struct Slots {
    of: Option<(u32, usize)>,
    /// For each group.
    targets: Vec<u64>,
    /// Targets that have destinations in this stretch, or, if it is the last one told apart, later.
    there: u64,
}

impl Slots {
    /// The targets whose slot a switch lost, for one stretch of their destinations; and which of them have
    /// destinations there.
    pub(super) fn lost(
        &mut self,
        then: &Preprocessing,
        (s, losses): (SwitchIndex, &Losses),
        (spans, stretch): (&[(u32, u32)], usize),
    ) -> (u64, u64) {
        let divider = then.dividers[s.at()];
        let was = &losses.was;
        let mut all = 0;
        for (targets, through, lost) in [
            (was.up, &was.through_up, &losses.up.targets),
            (was.down, &was.through_down, &losses.down.targets),
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
                let q = (spans[target].0 / divider) as usize + stretch;
                let slot = members().nth(q % members().count());
                all |= slot.map_or(0, |(_, lost)| lost & 1 << target);
            }
        }
        (all, self.there)
    }

    fn find(&mut self, of: (u32, usize), spans: &[(u32, u32)], stretch: usize) {
        if self.of.replace(of) == Some(of) {
            return;
        }
        let (divider, groups) = of;
        let divider = Divisor::new(divider);
        self.targets.clear();
        self.targets.resize(groups, 0);
        self.there = 0;
        for (target, &(first, last)) in spans.iter().enumerate() {
            let q = divider.divide(first);
            self.targets[(q as usize + stretch) % groups] |= 1 << target;
            self.there |= u64::from((divider.divide(last) - q) as usize >= stretch) << target;
        }
    }
}
