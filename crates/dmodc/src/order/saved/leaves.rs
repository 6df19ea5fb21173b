//! What saved orders know about leaves.

use std::collections::HashSet;

use super::SavedOrders;
use crate::fabric::Live;
use crate::id::{Guid, SwitchIndex};
use crate::order::counts;

impl SavedOrders {
    /// Returns for each switch of a fabric whether it is a leaf; `None` if that is not known.
    ///
    /// In a fabric that has only lost parts since, leaves are what they were. A fabric that has grown (more than one
    /// node of eight is not listed) may have been saved while most hosts were off, and the decision may have been
    /// wrong: a saved leaf stays one only if it has few nodes and is cabled to no switch with many. A switch that was no
    /// leaf may have become one: nothing is known of it if the number of its nodes that are not listed is more than half
    /// the greatest number of nodes on any switch.
    ///
    /// Files of the first version list no leaves. There a switch was a leaf if it now has nodes that were numbered
    /// among those on leaves, and none if it only has nodes that were numbered apart.
    pub(crate) fn known_leaves(&self, live: Live<'_>) -> Vec<Option<bool>> {
        let set = |list: &[Guid]| list.iter().copied().collect::<HashSet<Guid>>();
        let (leaves, switches) = (set(&self.leaves), set(&self.switches));
        let (on_leaves, elsewhere) = (set(&self.nodes), set(&self.others));
        let nodes: Vec<ListedNodes> = live
            .fabric
            .switch_indices()
            .map(|s| ListedNodes::of(live, s, &on_leaves, &elsewhere))
            .collect();
        let sum = |count: fn(&ListedNodes) -> usize| nodes.iter().map(count).sum::<usize>();
        let has_grown = 8 * sum(|nodes| nodes.new) > sum(ListedNodes::all);
        let most = nodes.iter().map(ListedNodes::all).max().unwrap_or(0);
        let is_crowded = |s: SwitchIndex| 2 * nodes[s.at()].all() > most;
        let known = |s: SwitchIndex| {
            let guid = live.fabric.switch(s).guid;
            let nodes = &nodes[s.at()];
            let was_leaf = match self.leaves.is_empty() {
                true => match (nodes.on_leaves > 0, nodes.elsewhere > 0) {
                    (true, false) => Some(true),
                    (false, true) => Some(false),
                    _ => None,
                },
                false if leaves.contains(&guid) => Some(true),
                false if 2 * nodes.new > most || !switches.contains(&guid) => None,
                false => Some(false),
            };
            let stays = !has_grown
                || was_leaf == Some(true)
                    && !is_crowded(s)
                    && !live.links(s).any(|(_, peer)| is_crowded(peer));
            was_leaf.filter(|_| stays)
        };
        live.fabric.switch_indices().map(known).collect()
    }
}

/// The nodes of a switch by the list that they are in. Aggregation nodes do not count.
struct ListedNodes {
    on_leaves: usize,
    elsewhere: usize,
    new: usize,
}

impl ListedNodes {
    fn of(
        live: Live<'_>,
        s: SwitchIndex,
        on_leaves: &HashSet<Guid>,
        elsewhere: &HashSet<Guid>,
    ) -> Self {
        let mut found = ListedNodes { on_leaves: 0, elsewhere: 0, new: 0 };
        for n in live.nodes(s).filter(|&n| counts(live, n)) {
            let guids = [live.fabric.node(n).guid, live.fabric.adapter_of(n).guid];
            let is_in = |list: &HashSet<Guid>| guids.iter().any(|guid| list.contains(guid));
            match (is_in(on_leaves), is_in(elsewhere)) {
                (true, false) => found.on_leaves += 1,
                (false, true) => found.elsewhere += 1,
                // A plain list has every node as both.
                (true, true) => {}
                (false, false) => found.new += 1,
            }
        }
        found
    }

    fn all(&self) -> usize {
        self.on_leaves + self.elsewhere + self.new
    }
}
