//! Cells of a study, measured on a GPU in batches.
//!
//! The rows are those of the processor, byte for byte. What the GPU has no kernels for is done by the processor: engines other than
//! `dmodc` and `stable` give tables, which the GPU judges, and patterns other than those of [`DevicePattern`] and all rates are
//! measured with tables that are read back. If a cell of a batch cannot be routed, the processor routes the batch.

use std::sync::Arc;

use dmodc::judge::risk::Loads;
use dmodc::{Degradation, Fabric, ForwardingTables, RouteError, parallel};
use dmodc_gpu::{
    DevicePattern, GpuError, GpuJudge, GpuRouter, JudgeRequest, Judgement, Machine, PatternLoads,
};

use super::cell::Cell;
use super::measure::{JudgedTables, PatternFindings, TableFindings, UpdateFindings};
use super::prepared::{DrawnCell, PreparedFabric, refused};
use super::rows::StudyRow;
use super::seeds::SeededPattern;
use crate::analysis::{Pattern, PatternRisk};
use crate::gpu_engine::GpuInputs;

/// The most cells that are measured at once. More do not make the GPU busier.
const MOST_CELLS: usize = 256;

/// A fabric of a study, with its engines, in the memory of a GPU.
pub(super) struct GpuFabric<'a> {
    machine: &'a Arc<dyn Machine>,
    prepared: &'a PreparedFabric<'a>,
    fabric: Arc<Fabric>,
    /// By engine of the plan; `None` for those that take no part.
    engines: Vec<Option<EngineOnGpu>>,
    /// How many cells are measured at once.
    capacity: usize,
}

/// An engine and its healthy tables in the memory of a GPU.
struct EngineOnGpu {
    router: GpuRouter,
    judge: GpuJudge,
    /// Whether the GPU computes its tables, not only judges them.
    routes: bool,
}

/// The rows of each of some cells.
type RowsOfCells = Vec<Vec<StudyRow>>;

impl<'a> GpuFabric<'a> {
    /// Puts a fabric on a GPU, with room for as many cells at once as are useful and fit.
    ///
    /// # Errors
    /// If the GPU has too little memory for a single cell, or fails.
    pub(super) fn new(
        machine: &'a Arc<dyn Machine>,
        prepared: &'a PreparedFabric<'a>,
        cells: usize,
    ) -> Result<Self, GpuError> {
        let fabric = Arc::new(prepared.fabric().clone());
        let capacity = cells.clamp(1, MOST_CELLS);
        let mut on_gpu = GpuFabric { machine, prepared, fabric, engines: vec![], capacity };
        on_gpu.put_engines()?;
        Ok(on_gpu)
    }

    /// Puts the engines on the GPU, with room for fewer cells if there is not enough memory.
    fn put_engines(&mut self) -> Result<(), GpuError> {
        loop {
            // Memory is given back before more is asked for.
            self.engines.clear();
            match engines(self.machine, self.prepared, &self.fabric, self.capacity) {
                Err(GpuError::OutOfMemory { .. }) if self.capacity > 1 => self.capacity /= 2,
                found => {
                    self.engines = found?;
                    return Ok(());
                }
            }
        }
    }

    /// Returns how many cells are measured at once.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns the rows of some cells: engine by engine, pattern by pattern.
    ///
    /// # Errors
    /// If the GPU fails, or has too little memory for a single cell.
    pub(super) fn measure(&mut self, cells: &[Cell]) -> Result<RowsOfCells, GpuError> {
        let (mut rows, mut left) = (vec![], cells);
        while !left.is_empty() {
            let (now, later) = left.split_at(left.len().min(self.capacity));
            match self.measure_batch(now) {
                // The judge takes its memory when it is asked.
                Err(GpuError::OutOfMemory { .. }) if self.capacity > 1 => {
                    self.capacity /= 2;
                    self.put_engines()?;
                }
                found => {
                    rows.extend(found?);
                    left = later;
                }
            }
        }
        Ok(rows)
    }

    fn measure_batch(&mut self, cells: &[Cell]) -> Result<RowsOfCells, GpuError> {
        let prepared = self.prepared;
        let drawn = parallel::map(cells, |&cell| prepared.draw(cell));
        let mut rows: RowsOfCells = vec![vec![]; cells.len()];
        for (at, engine) in self.engines.iter_mut().enumerate() {
            let Some(engine) = engine else { continue };
            let takes_part =
                |&cell: &usize| prepared.study().engines_of(cells[cell]).any(|engine| engine == at);
            let cells_of_engine: Vec<usize> = (0..cells.len()).filter(takes_part).collect();
            let drawn_cells = cells_of_engine.iter().map(|&cell| &drawn[cell]).collect();
            let batch = EngineBatch { prepared, at, cells: drawn_cells };
            for (cell, rows_of_cell) in cells_of_engine.into_iter().zip(batch.rows(engine)?) {
                rows[cell].extend(rows_of_cell);
            }
        }
        Ok(rows)
    }
}

/// Puts all engines that take part on a GPU.
fn engines(
    machine: &Arc<dyn Machine>,
    prepared: &PreparedFabric<'_>,
    fabric: &Arc<Fabric>,
    capacity: usize,
) -> Result<Vec<Option<EngineOnGpu>>, GpuError> {
    let each = (0..prepared.study().plan.engines.len()).map(|at| {
        if !prepared.takes_part(at) {
            return Ok(None);
        }
        let inputs = GpuInputs { machine, fabric, routing: prepared.routing(), capacity };
        let own = prepared.engine(at).map(|engine| inputs.router(engine)).transpose()?.flatten();
        let routes = own.is_some();
        let router = own.map_or_else(|| inputs.plain(), Ok)?;
        let mut judge = GpuJudge::new(&router)?;
        if let Ok(healthy) = prepared.healthy(at) {
            judge.keep_tables(&router, healthy.clone())?;
        }
        Ok(Some(EngineOnGpu { router, judge, routes }))
    });
    each.collect()
}

/// One engine and the cells of a batch in which it takes part.
struct EngineBatch<'a> {
    prepared: &'a PreparedFabric<'a>,
    at: usize,
    cells: Vec<&'a DrawnCell<'a>>,
}

impl EngineBatch<'_> {
    /// Returns the rows of each cell.
    fn rows(&self, engine: &mut EngineOnGpu) -> Result<RowsOfCells, GpuError> {
        let refusals = self.route(engine)?;
        let judged: Vec<usize> =
            (0..self.cells.len()).filter(|&at| refusals[at].is_none()).collect();
        let findings = self.judge(engine, &judged, &self.dead(&judged))?;
        let mut findings = findings.into_iter();
        let rows = self.cells.iter().zip(&refusals).map(|(cell, refusal)| {
            let about = self.prepared.about_engine(cell, self.at);
            match refusal {
                Some(why) => refused(&about, &cell.patterns, why).collect(),
                None => {
                    let of_cell = findings.next().expect("all others are judged");
                    of_cell.rows(&about, &cell.patterns).collect()
                }
            }
        });
        Ok(rows.collect())
    }

    /// Puts the tables of the cells into the memory of the GPU. Returns for each cell the reason if there are none; it takes no part in
    /// the batch then.
    fn route(&self, engine: &mut EngineOnGpu) -> Result<Vec<Option<String>>, GpuError> {
        if engine.routes {
            let all: Vec<usize> = (0..self.cells.len()).collect();
            match engine.router.route(&self.dead(&all)) {
                // Some cell cannot be routed. The processor says which ones and why.
                Err(GpuError::Route(RouteError::TooFar(_))) => {}
                routed => return routed.map(|()| vec![None; all.len()]),
            }
        }
        let tables = parallel::map(&self.cells, |cell| self.prepared.tables_of(self.at, cell));
        let judged: Vec<usize> = (0..tables.len()).filter(|&at| tables[at].is_ok()).collect();
        let given: Vec<&ForwardingTables> = tables.iter().flatten().collect();
        engine.router.put_tables(&self.dead(&judged), &given)?;
        Ok(tables.into_iter().map(Result::err).collect())
    }

    /// Returns the degradations of some cells of the batch.
    fn dead(&self, cells: &[usize]) -> Vec<Degradation> {
        cells.iter().map(|&at| self.cells[at].dead.clone()).collect()
    }

    /// Returns the findings of these cells, whose states are in the memory of the GPU.
    fn judge(
        &self,
        engine: &mut EngineOnGpu,
        judged: &[usize],
        dead: &[Degradation],
    ) -> Result<Vec<TableFindings>, GpuError> {
        let Some(&first) = judged.first() else { return Ok(vec![]) };
        let plan = &self.prepared.study().plan;
        let places: Vec<Option<DevicePattern>> =
            self.cells[first].patterns.iter().map(|seeded| on_device(seeded.pattern)).collect();
        let patterns: Vec<DevicePattern> = places.iter().copied().flatten().collect();
        let seeds = |&at: &usize| -> Vec<u64> {
            let of_cell = self.cells[at].patterns.iter().zip(&places);
            of_cell.filter(|(_, place)| place.is_some()).map(|(s, _)| s.seed.unwrap_or(0)).collect()
        };
        let seeds: Vec<Vec<u64>> = judged.iter().map(seeds).collect();
        let compares = self.prepared.healthy(self.at).is_ok();
        let request = JudgeRequest { patterns: &patterns, seeds: &seeds, compares };
        let judgements = engine.judge.judge(&engine.router, dead, &request)?;
        let is_complete = patterns.len() == places.len() && !plan.rates;
        let rest: Vec<Option<ForwardingTables>> = (0..judged.len())
            .map(|state| match is_complete {
                true => Ok(None),
                false => engine.router.tables(state).map(Some),
            })
            .collect::<Result<_, GpuError>>()?;
        let judged: Vec<_> = judged.iter().zip(judgements).zip(rest).collect();
        Ok(parallel::map(judged, |((&at, judgement), tables)| {
            let host = tables.map(|tables| self.on_host(self.cells[at], &places, &tables));
            findings(judgement, &places, host)
        }))
    }

    /// Measures by the processor what the GPU does not measure. Patterns that it does measure have nothing but rates.
    fn on_host(
        &self,
        cell: &DrawnCell<'_>,
        places: &[Option<DevicePattern>],
        tables: &ForwardingTables,
    ) -> Vec<PatternFindings> {
        let live = self.prepared.live(cell);
        let routing = self.prepared.routing();
        let ready = routing.preprocess(live);
        let judged = JudgedTables { live, ready: &ready, routing, tables, healthy: None };
        let traffic = judged.traffic();
        let with_rates = self.prepared.study().plan.rates;
        let on_host: Vec<usize> =
            (0..places.len()).filter(|&at| with_rates || places[at].is_none()).collect();
        let patterns: Vec<SeededPattern<'_>> =
            on_host.iter().map(|&at| cell.patterns[at].clone()).collect();
        // The loads of all-to-all come from the GPU.
        let none = Loads::default();
        let measured = judged.measure_patterns(&traffic, &none, &patterns, with_rates);
        let mut findings = vec![PatternFindings::default(); places.len()];
        on_host.into_iter().zip(measured).for_each(|(at, finding)| findings[at] = finding);
        findings
    }
}

/// Returns the pattern as the GPU knows it, if it does.
fn on_device(pattern: &Pattern) -> Option<DevicePattern> {
    match *pattern {
        Pattern::AllToAll => Some(DevicePattern::AllToAll),
        Pattern::Permutations(count) => Some(DevicePattern::Permutations(count)),
        Pattern::Bisections(count) => Some(DevicePattern::Bisections(count)),
        Pattern::Shifts(None) => Some(DevicePattern::Shifts),
        _ => None,
    }
}

/// Joins what the GPU has found and what the processor has.
fn findings(
    judgement: Judgement,
    places: &[Option<DevicePattern>],
    host: Option<Vec<PatternFindings>>,
) -> TableFindings {
    let mut on_device = judgement.patterns.into_iter();
    let mut patterns = host.unwrap_or_else(|| vec![PatternFindings::default(); places.len()]);
    for (finding, _) in patterns.iter_mut().zip(places).filter(|(_, place)| place.is_some()) {
        finding.risk = on_device.next().map(|loads| match loads {
            PatternLoads::Single(loads) => PatternRisk::Single(loads),
            PatternLoads::Series(series) => PatternRisk::Series(series),
        });
    }
    TableFindings {
        patterns,
        unroutable: judgement.delivery.unroutable(),
        lost: judgement.delivery.lost,
        valid: judgement.is_valid,
        update: judgement.update.map(|update| UpdateFindings {
            changes: update.changes,
            of: update.of,
            pairs: update.pairs,
            forced: update.forced,
        }),
    }
}
