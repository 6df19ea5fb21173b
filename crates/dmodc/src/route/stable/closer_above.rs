//! What the switches above a switch are closer to, kept by list of these switches.
//!
//! The switches of one plane of a fat-tree have the same switches above, and most of them need equally many hops to every target
//! of a tile. So what is found for the first of them is right for nearly all others, which are not its neighbours: the next
//! switch most often belongs to another plane.

use super::Reference;
use super::present::Present;
use crate::cost::Hops;
use crate::id::SwitchIndex;
use crate::kernel::Kernel;

/// What the switches above one switch are closer to.
#[derive(Default)]
pub(super) struct CloserAbove {
    /// The number of the list of switches above that this was found for.
    peers: Option<u32>,
    /// The targets of that switch by hops up, from 1 on. If it is a target itself, it counts as one hop up, as it is for the
    /// other switches below the same ones: so they have the same. Nobody asks which groups a switch takes to itself.
    hops: Vec<u64>,
    /// For each group of the reference: the targets that its switch is closer to now, whether or not the cable to it works.
    pub(super) targets: Vec<u64>,
    /// The targets that every group is closer to.
    pub(super) with_all_groups: u64,
}

/// The states that this follows from.
#[derive(Clone, Copy)]
pub(super) struct HopStates<'a> {
    pub(super) reference: &'a Reference,
    pub(super) present: &'a Present,
    pub(super) hops: &'a Hops,
    pub(super) kernel: Kernel,
}

/// [`CloserAbove`] for many lists of switches. It must be used for one tile of one re-route only: costs are not compared.
#[derive(Default)]
pub(super) struct CloserByPeers(Vec<CloserAbove>);

/// A place in [`CloserByPeers`].
pub(super) struct ClosePlace {
    pub(super) at: usize,
    /// Whether something else was there before.
    pub(super) is_new: bool,
}

/// The greatest number of lists that are kept. Lists have numbers, and a list takes the place of another one if the numbers are the
/// same modulo this one.
const PLACES: usize = 128;

impl CloserByPeers {
    /// Finds what the switches above a switch are closer to, unless that is known, and returns where it is.
    #[inline]
    pub(super) fn find(&mut self, states: HopStates<'_>, s: SwitchIndex) -> ClosePlace {
        let number = states.present.switch(s).peers;
        let at = number as usize % PLACES;
        let is_new = match self.0.get(at) {
            // Few words, which are compared here: a function for any number of bytes takes longer.
            Some(known) => {
                known.peers != Some(number)
                    || !known.hops.iter().copied().eq(hops_up(states.hops, s))
            }
            None => true,
        };
        if is_new {
            if self.0.len() <= at {
                self.0.resize_with(at + 1, CloserAbove::default);
            }
            self.0[at].fill(states, s);
        }
        ClosePlace { at, is_new }
    }

    /// Returns what is at a place that was [found](Self::find).
    #[inline(always)]
    pub(super) fn at(&self, at: usize) -> &CloserAbove {
        &self.0[at]
    }
}

impl CloserAbove {
    fn fill(&mut self, states: HopStates<'_>, s: SwitchIndex) {
        let HopStates { reference, present, hops, kernel } = states;
        self.peers = Some(present.switch(s).peers);
        self.hops.clear();
        self.hops.extend(hops_up(hops, s));
        let peers = reference.ready.groups.above(s).peers;
        kernel.run(
            #[inline(always)]
            || hops.closer_from(&self.hops, peers, &mut self.targets),
        );
        self.with_all_groups = self.targets.iter().fold(u64::MAX, |all, targets| all & targets);
    }
}

/// Returns the targets of a switch after 1, 2, 3 … hops up, as if it had to go up to reach itself.
#[inline(always)]
fn hops_up(hops: &Hops, s: SwitchIndex) -> impl Iterator<Item = u64> {
    let mut own = hops.own(s);
    hops.of(s)[1..].iter().map(move |plane| plane | std::mem::take(&mut own))
}
