//! The entries of one row: the reference's, and in their midst those that are lost.

use super::losses::Losses;
use super::mend::Mender;
use super::set::Set;
use super::usual::Usual;
use super::view::View;
use super::{Reference, STRETCHES};
use crate::cost::Closer;
use crate::group::Side;
use crate::kernel::{Choices, Kernel};
use crate::route::Preprocessing;
use crate::route::dmodc::ByFormula;
use crate::route::tile::{Place, Wanted};
use crate::tables::NO_ROUTE;

/// Puts rows together.
pub(crate) struct Patcher {
    pub(super) formula: ByFormula,
    losses: Losses,
    pub(super) usual: Usual,
    /// Lost groups by target: those above and those below in the reference.
    lost: [Choices; 2],
    /// Displaced targets that are reached upwards now, and downwards.
    ahead: [Ahead; 2],
    /// The closer sets of targets that the reference does not know.
    fresh: Closer,
}

impl Default for Patcher {
    fn default() -> Self {
        Patcher {
            formula: ByFormula::default(),
            losses: Losses::default(),
            usual: Usual::default(),
            lost: std::array::from_fn(|_| Choices::one_by_one()),
            ahead: Default::default(),
            fresh: Closer::default(),
        }
    }
}

/// The closer sets of the displaced targets of one direction.
pub(super) struct Ahead {
    all: Choices,
    unharmed: Choices,
    /// How many groups there are, if `all` has a bit for each that lost nothing, too, after those of all.
    together: usize,
    /// The groups whose switches kept the slot, stretch by stretch, as far as that was asked for.
    kept: [Choices; STRETCHES],
    asked: [bool; STRETCHES],
    masks: Vec<u64>,
}

impl Default for Ahead {
    fn default() -> Self {
        Ahead {
            all: Choices::one_by_one(),
            unharmed: Choices::one_by_one(),
            together: 0,
            kept: std::array::from_fn(|_| Choices::one_by_one()),
            asked: [false; STRETCHES],
            masks: vec![],
        }
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
        let Place { s, closer, kernel, ready } = place;
        let below = reference.ready.groups.below(s);
        let single = || below.ports.len() == below.peers.len();
        if view.is_whole || reference.all_or_nothing(view, ready, s) && single() {
            view.displace(s, wanted.targets, 0);
            self.formula.fill(place, wanted, row);
            return;
        }
        self.losses.find(reference, view, place, wanted.targets);
        let was = &self.losses.was;
        let (known, now) = (was.up | was.down, closer.up | closer.down);
        if known == 0 {
            view.displace(s, wanted.targets, 0);
            self.formula.fill(place, wanted, row);
            return;
        }
        let then = Place { ready: &reference.ready, s, closer: was, kernel };
        self.formula.fill(then, wanted, row);
        let (fresh, gone) = (now & !known, known & !now);
        view.displace(s, wanted.targets, self.losses.displaced);
        let mut harmed = self.losses.harmed() & now;
        if !reference.ready.ranking.is_leaf(s) {
            harmed &= view.needy[s.at()];
        }
        if fresh | gone != 0 {
            self.come_and_go(place, (fresh, gone), wanted, row);
        }
        if harmed == 0 {
            return;
        }
        if harmed & self.losses.displaced != 0 {
            self.gather(place, view);
        }
        let mender = Mender { reference, place, view, harmed };
        let Patcher { losses, lost, ahead, .. } = self;
        let groups = |ready: &Preprocessing| {
            ready.groups.above(s).peers.len().max(ready.groups.below(s).peers.len())
        };
        let narrow = groups(ready).max(groups(&reference.ready)) <= 64;
        kernel.run(
            #[inline(always)]
            || match narrow {
                true => mender.mend::<1>((losses, lost, ahead), wanted, row),
                false => mender.mend::<4>((losses, lost, ahead), wanted, row),
            },
        );
    }

    /// Writes the entries of targets that the reference does not reach, or nobody now.
    fn come_and_go(
        &mut self,
        place: Place<'_>,
        (fresh, gone): (u64, u64),
        wanted: Wanted<'_>,
        row: &mut [u8],
    ) {
        if fresh != 0 {
            self.fresh.clone_from(place.closer);
            self.fresh.restrict(fresh);
        }
        let place = Place { closer: &self.fresh, ..place };
        for segment in wanted.of(fresh) {
            self.formula.patch(place, std::slice::from_ref(segment), row);
        }
        for segment in wanted.of(gone) {
            let (start, length) = (segment.start as usize, segment.length as usize);
            row[start..start + length].fill(NO_ROUTE);
        }
    }

    /// Sorts the closer sets of all displaced targets by target.
    fn gather(&mut self, place: Place<'_>, view: &View) {
        let Place { ready, s, closer, kernel } = place;
        let Losses { was, up, down, displaced, .. } = &self.losses;
        for (lost, (targets, by_group)) in
            self.lost.iter_mut().zip([(was.up, up), (was.down, down)])
        {
            let targets = targets & displaced;
            if targets != 0 {
                kernel.gather(lost, targets, &by_group.targets);
            }
        }
        let above = (ready.groups.above(s), closer.up, &closer.through_up[..]);
        let below = (ready.groups.below(s), closer.down, &closer.through_down[..]);
        for (ahead, (side, targets, through)) in self.ahead.iter_mut().zip([above, below]) {
            ahead.gather(kernel, (side, targets & displaced, through), view);
        }
    }
}

impl Ahead {
    pub(super) fn gather(
        &mut self,
        kernel: Kernel,
        (side, targets, through): (Side<'_>, u64, &[u64]),
        view: &View,
    ) {
        self.asked = [false; STRETCHES];
        self.all.targets = targets;
        if targets == 0 {
            return;
        }
        let Ahead { all, unharmed, masks, .. } = self;
        masks.clear();
        masks.extend(through.iter().map(|mask| mask & targets));
        let harmed = side.peers.iter().map(|peer| view.harmed[peer.at()]);
        let ahead = |(mask, harmed): (&u64, u64)| mask & targets & !harmed;
        self.together = if through.len() <= 32 { through.len() } else { 0 };
        if self.together > 0 {
            // Both kinds fit into one word for each target, and are sorted at once.
            masks.extend(through.iter().zip(harmed).map(ahead));
            kernel.gather(all, targets, masks);
        } else {
            kernel.gather(all, targets, masks);
            masks.clear();
            masks.extend(through.iter().zip(harmed).map(ahead));
            kernel.gather(unharmed, targets, masks);
        }
    }

    /// The closer groups of a target.
    #[inline(always)]
    pub(super) fn all<const W: usize>(&self, target: u8) -> Set<W> {
        let mut all = Set(self.all.words(target));
        if self.together > 0 {
            all.0[0] &= (1 << self.together) - 1;
        }
        all
    }

    /// Those of them that lost nothing.
    #[inline(always)]
    fn unharmed<const W: usize>(&self, target: u8) -> Set<W> {
        match self.together {
            0 => Set(self.unharmed.words(target)),
            groups => {
                let mut both: Set<W> = Set(self.all.words(target));
                both.0[0] >>= groups;
                both
            }
        }
    }

    /// The groups that the lost slots of a target go to, of those of its closer groups that are `live`: those
    /// that lost nothing, if they are at least half; else those that kept the slot of a stretch; else
    /// all. Asks for the groups with their targets, as [gathered](Self::gather).
    #[inline(always)]
    pub(super) fn spread_over<const W: usize>(
        &mut self,
        (target, live): (u8, Set<W>),
        stretch: impl FnOnce() -> usize,
        kernel: Kernel,
        (side, through, view): (&Side<'_>, &[u64], &View),
    ) -> Set<W> {
        let all = self.all(target).and(&live);
        let unharmed = self.unharmed(target).and(&live);
        if 2 * unharmed.count() >= all.count() {
            return unharmed;
        }
        let stretch = stretch();
        if !self.asked[stretch] {
            self.ask(kernel, (side, through, &view.kept[stretch]), stretch);
        }
        let kept = Set(self.kept[stretch].words(target)).and(&live);
        if kept.is_empty() { all } else { kept }
    }

    #[inline(never)]
    fn ask(
        &mut self,
        kernel: Kernel,
        (side, through, kept): (&Side<'_>, &[u64], &[u64]),
        stretch: usize,
    ) {
        let targets = self.all.targets;
        self.masks.clear();
        let pairs = through.iter().zip(side.peers);
        self.masks.extend(pairs.map(|(mask, peer)| mask & targets & kept[peer.at()]));
        kernel.gather(&mut self.kept[stretch], targets, &self.masks);
        self.asked[stretch] = true;
    }
}
