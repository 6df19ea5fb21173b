//! Fabrics drawn by hand.

use dmodc::fabric::{Adapter, AdapterKind, Product, Rate, Switch, Vertex};
use dmodc::{Fabric, FabricBuilder, Guid, Lid, PortNumber};

/// A fabric drawn by hand: switches have the GUIDs 1, 2, 3 … in the order they are added, and ports
/// are numbered as cables come.
pub struct Drawing {
    builder: FabricBuilder,
    switches: Vec<(Vertex, u8)>,
    nodes: u64,
}

impl Drawing {
    pub fn new() -> Self {
        Drawing { builder: FabricBuilder::new(), switches: vec![], nodes: 0 }
    }

    pub fn switch(&mut self, name: &str) -> usize {
        let at = self.switches.len();
        let vertex = self.builder.switch(Switch {
            guid: Guid(1 + at as u64),
            lid: Lid(10_000 + at as u32),
            ports: 254,
            name: name.into(),
            product: Product::default(),
        });
        self.switches.push((vertex, 0));
        at
    }

    pub fn switches<const N: usize>(&mut self, names: [&str; N]) -> [usize; N] {
        names.map(|name| self.switch(name))
    }

    fn next_port(&mut self, s: usize) -> (Vertex, PortNumber) {
        self.switches[s].1 += 1;
        (self.switches[s].0, PortNumber(self.switches[s].1))
    }

    /// Cables two switches, `count` times in parallel.
    pub fn cable(&mut self, a: usize, b: usize, count: usize) {
        for _ in 0..count {
            let (a, b) = (self.next_port(a), self.next_port(b));
            self.builder.cable(a, b, Rate::NDR);
        }
    }

    pub fn nodes(&mut self, s: usize, count: usize) {
        for _ in 0..count {
            self.node(s, AdapterKind::Host, 0);
        }
    }

    pub fn node(&mut self, s: usize, kind: AdapterKind, lmc: u8) {
        self.nodes += 1;
        let guid = 0x10_0000 + 2 * self.nodes;
        let vertex = self.builder.adapter(Adapter {
            guid: Guid(guid),
            ports: 1,
            kind,
            name: format!("node-{}", self.nodes - 1).into(),
            product: Product::default(),
        });
        let lid = Lid(8 * self.nodes as u32);
        self.builder.end_port(vertex, PortNumber(1), Guid(guid + 1), lid, lmc);
        let port = self.next_port(s);
        self.builder.cable((vertex, PortNumber(1)), port, Rate::NDR);
    }

    pub fn finish(self) -> Fabric {
        self.builder.finish().expect("a drawing is consistent")
    }
}
