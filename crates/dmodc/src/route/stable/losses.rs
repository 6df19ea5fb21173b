//! What became of the reference's closer sets at one switch.

use super::Reference;
use super::view::ReferenceCosts;
use crate::cost::Closer;
use crate::group::Side;
use crate::route::tile::Place;

/// The groups of one switch in one direction of the reference.
#[derive(Default)]
pub(super) struct Lost {
    /// For each group: the targets that it was closer to and is no more.
    pub(super) targets: Vec<u64>,
    /// For each group that is alive: whether some of its ports are not. Empty where none is so.
    pub(super) thin: Vec<bool>,
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
    pub(super) fn find(
        &mut self,
        reference: &Reference,
        costs: &ReferenceCosts,
        place: Place<'_>,
        targets: u64,
    ) {
        let Place { ready, s, closer, kernel } = place;
        kernel.run(|| costs.closer(&reference.ready.groups, s, &mut self.was));
        if targets != u64::MAX {
            self.was.restrict(targets);
        }
        let (then, now) = (&reference.ready.groups, &ready.groups);
        let above = (now.above(s), &closer.through_up[..]);
        let below = (now.below(s), &closer.through_down[..]);
        let up = self.up.find((then.above(s), &self.was.through_up), [above, below]);
        let down = self.down.find((then.below(s), &self.was.through_down), [below, above]);
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
    /// Finds the groups again, most often in the same direction, which comes first. Says which targets are
    /// displaced and which are thinned.
    fn find(&mut self, (then, was): Through<'_>, now: [Through<'_>; 2]) -> (u64, u64) {
        self.targets.clear();
        self.thin.clear();
        if was.is_empty() {
            return (0, 0);
        }
        let (same, is) = now[0];
        let mut displaced = 0;
        if then.peers == same.peers && then.ports == same.ports && is.len() == was.len() {
            self.targets.extend(was.iter().zip(is).map(|(was, is)| was & !is));
            displaced = self.targets.iter().fold(0, |all, lost| all | lost);
            return (displaced, 0);
        }
        let mut thinned = 0;
        let mut next = 0;
        for (at, &was) in was.iter().enumerate() {
            let peer = then.peers[at];
            // Both are in switch order, and most often the next one is it.
            let found = match same.peers.get(next) == Some(&peer) {
                true => Some((0, next)),
                false => (0..2).find_map(|side| {
                    let place = now[side].0.peers.iter().position(|p| *p == peer);
                    place.map(|place| (side, place))
                }),
            };
            let mut is = 0;
            let mut thin = false;
            if let Some((side, place)) = found {
                is = now[side].1.get(place).copied().unwrap_or(0);
                thin = then.ports_of(at) != now[side].0.ports_of(place);
                if side == 0 {
                    next = place + 1;
                }
            }
            self.targets.push(was & !is);
            self.thin.push(thin);
            displaced |= was & !is;
            if thin {
                thinned |= was & is;
            }
        }
        (displaced, thinned)
    }
}
