//! Formats that tell cables one by one, each with both its devices: `-p` lists, `.lst` files, CSV.
//!
//! Devices are collected first and described to the builder when all is read, because such formats
//! do not always tell truly what is a switch: a switch is a device whose ports share one port GUID.

use std::collections::HashMap;

use dmodc::fabric::{Adapter, AdapterKind, Product, Rate, Switch, Vertex};
use dmodc::{Guid, Lid, PortNumber};

use crate::ReadError;
use crate::intake::{Intake, adapter_kind};

/// A device as told so far.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    pub(crate) guid: Guid,
    /// What the format calls it; `None` where it does not say.
    pub(crate) is_switch: Option<bool>,
    pub(crate) is_router: bool,
    /// How many ports it has; 0 where the format does not say.
    pub(crate) ports: u8,
    pub(crate) name: String,
    pub(crate) product: Product,
    pub(crate) device_number: Option<u32>,
    /// The LID of the switch itself.
    pub(crate) lid: Lid,
    pub(crate) line: u32,
}

/// A port of a device, as one end of a cable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndPort {
    pub(crate) device: usize,
    pub(crate) port: PortNumber,
    pub(crate) guid: Guid,
    pub(crate) lid: Lid,
    pub(crate) lmc: u8,
}

/// Devices and cables of a file.
#[derive(Default)]
pub(crate) struct Links {
    devices: Vec<Device>,
    places: HashMap<Guid, usize>,
    cables: Vec<(EndPort, EndPort, Rate, u32)>,
}

impl Links {
    /// The place of a device, which is described the first time it is seen.
    pub(crate) fn device(&mut self, device: Device) -> usize {
        let next = self.devices.len();
        let place = *self.places.entry(device.guid).or_insert(next);
        if place == next {
            self.devices.push(device);
        }
        place
    }

    /// The place of a device that was described before.
    pub(crate) fn known(&self, guid: Guid) -> Option<usize> {
        self.places.get(&guid).copied()
    }

    pub(crate) fn get_mut(&mut self, place: usize) -> &mut Device {
        &mut self.devices[place]
    }

    /// A cable, told in this line. It may be told again from its other end.
    pub(crate) fn cable(&mut self, a: EndPort, b: EndPort, rate: Rate, line: u32) {
        self.cables.push((a, b, rate, line));
    }

    /// Describes everything to the builder.
    pub(crate) fn deliver(self, intake: &mut Intake) {
        let is_switch = self.switches();
        let mut most = vec![0; self.devices.len()];
        for end in self.cables.iter().flat_map(|(a, b, ..)| [a, b]) {
            most[end.device] = end.port.0.max(most[end.device]);
        }
        let describe = |(at, device): (usize, &Device)| {
            intake.builder.at_line(device.line);
            intake.devices += 1;
            if is_switch[at] {
                let message = format!("switch {} has no LID", device.guid);
                let line = device.line;
                intake.note_lid(device.lid, || ReadError { line, column: 1, message });
            }
            let ports = device.ports.max(most[at]);
            let (guid, product, name) = (device.guid, device.product, device.name.clone().into());
            match is_switch[at] {
                true => {
                    intake.builder.switch(Switch { guid, lid: device.lid, ports, name, product })
                }
                false => {
                    let kind = match device.is_router {
                        true => AdapterKind::Router,
                        false => adapter_kind(device.device_number, &device.name),
                    };
                    intake.builder.adapter(Adapter { guid, ports, kind, name, product })
                }
            }
        };
        let vertices: Vec<Vertex> = self.devices.iter().enumerate().map(describe).collect();
        for (a, b, rate, line) in &self.cables {
            intake.builder.at_line(*line);
            for (from, to) in [(a, b), (b, a)] {
                let vertex = vertices[from.device];
                intake.builder.end_port(vertex, from.port, from.guid, from.lid, from.lmc);
                let peer = self.devices[to.device].guid;
                intake.builder.mention(vertex, from.port, peer, to.port, *rate);
            }
        }
    }

    /// Which devices are switches: those called so, and those with one GUID for several ports where the format does not
    /// say. (The plane ports of an XDR adapter may share a GUID, too.)
    fn switches(&self) -> Vec<bool> {
        let mut is_switch: Vec<bool> =
            self.devices.iter().map(|d| d.is_switch == Some(true)).collect();
        let mut ports: HashMap<(usize, Guid), PortNumber> = HashMap::new();
        for end in self.cables.iter().flat_map(|(a, b, ..)| [a, b]) {
            let first = *ports.entry((end.device, end.guid)).or_insert(end.port);
            let unsaid = self.devices[end.device].is_switch.is_none();
            is_switch[end.device] |= unsaid && first != end.port;
        }
        is_switch
    }
}
