//! How evenly traffic is spread, beside what a fresh numbering of the same fabric gives.

use dmodc::judge::risk::Traffic;
use dmodc::{Degradation, Dmodc, Fabric, ForwardingTables, Live, Routing, RoutingOptions};
use serde::Serialize;

use crate::LabError;

/// With more nodes than this, so many shifts are a sample.
const SHIFTS: usize = 700;

/// The worst ports of some tables, and those of a fresh numbering.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Balance {
    /// The flows over the worst port, if everybody sends to everybody else.
    pub a2a: u64,
    /// The same by a fresh numbering.
    pub a2a_fresh: u64,
    /// The flows over the worst port in a shift of the topological order, in the mean of all shifts.
    pub sp: f64,
    /// The same by a fresh numbering.
    pub sp_fresh: f64,
    /// How many shifts were drawn, if not all were taken.
    pub sampled_shifts: Option<usize>,
}

impl Balance {
    /// Returns the balance of tables for a fabric.
    pub(super) fn of(fabric: &Fabric, tables: &ForwardingTables) -> Result<Self, LabError> {
        let whole = Degradation::none(fabric);
        let live = Live::new(fabric, &whole);
        let routing = Routing::new(live, &RoutingOptions::default());
        let (fresh, _) = routing.route(live, &Dmodc)?;
        let ranking = routing.ranking(live);
        let sample = (fabric.nodes().len() > SHIFTS).then_some(SHIFTS / 4);
        let worst = |tables: &ForwardingTables| {
            // Shifts are over the fresh order for both.
            let traffic = Traffic::new(live, &ranking, routing.orders(), tables);
            let shifts = traffic.shifts(sample.map(|count| (count, 1)));
            (traffic.all_to_all().max(), shifts.mean())
        };
        let ((a2a, sp), (a2a_fresh, sp_fresh)) = (worst(tables), worst(&fresh));
        Ok(Balance { a2a, a2a_fresh, sp, sp_fresh, sampled_shifts: sample })
    }

    /// Returns how many times worse than a fresh numbering the worse of both is.
    pub fn ratio(&self) -> f64 {
        let ratio = |own: f64, fresh: f64| if fresh > 0.0 { own / fresh } else { 1.0 };
        ratio(self.a2a as f64, self.a2a_fresh as f64).max(ratio(self.sp, self.sp_fresh))
    }
}
