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

use dmodc::{
    Degradation, Engine, Fabric, ForwardingTables, InferredWhole, Live, Preprocessing, Routing,
    RoutingOptions,
};

use super::cell::Cell;
use super::inputs::{Study, draw, nodes};
use super::measure::{JudgedTables, TableFindings, about_pattern};
use super::rows::StudyRow;
use super::seeds::{SeededPattern, engine_seed, seeded, trial_seed};
use crate::engine::{EngineInputs, EngineName};

/// The time that OpenSM may take, in seconds.
const LONGEST: u64 = 3600;

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

/// The faults of a cell.
pub(super) struct DrawnCell<'a> {
    /// The faults as a degradation of the whole.
    pub(super) dead: Degradation,
    /// Whether faults were drawn: without any, the tables are the healthy ones.
    pub(super) has_faults: bool,
    pub(super) patterns: Vec<SeededPattern<'a>>,
    /// What all rows of the cell share.
    about: StudyRow,
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

    /// Returns the study.
    #[cfg(feature = "gpu")]
    pub(super) fn study(&self) -> &Study {
        self.study
    }

    /// Returns the fabric with the cables that it lacks, which is the one that is routed.
    #[cfg(feature = "gpu")]
    pub(super) fn fabric(&self) -> &Fabric {
        &self.whole.fabric
    }

    /// Returns orders and columns.
    #[cfg(feature = "gpu")]
    pub(super) fn routing(&self) -> &Routing {
        &self.routing
    }

    /// Returns an engine of the plan; `None` for one of OpenSM's.
    #[cfg(feature = "gpu")]
    pub(super) fn engine(&self, at: usize) -> Option<&dyn Engine> {
        self.engines[at].as_deref()
    }

    /// Returns whether an engine of the plan takes part in a cell of this fabric.
    #[cfg(feature = "gpu")]
    pub(super) fn takes_part(&self, at: usize) -> bool {
        self.healthy[at].is_some()
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
        let drawn = self.draw(cell);
        let ready = self.routing.preprocess(self.live(&drawn));
        let mut rows = Vec::with_capacity(self.study.rows_of(cell));
        for at in self.study.engines_of(cell) {
            let about = self.about_engine(&drawn, at);
            match self.measure_engine(at, &drawn, &ready) {
                Ok(found) => rows.extend(found.rows(&about, &drawn.patterns)),
                Err(why) => rows.extend(refused(&about, &drawn.patterns, &why)),
            }
        }
        rows
    }

    /// Draws the faults of a cell.
    pub(super) fn draw(&self, cell: Cell) -> DrawnCell<'a> {
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
        DrawnCell {
            dead: self.whole.degraded(self.found, &drawn),
            has_faults: drawn.removed().next().is_some(),
            patterns: seeded(plan, seed),
            about,
        }
    }

    /// Returns the degraded fabric of a cell.
    pub(super) fn live<'d>(&'d self, drawn: &'d DrawnCell<'_>) -> Live<'d> {
        Live::new(&self.whole.fabric, &drawn.dead)
    }

    /// Returns what all rows of an engine in a cell share.
    pub(super) fn about_engine(&self, drawn: &DrawnCell<'_>, at: usize) -> StudyRow {
        let plan = &self.study.plan;
        let engine = &plan.engines[at].name;
        let mut about = drawn.about.clone();
        about.set("engine", engine);
        let draws = (*engine.router() == EngineName::Random).then(|| engine_seed(plan));
        about.set_some("engine_seed", draws);
        about
    }

    /// Returns the healthy tables of an engine of the plan, or the reason why there are none.
    pub(super) fn healthy(&self, at: usize) -> Result<&ForwardingTables, &String> {
        let healthy = self.healthy[at].as_ref();
        healthy.expect("the engines of all cells are prepared").as_ref()
    }

    /// Returns the tables of an engine in a cell, or the reason why it gives none.
    pub(super) fn tables_of(
        &self,
        at: usize,
        drawn: &DrawnCell<'_>,
    ) -> Result<ForwardingTables, String> {
        match drawn.has_faults {
            false => self.healthy(at).cloned().map_err(Clone::clone),
            true => self.tables(at, &drawn.dead),
        }
    }

    /// Measures one engine on the degraded fabric of a cell. Returns the reason if it gives no tables.
    fn measure_engine(
        &self,
        at: usize,
        drawn: &DrawnCell<'_>,
        ready: &Preprocessing,
    ) -> Result<TableFindings, String> {
        let tables = self.tables_of(at, drawn)?;
        let judged = JudgedTables {
            live: self.live(drawn),
            ready,
            routing: &self.routing,
            tables: &tables,
            healthy: self.healthy(at).ok(),
        };
        Ok(judged.measure(&drawn.patterns, self.study.plan.rates))
    }
}

/// Returns the rows of an engine that gives no tables.
pub(super) fn refused(
    about: &StudyRow,
    patterns: &[SeededPattern<'_>],
    why: &str,
) -> impl Iterator<Item = StudyRow> {
    patterns.iter().map(move |seeded| {
        let mut row = about_pattern(about, seeded);
        row.set("refused", why);
        row
    })
}
