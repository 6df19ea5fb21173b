//! Costs of any fabric, as bytes.
//!
//! A [`CostBlock`] holds the costs of all switches to 64 destination switches, one row of 64 bytes
//! for each switch, and one bit for each of those costs: whether it is a down cost. Special value:
//! 255 is infinite. One block takes O(#groups) row operations.

use super::{CloserSets, TooFar};
use crate::group::PortGroups;
use crate::id::SwitchIndex;
use crate::kernel::{CostRow, INFINITE, UNREACHED, equal, finite, keep, one_less, relax};
use crate::tables::BLOCK;

/// Costs of all switches to at most 64 destination switches. Made to be reused.
#[derive(Clone, Debug, Default)]
pub struct CostBlock {
    costs: Vec<CostRow>,
    down: Vec<u64>,
}

impl CostBlock {
    /// Computes the costs to `targets`, which are all different. Dead ones can be reached by nobody.
    ///
    /// # Errors
    /// If some finite cost is greater than 254.
    pub fn compute(&mut self, groups: &PortGroups, targets: &[SwitchIndex]) -> Result<(), TooFar> {
        assert!(targets.len() <= BLOCK, "a block has one bit for each target");
        self.costs.clear();
        self.costs.resize(groups.switch_count(), UNREACHED);
        self.down.clear();
        self.down.resize(groups.switch_count(), 0);
        for (bit, t) in targets.iter().enumerate() {
            self.costs[t.at()][bit] = 0;
        }
        for &s in groups.ascending() {
            let mut row = self.costs[s.at()];
            for below in groups.down(s) {
                relax(&mut row, &self.costs[below.peer.at()]);
            }
            self.costs[s.at()] = row;
            self.down[s.at()] = finite(&row);
        }
        for &s in groups.ascending().iter().rev() {
            if self.down[s.at()] == u64::MAX {
                continue;
            }
            let mut above = UNREACHED;
            for group in groups.up(s) {
                relax(&mut above, &self.costs[group.peer.at()]);
            }
            keep(&mut self.costs[s.at()], &above, self.down[s.at()]);
        }
        self.check_range(groups)
    }

    /// Returns an error if some finite cost is greater than 254 and was therefore stored as infinite. The switch with the
    /// least such cost has a neighbour with cost 254. Fabrics in which no route can have 255 hops are not searched.
    fn check_range(&self, groups: &PortGroups) -> Result<(), TooFar> {
        if 2 * groups.longest_climb() < u32::from(INFINITE) {
            return Ok(());
        }
        for &s in groups.ascending() {
            for (bit, &cost) in self.costs[s.at()].iter().enumerate() {
                let last = |peer: SwitchIndex| self.costs[peer.at()][bit] == INFINITE - 1;
                let by_down =
                    groups.down(s).any(|g| last(g.peer) && self.down[g.peer.at()] >> bit & 1 == 1);
                // A down cost that did not fit is lost even where there is a way up.
                let lost_down = by_down && self.down[s.at()] >> bit & 1 == 0;
                let lost_up = || cost == INFINITE && groups.up(s).any(|g| last(g.peer));
                if lost_down || lost_up() {
                    return Err(TooFar { from: s });
                }
            }
        }
        Ok(())
    }

    /// Returns the cost from `s` to the i-th target, `None` where there is no up\*down\* route.
    pub fn cost(&self, s: SwitchIndex, i: usize) -> Option<u8> {
        let cost = self.costs[s.at()][i];
        (cost != INFINITE).then_some(cost)
    }

    /// Returns which targets `s` reaches: a bit for each.
    #[inline]
    pub fn reached(&self, s: SwitchIndex) -> u64 {
        finite(&self.costs[s.at()])
    }

    /// Returns which targets `s` reaches by going down alone, itself among them: a bit for each.
    #[inline]
    pub fn down(&self, s: SwitchIndex) -> u64 {
        self.down[s.at()]
    }

    /// Finds the closer sets of `s`.
    pub(crate) fn closer(&self, groups: &PortGroups, s: SwitchIndex, closer: &mut CloserSets) {
        let row = &self.costs[s.at()];
        let wanted = one_less(row);
        closer.own = equal(row, &[0; BLOCK]);
        closer.down = self.down[s.at()] & !closer.own;
        // A target that is dead goes nowhere, not even down to itself.
        closer.up = finite(row) & !self.down[s.at()] & !closer.own;
        let nearer = |peer: &SwitchIndex| equal(&wanted, &self.costs[peer.at()]);
        closer.up_is_uniform = false;
        closer.through_up.clear();
        closer.through_up.extend(groups.above(s).peers.iter().map(|p| closer.up & nearer(p)));
        let by_down = |p: &SwitchIndex| closer.down & self.down[p.at()] & nearer(p);
        closer.through_down.clear();
        closer.through_down.extend(groups.below(s).peers.iter().map(by_down));
    }
}
