//! What there is: every device that ever will be, and how they are cabled.
//!
//! The simulator can join any two free ports, but it knows no device that was not in its first text. So spares are in it
//! from the start, without a cable: adapters and switches for those that will be replaced, with GUIDs of their
//! own, new leaves with their hosts, and new hosts. Each switch gets a few ports more than it has, for what is new.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};

use dmodc::fabric::{AdapterKind, Peer, Product};
use dmodc::{Degradation, Fabric, Guid, LeafRule, Live, NodeIndex, Random, Ranking, SwitchIndex};

use crate::netlist::{Netlist, adapter_id, head, safe, switch_id};

/// So many ports more than it has, each switch gets.
const MORE_PORTS: u8 = 4;

/// A port of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) device: usize,
    pub(super) port: u8,
}

/// What a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Leaf,
    /// A switch that is no leaf.
    Spine,
    Host,
    /// The aggregation node inside a switch: nothing happens to it alone.
    Aggregation,
}

#[derive(Clone, Debug)]
pub(super) struct Device {
    pub(super) guid: Guid,
    pub(super) role: Role,
    pub(super) ports: u8,
    pub(super) name: String,
    product: Product,
    pub(super) is_off: bool,
    /// Whether it was ever on. One that never was is late, not absent.
    pub(super) was_on: bool,
}

impl Device {
    pub(super) fn is_switch(&self) -> bool {
        matches!(self.role, Role::Leaf | Role::Spine)
    }

    /// As the simulator calls it.
    pub(super) fn id(&self) -> String {
        if self.is_switch() { switch_id(self.guid) } else { adapter_id(self.guid) }
    }
}

/// A cable that is there, whether it works or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cable {
    pub(super) ends: [Place; 2],
    pub(super) is_dead: bool,
}

/// A device that will be replaced, and by which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Replacement {
    pub(super) old: usize,
    pub(super) new: usize,
}

/// What waits without a cable.
#[derive(Clone, Debug, Default)]
pub(super) struct Spares {
    pub(super) adapters: Vec<Replacement>,
    pub(super) leaves: Vec<Replacement>,
    pub(super) spines: Vec<Replacement>,
    /// A switch and its hosts.
    pub(super) new_leaves: Vec<(usize, Vec<usize>)>,
    pub(super) new_hosts: Vec<usize>,
}

/// Everything.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) devices: Vec<Device>,
    pub(super) cables: Vec<Cable>,
    pub(super) spares: Spares,
    /// The adapters that OpenSM sits on: nothing happens to them, nor to their leaves.
    pub(super) managers: Vec<Place>,
}

/// Cables that work, each with its lesser end first.
pub(super) type Links = BTreeSet<[Place; 2]>;

impl World {
    /// Returns a fabric with what life needs besides. One host in fifty is off from the start.
    pub(super) fn new(fabric: &Fabric, attached: NodeIndex, random: &mut Random) -> Self {
        let mut world = World {
            devices: Vec::new(),
            cables: Vec::new(),
            spares: Spares::default(),
            managers: Vec::new(),
        };
        world.take(fabric);
        let place = |n: NodeIndex| Place {
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
        world.let_some_be_late(random);
        world
    }

    /// Takes over the devices and cables of a fabric: switches, then adapters, in its order.
    fn take(&mut self, fabric: &Fabric) {
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
                let here = Place { device: s.at(), port };
                let there = match own.peer {
                    Peer::None => continue,
                    Peer::Switch(peer, q) => Place { device: peer.at(), port: q.0 },
                    Peer::Node(n) => {
                        let node = fabric.node(n);
                        let device = fabric.switches().len() + node.adapter.at();
                        Place { device, port: node.adapter_port.0 }
                    }
                };
                if here < there {
                    self.cables.push(Cable { ends: [here, there], is_dead: false });
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
        self.devices.push(Device { guid, role, ports, name, product, is_off, was_on });
        self.devices.len() - 1
    }

    /// Adds spares, for devices drawn at random. Half of those that replace something have its name, as where names
    /// are given by place; the others come with a maker's name.
    fn add_spares(&mut self, random: &mut Random) {
        let taken: BTreeSet<u64> = self.devices.iter().map(|device| device.guid.0).collect();
        let lowest = taken.first().copied().unwrap_or(0);
        let highest = taken.last().copied().unwrap_or(0);
        let (mut below, mut above) = (lowest / 2, highest + (1 << 20));
        // GUIDs of what is new sort before and after those that are known. Ports follow their adapter.
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
                let Device { ports, product, ref name, .. } = self.devices[old];
                // Leaves are sorted by name, so with another name the fresh order would not be that of before.
                let name = match random.below(2) {
                    1 if role != Role::Leaf => "Mellanox Technologies".into(),
                    _ => name.clone(),
                };
                let new = self.add(role, guid(random), ports, &name, product);
                let replacement = Replacement { old, new };
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
            self.spares.new_leaves.push((switch, hosts));
        }
        for number in 0..64 {
            let name = format!("new host {number}");
            let device = self.add(Role::Host, guid(random), host.ports, &name, host.product);
            self.spares.new_hosts.push(device);
        }
    }

    /// Switches off one host of fifty, or a few: a number is kept for each, and more of those would show in the balance of the
    /// others.
    fn let_some_be_late(&mut self, random: &mut Random) {
        let mut hosts = self.of(Role::Host, |_, device| !device.is_off);
        hosts.retain(|&device| !self.is_managers(device));
        random.shuffle(&mut hosts);
        hosts.truncate((hosts.len() / 50).clamp((hosts.len() / 8).clamp(1, 4), 100));
        for host in hosts {
            let device = &mut self.devices[host];
            (device.is_off, device.was_on) = (true, false);
        }
    }

    /// Returns the devices with this role that have a cable and for which this holds.
    pub(super) fn of(&self, role: Role, holds: impl Fn(usize, &Device) -> bool) -> Vec<usize> {
        let cabled: BTreeSet<usize> = self.ends().map(|(place, _)| place.device).collect();
        let wanted = |&device: &usize| {
            self.devices[device].role == role && holds(device, &self.devices[device])
        };
        cabled.into_iter().filter(wanted).collect()
    }

    /// Every end of every cable, and the cable.
    pub(super) fn ends(&self) -> impl Iterator<Item = (Place, usize)> + '_ {
        let ends = |(at, cable): (usize, &Cable)| cable.ends.map(|place| (place, at));
        self.cables.iter().enumerate().flat_map(ends)
    }

    /// Returns the cables of a device: the port, the cable, and its other end.
    pub(super) fn cables_of(&self, device: usize) -> Vec<(u8, usize, Place)> {
        let mut own = Vec::new();
        for (at, Cable { ends: [a, b], .. }) in self.cables.iter().enumerate() {
            if a.device == device {
                own.push((a.port, at, *b));
            } else if b.device == device {
                own.push((b.port, at, *a));
            }
        }
        own
    }

    /// Returns the ports of a device that no cable is in.
    pub(super) fn free_ports(&self, device: usize) -> Vec<u8> {
        let used: BTreeSet<u8> = self.cables_of(device).iter().map(|own| own.0).collect();
        (1..=self.devices[device].ports).filter(|port| !used.contains(port)).collect()
    }

    /// Whether a cable joins two switches.
    pub(super) fn is_inter_switch(&self, cable: &Cable) -> bool {
        cable.ends.iter().all(|place| self.devices[place.device].is_switch())
    }

    /// Whether OpenSM sits on this device, or on a host of this leaf.
    pub(super) fn is_managers(&self, device: usize) -> bool {
        self.managers.iter().any(|manager| {
            let own = || self.cables_of(manager.device);
            manager.device == device || own().iter().any(|(_, _, leaf)| leaf.device == device)
        })
    }

    /// Returns the cables that work: not dead, and both devices are on.
    pub(super) fn links(&self) -> Links {
        let is_on = |place: &Place| !self.devices[place.device].is_off;
        let works = |cable: &&Cable| !cable.is_dead && cable.ends.iter().all(is_on);
        let sorted = |cable: &Cable| {
            let [a, b] = cable.ends;
            if a < b { [a, b] } else { [b, a] }
        };
        self.cables.iter().filter(works).map(sorted).collect()
    }

    /// Returns how many hosts' ports work, whether OpenSM sees them or not.
    pub(super) fn nodes(&self) -> u64 {
        let is_node =
            |[a, b]: &&[Place; 2]| [a, b].iter().any(|p| self.devices[p.device].role == Role::Host);
        self.links().iter().filter(is_node).count() as u64
    }

    /// Returns which devices cables connect with one.
    pub(super) fn reachable(&self, from: usize) -> BTreeSet<usize> {
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

    /// Whether nothing is at fault, and no host is absent that was ever there.
    pub(super) fn is_whole(&self) -> bool {
        let is_absent = |(place, _): (Place, usize)| {
            let device = &self.devices[place.device];
            device.is_off && (device.was_on || device.is_switch())
        };
        !self.cables.iter().any(|cable| cable.is_dead) && !self.ends().any(is_absent)
    }

    /// Everything works again, and whoever was there comes back.
    pub(super) fn repair_all(&mut self) {
        self.cables.iter_mut().for_each(|cable| cable.is_dead = false);
        let cabled: BTreeSet<usize> = self.ends().map(|(place, _)| place.device).collect();
        for device in cabled {
            let device = &mut self.devices[device];
            device.is_off &= !device.was_on;
        }
    }

    pub(super) fn switch_on(&mut self, device: usize) {
        let device = &mut self.devices[device];
        (device.is_off, device.was_on) = (false, true);
    }

    /// Puts a new device into the place of an old one, with the same cables in the same ports.
    pub(super) fn replace(&mut self, Replacement { old, new }: Replacement) {
        for place in self.cables.iter_mut().flat_map(|cable| &mut cable.ends) {
            if place.device == old {
                place.device = new;
            }
        }
        self.devices[old].is_off = true;
        self.switch_on(new);
    }

    /// Returns the lines of the simulator's console from some cables to others.
    pub(super) fn console(&self, before: &Links, after: &Links) -> Vec<String> {
        let named =
            |place: &Place| format!("\"{}\"[{}]", self.devices[place.device].id(), place.port);
        let switch = |[a, b]: &[Place; 2]| if self.devices[a.device].is_switch() { *a } else { *b };
        let gone = before.difference(after).map(|link| format!("Unlink {}", named(&switch(link))));
        let come = after.difference(before).map(|[a, b]| format!("Link {} {}", named(a), named(b)));
        gone.chain(come).collect()
    }

    /// Returns the simulator's first text: all devices, and the cables that work.
    pub(super) fn netlist(&self) -> io::Result<Netlist> {
        let mut peers: BTreeMap<Place, Place> = BTreeMap::new();
        for [a, b] in self.links() {
            peers.extend([(a, b), (b, a)]);
        }
        let mut text = Vec::new();
        for (at, device) in self.devices.iter().enumerate() {
            let (word, kind) = match device.is_switch() {
                true => ("switchguid", "Switch"),
                false => ("caguid", "Ca"),
            };
            head(&device.product, word, device.guid, &mut text)?;
            let (id, name) = (device.id(), safe(&device.name));
            let more = if device.is_switch() { " enhanced port 0 lid 0 lmc 0" } else { "" };
            writeln!(text, "{kind}\t{} \"{id}\"\t\t# \"{name}\"{more}", device.ports)?;
            let own = Place { device: at, port: 0 }..Place { device: at + 1, port: 0 };
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
