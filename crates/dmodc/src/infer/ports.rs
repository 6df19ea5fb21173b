//! The ports of inferred cables.
//!
//! Switches that are alike are mostly cabled alike, too: if leaves have their cables to a spine in port 37, a leaf without
//! that cable lost it there. So a cable goes into the port that most others use towards the same switch, if that is free,
//! and else into the first free port.

use std::collections::BTreeMap;

use super::AddedCables;
use super::neighbours::Neighbours;
use crate::fabric::{Cable, Fabric, Peer, Rate};
use crate::id::{PortNumber, SwitchIndex};

/// The ports that are still free.
pub(super) struct FreePorts<'a> {
    fabric: &'a Fabric,
    /// Whether a port has a cable, by its slot among all ports.
    is_used: Vec<bool>,
}

impl<'a> FreePorts<'a> {
    pub(super) fn new(fabric: &'a Fabric) -> Self {
        let all = fabric.switch_indices().flat_map(|s| fabric.ports_of(s));
        let is_used = all.map(|port| port.peer != Peer::None).collect();
        FreePorts { fabric, is_used }
    }

    /// Plugs in cables between two switches, as many as there are ports for. `above` and `below` are the neighbours of
    /// all switches.
    pub(super) fn plug(
        &mut self,
        wanted: AddedCables,
        above: &Neighbours,
        below: &Neighbours,
    ) -> Vec<(Cable, Rate)> {
        let AddedCables { lower, upper, cables } = wanted;
        let rate = self.rate(lower, upper);
        let mut plugged = vec![];
        for _ in 0..cables {
            let low = self.free_port(lower, upper, below.of(upper));
            let high = self.free_port(upper, lower, above.of(lower));
            let (Some(low), Some(high)) = (low, high) else { break };
            for (s, port) in [(lower, low), (upper, high)] {
                self.is_used[self.fabric.port_slot(s, port)] = true;
            }
            let (a, b) = ((lower, low), (upper, high));
            let cable = if a < b { Cable { a, b } } else { Cable { a: b, b: a } };
            plugged.push((cable, rate));
        }
        plugged
    }

    /// Returns the free port of `s` in which the others have a cable to `peer`; else the first free one.
    fn free_port(
        &self,
        s: SwitchIndex,
        peer: SwitchIndex,
        others: &[super::neighbours::Neighbour],
    ) -> Option<PortNumber> {
        let mut uses: BTreeMap<PortNumber, usize> = BTreeMap::new();
        for other in others.iter().filter(|other| other.switch != s) {
            for link in self.links(other.switch, peer) {
                *uses.entry(link).or_default() += 1;
            }
        }
        let is_free = |port: &PortNumber| {
            port.0 <= self.fabric.switch(s).ports && !self.is_used[self.fabric.port_slot(s, *port)]
        };
        let free = uses.into_iter().filter(|(port, _)| is_free(port));
        let usual = free.max_by_key(|&(port, count)| (count, std::cmp::Reverse(port)));
        let first = || (1..=self.fabric.switch(s).ports).map(PortNumber).find(is_free);
        usual.map(|(port, _)| port).or_else(first)
    }

    /// Returns the ports of a switch that are cabled to another one.
    fn links(&self, s: SwitchIndex, peer: SwitchIndex) -> impl Iterator<Item = PortNumber> {
        let links = self.fabric.links_of(s);
        let first = links.partition_point(|link| link.peer < peer);
        links[first..].iter().take_while(move |link| link.peer == peer).map(|link| link.port)
    }

    /// Returns the rate of the cables between two switches; if there are none, that of another cable between switches.
    fn rate(&self, lower: SwitchIndex, upper: SwitchIndex) -> Rate {
        let first = |s: SwitchIndex| self.fabric.links_of(s).first().map(|link| link.port);
        let port = self.links(lower, upper).next().map(|port| (lower, port));
        let port = port.or_else(|| first(lower).map(|port| (lower, port)));
        port.and_then(|(s, port)| self.fabric.port(s, port)).map_or(Rate::default(), |p| p.rate)
    }
}
