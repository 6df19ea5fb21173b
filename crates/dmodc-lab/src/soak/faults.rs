//! Faults and their repair, hosts that go and come back, and cables in other ports.
//!
//! Each function changes the world and returns the event in words; `None` if the event is not possible now.

use dmodc::Random;

use super::event::SoakKind;
use super::world::{DevicePort, OwnCable, Role, World, WorldCable};

/// Kills one cable between switches, or many of them.
pub(super) fn kill_cables(
    kind: SoakKind,
    world: &mut World,
    random: &mut Random,
) -> Option<String> {
    let mut cables = live_cables(world);
    random.shuffle(&mut cables);
    let most = (cables.len() as u64 / 10).max(2);
    cables.truncate(if kind == SoakKind::Cable { 1 } else { 2 + random.below(most) as usize });
    let first = *cables.first()?;
    for &cable in &cables {
        world.cables[cable].is_dead = true;
    }
    Some(match kind {
        SoakKind::Cable => format!("kill cable {}", cable_name(world, first)),
        _ => format!("kill {} cables", cables.len()),
    })
}

/// Kills a spine or a leaf, or cuts a leaf off from all other switches.
pub(super) fn kill_switch(
    kind: SoakKind,
    world: &mut World,
    random: &mut Random,
) -> Option<String> {
    let role = if kind == SoakKind::Spine { Role::Spine } else { Role::Leaf };
    let all = world.of(role, |_, _| true).len();
    let mut live = world.of(role, |_, device| !device.is_off);
    // Two thirds stay alive, so that there is something to route.
    if live.len() * 3 <= all * 2 {
        return None;
    }
    live.retain(|&device| !world.is_managers(device));
    let switch = one_of(&live, random)?;
    let name = world.devices[switch].name.clone();
    if kind != SoakKind::Cut {
        world.devices[switch].is_off = true;
        return Some(format!("kill switch {name}"));
    }
    for OwnCable { cable, peer, .. } in world.cables_of(switch) {
        world.cables[cable].is_dead |= world.devices[peer.device].is_switch();
    }
    Some(format!("cut off {name}"))
}

/// Repairs some dead cables.
pub(super) fn repair(world: &mut World, random: &mut Random) -> Option<String> {
    let mut dead: Vec<usize> =
        (0..world.cables.len()).filter(|&at| world.cables[at].is_dead).collect();
    random.shuffle(&mut dead);
    dead.truncate(1 + random.below(dead.len().max(1) as u64) as usize);
    let first = *dead.first()?;
    for &cable in &dead {
        world.cables[cable].is_dead = false;
    }
    Some(match dead.len() {
        1 => format!("repair cable {}", cable_name(world, first)),
        some => format!("repair {some} cables"),
    })
}

/// Switches hosts off, or those that were switched off on again.
pub(super) fn hosts_go(is_away: bool, world: &mut World, random: &mut Random) -> Option<String> {
    let mut hosts = world.of(Role::Host, |_, device| device.was_on && device.is_off != is_away);
    hosts.retain(|&host| !world.is_managers(host));
    let most = if is_away { (hosts.len() / 20).max(1) } else { hosts.len().max(1) };
    random.shuffle(&mut hosts);
    hosts.truncate(1 + random.below(most as u64) as usize);
    let first = *hosts.first()?;
    for &host in &hosts {
        world.devices[host].is_off = is_away;
    }
    let what = match hosts.len() {
        1 => format!("host {}", world.devices[first].name),
        some => format!("{some} hosts"),
    };
    Some(format!("{what} {}", if is_away { "off" } else { "back" }))
}

/// Swaps two cables of a switch, or moves one to a free port.
pub(super) fn recable(world: &mut World, random: &mut Random) -> Option<String> {
    let cable = one_of(&live_cables(world), random)?;
    let side = random.below(2) as usize;
    let here = world.cables[cable].ends[side];
    let name = &world.devices[here.device].name;
    let others: Vec<OwnCable> = world
        .cables_of(here.device)
        .into_iter()
        .filter(|own| own.cable != cable && world.is_inter_switch(&world.cables[own.cable]))
        .collect();
    if random.below(2) == 0
        && let Some(OwnCable { port, cable: other, .. }) = one_of(&others, random)
    {
        let name = format!("swap the cables in {name}/{} and /{port}", here.port);
        let there = DevicePort { device: here.device, port };
        let is_there = |place: &&mut DevicePort| **place == there;
        if let Some(end) = world.cables[other].ends.iter_mut().find(is_there) {
            *end = here;
        }
        world.cables[cable].ends[side] = there;
        return Some(name);
    }
    let port = one_of(&world.free_ports(here.device), random)?;
    let name = format!("move the cable in {name}/{} to /{port}", here.port);
    world.cables[cable].ends[side].port = port;
    Some(name)
}

/// Returns a cable in words.
pub(super) fn cable_name(world: &World, cable: usize) -> String {
    let place = |place: DevicePort| format!("{}/{}", world.devices[place.device].name, place.port);
    let [a, b] = world.cables[cable].ends.map(place);
    format!("{a} {b}")
}

/// Returns the cables between switches that work.
pub(super) fn live_cables(world: &World) -> Vec<usize> {
    let is_on = |place: &DevicePort| !world.devices[place.device].is_off;
    let works = |cable: &WorldCable| {
        world.is_inter_switch(cable) && !cable.is_dead && cable.ends.iter().all(is_on)
    };
    (0..world.cables.len()).filter(|&at| works(&world.cables[at])).collect()
}

/// Returns one item at random; `None` if there is none.
pub(super) fn one_of<T: Copy>(items: &[T], random: &mut Random) -> Option<T> {
    let count = items.len() as u64;
    (count > 0).then(|| items[random.below(count) as usize])
}
