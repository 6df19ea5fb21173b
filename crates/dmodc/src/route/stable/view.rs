//! What every switch lost, for one tile: found once, so that those before it can look ahead.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::losses::Losses;
use super::select::Patcher;
use super::slots::Slots;
use super::then::Then;
use super::usual::At;
use super::{Reference, STRETCHES};
use crate::cost::{Closer, Costs, Hops, TooFar};
use crate::id::SwitchIndex;
use crate::route::Preprocessing;
use crate::route::tile::{Place, Selection, Wanted, Work};
use crate::router::Marks;
use crate::tables::{Columns, Tile};

/// A tile as the switches before others see it.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    /// Which tile it is.
    tile: Option<usize>,
    pub(super) then: Then,
    /// Whether the fabric is the reference itself.
    pub(super) is_whole: bool,
    /// Whether no switch changed its rank, which tells how long ways are in a levelled fabric.
    ranks_are_same: bool,
    /// Whether moreover every way was one in the reference.
    pub(super) ways_were_there: bool,
    /// The numbers of the first and the last destination of each target, those without a number of their own
    /// kind aside.
    pub(super) spans: Vec<(u32, u32)>,
    /// Targets with further destinations, numbered apart.
    others: u64,
    /// Targets with nodes that have more than one LID.
    pub(super) with_several_lids: u64,
    /// For each switch: the targets for which it lost a group or a port.
    pub(super) harmed: Vec<u64>,
    /// For each switch: the targets for which it lost a group, as its row was written last.
    displaced: Marked,
    /// For each switch that others look at: the targets of which some slot is lost.
    pub(super) needy: Vec<u64>,
    /// Stretch by stretch (Π destinations from the first one of a target on), for each switch: the targets
    /// whose slot it kept. The last stands for all later ones. As many as are ever asked for.
    pub(super) kept: Vec<Vec<u64>>,
}

impl View {
    /// Begins anew unless it is of this tile already; nothing is harmed yet.
    fn begin(&mut self, reference: &Reference, work: &Work<'_>, tile: &Tile) -> Result<(), TooFar> {
        if self.tile != Some(tile.index) {
            self.tile = None;
            self.then.compute(reference, work, tile)?;
            self.spans.clear();
            self.spans.extend(tile.switches.clone().map(|at| span(work.columns, at)));
            let segments = work.columns.segments(tile.switches.clone());
            self.kept = vec![vec![]; self.then.stretches(&self.spans, segments)];
            (self.others, self.with_several_lids) = (0, 0);
            for (bit, at) in tile.switches.clone().enumerate() {
                let segments = work.columns.segments(at..at + 1);
                let several = segments.iter().any(|segment| segment.k > 0);
                self.others |= u64::from(segments.len() > 1) << bit;
                self.with_several_lids |= u64::from(several) << bit;
            }
            self.tile = Some(tile.index);
        }
        self.is_whole = *work.live.degradation == reference.degradation;
        self.compare_ranks(reference, work);
        let switches = work.ready.groups.switch_count();
        self.displaced.0.resize_with(switches, AtomicU64::default);
        self.displaced.0.iter_mut().for_each(|word| *word.get_mut() = 0);
        for words in [&mut self.harmed, &mut self.needy] {
            words.clear();
            words.resize(switches, 0);
        }
        for kept in &mut self.kept {
            kept.clear();
            kept.resize(switches, u64::MAX);
        }
        Ok(())
    }

    /// Ranks tell the direction of a way and how long it is, in a levelled fabric. Switches that are alone have
    /// no ways.
    fn compare_ranks(&mut self, reference: &Reference, work: &Work<'_>) {
        let (then, now) = (&reference.ready, work.ready);
        let is_alone =
            |s| now.groups.above(s).peers.is_empty() && now.groups.below(s).peers.is_empty();
        let same_rank = |s| then.ranking.rank(s) == now.ranking.rank(s);
        self.ranks_are_same = then.planes().is_some()
            && now.planes().is_some()
            && now.groups.ascending().iter().all(|s| same_rank(*s) || is_alone(*s));
        self.ways_were_there =
            self.ranks_are_same && reference.degradation.removed().next().is_none();
    }

    /// All targets of a switch in the reference, if they are above it, every group there is closer to all
    /// of them, and no group turned.
    pub(super) fn only_above(&self, s: SwitchIndex) -> Option<u64> {
        let kind = self.then.kind(s);
        if self.ranks_are_same && kind.is_below { kind.uniform } else { None }
    }

    /// Notes for which of these targets a switch lost a group.
    #[inline]
    pub(super) fn displace(&self, s: SwitchIndex, targets: u64, displaced: u64) {
        let word = &self.displaced.0[s.at()];
        word.store(word.load(Relaxed) & !targets | displaced, Relaxed);
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
        let mut needy = losses.thinned;
        for (stretch, (all, slots)) in self.kept.iter_mut().zip(slots).enumerate() {
            let (lost, there) = match losses.displaced {
                0 => (0, 0),
                _ => slots.lost(then, (s, losses), (&self.spans, stretch)),
            };
            // Beyond the last stretch, any slot may be lost.
            let beyond = if stretch == STRETCHES - 1 { u64::MAX } else { lost };
            needy |= losses.displaced & (there & beyond | self.others);
            let kept = !lost;
            changed |= kept ^ std::mem::replace(&mut all[s.at()], kept);
        }
        self.needy[s.at()] = needy;
        changed
    }
}

/// Targets by switch, noted while rows are written side by side: each switch has one writer at a time.
#[derive(Debug, Default)]
struct Marked(Vec<AtomicU64>);

impl Clone for Marked {
    fn clone(&self) -> Self {
        Marked(self.0.iter().map(|word| AtomicU64::new(word.load(Relaxed))).collect())
    }
}

/// The numbers of the first segment of a destination switch: of the first destination and the last.
fn span(columns: &Columns, at: usize) -> (u32, u32) {
    let segment = columns.segments(at..at + 1).first();
    segment.map_or((0, 0), |s| (s.number, s.number.saturating_add(s.length - 1)))
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
            // A leaf stands between no others.
            if !self.ready.ranking.is_leaf(s) && !self.all_or_nothing(view, work.ready, s) {
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
        dirty: &Marks,
        others: &mut Marks,
    ) {
        view.is_whole = false;
        view.compare_ranks(self, work);
        let mut around = Around::default();
        let groups = &work.ready.groups;
        for (s, _) in dirty.iter() {
            if !work.live.switch(s) || self.ready.ranking.is_leaf(s) {
                continue;
            }
            let changed = around.look(self, work, costs, view, s) & tile.targets();
            if changed == 0 {
                continue;
            }
            // Only those look ahead whose own slot is lost. Where it was not, and is now, they are dirty.
            for &peer in groups.above(s).peers.iter().chain(groups.below(s).peers) {
                let displaced = view.displaced.0[peer.at()].load(Relaxed);
                others.mark(peer, changed & displaced);
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

    fn select_by_costs<C: Costs>(
        &self,
        (work, costs, s): (&Work<'_>, &C, SwitchIndex),
        view: &View,
        wanted: Wanted<'_>,
        patcher: &mut Patcher,
        row: &mut [u8],
    ) -> Option<u64> {
        let hops = costs.hops()?;
        if view.is_whole {
            return None;
        }
        let at = At { reference: self, ready: work.ready, view, hops, s };
        patcher.usual.fill(at, &mut patcher.formula, wanted, row)
    }
}

impl Reference {
    /// Whether a switch at the top can lose nothing but targets: ways can only have been lost, groups only as a
    /// whole, and each target had one. It has that one, or no other.
    pub(super) fn all_or_nothing(&self, view: &View, now: &Preprocessing, s: SwitchIndex) -> bool {
        if !view.ways_were_there
            || !view.then.kind(s).is_single
            || !now.groups.above(s).peers.is_empty()
        {
            return false;
        }
        let (then, now) = (self.ready.groups.below(s), now.groups.below(s));
        then.ports.len() == now.ports.len()
            || then.width().is_some_and(|width| width * now.peers.len() == now.ports.len())
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
