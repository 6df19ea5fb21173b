//! Costs of levelled fabrics, as bits.
//!
//! Where every cable joins neighbouring ranks, a switch of rank r that reaches a target of rank t
//! after u hops up does so in r − t + 2u hops altogether: the cost follows from u alone. So a switch
//! has a word of 64 targets for each u, a *plane*: plane 0 has those it reaches by going down, plane
//! u those that need u hops up, and no target is in two planes. The ascending pass of Procedure 1 is
//! an or over the switches below; the descending pass an or over those above, one plane further.
//!
//! Layout: the planes of one switch stand together, 4 of them where there are at most 4 ranks, else 8.

use super::CloserSets;
use crate::group::PortGroups;
use crate::id::SwitchIndex;

/// Hops of all switches to at most 64 destination switches. Made to be reused, and to be refreshed
/// switch by switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hops {
    planes: usize,
    words: Vec<u64>,
    /// Which target each switch is itself; [`NO_TARGET`] for most.
    own: Vec<u8>,
}

const NO_TARGET: u8 = u8::MAX;

impl Hops {
    /// Returns how many planes switches need in a fabric of `levels` ranks; `None` if this form does not suffice.
    pub(crate) fn planes_for(levels: u32) -> Option<usize> {
        match levels {
            0..=4 => Some(4),
            5..=8 => Some(8),
            _ => None,
        }
    }

    /// Returns the number of planes.
    pub(crate) fn planes(&self) -> usize {
        self.planes
    }

    /// Returns hops to no target yet, with this number of planes.
    pub(crate) fn new(planes: usize) -> Self {
        Hops { planes, words: vec![], own: vec![] }
    }

    /// Returns the target that a switch is itself, as a bit; 0 if it is none.
    pub(crate) fn own(&self, s: SwitchIndex) -> u64 {
        match self.own[s.at()] {
            NO_TARGET => 0,
            bit => 1 << bit,
        }
    }

    /// Returns the targets that a switch reaches after 0, 1, 2 … hops up.
    pub(crate) fn of(&self, s: SwitchIndex) -> &[u64] {
        &self.words[s.at() * self.planes..][..self.planes]
    }

    /// Recomputes which targets `s` reaches by going down. Returns the targets for which this changed. Plane 0 of all
    /// switches below must be up to date.
    pub(crate) fn refresh_down(&mut self, groups: &PortGroups, s: SwitchIndex) -> u64 {
        let plane_0 = |of: SwitchIndex| self.words[of.at() * self.planes];
        let below = groups.below(s).peers.iter().fold(0, |reached, &p| reached | plane_0(p));
        let down = below | self.own(s);
        down ^ std::mem::replace(&mut self.words[s.at() * self.planes], down)
    }

    /// Recomputes how many hops up `s` needs for each other target. Returns the targets for which this changed. Plane 0 of
    /// `s` and all planes of the switches above must be up to date.
    pub(crate) fn refresh_up(&mut self, groups: &PortGroups, s: SwitchIndex) -> u64 {
        match self.planes {
            4 => refresh_up::<4>(rows(&mut self.words), groups, s),
            _ => refresh_up::<8>(rows(&mut self.words), groups, s),
        }
    }

    /// Computes the hops to `targets`. With at most 8 ranks no cost comes near the limit of 254.
    #[inline(always)]
    pub(super) fn compute(&mut self, groups: &PortGroups, targets: &[SwitchIndex]) {
        self.words.clear();
        self.words.resize(groups.switch_count() * self.planes, 0);
        self.own.clear();
        self.own.resize(groups.switch_count(), NO_TARGET);
        for (bit, t) in targets.iter().enumerate() {
            self.own[t.at()] = bit as u8;
            self.words[t.at() * self.planes] = 1 << bit;
        }
        match self.planes {
            4 => self.compute_planes::<4>(groups),
            _ => self.compute_planes::<8>(groups),
        }
    }

    /// Returns the targets that `s` reaches: a bit for each.
    #[inline]
    pub(crate) fn reached(&self, s: SwitchIndex) -> u64 {
        self.of(s).iter().fold(0, |all, plane| all | plane)
    }

    /// Finds the closer sets of `s`.
    #[inline(always)]
    pub(crate) fn closer(&self, groups: &PortGroups, s: SwitchIndex, closer: &mut CloserSets) {
        match self.planes {
            4 => self.closer_in::<4>(groups, s, closer),
            _ => self.closer_in::<8>(groups, s, closer),
        }
    }

    #[inline(always)]
    fn compute_planes<const P: usize>(&mut self, groups: &PortGroups) {
        let rows = rows::<P>(&mut self.words);
        for &s in groups.ascending() {
            let below = groups.below(s).peers.iter();
            rows[s.at()][0] = below.fold(rows[s.at()][0], |down, p| down | rows[p.at()][0]);
        }
        for &s in groups.ascending().iter().rev() {
            refresh_up(rows, groups, s);
        }
    }

    /// Replaces `targets` by the targets that each of these switches, which are above some switch, is closer to. `planes` has the
    /// targets of that switch after 1, 2, 3 … hops up.
    #[inline(always)]
    pub(crate) fn closer_from(
        &self,
        planes: &[u64],
        peers: &[SwitchIndex],
        targets: &mut Vec<u64>,
    ) {
        targets.resize(peers.len(), 0);
        match self.planes {
            4 => self.closer_from_in::<4>(planes, peers, targets),
            _ => self.closer_from_in::<8>(planes, peers, targets),
        }
    }

    #[inline(always)]
    fn closer_from_in<const P: usize>(
        &self,
        planes: &[u64],
        peers: &[SwitchIndex],
        targets: &mut [u64],
    ) {
        let (rows, _) = self.words.as_chunks::<P>();
        let mut used = planes.iter().enumerate().filter(|(_, plane)| **plane != 0);
        match (used.next(), used.next()) {
            // Most often all targets are equally far up.
            (Some((before, plane)), None) => {
                for (to, peer) in targets.iter_mut().zip(peers) {
                    *to = plane & rows[peer.at()][before & (P - 1)];
                }
            }
            _ => {
                for (to, peer) in targets.iter_mut().zip(peers) {
                    let pairs = planes.iter().zip(&rows[peer.at()]);
                    *to = pairs.fold(0, |all, (plane, theirs)| all | plane & theirs);
                }
            }
        }
    }

    /// Finds the closer sets of `s` for the targets below it.
    #[inline(always)]
    pub(super) fn closer_below(
        &self,
        groups: &PortGroups,
        s: SwitchIndex,
        closer: &mut CloserSets,
    ) {
        closer.own = self.own(s);
        closer.down = self.words[s.at() * self.planes] & !closer.own;
        closer.through_down.clear();
        if closer.down != 0 {
            let plane_0 = |of: &SwitchIndex| self.words[of.at() * self.planes];
            let below = groups.below(s).peers.iter();
            closer.through_down.extend(below.map(|peer| plane_0(peer) & closer.down));
        }
    }

    #[inline(always)]
    fn closer_in<const P: usize>(
        &self,
        groups: &PortGroups,
        s: SwitchIndex,
        closer: &mut CloserSets,
    ) {
        let (rows, _) = self.words.as_chunks::<P>();
        let row = &rows[s.at()];
        closer.own = self.own(s);
        closer.down = row[0] & !closer.own;
        closer.up = row[1..].iter().fold(0, |all, plane| all | plane);
        closer.up_is_uniform = false;
        closer.through_up.clear();
        let above = groups.above(s).peers.iter();
        let mut used = (1..P).filter(|&u| row[u] != 0);
        match (used.next(), used.next()) {
            (None, _) => {}
            // Most often all targets of a block are equally far up.
            (Some(u), None) => {
                let plane = row[u];
                closer.through_up.extend(above.map(|peer| plane & rows[peer.at()][u - 1]));
            }
            _ => closer.through_up.extend(above.map(|peer| {
                let theirs = &rows[peer.at()];
                (1..P).fold(0, |mask, u| mask | row[u] & theirs[u - 1])
            })),
        }
        closer.through_down.clear();
        if closer.down != 0 {
            let below = groups.below(s).peers.iter();
            closer.through_down.extend(below.map(|peer| rows[peer.at()][0] & closer.down));
        }
    }
}

fn rows<const P: usize>(words: &mut [u64]) -> &mut [[u64; P]] {
    words.as_chunks_mut::<P>().0
}

#[inline(always)]
fn refresh_up<const P: usize>(rows: &mut [[u64; P]], groups: &PortGroups, s: SwitchIndex) -> u64 {
    let mut above = [0; P];
    for peer in groups.above(s).peers {
        for (all, theirs) in above.iter_mut().zip(&rows[peer.at()]) {
            *all |= theirs;
        }
    }
    let row = &mut rows[s.at()];
    let (mut known, mut changed) = (row[0], 0);
    for u in 1..P {
        let plane = above[u - 1] & !known;
        known |= plane;
        changed |= plane ^ row[u];
        row[u] = plane;
    }
    changed
}
