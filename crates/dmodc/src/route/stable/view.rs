//! What every switch lost, for one tile: found once, so that those before it can look ahead.

use super::losses::Losses;
use super::select::Patcher;
use super::{Reference, STRETCHES};
use crate::cost::{Closer, CostBlock, Costs, Hops, TooFar};
use crate::group::PortGroups;
use crate::id::SwitchIndex;
use crate::kernel::{Divisor, Kernel, bits};
use crate::route::Preprocessing;
use crate::route::tile::{Place, Selection, Wanted, Work};
use crate::router::Marks;
use crate::tables::{Columns, Tile};

/// The costs of the reference, in the form that it allows.
#[derive(Clone, Debug)]
pub(super) enum ReferenceCosts {
    Hops(Hops),
    Bytes(CostBlock),
}

impl Default for ReferenceCosts {
    fn default() -> Self {
        ReferenceCosts::Bytes(CostBlock::default())
    }
}

impl ReferenceCosts {
    #[inline(always)]
    pub(super) fn closer(&self, groups: &PortGroups, s: SwitchIndex, closer: &mut Closer) {
        match self {
            ReferenceCosts::Hops(costs) => costs.closer(groups, s, closer),
            ReferenceCosts::Bytes(costs) => Costs::closer(costs, groups, s, closer),
        }
    }

    /// The same for targets below alone.
    #[inline(always)]
    fn closer_below(&self, groups: &PortGroups, s: SwitchIndex, closer: &mut Closer) {
        match self {
            ReferenceCosts::Hops(costs) => costs.closer_below(groups, s, closer),
            ReferenceCosts::Bytes(costs) => Costs::closer(costs, groups, s, closer),
        }
    }

    fn compute(
        &mut self,
        work: &Work<'_>,
        tile: &Tile,
        then: &Preprocessing,
    ) -> Result<(), TooFar> {
        let targets = work.targets(tile);
        match then.planes() {
            Some(planes) => {
                if !matches!(self, ReferenceCosts::Hops(costs) if costs.planes() == planes) {
                    *self = ReferenceCosts::Hops(Hops::new(planes));
                }
            }
            None => *self = ReferenceCosts::default(),
        }
        work.ready.kernel.run(|| match self {
            ReferenceCosts::Hops(costs) => costs.compute(&then.groups, targets),
            ReferenceCosts::Bytes(costs) => costs.compute(&then.groups, targets),
        })
    }
}

/// What the reference's closer sets of one switch look like.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    /// The targets above, if all groups above are closer to all of them.
    uniform: Option<u64>,
    /// Whether all targets are below, each with one group.
    is_single: bool,
}

/// A tile as the switches before others see it.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    /// Which tile it is.
    tile: Option<usize>,
    costs: ReferenceCosts,
    kinds: Vec<Kind>,
    /// Whether the fabric is the reference itself.
    pub(super) is_whole: bool,
    /// The number of the first destination of each target.
    pub(super) firsts: Vec<u32>,
    /// For each switch: the targets for which it lost a group or a port.
    pub(super) harmed: Vec<u64>,
    /// Stretch by stretch (Π destinations from the first one of a target on), for each switch: the targets
    /// whose slot it kept. The last stands for all later ones.
    pub(super) kept: [Vec<u64>; STRETCHES],
}

impl View {
    /// Begins anew unless it is of this tile already; nothing is harmed yet.
    fn begin(&mut self, reference: &Reference, work: &Work<'_>, tile: &Tile) -> Result<(), TooFar> {
        if self.tile != Some(tile.index) {
            self.tile = None;
            self.costs.compute(work, tile, &reference.ready)?;
            self.find_kinds(reference, work.ready.kernel);
            self.firsts.clear();
            self.firsts.extend(tile.switches.clone().map(|at| first(work.columns, at)));
            self.tile = Some(tile.index);
        }
        self.is_whole = *work.live.degradation == reference.degradation;
        let switches = work.ready.groups.switch_count();
        self.harmed.clear();
        self.harmed.resize(switches, 0);
        for kept in &mut self.kept {
            kept.clear();
            kept.resize(switches, u64::MAX);
        }
        Ok(())
    }

    fn find_kinds(&mut self, reference: &Reference, kernel: Kernel) {
        let groups = &reference.ready.groups;
        let mut closer = Closer::default();
        self.kinds.clear();
        self.kinds.extend((0..groups.switch_count()).map(SwitchIndex::new).map(|s| {
            kernel.run(|| self.costs.closer(groups, s, &mut closer));
            let uniform = closer.through_up.iter().all(|mask| *mask == closer.up);
            let choices: u32 = closer.through_down.iter().map(|mask| mask.count_ones()).sum();
            Kind {
                uniform: uniform.then_some(closer.up),
                is_single: closer.up == 0 && choices == closer.down.count_ones(),
            }
        }));
    }

    /// The reference's closer sets of a switch.
    #[inline(always)]
    pub(super) fn closer(&self, reference: &Reference, s: SwitchIndex, closer: &mut Closer) {
        let groups = &reference.ready.groups;
        match self.kinds[s.at()].uniform {
            Some(up) => {
                self.costs.closer_below(groups, s, closer);
                closer.up = up;
                closer.through_up.clear();
                if up != 0 {
                    closer.through_up.resize(groups.above(s).peers.len(), up);
                }
            }
            None => self.costs.closer(groups, s, closer),
        }
    }

    /// Notes what a switch lost; the targets for which that is not what was known.
    fn note(
        &mut self,
        s: SwitchIndex,
        losses: &Losses,
        slots: &mut [Slots; STRETCHES],
        then: &Preprocessing,
    ) -> u64 {
        let harmed = losses.harmed();
        let mut changed = harmed ^ std::mem::replace(&mut self.harmed[s.at()], harmed);
        for (stretch, (all, slots)) in self.kept.iter_mut().zip(slots).enumerate() {
            let kept = match losses.displaced {
                0 => u64::MAX,
                _ => !slots.lost(then, (s, losses), (&self.firsts, stretch)),
            };
            changed |= kept ^ std::mem::replace(&mut all[s.at()], kept);
        }
        changed
    }
}

/// The number of the first destination of a destination switch.
fn first(columns: &Columns, at: usize) -> u32 {
    columns.segments(at..at + 1).first().map_or(0, |segment| segment.number)
}

/// Which targets have which slot, at switches with one Π and so many groups: those of a rank are alike.
#[derive(Default)]
struct Slots {
    of: Option<(u32, usize)>,
    /// For each group.
    targets: Vec<u64>,
}

impl Slots {
    /// The targets whose slot a switch lost, for one stretch of their destinations.
    fn lost(
        &mut self,
        then: &Preprocessing,
        (s, losses): (SwitchIndex, &Losses),
        (firsts, stretch): (&[u32], usize),
    ) -> u64 {
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
            if through.iter().all(|mask| *mask == targets) {
                self.find((divider, through.len()), firsts, stretch);
                let pairs = self.targets.iter().zip(lost);
                all |= pairs.fold(0, |all, (targets, lost)| all | targets & lost);
                continue;
            }
            for target in bits(displaced) {
                let members =
                    || through.iter().zip(lost).filter(|(mask, _)| **mask >> target & 1 == 1);
                let q = (firsts[target] / divider) as usize + stretch;
                let slot = members().nth(q % members().count());
                all |= slot.map_or(0, |(_, lost)| lost & 1 << target);
            }
        }
        all
    }

    fn find(&mut self, of: (u32, usize), firsts: &[u32], stretch: usize) {
        if self.of.replace(of) == Some(of) {
            return;
        }
        let (divider, groups) = of;
        let divider = Divisor::new(divider);
        self.targets.clear();
        self.targets.resize(groups, 0);
        for (target, &first) in firsts.iter().enumerate() {
            let q = divider.divide(first) as usize + stretch;
            self.targets[q % groups] |= 1 << target;
        }
    }
}

impl Selection for Reference {
    type View = View;
    type Scratch = Patcher;

    fn look<C: Costs>(
        &self,
        work: &Work<'_>,
        tile: &Tile,
        costs: &C,
        view: &mut View,
    ) -> Result<(), TooFar> {
        view.begin(self, work, tile)?;
        if view.is_whole {
            return Ok(());
        }
        let mut around = Around::default();
        for &s in work.ready.groups.ascending() {
            if !self.has_nothing_to_lose(work, view, s) {
                around.look(self, work, costs, view, s);
            }
        }
        Ok(())
    }

    fn look_again(
        &self,
        (work, tile): (&Work<'_>, &Tile),
        costs: &Hops,
        view: &mut View,
        dirty: &mut Marks,
    ) {
        view.is_whole = false;
        let mut around = Around::default();
        let groups = &work.ready.groups;
        let marked: Vec<SwitchIndex> = dirty.iter().map(|(s, _)| s).collect();
        for s in marked {
            if !work.live.switch(s) || self.ready.ranking.is_leaf(s) {
                continue;
            }
            let changed = around.look(self, work, costs, view, s) & tile.targets();
            if changed == 0 {
                continue;
            }
            // Only those look ahead whose own slot is lost.
            for &peer in groups.above(s).peers.iter().chain(groups.below(s).peers) {
                around.find(self, work, costs, view, peer);
                dirty.mark(peer, changed & around.losses.displaced);
            }
        }
    }

    fn select(
        &self,
        place: Place<'_>,
        view: &View,
        wanted: Wanted<'_>,
        patcher: &mut Patcher,
        row: &mut [u8],
    ) {
        patcher.fill(self, place, view, wanted, row);
    }
}

impl Reference {
    /// Whether nobody has to look at a switch: a leaf stands between no others; and one at the top whose ports
    /// are all alive, with one group for each target, has that group or leads nowhere.
    fn has_nothing_to_lose(&self, work: &Work<'_>, view: &View, s: SwitchIndex) -> bool {
        let (then, now) = (&self.ready.groups, &work.ready.groups);
        let is_whole = now.above(s).peers.is_empty() && then.below(s).ports == now.below(s).ports;
        self.ready.ranking.is_leaf(s) || is_whole && view.kinds[s.at()].is_single
    }
}

/// The look at one switch after the other.
#[derive(Default)]
struct Around {
    closer: Closer,
    losses: Losses,
    slots: [Slots; STRETCHES],
}

impl Around {
    /// Finds and notes what a switch lost; the targets for which that changed.
    fn look<C: Costs>(
        &mut self,
        reference: &Reference,
        work: &Work<'_>,
        costs: &C,
        view: &mut View,
        s: SwitchIndex,
    ) -> u64 {
        self.find(reference, work, costs, view, s);
        view.note(s, &self.losses, &mut self.slots, &reference.ready)
    }

    fn find<C: Costs>(
        &mut self,
        reference: &Reference,
        work: &Work<'_>,
        costs: &C,
        view: &View,
        s: SwitchIndex,
    ) {
        let kernel = work.ready.kernel;
        kernel.run(
            #[inline(always)]
            || costs.closer(&work.ready.groups, s, &mut self.closer),
        );
        let place = Place { ready: work.ready, s, closer: &self.closer, kernel };
        self.losses.find(reference, view, place, u64::MAX);
    }
}
