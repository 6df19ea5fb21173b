//! What became of the reference's closer sets at one switch.

use super::Reference;
use super::view::View;
use crate::cost::Closer;
use crate::group::Side;
use crate::id::{PortNumber, SwitchIndex};
use crate::order::Orders;
use crate::route::tile::Place;

/// The groups of one switch in one direction of the reference.
#[derive(Default)]
pub(super) struct Lost {
    /// For each group: the targets that it was closer to and is no more.
    pub(super) targets: Vec<u64>,
    /// Whether the groups are those of the present in the same direction.
    pub(super) is_same: bool,
    /// Groups that are alive, but not all of their ports: which it is, and where it stands now.
    pub(super) thin: Vec<(usize, Now)>,
}

/// Where a group stands: in the direction that it was in, or the other one, and its place there.
#[derive(Clone, Copy)]
pub(super) struct Now {
    pub(super) turned: bool,
    pub(super) at: usize,
}

/// The closer sets of one switch for all targets of a tile, then and now.
#[derive(Default)]
pub(super) struct Losses {
    /// Those of the reference.
    pub(super) was: Closer,
    pub(super) up: Lost,
    pub(super) down: Lost,
    /// Targets with a closer group that is lost.
    pub(super) displaced: u64,
    /// Targets with a closer group that has fewer ports than it had.
    pub(super) thinned: u64,
}

impl Losses {
    /// Compares; only these targets are looked at.
    #[inline]
    pub(super) fn find(
        &mut self,
        reference: &Reference,
        view: &View,
        place: Place<'_>,
        targets: u64,
    ) {
        place.kernel.run(
            #[inline(always)]
            || self.compare(reference, view, place, targets),
        );
    }

    #[inline(always)]
    fn compare(&mut self, reference: &Reference, view: &View, place: Place<'_>, targets: u64) {
        let Place { ready, s, closer, .. } = place;
        view.then.closer(reference, s, &mut self.was);
        if targets != u64::MAX {
            self.was.restrict(targets);
        }
        let (then, now) = (&reference.ready.groups, &ready.groups);
        let above = (now.above(s), &closer.through_up[..]);
        let below = (now.below(s), &closer.through_down[..]);
        let ranked_anew = |s| reference.ready.ranking.rank(s) != ready.ranking.rank(s);
        let is_anew = !view.ways_were_there && ranked_anew(s);
        let turn = |peer| !view.ways_were_there && (is_anew || ranked_anew(peer));
        let (orders, was) = (&*ready.orders, &self.was);
        let part = view.ways_were_there;
        let at = (orders, part);
        let up = self.up.find((then.above(s), &was.through_up), [above, below], at, turn);
        let down = self.down.find((then.below(s), &was.through_down), [below, above], at, turn);
        self.displaced = up.0 | down.0;
        self.thinned = up.1 | down.1;
    }

    /// Targets for which not everything is as it was.
    pub(super) fn harmed(&self) -> u64 {
        self.displaced | self.thinned
    }
}

/// Groups of one direction, and the targets that each is closer to (nothing, if there are none).
type Through<'a> = (Side<'a>, &'a [u64]);

impl Lost {
    /// Finds the groups again, most often in the same direction, which comes first; they may be known to be
    /// a part of those of then. Says which targets are displaced and which are thinned.
    #[inline(always)]
    fn find(
        &mut self,
        (then, was): Through<'_>,
        now: [Through<'_>; 2],
        (orders, part): (&Orders, bool),
        may_turn: impl Fn(SwitchIndex) -> bool,
    ) -> (u64, u64) {
        self.targets.clear();
        self.thin.clear();
        self.is_same = false;
        if was.is_empty() {
            return (0, 0);
        }
        let (same, is) = now[0];
        if is.len() == was.len() && are_same(then, same, part) {
            self.is_same = true;
            self.targets.extend(was.iter().zip(is).map(|(was, is)| was & !is));
            return (self.targets.iter().fold(0, |all, lost| all | lost), 0);
        }
        let turned = || !part && then.peers.iter().any(|peer| may_turn(*peer));
        if find_staying(then, now[0], &mut self.targets) && !turned() {
            self.targets.iter_mut().zip(was).for_each(|(to, was)| *to = was & !*to);
            return (self.targets.iter().fold(0, |all, lost| all | lost), 0);
        }
        self.targets.clear();
        let (mut displaced, mut thinned) = (0, 0);
        let mut next = 0;
        for (at, (&was, &peer)) in was.iter().zip(then.peers).enumerate() {
            let mut is = 0;
            if let Some(place) = find_next(peer, &mut next, now.map(|now| now.0), orders, &may_turn)
            {
                let (side, through) = now[usize::from(place.turned)];
                is = through.get(place.at).copied().unwrap_or(0);
                if then.ports_of(at) != side.ports_of(place.at) {
                    self.thin.push((at, place));
                    thinned |= was & is;
                }
            }
            self.targets.push(was & !is);
            displaced |= was & !is;
        }
        (displaced, thinned)
    }
}

/// Whether the groups of now, which may be known to be a part of those of then, are all of them.
#[inline(always)]
fn are_same(then: Side<'_>, now: Side<'_>, part: bool) -> bool {
    then.peers.len() == now.peers.len()
        && then.ports.len() == now.ports.len()
        && (part || then.peers == now.peers && then.ports == now.ports)
}

/// For each group of then, the targets that it is closer to now; in case all groups have one port, and those
/// of now are a part of them. Whether that is so.
#[inline(always)]
fn find_staying(then: Side<'_>, (now, is): Through<'_>, staying: &mut Vec<u64>) -> bool {
    staying.clear();
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

/// Which of at most 64 groups of then are there now; in case all groups have one port, and those of now are a
/// part of them.
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

/// The ports of a switch in one direction, by their numbers. A port leads to one switch only, so they tell
/// groups of one port. (And nothing is decided from group to group: which one is lost, no processor can
/// guess.)
#[inline(always)]
fn ports(side: Side<'_>) -> [bool; 256] {
    let mut ports = [false; 256];
    side.ports.iter().for_each(|port| ports[usize::from(port.0)] = true);
    ports
}

/// Where the group to a peer stands. Peers come in switch order, as groups stand; `next` is the first in the
/// same direction that may be it.
#[inline(always)]
fn find_next(
    peer: SwitchIndex,
    next: &mut usize,
    [same, other]: [Side<'_>; 2],
    orders: &Orders,
    may_turn: impl Fn(SwitchIndex) -> bool,
) -> Option<Now> {
    if same.peers.get(*next) != Some(&peer) {
        // What is before it is new.
        let is_before = |now: &SwitchIndex| orders.position(*now) < orders.position(peer);
        *next += same.peers[*next..].iter().take_while(|now| is_before(now)).count();
        if same.peers.get(*next) != Some(&peer) {
            let turned = || other.peers.iter().position(|now| *now == peer);
            let at = if may_turn(peer) { turned() } else { None };
            return at.map(|at| Now { turned: true, at });
        }
    }
    *next += 1;
    Some(Now { turned: false, at: *next - 1 })
}
