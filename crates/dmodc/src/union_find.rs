//! Which switches are connected, while cables are added one by one.

use crate::id::SwitchIndex;

/// Disjoint sets of switches; each has a representative, its root.
pub(crate) struct UnionFind(Vec<u32>);

impl UnionFind {
    /// Returns sets of one switch each.
    pub(crate) fn new(switches: usize) -> Self {
        UnionFind((0..switches as u32).collect())
    }

    /// Returns the representative of a switch's set. Paths are halved on the way.
    pub(crate) fn root(&mut self, s: SwitchIndex) -> SwitchIndex {
        let mut at = s.at();
        while self.0[at] as usize != at {
            self.0[at] = self.0[self.0[at] as usize];
            at = self.0[at] as usize;
        }
        SwitchIndex::new(at)
    }

    /// Makes two sets one, represented by the root of `a`.
    pub(crate) fn join(&mut self, a: SwitchIndex, b: SwitchIndex) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[b.at()] = a.at() as u32;
    }
}
