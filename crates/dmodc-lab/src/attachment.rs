//! The node on which the programs of a lab run.

use std::cmp::Reverse;

use dmodc::fabric::Peer;
use dmodc::{Fabric, NodeIndex, PortNumber};

/// Where programs are attached to a fabric.
pub(crate) struct Attachment {
    /// The node; `None` if the fabric has none.
    pub(crate) node: Option<NodeIndex>,
    /// For each switch, whether cables connect it with the node.
    pub(crate) sees: Vec<bool>,
}

impl Attachment {
    /// Chooses a node in the connected part with the most nodes, because OpenSM routes only the part that it is in.
    /// A node at the first port of its adapter is preferred, because all programs use that port by default, and a
    /// host to an aggregation node.
    pub(crate) fn of(fabric: &Fabric) -> Self {
        let mut part: Vec<Option<usize>> = vec![None; fabric.switches().len()];
        let mut sizes: Vec<usize> = Vec::new();
        for start in fabric.switch_indices() {
            if part[start.at()].is_some() {
                continue;
            }
            let (number, mut nodes, mut waiting) = (sizes.len(), 0, vec![start]);
            part[start.at()] = Some(number);
            while let Some(s) = waiting.pop() {
                nodes += fabric.nodes_of(s).len();
                for port in fabric.ports_of(s) {
                    if let Peer::Switch(peer, _) = port.peer
                        && part[peer.at()].is_none()
                    {
                        part[peer.at()] = Some(number);
                        waiting.push(peer);
                    }
                }
            }
            sizes.push(nodes);
        }
        let largest = (0..sizes.len()).max_by_key(|&at| (sizes[at], Reverse(at)));
        let sees: Vec<bool> = part.iter().map(|part| *part == largest).collect();
        let nodes = fabric.node_indices().filter(|&n| sees[fabric.node(n).switch.at()]);
        let is_other_port = |n: NodeIndex| fabric.node(n).adapter_port != PortNumber(1);
        let node = nodes.min_by_key(|&n| (is_other_port(n), fabric.is_aggregation(n), n));
        Attachment { node, sees }
    }
}
