//! One event after the other: how long until tables are uploaded, what changed, whether it is right.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use dmodc::judge::check;
use dmodc::{
    Degradation, DestinationOrder, Dmodc, Fabric, ForwardingTables, LeafRule, Live, NO_ROUTE,
    Ranking, Routing, RoutingOptions, SavedOrders, SwitchOrder,
};
use dmodc_formats::lft::Lft;
use dmodc_formats::orders;
use serde::Serialize;

use super::opensm::{Kind, now};
use super::script::{Step, What};
use super::{LabError, Opensm, Script, Setup, Sim};

/// The longest that OpenSM may take for one event, in seconds.
const LONGEST: u64 = 900;

/// What one event led to.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The event.
    pub event: String,
    /// How many heavy sweeps OpenSM made.
    pub sweeps: usize,
    /// From the event until the subnet was up, in seconds.
    pub upload_s: f64,
    /// How long the engine computed hop tables in the last sweep, in milliseconds.
    pub matrices_ms: f64,
    /// How long the engine computed forwarding tables in the last sweep, in milliseconds.
    pub tables_ms: f64,
    /// Entries of the switches that are other than before the event.
    pub entries_changed: usize,
    /// Node pairs that are delivered, of so many.
    pub delivered: u64,
    /// Node pairs.
    pub pairs: u64,
    /// Pairs that are lost or loop although the fabric joins them by an up*down* route.
    pub lost: u64,
    /// Whether the channel dependency graph has no cycle.
    pub deadlock_free: bool,
    /// A digest of what the switches hold.
    pub digest: u64,
    /// Whether the switches hold what `dmodc route` computes for the fabric of the moment; only for Dmodc.
    pub as_offline: Option<bool>,
}

impl Row {
    /// Whether nothing is wrong with the tables. What is cut off is lost to any engine.
    pub fn is_sound(&self) -> bool {
        self.lost == 0 && self.deadlock_free && self.as_offline != Some(false)
    }
}

/// Runs a script; `each` is told each row as it comes.
///
/// # Errors
/// If the lab fails, or OpenSM uses another engine.
pub fn run(
    fabric: &Fabric,
    engine: &str,
    plugin: &Path,
    script: &Script,
    mut each: impl FnMut(&Row),
) -> Result<Vec<Row>, LabError> {
    let sim = Sim::start(fabric)?;
    let since = now();
    let opensm = Opensm::start(&sim, &Setup::new(engine, plugin))?;
    let mut bench = Bench { sim, opensm, is_ours: engine == "dmodc", before: Image::new() };
    let mut rows = vec![bench.row("start", since)?];
    each(&rows[0]);
    for (name, step) in &script.steps {
        let since = now();
        if let Step::Wait(seconds) = step {
            sleep(Duration::from_secs((*seconds).into()));
            continue;
        }
        bench.take(step).map_err(|error| match error {
            LabError::Failed(why) => LabError::Failed(format!("{name}: {why}")),
            other => other,
        })?;
        let row = bench.row(name, since)?;
        each(&row);
        rows.push(row);
    }
    Ok(rows)
}

/// What each switch holds: a port for each LID, by GUID.
type Image = BTreeMap<u64, Vec<u8>>;

/// A fabric, OpenSM, and what the switches held before.
struct Bench {
    sim: Sim,
    opensm: Opensm,
    is_ours: bool,
    before: Image,
}

impl Bench {
    /// Lets a step happen.
    fn take(&mut self, step: &Step) -> Result<(), LabError> {
        match step {
            Step::Wait(_) => Ok(()),
            Step::RepairAll => {
                let healthy = Degradation::none(self.sim.fabric());
                self.sim.degrade(&healthy)
            }
            Step::Change { what, dead } => self.set(what, &[*dead]),
            Step::Flap { what, times } => self.set(what, &[true, false].repeat(*times as usize)),
        }
    }

    /// These parts become dead or not, one state after the other.
    fn set(&mut self, what: &What, states: &[bool]) -> Result<(), LabError> {
        let parts = what.parts(&self.sim).map_err(LabError::Failed)?;
        for (at, &dead) in states.iter().enumerate() {
            if at > 0 {
                sleep(Duration::from_millis(150));
            }
            let mut wanted = self.sim.dead().clone();
            for &part in &parts {
                wanted.set(part, dead);
            }
            self.sim.degrade(&wanted)?;
        }
        Ok(())
    }

    /// Waits for OpenSM, reads the tables back and judges them.
    fn row(&mut self, name: &str, since: f64) -> Result<Row, LabError> {
        let events = self.opensm.settle(since, LONGEST)?;
        let fabric = self.sim.discover()?;
        let lft = self.sim.tables(&fabric)?;
        let tables = Lft::tables(&[&lft], &fabric).map_err(dmodc::RouteError::from)?.remove(0);
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        let routing = Routing::new(live, &self.options());
        let (ours, _) = routing.route(live, &Dmodc)?;
        let ranking = Ranking::new(live, &LeafRule::Detect);
        let judgement = check(live, &ranking, routing.orders(), &tables).nodes;
        let best = check(live, &ranking, routing.orders(), &ours).nodes;
        let now = image(&fabric, &tables);
        let before = std::mem::replace(&mut self.before, now);
        let stage = |wanted: bool| {
            let time = |kind: &Kind| match *kind {
                Kind::Stage { is_tables, wall, .. } if is_tables == wanted => Some(wall),
                _ => None,
            };
            events.iter().rev().find_map(|event| time(&event.kind)).unwrap_or(0.0)
        };
        let up = events.iter().rev().find(|event| event.kind == Kind::Up);
        Ok(Row {
            event: name.into(),
            sweeps: events.iter().filter(|event| event.kind == Kind::Sweep).count(),
            upload_s: up.map_or(0.0, |event| event.time - since),
            matrices_ms: stage(false),
            tables_ms: stage(true),
            entries_changed: differing(&before, &self.before),
            delivered: judgement.delivered,
            pairs: judgement.pairs,
            lost: best.delivered.saturating_sub(judgement.delivered),
            deadlock_free: judgement.is_deadlock_free(),
            digest: BuildHasherDefault::<DefaultHasher>::default().hash_one(&self.before),
            as_offline: self.is_ours.then(|| differing(&image(&fabric, &ours), &self.before) == 0),
        })
    }

    /// What `dmodc route` would be told: the orders that the plugin saved.
    fn options(&self) -> RoutingOptions {
        let text = std::fs::read(self.opensm.folder().join("dmodc.orders")).ok();
        let saved: Option<SavedOrders> = text.and_then(|text| orders::read(&text).ok());
        RoutingOptions {
            leaves: LeafRule::Detect,
            destinations: saved
                .clone()
                .map_or(DestinationOrder::Topological, DestinationOrder::Saved),
            switches: saved.map_or(SwitchOrder::Plane, SwitchOrder::Saved),
            switch_lids: true,
        }
    }
}

fn image(fabric: &Fabric, tables: &ForwardingTables) -> Image {
    let columns = tables.columns();
    let width = columns.destinations().iter().map(|d| d.lid.0 as usize + 1).max().unwrap_or(0);
    let row = |s: dmodc::SwitchIndex| {
        let mut row = vec![NO_ROUTE; width];
        for (column, d) in columns.destinations().iter().enumerate() {
            row[d.lid.0 as usize] = tables.port(s, column).map_or(NO_ROUTE, |port| port.0);
        }
        (fabric.switch(s).guid.0, row)
    };
    fabric.switch_indices().map(row).collect()
}

/// In how many entries they differ. What one of them has not, is empty.
fn differing(a: &Image, b: &Image) -> usize {
    let none = Vec::new();
    let guids = a.keys().chain(b.keys().filter(|guid| !a.contains_key(guid)));
    let count = |guid: &u64| {
        let (a, b) = (a.get(guid).unwrap_or(&none), b.get(guid).unwrap_or(&none));
        let entry = |row: &[u8], lid: usize| row.get(lid).copied().unwrap_or(NO_ROUTE);
        (0..a.len().max(b.len())).filter(|&lid| entry(a, lid) != entry(b, lid)).count()
    };
    guids.map(count).sum()
}
