//! Running: the cells of a shard, on all cores, each on the disk once it is finished.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use dmodc::parallel;

use super::cell::Cell;
use super::error::StudyError;
use super::folder::{StudyFolder, lines, versions};
use super::inputs::Study;
use super::journal::{Finished, ShardJournal};
use super::merge::merge;
use super::prepared::PreparedFabric;
use super::shard::Shard;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StudyProgress {
    /// Cells that are finished.
    pub done: usize,
    /// Those among them that an earlier run had finished.
    pub before: usize,
    /// Of how many.
    pub total: usize,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardResult {
    /// How far it went: everything.
    pub progress: StudyProgress,
    /// The table that was written.
    pub table: PathBuf,
    /// Its summary, if everything was measured.
    pub summary: Option<PathBuf>,
}

/// A run of one shard.
#[derive(Clone, Debug)]
pub struct ShardRun<'a> {
    /// What is measured.
    pub study: &'a Study,
    /// Where it goes.
    pub folder: &'a StudyFolder,
    /// Which part of it.
    pub shard: Shard,
    /// The plugin that OpenSM's engines are watched with.
    pub plugin: PathBuf,
}

impl ShardRun<'_> {
    /// Measures what is not measured yet; `each` is told after every cell.
    ///
    /// # Errors
    /// If files cannot be written, or are of another plan.
    pub fn run(&self, each: impl Fn(StudyProgress) + Sync) -> Result<ShardResult, StudyError> {
        let ShardRun { study, folder, shard, .. } = *self;
        folder.create()?;
        // Another plan's tables would be found when it comes to merging: better before the work.
        folder.merged(study).check(study)?;
        for other in folder.shards(".csv")? {
            folder.shard(other).check(study)?;
        }
        let table = folder.shard(shard);
        let mine: Vec<usize> = (0..study.cells.len()).filter(|&cell| shard.has(cell)).collect();
        let total = mine.len();
        // A single shard is merged at once: that table is what is looked for.
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
        let (journal, finished) = ShardJournal::open(&folder.journal(shard), study)?;
        let finished: BTreeMap<usize, Vec<String>> = finished.into_iter().collect();
        let missing: Vec<usize> =
            mine.into_iter().filter(|cell| !finished.contains_key(cell)).collect();
        let progress = StudyProgress { done: finished.len(), before: finished.len(), total };
        each(progress);
        let (journal, mut rows) = (Mutex::new((journal, progress)), finished);
        rows.extend(self.measure(&missing, &journal, each)?);
        let (journal, _) = journal.into_inner().expect("nobody panicked with the journal");
        let lines: Vec<String> = rows.into_values().flatten().collect();
        table.write(study, shard, &versions(study), &lines)?;
        journal.remove()?;
        Ok(done(progress.before, self.finish_whole()?))
    }

    /// The rows of cells, which are in the journal then.
    fn measure(
        &self,
        cells: &[usize],
        journal: &Mutex<(ShardJournal, StudyProgress)>,
        each: impl Fn(StudyProgress) + Sync,
    ) -> Result<Vec<Finished>, StudyError> {
        let study = self.study;
        // Before the cells and not within them: a thread that waits for another's tables could be the
        // one that has to help making them.
        let bases: Vec<Option<PreparedFabric<'_>>> = (0..study.fabrics.len())
            .map(|fabric| {
                let cells = cells.iter().map(|&at| study.cells[at]);
                let its: Vec<Cell> = cells.filter(|cell| cell.fabric == fabric).collect();
                PreparedFabric::new(study, &its, self.plugin.clone())
            })
            .collect();
        let failed = AtomicBool::new(false);
        let measure = |&at: &usize| -> Option<Result<Finished, StudyError>> {
            // Once one cell cannot be written, no other will be.
            if failed.load(Ordering::Relaxed) {
                return None;
            }
            let cell = study.cells[at];
            let base = bases[cell.fabric].as_ref().expect("the fabrics of all cells are prepared");
            let rows = lines(&base.measure(cell));
            let mut journal = journal.lock().expect("nobody panicked with the journal");
            let written = journal.0.add(at, &rows);
            failed.fetch_or(written.is_err(), Ordering::Relaxed);
            journal.1.done += usize::from(written.is_ok());
            each(journal.1);
            Some(written.map(|()| (at, rows)))
        };
        // Many cells are measured at the same time, each on one thread; few cells one after the other, each on
        // all threads.
        let measured: Vec<Option<Result<Finished, StudyError>>> =
            match cells.len() < parallel::threads() {
                true => cells.iter().map(measure).collect(),
                false => parallel::map(cells, measure),
            };
        measured.into_iter().flatten().collect()
    }

    /// A single shard is everything: it is merged, and summarised.
    fn finish_whole(&self) -> Result<Option<PathBuf>, StudyError> {
        match self.shard {
            Shard::WHOLE => Ok(Some(merge(self.study, self.folder)?.summary)),
            _ => Ok(None),
        }
    }
}
