//! What traffic depends on apart from tables: the nodes by position, the directed ports, the cuts.
//!
//! Whoever counts the flows of tables somewhere else, such as on a device, gets the same numbers as [`Traffic`](super::Traffic) if it counts
//! over a shape, and lets the shape find the bound.

use std::sync::Arc;

use super::NAMED;
use super::bundles::Bundles;
use super::cuts::{Cut, Cuts};
use super::loads::{Loads, LostPair};
use super::paths::{Channels, DirectedPort};
use crate::fabric::Live;
use crate::id::{NodeIndex, SwitchIndex};
use crate::judge::walk::Heights;
use crate::order::Orders;
use crate::rank::Ranking;
use crate::tables::{Columns, End};

/// No column.
const NONE: u32 = u32::MAX;

/// Nodes that send to each other, and the live fabric between them. It belongs to no tables.
pub struct TrafficShape {
    /// The nodes by position, and the first column of each.
    pub(super) nodes: Vec<NodeIndex>,
    pub(super) columns: Vec<u32>,
    /// The switch of each position.
    homes: Vec<u32>,
    /// The number of nodes on each switch.
    pub(super) weight: Vec<u32>,
    /// Live switches, from the lowest to the highest.
    pub(super) ascending: Vec<u32>,
    pub(super) channels: Arc<Channels>,
    pub(super) cuts: Cuts,
}

/// All flows from the nodes of a switch to a position, which do not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LostBundle {
    /// The position.
    pub to: u32,
    /// The switch.
    pub from: SwitchIndex,
}

impl TrafficShape {
    /// Returns the shape of traffic among all live nodes that have a column, in destination order; aggregation nodes do not
    /// count.
    pub fn new(live: Live<'_>, ranking: &Ranking, orders: &Orders, columns: &Columns) -> Self {
        let mut nodes: Vec<NodeIndex> = live
            .fabric
            .node_indices()
            .filter(|&n| live.node(n) && !live.fabric.is_aggregation(n))
            .collect();
        nodes.sort_by_key(|&n| {
            let number = orders.node_number(n);
            (!number.on_leaf, number.number, n)
        });
        Self::among(live, ranking, orders, columns, nodes)
    }

    /// Returns the shape of traffic among these nodes, in this order. Nodes that are dead or have no column are left out.
    pub fn among(
        live: Live<'_>,
        ranking: &Ranking,
        orders: &Orders,
        columns: &Columns,
        mut nodes: Vec<NodeIndex>,
    ) -> Self {
        let mut column = vec![NONE; live.fabric.nodes().len()];
        for (at, d) in columns.destinations().iter().enumerate() {
            if let (End::Node(n), 0) = (d.end, d.k) {
                column[n.at()] = at as u32;
            }
        }
        nodes.retain(|&n| live.node(n) && column[n.at()] != NONE);
        let columns_of: Vec<u32> = nodes.iter().map(|&n| column[n.at()]).collect();
        let home = |&column: &u32| columns.destinations()[column as usize].switch.at() as u32;
        let homes: Vec<u32> = columns_of.iter().map(home).collect();
        let mut weight = vec![0; live.fabric.switches().len()];
        for &home in &homes {
            weight[home as usize] += 1;
        }
        let heights = Heights::new(live, ranking, orders);
        let ascending = heights.ascending(live).into_iter().map(|s| s.at() as u32).collect();
        let channels = Arc::new(Channels::new(live, &heights));
        let cuts = Cuts::new(live, ranking, &weight);
        TrafficShape { nodes, columns: columns_of, homes, weight, ascending, channels, cuts }
    }

    /// Returns the nodes by position.
    pub fn nodes(&self) -> &[NodeIndex] {
        &self.nodes
    }

    /// Returns the first column of each position: traffic goes to the first LID of a node.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Returns the number of nodes on each switch.
    pub fn nodes_by_switch(&self) -> &[u32] {
        &self.weight
    }

    /// Returns the live switches, from the lowest to the highest: a hop to a later one goes up.
    pub fn ascending(&self) -> &[u32] {
        &self.ascending
    }

    /// Returns all directed ports between live switches.
    pub fn ports(&self) -> &[DirectedPort] {
        &self.channels.ports
    }

    /// Returns the cuts that lower bounds follow from.
    pub fn cuts(&self) -> &[Cut] {
        &self.cuts.cuts
    }

    /// Returns each level of cuts: for each switch the number of its cut, or `u32::MAX` if it is in none.
    pub fn cut_levels(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.cuts.levels()
    }

    /// Returns the loads if everybody sends to everybody else, from those of each of [`ports`](Self::ports) and from all bundles
    /// that do not arrive. Numbers of destinations are not counted.
    ///
    /// # Panics
    /// If a bundle has no flows.
    pub fn all_to_all(&self, by_port: Vec<u64>, mut lost: Vec<LostBundle>) -> Loads {
        let mut bundles = Bundles::all_to_all(&self.cuts, &self.weight);
        let mut undelivered = 0;
        for bundle in &lost {
            let (from, home) = (bundle.from.at() as u32, self.homes[bundle.to as usize]);
            let flows = self.weight[from as usize] - u32::from(from == home);
            assert!(flows > 0, "a bundle has flows");
            undelivered += u64::from(flows);
            if from != home {
                bundles.count(&self.cuts, (from, home), flows, -1);
            }
        }
        let bound = bundles.bound(&self.cuts);
        if !lost.is_empty() {
            let mut places = vec![0; self.weight.len()];
            for (place, &s) in (0u32..).zip(&self.ascending) {
                places[s as usize] = place;
            }
            let column = |bundle: &LostBundle| self.columns[bundle.to as usize];
            lost.sort_unstable_by_key(|one| (column(one), places[one.from.at()]));
        }
        Loads {
            by_port,
            destinations: vec![],
            bound: bound.value,
            cut: bound.cut,
            is_by_bundles: bound.is_by_bundles,
            undelivered,
            lost: self.named(&lost),
        }
    }

    /// Returns the first of some bundles as pairs of a switch and a node.
    pub fn named(&self, lost: &[LostBundle]) -> Vec<LostPair> {
        let pair = |one: &LostBundle| LostPair { from: one.from, to: self.nodes[one.to as usize] };
        lost.iter().take(NAMED).map(pair).collect()
    }
}
