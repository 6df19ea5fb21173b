//! Which parts of a known fabric are present now.

use std::collections::HashMap;

use dmodc::fabric::{Cable, CableEnds, Counts, Part, Peer};
use dmodc::{CableIndex, Degradation, Fabric, Guid, Live, NodeIndex, SwitchIndex};

/// The indices of all switches and nodes of a known fabric, by GUID.
pub(crate) struct GuidIndex {
    switches: HashMap<Guid, SwitchIndex>,
    nodes: HashMap<Guid, NodeIndex>,
}

impl GuidIndex {
    pub(crate) fn new(fabric: &Fabric) -> Self {
        let switches = fabric.switch_indices().map(|s| (fabric.switch(s).guid, s));
        let nodes = fabric.node_indices().map(|n| (fabric.node(n).guid, n));
        GuidIndex { switches: switches.collect(), nodes: nodes.collect() }
    }

    /// Returns which parts of the known fabric are missing from the present one, or `None` if the present fabric has
    /// a part that the known one lacks or has differently.
    pub(crate) fn missing(&self, known: &Fabric, present: &Fabric) -> Option<Degradation> {
        let mut has_switch = vec![false; known.switches().len()];
        let mut has_cable = vec![false; known.cable_count()];
        // The known index of each switch of the present fabric.
        let mut index = Vec::with_capacity(present.switches().len());
        for switch in present.switches() {
            let &s = self.switches.get(&switch.guid)?;
            let before = known.switch(s);
            // The name is compared, too, because the rule for leaves may depend on names.
            let is_same = (before.lid, before.ports) == (switch.lid, switch.ports)
                && before.name == switch.name;
            if !is_same {
                return None;
            }
            has_switch[s.at()] = true;
            index.push(s);
        }
        for n in present.node_indices() {
            let node = present.node(n);
            let &known_node = self.nodes.get(&node.guid)?;
            let before = known.node(known_node);
            let is_same = (before.lid, before.lmc) == (node.lid, node.lmc)
                && (before.switch, before.switch_port)
                    == (index[node.switch.at()], node.switch_port)
                && known.adapter_of(known_node).kind == present.adapter_of(n).kind;
            if !is_same {
                return None;
            }
            has_cable[known.node_cable(known_node).at()] = true;
        }
        for cable in present.inter_switch_cables() {
            let (a, b) = (index[cable.a.0.at()], index[cable.b.0.at()]);
            let port = known.port(a, cable.a.1)?;
            if port.peer != Peer::Switch(b, cable.b.1) {
                return None;
            }
            has_cable[port.cable()?.at()] = true;
        }
        Some(absent_parts(known, &has_switch, &has_cable))
    }
}

/// Returns the degradation of a fabric that has lost all parts that are not marked.
fn absent_parts(known: &Fabric, has_switch: &[bool], has_cable: &[bool]) -> Degradation {
    let mut missing = Degradation::none(known);
    for s in known.switch_indices().filter(|s| !has_switch[s.at()]) {
        missing.set_switch(s, true);
    }
    for c in (0..known.cable_count()).map(CableIndex::new).filter(|c| !has_cable[c.at()]) {
        // The cables of an absent switch are absent with it and not marked one by one.
        let ends = match known.cable(c) {
            CableEnds::Switches(cable) => vec![cable.a.0, cable.b.0],
            CableEnds::Node(n) => vec![known.node(n).switch],
        };
        if ends.iter().all(|s| has_switch[s.at()]) {
            missing.set_cable(c, true);
        }
    }
    missing
}

/// Returns how many switches, nodes and cables between switches of a fabric are absent.
pub(crate) fn count_absent(live: Live<'_>) -> Counts {
    let fabric = live.fabric;
    let is_up = |cable: &Cable| live.peer(cable.a.0, cable.a.1) != Peer::None;
    Counts {
        switches: fabric.switch_indices().filter(|s| !live.switch(*s)).count(),
        nodes: fabric.node_indices().filter(|n| !live.node(*n)).count(),
        cables: fabric.inter_switch_cables().iter().filter(|cable| !is_up(cable)).count(),
    }
}

/// Returns whether a switch or cable is present.
pub(crate) fn is_alive(live: Live<'_>, part: Part) -> bool {
    match part {
        Part::Switch(s) => live.switch(s),
        Part::Cable(c) => match live.fabric.cable(c) {
            CableEnds::Switches(cable) => live.peer(cable.a.0, cable.a.1) != Peer::None,
            CableEnds::Node(n) => live.node(n),
        },
    }
}
