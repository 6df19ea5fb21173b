//! The class `Router`: tables that are kept between faults.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dmodc::{Change, ForwardingTables, TableDelta};
use dmodc_study::answers::route_state::{Numbers, RouteParts, RouteState, RoutingRequest, explain};
use pyo3::prelude::*;

use crate::fabric::Fabric;
use crate::request::Routing;
use crate::tables::{Judged, Tables, nothing_unmatched};
use crate::view::View;
use crate::work::run;

/// A fabric that is routed again and again.
#[pyclass(frozen, module = "dmodc._native")]
pub(crate) struct Router {
    router: Arc<Mutex<dmodc::Router>>,
    request: RoutingRequest,
}

/// What a change did: entries that changed, the GUIDs of the switches that they are on, the milliseconds that it took, and if
/// wanted the entries.
type DeltaParts = (u64, Vec<String>, f64, Option<EntryParts>);

/// Entries that changed, in four columns: the place of the switch among the switches of the delta, the LID of the destination,
/// and the ports before and after.
type EntryParts = (View, View, View, View);

/// Compares the rows of a delta, entry by entry.
fn changed_entries(
    delta: &TableDelta,
    before: &ForwardingTables,
    after: &ForwardingTables,
) -> EntryParts {
    let (mut places, mut lids, mut old, mut new) = (vec![], vec![], vec![], vec![]);
    let (columns, switches) = (after.columns(), delta.switches());
    for row in delta.rows() {
        let tile = columns.tile(row.tile as usize);
        let rows = (before.row(row.switch, &tile), after.row(row.switch, &tile));
        let place = switches.partition_point(|&switch| switch < row.switch) as u32;
        for column in row.spans(columns).flatten() {
            let at = column - tile.columns.start;
            if rows.0[at] != rows.1[at] {
                places.push(place);
                lids.push(columns.destinations()[column].lid.0);
                old.push(rows.0[at]);
                new.push(rows.1[at]);
            }
        }
    }
    let shape = vec![places.len()];
    (
        View::of(places, shape.clone()),
        View::of(lids, shape.clone()),
        View::of(old, shape.clone()),
        View::of(new, shape),
    )
}

fn lock(router: &Mutex<dmodc::Router>) -> MutexGuard<'_, dmodc::Router> {
    router.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl Router {
    /// Routes a fabric for the first time.
    #[new]
    fn new(py: Python<'_>, fabric: &Fabric, routing: Routing) -> PyResult<Self> {
        let (fabric, asked) = (fabric.fabric.clone(), routing.asked(py)?);
        run(py, move |_| {
            // The engine is kept, so it does not stop with this call.
            let request = asked.request(&Default::default());
            let fabric = (*fabric).clone();
            let state = RouteState::new(&request, Numbers::Once, fabric, asked.reference)?;
            let router = Arc::new(Mutex::new(state.into_router()?));
            Ok(Router { router, request })
        })
    }

    /// Lets parts fail and others work again. Returns what that changed. The single entries are found only if they are wanted,
    /// because that takes a copy of the tables.
    fn apply(
        &self,
        py: Python<'_>,
        fail: Vec<String>,
        repair: Vec<String>,
        single_entries: bool,
    ) -> PyResult<DeltaParts> {
        let router = self.router.clone();
        run(py, move |_| {
            let mut router = lock(&router);
            let fabric = router.fabric().clone();
            let mut changes = Vec::new();
            for part in &fail {
                changes.push(Change::Dies(fabric.find_part(part)?));
            }
            for part in &repair {
                changes.push(Change::Recovers(fabric.find_part(part)?));
            }
            let before = single_entries.then(|| router.tables().clone());
            let start = std::time::Instant::now();
            let delta = router.apply(&changes);
            let elapsed = start.elapsed().as_secs_f64() * 1e3;
            let delta = delta.map_err(|error| explain(error, router.live()))?;
            let guids = delta.switches().into_iter().map(|s| fabric.switch(s).guid.to_string());
            let entries = before.map(|before| changed_entries(&delta, &before, router.tables()));
            Ok((delta.entry_count(), guids.collect(), elapsed, entries))
        })
    }

    /// Returns the parts that are dead, in words.
    fn dead(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let router = self.router.clone();
        run(py, move |_| {
            let router = lock(&router);
            let words = |part| dmodc_study::answers::text::removed(router.fabric(), part);
            Ok(router.degradation().removed().map(words).collect())
        })
    }

    /// Returns a copy of the tables, and the fabric in its present state.
    fn tables(&self, py: Python<'_>) -> PyResult<(Tables, Fabric)> {
        let (router, request) = (self.router.clone(), self.request.clone());
        run(py, move |_| {
            let router = lock(&router);
            let present = router.fabric().without(router.degradation());
            let fabric = Fabric::new(present, "the fabric of the router");
            let name = router.engine().name().to_string();
            let parts = RouteParts {
                fabric: router.fabric().clone(),
                absent: router.degradation().clone(),
                routing: router.routing().clone(),
                engine: Some(router.engine().clone()),
                beyond: router.fabric().infiniband_lids().err(),
            };
            let judged = Judged {
                present: fabric.fabric.clone(),
                parts,
                tables: router.tables().clone(),
                are_read: false,
                name: format!("the engine {name}"),
                leaves: request.leaves,
                order: request.order,
                unmatched: nothing_unmatched(),
            };
            Ok((Tables::new(judged, Some(name)), fabric))
        })
    }
}
