//! A fabric between two steps of a repair.

use std::collections::HashSet;

use super::{CablingEnd, Comparison};
use crate::fabric::{Fabric, FabricBuilder, Rate, Vertex};
use crate::id::{Guid, Lid, PortNumber, SwitchIndex};

impl Comparison {
    /// Returns the fabric with another cabling of the ports that are compared; everything else is as it was. Cables that lead to
    /// an absent device, back to their own switch or from one adapter to another are left out, since nothing can be routed over
    /// them. Switches and adapters keep their indices.
    pub fn fabric_with(&self, fabric: &Fabric, cabling: &[Option<u32>]) -> Fabric {
        let mut builder = FabricBuilder::new();
        let mut vertices: Vec<Vertex> =
            fabric.switches().iter().map(|switch| builder.switch(switch.clone())).collect();
        vertices.extend(fabric.adapters().iter().map(|adapter| builder.adapter(adapter.clone())));
        let mut described = HashSet::new();
        for node in fabric.nodes() {
            described.insert((node.adapter, node.adapter_port));
            let adapter = vertices[fabric.switches().len() + node.adapter.at()];
            builder.end_port(adapter, node.adapter_port, node.guid, node.lid, node.lmc);
        }
        let kept = self.kept.iter().copied();
        let compared = (0..).zip(cabling).filter_map(|(own, other)| {
            let other = other.filter(|other| own < *other)?;
            let end = |port: u32| {
                let port = self.ports[port as usize];
                CablingEnd { device: port.device, port: port.port }
            };
            Some([end(own), end(other)])
        });
        for ends in kept.chain(compared) {
            if ends.iter().all(|end| self.is_present(end.device)) {
                for end in ends {
                    let vertex = vertices[end.device];
                    if let Vertex::Adapter(adapter) = vertex
                        && !described.contains(&(adapter, end.port))
                    {
                        // The file does not say the GUID of a port without a cable. One that follows from that of the adapter
                        // stands in for it.
                        let guid = fabric.adapters()[adapter.at()].guid.0;
                        let guid = Guid(guid.wrapping_add(end.port.0.into()));
                        builder.end_port(vertex, end.port, guid, Lid::UNKNOWN, 0);
                    }
                }
                let rate = ends.iter().find_map(|end| rate_at(fabric, *end)).unwrap_or_default();
                let [a, b] = ends.map(|end| (vertices[end.device], end.port));
                builder.cable(a, b, rate);
            }
        }
        let (fabric, _) = builder.finish_sound();
        fabric.with_missing_lids().0
    }
}

/// Returns the rate of the cable that is in a switch port now; `None` if there is none.
fn rate_at(fabric: &Fabric, end: CablingEnd) -> Option<Rate> {
    if end.device >= fabric.switches().len() {
        return None;
    }
    let port: PortNumber = end.port;
    let port = fabric.port(SwitchIndex::new(end.device), port)?;
    port.cable().map(|_| port.rate)
}
