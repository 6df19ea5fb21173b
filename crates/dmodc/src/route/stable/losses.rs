//! What became of the reference's closer sets at one switch.
//!
//! Every group of the reference is looked up among the groups of the present. A group is *lost* for a target if it
//! was closer to it and is not now; it is *thinned* if it is still closer but has not all the ports that it had.

use super::Reference;
use super::reference_tile::ReferenceTile;
use crate::cost::CloserSets;
use crate::group::Side;
use crate::id::{PortNumber, SwitchIndex};
use crate::order::Orders;
use crate::route::port_choice::RowContext;

/// What became of the groups of one switch in one direction of the reference.
#[derive(Default)]
pub(super) struct SideLosses {
    /// For each group of the reference: the targets that it was closer to and no longer is.
    pub(super) lost_targets: Vec<u64>,
    /// Whether the groups are those of the present in the same direction.
    pub(super) is_unchanged: bool,
    /// The groups that are there but have not all their ports, ascending.
    pub(super) thinned_groups: Vec<ThinnedGroup>,
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
    /// Whether the present is a part of the reference: no rank changed, and no cable is new.
    pub(super) is_part: bool,
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
        let Compared { reference, tile, is_part } = compared;
        let RowContext { ready, switch: s, closer, .. } = context;
        tile.closer(reference, s, &mut self.was);
        if targets != u64::MAX {
            self.was.restrict(targets);
        }
        let (then, now) = (&reference.ready.groups, &ready.groups);
        let above = Through { side: now.above(s), targets: &closer.through_up };
        let below = Through { side: now.below(s), targets: &closer.through_down };
        let has_other_rank = |s| reference.ready.ranking.rank(s) != ready.ranking.rank(s);
        let own_rank_changed = !is_part && has_other_rank(s);
        let present = Present { orders: &ready.orders, is_part };
        let may_turn = |peer| !is_part && (own_rank_changed || has_other_rank(peer));
        let was = &self.was;
        let was_up = Through { side: then.above(s), targets: &was.through_up };
        let was_down = Through { side: then.below(s), targets: &was.through_down };
        let up = self.up.find(was_up, [above, below], present, may_turn);
        let down = self.down.find(was_down, [below, above], present, may_turn);
        self.displaced = up.displaced | down.displaced;
        self.thinned = up.thinned | down.thinned;
    }

    /// Returns the targets for which a group or a port is lost.
    pub(super) fn harmed(&self) -> u64 {
        self.displaced | self.thinned
    }
}

/// The groups of one direction, and the targets that each is closer to. The list is empty if no group is closer to any.
#[derive(Clone, Copy)]
struct Through<'a> {
    side: Side<'a>,
    targets: &'a [u64],
}

/// What is known of the present besides its groups.
#[derive(Clone, Copy)]
struct Present<'a> {
    orders: &'a Orders,
    /// Whether the groups of the present are known to be a part of the reference's.
    is_part: bool,
}

/// The targets of one direction that lost something.
#[derive(Clone, Copy, Default)]
struct HarmedTargets {
    displaced: u64,
    thinned: u64,
}

impl SideLosses {
    /// Finds the groups of one direction of the reference in the present. The same direction comes first in `now`.
    #[inline(always)]
    fn find(
        &mut self,
        then: Through<'_>,
        now: [Through<'_>; 2],
        present: Present<'_>,
        may_turn: impl Fn(SwitchIndex) -> bool,
    ) -> HarmedTargets {
        self.lost_targets.clear();
        self.thinned_groups.clear();
        self.is_unchanged = false;
        let was = then.targets;
        if was.is_empty() {
            return HarmedTargets::default();
        }
        let union = |lost: &[u64]| lost.iter().fold(0, |all, lost| all | lost);
        let same = now[0];
        if same.targets.len() == was.len() && are_same(then.side, same.side, present.is_part) {
            self.is_unchanged = true;
            self.lost_targets.extend(was.iter().zip(same.targets).map(|(was, is)| was & !is));
            return HarmedTargets { displaced: union(&self.lost_targets), thinned: 0 };
        }
        let some_turned = || !present.is_part && then.side.peers.iter().any(|peer| may_turn(*peer));
        if find_staying(then.side, same, &mut self.lost_targets) && !some_turned() {
            self.lost_targets.iter_mut().zip(was).for_each(|(to, was)| *to = was & !*to);
            return HarmedTargets { displaced: union(&self.lost_targets), thinned: 0 };
        }
        self.lost_targets.clear();
        let mut harmed = HarmedTargets::default();
        let mut next = 0;
        let sides = now.map(|now| now.side);
        for (group, (&was, &peer)) in was.iter().zip(then.side.peers).enumerate() {
            let mut is = 0;
            let found = find_next(peer, &mut next, sides, present.orders, &may_turn);
            if let Some(found) = found {
                let Through { side, targets } = now[usize::from(found.has_turned)];
                is = targets.get(found.at).copied().unwrap_or(0);
                if then.side.ports_of(group) != side.ports_of(found.at) {
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

/// Returns whether the groups of both states are the same. If those of now are known to be a part of those of then,
/// it is enough to count.
#[inline(always)]
fn are_same(then: Side<'_>, now: Side<'_>, is_part: bool) -> bool {
    then.peers.len() == now.peers.len()
        && then.ports.len() == now.ports.len()
        && (is_part || then.peers == now.peers && then.ports == now.ports)
}

/// Lists, for each group of the reference, the targets that it is closer to now. Returns `false`, with a list that
/// means nothing, unless all groups have one port and those of now are a part of those of then.
#[inline(always)]
fn find_staying(then: Side<'_>, now: Through<'_>, staying: &mut Vec<u64>) -> bool {
    staying.clear();
    let Through { side: now, targets: is } = now;
    if !is_single(&then) || !is_single(&now) || is.len() != now.peers.len() {
        return false;
    }
    let Some(last) = is.len().checked_sub(1) else {
        staying.resize(then.peers.len(), 0);
        return true;
    };
    let stays = ports(now);
    let mut next = 0;
    staying.extend(then.ports.iter().map(|port| {
        let (at, stays) = (next.min(last), stays[usize::from(port.0)]);
        next += usize::from(stays);
        is[at] & u64::from(stays).wrapping_neg()
    }));
    next == is.len()
}

/// Returns which groups of the reference are there now: a bit for each. Returns `None` unless there are at most 64
/// groups, all have one port, and those of now are a part of those of then.
#[inline(always)]
pub(super) fn live_groups(then: Side<'_>, now: Side<'_>) -> Option<u64> {
    if !is_single(&then) || !is_single(&now) || then.ports.len() > 64 {
        return None;
    }
    let stays = ports(now);
    let bit = |(at, port): (usize, &PortNumber)| u64::from(stays[usize::from(port.0)]) << at;
    let live = then.ports.iter().enumerate().map(bit).fold(0, |all, bit| all | bit);
    (live.count_ones() as usize == now.ports.len()).then_some(live)
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

/// Returns where the group to a peer is in the present. Peers are asked for in switch order, in which groups stand, so
/// `next`, the first group of the same direction that may be the one, only moves forward.
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
