//! A fabric without its dead parts.

use super::{Degradation, Fabric, FabricBuilder, Live, Vertex};
use crate::id::CableIndex;

impl Fabric {
    /// Returns the fabric that a discovery would find under a degradation. Dead parts are left out, and so are nodes whose
    /// switch or cable is dead. Everything else keeps its GUID, LID and ports.
    pub fn without(&self, degradation: &Degradation) -> Fabric {
        let live = Live::new(self, degradation);
        let mut b = FabricBuilder::new();
        let switches: Vec<Option<Vertex>> = self
            .switch_indices()
            .map(|s| live.switch(s).then(|| b.switch(self.switch(s).clone())))
            .collect();
        let mut adapters: Vec<Option<Vertex>> = vec![None; self.adapters.len()];
        for n in self.node_indices().filter(|&n| live.node(n)) {
            let node = self.node(n);
            let vertex = *adapters[node.adapter.at()]
                .get_or_insert_with(|| b.adapter(self.adapters[node.adapter.at()].clone()));
            b.end_port(vertex, node.adapter_port, node.guid, node.lid, node.lmc);
            let switch = switches[node.switch.at()].expect("a live node's switch is alive");
            let rate = self.ports[self.port_slot(node.switch, node.switch_port)].rate;
            b.cable((switch, node.switch_port), (vertex, node.adapter_port), rate);
        }
        for (at, cable) in self.cables.iter().enumerate() {
            let (Some(a), Some(c)) = (switches[cable.a.0.at()], switches[cable.b.0.at()]) else {
                continue;
            };
            if !degradation.cable_is_dead(CableIndex::new(at)) {
                let rate = self.ports[self.port_slot(cable.a.0, cable.a.1)].rate;
                b.cable((a, cable.a.1), (c, cable.b.1), rate);
            }
        }
        b.finish().expect("a part of a consistent fabric is consistent")
    }
}
