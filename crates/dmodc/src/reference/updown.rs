//! Our rules, naively: what the fast tables must equal in every byte.

use super::{Graph, Neighbour, select};
use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::order::Orders;
use crate::tables::{Columns, End, NO_ROUTE};

/// Distances to one destination switch; `None` is infinite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distances {
    /// Hops that only go down.
    pub down: Vec<Option<u32>>,
    /// Hops of the up\*down\* route.
    pub cost: Vec<Option<u32>>,
}

impl Distances {
    /// Distances to `target`, which is alive.
    pub fn to(graph: &Graph, target: SwitchIndex) -> Self {
        let nearest = |s: SwitchIndex, up: bool, of: &[Option<u32>]| {
            graph.side(s, up).filter_map(|n| of[n.switch.at()]).min().map(|least| least + 1)
        };
        let mut down = vec![None; graph.neighbours.len()];
        down[target.at()] = Some(0);
        for &s in graph.ascending.iter().filter(|&&s| s != target) {
            down[s.at()] = nearest(s, false, &down);
        }
        let mut cost = down.clone();
        for &s in graph.ascending.iter().rev() {
            cost[s.at()] = down[s.at()].or_else(|| nearest(s, true, &cost));
        }
        Distances { down, cost }
    }

    /// The closer set of a switch.
    pub fn closer<'a>(&self, graph: &'a Graph, s: SwitchIndex) -> Vec<&'a Neighbour> {
        let (distance, up) = match self.down[s.at()] {
            Some(_) => (&self.down, false),
            None => (&self.cost, true),
        };
        let own = distance[s.at()].unwrap_or(0);
        graph.side(s, up).filter(|n| distance[n.switch.at()].is_some_and(|d| d < own)).collect()
    }
}

/// Every entry: a row for each switch, in the order of the columns.
pub fn tables(
    live: Live<'_>,
    leaves: &[SwitchIndex],
    orders: &Orders,
    columns: &Columns,
) -> Vec<Vec<u8>> {
    let graph = Graph::new(live, orders, leaves);
    let dividers = graph.dividers();
    let mut rows = vec![vec![NO_ROUTE; columns.len()]; live.fabric.switches().len()];
    for (i, &target) in columns.switches().iter().enumerate() {
        if !live.switch(target) {
            continue;
        }
        let distances = Distances::to(&graph, target);
        for column in columns.of_switch(i) {
            let d = &columns.destinations()[column];
            if matches!(d.end, End::Node(n) if !live.node(n)) {
                continue;
            }
            for s in live.switches() {
                let closer = distances.closer(&graph, s);
                let divider = dividers[s.at()];
                let port = match s == target {
                    true => Some(d.port),
                    false => select(&closer, divider, d.number.into(), d.k.into()),
                };
                rows[s.at()][column] = port.map_or(NO_ROUTE, |p| p.0);
            }
        }
    }
    rows
}
