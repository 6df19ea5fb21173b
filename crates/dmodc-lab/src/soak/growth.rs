//! Devices that come: late hosts, replacements, new leaves and new hosts.
//!
//! Each function changes the world, and returns `None` if the event is not possible now.

use dmodc::Random;

use super::event::{MustStay, SoakEvent, SoakKind};
use super::faults::one_of;
use super::world::{
    DevicePort, DeviceReplacement, NewLeaf, OwnCable, Role, World, WorldCable, WorldDevice,
};

/// Switches late hosts on, or puts another adapter into the place of one.
pub(super) fn newcomer(
    kind: SoakKind,
    world: &mut World,
    random: &mut Random,
) -> Option<SoakEvent> {
    let (name, who) = match kind {
        SoakKind::Late => {
            let mut late = world.of(Role::Host, |_, device| device.is_off && !device.was_on);
            random.shuffle(&mut late);
            late.truncate(1 + random.below(3) as usize);
            let first = *late.first()?;
            late.iter().for_each(|&host| world.switch_on(host));
            let name = match late.len() {
                1 => format!("late host {}", world.devices[first].name),
                some => format!("{some} late hosts"),
            };
            (name, late)
        }
        _ => {
            let is_on = |device: &WorldDevice| !device.is_off;
            let hosts = world.of(Role::Host, |_, device| is_on(device));
            let next = |r: &DeviceReplacement| hosts.contains(&r.old) && !world.is_managers(r.old);
            let at = world.spares.adapters.iter().position(next)?;
            let replacement = world.spares.adapters.remove(at);
            world.replace(replacement);
            let name = format!("another adapter for {}", world.devices[replacement.old].name);
            (name, vec![replacement.old, replacement.new])
        }
    };
    Some(SoakEvent { must_stay: MustStay::AllBut(who), ..SoakEvent::plain(kind, name) })
}

/// Puts a spare switch into the place of a leaf or spine.
pub(super) fn replace_switch(kind: SoakKind, world: &mut World) -> Option<SoakEvent> {
    let role = if kind == SoakKind::ReplacedLeaf { Role::Leaf } else { Role::Spine };
    let live = world.of(role, |_, device| !device.is_off);
    let is_next = |r: &DeviceReplacement| live.contains(&r.old) && !world.is_managers(r.old);
    let spares = match kind {
        SoakKind::ReplacedLeaf => &world.spares.leaves,
        _ => &world.spares.spines,
    };
    let at = spares.iter().position(is_next)?;
    let replacement = match kind {
        SoakKind::ReplacedLeaf => world.spares.leaves.remove(at),
        _ => world.spares.spines.remove(at),
    };
    world.replace(replacement);
    let name = format!("another switch for {}", world.devices[replacement.old].name);
    let must_stay = match kind {
        SoakKind::ReplacedLeaf => {
            let own = world.cables_of(replacement.new).into_iter().map(|own| own.peer.device);
            let mut own: Vec<usize> =
                own.filter(|&device| !world.devices[device].is_switch()).collect();
            own.extend([replacement.old, replacement.new]);
            MustStay::AllBut(own)
        }
        _ => MustStay::Nothing,
    };
    Some(SoakEvent { must_stay, ..SoakEvent::plain(kind, name) })
}

/// Adds a leaf that is cabled like another one.
pub(super) fn new_leaf(world: &mut World, random: &mut Random) -> Option<String> {
    let like = one_of(&world.of(Role::Leaf, |_, device| !device.is_off), random)?;
    let mut cables: Vec<WorldCable> = Vec::new();
    let NewLeaf { switch: leaf, hosts } = world.spares.new_leaves.first()?.clone();
    let mut hosts = hosts.into_iter();
    let mut came = vec![leaf];
    for OwnCable { port, peer, .. } in world.cables_of(like) {
        let there = match world.devices[peer.device].role {
            Role::Aggregation => continue,
            Role::Host => {
                let Some(host) = hosts.next() else { continue };
                came.push(host);
                DevicePort { device: host, port: 1 }
            }
            _ => {
                let taken = |port: &u8| {
                    let place = DevicePort { device: peer.device, port: *port };
                    cables.iter().any(|cable| cable.ends[1] == place)
                };
                let free = world.free_ports(peer.device).into_iter().find(|port| !taken(port))?;
                DevicePort { device: peer.device, port: free }
            }
        };
        cables
            .push(WorldCable { ends: [DevicePort { device: leaf, port }, there], is_dead: false });
    }
    world.spares.new_leaves.remove(0);
    world.cables.extend(cables);
    came.iter().for_each(|&device| world.switch_on(device));
    Some(format!("new leaf like {}, {} hosts", world.devices[like].name, came.len() - 1))
}

/// Adds a host to a free port of a leaf.
pub(super) fn new_host(world: &mut World, random: &mut Random) -> Option<String> {
    let mut leaves = world.of(Role::Leaf, |_, device| !device.is_off);
    leaves.retain(|&leaf| !world.free_ports(leaf).is_empty());
    let leaf = one_of(&leaves, random)?;
    let port = *world.free_ports(leaf).first()?;
    let host = world.spares.new_hosts.pop()?;
    let ends = [DevicePort { device: leaf, port }, DevicePort { device: host, port: 1 }];
    world.cables.push(WorldCable { ends, is_dead: false });
    world.switch_on(host);
    Some(format!("new host on {}", world.devices[leaf].name))
}
