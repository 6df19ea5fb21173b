//! All devices that a soak ever uses, and how they are cabled.
//!
//! The simulator can join any two free ports, but it knows only the devices of its first netlist. So spares are in it
//! from the start, without a cable: adapters and switches for those that will be replaced, with GUIDs of their own, new
//! leaves with their hosts, and new hosts. Each switch gets a few more ports than it has, for new devices.

mod build;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};

use dmodc::Guid;
use dmodc::fabric::Product;

use crate::netlist::{Netlist, adapter_id, quotable, switch_id, write_head};

/// The number of ports that each switch gets in addition to its own.
const MORE_PORTS: u8 = 4;

/// A port of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::soak) struct DevicePort {
    pub(in crate::soak) device: usize,
    pub(in crate::soak) port: u8,
}

/// The role of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::soak) enum Role {
    Leaf,
    /// A switch that is no leaf.
    Spine,
    Host,
    /// The aggregation node inside a switch. No event concerns it alone.
    Aggregation,
}

/// A switch or an adapter.
#[derive(Clone, Debug)]
pub(in crate::soak) struct WorldDevice {
    pub(in crate::soak) guid: Guid,
    pub(in crate::soak) role: Role,
    pub(in crate::soak) ports: u8,
    pub(in crate::soak) name: String,
    product: Product,
    pub(in crate::soak) is_off: bool,
    /// Whether it was ever on. A device that never was is late, not absent.
    pub(in crate::soak) was_on: bool,
}

impl WorldDevice {
    pub(in crate::soak) fn is_switch(&self) -> bool {
        matches!(self.role, Role::Leaf | Role::Spine)
    }

    /// Returns its name in the simulator.
    pub(in crate::soak) fn id(&self) -> String {
        if self.is_switch() { switch_id(self.guid) } else { adapter_id(self.guid) }
    }
}

/// A plugged cable, whether it works or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::soak) struct WorldCable {
    pub(in crate::soak) ends: [DevicePort; 2],
    pub(in crate::soak) is_dead: bool,
}

/// A device that may be replaced, and the spare that replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::soak) struct DeviceReplacement {
    pub(in crate::soak) old: usize,
    pub(in crate::soak) new: usize,
}

/// Devices without a cable, for later events.
#[derive(Clone, Debug, Default)]
pub(in crate::soak) struct Spares {
    pub(in crate::soak) adapters: Vec<DeviceReplacement>,
    pub(in crate::soak) leaves: Vec<DeviceReplacement>,
    pub(in crate::soak) spines: Vec<DeviceReplacement>,
    pub(in crate::soak) new_leaves: Vec<NewLeaf>,
    pub(in crate::soak) new_hosts: Vec<usize>,
}

/// A leaf that may be added.
#[derive(Clone, Debug)]
pub(in crate::soak) struct NewLeaf {
    pub(in crate::soak) switch: usize,
    pub(in crate::soak) hosts: Vec<usize>,
}

/// A cable of a device.
#[derive(Clone, Copy, Debug)]
pub(in crate::soak) struct OwnCable {
    /// The port of the device.
    pub(in crate::soak) port: u8,
    /// The index of the cable.
    pub(in crate::soak) cable: usize,
    /// The other end.
    pub(in crate::soak) peer: DevicePort,
}

/// All devices and cables.
#[derive(Clone, Debug)]
pub(in crate::soak) struct World {
    pub(in crate::soak) devices: Vec<WorldDevice>,
    pub(in crate::soak) cables: Vec<WorldCable>,
    pub(in crate::soak) spares: Spares,
    /// The ports on which OpenSM runs. No event concerns these adapters or their leaves.
    pub(in crate::soak) managers: Vec<DevicePort>,
}

/// The cables that work, each with its lesser end first.
pub(in crate::soak) type WorkingLinks = BTreeSet<[DevicePort; 2]>;

impl World {
    /// Returns the devices with this role that have a cable and satisfy `holds`.
    pub(in crate::soak) fn of(
        &self,
        role: Role,
        holds: impl Fn(usize, &WorldDevice) -> bool,
    ) -> Vec<usize> {
        let cabled: BTreeSet<usize> = self.ends().map(|(place, _)| place.device).collect();
        let wanted = |&device: &usize| {
            self.devices[device].role == role && holds(device, &self.devices[device])
        };
        cabled.into_iter().filter(wanted).collect()
    }

    /// Returns every end of every cable, with the index of the cable.
    pub(in crate::soak) fn ends(&self) -> impl Iterator<Item = (DevicePort, usize)> + '_ {
        let ends = |(at, cable): (usize, &WorldCable)| cable.ends.map(|place| (place, at));
        self.cables.iter().enumerate().flat_map(ends)
    }

    /// Returns the cables of a device.
    pub(in crate::soak) fn cables_of(&self, device: usize) -> Vec<OwnCable> {
        let mut own = Vec::new();
        for (cable, WorldCable { ends: [a, b], .. }) in self.cables.iter().enumerate() {
            if a.device == device {
                own.push(OwnCable { port: a.port, cable, peer: *b });
            } else if b.device == device {
                own.push(OwnCable { port: b.port, cable, peer: *a });
            }
        }
        own
    }

    /// Returns the ports of a device without a cable.
    pub(in crate::soak) fn free_ports(&self, device: usize) -> Vec<u8> {
        let used: BTreeSet<u8> = self.cables_of(device).iter().map(|own| own.port).collect();
        (1..=self.devices[device].ports).filter(|port| !used.contains(port)).collect()
    }

    /// Returns whether a cable joins two switches.
    pub(in crate::soak) fn is_inter_switch(&self, cable: &WorldCable) -> bool {
        cable.ends.iter().all(|place| self.devices[place.device].is_switch())
    }

    /// Returns whether OpenSM runs on this device, or on a host of this leaf.
    pub(in crate::soak) fn is_managers(&self, device: usize) -> bool {
        self.managers.iter().any(|manager| {
            let own = || self.cables_of(manager.device);
            manager.device == device || own().iter().any(|own| own.peer.device == device)
        })
    }

    /// Returns the cables that work: not dead, and both devices are on.
    pub(in crate::soak) fn links(&self) -> WorkingLinks {
        let is_on = |place: &DevicePort| !self.devices[place.device].is_off;
        let works = |cable: &&WorldCable| !cable.is_dead && cable.ends.iter().all(is_on);
        let sorted = |cable: &WorldCable| {
            let [a, b] = cable.ends;
            if a < b { [a, b] } else { [b, a] }
        };
        self.cables.iter().filter(works).map(sorted).collect()
    }

    /// Returns the number of hosts' ports that work, whether OpenSM sees them or not.
    pub(in crate::soak) fn nodes(&self) -> u64 {
        let is_node = |[a, b]: &&[DevicePort; 2]| {
            [a, b].iter().any(|p| self.devices[p.device].role == Role::Host)
        };
        self.links().iter().filter(is_node).count() as u64
    }

    /// Returns the devices that working cables connect with this one.
    pub(in crate::soak) fn reachable(&self, from: usize) -> BTreeSet<usize> {
        let mut peers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for [a, b] in self.links() {
            peers.entry(a.device).or_default().push(b.device);
            peers.entry(b.device).or_default().push(a.device);
        }
        let (mut reached, mut waiting) = (BTreeSet::from([from]), vec![from]);
        while let Some(device) = waiting.pop() {
            // Packets do not pass through adapters.
            if device != from && !self.devices[device].is_switch() {
                continue;
            }
            for &peer in peers.get(&device).into_iter().flatten() {
                if reached.insert(peer) {
                    waiting.push(peer);
                }
            }
        }
        reached
    }

    fn is_reachable(&self, from: usize, to: usize) -> bool {
        self.reachable(from).contains(&to)
    }

    /// Returns whether nothing is at fault, and every host that ever was on is on.
    pub(in crate::soak) fn is_whole(&self) -> bool {
        let is_absent = |(place, _): (DevicePort, usize)| {
            let device = &self.devices[place.device];
            device.is_off && (device.was_on || device.is_switch())
        };
        !self.cables.iter().any(|cable| cable.is_dead) && !self.ends().any(is_absent)
    }

    /// Repairs everything, and switches all devices on that ever were on.
    pub(in crate::soak) fn repair_all(&mut self) {
        self.cables.iter_mut().for_each(|cable| cable.is_dead = false);
        let cabled: BTreeSet<usize> = self.ends().map(|(place, _)| place.device).collect();
        for device in cabled {
            let device = &mut self.devices[device];
            device.is_off &= !device.was_on;
        }
    }

    pub(in crate::soak) fn switch_on(&mut self, device: usize) {
        let device = &mut self.devices[device];
        (device.is_off, device.was_on) = (false, true);
    }

    /// Puts a new device into the place of an old one, with the same cables in the same ports.
    pub(in crate::soak) fn replace(&mut self, DeviceReplacement { old, new }: DeviceReplacement) {
        for place in self.cables.iter_mut().flat_map(|cable| &mut cable.ends) {
            if place.device == old {
                place.device = new;
            }
        }
        self.devices[old].is_off = true;
        self.switch_on(new);
    }

    /// Returns the lines for the simulator's console that lead from some working cables to others.
    pub(in crate::soak) fn console(
        &self,
        before: &WorkingLinks,
        after: &WorkingLinks,
    ) -> Vec<String> {
        let named =
            |place: &DevicePort| format!("\"{}\"[{}]", self.devices[place.device].id(), place.port);
        let switch =
            |[a, b]: &[DevicePort; 2]| if self.devices[a.device].is_switch() { *a } else { *b };
        let gone = before.difference(after).map(|link| format!("Unlink {}", named(&switch(link))));
        let come = after.difference(before).map(|[a, b]| format!("Link {} {}", named(a), named(b)));
        gone.chain(come).collect()
    }

    /// Returns the first netlist of the simulator: all devices, and the cables that work.
    pub(in crate::soak) fn netlist(&self) -> io::Result<Netlist> {
        let mut peers: BTreeMap<DevicePort, DevicePort> = BTreeMap::new();
        for [a, b] in self.links() {
            peers.extend([(a, b), (b, a)]);
        }
        let mut text = Vec::new();
        for (at, device) in self.devices.iter().enumerate() {
            let (word, kind) = match device.is_switch() {
                true => ("switchguid", "Switch"),
                false => ("caguid", "Ca"),
            };
            write_head(&device.product, word, device.guid, &mut text)?;
            let (id, name) = (device.id(), quotable(&device.name));
            let more = if device.is_switch() { " enhanced port 0 lid 0 lmc 0" } else { "" };
            writeln!(text, "{kind}\t{} \"{id}\"\t\t# \"{name}\"{more}", device.ports)?;
            let own = DevicePort { device: at, port: 0 }..DevicePort { device: at + 1, port: 0 };
            for (here, there) in peers.range(own) {
                let id = self.devices[there.device].id();
                writeln!(text, "[{}]\t\"{id}\"[{}]", here.port, there.port)?;
            }
        }
        let switches = self.devices.iter().filter(|device| device.is_switch()).count();
        let ports = self.devices.iter().map(|device| usize::from(device.ports) + 1).sum();
        Ok(Netlist { text, switches, adapters: self.devices.len() - switches, ports })
    }
}
