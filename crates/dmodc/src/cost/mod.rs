//! Costs: the distance of every switch to a block of destination switches (Procedure 1).
//!
//! For a destination switch t, `down[s]` is the least number of hops that only go down, and
//! `cost[s]` is `down[s]` where that is finite, else one more than the least cost above. This is
//! Procedure 1 with one change: the descending pass fills only what the ascending pass left infinite.
//! On degraded PGFTs it is the paper's cost; on any graph it makes every route go up, then down.
//!
//! A block is 64 destination switches, so that a question about all of them has 64 bits for an
//! answer. Its costs are kept in one of two forms, which answer alike:
//!
//! | | for | a switch takes | a cable takes |
//! |---|---|---|---|
//! | [`Hops`] | levelled fabrics: every cable joins neighbouring ranks | 4 or 8 words | 4 or 8 ors |
//! | [`CostBlock`] | any fabric | 64 bytes and a word | a comparison of 64 bytes |
//!
//! Every degraded PGFT is levelled: its graph has no cycle of odd length. One block of all switches
//! stays in the cache, and the costs of the whole fabric need not be stored at once.

mod hops;
mod rows;

pub(crate) use hops::Hops;
pub use rows::CostBlock;

use std::fmt;

use crate::group::PortGroups;
use crate::id::SwitchIndex;
use crate::kernel::INFINITE;

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

/// The closer sets of one switch, for all targets of a block at once (eq. (1), under up\*down\*).
///
/// Where a target can be reached downwards, the closer groups are the down groups with smaller down
/// cost; else the up groups with smaller cost. Smaller by one, that is: a cost is one more than the
/// least of its neighbours'.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closer {
    /// Targets that need an up hop first.
    pub(crate) up: u64,
    /// Targets below the switch.
    pub(crate) down: u64,
    /// The switch itself.
    pub(crate) own: u64,
    /// For each group above, in order: the targets that it is closer to.
    pub(crate) through_up: Vec<u64>,
    /// Whether each of these is known to be closer to all of `up`.
    pub(crate) up_is_uniform: bool,
    /// For each group below.
    pub(crate) through_down: Vec<u64>,
}

impl Closer {
    /// Forgets all other targets.
    pub(crate) fn restrict(&mut self, targets: u64) {
        for all in [&mut self.up, &mut self.down, &mut self.own] {
            *all &= targets;
        }
        for through in self.through_up.iter_mut().chain(&mut self.through_down) {
            *through &= targets;
        }
    }
}

/// What routing asks of the costs of a block, whatever their form.
pub(crate) trait Costs: Default + Send + Sync {
    /// Computes the costs to `targets`, at most 64 and all different. Dead ones can be reached by
    /// nobody.
    ///
    /// # Errors
    /// If some finite cost is greater than 254.
    fn compute(&mut self, groups: &PortGroups, targets: &[SwitchIndex]) -> Result<(), TooFar>;

    /// Which targets `s` reaches: a bit for each.
    fn reached(&self, s: SwitchIndex) -> u64;

    /// The closer sets of `s`.
    fn closer(&self, groups: &PortGroups, s: SwitchIndex, closer: &mut Closer);

    /// The same as bits, if they are.
    fn hops(&self) -> Option<&Hops> {
        None
    }
}
