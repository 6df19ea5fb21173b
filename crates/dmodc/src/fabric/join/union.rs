//! Everything of a reference and the present in one fabric.

use std::collections::{HashMap, HashSet};

use super::matched::{Matched, Was};
use super::{Changes, Counts, Joined};
use crate::fabric::{
    Adapter, Cable, CableEnds, Degradation, Fabric, FabricBuilder, Node, Part, Peer, Rate, Switch,
    Vertex,
};
use crate::id::{CableIndex, Guid, NodeIndex, PortNumber, SwitchIndex};

/// A port of a switch.
type Place = (SwitchIndex, PortNumber);

fn rate(fabric: &Fabric, (s, p): Place) -> Rate {
    fabric.port(s, p).map_or_else(Rate::default, |port| port.rate)
}

fn place(node: &Node) -> Place {
    (node.switch, node.switch_port)
}

/// What the present has taken, so that nothing absent can have it.
struct Taken {
    switches: HashSet<Guid>,
    adapters: HashSet<Guid>,
    nodes: HashSet<Guid>,
    /// By GUID of the adapter.
    adapter_ports: HashSet<(Guid, PortNumber)>,
}

impl Taken {
    fn new(present: &Fabric) -> Self {
        let adapter_port =
            |n: NodeIndex| (present.adapter_of(n).guid, present.node(n).adapter_port);
        Taken {
            switches: present.switches().iter().map(|s| s.guid).collect(),
            adapters: present.adapters().iter().map(|a| a.guid).collect(),
            nodes: present.nodes().iter().map(|n| n.guid).collect(),
            adapter_ports: present.node_indices().map(adapter_port).collect(),
        }
    }

    /// Returns whether a switch can have this GUID.
    fn leaves_switch(&self, guid: Guid) -> bool {
        !self.adapters.contains(&guid) && !self.nodes.contains(&guid)
    }

    /// Returns whether a node can be this port of this adapter.
    fn leaves_node(&self, node: &Node, adapter: &Adapter) -> bool {
        !self.switches.contains(&node.guid)
            && !self.switches.contains(&adapter.guid)
            && !self.adapter_ports.contains(&(adapter.guid, node.adapter_port))
    }
}

impl Matched<'_> {
    pub(super) fn join(self) -> Joined {
        let (reference, present) = (self.reference, self.present);
        let taken = Taken::new(present);
        let mut b = FabricBuilder::new();
        let switches: Vec<Vertex> =
            self.switches_with_all_ports().into_iter().map(|s| b.switch(s)).collect();
        let mut adapters: HashMap<Guid, Vertex> =
            self.adapters_with_all_ports().into_iter().map(|a| (a.guid, b.adapter(a))).collect();
        for n in present.node_indices() {
            let (node, of) = (present.node(n), adapters[&present.adapter_of(n).guid]);
            b.end_port(of, node.adapter_port, node.guid, node.lid, node.lmc);
            let at = (switches[node.switch.at()], node.switch_port);
            b.cable((of, node.adapter_port), at, rate(present, place(node)));
        }
        for cable in present.inter_switch_cables() {
            let [x, y] = [cable.a, cable.b].map(|(s, port)| (switches[s.at()], port));
            b.cable(x, y, rate(present, cable.a));
        }

        // What is absent, where the present leaves it its place.
        let mut places: Vec<Option<Vertex>> =
            self.switches.iter().map(|now| now.map(|s| switches[s.at()])).collect();
        for (place, switch) in places.iter_mut().zip(reference.switches()) {
            if place.is_none() && taken.leaves_switch(switch.guid) {
                *place = Some(b.switch(switch.clone()));
            }
        }
        let free = |(s, p): Place| {
            let port = self.switches[s.at()].and_then(|now| present.port(now, p));
            let is_free = port.is_none_or(|port| port.peer == Peer::None);
            Some((places[s.at()].filter(|_| is_free)?, p))
        };
        for n in reference.node_indices().filter(|n| self.nodes[n.at()].is_none()) {
            let (node, adapter) = (reference.node(n), reference.adapter_of(n));
            let at = free(place(node)).filter(|_| taken.leaves_node(node, adapter));
            let Some(at) = at else { continue };
            let of = *adapters.entry(adapter.guid).or_insert_with(|| b.adapter(adapter.clone()));
            b.end_port(of, node.adapter_port, node.guid, node.lid, node.lmc);
            b.cable((of, node.adapter_port), at, rate(reference, place(node)));
        }
        for cable in reference.inter_switch_cables() {
            if let (Some(x), Some(y)) = (free(cable.a), free(cable.b)) {
                b.cable(x, y, rate(reference, cable.a));
            }
        }
        let fabric = b.finish().expect("the absent gave way wherever it was in conflict");
        let fabric = fabric.with_yielded_lids(present.switches().len(), present.nodes().len());
        self.compare(fabric)
    }

    /// Returns the present's switches, each with as many ports as either file gives it. A file that lists
    /// cables, or whose switch counts no port behind the last one in use, has too few once the last cable
    /// is dead; the reference's cable in such a port is still a dead slot.
    fn switches_with_all_ports(&self) -> Vec<Switch> {
        let mut switches = self.present.switches().to_vec();
        for (now, was) in switches.iter_mut().zip(&self.were) {
            if let Some(was) = *was {
                now.ports = now.ports.max(self.reference.switch(was).ports);
            }
        }
        switches
    }

    /// Returns the present's adapters, likewise.
    fn adapters_with_all_ports(&self) -> Vec<Adapter> {
        let reference = self.reference.adapters().iter();
        let before: HashMap<Guid, u8> = reference.map(|a| (a.guid, a.ports)).collect();
        let mut adapters = self.present.adapters().to_vec();
        for adapter in &mut adapters {
            let ports = before.get(&adapter.guid).copied().unwrap_or(0);
            adapter.ports = adapter.ports.max(ports);
        }
        adapters
    }

    /// Returns which parts of the joined fabric belong to which of the two.
    fn compare(self, fabric: Fabric) -> Joined {
        let (mut then, mut now) = (Degradation::none(&fabric), Degradation::none(&fabric));
        let (mut changes, mut news) = (self.count_missing(), Vec::new());
        let present = self.present.switches().len();
        for s in fabric.switch_indices() {
            if s.at() >= present {
                now.set_switch(s, true);
                continue;
            }
            match self.were[s.at()] {
                Some(was) if self.is_as_it_was(s, was) => {}
                Some(_) => news.push(Part::Switch(s)),
                None => {
                    then.set_switch(s, true);
                    changes.new.switches += 1;
                    news.push(Part::Switch(s));
                }
            }
        }
        for c in (0..fabric.cable_count()).map(CableIndex::new) {
            // A dead switch takes its cables with it.
            let (absent, unknown) = match fabric.cable(c) {
                CableEnds::Switches(cable) if self.is_there(&cable) => {
                    let was = self.was(&cable);
                    changes.recabled += usize::from(was == Was::Other);
                    changes.new.cables += usize::from(was == Was::Nothing);
                    if was != Was::Same {
                        news.push(Part::Cable(c));
                    }
                    (false, was == Was::Nothing)
                }
                CableEnds::Node(n) if n.at() < self.present.nodes().len() => {
                    let was = self.nodes_were[n.at()];
                    let moved = was.is_some_and(|was| self.moved(n, was));
                    changes.moved += usize::from(moved);
                    changes.new.nodes += usize::from(was.is_none());
                    if was.is_none_or(|was| moved || self.is_another(n, was)) {
                        news.push(Part::Cable(c));
                    }
                    (false, was.is_none())
                }
                _ => (true, false),
            };
            let ends = match fabric.cable(c) {
                CableEnds::Switches(cable) => [cable.a.0, cable.b.0],
                CableEnds::Node(n) => [fabric.node(n).switch; 2],
            };
            for (state, is_dead) in [(&mut now, absent), (&mut then, unknown)] {
                if is_dead && !ends.iter().any(|s| state.switch_is_dead(*s)) {
                    state.set_cable(c, true);
                }
            }
        }
        Joined { fabric, then, now, changes, news, renamed: self.renamed }
    }

    /// Returns whether a cable of the joined fabric is there now.
    fn is_there(&self, cable: &Cable) -> bool {
        let present = self.present.switches().len();
        cable.a.0.at() < present
            && self.present.port(cable.a.0, cable.a.1).map(|port| port.peer)
                == Some(Peer::Switch(cable.b.0, cable.b.1))
    }

    fn is_as_it_was(&self, s: SwitchIndex, was: SwitchIndex) -> bool {
        let (now, was) = (self.present.switch(s), self.reference.switch(was));
        // Fewer ports than before are no news: the joined fabric keeps the greater number.
        now.ports <= was.ports && (now.guid, &now.name) == (was.guid, &was.name)
    }

    fn moved(&self, n: NodeIndex, was: NodeIndex) -> bool {
        let (now, was) = (self.present.node(n), self.reference.node(was));
        self.were[now.switch.at()] != Some(was.switch) || now.switch_port != was.switch_port
    }

    fn is_another(&self, n: NodeIndex, was: NodeIndex) -> bool {
        self.present.node(n).guid != self.reference.node(was).guid
            || self.present.adapter_of(n).kind != self.reference.adapter_of(was).kind
    }

    /// Returns what the reference has and the present lacks, and how many parts were replaced.
    fn count_missing(&self) -> Changes {
        let is_missing = |cable: &&Cable| {
            let ends = [cable.a, cable.b].map(|(s, p)| {
                let now = self.switches[s.at()]?;
                self.present.port(now, p).map(|port| port.peer)
            });
            // Where another cable is in one of its ports, it is recabled.
            !ends.iter().any(|peer| matches!(peer, Some(Peer::Switch(..))))
        };
        let other_guid = |(was, now): &(Guid, Option<Guid>)| now.is_some_and(|now| now != *was);
        let switches = self.reference.switches().iter().map(|s| s.guid);
        let now = |s: &Option<SwitchIndex>| s.map(|s| self.present.switch(s).guid);
        let replaced_switches = switches.zip(self.switches.iter().map(now)).filter(other_guid);
        Changes {
            missing: Counts {
                switches: self.switches.iter().filter(|now| now.is_none()).count(),
                nodes: self.nodes.iter().filter(|now| now.is_none()).count(),
                cables: self.reference.inter_switch_cables().iter().filter(is_missing).count(),
            },
            replaced_nodes: self.renamed.len() - replaced_switches.clone().count(),
            replaced_switches: replaced_switches.count(),
            ..Changes::default()
        }
    }
}
