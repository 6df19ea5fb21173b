//! Runs a shard: its cells are measured on all cores, and each is on the disk as soon as it is finished.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
#[cfg(feature = "gpu")]
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use dmodc::parallel;
#[cfg(feature = "gpu")]
use dmodc_gpu::Machine;

use super::cell::Cell;
use super::error::StudyError;
use super::folder::{StudyFolder, lines, versions};
use super::inputs::Study;
use super::merge::merge;
#[cfg(feature = "gpu")]
use super::on_gpu::GpuFabric;
use super::prepared::PreparedFabric;
use super::rows::StudyRow;
use super::shard::Shard;
use crate::device::Device;
use crate::journal::{FinishedCell, Journal};

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StudyProgress {
    /// The number of finished cells.
    pub done: usize,
    /// The number of cells that an earlier run had finished.
    pub before: usize,
    /// The number of all cells of the shard.
    pub total: usize,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardResult {
    /// The progress at the end: all cells are finished.
    pub progress: StudyProgress,
    /// The table that was written.
    pub table: PathBuf,
    /// Its summary, if everything was measured.
    pub summary: Option<PathBuf>,
}

/// Prepares the fabrics of some cells. This is done before the cells, not by the first cell: a thread that waits for the
/// tables of another could be the one that has to help with them.
fn prepare<'a>(
    study: &'a Study,
    cells: &[usize],
    plugin: &Path,
) -> Vec<Option<PreparedFabric<'a>>> {
    let prepare = |fabric| {
        let cells = cells.iter().map(|&at| study.cells[at]);
        let its: Vec<Cell> = cells.filter(|cell| cell.fabric == fabric).collect();
        PreparedFabric::new(study, &its, plugin.to_owned())
    };
    (0..study.fabrics.len()).map(prepare).collect()
}

impl Study {
    /// Measures all cells, and returns their rows without writing any file. `plugin` is the library that times OpenSM's
    /// engines; it is not used if there are none.
    pub fn measure(&self, plugin: &Path) -> Vec<StudyRow> {
        self.measure_while(plugin, &|| true).expect("nothing stops it")
    }

    /// Does the same as long as `goes_on` says so, which is asked before each cell. Returns `None` if it was stopped.
    pub fn measure_while(
        &self,
        plugin: &Path,
        goes_on: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<StudyRow>> {
        let all: Vec<usize> = (0..self.cells.len()).collect();
        let fabrics = prepare(self, &all, plugin);
        let measure = |cell: &Cell| {
            let fabric = fabrics[cell.fabric].as_ref();
            let fabric = fabric.expect("the fabrics of all cells are prepared");
            goes_on().then(|| fabric.measure(*cell))
        };
        let rows: Option<Vec<Vec<StudyRow>>> =
            parallel::map(&self.cells, measure).into_iter().collect();
        rows.map(|rows| rows.into_iter().flatten().collect())
    }
}

/// A run of one shard.
#[derive(Clone, Debug)]
pub struct ShardRun<'a> {
    /// The study.
    pub study: &'a Study,
    /// The folder of the results.
    pub folder: &'a StudyFolder,
    /// The part of the study that is run.
    pub shard: Shard,
    /// The library of the plugin, which times OpenSM's engines.
    pub plugin: PathBuf,
    /// Where cells are measured. Rows do not depend on it.
    pub device: Device,
}

impl ShardRun<'_> {
    /// Measures the cells that are not finished yet, and calls `each` after every cell. Returns the files that were written.
    ///
    /// # Errors
    /// If files cannot be written, or belong to another plan.
    pub fn run(&self, each: impl Fn(StudyProgress) + Sync) -> Result<ShardResult, StudyError> {
        let ShardRun { study, folder, shard, .. } = *self;
        folder.create()?;
        // Tables of another plan would make merging fail: report them before the work.
        folder.merged(study).check(study)?;
        for other in folder.shards(".csv")? {
            folder.shard(other).check(study)?;
        }
        let table = folder.shard(shard);
        let mine: Vec<usize> = (0..study.cells.len()).filter(|&cell| shard.has(cell)).collect();
        let total = mine.len();
        // A single shard is merged at once: its user looks for the merged table.
        let product =
            if shard == Shard::WHOLE { folder.merged(study) } else { folder.shard(shard) };
        let done = |before, summary| ShardResult {
            progress: StudyProgress { done: total, before, total },
            table: product.csv.clone(),
            summary,
        };
        if table.lines(study)?.is_some() {
            return Ok(done(total, self.finish_whole()?));
        }
        table.check(study)?;
        let (journal, finished) = Journal::open(&folder.journal(shard), study)?;
        let pair = |finished: FinishedCell| (finished.cell, finished.rows);
        let finished: BTreeMap<usize, Vec<String>> = finished.into_iter().map(pair).collect();
        let missing: Vec<usize> =
            mine.into_iter().filter(|cell| !finished.contains_key(cell)).collect();
        let progress = StudyProgress { done: finished.len(), before: finished.len(), total };
        each(progress);
        let (journal, mut rows) = (Mutex::new((journal, progress)), finished);
        rows.extend(self.measure(&missing, &journal, each)?.into_iter().map(pair));
        let (journal, _) = journal.into_inner().expect("no thread panicked with the journal");
        let lines: Vec<String> = rows.into_values().flatten().collect();
        table.write(study, shard, &versions(study), &lines)?;
        journal.remove()?;
        Ok(done(progress.before, self.finish_whole()?))
    }

    /// Measures cells and writes their rows into the journal. Returns them.
    fn measure(
        &self,
        cells: &[usize],
        journal: &Mutex<(Journal, StudyProgress)>,
        each: impl Fn(StudyProgress) + Sync,
    ) -> Result<Vec<FinishedCell>, StudyError> {
        let study = self.study;
        let fabrics = prepare(study, cells, &self.plugin);
        #[cfg(feature = "gpu")]
        if let Device::Gpu(machine) = &self.device {
            return on_gpu(machine, study, &fabrics, cells, |finished| {
                let mut journal = journal.lock().expect("no thread panicked with the journal");
                journal.0.add_all(finished)?;
                journal.1.done += finished.len();
                each(journal.1);
                Ok(())
            });
        }
        let failed = AtomicBool::new(false);
        let measure = |&at: &usize| -> Option<Result<FinishedCell, StudyError>> {
            // Once one cell could not be written, the others need not be measured.
            if failed.load(Ordering::Relaxed) {
                return None;
            }
            let cell = study.cells[at];
            let fabric =
                fabrics[cell.fabric].as_ref().expect("the fabrics of all cells are prepared");
            let rows = lines(&fabric.measure(cell));
            let mut journal = journal.lock().expect("no thread panicked with the journal");
            let written = journal.0.add(at, &rows);
            failed.fetch_or(written.is_err(), Ordering::Relaxed);
            journal.1.done += usize::from(written.is_ok());
            each(journal.1);
            Some(written.map(|()| FinishedCell { cell: at, rows }).map_err(StudyError::from))
        };
        // Many cells are measured at the same time, each on one thread; few cells one after the other, each on
        // all threads.
        let measured: Vec<Option<Result<FinishedCell, StudyError>>> =
            match cells.len() < parallel::threads() {
                true => cells.iter().map(measure).collect(),
                false => parallel::map(cells, measure),
            };
        measured.into_iter().flatten().collect()
    }

    /// Merges and summarises the study if this shard is the whole of it. Returns the path of the summary.
    fn finish_whole(&self) -> Result<Option<PathBuf>, StudyError> {
        match self.shard {
            Shard::WHOLE => Ok(Some(merge(self.study, self.folder)?.summary)),
            _ => Ok(None),
        }
    }
}

/// Measures cells on a GPU, fabric by fabric, and calls `finish` with the cells of each batch. Returns all of them.
#[cfg(feature = "gpu")]
fn on_gpu(
    machine: &Arc<dyn Machine>,
    study: &Study,
    fabrics: &[Option<PreparedFabric<'_>>],
    cells: &[usize],
    finish: impl Fn(&[FinishedCell]) -> Result<(), StudyError>,
) -> Result<Vec<FinishedCell>, StudyError> {
    let mut all = Vec::with_capacity(cells.len());
    for (number, prepared) in fabrics.iter().enumerate() {
        let Some(prepared) = prepared else { continue };
        let meant: Vec<usize> =
            cells.iter().copied().filter(|&at| study.cells[at].fabric == number).collect();
        let mut on_gpu = GpuFabric::new(machine, prepared, meant.len())?;
        for batch in meant.chunks(on_gpu.capacity()) {
            let its: Vec<Cell> = batch.iter().map(|&at| study.cells[at]).collect();
            let measured = batch.iter().zip(on_gpu.measure(&its)?);
            let finished = measured.map(|(&cell, rows)| FinishedCell { cell, rows: lines(&rows) });
            let mut finished: Vec<FinishedCell> = finished.collect();
            finish(&finished)?;
            all.append(&mut finished);
        }
    }
    Ok(all)
}
