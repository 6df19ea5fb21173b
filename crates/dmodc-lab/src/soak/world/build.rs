//! The world at the start: the devices and cables of a fabric, and spares.

use std::collections::BTreeSet;

use dmodc::fabric::{AdapterKind, Peer, Product};
use dmodc::{Degradation, Fabric, Guid, LeafRule, Live, NodeIndex, Random, Ranking, SwitchIndex};

use super::{
    DevicePort, DeviceReplacement, MORE_PORTS, NewLeaf, Role, Spares, World, WorldCable,
    WorldDevice,
};

impl World {
    /// Returns the world of a fabric, with spares, a second manager where there can be one, and late hosts: one host in
    /// fifty is off from the start.
    pub(in crate::soak) fn new(fabric: &Fabric, attached: NodeIndex, random: &mut Random) -> Self {
        let mut world = World {
            devices: Vec::new(),
            cables: Vec::new(),
            spares: Spares::default(),
            managers: Vec::new(),
        };
        world.take_fabric(fabric);
        let place = |n: NodeIndex| DevicePort {
            device: fabric.switches().len() + fabric.node(n).adapter.at(),
            port: fabric.node(n).adapter_port.0,
        };
        world.managers.push(place(attached));
        let is_elsewhere = |n: &NodeIndex| {
            let (node, own) = (fabric.node(*n), fabric.node(attached));
            node.switch != own.switch
                && node.adapter != own.adapter
                && node.adapter_port.0 == 1
                && world.devices[place(*n).device].role == Role::Host
                && world.devices[node.switch.at()].role == Role::Leaf
                && world.is_reachable(place(attached).device, node.switch.at())
        };
        let others: Vec<NodeIndex> = fabric.node_indices().filter(is_elsewhere).collect();
        if !others.is_empty() {
            let other = others[random.below(others.len() as u64) as usize];
            world.managers.push(place(other));
        }
        world.add_spares(random);
        world.switch_late_hosts_off(random);
        world
    }

    /// Adds the devices and cables of a fabric: switches, then adapters, in its order.
    fn take_fabric(&mut self, fabric: &Fabric) {
        let healthy = Degradation::none(fabric);
        let ranking = Ranking::new(Live::new(fabric, &healthy), &LeafRule::Detect);
        let leaves: BTreeSet<SwitchIndex> = ranking.leaves().iter().copied().collect();
        for s in fabric.switch_indices() {
            let switch = fabric.switch(s);
            let role = if leaves.contains(&s) { Role::Leaf } else { Role::Spine };
            let ports = switch.ports.saturating_add(MORE_PORTS).min(254);
            self.add(role, switch.guid, ports, &switch.name, switch.product);
        }
        for adapter in fabric.adapters() {
            let role = match adapter.kind {
                AdapterKind::Aggregation => Role::Aggregation,
                _ => Role::Host,
            };
            self.add(role, adapter.guid, adapter.ports, &adapter.name, adapter.product);
        }
        for s in fabric.switch_indices() {
            for (port, own) in (1..).zip(fabric.ports_of(s)) {
                let here = DevicePort { device: s.at(), port };
                let there = match own.peer {
                    Peer::None => continue,
                    Peer::Switch(peer, q) => DevicePort { device: peer.at(), port: q.0 },
                    Peer::Node(n) => {
                        let node = fabric.node(n);
                        let device = fabric.switches().len() + node.adapter.at();
                        DevicePort { device, port: node.adapter_port.0 }
                    }
                };
                if here < there {
                    self.cables.push(WorldCable { ends: [here, there], is_dead: false });
                }
            }
        }
        for device in &mut self.devices {
            (device.is_off, device.was_on) = (false, true);
        }
    }

    /// Adds a device that is off.
    fn add(&mut self, role: Role, guid: Guid, ports: u8, name: &str, product: Product) -> usize {
        let (is_off, was_on) = (true, false);
        let name = name.into();
        self.devices.push(WorldDevice { guid, role, ports, name, product, is_off, was_on });
        self.devices.len() - 1
    }

    /// Adds spares for devices that are drawn at random. Half of the replacements have the name of the old device, as
    /// where names are given by location; the others have a maker's name.
    fn add_spares(&mut self, random: &mut Random) {
        let taken: BTreeSet<u64> = self.devices.iter().map(|device| device.guid.0).collect();
        let lowest = taken.first().copied().unwrap_or(0);
        let highest = taken.last().copied().unwrap_or(0);
        let (mut below, mut above) = (lowest / 2, highest + (1 << 20));
        // GUIDs of spares sort before and after all others. There is room for the GUIDs of an adapter's ports.
        let mut guid = |random: &mut Random| {
            let step = 0x100 * (1 + random.below(16));
            if random.below(2) == 0 && below > step + 0x1000 {
                below -= step;
                Guid(below)
            } else {
                above += step;
                Guid(above)
            }
        };
        for (role, most) in [(Role::Host, 256), (Role::Leaf, 64), (Role::Spine, 64)] {
            let mut known = self.of(role, |_, _| true);
            known.retain(|&device| !self.is_managers(device));
            random.shuffle(&mut known);
            known.truncate(most.min(known.len().div_ceil(2)));
            for old in known {
                let WorldDevice { ports, product, ref name, .. } = self.devices[old];
                // Leaves are sorted by name, so another name would change the fresh order.
                let name = match random.below(2) {
                    1 if role != Role::Leaf => "Mellanox Technologies".into(),
                    _ => name.clone(),
                };
                let new = self.add(role, guid(random), ports, &name, product);
                let replacement = DeviceReplacement { old, new };
                match role {
                    Role::Host => self.spares.adapters.push(replacement),
                    Role::Leaf => self.spares.leaves.push(replacement),
                    _ => self.spares.spines.push(replacement),
                }
            }
        }
        let leaf = self.of(Role::Leaf, |_, _| true).first().copied();
        let host = self.of(Role::Host, |_, _| true).first().copied();
        let (Some(leaf), Some(host)) = (leaf, host) else { return };
        let [leaf, host] = [leaf, host].map(|device| self.devices[device].clone());
        for number in 0..MORE_PORTS {
            let name = format!("{} new {number}", leaf.name);
            let switch = self.add(Role::Leaf, guid(random), leaf.ports, &name, leaf.product);
            let hosts = (0..usize::from(leaf.ports) / 2).map(|at| {
                let name = format!("{name} host {at}");
                self.add(Role::Host, guid(random), host.ports, &name, host.product)
            });
            let hosts = hosts.collect();
            self.spares.new_leaves.push(NewLeaf { switch, hosts });
        }
        for number in 0..64 {
            let name = format!("new host {number}");
            let device = self.add(Role::Host, guid(random), host.ports, &name, host.product);
            self.spares.new_hosts.push(device);
        }
    }

    /// Switches off one host of fifty, or a few. A number is kept for each; more of them would show in the balance of the
    /// others.
    fn switch_late_hosts_off(&mut self, random: &mut Random) {
        let mut hosts = self.of(Role::Host, |_, device| !device.is_off);
        hosts.retain(|&device| !self.is_managers(device));
        random.shuffle(&mut hosts);
        hosts.truncate((hosts.len() / 50).clamp((hosts.len() / 8).clamp(1, 4), 100));
        for host in hosts {
            let device = &mut self.devices[host];
            (device.is_off, device.was_on) = (true, false);
        }
    }
}
