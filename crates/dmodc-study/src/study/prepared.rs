//! The measurements of a cell: one trial of one degradation, with all engines and patterns.
//!
//! The same trial is judged with every engine and pattern. Its seed depends only on the study's seed and the number of the
//! trial, and a larger draw with a seed contains every smaller one. So the third trial of 2 % has the faults of the third
//! trial of 1 % and more, on every fabric, and the points of a curve belong to the same accidents.

use std::path::PathBuf;
use std::sync::Arc;

use dmodc::judge::risk::Traffic;
use dmodc::judge::{Delivery, diff, forced};
use dmodc::{
    Degradation, Dmodc, Dmodk, Engine, Fabric, ForwardingTables, Live, Preprocessing, Random,
    RandomPorts, Reference, Routing, RoutingOptions, Stable,
};

use super::cell::Cell;
use super::inputs::{Study, draw, nodes};
use super::measure::{risk, update};
use super::plan::StudyPlan;
use super::rows::StudyRow;
use crate::analysis::Pattern;
use crate::engine::EngineName;

/// The longest that OpenSM may take, in seconds.
const LONGEST: u64 = 3600;

/// Seeds are numbers that every tool reads exactly.
const SEEDS: u64 = 1 << 53;

/// Streams of the study's seed: one for each throw, and one for engines that draw.
const THROWS: u64 = 1 << 40;

const ENGINES: u64 = 2 << 40;

/// Streams of a throw's seed, beyond those that faults are drawn from.
const PERMUTATIONS: u64 = 16;

const SHIFTS: u64 = 17;

const BISECTIONS: u64 = 18;

/// The seed of an engine that draws. It is one for the whole study, so that what an update moves is not
/// the dice's doing.
fn engine_seed(plan: &StudyPlan) -> u64 {
    Random::new(plan.seed, ENGINES).below(SEEDS)
}

fn throw_seed(plan: &StudyPlan, throw: u32) -> u64 {
    Random::new(plan.seed, THROWS + u64::from(throw)).below(SEEDS)
}

/// The seed of a pattern, if it is drawn.
fn pattern_seed(throw_seed: u64, pattern: &Pattern) -> Option<u64> {
    let stream = match pattern {
        Pattern::Permutations(_) => PERMUTATIONS,
        Pattern::Shifts(Some(_)) => SHIFTS,
        Pattern::Bisections(_) => BISECTIONS,
        _ => return None,
    };
    Some(Random::new(throw_seed, stream).below(SEEDS))
}

/// What all cells of a fabric share: orders and columns, and the healthy tables of the engines that they want.
pub(super) struct PreparedFabric<'a> {
    study: &'a Study,
    fabric: &'a Fabric,
    routing: Routing,
    stable: Stable,
    plugin: PathBuf,
    /// By engine of the plan, where one takes part; why there are none.
    healthy: Vec<Option<Result<ForwardingTables, String>>>,
}

impl<'a> PreparedFabric<'a> {
    /// Prepares these cells of one fabric; `None` if there are none.
    pub(super) fn new(study: &'a Study, cells: &[Cell], plugin: PathBuf) -> Option<Self> {
        let fabric = &study.fabrics[cells.first()?.fabric];
        let nothing = Degradation::none(fabric);
        let live = Live::new(fabric, &nothing);
        let routing = Routing::new(live, &RoutingOptions::default());
        let stable = Stable { reference: Arc::new(Reference::new(&routing, live)) };
        let mut base = PreparedFabric { study, fabric, routing, stable, plugin, healthy: vec![] };
        let takes_part = |at| cells.iter().any(|&cell| study.engines_of(cell).any(|e| e == at));
        let engines = study.plan.engines.iter().enumerate();
        let healthy = engines
            .map(|(at, engine)| takes_part(at).then(|| base.tables(&engine.name, &nothing)))
            .collect();
        base.healthy = healthy;
        Some(base)
    }

    /// The tables that an engine gives under a degradation, or why it gives none.
    fn tables(&self, engine: &EngineName, dead: &Degradation) -> Result<ForwardingTables, String> {
        let seed = engine_seed(&self.study.plan);
        let ours: &dyn Engine = match engine {
            EngineName::Dmodc => &Dmodc,
            EngineName::Stable => &self.stable,
            EngineName::Dmodk => &Dmodk,
            EngineName::Random => &RandomPorts { seed },
            EngineName::Opensm(name) => {
                let live = Live::new(self.fabric, dead);
                let computed = dmodc_lab::tables_of(live, name, &self.plugin, LONGEST);
                let lft = computed.map_err(|error| error.to_string())?.lft;
                let tables = lft.with_columns(self.routing.columns(), self.fabric);
                return tables.map_err(|error| error.to_string());
            }
        };
        let routed = self.routing.route(Live::new(self.fabric, dead), ours);
        routed.map(|(tables, _)| tables).map_err(|error| error.to_string())
    }

    /// All rows of a cell: engine by engine, pattern by pattern.
    pub(super) fn measure(&self, cell: Cell) -> Vec<StudyRow> {
        let plan = &self.study.plan;
        let level = &plan.levels[cell.level];
        let seed = throw_seed(plan, cell.throw);
        let dead = draw(level, seed)
            .degradation(self.fabric)
            .expect("the study was opened: the fabric has as much as is to die");
        let mut about = StudyRow::default();
        about.set("study", &plan.name);
        about.set("fabric", &plan.fabrics[cell.fabric].name);
        about.set("nodes", nodes(self.fabric));
        about.set("switches", self.fabric.switches().len());
        about.set("cables_asked", level.cables);
        about.set("switches_asked", level.switches);
        about.set("throw", cell.throw + 1);
        about.set("throw_seed", seed);
        about.set("cables_dead", dead.dead_cables().count());
        about.set("switches_dead", dead.dead_switches().count());
        let ready = self.routing.preprocess(Live::new(self.fabric, &dead));
        let mut rows = Vec::with_capacity(self.study.rows_of(cell));
        for at in self.study.engines_of(cell) {
            self.engine(at, (&dead, &ready), &about, &mut rows);
        }
        rows
    }

    /// The rows of one engine, on the fabric as it is now.
    fn engine(
        &self,
        at: usize,
        (dead, ready): (&Degradation, &Preprocessing),
        about: &StudyRow,
        rows: &mut Vec<StudyRow>,
    ) {
        let (plan, live) = (&self.study.plan, Live::new(self.fabric, dead));
        let engine = &plan.engines[at].name;
        let healthy = self.healthy[at].as_ref().expect("the engines of all cells are prepared");
        let mut about = about.clone();
        about.set("engine", engine);
        let draws = (*engine == EngineName::Random).then(|| engine_seed(plan));
        about.set_some("engine_seed", draws);
        let throw_seed = about.get("throw_seed").parse().expect("it was set to a number");
        let mut each = |measure: &mut dyn FnMut(&Pattern, Option<u64>, &mut StudyRow)| {
            for pattern in &plan.patterns {
                let (mut row, seed) = (about.clone(), pattern_seed(throw_seed, pattern));
                row.set("pattern", pattern);
                row.set_some("pattern_seed", seed);
                measure(pattern, seed, &mut row);
                rows.push(row);
            }
        };
        let tables = match dead.removed().next() {
            None => healthy.clone(),
            Some(_) => self.tables(engine, dead),
        };
        let tables = match tables {
            Ok(tables) => tables,
            Err(why) => return each(&mut |_, _, row| row.set("refused", &why)),
        };
        let traffic = Traffic::new(live, &ready.ranking, self.routing.orders(), &tables);
        let unroutable = traffic.all_to_all().undelivered;
        let delivery = Delivery::among(live, traffic.nodes().iter().copied(), unroutable);
        // The paper's condition is about the fabric, whatever the engine makes of it.
        let valid = dmodc::validity(live, ready, self.routing.columns()).ok();
        let valid = valid.map(|coverage| coverage.is_valid());
        let moved = healthy.as_ref().ok().map(|healthy| {
            let diff = diff(live, &ready.ranking, healthy, &tables);
            (diff, forced(live, ready, healthy, &tables).ok())
        });
        each(&mut |pattern, seed, row| {
            risk(&traffic, pattern, seed, row);
            row.set("unroutable_pairs", unroutable);
            row.set("lost", delivery.lost);
            row.set_some("valid", valid);
            if let Some((diff, forced)) = &moved {
                update(diff, *forced, row);
            }
        });
    }
}
