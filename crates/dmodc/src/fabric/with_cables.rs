//! A fabric with more cables.

use super::{Cable, Fabric, FabricBuilder, Rate, Vertex};

impl Fabric {
    /// Returns the same fabric with more cables between its switches, each at its rate. Switches, adapters and nodes keep
    /// their indices; cables are numbered anew.
    ///
    /// # Panics
    /// If a cable is plugged into a port that does not exist or has a cable.
    #[must_use]
    pub(crate) fn with_cables(&self, added: &[(Cable, Rate)]) -> Fabric {
        let mut b = FabricBuilder::new();
        let switches: Vec<Vertex> = self.switches.iter().map(|s| b.switch(s.clone())).collect();
        let adapters: Vec<Vertex> = self.adapters.iter().map(|a| b.adapter(a.clone())).collect();
        for node in &self.nodes {
            let adapter = adapters[node.adapter.at()];
            b.end_port(adapter, node.adapter_port, node.guid, node.lid, node.lmc);
            let rate = self.ports[self.port_slot(node.switch, node.switch_port)].rate;
            let at_switch = (switches[node.switch.at()], node.switch_port);
            b.cable(at_switch, (adapter, node.adapter_port), rate);
        }
        let rate = |cable: &Cable| self.ports[self.port_slot(cable.a.0, cable.a.1)].rate;
        let present = self.cables.iter().map(|cable| (*cable, rate(cable)));
        for (Cable { a, b: other }, rate) in present.chain(added.iter().copied()) {
            b.cable((switches[a.0.at()], a.1), (switches[other.0.at()], other.1), rate);
        }
        b.finish().expect("cables were added between free ports alone")
    }
}
