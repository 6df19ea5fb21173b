//! The order of the hosts of a job.
//!
//! Collective operations send along the order of ranks: to the next rank, or to one that is k further. Dmodc spreads
//! consecutive destination numbers over different ports, so such traffic meets least if ranks follow destination order.
//!
//! Hosts with several adapters have a node on each of several [rails](crate::Rails), and their ranks have one order for all
//! rails. The order of each rail is a candidate; the one with the least risk over all rails is taken.
//!
//! | question | answer |
//! |---|---|
//! | in which order? | [`Placement::order`] |
//! | how good is an order? | [`Placement::risk`] |
//! | which hosts of a list? | [`Placement::choose`] |
//! | can a host take part? | [`Placement::problems`] |

mod choose;
mod exact;
mod groups;
mod problems;
mod risk;
mod sharing;

pub use problems::HostProblem;
pub use risk::{JobRisk, PatternRisk, ShiftCount};
pub use sharing::{Choice, Sharing};

use std::cmp::Ordering;

use crate::fabric::Live;
use crate::id::NodeIndex;
use crate::order::Orders;
use crate::rails::RailHost;
use crate::rank::Ranking;
use crate::tables::{End, ForwardingTables};

/// Where jobs are placed: a fabric and its tables.
pub struct Placement<'a> {
    live: Live<'a>,
    ranking: &'a Ranking,
    orders: &'a Orders,
    tables: &'a ForwardingTables,
    /// Whether the tables have a column for each node.
    has_column: Vec<bool>,
}

/// An order of the hosts of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct HostOrder {
    /// The hosts, as positions in the list that was given.
    pub order: Vec<usize>,
    /// The rail whose destination order this is.
    pub rail: usize,
    /// The number of different orders that the rails have; 1 if all agree.
    pub different: usize,
    /// The risk of this order.
    pub risk: JobRisk,
}

/// The place of a host on a rail. Hosts without a node there come last, by the first rail that they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RailPlace {
    is_missing: bool,
    is_off_leaf: bool,
    number: u32,
    node: Option<NodeIndex>,
}

impl<'a> Placement<'a> {
    /// Takes a fabric and its tables.
    ///
    /// # Panics
    /// If the tables have rows for another number of switches.
    pub fn new(
        live: Live<'a>,
        ranking: &'a Ranking,
        orders: &'a Orders,
        tables: &'a ForwardingTables,
    ) -> Self {
        assert_eq!(tables.switch_count(), live.fabric.switches().len(), "tables of another fabric");
        let mut has_column = vec![false; live.fabric.nodes().len()];
        for d in tables.columns().destinations() {
            if let (End::Node(n), 0) = (d.end, d.k) {
                has_column[n.at()] = true;
            }
        }
        Placement { live, ranking, orders, tables, has_column }
    }

    /// Returns the order of hosts with the least risk among the destination orders of their rails: the least risk of a
    /// ring, then of shifts, then of recursive doubling; of equal ones, that of the first rail.
    pub fn order(&self, hosts: &[&RailHost<'_>]) -> HostOrder {
        let rails = hosts.iter().map(|host| host.nodes.len()).max().unwrap_or(0);
        let mut different: Vec<(usize, Vec<usize>)> = Vec::new();
        for rail in 0..rails.max(1) {
            // A rail that no host has says nothing.
            let is_used = rail == 0 || hosts.iter().any(|host| self.node(host, rail).is_some());
            let order = self.order_of_rail(hosts, rail);
            if is_used && different.iter().all(|(_, other)| *other != order) {
                different.push((rail, order));
            }
        }
        let count = different.len();
        let measured = different.into_iter().map(|(rail, order)| {
            let sorted: Vec<&RailHost<'_>> = order.iter().map(|&at| hosts[at]).collect();
            let risk = self.risk(&sorted);
            HostOrder { order, rail, different: count, risk }
        });
        let better = |a: HostOrder, b: HostOrder| match b.risk.compare(&a.risk) {
            Ordering::Less => b,
            _ => a,
        };
        measured.reduce(better).expect("there is always the order of the first rail")
    }

    /// Returns the hosts in the destination order of a rail.
    fn order_of_rail(&self, hosts: &[&RailHost<'_>], rail: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..hosts.len()).collect();
        order.sort_by_cached_key(|&at| (self.place(hosts[at], rail), at));
        order
    }

    fn place(&self, host: &RailHost<'_>, rail: usize) -> RailPlace {
        let own = self.node(host, rail);
        let first = || (0..host.nodes.len()).find_map(|rail| self.node(host, rail));
        let node = own.or_else(first);
        let number = node.map(|n| self.orders.node_number(n));
        RailPlace {
            is_missing: own.is_none(),
            is_off_leaf: number.is_none_or(|number| !number.on_leaf),
            number: number.map_or(u32::MAX, |number| number.number),
            node,
        }
    }

    /// Returns the node of a host on a rail, if it lives and the tables have a column for it.
    fn node(&self, host: &RailHost<'_>, rail: usize) -> Option<NodeIndex> {
        host.live_node(self.live, rail).filter(|n| self.has_column[n.at()])
    }

    /// Returns the nodes of hosts, rail by rail. Rails without nodes are left out.
    fn by_rail(&self, hosts: &[&RailHost<'_>]) -> Vec<Vec<NodeIndex>> {
        let rails = hosts.iter().map(|host| host.nodes.len()).max().unwrap_or(0);
        let nodes = |rail| hosts.iter().filter_map(|host| self.node(host, rail)).collect();
        (0..rails).map(nodes).filter(|nodes: &Vec<NodeIndex>| !nodes.is_empty()).collect()
    }
}
