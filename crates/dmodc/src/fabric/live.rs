//! A fabric under a degradation: everything in it that is alive.

use std::collections::VecDeque;

use super::{CableEnds, Degradation, Fabric, Link, Peer};
use crate::id::{CableIndex, NodeIndex, PortNumber, SwitchIndex};

/// A fabric and its faults: the view of routing. A cable is alive if it and the devices at both its ends are.
#[derive(Clone, Copy, Debug)]
pub struct Live<'a> {
    /// The whole fabric.
    pub fabric: &'a Fabric,
    /// Its faults.
    pub degradation: &'a Degradation,
}

impl<'a> Live<'a> {
    /// Returns the view of a fabric under a degradation.
    ///
    /// # Panics
    /// If the degradation was made for a fabric that is cabled in another way.
    pub fn new(fabric: &'a Fabric, degradation: &'a Degradation) -> Self {
        assert!(degradation.fits(fabric), "a degradation belongs to one fabric");
        Live { fabric, degradation }
    }

    /// Returns whether a switch is alive.
    #[inline]
    pub fn switch(&self, s: SwitchIndex) -> bool {
        !self.degradation.switch_is_dead(s)
    }

    /// Returns whether a node can be reached from its switch.
    #[inline]
    pub fn node(&self, n: NodeIndex) -> bool {
        !self.degradation.cable_is_dead(self.fabric.node_cable(n))
            && self.switch(self.fabric.node(n).switch)
    }

    /// Returns whether the cable of some node is dead.
    pub fn has_dead_node_cables(&self) -> bool {
        self.degradation
            .has_dead_cables_from(CableIndex::new(self.fabric.inter_switch_cables().len()))
    }

    /// Returns what a port leads to; [`Peer::None`] if the switch, the cable or the other end is dead.
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

    /// Returns the live switches.
    pub fn switches(&self) -> impl Iterator<Item = SwitchIndex> + use<'a> {
        let live = *self;
        self.fabric.switch_indices().filter(move |&s| live.switch(s))
    }

    /// Returns the live cables of a switch to other switches, sorted by peer: its own port, and the switch at the other
    /// end.
    #[inline]
    pub fn links(
        &self,
        s: SwitchIndex,
    ) -> impl Iterator<Item = (PortNumber, SwitchIndex)> + Clone + use<'a> {
        let live = *self;
        let all = if live.switch(s) { live.fabric.links_of(s) } else { &[] };
        all.iter().filter(move |link| live.link(link)).map(|link| (link.port, link.peer))
    }

    /// Returns whether a cable works: it and the devices at both its ends.
    pub fn cable(&self, c: CableIndex) -> bool {
        !self.degradation.cable_is_dead(c)
            && match self.fabric.cable(c) {
                CableEnds::Switches(cable) => self.switch(cable.a.0) && self.switch(cable.b.0),
                CableEnds::Node(n) => self.switch(self.fabric.node(n).switch),
            }
    }

    /// Returns whether a cable of a live switch is alive.
    #[inline]
    pub(crate) fn link(&self, link: &Link) -> bool {
        !self.degradation.cable_is_dead(link.cable) && self.switch(link.peer)
    }

    /// Returns whether a live cable joins two switches.
    pub(crate) fn cabled(&self, a: SwitchIndex, b: SwitchIndex) -> bool {
        let links = self.fabric.links_of(a);
        let first = links.partition_point(|link| link.peer < b);
        let mut between = links[first..].iter().take_while(|link| link.peer == b);
        self.switch(a) && between.any(|link| self.link(link))
    }

    /// Returns the live nodes of a switch, by port.
    pub fn nodes(&self, s: SwitchIndex) -> impl Iterator<Item = NodeIndex> + use<'a> {
        let live = *self;
        self.fabric.nodes_of(s).iter().copied().filter(move |&n| live.node(n))
    }

    /// Returns the switches that a live switch reaches over others that are not `reached` yet, each with its hops, nearest
    /// first, so that the switch itself comes first. They are marked as reached. Returns an empty list for a switch that
    /// is dead or reached. O(#ports).
    pub(crate) fn spread(
        &self,
        from: SwitchIndex,
        reached: &mut [bool],
    ) -> Vec<(SwitchIndex, u32)> {
        if !self.switch(from) || std::mem::replace(&mut reached[from.at()], true) {
            return vec![];
        }
        let mut part = vec![(from, 0)];
        let mut next = 0;
        while let Some(&(s, hops)) = part.get(next) {
            next += 1;
            for (_, peer) in self.links(s) {
                if !std::mem::replace(&mut reached[peer.at()], true) {
                    part.push((peer, hops + 1));
                }
            }
        }
        part
    }

    /// Returns the connected parts of the live fabric: the live switches of each. O(#ports).
    pub fn parts(&self) -> Vec<Vec<SwitchIndex>> {
        let mut reached = vec![false; self.fabric.switches().len()];
        let parts = self.switches().map(|s| self.spread(s, &mut reached));
        let parts = parts.filter(|part| !part.is_empty());
        parts.map(|part| part.into_iter().map(|(s, _)| s).collect()).collect()
    }

    /// Returns for each switch the hops to the nearest of these switches, by breadth-first search; `None` is unreachable.
    /// O(#ports).
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
