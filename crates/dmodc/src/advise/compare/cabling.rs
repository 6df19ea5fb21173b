//! A cabling as a list of cables: that of a fabric, or of a file that knows devices by name alone.

use std::collections::HashMap;

use crate::fabric::{AdapterKind, Fabric};
use crate::id::{Guid, PortNumber};

/// Whether a device is a switch or an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceKind {
    /// A switch.
    Switch,
    /// A channel adapter.
    Adapter,
}

/// A device of a cabling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CabledDevice {
    /// Its GUID, if that is known.
    pub guid: Option<Guid>,
    /// Its name.
    pub name: Box<str>,
    /// What it is; `None` if the file does not say.
    pub kind: Option<DeviceKind>,
}

/// One end of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CablingEnd {
    /// The place of the device among the devices.
    pub device: usize,
    /// The port.
    pub port: PortNumber,
}

/// A cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CablingCable {
    /// Its ends, in any order.
    pub ends: [CablingEnd; 2],
    /// The line of the file that lists it, from 1; 0 if it comes from no list.
    pub line: u32,
}

/// A cable between two ports of one switch. A [`Fabric`] has none, because nothing can be routed over it; but its ports are not
/// free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelfLoop {
    /// The GUID of the switch.
    pub switch: Guid,
    /// The ports.
    pub ports: [PortNumber; 2],
}

/// A cabling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cabling {
    /// The devices.
    pub devices: Vec<CabledDevice>,
    /// The cables. One may be listed twice, from both of its ends.
    pub cables: Vec<CablingCable>,
    /// Whether this is a list in which one device may have several names: a GUID here, a description there, or only the name
    /// of its host.
    pub is_list: bool,
}

impl Cabling {
    /// Returns the cabling of a fabric. The first devices are its switches, then its adapters. Aggregation nodes sit inside
    /// switches, so they have no cables.
    pub fn of(fabric: &Fabric) -> Self {
        let switches = fabric.switches().iter().map(|switch| CabledDevice {
            guid: Some(switch.guid),
            name: switch.name.clone(),
            kind: Some(DeviceKind::Switch),
        });
        let adapters = fabric.adapters().iter().map(|adapter| CabledDevice {
            guid: Some(adapter.guid),
            name: adapter.name.clone(),
            kind: Some(DeviceKind::Adapter),
        });
        let end = |device: usize, port: PortNumber| CablingEnd { device, port };
        let first_adapter = fabric.switches().len();
        let between = fabric
            .inter_switch_cables()
            .iter()
            .map(|cable| [end(cable.a.0.at(), cable.a.1), end(cable.b.0.at(), cable.b.1)]);
        let is_cabled =
            |adapter: usize| fabric.adapters()[adapter].kind != AdapterKind::Aggregation;
        let nodes = fabric.nodes().iter().filter(|node| is_cabled(node.adapter.at())).map(|node| {
            let at_adapter = end(first_adapter + node.adapter.at(), node.adapter_port);
            [end(node.switch.at(), node.switch_port), at_adapter]
        });
        Cabling {
            devices: switches.chain(adapters).collect(),
            cables: between.chain(nodes).map(|ends| CablingCable { ends, line: 0 }).collect(),
            is_list: false,
        }
    }

    /// Returns the cabling of a fabric whose file also lists these cables.
    pub fn with_self_loops(fabric: &Fabric, loops: &[SelfLoop]) -> Self {
        let mut cabling = Cabling::of(fabric);
        cabling
            .cables
            .extend(self_loop_ends(fabric, loops).map(|ends| CablingCable { ends, line: 0 }));
        cabling
    }
}

/// Returns the ends of cables between two ports of one switch.
pub(super) fn self_loop_ends(
    fabric: &Fabric,
    loops: &[SelfLoop],
) -> impl Iterator<Item = [CablingEnd; 2]> {
    let places: HashMap<Guid, usize> = match loops.is_empty() {
        true => HashMap::new(),
        false => (0..).zip(fabric.switches()).map(|(at, switch)| (switch.guid, at)).collect(),
    };
    loops.iter().filter_map(move |found| {
        let device = *places.get(&found.switch)?;
        Some(found.ports.map(|port| CablingEnd { device, port }))
    })
}
