//! Nested components: the one idea behind topological and plane order.
//!
//! Switches join stage by stage (rank by rank). With each stage, components grow together; their
//! members are then put one after the other, the component with the least key first. The result is
//! the lexicographic order by (component of the last stage, …, component of the first, own key),
//! without ever storing those tuples: lists are concatenated, O(#ports + #switches log #switches).

use crate::fabric::Live;
use crate::id::SwitchIndex;

const NONE: u32 = u32::MAX;

/// A component while it grows: the list of its members, and its least key.
#[derive(Clone, Copy)]
struct Component {
    least: u64,
    head: u32,
    tail: u32,
}

/// A component without anybody to list.
const NOBODY: Component = Component { least: u64::MAX, head: NONE, tail: NONE };

/// Orders the switches that have a key. Switches without one join components, but are not listed;
/// those that stay `alone` are listed, but join nothing.
pub(super) fn nested_order(
    live: Live<'_>,
    stages: &[Vec<SwitchIndex>],
    alone: &[SwitchIndex],
    key: impl Fn(SwitchIndex) -> Option<u64>,
) -> Vec<SwitchIndex> {
    let count = live.fabric.switches().len();
    let mut forest = Forest {
        parent: (0..count as u32).collect(),
        component: vec![NOBODY; count],
        next: vec![NONE; count],
    };
    let mut present = vec![false; count];
    let single = |s: SwitchIndex| {
        let me = s.at() as u32;
        key(s).map(|least| Component { least, head: me, tail: me })
    };
    for &s in alone {
        forest.component[s.at()] = single(s).unwrap_or(NOBODY);
    }
    for stage in stages {
        for &s in stage {
            present[s.at()] = true;
            forest.component[s.at()] = single(s).unwrap_or(NOBODY);
        }
        forest.join_stage(live, stage, &present);
    }
    let mut roots: Vec<u32> = (0..count as u32)
        .filter(|&s| forest.parent[s as usize] == s && forest.component[s as usize].head != NONE)
        .collect();
    roots.sort_unstable_by_key(|&root| forest.component[root as usize].least);
    let mut order = Vec::with_capacity(count);
    for root in roots {
        let mut at = forest.component[root as usize].head;
        while at != NONE {
            order.push(SwitchIndex::new(at as usize));
            at = forest.next[at as usize];
        }
    }
    order
}

struct Forest {
    parent: Vec<u32>,
    component: Vec<Component>,
    next: Vec<u32>,
}

impl Forest {
    fn root(&mut self, mut s: u32) -> u32 {
        while self.parent[s as usize] != s {
            let grandparent = self.parent[self.parent[s as usize] as usize];
            self.parent[s as usize] = grandparent;
            s = grandparent;
        }
        s
    }

    /// Joins what the cables of this stage's switches connect.
    fn join_stage(&mut self, live: Live<'_>, stage: &[SwitchIndex], present: &[bool]) {
        let mut old_roots: Vec<u32> = Vec::new();
        let mut unions: Vec<(u32, u32)> = Vec::new();
        for &s in stage {
            let a = self.root(s.at() as u32);
            old_roots.push(a);
            for (_, peer) in live.links(s).filter(|(_, peer)| present[peer.at()]) {
                let b = self.root(peer.at() as u32);
                if unions.last() != Some(&(a, b)) {
                    old_roots.push(b);
                    unions.push((a, b));
                }
            }
        }
        old_roots.sort_unstable();
        old_roots.dedup();
        for (a, b) in unions {
            let (a, b) = (self.root(a), self.root(b));
            if a != b {
                self.parent[b as usize] = a;
            }
        }
        let mut parts: Vec<(u32, Component)> = old_roots
            .into_iter()
            .map(|old| (self.root(old), self.component[old as usize]))
            .collect();
        parts.sort_unstable_by_key(|&(root, part)| (root, part.least));
        for whole in parts.chunk_by(|a, b| a.0 == b.0) {
            let root = whole[0].0 as usize;
            self.component[root] = self.concatenate(whole);
        }
    }

    /// One component from several, in the order given: the first has the least key.
    fn concatenate(&mut self, parts: &[(u32, Component)]) -> Component {
        let mut whole = parts[0].1;
        for &(_, part) in parts[1..].iter().filter(|(_, part)| part.head != NONE) {
            debug_assert_ne!(whole.head, NONE, "a part without members has the greatest key");
            self.next[whole.tail as usize] = part.head;
            whole.tail = part.tail;
        }
        whole
    }
}
