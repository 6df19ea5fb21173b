//! The measurements of a cell: one trial of one degradation, with all engines and patterns.
//!
//! The same trial is judged with every engine and pattern. Its seed depends only on the study's seed and the number of the
//! trial, and a larger draw with a seed contains every smaller one. So the third trial of 2 % has the faults of the third
//! trial of 1 % and more, on every fabric, and the points of a curve belong to the same accidents.
//!
//! A file of a fabric may lack cables before any fault is drawn. What is routed is the inferred whole, in which these cables
//! are missing in every cell; it is the reference of the engine `stable`. Faults are drawn from the cables of the file.

use std::path::PathBuf;
use std::sync::Arc;

use dmodc::judge::rates::FairRates;
use dmodc::judge::risk::Traffic;
use dmodc::judge::{Delivery, diff, forced};
use dmodc::{
    Degradation, Engine, Fabric, ForwardingTables, InferredWhole, Live, Preprocessing, Random,
    Routing, RoutingOptions,
};

use super::cell::Cell;
use super::inputs::{Study, draw, nodes};
use super::measure::{fair_rates, risk, update};
use super::plan::StudyPlan;
use super::rows::StudyRow;
use crate::analysis::Pattern;
use crate::engine::{EngineInputs, EngineName};

/// The time that OpenSM may take, in seconds.
const LONGEST: u64 = 3600;

/// Seeds are below this number, because every tool can read such numbers exactly.
const SEEDS: u64 = 1 << 53;

/// Streams of the study's seed: one for each trial, from this one on.
const TRIALS: u64 = 1 << 40;

/// The stream of the study's seed for engines that draw.
const ENGINES: u64 = 2 << 40;

/// Streams of a trial's seed, other than those from which faults are drawn.
const PERMUTATIONS: u64 = 16;

const SHIFTS: u64 = 17;

const BISECTIONS: u64 = 18;

/// Returns the seed of an engine that draws. There is one for the whole study, so that an update moves no entries only
/// because of another seed.
fn engine_seed(plan: &StudyPlan) -> u64 {
    Random::new(plan.seed, ENGINES).below(SEEDS)
}

/// Returns the seed of a trial.
fn trial_seed(plan: &StudyPlan, trial: u32) -> u64 {
    Random::new(plan.seed, TRIALS + u64::from(trial)).below(SEEDS)
}

/// Returns the seed of a pattern; `None` if the pattern is not drawn.
fn pattern_seed(trial_seed: u64, pattern: &Pattern) -> Option<u64> {
    let stream = match pattern {
        Pattern::Permutations(_) => PERMUTATIONS,
        Pattern::Shifts(Some(_)) => SHIFTS,
        Pattern::Bisections(_) => BISECTIONS,
        _ => return None,
    };
    Some(Random::new(trial_seed, stream).below(SEEDS))
}

/// Everything that all cells of a fabric share: orders and columns, and the healthy tables of their engines.
pub(super) struct PreparedFabric<'a> {
    study: &'a Study,
    /// The fabric of the plan, from which faults are drawn.
    found: &'a Fabric,
    /// The same with the cables that it lacks.
    whole: InferredWhole,
    routing: Routing,
    /// The engines of the plan; `None` for OpenSM's.
    engines: Vec<Option<Arc<dyn Engine>>>,
    plugin: PathBuf,
    /// The healthy tables by engine of the plan, or the reason why there are none; `None` if the engine takes no part.
    healthy: Vec<Option<Result<ForwardingTables, String>>>,
}

/// A degradation of the whole, and everything that engines need to know about it.
struct DegradedState {
    dead: Degradation,
    /// Whether faults were drawn: without any, the tables are the healthy ones.
    has_faults: bool,
    ready: Preprocessing,
}

impl<'a> PreparedFabric<'a> {
    /// Prepares the fabric of these cells. Returns `None` if there are no cells.
    pub(super) fn new(study: &'a Study, cells: &[Cell], plugin: PathBuf) -> Option<Self> {
        let found = &study.fabrics[cells.first()?.fabric];
        let options = RoutingOptions::default();
        let whole = InferredWhole::new(found, &options.leaves)
            .unwrap_or_else(|_| InferredWhole::unchanged(found));
        let nothing_missing = Degradation::none(&whole.fabric);
        let reference = Live::new(&whole.fabric, &nothing_missing);
        let routing = Routing::new(reference, &options);
        let inputs = EngineInputs {
            routing: &routing,
            reference,
            first: Live::new(&whole.fabric, &whole.missing),
            seed: engine_seed(&study.plan),
        };
        let engines = study.plan.engines.iter().map(|engine| engine.name.engine(inputs)).collect();
        let mut prepared =
            PreparedFabric { study, found, whole, routing, engines, plugin, healthy: vec![] };
        let takes_part = |at| cells.iter().any(|&cell| study.engines_of(cell).any(|e| e == at));
        let engines = 0..study.plan.engines.len();
        let healthy = engines
            .map(|at| takes_part(at).then(|| prepared.tables(at, &prepared.whole.missing)))
            .collect();
        prepared.healthy = healthy;
        Some(prepared)
    }

    /// Returns the tables of an engine of the plan under a degradation of the whole, or the reason why it gives none.
    fn tables(&self, at: usize, dead: &Degradation) -> Result<ForwardingTables, String> {
        let live = Live::new(&self.whole.fabric, dead);
        match (&self.engines[at], &self.study.plan.engines[at].name) {
            (Some(engine), _) => {
                let routed = self.routing.route(live, &**engine);
                routed.map(|(tables, _)| tables).map_err(|error| error.to_string())
            }
            (None, EngineName::Opensm(name)) => {
                let computed = dmodc_lab::tables_of(live, name, &self.plugin, LONGEST);
                let lft = computed.map_err(|error| error.to_string())?.lft;
                let tables = lft.with_columns(self.routing.columns(), live.fabric);
                tables.map_err(|error| error.to_string())
            }
            (None, name) => unreachable!("{name} is made from orders and columns"),
        }
    }

    /// Returns all rows of a cell: engine by engine, pattern by pattern.
    pub(super) fn measure(&self, cell: Cell) -> Vec<StudyRow> {
        let plan = &self.study.plan;
        let level = &plan.levels[cell.level];
        let seed = trial_seed(plan, cell.trial);
        let drawn = draw(level, seed)
            .degradation(self.found)
            .expect("the study was opened: the fabric has as many parts as shall die");
        let mut about = if plan.rates { StudyRow::with_rates() } else { StudyRow::default() };
        about.set("study", &plan.name);
        about.set("fabric", &plan.fabrics[cell.fabric].name);
        about.set("nodes", nodes(self.found));
        about.set("switches", self.found.switches().len());
        about.set("cables_asked", level.cables);
        about.set("switches_asked", level.switches);
        about.set("throw", cell.trial + 1);
        about.set("throw_seed", seed);
        about.set("cables_dead", drawn.dead_cables().count());
        about.set("switches_dead", drawn.dead_switches().count());
        let dead = self.whole.degraded(self.found, &drawn);
        let present = DegradedState {
            ready: self.routing.preprocess(Live::new(&self.whole.fabric, &dead)),
            dead,
            has_faults: drawn.removed().next().is_some(),
        };
        let mut rows = Vec::with_capacity(self.study.rows_of(cell));
        for at in self.study.engines_of(cell) {
            self.measure_engine(at, &present, &about, &mut rows);
        }
        rows
    }

    /// Adds the rows of one engine on the degraded fabric.
    fn measure_engine(
        &self,
        at: usize,
        DegradedState { dead, has_faults, ready }: &DegradedState,
        about: &StudyRow,
        rows: &mut Vec<StudyRow>,
    ) {
        let (plan, live) = (&self.study.plan, Live::new(&self.whole.fabric, dead));
        let engine = &plan.engines[at].name;
        let healthy = self.healthy[at].as_ref().expect("the engines of all cells are prepared");
        let mut about = about.clone();
        about.set("engine", engine);
        let draws = (*engine.router() == EngineName::Random).then(|| engine_seed(plan));
        about.set_some("engine_seed", draws);
        let trial_seed = about.get("throw_seed").parse().expect("it was set to a number");
        let mut each = |measure: &mut dyn FnMut(&Pattern, Option<u64>, &mut StudyRow)| {
            for pattern in &plan.patterns {
                let (mut row, seed) = (about.clone(), pattern_seed(trial_seed, pattern));
                row.set("pattern", pattern);
                row.set_some("pattern_seed", seed);
                measure(pattern, seed, &mut row);
                rows.push(row);
            }
        };
        let tables = match has_faults {
            false => healthy.clone(),
            true => self.tables(at, dead),
        };
        let tables = match tables {
            Ok(tables) => tables,
            Err(why) => return each(&mut |_, _, row| row.set("refused", &why)),
        };
        let traffic = Traffic::new(live, &ready.ranking, self.routing.orders(), &tables);
        let unroutable = traffic.all_to_all().undelivered;
        let delivery = Delivery::among(live, traffic.nodes().iter().copied(), unroutable);
        // The paper's condition is about the fabric, not about the tables of an engine.
        let valid = dmodc::validity(live, ready, self.routing.columns()).ok();
        let valid = valid.map(|coverage| coverage.is_valid());
        let moved = healthy.as_ref().ok().map(|healthy| {
            let diff = diff(live, &ready.ranking, healthy, &tables);
            (diff, forced(live, ready, healthy, &tables).ok())
        });
        let fair = plan.rates.then(|| FairRates::new(live.fabric, &traffic));
        each(&mut |pattern, seed, row| {
            risk(&traffic, pattern, seed, row);
            if let Some(fair) = &fair {
                fair_rates(fair, pattern, seed, row);
            }
            row.set("unroutable_pairs", unroutable);
            row.set("lost", delivery.lost);
            row.set_some("valid", valid);
            if let Some((diff, forced)) = &moved {
                update(diff, *forced, row);
            }
        });
    }
}
