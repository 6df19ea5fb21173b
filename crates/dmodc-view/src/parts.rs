//! Everything about one switch, cable or node.

use dmodc::fabric::{CableEnds, Found, Part, Peer};
use dmodc::judge::Islands;
use dmodc::{CableIndex, End, NodeIndex, PortNumber, SwitchIndex};
use serde_json::{Value, json};

use crate::names::{part_id, part_text, switch_name};
use crate::problem::Problem;
use crate::workbench::Workbench;

impl Workbench {
    /// Returns everything about a switch, a cable or a node.
    ///
    /// # Errors
    /// If nothing is called so, or several things are.
    pub fn part(&self, name: &str) -> Result<Value, Problem> {
        let found = match self.setup().find_part(name) {
            Ok(Part::Switch(s)) => Found::Switch(s),
            Ok(Part::Cable(c)) => Found::Cable(c),
            Err(_) => {
                let found = self.fabric().find(name);
                found.map_err(|error| Problem::NotFound(error.to_string()))?
            }
        };
        Ok(match found {
            Found::Switch(s) => self.switch_details(s),
            Found::Node(n) => self.node_details(n),
            Found::Cable(c) => self.cable_details(c),
        })
    }

    fn switch_details(&self, s: SwitchIndex) -> Value {
        let (fabric, live) = (self.fabric(), self.router().live());
        let switch = fabric.switch(s);
        let layout = self.setup().layout();
        let port = |p: u8| {
            let number = PortNumber(p);
            let cabled = fabric.port(s, number)?;
            let (kind, name, guid, peer_port) = match cabled.peer {
                Peer::None => return None,
                Peer::Switch(t, q) => {
                    ("switch", switch_name(fabric, t), fabric.switch(t).guid, q.0)
                }
                Peer::Node(n) => {
                    let node = fabric.node(n);
                    ("node", fabric.adapter_of(n).name.to_string(), node.guid, node.adapter_port.0)
                }
            };
            let rate = (!cabled.rate.is_unknown()).then(|| cabled.rate.to_string());
            Some(json!({
                "port": p,
                "peer": name,
                "peer_kind": kind,
                "peer_guid": guid.to_string(),
                "peer_port": peer_port,
                "alive": cabled.cable().is_some_and(|c| live.cable(c)),
                "speed": rate,
            }))
        };
        json!({
            "kind": "switch",
            "index": s.at(),
            "name": switch_name(fabric, s),
            "guid": switch.guid.to_string(),
            "lid": switch.lid.0,
            "rank": self.router().preprocessing().ranking.rank(s),
            "alive": live.switch(s),
            "ports": (1..=switch.ports).filter_map(port).collect::<Vec<_>>(),
            "nodes": fabric.nodes_of(s).len(),
            "group": layout.groups[layout.group[s.at()] as usize].label,
        })
    }

    fn node_details(&self, n: NodeIndex) -> Value {
        let (fabric, live) = (self.fabric(), self.router().live());
        let node = fabric.node(n);
        json!({
            "kind": "node",
            "name": fabric.adapter_of(n).name,
            "guid": node.guid.to_string(),
            "lid": node.lid.0,
            "switch": switch_name(fabric, node.switch),
            "switch_guid": fabric.switch(node.switch).guid.to_string(),
            "index": node.switch.at(),
            "switch_port": node.switch_port.0,
            "alive": live.node(n),
            "number": self.setup().routing().orders().node_number(n).number,
        })
    }

    fn cable_details(&self, c: CableIndex) -> Value {
        let (fabric, live) = (self.fabric(), self.router().live());
        let cable = match fabric.cable(c) {
            CableEnds::Switches(cable) => cable,
            CableEnds::Node(n) => return self.node_details(n),
        };
        let rate = fabric.port(cable.a.0, cable.a.1).map(|port| port.rate);
        let rate = rate.filter(|rate| !rate.is_unknown()).map(|rate| rate.to_string());
        let ends = self.setup().drawn_ends(&cable);
        let users = self.users(ends);
        let end = |(s, p): (SwitchIndex, PortNumber), users: &PortUsers| {
            json!({
                "switch": switch_name(fabric, s),
                "guid": fabric.switch(s).guid.to_string(),
                "port": p.0,
                "rank": self.router().preprocessing().ranking.rank(s),
                "a2a": users.flows,
                "destinations": users.destinations.len(),
                "sources": users.sources,
            })
        };
        let first = self.setup().first();
        json!({
            "kind": "cable",
            "index": c.at(),
            "part": part_id(fabric, Part::Cable(c)),
            "name": part_text(fabric, Part::Cable(c)),
            "alive": live.cable(c),
            "failed": self.router().degradation().cable_is_dead(c),
            "is_missing": first.cable_is_dead(c),
            "speed": rate,
            "ends": [end(ends[0], &users[0]), end(ends[1], &users[1])],
        })
    }

    /// Returns which destinations use a cable, in each direction.
    ///
    /// # Errors
    /// If there is no such cable between switches.
    pub fn destinations(&self, cable: &str, limit: usize) -> Result<Value, Problem> {
        let fabric = self.fabric();
        let found = self.setup().find_part(cable)?;
        let not_between = || {
            Problem::Invalid(format!(
                "'{cable}' is no cable between switches; expected SWITCH/PORT"
            ))
        };
        let Part::Cable(c) = found else { return Err(not_between()) };
        let CableEnds::Switches(cable) = fabric.cable(c) else { return Err(not_between()) };
        let ends = self.setup().drawn_ends(&cable);
        let users = self.users(ends);
        let side = |(s, p): (SwitchIndex, PortNumber), users: &PortUsers| {
            let name = |n: &NodeIndex| json!({ "name": fabric.adapter_of(*n).name, "guid": fabric.node(*n).guid.to_string() });
            json!({
                "from": switch_name(fabric, s),
                "port": p.0,
                "destinations": users.destinations.iter().take(limit).map(name).collect::<Vec<_>>(),
                "total": users.destinations.len(),
                "flows": users.flows,
            })
        };
        Ok(json!({ "ends": [side(ends[0], &users[0]), side(ends[1], &users[1])] }))
    }

    /// Returns who uses two directed ports, if everybody sends to everybody else. It follows the tables backwards from
    /// each port: O(#destinations × #switches below or above it).
    fn users(&self, ports: [(SwitchIndex, PortNumber); 2]) -> [PortUsers; 2] {
        ports.map(|(s, p)| self.users_of(s, p))
    }

    fn users_of(&self, s: SwitchIndex, p: PortNumber) -> PortUsers {
        let router = self.router();
        let (live, fabric, tables) = (router.live(), self.fabric(), router.tables());
        let mut users = PortUsers::default();
        let is_alive =
            fabric.port(s, p).and_then(dmodc::fabric::Port::cable).is_some_and(|c| live.cable(c));
        if !is_alive {
            return users;
        }
        let islands = Islands::new(live);
        let mut senders = vec![false; fabric.switches().len()];
        for (column, d) in tables.columns().destinations().iter().enumerate() {
            let End::Node(n) = d.end else { continue };
            let is_meant = d.k == 0 && live.node(n) && !fabric.is_aggregation(n);
            if !is_meant
                || tables.port(s, column) != Some(p)
                || !islands.connect(s, fabric.node(n).switch)
            {
                continue;
            }
            let flows = self.senders_through(s, column, n, &mut senders);
            if flows > 0 {
                users.flows += flows;
                users.destinations.push(n);
            }
        }
        let hosts = |s: SwitchIndex| live.nodes(s).filter(|&n| !fabric.is_aggregation(n)).count();
        users.sources = fabric.switch_indices().filter(|s| senders[s.at()]).map(hosts).sum();
        users
    }

    /// Returns how many nodes send to a node through a switch, and marks their switches. Walks the tree of routes to the
    /// node backwards from the switch.
    fn senders_through(
        &self,
        s: SwitchIndex,
        column: usize,
        to: NodeIndex,
        senders: &mut [bool],
    ) -> u64 {
        let router = self.router();
        let (live, fabric, tables) = (router.live(), self.fabric(), router.tables());
        let mut flows = 0;
        let mut open = vec![s];
        // A loop would never end; no tree is deeper than the number of switches.
        let mut left = fabric.switches().len();
        while let Some(t) = open.pop() {
            let own = live.nodes(t).filter(|&n| n != to && !fabric.is_aggregation(n)).count();
            flows += own as u64;
            senders[t.at()] |= own > 0;
            if left == 0 {
                break;
            }
            left -= 1;
            for (port, peer) in live.links(t) {
                let Peer::Switch(_, back) = live.peer(t, port) else { continue };
                if tables.port(peer, column) == Some(back) && fabric.node(to).switch != peer {
                    open.push(peer);
                }
            }
        }
        flows
    }
}

/// Who uses a directed port.
#[derive(Default)]
struct PortUsers {
    destinations: Vec<NodeIndex>,
    /// Nodes that send over it.
    sources: usize,
    /// Pairs of nodes.
    flows: u64,
}
