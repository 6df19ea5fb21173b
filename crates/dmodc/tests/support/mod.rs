//! Fabrics drawn by hand or at random, for the integration tests.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]

use dmodc::fabric::{Adapter, AdapterKind, Product, Rate, Switch, Vertex};
use dmodc::{
    Degradation, Fabric, FabricBuilder, ForwardingTables, Guid, Lid, Live, Pgft, PortNumber,
    Random, SwitchIndex,
};

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

/// A random PGFT of 2 to 4 levels with parallel links and tapering, at most `nodes` nodes.
pub fn random_pgft(random: &mut Random, nodes: usize) -> Pgft {
    loop {
        let h = 2 + random.below(3) as usize;
        let mut list =
            |most: u64| -> Vec<u32> { (0..h).map(|_| 1 + random.below(most) as u32).collect() };
        let (m, mut w, mut p) = (list(5), list(4), list(3));
        (w[0], p[0]) = (1, 1);
        if let Ok(pgft) = Pgft::new(m, w, p)
            && pgft.count(0) <= nodes
            && pgft.switch_count() <= 120
        {
            return pgft;
        }
    }
}

/// Kills cables and switches, from none to very many.
pub fn random_degradation(random: &mut Random, fabric: &Fabric) -> Degradation {
    let mut d = Degradation::none(fabric);
    let one_in = 2 + random.below(40);
    for c in 0..fabric.cable_count() {
        let node_cable = c >= fabric.inter_switch_cables().len();
        if random.below(if node_cable { 8 * one_in } else { one_in }) == 0 {
            d.set_cable(dmodc::CableIndex::new(c), true);
        }
    }
    for s in fabric.switch_indices() {
        if random.below(2 * one_in) == 0 {
            d.set_switch(s, true);
        }
    }
    d
}

/// A connected random graph with random leaves, parallel cables and odd nodes.
pub fn random_graph(random: &mut Random) -> Fabric {
    let mut drawing = Drawing::new();
    let switches = 2 + random.below(20) as usize;
    for s in 0..switches {
        drawing.switch(&format!("s{s}"));
        if s > 0 {
            drawing.cable(random.below(s as u64) as usize, s, 1 + random.below(2) as usize);
        }
    }
    for _ in 0..random.below(2 * switches as u64) {
        let (a, b) =
            (random.below(switches as u64) as usize, random.below(switches as u64) as usize);
        if a != b {
            drawing.cable(a, b, 1 + random.below(3) as usize);
        }
    }
    drawing.nodes(random.below(switches as u64) as usize, 1);
    for s in 0..switches {
        match random.below(5) {
            0 | 1 => drawing.nodes(s, random.below(4) as usize),
            2 => drawing.node(s, AdapterKind::Aggregation, 0),
            3 if random.below(2) == 0 => drawing.node(s, AdapterKind::Host, 2),
            _ => {}
        }
    }
    drawing.finish()
}

/// Overwrites some entries with any port at all, now and then all of them.
pub fn spoil(random: &mut Random, live: Live<'_>, tables: &mut ForwardingTables) {
    let columns = tables.columns().len() as u64;
    if columns == 0 {
        return;
    }
    let spoilt = match random.below(4) {
        0 => 0,
        1 => 1,
        2 => 1 + random.below(20),
        _ => columns * tables.switch_count() as u64,
    };
    for _ in 0..spoilt {
        let s = SwitchIndex::new(random.below(tables.switch_count() as u64) as usize);
        let cabled: Vec<u8> = live.links(s).map(|(p, _)| p.0).collect();
        let port = match random.below(8) {
            0 => None,
            1 => Some(random.below(255) as u8),
            _ if cabled.is_empty() => Some(0),
            _ => Some(cabled[random.below(cabled.len() as u64) as usize]),
        };
        tables.set(s, random.below(columns) as usize, port.map(PortNumber));
    }
}

/// Follows a route hop by hop, without the judge: the switches on the way, `None` if lost or looping.
pub fn walk(
    live: Live<'_>,
    tables: &ForwardingTables,
    from: SwitchIndex,
    column: usize,
) -> Option<Vec<(SwitchIndex, PortNumber)>> {
    let d = tables.columns().destinations()[column];
    let mut path = vec![];
    let mut s = from;
    loop {
        let out = tables.port(s, column)?;
        if s == d.switch {
            return (out == d.port).then_some(path);
        }
        let dmodc::fabric::Peer::Switch(next, _) = live.peer(s, out) else { return None };
        path.push((s, out));
        if path.len() > live.fabric.switches().len() {
            return None;
        }
        s = next;
    }
}

/// Runs a property for many seeds, and says which one failed.
pub fn for_seeds(count: u64, property: impl Fn(&mut Random)) {
    struct Say(u64);
    impl Drop for Say {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("the property failed for seed {}", self.0);
            }
        }
    }
    for seed in 0..count {
        let say = Say(seed);
        property(&mut Random::new(seed, 99));
        std::mem::forget(say);
    }
}
