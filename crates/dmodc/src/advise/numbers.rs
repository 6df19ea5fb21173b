//! The cost of numbers that were kept, compared with fresh ones.
//!
//! Kept numbers spare the routes of all other nodes when something changes. Over the years they may fit the fabric less
//! well than fresh numbers: leaves were filled later than expected, others were emptied for good. Renumbering moves many
//! routes, so an operator decides when to do it; this measures the gain.

use std::fmt;

use crate::fabric::Live;
use crate::id::NodeIndex;
use crate::judge::risk::Traffic;
use crate::order::DestinationOrder;
use crate::route::{Dmodc, RouteError};
use crate::routing::{Routing, RoutingOptions};

/// A difference of less than this share is not reported.
const TOLERANCE: f64 = 0.05;

/// If there are more shifts than this, this number of them is sampled.
const SHIFTS: usize = 1024;

/// The congestion risk of Dmodc's routes with the numbers in use and with fresh ones. Shifts run in the order of
/// fresh numbers in both cases. Where the numbers in use are by type, fresh ones are by the same types.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumbersCost {
    /// The greatest load of a port if everybody sends to everybody, with the numbers in use.
    pub all_to_all: u64,
    /// The same with fresh numbers.
    pub fresh_all_to_all: u64,
    /// The mean over shifts of the greatest load of a port, with the numbers in use.
    pub shifts: f64,
    /// The same with fresh numbers.
    pub fresh_shifts: f64,
}

impl NumbersCost {
    /// Routes the present fabric twice. O(#switches × #nodes), and as much memory as two sets of tables.
    ///
    /// # Errors
    /// If it cannot be routed, or tables do not fit into memory.
    pub fn new(live: Live<'_>, routing: &Routing) -> Result<Self, RouteError> {
        // Numbers by type stay numbers by type: else their purpose would be counted as a cost.
        let types = routing.orders().node_types();
        let destinations = types.map_or(DestinationOrder::default(), DestinationOrder::Types);
        let leaves = routing.leaf_rule().clone();
        let options = RoutingOptions { leaves, destinations, ..RoutingOptions::default() };
        // Orders that are saved have dividers, too, which fresh ones would replace.
        let fresh = Routing::with_dividers_of(live, &options, routing);
        let mut nodes: Vec<NodeIndex> = live
            .fabric
            .node_indices()
            .filter(|&n| live.node(n) && fresh.orders().node_number(n).on_leaf)
            .collect();
        nodes.sort_by_key(|&n| fresh.orders().node_number(n).number);
        let [(all_to_all, shifts), (fresh_all_to_all, fresh_shifts)] =
            [risk(live, routing, &nodes)?, risk(live, &fresh, &nodes)?];
        Ok(NumbersCost { all_to_all, fresh_all_to_all, shifts, fresh_shifts })
    }

    /// Returns the risk with the numbers in use, divided by the risk with fresh ones, for the pattern that suffers more.
    pub fn ratio(&self) -> f64 {
        let ratio = |own: f64, fresh: f64| if fresh > 0.0 { own / fresh } else { 1.0 };
        let all_to_all = ratio(self.all_to_all as f64, self.fresh_all_to_all as f64);
        all_to_all.max(ratio(self.shifts, self.fresh_shifts))
    }

    /// Returns whether fresh numbers would balance noticeably better: by more than 5 %.
    pub fn is_noticeable(&self) -> bool {
        self.ratio() > 1.0 + TOLERANCE
    }
}

impl fmt::Display for NumbersCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NumbersCost { all_to_all, fresh_all_to_all, shifts, fresh_shifts } = self;
        write!(
            f,
            "routes would be more even with new numbers of destinations: by the engine dmodc, the worst port has {all_to_all} flows of all-to-all traffic instead of \
             {fresh_all_to_all} with new numbers, and {shifts:.2} flows in the mean of shifts instead of {fresh_shifts:.2}"
        )
    }
}

/// Returns the risk of all-to-all and the mean risk of shifts among these nodes, in this order.
fn risk(live: Live<'_>, routing: &Routing, nodes: &[NodeIndex]) -> Result<(u64, f64), RouteError> {
    let (tables, _) = routing.route(live, &Dmodc)?;
    let ranking = routing.ranking(live);
    let traffic = Traffic::among(live, &ranking, routing.orders(), &tables, nodes.to_vec());
    let shifts = traffic.shifts(Some((SHIFTS, 0)));
    Ok((traffic.all_to_all().max(), shifts.mean()))
}
