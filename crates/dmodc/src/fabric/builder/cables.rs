//! Matching the ends of cables.
//!
//! 1. [`FabricBuilder::slots`] notes for each port which mention speaks of it, and finds ports that do not exist or
//!    hold two cables.
//! 2. [`FabricBuilder::match_ends`] joins the mentions of both ends of a cable.
//! 3. [`FabricBuilder::nodes`] makes a node of each adapter port that is cabled to a switch, and takes out the cables
//!    of ports that cannot be nodes.

use std::collections::HashSet;

use super::starts::starts;
use super::{FabricBuilder, Mention, Problem, Vertex};
use crate::fabric::{Node, Rate};
use crate::id::{PortNumber, SwitchIndex};

/// A cable whose ends agree.
pub(super) struct MatchedCable {
    pub(super) switch: (SwitchIndex, PortNumber),
    pub(super) peer: (Vertex, PortNumber),
    pub(super) rate: Rate,
    line: u32,
}

/// The number of the mention of each port of each device: the switches' ports first, then the adapters'.
pub(super) struct PortSlots {
    first: Vec<u32>,
    mention: Vec<u32>,
    switches: usize,
}

impl PortSlots {
    const EMPTY: u32 = u32::MAX;

    fn slot(&self, vertex: Vertex, port: PortNumber) -> Option<usize> {
        let device = match vertex {
            Vertex::Switch(s) => s.at(),
            Vertex::Adapter(a) => self.switches + a.at(),
        };
        let at = self.first[device] as usize + usize::from(port.0);
        (port.0 > 0 && at <= self.first[device + 1] as usize).then(|| at - 1)
    }

    /// Returns the number of the mention of a port, if there is one.
    fn get(&self, vertex: Vertex, port: PortNumber) -> Option<usize> {
        let mention = self.mention[self.slot(vertex, port)?];
        (mention != Self::EMPTY).then_some(mention as usize)
    }
}

impl FabricBuilder {
    /// Returns the mention of each cabled port. A device has at most 254 ports, so the size of the array is
    /// bounded by the input.
    pub(super) fn slots(&mut self) -> PortSlots {
        let counts =
            self.switches.iter().map(|s| s.ports).chain(self.adapters.iter().map(|a| a.ports));
        let first = starts(counts.map(u32::from));
        let mention = vec![PortSlots::EMPTY; first[first.len() - 1] as usize];
        let mut slots = PortSlots { first, mention, switches: self.switches.len() };
        for at in 0..self.mentions.len() {
            let Mention { from, port, line, .. } = self.mentions[at];
            match slots.slot(from, port) {
                None => {
                    let count = self.port_count(from);
                    self.problem(line, Problem::NoSuchPort(self.guid(from), port, count));
                }
                Some(slot) if slots.mention[slot] != PortSlots::EMPTY => {
                    let first = &self.mentions[slots.mention[slot] as usize];
                    let (to, to_port) = (self.mentions[at].to, self.mentions[at].to_port);
                    // A device that is described twice mentions its cables twice.
                    if (first.to, first.to_port) != (to, to_port) {
                        self.problem(line, Problem::PortTwice(self.guid(from), port));
                    }
                }
                Some(slot) => slots.mention[slot] = at as u32,
            }
        }
        slots
    }

    /// Returns the cables whose ends mention each other. One end is a switch, and it comes first.
    pub(super) fn match_ends(&mut self, slots: &PortSlots) -> Vec<MatchedCable> {
        let mut cables = Vec::with_capacity(self.mentions.len() / 2);
        for at in 0..self.mentions.len() {
            let Mention { from, port, to, to_port, rate, line } = self.mentions[at];
            if slots.get(from, port) != Some(at) {
                continue;
            }
            let guid = self.guid(from);
            let Some(&peer) = self.vertices.get(&to) else {
                self.problem(line, Problem::UnknownPeer(guid, port, to));
                continue;
            };
            let back = slots.get(peer, to_port).map(|at| &self.mentions[at]);
            if !back.is_some_and(|b| b.to == guid && b.to_port == port) {
                self.problem(line, Problem::OneSided(guid, port, to, to_port));
                continue;
            }
            match (from, peer) {
                (Vertex::Switch(a), Vertex::Switch(b)) if a == b => {
                    self.problem(line, Problem::SelfLoop(guid, port, to_port));
                }
                (Vertex::Switch(a), Vertex::Switch(b)) if a < b => {
                    cables.push(MatchedCable {
                        switch: (a, port),
                        peer: (peer, to_port),
                        rate,
                        line,
                    });
                }
                (Vertex::Switch(a), Vertex::Adapter(_)) => {
                    cables.push(MatchedCable {
                        switch: (a, port),
                        peer: (peer, to_port),
                        rate,
                        line,
                    });
                }
                (Vertex::Adapter(a), Vertex::Adapter(b)) if (a, port) <= (b, to_port) => {
                    self.problem(line, Problem::NoSwitch(guid, port, to));
                }
                // The mention of the other end makes this cable, or its problem.
                _ => {}
            }
        }
        cables
    }

    /// Returns the nodes (adapter ports that are cabled to a switch) in the order of the input. The cables of
    /// ports that cannot be nodes are taken out of `cables`.
    pub(super) fn nodes(&mut self, slots: &PortSlots, cables: &mut Vec<MatchedCable>) -> Vec<Node> {
        let slot_of = |c: &MatchedCable| {
            slots.slot(c.peer.0, c.peer.1).expect("the ports of a joined cable exist")
        };
        let mut at_switch = vec![None; slots.mention.len()];
        for c in cables.iter().filter(|c| matches!(c.peer.0, Vertex::Adapter(_))) {
            at_switch[slot_of(c)] = Some(c.switch);
        }
        let mut nodes = Vec::with_capacity(self.end_ports.len());
        let mut seen = HashSet::with_capacity(self.end_ports.len());
        let mut refused = HashSet::new();
        for e in std::mem::take(&mut self.end_ports) {
            let slot = slots.slot(Vertex::Adapter(e.adapter), e.port);
            let Some((slot, (switch, switch_port))) =
                slot.and_then(|slot| Some((slot, at_switch[slot]?)))
            else {
                continue;
            };
            // Tables name destinations by these GUIDs, nodes and switches alike.
            let is_switch = matches!(self.vertices.get(&e.guid), Some(Vertex::Switch(_)));
            if is_switch || !seen.insert(e.guid) {
                self.problem(e.line, Problem::DuplicateGuid(e.guid));
                refused.insert(slot);
                continue;
            }
            at_switch[slot] = None;
            nodes.push(Node {
                adapter: e.adapter,
                adapter_port: e.port,
                guid: e.guid,
                lid: e.lid,
                lmc: e.lmc,
                switch,
                switch_port,
            });
        }
        let mut nameless = Vec::new();
        cables.retain(|c| {
            let slot = slot_of(c);
            if at_switch[slot].is_some() && !refused.contains(&slot) {
                nameless.push((c.line, c.peer));
            }
            at_switch[slot].is_none()
        });
        for (line, (vertex, port)) in nameless {
            self.problem(line, Problem::NoPortGuid(self.guid(vertex), port));
        }
        nodes
    }
}
