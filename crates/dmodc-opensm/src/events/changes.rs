//! What differs between the fabric of one run and that of the next.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dmodc::fabric::Peer;
use dmodc::{Fabric, Guid, PortNumber, SwitchIndex};
use serde_json::{Value, json};

/// Of each kind, no more are listed; all are counted.
const MOST_LISTED: usize = 100;

/// More absent parts are not remembered: a fabric that has lost so many is another one.
const MOST_ABSENT: usize = 1 << 20;

/// One end of a cable between switches.
type Place = (Guid, u8);

/// The fabric of the last line, and what is absent from it.
#[derive(Default)]
pub(crate) struct Tracker {
    before: Option<Arc<Fabric>>,
    /// Switches and nodes that were there once, or are known from files.
    absent: HashSet<Guid>,
    absent_cables: HashSet<[Place; 2]>,
    /// What was in a port of a switch before it was absent: a switch or a node.
    was_at: HashMap<Place, Guid>,
}

/// The parts of a fabric by GUID.
struct Parts<'a> {
    switches: HashMap<Guid, &'a str>,
    nodes: HashMap<Guid, &'a str>,
    cables: HashSet<[Place; 2]>,
}

impl<'a> Parts<'a> {
    fn of(fabric: &'a Fabric) -> Self {
        let place = |(s, port): (SwitchIndex, PortNumber)| (fabric.switch(s).guid, port.0);
        let cables = fabric.inter_switch_cables().iter().map(|cable| {
            let mut ends = [place(cable.a), place(cable.b)];
            ends.sort_unstable();
            ends
        });
        let nodes = fabric.node_indices();
        Parts {
            switches: fabric.switches().iter().map(|s| (s.guid, &*s.name)).collect(),
            nodes: nodes.map(|n| (fabric.node(n).guid, &*fabric.adapter_of(n).name)).collect(),
            cables: cables.collect(),
        }
    }
}

/// Some parts that died, came back or joined.
#[derive(Default)]
struct Group<'a> {
    switches: Vec<(Guid, &'a str)>,
    nodes: Vec<(Guid, &'a str)>,
    cables: Vec<[Place; 2]>,
}

impl Group<'_> {
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
        let end = |(guid, port): Place| json!({ "guid": guid.to_string(), "port": port, "name": name(guid) });
        let cables = self.cables.iter().take(MOST_LISTED).map(|ends| json!(ends.map(end)));
        json!({
            "switches": devices(&self.switches),
            "nodes": devices(&self.nodes),
            "cables": { "count": self.cables.len(), "list": cables.collect::<Vec<_>>() },
        })
    }
}

/// Returns what is in the first and not in the second.
fn missing<'a>(there: &HashMap<Guid, &'a str>, here: &HashMap<Guid, &str>) -> Vec<(Guid, &'a str)> {
    there.iter().filter(|(g, _)| !here.contains_key(g)).map(|(g, name)| (*g, *name)).collect()
}

impl Tracker {
    /// Takes note of switches and nodes that files know: if they appear, they came back.
    pub(crate) fn know(&mut self, guids: &[Guid]) {
        self.absent.extend(guids);
    }

    /// Returns what has changed since the fabric before. In the first line nothing has, but for what joined since
    /// the files were written.
    pub(crate) fn compare(&mut self, fabric: &Arc<Fabric>) -> Value {
        let before = self.before.replace(fabric.clone());
        let now = Parts::of(fabric);
        let Some(before) = before else {
            let mut joined = Group::default();
            // Where nothing is known from before, everything would be news.
            if !self.absent.is_empty() {
                let is_new = |(guid, _): &(Guid, &str)| !self.absent.contains(guid);
                joined.switches = missing(&now.switches, &HashMap::new());
                joined.switches.retain(is_new);
                joined.nodes = missing(&now.nodes, &HashMap::new());
                joined.nodes.retain(is_new);
            }
            self.absent.retain(|g| !now.switches.contains_key(g) && !now.nodes.contains_key(g));
            return self.json([Group::default(), Group::default(), joined], vec![], &now);
        };
        if *before == **fabric {
            return self.json(Default::default(), vec![], &now);
        }
        let then = Parts::of(&before);
        let died = Group {
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
        let back = Group { switches: back_switches, nodes: back_nodes, cables: back_cables };
        let joined = Group { switches: new_switches, nodes: new_nodes, cables: new_cables };
        let replaced = self.replacements(fabric, &joined);
        self.absent.retain(|g| !now.switches.contains_key(g) && !now.nodes.contains_key(g));
        self.absent_cables.retain(|cable| !now.cables.contains(cable));
        let absent = &self.absent;
        self.was_at.retain(|_, guid| absent.contains(guid));
        let then_names = then.switches.clone();
        let name = |guid: Guid| {
            let name = now.switches.get(&guid).or_else(|| then_names.get(&guid));
            name.map_or(String::new(), |name| (*name).into())
        };
        changes([died, back, joined], replaced, &name)
    }

    /// Takes note of what died and where it was.
    fn remember(&mut self, before: &Fabric, died: &Group<'_>) {
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

    /// Returns which newcomers are where something absent was: pairs of old and new.
    fn replacements(&self, fabric: &Fabric, joined: &Group<'_>) -> Vec<[Guid; 2]> {
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

    fn json(&self, parts: [Group<'_>; 3], replaced: Vec<[Guid; 2]>, now: &Parts<'_>) -> Value {
        let name = |guid: Guid| now.switches.get(&guid).map_or(String::new(), |n| (*n).into());
        changes(parts, replaced, &name)
    }
}

fn changes(
    [died, back, joined]: [Group<'_>; 3],
    replaced: Vec<[Guid; 2]>,
    name: &dyn Fn(Guid) -> String,
) -> Value {
    let listed = replaced.iter().take(MOST_LISTED);
    let listed = listed.map(|[old, new]| json!({ "old": old.to_string(), "new": new.to_string() }));
    json!({
        "died": died.json(name),
        "came_back": back.json(name),
        "joined": joined.json(name),
        "replaced": { "count": replaced.len(), "list": listed.collect::<Vec<_>>() },
    })
}
