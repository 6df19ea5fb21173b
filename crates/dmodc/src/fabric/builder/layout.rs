//! Lays a checked description out as the flat arrays of a [`Fabric`].
//!
//! Example: switches with 4, 2 and 3 ports have `port_start = [0, 4, 6, 9]`, and port 2 of the second switch is
//! `ports[port_start[1] + 2 - 1]`, which is `ports[5]`. Nodes by switch and links by switch are stored in the same
//! way.

use super::Vertex;
use super::cables::MatchedCable;
use super::starts::starts;
use crate::fabric::{Adapter, Cable, Fabric, Link, Node, Peer, Port, Rate, Switch, cabling_of};
use crate::id::{CableIndex, NodeIndex, PortNumber, SwitchIndex};

/// Makes the fabric. Everything has been checked before.
pub(super) fn assemble(
    switches: Vec<Switch>,
    adapters: Vec<Adapter>,
    nodes: Vec<Node>,
    matched: &[MatchedCable],
) -> Fabric {
    let port_start = starts(switches.iter().map(|s| u32::from(s.ports)));
    let slot =
        |(s, p): (SwitchIndex, PortNumber)| port_start[s.at()] as usize + usize::from(p.0) - 1;
    let total = port_start[switches.len()] as usize;
    let uncabled = Port { peer: Peer::None, cable: CableIndex::new(0), rate: Rate::default() };
    let mut ports = vec![uncabled; total];

    let mut cables: Vec<(Cable, Rate)> = matched
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
    for j in matched.iter().filter(|j| matches!(j.peer.0, Vertex::Adapter(_))) {
        ports[slot(j.switch)].rate = j.rate;
    }
    for (at, node) in nodes.iter().enumerate() {
        let port = &mut ports[slot((node.switch, node.switch_port))];
        port.peer = Peer::Node(NodeIndex::new(at));
        port.cable = CableIndex::new(cables.len() + at);
    }

    let (nodes_by_switch, node_start) = nodes_by_switch(switches.len(), &nodes);
    let cables: Vec<Cable> = cables.into_iter().map(|(cable, _)| cable).collect();
    let (links, link_start) = links(&port_start, &ports);
    let cabling = cabling_of(switches.len(), &cables, &nodes);
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
        cabling,
    }
}

/// Returns the nodes sorted by switch, then by switch port, and where those of each switch start.
fn nodes_by_switch(switches: usize, nodes: &[Node]) -> (Vec<NodeIndex>, Vec<u32>) {
    let mut per_switch = vec![0; switches];
    for node in nodes {
        per_switch[node.switch.at()] += 1;
    }
    let node_start = starts(per_switch.into_iter());
    let mut nodes_by_switch: Vec<NodeIndex> = (0..nodes.len()).map(NodeIndex::new).collect();
    nodes_by_switch.sort_unstable_by_key(|n| {
        let node = &nodes[n.at()];
        (node.switch, node.switch_port)
    });
    (nodes_by_switch, node_start)
}

/// Returns the links of all switches, those of one switch sorted by peer, and where the links of each switch start.
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
