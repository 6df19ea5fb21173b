//! The one way to make a [`Fabric`]: every reader and generator goes through here.
//!
//! Devices and cable ends may come in any order; peers are named by GUID and resolved at the end.
//! Each end of a cable is *mentioned* by its own device, as discovery tools print it, and the two
//! mentions must agree. Every [`Inconsistency`] is found once: [`FabricBuilder::finish`] makes it an
//! error, [`FabricBuilder::finish_sound`] leaves out what it touches and keeps the rest.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::{Adapter, Cable, Fabric, Link, Node, Peer, Port, Rate, Switch};
use crate::id::{AdapterIndex, CableIndex, Guid, Lid, NodeIndex, PortNumber, SwitchIndex};

/// The device that an end of a cable belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vertex {
    /// A switch.
    Switch(SwitchIndex),
    /// A channel adapter.
    Adapter(AdapterIndex),
}

/// What can be wrong with a description of a fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Two devices claim one GUID.
    DeviceTwice(Guid),
    /// An adapter's port claims a GUID that another port or a switch has.
    DuplicateGuid(Guid),
    /// A device has more ports than there are port numbers.
    TooManyPorts(Guid, u32),
    /// A cable is in a port that its device does not have.
    NoSuchPort(Guid, PortNumber, u8),
    /// Two cables are in one port.
    PortTwice(Guid, PortNumber),
    /// A cable leads to a device that is nowhere described.
    UnknownPeer(Guid, PortNumber, Guid),
    /// The port at the other end does not say that it is cabled back.
    OneSided(Guid, PortNumber, Guid, PortNumber),
    /// A cable leads back into its own switch.
    SelfLoop(Guid, PortNumber),
    /// A cable joins two adapters, with no switch between.
    NoSwitch(Guid, PortNumber, Guid),
    /// An adapter's port is cabled, but its GUID was never given.
    NoPortGuid(Guid, PortNumber),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Problem::DeviceTwice(g) => write!(f, "device {g} is described twice"),
            Problem::DuplicateGuid(g) => write!(f, "GUID {g} is given twice"),
            Problem::TooManyPorts(g, n) => {
                write!(f, "{g} has {n} ports; at most {} are possible", PortNumber::MAX)
            }
            Problem::NoSuchPort(g, p, n) => write!(f, "{g} has {n} ports, but port {p} is cabled"),
            Problem::PortTwice(g, p) => write!(f, "two cables are in port {p} of {g}"),
            Problem::UnknownPeer(g, p, peer) => {
                write!(f, "port {p} of {g} is cabled to {peer}, which is not described")
            }
            Problem::OneSided(g, p, peer, q) => write!(
                f,
                "port {p} of {g} is cabled to port {q} of {peer}, but that port does not say so"
            ),
            Problem::SelfLoop(g, p) => write!(f, "port {p} of {g} is cabled to its own switch"),
            Problem::NoSwitch(g, p, peer) => {
                write!(f, "port {p} of {g} is cabled to {peer}: neither is a switch")
            }
            Problem::NoPortGuid(g, p) => write!(f, "port {p} of {g} has no port GUID"),
        }
    }
}

/// A problem, and the line of the input it was found in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inconsistency {
    /// Line number, from 1; 0 where the fabric does not come from text.
    pub line: u32,
    /// What is wrong.
    pub problem: Problem,
}

/// All that is wrong with a fabric, in the order of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    /// Every inconsistency; never empty.
    pub inconsistencies: Vec<Inconsistency>,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inconsistencies[0].problem.fmt(f)?;
        match self.inconsistencies.len() {
            1 => Ok(()),
            2 => write!(f, " (and one more problem)"),
            n => write!(f, " (and {} more problems)", n - 1),
        }
    }
}

impl std::error::Error for BuildError {}

/// One end of a cable, as its own device tells it.
struct Mention {
    from: Vertex,
    port: PortNumber,
    to: Guid,
    to_port: PortNumber,
    rate: Rate,
    line: u32,
}

/// What an adapter says of one of its ports.
struct EndPort {
    adapter: AdapterIndex,
    port: PortNumber,
    guid: Guid,
    lid: Lid,
    lmc: u8,
    line: u32,
}

/// Collects devices and cable ends, then makes the fabric. See the [module](super).
#[derive(Default)]
pub struct FabricBuilder {
    switches: Vec<Switch>,
    adapters: Vec<Adapter>,
    end_ports: Vec<EndPort>,
    mentions: Vec<Mention>,
    vertices: HashMap<Guid, Vertex>,
    line: u32,
    problems: Vec<Inconsistency>,
}

impl FabricBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// What is told from here on stands in this line of the input.
    pub fn at_line(&mut self, line: u32) {
        self.line = line;
    }

    /// Adds a switch.
    ///
    /// # Panics
    /// If its LID is over 31 bits.
    pub fn switch(&mut self, mut switch: Switch) -> Vertex {
        assert!(switch.lid.0 < 1 << 31, "a reader checks LIDs");
        let vertex = Vertex::Switch(SwitchIndex::new(self.switches.len()));
        if let Some(first) = self.device(switch.guid, switch.ports, vertex) {
            return first;
        }
        switch.ports = switch.ports.min(PortNumber::MAX.0);
        self.switches.push(switch);
        vertex
    }

    /// Adds a channel adapter.
    pub fn adapter(&mut self, adapter: Adapter) -> Vertex {
        let vertex = Vertex::Adapter(AdapterIndex::new(self.adapters.len()));
        if let Some(first) = self.device(adapter.guid, adapter.ports, vertex) {
            return first;
        }
        self.adapters.push(adapter);
        vertex
    }

    /// Tells GUID and LIDs of an adapter's port. A switch has none but its own: nothing is kept.
    ///
    /// # Panics
    /// If `lmc` is over 7, InfiniBand's greatest, or the LID over 31 bits.
    pub fn end_port(&mut self, of: Vertex, port: PortNumber, guid: Guid, lid: Lid, lmc: u8) {
        assert!(lmc <= 7 && lid.0 < 1 << 31, "a reader checks LIDs");
        if let Vertex::Adapter(adapter) = of {
            let line = self.line;
            self.end_ports.push(EndPort { adapter, port, guid, lid, lmc, line });
        }
    }

    /// Tells one end of a cable: port `port` of `from` is cabled to port `to_port` of the device `to`.
    pub fn mention(
        &mut self,
        from: Vertex,
        port: PortNumber,
        to: Guid,
        to_port: PortNumber,
        rate: Rate,
    ) {
        let line = self.line;
        self.mentions.push(Mention { from, port, to, to_port, rate, line });
    }

    /// Tells both ends of a cable.
    pub fn cable(&mut self, a: (Vertex, PortNumber), b: (Vertex, PortNumber), rate: Rate) {
        let (guid_a, guid_b) = (self.guid(a.0), self.guid(b.0));
        self.mention(a.0, a.1, guid_b, b.1, rate);
        self.mention(b.0, b.1, guid_a, a.1, rate);
    }

    /// Registers a device, unless its GUID is known: then the first one stands for both.
    fn device(&mut self, guid: Guid, ports: u8, vertex: Vertex) -> Option<Vertex> {
        if let Some(&first) = self.vertices.get(&guid) {
            self.problem(self.line, Problem::DeviceTwice(guid));
            return Some(first);
        }
        self.vertices.insert(guid, vertex);
        if ports > PortNumber::MAX.0 {
            self.problem(self.line, Problem::TooManyPorts(guid, ports.into()));
        }
        None
    }

    fn problem(&mut self, line: u32, problem: Problem) {
        self.problems.push(Inconsistency { line, problem });
    }

    fn guid(&self, vertex: Vertex) -> Guid {
        match vertex {
            Vertex::Switch(s) => self.switches[s.at()].guid,
            Vertex::Adapter(a) => self.adapters[a.at()].guid,
        }
    }

    fn port_count(&self, vertex: Vertex) -> u8 {
        match vertex {
            Vertex::Switch(s) => self.switches[s.at()].ports,
            Vertex::Adapter(a) => self.adapters[a.at()].ports,
        }
    }

    /// The fabric, if all that was told agrees.
    ///
    /// # Errors
    /// Every inconsistency, each once, in the order of the input.
    pub fn finish(self) -> Result<Fabric, BuildError> {
        match self.finish_sound() {
            (fabric, inconsistencies) if inconsistencies.is_empty() => Ok(fabric),
            (_, inconsistencies) => Err(BuildError { inconsistencies }),
        }
    }

    /// The fabric of all that agrees: cables whose ends do not agree are left out, of a device that is
    /// described twice the first description holds. With it come all inconsistencies, in the order of
    /// the input.
    pub fn finish_sound(mut self) -> (Fabric, Vec<Inconsistency>) {
        let slots = self.slots();
        let mut cables = self.match_ends(&slots);
        let nodes = self.nodes(&slots, &mut cables);
        self.problems.sort_by_key(|p| p.line);
        (assemble(self.switches, self.adapters, nodes, &cables), self.problems)
    }

    /// Where each cabled port is mentioned. A device has at most 254 ports, so the array is bounded
    /// by the input.
    fn slots(&mut self) -> Slots {
        let counts =
            self.switches.iter().map(|s| s.ports).chain(self.adapters.iter().map(|a| a.ports));
        let first = starts(counts.map(u32::from));
        let mention = vec![Slots::EMPTY; first[first.len() - 1] as usize];
        let mut slots = Slots { first, mention, switches: self.switches.len() };
        for at in 0..self.mentions.len() {
            let Mention { from, port, line, .. } = self.mentions[at];
            match slots.slot(from, port) {
                None => {
                    let count = self.port_count(from);
                    self.problem(line, Problem::NoSuchPort(self.guid(from), port, count));
                }
                Some(slot) if slots.mention[slot] != Slots::EMPTY => {
                    let first = &self.mentions[slots.mention[slot] as usize];
                    let (to, to_port) = (self.mentions[at].to, self.mentions[at].to_port);
                    // A device that is described twice tells its cables twice.
                    if (first.to, first.to_port) != (to, to_port) {
                        self.problem(line, Problem::PortTwice(self.guid(from), port));
                    }
                }
                Some(slot) => slots.mention[slot] = at as u32,
            }
        }
        slots
    }

    /// Joins the mentions of both ends into cables; those with a switch come with the switch first.
    fn match_ends(&mut self, slots: &Slots) -> Vec<Joined> {
        let mut cables = Vec::with_capacity(self.mentions.len() / 2);
        for at in 0..self.mentions.len() {
            let Mention { from, port, to, to_port, rate, line } = self.mentions[at];
            if slots.get(from, port) != Some(at) {
                continue;
            }
            let guid = self.guid(from);
            let Some(&peer) = self.vertices.get(&to) else {
                self.problem(line, Problem::UnknownPeer(guid, port, to));
                continue;
            };
            let back = slots.get(peer, to_port).map(|at| &self.mentions[at]);
            if !back.is_some_and(|b| b.to == guid && b.to_port == port) {
                self.problem(line, Problem::OneSided(guid, port, to, to_port));
                continue;
            }
            match (from, peer) {
                (Vertex::Switch(a), Vertex::Switch(b)) if a == b => {
                    self.problem(line, Problem::SelfLoop(guid, port));
                }
                (Vertex::Switch(a), Vertex::Switch(b)) if a < b => {
                    cables.push(Joined { switch: (a, port), peer: (peer, to_port), rate, line });
                }
                (Vertex::Switch(a), Vertex::Adapter(_)) => {
                    cables.push(Joined { switch: (a, port), peer: (peer, to_port), rate, line });
                }
                (Vertex::Adapter(a), Vertex::Adapter(b)) if (a, port) <= (b, to_port) => {
                    self.problem(line, Problem::NoSwitch(guid, port, to));
                }
                // The other end of the same cable tells the rest.
                _ => {}
            }
        }
        cables
    }

    /// The nodes: adapter ports that are cabled to a switch, in the order they were told. Cables of
    /// ports that cannot be nodes are taken out.
    fn nodes(&mut self, slots: &Slots, cables: &mut Vec<Joined>) -> Vec<Node> {
        let slot_of =
            |c: &Joined| slots.slot(c.peer.0, c.peer.1).expect("the ports of a joined cable exist");
        let mut at_switch = vec![None; slots.mention.len()];
        for c in cables.iter().filter(|c| matches!(c.peer.0, Vertex::Adapter(_))) {
            at_switch[slot_of(c)] = Some(c.switch);
        }
        let mut nodes = Vec::with_capacity(self.end_ports.len());
        let mut seen = HashSet::with_capacity(self.end_ports.len());
        let mut refused = HashSet::new();
        for e in std::mem::take(&mut self.end_ports) {
            let slot = slots.slot(Vertex::Adapter(e.adapter), e.port);
            let Some((slot, (switch, switch_port))) =
                slot.and_then(|slot| Some((slot, at_switch[slot]?)))
            else {
                continue;
            };
            // Tables name destinations by these GUIDs, nodes and switches alike.
            let is_switch = matches!(self.vertices.get(&e.guid), Some(Vertex::Switch(_)));
            if is_switch || !seen.insert(e.guid) {
                self.problem(e.line, Problem::DuplicateGuid(e.guid));
                refused.insert(slot);
                continue;
            }
            at_switch[slot] = None;
            nodes.push(Node {
                adapter: e.adapter,
                adapter_port: e.port,
                guid: e.guid,
                lid: e.lid,
                lmc: e.lmc,
                switch,
                switch_port,
            });
        }
        let mut nameless = Vec::new();
        cables.retain(|c| {
            let slot = slot_of(c);
            if at_switch[slot].is_some() && !refused.contains(&slot) {
                nameless.push((c.line, c.peer));
            }
            at_switch[slot].is_none()
        });
        for (line, (vertex, port)) in nameless {
            self.problem(line, Problem::NoPortGuid(self.guid(vertex), port));
        }
        nodes
    }
}

/// One place for each port of each device: the switches' first, then the adapters'.
struct Slots {
    first: Vec<u32>,
    mention: Vec<u32>,
    switches: usize,
}

impl Slots {
    const EMPTY: u32 = u32::MAX;

    fn slot(&self, vertex: Vertex, port: PortNumber) -> Option<usize> {
        let device = match vertex {
            Vertex::Switch(s) => s.at(),
            Vertex::Adapter(a) => self.switches + a.at(),
        };
        let at = self.first[device] as usize + usize::from(port.0);
        (port.0 > 0 && at <= self.first[device + 1] as usize).then(|| at - 1)
    }

    /// The mention of a port, if there is one.
    fn get(&self, vertex: Vertex, port: PortNumber) -> Option<usize> {
        let mention = self.mention[self.slot(vertex, port)?];
        (mention != Self::EMPTY).then_some(mention as usize)
    }
}

/// A cable whose ends agree.
struct Joined {
    switch: (SwitchIndex, PortNumber),
    peer: (Vertex, PortNumber),
    rate: Rate,
    line: u32,
}

/// Lays out the arrays. Everything has been checked before.
fn assemble(
    switches: Vec<Switch>,
    adapters: Vec<Adapter>,
    nodes: Vec<Node>,
    joined: &[Joined],
) -> Fabric {
    let port_start = starts(switches.iter().map(|s| u32::from(s.ports)));
    let slot =
        |(s, p): (SwitchIndex, PortNumber)| port_start[s.at()] as usize + usize::from(p.0) - 1;
    let total = port_start[switches.len()] as usize;
    let nothing = Port { peer: Peer::None, cable: CableIndex::new(0), rate: Rate::default() };
    let mut ports = vec![nothing; total];

    let mut cables: Vec<(Cable, Rate)> = joined
        .iter()
        .filter_map(|j| match j.peer {
            (Vertex::Switch(other), port) => {
                Some((Cable { a: j.switch, b: (other, port) }, j.rate))
            }
            _ => None,
        })
        .collect();
    cables.sort_unstable_by_key(|(cable, _)| cable.a);
    for (at, &(Cable { a, b }, rate)) in cables.iter().enumerate() {
        let cable = CableIndex::new(at);
        ports[slot(a)] = Port { peer: Peer::Switch(b.0, b.1), cable, rate };
        ports[slot(b)] = Port { peer: Peer::Switch(a.0, a.1), cable, rate };
    }
    for j in joined.iter().filter(|j| matches!(j.peer.0, Vertex::Adapter(_))) {
        ports[slot(j.switch)].rate = j.rate;
    }
    for (at, node) in nodes.iter().enumerate() {
        let port = &mut ports[slot((node.switch, node.switch_port))];
        port.peer = Peer::Node(NodeIndex::new(at));
        port.cable = CableIndex::new(cables.len() + at);
    }

    let mut per_switch = vec![0; switches.len()];
    for node in &nodes {
        per_switch[node.switch.at()] += 1;
    }
    let node_start = starts(per_switch.into_iter());
    let mut nodes_by_switch: Vec<NodeIndex> = (0..nodes.len()).map(NodeIndex::new).collect();
    nodes_by_switch.sort_unstable_by_key(|n| {
        let node = &nodes[n.at()];
        (node.switch, node.switch_port)
    });
    let cables = cables.into_iter().map(|(cable, _)| cable).collect();
    let (links, link_start) = links(&port_start, &ports);
    Fabric {
        switches,
        adapters,
        nodes,
        port_start,
        ports,
        cables,
        nodes_by_switch,
        node_start,
        links,
        link_start,
    }
}

/// The links of every switch by peer, and where those of each start.
fn links(port_start: &[u32], ports: &[Port]) -> (Vec<Link>, Vec<u32>) {
    let mut links = Vec::new();
    let mut link_start = vec![0];
    for bounds in port_start.windows(2) {
        let first = links.len();
        for (at, port) in ports[bounds[0] as usize..bounds[1] as usize].iter().enumerate() {
            if let Peer::Switch(peer, _) = port.peer {
                links.push(Link { peer, port: PortNumber(at as u8 + 1), cable: port.cable });
            }
        }
        links[first..].sort_unstable();
        link_start.push(links.len() as u32);
    }
    (links, link_start)
}

/// Where each of consecutive runs of the given lengths starts, and where the last ends.
fn starts(lengths: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut sum = 0u32;
    std::iter::once(0)
        .chain(lengths.map(|n| {
            sum = sum.checked_add(n).expect("a fabric has fewer than 2^32 ports");
            sum
        }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{AdapterKind, Product};
    use super::*;

    fn switch(guid: u64, ports: u8) -> Switch {
        Switch {
            guid: Guid(guid),
            lid: Lid(0),
            ports,
            name: format!("s{guid}").into(),
            product: Product::default(),
        }
    }

    fn host(guid: u64, ports: u8) -> Adapter {
        Adapter {
            guid: Guid(guid),
            ports,
            kind: AdapterKind::Host,
            name: format!("h{guid}").into(),
            product: Product::default(),
        }
    }

    /// Two switches, a cable and a node; then what `spoil` adds.
    fn problems(spoil: impl FnOnce(&mut FabricBuilder, [Vertex; 3])) -> Vec<Problem> {
        let mut b = FabricBuilder::new();
        let (a, c, h) = (b.switch(switch(1, 4)), b.switch(switch(2, 4)), b.adapter(host(3, 2)));
        b.cable((a, PortNumber(1)), (c, PortNumber(1)), Rate::NDR);
        b.end_port(h, PortNumber(1), Guid(4), Lid(1), 0);
        b.cable((h, PortNumber(1)), (a, PortNumber(2)), Rate::NDR);
        spoil(&mut b, [a, c, h]);
        match b.finish() {
            Ok(_) => vec![],
            Err(e) => e.inconsistencies.into_iter().map(|i| i.problem).collect(),
        }
    }

    #[test]
    fn a_consistent_fabric_has_no_problems() {
        assert_eq!(problems(|_, _| {}), []);
    }

    #[test]
    fn each_problem_is_found_once_and_named() {
        let (g1, g2, g3) = (Guid(1), Guid(2), Guid(3));
        let (p1, p2, p3) = (PortNumber(1), PortNumber(2), PortNumber(3));
        let rate = Rate::NDR;
        assert!(
            problems(|b, _| {
                b.switch(switch(1, 4));
            })
            .contains(&Problem::DeviceTwice(g1))
        );
        assert_eq!(
            problems(|b, [a, c, _]| b.cable((a, PortNumber(9)), (c, p2), rate))[0],
            Problem::NoSuchPort(g1, PortNumber(9), 4)
        );
        assert_eq!(
            problems(|b, [a, c, _]| b.cable((a, p1), (c, p2), rate))[0],
            Problem::PortTwice(g1, p1)
        );
        assert_eq!(
            problems(|b, [a, ..]| b.mention(a, p3, Guid(77), p1, rate)),
            [Problem::UnknownPeer(g1, p3, Guid(77))]
        );
        assert_eq!(
            problems(|b, [a, ..]| b.mention(a, p3, g2, p3, rate)),
            [Problem::OneSided(g1, p3, g2, p3)]
        );
        let looped = problems(|b, [a, ..]| b.cable((a, p3), (a, PortNumber(4)), rate));
        assert_eq!(looped, [Problem::SelfLoop(g1, p3), Problem::SelfLoop(g1, PortNumber(4))]);
        assert_eq!(
            problems(|b, [_, _, h]| {
                let other = b.adapter(host(9, 1));
                b.cable((h, p2), (other, p1), rate);
            }),
            [Problem::NoSwitch(g3, p2, Guid(9))]
        );
        assert_eq!(
            problems(|b, [_, c, h]| b.cable((h, p2), (c, p2), rate)),
            [Problem::NoPortGuid(g3, p2)]
        );
        assert_eq!(
            problems(|b, [_, c, h]| {
                b.end_port(h, p2, Guid(4), Lid(2), 0);
                b.cable((h, p2), (c, p2), rate);
            }),
            [Problem::DuplicateGuid(Guid(4))]
        );
        assert_eq!(
            problems(|b, [_, c, h]| {
                b.end_port(h, p2, g2, Lid(2), 0);
                b.cable((h, p2), (c, p2), rate);
            }),
            [Problem::DuplicateGuid(g2)]
        );
        assert_eq!(
            problems(|b, _| {
                b.switch(switch(5, 255));
            }),
            [Problem::TooManyPorts(Guid(5), 255)]
        );
    }
}
