//! The upswitches of a switch whose targets are all above, as the fast path looks ahead to them.

use super::Reference;
use super::closer_above::{ClosePlace, CloserByPeers, HopStates};
use super::lookahead::{AheadGroups, AheadWords, Lookahead};
use super::loss_view::LossView;
use super::lost_pieces::RoundSets;
use super::present::Present;
use super::rounds::Rounds;
use crate::bits::bits;
use crate::cost::Hops;
use crate::group::Side;
use crate::id::SwitchIndex;
use crate::preprocess::Preprocessing;

/// The switch of a row, and the states that its entries follow from.
#[derive(Clone, Copy)]
pub(super) struct FastContext<'a> {
    pub(super) reference: &'a Reference,
    pub(super) ready: &'a Preprocessing,
    pub(super) present: &'a Present,
    pub(super) view: &'a LossView,
    pub(super) hops: &'a Hops,
    pub(super) switch: SwitchIndex,
}

impl<'a> FastContext<'a> {
    /// Returns the groups above the switch in the reference.
    #[inline(always)]
    pub(super) fn above(&self) -> Side<'a> {
        self.reference.ready.groups.above(self.switch)
    }
}

/// The upswitches of one switch, and the targets that each of them is closer to. Neighbouring leaves often have the same
/// upswitches and the same distances to all targets, so this is seldom computed.
#[derive(Default)]
pub(super) struct Upswitches {
    /// The targets that each of them is closer to, for these upswitches and others.
    closer: CloserByPeers,
    /// The place of these in `closer`.
    place: usize,
    /// The switch that they were last found for.
    of: Option<SwitchIndex>,
    /// The targets that every group is closer to.
    pub(super) with_all_groups: u64,
    /// The sets of these upswitches, and of others.
    known: Vec<KnownSets>,
    /// The index of these in `known`.
    at: usize,
    /// Whether some leaf had the upswitches of an earlier leaf, but not of the leaf just before it. This happens below directors:
    /// neighbouring leaves are cabled to different line chips, and each list of upswitches occurs again a few leaves later.
    leaves_alternate: bool,
    /// How often sets by round were found.
    generations: u64,
}

/// How many lists of upswitches of leaves have their sets kept, if leaves alternate.
const KEPT_LISTS: usize = 8;

/// The sets of one list of upswitches.
#[derive(Default)]
struct KnownSets {
    /// The place of the upswitches in `closer`.
    place: Option<usize>,
    ahead: Lookahead,
    /// The targets whose closer sets are gathered in `ahead`.
    gathered: u64,
    by_round: SetsByRound,
}

impl KnownSets {
    fn forget(&mut self) {
        (self.place, self.gathered, self.by_round.is_known) = (None, 0, false);
    }
}

/// The sets of `ahead` by round, if not each target has one round.
#[derive(Default)]
struct SetsByRound {
    is_known: bool,
    /// A number that changes whenever the sets are found again.
    generation: u64,
    all: Vec<u64>,
    unharmed: Vec<u64>,
    /// Whether `kept` has the groups whose switches kept the slot of the round; 0s otherwise.
    knows_kept: bool,
    kept: Vec<u64>,
    /// The groups for which the last update changed `unharmed` and `kept`: a bit for each such group.
    unharmed_changes: Vec<u64>,
    kept_changes: Vec<u64>,
}

impl Upswitches {
    /// Finds what the upswitches of a switch are closer to, unless that is known from the switch before. Returns itself.
    pub(super) fn find(&mut self, context: FastContext<'_>) -> &mut Self {
        let FastContext { reference, ready, present, hops, switch, .. } = context;
        if self.of.replace(switch) == Some(switch) {
            return self;
        }
        let states = HopStates { reference, present, hops, kernel: ready.kernel };
        let ClosePlace { at, is_new } = self.closer.find(states, switch);
        if is_new || at != self.place {
            let is_leaf = present.switch(switch).is_leaf;
            self.leaves_alternate |= is_leaf && !is_new;
            self.place = at;
            self.with_all_groups = self.closer.at(at).with_all_groups;
            self.take_known(is_new, is_leaf);
        }
        self
    }

    /// Takes the known sets of the upswitches, or empty ones, which must be filled. `is_new`: whether something else was at their place
    /// in `closer` before.
    fn take_known(&mut self, is_new: bool, is_leaf: bool) {
        let place = Some(self.place);
        if is_new {
            self.known.iter_mut().filter(|sets| sets.place == place).for_each(KnownSets::forget);
        }
        self.at = if is_leaf && self.leaves_alternate { 1 + self.place % KEPT_LISTS } else { 0 };
        if self.known.len() <= self.at {
            self.known.resize_with(self.at + 1, KnownSets::default);
        }
        let sets = &mut self.known[self.at];
        if sets.place != place {
            sets.forget();
            sets.place = place;
        }
    }

    /// Forgets all sets by round, because there are other rounds now.
    pub(super) fn forget_rounds(&mut self) {
        self.known.iter_mut().for_each(|sets| sets.by_round.is_known = false);
    }

    /// Returns the number of the present sets by round. Others have another one.
    pub(super) fn generation(&self) -> u64 {
        self.known[self.at].by_round.generation
    }

    /// Returns whether it is known which groups' switches kept the slot of each round.
    pub(super) fn knows_kept(&self) -> bool {
        self.known[self.at].by_round.knows_kept
    }

    /// Transposes closer sets for looking ahead: at leaves those of all targets, because other leaves need them, too.
    pub(super) fn gather(&mut self, context: FastContext<'_>, targets: u64, rounds: &Rounds) {
        let KnownSets { ahead, gathered, by_round, .. } = &mut self.known[self.at];
        if targets & !*gathered != 0 {
            let is_leaf = context.present.switch(context.switch).is_leaf;
            *gathered = if is_leaf { u64::MAX } else { targets };
            let (kernel, side) = (context.ready.kernel, context.above());
            let closer = &self.closer.at(self.place).targets;
            ahead.gather(kernel, side, *gathered, closer, context.view);
            by_round.is_known = false;
        }
        let SetsByRound { is_known, all, unharmed, .. } = by_round;
        if *is_known {
            return;
        }
        *is_known = true;
        if !rounds.are_targets {
            let by_target = ahead.by_target();
            let of = |words: &[u64; 64], target: &u8| words[usize::from(target & 63)];
            all.clear();
            all.extend(rounds.targets.iter().map(|target| of(by_target.all, target)));
            unharmed.clear();
            unharmed.extend(rounds.targets.iter().map(|target| of(by_target.unharmed, target)));
        }
        self.generations += 1;
        by_round.generation = self.generations;
        let count = rounds.targets.len();
        let SetsByRound { kept, knows_kept, unharmed_changes, kept_changes, .. } = by_round;
        if std::mem::take(knows_kept) {
            kept.clear();
        }
        kept.resize(count, 0);
        let some_changed = !context.view.changes.is_empty();
        for words in [unharmed_changes, kept_changes] {
            if some_changed {
                words.clear();
            }
            words.resize(count, 0);
        }
        if some_changed {
            self.find_changes(context, rounds);
        }
    }

    /// Finds where the last update of the view changed the sets.
    fn find_changes(&mut self, context: FastContext<'_>, rounds: &Rounds) {
        let SetsByRound { unharmed_changes, kept_changes, .. } = &mut self.known[self.at].by_round;
        let peers = context.above().peers.iter().zip(&self.closer.at(self.place).targets);
        for (group, (&peer, closer)) in peers.enumerate() {
            let Some(change) = context.view.changes.of(peer) else { continue };
            let mut note = |round: usize| {
                let (target, stretch) = (rounds.targets[round], rounds.stretches[round]);
                let bit = |targets: u64| (targets & closer) >> (target & 63) & 1;
                unharmed_changes[round] |= bit(change.harmed) << group;
                kept_changes[round] |= bit(change.kept_slots[usize::from(stretch)]) << group;
            };
            match rounds.are_targets {
                // Most often a few targets changed.
                true => bits(change.targets() & closer).for_each(&mut note),
                false => (0..rounds.targets.len()).for_each(&mut note),
            }
        }
    }

    /// Finds the groups whose switches kept the slot of each round.
    pub(super) fn find_kept(&mut self, context: FastContext<'_>, rounds: &Rounds) {
        let (side, kernel) = (context.above(), context.ready.kernel);
        let through = &self.closer.at(self.place).targets;
        let groups = AheadGroups { side: &side, through, view: context.view, kernel };
        let KnownSets { ahead, by_round, .. } = &mut self.known[self.at];
        for stretch in 0..context.view.kept_slots.len() {
            let by_target = ahead.kept_by_target(stretch, groups);
            let all = rounds.targets.iter().zip(&rounds.stretches).zip(&mut by_round.kept);
            for ((target, _), kept) in all.filter(|((_, of), _)| usize::from(**of) == stretch) {
                *kept = by_target[usize::from(target & 63)];
            }
        }
        by_round.knows_kept = true;
    }

    /// Returns the gathered sets by round.
    pub(super) fn sets(&self, rounds: &Rounds) -> RoundSets<'_> {
        let KnownSets { ahead, by_round, .. } = &self.known[self.at];
        let AheadWords { all, unharmed, shift } = ahead.by_target();
        let SetsByRound { kept, unharmed_changes, kept_changes, .. } = by_round;
        let (all, unharmed) = match rounds.are_targets {
            true => (&all[..], &unharmed[..]),
            false => (&by_round.all[..], &by_round.unharmed[..]),
        };
        RoundSets { all, unharmed, shift, kept, unharmed_changes, kept_changes }
    }
}
