//! Random fabrics, faults, options and tables.

use dmodc::fabric::AdapterKind;
use dmodc::{
    CableIndex, Degradation, DestinationOrder, Fabric, ForwardingTables, GuidOrder, Live,
    NodeTypes, Pgft, PortNumber, Random, RoutingOptions, SwitchIndex, SwitchOrder,
};

use super::Drawing;

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
pub fn random_faults(random: &mut Random, fabric: &Fabric) -> Degradation {
    let mut d = Degradation::none(fabric);
    let one_in = 2 + random.below(40);
    for c in 0..fabric.cable_count() {
        let node_cable = c >= fabric.inter_switch_cables().len();
        if random.below(if node_cable { 8 * one_in } else { one_in }) == 0 {
            d.set_cable(CableIndex::new(c), true);
        }
    }
    for s in fabric.switch_indices() {
        if random.below(2 * one_in) == 0 {
            d.set_switch(s, true);
        }
    }
    d
}

/// A random graph, or a random PGFT of at most `nodes` nodes with any GUIDs.
pub fn random_fabric(random: &mut Random, nodes: usize) -> Fabric {
    match random.below(2) {
        0 => random_graph(random),
        _ => random_pgft(random, nodes).fabric(random_guids(random)),
    }
}

/// GUIDs in topological order, or shuffled.
pub fn random_guids(random: &mut Random) -> GuidOrder {
    match random.below(2) {
        0 => GuidOrder::Topological,
        _ => GuidOrder::Shuffled(random.below(1000)),
    }
}

/// Up to four types, which have nothing to do with places.
pub fn random_types(random: &mut Random) -> NodeTypes {
    let (count, factor) = (1 + random.below(4), random.below(1 << 20));
    let names = (0..count).map(|kind| kind.to_string()).collect();
    NodeTypes::new(names, &format!("{count} {factor}"), move |fabric, n| {
        let mixed = (fabric.node(n).guid.0 ^ factor).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (mixed % count) as u32
    })
}

/// Any of the orders that need no file, with and without the LIDs of switches.
pub fn random_options(random: &mut Random) -> RoutingOptions {
    RoutingOptions {
        destinations: match random.below(4) {
            0 => DestinationOrder::Topological,
            1 => DestinationOrder::Lid,
            2 => DestinationOrder::Types(random_types(random)),
            _ => DestinationOrder::Guid,
        },
        switches: match random.below(2) {
            0 => SwitchOrder::Plane,
            _ => SwitchOrder::Guid,
        },
        switch_lids: random.below(3) > 0,
        ..RoutingOptions::default()
    }
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

/// A levelled fabric of 2 or 3 levels. Most switches have equally many cables to each switch above, but each of them has its own number.
pub fn unequal_cables(random: &mut Random) -> Fabric {
    let mut drawing = Drawing::new();
    let most = 1 + random.below(4);
    let (pods, planes, leaves) = match random.below(8) {
        // A leaf has more than 64 ports upwards.
        0 => (1, 17 + random.below(44), 1 + random.below(6)),
        // Several tiles.
        1 => (1, 1 + random.below(4), 66 + random.below(20)),
        _ => (1 + random.below(4), 1 + random.below(4), 1 + random.below(6)),
    };
    let tops: Vec<Vec<usize>> = (0..planes)
        .map(|_| {
            let count = if pods > 1 { 1 + random.below(3) } else { 0 };
            (0..count).map(|_| drawing.switch("top")).collect()
        })
        .collect();
    for _ in 0..pods {
        let middles: Vec<usize> = (0..planes).map(|_| drawing.switch("middle")).collect();
        for (&middle, tops) in middles.iter().zip(&tops) {
            cable_to_all(random, &mut drawing, middle, tops, most);
        }
        for _ in 0..leaves {
            let leaf = drawing.switch("leaf");
            let nodes = 1 + random.below(6) as usize;
            match random.below(8) {
                0 => (0..nodes).for_each(|_| drawing.node(leaf, AdapterKind::Host, 1)),
                _ => drawing.nodes(leaf, nodes),
            }
            cable_to_all(random, &mut drawing, leaf, &middles, most);
        }
    }
    drawing.finish()
}

/// Cables a switch to all of those above: equally often, or now and then any number of times.
fn cable_to_all(random: &mut Random, drawing: &mut Drawing, s: usize, above: &[usize], most: u64) {
    let (count, is_equal) = (1 + random.below(most), random.below(6) > 0);
    for &peer in above {
        let count = if is_equal { count } else { 1 + random.below(most) };
        drawing.cable(s, peer, count as usize);
    }
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
