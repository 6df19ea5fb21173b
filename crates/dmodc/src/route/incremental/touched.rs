//! The first stage of an update: ranks, groups and dividers around a change.

use super::sweep::Sweep;
use crate::divider::divider;
use crate::fabric::{CableEnds, Live, Part};
use crate::id::{NodeIndex, SwitchIndex};
use crate::preprocess::Preprocessing;
use crate::routing::Routing;

/// The switches whose own arithmetic changed.
pub(crate) struct Touched {
    /// The switches whose port groups changed: their costs may change, too.
    pub(crate) groups: Vec<SwitchIndex>,
    /// The switches whose groups or divider changed: all their entries may change. Ascending.
    pub(crate) rows: Vec<SwitchIndex>,
    /// The nodes that failed or recovered: their columns change everywhere.
    pub(crate) nodes: Vec<NodeIndex>,
    /// Whether leaves and ranks were found again.
    pub(crate) ranked_again: bool,
}

impl Touched {
    /// Updates ranks, groups and dividers after these parts failed or recovered. Returns `None` if most of the
    /// fabric is affected; re-route everything then.
    pub(crate) fn new(
        live: Live<'_>,
        changed: &[Part],
        routing: &Routing,
        ready: &mut Preprocessing,
    ) -> Option<Self> {
        let (mut near, nodes) = around(live, changed);
        if Self::are_most(near.len(), live) {
            routing.preprocess_again(live, ready);
            return None;
        }

        let Preprocessing { ranking, groups, dividers, .. } = ready;
        let ranked_again = !ranking.outlast(live, routing.leaf_rule(), &near);
        if ranked_again {
            // Directions may change anywhere.
            *ranking = routing.ranking(live);
            near = live.fabric.switch_indices().collect();
        }
        // A switch without a cable has the same groups dead or alive: none.
        let came_or_went = |s: &SwitchIndex| changed.contains(&Part::Switch(*s));
        let moved: Vec<SwitchIndex> = near
            .into_iter()
            .filter(|s| groups.refresh(live, ranking, *s) || came_or_went(s))
            .collect();
        groups.sort(live, ranking);

        let mut sweep = Sweep::default();
        sweep.fit(groups);
        for &s in &moved {
            sweep.want(groups, s);
            for &above in groups.above(s).peers {
                sweep.want(groups, above);
            }
            if !live.switch(s) {
                dividers[s.at()] = 1;
            }
        }
        let mut rows = moved.clone();
        sweep.upwards(groups, |sweep, s| {
            let now = divider(groups, dividers, s);
            if std::mem::replace(&mut dividers[s.at()], now) != now {
                rows.push(s);
                for &above in groups.above(s).peers {
                    sweep.want(groups, above);
                }
            }
        });
        rows.sort_unstable();
        rows.dedup();
        let most = Self::are_most(rows.len(), live);
        (!most).then_some(Touched { groups: moved, rows, nodes, ranked_again })
    }

    /// Returns whether most switches are touched, so that routing everything again is faster.
    fn are_most(touched: usize, live: Live<'_>) -> bool {
        4 * touched > live.fabric.switches().len()
    }
}

/// Returns the switches that these parts belong to or are next to, ascending; and the nodes that came or went.
fn around(live: Live<'_>, changed: &[Part]) -> (Vec<SwitchIndex>, Vec<NodeIndex>) {
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
    (fabric.switch_indices().filter(|s| near[s.at()]).collect(), nodes)
}
