//! Who of a reference is who now.

use std::collections::HashMap;

use super::super::{Cable, Fabric, Peer};
use crate::id::{Guid, NodeIndex, PortNumber, SwitchIndex};

/// Both fabrics, and who is who.
pub(super) struct Matched<'a> {
    pub(super) reference: &'a Fabric,
    pub(super) present: &'a Fabric,
    /// How many switches have the GUID that they had.
    pub(super) known: usize,
    /// For each switch of the reference the one of now, and the other way round.
    pub(super) switches: Vec<Option<SwitchIndex>>,
    pub(super) were: Vec<Option<SwitchIndex>>,
    /// For each node of the reference the one of now, and the other way round.
    pub(super) nodes: Vec<Option<NodeIndex>>,
    pub(super) nodes_were: Vec<Option<NodeIndex>>,
    /// Who is replaced by whom.
    pub(super) renamed: HashMap<Guid, Guid>,
}

/// What the reference has in place of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Was {
    Same,
    /// Another cable, or a node, in at least one of its ports.
    Other,
    Nothing,
}

impl<'a> Matched<'a> {
    pub(super) fn new(reference: &'a Fabric, present: &'a Fabric) -> Self {
        let switches: HashMap<Guid, SwitchIndex> =
            present.switch_indices().map(|s| (present.switch(s).guid, s)).collect();
        let nodes: HashMap<Guid, NodeIndex> =
            present.node_indices().map(|n| (present.node(n).guid, n)).collect();
        let mut matched = Matched {
            reference,
            present,
            known: 0,
            switches: vec![None; reference.switches().len()],
            were: vec![None; present.switches().len()],
            nodes: vec![None; reference.nodes().len()],
            nodes_were: vec![None; present.nodes().len()],
            renamed: HashMap::new(),
        };
        for s in reference.switch_indices() {
            if let Some(&now) = switches.get(&reference.switch(s).guid) {
                matched.is_switch(s, now);
                matched.known += 1;
            }
        }
        for n in reference.node_indices() {
            if let Some(&now) = nodes.get(&reference.node(n).guid) {
                matched.is_node(n, now);
            }
        }
        // Who is found may be the neighbour by which others are.
        while matched.replace_switches() {}
        matched.replace_nodes();
        matched
    }

    fn is_switch(&mut self, s: SwitchIndex, now: SwitchIndex) {
        self.switches[s.at()] = Some(now);
        self.were[now.at()] = Some(s);
    }

    fn is_node(&mut self, n: NodeIndex, now: NodeIndex) {
        self.nodes[n.at()] = Some(now);
        self.nodes_were[now.at()] = Some(n);
    }

    /// Returns what the reference has in a port of the present.
    pub(super) fn before(&self, (s, p): (SwitchIndex, PortNumber)) -> Peer {
        let port = self.were[s.at()].and_then(|was| self.reference.port(was, p));
        port.map_or(Peer::None, |port| port.peer)
    }

    /// Returns what the reference has in place of a cable of the present.
    pub(super) fn was(&self, cable: &Cable) -> Was {
        let other_end = self.were[cable.b.0.at()].map(|b| Peer::Switch(b, cable.b.1));
        match (self.before(cable.a), self.before(cable.b)) {
            (Peer::None, Peer::None) => Was::Nothing,
            (peer, _) if Some(peer) == other_end => Was::Same,
            _ => Was::Other,
        }
    }

    /// Returns how many cables of the present are where the reference has them, and how many are where it has others.
    pub(super) fn count_cables(&self) -> (usize, usize) {
        let all = self.present.inter_switch_cables().iter().map(|cable| self.was(cable));
        all.fold((0, 0), |(same, other), was| match was {
            Was::Same => (same + 1, other),
            Was::Other => (same, other + 1),
            Was::Nothing => (same, other),
        })
    }

    /// Finds switches that stand for others: all their cables that are in used ports are in those of one
    /// switch, which is absent; they have at least half as many as that had; and no other claims it. Says
    /// whether there are any.
    fn replace_switches(&mut self) -> bool {
        let mut claims: HashMap<SwitchIndex, Vec<SwitchIndex>> = HashMap::new();
        for s in self.present.switch_indices().filter(|s| self.were[s.at()].is_none()) {
            if let Some(absent) = self.predecessor(s) {
                claims.entry(absent).or_default().push(s);
            }
        }
        claims.retain(|_, claimants| claimants.len() == 1);
        for (&absent, claimants) in &claims {
            let guid = self.present.switch(claimants[0]).guid;
            self.renamed.insert(self.reference.switch(absent).guid, guid);
            self.is_switch(absent, claimants[0]);
        }
        !claims.is_empty()
    }

    fn predecessor(&self, s: SwitchIndex) -> Option<SwitchIndex> {
        let mut found = None;
        let mut cables = 0;
        for port in self.present.ports_of(s) {
            let Peer::Switch(peer, peer_port) = port.peer else { continue };
            match self.before((peer, peer_port)) {
                Peer::None => {}
                Peer::Switch(was, _) if found.is_none_or(|found| found == was) => {
                    found = Some(was);
                    cables += 1;
                }
                _ => return None,
            }
        }
        let absent = found.filter(|was| self.switches[was.at()].is_none())?;
        (2 * cables >= self.reference.links_of(absent).len()).then_some(absent)
    }

    /// Finds nodes in the ports of absent ones of their kind.
    fn replace_nodes(&mut self) {
        for now in self.present.node_indices() {
            if self.nodes_were[now.at()].is_some() {
                continue;
            }
            let node = self.present.node(now);
            let Peer::Node(was) = self.before((node.switch, node.switch_port)) else { continue };
            let is_like_it =
                self.reference.adapter_of(was).kind == self.present.adapter_of(now).kind;
            if self.nodes[was.at()].is_none() && is_like_it {
                self.renamed.insert(self.reference.node(was).guid, node.guid);
                self.is_node(was, now);
            }
        }
    }
}
