//! What every switch of a tile lost. It is found once for a tile, so that the switches before others can look ahead.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::losses::{Compared, Losses};
use super::reference_tile::{NumberSpan, ReferenceTile};
use super::slot_table::{LostSlots, SlotTable};
use super::{Reference, STRETCHES};
use crate::cost::{CloserSets, Hops, TileCosts, TooFar};
use crate::id::SwitchIndex;
use crate::preprocess::Preprocessing;
use crate::route::job::RouteJob;
use crate::route::marks::Marks;
use crate::route::port_choice::{JobTile, RowContext};

/// A tile as the switches that look ahead see it. All lists are by switch, and have a bit for each target.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossView {
    /// The tile that this is about.
    tile_index: Option<usize>,
    pub(super) reference_tile: ReferenceTile,
    /// Whether the present is the reference itself.
    pub(super) is_whole: bool,
    /// Whether no switch changed its rank. In a levelled fabric ranks determine how long routes are.
    ranks_are_same: bool,
    /// Whether moreover every cable of the present is one of the reference.
    pub(super) is_part: bool,
    /// For each target: the numbers of its destinations.
    pub(super) spans: Vec<NumberSpan>,
    /// The targets with further destinations, which are numbered apart.
    with_other_numbers: u64,
    /// The targets with nodes that have more than one LID.
    pub(super) with_several_lids: u64,
    /// The targets for which a switch lost a group or a port.
    pub(super) harmed: Vec<u64>,
    /// The targets for which a switch lost a group when its row was last written.
    displaced: TargetsBySwitch,
    /// For each switch that others look ahead to: the targets that have a destination whose slot is lost.
    pub(super) needy: Vec<u64>,
    /// For each stretch and each switch: the targets whose slot the switch kept. The last stretch stands for all later
    /// ones. There are as many stretches as anybody asks for.
    pub(super) kept: Vec<Vec<u64>>,
}

/// The reference, and what the switches of one tile lost compared with it.
#[derive(Clone, Copy)]
pub(super) struct StableTile<'a> {
    pub(super) reference: &'a Reference,
    pub(super) view: &'a LossView,
}

impl LossView {
    /// Finds what every switch lost.
    ///
    /// # Errors
    /// If a route of the reference is longer than costs can count.
    pub(super) fn find(
        &mut self,
        reference: &Reference,
        tile: JobTile<'_>,
        costs: &TileCosts,
    ) -> Result<(), TooFar> {
        self.begin(reference, tile)?;
        if self.is_whole {
            return Ok(());
        }
        let ready = tile.job.ready;
        let mut finder = LossFinder::default();
        for &s in ready.groups.ascending() {
            // A leaf is on the way to no other switch, so nobody looks ahead to it.
            if !reference.ready.ranking.is_leaf(s)
                && !self.can_only_lose_targets(reference, ready, s)
            {
                finder.find_closer(tile.job, |closer| costs.closer(&ready.groups, s, closer));
                finder.note(reference, tile.job, self, s);
            }
        }
        Ok(())
    }

    /// Updates the view after a change that made some entries dirty. Marks in `others` the entries that look ahead to
    /// what changed.
    pub(super) fn update(
        &mut self,
        reference: &Reference,
        JobTile { job, tile }: JobTile<'_>,
        hops: &Hops,
        dirty: &Marks,
        others: &mut Marks,
    ) {
        self.is_whole = false;
        self.compare_ranks(reference, job);
        let mut finder = LossFinder::default();
        let groups = &job.ready.groups;
        for (s, _) in dirty.iter() {
            if !job.live.switch(s) || reference.ready.ranking.is_leaf(s) {
                continue;
            }
            finder.find_closer(job, |closer| hops.closer(groups, s, closer));
            let changed = finder.note(reference, job, self, s) & tile.targets();
            if changed == 0 {
                continue;
            }
            // Only switches whose own slot is lost look ahead. Where it was not lost, and is now, they are dirty.
            for &peer in groups.above(s).peers.iter().chain(groups.below(s).peers) {
                others.mark(peer, changed & self.displaced.get(peer));
            }
        }
    }

    /// Begins anew unless the view is of this tile already. No switch has lost anything yet.
    fn begin(&mut self, reference: &Reference, tile: JobTile<'_>) -> Result<(), TooFar> {
        let JobTile { job, tile: columns_tile } = tile;
        if self.tile_index != Some(columns_tile.index) {
            self.tile_index = None;
            self.reference_tile.compute(reference, tile)?;
            self.spans.clear();
            (self.with_other_numbers, self.with_several_lids) = (0, 0);
            for (bit, at) in columns_tile.switches.clone().enumerate() {
                let segments = job.columns.segments(at..at + 1);
                let has_several_lids = segments.iter().any(|segment| segment.k > 0);
                self.spans.push(NumberSpan::of(segments));
                self.with_other_numbers |= u64::from(segments.len() > 1) << bit;
                self.with_several_lids |= u64::from(has_several_lids) << bit;
            }
            let segments = job.columns.segments(columns_tile.switches.clone());
            self.kept = vec![vec![]; self.reference_tile.stretches(&self.spans, segments)];
            self.tile_index = Some(columns_tile.index);
        }
        self.is_whole = *job.live.degradation == reference.degradation;
        self.compare_ranks(reference, job);
        let switches = job.ready.groups.switch_count();
        self.displaced.reset(switches);
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

    /// Compares the ranks of both states. In a levelled fabric they determine the direction of a cable and the length
    /// of routes. Switches without cables do not count.
    fn compare_ranks(&mut self, reference: &Reference, job: &RouteJob<'_>) {
        let (then, now) = (&reference.ready, job.ready);
        let is_alone =
            |s| now.groups.above(s).peers.is_empty() && now.groups.below(s).peers.is_empty();
        let same_rank = |s| then.ranking.rank(s) == now.ranking.rank(s);
        self.ranks_are_same = then.new_costs().hops().is_some()
            && now.new_costs().hops().is_some()
            && now.groups.ascending().iter().all(|s| same_rank(*s) || is_alone(*s));
        self.is_part = self.ranks_are_same && reference.degradation.removed().next().is_none();
    }

    /// Returns all targets of a switch in the reference, if all of them are above it, every group there is closer to
    /// all of them, and no rank changed.
    pub(super) fn targets_if_all_above(&self, s: SwitchIndex) -> Option<u64> {
        let shape = self.reference_tile.shape(s);
        if self.ranks_are_same && shape.has_nothing_below { shape.uniform } else { None }
    }

    /// Returns whether a switch can lose a target only as a whole: nothing is above it, it had one group for each
    /// target, and its groups are there with all their ports or not at all. Then no entry of it is ever displaced.
    pub(super) fn can_only_lose_targets(
        &self,
        reference: &Reference,
        now: &Preprocessing,
        s: SwitchIndex,
    ) -> bool {
        if !self.is_part
            || !self.reference_tile.shape(s).has_one_way_down
            || !now.groups.above(s).peers.is_empty()
        {
            return false;
        }
        let (then, now) = (reference.ready.groups.below(s), now.groups.below(s));
        then.ports.len() == now.ports.len()
            || then.width().is_some_and(|width| width * now.peers.len() == now.ports.len())
    }

    /// Returns the two states for a comparison of closer sets.
    pub(super) fn compared<'a>(&'a self, reference: &'a Reference) -> Compared<'a> {
        Compared { reference, tile: &self.reference_tile, is_part: self.is_part }
    }

    /// Notes for which of these targets a switch lost a group.
    #[inline]
    pub(super) fn note_displaced(&self, s: SwitchIndex, targets: u64, displaced: u64) {
        self.displaced.replace(s, targets, displaced);
    }
}

/// Targets by switch, noted while rows are written side by side: each switch has one writer at a time.
#[derive(Debug, Default)]
struct TargetsBySwitch(Vec<AtomicU64>);

impl TargetsBySwitch {
    fn reset(&mut self, switches: usize) {
        self.0.resize_with(switches, AtomicU64::default);
        self.0.iter_mut().for_each(|word| *word.get_mut() = 0);
    }

    fn get(&self, s: SwitchIndex) -> u64 {
        self.0[s.at()].load(Relaxed)
    }

    /// Replaces the bits of these targets.
    #[inline]
    fn replace(&self, s: SwitchIndex, targets: u64, bits: u64) {
        let word = &self.0[s.at()];
        word.store(word.load(Relaxed) & !targets | bits, Relaxed);
    }
}

impl Clone for TargetsBySwitch {
    fn clone(&self) -> Self {
        TargetsBySwitch(self.0.iter().map(|word| AtomicU64::new(word.load(Relaxed))).collect())
    }
}

/// Finds the losses of one switch after the other.
#[derive(Default)]
struct LossFinder {
    closer: CloserSets,
    losses: Losses,
    slots: [SlotTable; STRETCHES],
}

impl LossFinder {
    /// Finds the present closer sets of a switch.
    fn find_closer(&mut self, job: &RouteJob<'_>, find: impl FnOnce(&mut CloserSets)) {
        let closer = &mut self.closer;
        job.ready.kernel.run(
            #[inline(always)]
            || find(closer),
        );
    }

    /// Notes what a switch lost. Returns the targets for which that is different from what was known.
    fn note(
        &mut self,
        reference: &Reference,
        job: &RouteJob<'_>,
        view: &mut LossView,
        s: SwitchIndex,
    ) -> u64 {
        let LossFinder { closer, losses, slots } = self;
        let ready = job.ready;
        let context = RowContext { ready, switch: s, closer, kernel: ready.kernel };
        losses.find(view.compared(reference), context, u64::MAX);
        let harmed = losses.harmed();
        let mut changed = harmed ^ std::mem::replace(&mut view.harmed[s.at()], harmed);
        let mut needy = losses.thinned;
        for (stretch, (all, slots)) in view.kept.iter_mut().zip(slots).enumerate() {
            let LostSlots { lost, present } = match losses.displaced {
                0 => LostSlots { lost: 0, present: 0 },
                _ => slots.lost(&reference.ready, s, losses, &view.spans, stretch),
            };
            // Beyond the last stretch, any slot may be lost.
            let lost_here = if stretch == STRETCHES - 1 { u64::MAX } else { lost };
            needy |= losses.displaced & (present & lost_here | view.with_other_numbers);
            let kept = !lost;
            changed |= kept ^ std::mem::replace(&mut all[s.at()], kept);
        }
        view.needy[s.at()] = needy;
        changed
    }
}
