//! The plugin as OpenSM calls it: hop tables, routing runs, and the end.
//!
//! | file | subject |
//! |---|---|
//! | `collect` | the fabric as OpenSM has it |
//! | `configuration` | the configuration in use, and why a newer one is not |
//! | `run` | one run, stage by stage |
//! | `route` | from the fabric to the tables in memory |
//! | `state` | reading and writing the state folder |
//! | `reports` | event file, status file and metrics file |

mod collect;
mod configuration;
mod reports;
mod route;
mod run;
mod state;

use std::collections::HashSet;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dmodc::{SwitchIndex, parallel};
use serde_json::json;

use crate::balance::BalanceMonitor;
use crate::config::{Config, ConfigPath, HopTables};
use crate::files::DeadlineWorker;
use crate::hops::SwitchHops;
use crate::snapshot::KeptReference;
use crate::state_folder::{self, StateFinding, StateFolder, StateQuery};
use crate::status::{RunTotals, duration_text};
use crate::subnet_manager::{ErrorRecorder, Log, LogLevel, SubnetManager, panic_line};
use crate::writer::{FileWriter, SyncFile};
use collect::CollectedFabric;
use configuration::ConfigKeeper;
use route::LastRouting;

/// How long OpenSM waits for files to be read in the first run, in which nothing is known yet.
pub(crate) const FIRST_PATIENCE: Duration = Duration::from_secs(10);

/// How long OpenSM waits for files to be read later. A result that comes after that is used in a later run.
const LATER_PATIENCE: Duration = Duration::from_secs(1);

/// How long OpenSM waits for files to be written when it ends.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// How long OpenSM waits for files to be read.
struct Patience {
    first: Duration,
    later: Duration,
    is_later: bool,
}

impl Patience {
    fn present(&self) -> Duration {
        if self.is_later { self.later } else { self.first }
    }
}

/// Threads that compute.
struct ThreadPool {
    /// The number that was configured.
    threads: usize,
    pool: rayon::ThreadPool,
}

/// Looks into the state folder. Tests have slow ones.
type LookIntoState = Arc<dyn Fn(&StateQuery) -> StateFinding + Send + Sync>;

/// Everything that is kept between runs.
pub(crate) struct Plugin {
    configuration: ConfigKeeper,
    patience: Patience,
    pool: Option<ThreadPool>,
    /// The present fabric, if hop tables were just made from it.
    collected: Option<CollectedFabric>,
    /// The tables of the last run.
    last: Option<LastRouting>,
    reference: KeptReference,
    state_folder: StateFolder,
    state_reader: DeadlineWorker<StateFinding>,
    look_into_state: LookIntoState,
    totals: RunTotals,
    /// Lines on OpenSM's options that are logged already.
    logged_options: Vec<String>,
    /// The writer of the state folder. Reports have another one, so that a disk that hangs under one does not delay the
    /// other.
    state_writer: FileWriter,
    report_writer: FileWriter,
    /// Folders in which the unfinished files of dead processes are removed already.
    swept_folders: HashSet<PathBuf>,
    balance: BalanceMonitor,
}

impl Plugin {
    pub(crate) fn new(config_path: ConfigPath, log: Log) -> Self {
        Self::with_disk(config_path, log, Arc::new(File::sync_all))
    }

    fn with_disk(config_path: ConfigPath, log: Log, sync: SyncFile) -> Self {
        let report_writer = FileWriter::new("dmodc-reports", log.clone(), sync.clone());
        let balance = BalanceMonitor::new(log.clone(), report_writer.refresher());
        Plugin {
            configuration: ConfigKeeper::new(config_path),
            patience: Patience { first: FIRST_PATIENCE, later: LATER_PATIENCE, is_later: false },
            pool: None,
            collected: None,
            last: None,
            reference: KeptReference::default(),
            state_folder: StateFolder::default(),
            state_reader: DeadlineWorker::new(),
            look_into_state: Arc::new(state_folder::look),
            totals: RunTotals::default(),
            logged_options: vec![],
            state_writer: FileWriter::new("dmodc-state", log, sync).refreshes(&report_writer),
            report_writer,
            swept_folders: HashSet::new(),
            balance,
        }
    }

    /// Routes the present fabric into OpenSM's tables.
    ///
    /// # Errors
    /// One line for the log. Some tables may be written then, and others not.
    pub(crate) fn run(&mut self, manager: &mut impl SubnetManager) -> Result<(), String> {
        self.totals.begin();
        let mut manager = ErrorRecorder::new(manager);
        let result = catch_unwind(AssertUnwindSafe(|| self.try_run(&mut manager)));
        let result = result.unwrap_or_else(|panic| {
            self.forget();
            Err(panic_line(panic.as_ref()))
        });
        self.patience.is_later = true;
        if let Err(error) = &result {
            self.totals.add_failure();
            let errors = manager.take_errors();
            self.event("failure", json!({ "error": error, "errors": errors }), None);
            self.report(None, Some(error));
        }
        self.state_writer.retry();
        self.report_writer.retry();
        result
    }

    /// Forgets everything that a panic may have left half changed.
    pub(crate) fn forget(&mut self) {
        (self.pool, self.collected, self.last) = (None, None, None);
        (self.reference, self.state_folder) = (KeptReference::default(), StateFolder::default());
    }

    /// Writes all files that wait, because OpenSM ends, but not for ever.
    pub(crate) fn end(&mut self) {
        self.balance.close();
        let start = Instant::now();
        self.state_writer.flush(END_PATIENCE);
        self.report_writer.flush(END_PATIENCE.saturating_sub(start.elapsed()));
    }

    /// Fills OpenSM's hop tables, unless the configuration leaves that to OpenSM. Returns whether it did.
    ///
    /// # Errors
    /// One line for the log.
    pub(crate) fn hop_tables(&mut self, manager: &mut impl SubnetManager) -> Result<bool, String> {
        self.collected = None;
        self.configuration.is_fresh = false;
        let config = self.read_configuration(manager)?;
        self.configuration.is_fresh = true;
        panic_if_asked_for(&config);
        if config.hop_tables == HopTables::Opensm {
            return Ok(false);
        }
        let collected = CollectedFabric::read(manager);
        let start = Instant::now();
        let fabric = &collected.fabric;
        let lids: Vec<u16> = fabric.switches().iter().map(|s| s.lid.0 as u16).collect();
        let pool = self.pool(config.threads)?;
        let hops = pool.install(|| SwitchHops::new(fabric));
        let switches: Vec<SwitchIndex> = fabric.switch_indices().collect();
        // A few at a time: all tables together are as large as OpenSM's own.
        for some in switches.chunks(64) {
            let tables = pool.install(|| parallel::map(some, |&s| hops.table(s)));
            for (&s, table) in some.iter().zip(&tables) {
                manager.set_hops(fabric.switch(s).guid, &lids, table)?;
            }
        }
        let took = duration_text(start.elapsed());
        manager.log(LogLevel::Verbose, format_args!("hop tables in {took}"));
        drop(hops);
        self.collected = Some(collected);
        Ok(true)
    }

    fn pool(&mut self, threads: usize) -> Result<&rayon::ThreadPool, String> {
        let pool = match self.pool.take() {
            Some(before) if before.threads == threads => before.pool,
            _ => rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .map_err(|error| error.to_string())?,
        };
        Ok(&self.pool.insert(ThreadPool { threads, pool }).pool)
    }
}

/// Panics if the configuration asks for it, to show that OpenSM survives it.
fn panic_if_asked_for(config: &Config) {
    assert!(!config.panic, "the configuration asks for a panic");
}

#[cfg(test)]
mod tests;
