//! Costs: the distance of every switch to a block of destination switches (Procedure 1).
//!
//! For a destination switch t, `down[s]` is the least number of hops that only go down, and
//! `cost[s]` is `down[s]` where that is finite, else one more than the least cost above. This is
//! Procedure 1 with one change: the descending pass fills only what the ascending pass left infinite.
//! On degraded PGFTs it is the paper's cost; on any graph it makes every route go up, then down.
//!
//! A tile has 64 destination switches, so that a question about all of them has one word as its answer. Its costs
//! are kept in one of two forms, which give the same answers:
//!
//! | | for | memory of a switch | work for a cable |
//! |---|---|---|---|
//! | [`Hops`] | levelled fabrics: every cable joins neighbouring ranks | 4 or 8 words | 4 or 8 ors |
//! | [`CostBlock`] | any fabric | 64 bytes and a word | a comparison of 64 bytes |
//!
//! Every degraded PGFT is levelled: its graph has no cycle of odd length. [`TileCosts`] is either form, and the only
//! place that decides which one. The costs of all switches to one tile stay in the cache, and the costs of the whole
//! fabric need not be stored at once.

mod block;
mod closer_sets;
mod hops;

pub use block::CostBlock;
pub(crate) use closer_sets::CloserSets;
pub(crate) use hops::Hops;

use std::fmt;

use crate::group::PortGroups;
use crate::id::SwitchIndex;
use crate::kernel::INFINITE;
use crate::rank::Ranking;

/// A route would need more hops than a cost can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFar {
    /// A switch that is too far away.
    pub from: SwitchIndex,
}

impl fmt::Display for TooFar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a route would need more than {} hops, which is too many; is this a fat tree?",
            INFINITE - 1
        )
    }
}

impl std::error::Error for TooFar {}

/// The costs of all switches to the targets of one tile, in the form that the fabric allows. Made to be reused.
#[derive(Clone, Debug)]
pub(crate) enum TileCosts {
    /// Bits, for levelled fabrics of at most eight ranks.
    Hops(Hops),
    /// Bytes, for all others.
    Bytes(CostBlock),
}

impl TileCosts {
    /// Returns costs to no target yet.
    pub(crate) fn new(ranking: &Ranking, groups: &PortGroups) -> Self {
        match Hops::planes_for(ranking.levels()).filter(|_| groups.are_levelled()) {
            Some(planes) => TileCosts::Hops(Hops::new(planes)),
            None => TileCosts::Bytes(CostBlock::default()),
        }
    }

    /// Returns whether both have the same form, so that one may be overwritten with the other's values.
    pub(crate) fn is_like(&self, other: &TileCosts) -> bool {
        match (self, other) {
            (TileCosts::Hops(a), TileCosts::Hops(b)) => a.planes() == b.planes(),
            (TileCosts::Bytes(_), TileCosts::Bytes(_)) => true,
            _ => false,
        }
    }

    /// Returns the costs as bits, if they have that form.
    #[inline(always)]
    pub(crate) fn hops(&self) -> Option<&Hops> {
        match self {
            TileCosts::Hops(hops) => Some(hops),
            TileCosts::Bytes(_) => None,
        }
    }

    /// Computes the costs to `targets`, which are at most 64 and all different. A failed target is reached by nobody.
    ///
    /// # Errors
    /// If some finite cost is greater than 254.
    #[inline(always)]
    pub(crate) fn compute(
        &mut self,
        groups: &PortGroups,
        targets: &[SwitchIndex],
    ) -> Result<(), TooFar> {
        match self {
            TileCosts::Hops(hops) => {
                hops.compute(groups, targets);
                Ok(())
            }
            TileCosts::Bytes(block) => block.compute(groups, targets),
        }
    }

    /// Returns the targets that `s` reaches: a bit for each.
    #[inline(always)]
    pub(crate) fn reached(&self, s: SwitchIndex) -> u64 {
        match self {
            TileCosts::Hops(hops) => hops.reached(s),
            TileCosts::Bytes(block) => block.reached(s),
        }
    }

    /// Returns the targets that `s` reaches by going down alone, itself among them: a bit for each.
    #[inline(always)]
    pub(crate) fn below(&self, s: SwitchIndex) -> u64 {
        match self {
            TileCosts::Hops(hops) => hops.of(s)[0],
            TileCosts::Bytes(block) => block.down(s),
        }
    }

    /// Finds the closer sets of `s`.
    #[inline(always)]
    pub(crate) fn closer(&self, groups: &PortGroups, s: SwitchIndex, closer: &mut CloserSets) {
        match self {
            TileCosts::Hops(hops) => hops.closer(groups, s, closer),
            TileCosts::Bytes(block) => block.closer(groups, s, closer),
        }
    }

    /// Finds the closer sets of `s` for the targets below it. For the targets above it, the result may be anything.
    #[inline(always)]
    pub(crate) fn closer_below(
        &self,
        groups: &PortGroups,
        s: SwitchIndex,
        closer: &mut CloserSets,
    ) {
        match self {
            TileCosts::Hops(hops) => hops.closer_below(groups, s, closer),
            TileCosts::Bytes(block) => block.closer(groups, s, closer),
        }
    }
}
