//! A survey of faults: what every single or double fault of a fabric would do.
//!
//! | | |
//! |---|---|
//! | `faults` | the list of faults: single ones, then pairs, all or a sample |
//! | `outcome` | what one fault does, as numbers and as a line of a journal |
//! | `on_gpu` | the same on a GPU, many faults at once |
//! | `groups` | faults with the same outcome, worst first |
//!
//! Faults are tried in *chunks* of [`CHUNK`]. A chunk is the cell of a [journal](crate::journal): when it is finished, its
//! outcomes are on the disk, so an interrupted survey loses at most the chunks in work. The chunks of a survey may be
//! divided among machines like the cells of a study. The list of faults and their outcomes depend on the fabric and the
//! options alone, never on threads, machines or shards.

mod faults;
mod groups;
#[cfg(feature = "gpu")]
mod on_gpu;
mod outcome;

pub use faults::{DoubleFaults, Fault, Faults, TooManyFaults};
pub use groups::{FaultGroup, PartKind, groups};
pub use outcome::{Outcome, SeriesNumbers};

use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use dmodc::advise::{Present, WhatIf};
use dmodc::{Change, RouteError, parallel};

use crate::device::Device;
use crate::hash::ContentHash;
use crate::journal::{Journal, JournalError, JournalOwner};
use crate::machine;
use crate::study::Shard;

/// How many faults are tried between two writes to the journal.
pub const CHUNK: usize = 64;

/// Why a survey does not go on.
#[derive(Debug, thiserror::Error)]
pub enum SurveyError {
    /// A fault makes a route too long.
    #[error(transparent)]
    Route(#[from] RouteError),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The engine has no kernels for a GPU.
    #[error("the engine {0} is not computed on a GPU; only dmodc and stable are")]
    NotOnGpu(String),
    /// The GPU failed, or has too little memory.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(dmodc_gpu::GpuError),
    /// Shards are missing.
    #[error("{0}")]
    Incomplete(String),
    /// It was asked to stop.
    #[error("interrupted")]
    Stopped,
}

#[cfg(feature = "gpu")]
impl From<dmodc_gpu::GpuError> for SurveyError {
    /// A route that is too long, or too little memory of the host, is no failure of the GPU: it is the same on the processor.
    fn from(error: dmodc_gpu::GpuError) -> Self {
        match error {
            dmodc_gpu::GpuError::Route(error) => SurveyError::Route(error),
            error => SurveyError::Gpu(error),
        }
    }
}

/// How far a survey has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurveyProgress {
    /// Faults whose outcome is known.
    pub done: usize,
    /// Those that an earlier run had tried.
    pub before: usize,
    /// All faults of this shard.
    pub total: usize,
}

/// A survey: the present state, and the faults to be tried.
pub struct FaultSurvey<'a> {
    present: &'a Present<'a>,
    faults: &'a Faults,
    hash: String,
    device: Device,
}

/// The outcome of a fault, by its number.
pub type NumberedOutcome = (usize, Outcome);

impl JournalOwner for FaultSurvey<'_> {
    const KIND: &'static str = "dmodc/whatif-journal/1";
    const OF: &'static str = "survey";
    const ADVICE: &'static str = "use another file with --journal";

    fn hash(&self) -> &str {
        &self.hash
    }

    fn rows_of(&self, cell: usize) -> Option<usize> {
        (cell < self.chunk_count()).then(|| self.chunk(cell).len())
    }
}

impl<'a> FaultSurvey<'a> {
    /// Prepares a survey. `options` is a text with everything that outcomes depend on, besides the tables and the
    /// faults: the names of engine and patterns.
    pub fn new(present: &'a Present<'a>, faults: &'a Faults, options: &str) -> Self {
        let router = present.router();
        let mut hash = ContentHash::default();
        hash.take(options.as_bytes());
        hash.take(format!("{:?}", router.tables().digest()).as_bytes());
        for s in router.fabric().switches() {
            hash.take(s.guid.to_string().as_bytes());
        }
        hash.take(&faults.len().to_le_bytes());
        for fault in (0..faults.len()).map(|at| faults.get(at)) {
            hash.take(format!("{:?}", fault.parts()).as_bytes());
        }
        FaultSurvey { present, faults, hash: hash.to_string(), device: Device::Cpu }
    }

    /// Tries faults on this device. Outcomes do not depend on it.
    #[must_use]
    pub fn on(self, device: Device) -> Self {
        FaultSurvey { device, ..self }
    }

    fn chunk_count(&self) -> usize {
        self.faults.len().div_ceil(CHUNK)
    }

    /// Returns the faults of a chunk.
    fn chunk(&self, chunk: usize) -> Range<usize> {
        chunk * CHUNK..((chunk + 1) * CHUNK).min(self.faults.len())
    }

    /// Tries the faults of a shard, in chunks, and calls `each` after every chunk, which may break the survey off. With a
    /// journal, chunks that an earlier run finished are not tried again. Returns the outcomes in the order of the faults.
    ///
    /// # Errors
    /// If the journal cannot be used, a route is too long, or `each` breaks.
    pub fn run(
        &self,
        shard: Shard,
        journal: Option<&Path>,
        each: impl Fn(SurveyProgress) -> ControlFlow<()> + Sync,
    ) -> Result<Vec<NumberedOutcome>, SurveyError> {
        let mine: Vec<usize> = (0..self.chunk_count()).filter(|&chunk| shard.has(chunk)).collect();
        let total = mine.iter().map(|&chunk| self.chunk(chunk).len()).sum();
        let (journal, mut outcomes) = match journal {
            Some(path) => {
                let (journal, finished) = Journal::open(path, self)?;
                (Some(journal), self.outcomes_of(finished.iter().map(|f| (f.cell, &f.rows[..]))))
            }
            None => (None, vec![]),
        };
        let known: Vec<usize> = outcomes.iter().map(|(at, _)| at / CHUNK).collect();
        let missing: Vec<usize> =
            mine.into_iter().filter(|chunk| known.binary_search(chunk).is_err()).collect();
        let before = outcomes.len();
        let progress = SurveyProgress { done: before, before, total };
        if each(progress).is_break() {
            return Err(SurveyError::Stopped);
        }
        let shared = Mutex::new(SharedState { journal, progress });
        outcomes.extend(self.try_chunks(&missing, &shared, each)?);
        outcomes.sort_unstable_by_key(|(at, _)| *at);
        Ok(outcomes)
    }

    /// Returns the outcomes in the journals of all shards.
    ///
    /// # Errors
    /// If a journal belongs to another survey, or outcomes are missing.
    pub fn merge(
        &self,
        journals: &[impl AsRef<Path>],
    ) -> Result<Vec<NumberedOutcome>, SurveyError> {
        let mut outcomes = vec![];
        for path in journals {
            let finished = Journal::finished(path.as_ref(), self)?;
            outcomes.extend(self.outcomes_of(finished.iter().map(|f| (f.cell, &f.rows[..]))));
        }
        outcomes.sort_unstable_by_key(|(at, _)| *at);
        outcomes.dedup_by_key(|(at, _)| *at);
        match self.faults.len() - outcomes.len() {
            0 => Ok(outcomes),
            missing => Err(SurveyError::Incomplete(format!(
                "the journals lack {missing} of {} faults; run the shards that are missing, and name the journals of all",
                self.faults.len()
            ))),
        }
    }

    fn outcomes_of<'r>(
        &self,
        cells: impl Iterator<Item = (usize, &'r [String])>,
    ) -> Vec<NumberedOutcome> {
        let mut outcomes: Vec<NumberedOutcome> = cells
            .filter_map(|(cell, rows)| {
                let numbers = self.chunk(cell);
                let row = |(at, row): (usize, &String)| Some((at, Outcome::read(row)?));
                numbers.zip(rows).map(row).collect::<Option<Vec<_>>>()
            })
            .flatten()
            .collect();
        outcomes.sort_unstable_by_key(|(at, _)| *at);
        outcomes
    }

    /// Tries chunks, on a GPU or on as many threads as there is memory for: each has a copy of the tables.
    fn try_chunks(
        &self,
        chunks: &[usize],
        shared: &Mutex<SharedState>,
        each: impl Fn(SurveyProgress) -> ControlFlow<()> + Sync,
    ) -> Result<Vec<NumberedOutcome>, SurveyError> {
        match &self.device {
            Device::Cpu => {}
            #[cfg(feature = "gpu")]
            Device::Gpu(machine) => return self.try_on_gpu(machine, chunks, shared, each),
        }
        let next = AtomicUsize::new(0);
        let work = |_| -> Result<Vec<NumberedOutcome>, SurveyError> {
            let (mut what_if, mut outcomes) = (self.present.what_if(), vec![]);
            while let Some(&chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                let from = outcomes.len();
                for at in self.chunk(chunk) {
                    outcomes.push(self.attempt(&mut what_if, at)?);
                }
                let rows: Vec<String> = outcomes[from..].iter().map(|(_, o)| o.line()).collect();
                let mut shared = shared.lock().expect("no thread panicked with the journal");
                if let Some(journal) = &mut shared.journal {
                    journal.add(chunk, &rows)?;
                }
                shared.progress.done += rows.len();
                if each(shared.progress).is_break() {
                    next.store(chunks.len(), Ordering::Relaxed);
                    return Err(SurveyError::Stopped);
                }
            }
            Ok(outcomes)
        };
        let found = parallel::map(0..self.copies(), work);
        let mut outcomes = vec![];
        for part in found {
            outcomes.extend(part?);
        }
        Ok(outcomes)
    }

    /// Tries a fault on the processor.
    fn attempt(&self, what_if: &mut WhatIf<'_>, at: usize) -> Result<NumberedOutcome, RouteError> {
        let fault = self.faults.get(at);
        let changes: Vec<Change> = fault.parts().iter().map(|&part| Change::Dies(part)).collect();
        Ok((at, Outcome::new(&what_if.attempt(&changes)?)))
    }

    /// Returns how many copies of the router fit into half of the memory that is available: at least one, and at most one
    /// for each thread.
    fn copies(&self) -> usize {
        // Tables, costs, the loads of permutations, and some room.
        let bytes = 4 * self.present.router().tables().entry_count() as u64 + (64 << 20);
        let fitting = machine::available().map_or(usize::MAX, |free| (free / 2 / bytes) as usize);
        fitting.clamp(1, parallel::threads())
    }
}

/// What the threads of a survey share.
struct SharedState {
    journal: Option<Journal>,
    progress: SurveyProgress,
}
