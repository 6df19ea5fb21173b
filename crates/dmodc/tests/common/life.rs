//! A fabric that lives for years, and the numbers that are kept.

use std::collections::HashMap;

use dmodc::advise::NumbersCost;
use dmodc::{
    Degradation, DestinationNumber, DestinationOrder, End, Fabric, Guid, GuidOrder, NodeIndex,
    Pgft, PortNumber, Routing, RoutingOptions, SavedOrders, SwitchIndex, SwitchOrder,
};

use super::{Case, route, saved_options};

/// A fabric that lives for years: what is there now, and the orders that are kept.
pub struct Life {
    pub saved: Option<SavedOrders>,
}

impl Life {
    pub fn new() -> Self {
        Life { saved: None }
    }

    /// The fabric is now this; who was known before keeps the number of its place.
    pub fn becomes(&mut self, now: &Fabric) -> NumbersCost {
        let case = Case::healthy(now);
        let live = case.whole();
        let first = match self.saved.take() {
            None => RoutingOptions {
                destinations: DestinationOrder::Places,
                switches: SwitchOrder::AgreedPlane,
                ..Default::default()
            },
            Some(mut saved) => {
                saved.hand_over_to(now);
                let options = saved_options(&saved);
                self.saved = Some(saved);
                options
            }
        };
        let routing = Routing::new(live, &first);
        let mut saved = routing.orders().save(live);
        if let Some(earlier) = &self.saved {
            saved.keep_absent(earlier);
        }
        // Whoever reads what is saved gets the same numbers.
        let again = Routing::new(live, &saved_options(&saved));
        assert_eq!(again.orders(), routing.orders());
        let cost = NumbersCost::new(live, &again).unwrap();
        self.saved = Some(saved);
        cost
    }

    /// The port of each switch for each node.
    pub fn routes(&self, fabric: &Fabric) -> Vec<Vec<Option<PortNumber>>> {
        let case = Case::healthy(fabric);
        let live = case.whole();
        let routing = Routing::new(live, &saved_options(self.saved.as_ref().unwrap()));
        let tables = route(&routing, live);
        let mut routes = vec![vec![]; fabric.nodes().len()];
        for (column, d) in tables.columns().destinations().iter().enumerate() {
            if let End::Node(n) = d.end {
                routes[n.at()] = fabric.switch_indices().map(|s| tables.port(s, column)).collect();
            }
        }
        routes
    }

    pub fn numbers(&self, fabric: &Fabric) -> HashMap<Guid, DestinationNumber> {
        let case = Case::healthy(fabric);
        let live = case.whole();
        let routing = Routing::new(live, &saved_options(self.saved.as_ref().unwrap()));
        let number = |n: NodeIndex| (fabric.node(n).guid, routing.orders().node_number(n));
        fabric.node_indices().map(number).collect()
    }
}

pub fn fabric(tuple: &str, seed: u64) -> Fabric {
    let guids = if seed == 0 { GuidOrder::Topological } else { GuidOrder::Shuffled(seed) };
    tuple.parse::<Pgft>().unwrap().fabric(guids)
}

/// The fabric with only those nodes.
pub fn with_nodes(whole: &Fabric, stays: impl Fn(NodeIndex) -> bool) -> Fabric {
    let mut off = Degradation::none(whole);
    for n in whole.node_indices().filter(|&n| !stays(n)) {
        off.set_cable(whole.node_cable(n), true);
    }
    whole.without(&off)
}

/// The fabric with other GUIDs for some nodes, with their adapters, and some switches.
pub fn replaced(whole: &Fabric, nodes: &[NodeIndex], switches: &[SwitchIndex]) -> Fabric {
    let mut node_guids: Vec<Guid> = whole.nodes().iter().map(|n| n.guid).collect();
    let mut adapters: Vec<Guid> = whole.adapters().iter().map(|a| a.guid).collect();
    let mut switch_guids: Vec<Guid> = whole.switches().iter().map(|s| s.guid).collect();
    for n in nodes {
        node_guids[n.at()].0 += 0xbeef_0000_0000_0000;
        adapters[whole.node(*n).adapter.at()].0 += 0xbeef_0000_0000_0000;
    }
    for s in switches {
        switch_guids[s.at()].0 += 0xbeef_0000_0000_0000;
    }
    whole.with_guids(&switch_guids, &adapters, &node_guids)
}

pub const FABRICS: [&str; 5] = [
    "2; 18,36; 1,18; 1,1",
    "3; 18,6,9; 1,9,6; 1,2,1",
    "3; 6,6,12; 1,6,6; 1,1,1",
    "2; 24,24; 1,12; 1,1",
    "3; 8,4,6; 1,4,4; 1,1,1",
];

pub fn assert_balanced(cost: NumbersCost, what: &str) {
    assert!(!cost.is_noticeable(), "{what}: {cost}");
}
