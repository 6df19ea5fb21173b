//! The next event, drawn from a seed.
//!
//! A draw depends on the seed, on earlier events and on the capabilities of this machine, and on nothing else; so a seed
//! and a number identify an event.

use dmodc::Random;

use super::event::{Action, Capabilities, MustStay, SoakEvent, SoakKind, WEIGHTS};
use super::faults::{
    cable_name, hosts_go, kill_cables, kill_switch, live_cables, one_of, recable, repair,
};
use super::growth::{new_host, new_leaf, newcomer, replace_switch};
use super::world::World;

/// Draws the next event and lets it happen to the world; its action is left to the caller. If only some kinds are wanted
/// and none of them is possible any more, OpenSM is restarted.
pub(super) fn draw(
    world: &mut World,
    capabilities: Capabilities,
    only: Option<&[SoakKind]>,
    random: &mut Random,
) -> SoakEvent {
    let mut weights: Vec<(SoakKind, u64)> = WEIGHTS.to_vec();
    weights.retain(|(kind, _)| is_allowed(*kind, world, capabilities));
    weights.retain(|(kind, _)| only.is_none_or(|only| only.contains(kind)));
    loop {
        if weights.is_empty() {
            weights.push((SoakKind::Restart, 1));
        }
        let total = weights.iter().map(|(_, weight)| weight).sum();
        let mut left = random.below(total);
        let at = weights.iter().position(|(_, weight)| match left < *weight {
            true => true,
            false => {
                left -= weight;
                false
            }
        });
        let (kind, _) = weights[at.expect("a number below the sum is in one of them")];
        // A kind that turns out to be impossible is not drawn again; restarts are always possible.
        match happen(kind, world, random) {
            Some(event) => return event,
            None => weights.retain(|(other, _)| *other != kind),
        }
    }
}

fn is_allowed(kind: SoakKind, world: &World, capabilities: Capabilities) -> bool {
    match kind {
        SoakKind::FullDisk => capabilities.can_fill_disk && !capabilities.second_is_in_charge,
        SoakKind::SlowDisk => capabilities.can_slow_disk,
        SoakKind::Handover => world.managers.len() > 1 && !capabilities.second_is_in_charge,
        SoakKind::Handback => capabilities.second_is_in_charge,
        SoakKind::RepairAll => !world.is_whole(),
        _ => true,
    }
}

/// Lets an event of this kind happen to the world. Returns `None` if it is not possible.
fn happen(kind: SoakKind, world: &mut World, random: &mut Random) -> Option<SoakEvent> {
    let event = |name: String| SoakEvent::plain(kind, name);
    match kind {
        SoakKind::Start | SoakKind::Renumber => None,
        SoakKind::Cable | SoakKind::Flood => kill_cables(kind, world, random).map(event),
        SoakKind::Spine | SoakKind::Leaf | SoakKind::Cut => {
            kill_switch(kind, world, random).map(event)
        }
        SoakKind::Repair => repair(world, random).map(event),
        SoakKind::RepairAll => {
            world.repair_all();
            Some(event("repair all".into()))
        }
        SoakKind::Flap => {
            let cables = live_cables(world);
            let cable = one_of(&cables, random)?;
            let times = 2 + random.below(3) as u32;
            let name = format!("flap {} {times} times", cable_name(world, cable));
            Some(SoakEvent { action: Action::Flap { cable, times }, ..event(name) })
        }
        SoakKind::Away | SoakKind::Back => {
            hosts_go(kind == SoakKind::Away, world, random).map(event)
        }
        SoakKind::Late | SoakKind::Adapter => newcomer(kind, world, random),
        SoakKind::ReplacedLeaf | SoakKind::ReplacedSpine => replace_switch(kind, world),
        SoakKind::NewLeaf => new_leaf(world, random).map(event),
        SoakKind::NewHost => new_host(world, random).map(event),
        SoakKind::Recable => recable(world, random).map(event),
        SoakKind::FullDisk | SoakKind::SlowDisk => trouble_with_disk(kind, world, random),
        SoakKind::Restart | SoakKind::Kill | SoakKind::Handover | SoakKind::Handback => {
            Some(change_of_manager(kind, world, random))
        }
    }
}

/// Returns an event at which OpenSM ends or another one takes over.
fn change_of_manager(kind: SoakKind, world: &mut World, random: &mut Random) -> SoakEvent {
    let event = |name: String| SoakEvent::plain(kind, name);
    match kind {
        SoakKind::Kill => {
            let after = random.below(600);
            let fault = (random.below(2) == 0).then(|| kill_cables(SoakKind::Cable, world, random));
            let name = match fault.flatten() {
                Some(fault) => format!("{fault}, kill OpenSM {after} ms later"),
                None => format!("kill OpenSM {after} ms into a sweep"),
            };
            let action = Action::Kill { after };
            SoakEvent { action, must_stay: MustStay::Everything, ..event(name) }
        }
        SoakKind::Handover => {
            let is_shared = random.below(2) == 0;
            let (folder, must_stay) = match is_shared {
                true => ("the same", MustStay::Everything),
                false => ("its own", MustStay::Nothing),
            };
            let name = format!("hand over, {folder} state folder");
            SoakEvent { action: Action::Handover { is_shared }, must_stay, ..event(name) }
        }
        SoakKind::Handback => SoakEvent { action: Action::Handback, ..event("hand back".into()) },
        _ => SoakEvent {
            action: Action::Restart,
            must_stay: MustStay::Everything,
            ..event("restart OpenSM".into())
        },
    }
}

/// Returns an event that happens while the disk of the state folder is full or slow: a newcomer if there is one,
/// because the plugin has to write its number down.
fn trouble_with_disk(kind: SoakKind, world: &mut World, random: &mut Random) -> Option<SoakEvent> {
    let (action, disk) = match kind {
        SoakKind::FullDisk => (Action::FullDisk, "full disk"),
        _ => (Action::SlowDisk, "slow disk"),
    };
    let inner = [SoakKind::Late, SoakKind::Adapter].into_iter();
    let inner = inner.filter_map(|kind| newcomer(kind, world, random)).next();
    let (name, must_stay) = match inner {
        Some(inner) => (inner.name, inner.must_stay),
        None => (kill_cables(SoakKind::Cable, world, random)?, MustStay::Nothing),
    };
    Some(SoakEvent { kind, name: format!("{disk}: {name}"), action, must_stay })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::world::{DevicePort, WorkingLinks, WorldDevice};
    use super::*;
    use dmodc::{NodeIndex, Pgft};

    const ALL: Capabilities =
        Capabilities { can_fill_disk: true, can_slow_disk: true, second_is_in_charge: false };

    fn world(seed: u64) -> (World, Random) {
        let fabric = "2; 6,6; 1,3; 1,1".parse::<Pgft>().expect("a tuple");
        let fabric = fabric.fabric(Default::default());
        let mut random = Random::new(seed, 0);
        (World::new(&fabric, NodeIndex::new(0), &mut random), random)
    }

    /// The same seed gives the same events; every kind is drawn sooner or later, and none where it is not allowed.
    #[test]
    fn a_seed_gives_the_same_events() {
        let events = |seed: u64, capabilities: Capabilities| -> Vec<SoakEvent> {
            let (mut world, mut random) = world(seed);
            (0..400).map(|_| draw(&mut world, capabilities, None, &mut random)).collect()
        };
        assert_eq!(events(1, ALL), events(1, ALL));
        assert_ne!(events(1, ALL), events(2, ALL));
        let kinds =
            |events: &[SoakEvent]| events.iter().map(|e| e.kind).collect::<BTreeSet<SoakKind>>();
        let first = kinds(&events(1, ALL));
        let missing: Vec<SoakKind> = WEIGHTS
            .iter()
            .map(|(kind, _)| *kind)
            .filter(|kind| !first.contains(kind) && *kind != SoakKind::Handback)
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
        let second = kinds(&events(
            1,
            Capabilities { second_is_in_charge: true, ..Capabilities::default() },
        ));
        for kind in [SoakKind::FullDisk, SoakKind::SlowDisk, SoakKind::Handover] {
            assert!(!second.contains(&kind), "{kind}");
        }
        assert!(second.contains(&SoakKind::Handback));
    }

    /// No port has two cables, nothing happens to managers, and the console leads from each state to the next.
    #[test]
    fn events_leave_a_possible_fabric() {
        for seed in 0..20 {
            let (mut world, mut random) = world(seed);
            let mut links = world.links();
            for number in 0..100 {
                let event = draw(&mut world, ALL, None, &mut random);
                let places: Vec<DevicePort> = world.ends().map(|(place, _)| place).collect();
                let different: BTreeSet<DevicePort> = places.iter().copied().collect();
                assert_eq!(different.len(), places.len(), "seed {seed}, event {number}: {event:?}");
                for place in places {
                    assert!(place.port >= 1 && place.port <= world.devices[place.device].ports);
                }
                for manager in &world.managers {
                    let seen = world.reachable(manager.device);
                    assert!(!world.devices[manager.device].is_off && seen.len() > 1);
                }
                let next = world.links();
                assert_eq!(simulated(&world, &links, &next), next, "seed {seed}, event {number}");
                links = next;
            }
        }
    }

    /// Returns the cables after the console's lines.
    fn simulated(world: &World, before: &WorkingLinks, after: &WorkingLinks) -> WorkingLinks {
        let mut links = before.clone();
        let place = |word: &str| -> DevicePort {
            let (id, port) = word.split_once('[').expect("a port");
            let is_it = |device: &WorldDevice| format!("\"{}\"", device.id()) == id;
            let device = world.devices.iter().position(is_it).expect("a device");
            DevicePort { device, port: port.trim_end_matches(']').parse().expect("a number") }
        };
        for line in world.console(before, after) {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["Unlink", end] => {
                    let end = place(end);
                    assert!(world.devices[end.device].is_switch());
                    let count = links.len();
                    links.retain(|link| !link.contains(&end));
                    assert_eq!(links.len() + 1, count, "{line}");
                }
                ["Link", a, b] => {
                    let ends = [place(a), place(b)];
                    let is_free = |end: &DevicePort| !links.iter().any(|link| link.contains(end));
                    assert!(ends.iter().all(is_free), "{line}");
                    links.insert(ends);
                }
                _ => panic!("{line}"),
            }
        }
        links
    }

    #[test]
    fn replaced_devices_and_late_hosts_are_not_absent() {
        let (mut world, mut random) = world(3);
        assert!(world.is_whole(), "hosts that never were on are not missed");
        let cables = world.cables.len();
        let nodes = world.nodes();
        let event = happen(SoakKind::Adapter, &mut world, &mut random).expect("there are spares");
        assert!(
            world.is_whole() && matches!(&event.must_stay, MustStay::AllBut(two) if two.len() == 2)
        );
        let event = happen(SoakKind::Late, &mut world, &mut random).expect("a host is late");
        let MustStay::AllBut(who) = event.must_stay else { panic!("{event:?}") };
        assert_eq!(world.nodes(), nodes + who.len() as u64);
        happen(SoakKind::ReplacedLeaf, &mut world, &mut random).expect("there are spares");
        happen(SoakKind::ReplacedSpine, &mut world, &mut random).expect("there are spares");
        assert_eq!((world.is_whole(), world.cables.len()), (true, cables));
        for kind in
            [SoakKind::Cable, SoakKind::Spine, SoakKind::Leaf, SoakKind::Cut, SoakKind::Away]
        {
            happen(kind, &mut world, &mut random).expect("there is something to lose");
            assert!(!world.is_whole(), "{kind}");
            world.repair_all();
            assert!(world.is_whole(), "{kind}");
        }
        let before = world.links().len();
        happen(SoakKind::NewLeaf, &mut world, &mut random).expect("there are free ports");
        assert_eq!(world.links().len(), before + 3 + 6, "uplinks and hosts, as the others have");
        assert!(world.is_whole());
    }
}
