//! Our rules, stated naively. The fast tables must equal these in every byte.

use std::ops::Range;

use super::{DividersByLevel, Graph, Neighbour, select_by};
use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::level_dividers::LevelDividers;
use crate::order::Orders;
use crate::tables::{Columns, Digest, End, NO_ROUTE};

/// Distances to one destination switch; `None` is infinite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distances {
    /// Hops that only go down.
    pub down: Vec<Option<u32>>,
    /// Hops of the up\*down\* route.
    pub cost: Vec<Option<u32>>,
}

impl Distances {
    /// Returns the distances to `target`, which is alive.
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

    /// Returns the closer set of a switch.
    pub fn closer<'a>(&self, graph: &'a Graph, s: SwitchIndex) -> Vec<&'a Neighbour> {
        let (distance, up) = match self.down[s.at()] {
            Some(_) => (&self.down, false),
            None => (&self.cost, true),
        };
        let own = distance[s.at()].unwrap_or(0);
        graph.side(s, up).filter(|n| distance[n.switch.at()].is_some_and(|d| d < own)).collect()
    }
}

/// Returns every entry of the engine [`Dmodc`](crate::Dmodc): a row for each switch, in the order of the columns.
pub fn tables(
    live: Live<'_>,
    leaves: &[SwitchIndex],
    orders: &Orders,
    columns: &Columns,
) -> Vec<Vec<u8>> {
    tables_by(orders.level_dividers(), live, leaves, orders, columns)
}

/// Returns every entry of the engine [`Paper`](crate::Paper).
pub fn paper_tables(
    live: Live<'_>,
    leaves: &[SwitchIndex],
    orders: &Orders,
    columns: &Columns,
) -> Vec<Vec<u8>> {
    tables_by(&LevelDividers::default(), live, leaves, orders, columns)
}

fn tables_by(
    levels: &LevelDividers,
    live: Live<'_>,
    leaves: &[SwitchIndex],
    orders: &Orders,
    columns: &Columns,
) -> Vec<Vec<u8>> {
    let naive = UpdownOracle::new(levels, live, leaves, orders);
    let entries = naive.entries(columns, 0..columns.switches().len());
    let width = columns.len();
    (0..live.fabric.switches().len()).map(|s| entries[s * width..][..width].to_vec()).collect()
}

/// Returns the [digest](Digest) of all [entries](tables), computed tile by tile, so that large tables need not be kept.
pub fn digest(
    live: Live<'_>,
    leaves: &[SwitchIndex],
    orders: &Orders,
    columns: &Columns,
) -> Digest {
    let naive = UpdownOracle::new(orders.level_dividers(), live, leaves, orders);
    super::digest(columns, |switches| naive.entries(columns, switches))
}

/// Returns the digest of all [entries of the engine `Paper`](paper_tables).
pub fn paper_digest(
    live: Live<'_>,
    leaves: &[SwitchIndex],
    orders: &Orders,
    columns: &Columns,
) -> Digest {
    let naive = UpdownOracle::new(&LevelDividers::default(), live, leaves, orders);
    super::digest(columns, |switches| naive.entries(columns, switches))
}

/// A fabric, prepared for naive routing.
struct UpdownOracle<'a> {
    live: Live<'a>,
    graph: Graph,
    dividers: DividersByLevel,
}

impl<'a> UpdownOracle<'a> {
    fn new(
        levels: &LevelDividers,
        live: Live<'a>,
        leaves: &[SwitchIndex],
        orders: &Orders,
    ) -> Self {
        let graph = Graph::new(live, orders, leaves);
        let dividers = DividersByLevel::new(&graph, levels);
        UpdownOracle { live, graph, dividers }
    }

    /// Returns the entries for some destination switches, switch by switch.
    fn entries(&self, columns: &Columns, switches: Range<usize>) -> Vec<u8> {
        let widths = switches.clone().map(|i| columns.of_switch(i).len());
        let (first, width) = match switches.is_empty() {
            true => (0, 0),
            false => (columns.of_switch(switches.start).start, widths.sum()),
        };
        let mut entries = vec![NO_ROUTE; width * self.live.fabric.switches().len()];
        for i in switches {
            let target = columns.switches()[i];
            if !self.live.switch(target) {
                continue;
            }
            let distances = Distances::to(&self.graph, target);
            for s in self.live.switches() {
                let closer = distances.closer(&self.graph, s);
                let dividers = self.dividers.of(s, &closer);
                for column in columns.of_switch(i) {
                    let d = &columns.destinations()[column];
                    if matches!(d.end, End::Node(n) if !self.live.node(n)) {
                        continue;
                    }
                    let port = match s == target {
                        true => Some(d.port),
                        false => select_by(&closer, dividers, d.number.into(), d.k.into()),
                    };
                    entries[s.at() * width + column - first] = port.map_or(NO_ROUTE, |p| p.0);
                }
            }
        }
        entries
    }
}
