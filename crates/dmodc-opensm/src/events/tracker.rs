//! The differences between the fabric of one run and that of the next.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dmodc::fabric::Peer;
use dmodc::{Fabric, Guid, PortNumber, SwitchIndex};
use serde_json::{Value, json};

/// At most this many parts of each kind are listed. All are counted.
const MOST_LISTED: usize = 100;

/// At most this many absent parts are remembered. A fabric that has lost more is another one.
const MOST_ABSENT: usize = 1 << 20;

/// A port of a switch: the GUID of the switch, and the number of the port.
type SwitchPort = (Guid, u8);

/// The fabric of the last line, and the known parts that are absent from it.
#[derive(Default)]
pub(super) struct FabricTracker {
    before: Option<Arc<Fabric>>,
    /// Switches and nodes that were there once, or are known from files.
    absent: HashSet<Guid>,
    absent_cables: HashSet<[SwitchPort; 2]>,
    /// The absent switch or node that was connected to a port of a switch.
    was_at: HashMap<SwitchPort, Guid>,
}

/// The parts of a fabric, by GUID and with their names.
struct FabricParts<'a> {
    switches: HashMap<Guid, &'a str>,
    nodes: HashMap<Guid, &'a str>,
    cables: HashSet<[SwitchPort; 2]>,
}

impl<'a> FabricParts<'a> {
    fn of(fabric: &'a Fabric) -> Self {
        let end = |(s, port): (SwitchIndex, PortNumber)| (fabric.switch(s).guid, port.0);
        let cables = fabric.inter_switch_cables().iter().map(|cable| {
            let mut ends = [end(cable.a), end(cable.b)];
            ends.sort_unstable();
            ends
        });
        let nodes = fabric.node_indices();
        FabricParts {
            switches: fabric.switches().iter().map(|s| (s.guid, &*s.name)).collect(),
            nodes: nodes.map(|n| (fabric.node(n).guid, &*fabric.adapter_of(n).name)).collect(),
            cables: cables.collect(),
        }
    }

    fn switch_name(&self, guid: Guid) -> Option<String> {
        self.switches.get(&guid).map(|name| (*name).into())
    }
}

/// Parts that died, came back or joined.
#[derive(Default)]
struct ChangedParts<'a> {
    switches: Vec<(Guid, &'a str)>,
    nodes: Vec<(Guid, &'a str)>,
    cables: Vec<[SwitchPort; 2]>,
}

impl ChangedParts<'_> {
    fn json(mut self, name: &dyn Fn(Guid) -> String) -> Value {
        self.switches.sort_unstable();
        self.nodes.sort_unstable();
        self.cables.sort_unstable();
        let devices = |list: &[(Guid, &str)]| {
            let listed = list.iter().take(MOST_LISTED);
            let listed =
                listed.map(|(guid, name)| json!({ "guid": guid.to_string(), "name": name }));
            json!({ "count": list.len(), "list": listed.collect::<Vec<_>>() })
        };
        let end = |(guid, port): SwitchPort| json!({ "guid": guid.to_string(), "port": port, "name": name(guid) });
        let cables = self.cables.iter().take(MOST_LISTED).map(|ends| json!(ends.map(end)));
        json!({
            "switches": devices(&self.switches),
            "nodes": devices(&self.nodes),
            "cables": { "count": self.cables.len(), "list": cables.collect::<Vec<_>>() },
        })
    }
}

/// Returns the devices of `these` that are not among `those`.
fn missing<'a>(
    these: &HashMap<Guid, &'a str>,
    those: &HashMap<Guid, &str>,
) -> Vec<(Guid, &'a str)> {
    these.iter().filter(|(g, _)| !those.contains_key(g)).map(|(g, name)| (*g, *name)).collect()
}

/// All differences between two fabrics.
#[derive(Default)]
struct FabricChanges<'a> {
    died: ChangedParts<'a>,
    came_back: ChangedParts<'a>,
    joined: ChangedParts<'a>,
    /// Pairs of an absent device and the new one in its place.
    replaced: Vec<[Guid; 2]>,
}

impl FabricChanges<'_> {
    /// Returns the changes as an event has them. `name` returns the names of switches.
    fn json(self, name: &dyn Fn(Guid) -> String) -> Value {
        let listed = self.replaced.iter().take(MOST_LISTED);
        let listed =
            listed.map(|[old, new]| json!({ "old": old.to_string(), "new": new.to_string() }));
        let listed: Vec<Value> = listed.collect();
        json!({
            "died": self.died.json(name),
            "came_back": self.came_back.json(name),
            "joined": self.joined.json(name),
            "replaced": { "count": self.replaced.len(), "list": listed },
        })
    }
}

impl FabricTracker {
    /// Notes switches and nodes that are known from files: if they appear, they came back.
    pub(super) fn know(&mut self, guids: &[Guid]) {
        self.absent.extend(guids);
    }

    /// Returns the changes since the last fabric. For the first fabric these are only the parts that have joined since
    /// the files were written.
    pub(super) fn compare(&mut self, fabric: &Arc<Fabric>) -> Value {
        let before = self.before.replace(fabric.clone());
        let now = FabricParts::of(fabric);
        let Some(before) = before else {
            let changes = FabricChanges { joined: self.first_joined(&now), ..Default::default() };
            self.absent.retain(|g| !now.switches.contains_key(g) && !now.nodes.contains_key(g));
            return changes.json(&|guid| now.switch_name(guid).unwrap_or_default());
        };
        if *before == **fabric {
            return FabricChanges::default().json(&|_| String::new());
        }
        let then = FabricParts::of(&before);
        let died = ChangedParts {
            switches: missing(&then.switches, &now.switches),
            nodes: missing(&then.nodes, &now.nodes),
            cables: then.cables.difference(&now.cables).copied().collect(),
        };
        self.remember(&before, &died);
        let is_back = |(guid, _): &(Guid, &str)| self.absent.contains(guid);
        let came = |now, then| missing(now, then).into_iter().partition(is_back);
        let (back_switches, new_switches) = came(&now.switches, &then.switches);
        let (back_nodes, new_nodes) = came(&now.nodes, &then.nodes);
        let (back_cables, new_cables) = now
            .cables
            .difference(&then.cables)
            .copied()
            .partition(|cable| self.absent_cables.contains(cable));
        let came_back =
            ChangedParts { switches: back_switches, nodes: back_nodes, cables: back_cables };
        let joined = ChangedParts { switches: new_switches, nodes: new_nodes, cables: new_cables };
        let replaced = self.replacements(fabric, &joined);
        self.absent.retain(|g| !now.switches.contains_key(g) && !now.nodes.contains_key(g));
        self.absent_cables.retain(|cable| !now.cables.contains(cable));
        let absent = &self.absent;
        self.was_at.retain(|_, guid| absent.contains(guid));
        let name =
            |guid: Guid| now.switch_name(guid).or(then.switch_name(guid)).unwrap_or_default();
        FabricChanges { died, came_back, joined, replaced }.json(&name)
    }

    /// Returns the devices of the first fabric that the files do not know.
    fn first_joined<'a>(&self, now: &FabricParts<'a>) -> ChangedParts<'a> {
        // If nothing is known from before, everything would be new.
        if self.absent.is_empty() {
            return ChangedParts::default();
        }
        let is_new = |(guid, _): &(Guid, &str)| !self.absent.contains(guid);
        let mut joined = ChangedParts {
            switches: missing(&now.switches, &HashMap::new()),
            nodes: missing(&now.nodes, &HashMap::new()),
            ..ChangedParts::default()
        };
        joined.switches.retain(is_new);
        joined.nodes.retain(is_new);
        joined
    }

    /// Notes the parts that died, and where they were.
    fn remember(&mut self, before: &Fabric, died: &ChangedParts<'_>) {
        if self.absent.len() + self.absent_cables.len() > MOST_ABSENT {
            (self.absent, self.absent_cables, self.was_at) = Default::default();
        }
        let dead: HashSet<Guid> =
            died.switches.iter().chain(&died.nodes).map(|(guid, _)| *guid).collect();
        self.absent.extend(&dead);
        self.absent_cables.extend(&died.cables);
        for s in before.switch_indices() {
            let here = before.switch(s).guid;
            for (port, at) in (1..=u8::MAX).zip(before.ports_of(s)) {
                let there = match at.peer {
                    Peer::None => continue,
                    Peer::Switch(peer, _) => before.switch(peer).guid,
                    Peer::Node(n) => before.node(n).guid,
                };
                if dead.contains(&there) {
                    self.was_at.insert((here, port), there);
                }
            }
        }
    }

    /// Returns the new devices in the ports of absent ones, as pairs of old and new GUID. A new switch replaces the absent
    /// one with which it shares the most ports.
    fn replacements(&self, fabric: &Fabric, joined: &ChangedParts<'_>) -> Vec<[Guid; 2]> {
        let new: HashSet<Guid> =
            joined.switches.iter().chain(&joined.nodes).map(|(guid, _)| *guid).collect();
        if new.is_empty() || self.was_at.is_empty() {
            return vec![];
        }
        let mut votes: HashMap<Guid, HashMap<Guid, usize>> = HashMap::new();
        for s in fabric.switch_indices() {
            let here = fabric.switch(s).guid;
            for (port, at) in (1..=u8::MAX).zip(fabric.ports_of(s)) {
                let there = match at.peer {
                    Peer::None => continue,
                    Peer::Switch(peer, _) => fabric.switch(peer).guid,
                    Peer::Node(n) => fabric.node(n).guid,
                };
                if let Some(old) = self.was_at.get(&(here, port))
                    && new.contains(&there)
                {
                    *votes.entry(there).or_default().entry(*old).or_default() += 1;
                }
            }
        }
        let best = |(new, olds): (Guid, HashMap<Guid, usize>)| {
            let most = olds.into_iter().max_by_key(|(old, count)| (*count, *old))?;
            Some([most.0, new])
        };
        let mut all: Vec<[Guid; 2]> = votes.into_iter().filter_map(best).collect();
        all.sort_unstable();
        all
    }
}
