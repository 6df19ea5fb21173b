//! Shared by the formats that list one cable per line, with both its devices: `-p` lists, `.lst` files and CSV.
//!
//! Devices are collected first and described to the builder when everything is read. These formats do not always say
//! which device is a switch; then a switch is a device of which several ports share one port GUID.

use std::collections::HashMap;

use dmodc::fabric::{Adapter, AdapterKind, Product, Rate, Switch, Vertex};
use dmodc::{Guid, Lid, PortNumber};

use crate::ReadError;
use crate::fabric_reader::{FabricReader, adapter_kind};

/// A device, as far as lines have described it.
#[derive(Clone, Debug)]
pub(crate) struct ListedDevice {
    pub(crate) guid: Guid,
    /// Whether the format calls it a switch; `None` if the format does not say.
    pub(crate) is_switch: Option<bool>,
    pub(crate) is_router: bool,
    /// The number of its ports; 0 if the format does not say.
    pub(crate) ports: u8,
    pub(crate) name: String,
    pub(crate) product: Product,
    pub(crate) device_number: Option<u32>,
    /// The LID of the switch itself.
    pub(crate) lid: Lid,
    /// The line that describes it first.
    pub(crate) line: u32,
}

/// One end of a cable: a port of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedEnd {
    /// The place of the device in the list.
    pub(crate) device: usize,
    pub(crate) port: PortNumber,
    pub(crate) guid: Guid,
    pub(crate) lid: Lid,
    pub(crate) lmc: u8,
}

/// A cable, and the line that lists it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedCable {
    pub(crate) ends: [ListedEnd; 2],
    pub(crate) rate: Rate,
    pub(crate) line: u32,
}

/// The devices and cables of a file.
#[derive(Default)]
pub(crate) struct CableList {
    devices: Vec<ListedDevice>,
    places: HashMap<Guid, usize>,
    cables: Vec<ListedCable>,
}

impl CableList {
    /// Returns the place of a device. The first description of a device is kept.
    pub(crate) fn device(&mut self, device: ListedDevice) -> usize {
        let next = self.devices.len();
        let place = *self.places.entry(device.guid).or_insert(next);
        if place == next {
            self.devices.push(device);
        }
        place
    }

    /// Returns the place of a device that was described before.
    pub(crate) fn place_of(&self, guid: Guid) -> Option<usize> {
        self.places.get(&guid).copied()
    }

    pub(crate) fn get_mut(&mut self, place: usize) -> &mut ListedDevice {
        &mut self.devices[place]
    }

    /// Adds a cable. It may be listed again from its other end.
    pub(crate) fn cable(&mut self, cable: ListedCable) {
        self.cables.push(cable);
    }

    fn ends(&self) -> impl Iterator<Item = &ListedEnd> {
        self.cables.iter().flat_map(|cable| &cable.ends)
    }

    /// Describes everything to the builder.
    pub(crate) fn deliver(self, reader: &mut FabricReader) {
        let is_switch = self.switches();
        let mut greatest_port = vec![0; self.devices.len()];
        for end in self.ends() {
            greatest_port[end.device] = end.port.0.max(greatest_port[end.device]);
        }
        let describe = |(at, device): (usize, &ListedDevice)| {
            reader.builder.at_line(device.line);
            reader.devices += 1;
            if is_switch[at] {
                let message = format!("switch {} has no LID", device.guid);
                let line = device.line;
                reader.note_lid(device.lid, || ReadError { line, column: 1, message });
            }
            let ports = device.ports.max(greatest_port[at]);
            let (guid, product, name) = (device.guid, device.product, device.name.clone().into());
            match is_switch[at] {
                true => {
                    reader.builder.switch(Switch { guid, lid: device.lid, ports, name, product })
                }
                false => {
                    let kind = match device.is_router {
                        true => AdapterKind::Router,
                        false => adapter_kind(device.device_number, &device.name),
                    };
                    reader.builder.adapter(Adapter { guid, ports, kind, name, product })
                }
            }
        };
        let vertices: Vec<Vertex> = self.devices.iter().enumerate().map(describe).collect();
        for ListedCable { ends: [a, b], rate, line } in &self.cables {
            reader.builder.at_line(*line);
            for (from, to) in [(a, b), (b, a)] {
                let vertex = vertices[from.device];
                reader.builder.end_port(vertex, from.port, from.guid, from.lid, from.lmc);
                let peer = self.devices[to.device].guid;
                reader.builder.mention(vertex, from.port, peer, to.port, *rate);
            }
        }
    }

    /// Returns which devices are switches: those that the format calls so, and where it does not say, those with one GUID
    /// for several ports. (The plane ports of an XDR adapter may share a GUID, too.)
    fn switches(&self) -> Vec<bool> {
        let mut is_switch: Vec<bool> =
            self.devices.iter().map(|d| d.is_switch == Some(true)).collect();
        let mut ports: HashMap<(usize, Guid), PortNumber> = HashMap::new();
        for end in self.ends() {
            let first = *ports.entry((end.device, end.guid)).or_insert(end.port);
            let is_open = self.devices[end.device].is_switch.is_none();
            is_switch[end.device] |= is_open && first != end.port;
        }
        is_switch
    }
}
