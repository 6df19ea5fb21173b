//! Fabrics that are generated device by device, with ports in the order of their cables.

use super::builder::{FabricBuilder, Vertex};
use super::pgft::{GUID_PREFIX, VENDOR};
use super::{Adapter, AdapterKind, Fabric, GuidOrder, Product, Rate, Switch};
use crate::id::{Guid, Lid, PortNumber};
use crate::random::Random;

/// A fabric that is being made: nodes first, then switches level by level. LIDs are given in this order.
pub(super) struct Drawing {
    builder: FabricBuilder,
    /// The next LID.
    lids: u32,
    /// The GUIDs of all switches, in the order in which these are made.
    guids: Vec<Guid>,
    nodes: Vec<Vertex>,
    /// The switches so far, and the last port of each that is in use.
    switches: Vec<(Vertex, u8)>,
}

impl Drawing {
    /// Starts a fabric with its nodes. `levels` has the number of switches of each level.
    pub(super) fn new(nodes: usize, levels: &[u32], order: GuidOrder) -> Self {
        let switches: usize = levels.iter().map(|&count| count as usize).sum();
        let is_large = nodes + switches > Lid::LAST_UNICAST.0 as usize;
        let mut guids: Vec<Guid> = (1u64..)
            .zip(levels)
            .flat_map(|(level, &count)| {
                (1..=u64::from(count)).map(move |i| Guid(GUID_PREFIX | level << 32 | i))
            })
            .collect();
        let mut node_guids: Vec<u64> = (1..=nodes as u64).collect();
        if let GuidOrder::Shuffled(seed) = order {
            Random::new(seed, 0).shuffle(&mut node_guids);
            Random::new(seed, 1).shuffle(&mut guids);
        }
        let mut drawing = Drawing {
            builder: FabricBuilder::new(),
            lids: if is_large { Lid::FIRST_EXTENDED.0 } else { 1 },
            guids,
            nodes: vec![],
            switches: vec![],
        };
        for (i, guid) in node_guids.into_iter().enumerate() {
            let vertex = drawing.node(i, guid);
            drawing.nodes.push(vertex);
        }
        drawing
    }

    fn next_lid(&mut self) -> Lid {
        self.lids += 1;
        Lid(self.lids - 1)
    }

    fn node(&mut self, i: usize, number: u64) -> Vertex {
        let guid = Guid(GUID_PREFIX | number << 4);
        let vertex = self.builder.adapter(Adapter {
            guid,
            ports: 1,
            kind: AdapterKind::Host,
            name: format!("node-{i}").into(),
            product: Product { vendor: VENDOR, device: 1, system: guid },
        });
        let lid = self.next_lid();
        self.builder.end_port(vertex, PortNumber(1), Guid(guid.0 + 1), lid, 0);
        vertex
    }

    /// Makes switches with this number of ports, and returns their names for cables.
    pub(super) fn switches(
        &mut self,
        names: impl IntoIterator<Item = String>,
        ports: u64,
    ) -> Vec<usize> {
        names.into_iter().map(|name| self.switch(name, ports)).collect()
    }

    fn switch(&mut self, name: String, ports: u64) -> usize {
        let at = self.switches.len();
        let (guid, lid) = (self.guids[at], self.next_lid());
        let vertex = self.builder.switch(Switch {
            guid,
            lid,
            ports: ports as u8,
            name: name.into(),
            product: Product { vendor: VENDOR, device: 2, system: guid },
        });
        self.switches.push((vertex, 0));
        at
    }

    /// Puts this number of nodes on each of these switches, one switch after the other.
    pub(super) fn put_nodes(&mut self, switches: &[usize], each: u32) {
        for at in 0..self.nodes.len() {
            let port = self.next_port(switches[at / each as usize]);
            self.builder.cable((self.nodes[at], PortNumber(1)), port, Rate::NDR);
        }
    }

    fn next_port(&mut self, s: usize) -> (Vertex, PortNumber) {
        let (vertex, port) = &mut self.switches[s];
        *port += 1;
        (*vertex, PortNumber(*port))
    }

    /// Cables two switches, `count` times in parallel.
    pub(super) fn cable(&mut self, a: usize, b: usize, count: u32) {
        for _ in 0..count {
            let (a, b) = (self.next_port(a), self.next_port(b));
            self.builder.cable(a, b, Rate::NDR);
        }
    }

    pub(super) fn finish(self) -> Fabric {
        self.builder.finish().expect("a drawing is consistent by construction")
    }
}
