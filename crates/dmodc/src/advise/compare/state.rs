//! A fabric between two steps of a repair.

use std::collections::HashSet;

use super::replug::PortId;
use super::{CablingEnd, Comparison, DeviceKind};
use crate::fabric::{Adapter, AdapterKind, Fabric, FabricBuilder, Product, Rate, Switch, Vertex};
use crate::id::{Guid, Lid, PortNumber, SwitchIndex};
use crate::leaf::LeafRule;

/// An absent device of unknown kind with more cables than this is a switch. Adapters have one port or two.
const ADAPTER_CABLES: usize = 2;

/// A device that is not in the fabric, as a step that needs it assumes it.
struct AbsentDevice {
    kind: DeviceKind,
    ports: u8,
    guid: Guid,
}

impl Comparison {
    /// Returns the fabric with another cabling of the ports that are compared; everything else is as it was. A device that is not
    /// in the fabric is there if the cabling has a cable to it. Cables that lead back to their own switch or from one adapter to
    /// another are left out, since nothing can be routed over them. Switches and adapters of the fabric keep their indices.
    pub fn fabric_with(&self, fabric: &Fabric, cabling: &[Option<u32>]) -> Fabric {
        let mut builder = FabricBuilder::new();
        let mut vertices: Vec<Option<Vertex>> =
            fabric.switches().iter().map(|switch| Some(builder.switch(switch.clone()))).collect();
        let adapters = fabric.adapters().iter();
        vertices.extend(adapters.map(|adapter| Some(builder.adapter(adapter.clone()))));
        let absent = self.absent_devices(fabric, cabling);
        vertices.extend((self.present_devices..).zip(&absent).map(|(at, device)| {
            let name = self.devices[at].name.clone();
            device.as_ref().map(|device| device.add(&mut builder, name))
        }));
        let mut described = HashSet::new();
        for node in fabric.nodes() {
            described.insert((node.adapter, node.adapter_port));
            let adapter = Vertex::Adapter(node.adapter);
            builder.end_port(adapter, node.adapter_port, node.guid, node.lid, node.lmc);
        }
        let kept = self.kept.iter().copied();
        for ends in kept.chain(self.cables(cabling)) {
            let [Some(a), Some(b)] = ends.map(|end| vertices[end.device]) else { continue };
            for (vertex, end) in [(a, ends[0]), (b, ends[1])] {
                if let Vertex::Adapter(adapter) = vertex
                    && !described.contains(&(adapter, end.port))
                {
                    // No file says the GUID of a port without a cable. One that follows from that of the adapter stands in for
                    // it.
                    let guid = match fabric.adapters().get(adapter.at()) {
                        Some(adapter) => adapter.guid,
                        None => absent[end.device - self.present_devices]
                            .as_ref()
                            .map_or(Guid(0), |device| device.guid),
                    };
                    let guid = Guid(guid.0.wrapping_add(end.port.0.into()));
                    builder.end_port(vertex, end.port, guid, Lid::UNKNOWN, 0);
                }
            }
            let rate = ends.iter().find_map(|end| rate_at(fabric, *end)).unwrap_or_default();
            builder.cable((a, ends[0].port), (b, ends[1].port), rate);
        }
        let (fabric, _) = builder.finish_sound();
        fabric.with_missing_lids().0
    }

    /// Returns the cables of a cabling by device and port.
    fn cables(&self, cabling: &[Option<PortId>]) -> impl Iterator<Item = [CablingEnd; 2]> {
        (0..).zip(cabling).filter_map(|(own, other)| {
            let other = other.filter(|other| own < *other)?;
            let end = |port: PortId| {
                let port = self.ports[port as usize];
                CablingEnd { device: port.device, port: port.port }
            };
            Some([end(own), end(other)])
        })
    }

    /// Returns the devices that are not in the fabric and have cables in a cabling; `None` for those without.
    fn absent_devices(
        &self,
        fabric: &Fabric,
        cabling: &[Option<PortId>],
    ) -> Vec<Option<AbsentDevice>> {
        let absent = self.devices.len() - self.present_devices;
        let (mut is_cabled, mut most, mut count) =
            (vec![false; absent], vec![0; absent], vec![0; absent]);
        for (at, port) in self.ports.iter().enumerate() {
            let Some(device) = port.device.checked_sub(self.present_devices) else { continue };
            is_cabled[device] |= cabling[at].is_some();
            most[device] = port.port.0.max(most[device]);
            count[device] += 1;
        }
        // A device that is known by name alone gets a GUID that no other one has.
        let own = fabric.switches().iter().map(|switch| switch.guid);
        let own = own.chain(fabric.adapters().iter().map(|adapter| adapter.guid));
        let all = own.chain(self.devices.iter().filter_map(|device| device.guid));
        let all = all.chain(fabric.nodes().iter().map(|node| node.guid));
        let used: HashSet<u64> = match is_cabled.contains(&true) {
            true => all.map(|guid| guid.0).collect(),
            false => HashSet::new(),
        };
        // The ports of an adapter have the numbers after its own.
        let mut free = (1..).map(|n: u64| n << 8).filter(|guid| !used.contains(guid));
        let mut device = |at: usize| {
            let device = &self.devices[self.present_devices + at];
            let kind = device.kind.unwrap_or(match count[at] > ADAPTER_CABLES {
                true => DeviceKind::Switch,
                false => DeviceKind::Adapter,
            });
            let guid = device.guid.or_else(|| free.next().map(Guid)).unwrap_or(Guid(0));
            AbsentDevice { kind, ports: most[at], guid }
        };
        (0..absent).map(|at| is_cabled[at].then(|| device(at))).collect()
    }
}

impl AbsentDevice {
    fn add(&self, builder: &mut FabricBuilder, name: Box<str>) -> Vertex {
        let AbsentDevice { kind, ports, guid } = *self;
        let product = Product::default();
        match kind {
            DeviceKind::Switch => {
                builder.switch(Switch { guid, lid: Lid::UNKNOWN, ports, name, product })
            }
            DeviceKind::Adapter => {
                builder.adapter(Adapter { guid, ports, kind: AdapterKind::Host, name, product })
            }
        }
    }
}

/// Returns a rule for leaves that also fits a fabric with more switches, as [`Comparison::fabric_with`] returns it. Where a rule
/// has a list of leaves, no added switch is one.
pub(super) fn leaves_of(leaves: &LeafRule, switches: usize) -> LeafRule {
    let longer = |flags: &[bool]| {
        let mut flags = flags.to_vec();
        flags.resize(switches, false);
        flags
    };
    match leaves {
        LeafRule::These(flags) => LeafRule::These(longer(flags)),
        LeafRule::Except(flags) => LeafRule::Except(longer(flags)),
        LeafRule::RootsAndLeaves(roots, flags) => {
            LeafRule::RootsAndLeaves(roots.clone(), longer(flags))
        }
        LeafRule::Detect | LeafRule::AtLeast(_) | LeafRule::Roots(_) => leaves.clone(),
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
