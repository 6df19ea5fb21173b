//! What is left of a fabric under a degradation.

use std::collections::VecDeque;

use super::{Degradation, Fabric, Peer};
use crate::id::{NodeIndex, PortNumber, SwitchIndex};

/// A fabric and the faults upon it: what routing sees. A cable lives while it and both its ends do.
#[derive(Clone, Copy, Debug)]
pub struct Live<'a> {
    /// The whole fabric.
    pub fabric: &'a Fabric,
    /// What is dead in it.
    pub degradation: &'a Degradation,
}

impl<'a> Live<'a> {
    /// The two together.
    ///
    /// # Panics
    /// If the degradation was made for a fabric of another size.
    pub fn new(fabric: &'a Fabric, degradation: &'a Degradation) -> Self {
        assert!(degradation.fits(fabric), "a degradation belongs to one fabric");
        Live { fabric, degradation }
    }

    /// Whether a switch is alive.
    #[inline]
    pub fn switch(&self, s: SwitchIndex) -> bool {
        !self.degradation.switch_is_dead(s)
    }

    /// Whether a node can be reached from its switch.
    #[inline]
    pub fn node(&self, n: NodeIndex) -> bool {
        !self.degradation.cable_is_dead(self.fabric.node_cable(n))
            && self.switch(self.fabric.node(n).switch)
    }

    /// What a port leads to, `Peer::None` where anything on the way is dead.
    #[inline]
    pub fn peer(&self, s: SwitchIndex, p: PortNumber) -> Peer {
        let Some(port) = self.fabric.port(s, p) else { return Peer::None };
        let alive = port.cable().is_some_and(|c| !self.degradation.cable_is_dead(c))
            && self.switch(s)
            && match port.peer {
                Peer::Switch(other, _) => self.switch(other),
                _ => true,
            };
        if alive { port.peer } else { Peer::None }
    }

    /// The live switches.
    pub fn switches(&self) -> impl Iterator<Item = SwitchIndex> + use<'a> {
        let live = *self;
        self.fabric.switch_indices().filter(move |&s| live.switch(s))
    }

    /// The live cables of a switch to other switches: own port, and the switch at the other end.
    pub fn links(
        &self,
        s: SwitchIndex,
    ) -> impl Iterator<Item = (PortNumber, SwitchIndex)> + use<'a> {
        let live = *self;
        (1..=self.fabric.switch(s).ports).map(PortNumber).filter_map(move |p| {
            match live.peer(s, p) {
                Peer::Switch(other, _) => Some((p, other)),
                _ => None,
            }
        })
    }

    /// The live nodes of a switch, by port.
    pub fn nodes(&self, s: SwitchIndex) -> impl Iterator<Item = NodeIndex> + use<'a> {
        let live = *self;
        self.fabric.nodes_of(s).iter().copied().filter(move |&n| live.node(n))
    }

    /// Hops to the nearest of these switches, by breadth-first search; `None` is unreachable. O(#ports).
    pub fn hops_to(&self, targets: impl IntoIterator<Item = SwitchIndex>) -> Vec<Option<u32>> {
        let mut hops = vec![None; self.fabric.switches().len()];
        let mut queue = VecDeque::new();
        for s in targets {
            if self.switch(s) && hops[s.at()].replace(0).is_none() {
                queue.push_back((s, 0));
            }
        }
        while let Some((s, distance)) = queue.pop_front() {
            for (_, peer) in self.links(s) {
                if hops[peer.at()].is_none() {
                    hops[peer.at()] = Some(distance + 1);
                    queue.push_back((peer, distance + 1));
                }
            }
        }
        hops
    }
}
