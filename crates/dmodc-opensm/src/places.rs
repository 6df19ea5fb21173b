//! What of a known fabric is there.

use std::collections::HashMap;

use dmodc::fabric::{Cable, CableEnds, Counts, Part, Peer};
use dmodc::{CableIndex, Degradation, Fabric, Guid, Live, NodeIndex, SwitchIndex};

/// Where everything of a fabric is, by GUID.
pub(crate) struct Places {
    switches: HashMap<Guid, SwitchIndex>,
    nodes: HashMap<Guid, NodeIndex>,
}

impl Places {
    pub(crate) fn new(fabric: &Fabric) -> Self {
        let switches = fabric.switch_indices().map(|s| (fabric.switch(s).guid, s));
        let nodes = fabric.node_indices().map(|n| (fabric.node(n).guid, n));
        Places { switches: switches.collect(), nodes: nodes.collect() }
    }

    /// What of the known fabric is missing from the present one; `None` if that has something more, or
    /// something else.
    pub(crate) fn missing(&self, known: &Fabric, now: &Fabric) -> Option<Degradation> {
        let mut switches = vec![false; known.switches().len()];
        let mut cables = vec![false; known.cable_count()];
        let mut index = Vec::with_capacity(now.switches().len());
        for switch in now.switches() {
            let &s = self.switches.get(&switch.guid)?;
            let before = known.switch(s);
            // What is a leaf may depend on names.
            let same = (before.lid, before.ports) == (switch.lid, switch.ports)
                && before.name == switch.name;
            if !same {
                return None;
            }
            switches[s.at()] = true;
            index.push(s);
        }
        for n in now.node_indices() {
            let node = now.node(n);
            let &place = self.nodes.get(&node.guid)?;
            let before = known.node(place);
            let same = (before.lid, before.lmc) == (node.lid, node.lmc)
                && (before.switch, before.switch_port)
                    == (index[node.switch.at()], node.switch_port)
                && known.adapter_of(place).kind == now.adapter_of(n).kind;
            if !same {
                return None;
            }
            cables[known.node_cable(place).at()] = true;
        }
        for cable in now.inter_switch_cables() {
            let (a, b) = (index[cable.a.0.at()], index[cable.b.0.at()]);
            let port = known.port(a, cable.a.1)?;
            if port.peer != Peer::Switch(b, cable.b.1) {
                return None;
            }
            cables[port.cable()?.at()] = true;
        }
        let mut missing = Degradation::none(known);
        for s in known.switch_indices().filter(|s| !switches[s.at()]) {
            missing.set_switch(s, true);
        }
        for c in (0..known.cable_count()).map(CableIndex::new).filter(|c| !cables[c.at()]) {
            // A dead switch takes its cables with it.
            let ends = match known.cable(c) {
                CableEnds::Switches(cable) => vec![cable.a.0, cable.b.0],
                CableEnds::Node(n) => vec![known.node(n).switch],
            };
            if ends.iter().all(|s| switches[s.at()]) {
                missing.set_cable(c, true);
            }
        }
        Some(missing)
    }
}

/// How much of a fabric is not there.
pub(crate) fn absent(live: Live<'_>) -> Counts {
    let fabric = live.fabric;
    let carries = |cable: &Cable| live.peer(cable.a.0, cable.a.1) != Peer::None;
    Counts {
        switches: fabric.switch_indices().filter(|s| !live.switch(*s)).count(),
        nodes: fabric.node_indices().filter(|n| !live.node(*n)).count(),
        cables: fabric.inter_switch_cables().iter().filter(|cable| !carries(cable)).count(),
    }
}

pub(crate) fn is_alive(live: Live<'_>, part: Part) -> bool {
    match part {
        Part::Switch(s) => live.switch(s),
        Part::Cable(c) => match live.fabric.cable(c) {
            CableEnds::Switches(cable) => live.peer(cable.a.0, cable.a.1) != Peer::None,
            CableEnds::Node(n) => live.node(n),
        },
    }
}
