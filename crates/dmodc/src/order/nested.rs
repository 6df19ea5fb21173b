//! Nested components: the one idea behind topological and plane order.
//!
//! Switches join stage by stage (rank by rank). With each stage, components grow together; their
//! members are then put one after the other, the component with the least key first. The result is
//! the lexicographic order by (component of the last stage, …, component of the first, own key),
//! without ever storing those tuples: lists are concatenated, O(#ports + #switches log #switches).

use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::union_find::UnionFind;

/// A component while it grows: its least key, and its members as a linked list.
#[derive(Clone, Copy)]
struct Component {
    least: u64,
    /// The first and the last member; `None` if no member is to be listed.
    ends: Option<(SwitchIndex, SwitchIndex)>,
}

/// A component without members to list.
const NO_MEMBERS: Component = Component { least: u64::MAX, ends: None };

/// Returns the switches that have a key, in nested order. Switches without a key join components, but are not listed;
/// those that stay `alone` are listed, but join no component.
pub(super) fn nested_order(
    live: Live<'_>,
    stages: &[Vec<SwitchIndex>],
    alone: &[SwitchIndex],
    key: impl Fn(SwitchIndex) -> Option<u64>,
) -> Vec<SwitchIndex> {
    let count = live.fabric.switches().len();
    let mut forest = Forest {
        sets: UnionFind::new(count),
        component: vec![NO_MEMBERS; count],
        next: vec![None; count],
    };
    let single = |s: SwitchIndex| match key(s) {
        Some(least) => Component { least, ends: Some((s, s)) },
        None => NO_MEMBERS,
    };
    for &s in alone {
        forest.component[s.at()] = single(s);
    }
    let mut present = vec![false; count];
    for stage in stages {
        for &s in stage {
            present[s.at()] = true;
            forest.component[s.at()] = single(s);
        }
        forest.join_stage(live, stage, &present);
    }
    forest.list(live)
}

/// All components while they grow.
struct Forest {
    sets: UnionFind,
    /// The component of every root; those of other switches are out of date.
    component: Vec<Component>,
    /// The next switch in the list of a component.
    next: Vec<Option<SwitchIndex>>,
}

impl Forest {
    /// Joins the components that the cables of this stage's switches connect.
    fn join_stage(&mut self, live: Live<'_>, stage: &[SwitchIndex], present: &[bool]) {
        let mut old_roots: Vec<SwitchIndex> = Vec::new();
        let mut unions: Vec<(SwitchIndex, SwitchIndex)> = Vec::new();
        for &s in stage {
            let a = self.sets.root(s);
            old_roots.push(a);
            for (_, peer) in live.links(s).filter(|(_, peer)| present[peer.at()]) {
                let b = self.sets.root(peer);
                // Parallel cables would only repeat themselves.
                if unions.last() != Some(&(a, b)) {
                    old_roots.push(b);
                    unions.push((a, b));
                }
            }
        }
        old_roots.sort_unstable();
        old_roots.dedup();
        for (a, b) in unions {
            self.sets.join(a, b);
        }
        let mut parts: Vec<(SwitchIndex, Component)> = old_roots
            .into_iter()
            .map(|old| (self.sets.root(old), self.component[old.at()]))
            .collect();
        parts.sort_unstable_by_key(|&(root, part)| (root, part.least));
        for whole in parts.chunk_by(|a, b| a.0 == b.0) {
            self.component[whole[0].0.at()] = self.concatenate(whole);
        }
    }

    /// Makes one component of several, in the given order: the first has the least key, and parts without members, whose
    /// key is the greatest, come last.
    fn concatenate(&mut self, parts: &[(SwitchIndex, Component)]) -> Component {
        let least = parts[0].1.least;
        let ends = parts.iter().filter_map(|(_, part)| part.ends);
        let ends = ends.reduce(|(first, last), (head, tail)| {
            self.next[last.at()] = Some(head);
            (first, tail)
        });
        Component { least, ends }
    }

    /// Returns the members of all components, one component after the other, by their least keys.
    fn list(mut self, live: Live<'_>) -> Vec<SwitchIndex> {
        let mut whole: Vec<Component> = live
            .fabric
            .switch_indices()
            .filter(|&s| self.sets.root(s) == s)
            .map(|root| self.component[root.at()])
            .collect();
        whole.sort_unstable_by_key(|component| component.least);
        let mut order = Vec::with_capacity(self.next.len());
        for (first, _) in whole.into_iter().filter_map(|component| component.ends) {
            order.extend(std::iter::successors(Some(first), |s| self.next[s.at()]));
        }
        order
    }
}
