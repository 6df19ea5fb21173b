//! What may happen, and what does: drawn from a seed.
//!
//! A draw depends on the seed, on what happened before and on what this machine can do, and on nothing else; so a
//! seed and a number name an event.

use std::fmt;
use std::str::FromStr;

use dmodc::Random;
use serde::Serialize;

use super::world::{Cable, Device, Place, Replacement, Role, World};

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// OpenSM is started for the first time.
    Start,
    /// A cable between switches dies.
    Cable,
    /// Many do at once.
    Flood,
    /// A switch that is no leaf dies.
    Spine,
    /// A leaf dies.
    Leaf,
    /// All cables of a leaf to other switches die.
    Cut,
    /// Some dead cables work again.
    Repair,
    /// Everything works again, and every host is back.
    RepairAll,
    /// A cable goes down and up again, several times.
    Flap,
    /// Hosts are switched off.
    Away,
    /// Some of them are switched on again.
    Back,
    /// Hosts that were off from the start are switched on.
    Late,
    /// An adapter is replaced: the same port of the leaf, another GUID.
    Adapter,
    /// A leaf is replaced: the same cables, another GUID.
    ReplacedLeaf,
    /// Another switch is replaced.
    ReplacedSpine,
    /// There is one more leaf with hosts.
    NewLeaf,
    /// There is one more host on a leaf.
    NewHost,
    /// Two cables of a switch change their ports, or one takes a free port.
    Recable,
    /// OpenSM is ended and started again.
    Restart,
    /// OpenSM is killed and started again.
    Kill,
    /// OpenSM is killed, and another one takes over.
    Handover,
    /// The first one is back, and takes over again.
    Handback,
    /// The disk of the state folder is full while something happens.
    FullDisk,
    /// The disk of the state folder is slow while something happens.
    SlowDisk,
    /// The operator lets everything be numbered anew, because growth has cost balance. It is never drawn.
    Renumber,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || WEIGHTS.iter().map(|(kind, _)| kind.to_string());
        let found = WEIGHTS.iter().map(|(kind, _)| *kind).find(|kind| kind.to_string() == text);
        found.ok_or_else(|| {
            let names: Vec<String> = names().collect();
            format!("expected one of {}, not '{text}'", names.join(", "))
        })
    }
}

/// What happens besides changes of the fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Nothing.
    Nothing,
    /// A cable goes down and up so many times.
    Flap {
        cable: usize,
        times: u32,
    },
    Restart,
    /// So many milliseconds after what happens to the fabric, or after a heavy sweep was asked for.
    Kill {
        after: u64,
    },
    /// To a manager with the same state folder, or with one of its own.
    Handover {
        is_shared: bool,
    },
    Handback,
    FullDisk,
    SlowDisk,
    Renumber,
}

/// What must not move, beyond what is asked of every event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stays {
    Nothing,
    /// Every entry, as the same files give the same tables.
    Everything,
    /// Entries towards everybody but these devices.
    AllBut(Vec<usize>),
}

/// Something that happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) kind: Kind,
    /// In words.
    pub(super) name: String,
    pub(super) act: Act,
    pub(super) stays: Stays,
}

impl Event {
    /// What an operator does when the plugin says that the numbers in use cost balance.
    pub(super) fn renumber() -> Self {
        let name = "numbered anew".into();
        Event { kind: Kind::Renumber, name, act: Act::Renumber, stays: Stays::Nothing }
    }

    /// Whether somebody comes for whom no place was kept.
    pub(super) fn is_growth(&self) -> bool {
        matches!(self.kind, Kind::NewHost | Kind::NewLeaf)
    }

    /// Whether hosts may come that were expected but never seen.
    pub(super) fn brings_late_hosts(&self) -> bool {
        matches!(self.kind, Kind::Late | Kind::FullDisk | Kind::SlowDisk)
    }
}

/// What can be done on this machine, and who is in charge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Means {
    pub(super) can_fill: bool,
    pub(super) can_slow: bool,
    /// Whether the second manager is in charge.
    pub(super) is_second: bool,
}

/// How often each kind is drawn, where it is possible.
const WEIGHTS: [(Kind, u64); 23] = [
    (Kind::Cable, 8),
    (Kind::Flood, 4),
    (Kind::Spine, 4),
    (Kind::Leaf, 3),
    (Kind::Cut, 3),
    (Kind::Repair, 6),
    (Kind::RepairAll, 24),
    (Kind::Flap, 4),
    (Kind::Away, 6),
    (Kind::Back, 6),
    (Kind::Late, 9),
    (Kind::Adapter, 9),
    (Kind::ReplacedLeaf, 4),
    (Kind::ReplacedSpine, 4),
    (Kind::NewLeaf, 2),
    (Kind::NewHost, 4),
    (Kind::Recable, 5),
    (Kind::Restart, 4),
    (Kind::Kill, 6),
    (Kind::Handover, 5),
    (Kind::Handback, 10),
    (Kind::FullDisk, 3),
    (Kind::SlowDisk, 3),
];

/// Draws the next event and lets it happen to the world; what is not of the fabric is left to be done. Where only some kinds are
/// wanted and none of them is possible any more, OpenSM is restarted.
pub(super) fn draw(
    world: &mut World,
    means: Means,
    only: Option<&[Kind]>,
    random: &mut Random,
) -> Event {
    let mut weights: Vec<(Kind, u64)> = WEIGHTS.to_vec();
    weights.retain(|(kind, _)| is_allowed(*kind, world, means));
    weights.retain(|(kind, _)| only.is_none_or(|only| only.contains(kind)));
    loop {
        if weights.is_empty() {
            weights.push((Kind::Restart, 1));
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
        // What turns out to be impossible is not drawn again; restarts always are possible.
        match happen(kind, world, random) {
            Some(event) => return event,
            None => weights.retain(|(other, _)| *other != kind),
        }
    }
}

fn is_allowed(kind: Kind, world: &World, means: Means) -> bool {
    match kind {
        Kind::FullDisk => means.can_fill && !means.is_second,
        Kind::SlowDisk => means.can_slow,
        Kind::Handover => world.managers.len() > 1 && !means.is_second,
        Kind::Handback => means.is_second,
        Kind::RepairAll => !world.is_whole(),
        _ => true,
    }
}

/// Lets this happen, if it is possible.
fn happen(kind: Kind, world: &mut World, random: &mut Random) -> Option<Event> {
    let event = |name: String| Event { kind, name, act: Act::Nothing, stays: Stays::Nothing };
    match kind {
        Kind::Start | Kind::Renumber => None,
        Kind::Cable | Kind::Flood => kill_cables(kind, world, random).map(event),
        Kind::Spine | Kind::Leaf | Kind::Cut => kill_switch(kind, world, random).map(event),
        Kind::Repair => repair(world, random).map(event),
        Kind::RepairAll => {
            world.repair_all();
            Some(event("repair all".into()))
        }
        Kind::Flap => {
            let cables = live_cables(world);
            let cable = one_of(&cables, random)?;
            let times = 2 + random.below(3) as u32;
            let name = format!("flap {} {times} times", named(world, cable));
            Some(Event { act: Act::Flap { cable, times }, ..event(name) })
        }
        Kind::Away | Kind::Back => hosts_go(kind == Kind::Away, world, random).map(event),
        Kind::Late | Kind::Adapter => newcomer(kind, world, random),
        Kind::ReplacedLeaf | Kind::ReplacedSpine => replace_switch(kind, world),
        Kind::NewLeaf => new_leaf(world, random).map(event),
        Kind::NewHost => new_host(world, random).map(event),
        Kind::Recable => recable(world, random).map(event),
        Kind::Restart => Some(Event {
            act: Act::Restart,
            stays: Stays::Everything,
            ..event("restart OpenSM".into())
        }),
        Kind::Kill => {
            let after = random.below(600);
            let fault = (random.below(2) == 0).then(|| kill_cables(Kind::Cable, world, random));
            let name = match fault.flatten() {
                Some(fault) => format!("{fault}, kill OpenSM {after} ms later"),
                None => format!("kill OpenSM {after} ms into a sweep"),
            };
            Some(Event { act: Act::Kill { after }, stays: Stays::Everything, ..event(name) })
        }
        Kind::Handover => {
            let is_shared = random.below(2) == 0;
            let name = if is_shared { "the same" } else { "its own" };
            let name = format!("hand over, {name} state folder");
            let stays = if is_shared { Stays::Everything } else { Stays::Nothing };
            Some(Event { act: Act::Handover { is_shared }, stays, ..event(name) })
        }
        Kind::Handback => Some(Event { act: Act::Handback, ..event("hand back".into()) }),
        Kind::FullDisk | Kind::SlowDisk => {
            let (act, disk) = match kind {
                Kind::FullDisk => (Act::FullDisk, "full disk"),
                _ => (Act::SlowDisk, "slow disk"),
            };
            let inner = [Kind::Late, Kind::Adapter].into_iter();
            let inner = inner.filter_map(|kind| newcomer(kind, world, random)).next();
            let (name, stays) = match inner {
                Some(inner) => (inner.name, inner.stays),
                None => (kill_cables(Kind::Cable, world, random)?, Stays::Nothing),
            };
            Some(Event { kind, name: format!("{disk}: {name}"), act, stays })
        }
    }
}

/// Returns one of these at random, if there is any.
fn one_of<T: Copy>(items: &[T], random: &mut Random) -> Option<T> {
    let count = items.len() as u64;
    (count > 0).then(|| items[random.below(count) as usize])
}

/// Returns a cable in words.
fn named(world: &World, cable: usize) -> String {
    let place = |place: Place| format!("{}/{}", world.devices[place.device].name, place.port);
    let [a, b] = world.cables[cable].ends.map(place);
    format!("{a} {b}")
}

/// Returns the cables between switches that work.
fn live_cables(world: &World) -> Vec<usize> {
    let is_on = |place: &Place| !world.devices[place.device].is_off;
    let works = |cable: &Cable| {
        world.is_inter_switch(cable) && !cable.is_dead && cable.ends.iter().all(is_on)
    };
    (0..world.cables.len()).filter(|&at| works(&world.cables[at])).collect()
}

fn kill_cables(kind: Kind, world: &mut World, random: &mut Random) -> Option<String> {
    let mut cables = live_cables(world);
    random.shuffle(&mut cables);
    let most = (cables.len() as u64 / 10).max(2);
    cables.truncate(if kind == Kind::Cable { 1 } else { 2 + random.below(most) as usize });
    let first = *cables.first()?;
    for &cable in &cables {
        world.cables[cable].is_dead = true;
    }
    Some(match kind {
        Kind::Cable => format!("kill cable {}", named(world, first)),
        _ => format!("kill {} cables", cables.len()),
    })
}

fn kill_switch(kind: Kind, world: &mut World, random: &mut Random) -> Option<String> {
    let role = if kind == Kind::Spine { Role::Spine } else { Role::Leaf };
    let all = world.of(role, |_, _| true).len();
    let mut live = world.of(role, |_, device| !device.is_off);
    // Most of them stay, so that there is something to look at.
    if live.len() * 3 <= all * 2 {
        return None;
    }
    live.retain(|&device| !world.is_managers(device));
    let switch = one_of(&live, random)?;
    let name = world.devices[switch].name.clone();
    if kind != Kind::Cut {
        world.devices[switch].is_off = true;
        return Some(format!("kill switch {name}"));
    }
    for (_, cable, peer) in world.cables_of(switch) {
        world.cables[cable].is_dead |= world.devices[peer.device].is_switch();
    }
    Some(format!("cut off {name}"))
}

fn repair(world: &mut World, random: &mut Random) -> Option<String> {
    let mut dead: Vec<usize> =
        (0..world.cables.len()).filter(|&at| world.cables[at].is_dead).collect();
    random.shuffle(&mut dead);
    dead.truncate(1 + random.below(dead.len().max(1) as u64) as usize);
    let first = *dead.first()?;
    for &cable in &dead {
        world.cables[cable].is_dead = false;
    }
    Some(match dead.len() {
        1 => format!("repair cable {}", named(world, first)),
        some => format!("repair {some} cables"),
    })
}

fn hosts_go(is_away: bool, world: &mut World, random: &mut Random) -> Option<String> {
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

/// A late host, or another adapter in the place of one.
fn newcomer(kind: Kind, world: &mut World, random: &mut Random) -> Option<Event> {
    let (name, who) = match kind {
        Kind::Late => {
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
            let is_on = |device: &Device| !device.is_off;
            let hosts = world.of(Role::Host, |_, device| is_on(device));
            let next = |r: &Replacement| hosts.contains(&r.old) && !world.is_managers(r.old);
            let at = world.spares.adapters.iter().position(next)?;
            let replacement = world.spares.adapters.remove(at);
            world.replace(replacement);
            let name = format!("another adapter for {}", world.devices[replacement.old].name);
            (name, vec![replacement.old, replacement.new])
        }
    };
    Some(Event { kind, name, act: Act::Nothing, stays: Stays::AllBut(who) })
}

fn replace_switch(kind: Kind, world: &mut World) -> Option<Event> {
    let role = if kind == Kind::ReplacedLeaf { Role::Leaf } else { Role::Spine };
    let live = world.of(role, |_, device| !device.is_off);
    let is_next = |r: &Replacement| live.contains(&r.old) && !world.is_managers(r.old);
    let spares = match kind {
        Kind::ReplacedLeaf => &world.spares.leaves,
        _ => &world.spares.spines,
    };
    let at = spares.iter().position(is_next)?;
    let replacement = match kind {
        Kind::ReplacedLeaf => world.spares.leaves.remove(at),
        _ => world.spares.spines.remove(at),
    };
    world.replace(replacement);
    let name = format!("another switch for {}", world.devices[replacement.old].name);
    let stays = match kind {
        Kind::ReplacedLeaf => {
            let own = world.cables_of(replacement.new).into_iter().map(|(_, _, peer)| peer.device);
            let mut own: Vec<usize> =
                own.filter(|&device| !world.devices[device].is_switch()).collect();
            own.extend([replacement.old, replacement.new]);
            Stays::AllBut(own)
        }
        _ => Stays::Nothing,
    };
    Some(Event { kind, name, act: Act::Nothing, stays })
}

/// A leaf that is cabled as another one is.
fn new_leaf(world: &mut World, random: &mut Random) -> Option<String> {
    let like = one_of(&world.of(Role::Leaf, |_, device| !device.is_off), random)?;
    let mut cables: Vec<Cable> = Vec::new();
    let (leaf, hosts) = world.spares.new_leaves.first()?.clone();
    let mut hosts = hosts.into_iter();
    let mut came = vec![leaf];
    for (port, _, peer) in world.cables_of(like) {
        let there = match world.devices[peer.device].role {
            Role::Aggregation => continue,
            Role::Host => {
                let Some(host) = hosts.next() else { continue };
                came.push(host);
                Place { device: host, port: 1 }
            }
            _ => {
                let taken = |port: &u8| {
                    let place = Place { device: peer.device, port: *port };
                    cables.iter().any(|cable| cable.ends[1] == place)
                };
                let free = world.free_ports(peer.device).into_iter().find(|port| !taken(port))?;
                Place { device: peer.device, port: free }
            }
        };
        cables.push(Cable { ends: [Place { device: leaf, port }, there], is_dead: false });
    }
    world.spares.new_leaves.remove(0);
    world.cables.extend(cables);
    came.iter().for_each(|&device| world.switch_on(device));
    Some(format!("new leaf like {}, {} hosts", world.devices[like].name, came.len() - 1))
}

fn new_host(world: &mut World, random: &mut Random) -> Option<String> {
    let mut leaves = world.of(Role::Leaf, |_, device| !device.is_off);
    leaves.retain(|&leaf| !world.free_ports(leaf).is_empty());
    let leaf = one_of(&leaves, random)?;
    let port = *world.free_ports(leaf).first()?;
    let host = world.spares.new_hosts.pop()?;
    let ends = [Place { device: leaf, port }, Place { device: host, port: 1 }];
    world.cables.push(Cable { ends, is_dead: false });
    world.switch_on(host);
    Some(format!("new host on {}", world.devices[leaf].name))
}

fn recable(world: &mut World, random: &mut Random) -> Option<String> {
    let cable = one_of(&live_cables(world), random)?;
    let side = random.below(2) as usize;
    let here = world.cables[cable].ends[side];
    let name = &world.devices[here.device].name;
    let others: Vec<(u8, usize, Place)> = world
        .cables_of(here.device)
        .into_iter()
        .filter(|(_, other, _)| *other != cable && world.is_inter_switch(&world.cables[*other]))
        .collect();
    if random.below(2) == 0
        && let Some((port, other, _)) = one_of(&others, random)
    {
        let name = format!("swap the cables in {name}/{} and /{port}", here.port);
        let there = Place { device: here.device, port };
        let is_there = |place: &&mut Place| **place == there;
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::world::Links;
    use super::*;
    use dmodc::{NodeIndex, Pgft};

    const MEANS: Means = Means { can_fill: true, can_slow: true, is_second: false };

    fn world(seed: u64) -> (World, Random) {
        let fabric = "2; 6,6; 1,3; 1,1".parse::<Pgft>().expect("a tuple");
        let fabric = fabric.fabric(Default::default());
        let mut random = Random::new(seed, 0);
        (World::new(&fabric, NodeIndex::new(0), &mut random), random)
    }

    /// A seed means the same life; every kind of event is drawn sooner or later, and none where it is not allowed.
    #[test]
    fn a_seed_is_a_life() {
        let live = |seed: u64, means: Means| -> Vec<Event> {
            let (mut world, mut random) = world(seed);
            (0..400).map(|_| draw(&mut world, means, None, &mut random)).collect()
        };
        assert_eq!(live(1, MEANS), live(1, MEANS));
        assert_ne!(live(1, MEANS), live(2, MEANS));
        let kinds = |events: &[Event]| events.iter().map(|e| e.kind).collect::<BTreeSet<Kind>>();
        let first = kinds(&live(1, MEANS));
        let missing: Vec<Kind> = WEIGHTS
            .iter()
            .map(|(kind, _)| *kind)
            .filter(|kind| !first.contains(kind) && *kind != Kind::Handback)
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
        let second = kinds(&live(1, Means { is_second: true, ..Means::default() }));
        for kind in [Kind::FullDisk, Kind::SlowDisk, Kind::Handover] {
            assert!(!second.contains(&kind), "{kind}");
        }
        assert!(second.contains(&Kind::Handback));
    }

    /// No port has two cables, nothing happens to managers, and the console leads from each state to the next.
    #[test]
    fn life_leaves_a_fabric_that_can_be() {
        for seed in 0..20 {
            let (mut world, mut random) = world(seed);
            let mut links = world.links();
            for number in 0..100 {
                let event = draw(&mut world, MEANS, None, &mut random);
                let places: Vec<Place> = world.ends().map(|(place, _)| place).collect();
                let different: BTreeSet<Place> = places.iter().copied().collect();
                assert_eq!(different.len(), places.len(), "seed {seed}, event {number}: {event:?}");
                for place in places {
                    assert!(place.port >= 1 && place.port <= world.devices[place.device].ports);
                }
                for manager in &world.managers {
                    let seen = world.reachable(manager.device);
                    assert!(!world.devices[manager.device].is_off && seen.len() > 1);
                }
                let next = world.links();
                assert_eq!(told(&world, &links, &next), next, "seed {seed}, event {number}");
                links = next;
            }
        }
    }

    /// What a console makes of some cables.
    fn told(world: &World, before: &Links, after: &Links) -> Links {
        let mut links = before.clone();
        let place = |word: &str| -> Place {
            let (id, port) = word.split_once('[').expect("a port");
            let is_it = |device: &Device| format!("\"{}\"", device.id()) == id;
            let device = world.devices.iter().position(is_it).expect("a device");
            Place { device, port: port.trim_end_matches(']').parse().expect("a number") }
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
                    let is_free = |end: &Place| !links.iter().any(|link| link.contains(end));
                    assert!(ends.iter().all(is_free), "{line}");
                    links.insert(ends);
                }
                _ => panic!("{line}"),
            }
        }
        links
    }

    #[test]
    fn what_is_replaced_is_not_absent_and_who_is_late_neither() {
        let (mut world, mut random) = world(3);
        assert!(world.is_whole(), "hosts that never were on are not missed");
        let cables = world.cables.len();
        let nodes = world.nodes();
        let event = happen(Kind::Adapter, &mut world, &mut random).expect("there are spares");
        assert!(world.is_whole() && matches!(&event.stays, Stays::AllBut(two) if two.len() == 2));
        let event = happen(Kind::Late, &mut world, &mut random).expect("somebody is late");
        let Stays::AllBut(who) = event.stays else { panic!("{event:?}") };
        assert_eq!(world.nodes(), nodes + who.len() as u64);
        happen(Kind::ReplacedLeaf, &mut world, &mut random).expect("there are spares");
        happen(Kind::ReplacedSpine, &mut world, &mut random).expect("there are spares");
        assert_eq!((world.is_whole(), world.cables.len()), (true, cables));
        for kind in [Kind::Cable, Kind::Spine, Kind::Leaf, Kind::Cut, Kind::Away] {
            happen(kind, &mut world, &mut random).expect("there is something to lose");
            assert!(!world.is_whole(), "{kind}");
            world.repair_all();
            assert!(world.is_whole(), "{kind}");
        }
        let before = world.links().len();
        happen(Kind::NewLeaf, &mut world, &mut random).expect("there are free ports");
        assert_eq!(world.links().len(), before + 3 + 6, "uplinks and hosts, as the others have");
        assert!(world.is_whole());
    }
}
