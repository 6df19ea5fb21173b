//! Costs: the distance of every switch to a block of destination switches (Procedure 1).
//!
//! For a destination switch t, `down[s]` is the least number of hops that only go down, and
//! `cost[s]` is `down[s]` where that is finite, else one more than the least cost above. This is
//! Procedure 1 with one change: the descending pass fills only what the ascending pass left infinite.
//! On degraded PGFTs it is the paper's cost; on any graph it makes every route go up, then down.
//!
//! A [`CostBlock`] holds the costs of all switches to 64 destination switches, one row of 64 bytes
//! for each switch, and one bit for each of those costs: whether it is a down cost. Special value:
//! 255 is infinite. One block takes O(#groups) row operations and 72 bytes a switch, so it stays in
//! the cache, and the costs of the whole fabric are never stored at once.

use std::fmt;

use crate::group::PortGroups;
use crate::id::SwitchIndex;
use crate::kernel::{INFINITE, Row, UNREACHED, equal, finite, keep, one_less, relax};

/// How many destination switches a block has at the most.
pub const BLOCK: usize = 64;

/// A route would need more hops than a cost can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFar {
    /// A switch that is too far away.
    pub from: SwitchIndex,
}

impl fmt::Display for TooFar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a route needs more than {} hops", INFINITE - 1)
    }
}

impl std::error::Error for TooFar {}

/// Costs of all switches to at most 64 destination switches. Made to be reused.
#[derive(Clone, Debug, Default)]
pub struct CostBlock {
    costs: Vec<Row>,
    down: Vec<u64>,
    /// For each destination, its bit; destinations that are dead have none.
    targets: Vec<SwitchIndex>,
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
        self.targets.clear();
        self.targets.extend_from_slice(targets);
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

    /// Finds finite costs that did not fit. The first of them is one more than a cost of 254, so only
    /// fabrics that are high enough for such need to be looked through.
    fn check_range(&self, groups: &PortGroups) -> Result<(), TooFar> {
        if 2 * groups.height() < u32::from(INFINITE) {
            return Ok(());
        }
        for &s in groups.ascending() {
            for (bit, &cost) in self.costs[s.at()].iter().enumerate() {
                let last = |peer: SwitchIndex| self.costs[peer.at()][bit] == INFINITE - 1;
                let by_down =
                    groups.down(s).any(|g| last(g.peer) && self.down[g.peer.at()] >> bit & 1 == 1);
                if cost == INFINITE && (by_down || groups.up(s).any(|g| last(g.peer))) {
                    return Err(TooFar { from: s });
                }
            }
        }
        Ok(())
    }

    /// The destination switches of this block; the i-th has bit i.
    pub fn targets(&self) -> &[SwitchIndex] {
        &self.targets
    }

    /// The cost from `s` to the i-th target, `None` where there is no up\*down\* route.
    pub fn cost(&self, s: SwitchIndex, i: usize) -> Option<u8> {
        let cost = self.costs[s.at()][i];
        (cost != INFINITE).then_some(cost)
    }

    /// Which targets `s` reaches: a bit for each.
    #[inline]
    pub fn reached(&self, s: SwitchIndex) -> u64 {
        finite(&self.costs[s.at()])
    }

    /// Which targets `s` reaches by going down alone, itself among them: a bit for each.
    #[inline]
    pub fn down(&self, s: SwitchIndex) -> u64 {
        self.down[s.at()]
    }

    /// What the neighbours of `s` are compared with to see which of them are closer.
    #[inline]
    pub(crate) fn closer_to(&self, s: SwitchIndex) -> Closer<'_> {
        let row = &self.costs[s.at()];
        let own = equal(row, &[0; BLOCK]);
        Closer {
            block: self,
            wanted: one_less(row),
            down: self.down[s.at()] & !own,
            up: finite(row) & !self.down[s.at()],
            own,
        }
    }
}

/// The closer sets of one switch, for all targets of a block at once (eq. (1), under up\*down\*).
///
/// Where a target can be reached downwards, the closer groups are the down groups with smaller down
/// cost; else the up groups with smaller cost. Smaller by one, that is: a cost is one more than the
/// least of its neighbours'.
pub(crate) struct Closer<'a> {
    block: &'a CostBlock,
    wanted: Row,
    /// Targets below the switch.
    pub(crate) down: u64,
    /// Targets that need an up hop first.
    pub(crate) up: u64,
    /// The switch itself.
    pub(crate) own: u64,
}

impl Closer<'_> {
    /// The targets that the downswitch `peer` is closer to.
    #[inline]
    pub(crate) fn through_down(&self, peer: SwitchIndex) -> u64 {
        self.down & self.block.down[peer.at()] & equal(&self.wanted, &self.block.costs[peer.at()])
    }

    /// The targets that the upswitch `peer` is closer to.
    #[inline]
    pub(crate) fn through_up(&self, peer: SwitchIndex) -> u64 {
        self.up & equal(&self.wanted, &self.block.costs[peer.at()])
    }
}
