//! How evenly traffic is spread, compared with a fresh numbering of the same fabric.

use dmodc::judge::risk::Traffic;
use dmodc::{Degradation, Dmodc, Fabric, ForwardingTables, Live, Routing, RoutingOptions};
use serde::Serialize;

use crate::error::LabError;

/// With more nodes than this, a quarter of this number of shifts is drawn as a sample.
const SHIFTS: usize = 700;

/// The worst ports of some tables, and those of a fresh numbering.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SoakBalance {
    /// The flows over the worst port if every node sends to every other node.
    pub a2a: u64,
    /// The same with a fresh numbering.
    pub a2a_fresh: u64,
    /// The flows over the worst port of a shift of the topological order, as the mean over all shifts.
    pub sp: f64,
    /// The same with a fresh numbering.
    pub sp_fresh: f64,
    /// The number of shifts that were drawn; `None` if all were taken.
    pub sampled_shifts: Option<usize>,
}

impl SoakBalance {
    /// Returns the balance of tables for a fabric.
    pub(super) fn of(fabric: &Fabric, tables: &ForwardingTables) -> Result<Self, LabError> {
        let whole = Degradation::none(fabric);
        let live = Live::new(fabric, &whole);
        let routing = Routing::new(live, &RoutingOptions::default());
        let (fresh, _) = routing.route(live, &Dmodc)?;
        let ranking = routing.ranking(live);
        let sample = (fabric.nodes().len() > SHIFTS).then_some(SHIFTS / 4);
        let worst = |tables: &ForwardingTables| {
            // Both are judged by shifts of the fresh order.
            let traffic = Traffic::new(live, &ranking, routing.orders(), tables);
            let shifts = traffic.shifts(sample.map(|count| (count, 1)));
            (traffic.all_to_all().max(), shifts.mean())
        };
        let ((a2a, sp), (a2a_fresh, sp_fresh)) = (worst(tables), worst(&fresh));
        Ok(SoakBalance { a2a, a2a_fresh, sp, sp_fresh, sampled_shifts: sample })
    }

    /// Returns how many times worse than a fresh numbering the tables are, in the worse of both patterns.
    pub fn ratio(&self) -> f64 {
        let ratio = |own: f64, fresh: f64| if fresh > 0.0 { own / fresh } else { 1.0 };
        ratio(self.a2a as f64, self.a2a_fresh as f64).max(ratio(self.sp, self.sp_fresh))
    }
}
