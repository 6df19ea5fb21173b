//! A fabric: switches, channel adapters, nodes and the cables between them.
//!
//! [`Fabric`] is immutable and flat: dense indices, one array per kind of thing, and one array of all switch ports
//! (`ports[port_start[s] + p - 1]` is port `p` of switch `s`). It is made by [`FabricBuilder`] alone, which checks
//! everything once, so that no later code can meet a one-sided cable or a port that does not exist. Methods such as
//! [`Fabric::with_hosts_aside`] consume a fabric and return another one. Faults never change a fabric: a [`Degradation`]
//! is a mask next to it, and [`Live`] is the two together.

mod builder;
mod degrade;
mod directors;
mod drawing;
mod find;
mod join;
mod lids;
mod live;
mod numbers;
mod part;
mod pgft;
mod pods;
mod presets;
mod rate;
mod shape;
mod with_cables;
mod without;

pub use builder::{BuildError, FabricBuilder, Inconsistency, Problem, Vertex};
pub use degrade::Degradation;
pub use directors::{Directors, Spread};
pub use find::{FindError, Found};
pub(crate) use join::replaced_switches;
pub use join::{Changes, Counts, Joined, OtherFabric};
pub(crate) use lids::LidOwner;
pub use live::Live;
pub use numbers::NumbersError;
pub(crate) use numbers::Written;
pub use part::Part;
pub use pgft::{GuidOrder, Pgft, PgftError};
pub use pods::Pods;
pub use presets::{PRESETS, Preset};
pub use rate::{ParseRateError, Rate, Speed};
pub use shape::Shape;

use crate::id::{AdapterIndex, CableIndex, Guid, Lid, NodeIndex, PortNumber, SwitchIndex};

/// The make of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Product {
    /// The vendor's number.
    pub vendor: u32,
    /// The vendor's number for the kind of device.
    pub device: u32,
    /// The GUID of the chassis the device sits in.
    pub system: Guid,
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Its GUID.
    pub guid: Guid,
    /// Its own LID: a switch is a destination, too.
    pub lid: Lid,
    /// Its number of ports, cabled or not.
    pub ports: u8,
    /// Its description.
    pub name: Box<str>,
    /// Its make.
    pub product: Product,
}

/// The purpose of an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdapterKind {
    /// A host's channel adapter.
    Host,
    /// The aggregation node inside a switch. It is routed to, but is no host and makes no leaf.
    Aggregation,
    /// A router to another subnet, which is routed to like a host.
    Router,
    /// A host that an operator set aside. It is routed to, but makes no leaf.
    Aside,
}

/// A channel adapter: one device with one or several end ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adapter {
    /// Its GUID (the node GUID; each port has one of its own).
    pub guid: Guid,
    /// Its number of ports, cabled or not.
    pub ports: u8,
    /// Its purpose.
    pub kind: AdapterKind,
    /// Its description.
    pub name: Box<str>,
    /// Its make.
    pub product: Product,
}

/// A node: a cabled end port of an adapter. Sources and destinations are nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The adapter it is a port of.
    pub adapter: AdapterIndex,
    /// Its number on the adapter.
    pub adapter_port: PortNumber,
    /// Its port GUID.
    pub guid: Guid,
    /// Its base LID.
    pub lid: Lid,
    /// It has 2^lmc LIDs.
    pub lmc: u8,
    /// λ: the switch it is cabled to.
    pub switch: SwitchIndex,
    /// The port of that switch.
    pub switch_port: PortNumber,
}

/// The other end of a switch port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// No cable.
    None,
    /// A port of a switch.
    Switch(SwitchIndex, PortNumber),
    /// A node.
    Node(NodeIndex),
}

/// A switch port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its other end.
    pub peer: Peer,
    /// The cable; any number if `peer` is none.
    cable: CableIndex,
    /// The rate of the cable.
    pub rate: Rate,
}

impl Port {
    /// Returns the cable in this port, if there is one.
    pub fn cable(&self) -> Option<CableIndex> {
        (self.peer != Peer::None).then_some(self.cable)
    }
}

/// A cable between two switches; `a` is the lesser end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cable {
    /// One end.
    pub a: (SwitchIndex, PortNumber),
    /// The other end.
    pub b: (SwitchIndex, PortNumber),
}

/// The ends of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CableEnds {
    /// Two switches.
    Switches(Cable),
    /// A node and its switch.
    Node(NodeIndex),
}

/// One end of a cable between two switches, seen from that end's switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Link {
    /// The switch at the other end.
    pub(crate) peer: SwitchIndex,
    /// The own port.
    pub(crate) port: PortNumber,
    pub(crate) cable: CableIndex,
}

/// An immutable fabric. See the [module documentation](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fabric {
    switches: Vec<Switch>,
    adapters: Vec<Adapter>,
    nodes: Vec<Node>,
    port_start: Vec<u32>,
    ports: Vec<Port>,
    cables: Vec<Cable>,
    /// Nodes by switch, then by switch port; those of switch `s` start at `node_start[s]`.
    nodes_by_switch: Vec<NodeIndex>,
    node_start: Vec<u32>,
    /// The cables between switches, from each end: those of switch `s` start at `link_start[s]`, sorted by peer.
    links: Vec<Link>,
    link_start: Vec<u32>,
    /// Identifies the cabling: see [`cabling_of`].
    cabling: u64,
}

/// Returns a number that fabrics with the same switches and cables, in the same order, share, and that others as good as
/// never have (FNV-1a over the ends of all cables). Faults are a mask over that order, so they belong to one cabling.
fn cabling_of(switches: usize, cables: &[Cable], nodes: &[Node]) -> u64 {
    let mix = |hash: u64, value: u64| (hash ^ value).wrapping_mul(0x0000_0100_0000_01b3);
    let end = |(s, p): (SwitchIndex, PortNumber)| (s.at() as u64) << 8 | u64::from(p.0);
    let hash = mix(0xcbf2_9ce4_8422_2325, switches as u64);
    let hash = cables.iter().fold(hash, |hash, cable| mix(mix(hash, end(cable.a)), end(cable.b)));
    nodes.iter().fold(hash, |hash, node| mix(hash, end((node.switch, node.switch_port))))
}

impl Fabric {
    /// Returns all switches.
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// Returns all channel adapters, aggregation nodes among them.
    pub fn adapters(&self) -> &[Adapter] {
        &self.adapters
    }

    /// Returns all nodes, aggregation nodes among them.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns all cables between switches. (The cable of a node is part of its [`Node`].)
    pub fn inter_switch_cables(&self) -> &[Cable] {
        &self.cables
    }

    /// Returns the number of cables: those between switches and one for each node.
    pub fn cable_count(&self) -> usize {
        self.cables.len() + self.nodes.len()
    }

    /// Returns the indices of all switches.
    pub fn switch_indices(&self) -> impl ExactSizeIterator<Item = SwitchIndex> + Clone + use<> {
        (0..self.switches.len()).map(SwitchIndex::new)
    }

    /// Returns the indices of all nodes.
    pub fn node_indices(&self) -> impl ExactSizeIterator<Item = NodeIndex> + Clone + use<> {
        (0..self.nodes.len()).map(NodeIndex::new)
    }

    /// Returns a switch.
    #[inline]
    pub fn switch(&self, s: SwitchIndex) -> &Switch {
        &self.switches[s.at()]
    }

    /// Returns a node.
    #[inline]
    pub fn node(&self, n: NodeIndex) -> &Node {
        &self.nodes[n.at()]
    }

    /// Returns the adapter of a node.
    pub fn adapter_of(&self, n: NodeIndex) -> &Adapter {
        &self.adapters[self.node(n).adapter.at()]
    }

    /// Returns whether a node is the aggregation node of a switch.
    pub fn is_aggregation(&self, n: NodeIndex) -> bool {
        self.adapter_of(n).kind == AdapterKind::Aggregation
    }

    /// Returns port `p` of switch `s`; `None` if the switch has no such port.
    #[inline]
    pub fn port(&self, s: SwitchIndex, p: PortNumber) -> Option<&Port> {
        self.ports_of(s).get(usize::from(p.0).wrapping_sub(1))
    }

    /// Returns all ports of a switch; port 1 comes first.
    #[inline]
    pub fn ports_of(&self, s: SwitchIndex) -> &[Port] {
        &self.ports[self.port_start[s.at()] as usize..self.port_start[s.at() + 1] as usize]
    }

    /// Returns the nodes cabled to a switch, by switch port.
    pub fn nodes_of(&self, s: SwitchIndex) -> &[NodeIndex] {
        &self.nodes_by_switch
            [self.node_start[s.at()] as usize..self.node_start[s.at() + 1] as usize]
    }

    /// Returns the cables of a switch to other switches, dead or alive, sorted by peer, then port.
    #[inline]
    pub(crate) fn links_of(&self, s: SwitchIndex) -> &[Link] {
        &self.links[self.link_start[s.at()] as usize..self.link_start[s.at() + 1] as usize]
    }

    /// Returns where the links of each switch start in an array of all links, and where the last one ends.
    pub(crate) fn link_starts(&self) -> &[u32] {
        &self.link_start
    }

    /// Returns the number of a switch port among all switch ports of the fabric: its index in arrays over ports.
    #[inline]
    pub fn port_slot(&self, s: SwitchIndex, p: PortNumber) -> usize {
        debug_assert!(p.0 >= 1 && p.0 <= self.switch(s).ports);
        self.port_start[s.at()] as usize + usize::from(p.0) - 1
    }

    /// Returns the number of switch ports, cabled or not.
    pub fn port_slots(&self) -> usize {
        self.ports.len()
    }

    /// Returns the cable of a node.
    pub fn node_cable(&self, n: NodeIndex) -> CableIndex {
        CableIndex::new(self.cables.len() + n.at())
    }

    /// Returns the ends of a cable.
    pub fn cable(&self, c: CableIndex) -> CableEnds {
        match self.cables.get(c.at()) {
            Some(&cable) => CableEnds::Switches(cable),
            None => CableEnds::Node(NodeIndex::new(c.at() - self.cables.len())),
        }
    }

    /// Returns the same fabric with the chosen hosts set aside: they are routed to, but make no leaf, and are numbered
    /// apart from the nodes of leaves.
    #[must_use]
    pub fn with_hosts_aside(mut self, is_chosen: impl Fn(&Adapter) -> bool) -> Fabric {
        for adapter in &mut self.adapters {
            if adapter.kind == AdapterKind::Host && is_chosen(adapter) {
                adapter.kind = AdapterKind::Aside;
            }
        }
        self
    }

    /// Returns the same fabric with other LIDs for some of its nodes and switches.
    #[must_use]
    pub(crate) fn with_lids(
        mut self,
        nodes: impl IntoIterator<Item = (NodeIndex, Lid)>,
        switches: impl IntoIterator<Item = (SwitchIndex, Lid)>,
    ) -> Fabric {
        for (n, lid) in nodes {
            self.nodes[n.at()].lid = lid;
        }
        for (s, lid) in switches {
            self.switches[s.at()].lid = lid;
        }
        self
    }

    /// Returns the same fabric with other GUIDs: one for each switch, adapter and node. All indices stay.
    ///
    /// # Panics
    /// If their numbers are not those of the fabric's devices and nodes.
    #[must_use]
    pub fn with_guids(&self, switches: &[Guid], adapters: &[Guid], nodes: &[Guid]) -> Fabric {
        let given = [switches.len(), adapters.len(), nodes.len()];
        let wanted = [self.switches.len(), self.adapters.len(), self.nodes.len()];
        assert_eq!(given, wanted, "a GUID for each switch, adapter and node");
        let mut fabric = self.clone();
        for (switch, &guid) in fabric.switches.iter_mut().zip(switches) {
            switch.guid = guid;
        }
        for (adapter, &guid) in fabric.adapters.iter_mut().zip(adapters) {
            adapter.guid = guid;
        }
        for (node, &guid) in fabric.nodes.iter_mut().zip(nodes) {
            node.guid = guid;
        }
        fabric
    }

    /// Returns the numbers of nodes and adapters without aggregation nodes: the counts that people expect.
    pub fn host_counts(&self) -> (usize, usize) {
        let nodes = self.node_indices().filter(|&n| !self.is_aggregation(n)).count();
        let adapters = self.adapters.iter().filter(|a| a.kind != AdapterKind::Aggregation).count();
        (nodes, adapters)
    }
}
