//! What every switch of a tile lost. It is found before any row of the tile, because a switch that chooses a group looks
//! ahead to the losses of its neighbours.

use super::closer_above::{CloserByPeers, HopStates};
use super::losses::{Compared, LiveWays, Losses};
use super::present::{Present, PresentSwitch};
use super::reference_tile::{NumberSpan, ReferenceTile};
use super::slot_table::{LostSlots, RoundKey, SlotTable, lost_members};
use super::targets_by_switch::TargetsBySwitch;
use super::view_changes::{ViewChange, ViewChanges};
use super::{Reference, STRETCHES};
use crate::cost::{CloserSets, Hops, TileCosts, TooFar};
use crate::id::SwitchIndex;
use crate::preprocess::Preprocessing;
use crate::route::job::RouteJob;
use crate::route::marks::Marks;
use crate::route::port_choice::{JobTile, RowContext};
use crate::tables::Segment;

/// What every switch of one tile lost against the reference. A router keeps it between changes. Fields of type `Vec<u64>`
/// have a word for each switch, and in it a bit for each target.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossView {
    /// The tile that was looked at.
    tile_index: Option<usize>,
    pub(super) reference_tile: ReferenceTile,
    /// Whether the present is known to equal the reference. An [update](Self::update) sets this to `false`, even after a
    /// complete repair: then no switch has lost anything, and rows are those of the reference all the same. It only takes
    /// longer to see that, until everything is routed again.
    pub(super) equals_reference: bool,
    /// As in [`Present`].
    has_same_ranks: bool,
    pub(super) is_subset: bool,
    /// Whether it was a subset before the last [update](Self::update), too.
    pub(super) stays_subset: bool,
    /// For each target: the numbers of its destinations.
    pub(super) spans: Vec<NumberSpan>,
    /// The targets that have destinations outside their span: nodes that are not on leaves, the switch itself, or further
    /// LIDs.
    with_other_numbers: u64,
    /// The targets with nodes that have more than one LID.
    pub(super) with_several_lids: u64,
    /// Whether all numbers of destinations are below 2³¹.
    pub(super) has_small_numbers: bool,
    /// The targets for which a switch lost a group or a port. 0 for switches that are not looked at.
    pub(super) harmed: Vec<u64>,
    /// The targets for which a switch had lost a group when its row was last written. Known for every switch, also for
    /// leaves.
    displaced: TargetsBySwitch,
    /// The targets that may have a destination whose slot is lost or thinned; some may be too many. Known for switches
    /// that others look ahead to. At leaves of the reference it is 0 and must not be asked for.
    pub(super) needy: Vec<u64>,
    /// `kept_slots[t][s]`: the targets for which switch s still has the slot of stretch t, number ⌊f / Π⌋ + t. There are
    /// 1 to [`STRETCHES`] stretches, as many as the tile needs; the last one stands for all later ones.
    pub(super) kept_slots: Vec<Vec<u64>>,
    /// What the last [update](Self::update) changed; nothing after [`find`](Self::find).
    pub(super) changes: ViewChanges,
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
        tile: JobTile<'_, Present>,
        costs: &TileCosts,
    ) -> Result<(), TooFar> {
        self.prepare(reference, &tile)?;
        if self.equals_reference {
            return Ok(());
        }
        let JobTile { job, shared, .. } = tile;
        let ready = job.ready;
        let mut finder = LossFinder::default();
        for &s in ready.groups.ascending() {
            // By definition, nobody looks ahead to a leaf of the reference. A switch that never chooses has lost only
            // targets that it does not reach any more, so it is closer to none of them, and nobody asks for its losses.
            if !reference.ready.ranking.is_leaf(s) && !self.never_chooses(reference, ready, s) {
                let hops = costs.hops();
                let states = ComparedStates { reference, ready, present: shared };
                let noted = hops.and_then(|hops| finder.note_above(states, self, hops, s));
                let noted = noted.or_else(|| finder.note_below(states, self, hops?, s));
                if noted.is_none() {
                    finder.find_closer(job, |closer| costs.closer(&ready.groups, s, closer));
                    finder.note(reference, job, self, s);
                }
            }
        }
        Ok(())
    }

    /// Updates the view after a change that made some entries dirty. Marks in `rechoose` the entries that look ahead to
    /// what changed.
    ///
    /// Switches that [never choose](Self::never_chooses) are not left out here, unlike in [`find`](Self::find). What is
    /// noted for them differs from what `find` would note, but only for targets that they do not reach, which nobody asks
    /// for. At worst some neighbours choose again and find the same port.
    pub(super) fn update(
        &mut self,
        reference: &Reference,
        JobTile { job, shared, tile }: JobTile<'_, Present>,
        hops: &Hops,
        dirty: &Marks,
        rechoose: &mut Marks,
    ) {
        self.equals_reference = false;
        let was_subset = self.is_subset;
        self.take_over(shared);
        self.stays_subset = was_subset && self.is_subset;
        self.changes.clear(job.ready.groups.switch_count());
        let mut finder = LossFinder::default();
        let groups = &job.ready.groups;
        for (s, _) in dirty.iter() {
            if !job.live.switch(s) || reference.ready.ranking.is_leaf(s) {
                continue;
            }
            let states = ComparedStates { reference, ready: job.ready, present: shared };
            let noted = finder.note_above(states, self, hops, s);
            let change = noted.unwrap_or_else(|| {
                finder.find_closer(job, |closer| hops.closer(groups, s, closer));
                finder.note(reference, job, self, s)
            });
            let changed = self.changes.note(s, change) & tile.targets();
            if changed == 0 {
                continue;
            }
            // A peer looks ahead only for targets for which it lost a group itself: `displaced` has these as of its last
            // row. If it loses its first group for a target by this very change, its closer set changed, and the entry
            // is dirty already.
            for &peer in groups.above(s).peers.iter().chain(groups.below(s).peers) {
                rechoose.mark(peer, changed & self.displaced.get(peer));
            }
        }
    }

    /// Forgets all losses. If the view was of another tile, also computes anew what follows from the reference alone.
    fn prepare(
        &mut self,
        reference: &Reference,
        &JobTile { job, shared, tile }: &JobTile<'_, Present>,
    ) -> Result<(), TooFar> {
        if self.tile_index != Some(tile.index) {
            self.tile_index = None;
            self.reference_tile.compute(reference, job, tile)?;
            self.spans.clear();
            (self.with_other_numbers, self.with_several_lids) = (0, 0);
            for (bit, at) in tile.switches.clone().enumerate() {
                let segments = job.columns.segments(at..at + 1);
                let has_several_lids = segments.iter().any(|segment| segment.k > 0);
                self.spans.push(NumberSpan::of(segments));
                self.with_other_numbers |= u64::from(segments.len() > 1) << bit;
                self.with_several_lids |= u64::from(has_several_lids) << bit;
            }
            let segments = job.columns.segments(tile.switches.clone());
            let last = |segment: &Segment| segment.number.saturating_add(segment.length);
            self.has_small_numbers = segments.iter().all(|segment| last(segment) < 1 << 31);
            self.kept_slots = vec![vec![]; self.reference_tile.stretches(&self.spans, segments)];
            self.tile_index = Some(tile.index);
        }
        self.equals_reference = *job.live.degradation == reference.degradation;
        self.take_over(shared);
        let switches = job.ready.groups.switch_count();
        self.changes.clear(switches);
        self.displaced.reset(switches);
        for words in [&mut self.harmed, &mut self.needy] {
            words.clear();
            words.resize(switches, 0);
        }
        for kept in &mut self.kept_slots {
            kept.clear();
            kept.resize(switches, u64::MAX);
        }
        Ok(())
    }

    /// Takes over what was found by comparing the ranks of both states.
    fn take_over(&mut self, present: &Present) {
        (self.has_same_ranks, self.is_subset) = (present.has_same_ranks, present.is_subset);
    }

    /// Returns the requested targets of a switch in the reference by direction, if every group above was closer to all
    /// targets above, one group below to each target below, no rank changed, and nothing is lost below: each target below
    /// has the same port.
    #[inline(always)]
    pub(super) fn kept_below(
        &self,
        s: SwitchIndex,
        BelowNow { targets, keeps_below }: BelowNow,
        requested: u64,
    ) -> Option<KeptBelow> {
        let shape = self.reference_tile.shape(s);
        let up = shape.targets_above_if_uniform.filter(|_| self.has_same_ranks)? & requested;
        let down = shape.targets_below_if_single? & requested;
        // In a subset, a target stays below exactly if its only group is there and still leads to it.
        let are_kept = targets & requested == down && (down == 0 || keeps_below);
        are_kept.then_some(KeptBelow { up, down })
    }

    /// Returns whether this switch never chooses among groups: it had exactly one group for each target, has no switch
    /// above, and each of its groups is there with all its ports or not at all. A target is then routed as in the reference
    /// or not at all.
    pub(super) fn never_chooses(
        &self,
        reference: &Reference,
        now: &Preprocessing,
        s: SwitchIndex,
    ) -> bool {
        if !self.is_subset
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
        Compared { reference, tile: &self.reference_tile, is_subset: self.is_subset }
    }

    /// Notes for which of these targets a switch lost a group.
    #[inline]
    pub(super) fn note_displaced(&self, s: SwitchIndex, targets: u64, displaced: u64) {
        self.displaced.replace(s, targets, displaced);
    }
}

/// Finds the losses of one switch after the other.
#[derive(Default)]
struct LossFinder {
    closer: CloserSets,
    losses: Losses,
    /// What the switches above are closer to.
    closer_above: CloserByPeers,
    /// For each group above, or each way down, of the reference: the targets for which it is lost.
    lost: Vec<u64>,
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

    /// Notes what a switch lost. Returns what this changes.
    fn note(
        &mut self,
        reference: &Reference,
        job: &RouteJob<'_>,
        view: &mut LossView,
        s: SwitchIndex,
    ) -> ViewChange {
        let LossFinder { closer, losses, slots, .. } = self;
        let ready = job.ready;
        let context = RowContext { ready, switch: s, closer, kernel: ready.kernel };
        losses.find(view.compared(reference), context, u64::MAX);
        if losses.displaced != 0 {
            losses.find_members(ready.kernel, losses.displaced);
        }
        let then = &reference.ready;
        let members = match losses.displaced {
            0 => [0; STRETCHES],
            _ => lost_members(then, s, losses, &view.spans, view.kept_slots.len()),
        };
        let all = NotedLosses { displaced: losses.displaced, thinned: losses.thinned };
        all.note(view, s, slots, |slots, spans, stretch| {
            let found = slots.lost(then, s, losses, spans, stretch);
            LostSlots { lost: found.lost | members[stretch], ..found }
        })
    }

    /// Notes what a switch lost above, if it lost nothing below. Returns what this changes, or `None`, with nothing noted, if this needs [`note`](Self::note). The conditions are those of the fast path of rows.
    fn note_above(
        &mut self,
        ComparedStates { reference, ready, present }: ComparedStates<'_>,
        view: &mut LossView,
        hops: &Hops,
        s: SwitchIndex,
    ) -> Option<ViewChange> {
        let LossFinder { closer_above, lost, slots, .. } = self;
        let then = reference.ready.groups.above(s);
        let PresentSwitch { live, pi, keeps_below, .. } = *present.switch(s);
        let below = BelowNow { targets: hops.of(s)[0] & !hops.own(s), keeps_below };
        let KeptBelow { up, .. } = view.kept_below(s, below, u64::MAX)?;
        let live = live?;
        let states = HopStates { reference, present, hops, kernel: ready.kernel };
        let place = closer_above.find(states, s).at;
        let closer = closer_above.at(place);
        let has_all = live.count_ones() as usize == then.peers.len();
        let displaced = if has_all { up & !closer.with_all_groups } else { up };
        if displaced != 0 {
            lost.clear();
            let is_live = |group: usize| (live >> (group & 63) & 1).wrapping_neg();
            let lost_by = |(group, targets): (usize, &u64)| up & !(targets & is_live(group));
            ready.kernel.run(
                #[inline(always)]
                || lost.extend(closer.targets.iter().enumerate().map(lost_by)),
            );
        }
        if displaced | view.harmed[s.at()] == 0 {
            return Some(ViewChange::default());
        }
        let key = RoundKey { pi, groups: then.peers.len() as u32 };
        let all = NotedLosses { displaced, thinned: 0 };
        Some(all.note(view, s, slots, |slots, spans, stretch| {
            slots.lost_in_all(key, lost, displaced, spans, stretch)
        }))
    }

    /// Notes what a switch lost below, if it has [ways down](super::ways_down), single ports below, and the present is a subset of
    /// the reference. Returns what this changes, or `None`, with nothing noted, if this needs [`note`](Self::note).
    fn note_below(
        &mut self,
        ComparedStates { reference, ready, .. }: ComparedStates<'_>,
        view: &mut LossView,
        hops: &Hops,
        s: SwitchIndex,
    ) -> Option<ViewChange> {
        let LossFinder { lost, slots, .. } = self;
        let LiveWays { ways, live } = view.compared(reference).live_ways(ready, s)?;
        let (key, single) = (RoundKey::below(reference, s, ways), ways.single);
        let displaced = ready.kernel.run(
            #[inline(always)]
            || ways.find_lost(reference.ready.groups.below(s), live, hops, lost),
        );
        let all = NotedLosses { displaced, thinned: 0 };
        Some(all.note(view, s, slots, |slots, spans, stretch| {
            let found = slots.lost_in_all(key, lost, displaced, spans, stretch);
            // The only way of a target is its slot, whatever its quotients.
            LostSlots { lost: found.lost | displaced & single, ..found }
        }))
    }
}

/// What is below a switch now.
#[derive(Clone, Copy)]
pub(super) struct BelowNow {
    /// The targets that it reaches there, without itself.
    pub(super) targets: u64,
    /// As in [`PresentSwitch`](super::present::PresentSwitch).
    pub(super) keeps_below: bool,
}

/// The targets of a switch in the reference that lost nothing below.
#[derive(Clone, Copy)]
pub(super) struct KeptBelow {
    pub(super) up: u64,
    pub(super) down: u64,
}

/// The reference, the preprocessing of the present, and what was found by comparing them.
#[derive(Clone, Copy)]
struct ComparedStates<'a> {
    reference: &'a Reference,
    ready: &'a Preprocessing,
    present: &'a Present,
}

/// The targets for which a switch lost a group, or some ports of one.
#[derive(Clone, Copy)]
struct NotedLosses {
    displaced: u64,
    thinned: u64,
}

impl NotedLosses {
    /// Notes the losses of a switch. Returns what this changes. `lost_slots` finds the lost slots of one stretch.
    fn note(
        self,
        view: &mut LossView,
        s: SwitchIndex,
        slots: &mut [SlotTable; STRETCHES],
        mut lost_slots: impl FnMut(&mut SlotTable, &[NumberSpan], usize) -> LostSlots,
    ) -> ViewChange {
        let NotedLosses { displaced, thinned } = self;
        let harmed = displaced | thinned;
        let before = std::mem::replace(&mut view.harmed[s.at()], harmed);
        let mut change = ViewChange { harmed: harmed ^ before, ..ViewChange::default() };
        let (mut needy, stretches) = (thinned, view.kept_slots.len());
        for (stretch, (all, slots)) in view.kept_slots.iter_mut().zip(slots).enumerate() {
            let LostSlots { lost, present, later } = match displaced {
                0 => LostSlots::default(),
                _ => lost_slots(slots, &view.spans, stretch),
            };
            // The last stretch stands for later ones, too, whose slots are not looked up: they count as lost.
            let lost_later = if stretch + 1 == stretches { later } else { 0 };
            needy |= displaced & (present & lost | lost_later | view.with_other_numbers);
            let kept = !lost;
            change.kept_slots[stretch] = kept ^ std::mem::replace(&mut all[s.at()], kept);
        }
        view.needy[s.at()] = needy;
        change
    }
}
