//! The first stage of an update: ranks, groups and dividers around a change.

use super::sweep::Sweep;
use crate::divider::{all_count, divider, dividers as all_dividers};
use crate::fabric::{CableEnds, Live, Part};
use crate::group::PortGroups;
use crate::id::{NodeIndex, SwitchIndex};
use crate::preprocess::Preprocessing;
use crate::routing::Routing;

/// What a change affects directly: switches with other groups or dividers, and nodes that failed or recovered. Costs follow
/// from it in `update`.
pub(crate) struct Touched {
    /// The switches whose port groups changed: their costs may change, too.
    pub(crate) groups: Vec<SwitchIndex>,
    /// The switches whose groups or dividers changed: all their entries may change. Ascending.
    pub(crate) rows: Vec<SwitchIndex>,
    /// The nodes that failed or recovered: their columns change everywhere.
    pub(crate) nodes: Vec<NodeIndex>,
    /// Whether leaves and ranks were computed again.
    pub(crate) ranked_again: bool,
    /// Whether nothing recovered.
    pub(crate) only_faults: bool,
}

impl Touched {
    /// Updates ranks, groups and dividers after these parts failed or recovered. Returns `None` if so much of the fabric is
    /// affected that everything should be routed again. `ready` is up to date in either case.
    pub(crate) fn new(
        live: Live<'_>,
        changed: &[Part],
        routing: &Routing,
        ready: &mut Preprocessing,
    ) -> Option<Self> {
        let Surroundings { switches: mut near, nodes } = Surroundings::of(live, changed);
        if Self::are_too_many(near.len(), live) {
            routing.preprocess_again(live, ready);
            return None;
        }

        let Preprocessing { ranking, groups, dividers, orders, .. } = ready;
        let levels = orders.level_dividers();
        let ranks_before = (!levels.are_the_papers()).then(|| ranking.clone());
        let ranked_again = !ranking.outlast(live, routing.leaf_rule(), &near);
        if ranked_again {
            // Directions may change anywhere.
            *ranking = routing.ranking(live);
            near = live.fabric.switch_indices().collect();
        }
        // A switch without a cable has the same groups whether it works or not: none.
        let came_or_went = |s: &SwitchIndex| changed.contains(&Part::Switch(*s));
        let regrouped: Vec<SwitchIndex> = near
            .into_iter()
            .filter(|s| groups.refresh(live, ranking, *s) || came_or_went(s))
            .collect();
        groups.sort(live, ranking);

        let mut rows = match all_count(ranking) {
            true => update_dividers(live, groups, dividers, &regrouped),
            false => replace_dividers(dividers, all_dividers(groups, ranking)),
        };
        rows.extend_from_slice(&regrouped);
        if let Some(before) = ranks_before {
            // A switch that changes its level has other dividers, even if its groups and Π are the same.
            let has_other_dividers =
                |s: &SwitchIndex| !levels.are_alike(before.rank_among(*s), ranking.rank_among(*s));
            rows.extend(live.fabric.switch_indices().filter(has_other_dividers));
        }
        rows.sort_unstable();
        rows.dedup();
        let too_many = Self::are_too_many(rows.len(), live);
        let only_faults = changed.iter().all(|part| live.degradation.is_dead(*part));
        let groups = regrouped;
        (!too_many).then_some(Touched { groups, rows, nodes, ranked_again, only_faults })
    }

    /// Returns whether more than a quarter of the switches are touched. Then routing everything again is about as fast.
    fn are_too_many(touched: usize, live: Live<'_>) -> bool {
        4 * touched > live.fabric.switches().len()
    }
}

/// Updates the dividers, upwards from switches whose groups changed. Returns the switches whose divider changed.
fn update_dividers(
    live: Live<'_>,
    groups: &PortGroups,
    dividers: &mut [u32],
    regrouped: &[SwitchIndex],
) -> Vec<SwitchIndex> {
    let mut sweep = Sweep::default();
    sweep.fit(groups);
    for &s in regrouped {
        sweep.add(groups, s);
        for &above in groups.above(s).peers {
            sweep.add(groups, above);
        }
        if !live.switch(s) {
            dividers[s.at()] = 1;
        }
    }
    let mut changed = Vec::new();
    sweep.upwards(groups, |sweep, s| {
        let now = divider(groups, dividers, s);
        if std::mem::replace(&mut dividers[s.at()], now) != now {
            changed.push(s);
            for &above in groups.above(s).peers {
                sweep.add(groups, above);
            }
        }
    });
    changed
}

/// Replaces all dividers. Returns the switches whose divider changed.
fn replace_dividers(dividers: &mut [u32], now: Vec<u32>) -> Vec<SwitchIndex> {
    let mut changed = Vec::new();
    for (at, (divider, now)) in dividers.iter_mut().zip(now).enumerate() {
        if std::mem::replace(divider, now) != now {
            changed.push(SwitchIndex::new(at));
        }
    }
    changed
}

/// What is next to a change.
struct Surroundings {
    /// The switches that the changed parts belong to or are next to, ascending.
    switches: Vec<SwitchIndex>,
    /// The nodes that failed or recovered.
    nodes: Vec<NodeIndex>,
}

impl Surroundings {
    /// Returns the surroundings of these parts.
    fn of(live: Live<'_>, changed: &[Part]) -> Self {
        let fabric = live.fabric;
        let mut near = vec![false; fabric.switches().len()];
        let mut nodes = Vec::new();
        for &part in changed {
            match part {
                Part::Switch(s) => {
                    near[s.at()] = true;
                    for link in fabric.links_of(s) {
                        near[link.peer.at()] = true;
                    }
                    nodes.extend_from_slice(fabric.nodes_of(s));
                }
                Part::Cable(c) => match fabric.cable(c) {
                    CableEnds::Switches(cable) => {
                        near[cable.a.0.at()] = true;
                        near[cable.b.0.at()] = true;
                    }
                    CableEnds::Node(n) => {
                        near[fabric.node(n).switch.at()] = true;
                        nodes.push(n);
                    }
                },
            }
        }
        let switches = fabric.switch_indices().filter(|s| near[s.at()]).collect();
        Surroundings { switches, nodes }
    }
}
