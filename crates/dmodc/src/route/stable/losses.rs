//! The losses of one switch: its closer sets in the reference, compared with those of the present.
//!
//! Every group of the reference is looked up among the groups of the present. A group is *lost* for a target if it
//! was closer to it and is not now; it is *thinned* if it is still closer but has other ports now: as a
//! rule fewer, but new parallel cables count, too.

use super::Reference;
use super::reference_tile::ReferenceTile;
use super::ways_down::WaysDown;
use crate::cost::CloserSets;
use crate::group::Side;
use crate::id::{PortNumber, SwitchIndex};
use crate::kernel::{Choices, Kernel};
use crate::order::Orders;
use crate::preprocess::Preprocessing;
use crate::route::port_choice::RowContext;

/// The losses of one switch in one direction of the reference.
pub(super) struct SideLosses {
    /// Whether every group was closer to all targets of the direction. [`Losses::find_members`] finds this and `members`.
    pub(super) is_uniform: bool,
    /// R by target, unless it is all groups for every target.
    pub(super) members: Choices,
    /// The masks by group that `members` was gathered from. Alike switches have the same ones.
    gathered: Vec<u64>,
    /// For each group of the reference: the targets that it was closer to and no longer is.
    pub(super) lost_targets: Vec<u64>,
    /// Whether the groups are those of the present in the same direction.
    pub(super) is_unchanged: bool,
    /// The groups that are there but have not all their ports, ascending.
    pub(super) thinned_groups: Vec<ThinnedGroup>,
}

impl Default for SideLosses {
    fn default() -> Self {
        SideLosses {
            is_uniform: false,
            members: Choices::one_by_one(),
            gathered: vec![],
            lost_targets: vec![],
            is_unchanged: false,
            thinned_groups: vec![],
        }
    }
}

/// A group of the reference that is there, but has not all its ports.
pub(super) struct ThinnedGroup {
    /// Its index in the reference.
    pub(super) group: usize,
    pub(super) present: PresentGroup,
}

/// Where a group of the reference is in the present.
#[derive(Clone, Copy)]
pub(super) struct PresentGroup {
    /// Whether it has the other direction, because a rank changed.
    pub(super) has_turned: bool,
    /// Its index in its direction.
    pub(super) at: usize,
}

/// The closer sets of one switch in the reference, compared with the present.
#[derive(Default)]
pub(super) struct Losses {
    /// The closer sets of the reference.
    pub(super) was: CloserSets,
    pub(super) up: SideLosses,
    pub(super) down: SideLosses,
    /// The targets for which some group is lost.
    pub(super) displaced: u64,
    /// The targets for which some group is thinned.
    pub(super) thinned: u64,
}

/// The two states that are compared.
#[derive(Clone, Copy)]
pub(super) struct Compared<'a> {
    pub(super) reference: &'a Reference,
    pub(super) tile: &'a ReferenceTile,
    /// Whether the present is known to be a subset of the reference: no rank changed, and no cable is new.
    pub(super) is_subset: bool,
}

/// The ways down of a switch.
#[derive(Clone, Copy)]
pub(super) struct LiveWays<'a> {
    pub(super) ways: &'a WaysDown,
    /// The groups below that are there now: a bit for each of the reference's.
    pub(super) live: u64,
}

impl<'a> Compared<'a> {
    /// Returns the [ways down](ReferenceTile::ways_down) of a switch, if it has any, groups below have single ports, and the present
    /// is a subset of the reference.
    #[inline]
    pub(super) fn live_ways(self, now: &Preprocessing, s: SwitchIndex) -> Option<LiveWays<'a>> {
        let ways = self.tile.ways_down(s).filter(|_| self.is_subset)?;
        let (then, now) = (self.reference.ready.groups.below(s), now.groups.below(s));
        let live = live_groups(then, now, self.is_subset, &mut vec![]);
        Some(LiveWays { ways, live: live.filter(|_| is_single(&then))? })
    }
}

impl Losses {
    /// Compares the closer sets of some targets.
    #[inline]
    pub(super) fn find(&mut self, compared: Compared<'_>, context: RowContext<'_>, targets: u64) {
        context.kernel.run(
            #[inline(always)]
            || self.compare(compared, context, targets),
        );
    }

    #[inline(always)]
    fn compare(&mut self, compared: Compared<'_>, context: RowContext<'_>, targets: u64) {
        let Compared { reference, tile, is_subset } = compared;
        let RowContext { ready, switch: s, closer, .. } = context;
        tile.closer(reference, s, &mut self.was);
        if targets != u64::MAX {
            self.was.restrict(targets);
        }
        let (then, now) = (&reference.ready.groups, &ready.groups);
        let above = SideMasks { side: now.above(s), masks: &closer.through_up };
        let below = SideMasks { side: now.below(s), masks: &closer.through_down };
        let has_other_rank = |s| reference.ready.ranking.rank(s) != ready.ranking.rank(s);
        let own_rank_changed = !is_subset && has_other_rank(s);
        let state = Present { orders: &ready.orders, is_subset };
        let may_turn = |peer| !is_subset && (own_rank_changed || has_other_rank(peer));
        let was = &self.was;
        let was_up = SideMasks { side: then.above(s), masks: &was.through_up };
        let was_down = SideMasks { side: then.below(s), masks: &was.through_down };
        let up = self.up.find(was_up, [above, below], state, may_turn);
        let down = self.down.find(was_down, [below, above], state, may_turn);
        self.displaced = up.displaced | down.displaced;
        self.thinned = up.thinned | down.thinned;
    }

    /// Finds R of some targets in each direction: from masks by group to sets by target.
    pub(super) fn find_members(&mut self, kernel: Kernel, wanted: u64) {
        let Losses { was, up, down, .. } = self;
        for (side, targets, through) in
            [(up, was.up, &was.through_up), (down, was.down, &was.through_down)]
        {
            side.is_uniform = through.iter().all(|mask| *mask == targets);
            let is_needed = !side.is_uniform && targets & wanted != 0;
            if is_needed && (side.members.targets != targets || side.gathered != *through) {
                kernel.gather(&mut side.members, targets, through);
                side.gathered.clone_from(through);
            }
        }
    }

    /// Returns the targets for which a group or a port is lost.
    pub(super) fn harmed(&self) -> u64 {
        self.displaced | self.thinned
    }
}

/// The groups of one direction with their masks: `masks[g]` has the targets that group g is closer to. If no group is
/// closer to any target, `masks` may be empty, although `side` is not.
#[derive(Clone, Copy)]
struct SideMasks<'a> {
    side: Side<'a>,
    masks: &'a [u64],
}

/// What is known of the present besides its groups.
#[derive(Clone, Copy)]
struct Present<'a> {
    orders: &'a Orders,
    /// Whether the groups of the present are known to be a subset of the reference's.
    is_subset: bool,
}

/// The targets of one direction for which a group or a port is lost.
#[derive(Clone, Copy, Default)]
struct HarmedTargets {
    displaced: u64,
    thinned: u64,
}

impl SideLosses {
    /// Finds the groups of one direction of the reference in the present. The same direction comes first in `present`.
    #[inline(always)]
    fn find(
        &mut self,
        reference: SideMasks<'_>,
        present: [SideMasks<'_>; 2],
        state: Present<'_>,
        may_turn: impl Fn(SwitchIndex) -> bool,
    ) -> HarmedTargets {
        self.lost_targets.clear();
        self.thinned_groups.clear();
        self.is_unchanged = false;
        if reference.masks.is_empty() {
            return HarmedTargets::default();
        }
        let union = |lost: &[u64]| lost.iter().fold(0, |all, lost| all | lost);
        let same = present[0];
        if same.masks.len() == reference.masks.len()
            && are_same(reference.side, same.side, state.is_subset)
        {
            self.is_unchanged = true;
            let pairs = reference.masks.iter().zip(same.masks);
            self.lost_targets.extend(pairs.map(|(was, is)| was & !is));
            return HarmedTargets { displaced: union(&self.lost_targets), thinned: 0 };
        }
        let some_turned =
            || !state.is_subset && reference.side.peers.iter().any(|peer| may_turn(*peer));
        if find_present_masks(reference.side, same, &mut self.lost_targets) && !some_turned() {
            let pairs = self.lost_targets.iter_mut().zip(reference.masks);
            pairs.for_each(|(to, was)| *to = was & !*to);
            return HarmedTargets { displaced: union(&self.lost_targets), thinned: 0 };
        }
        self.find_any(reference, present, state, may_turn)
    }

    /// Does what [`find`](Self::find) does, for groups of any sizes, which may have turned.
    #[inline(always)]
    fn find_any(
        &mut self,
        reference: SideMasks<'_>,
        present: [SideMasks<'_>; 2],
        state: Present<'_>,
        may_turn: impl Fn(SwitchIndex) -> bool,
    ) -> HarmedTargets {
        self.lost_targets.clear();
        let mut harmed = HarmedTargets::default();
        let mut next = 0;
        let sides = present.map(|present| present.side);
        for (group, (&was, &peer)) in reference.masks.iter().zip(reference.side.peers).enumerate() {
            let mut is = 0;
            let found = find_next(peer, &mut next, sides, state.orders, &may_turn);
            if let Some(found) = found {
                let SideMasks { side, masks } = present[usize::from(found.has_turned)];
                is = masks.get(found.at).copied().unwrap_or(0);
                if reference.side.ports_of(group) != side.ports_of(found.at) {
                    self.thinned_groups.push(ThinnedGroup { group, present: found });
                    harmed.thinned |= was & is;
                }
            }
            self.lost_targets.push(was & !is);
            harmed.displaced |= was & !is;
        }
        harmed
    }
}

/// Returns whether the groups of both states are the same. If those of the present are known to be a subset of those of
/// the reference, it is enough to count.
#[inline(always)]
fn are_same(then: Side<'_>, now: Side<'_>, is_subset: bool) -> bool {
    then.peers.len() == now.peers.len()
        && then.ports.len() == now.ports.len()
        && (is_subset || then.peers == now.peers && then.ports == now.ports)
}

/// Writes to `masks`, for each group of the reference, the targets that it is closer to now, and returns `true`. This works
/// only if all groups have one port and those of the present are a subset of the reference's; otherwise returns `false`,
/// and the contents of `masks` are unspecified.
#[inline(always)]
fn find_present_masks(reference: Side<'_>, present: SideMasks<'_>, masks: &mut Vec<u64>) -> bool {
    masks.clear();
    let SideMasks { side: present, masks: present_masks } = present;
    if !is_single(&reference) || !is_single(&present) || present_masks.len() != present.peers.len()
    {
        return false;
    }
    let Some(last) = present_masks.len().checked_sub(1) else {
        masks.resize(reference.peers.len(), 0);
        return true;
    };
    let has_port = ports(present);
    let mut next = 0;
    masks.extend(reference.ports.iter().map(|port| {
        let (at, is_there) = (next.min(last), has_port[usize::from(port.0)]);
        next += usize::from(is_there);
        present_masks[at] & u64::from(is_there).wrapping_neg()
    }));
    next == present_masks.len()
}

/// Returns which groups of the reference are there now: a bit for each. Lists the thinned ones. Returns `None` unless there
/// are at most 64 groups with equally many ports in the reference, and those of the present are a subset of them. A group that
/// had one port must have the same one.
/// `is_subset`: whether that is known already.
#[inline(always)]
pub(super) fn live_groups(
    then: Side<'_>,
    now: Side<'_>,
    is_subset: bool,
    thinned: &mut Vec<ThinnedGroup>,
) -> Option<u64> {
    thinned.clear();
    if !matches!(then.peers.len(), 1..=64) {
        return None;
    }
    if is_subset && then.ports.len() == now.ports.len() && then.width().is_some() {
        return Some(u64::MAX >> (64 - then.peers.len()));
    }
    if !is_single(&then) {
        return live_wide_groups(then, now, thinned);
    }
    let stays = ports(now);
    let bit = |(at, port): (usize, &PortNumber)| u64::from(stays[usize::from(port.0)]) << at;
    let live = then.ports.iter().enumerate().map(bit).fold(0, |all, bit| all | bit);
    (live.count_ones() as usize == now.ports.len()).then_some(live)
}

/// Does what [`live_groups`] does for groups of several ports.
fn live_wide_groups(then: Side<'_>, now: Side<'_>, thinned: &mut Vec<ThinnedGroup>) -> Option<u64> {
    then.width()?;
    let (mut live, mut next) = (0, 0);
    for (group, peer) in then.peers.iter().enumerate() {
        if now.peers.get(next) == Some(peer) {
            live |= 1 << group;
            if then.ports_of(group) != now.ports_of(next) {
                let present = PresentGroup { has_turned: false, at: next };
                thinned.push(ThinnedGroup { group, present });
            }
            next += 1;
        }
    }
    (next == now.peers.len()).then_some(live)
}

#[inline(always)]
fn is_single(side: &Side<'_>) -> bool {
    side.ports.len() == side.peers.len()
}

/// Returns which port numbers a direction of a switch has. A port leads to one switch only, so ports identify groups
/// of one port. (Looking them up needs no branch: no processor can predict which groups are lost.)
#[inline(always)]
fn ports(side: Side<'_>) -> [bool; 256] {
    let mut ports = [false; 256];
    side.ports.iter().for_each(|port| ports[usize::from(port.0)] = true);
    ports
}

/// Returns the present group to `peer`, or `None` if there is none. Call it for the peers in switch order: `next` is the
/// index of the first group of the same direction that was not passed yet, and only grows.
#[inline(always)]
fn find_next(
    peer: SwitchIndex,
    next: &mut usize,
    [same, other]: [Side<'_>; 2],
    orders: &Orders,
    may_turn: impl Fn(SwitchIndex) -> bool,
) -> Option<PresentGroup> {
    if same.peers.get(*next) != Some(&peer) {
        // Groups before it are new.
        let is_before = |now: &SwitchIndex| orders.position(*now) < orders.position(peer);
        *next += same.peers[*next..].iter().take_while(|now| is_before(now)).count();
        if same.peers.get(*next) != Some(&peer) {
            let turned = || other.peers.iter().position(|now| *now == peer);
            let at = if may_turn(peer) { turned() } else { None };
            return at.map(|at| PresentGroup { has_turned: true, at });
        }
    }
    *next += 1;
    Some(PresentGroup { has_turned: false, at: *next - 1 })
}
