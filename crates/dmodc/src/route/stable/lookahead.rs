//! Looking ahead: which of the closer groups the displaced destinations of a target go to. Both the fast and the general
//! path use it.

use super::STRETCHES;
use super::group_set::GroupSet;
use super::loss_view::LossView;
use crate::group::Side;
use crate::kernel::{Choices, Kernel};
use crate::oracle::stable::are_enough_unharmed;

/// The closer sets of displaced targets in one direction, by target: for each target, the groups that are closer to it.
pub(super) struct Lookahead {
    /// All closer groups.
    all: Choices,
    /// The groups whose switches lost nothing; unused if they are packed into `all`.
    unharmed: Choices,
    /// With n ≤ 32 groups, both sets of a target share one word of `all`: its low n bits are all closer groups, and the
    /// next n bits are the unharmed ones. This is n then, and 0 if the sets are not packed.
    packed_groups: usize,
    /// For each stretch: the groups whose switches kept the slot. Found when first needed, as there is often one stretch only.
    kept_slots: Vec<Choices>,
    is_known: [bool; STRETCHES],
    masks: Vec<u64>,
}

impl Default for Lookahead {
    fn default() -> Self {
        Lookahead {
            all: Choices::one_by_one(),
            unharmed: Choices::one_by_one(),
            packed_groups: 0,
            kept_slots: vec![],
            is_known: [false; STRETCHES],
            masks: vec![],
        }
    }
}

impl Lookahead {
    /// Transposes the closer sets of some targets: from `through`, which has for each group of `side` the targets that it is
    /// closer to, to the groups that are closer to each target.
    pub(super) fn gather(
        &mut self,
        kernel: Kernel,
        side: Side<'_>,
        targets: u64,
        through: &[u64],
        view: &LossView,
    ) {
        self.is_known = [false; STRETCHES];
        self.all.targets = targets;
        if targets == 0 {
            return;
        }
        let Lookahead { all, unharmed, masks, .. } = self;
        masks.clear();
        masks.extend(through.iter().map(|mask| mask & targets));
        let harmed = side.peers.iter().map(|peer| view.harmed[peer.at()]);
        let ahead = |(mask, harmed): (&u64, u64)| mask & targets & !harmed;
        self.packed_groups = if through.len() <= 32 { through.len() } else { 0 };
        if self.packed_groups > 0 {
            // Both sets fit into one word for each target, and are sorted at once.
            masks.extend(through.iter().zip(harmed).map(ahead));
            kernel.gather(all, targets, masks);
        } else {
            kernel.gather(all, targets, masks);
            masks.clear();
            masks.extend(through.iter().zip(harmed).map(ahead));
            kernel.gather(unharmed, targets, masks);
        }
    }

    /// Returns the closer groups of a target.
    #[inline(always)]
    pub(super) fn all<const W: usize>(&self, target: u8) -> GroupSet<W> {
        let mut all = GroupSet(self.all.words(target));
        if self.packed_groups > 0 {
            all.0[0] &= (1 << self.packed_groups) - 1;
        }
        all
    }

    /// Returns the closer groups of a target whose switches lost nothing.
    #[inline(always)]
    fn unharmed<const W: usize>(&self, target: u8) -> GroupSet<W> {
        match self.packed_groups {
            0 => GroupSet(self.unharmed.words(target)),
            groups => {
                let mut both: GroupSet<W> = GroupSet(self.all.words(target));
                both.0[0] >>= groups;
                both
            }
        }
    }

    /// Returns the groups over which the lost slots of a target are [spread](spread_over), if they are the same for all
    /// stretches.
    #[inline(always)]
    pub(super) fn spread_over_unharmed<const W: usize>(&self, target: u8) -> Option<GroupSet<W>> {
        let (all, unharmed): (GroupSet<W>, _) = (self.all(target), self.unharmed(target));
        are_enough_unharmed(unharmed.count() as usize, all.count() as usize).then_some(unharmed)
    }

    /// Returns the groups over which the lost slots of a target are [spread](spread_over). `stretch` is only called if it is
    /// needed.
    #[inline(always)]
    pub(super) fn spread_over<const W: usize>(
        &mut self,
        target: u8,
        stretch: impl FnOnce() -> usize,
        groups: AheadGroups<'_>,
    ) -> GroupSet<W> {
        spread_over(self.all(target), self.unharmed(target), || {
            let stretch = stretch();
            if !self.is_known[stretch] {
                self.find_kept(groups, stretch);
            }
            GroupSet(self.kept_slots[stretch].words(target))
        })
    }

    /// Returns the sets of at most 64 groups by target: all closer groups and, above the lowest `shift` bits, those whose
    /// switches lost nothing.
    pub(super) fn by_target(&self) -> AheadWords<'_> {
        match self.packed_groups {
            0 => AheadWords {
                all: self.all.first_words(),
                unharmed: self.unharmed.first_words(),
                shift: 0,
            },
            groups => AheadWords {
                all: self.all.first_words(),
                unharmed: self.all.first_words(),
                shift: groups as u32,
            },
        }
    }

    /// Returns, by target, the groups whose switches kept the slot of a stretch.
    pub(super) fn kept_by_target(&mut self, stretch: usize, groups: AheadGroups<'_>) -> &[u64; 64] {
        if !self.is_known[stretch] {
            self.find_kept(groups, stretch);
        }
        self.kept_slots[stretch].first_words()
    }

    #[inline(never)]
    fn find_kept(&mut self, groups: AheadGroups<'_>, stretch: usize) {
        let AheadGroups { side, through, view, kernel } = groups;
        let (targets, kept) = (self.all.targets, &view.kept_slots[stretch]);
        self.masks.clear();
        let pairs = through.iter().zip(side.peers);
        self.masks.extend(pairs.map(|(mask, peer)| mask & targets & kept[peer.at()]));
        if self.kept_slots.len() <= stretch {
            self.kept_slots.resize_with(stretch + 1, Choices::one_by_one);
        }
        kernel.gather(&mut self.kept_slots[stretch], targets, &self.masks);
        self.is_known[stretch] = true;
    }
}

/// Returns the set B of docs/src/explanation/stable.md: the groups over which the lost slots of a target are spread. `all` are
/// the closer groups of the target, and `unharmed` those of them whose switches lost nothing. B is the unharmed ones, if these
/// are at least half; else those whose switches kept the slot of the stretch; if there is none, all of them. `kept` is only
/// called if it is needed.
#[inline(always)]
pub(super) fn spread_over<const W: usize>(
    all: GroupSet<W>,
    unharmed: GroupSet<W>,
    kept: impl FnOnce() -> GroupSet<W>,
) -> GroupSet<W> {
    if are_enough_unharmed(unharmed.count() as usize, all.count() as usize) {
        return unharmed;
    }
    let kept = kept();
    if kept.is_empty() { all } else { kept }
}

/// The closer sets of at most 64 groups: a word for each target.
#[derive(Clone, Copy)]
pub(super) struct AheadWords<'a> {
    /// All closer groups. Bits of no group mean nothing.
    pub(super) all: &'a [u64; 64],
    /// The groups whose switches lost nothing, this number of bits further up.
    pub(super) unharmed: &'a [u64; 64],
    pub(super) shift: u32,
}

/// The groups of one direction with their targets, as they were [gathered](Lookahead::gather).
#[derive(Clone, Copy)]
pub(super) struct AheadGroups<'a> {
    pub(super) side: &'a Side<'a>,
    pub(super) through: &'a [u64],
    pub(super) view: &'a LossView,
    pub(super) kernel: Kernel,
}
