//! The present compared with the reference, as far as that is the same for all tiles.

use super::Reference;
use super::losses::live_groups;
use crate::id::SwitchIndex;
use crate::route::job::RouteJob;

/// What all tiles of a route or an update need to know of the present.
pub(crate) struct Present {
    /// Whether both states are levelled, and no switch changed its rank. In a levelled fabric ranks determine how long
    /// routes are.
    pub(super) has_same_ranks: bool,
    /// Whether, in addition, the reference has no faults, so that no cable of the present is missing in it.
    pub(super) is_subset: bool,
    switches: Vec<PresentSwitch>,
}

/// What the rows of one switch in all tiles need to know. It is found once, because looking it up in many places takes longer than
/// all the rest of a short row.
#[derive(Clone, Copy)]
pub(super) struct PresentSwitch {
    /// The [live groups](live_groups) above, if they are a subset of the reference's and none is thinned.
    pub(super) live: Option<u64>,
    /// Π in the reference, or the divider of the level, for targets above.
    pub(super) pi: u32,
    /// σ.
    pub(super) sigma: u32,
    /// The number of the list of switches above: see `Reference::peers_above`.
    pub(super) peers: u32,
    /// The number of the list of ports towards these: see `Reference::ports_above`.
    pub(super) ports: u32,
    /// The number of groups above in the reference.
    pub(super) groups: u32,
    /// Whether they have several ports each.
    pub(super) has_several_ports: bool,
    /// Whether ports have a divider of their own.
    pub(super) has_port_divider: bool,
    /// Whether this is a leaf of the reference.
    pub(super) is_leaf: bool,
    /// Whether the present is a subset of the reference, and no group below is thinned if all targets below are still there.
    pub(super) keeps_below: bool,
}

impl Present {
    /// Compares the present with the reference.
    pub(super) fn new(reference: &Reference, job: &RouteJob<'_>) -> Self {
        let (then, now) = (&reference.ready, job.ready);
        let is_alone =
            |s| now.groups.above(s).peers.is_empty() && now.groups.below(s).peers.is_empty();
        let has_same_ranks = then.new_costs().hops().is_some()
            && now.new_costs().hops().is_some()
            && then.ranking.differing(&now.ranking).all(is_alone);
        let is_subset = has_same_ranks && reference.degradation.removed().next().is_none();
        let mut thinned = vec![];
        let mut switch = |s: SwitchIndex| {
            let (above, below) = (then.groups.above(s), then.groups.below(s));
            let live = live_groups(above, now.groups.above(s), is_subset, &mut thinned);
            let dividers = then.level_dividers(s).up;
            let has_all_ports = || below.ports.len() == now.groups.below(s).ports.len();
            PresentSwitch {
                live: live.filter(|_| thinned.is_empty()),
                pi: dividers.group,
                sigma: reference.sigmas[s.at()],
                peers: reference.peers_above[s.at()],
                ports: reference.ports_above[s.at()],
                groups: above.peers.len() as u32,
                has_several_ports: above.ports.len() > above.peers.len(),
                has_port_divider: dividers.port.is_some(),
                is_leaf: then.ranking.is_leaf(s),
                keeps_below: is_subset
                    && (below.ports.len() == below.peers.len() || has_all_ports()),
            }
        };
        let switches = (0..now.groups.switch_count()).map(SwitchIndex::new);
        let switches = job.ready.kernel.run(
            #[inline(always)]
            || switches.map(&mut switch).collect(),
        );
        Present { has_same_ranks, is_subset, switches }
    }

    #[inline(always)]
    pub(super) fn switch(&self, s: SwitchIndex) -> &PresentSwitch {
        &self.switches[s.at()]
    }
}
