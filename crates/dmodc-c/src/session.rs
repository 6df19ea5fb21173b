//! A router with exact differences.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use dmodc::fabric::Part;
use dmodc::judge::{Check, Delivery};
use dmodc::{
    Change, Degradation, Dmodc, Engine, Fabric, ForwardingTables, Guid, InferredWhole, Live,
    NO_ROUTE, Paper, PortNumber, RouteError, Router, Routing, RoutingOptions, SwitchIndex,
    TableDelta, alternative_ports,
};

use crate::error::{DmodcStatus, Failure};

/// An engine of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EngineKind {
    Dmodc,
    Stable,
    Paper,
}

/// A router, the tables before its last change, and what finds parts by GUID.
pub(crate) struct Session {
    router: Router,
    before: ForwardingTables,
    switches: HashMap<Guid, SwitchIndex>,
    columns: HashMap<u32, usize>,
}

/// An entry that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChangedEntry {
    pub(crate) lid: u32,
    pub(crate) old: u8,
    pub(crate) new: u8,
}

/// The entries that a change moved, by switch.
#[derive(Default)]
pub(crate) struct ExactDelta {
    pub(crate) switches: Vec<(Guid, Vec<ChangedEntry>)>,
    pub(crate) entries: u64,
}

/// A part that fails or works again. Port 0 is the switch itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartChange {
    pub(crate) guid: u64,
    pub(crate) port: u8,
    pub(crate) works: bool,
}

fn route_failure(error: &RouteError) -> Failure {
    let status = match error {
        RouteError::NoMemory(_) => DmodcStatus::NoMemory,
        RouteError::OtherFabric(_) => DmodcStatus::BadFabric,
        _ => DmodcStatus::CannotRoute,
    };
    Failure::new(status, error.to_string())
}

fn not_found(message: String) -> Failure {
    Failure::new(DmodcStatus::NotFound, message)
}

impl Session {
    /// Routes a fabric for the first time.
    pub(crate) fn new(
        fabric: &Arc<Fabric>,
        engine: EngineKind,
        reference: Option<&Fabric>,
    ) -> Result<Self, Failure> {
        let router = match (engine, reference) {
            (EngineKind::Stable, Some(reference)) => Router::by_reference(reference, fabric),
            (EngineKind::Stable, None) => by_inferred(fabric)?,
            (EngineKind::Dmodc, _) => plain(fabric.clone(), Arc::new(Dmodc)),
            (EngineKind::Paper, _) => plain(fabric.clone(), Arc::new(Paper)),
        };
        let router = router.map_err(|error| route_failure(&error))?;
        let all = router.fabric().clone();
        let destinations = router.tables().columns().destinations();
        Ok(Session {
            before: router.tables().clone(),
            switches: all.switch_indices().map(|s| (all.switch(s).guid, s)).collect(),
            columns: destinations.iter().enumerate().map(|(at, d)| (d.lid.0, at)).collect(),
            router,
        })
    }

    /// Makes changes, and returns the entries that they moved.
    pub(crate) fn apply(&mut self, changes: &[PartChange]) -> Result<ExactDelta, Failure> {
        let changes: Vec<Change> = changes
            .iter()
            .map(|change| {
                let part = self.part(change.guid, change.port)?;
                Ok(if change.works { Change::Recovers(part) } else { Change::Dies(part) })
            })
            .collect::<Result<_, Failure>>()?;
        let delta = self.router.apply(&changes).map_err(|error| route_failure(&error))?;
        Ok(self.exact(&delta))
    }

    fn part(&self, guid: u64, port: u8) -> Result<Part, Failure> {
        let s = self.switch(guid)?;
        if port == 0 {
            return Ok(Part::Switch(s));
        }
        let cable =
            self.router.fabric().port(s, PortNumber(port)).and_then(dmodc::fabric::Port::cable);
        let none =
            || not_found(format!("there is no cable in port {port} of the switch {guid:#018x}"));
        cable.map(Part::Cable).ok_or_else(none)
    }

    fn switch(&self, guid: u64) -> Result<SwitchIndex, Failure> {
        let found = self.switches.get(&Guid(guid)).copied();
        found.ok_or_else(|| not_found(format!("there is no switch with the GUID {guid:#018x}")))
    }

    /// Returns the entries of a delta that differ, and takes the new tables for the next time.
    fn exact(&mut self, delta: &TableDelta) -> ExactDelta {
        let (now, fabric) = (self.router.tables(), self.router.fabric());
        let columns = now.columns();
        let mut by_switch: BTreeMap<usize, Vec<ChangedEntry>> = BTreeMap::new();
        let mut entries = 0;
        let port =
            |tables: &ForwardingTables, s, column| tables.port(s, column).map_or(NO_ROUTE, |p| p.0);
        for row in delta.rows() {
            for column in row.spans(columns).flatten() {
                let old = port(&self.before, row.switch, column);
                let new = port(now, row.switch, column);
                if old != new {
                    let lid = columns.destinations()[column].lid.0;
                    by_switch.entry(row.switch.at()).or_default().push(ChangedEntry {
                        lid,
                        old,
                        new,
                    });
                    entries += 1;
                }
            }
        }
        delta.copy(now, &mut self.before);
        let named = by_switch.into_iter().map(|(s, mut entries)| {
            entries.sort_unstable_by_key(|entry| entry.lid);
            (fabric.switch(SwitchIndex::new(s)).guid, entries)
        });
        ExactDelta { switches: named.collect(), entries }
    }

    /// Returns the number of entries of a row: one more than the greatest LID.
    pub(crate) fn row_length(&self) -> usize {
        self.columns.keys().max().map_or(0, |&last| last as usize + 1)
    }

    /// Writes the table of a switch, by LID. Entries without a route, and LIDs that nobody has, are 255.
    pub(crate) fn row(&self, guid: u64, ports: &mut [u8]) -> Result<(), Failure> {
        let s = self.switch(guid)?;
        ports.fill(NO_ROUTE);
        for (&lid, &column) in &self.columns {
            if let Some(port) = self.router.tables().port(s, column) {
                ports[lid as usize] = port.0;
            }
        }
        Ok(())
    }

    /// Returns the ports by which a switch may send to a LID without a deadlock.
    pub(crate) fn alternatives(&self, guid: u64, lid: u32) -> Result<Vec<u8>, Failure> {
        let s = self.switch(guid)?;
        let unknown = || not_found(format!("no destination has the LID {lid}"));
        let &column = self.columns.get(&lid).ok_or_else(unknown)?;
        let router = &self.router;
        let target = router.tables().columns().destinations()[column].end.switch(router.fabric());
        if !router.live().switch(s) || !router.live().switch(target) {
            return Ok(vec![]);
        }
        if s == target {
            return Ok(router.tables().port(s, column).map(|port| port.0).into_iter().collect());
        }
        let mut found = vec![];
        alternative_ports(router.live(), router.preprocessing(), &[target], |at, _, ports| {
            if at == s {
                found = ports.iter().map(|port| port.0).collect();
            }
        })
        .map_err(|error| Failure::new(DmodcStatus::CannotRoute, error.to_string()))?;
        Ok(found)
    }

    /// Returns whether the routing is valid, and how many pairs arrive.
    pub(crate) fn verdict(&self) -> (bool, Delivery) {
        let coverage = self.router.coverage();
        (coverage.is_valid(), Delivery::of_route(self.router.live(), &coverage))
    }

    /// Follows every pair of nodes.
    pub(crate) fn check(&self) -> Check {
        self.router.check()
    }

    /// Returns the digest of the tables.
    pub(crate) fn digest(&self) -> String {
        self.router.tables().digest().to_string()
    }
}

fn plain(fabric: Arc<Fabric>, engine: Arc<dyn Engine>) -> Result<Router, RouteError> {
    let whole = Degradation::none(&fabric);
    let routing = Routing::new(Live::new(&fabric, &whole), &RoutingOptions::default());
    Router::with_engine(engine, fabric, routing, whole)
}

/// Routes by `stable`; the reference is the fabric with the cables that its regular shape lacks.
fn by_inferred(fabric: &Arc<Fabric>) -> Result<Result<Router, RouteError>, Failure> {
    let options = RoutingOptions::default();
    let whole = InferredWhole::new(fabric, &options.leaves).map_err(|why| {
        let message = format!(
            "the engine stable needs a reference, and none can be inferred because the fabric is too irregular: {why}"
        );
        Failure::new(DmodcStatus::CannotRoute, message)
    })?;
    let (routing, stable) = whole.stable(&options);
    let first = Live::new(&whole.fabric, &whole.missing);
    let relieved = stable.relieved(&routing, first);
    Ok(relieved.and_then(|(stable, _)| {
        let missing = whole.missing.clone();
        Router::with_engine(Arc::new(stable), Arc::new(whole.fabric), routing, missing)
    }))
}
